// One op after the other over the values of the pool.
#pragma once
#include "common/random_composites.h"

namespace svod {

class RandomSteps : protected RandomComposites {
 protected:
  using RandomComposites::RandomComposites;

  // -- steps

  void step() {
    if (options_.composites && draw_.chance(15)) return composite();
    using Step = void (RandomSteps::*)();
    constexpr Step kSteps[] = {
        &RandomSteps::unary,      &RandomSteps::unary,   &RandomSteps::unary,   &RandomSteps::unary,
        &RandomSteps::binary,     &RandomSteps::binary,  &RandomSteps::binary,  &RandomSteps::binary,
        &RandomSteps::binary,     &RandomSteps::binary,  &RandomSteps::compare, &RandomSteps::select,
        &RandomSteps::cast,       &RandomSteps::bitcast, &RandomSteps::reshape, &RandomSteps::permute,
        &RandomSteps::expand,     &RandomSteps::pad,     &RandomSteps::shrink,  &RandomSteps::flip,
        &RandomSteps::reduce,     &RandomSteps::reduce,  &RandomSteps::gather,  &RandomSteps::scatter,
        &RandomSteps::materialize};
    (this->*draw_.of(kSteps))();
  }

  void unary() {
    Value v = pick();
    auto isFloatValue = [](const Value& x) { return isFloat(x.node.dtype()); };
    if (std::optional<Value> other = pickWhere(isFloatValue); other && draw_.chance(60)) v = *other;
    if (!isComputedIn(v.node.dtype())) v = castTo(v, DType::F32);
    DType d = v.node.dtype();
    if (d == DType::Bool) return add(moved(v, g_.alu(Op::Not, {v.node})));
    if (!isFloat(d)) {
      constexpr Op kInt[] = {Op::Neg, Op::Not, Op::Abs};
      return add(moved(v, g_.alu(draw_.of(kInt), {v.node})));
    }
    if (options_.transcendentals && draw_.chance(40)) {
      constexpr Op kTranscend[] = {Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Tanh, Op::Erf, Op::Tan};
      const std::span<const Op> ops = std::span(kTranscend).first(options_.edges ? 9 : 8);
      return add({g_.alu(draw_.of(ops), {v.node}), false, v.eitherZero});
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
    constexpr Op kChoice[] = {Op::Max, Op::Min};
    if (!isComputedIn(d)) return draw_.of(kChoice);
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
      if (memoryBits(d) == memoryBits(v->node.dtype()) && (isInt(d) || (isFloat(d) && !options_.contract)))
        to.push_back(d);
    if (!to.empty()) add({g_.bitcast(v->node, draw_.of(to))});
  }

  void reshape() {
    Value v = pick();
    if (options_.edges && v.node.rank() > 1 && draw_.chance(40)) return joinAxes(v);
    if (isSymbolic(v.node) || v.node.maxNumel() == 0) return add(flat(v));
    int64_t left = v.node.maxNumel();
    UOps dims;
    for (int64_t f : {2, 3, 5, 7, 1, 2})
      if (left % f == 0 && draw_.chance(50)) dims.push_back(g_.index(f)), left /= f;
    dims.insert(dims.begin() + draw_.between(0, static_cast<int64_t>(dims.size())), g_.index(left));
    add(moved(v, g_.reshape(v.node, dims)));
  }

  // Two neighbours become one.
  void joinAxes(const Value& v) {
    UOps dims(v.node.shape().begin(), v.node.shape().end());
    const int64_t at = draw_.between(0, static_cast<int64_t>(dims.size()) - 2);
    dims[static_cast<size_t>(at)] = mulDims(g_, dims[static_cast<size_t>(at)], dims[static_cast<size_t>(at) + 1]);
    dims.erase(dims.begin() + at + 1);
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
    UOp size = variable_ ? symbolicSize() : UOp();
    grown[static_cast<size_t>(at)] =
        size && v.node.maxNumel() * size.bounds().max <= options_.maxElements && draw_.chance(options_.edges ? 50 : 20)
            ? size
            : g_.index(times);
    add(moved(v, g_.expand(g_.reshape(v.node, dims), grown)));
  }

  void pad() {
    Value v = pick();
    UOps before, after;
    for (size_t i = 0; i < v.node.rank(); ++i) {
      before.push_back(g_.index(draw_.between(0, 2)));
      after.push_back(g_.index(draw_.between(0, 2)));
      if (options_.edges && draw_.chance(25)) after.back() = symbolicSize();
      if (options_.edges && draw_.chance(15)) before.back() = symbolicSize();
    }
    int64_t total = 1;
    for (size_t i = 0; i < v.node.rank(); ++i)
      total *=
          v.node.shape()[i].bounds().max + (options_.edges ? before[i].bounds().max + after[i].bounds().max + 1 : 4);
    if (total > options_.maxElements * 4) return;
    Value fill = constant(v.node.dtype());
    add(moved(v, g_.pad(v.node, fill.node, before, after)));
  }

  void shrink() {
    Value v = pick();
    if (options_.edges && draw_.chance(60)) {
      const Part part = edgePart(v.node);
      return add(moved(v, g_.shrink(v.node, part.offsets, part.sizes)));
    }
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
    Op op = isComputedIn(v->node.dtype()) ? draw_.of(kOps) : Op::Max;
    Axes axes = someAxes(v->node);
    if (axes.empty()) axes.push_back(0);
    bool chooses = op == Op::Max || op == Op::Min;
    add({g_.reduce(op, v->node, axes), !isFloat(v->node.dtype()) || (chooses && v->exact), v->eitherZero || chooses});
  }

  // An index tensor of the given dims, mostly inside [0, size).
  UOp indexFor(UOp size, const UOps& dims) {
    std::optional<Value> v =
        pickWhere([](const Value& x) { return isInt(x.node.dtype()) && info(x.node.dtype()).bits >= 16; });
    UOp index;
    if (v) {
      index = fit(*v, dims, false).node;
    } else {
      UOp count = numel(g_, dims);
      index = g_.reshape(g_.make(Op::Iota, DType::I32, {count}), dims);
    }
    bool inside = size.isConst() && index.bounds().min >= 0 && index.bounds().max < size.constInt();
    if (!size.isConst() || inside || draw_.chance(20)) return index;
    return g_.alu(Op::Floormod,
                  {index, g_.constant(Scalar::ofInt(index.dtype(), std::max<int64_t>(size.constInt(), 1)))});
  }

  UOps indexDims() {
    UOps dims;
    int64_t rank = draw_.between(1, 2);
    for (int64_t i = 0; i < rank; ++i) dims.push_back(g_.index(draw_.between(1, 6)));
    if (options_.edges && draw_.chance(30)) dims[0] = symbolicSize();
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
    Op op = isComputedIn(v->node.dtype()) ? draw_.of(kOps) : Op::Store;
    bool arithmetic = op == Op::Add || op == Op::Mul, chooses = op == Op::Max || op == Op::Min;
    bool exact = !isFloat(v->node.dtype()) || (v->exact && updates.exact && !arithmetic);
    add({g_.make(Op::Scatter, v->node.dtype(), src, ReduceArg{op, {}}), exact,
         v->eitherZero || updates.eitherZero || chooses});
  }

  void materialize() {
    Value v = pick();
    if (v.node.op() != Op::Contiguous) add(moved(v, g_.make(Op::Contiguous, v.node.dtype(), {v.node})));
  }
};

}  // namespace svod
