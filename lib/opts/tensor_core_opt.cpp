#include "opts/tensor_core_opt.h"

#include <algorithm>

#include "ir/shape.h"
#include "ir/tensor_core_form.h"
#include "opts/legality.h"
#include "opts/masked_product.h"
#include "opts/reloop.h"
#include "opts/tile_unit_opt.h"

namespace svod {

namespace {

std::string coresText(const Caps& caps) {
  std::string text = "tensor cores:";
  for (size_t i = 0; i < caps.cores.size(); ++i)
    text += (i ? ", " : " ") + std::to_string(i) + " " + std::string(caps.cores[i]->name);
  return text;
}

Result<const TensorCore*> pickCore(const Caps& caps, uint32_t number) {
  if (caps.cores.empty())
    return fail(Diag::BadOpt, "the target has no tensor cores", "use vector and upcast, or dot for bytes");
  if (number < caps.cores.size()) return caps.cores[number];
  return fail(Diag::BadOpt, "there is no tensor core " + std::to_string(number), coresText(caps));
}

Status checkNumerics(UOp sink, UOp k, const TensorCore& core, const Caps& caps) {
  SVOD_CHECK(mayReorder(sink, k, caps));
  if (!core.dropsDigits || caps.numerics == Numerics::Fast) return {};
  return fail(Diag::BadOpt, std::string(core.name) + " drops digits of its factors", "compile with --numerics fast");
}

// Each step of the sum needs all lanes, and the elements of the result that the layout gives them, for itself.
Status checkUnsplit(UOp sink, std::span<const UOp> sums) {
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Range) continue;
    if (axisType(n) == AxisType::Warp) return fail(Diag::BadOpt, "a tensor core computes a sum of this kernel already");
    if (isThreadOfGroup(axisType(n)))
      return fail(Diag::BadOpt, "the kernel has a workgroup axis already", "put tc before local, group and grouptop");
  }
  auto isSplit = [](UOp r) { return isExpanded(axisType(r)); };
  for (UOp sum : sums)
    if (std::ranges::any_of(sum.src(0).ranges(), isSplit))
      return fail(Diag::BadOpt, "the sum is computed along an expanded axis",
                  "put tc before upcast, vector, unroll and acc of the axes of its sum");
  return {};
}

Status checkSum(UOp sum, const TensorCore& core, UOp m, UOp n, const Caps& caps) {
  const std::optional<Factors> factors = sum.op() == Op::Reduce ? factorsOf(sum) : std::nullopt;
  if (!factors)
    return fail(Diag::BadOpt, "the reduce axis does not sum products", "tc takes a sum of products of two factors");
  auto [x, y] = *factors;
  if (x.dtype() != core.in || y.dtype() != core.in || sum.dtype() != core.out)
    return fail(Diag::BadOpt,
                "products of " + std::string(toText(x.dtype())) + " and " + std::string(toText(y.dtype())) +
                    " are summed in " + std::string(toText(sum.dtype())) + ", which " + std::string(core.name) +
                    " does not",
                coresText(caps));
  if (x.dependsOn(n)) std::swap(x, y);
  const bool separate = x.dependsOn(m) && y.dependsOn(n) && !x.dependsOn(n) && !y.dependsOn(m);
  if (!separate) return fail(Diag::BadOpt, "one factor must depend on m and the other on n", "write tc(core, m, n, k)");
  return {};
}

// Tiles cover both axes together, wherever these are closed.
Status checkOutputs(UOp sink, UOp m, UOp n) {
  const std::vector<UOp> closers = closersOf(sink, m);
  const bool areEnds = std::ranges::all_of(closers, [](UOp c) { return c.op() == Op::End; });
  if (areEnds && closers == closersOf(sink, n)) return {};
  return fail(Diag::BadOpt, "the axes m and n do not belong to the same loop nests");
}

// The loops over the rows and columns of one tile as lanes of a warp and the elements of each, in the layout of the
// result. Ids grow from high bits to low ones, those of lanes first: that is how coreTileOf reads them.
UOp spreadTile(Graph& g, UOp sink, const TensorCore& core, UOp row, UOp column) {
  std::vector<FragmentRun> runs = runsOf(core.c);
  std::ranges::reverse(runs);
  std::ranges::stable_partition(runs, &FragmentRun::ofLane);
  uint32_t id = nextRangeId(sink);
  std::vector<UOp> ranges, rowParts, columnParts;
  for (const FragmentRun& run : runs) {
    ranges.push_back(g.range(g.index(run.extent()), id++, run.ofLane ? AxisType::Warp : AxisType::Core));
    UOp part = mulIndices(g, ranges.back(), g.index(int64_t{1} << run.to.bit));
    (run.to.dim == 'm' ? rowParts : columnParts).push_back(part);
  }
  auto sum = [&](const std::vector<UOp>& parts) {
    UOp total = parts[0];
    for (size_t i = 1; i < parts.size(); ++i) total = addIndices(g, total, parts[i]);
    return total;
  };
  const UOp closer = closersOf(sink, row)[0];
  const bool rowIsOuter = std::ranges::find(closer.src(), row) < std::ranges::find(closer.src(), column);
  Reloop loops[] = {{row, sum(rowParts), rowIsOuter ? std::vector<UOp>{} : ranges},
                    {column, sum(columnParts), rowIsOuter ? ranges : std::vector<UOp>{}}};
  return reloop(g, sink, loops);
}

}  // namespace

Result<Applied> applyTensorCore(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  if (!caps.workgroups) return applyTileUnit(g, sink, opt, caps);
  const auto& args = std::get<CoreAxes>(opt.args);
  SVOD_TRY(const TensorCore* core, pickCore(caps, args.core));
  SVOD_TRY(Axis m, pickAxis(sink, args.m, kOutput, {AxisType::Loop, AxisType::Global}));
  SVOD_TRY(Axis n, pickAxis(sink, args.n, kOutput, {AxisType::Loop, AxisType::Global}));
  SVOD_TRY(Axis k, pickAxis(sink, args.k, kReduce, {AxisType::Reduce}));
  sink = withMasksInside(g, sink, {&k.range, 1});
  const std::vector<UOp> sums = closersOf(sink, k.range);
  SVOD_CHECK(checkUnsplit(sink, sums));
  for (UOp sum : sums) SVOD_CHECK(checkSum(sum, *core, m.range, n.range, caps));
  SVOD_CHECK(checkOutputs(sink, m.range, n.range));
  SVOD_CHECK(checkNumerics(sink, k.range, *core, caps));
  auto split = [&](UOp range, int64_t amount, AxisType inner) -> Result<UOp> {
    const int64_t extent = maxExtent(range);
    SVOD_CHECK(checkPadding(extent, (extent + amount - 1) / amount * amount));
    SplitResult parts = splitRange(g, sink, {range, amount, axisType(range), inner, SplitForm::Inner, caps.overwrites});
    sink = parts.sink;
    return parts.inner;
  };
  SVOD_TRY(UOp row, split(m.range, core->m, AxisType::Loop));
  SVOD_TRY(UOp column, split(n.range, core->n, AxisType::Loop));
  SVOD_CHECK(split(k.range, core->k, AxisType::Core));
  return spreadTile(g, sink, *core, row, column);
}

}  // namespace svod
