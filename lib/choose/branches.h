// Where strategies have a choice of their own. Their own answer comes first; another answer makes another seed.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace svod {

enum class Branch : uint8_t { NextNest, Pack, Order, Lanes };

struct BranchInfo {
  std::string_view name, what;  // `what`: the question, as --list-strategies shows it
};
std::span<const BranchInfo> allBranches();

/// The questions that were asked on the way to a seed, and those that were answered the other way.
class Branches {
 public:
  Branches() = default;
  explicit Branches(Branch other) : other_(bit(other)) {}

  /// The answer: `prior`, or its opposite where this seed is the other one. `isOpen` says that the other answer may
  /// well be the better one.
  bool decide(Branch branch, bool prior, bool isOpen = false) {
    met_ |= bit(branch);
    if (isOpen) open_ |= bit(branch);
    return prior != ((other_ & bit(branch)) != 0);
  }
  bool wasMet(Branch branch) const { return (met_ & bit(branch)) != 0; }
  bool wasOpen(Branch branch) const { return (open_ & bit(branch)) != 0; }
  bool any() const { return met_ != 0; }

 private:
  static uint8_t bit(Branch branch) { return static_cast<uint8_t>(1U << static_cast<unsigned>(branch)); }
  uint8_t met_ = 0, open_ = 0, other_ = 0;
};

}  // namespace svod
