// Short loops whose counter decides what is computed.
#include <algorithm>

#include "optimize/chooser.h"
#include "optimize/cost.h"

namespace svod {

namespace {

// Arithmetic that every iteration of `range` does although it uses the result in some only.
double selectedWork(UOp sink, UOp range) {
  std::vector<UOp> choices;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Where && caseCounter(n.src(0)) == range)
      choices.insert(choices.end(), {n.src(1), n.src(2)});
  double work = 0;
  for (UOp n : toposort(choices))
    if (n.op() != Op::Load && n.op() != Op::Where && !n.dependsOn(range)) work += opWeight(n);
  return work;
}

}  // namespace

void expandCases(Chooser& c) {
  constexpr int64_t kMaxCopies = 64;
  constexpr double kWorth = 16;
  int64_t copies = 1;
  for (const Axis& axis : axesOf(c.sink)) {
    std::optional<int64_t> extent = constExtent(axis.range);
    if (axis.nest != Nest::Output || axisType(axis.range) != AxisType::Loop || !extent || *extent * copies > kMaxCopies)
      continue;
    if (selectedWork(c.sink, axis.range) >= kWorth &&
        c.apply(OptKind::Upcast, idOf(axis.range), 0, "each iteration takes another of the values that all share"))
      copies *= *extent;
  }
}

namespace {

// n where the address depends on the loop through its counter divided by n alone; 0 for any other address.
int64_t groupOf(UOp address, UOp loop) {
  int64_t group = 0;
  for (UOp n : toposort(address)) {
    if (std::ranges::find(n.src(), loop) == n.src().end()) continue;
    const bool divides = (n.op() == Op::Floordiv || n.op() == Op::Cdiv) && n.src(0) == loop && n.src(1).isConst();
    if (!divides || (group != 0 && group != n.src(1).constInt())) return 0;
    group = n.src(1).constInt();
  }
  return group;
}

}  // namespace

void splitGroups(Chooser& c) {
  constexpr int64_t kRows = 4;  // fewer share too little
  for (const Access& a : accessesOf(c.sink))
    for (const Axis& axis : axesOf(c.sink)) {
      const int64_t group = axis.nest == Nest::Output && !a.isStore ? groupOf(a.address, axis.range) : 0;
      const std::optional<int64_t> extent = constExtent(axis.range);
      if (group >= kRows && extent && *extent > group && *extent % group == 0)
        c.apply(OptKind::Tile, idOf(axis.range), group, "rows of a group read the same");
    }
}

}  // namespace svod
