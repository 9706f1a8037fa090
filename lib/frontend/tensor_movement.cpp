// Movement ops: each checks its axes and sizes, then becomes one node.
#include <algorithm>

#include "frontend/operands.h"
#include "ir/dim_facts.h"
#include "ir/shape.h"

namespace svod {

namespace {

std::vector<UOp> nodes(const Dims& dims) {
  std::vector<UOp> all;
  for (const Dim& d : dims) all.push_back(d.node());
  return all;
}

bool checkSizes(GraphBuilder& b, const Dims& dims) { return b.checkSizes(nodes(dims)); }

std::string pairText(const Tensor& x, const Dims& dims) { return describe(x) + " and " + describe(dims); }

}  // namespace

Tensor reshape(Tensor x, const Dims& dims) {
  x = settled(x);
  if (!x || anyMissing(dims)) return {};
  GraphBuilder& b = *x.builder();
  Graph& g = b.graph();
  if (!checkSizes(b, dims)) return {};
  std::vector<UOp> from = nodes(x.dims()), to = nodes(dims);
  UOp have = numel(g, from), want = numel(g, to);
  if (have != want && !b.agree(Dim(g, have), Dim(g, want)))
    return b.fail(Diag::ShapeMismatch,
                  "cannot reshape " + describe(x) + " to " + describe(dims) + ": " + describe(Dim(g, have)) +
                      " elements become " + describe(Dim(g, want)),
                  "the number of elements must stay the same; one dim may be -1 to be computed");
  if (!alwaysEqual(have, want))  // runs check it: of other sizes, what there is
    x = b.fitted(b.wrap(g.reshape(x.node(), {&have, 1})), {Dim(g, want)});
  if (!x) return {};
  return b.wrap(g.reshape(x.node(), to));
}

Dims broadcastDims(std::span<const Tensor> tensors) {
  Dims common;
  for (const Tensor& t : tensors) {
    Dims dims = t.dims();
    while (common.rank() < dims.rank()) common.insert(0, t.builder()->dim(1));
    for (int i = 1; i <= dims.rank(); ++i) {
      Dim have = common[-i], next = dims[-i];
      if (have == next || next.is(1)) continue;
      if (!have.is(1) && t.builder()->agree(have, next, Stretch::Any)) {
        if (next.isConst()) common.set(-i, next);
        continue;
      }
      if (!have.is(1)) {
        std::string shapes;
        for (const Tensor& s : tensors) shapes += (shapes.empty() ? "" : " and ") + describe(s);
        t.builder()->fail(Diag::ShapeMismatch,
                          "shapes do not broadcast: " + shapes + " (axis " + std::to_string(-i) + ": " +
                              describe(have) + " against " + describe(next) + ")",
                          "dims that differ must be 1; reshape or permute an operand");
        return {};
      }
      common.set(-i, next);
    }
  }
  return common;
}

Tensor expand(Tensor x, const Dims& dims) {
  x = settled(x);
  if (!x || anyMissing(dims)) return {};
  GraphBuilder& b = *x.builder();
  Dims from = x.dims();
  if (from == dims) return x;
  bool fits = from.rank() <= dims.rank();
  for (int i = 1; fits && i <= from.rank(); ++i) fits = from[-i].is(1) || b.agree(from[-i], dims[-i], Stretch::Left);
  if (!fits)
    return b.fail(Diag::ShapeMismatch, "cannot expand " + describe(x) + " to " + describe(dims),
                  "shapes align at the right, and only dims of 1 stretch");
  Dims aligned = from;
  while (aligned.rank() < dims.rank()) aligned.insert(0, b.dim(1));
  Tensor lifted = reshape(x, aligned);
  for (int i = 0; i < dims.rank(); ++i)
    if (!aligned[i].is(1)) aligned.set(i, dims[i]);
  lifted = b.fitted(lifted, aligned);
  return lifted ? b.wrap(b.graph().expand(lifted.node(), nodes(dims))) : lifted;
}

Tensor permute(Tensor x, std::initializer_list<int> order) {
  return permute(x, std::span(order.begin(), order.size()));
}

Tensor permute(Tensor x, std::span<const int> order) {
  x = settled(x);
  if (!x) return {};
  GraphBuilder& b = *x.builder();
  std::vector<int32_t> axes;
  for (int a : order) {
    int axis = b.axis(x, a);
    if (axis < 0) return {};
    axes.push_back(axis);
  }
  std::vector<int32_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  bool complete = static_cast<int>(axes.size()) == x.rank();
  for (size_t i = 0; complete && i < sorted.size(); ++i) complete = sorted[i] == static_cast<int32_t>(i);
  if (!complete)
    return b.fail(Diag::BadAttribute, "the order must name each axis of " + describe(x) + " once",
                  "list " + std::to_string(x.rank()) + " axes");
  return b.wrap(b.graph().permute(x.node(), axes));
}

Tensor pad(Tensor x, const Dims& before, const Dims& after, Operand fill) {
  x = settled(x);
  if (!x || anyMissing(before) || anyMissing(after)) return {};
  GraphBuilder& b = *x.builder();
  if (!checkSizes(b, before) || !checkSizes(b, after)) return {};
  if (before.rank() != x.rank() || after.rank() != x.rank())
    return b.fail(Diag::ShapeMismatch, "padding of " + pairText(x, before) + " and " + describe(after),
                  "give one amount before and one after per axis");
  Tensor value = cast(fill.in(b), x.dtype());
  if (!value) return {};
  if (value.rank() != 0) return b.fail(Diag::ShapeMismatch, "the fill value is " + describe(value), "use a scalar");
  for (const Dims* amounts : {&before, &after})
    for (const Dim& d : *amounts)
      if (b.mayBeNegative(d.node()))
        return b.fail(Diag::BadAttribute, "a padding of " + describe(d) + " can be negative", "use shrink to cut");
  return b.wrap(b.graph().pad(x.node(), value.node(), nodes(before), nodes(after)));
}

Tensor shrink(Tensor x, const Dims& offsets, const Dims& sizes) {
  x = settled(x);
  if (!x || anyMissing(offsets) || anyMissing(sizes)) return {};
  GraphBuilder& b = *x.builder();
  if (!checkSizes(b, offsets) || !checkSizes(b, sizes)) return {};
  if (offsets.rank() != x.rank() || sizes.rank() != x.rank())
    return b.fail(Diag::ShapeMismatch, "ranges of " + pairText(x, offsets) + " and " + describe(sizes),
                  "give one offset and one size per axis");
  for (int i = 0; i < x.rank(); ++i) {
    Dim slack = x.dim(i) - offsets[i] - sizes[i];
    // What a counter carries beyond an axis is nothing; what never fits otherwise is a mistake.
    const bool isCounted = !offsets[i].node().ranges().empty();
    const bool isBehind = lessEqualDims(b.graph().index(0), offsets[i].node()) == Truth::Always;
    if ((!isBehind && b.mayBeNegative(offsets[i].node())) || sizes[i].max() < 0 || (slack.max() < 0 && !isCounted) ||
        (slack.isConst() && slack.min() < 0))
      return b.fail(Diag::ShapeMismatch, "elements " + describe(offsets[i]) + " to " + describe(offsets[i] + sizes[i]) +
                                             " of axis " + std::to_string(i) + " are outside " + describe(x));
  }
  return b.wrap(b.graph().shrink(x.node(), nodes(offsets), nodes(sizes)));
}

Tensor narrow(Tensor x, int axis, Dim offset, Dim size) {
  if (!x) return {};
  axis = x.builder()->axis(x, axis);
  if (axis < 0) return {};
  Dims offsets, sizes = x.dims();
  for (int i = 0; i < x.rank(); ++i) offsets.add(i == axis ? offset : x.builder()->dim(0));
  sizes.set(axis, size);
  return shrink(x, offsets, sizes);
}

Tensor flip(Tensor x, std::span<const int> axes) {
  x = settled(x);
  if (!x) return {};
  std::vector<int32_t> sorted;
  for (int a : axes) {
    int axis = x.builder()->axis(x, a);
    if (axis < 0) return {};
    if (x.dim(axis).is(1)) continue;
    sorted.push_back(axis);
  }
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return x.builder()->fail(Diag::BadAttribute, "an axis of " + describe(x) + " is flipped twice",
                             "list each axis once");
  return x.builder()->wrap(x.builder()->graph().flip(x.node(), sorted));
}

Tensor unsqueeze(Tensor x, int axis) {
  if (!x) return {};
  int at = x.builder()->axisOfRank(x.rank() + 1, axis, x);
  if (at < 0) return {};
  Dims dims = x.dims();
  dims.insert(at, x.builder()->dim(1));
  return reshape(x, dims);
}

Tensor squeeze(Tensor x, int axis) {
  if (!x) return {};
  axis = x.builder()->axis(x, axis);
  if (axis < 0) return {};
  GraphBuilder& b = *x.builder();
  Dims dims = x.dims();
  dims.set(axis, b.dim(1));
  if (!b.agree(x.dim(axis), dims[axis]))
    return b.fail(Diag::ShapeMismatch,
                  "axis " + std::to_string(axis) + " of " + describe(x) + " is not 1 and cannot be dropped");
  x = b.fitted(settled(x), dims);
  dims.erase(axis);
  return reshape(x, dims);
}

}  // namespace svod
