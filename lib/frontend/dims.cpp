// Dim, Dims and how they are written in messages.
#include <algorithm>

#include "frontend/tensor.h"
#include "ir/shape.h"
#include "ir/text.h"

namespace svod {

namespace {

using DimFunction = UOp (*)(Graph&, UOp, UOp);
using Wide = __int128;

// Where f(a, b) leaves 64 bits, the nearest 64-bit number stands for it, which no size may be.
Dim combine(Graph* graph, Dim a, Dim b, DimFunction f, Wide (*exactly)(Wide, Wide)) {
  if (!a || !b) return Dim();
  Wide corners[] = {exactly(a.min(), b.min()), exactly(a.min(), b.max()), exactly(a.max(), b.min()),
                    exactly(a.max(), b.max())};
  auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  if (*low < INT64_MIN) return Dim(*graph, graph->index(INT64_MIN));
  if (*high > INT64_MAX) return Dim(*graph, graph->index(INT64_MAX));
  return Dim(*graph, f(*graph, a.node(), b.node()));
}

Dim combine(Graph* graph, Dim a, Dim b, DimFunction f) {
  return a && b ? Dim(*graph, f(*graph, a.node(), b.node())) : Dim();
}

}  // namespace

Dim operator+(Dim a, Dim b) {
  return combine(a.graph_, a, b, addDims, [](Wide x, Wide y) { return x + y; });
}
Dim operator-(Dim a, Dim b) {
  return combine(a.graph_, a, b, subDims, [](Wide x, Wide y) { return x - y; });
}
Dim operator*(Dim a, Dim b) {
  return combine(a.graph_, a, b, mulDims, [](Wide x, Wide y) { return x * y; });
}
Dim floordiv(Dim a, Dim b) { return combine(a.graph_, a, b, floordivDims); }
Dim floormod(Dim a, Dim b) { return combine(a.graph_, a, b, floormodDims); }
Dim smaller(Dim a, Dim b) { return combine(a.graph_, a, b, minDims); }
Dim larger(Dim a, Dim b) { return combine(a.graph_, a, b, maxDims); }
Dim operator+(Dim a, int64_t b) { return a ? a + Dim(*a.graph_, a.graph_->index(b)) : a; }
Dim operator-(Dim a, int64_t b) { return a ? a - Dim(*a.graph_, a.graph_->index(b)) : a; }
Dim operator*(Dim a, int64_t b) { return a ? a * Dim(*a.graph_, a.graph_->index(b)) : a; }
Dim floordiv(Dim a, int64_t b) { return a ? floordiv(a, Dim(*a.graph_, a.graph_->index(b))) : a; }

Dim Dims::operator[](int axis) const {
  if (axis < 0) axis += rank();
  return axis < 0 || axis >= rank() ? Dim() : dims_[axis];
}

void Dims::set(int axis, Dim dim) {
  if (axis < 0) axis += rank();
  if (axis >= 0 && axis < rank()) dims_[axis] = dim;
}

void Dims::insert(int axis, Dim dim) {
  dims_.insert(dims_.begin() + std::clamp(axis < 0 ? axis + rank() + 1 : axis, 0, rank()), dim);
}

void Dims::erase(int axis) {
  if (axis < 0) axis += rank();
  if (axis >= 0 && axis < rank()) dims_.erase(dims_.begin() + axis);
}

Dims Dims::slice(int begin, int end) const {
  begin = std::clamp(begin, 0, rank());
  return Dims(std::vector<Dim>(dims_.begin() + begin, dims_.begin() + std::clamp(end, begin, rank())));
}

Dims Dims::operator+(const Dims& more) const {
  Dims all = *this;
  all.dims_.insert(all.dims_.end(), more.dims_.begin(), more.dims_.end());
  return all;
}

std::string describe(Dim dim) {
  if (!dim) return "?";
  std::string text = toExpr(dim.node());
  for (size_t at = text.find("+ -"); at != std::string::npos; at = text.find("+ -", at)) text.replace(at, 3, "- ");
  return text;
}

std::string describe(const Dims& dims) {
  std::string text = "[";
  for (const Dim& d : dims) text += (text.size() > 1 ? ", " : "") + describe(d);
  return text + "]";
}

std::string describe(const Tensor& x) {
  if (!x) return "nothing";
  if (x.isLiteral()) return "the number " + toText(x.node().constant());
  std::string text(toText(x.dtype()));
  return x.rank() == 0 ? text : text + describe(x.dims());
}

}  // namespace svod
