// Tensors side by side, and tensors cut into parts.
#include "frontend/lower/common.h"

namespace svod {

// Element p of the axis comes from the first part that reaches beyond p.
Tensor joined(const std::vector<Tensor>& parts, int axis) {
  GraphBuilder& b = *parts[0].builder();
  const Dims dims = parts[0].dims();
  std::vector<Dim> offsets;
  Dim total = b.dim(0);
  for (const Tensor& t : parts) {
    offsets.push_back(total);
    total = total + t.dim(axis);
  }
  Tensor position = b.iota(total);
  for (int i = axis + 1; i < dims.rank(); ++i) position = unsqueeze(position, -1);
  Tensor result;
  for (size_t i = parts.size(); i-- > 0;) {
    Dims before, after;
    for (int d = 0; d < dims.rank(); ++d) {
      before.add(d == axis ? offsets[i] : b.dim(0));
      after.add(d == axis ? total - offsets[i] - parts[i].dim(axis) : b.dim(0));
    }
    Tensor placed = pad(parts[i], before, after, 0);
    result = i + 1 == parts.size() ? placed : where(lt(position, b.value(offsets[i + 1])), placed, result);
  }
  return result;
}

namespace {

Tensor concatenate(OpCall& call, std::vector<Tensor> parts, int axis) {
  DType dtype = commonDType(parts);
  Dims dims = parts[0].dims();
  for (Tensor& t : parts) {
    t = cast(t, dtype);
    Dims same = t.dims();
    same.set(axis, dims[axis]);
    bool fits = same.rank() == dims.rank();
    for (int i = 0; fits && i < dims.rank(); ++i) fits = call.b.agree(same[i], dims[i]);
    if (!call.require(fits, "all dims but axis " + std::to_string(axis) + " must be equal")) return {};
    same = dims;
    same.set(axis, t.dim(axis));
    t = call.b.fitted(t, same);
    if (!t) return {};
  }
  return joined(parts, axis);
}

}  // namespace

Results lowerConcat(OpCall& call) {
  int axis = call.b.axis(call.arg(0), call.integer("axis"));
  return axis < 0 ? Tensor() : concatenate(call, {call.operands.begin(), call.operands.end()}, axis);
}

Results lowerStack(OpCall& call) {
  int axis = call.b.axisOfRank(call.arg(0).rank() + 1, call.integer("axis"), call.arg(0));
  if (axis < 0) return Tensor();
  std::vector<Tensor> parts;
  for (const Tensor& t : call.operands) {
    if (!call.require(t.dims() == call.arg(0).dims(), "all shapes must be equal")) return Tensor();
    parts.push_back(unsqueeze(t, axis));
    if (!parts.back()) return Tensor();
  }
  return concatenate(call, std::move(parts), axis);
}

Results lowerSplit(OpCall& call) {
  Tensor x = call.arg(0);
  int axis = call.b.axis(x, call.integer("axis"));
  if (axis < 0) return Tensor();
  Dims sizes = call.dims("sizes");
  if (call.has("sizes") == call.has("parts")) return call.fail(Diag::BadAttribute, "give either 'sizes' or 'parts'");
  if (call.has("parts")) {
    int64_t parts = call.integer("parts");
    constexpr int64_t kMostParts = 65536;
    if (parts < 1 || parts > kMostParts)
      return call.fail(Diag::BadAttribute, std::to_string(parts) + " parts", "use 1 to 65536");
    Dim each = floordiv(x.dim(axis), parts);
    if (!call.b.agree(each * parts, x.dim(axis)))
      return call.fail(Diag::ShapeMismatch,
                       "axis " + std::to_string(axis) + " of " + describe(x) + " does not divide into " +
                           std::to_string(parts) + " parts",
                       "use sizes=[..]");
    for (int64_t i = 0; i < parts; ++i) sizes.add(each);
  }
  std::vector<Tensor> results;
  Dim offset = call.b.dim(0);
  for (const Dim& size : sizes) {
    results.push_back(narrow(x, axis, offset, size));
    offset = offset + size;
  }
  if (!call.b.agree(offset, x.dim(axis)))
    return call.fail(Diag::ShapeMismatch, "the sizes add up to " + describe(offset) + ", axis " + std::to_string(axis) +
                                              " of " + describe(x) + " has " + describe(x.dim(axis)));
  return results;
}

}  // namespace svod
