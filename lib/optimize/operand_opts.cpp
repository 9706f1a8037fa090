#include "optimize/operand_opts.h"

#include <algorithm>

#include "optimize/legality.h"

namespace svod {

Result<UOp> applyStream(Graph& g, UOp sink, const OptOp& opt, const Caps&) {
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

Result<UOp> applyPrefetch(Graph& g, UOp sink, const OptOp& opt, const Caps&) {
  const auto& args = std::get<PackArgs>(opt.args);
  if (args.axes.size() != 2 || args.axes[1] < 1)
    return fail(Diag::BadOpt, "prefetch takes an operand, a loop and a number of elements", "write prefetch(1,0,512)");
  SVOD_TRY(Axis axis, pickAxis(sink, args.axes[0], kAnyNest, {AxisType::Loop, AxisType::Reduce, AxisType::Thread}));
  std::vector<UOp> from, to;
  for (UOp n : toposort(sink)) {
    UOp stored = n.op() == Op::Store ? storageOf(n.src(0)) : UOp();
    if (stored && stored.op() == Op::Param && stored.argAs<SlotArg>().slot == args.slot)
      return fail(Diag::BadOpt, "parameter " + std::to_string(args.slot) + " is written by the kernel",
                  "prefetch takes an operand that is only read");
    if (n.op() != Op::Load || !n.src(0).dependsOn(axis.range)) continue;
    UOp param = storageOf(n.src(0));
    if (param.op() != Op::Param || param != n.src(0).src(0) || param.argAs<SlotArg>().slot != args.slot) continue;
    UOp ahead = g.make(Op::Param, param.dtype(), {param.src(0), g.index(args.axes[1])}, param.arg());
    std::vector<UOp> src(n.src().begin(), n.src().end()), address(src[0].src().begin(), src[0].src().end());
    address[0] = ahead, src[0] = g.withSrc(src[0], address);
    from.push_back(n), to.push_back(g.withSrc(n, src));
  }
  const std::string name = "parameter " + std::to_string(args.slot), loop = "axis " + std::to_string(args.axes[0]);
  if (from.empty()) return fail(Diag::BadOpt, name + " is not read along " + loop, "axes: " + describeAxes(sink));
  return substitute(g, sink, from, to);
}

}  // namespace svod
