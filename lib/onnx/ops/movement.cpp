// Parts, repetitions and borders of tensors.
#include <algorithm>
#include <numeric>

#include "ir/dim_facts.h"
#include "onnx/ops/common.h"
#include "onnx/ops/movement_at_run.h"

namespace svod {

namespace {

Dims dimsOf(OnnxNode& n, const std::vector<int64_t>& sizes) {
  Dims dims;
  for (int64_t size : sizes) dims.add(n.b.dim(size));
  return dims;
}

Dims zeros(OnnxNode& n, int rank) { return dimsOf(n, std::vector<int64_t>(static_cast<size_t>(rank))); }

// The axes an attribute or operand lists; all of them when there is none.
std::vector<int> axesOr(OnnxNode& n, bool isGiven, const std::vector<int64_t>& listed, int rank, int all) {
  std::vector<int> axes(static_cast<size_t>(all));
  std::iota(axes.begin(), axes.end(), 0);
  return isGiven ? n.axes(listed, rank) : axes;
}

// Sizes of parts that are not known to stay within x: each is cut to what is left, the last one takes all of that, and
// a run in which they are others fails.
void cutToAxis(OnnxNode& n, Dim size, Dims& parts) {
  Dim left = size, sum = n.b.dim(0);
  bool isCut = false;
  for (const Dim& part : parts) sum = sum + part;
  for (int i = 0; i + 1 < parts.rank(); ++i) {
    const Dim rest = left - parts[i];
    if (n.natural(rest) != rest) parts.set(i, smaller(parts[i], left)), isCut = true;
    left = left - parts[i];
  }
  if (!isCut) return;
  if (!alwaysEqual(sum.node(), size.node())) n.b.expectEqual(sum, size, "Split: the sizes of the parts add up");
  parts.set(parts.rank() - 1, left);
}

}  // namespace

// Without sizes: equal parts, from opset 18 on with a smaller last one.
Results onnxSplit(OnnxNode& n) {
  Tensor x = n.arg(0);
  int axis = n.axis(n.integer("axis"), x.rank());
  if (axis < 0) return Tensor();
  Dims sizes;
  bool isStated = n.has(1) && !n.isKnown(1);
  for (int i = 0; i < n.resultCount && isStated; ++i) {
    isStated = n.declared(i) && n.declared(i)->rank() == x.rank();
    if (isStated) sizes.add((*n.declared(i))[axis]);
  }
  if (n.has(1) && !isStated) sizes = n.sizesOrLengths(1);
  if (isStated) n.expect({1}, n.arg(1), sizes);
  if (!n.has(1) && n.has("split")) sizes = dimsOf(n, n.integers("split"));
  if (n.b.failed()) return Tensor();
  if (n.has(1) && !isStated) cutToAxis(n, x.dim(axis), sizes);
  if (!n.has(1) && !n.has("split")) {
    int64_t parts = n.has("num_outputs") ? n.integer("num_outputs") : n.resultCount;
    if (!n.require(parts >= n.resultCount && parts >= 1 && parts <= 65536, "num_outputs is the number of outputs"))
      return Tensor();
    Dim each = floordiv(x.dim(axis) + (parts - 1), parts), left = x.dim(axis);
    if (n.opset < 18 && !n.require(each * parts == left, "the axis divides into equal parts")) return Tensor();
    Dim begin = n.b.dim(0);
    for (int64_t i = 1; i <= parts; ++i) {
      Dim end = i < parts ? smaller(each * i, left) : left;
      sizes.add(end - begin);
      begin = end;
    }
  }
  return n.callAll("split", {&x, 1}, {{"sizes", sizes}, {"axis", axis}});
}

namespace {

/// What a Slice cuts from the axes it lists.
struct Cut {
  std::vector<int> axes;
  Dims starts, ends;
  std::vector<int64_t> steps;
};

// A bound that only variables or counters know counts from the end of the axis where it is negative. Where it cannot be
// it stays simple.
Dim countedFromFront(OnnxNode& n, Dim at, Dim size) {
  if (!n.b.mayBeNegative(at.node())) return at;
  const Dim zero = n.b.dim(0), one = n.b.dim(1);
  return at + size * (at.max() < 0 ? one : one - smaller(larger(at + 1, zero), one));
}

// Bounds of variables end where the axis does, like all others.
Dim limitedForward(OnnxNode& n, Dim at, Dim size) {
  if (at.isConst()) return at;
  at = countedFromFront(n, at, size);
  if (n.b.mayBeNegative(at.node())) at = larger(at, n.b.dim(0));
  return n.b.mayBeNegative((size - at).node()) ? smaller(at, size) : at;
}

// Where a bound of a backward part stands on the reversed axis: a start before the axis is its first element, as ONNX
// says (Python's slices are empty then), an end before it takes the first element in.
Dim limitedBackward(OnnxNode& n, Dim at, Dim size, bool isEnd) {
  const Dim zero = n.b.dim(0), last = isEnd ? size : size - 1;
  if (!at.isConst()) return larger(smaller(size - 1 - countedFromFront(n, at, size), last), zero);
  // Counted from either end, and too far for any size where it is beyond the largest one.
  const int64_t far = size.max() + 1, c = std::clamp(at.constant(), -far, far);
  return c < 0 ? larger(smaller(n.b.dim(-1 - c), last), zero) : larger(size - 1 - c, zero);
}

// Bounds within the axes. Parts that go backwards between constants stay as they are, unless the axis may be empty; for
// others the axis is reversed, since a bound in front of the first element has no number there that the end of the axis
// does not have as well.
Tensor limit(OnnxNode& n, Tensor x, Cut& cut) {
  std::vector<int> reversed;
  for (int i = 0; i < static_cast<int>(cut.axes.size()); ++i) {
    const int axis = cut.axes[static_cast<size_t>(i)];
    int64_t& step = cut.steps[static_cast<size_t>(i)];
    const Dim size = x.dim(axis), start = cut.starts[i], end = cut.ends[i];
    if (step > 0) {
      cut.starts.set(i, limitedForward(n, start, size)), cut.ends.set(i, limitedForward(n, end, size));
    } else if (step < 0 && start.isConst() && end.isConst() && size.min() > 0) {
      if (start.constant() < -size.max())
        cut.starts.set(i, n.b.dim(0));
      else if (start.constant() < -size.min())
        cut.starts.set(i, larger(size + start.constant(), n.b.dim(0)));
    } else if (step < 0) {
      cut.starts.set(i, limitedBackward(n, start, size, false)), cut.ends.set(i, limitedBackward(n, end, size, true));
      step = step == INT64_MIN ? INT64_MAX : -step;
      reversed.push_back(axis);
    }
  }
  return reversed.empty() ? x : n.call("flip", {x}, {{"axes", listAttribute(reversed)}});
}

}  // namespace

Results onnxSlice(OnnxNode& n) {
  Tensor x = n.arg(0);
  bool isOld = n.opset < 10, isKnown = true;
  for (int i = 1; i < n.count(); ++i) isKnown &= !n.has(i) || n.isKnown(i);
  if (n.has(4)) isKnown &= n.valueOf(n.arg(4)).has_value();  // steps over variables are those of a run
  if (!isKnown) return sliceAtRun(n, n.declared(0));
  Dims starts = isOld ? dimsOf(n, n.integers("starts")) : n.sizes(1);
  if (n.b.failed()) return Tensor();
  Dims ends = isOld ? dimsOf(n, n.integers("ends")) : n.sizes(2);
  if (n.b.failed()) return Tensor();
  std::vector<int> axes = axesOr(n, isOld ? n.has("axes") : n.has(3), n.integers("axes", 3), x.rank(), starts.rank());
  std::vector<int64_t> steps(static_cast<size_t>(starts.rank()), 1);
  if (!n.b.failed() && n.has(4)) steps = n.integers(4);
  if (n.b.failed()) return Tensor();
  if (starts.rank() == 0) return x;
  bool isWhole = axes.size() == static_cast<size_t>(starts.rank()) && ends.rank() == starts.rank();
  if (!n.require(isWhole && steps.size() == axes.size(), "starts, ends, axes and steps are equally many"))
    return Tensor();
  Cut cut{axes, starts, ends, steps};
  x = limit(n, x, cut);
  return n.call("slice", {x},
                {{"starts", cut.starts},
                 {"ends", cut.ends},
                 {"steps", listAttribute(cut.steps)},
                 {"axes", listAttribute(cut.axes)}});
}

namespace {

// Negative amounts cut. The fill is an operand, so that it keeps its dtype and may be known only in a run.
Tensor padded(OnnxNode& n, Tensor x, Dims before, Dims after, Tensor fill) {
  Dims cutBefore = zeros(n, x.rank()), cutAfter = cutBefore;
  bool cuts = false;
  const Dim zero = n.b.dim(0);
  auto divide = [&](Dims& amounts, Dims& cut, int axis) {
    if (!n.b.mayBeNegative(amounts[axis].node())) return;
    cut.set(axis, smaller(amounts[axis], zero));
    amounts.set(axis, larger(amounts[axis], zero));
    cuts = true;
  };
  for (int i = 0; i < x.rank(); ++i) {
    divide(before, cutBefore, i), divide(after, cutAfter, i);
    const Dim left = x.dim(i) + cutBefore[i] + cutAfter[i];
    if (n.natural(left) == left) continue;
    cutBefore.set(i, larger(cutBefore[i], zero - x.dim(i)));
    cutAfter.set(i, larger(cutAfter[i], zero - x.dim(i) - cutBefore[i]));
  }
  if (cuts) x = n.call("pad", {x}, {{"before", cutBefore}, {"after", cutAfter}});
  return pad(x, before, after, fill);
}

}  // namespace

Results onnxPad(OnnxNode& n) {
  Tensor x = n.arg(0);
  const int opset = n.op.name == "Pad" ? n.opset : 13;  // what com.microsoft has
  bool isKnown = opset < 11 || (n.isKnown(1) && (!n.has(3) || n.isKnown(3)));
  if (!isKnown && n.declared(0)) return padAtRun(n, *n.declared(0));
  Dims pads = opset >= 11 ? n.amountsOrLengths(1) : dimsOf(n, n.integers(opset == 1 ? "paddings" : "pads"));
  if (n.b.failed()) return Tensor();
  std::vector<int> axes = axesOr(n, n.has(3), n.has(3) ? n.integers(3) : std::vector<int64_t>(), x.rank(), x.rank());
  if (n.b.failed()) return Tensor();
  int count = static_cast<int>(axes.size());
  if (!n.require(pads.rank() == 2 * count, "there are two pads for every axis")) return Tensor();
  Dims before = zeros(n, x.rank()), after = before;
  for (int i = 0; i < count; ++i) {
    before.set(axes[static_cast<size_t>(i)], pads[i]);
    after.set(axes[static_cast<size_t>(i)], pads[count + i]);
  }
  std::string mode = n.word("mode");
  if (mode != "constant") return n.call("pad", {x}, {{"before", before}, {"after", after}, {"mode", mode}});
  Tensor fill = opset < 11 ? n.b.literal(n.number("value")) : n.has(2) ? n.arg(2) : n.b.literal(false);
  if (fill.rank() > 0) fill = reshape(fill, Dims());
  return padded(n, x, before, after, cast(fill, x.dtype()));
}

// Cuts or pads with zeros around the middle; the odd element is at the end.
Results onnxCenterCropPad(OnnxNode& n) {
  Tensor x = n.arg(0);
  std::vector<int> axes = axesOr(n, n.has("axes"), n.integers("axes"), x.rank(), x.rank());
  if (n.b.failed()) return Tensor();
  Dims shape;
  if (std::optional<Dims> declared = n.declaredFor(1); declared && declared->rank() == x.rank()) {
    for (int axis : axes) shape.add((*declared)[axis]);
    n.expect({1}, n.arg(1), shape);
  } else {
    shape = n.sizesOrLengths(1);
  }
  if (n.b.failed() || !n.require(shape.rank() == static_cast<int>(axes.size()), "there is a size for every axis"))
    return Tensor();
  Dims before = zeros(n, x.rank()), after = before;
  Dims offsets = before, sizes = x.dims();
  Dim zero = n.b.dim(0);
  for (int i = 0; i < shape.rank(); ++i) {
    int axis = axes[static_cast<size_t>(i)];
    Dim have = x.dim(axis), want = shape[i];
    Dim cut = larger(have - want, zero), add = larger(want - have, zero);
    offsets.set(axis, floordiv(cut, 2));
    sizes.set(axis, have - cut);
    before.set(axis, floordiv(add, 2));
    after.set(axis, add - floordiv(add, 2));
  }
  x = shrink(x, offsets, sizes);
  return pad(x, before, after, cast(n.b.literal(false), n.arg(0).dtype()));
}

Results onnxTile(OnnxNode& n) {
  Dims repeats;
  Dims have = n.arg(0).dims(), stated = n.declared(0).value_or(Dims());
  if (!n.isKnown(1) && stated.rank() == have.rank())
    for (int i = 0; i < have.rank(); ++i)
      if (have[i].isConst() && have[i].constant() > 0) repeats.add(floordiv(stated[i], have[i]));
  if (repeats.rank() != have.rank() || have.rank() == 0) {
    repeats = n.sizesOrLengths(1);
  } else {
    n.expect({1}, n.arg(1), repeats);
  }
  if (n.b.failed()) return Tensor();
  return n.call("repeat", {n.arg(0)}, {{"counts", repeats}});
}

// Opsets 1 to 5: one axis, and how often it is repeated.
Results onnxLegacyTile(OnnxNode& n) {
  Tensor x = n.arg(0);
  std::vector<double> tiles = n.numbers(1), axes = n.b.failed() ? tiles : n.numbers(2);
  if (n.b.failed() || !n.require(tiles.size() == 1 && axes.size() == 1, "tiles and axis are numbers")) return Tensor();
  int axis = n.axis(static_cast<int64_t>(axes[0]), x.rank());
  if (axis < 0) return Tensor();
  AttributeValue::List counts(static_cast<size_t>(x.rank()), AttributeValue(1));
  counts[static_cast<size_t>(axis)] = static_cast<int64_t>(tiles[0]);
  return n.call("repeat", {x}, {{"counts", counts}});
}

// The diagonal may be known only in a run.
Results onnxTrilu(OnnxNode& n) {
  Tensor x = n.arg(0);
  if (!n.require(x.rank() >= 2, "x is a matrix")) return Tensor();
  Tensor row = unsqueeze(n.b.iota(x.dim(-2)), -1), column = n.b.iota(x.dim(-1));
  Tensor k = n.has(1) ? n.arg(1) : n.b.constant(Scalar::ofInt(DType::I64, 0));
  if (k.rank() > 0) k = reshape(k, Dims());
  Tensor diagonal = cast(column, DType::I64) - cast(row, DType::I64);
  return where(n.flag("upper") ? ge(diagonal, k) : le(diagonal, k), x, cast(n.b.literal(false), x.dtype()));
}

Results onnxReverseSequence(OnnxNode& n) {
  Tensor x = n.arg(0), lengths = n.arg(1);
  int time = n.axis(n.integer("time_axis"), x.rank()), batch = n.axis(n.integer("batch_axis"), x.rank());
  if (time < 0 || batch < 0 || !n.require(lengths.rank() == 1 && time != batch, "lengths are a vector"))
    return Tensor();
  std::vector<Tensor> indices;
  for (int i = 0; i < x.rank(); ++i) indices.push_back(along(n.b.iota(x.dim(i)), x.rank(), i));
  Tensor at = cast(indices[static_cast<size_t>(time)], DType::I64);
  Tensor length = along(cast(lengths, DType::I64), x.rank(), batch);
  indices[static_cast<size_t>(time)] = where(lt(at, length), length - at - 1, at);
  return gather(x, indices);
}

}  // namespace svod
