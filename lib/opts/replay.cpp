#include "opts/replay.h"

#include "opts/legality.h"
#include "opts/operand_opts.h"
#include "opts/reloop.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

Result<UOp> applyChecked(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps) {
  SVOD_TRY(UOp changed, info(opt.kind).apply(graph, sink, opt, caps));
  SVOD_CHECK(checkKernel(changed, caps));
  if (changed == sink && opt.kind != OptKind::NoLocals) return fail(Diag::BadOpt, "it changes nothing", "leave it out");
  return changed;
}

bool usesWorkgroup(OptKind kind) {
  return kind == OptKind::Local || kind == OptKind::Group || kind == OptKind::GroupTop || kind == OptKind::Tc;
}

}  // namespace

Result<UOp> applyOpt(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps) {
  Result<UOp> changed = applyChecked(graph, sink, opt, caps);
  if (changed) return changed;
  Error error = std::move(changed).error();
  error.message = toText(opt) + ": " + error.message;
  if (error.help.empty()) error.help = usageOf(opt.kind);
  if (error.help.find("axes: ") == std::string::npos) error.notes.push_back("axes: " + describeAxes(sink));
  return fail(std::move(error));
}

Result<UOp> applyOpts(Graph& graph, UOp sink, std::span<const OptOp> opts, const Caps& caps) {
  bool noLocals = false;
  for (const OptOp& opt : opts) {
    if (noLocals && usesWorkgroup(opt.kind))
      return fail(Diag::BadOpt, toText(opt) + ": nolocals stands before it in the list",
                  "remove one of the two");
    noLocals |= opt.kind == OptKind::NoLocals;
    SVOD_TRY(sink, applyOpt(graph, sink, opt, caps));
  }
  return simplify(graph, dropUnitRanges(graph, sink));
}

Status checkEffects(UOp sink, std::span<const OptOp> opts) {
  for (const OptOp& opt : opts) {
    const bool isIdle = (opt.kind == OptKind::Stream && !storesVectors(sink, std::get<ParamSlot>(opt.args).slot)) ||
                        (opt.kind == OptKind::Prefetch && !prefetchesVectors(sink, std::get<SlotAxisAmount>(opt.args).slot));
    if (isIdle)
      return fail(Diag::BadOpt, toText(opt) + ": no vectors pass there, so it changes nothing",
                  "use vector on the loop along its elements, or leave it out");
  }
  return {};
}

}  // namespace svod
