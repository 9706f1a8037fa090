#include "onnx/dequantized.h"

#include <algorithm>
#include <optional>

namespace svod {

namespace {

bool isNumber(const Tensor& x) {
  return std::ranges::all_of(x.dims(), [](const Dim& d) { return d.is(1); });
}

// --- What an axis of operand 0 is in the result; -1 for no axis.

int sameAxis(const OnnxNode&, int axis, const Tensor&) { return axis; }
int noAxis(const OnnxNode&, int, const Tensor&) { return -1; }

int transposedAxis(const OnnxNode& n, int axis, const Tensor& result) {
  std::vector<int64_t> order = n.integers("perm");
  if (order.empty()) return result.rank() - 1 - axis;
  return static_cast<int>(std::ranges::find(order, axis) - order.begin());
}

// The axis of that size with as many elements before it.
int reshapedAxis(const OnnxNode& n, int axis, const Tensor& result) {
  Dim before = n.b.dim(1), size = n.arg(0).dim(axis);
  for (int i = 0; i < axis; ++i) before = before * n.arg(0).dim(i);
  Dim passed = n.b.dim(1);
  for (int i = 0; i < result.rank(); ++i) {
    if (passed == before && result.dim(i) == size) return i;
    passed = passed * result.dim(i);
  }
  return -1;
}

int slicedAxis(const OnnxNode& n, int axis, const Tensor& result) {
  std::vector<int> axes = n.axes(n.integers("axes", 3), result.rank());
  return axes.empty() || std::ranges::find(axes, axis) != axes.end() ? -1 : axis;
}

int gatheredAxis(const OnnxNode& n, int axis, const Tensor&) {
  int from = n.axis(n.integer("axis"), n.arg(0).rank());
  if (from < 0 || axis == from) return -1;
  return axis < from ? axis : axis - 1 + n.arg(1).rank();
}

int joinedAxis(const OnnxNode& n, int axis, const Tensor& result) {
  return n.axis(n.integer("axis"), result.rank()) == axis ? -1 : axis;
}

// --- What else must hold

bool always(const OnnxNode&, const Dequantized&) { return true; }
bool isNearest(const OnnxNode& n, const Dequantized&) {
  return n.word("mode") == "nearest" && n.word("coordinate_transformation_mode") != "tf_crop_and_resize";
}

bool fillsZeros(const OnnxNode& n, const Dequantized&) {
  if (n.word("mode") != "constant") return true;
  if (n.opset < 11) return n.number("value") == 0;
  return !n.has(2) || (n.isKnown(2) && n.numbers(2) == std::vector<double>{0});
}

// --- Whether results are nothing but elements of operand 0, so that its bytes can be moved as they are.

bool never(const OnnxNode&) { return false; }
bool always(const OnnxNode&) { return true; }

// The largest of no elements is less than every byte.
bool hasElements(const OnnxNode& n) {
  const Dims dims = n.arg(0).dims();
  for (int i = 2; i < dims.rank(); ++i)
    if (dims[i].min() < 1) return false;
  return true;
}

// Whether each window has an element: none is what lies beyond.
bool coversElements(const OnnxNode& n) {
  const std::vector<int64_t> kernel = n.integers("kernel_shape"), pads = n.integers("pads");
  for (size_t i = 0; i < pads.size(); ++i)
    if (kernel.empty() || pads[i] >= kernel[i % kernel.size()]) return false;
  return hasElements(n) && n.flag("ceil_mode") == 0 &&
         std::ranges::all_of(n.integers("dilations"), [](int64_t d) { return d == 1; });
}

struct Row {
  std::string_view op;
  int (*axis)(const OnnxNode& n, int axis, const Tensor& result);
  bool (*picks)(const OnnxNode& n) = never;
  bool (*allows)(const OnnxNode& n, const Dequantized& x) = always;
};

constexpr Row kRows[] = {{"Concat", joinedAxis},
                         {"DepthToSpace", noAxis, always},
                         {"Expand", noAxis, always},
                         {"Flatten", reshapedAxis, always},
                         {"Gather", gatheredAxis},
                         {"GlobalMaxPool", sameAxis, hasElements, hasUsualScales},
                         {"MaxPool", sameAxis, coversElements, hasUsualScales},
                         {"Pad", noAxis, never, fillsZeros},
                         {"Relu", sameAxis, never, hasUsualScales},
                         {"Reshape", reshapedAxis, always},
                         {"Resize", noAxis, always, isNearest},
                         {"Slice", slicedAxis, always},
                         {"SpaceToDepth", noAxis, always},
                         {"Split", joinedAxis, always},
                         {"Squeeze", reshapedAxis, always},
                         {"Tile", noAxis, always},
                         {"Transpose", transposedAxis, always},
                         {"Unsqueeze", reshapedAxis, always}};

// The operands with integers in place of what was dequantized; nothing unless those have the scales of operand 0.
std::optional<std::vector<Tensor>> integersOf(const OnnxNode& n, const Dequantized& first) {
  std::vector<Tensor> all;
  for (int i = 0; i < n.count(); ++i) {
    const Dequantized* x = n.dequantized(i);
    if (x && (x->scale.node() != first.scale.node() || x->axis != first.axis)) return std::nullopt;
    if (!x && n.op.name == "Concat") return std::nullopt;
    all.push_back(x ? x->distance : n.arg(i));
  }
  return all;
}

Quantized movedBytes(Tensor elements, int64_t zero) { return {cast(elements, DType::I32) - zero, {elements, zero}}; }

}  // namespace

bool areUsualScales(const OnnxNode& n, const Tensor& scale) {
  constexpr double kSmallest = 1e-30, kLargest = 1e30;
  std::optional<HostTensor> scales = scale.dtype() == DType::F32 ? n.valueOf(scale) : std::optional<HostTensor>();
  for (int64_t i = 0; scales && i < scales->numel(); ++i)
    if (double s = scales->at(i).asFloat(); !(s >= kSmallest && s <= kLargest)) return false;
  return scales.has_value();
}

bool hasUsualScales(const OnnxNode& n, const Dequantized& x) { return areUsualScales(n, x.scale); }

void carryDequantized(OnnxNode& n, const std::vector<Tensor>& results,
                      const std::function<std::vector<Tensor>(OnnxNode&)>& lower) {
  auto row = std::ranges::find(kRows, n.op.name, &Row::op);
  const Dequantized* known = n.dequantized(0);
  if (row == std::end(kRows) || !known || n.b.failed() || results.empty() || !results[0]) return;
  const Dequantized from = *known;
  int axis = isNumber(from.scale) ? 0 : row->axis(n, from.axis, results[0]);
  std::optional<std::vector<Tensor>> integers = integersOf(n, from);
  if (axis < 0 || !integers || !row->allows(n, from)) return;
  const bool areBytes = from.bytes.elements && from.bytes.zero && row->picks(n);
  if (areBytes) integers->front() = from.bytes.elements;
  OnnxNode moving = n.withArgs(*std::move(integers));
  std::vector<Tensor> moved;
  if (!n.attempt([&] { moved = lower(moving); })) return;
  for (size_t i = 0; i < std::min(moved.size(), results.size()); ++i)
    if (moved[i] && results[i] && results[i].dtype() == n.arg(0).dtype())
      n.setDequantized(results[i],
                       {areBytes ? movedBytes(moved[i], *from.bytes.zero) : Quantized{moved[i]}, from.scale, axis});
}

}  // namespace svod
