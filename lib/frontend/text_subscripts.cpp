// Subscripts of the text form: x[0, 2:n, ..., ::-1] is written with the ops slice and at.
#include <algorithm>
#include <optional>
#include <utility>

#include "frontend/text_parser.h"

namespace svod {

namespace {

using Exprs = std::vector<GraphExpr>;

/// Lists of one call of slice or at, with an entry per axis.
struct AxisLists {
  Exprs starts, ends, steps, axes;
};

GraphExpr callOf(std::string_view op, GraphExpr of, std::vector<std::pair<std::string, Exprs>> lists, Position at) {
  Exprs operands;
  operands.push_back(std::move(of));
  GraphExpr call = GraphExpr::call(std::string(op), std::move(operands));
  call.at = at;
  for (auto& [name, items] : lists) {
    GraphExpr list = GraphExpr::list(std::move(items));
    list.at = at;
    call.depth = std::max(call.depth, list.depth + 1);
    call.attributes.push_back({std::move(name), std::move(list), at});
  }
  return call;
}

GraphExpr sliceOf(GraphExpr of, AxisLists lists, Position at) {
  if (lists.axes.empty()) return of;
  std::vector<std::pair<std::string, Exprs>> attributes;
  attributes.emplace_back("starts", std::move(lists.starts));
  if (!lists.ends.empty()) attributes.emplace_back("ends", std::move(lists.ends));
  if (std::ranges::any_of(lists.steps, [](const GraphExpr& step) { return step.integer != 1; }))
    attributes.emplace_back("steps", std::move(lists.steps));
  attributes.emplace_back("axes", std::move(lists.axes));
  return callOf("slice", std::move(of), std::move(attributes), at);
}

}  // namespace

// start:end:step, of which each may be missing, or a position.
Result<TextParser::SubscriptEntry> TextParser::subscriptEntry(int depth) {
  SubscriptEntry entry;
  if (isSymbol("...")) {
    entry.kind = SubscriptEntry::Kind::Others;
    return advance().map([&] { return std::move(entry); });
  }
  auto endsPart = [&] { return isSymbol(":") || isSymbol(",") || isSymbol("]"); };
  if (!isSymbol(":")) {
    SVOD_TRY(entry.start, expr(depth + 1));
    entry.hasStart = true;
    if (!isSymbol(":")) return entry;
  }
  entry.kind = SubscriptEntry::Kind::Range;
  SVOD_CHECK(advance());
  if (!endsPart()) {
    SVOD_TRY(entry.end, expr(depth + 1));
    entry.hasEnd = true;
  }
  if (!isSymbol(":")) return entry;
  SVOD_CHECK(advance());
  if (endsPart()) return entry;
  const Position at = token_.at;
  SVOD_TRY(entry.step, integer());
  if (entry.step == 0) return failAt(at, "a step is 0", "steps are positive or negative");
  return entry;
}

// `of` and what stands between the brackets behind it.
Result<GraphExpr> TextParser::subscript(int depth, GraphExpr of) {
  const Position at = token_.at;
  open_.push_back(at);
  SVOD_CHECK(advance());
  std::vector<SubscriptEntry> entries;
  std::optional<size_t> others;  // where ... stands
  while (!isSymbol("]")) {
    const Position begin = token_.at;
    SVOD_TRY(SubscriptEntry entry, subscriptEntry(depth));
    if (entry.kind == SubscriptEntry::Kind::Others) {
      if (others) return failAt(begin, "'...' stands twice between brackets", "it is all axes that are not named");
      others = entries.size();
    } else {
      entries.push_back(std::move(entry));
    }
    if (isSymbol("]")) break;
    SVOD_CHECK(expect(",", "or ']' after a part of an axis"));
  }
  if (entries.empty() && !others) return failAt(at, "nothing stands between the brackets", "x[0], x[2:n] or x[..., 0]");
  open_.pop_back();
  SVOD_CHECK(advance());
  AxisLists closed, open, single;
  for (size_t i = 0; i < entries.size(); ++i) {
    SubscriptEntry& e = entries[i];
    const bool isBehind = others && i >= *others;
    const auto axis = static_cast<int64_t>(i) - (isBehind ? static_cast<int64_t>(entries.size()) : 0);
    const bool isRange = e.kind == SubscriptEntry::Kind::Range;
    if (isRange && !e.hasStart && !e.hasEnd && e.step == 1) continue;
    AxisLists& lists = !isRange ? single : e.hasEnd ? closed : open;
    if (isRange && !e.hasStart) e.start = GraphExpr::ofInt(e.step > 0 ? 0 : -1), e.start.at = at;
    lists.starts.push_back(std::move(e.start));
    if (e.hasEnd) lists.ends.push_back(std::move(e.end));
    lists.steps.push_back(GraphExpr::ofInt(e.step));
    lists.axes.push_back(GraphExpr::ofInt(axis));
  }
  of = sliceOf(sliceOf(std::move(of), std::move(closed), at), std::move(open), at);
  if (!single.axes.empty())
    of = callOf("at", std::move(of), {{"positions", std::move(single.starts)}, {"axes", std::move(single.axes)}}, at);
  if (of.depth + depth > kMaxDepth)
    return failAt(at, "an expression is nested too deeply", "name parts of it on lines of their own");
  return of;
}

}  // namespace svod
