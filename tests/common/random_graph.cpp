#include "common/random_graph.h"

#include <algorithm>
#include <cstring>

#include "ir/shape.h"

namespace svod {

namespace {

using UOps = std::vector<UOp>;
using Axes = std::vector<int32_t>;

/// A value of the pool. `exact`: every legal evaluation gives the same bits, in contract mode as well. `eitherZero`:
/// a max or min below may have chosen between -0 and +0.
struct Value {
  UOp node;
  bool exact = true;
  bool eitherZero = false;
};

class Generator {
 public:
  Generator(uint64_t seed, const RandomOptions& options) : draw_(seed), options_(options), g_(*model_.graph) {
    if (!options_.dtypes.empty()) return;
    for (DType d : allDTypes())
      if (d != DType::Void && d != DType::Index) options_.dtypes.push_back(d);
    for (DType d : {DType::F32, DType::F32, DType::F32, DType::F32, DType::F16, DType::F64, DType::I32, DType::I64})
      options_.dtypes.push_back(d);  // more often
  }

  Model build() {
    if (options_.symbolic && draw_.chance(25)) {
      variable_ = g_.variable("n", 1, 7);
      model_.variables.push_back(variable_);
    }
    leaves();
    for (int i = 0; i < options_.steps; ++i) step();
    if (options_.states && draw_.chance(35)) state();
    outputs();
    model_.sink = g_.make(Op::Sink, DType::Void, stores_);
    return std::move(model_);
  }

 private:
  // -- leaves

  UOp port(PortKind kind, DType dtype, const UOps& dims) {
    auto slot = static_cast<uint32_t>(model_.ports.size());
    constexpr const char* kPrefix[] = {"in", "out", "state", "weight", "temp"};
    UOp buffer = g_.buffer(dtype, dims, SlotArg{slot});
    model_.ports.push_back({kind, kPrefix[static_cast<size_t>(kind)] + std::to_string(slot), buffer, {}});
    return buffer;
  }

  UOps randomDims() {
    if (!model_.ports.empty() && draw_.chance(50)) {
      UOp like = draw_.of(model_.ports).buffer;
      return {like.shape().begin(), like.shape().end()};
    }
    constexpr int64_t kSizes[] = {1, 1, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17};
    int64_t rank = draw_.between(0, 4), total = 1;
    UOps dims;
    if (variable_ && draw_.chance(40)) dims.push_back(variable_), total = 7;
    for (int64_t i = 0; i < rank; ++i) {
      int64_t size = draw_.of(kSizes);
      if (total * size > options_.maxElements) size = 1;
      if (options_.zeroDims && draw_.chance(1)) size = 0;
      total *= size;
      dims.push_back(g_.index(size));
    }
    return dims;
  }

  DType randomDType() { return draw_.of(options_.dtypes); }

  void leaves() {
    int64_t inputs = draw_.between(1, 4);
    for (int64_t i = 0; i < inputs; ++i) {
      DType d = randomDType();
      add({port(PortKind::Input, d, randomDims())});
    }
    if (draw_.chance(40)) weight();
    if (draw_.chance(40)) iota();
    if (variable_) add({g_.cast(variable_, DType::I32)});
  }

  void weight() {
    UOps dims = randomDims();
    std::vector<int64_t> sizes;
    for (UOp& d : dims) {
      if (!d.isConst()) d = g_.index(3);
      sizes.push_back(d.constInt());
    }
    DType dtype = randomDType();
    UOp buffer = port(PortKind::Weight, dtype, dims);
    auto data = std::make_shared<HostTensor>(randomTensor(dtype, sizes, draw_.bits(), !options_.contract));
    model_.ports.back().data = {data->data.data(), data->data.size(), data};
    add({buffer});
  }

  void iota() {
    constexpr DType kTypes[] = {DType::I32, DType::I64, DType::U8, DType::I16};
    DType d = draw_.of(kTypes);
    add({g_.make(Op::Iota, d, {g_.index(draw_.between(1, 12))})});
  }

  // -- the pool

  void add(Value v) {
    if (isFloat(v.node.dtype())) v.eitherZero |= false;
    pool_.push_back(v);
  }

  // Later values are drawn more often, so that graphs get deep.
  Value pick() {
    auto n = static_cast<int64_t>(pool_.size());
    int64_t a = draw_.below(n), b = draw_.below(n);
    return pool_[static_cast<size_t>(std::max(a, b))];
  }

  template <class Predicate>
  std::optional<Value> pickWhere(Predicate ok) {
    for (int tries = 0; tries < 12; ++tries) {
      Value v = pick();
      if (ok(v)) return v;
    }
    return std::nullopt;
  }

  // In contract mode, whether decisions may be made on the value.
  bool decisive(const Value& v) const { return !options_.contract || v.exact || !isFloat(v.node.dtype()); }

  Value constant(DType d) {
    HostTensor t = randomTensor(d, {}, draw_.bits(), !options_.contract);
    return {g_.constant(t.at(0))};
  }

  // -- making operands fit

  bool isSymbolic(UOp u) const { return u.hasSymbolicShape(); }

  Value moved(const Value& from, UOp node) { return {node, from.exact, from.eitherZero}; }

  Value flat(const Value& v) {
    UOp count = numel(g_, v.node.shape());
    return moved(v, g_.reshape(v.node, UOps{count}));
  }

  // `v` with the given dims: repeated, cut or padded as needed; a scalar stays one, it broadcasts.
  Value fit(const Value& v, std::span<const UOp> dims, bool keepScalar = true) {
    if (std::ranges::equal(v.node.shape(), dims)) return v;
    if (v.node.isScalar()) return keepScalar ? v : spread(v, dims);
    bool symbolic = isSymbolic(v.node) || std::ranges::any_of(dims, [](UOp d) { return !d.isConst(); });
    if (symbolic) return keepScalar ? firstOf(v) : spread(firstOf(v), dims);
    int64_t have = v.node.maxNumel(), want = numel(g_, dims).constInt();
    Value line = flat(v);
    UOp zero = g_.index(0);
    if (have > want) line = moved(line, g_.shrink(line.node, UOps{g_.index(draw_.between(0, have - want))}, UOps{g_.index(want)}));
    if (have < want) {
      Value fill = constant(v.node.dtype());
      line = moved(line, g_.pad(line.node, fill.node, UOps{zero}, UOps{g_.index(want - have)}));
    }
    return moved(line, g_.reshape(line.node, dims));
  }

  Value spread(const Value& v, std::span<const UOp> dims) {
    UOps ones(dims.size(), g_.index(1));
    return moved(v, g_.expand(g_.reshape(v.node, ones), dims));
  }

  // The first element as a scalar; a constant when there may be none.
  Value firstOf(const Value& v) {
    UOps zeros, ones;
    for (UOp d : v.node.shape()) {
      if (d.bounds().min < 1) return constant(v.node.dtype());
      zeros.push_back(g_.index(0));
      ones.push_back(g_.index(1));
    }
    return moved(v, g_.reshape(g_.shrink(v.node, zeros, ones), UOps{}));
  }

  Value converted(const Value& v, DType to) {
    DType from = v.node.dtype();
    if (from == to) return v;
    if (isFloat(from) && !isFloat(to) && !decisive(v)) return constant(to);
    return castTo(v, to);
  }

  Value castTo(const Value& v, DType to) {
    bool widens = info(to).bits >= info(v.node.dtype()).bits && (to == DType::F32 || to == DType::F64);
    bool exact = v.exact && (!isFloat(to) || widens || (!isFloat(v.node.dtype()) && info(to).bits >= 32));
    return {g_.cast(v.node, to), exact, v.eitherZero};
  }

  // Another operand of the dtype and shape of `v`.
  Value partner(const Value& v) {
    if (draw_.chance(15)) return constant(v.node.dtype());
    auto fits = [&](const Value& o) { return std::ranges::equal(o.node.shape(), v.node.shape()); };
    if (std::optional<Value> same = pickWhere(fits); same && draw_.chance(70)) return converted(*same, v.node.dtype());
    Value other = converted(pick(), v.node.dtype());
    return fit(other, v.node.shape());
  }

  // -- steps

  void step() {
    using Step = void (Generator::*)();
    constexpr Step kSteps[] = {&Generator::unary,   &Generator::unary,   &Generator::unary,  &Generator::unary,
                               &Generator::binary,  &Generator::binary,  &Generator::binary, &Generator::binary,
                               &Generator::binary,  &Generator::binary,  &Generator::compare, &Generator::select,
                               &Generator::cast,    &Generator::bitcast, &Generator::reshape, &Generator::permute,
                               &Generator::expand,  &Generator::pad,     &Generator::shrink,  &Generator::flip,
                               &Generator::reduce,  &Generator::reduce,  &Generator::gather,  &Generator::scatter,
                               &Generator::materialize};
    (this->*draw_.of(kSteps))();
  }

  void unary() {
    Value v = pick();
    auto isFloatValue = [](const Value& x) { return isFloat(x.node.dtype()); };
    if (std::optional<Value> other = pickWhere(isFloatValue); other && draw_.chance(60)) v = *other;
    DType d = v.node.dtype();
    if (d == DType::Bool) return add(moved(v, g_.alu(Op::Not, {v.node})));
    if (!isFloat(d)) {
      constexpr Op kInt[] = {Op::Neg, Op::Not, Op::Abs};
      return add(moved(v, g_.alu(draw_.of(kInt), {v.node})));
    }
    if (options_.transcendentals && draw_.chance(40)) {
      constexpr Op kTranscend[] = {Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Tanh, Op::Erf};
      return add({g_.alu(draw_.of(kTranscend), {v.node}), false, v.eitherZero});
    }
    constexpr Op kFloat[] = {Op::Neg, Op::Abs, Op::Sqrt, Op::Recip, Op::Trunc, Op::Floor, Op::Ceil, Op::Round};
    Op op = draw_.of(kFloat);
    bool rounds = op == Op::Trunc || op == Op::Floor || op == Op::Ceil || op == Op::Round;
    if ((rounds && !decisive(v)) || (op == Op::Recip && v.eitherZero)) op = Op::Neg;
    add({g_.alu(op, {v.node}), v.exact && op != Op::Sqrt && op != Op::Recip, v.eitherZero});
  }

  void binary() {
    Value a = pick();
    Value b = partner(a);
    DType d = a.node.dtype();
    Op op = binaryOp(d);
    bool chooses = op == Op::Max || op == Op::Min;
    if (op == Op::Fdiv && b.eitherZero) op = Op::Mul;
    bool exact = !isFloat(d) || (chooses && a.exact && b.exact);
    add({g_.alu(op, {a.node, b.node}), exact, a.eitherZero || b.eitherZero || chooses});
  }

  Op binaryOp(DType d) {
    constexpr Op kBool[] = {Op::Add, Op::Mul, Op::And, Op::Or, Op::Xor, Op::Max, Op::Min};
    constexpr Op kFloat[] = {Op::Add, Op::Sub, Op::Mul, Op::Fdiv, Op::Max, Op::Min};
    constexpr Op kInt[] = {Op::Add,      Op::Sub,      Op::Mul, Op::Max, Op::Min, Op::Cdiv, Op::Cmod,
                           Op::Floordiv, Op::Floormod, Op::Shl, Op::Shr, Op::And, Op::Or,   Op::Xor};
    if (d == DType::U64 && draw_.chance(15)) return Op::Threefry;
    if (isFloat(d) && options_.transcendentals && draw_.chance(5)) return Op::Pow;
    if (d == DType::Bool) return draw_.of(kBool);
    return isFloat(d) ? draw_.of(kFloat) : draw_.of(kInt);
  }

  void compare() {
    std::optional<Value> a = pickWhere([&](const Value& v) { return decisive(v); });
    if (!a) return;
    Value b = partner(*a);
    if (!decisive(b)) b = constant(a->node.dtype());
    constexpr Op kOps[] = {Op::Lt, Op::Le, Op::Eq, Op::Ne};
    add({g_.alu(draw_.of(kOps), {a->node, b.node})});
  }

  void select() {
    Value a = pick();
    Value b = partner(a);
    std::optional<Value> c = pickWhere([](const Value& v) { return v.node.dtype() == DType::Bool; });
    Value condition = c ? fit(*c, a.node.isScalar() ? b.node.shape() : a.node.shape()) : constant(DType::Bool);
    add({g_.where(condition.node, a.node, b.node), a.exact && b.exact, a.eitherZero || b.eitherZero});
  }

  void cast() {
    Value v = pick();
    DType to = randomDType();
    if (isFloat(v.node.dtype()) && !isFloat(to) && !decisive(v)) return;
    add(castTo(v, to));
  }

  // Between integers; also from integers to floats where special floats are welcome.
  void bitcast() {
    std::optional<Value> v = pickWhere([](const Value& x) { return isInt(x.node.dtype()); });
    if (!v) return;
    std::vector<DType> to;
    for (DType d : options_.dtypes)
      if (byteSize(d) == byteSize(v->node.dtype()) && (isInt(d) || (isFloat(d) && !options_.contract))) to.push_back(d);
    if (!to.empty()) add({g_.bitcast(v->node, draw_.of(to))});
  }

  void reshape() {
    Value v = pick();
    if (isSymbolic(v.node) || v.node.maxNumel() == 0) return add(flat(v));
    int64_t left = v.node.maxNumel();
    UOps dims;
    for (int64_t f : {2, 3, 5, 7, 1, 2})
      if (left % f == 0 && draw_.chance(50)) dims.push_back(g_.index(f)), left /= f;
    dims.insert(dims.begin() + draw_.between(0, static_cast<int64_t>(dims.size())), g_.index(left));
    add(moved(v, g_.reshape(v.node, dims)));
  }

  void permute() {
    Value v = pick();
    Axes order;
    for (size_t i = 0; i < v.node.rank(); ++i)
      order.insert(order.begin() + draw_.between(0, static_cast<int64_t>(i)), static_cast<int32_t>(i));
    add(moved(v, g_.permute(v.node, order)));
  }

  void expand() {
    Value v = pick();
    UOps dims(v.node.shape().begin(), v.node.shape().end()), grown;
    int64_t at = draw_.between(0, static_cast<int64_t>(dims.size())), times = draw_.between(1, 6);
    if (v.node.maxNumel() * times > options_.maxElements) times = 1;
    dims.insert(dims.begin() + at, g_.index(1));
    grown = dims;
    grown[static_cast<size_t>(at)] = variable_ && v.node.maxNumel() * 7 <= options_.maxElements && draw_.chance(20) ? variable_ : g_.index(times);
    add(moved(v, g_.expand(g_.reshape(v.node, dims), grown)));
  }

  void pad() {
    Value v = pick();
    UOps before, after;
    for (size_t i = 0; i < v.node.rank(); ++i) {
      before.push_back(g_.index(draw_.between(0, 2)));
      after.push_back(g_.index(draw_.between(0, 2)));
    }
    int64_t total = 1;
    for (UOp d : v.node.shape()) total *= d.bounds().max + 4;
    if (total > options_.maxElements * 4) return;
    Value fill = constant(v.node.dtype());
    add(moved(v, g_.pad(v.node, fill.node, before, after)));
  }

  void shrink() {
    Value v = pick();
    UOps offsets, sizes;
    for (UOp d : v.node.shape()) {
      int64_t smallest = std::max<int64_t>(d.bounds().min, 0), offset = draw_.between(0, smallest / 2);
      bool rest = !d.isConst() && draw_.chance(60);
      int64_t size = draw_.between(std::min<int64_t>(1, smallest - offset), smallest - offset);
      offsets.push_back(g_.index(offset));
      sizes.push_back(rest ? subDims(g_, d, g_.index(offset)) : g_.index(size));
    }
    add(moved(v, g_.shrink(v.node, offsets, sizes)));
  }

  Axes someAxes(UOp u) {
    Axes axes;
    for (size_t i = 0; i < u.rank(); ++i)
      if (draw_.chance(50)) axes.push_back(static_cast<int32_t>(i));
    return axes;
  }

  void flip() {
    Value v = pick();
    add(moved(v, g_.flip(v.node, someAxes(v.node))));
  }

  void reduce() {
    std::optional<Value> v = pickWhere([](const Value& x) { return x.node.rank() > 0; });
    if (!v) return;
    constexpr Op kOps[] = {Op::Add, Op::Add, Op::Mul, Op::Max, Op::Min};
    Op op = draw_.of(kOps);
    Axes axes = someAxes(v->node);
    if (axes.empty()) axes.push_back(0);
    bool chooses = op == Op::Max || op == Op::Min;
    add({g_.reduce(op, v->node, axes), !isFloat(v->node.dtype()) || (chooses && v->exact), v->eitherZero || chooses});
  }

  // An index tensor of the given dims, mostly inside [0, size).
  UOp indexFor(UOp size, const UOps& dims) {
    std::optional<Value> v = pickWhere([](const Value& x) { return isInt(x.node.dtype()) && info(x.node.dtype()).bits >= 16; });
    UOp index;
    if (v) {
      index = fit(*v, dims, false).node;
    } else {
      UOp count = numel(g_, dims);
      index = g_.reshape(g_.make(Op::Iota, DType::I32, {count}), dims);
    }
    bool inside = size.isConst() && index.bounds().min >= 0 && index.bounds().max < size.constInt();
    if (!size.isConst() || inside || draw_.chance(20)) return index;
    return g_.alu(Op::Floormod, {index, g_.constant(Scalar::ofInt(index.dtype(), std::max<int64_t>(size.constInt(), 1)))});
  }

  UOps indexDims() {
    UOps dims;
    int64_t rank = draw_.between(1, 2);
    for (int64_t i = 0; i < rank; ++i) dims.push_back(g_.index(draw_.between(1, 6)));
    return dims;
  }

  void gather() {
    std::optional<Value> v = pickWhere([](const Value& x) { return x.node.rank() > 0 && x.node.rank() < 4; });
    if (!v) return;
    UOps dims = indexDims(), src{v->node};
    for (UOp size : v->node.shape()) src.push_back(indexFor(size, dims));
    add(moved(*v, g_.make(Op::Gather, v->node.dtype(), src)));
  }

  void scatter() {
    std::optional<Value> v = pickWhere([](const Value& x) { return x.node.rank() > 0 && x.node.rank() < 4; });
    if (!v) return;
    UOps dims = indexDims(), src{v->node};
    for (UOp size : v->node.shape()) src.push_back(indexFor(size, dims));
    Value updates = fit(converted(pick(), v->node.dtype()), dims, false);
    src.push_back(updates.node);
    constexpr Op kOps[] = {Op::Store, Op::Add, Op::Max, Op::Min, Op::Mul};
    Op op = draw_.of(kOps);
    bool arithmetic = op == Op::Add || op == Op::Mul, chooses = op == Op::Max || op == Op::Min;
    bool exact = !isFloat(v->node.dtype()) || (v->exact && updates.exact && !arithmetic);
    add({g_.make(Op::Scatter, v->node.dtype(), src, ReduceArg{op, {}}), exact, v->eitherZero || updates.eitherZero || chooses});
  }

  void materialize() {
    Value v = pick();
    if (v.node.op() != Op::Contiguous) add(moved(v, g_.make(Op::Contiguous, v.node.dtype(), {v.node})));
  }

  // -- effects

  void state() {
    UOps dims = randomDims();
    DType dtype = randomDType();
    UOp buffer = port(PortKind::State, dtype, dims), now = buffer;
    bool exact = true;
    add({buffer});
    for (int i = 0; i < 3; ++i) step();
    int64_t updates = draw_.between(1, 2);
    for (int64_t i = 0; i < updates; ++i) {
      UOp target = draw_.chance(40) ? part(now) : now;
      Value value = fit(converted(pick(), dtype), target.shape(), false);
      exact &= value.exact;
      UOp store = g_.make(Op::Store, DType::Void, {target, value.node});
      stores_.push_back(store);
      now = g_.make(Op::After, dtype, {now, store});
      add({now, exact, true});
    }
    for (int i = 0; i < 3; ++i) step();
  }

  // A view of a buffer that names some of its elements.
  UOp part(UOp buffer) {
    UOps offsets, sizes;
    for (UOp d : buffer.shape()) {
      int64_t smallest = std::max<int64_t>(d.bounds().min, 0), offset = draw_.between(0, smallest / 2);
      offsets.push_back(g_.index(offset));
      sizes.push_back(g_.index(smallest - offset));
    }
    UOp view = g_.shrink(buffer, offsets, sizes);
    return draw_.chance(30) ? g_.flip(view, someAxes(view)) : view;
  }

  void outputs() {
    // Values nothing uses become outputs first, so that most of the graph is alive.
    std::vector<bool> used(g_.size());
    for (const Value& v : pool_)
      for (UOp n : toposort(v.node))
        if (n != v.node) used[n.id()] = true;
    int64_t count = draw_.between(2, 5);
    for (int64_t i = 0; i < count; ++i) {
      std::optional<Value> unused = pickWhere([&](const Value& v) { return !used[v.node.id()]; });
      UOp value = i == 0 || !unused ? pool_.back().node : unused->node;
      if (draw_.chance(15)) value = pick().node;
      used[value.id()] = true;
      UOp target = port(PortKind::Output, value.dtype(), UOps(value.shape().begin(), value.shape().end()));
      stores_.push_back(g_.make(Op::Store, DType::Void, {target, value}));
    }
  }

  Draw draw_;
  RandomOptions options_;
  Model model_;
  Graph& g_;
  UOp variable_;
  std::vector<Value> pool_;
  UOps stores_;
};

}  // namespace

Model randomModel(uint64_t seed, const RandomOptions& options) { return Generator(seed, options).build(); }

}  // namespace svod
