// Shapes and movement.
#include <algorithm>
#include <numeric>

#include "onnx/ops/expectations.h"

namespace svod {

namespace {

AttributeValue listOf(const std::vector<int>& axes) { return AttributeValue::List(axes.begin(), axes.end()); }

}  // namespace

Results onnxShape(OnnxNode& n) {
  Tensor x = n.arg(0);
  auto bounded = [&](int64_t at) {
    return static_cast<int>(std::clamp<int64_t>(at < 0 ? at + x.rank() : at, 0, x.rank()));
  };
  int start = bounded(n.integer("start")), end = n.has("end") ? bounded(n.integer("end")) : x.rank();
  return n.sizesTensor(x.dims().slice(start, std::max(start, end)));
}

Results onnxSize(OnnxNode& n) {
  Dim count = n.b.dim(1);
  for (const Dim& d : n.arg(0).dims()) count = count * d;
  return cast(n.b.value(count), DType::I64);
}

Results onnxReshape(OnnxNode& n) {
  Tensor x = n.arg(0);
  Dims shape;
  if (std::optional<Dims> declared = n.declaredFor(1)) {
    expectReshaped(n, *declared);
    return reshape(x, *declared);
  }
  if (n.has(1)) shape = n.sizesOrLengths(1);
  if (!n.has(1))
    for (int64_t d : n.integers("shape")) shape.add(n.b.dim(d));
  if (n.b.failed()) return Tensor();
  for (int i = 0; i < shape.rank(); ++i) {
    if (!shape[i].is(0) || n.flag("allowzero")) continue;
    if (!n.require(i < x.rank(), "a dim of 0 in 'shape' has a dim of x to copy")) return Tensor();
    shape.set(i, x.dim(i));
  }
  return n.call("reshape", {x}, {{"shape", shape}});
}

Results onnxTranspose(OnnxNode& n) {
  Tensor x = n.arg(0);
  std::vector<int> order(static_cast<size_t>(x.rank()));
  std::iota(order.rbegin(), order.rend(), 0);
  if (n.has("perm")) order = n.axes(n.integers("perm"), x.rank());
  if (n.b.failed()) return Tensor();
  return n.call("permute", {x}, {{"order", listOf(order)}});
}

namespace {

// The axes of size 1. Whether a size that is no number is 1 decides how many axes are left.
std::vector<int> axesOfOne(OnnxNode& n, const Tensor& x) {
  std::vector<int> axes;
  for (int i = 0; i < x.rank(); ++i) {
    const Tensor isOne = eq(cast(n.b.value(x.dim(i)), DType::I64), 1);
    const std::optional<HostTensor> known = n.valueOf(isOne);
    const std::string what = "axis " + std::to_string(i) + " of " + describe(x) + " ";
    if (known ? known->at(0).asInt() != 0
              : n.decideCase(isOne, {what + "has size 1", what + "does not have size 1", i}))
      axes.push_back(i);
  }
  return axes;
}

}  // namespace

Results onnxSqueeze(OnnxNode& n) {
  Tensor x = n.arg(0);
  if (std::optional<Dims> declared = n.declaredFor(1)) {
    expectFolded(n, false, *declared);
    return reshape(x, *declared);
  }
  std::vector<int> axes = n.axes(n.integers("axes", 1), x.rank());
  if (n.b.failed()) return Tensor();
  if (!n.has(1) && !n.has("axes")) axes = axesOfOne(n, x);
  return axes.empty() ? x : n.call("squeeze", {x}, {{"axes", listOf(axes)}});
}

Results onnxUnsqueeze(OnnxNode& n) {
  Tensor x = n.arg(0);
  if (std::optional<Dims> declared = n.declaredFor(1)) {
    expectUnsqueezed(n, *declared);
    return reshape(x, *declared);
  }
  std::vector<int64_t> wanted = n.integers("axes", 1);
  std::vector<int> axes = n.axes(wanted, x.rank() + static_cast<int>(wanted.size()));
  if (n.b.failed()) return Tensor();
  return axes.empty() ? x : n.call("unsqueeze", {x}, {{"axes", listOf(axes)}});
}

namespace {

// A size of a run is that of the result where x has one element, and otherwise 1 or the dim of x.
bool meetsLength(OnnxNode& n, Dim size, Dim have) {
  const Tensor given = cast(n.b.value(size), DType::I64), other = cast(n.b.value(have), DType::I64);
  return n.b.agree(n.length(where(eq(given, 1), other, given), n.b.dim(std::max(size.max(), have.max()))), have);
}

}  // namespace

// Broadcasts in both directions: a dim of 1 in 'shape' keeps that of x.
Results onnxExpand(OnnxNode& n) {
  Tensor x = n.arg(0);
  std::optional<Dims> declared = n.declaredFor(1);
  Dims shape = declared ? *declared : n.sizesOrLengths(1);
  if (n.b.failed()) return Tensor();
  while (shape.rank() < x.rank()) shape.insert(0, n.b.dim(1));
  for (int i = 1; i <= x.rank(); ++i)
    if (shape[-i].is(1) || (n.b.hasLength(shape[-i]) && !x.dim(-i).is(1) && !n.b.hasLength(x.dim(-i)) &&
                            meetsLength(n, shape[-i], x.dim(-i))))
      shape.set(-i, x.dim(-i));
  if (declared) expectExpanded(n, shape);
  return n.call("expand", {x}, {{"shape", shape}});
}

}  // namespace svod
