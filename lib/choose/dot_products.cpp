#include "choose/dot_products.h"

#include <algorithm>

#include "cost/dot_groups.h"
#include "cost/parameters.h"
#include "facts/accesses.h"
#include "facts/patterns.h"
#include "facts/reduces.h"
#include "opts/dot_opt.h"

namespace svod {

namespace {

std::string groupReason(int64_t group) { return "one instruction sums up " + std::to_string(group) + " products"; }

// `exact`: only loops that groups divide.
bool groupLongest(Chooser& c, UOp reduce, int64_t group, UOp column, bool exact = false) {
  std::vector<UOp> loops;
  for (UOp r : reduce.src().subspan(1))
    if ((!exact || maxExtent(r) % group == 0) && axisType(r) == AxisType::Reduce && constExtent(r) &&
        maxExtent(r) >= group && isDense(c.facts(), c.laidOut(), reduce, r, column))
      loops.push_back(r);
  std::ranges::stable_sort(loops, std::ranges::greater(), maxExtent);
  for (UOp r : loops)
    if (c.apply(OptKind::Dot, idOf(r), group, groupReason(group))) return true;
  return false;
}

// Elements of less than a byte: known shifts take them out of a vector of bytes.
void unrollShifts(Chooser& c, UOp reduce) {
  std::vector<uint32_t> loops;
  for (UOp n : toposort(reduce.src(0)))
    for (UOp r : reduce.src().subspan(1))
      if (n.op() == Op::Shr && n.src(1).dependsOn(r) && constExtent(r) && maxExtent(r) <= parameters::kPartsOfByte)
        loops.push_back(idOf(r));
  for (uint32_t id : loops)
    if (UOp loop = c.range(id))
      c.apply(OptKind::Unroll, id, maxExtent(loop), "known shifts take elements out of bytes");
}

// What a zero point multiplies, for each row: few operations beside the product if they are done in whole
// vectors.
void sumRows(Chooser& c, UOp rows, int64_t group, UOp column) {
  UOp loop = rows.src().back();
  const uint32_t id = idOf(loop);
  groupLongest(c, rows, group, column, true);  // a last step that starts earlier would leave no runs of memory
  const int64_t lanes = c.caps.vectorBytes / byteSize(rows.dtype());
  c.apply(OptKind::Vector, id, std::min(lanes, powerBelow(maxExtent(c.range(id)))),
          "bytes of a row are summed in vectors");
}

// Whether an output loop moves what windows read as this loop of the sum does.
bool isTap(const Chooser& c, const Windows& w, UOp loop) {
  return std::ranges::any_of(c.facts().accesses, [&](const Access& a) {
    return !a.isStore && a.slot == w.slot &&
           std::ranges::any_of(w.outer, [&](UOp out) { return slides(a, out, loop); });
  });
}

bool addsSums(UOp reduce) {
  return std::ranges::any_of(toposort(reduce.src(0)), [](UOp n) { return n.op() == Op::Reduce; });
}

bool multipliesRows(const KernelFacts& kernel) {
  return kernel.pattern() == Pattern::Gemm || kernel.pattern() == Pattern::Gemv;
}

}  // namespace

std::optional<ChannelGroups> groupChannels(Chooser& c, const Windows& w) {
  const int64_t group = dotGroupOf(c.graph, c.facts().reduces[0], c.caps);
  if (group == 0) return std::nullopt;
  for (UOp r : w.taps)
    if (maxExtent(r) >= group && !isTap(c, w, r) && c.apply(OptKind::Dot, idOf(r), group, groupReason(group)))
      return ChannelGroups{group, idOf(r)};
  return std::nullopt;
}

void useDots(Chooser& c) {
  std::vector<UOp> reduces = loopedReduces(c.facts());
  std::erase_if(reduces, [&](UOp reduce) { return dotGroupOf(c.graph, reduce, c.caps) == 0; });
  if (reduces.size() != 1 || !multipliesRows(c.facts()) || windowsToCopy(c.facts(), c.caps)) return;
  const int64_t group = dotGroupOf(c.graph, reduces[0], c.caps);
  UOp column;
  for (const Axis& axis : c.facts().axes)
    if (axis.nest == Nest::Output) column = axis.range;
  if (!paysToGroup(c.facts(), c.laidOut(), reduces[0], column) || !groupLongest(c, reduces[0], group, column)) return;
  for (UOp sum : loopedReduces(c.facts()))
    if (sumsGroups(sum)) unrollShifts(c, sum);
  for (UOp rows : loopedReduces(c.facts()))
    if (!sumsGroups(rows) && !addsSums(rows)) sumRows(c, rows, group, column);
}

}  // namespace svod
