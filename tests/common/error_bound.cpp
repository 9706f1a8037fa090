#include "common/error_bound.h"

#include <cmath>
#include <map>

#include "ir/shape.h"

namespace svod {

namespace {

constexpr DType kWide = DType::F64;

/// Builds for every float value x a graph of its bound e(x) in f64. A null bound is zero. Loops hold the stores of
/// bounds beside those of values, so an iteration starts with the bounds that the one before it left.
class Shadow {
 public:
  explicit Shadow(Model& model) : model_(model), g_(*model.graph) {}

  void build() {
    for (size_t slot = 0, ports = model_.ports.size(); slot < ports; ++slot) shadowPort(slot);
    std::map<uint32_t, UOp> with;  // by node of the model: itself, with the loops that hold bounds as well
    for (UOp n : toposort(model_.sink)) {
      std::vector<UOp> src;
      for (UOp s : n.src()) src.push_back(with.at(s.id()));
      if (n.op() == Op::Group || n.op() == Op::Sink)
        for (size_t i = 0, stores = src.size(); i < stores; ++i)
          if (UOp shadow = of(src[i])) src.push_back(shadow);
      UOp now = with[n.id()] = src.empty() ? n : g_.make(n.op(), n.dtype(), src, n.arg());
      if (UOp e = boundOf(now)) bound_[now.id()] = e;
    }
    model_.sink = with.at(model_.sink.id());
  }

  std::vector<int> shadowOf;  // by port of the model: port of its bounds, or -1

 private:
  void shadowPort(size_t slot) {
    ModelPort port = model_.ports[slot];
    const bool isGiven = port.kind == PortKind::Input || port.kind == PortKind::Weight;
    shadowOf.push_back(-1);
    if (isGiven || !isFloat(port.buffer.dtype())) return;
    auto at = static_cast<uint32_t>(model_.ports.size());
    shadowOf.back() = static_cast<int>(at);
    std::vector<UOp> dims(port.buffer.shape().begin(), port.buffer.shape().end());
    const PortKind kind = port.kind == PortKind::Temporary ? port.kind : PortKind::State;
    model_.ports.push_back({kind, port.name + ".bound", g_.buffer(kWide, dims, SlotArg{at}), {}});
  }

  UOp of(UOp n) const {
    auto at = bound_.find(n.id());
    return at == bound_.end() ? UOp() : at->second;
  }

  // -- arithmetic on bounds

  UOp number(double v) { return g_.constant(Scalar::ofFloat(kWide, v)); }
  UOp plus(UOp a, UOp b) { return !a ? b : !b ? a : g_.alu(Op::Add, {a, b}); }
  UOp times(UOp a, UOp b) { return !a || !b ? UOp() : g_.alu(Op::Mul, {a, b}); }
  UOp larger(UOp a, UOp b) { return !a ? b : !b ? a : g_.alu(Op::Max, {a, b}); }
  UOp size(UOp x) { return g_.alu(Op::Abs, {g_.cast(x, kWide)}); }  // |x|
  UOp orInfinity(UOp ok, UOp e) { return g_.where(ok, e, number(HUGE_VAL)); }
  UOp full(UOp e, UOp like) {  // zero as a tensor of the dims of `like`
    UOp value = e ? e : number(0);
    if (!value.isScalar() || like.isScalar()) return value;
    std::vector<UOp> ones(like.rank(), g_.index(1));
    return g_.expand(g_.reshape(value, ones), like.shape());
  }

  static double unit(DType d) { return std::ldexp(1.0, -info(d).fractionBits - 1); }
  static double tiny(DType d) { return Scalar::fromBits(d, 1).asFloat(); }

  // Both evaluations round a result of x's size, `steps` times each, and may go over the top of the range.
  UOp rounded(UOp x, UOp propagated, double steps = 1) {
    DType d = x.dtype();
    double grow = steps * unit(d), factor = grow < 0.4 ? 2.1 * grow / (1 - 2 * grow) : HUGE_VAL;
    UOp reach = plus(size(x), propagated);
    UOp e = plus(plus(propagated, times(reach, number(factor))), number(2.1 * steps * tiny(d)));
    return orInfinity(g_.alu(Op::Lt, {plus(reach, e), number(maxFinite(d) * 0.99)}), e);
  }

  // -- the rules

  UOp boundOf(UOp n) {
    switch (n.op()) {
      case Op::Store: return storeBound(n);
      case Op::After: return afterBound(n);
      case Op::Buffer: return bufferBound(n);
      default: break;
    }
    if (!isFloat(n.dtype())) return {};
    if (isMovement(n.op())) return moved(n);
    switch (n.op()) {
      case Op::Contiguous:
      case Op::Copy: return of(n.src(0));
      case Op::Reduce: return reduceBound(n);
      case Op::Gather: return gathered(n);
      case Op::Scatter: return scatterBound(n);
      case Op::Custom: return customBound(n);
      case Op::Cast: return castBound(n);
      default: return isElementwise(n.op()) ? elementwiseBound(n) : UOp();
    }
  }

  UOp bufferBound(UOp n) {
    int shadow = shadowOf[n.argAs<SlotArg>().slot];
    return shadow < 0 ? UOp() : model_.ports[static_cast<size_t>(shadow)].buffer;
  }

  UOp storeBound(UOp n) {
    UOp target = of(n.src(0));
    return target ? g_.make(Op::Store, DType::Void, {target, full(of(n.src(1)), UOp(target))}) : UOp();
  }

  UOp afterBound(UOp n) {
    std::vector<UOp> src{of(n.src(0))};
    if (!src[0]) return {};
    for (UOp dep : n.src().subspan(1)) {  // stores, loops that ended, and open ones
      UOp shadow = dep.op() == Op::Store ? of(dep) : dep;
      if (shadow) src.push_back(shadow);
    }
    return g_.make(Op::After, kWide, src);
  }

  UOp moved(UOp n) {
    UOp e = of(n.src(0));
    if (!e) return {};
    std::vector<UOp> src(n.src().begin(), n.src().end());
    src[0] = full(e, n.src(0));
    if (n.op() == Op::Pad) src[1] = number(0);
    return g_.make(n.op(), kWide, src, n.arg());
  }

  UOp castBound(UOp n) {
    DType from = n.src(0).dtype(), to = n.dtype();
    bool widens = isFloat(from) && info(from).fractionBits <= info(to).fractionBits && info(from).bits <= info(to).bits;
    return widens ? of(n.src(0)) : rounded(n, of(n.src(0)));
  }

  UOp elementwiseBound(UOp n) {
    UOp a = n.src(0), ea = of(a), b = n.srcCount() > 1 ? n.src(1) : UOp(), eb = b ? of(b) : UOp();
    switch (n.op()) {
      case Op::Neg:
      case Op::Abs: return ea;
      case Op::Trunc:
      case Op::Floor:
      case Op::Ceil:
      case Op::Round: return ea ? orInfinity(g_.alu(Op::Eq, {ea, number(0)}), ea) : UOp();
      case Op::Fmod: {
        UOp e = larger(ea, eb);
        return e ? orInfinity(g_.alu(Op::Eq, {e, number(0)}), e) : UOp();
      }
      case Op::Max:
      case Op::Min: return larger(ea, eb);
      case Op::Where: {
        UOp e1 = of(n.src(1)), e2 = of(n.src(2));
        return e1 || e2 ? g_.where(n.src(0), e1 ? e1 : number(0), e2 ? e2 : number(0)) : UOp();
      }
      case Op::Add:
      case Op::Sub: return rounded(n, plus(ea, eb));
      case Op::Mul: return rounded(n, plus(plus(times(size(a), eb), times(size(b), ea)), times(ea, eb)));
      case Op::Fdiv: return rounded(n, quotient(n, b, ea, eb));
      case Op::Recip: return rounded(n, quotient(n, a, {}, ea));
      case Op::Sqrt: return rounded(n, rootBound(n, a, ea));
      case Op::Bitcast: return {};
      default: return rounded(n, transcendentalBound(n, a, ea, eb), 8);
    }
  }

  // x = ? / b: (ea + |x| eb) / (|b| - eb)
  UOp quotient(UOp x, UOp b, UOp ea, UOp eb) {
    if (!ea && !eb) return {};
    UOp below = eb ? g_.alu(Op::Sub, {size(b), eb}) : size(b);
    UOp e = g_.alu(Op::Fdiv, {plus(ea, times(size(x), eb)), below});
    return orInfinity(g_.alu(Op::Lt, {number(0), below}), e);
  }

  UOp rootBound(UOp x, UOp a, UOp ea) {
    if (!ea) return {};
    UOp none = g_.alu(Op::Eq, {ea, number(0)}), inside = g_.alu(Op::Lt, {ea, size(a)});
    return g_.where(none, number(0), orInfinity(inside, g_.alu(Op::Fdiv, {ea, size(x)})));
  }

  UOp transcendentalBound(UOp x, UOp a, UOp ea, UOp eb) {
    if (!ea && !eb) return {};
    UOp small = ea ? g_.alu(Op::Lt, {ea, number(0.25)}) : UOp();
    switch (x.op()) {
      case Op::Exp:
      case Op::Exp2: return orInfinity(small, times(times(size(x), ea), number(1.5)));
      case Op::Log:
      case Op::Log2:
        return quotient(g_.constant(Scalar::ofFloat(kWide, 0)), a, times(ea, number(1.5)), times(ea, number(1)));
      case Op::Sin:
      case Op::Cos:
      case Op::Tanh: return ea;
      case Op::Erf: return times(ea, number(1.2));
      default: return number(HUGE_VAL);
    }
  }

  UOp reduceBound(UOp n) {
    const ReduceArg& arg = n.argAs<ReduceArg>();
    UOp x = n.src(0), e = of(x);
    auto fold = [&](Op op, UOp v) { return g_.reduce(op, full(v, x), arg.axes); };
    if (arg.op == Op::Max || arg.op == Op::Min) return e ? fold(Op::Max, e) : UOp();
    double count = 1;
    for (int32_t axis : arg.axes) count *= static_cast<double>(x.shape()[static_cast<size_t>(axis)].bounds().max);
    UOp reach = plus(size(x), e);
    if (arg.op == Op::Add) return sumBound(n, e ? fold(Op::Add, e) : UOp(), fold(Op::Add, reach), count);
    UOp one = number(1);
    return productBound(n, fold(Op::Mul, reach), fold(Op::Mul, g_.alu(Op::Max, {reach, one})), count);
  }

  // `sizes` is the sum of all magnitudes: every order of additions is off by at most count * unit * sizes.
  UOp sumBound(UOp n, UOp propagated, UOp sizes, double count) {
    double grow = count * unit(n.dtype()), factor = grow < 0.4 ? 2.1 * grow / (1 - 2 * grow) : HUGE_VAL;
    UOp e = plus(plus(propagated, times(sizes, number(factor))), number(2.1 * count * tiny(n.dtype())));
    return orInfinity(g_.alu(Op::Lt, {plus(sizes, e), number(maxFinite(n.dtype()) * 0.99)}), e);
  }

  // `sizes`: product of magnitudes with their errors; `largest`: no partial product in any order is above it.
  UOp productBound(UOp n, UOp sizes, UOp largest, double count) {
    double grow = count * unit(n.dtype()), factor = grow < 0.4 ? 2.1 * grow / (1 - 2 * grow) : HUGE_VAL;
    UOp propagated = g_.alu(Op::Max, {g_.alu(Op::Sub, {sizes, size(n)}), number(0)});
    UOp e = plus(plus(propagated, times(sizes, number(factor))), times(largest, number(2.1 * count * tiny(n.dtype()))));
    return orInfinity(g_.alu(Op::Lt, {largest, number(maxFinite(n.dtype()) * 0.5)}), e);
  }

  UOp gathered(UOp n) {
    UOp e = of(n.src(0));
    if (!e) return {};
    std::vector<UOp> src(n.src().begin(), n.src().end());
    src[0] = full(e, n.src(0));
    return g_.make(Op::Gather, kWide, src);
  }

  UOp scatterBound(UOp n) {
    Op op = n.argAs<ReduceArg>().op;
    UOp base = n.src(0), updates = n.src().back(), eb = full(of(base), base), eu = full(of(updates), updates);
    auto scatter = [&](Op by, UOp b, UOp u) {
      std::vector<UOp> src(n.src().begin(), n.src().end());
      src[0] = b, src.back() = u;
      return g_.make(Op::Scatter, kWide, src, ReduceArg{by, {}});
    };
    if (!of(base) && !of(updates) && op != Op::Add && op != Op::Mul) return {};
    if (op == Op::Store) return scatter(Op::Store, eb, eu);
    if (op == Op::Max || op == Op::Min) return scatter(Op::Max, eb, eu);
    double count = static_cast<double>(updates.maxNumel()) + 1;
    UOp b = plus(size(base), eb), u = plus(size(updates), eu), one = number(1);
    if (op == Op::Add) return sumBound(n, scatter(Op::Add, eb, eu), scatter(Op::Add, b, u), count);
    UOp largest = scatter(Op::Mul, g_.alu(Op::Max, {b, one}), g_.alu(Op::Max, {u, one}));
    return productBound(n, scatter(Op::Mul, b, u), largest, count);
  }

  UOp customBound(UOp n) {
    for (int32_t i = 0; i < n.argAs<CustomArg>().inputs; ++i)
      if (of(n.src(static_cast<size_t>(i)))) return full(number(HUGE_VAL), n);
    return {};
  }

  Model& model_;
  Graph& g_;
  std::map<uint32_t, UOp> bound_;  // by node id
};

Model copyOf(const Model& model) {
  Model copy;
  copy.sink = copy.graph->clone(model.sink);
  for (const ModelPort& port : model.ports) {
    copy.ports.push_back(port);
    copy.ports.back().buffer = copy.graph->clone(port.buffer);
  }
  for (UOp v : model.variables) copy.variables.push_back(copy.graph->clone(v));
  return copy;
}

}  // namespace

Result<BoundedResult> interpretWithBounds(const Model& model, const ModelBindings& bindings) {
  Model both = copyOf(model);
  Shadow shadow(both);
  shadow.build();
  SVOD_TRY(std::vector<HostTensor> all, interpret(both, bindings));
  BoundedResult out;
  for (size_t i = 0; i < model.ports.size(); ++i) {
    int at = shadow.shadowOf[i];
    out.bounds.push_back(at < 0 ? HostTensor() : all[static_cast<size_t>(at)]);
    out.values.push_back(std::move(all[i]));
  }
  return out;
}

std::string differenceBeyond(const HostTensor& got, const HostTensor& want, const HostTensor& bound) {
  if (got.dtype != want.dtype || got.dims != want.dims) return "dtype or dims differ";
  for (int64_t i = 0; i < want.numel(); ++i) {
    Scalar a = got.at(i), b = want.at(i);
    if (a == b) continue;
    std::string what = "element " + std::to_string(i) + " is " + toText(a) + ", expected " + toText(b);
    if (!isFloat(want.dtype)) return what;
    double x = a.asFloat(), y = b.asFloat(), e = bound.dtype == DType::Void ? 0 : bound.at(i).asFloat();
    if (x == y || !std::isfinite(e) || std::abs(x - y) <= e) continue;
    return what + " within " + std::to_string(e);
  }
  return {};
}

}  // namespace svod
