// Rearranging images.
#include "frontend/lower/common.h"
#include "onnx/ops/common.h"

namespace svod {

namespace {

// The block size, or 0 and an error.
int64_t blockSize(OnnxNode& n) {
  int64_t size = n.integer("blocksize");
  bool fits = n.require(n.arg(0).rank() == 4, "x is [n, channels, height, width]") &&
              n.require(size >= 1 && size <= 65536, "'blocksize' is positive");
  return fits ? size : 0;
}

}  // namespace

// DCR: the channels are [block row, block column, channel]; CRD: [channel, block row, block column].
Results onnxDepthToSpace(OnnxNode& n) {
  Tensor x = n.arg(0);
  int64_t size = blockSize(n);
  if (size == 0) return Tensor();
  if (n.word("mode") == "CRD") return n.call("pixel_shuffle", {x}, {{"factor", size}});
  if (!n.require(n.word("mode") == "DCR", "'mode' is DCR or CRD")) return Tensor();
  Dim block = n.b.dim(size), channels = floordiv(x.dim(1), size * size), h = x.dim(2), w = x.dim(3);
  if (!n.require(channels * (size * size) == x.dim(1),
                 "the channels are a multiple of the square of 'blocksize'"))
    return Tensor();
  Tensor split = reshape(x, {x.dim(0), block, block, channels, h, w});
  return reshape(permute(split, {0, 3, 4, 1, 5, 2}), {x.dim(0), channels, h * size, w * size});
}

Results onnxSpaceToDepth(OnnxNode& n) {
  Tensor x = n.arg(0);
  int64_t size = blockSize(n);
  if (size == 0) return Tensor();
  Dim block = n.b.dim(size), h = floordiv(x.dim(2), size), w = floordiv(x.dim(3), size);
  if (!n.require(h * size == x.dim(2) && w * size == x.dim(3),
                 "height and width are multiples of 'blocksize'"))
    return Tensor();
  Tensor split = reshape(x, {x.dim(0), x.dim(1), h, block, w, block});
  return reshape(permute(split, {0, 3, 5, 1, 2, 4}), {x.dim(0), x.dim(1) * (size * size), h, w});
}

namespace {

// The windows that blocks were cut from, with their counts; nothing after an error.
std::vector<WindowAxis> blockAxes(OnnxNode& n, const Dims& image, const std::vector<int64_t>& block) {
  size_t count = block.size();
  std::vector<int64_t> strides = n.integers("strides"), dilations = n.integers("dilations"),
                       pads = n.integers("pads");
  if (strides.empty()) strides.assign(count, 1);
  if (dilations.empty()) dilations.assign(count, 1);
  if (pads.empty()) pads.assign(2 * count, 0);
  if (!n.require(static_cast<size_t>(image.rank()) == count && strides.size() == count &&
                     dilations.size() == count && pads.size() == 2 * count,
                 "shapes, strides and dilations have an entry per axis of the image, pads two"))
    return {};
  std::vector<WindowAxis> axes;
  for (size_t i = 0; i < count; ++i) {
    WindowAxis a;
    a.size = image[static_cast<int>(i)];
    a.kernel = n.b.dim(block[i]);
    a.before = n.b.dim(pads[i]), a.after = n.b.dim(pads[count + i]);
    a.stride = strides[i], a.dilation = dilations[i];
    if (!n.require(block[i] > 0 && a.stride > 0 && a.dilation > 0,
                   "blocks, strides and dilations are positive"))
      return {};
    a.count = floordiv(a.size + a.before + a.after - ((block[i] - 1) * a.dilation + 1), a.stride) + 1;
    axes.push_back(a);
  }
  return axes;
}

}  // namespace

// Every element of the image gathers from the blocks that cover it: [n, c, image.., taps..], summed over the
// taps.
Results onnxCol2Im(OnnxNode& n) {
  Tensor x = n.arg(0);
  Dims image = n.sizes(1);
  std::vector<int64_t> block = n.integers(2);
  if (n.b.failed() || !n.require(x.rank() == 3, "x is [n, channels * block, blocks]")) return Tensor();
  std::vector<WindowAxis> axes = blockAxes(n, image, block);
  if (axes.empty()) return Tensor();
  int count = static_cast<int>(axes.size());
  Dims taps, windows;
  int64_t tapCount = 1;
  for (const WindowAxis& a : axes) {
    taps.add(a.kernel), windows.add(a.count);
    tapCount *= a.kernel.constant();
  }
  Dim channels = floordiv(x.dim(1), tapCount);
  Tensor split = reshape(x, Dims{x.dim(0), channels} + taps + windows);
  Dims result = Dims{x.dim(0), channels} + image + taps;
  std::vector<Tensor> index{positionsAlong(n.b, result, 0), positionsAlong(n.b, result, 1)};
  for (int i = 0; i < count; ++i) index.push_back(positionsAlong(n.b, result, 2 + count + i));
  for (int i = 0; i < count; ++i)
    index.push_back(meetingPositions(positionsAlong(n.b, result, 2 + i),
                                     positionsAlong(n.b, result, 2 + count + i),
                                     axes[static_cast<size_t>(i)]));
  if (!split) return Tensor();
  Tensor sums = reduce(Op::Add, cast(gather(split, index), sumDType(x.dtype())),
                       axesFrom(2 + count, 2 + 2 * count), false);
  return cast(sums, x.dtype());
}

}  // namespace svod
