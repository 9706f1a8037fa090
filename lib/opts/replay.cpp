#include "opts/replay.h"

#include "opts/gated_sums.h"
#include "opts/legality.h"
#include "opts/operand_opts.h"
#include "opts/reloop.h"
#include "opts/stage_opts.h"
#include "symbolic/symbolic.h"

namespace svod {

Result<AppliedOpt> tryOpt(Graph& graph, const NamedKernel& kernel, const OptOp& opt, const Caps& caps) {
  const std::vector<Axis> axes = axesOf(kernel.sink);
  SVOD_TRY(OptOp numbered, kernel.names.numbered(opt, axes));
  SVOD_TRY(Applied applied, info(opt.kind).apply(graph, kernel.sink, numbered, caps));
  const std::vector<UOp> nodes = toposort(applied.sink);
  SVOD_CHECK(checkKernel(nodes, caps));
  if (applied.sink == kernel.sink && opt.kind != OptKind::NoLocals)
    return fail(Diag::BadOpt, "it changes nothing", "leave it out");
  LoopNames names = kernel.names.after(applied, nodes);
  return AppliedOpt{{applied.sink, std::move(names)}, std::move(applied.made), kernel.names.named(numbered, axes)};
}

namespace {

bool usesWorkgroup(OptKind kind) {
  return kind == OptKind::Local || kind == OptKind::Group || kind == OptKind::GroupTop || kind == OptKind::Tc;
}

}  // namespace

Result<AppliedOpt> applyOpt(Graph& graph, const NamedKernel& kernel, const OptOp& opt, const Caps& caps) {
  Result<AppliedOpt> changed = tryOpt(graph, kernel, opt, caps);
  if (changed) return changed;
  Error error = std::move(changed).error();
  error->message = toText(opt) + ": " + error->message;
  if (error->help.empty()) error->help = usageOf(opt.kind);
  const std::string axes = "axes: " + kernel.names.describe(kernel.sink);
  if (const size_t at = error->help.find(kAxesHere); at != std::string::npos)
    error->help.replace(at, std::string_view(kAxesHere).size(), axes);
  else
    error->notes.push_back(axes);
  return fail(std::move(error));
}

Result<UOp> applyOpt(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps) {
  SVOD_TRY(AppliedOpt applied, applyOpt(graph, NamedKernel(sink), opt, caps));
  return applied.kernel.sink;
}

Result<UOp> applyOpts(Graph& graph, UOp sink, std::span<const OptOp> opts, const Caps& caps) {
  bool noLocals = false;
  NamedKernel kernel(sink);
  for (const OptOp& opt : opts) {
    if (noLocals && usesWorkgroup(opt.kind))
      return fail(Diag::BadOpt, toText(opt) + ": nolocals stands before it in the list", "remove one of the two");
    noLocals |= opt.kind == OptKind::NoLocals;
    SVOD_TRY(AppliedOpt applied, applyOpt(graph, kernel, opt, caps));
    kernel = std::move(applied.kernel);
  }
  return endOfOpts(graph, kernel.sink, caps);
}

UOp endOfOpts(Graph& graph, UOp sink, const Caps& caps) {
  sink = simplify(graph, dropUnitRanges(graph, sink));
  if (!caps.workgroups) sink = simplify(graph, boundSums(graph, sink, caps.numerics));
  return spreadLoneFills(graph, sink, caps);
}

Status checkEffects(UOp sink, std::span<const OptOp> opts) {
  for (const OptOp& opt : opts) {
    const bool isIdle =
        (opt.kind == OptKind::Stream && !storesVectors(sink, std::get<ParamSlot>(opt.args).slot)) ||
        (opt.kind == OptKind::Prefetch && !prefetchesForLanes(sink, std::get<SlotAxisAmount>(opt.args).slot));
    if (isIdle)
      return fail(Diag::BadOpt, toText(opt) + ": no vectors pass there, so it changes nothing",
                  "use vector on the loop along its elements, or leave it out");
  }
  return {};
}

}  // namespace svod
