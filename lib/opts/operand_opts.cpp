#include "opts/operand_opts.h"

#include <algorithm>

#include "facts/accesses.h"
#include "opts/legality.h"

namespace svod {

Result<Applied> applyStream(Graph& g, UOp sink, const OptOp& opt, const Caps&) {
  uint32_t slot = std::get<ParamSlot>(opt.args).slot;
  std::string name = "parameter " + std::to_string(slot);
  UOp param;
  for (UOp n : toposort(sink)) {
    if (n.op() == Op::Param && n.argAs<SlotArg>().slot == slot) param = n;
    if (n.op() == Op::Load && param && storageOf(n.src(0)) == param)
      return fail(Diag::BadOpt, name + " is read by the kernel", "stream takes an output that is only written");
  }
  if (!param) return fail(Diag::BadOpt, "the kernel has no " + name, "stream(slot) takes the number of an output");
  if (param.argAs<SlotArg>().space == Space::Stream) return fail(Diag::BadOpt, name + " is streamed already");
  UOp streamed = g.make(Op::Param, param.dtype(), param.src(), SlotArg{slot, Space::Stream});
  return substitute(g, sink, std::span(&param, 1), std::span(&streamed, 1));
}

namespace {

bool isParam(UOp storage, uint32_t slot) { return storage.op() == Op::Param && storage.argAs<SlotArg>().slot == slot; }

// Whether a load reads the parameter where it lies, or a local copy of it.
bool readsOperand(UOp load, uint32_t slot) {
  UOp storage = storageOf(load.src(0)), copied = storage.op() == Op::Fill ? copiedBy(storage) : UOp();
  return isParam(copied ? copied : storage, slot);
}

bool hasLanes(UOp address) {
  return std::ranges::any_of(address.ranges(), [](UOp r) { return axisType(r) == AxisType::Vector; });
}

bool isPrefetched(UOp load, uint32_t slot) {
  return load.src(0).src(0).op() == Op::Prefetch && readsOperand(load, slot);
}

UOp prefetching(Graph& g, UOp address, int64_t elements) {
  std::vector<UOp> src(address.src().begin(), address.src().end());
  src[0] = g.make(Op::Prefetch, src[0].dtype(), {src[0]}, SlotArg{static_cast<uint32_t>(elements)});
  return g.withSrc(address, src);
}

}  // namespace

bool storesVectors(UOp sink, uint32_t slot) {
  return std::ranges::any_of(accessesOf(sink),
                             [&](const Access& a) { return a.isStore && a.slot == slot && hasLanes(a.node.src(0)); });
}

bool prefetchesVectors(UOp sink, uint32_t slot) {
  return std::ranges::any_of(accessesOf(sink), [&](const Access& a) {
    return !a.isStore && isPrefetched(a.node, slot) && hasLanes(a.node.src(0));
  });
}

bool prefetchesForLanes(UOp sink, uint32_t slot) {
  const auto isLanes = [](UOp n) { return n.op() == Op::Range && axisType(n) == AxisType::Vector; };
  return std::ranges::any_of(accessesOf(sink),
                             [&](const Access& a) { return !a.isStore && isPrefetched(a.node, slot); }) &&
         std::ranges::any_of(toposort(sink), isLanes);
}

Result<Applied> applyPrefetch(Graph& g, UOp sink, const OptOp& opt, const Caps&) {
  const auto& args = std::get<SlotAxisAmount>(opt.args);
  const std::string name = "parameter " + std::to_string(args.slot), loop = "axis " + std::to_string(args.axis);
  if (args.amount < 1) return fail(Diag::BadOpt, "prefetch looks one element ahead or more", "write prefetch(1,0,512)");
  SVOD_TRY(Axis axis, pickAxis(sink, args.axis, kAnyNest, {AxisType::Loop, AxisType::Reduce, AxisType::Thread}));
  bool found = false, isWritten = false, isTaken = false;
  UOp ahead = transform(g, sink, [&](UOp n, std::span<const UOp> from) {
    isWritten |= n.op() == Op::Store && isParam(storageOf(n.src(0)), args.slot);
    if (n.op() != Op::Load || !n.src(0).dependsOn(axis.range) || !readsOperand(n, args.slot)) return g.withSrc(n, from);
    found = true, isTaken |= n.src(0).src(0).op() == Op::Prefetch;
    std::vector<UOp> src(from.begin(), from.end());
    src[0] = prefetching(g, src[0], args.amount);
    return g.withSrc(n, src);
  });
  if (isWritten)
    return fail(Diag::BadOpt, name + " is written by the kernel", "prefetch takes an operand that is only read");
  if (isTaken) return fail(Diag::BadOpt, "a load of " + name + " is prefetched already", "leave one of the two out");
  if (!found) return fail(Diag::BadOpt, name + " is not read along " + loop, kAxesHere);
  return ahead;
}

}  // namespace svod
