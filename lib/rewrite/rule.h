// Rewrite rules as data: pattern and replacement with an optional guard, or pattern and function. Rules are constexpr
// tables grouped by theme and written with dsl.h; a RuleSet lists groups in order of priority.
#pragma once
#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "rewrite/pattern.h"

namespace svod {

/// Dtype kinds a rule applies to: of the operands (src1 of Where, src0 otherwise), or of the node without sources.
struct Domain {
  uint8_t bits;
  bool holds(DType dtype) const { return (bits >> static_cast<int>(info(dtype).kind)) & 1; }
  constexpr Domain operator|(Domain o) const { return {static_cast<uint8_t>(bits | o.bits)}; }
};
constexpr Domain domainOf(DTypeKind kind) { return {static_cast<uint8_t>(1 << static_cast<int>(kind))}; }
inline constexpr Domain kBools = domainOf(DTypeKind::Bool), kSigned = domainOf(DTypeKind::Signed),
                        kUnsigned = domainOf(DTypeKind::Unsigned), kFloats = domainOf(DTypeKind::Float),
                        kIndices = domainOf(DTypeKind::Index);
inline constexpr Domain kFixed = kSigned | kUnsigned;  // integers that wrap
inline constexpr Domain kInts = kFixed | kIndices;
inline constexpr Domain kIntegral = kInts | kBools;
inline constexpr Domain kAllDomains{0xFF};

/// The dtype a rule's domain speaks about.
DType operandDType(UOp node);

/// One successful match, passed to guards and native rules.
struct Match {
  Graph& graph;
  UOp node;
  void* context;  // what the caller of rewrite() passed
  std::array<UOp, kMaxCaptures> captured{};

  UOp operator[](Capture c) const { return captured[c.slot]; }
  int64_t operator[](ConstCapture c) const { return captured[c.slot].constInt(); }  // not for float constants
  Scalar scalar(ConstCapture c) const { return captured[c.slot].constant(); }
};

using Guard = bool (*)(const Match&);
/// Returns the replacement (same dtype and shape as the node), or null when the rule does not apply.
using Native = UOp (*)(const Match&);

struct Rule {
  std::string_view name;  // unique, kebab-case
  Pat lhs, rhs;           // rhs is empty for native rules
  Domain domain;
  Guard guard;
  Native native;
  const char* file;
  int line;
};

/// Rules of one theme, in order of priority.
struct RuleGroup {
  std::string_view name;
  std::span<const Rule> rules;
};

/// Groups in order of priority.
struct RuleSet {
  static constexpr size_t kMaxGroups = 24;
  std::string_view name;
  std::array<const RuleGroup*, kMaxGroups> groups{};
  size_t count = 0;

  constexpr RuleSet(std::string_view n, std::initializer_list<const RuleGroup*> list) : name(n) {
    for (const RuleGroup* group : list) groups[count++] = group;
  }
  std::span<const RuleGroup* const> all() const { return {groups.data(), count}; }
};

/// `x*c0/c0 -> x`; native rules print their pattern and `-> native`.
std::string toText(const Rule& rule);
/// One line per rule: set, group, name, equation, place.
std::string listRules(const RuleSet& set);

/// evalScalar, except that Index arithmetic which leaves i64 has no value.
std::optional<Scalar> foldScalar(Op op, DType result, std::span<const Scalar> operands);

/// Builds the right-hand side of a rule for a match; null when a constant does not fold.
UOp instantiate(const Pat& rhs, const Match& match);

}  // namespace svod
