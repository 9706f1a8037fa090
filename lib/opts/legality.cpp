#include "opts/legality.h"

#include <algorithm>

#include "facts/local_buffers.h"
#include "ir/tensor_core_form.h"
#include "ir/workgroup.h"
#include "opts/tile_unit_opt.h"
#include "symbolic/memory_factor.h"

namespace svod {

namespace {

std::string count(int64_t n) { return std::to_string(n); }

// What all threads fill, or read what others have filled.
bool isShared(UOp fill) {
  const auto isDealt = [](UOp r) { return axisType(r) == AxisType::Spread || isThreadOfGroup(axisType(r)); };
  return std::ranges::any_of(fill.src().subspan(1), isDealt) || bufferOf(fill).argAs<SlotArg>().ring > 0;
}

Status checkExpansion(UOp n, const Caps& caps) {
  int vectors = 0;
  int64_t copies = 1;
  for (UOp r : n.ranges()) {
    AxisType type = axisType(r);
    if (type == AxisType::Vector && ++vectors > 1)
      return fail(Diag::BadOpt, "a value would have lanes along two axes",
                  "use one vector axis for a store and for the reduces it depends on, upcast the other");
    if (type == AxisType::Upcast || type == AxisType::Unroll) copies *= maxExtent(r);
    if (copies > caps.maxCopies)
      return fail(Diag::BadOpt, "more than " + count(caps.maxCopies) + " copies of one expression",
                  "use smaller upcast and unroll amounts");
    if (n.op() == Op::Fill && isExpanded(type))
      return fail(Diag::BadOpt, "a local buffer would be filled once per copy of an expanded axis",
                  "apply pack and share after upcast and vector of the axes they stay inside of, or close them");
    if (n.op() == Op::Fill && type == AxisType::Spread)
      return fail(Diag::BadOpt, "each thread would fill a local buffer of its own in a copy that all of them share",
                  "apply pack and share before spread");
    if (n.op() == Op::Fill && isThreadOfGroup(type) && isShared(n))
      return fail(Diag::BadOpt, "threads would fill together what each of them has for itself",
                  "pack all that the threads read, before local, and stash after it");
    if (n.op() == Op::Fill && type == AxisType::Warp)
      return fail(Diag::BadOpt, "each lane of a warp would fill a local buffer of its own",
                  "apply pack and share before tc");
  }
  return {};
}

int64_t stagesOf(UOp fill) { return std::max<int64_t>(1, bufferOf(fill).argAs<SlotArg>().ring); }

Status checkCoreSums(UOp sink) {
  const CoreTile tile = coreTileOf(sink);
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Reduce || !closesCoreRange(n)) continue;
    const std::optional<CoreForm> form = coreFormOf(tile, n);
    if (!form)
      return fail(Diag::BadOpt, "the sum would not be one that its tensor core computes",
                  "of the axes of such a sum, tc leaves upcast, unroll, acc, local and group");
    if (!findsFactors(*form))
      return fail(Diag::BadOpt, "a warpgroup would not find both factors in memory that its workgroup shares",
                  "pack both, as rows of 128 bytes with swizzle(axis,128), before tc, in tiles that its rows and "
                  "columns divide");
  }
  return {};
}

Status checkWorkgroup(UOp sink, const Caps& caps) {
  const int64_t threads = caps.workgroups ? workgroupThreads(sink) : 1;
  if (threads <= caps.maxLocal) return {};
  return fail(Diag::BadOpt,
              "the workgroup would have " + count(threads) + " threads, the device allows " + count(caps.maxLocal),
              "use smaller local and group amounts");
}

// Whether the number of iterations of a loop follows from where another one is, this one among them: persist makes
// such.
bool isOfStaying(UOp sink, UOp range) {
  const auto counts = [](UOp n, UOp with) { return n.op() == Op::Range && n != with && n.src(0).dependsOn(with); };
  return !range.src(0).ranges().empty() || std::ranges::any_of(toposort(sink), [&](UOp n) { return counts(n, range); });
}

}  // namespace

Status checkKernel(std::span<const UOp> nodes, const Caps& caps) {
  const UOp sink = nodes.back();
  const int64_t threads = caps.workgroups ? workgroupThreads(sink) : 1;
  int64_t local = 0, limit = caps.workgroups ? caps.sharedBytes : caps.scratchBytes;
  for (UOp n : nodes) {
    SVOD_CHECK(checkExpansion(n, caps));
    if (n.op() == Op::Fill && (fillBytes(n) > limit || (local += bytesInMemory(n, threads)) > limit))
      return fail(Diag::BadOpt, "local buffers would take more than " + count(limit) + " bytes",
                  "tile an axis first and pack only the inner part");
    if (n.op() == Op::Fill && stagesOf(n) > 1 && !bareCopyOf(n))
      return fail(Diag::BadOpt, "a buffer that is copied ahead would be no bare copy of an operand",
                  "async takes what pack made, and that is not packed again");
  }
  if (!caps.cores.empty()) SVOD_CHECK(checkCoreSums(sink));
  if (!caps.tiles.empty()) SVOD_CHECK(checkTileSums(sink, caps));
  return checkWorkgroup(sink, caps);
}

Result<Axis> pickAxis(UOp sink, int32_t number, uint8_t nests, std::initializer_list<AxisType> types) {
  const std::vector<Axis> axes = axesOf(sink);
  if (number < 0 || static_cast<size_t>(number) >= axes.size())
    return fail(Diag::BadOpt, "there is no axis " + std::to_string(number), kAxesHere);
  const Axis axis = axes[static_cast<size_t>(number)];
  AxisType type = axisType(axis.range);
  std::string name = "axis " + std::to_string(number);
  if (type == AxisType::Serial)
    return fail(Diag::BadOpt, name + " must run in order: its iterations depend on each other through memory");
  if (!(nests & (1 << static_cast<int>(axis.nest)))) {
    constexpr std::string_view kNest[] = {"an output axis", "a reduce axis", "a fill axis"};
    return fail(Diag::BadOpt, name + " is " + std::string(kNest[static_cast<int>(axis.nest)]), kAxesHere);
  }
  if (std::find(types.begin(), types.end(), type) == types.end())
    return fail(Diag::BadOpt, name + " has type " + std::string(toText(type)), kAxesHere);
  if (isOfStaying(sink, axis.range))
    return fail(Diag::BadOpt, name + " counts the workgroups that stay, or the tiles of each",
                "put persist behind all opts of its axis");
  return axis;
}

Result<int64_t> pickAmount(const Axis& axis, int64_t amount, int64_t most) {
  std::optional<int64_t> extent = constExtent(axis.range);
  if (amount == 0 && !extent) return fail(Diag::BadOpt, "the whole of an axis of symbolic extent", "give an amount");
  int64_t n = amount == 0 ? *extent : amount;
  if (n < 2) return fail(Diag::BadOpt, "an amount of " + count(n) + " splits nothing", "use 2 or more");
  if (n > most)
    return fail(Diag::BadOpt, "the amount " + count(n) + " is above " + count(most), "use a smaller amount");
  if (extent && n > *extent)
    return fail(Diag::BadOpt, "the amount " + count(n) + " is above the extent " + count(*extent),
                "use a smaller amount");
  return n;
}

Status checkPadding(int64_t extent, int64_t padded) {
  if (extent > padded / 4) return {};
  return fail(Diag::BadOpt, "padding would make at least 3/4 of the work useless", "use smaller multiples");
}

Status mayReorder(UOp sink, UOp range, const Caps& caps) {
  for (UOp closer : closersOf(sink, range))
    if (closer.op() == Op::Reduce && !mayReassociate(caps, closer.dtype()))
      return fail(Diag::BadOpt,
                  "strict numerics keep the order of a " + std::string(toText(closer.dtype())) + " reduction",
                  "compile with --numerics contract");
  return {};
}

}  // namespace svod
