// Lengths of GraphBuilder: sizes that a run computes, and the model without them.
#include <algorithm>
#include <utility>

#include "frontend/builder.h"

namespace svod {

Dim GraphBuilder::length(std::string_view name, Tensor count, Dim room) {
  if (!count || !room || !checkVisible(count)) return {};
  if (count.rank() != 0 || !isInt(count.dtype()))
    return fail(Diag::ShapeMismatch, "a length is " + describe(count), "use an integer scalar"), Dim();
  UOp node = cast(count, DType::I64).node();
  if (node.isConst()) return dim(std::clamp<int64_t>(node.constInt(), 0, std::max<int64_t>(0, room.max())));
  for (const auto& [id, known] : lengths_)
    if (known.count == node && known.room == room) return Dim(graph(), known.variable);
  std::string unique(name);
  for (int i = 2; !declared_.insert(unique).second; ++i) unique = std::string(name) + "." + std::to_string(i);
  Length made{graph().variable(unique, 0, std::max<int64_t>(0, room.max())), node, room, {}};
  std::vector<UOp> roots{node, room.node()};
  for (UOp r : node.ranges()) made.ranges.push_back(r);
  for (UOp n : toposort(roots))
    if (auto inner = lengths_.find(n.id()); inner != lengths_.end())
      made.ranges.insert(made.ranges.end(), inner->second.ranges.begin(), inner->second.ranges.end());
  UOp variable = made.variable;
  lengths_.emplace(variable.id(), std::move(made));
  return Dim(graph(), variable);
}

bool GraphBuilder::hasLength(Dim dim) const {
  return dim && !lengths_.empty() && !lengthsIn(lengths_, dim.node()).empty();
}

Dim GraphBuilder::roomOf(Dim dim) {
  // A room knows the lengths that were made before its own.
  while (hasLength(dim)) {
    const Length& last =
        *std::ranges::max(lengthsIn(lengths_, dim.node()), {}, [](const Length* l) { return l->variable.id(); });
    const UOp room = last.room.node();
    dim = Dim(graph(), substitute(graph(), dim.node(), {&last.variable, 1}, {&room, 1}));
  }
  return dim;
}

bool GraphBuilder::outlives(Dim dim, Dim counter) const {
  if (!dim || std::ranges::find(dim.node().ranges(), counter.node()) != dim.node().ranges().end()) return false;
  return std::ranges::all_of(lengthsIn(lengths_, dim.node()), [&](const Length* l) {
    return std::ranges::find(l->ranges, counter.node()) == l->ranges.end();
  });
}

UOp GraphBuilder::countOf(UOp variable) const {
  auto length = lengths_.find(variable.id());
  return length == lengths_.end() ? UOp() : length->second.count;
}

namespace {

// Equal sizes that are expected, as values where one of them has a length.
void writeCounts(GraphBuilder& b, BuildLog::Step& expected) {
  std::vector<BuildLog::Operand> counts;
  bool isCounted = false;
  for (const auto& [name, size] : expected.attributes) {
    const auto* dim = std::get_if<Dim>(&size.value);
    if (!dim) return;
    isCounted |= b.hasLength(*dim);
    counts.push_back({cast(b.value(*dim), DType::I64).node()});
  }
  if (!isCounted) return;
  expected.operands = std::move(counts);
  expected.attributes.clear();
}

// Calls of the log that have to do with lengths are left out: what they became is written as primitives.
void settleLog(GraphBuilder& b, BuildLog& log, Rooms& rooms) {
  auto isLost = [&](UOp n) { return !n.isConst() && !rooms.keeps(n); };
  auto isPlain = [&](const BuildLog::Step& s) {
    return std::ranges::none_of(s.results, isLost) &&
           std::ranges::none_of(s.operands, [&](const BuildLog::Operand& o) { return isLost(o.node); });
  };
  std::erase_if(log.steps, [&](const BuildLog::Step& s) { return s.kind == BuildLog::Kind::Call && !isPlain(s); });
  for (BuildLog::Step& s : log.steps) {
    if (s.kind == BuildLog::Kind::Call || s.kind == BuildLog::Kind::Note) continue;
    if (s.kind == BuildLog::Kind::Expect && s.operands.empty()) writeCounts(b, s);
    for (BuildLog::Operand& o : s.operands) o.node = rooms.of(o.node);
    for (UOp& r : s.results) r = rooms.of(r);
    if (s.effect) s.effect = rooms.of(s.effect);
    if (s.count) s.count = Dim(b.graph(), s.results.at(0).src(0));
  }
  placeNodes(log, b.graph().size());
}

}  // namespace

void GraphBuilder::settleLengths() {
  if (lengths_.empty() || failed() || bodies_.isInLoop()) return;
  BuildRecorder log = std::exchange(log_, {});
  Rooms rooms(*this, lengths_);
  for (UOp& s : bodies_.outermost().stores) s = rooms.of(s);
  // What was forgotten is not rebuilt.
  for (ModelPort& p : model_.ports)
    if (p.kind != PortKind::Temporary || rooms.knows(p.buffer)) p.buffer = rooms.of(p.buffer);
  std::map<uint32_t, UOp> newest;
  for (const auto& [id, content] : bodies_.outermost().newest)
    if (rooms.knows(content)) newest.emplace(rooms.of(graph().node(id)).id(), rooms.of(content));
  log_ = log;
  if (log_.log() && !failed()) settleLog(*this, *log_.log(), rooms);
  if (failed()) return;
  bodies_.outermost().newest = std::move(newest);
  const std::vector<std::pair<uint32_t, std::string>> labels(model_.labels.begin(), model_.labels.end());
  for (const auto& [id, name] : labels)
    if (UOp node = graph().node(id); rooms.knows(node) && !rooms.keeps(node)) label(asIs(rooms.of(node)), name);
  lengths_.clear();
}

}  // namespace svod
