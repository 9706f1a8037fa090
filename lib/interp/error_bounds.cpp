#include "interp/error_bounds.h"

#include <map>
#include <set>

#include "interp/bound_math.h"

namespace svod {

namespace {

/// Builds for every value x a graph of its bound e(x) in f64. A null bound is zero. Loops hold the stores of
/// bounds beside those of values, so an iteration starts with the bounds that the one before it left.
class Shadow {
 public:
  Shadow(Model& model, Numerics numerics) : model_(model), g_(*model.graph), math_(g_, numerics) {}

  void build() {
    const std::vector<UOp> nodes = toposort(model_.sink);
    for (UOp n : nodes)
      if (n.op() == Op::Range && n.srcCount() > 1) conditions_.insert(slotOf(n.src(1)));
    for (size_t slot = 0, ports = model_.ports.size(); slot < ports; ++slot) shadowPort(slot);
    std::map<uint32_t, UOp> with;  // by node of the model: itself, with the loops that hold bounds as well
    for (UOp n : nodes) {
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
  static uint32_t slotOf(UOp content) {
    while (content.op() != Op::Buffer) content = content.src(0);
    return content.argAs<SlotArg>().slot;
  }

  void shadowPort(size_t slot) {
    ModelPort port = model_.ports[slot];
    shadowOf.push_back(-1);
    if (port.kind == PortKind::Input || port.kind == PortKind::Weight || port.kind == PortKind::Expectation) return;
    auto at = static_cast<uint32_t>(model_.ports.size());
    shadowOf.back() = static_cast<int>(at);
    std::vector<UOp> dims(port.buffer.shape().begin(), port.buffer.shape().end());
    const bool isKept = port.kind != PortKind::Temporary || conditions_.contains(static_cast<uint32_t>(slot));
    const PortKind kind = isKept ? PortKind::State : port.kind;
    model_.ports.push_back({kind, port.name + ".bound", g_.buffer(kWideBound, dims, SlotArg{at}), {}});
  }

  UOp of(UOp n) const {
    auto at = bound_.find(n.id());
    return at == bound_.end() ? UOp() : at->second;
  }

  UOp boundOf(UOp n) {
    if (isMovement(n.op())) return moved(n);
    switch (n.op()) {
      case Op::Store: return storeBound(n);
      case Op::After: return afterBound(n);
      case Op::Buffer: return bufferBound(n);
      case Op::Contiguous:
      case Op::Copy: return of(n.src(0));
      case Op::Reduce: return reduceBound(math_, n, of(n.src(0)));
      case Op::Gather: return gathered(n);
      case Op::Scatter: return scatterBound(math_, n, errorsOf(n));
      case Op::Custom: return customBound(n);
      default: return isElementwise(n.op()) ? elementwiseBound(math_, n, errorsOf(n)) : UOp();
    }
  }

  std::vector<UOp> errorsOf(UOp n) const {
    std::vector<UOp> errors;
    for (UOp s : n.src()) errors.push_back(of(s));
    return errors;
  }

  UOp bufferBound(UOp n) {
    const int shadow = shadowOf[n.argAs<SlotArg>().slot];
    return shadow < 0 ? UOp() : model_.ports[static_cast<size_t>(shadow)].buffer;
  }

  /// Where an evaluation may have left a loop earlier or later, it has done so for the rest of the run.
  UOp storeBound(UOp n) {
    UOp target = targetOf(n.src(0)), e = of(n.src(1));
    if (!target) return {};
    if (conditions_.contains(slotOf(n.src(0)))) e = math_.larger(e, of(n.src(0)));
    return g_.make(Op::Store, DType::Void, {target, math_.full(e, target)});
  }

  /// Where the bounds of what is stored to `n` are stored: the same view of other storage.
  UOp targetOf(UOp n) const {
    if (n.op() == Op::Buffer) return of(n);
    std::vector<UOp> src{targetOf(n.src(0))};
    if (!src[0]) return {};
    for (UOp s : n.src().subspan(1))
      if (UOp kept = s.op() == Op::Store ? of(s) : s) src.push_back(kept);
    return g_.make(n.op(), kWideBound, src, n.arg());
  }

  /// The bounds behind stores, loops that ended, and the beginnings of open ones.
  UOp afterBound(UOp n) {
    UOp e = targetOf(n), condition;
    if (!e) return {};
    for (UOp dep : n.src().subspan(1)) {
      UOp range = dep.op() == Op::End ? dep.src(1) : dep;
      if (range.op() == Op::Range && range.srcCount() > 1) condition = math_.larger(condition, decision(range, dep));
    }
    return condition ? math_.plus(e, math_.full(condition, n)) : e;
  }

  /// The bound of the condition of a loop, at the beginning of an iteration or behind the last one.
  UOp decision(UOp range, UOp when) {
    UOp e = targetOf(range.src(1));
    if (!e) return {};
    std::vector<UOp> src(e.src().begin(), e.src().end());
    if (e.op() == Op::Buffer) src = {e};
    src.push_back(when);
    return g_.make(Op::After, kWideBound, src);
  }

  UOp moved(UOp n) {
    UOp e = of(n.src(0)), fill = n.op() == Op::Pad ? of(n.src(1)) : UOp();
    if (!e && !fill) return {};
    std::vector<UOp> src(n.src().begin(), n.src().end());
    src[0] = math_.full(e, n.src(0));
    if (n.op() == Op::Pad) src[1] = fill ? fill : math_.number(0);
    return g_.make(n.op(), kWideBound, src, n.arg());
  }

  UOp gathered(UOp n) {
    const std::vector<UOp> errors = errorsOf(n);
    UOp e, anywhere;
    if (errors[0]) {
      std::vector<UOp> src(n.src().begin(), n.src().end());
      src[0] = math_.full(errors[0], n.src(0));
      e = g_.make(Op::Gather, kWideBound, src);
    }
    for (size_t i = 1; i < errors.size(); ++i) anywhere = math_.larger(anywhere, errors[i]);
    return math_.plus(e, anywhere ? math_.full(anywhere, n) : UOp());
  }

  UOp customBound(UOp n) {
    for (int32_t i = 0; i < n.argAs<CustomArg>().inputs; ++i)
      if (of(n.src(static_cast<size_t>(i)))) return math_.full(math_.number(HUGE_VAL), n);
    return {};
  }

  Model& model_;
  Graph& g_;
  BoundMath math_;
  std::set<uint32_t> conditions_;  // slots of what loops end by
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

Result<BoundedResult> interpretWithBounds(const Model& model, const ModelBindings& bindings, Numerics numerics) {
  Model both = copyOf(model);
  Shadow shadow(both, numerics);
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
