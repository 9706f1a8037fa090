#include "e2e/op_matrix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "common/random_graph.h"
#include "ir/shape.h"
#include "ir/verify.h"

namespace svod {

namespace {

using Dims = std::vector<int64_t>;
using UOps = std::vector<UOp>;

constexpr int64_t kVariable = -1;  // a dim that is only known when the plan runs
constexpr int64_t kVariableValue = 3;

UOps constants(Graph& g, const Dims& values) {
  UOps dims;
  for (int64_t v : values) dims.push_back(g.index(v));
  return dims;
}

UOp asIs(Graph&, UOp x) { return x; }
UOp permuted(Graph& g, UOp x) { return g.permute(x, std::array<int32_t, 3>{1, 2, 0}); }
UOp repeated(Graph& g, UOp x) { return g.expand(x, constants(g, {3, 5, 7})); }
UOp padded(Graph& g, UOp x) {
  UOp fill = g.constant(Scalar::of(x.dtype(), 3));
  return g.pad(x, fill, constants(g, {1, 0, 2}), constants(g, {0, 0, 1}));
}
UOp shrunkAndFlipped(Graph& g, UOp x) {
  UOp part = g.shrink(x, constants(g, {1, 0, 2}), constants(g, {3, 5, 7}));
  return g.flip(part, std::array<int32_t, 2>{0, 2});
}

/// Dims of the storage behind operand 0, 1 and 2, and the way from there to operands of equal shapes.
struct Layout {
  std::string_view name;
  std::array<Dims, 3> storage;
  UOp (*place)(Graph& g, UOp x);
  bool assignable;  // names each element of the storage at most once
};
const Layout kLayouts[] = {
    {"contiguous", {{{3, 5, 7}, {3, 5, 7}, {3, 5, 7}}}, asIs, true},
    {"permuted", {{{7, 3, 5}, {7, 3, 5}, {7, 3, 5}}}, permuted, true},
    {"broadcast", {{{3, 1, 7}, {1, 5, 1}, {3, 5, 1}}}, repeated, false},
    {"padded", {{{2, 5, 4}, {2, 5, 4}, {2, 5, 4}}}, padded, false},
    {"symbolic", {{{kVariable, 5, 7}, {kVariable, 5, 7}, {kVariable, 5, 7}}}, asIs, true},
    {"row", {{{1, 33}, {1, 33}, {1, 33}}}, asIs, true},
    {"flipped", {{{4, 6, 9}, {4, 6, 9}, {4, 6, 9}}}, shrunkAndFlipped, true},
};

// Half of the elements are values where something changes: signs, ends of the range, multiples of one half.
HostTensor edgeTensor(DType d, Dims dims, uint64_t seed) {
  HostTensor t = randomTensor(d, std::move(dims), seed, true);
  Draw draw(seed + 1);
  for (int64_t i = 0, n = t.numel(); i < n; ++i) {
    bool edge = draw.chance(50);
    int64_t which = draw.below(20);
    if (!edge || d == DType::Bool) continue;
    if (!isFloat(d)) {
      int width = info(d).bits;
      const int64_t kInts[] = {minInt(d),     maxInt(d),     -1, 0,  1, 2,  3,  width - 1, width, width + 1,
                               minInt(d) + 1, maxInt(d) - 1, -2, -7, 7, 31, 64, 100,       4,     6};
      t.set(i, Scalar::ofInt(d, kInts[which]));
      continue;
    }
    int fraction = info(d).fractionBits;
    double tiny = Scalar::fromBits(d, 1).asFloat(), normal = std::ldexp(tiny, fraction), top = maxFinite(d);
    const double kFloats[] = {0.0,
                              -0.0,
                              1,
                              -1,
                              0.5,
                              -0.5,
                              1.5,
                              2.5,
                              -2.5,
                              HUGE_VAL,
                              -HUGE_VAL,
                              std::nan(""),
                              tiny,
                              -tiny,
                              normal,
                              normal - tiny,
                              top,
                              -top,
                              std::ldexp(1.0, fraction) + 1,
                              3e9};
    t.set(i, Scalar::ofFloat(d, kFloats[which]));
  }
  return t;
}

bool rulesAllow(Op op, DType result, std::span<const UOp> src) {
  Arg none;
  NodeView view{op, result, src, none};
  return std::ranges::all_of(valueRules(), [&](const SpecRule& rule) {
    bool applies = (rule.stages & static_cast<uint8_t>(Stage::Tensor)) != 0 && rule.covers(op);
    return !applies || rule.check(view).empty();
  });
}

class MatrixBuilder {
 public:
  MatrixBuilder(size_t layout, const std::function<bool(size_t)>& take) : layout_(kLayouts[layout]), take_(take) {
    n_ = g_.variable("n", 1, 6);
    out_.model.variables.push_back(n_);
    out_.bindings.variables["n"] = kVariableValue;
  }

  OpMatrix build(std::span<const DType> dtypes) {
    for (DType d : dtypes) {
      for (Op op : allOps())
        if (isElementwise(op) && (info(op).stages & static_cast<uint8_t>(Stage::Tensor)) != 0) elementwise(op, d);
      conversions(d);
      movements(d);
      reductions(d);
      indexed(d);
      leaves(d);
      effects(d);
    }
    out_.model.sink = g_.make(Op::Sink, DType::Void, stores_);
    return std::move(out_);
  }

 private:
  // -- ports

  UOps dimsOf(const Dims& sizes) {
    UOps dims;
    for (int64_t size : sizes) dims.push_back(size == kVariable ? n_ : g_.index(size));
    return dims;
  }

  UOp port(PortKind kind, std::string name, DType d, std::span<const UOp> dims, HostTensor data) {
    UOp buffer = g_.buffer(d, dims, SlotArg{static_cast<uint32_t>(out_.model.ports.size())});
    out_.model.ports.push_back({kind, std::move(name), buffer, {}});
    out_.bindings.ports.push_back(std::move(data));
    return buffer;
  }

  // Storage of operand `which`, before the layout's movement.
  UOp storage(DType d, size_t which, PortKind kind = PortKind::Input) {
    UOp& known = storages_[{d, which, kind}];
    if (known) return known;
    Dims dims = layout_.storage[which];
    UOps symbolic = dimsOf(dims);
    for (int64_t& size : dims) size = size == kVariable ? kVariableValue : size;
    uint64_t seed = 100 * static_cast<uint64_t>(d) + 10 * which + static_cast<uint64_t>(kind);
    std::string name =
        std::string(kind == PortKind::Input ? "x" : "s") + std::to_string(which) + std::string(toText(d));
    return known = port(kind, name, d, symbolic, edgeTensor(d, dims, seed));
  }

  UOp operand(DType d, size_t which) { return layout_.place(g_, storage(d, which)); }

  // -- cases

  bool wanted() { return take_(number_++); }

  void add(std::string_view what, DType d, UOp value, UOps operands = {}) {
    MatrixCase c;
    c.name = std::string(what) + "." + std::string(toText(d));
    c.operands = std::move(operands);
    Op folds = value.op() == Op::Reduce || value.op() == Op::Scatter ? value.argAs<ReduceArg>().op : value.op();
    c.eitherZero = folds == Op::Max || folds == Op::Min;
    c.port = out_.model.ports.size();
    UOps dims(value.shape().begin(), value.shape().end());
    UOp target = port(PortKind::Output, std::to_string(c.port) + "." + c.name, value.dtype(), dims, {});
    stores_.push_back(g_.make(Op::Store, DType::Void, {target, value}));
    c.value = value;
    out_.cases.push_back(std::move(c));
  }

  void elementwise(Op op, DType d) {
    if (op == Op::Cast || op == Op::Bitcast) return;
    UOps src;
    for (int i = 0; i < info(op).minSrc; ++i) src.push_back(operand(d, static_cast<size_t>(i)));
    DType result = has(op, Comparison) ? DType::Bool : d;
    if (!rulesAllow(op, result, src)) src[0] = operand(DType::Bool, 0);
    if (!rulesAllow(op, result, src)) return;
    if (wanted()) add(toText(op), d, g_.alu(op, src), has(op, Transcend) ? src : UOps{});
    if (src.size() != 2) return;
    for (size_t side : {0, 1}) {
      if (!wanted()) continue;
      UOps with = src;
      with[side] = constantFor(d);
      std::string name = std::string(toText(op)) + (side == 0 ? "(constant, x)" : "(x, constant)");
      add(name, d, g_.alu(op, with), has(op, Transcend) ? with : UOps{});
    }
  }

  UOp constantFor(DType d) {
    const double kFloats[] = {2, -1, 0, 0.5, HUGE_VAL, -0.0, 3, 1};
    const int64_t kInts[] = {3, 8, -1, 0, 1, minInt(d), maxInt(d), -5};
    size_t i = (number_ + static_cast<size_t>(&layout_ - kLayouts)) % 8;
    return g_.constant(isFloat(d) ? Scalar::ofFloat(d, kFloats[i]) : Scalar::ofInt(d, kInts[i]));
  }

  void conversions(DType d) {
    UOp x = operand(d, 0);
    for (DType to : allDTypes()) {
      if (to == d || to == DType::Void || to == DType::Index) continue;
      std::string suffix = " to " + std::string(toText(to));
      if (wanted()) add("cast" + suffix, d, g_.cast(x, to));
      bool bits = memoryBits(to) == memoryBits(d) && to != DType::Bool && d != DType::Bool;
      if (bits && wanted()) add("bitcast" + suffix, d, g_.bitcast(x, to));
    }
  }

  void movements(DType d) {
    UOp x = operand(d, 0);
    size_t rank = x.rank();
    std::vector<int32_t> order;
    for (size_t i = rank; i-- > 0;) order.push_back(static_cast<int32_t>(i));
    UOps one(rank, g_.index(1)), zero(rank, g_.index(0)), dims(x.shape().begin(), x.shape().end()), twice = dims;
    twice.insert(twice.begin() + 1, g_.index(2));
    UOps column = dims;
    column.insert(column.begin() + 1, g_.index(1));
    UOp fill = g_.constant(Scalar::of(d, 2));
    if (wanted()) add("reshape", d, g_.reshape(x, UOps{numel(g_, dims)}));
    if (wanted()) add("expand", d, g_.expand(g_.reshape(x, column), twice));
    if (wanted()) add("permute", d, g_.permute(x, order));
    if (wanted()) add("pad", d, g_.pad(x, fill, one, one));
    UOps less = dims;
    less.back() = g_.index(3);
    if (wanted()) add("shrink", d, g_.shrink(x, zero, less));
    if (wanted()) add("flip", d, g_.flip(x, order));
    if (wanted()) add("contiguous", d, g_.make(Op::Contiguous, d, {x}));
    if (wanted()) add("copy", d, g_.make(Op::Copy, d, {x}, NameArg{"cpu"}));
  }

  static std::vector<Op> folds(DType d) {
    if (!isComputedIn(d)) return {Op::Max, Op::Min};
    return {Op::Add, Op::Mul, Op::Max, Op::Min};
  }

  void reductions(DType d) {
    UOp x = operand(d, 0);
    std::vector<int32_t> all;
    for (size_t i = 0; i < x.rank(); ++i) all.push_back(static_cast<int32_t>(i));
    for (Op op : folds(d))
      for (std::span<const int32_t> axes : {std::span<const int32_t>(all), std::span<const int32_t>(all).subspan(1, 1)})
        if (wanted())
          add("reduce " + std::string(toText(op)) + (axes.size() > 1 ? " all" : " 1"), d, g_.reduce(op, x, axes));
  }

  void indexed(DType d) {
    constexpr DType kIndex[] = {DType::I32, DType::I64, DType::U8,  DType::I16,
                                DType::U64, DType::I8,  DType::U32, DType::U16};
    DType index = kIndex[static_cast<size_t>(d) % std::size(kIndex)];
    UOp x = operand(d, 0);
    UOps src{x};
    for (size_t i = 0; i < x.rank(); ++i) src.push_back(operand(index, i));
    if (wanted()) add("gather", d, g_.make(Op::Gather, d, src));
    src.push_back(operand(d, 2));
    std::vector<Op> ops = folds(d);
    ops.insert(ops.begin(), Op::Store);
    for (Op op : ops)
      if (wanted()) add("scatter " + std::string(toText(op)), d, g_.make(Op::Scatter, d, src, ReduceArg{op, {}}));
  }

  void leaves(DType d) {
    UOp x = operand(d, 0);
    UOps dims = dimsOf(layout_.storage[0]);
    if (isInt(d) && wanted()) {
      UOp count = g_.make(Op::Iota, d, {numel(g_, dims)});
      add("iota", d, layout_.place(g_, g_.reshape(count, dims)));
    }
    if (wanted()) add("const", d, g_.expand(g_.reshape(constantFor(d), UOps(dims.size(), g_.index(1))), dims));
    if (wanted()) add("var", d, g_.cast(n_, d));
    UOps parts;
    for (int64_t i : {0, 2, 1}) {
      UOps at(x.rank(), g_.index(0)), one(x.rank(), g_.index(1));
      at.back() = g_.index(i);
      parts.push_back(g_.reshape(g_.shrink(x, at, one), UOps{}));
    }
    parts.push_back(constantFor(d));
    if (wanted()) add("stack", d, g_.make(Op::Stack, d, parts));
  }

  void effects(DType d) {
    if (!wanted()) return;
    UOp state = storage(d, 0, PortKind::State);
    UOp target = layout_.assignable ? layout_.place(g_, state) : state;
    UOp value = layout_.assignable ? operand(d, 0) : storage(d, 0);
    UOp store = g_.make(Op::Store, DType::Void, {target, value});
    stores_.push_back(store);
    add("after", d, layout_.place(g_, g_.make(Op::After, d, {state, store})));
  }

  const Layout& layout_;
  const std::function<bool(size_t)>& take_;
  OpMatrix out_;
  Graph& g_ = *out_.model.graph;
  UOp n_;
  UOps stores_;
  std::map<std::tuple<DType, size_t, PortKind>, UOp> storages_;
  size_t number_ = 0;
};

}  // namespace

std::span<const std::string_view> matrixLayouts() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const Layout& layout : kLayouts) list.push_back(layout.name);
    return list;
  }();
  return names;
}

OpMatrix opMatrix(std::span<const DType> dtypes, size_t layout, const std::function<bool(size_t number)>& take) {
  return MatrixBuilder(layout, take).build(dtypes);
}

}  // namespace svod
