// The values a random graph is grown from, and how operands are made to fit.
#pragma once
#include <algorithm>

#include "common/random_graph.h"
#include "ir/dim_facts.h"
#include "ir/shape.h"

namespace svod {

/// A value of the pool. `exact`: every legal evaluation gives the same bits, in contract mode as well. `eitherZero`:
/// a max or min below may have chosen between -0 and +0.
struct PoolValue {
  UOp node;
  bool exact = true;
  bool eitherZero = false;
};

class RandomPool {
 protected:
  using Value = PoolValue;
  using UOps = std::vector<UOp>;
  using Axes = std::vector<int32_t>;

  RandomPool(uint64_t seed, const RandomOptions& options) : draw_(seed), options_(options), g_(*model_.graph) {
    if (!options_.dtypes.empty()) return;
    for (DType d : allDTypes())
      if (d != DType::Void && d != DType::Index) options_.dtypes.push_back(d);
    for (DType d : {DType::F32, DType::F32, DType::F32, DType::F32, DType::F16, DType::F64, DType::I32, DType::I64,
                    DType::U64, DType::U64})
      options_.dtypes.push_back(d);  // more often
  }

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
    if (variable_ && draw_.chance(40)) dims.push_back(symbolicSize()), total = largest(dims);
    for (int64_t i = 0; i < rank; ++i) {
      if (options_.edges && draw_.chance(15)) {
        UOp size = symbolicSize();
        if (total * std::max<int64_t>(size.bounds().max, 1) > options_.maxElements) continue;
        dims.push_back(size), total = largest(dims);
        continue;
      }
      int64_t size = draw_.of(kSizes);
      if (total * size > options_.maxElements) size = 1;
      if (options_.zeroDims && draw_.chance(1)) size = 0;
      total *= size;
      dims.push_back(g_.index(size));
    }
    return dims;
  }

  DType randomDType() {
    constexpr DType kSmall[] = {DType::Bool,       DType::Bool,       DType::BF16,   DType::BF16,   DType::F16,
                                DType::F8E4M3,     DType::F8E5M2,     DType::F4E2M1, DType::F8E8M0, DType::F16,
                                DType::F8E4M3FNUZ, DType::F8E5M2FNUZ, DType::I8,     DType::U8,     DType::F32};
    return options_.edges && draw_.chance(35) ? draw_.of(kSmall) : draw_.of(options_.dtypes);
  }

  // -- sizes

  /// Of any tensor with these dims.
  static int64_t largest(std::span<const UOp> dims) {
    int64_t total = 1;
    for (UOp d : dims) total *= std::max<int64_t>(d.bounds().max, 1);
    return total;
  }

  /// Two variables, and what sizes are made of them. None can be negative; some can only be 0.
  void sizes() {
    struct Bounds {
      int64_t min, max;
    };
    constexpr Bounds kBounds[] = {{0, 7}, {1, 7}, {0, 0}, {0, 1}, {1, 1}, {3, 3}, {2, 5}, {0, 3}, {1, 13}};
    UOps v;
    for (const char* name : {"n", "m"}) {
      const Bounds b = draw_.of(kBounds);
      v.push_back(g_.variable(name, b.min, b.max));
      model_.variables.push_back(v.back());
    }
    variable_ = v[0];
    auto number = [&](int64_t k) { return g_.index(k); };
    auto mod = [&](UOp a, UOp b) { return g_.alu(Op::Floormod, {a, b}); };
    for (UOp a : v)
      for (UOp size : {a, floordivDims(g_, a, number(2)), floordivDims(g_, a, number(8)), mod(a, number(3)),
                       mod(a, number(1)), floordivDims(g_, addDims(g_, a, number(3)), number(4)),
                       g_.alu(Op::Max, {subDims(g_, a, number(2)), number(0)}), mulDims(g_, a, number(2))})
        sizes_.push_back(size);
    UOp n = v[0], m = v[1], next = addDims(g_, m, number(1));
    for (UOp size : {mulDims(g_, n, m), addDims(g_, n, m), g_.alu(Op::Min, {n, m}), g_.alu(Op::Max, {n, m}),
                     floordivDims(g_, n, next), mod(n, next), subDims(g_, number(13), n)})
      sizes_.push_back(size);
    // Differences and parts of them, whose normal form has negative factors.
    const UOp left = subDims(g_, number(13), n), both = subDims(g_, number(26), addDims(g_, n, m));
    for (UOp size : {floordivDims(g_, left, number(2)), floordivDims(g_, left, number(3)),
                     mulDims(g_, floordivDims(g_, left, number(4)), m), floordivDims(g_, both, number(5)),
                     addDims(g_, floordivDims(g_, maxDims(g_, subDims(g_, n, m), number(-2)), number(3)), number(1)),
                     maxDims(g_, floordivDims(g_, subDims(g_, n, m), number(2)), number(0))})
      if (size.bounds().min >= 0 || lessEqualDims(number(0), size) == Truth::Always) sizes_.push_back(size);
  }

  UOp symbolicSize() { return options_.edges ? draw_.of(sizes_) : variable_; }

  /// Offsets and sizes of a part of `x` that may leave it for some values of the variables: along every axis as it is,
  /// as long as the axis from a variable on, of a length that variables give, all but the first elements, or the last
  /// ones.
  struct Part {
    UOps offsets, sizes;
  };
  Part edgePart(UOp x, UOp counter = {}) {
    Part part;
    for (UOp d : x.shape()) {
      if (draw_.chance(15)) {
        const UOp count = minDims(g_, symbolicSize(), d);
        part.offsets.push_back(subDims(g_, d, count)), part.sizes.push_back(count);
        continue;
      }
      UOp offset = counter && draw_.chance(30) ? counter : draw_.chance(70) ? symbolicSize() : g_.index(draw_.below(3));
      UOp rest = g_.alu(Op::Max, {subIndices(g_, d, offset), g_.index(0)});
      const UOp kSizes[] = {d, d, d, symbolicSize(), rest.ranges().empty() ? rest : d};
      UOp size = draw_.of(kSizes), slack = subIndices(g_, subIndices(g_, d, offset), size);
      bool isUnmoved = draw_.chance(40) || slack.bounds().max < 0 || (slack.isConst() && slack.constInt() < 0);
      part.offsets.push_back(isUnmoved ? g_.index(0) : offset);
      part.sizes.push_back(isUnmoved ? d : size);
    }
    if (largest(part.sizes) <= 4 * options_.maxElements) return part;
    return {UOps(x.rank(), g_.index(0)), UOps(x.shape().begin(), x.shape().end())};
  }

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
    HostTensor values = randomTensor(dtype, sizes, draw_.bits(), !options_.contract);
    auto data = std::make_shared<const std::vector<std::byte>>(values.toMemory());
    model_.ports.back().data = {data->data(), data->size(), data};
    add({buffer});
  }

  void iota() {
    constexpr DType kTypes[] = {DType::I32, DType::I64, DType::U8, DType::I16};
    DType d = draw_.of(kTypes);
    UOp count = g_.index(draw_.between(1, 12));
    add({g_.make(Op::Iota, d, {options_.edges && draw_.chance(40) ? symbolicSize() : count})});
  }

  // -- the pool

  void add(Value v) {
    // Sizes made of sizes multiply out; plans hold expressions of a limited length.
    constexpr size_t kLongest = 24;
    for (UOp d : v.node.shape())
      if (!d.isConst() && toposort(d).size() > kLongest) return;
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
    HostTensor t = randomTensor(d, {}, draw_.bits(), !options_.contract, options_.edges ? 20 : 8);
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
    if (symbolic && options_.edges && v.node.rank() == dims.size() && draw_.chance(60)) return cut(v, dims);
    if (symbolic) return keepScalar ? firstOf(v) : spread(firstOf(v), dims);
    int64_t have = v.node.maxNumel(), want = numel(g_, dims).constInt();
    Value line = flat(v);
    UOp zero = g_.index(0);
    if (have > want)
      line = moved(line, g_.shrink(line.node, UOps{g_.index(draw_.between(0, have - want))}, UOps{g_.index(want)}));
    if (have < want) {
      Value fill = constant(v.node.dtype());
      line = moved(line, g_.pad(line.node, fill.node, UOps{zero}, UOps{g_.index(want - have)}));
    }
    return moved(line, g_.reshape(line.node, dims));
  }

  // The elements of a box from the first one on; there are none beyond `v`.
  Value cut(const Value& v, std::span<const UOp> dims) {
    UOps zeros(dims.size(), g_.index(0));
    for (size_t i = 0; i < dims.size(); ++i)
      if (subDims(g_, v.node.shape()[i], dims[i]).bounds().max < 0) return spread(firstOf(v), dims);
    return moved(v, g_.shrink(v.node, zeros, dims));
  }

  Value spread(const Value& v, std::span<const UOp> dims) {
    UOps ones(dims.size(), g_.index(1));
    return moved(v, g_.expand(g_.reshape(v.node, ones), dims));
  }

  // The first element as a scalar; a constant when there may be none.
  Value firstOf(const Value& v) {
    UOps zeros, ones;
    for (UOp d : v.node.shape()) {
      const bool isThere = d.bounds().min >= 1 || (options_.edges && !d.isConst() && d.bounds().max >= 1);
      if (!isThere) return constant(v.node.dtype());
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

  Draw draw_;
  RandomOptions options_;
  Model model_;
  Graph& g_;
  UOp variable_;
  UOps sizes_;  // with edges: what variables give
  std::vector<Value> pool_;
};

}  // namespace svod
