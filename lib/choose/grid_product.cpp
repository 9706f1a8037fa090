#include "choose/grid_product.h"

#include <algorithm>
#include <array>

#include "choose/grid.h"
#include "choose/grid_operands.h"
#include "cost/gpu_tiles.h"
#include "cost/parameters.h"
#include "facts/loop_pairs.h"
#include "facts/reduces.h"
#include "ir/gpu_op.h"
#include "ir/tensor_core_form.h"

namespace svod {

namespace {

/// What a sum multiplies, and the output loops that each factor alone, or both, depend on; outermost first.
struct Product {
  UOp sum, rows, columns;  // the sum and its factors
  std::vector<UOp> batch, m, n;
};

bool isUnitAlong(const KernelFacts& kernel, UOp loop) {
  return std::ranges::any_of(kernel.accesses, [&](const Access& a) { return a.isStore && strideOf(a, loop) == 1; });
}

std::vector<Access> resultsOf(const KernelFacts& kernel) {
  std::vector<Access> stores = kernel.accesses;
  std::erase_if(stores, [](const Access& a) { return !a.isStore; });
  return stores;
}

std::optional<Product> productOf(const KernelFacts& kernel, UOp sum) {
  const std::optional<Factors> factors = sum.op() == Op::Reduce ? factorsOf(sum) : std::nullopt;
  if (!factors) return std::nullopt;
  Product p{sum, factors->x, factors->y, {}, {}, {}};
  for (const Axis& axis : kernel.axes) {
    if (axis.nest != Nest::Output) continue;
    if (axisType(axis.range) != AxisType::Loop) return std::nullopt;
    const bool ofRows = p.rows.dependsOn(axis.range), ofColumns = p.columns.dependsOn(axis.range);
    (ofRows == ofColumns ? p.batch : ofRows ? p.m : p.n).push_back(axis.range);
  }
  if (p.m.empty() || p.n.empty()) return std::nullopt;
  const auto holdsUnit = [&](const std::vector<UOp>& loops) {
    return std::ranges::any_of(loops, [&](UOp r) { return isUnitAlong(kernel, r); });
  };
  if (holdsUnit(p.m) && !holdsUnit(p.n)) std::swap(p.m, p.n), std::swap(p.rows, p.columns);
  return p;
}

/// All sums of products that have the loops of the one with the most terms.
std::vector<Product> productsOf(const KernelFacts& kernel) {
  std::vector<Product> products;
  for (UOp sum : loopedReduces(kernel)) {
    const std::optional<Product> p = productOf(kernel, sum);
    if (p) products.push_back(*p);
  }
  std::ranges::stable_sort(products, std::ranges::greater(), [](const Product& p) { return termsOf(p.sum); });
  std::erase_if(products, [&](const Product& p) { return p.m != products[0].m || p.n != products[0].n; });
  return products;
}

int64_t extentOf(std::span<const UOp> loops) {
  int64_t extent = 1;
  for (UOp r : loops) extent *= std::max<int64_t>(1, maxExtent(r));
  return extent;
}

/// One loop where short ones, one inside of the other, have few iterations each; the innermost of them else.
std::optional<uint32_t> mergedLoop(Chooser& c, const std::vector<UOp>& loops, const char* why) {
  uint32_t inner = idOf(loops.back());
  for (size_t i = loops.size() - 1; i-- > 0;) {
    if (maxExtent(c.range(inner)) >= parameters::kGpuShortLoop) break;
    const uint32_t outer = idOf(loops[i]);
    if (!c.apply(OptKind::Merge, AxisList{{c.numberOf(outer), c.numberOf(inner)}}, why)) break;
    inner = outer;  // whose id a merged loop has
  }
  return inner;
}

std::vector<UOp> loopsOf(const Chooser& c, Nest nest) {
  std::vector<UOp> loops;
  for (const Axis& a : c.facts().axes)
    if (a.nest == nest) loops.push_back(a.range);
  return loops;
}

/// The loops of output and of each sum that tiles are made of, by id.
struct Plan {
  uint32_t m, n;
  std::vector<uint32_t> k;
};

std::optional<Plan> planOf(Chooser& c, const std::vector<Product>& products) {
  std::vector<AxisRef> order;
  for (const std::vector<UOp>* loops : {&products[0].batch, &products[0].m, &products[0].n})
    for (UOp r : *loops) order.push_back(c.numberOf(idOf(r)));
  if (!std::ranges::is_sorted(order, {}, &AxisRef::number) &&
      !c.apply(OptKind::Order, AxisList{order}, "rows outside of columns"))
    return std::nullopt;
  Plan plan{};
  plan.m = *mergedLoop(c, products[0].m, "rows of tiles");
  plan.n = *mergedLoop(c, products[0].n, "columns of tiles");
  for (const Product& p : products) {
    std::vector<UOp> terms;
    for (UOp r : p.sum.src().subspan(1)) terms.push_back(r);
    const auto isGone = [&](uint32_t id) { return std::ranges::find(plan.k, id) != plan.k.end(); };
    if (isGone(idOf(terms[0])) || isGone(idOf(terms.back()))) continue;  // sums over the same loops
    plan.k.push_back(*mergedLoop(c, terms, "terms of tiles"));
  }
  return plan;
}

/// Loops that split the tile's among warps or threads; false where the kernel does not take them.
bool shareTile(Chooser& c, uint32_t m, uint32_t n, uint32_t k, const GpuTile& tile, const TensorCore* core) {
  if (core) {
    const auto number = static_cast<uint32_t>(std::ranges::find(c.caps.cores, core) - c.caps.cores.begin());
    if (!c.apply(OptKind::Tc, CoreAxes{number, c.numberOf(m), c.numberOf(n), c.numberOf(k)},
                 core->isOfWarpgroup() ? "four warps multiply together" : "a warp multiplies with tensor cores"))
      return false;
    const int64_t beside = maxExtent(c.range(n)) / tile.columns;
    if (tile.columns > 1 && beside > 1) c.apply(OptKind::Upcast, n, beside, "columns of a warp side by side");
    if (tile.rows > 1) c.apply(OptKind::Local, m, tile.rows, "warps one below the other");
    if (tile.columns > 1) c.apply(OptKind::Local, n, tile.columns, "warps side by side");
    return tile.slices == 1 || c.apply(OptKind::Group, k, tile.slices, "other warps for a part of the terms");
  }
  if (isUnitAlong(c.facts(), c.range(n)) && maxExtent(c.range(n)) % 4 == 0)
    c.apply(OptKind::Vector, n, 4, "neighbours of the result");
  const auto across = [&](uint32_t loop, int threads, const char* why) {
    return c.apply(OptKind::Local, loop, std::min<int64_t>(threads, maxExtent(c.range(loop))), why);
  };
  return across(m, tile.rows, "threads one below the other") && across(n, tile.columns, "threads side by side");
}

/// The tiles' loops after everything was split; false where the kernel does not take the tile.
bool tileLoops(Chooser& c, const Plan& plan, const GpuTile& tile, const TensorCore* core) {
  const uint32_t m = c.constantTile(plan.m, tile.m, "rows of a workgroup");
  const uint32_t n = c.constantTile(plan.n, tile.n, "columns of a workgroup");
  std::vector<AxisRef> order;
  for (UOp r : loopsOf(c, Nest::Output))
    if (idOf(r) != m && idOf(r) != n) order.push_back(c.numberOf(idOf(r)));
  order.push_back(c.numberOf(m)), order.push_back(c.numberOf(n));
  if (!std::ranges::is_sorted(order, {}, &AxisRef::number) &&
      !c.apply(OptKind::Order, AxisList{order}, "tiles inside of the grid"))
    return false;
  std::vector<uint32_t> terms;
  for (uint32_t k : plan.k) terms.push_back(c.constantTile(k, tile.k, "terms of a step"));
  for (uint32_t term : terms)
    for (uint32_t outer : {m, n})
      if (!shareOperands(c, outer, term, tile.stages, core)) return false;
  if (!shareTile(c, m, n, terms[0], tile, core)) return false;
  for (uint32_t loop : {m, n}) {
    const int64_t left = maxExtent(c.range(loop));
    if (left > 1 && !c.apply(OptKind::Upcast, loop, left, "results that share what is read")) return false;
  }
  for (uint32_t k : terms) {
    const int64_t left = maxExtent(c.range(k));
    for (int64_t steps : {left, std::min<int64_t>(4, left), int64_t{2}})
      if (steps > 1 && left % steps == 0 && c.apply(OptKind::Unroll, k, steps, "terms written out")) break;
  }
  if (tile.isStashed)
    c.apply(OptKind::Stash, ParamSlot{*resultsOf(c.facts())[0].slot}, "rows of the result leave in whole lines");
  return true;
}

/// A way to multiply, with what it is expected to take.
struct Candidate {
  const TensorCore* core;
  GpuTile tile;
  double cycles;
};

/// By all of the cores, the fewest cycles first.
std::vector<Candidate> candidatesOf(const Chooser& c, const Plan& plan, const Product& product,
                                    std::span<const TensorCore* const> cores) {
  const int64_t others = extentOf(loopsOf(c, Nest::Output));
  GpuProduct shape{1, maxExtent(c.range(plan.m)), maxExtent(c.range(plan.n)), maxExtent(c.range(plan.k[0])),
                   byteSize(product.rows.dtype())};
  shape.batch = std::max<int64_t>(1, others / std::max<int64_t>(1, shape.m * shape.n));
  const std::vector<Access> results = resultsOf(c.facts());
  shape.resultBytes = byteSize(results[0].node.src(1).dtype());
  const int64_t together = kAccessBytes / shape.resultBytes;
  shape.stashes = results.size() == 1 && togetherAlong(results[0], c.range(plan.n), together) == together;
  std::vector<Candidate> found;
  for (const TensorCore* core : cores) {
    shape.core = core;
    for (const GpuTile& tile : tilesFor(shape, c.caps.gpu))
      if (tile.slices == 1 || plan.k.size() == 1) found.push_back({core, tile, cyclesOf(shape, tile, c.caps.gpu)});
  }
  std::ranges::stable_sort(found, {}, &Candidate::cycles);
  return found;
}

/// Workgroups of several waves walk some rows of tiles for each column: those that run together share more of both
/// factors in L2.
void walkInBlocks(Chooser& c, const Plan& plan) {
  constexpr int64_t kRows = 8, kWaves = 3;
  const UOp rows = c.range(plan.m), columns = c.range(plan.n);
  if (!rows.src(0).isConst() || !columns.src(0).isConst() || maxExtent(rows) <= kRows) return;
  if (maxExtent(rows) * maxExtent(columns) > kWaves * c.caps.workers)
    c.apply(OptKind::Raster, TwoAxesAmount{c.numberOf(plan.m), c.numberOf(plan.n), kRows},
            "neighbours share what L2 holds");
}

/// Takes the first that works out, of warpgroups and of single warps or lanes as many at most.
constexpr int kMostTried = 6;
bool multiply(Chooser& c, std::span<const TensorCore* const> cores) {
  const std::vector<Product> products = productsOf(c.facts());
  const std::optional<Plan> plan = products.empty() ? std::nullopt : planOf(c, products);
  if (!plan) return false;
  int triedOfGroups = 0, triedOfOthers = 0;
  for (const auto& [core, tile, cycles] : candidatesOf(c, *plan, products[0], cores)) {
    int& tried = core && core->isOfWarpgroup() ? triedOfGroups : triedOfOthers;
    if (tried++ >= kMostTried) continue;
    if (attempt(c, [&](Chooser& trial) { return tileLoops(trial, *plan, tile, core) && fillGrid(trial); })) {
      if (core && core->isOfWarpgroup()) walkInBlocks(c, *plan);
      return true;
    }
  }
  return false;
}

}  // namespace

bool multipliesMatrices(const KernelFacts& kernel, const Caps&) {
  const std::vector<Product> products = productsOf(kernel);
  return !products.empty() && kernel.fills.empty();
}

bool multiplyWithCores(Chooser& c) {
  const std::vector<Product> products = productsOf(c.facts());
  if (products.empty() || !mayReassociate(c.caps, products[0].sum.dtype())) return false;
  std::vector<const TensorCore*> cores = c.caps.cores;
  std::erase_if(cores, [&](const TensorCore* core) {
    return core->in != products[0].rows.dtype() || core->out != products[0].sum.dtype();
  });
  return multiply(c, cores);
}

bool multiplyWithLanes(Chooser& c) { return multiply(c, std::array<const TensorCore*, 1>{nullptr}); }

}  // namespace svod
