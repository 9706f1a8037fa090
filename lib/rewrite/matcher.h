// A RuleSet prepared for matching: rules in buckets by root op, each with a mask of ops its sources must contain.
#pragma once
#include <deque>
#include <string_view>
#include <vector>

#include "rewrite/rule.h"

namespace svod {

struct RuleCount {
  uint64_t attempts = 0;  // times the pattern was tried
  uint64_t hits = 0;      // times it replaced a node
};

/// Immutable after construction: may be shared between threads. Building one costs microseconds; keep it for
/// repeated use.
class Matcher {
 public:
  explicit Matcher(const RuleSet& set, std::span<const std::string_view> disabled = {});

  /// The replacement by the first rule that applies to `node`, or null. `fired` gets the position of the rule in
  /// rules(), `counts` (empty, or one per rule) is updated.
  UOp apply(Graph& graph, UOp node, void* context, size_t& fired, std::span<RuleCount> counts) const;
  bool hasRulesFor(Op op) const { return !buckets_[static_cast<size_t>(op)].empty(); }

  std::string_view name() const { return name_; }
  std::span<const Rule* const> rules() const { return rules_; }

 private:
  struct Entry {
    const Pat* lhs;         // one operand order of the rule's pattern
    uint64_t childOps = 0;  // ops that must be among the sources, as in Node::childOps
    uint32_t rule = 0;      // position in rules_
  };
  void add(const Rule& rule);

  std::string_view name_;
  std::vector<const Rule*> rules_;
  std::deque<Pat> variants_;
  std::vector<std::vector<Entry>> buckets_;
};

/// Tries one rule; used by tests and by tools that explain rules.
UOp applyRule(const Rule& rule, Graph& graph, UOp node, void* context = nullptr);

}  // namespace svod
