#include "lower/expand.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "lower/accumulator.h"
#include "lower/dot_form.h"
#include "lower/fragments.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

// Dot ranges, too: products that no instruction sums up are copies. Of Core ranges only a tensor core sums up terms.
bool isUnrolled(UOp range) {
  AxisType t = range.argAs<AxisArg>().type;
  return t == AxisType::Upcast || t == AxisType::Unroll || t == AxisType::Dot || t == AxisType::Core;
}
bool isVector(UOp range) { return range.argAs<AxisArg>().type == AxisType::Vector; }
bool isLoop(UOp range) { return !isUnrolled(range) && !isVector(range); }
// Of a range that is expanded; the largest of a symbolic one, which local buffers are laid out for.
int64_t extentOf(UOp range) { return range.src(0).bounds().max; }

/// Values of the unrolled ranges that are fixed at this point, by range id; sorted, so that equal ones compare equal.
using Env = std::map<uint32_t, int64_t>;

class Expander {
 public:
  Expander(Graph& graph, uint32_t nextRange) : g_(graph), nextRange_(nextRange) {}

  Result<UOp> run(UOp sink) {
    tile_ = coreTileOf(sink);
    std::vector<UOp> src;
    for (UOp s : sink.src()) src.push_back(s.op() == Op::End ? expandEnd(s, {}) : expandNode(s, {}));
    if (!error_.empty())
      return fail(Diag::BadOpt, error_, "use at most one vector(...) for the axes that one value depends on");
    return g_.make(Op::Sink, DType::Void, src, sink.arg());
  }

 private:
  // ---- environments
  Env relevant(UOp node, const Env& env) const {
    Env kept;
    for (UOp r : node.ranges())
      if (auto it = env.find(r.id()); it != env.end()) kept.insert(*it);
    return kept;
  }

  /// Calls `visit` for every assignment of the unrolled ranges among `ranges`, last range fastest.
  template <class Visit>
  void forEachAssignment(std::span<const UOp> ranges, Env env, Visit visit) {
    if (ranges.empty()) return visit(env);
    UOp r = ranges[0];
    if (!isUnrolled(r)) return forEachAssignment(ranges.subspan(1), std::move(env), visit);
    for (int64_t k = 0; k < extentOf(r); ++k) {
      env[r.id()] = k;
      forEachAssignment(ranges.subspan(1), env, visit);
    }
  }

  UOp lanes(UOp range) {
    std::vector<UOp> values;
    for (int64_t i = 0; i < extentOf(range); ++i) values.push_back(g_.index(i));
    return g_.make(Op::Stack, DType::Index, values);
  }

  std::optional<UOp> vectorRange(UOp node) {
    std::optional<UOp> found;
    for (UOp r : node.ranges()) {
      if (!isVector(r)) continue;
      if (found && error_.empty())
        error_ = "a value depends on two vector axes, r" + std::to_string(found->argAs<AxisArg>().id) + " and r" +
                 std::to_string(r.argAs<AxisArg>().id);
      found = r;
    }
    return found;
  }

  // ---- values
  UOp expandNode(UOp node, const Env& env) {
    if (node.ranges().empty() && !containsLoops(node)) return node;
    Env key = relevant(node, env);
    auto& instances = memo_[node.id()];
    if (auto it = instances.find(key); it != instances.end()) return it->second;
    UOp result = build(node, key);
    memo_[node.id()].emplace(std::move(key), result);
    return result;
  }

  // Values without open ranges may still contain reductions or stages to lower.
  static bool containsLoops(UOp node) { return node.srcCount() > 0 && node.op() != Op::Param; }

  UOp build(UOp node, const Env& env) {
    switch (node.op()) {
      case Op::Range: return buildRange(node, env);
      case Op::Reduce: return node.srcCount() > 1 ? buildReduce(node, env) : buildPlain(node, env);
      case Op::Index: return buildAddress(node, env);
      default: return node.dtype() == DType::Index && isIndexMath(node) ? indexMath(node, env) : buildPlain(node, env);
    }
  }

  UOp buildPlain(UOp node, const Env& env) {
    std::vector<UOp> src;
    for (UOp s : node.src()) src.push_back(expandNode(s, env));
    const bool isAccess = node.op() == Op::Load || node.op() == Op::Store;
    if (isAccess && src.size() == 3) src[0] = widened(src[0], src[2].lanes());
    return g_.withSrc(node, src);
  }

  /// Lanes that access one address under different gates each have an address of their own.
  UOp widened(UOp address, int lanes) {
    if (address.lanes() >= lanes) return address;
    UOp at = g_.make(Op::Stack, DType::Index, std::vector<UOp>(static_cast<size_t>(lanes), address.src(1)));
    return g_.indexInto(address.src(0), {&at, 1});
  }

  UOp buildRange(UOp range, const Env& env) {
    if (isUnrolled(range)) return g_.index(env.at(range.id()));
    return isVector(range) ? lanes(range) : range;
  }

  // ---- index arithmetic: substituted and simplified as a whole, so that constant offsets stay visible
  bool isIndexMath(UOp node) {
    if (node.op() == Op::Range || node.op() == Op::Const || node.op() == Op::Var) return true;
    if (!isElementwise(node.op()) || node.dtype() != DType::Index || node.op() == Op::Cast || node.op() == Op::Where)
      return false;
    if (auto known = isIndexMath_.find(node.id()); known != isIndexMath_.end()) return known->second;
    return isIndexMath_[node.id()] = std::ranges::all_of(node.src(), [this](UOp s) { return isIndexMath(s); });
  }

  UOp fixed(UOp expr, const Env& env) {
    std::vector<UOp> from, to;
    for (UOp r : expr.ranges())
      if (auto at = env.find(r.id()); isUnrolled(r) && at != env.end())
        from.push_back(r), to.push_back(g_.index(at->second));
    return from.empty() ? expr : simplify(g_, substitute(g_, expr, from, to));
  }

  UOp indexMath(UOp node, const Env& env) {
    UOp scalar = fixed(node, env);
    std::optional<UOp> v = vectorRange(scalar);
    if (!v) return scalar;
    UOp values = lanes(*v);
    return substitute(g_, scalar, {&*v, 1}, {&values, 1});
  }

  // ---- memory
  UOp buildAddress(UOp node, const Env& env) {
    UOp at = position(node.src(1), env);
    return g_.indexInto(storageFor(node.src(0), env), {&at, 1});
  }
  UOp storageFor(UOp base, const Env& env) {
    if (base.op() == Op::Prefetch)
      return g_.make(Op::Prefetch, base.dtype(), {storageFor(base.src(0), env)}, base.arg());
    return base.op() == Op::Stage ? localBuffer(base, env) : expandNode(base, env);
  }

  /// A scalar index, a ramp for consecutive lanes, or a vector of indices.
  UOp position(UOp flat, const Env& env) {
    if (!isIndexMath(flat)) return expandNode(flat, env);
    UOp scalar = fixed(flat, env);
    std::optional<UOp> v = vectorRange(scalar);
    if (!v) return scalar;
    UOp zero = g_.index(0);
    if (coefficientOf(scalar, *v) == 1) {
      UOp first = simplify(g_, substitute(g_, scalar, {&*v, 1}, {&zero, 1}));
      return g_.make(Op::Ramp, DType::Index, {first}, SlotArg{static_cast<uint32_t>(extentOf(*v))});
    }
    UOp values = lanes(*v);
    return substitute(g_, scalar, {&*v, 1}, {&values, 1});
  }

  /// The buffer of a stage, filled. Every copy of what fills it has a buffer of its own.
  UOp localBuffer(UOp stage, const Env& env) {
    Env key = relevant(stage, env);
    auto& instances = memo_[stage.id()];
    if (auto it = instances.find(key); it != instances.end()) return it->second;
    UOp store = stage.src(0), size = g_.index(stage.maxNumel());
    Space space = storageOf(store.src(0)).argAs<SlotArg>().space;
    UOp buffer = g_.buffer(stage.dtype(), {&size, 1}, {space == Space::Reg ? nextReg_++ : nextLocal_++, space});
    UOp place = store.src(0).src(1);
    std::vector<UOp> filling(store.src().begin(), store.src().end()), end(stage.src().begin(), stage.src().end());
    UOp storage = buffer;
    if (Op op = stage.argAs<ReduceArg>().op; op != Op::Store) {
      storage = cleared(buffer, op, stage);
      UOp present = g_.indexInto(storage, {&place, 1});
      bool gated = filling.size() > 2;
      UOp before = gated ? g_.load(present, g_.constant(identity(op, stage.dtype())), filling[2]) : g_.load(present);
      filling[1] = g_.alu(op, {before, filling[1]});
    }
    filling[0] = g_.indexInto(storage, {&place, 1});
    end[0] = g_.withSrc(store, filling);
    UOp filled = expandEnd(g_.make(Op::End, DType::Void, end), key);
    UOp ready = g_.make(Op::After, stage.dtype(), {buffer, filled});
    memo_[stage.id()].emplace(std::move(key), ready);
    return ready;
  }

  /// The buffer of a stage that folds, as its loops see it: each element starts at the identity of the fold.
  UOp cleared(UOp buffer, Op op, UOp stage) {
    std::vector<UOp> before{buffer};
    for (UOp r : stage.ranges())
      if (isLoop(r)) before.push_back(r);
    int64_t width = 1, size = buffer.maxNumel();
    for (UOp r : stage.src().subspan(1))
      if (isVector(r) && size % extentOf(r) == 0) width = extentOf(r);
    UOp steps = g_.index(size / width), step = g_.range(steps, nextRange_++, AxisType::Loop);
    UOp at = width == 1 ? step
                        : g_.make(Op::Ramp, DType::Index, {g_.alu(Op::Mul, {step, g_.index(width)})},
                                  SlotArg{static_cast<uint32_t>(width)});
    UOp fresh = before.size() == 1 ? buffer : g_.make(Op::After, stage.dtype(), before);
    UOp clear =
        g_.make(Op::Store, DType::Void, {g_.indexInto(fresh, {&at, 1}), g_.constant(identity(op, stage.dtype()))});
    std::vector<UOp> inside{buffer, g_.make(Op::End, DType::Void, {clear, step})};
    for (UOp r : stage.src().subspan(1))
      if (isLoop(r)) inside.push_back(r);
    return g_.make(Op::After, stage.dtype(), inside);
  }

  // ---- loops
  UOp expandEnd(UOp end, const Env& env) {
    UOp body = end.src(0);
    std::span<const UOp> ranges = end.src().subspan(1);
    std::vector<UOp> stores, src;
    forEachAssignment(ranges, env, [&](const Env& fixedEnv) {
      for (UOp store : body.op() == Op::Group ? body.src() : std::span<const UOp>(&body, 1))
        stores.push_back(buildPlain(store, fixedEnv));
    });
    src.push_back(stores.size() == 1 ? stores[0] : g_.make(Op::Group, DType::Void, stores));
    for (UOp r : ranges)
      if (isLoop(r)) src.push_back(r);
    return src.size() == 1 ? src[0] : g_.make(Op::End, DType::Void, src);
  }

  // ---- dot products
  /// What a reduce takes in one step: a value, or (b given) two factors of as many lanes as `group` times its results,
  /// or (core given) fragments of two factors.
  struct Term {
    UOp a, b = {};
    int64_t group = 1;
    const TensorCore* core = nullptr;
    int64_t lanes() const {
      return core ? core->c.elements() : std::max<int64_t>({1, a.lanes() / group, b ? b.lanes() / group : 1});
    }
  };

  Term dotTerm(const DotForm& form, const Env& env) {
    const int64_t group = form.range.src(0).constInt();
    UOp a = factor(form.a, form.range, env);
    // Ones fit both signs, and a product of unlike signs is what all units have.
    DType other = form.b ? form.b.dtype() : isSigned(form.a.dtype()) ? DType::U8 : DType::I8;
    UOp ones = form.b ? UOp() : repeated(g_.constant(Scalar::ofInt(other, 1)), group);
    return {a, form.b ? factor(form.b, form.range, env) : ones, group};
  }
  UOp factor(UOp node, UOp dot, const Env& env) {
    DotLanes lanes{dot, vectorRange(node).value_or(UOp())};
    UOp bytes = grouped(node, lanes, env);
    return bytes.isScalar() ? repeated(bytes, lanes.count()) : bytes;
  }
  UOp repeated(UOp scalar, int64_t count) {
    return g_.make(Op::Stack, scalar.dtype(), std::vector<UOp>(static_cast<size_t>(count), scalar));
  }

  UOp grouped(UOp node, const DotLanes& lanes, const Env& env) {
    if (!node.dependsOn(lanes.dot) && !(lanes.vector && node.dependsOn(lanes.vector))) return expandNode(node, env);
    auto key = std::pair(node.id(), relevant(node, env));
    auto& known = groups_[lanes.vector ? lanes.vector.id() : lanes.dot.id()];
    if (auto it = known.find(key); it != known.end()) return it->second;
    return known[key] = buildGrouped(node, lanes, env);
  }
  UOp buildGrouped(UOp node, const DotLanes& lanes, const Env& env) {
    if (node.dtype() == DType::Index && isIndexMath(node)) return spreadOver(g_, fixed(node, env), lanes);
    if (node.op() == Op::Index) {
      UOp at = grouped(node.src(1), lanes, env);
      return g_.indexInto(storageFor(node.src(0), env), {&at, 1});
    }
    std::vector<UOp> src;
    for (UOp s : node.src()) src.push_back(grouped(s, lanes, env));
    if (node.op() == Op::Load && src.size() == 3) src[0] = widened(src[0], src[2].lanes());
    return g_.withSrc(node, src);
  }

  // ---- tensor cores
  /// The element of the result that `env` asks for. All elements are summed up together, once.
  UOp buildCoreSum(UOp node, const CoreForm& form, const Env& env) {
    Env shared = env;
    int64_t element = 0;
    for (const TileRange& t : form.ranges)
      if (auto at = shared.find(t.range.id()); at != shared.end())
        element |= at->second << t.run.first, shared.erase(at);
    UOp& sum = coreSums_[{node.id(), shared}];
    if (!sum) sum = coreSum(node, form, shared);
    return g_.make(Op::Lane, node.dtype(), {sum}, SlotArg{static_cast<uint32_t>(element)});
  }
  UOp coreSum(UOp node, const CoreForm& form, const Env& env) {
    std::vector<UOp> loops, unrolls;
    for (UOp r : node.src().subspan(1))
      if (r != form.terms) (isLoop(r) ? loops : unrolls).push_back(r);
    std::vector<Term> terms;
    forEachAssignment(unrolls, env, [&](const Env& at) {
      UOp a = fragment(form, form.core->a, form.a, at), b = fragment(form, form.core->b, form.b, at);
      terms.push_back({a, b, 1, form.core});
    });
    return foldLoops(Op::Add, node.dtype(), loops, terms, 1);
  }
  UOp fragment(const CoreForm& form, const Fragment& layout, UOp factor, const Env& env) {
    std::vector<UOp> elements;
    for (int e = 0; e < layout.elements(); ++e)
      elements.push_back(expandNode(fragmentElement(g_, form, layout, factor, e), env));
    return g_.make(Op::Stack, factor.dtype(), elements);
  }

  /// One accumulator per assignment of the reduction's Upcast ranges; each takes its Unroll copies in order.
  UOp buildReduce(UOp node, const Env& env) {
    if (std::optional<CoreForm> form = coreFormOf(tile_, node)) return buildCoreSum(node, *form, env);
    Op op = node.argAs<ReduceArg>().op;
    std::vector<UOp> loops, upcasts, unrolls;
    std::optional<UOp> own;  // the reduction's own vector range
    const std::optional<DotForm> dot = dotFormOf(node);
    for (UOp r : node.src().subspan(1)) {
      if (isVector(r)) own = r;
      if (isLoop(r)) loops.push_back(r);
      if (!isUnrolled(r) || (dot && dot->range == r)) continue;
      (r.argAs<AxisArg>().type == AxisType::Upcast ? upcasts : unrolls).push_back(r);
    }
    std::vector<UOp> totals;
    forEachAssignment(upcasts, env, [&](const Env& outer) {
      std::vector<Term> values;
      forEachAssignment(unrolls, outer, [&](const Env& inner) {
        values.push_back(dot ? dotTerm(*dot, inner) : Term{expandNode(node.src(0), inner)});
      });
      totals.push_back(foldLoops(op, node.dtype(), loops, values, own ? extentOf(*own) : 1));
    });
    for (size_t step = 1; step < totals.size(); step *= 2)  // a tree: the accumulators are independent
      for (size_t i = 0; i + step < totals.size(); i += 2 * step) totals[i] = g_.alu(op, {totals[i], totals[i + step]});
    return own ? g_.make(Op::Reduce, node.dtype(), {totals[0]}, ReduceArg{op, {}}) : totals[0];
  }

  UOp foldLoops(Op op, DType dtype, std::span<const UOp> loops, std::span<const Term> values, int64_t width) {
    for (const Term& v : values) width = std::max(width, v.lanes());
    UOp start = g_.constant(identity(op, dtype));
    auto fold = [&](UOp from) {
      for (const Term& v : values) {
        if (v.b && width > 1 && from.isScalar()) from = repeated(from, width);
        from = v.core ? g_.make(Op::Wmma, dtype, {v.a, v.b, from}, NameArg{v.core->name})
               : v.b  ? g_.make(Op::Dot, dtype, {v.a, v.b, from}, SlotArg{static_cast<uint32_t>(v.group)})
                      : g_.alu(op, {from, v.a});
      }
      return from;
    };
    std::vector<UOp> added;
    for (const Term& v : values) {
      added.push_back(v.a);
      if (v.b) added.push_back(v.b);
    }
    UOp total = loops.empty() ? fold(start) : accumulate(g_, nextReg_++, {dtype, width}, start, loops, added, fold);
    // Operands that do not depend on the lane: every lane holds the same partial result.
    return width > 1 && total.lanes() == 1 ? repeated(total, width) : total;
  }

  Graph& g_;
  std::map<uint32_t, std::map<Env, UOp>> memo_;
  std::map<uint32_t, std::map<std::pair<uint32_t, Env>, UOp>>
      groups_;  // by range of the lanes; by node and environment
  CoreTile tile_;
  std::map<std::pair<uint32_t, Env>, UOp> coreSums_;  // by node and environment without the elements of the tile
  std::unordered_map<uint32_t, bool> isIndexMath_;
  uint32_t nextReg_ = 0, nextLocal_ = 0, nextRange_;
  std::string error_;
};

}  // namespace

Result<UOp> expand(Graph& graph, UOp sink) {
  uint32_t nextRange = 0;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Range) nextRange = std::max(nextRange, n.argAs<AxisArg>().id + 1);
  return Expander(graph, nextRange).run(sink);
}

}  // namespace svod
