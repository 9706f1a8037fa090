// Rules as equations, rule listings and statistics tables.
#include <algorithm>
#include <cstdio>

#include "rewrite/rewrite.h"

namespace svod {

namespace {

constexpr std::string_view kSlotNames[kMaxCaptures] = {"x", "y", "z", "w", "c0", "c1", "c2"};

std::string_view infix(Op op) {
  switch (op) {
    case Op::Add: return " + ";
    case Op::Sub: return " - ";
    case Op::Mul: return " * ";
    case Op::Floordiv: return " / ";
    case Op::Floormod: return " % ";
    case Op::And: return " & ";
    case Op::Or: return " | ";
    case Op::Xor: return " ^ ";
    case Op::Shl: return " << ";
    case Op::Shr: return " >> ";
    case Op::Lt: return " < ";
    case Op::Le: return " <= ";
    case Op::Eq: return " == ";
    case Op::Ne: return " != ";
    default: return {};
  }
}

void print(const Pat& pat, int& at, bool parentheses, std::string& out) {
  const PatNode& n = pat.nodes[at++];
  switch (n.kind) {
    case PatKind::Value:
    case PatKind::Constant: out += kSlotNames[n.slot]; return;
    case PatKind::Literal: out += std::to_string(n.imm); return;
    case PatKind::Trait: out += "any"; return;
    case PatKind::Fold: out += "fold(", print(pat, at, false, out), out += ')'; return;
    case PatKind::Apply: break;
  }
  if (std::string_view text = infix(n.op); !text.empty() && n.srcs == 2) {
    if (parentheses) out += '(';
    print(pat, at, true, out), out += text, print(pat, at, true, out);
    if (parentheses) out += ')';
    return;
  }
  out += toText(n.op);
  if (n.srcs == kAnySrcs) return;
  for (int i = 0; i < n.srcs; ++i) out += i == 0 ? "(" : ", ", print(pat, at, false, out);
  out += ')';
}

}  // namespace

std::string toText(const Rule& rule) {
  std::string out;
  int at = 0;
  print(rule.lhs, at, false, out);
  out += " -> ";
  at = 0;
  if (rule.native)
    out += "native";
  else
    print(rule.rhs, at, false, out);
  if (rule.guard) out += "  if guard";
  return out;
}

std::string listRules(const RuleSet& set) {
  std::string out;
  for (const RuleGroup* group : set.all())
    for (const Rule& rule : group->rules) {
      out.append(set.name).append(" ").append(group->name).append(" ").append(rule.name).append("  ");
      out.append(toText(rule))
          .append("  ")
          .append(rule.file)
          .append(":")
          .append(std::to_string(rule.line))
          .append("\n");
    }
  return out;
}

std::string toText(const RewriteStats& stats, const Matcher& matcher) {
  std::vector<size_t> order;
  for (size_t i = 0; i < stats.counts.size(); ++i)
    if (stats.counts[i].attempts > 0) order.push_back(i);
  std::ranges::sort(order, [&](size_t a, size_t b) {
    uint64_t x = stats.counts[a].hits, y = stats.counts[b].hits;
    return x != y ? x > y : a < b;
  });
  std::string out = "    hits attempts  rule\n";
  char line[160];
  for (size_t i : order) {
    std::string_view name = matcher.rules()[i]->name;
    std::snprintf(line, sizeof line, "%8llu %8llu  %.*s\n", static_cast<unsigned long long>(stats.counts[i].hits),
                  static_cast<unsigned long long>(stats.counts[i].attempts), static_cast<int>(name.size()),
                  name.data());
    out += line;
  }
  return out;
}

}  // namespace svod
