#include "lower/expand.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/gpu_op.h"
#include "ir/workgroup.h"
#include "lower/expand_dots.h"
#include "lower/fragments.h"
#include "lower/shuffle_fold.h"
#include "lower/tile_factors.h"
#include "lower/warpgroup_sums.h"
#include "symbolic/tile_operands.h"

namespace svod {

namespace {

/// The buffer of a fill that folds, as its loops see it: each element starts at the identity of the fold.
UOp cleared(Graph& g, UOp buffer, Op op, UOp fill, uint32_t range) {
  std::vector<UOp> before{buffer};
  for (UOp r : fill.ranges())
    if (isLoop(r)) before.push_back(r);
  int64_t width = 1, size = buffer.maxNumel();
  for (UOp r : fill.src().subspan(1))
    if (isVector(r) && size % extentOf(r) == 0) width = extentOf(r);
  UOp steps = g.index(size / width), step = g.range(steps, range, AxisType::Loop);
  UOp at = width == 1 ? step
                      : g.make(Op::Ramp, DType::Index, {g.alu(Op::Mul, {step, g.index(width)})},
                               SlotArg{static_cast<uint32_t>(width)});
  UOp fresh = before.size() == 1 ? buffer : g.make(Op::After, fill.dtype(), before);
  UOp clear = g.make(Op::Store, DType::Void, {g.indexInto(fresh, {&at, 1}), g.constant(identity(op, fill.dtype()))});
  std::vector<UOp> inside{buffer, g.make(Op::End, DType::Void, {clear, step})};
  for (UOp r : fill.src().subspan(1))
    if (isLoop(r)) inside.push_back(r);
  return g.make(Op::After, fill.dtype(), inside);
}

/// The fold of independent values, as a tree.
UOp foldTree(Graph& g, Op op, std::vector<UOp> values) {
  for (size_t step = 1; step < values.size(); step *= 2)
    for (size_t i = 0; i + step < values.size(); i += 2 * step) values[i] = g.alu(op, {values[i], values[i + step]});
  return values[0];
}

/// Values without open ranges may still contain reductions or fills to lower.
bool containsLoops(UOp node) { return node.srcCount() > 0 && node.op() != Op::Param; }

/// Loops that share their threads as one.
UOp joinThreads(Graph& g, UOp sink) {
  std::vector<UOp> from, to;
  for (const ThreadDim& dim : threadDimsOf(sink))
    for (UOp r : dim.ranges)
      if (r != dim.range()) from.push_back(r), to.push_back(dim.range());
  return from.empty() ? sink : substitute(g, sink, from, to);
}

/// The ranges of a reduction by what becomes of them; that of a dot product is none of these.
struct ReduceRanges {
  std::vector<UOp> loops, upcasts, unrolls;
  std::optional<UOp> own, threads;  // its vector range, and threads that hold its terms
};
ReduceRanges reduceRanges(UOp reduce, const std::optional<DotForm>& dot) {
  ReduceRanges out;
  for (UOp r : reduce.src().subspan(1)) {
    if (isVector(r)) out.own = r;
    if (isThread(r)) out.threads = r;
    if (isLoop(r) && !isThread(r)) out.loops.push_back(r);
    if (!isUnrolled(r) || (dot && dot->range == r)) continue;
    (r.argAs<AxisArg>().type == AxisType::Upcast ? out.upcasts : out.unrolls).push_back(r);
  }
  return out;
}

/// The ranges of a sum but for those of one tile.
struct StepRanges {
  std::vector<UOp> loops, unrolls;
};
StepRanges stepsOf(UOp reduce, std::initializer_list<UOp> ofTile) {
  StepRanges steps;
  for (UOp r : reduce.src().subspan(1))
    if (std::ranges::find(ofTile, r) == ofTile.end()) (isLoop(r) ? steps.loops : steps.unrolls).push_back(r);
  return steps;
}

/// The storage that a scalar is loaded from. Of copies side by side the last one prefetches, and one in each line of a
/// cache before it: a tile that begins in a line has that from the tile before.
UOp prefetchedOnce(UOp address, const Assignment& point) {
  constexpr int64_t kLineBytes = 64;
  const UOp storage = address.src(0);
  if (storage.op() != Op::Prefetch) return storage;
  int64_t behind = 0, least = 0;  // bytes from here to the last copy; the smallest step
  for (UOp r : address.src(1).ranges()) {
    const auto copy = point.find(r.id());
    if (!isUnrolled(r) || copy == point.end()) continue;
    const int64_t bytes = byteSize(address.dtype()) * coefficientOf(address.src(1), r).value_or(0);
    if (bytes <= 0 || bytes >= kLineBytes) continue;
    behind += bytes * (extentOf(r) - 1 - copy->second);
    least = least == 0 ? bytes : std::min(least, bytes);
  }
  return behind % kLineBytes < std::max<int64_t>(least, 1) ? storage : storage.src(0);
}

class Expander {
 public:
  Expander(Graph& graph, uint32_t nextRange, bool inGrid, bool loadsMatrices)
      : g_(graph), index_(graph), nextRange_(nextRange), inGrid_(inGrid), loadsMatrices_(loadsMatrices),
        dots_(graph, index_,
              {[this](UOp node, const Assignment& at) { return expandNode(node, at); },
               [this](UOp base, const Assignment& at) { return storageFor(base, at); }}) {}

  Result<UOp> run(UOp sink) {
    sink = joinThreads(g_, sink);
    tile_ = coreTileOf(sink);
    std::vector<UOp> src;
    for (UOp s : sink.src()) src.push_back(closeThreads(g_, s.op() == Op::End ? expandEnd(s, {}) : expandNode(s, {})));
    if (!index_.error().empty())
      return fail(Diag::BadOpt, index_.error(), "use at most one vector(...) for the axes that one value depends on");
    return g_.make(Op::Sink, DType::Void, src, sink.arg());
  }

 private:
  // ---- values
  UOp expandNode(UOp node, const Assignment& point) {
    if (node.ranges().empty() && !containsLoops(node)) return node;
    Assignment key = relevant(node, point);
    auto& instances = memo_[node.id()];
    if (auto it = instances.find(key); it != instances.end()) return it->second;
    UOp result = build(node, key);
    memo_[node.id()].emplace(std::move(key), result);
    return result;
  }

  UOp build(UOp node, const Assignment& point) {
    switch (node.op()) {
      case Op::Range:
        return isUnrolled(node) ? g_.index(point.at(node.id())) : isVector(node) ? index_.lanes(node) : node;
      case Op::Reduce: return node.srcCount() > 1 ? buildReduce(node, point) : buildPlain(node, point);
      case Op::Index: return buildAddress(node, point);
      default: return index_.isIndexMath(node) ? index_.value(node, point) : buildPlain(node, point);
    }
  }

  UOp buildPlain(UOp node, const Assignment& point) {
    std::vector<UOp> src;
    for (UOp s : node.src()) src.push_back(expandNode(s, point));
    const bool isAccess = node.op() == Op::Load || node.op() == Op::Store;
    if (isAccess && src.size() == 3) src[0] = widenedAddress(g_, src[0], src[2].lanes());
    return g_.withSrc(node, src);
  }

  // ---- memory
  UOp buildAddress(UOp node, const Assignment& point) {
    UOp flat = node.src(1), at = index_.isMath(flat) ? index_.position(flat, point) : loadedPosition(flat, point);
    return g_.indexInto(storageFor(at.isScalar() ? prefetchedOnce(node, point) : node.src(0), point), {&at, 1});
  }
  /// An address that depends on what is loaded: lanes are neighbours where the loads are the same in all of them.
  /// Vectors of a grid have to be aligned, which nothing says of a loaded place.
  UOp loadedPosition(UOp flat, const Assignment& point) {
    const std::optional<UOp> vector = inGrid_ ? std::nullopt : index_.vectorRange(flat);
    if (!vector || coefficientOf(flat, *vector) != 1) return expandNode(flat, point);
    UOp zero = g_.index(0), first = expandNode(substitute(g_, flat, {&*vector, 1}, {&zero, 1}), point);
    return g_.make(Op::Ramp, DType::Index, {first}, SlotArg{static_cast<uint32_t>(extentOf(*vector))});
  }
  UOp storageFor(UOp base, const Assignment& point) {
    if (base.op() == Op::Prefetch)
      return g_.make(Op::Prefetch, base.dtype(), {storageFor(base.src(0), point)}, base.arg());
    if (base.op() == Op::After) {
      std::vector<UOp> src{storageFor(base.src(0), point)};
      for (UOp before : base.src().subspan(1)) src.push_back(expandNode(before, point));
      return g_.withSrc(base, src);
    }
    return base.op() == Op::Fill ? localBuffer(base, point) : expandNode(base, point);
  }

  /// The buffer of a fill, filled. Every copy of what fills it has a buffer of its own.
  UOp localBuffer(UOp fill, const Assignment& point) {
    Assignment key = relevant(fill, point);
    auto& instances = memo_[fill.id()];
    if (auto it = instances.find(key); it != instances.end()) return it->second;
    UOp store = fill.src(0), size = g_.index(fill.maxNumel());
    SlotArg arg = storageOf(store.src(0)).argAs<SlotArg>();
    arg.slot = arg.space == Space::Reg ? nextReg_++ : nextLocal_++;
    UOp buffer = g_.buffer(fill.dtype(), {&size, 1}, arg);
    UOp place = store.src(0).src(1);
    std::vector<UOp> filling(store.src().begin(), store.src().end()), end(fill.src().begin(), fill.src().end());
    UOp storage = buffer;
    if (Op op = fill.argAs<ReduceArg>().op; op != Op::Store) {
      storage = cleared(g_, buffer, op, fill, nextRange_++);
      UOp present = g_.indexInto(storage, {&place, 1});
      bool gated = filling.size() > 2;
      UOp before = gated ? g_.load(present, g_.constant(identity(op, fill.dtype())), filling[2]) : g_.load(present);
      filling[1] = g_.alu(op, {before, filling[1]});
    }
    filling[0] = g_.indexInto(storage, {&place, 1});
    end[0] = g_.withSrc(store, filling);
    UOp filled = expandEnd(g_.make(Op::End, DType::Void, end), key);
    UOp ready = g_.make(Op::After, fill.dtype(), {buffer, filled});
    memo_[fill.id()].emplace(std::move(key), ready);
    return ready;
  }

  // ---- loops
  UOp expandEnd(UOp end, const Assignment& point) {
    UOp body = end.src(0);
    std::span<const UOp> ranges = end.src().subspan(1);
    std::vector<UOp> stores, src;
    forEachAssignment(ranges, point, [&](const Assignment& fixed) {
      for (UOp store : body.op() == Op::Group ? body.src() : std::span<const UOp>(&body, 1))
        stores.push_back(store.op() == Op::End ? expandEnd(store, fixed) : buildPlain(store, fixed));
    });
    src.push_back(stores.size() == 1 ? stores[0] : g_.make(Op::Group, DType::Void, stores));
    for (UOp r : ranges)
      if (isLoop(r)) src.push_back(r);
    return src.size() == 1 ? src[0] : g_.make(Op::End, DType::Void, src);
  }

  // ---- tensor cores
  /// The element of the result that `point` asks for. All elements are summed up together, once.
  UOp buildCoreSum(UOp node, const CoreForm& form, const Assignment& point) {
    Assignment shared = point;
    int64_t element = 0;
    for (const TileRange& t : form.ranges)
      if (auto at = shared.find(t.range.id()); at != shared.end())
        element |= at->second << t.run.first, shared.erase(at);
    UOp& sum = coreSums_[{node.id(), shared}];
    if (!sum) sum = coreSum(node, form, shared);
    return g_.make(Op::Lane, node.dtype(), {sum}, SlotArg{static_cast<uint32_t>(element)});
  }
  UOp coreSum(UOp node, const CoreForm& form, const Assignment& point) {
    const auto [loops, unrolls] = stepsOf(node, {form.terms});
    if (form.core->isOfWarpgroup()) return coreSumInMemory(form, loops, unrolls, point);
    std::vector<FoldTerm> terms;
    forEachAssignment(unrolls, point, [&](const Assignment& point) {
      const auto expanded = [&](UOp element) { return expandNode(element, point); };
      UOp a = fragmentOf(g_, form, form.core->a, form.a, loadsMatrices_, expanded);
      UOp b = fragmentOf(g_, form, form.core->b, form.b, loadsMatrices_, expanded);
      terms.push_back({a, b, 1, form.core});
    });
    return fold({Op::Add, node.dtype(), 1}, loops, terms);
  }

  UOp coreSumInMemory(const CoreForm& form, const std::vector<UOp>& loops, const std::vector<UOp>& unrolls,
                      const Assignment& point) {
    std::vector<WarpgroupTerm> terms;
    forEachAssignment(unrolls, point, [&](const Assignment& point) {
      terms.push_back(warpgroupTerm(g_, form, [&](UOp element) { return expandNode(element, point); }));
    });
    return sumOfWarpgroup(g_, nextReg_++, *form.core, loops, terms);
  }

  // ---- tile units
  /// The row of the sums that `point` asks for. All rows are summed up together, once.
  UOp buildTileRow(UOp node, const TileForm& form, Assignment point) {
    const auto row = point.extract(form.rows.id());
    UOp& sums = coreSums_[{node.id(), point}];
    if (!sums) {
      const auto [loops, unrolls] = stepsOf(node, {form.groups, form.terms});
      std::vector<FoldTerm> terms;
      forEachAssignment(unrolls, point, [&](const Assignment& at) {
        terms.push_back(tileTerm(g_, form, [&](UOp element) { return expandNode(element, at); }));
      });
      sums = fold({Op::Add, node.dtype(), 1}, loops, terms);
    }
    return tileRow(g_, *form.unit, sums, row.mapped());
  }

  // ---- reductions
  /// One accumulator per assignment of the reduction's Upcast ranges, which are independent; each takes its Unroll
  /// copies in order.
  UOp buildReduce(UOp node, const Assignment& point) {
    if (std::optional<CoreForm> form = coreFormOf(tile_, node)) return buildCoreSum(node, *form, point);
    if (std::optional<TileForm> form = tileInMemory(node)) return buildTileRow(node, *form, point);
    Op op = node.argAs<ReduceArg>().op;
    const std::optional<DotForm> dot = dotFormOf(node);
    const ReduceRanges ranges = reduceRanges(node, dot);
    std::vector<UOp> totals;
    forEachAssignment(ranges.upcasts, point, [&](const Assignment& outer) {
      std::vector<FoldTerm> values;
      forEachAssignment(ranges.unrolls, outer, [&](const Assignment& inner) {
        values.push_back(dot ? dots_.term(*dot, inner) : FoldTerm{expandNode(node.src(0), inner)});
      });
      totals.push_back(fold({op, node.dtype(), ranges.own ? extentOf(*ranges.own) : 1}, ranges.loops, values));
    });
    UOp total = foldTree(g_, op, std::move(totals));
    if (ranges.own) total = g_.make(Op::Reduce, node.dtype(), {total}, ReduceArg{op, {}});
    return ranges.threads ? foldThreads(g_, op, total, *ranges.threads, needsBuffer(*ranges.threads) ? nextLocal_++ : 0)
                          : total;
  }

  UOp fold(FoldType type, std::span<const UOp> loops, std::span<const FoldTerm> terms) {
    return foldTerms(g_, loops.empty() ? 0 : nextReg_++, type, loops, terms);
  }

  Graph& g_;
  IndexExpander index_;
  std::map<uint32_t, std::map<Assignment, UOp>> memo_;
  CoreTile tile_;
  std::map<std::pair<uint32_t, Assignment>, UOp> coreSums_;  // by node and assignment without the elements of the tile
  uint32_t nextReg_ = 0, nextLocal_ = 0, nextRange_;
  bool inGrid_, loadsMatrices_;
  DotExpander dots_;
};

}  // namespace

Result<UOp> expand(Graph& graph, UOp sink, const GpuTarget* gpu) {
  const bool loadsMatrices = gpu && hasGpuOp("ldmatrix_x4", gpu->family, gpu->generation);
  uint32_t nextRange = 0;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Range) nextRange = std::max(nextRange, n.argAs<AxisArg>().id + 1);
  return Expander(graph, nextRange, gpu != nullptr, loadsMatrices).run(sink);
}

}  // namespace svod
