// Who needs what a kernel reads, or a value of a graph: every run, or those that take one side of a choice.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// Runs in which a value is needed: none, those in which a condition has one value, or all of them.
class Side {
 public:
  static Side none() { return {}; }
  static Side always() { return Side(Kind::Always, {}, false); }
  static Side where(UOp condition, bool holds) { return Side(Kind::One, condition, holds); }

  bool isOne() const { return kind_ == Kind::One; }
  bool isAlways() const { return kind_ == Kind::Always; }
  UOp condition() const { return condition_; }
  bool holds() const { return holds_; }
  /// Runs of either.
  Side either(const Side& other) const {
    if (kind_ == Kind::None || *this == other) return other;
    return other.kind_ == Kind::None ? *this : always();
  }
  /// Of what is needed for this, and by `inner` of it; where both are one side, this one.
  Side within(const Side& inner) const { return isAlways() || inner.kind_ == Kind::None ? inner : *this; }
  bool operator==(const Side&) const = default;

 private:
  enum class Kind : uint8_t { None, One, Always };
  Side() = default;
  Side(Kind kind, UOp condition, bool holds) : kind_(kind), condition_(condition), holds_(holds) {}

  Kind kind_ = Kind::None;
  UOp condition_;
  bool holds_ = false;
};

/// By node id, of a graph of tensors in topological order: a condition that is one value for all elements decides.
std::vector<Side> sidesOf(std::span<const UOp> order);

/// By parameter of the kernel, below `count`: when it needs what it loads there. Places of elements are always needed.
std::vector<Side> sidesOf(UOp sink, size_t count);

}  // namespace svod
