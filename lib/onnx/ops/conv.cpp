// Convolutions: the conv ops of graph files, with what ONNX has around them.
#include <algorithm>

#include "frontend/lower/common.h"
#include "onnx/ops/common.h"
#include "onnx/ops/conv_bytes.h"
#include "support/integers.h"

namespace svod {

namespace {

std::string sized(std::string_view op, int spatial) { return std::string(op) + std::to_string(spatial) + "d"; }

// The sizes of a kernel, which w has from then on; nothing after an error.
std::optional<std::vector<int64_t>> kernelOf(OnnxNode& n, Tensor& w) {
  std::vector<int64_t> kernel = n.integers("kernel_shape");
  Dims dims = w.dims();
  bool isThat = kernel.empty() || static_cast<int>(kernel.size()) == w.rank() - 2;
  for (int i = 2; isThat && i < w.rank(); ++i) {
    if (static_cast<int>(kernel.size()) == i - 2) {
      if (!dims[i].isConst()) {
        n.unsupported("a kernel of the symbolic size " + describe(dims[i]), "fix the size with --shape");
        return std::nullopt;
      }
      kernel.push_back(dims[i].constant());
    }
    const Dim size = n.b.dim(kernel[static_cast<size_t>(i - 2)]);
    isThat = n.b.agree(dims[i], size);
    dims.set(i, size);
  }
  if (!n.require(isThat, "'kernel_shape' is that of w")) return std::nullopt;
  w = n.b.fitted(w, dims);
  return kernel;
}

// The windows of kernel w over x; nothing after an error.
std::optional<OnnxWindow> convWindow(OnnxNode& n, Tensor x, Tensor& w) {
  if (!n.require(x.rank() >= 3 && w.rank() == x.rank(), "x is [n, channels, sizes..], and w has as many axes"))
    return std::nullopt;
  if (x.rank() > 5) {
    n.unsupported("a convolution over " + std::to_string(x.rank() - 2) + " axes", "1 to 3 axes");
    return std::nullopt;
  }
  const std::optional<std::vector<int64_t>> kernel = kernelOf(n, w);
  return kernel ? windowOf(n, x, *kernel) : std::nullopt;
}

// Every run checks axes that may be shorter than the kernel.
bool checkRoom(const OnnxNode& n, const Tensor& x, const OnnxWindow& window) {
  if (window.fits(n, x)) return true;
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    const auto [taken, room] = window.takenOf(n, x, i);
    const std::string text = "the kernel has " + describe(taken) + " elements along axis " + std::to_string(2 + i);
    if (!room.isConst() && !n.b.expectAtMost(taken, room, text)) return false;
  }
  return true;
}

// The windows over x, where `window` has pads.
Tensor windowed(OnnxNode& n, const OnnxWindow& window, Tensor x, Tensor w, Tensor bias) {
  Attributes attributes = window.attributes();
  attributes.emplace_back("groups", n.integer("group"));
  std::vector<Tensor> operands{x, w};
  if (bias) operands.push_back(bias);
  return window.sized(n, n.call(sized("conv", x.rank() - 2), operands, attributes));
}

Tensor convolution(OnnxNode& n, Tensor x, Tensor w, Tensor bias) {
  std::optional<OnnxWindow> window = convWindow(n, x, w);
  return window && checkRoom(n, x, *window) ? windowed(n, *window, x, w, bias) : Tensor();
}

// Channels of zero weights that make them whole groups of a dot product instruction; 0 where they would be more than a
// third of what there is.
int64_t missingChannels(const OnnxNode& n, const Tensor& w) {
  constexpr int64_t kGroup = 4;
  if (n.integer("group") != 1 || !w.dim(1).isConst()) return 0;
  const int64_t channels = w.dim(1).constant(), missing = roundUp(channels, kGroup) - channels;
  return missing * 3 <= channels ? missing : 0;
}

// The bytes with the pads of `window`, which has none from then on, and with more channels.
Tensor padded(const OnnxNode& n, const ShiftedBytes& bytes, int64_t channels, OnnxWindow& window) {
  Dims before{n.b.dim(0), n.b.dim(0)}, after{n.b.dim(0), n.b.dim(channels)};
  const size_t count = window.kernel.size();
  for (size_t i = 0; i < count; ++i) before.add(n.b.dim(window.pads[i])), after.add(n.b.dim(window.pads[count + i]));
  window.pads.assign(2 * count, 0);
  return pad(bytes.x, before, after, bytes.zero);
}

Tensor withChannels(const OnnxNode& n, Tensor w, int64_t channels) {
  const Dims none(std::vector<Dim>(static_cast<size_t>(w.rank()), n.b.dim(0)));
  Dims after = none;
  after.set(1, n.b.dim(channels));
  return pad(w, none, after, 0);
}

// The sums of x less its zero point times w less its own, in i32: of the bytes themselves where zero points are known,
// so that nothing but loads and products is left inside of the sum.
Tensor integerConvolution(OnnxNode& n, const Quantized& x, const Quantized& w, Tensor bias) {
  const std::optional<ShiftedBytes> shifted = shiftedBytes(x.bytes, w.bytes);
  if (!shifted) return convolution(n, x.distance, w.distance, bias);
  Tensor weights = shifted->w;
  std::optional<OnnxWindow> window = convWindow(n, shifted->x, weights);
  if (!window || !checkRoom(n, shifted->x, *window)) return {};
  if (window->symbolicPads.rank() > 0) return windowed(n, *window, x.distance, w.distance, bias);
  if (shifted->zero != 0) bias = bias ? bias + correctionOf(*shifted) : correctionOf(*shifted);
  const int64_t channels = missingChannels(n, weights);
  const Tensor bytes = padded(n, *shifted, channels, *window);
  return windowed(n, *window, cast(bytes, DType::I32), cast(withChannels(n, weights, channels), DType::I32), bias);
}

// A convolution of integers as that of the operands, with the bias.
Tensor rescaled(OnnxNode& n, const IntegerFactors& factors, Tensor sum) {
  const Tensor bias = sum && n.has(2) ? along(cast(n.arg(2), DType::F32), sum.rank(), 1) : Tensor();
  const Tensor y = scaled(n, factors, sum, 0, 1, bias);
  return y ? cast(y, n.arg(0).dtype()) : Tensor();
}

}  // namespace

// What was dequantized before is multiplied and added as integers.
Results onnxConv(OnnxNode& n) {
  Tensor x = n.arg(0), w = n.arg(1);
  Dim terms = n.b.dim(1);
  for (int i = 1; i < w.rank(); ++i) terms = terms * w.dim(i);
  std::optional<IntegerFactors> factors = integerFactors(n, 0, 0, terms);
  if (!factors) return convolution(n, x, w, n.arg(2));
  return rescaled(n, *factors, integerConvolution(n, factors->a, factors->b, {}));
}

Results onnxConvInteger(OnnxNode& n) {
  return integerConvolution(n, quantizedArg(n, 0, 2, 1), quantizedArg(n, 1, 3, 0), {});
}

// The sum stays i32; only its factor is a float.
Results onnxQLinearConv(OnnxNode& n) {
  Tensor sum = integerConvolution(n, quantizedArg(n, 0, 2, 1), quantizedArg(n, 3, 5, 0), n.arg(8));
  if (!sum) return Tensor();
  int rank = n.arg(0).rank();
  Tensor scale =
      cast(quantParameter(n, 1, rank, 1), DType::F32) * quantParameter(n, 4, rank, 1) / quantParameter(n, 6, rank, 1);
  return roundedTo(n.arg(7).dtype(), cast(sum, DType::F32) * scale, quantParameter(n, 7, rank, 1));
}

namespace {

// Pads that give 'output_shape', or the strided sizes of x for auto_pad. What the natural size lacks is added
// behind.
bool padToShape(OnnxNode& n, Tensor x, std::vector<int64_t> wanted, OnnxWindow& w, std::vector<int64_t>& extra) {
  std::string mode = n.word("auto_pad");
  bool isSame = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  size_t count = w.kernel.size();
  if (wanted.size() == count + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!n.require(wanted.empty() || wanted.size() == count, "'output_shape' has one entry per spatial axis"))
    return false;
  if (wanted.empty() && !isSame) return true;
  for (size_t i = 0; i < count; ++i) {
    Dim size = x.dim(2 + static_cast<int>(i));
    int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1 + extra[i], total = 0;
    if (wanted.empty()) {
      total = reach - w.strides[i];  // for the size of x times the stride
    } else if (!size.isConst()) {
      n.unsupported("'output_shape' with the symbolic axis " + describe(size), "fix the size with --shape");
      return false;
    } else {
      total = w.strides[i] * (size.constant() - 1) + reach - wanted[i];
    }
    if (total < 0) extra[i] -= total, total = 0;
    w.pads[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.pads[count + i] = total - w.pads[i];
  }
  return true;
}

}  // namespace

Results onnxConvTranspose(OnnxNode& n) {
  Tensor x = n.arg(0), w = n.arg(1);
  std::vector<int64_t> extra = n.integers("output_padding");
  if (!n.require(x.rank() >= 3 && w.rank() == x.rank(), "x is [n, channels, sizes..], and w has as many axes"))
    return Tensor();
  if (x.rank() > 5) return n.unsupported("a transposed convolution over more than 3 axes", "1 to 3 axes");
  const std::optional<std::vector<int64_t>> kernel = kernelOf(n, w);
  if (!kernel) return Tensor();
  std::optional<OnnxWindow> window = windowOf(n, x, *kernel);
  if (!window) return Tensor();
  if (extra.empty()) extra.assign(kernel->size(), 0);
  if (!n.require(extra.size() == kernel->size(), "'output_padding' has one entry per spatial axis") ||
      !padToShape(n, x, n.integers("output_shape"), *window, extra))
    return Tensor();
  window->symbolicPads = {};  // pads are those of the result
  Attributes attributes = window->attributes();
  attributes.emplace_back("groups", n.integer("group"));
  attributes.emplace_back("output_padding", listAttribute(extra));
  const std::string op = sized("conv_transpose", x.rank() - 2);
  Dim terms = w.dim(0);
  for (int64_t k : *kernel) terms = terms * k;
  std::optional<IntegerFactors> factors = integerFactors(n, 0, n.integer("group") == 1 ? 1 : -1, terms);
  if (factors) return rescaled(n, *factors, n.call(op, {factors->a.distance, factors->b.distance}, attributes));
  std::vector<Tensor> operands{x, w};
  if (n.has(2)) operands.push_back(n.arg(2));
  return n.call(op, operands, attributes);
}

// A depthwise convolution that sees the state before x.
Results onnxCausalConv(OnnxNode& n) {
  Tensor x = n.arg(0), w = n.arg(1);
  if (!n.require(
          x.rank() == 3 && w.rank() == 3 && w.dim(2).isConst() && n.b.agree(w.dim(0), x.dim(1)) && w.dim(1).is(1),
          "x is [n, channels, length] and w is [channels, 1, k]"))
    return Tensor();
  int64_t before = w.dim(2).constant() - 1;
  std::string activation = n.word("activation");
  Tensor line;
  if (n.has(3)) {
    line = n.call("concat", {n.arg(3), x}, {{"axis", 2}});
  } else {
    line = n.call("pad", {x}, {{"before", n.b.dims({0, 0, before})}, {"after", n.b.dims({0, 0, 0})}});
  }
  if (!line || !x.dim(1).isConst())
    return line ? n.unsupported("a symbolic number of channels", "a fixed one: --shape") : Tensor();
  std::vector<Tensor> operands{line, w};
  if (n.has(2)) operands.push_back(n.arg(2));
  Tensor y = n.call("conv1d", operands, {{"groups", x.dim(1).constant()}});
  if (activation == "silu" || activation == "swish") {
    y = n.call("silu", {y});
  } else if (!n.require(activation == "none" || activation.empty(), "'activation' is none, silu or swish")) {
    return Tensor();
  }
  return std::vector<Tensor>{y, narrow(line, 2, x.dim(2), n.b.dim(before))};
}

namespace {

// The taps of a deformable convolution as [n, offset groups, sizes.., taps..]: coordinates along axis i.
Tensor deformedPositions(OnnxNode& n, const Tensor& offsets, const OnnxWindow& w, int i) {
  int axes = static_cast<int>(w.kernel.size()), rank = 2 + 2 * axes;
  std::vector<Tensor> index;
  Dims dims = offsets.dims();  // [n, groups, taps.., axes, sizes..]
  Dims shape{dims[0], dims[1]};
  for (int k = 0; k < axes; ++k) shape.add(dims[3 + axes + k]);
  for (int k = 0; k < axes; ++k) shape.add(dims[2 + k]);
  auto at = [&](int axis) { return positionsAlong(n.b, shape, axis); };
  index = {at(0), at(1)};
  for (int k = 0; k < axes; ++k) index.push_back(at(2 + axes + k));
  index.push_back(n.b.constant(Scalar::ofInt(DType::I32, i)));
  for (int k = 0; k < axes; ++k) index.push_back(at(2 + k));
  Tensor grid = at(2 + i) * w.strides[i] + at(2 + axes + i) * w.dilations[i] - w.pads[i];
  Tensor offset = gather(offsets, index);
  return rank > 0 ? cast(grid, offset.dtype()) + offset : Tensor();
}

}  // namespace

Results onnxDeformConv(OnnxNode& n) {
  Tensor x = n.arg(0), w = n.arg(1), offset = n.arg(2);
  std::optional<OnnxWindow> window = convWindow(n, x, w);
  if (!window) return Tensor();
  int axes = x.rank() - 2;
  int64_t groups = n.integer("group"), offsetGroups = n.integer("offset_group");
  Dim channels = x.dim(1), outputs = w.dim(0);
  if (!n.require(offset.rank() == x.rank() && groups > 0 && offsetGroups > 0 &&
                     floordiv(channels, groups) * groups == channels && floordiv(outputs, groups) * groups == outputs &&
                     floordiv(channels, offsetGroups) * offsetGroups == channels && w.dim(1) * groups == channels,
                 "groups divide the channels, and offset has as many axes as x"))
    return Tensor();
  DType wide = computeDType(x);
  Dims taps = w.dims().slice(2, w.rank()), sizes = offset.dims().slice(2, offset.rank());
  Dims groupDims{x.dim(0), n.b.dim(offsetGroups)};
  Tensor split = reshape(cast(offset, wide), groupDims + taps + Dims{n.b.dim(axes)} + sizes);
  if (!split) return Tensor();

  // Samples [n, channels, sizes.., taps..]; a channel uses the positions of its offset group.
  Dims shape = Dims{x.dim(0), channels} + sizes + taps;
  auto perChannel = [&](Tensor t) {
    Tensor group = floordiv(n.b.iota(channels), n.b.value(floordiv(channels, offsetGroups)));
    return take(t, 1, group);
  };
  std::vector<Tensor> at;
  for (int i = 0; i < axes; ++i) at.push_back(perChannel(deformedPositions(n, split, *window, i)));
  Tensor samples = sumOf(linearTaps(x, {positionsAlong(n.b, shape, 0), positionsAlong(n.b, shape, 1)}, at));
  if (n.has(4)) {
    Tensor mask = reshape(cast(n.arg(4), wide), groupDims + taps + sizes);
    std::vector<int> order{0, 1};
    for (int i : axesFrom(2 + axes, 2 + 2 * axes)) order.push_back(i);
    for (int i : axesFrom(2, 2 + axes)) order.push_back(i);
    samples = samples * perChannel(permute(mask, order));
  }

  // [n, g, 1, c/g, sizes.., taps..] times [g, m/g, c/g, 1.., taps..]
  Dim perGroup = floordiv(channels, groups), outPerGroup = floordiv(outputs, groups), g = n.b.dim(groups);
  Tensor left = reshape(samples, Dims{x.dim(0), g, n.b.dim(1), perGroup} + sizes + taps);
  Dims weightDims{g, outPerGroup, perGroup};
  for (int i = 0; i < axes; ++i) weightDims.add(n.b.dim(1));
  std::vector<int> folded{3};
  for (int i : axesFrom(4 + axes, 4 + 2 * axes)) folded.push_back(i);
  Tensor y = reduce(Op::Add, left * reshape(cast(w, wide), weightDims + taps), folded, false);
  y = reshape(y, Dims{x.dim(0), outputs} + sizes);
  if (n.has(3)) y = y + along(cast(n.arg(3), wide), x.rank(), 1);
  return cast(y, x.dtype());
}

}  // namespace svod
