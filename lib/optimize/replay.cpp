#include "optimize/replay.h"

#include "optimize/legality.h"
#include "optimize/reloop.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

Result<UOp> applyChecked(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps) {
  SVOD_TRY(UOp changed, info(opt.kind).apply(graph, sink, opt, caps));
  SVOD_CHECK(checkKernel(changed, caps));
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

}  // namespace svod
