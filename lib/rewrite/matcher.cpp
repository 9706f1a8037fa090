#include "rewrite/matcher.h"

#include <algorithm>
#include <cmath>

namespace svod {

namespace {

bool matchesLiteral(UOp n, int32_t value) {
  if (!n.isConst()) return false;
  if (!isFloat(n.dtype())) return n.constInt() == value && (value >= 0 || !isUnsigned(n.dtype()));
  double f = n.constant().asFloat();
  return f == value && !(value == 0 && std::signbit(f));
}

// Matches the subtree at `at` against `n`; `at` moves behind the subtree. Depth is bounded by the pattern.
bool matchAt(const Pat& pat, int& at, UOp n, std::array<UOp, kMaxCaptures>& captured) {
  const PatNode& p = pat.nodes[at++];
  switch (p.kind) {
    case PatKind::Constant:
      if (!n.isConst()) return false;
      [[fallthrough]];
    case PatKind::Value:
      if (captured[p.slot]) return captured[p.slot] == n;
      captured[p.slot] = n;
      return true;
    case PatKind::Literal: return matchesLiteral(n, p.imm);
    case PatKind::Trait: return has(n.op(), static_cast<OpTrait>(p.imm));
    case PatKind::Fold: return false;
    case PatKind::Apply: break;
  }
  if (n.op() != p.op) return false;
  if (p.srcs == kAnySrcs) return true;
  if (n.srcCount() != p.srcs) return false;
  for (UOp s : n.src())
    if (!matchAt(pat, at, s, captured)) return false;
  return true;
}

uint64_t maskOfSources(const Pat& pat) {
  const PatNode& root = pat.nodes[0];
  if (root.kind != PatKind::Apply || root.srcs == kAnySrcs) return 0;
  uint64_t mask = 0;
  int child = 1;
  for (int i = 0; i < root.srcs; child += pat.nodes[child].size, ++i) {
    const PatNode& n = pat.nodes[child];
    if (n.kind == PatKind::Constant || n.kind == PatKind::Literal)
      mask |= uint64_t{1} << (static_cast<int>(Op::Const) % 64);
    if (n.kind == PatKind::Apply) mask |= uint64_t{1} << (static_cast<int>(n.op) % 64);
  }
  return mask;
}

// `pat` with the two sources of the node at `at` exchanged.
Pat exchange(const Pat& pat, int at) {
  Pat result = pat;
  int left = at + 1, leftSize = pat.nodes[left].size, right = left + leftSize, rightSize = pat.nodes[right].size;
  std::copy_n(pat.nodes + right, rightSize, result.nodes + left);
  std::copy_n(pat.nodes + left, leftSize, result.nodes + left + rightSize);
  return result;
}

// Every operand order that the commuted nodes allow; positions are visited from the back, so they stay valid.
void expandOrders(const Pat& pat, int from, std::vector<Pat>& out) {
  int at = from;
  while (at >= 0 && !pat.nodes[at].commuted) --at;
  if (at < 0) {
    out.push_back(pat);
    return;
  }
  expandOrders(pat, at - 1, out);
  expandOrders(exchange(pat, at), at - 1, out);
}

bool domainHolds(const Rule& rule, UOp node) {
  return rule.domain.bits == kAllDomains.bits || rule.domain.holds(operandDType(node));
}

// A scalar may not replace a shaped value: users that are not elementwise would see another shape.
bool mayReplace(UOp node, UOp by) { return by.dtype() == node.dtype() && std::ranges::equal(by.shape(), node.shape()); }

UOp tryRule(const Rule& rule, const Pat& lhs, Match& match) {
  match.captured = {};
  int at = 0;
  if (!matchAt(lhs, at, match.node, match.captured)) return {};
  if (rule.guard && !rule.guard(match)) return {};
  UOp by = rule.native ? rule.native(match) : instantiate(rule.rhs, match);
  return by && by != match.node && mayReplace(match.node, by) ? by : UOp();
}

}  // namespace

Matcher::Matcher(const RuleSet& set, std::span<const std::string_view> disabled)
    : name_(set.name), buckets_(allOps().size()) {
  for (const RuleGroup* group : set.all())
    for (const Rule& rule : group->rules)
      if (std::ranges::find(disabled, rule.name) == disabled.end()) add(rule);
}

void Matcher::add(const Rule& rule) {
  auto position = static_cast<uint32_t>(rules_.size());
  rules_.push_back(&rule);
  std::vector<Pat> orders;
  expandOrders(rule.lhs, rule.lhs.count - 1, orders);
  for (const Pat& order : orders) {
    variants_.push_back(order);
    const PatNode& root = order.nodes[0];
    for (Op op : allOps()) {
      bool matches = root.kind == PatKind::Apply
                         ? op == root.op
                         : root.kind == PatKind::Trait && has(op, static_cast<OpTrait>(root.imm));
      if (matches) buckets_[static_cast<size_t>(op)].push_back({&variants_.back(), maskOfSources(order), position});
    }
  }
}

UOp Matcher::apply(Graph& graph, UOp node, void* context, size_t& fired, std::span<RuleCount> counts) const {
  Match match{graph, node, context};
  for (const Entry& entry : buckets_[static_cast<size_t>(node.op())]) {
    if ((entry.childOps & ~node.childOps()) != 0) continue;
    const Rule& rule = *rules_[entry.rule];
    if (!domainHolds(rule, node)) continue;
    if (!counts.empty()) ++counts[entry.rule].attempts;
    UOp by = tryRule(rule, *entry.lhs, match);
    if (!by) continue;
    if (!counts.empty()) ++counts[entry.rule].hits;
    fired = entry.rule;
    return by;
  }
  return {};
}

UOp applyRule(const Rule& rule, Graph& graph, UOp node, void* context) {
  if (!domainHolds(rule, node)) return {};
  Match match{graph, node, context};
  std::vector<Pat> orders;
  expandOrders(rule.lhs, rule.lhs.count - 1, orders);
  for (const Pat& order : orders)
    if (UOp by = tryRule(rule, order, match)) return by;
  return {};
}

}  // namespace svod
