// Rearranging images.
#include "frontend/lower/common.h"
#include "onnx/ops/common.h"
#include "onnx/ops/expectations.h"

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
  if (!n.require(channels * (size * size) == x.dim(1), "the channels are a multiple of the square of 'blocksize'"))
    return Tensor();
  Tensor split = reshape(x, {x.dim(0), block, block, channels, h, w});
  return reshape(permute(split, {0, 3, 4, 1, 5, 2}), {x.dim(0), channels, h * size, w * size});
}

Results onnxSpaceToDepth(OnnxNode& n) {
  Tensor x = n.arg(0);
  int64_t size = blockSize(n);
  if (size == 0) return Tensor();
  Dim block = n.b.dim(size), h = floordiv(x.dim(2), size), w = floordiv(x.dim(3), size);
  if (!n.require(n.b.agree(h * size, x.dim(2)) && n.b.agree(w * size, x.dim(3)),
                 "height and width are multiples of 'blocksize'"))
    return Tensor();
  x = n.b.fitted(x, {x.dim(0), x.dim(1), h * size, w * size});
  Tensor split = reshape(x, {x.dim(0), x.dim(1), h, block, w, block});
  return reshape(permute(split, {0, 3, 5, 1, 2, 4}), {x.dim(0), x.dim(1) * (size * size), h, w});
}

namespace {

// The windows that blocks were cut from, with their counts; nothing after an error.
std::vector<WindowAxis> blockAxes(OnnxNode& n, const Dims& image, const std::vector<int64_t>& block) {
  size_t count = block.size();
  std::vector<int64_t> strides = n.integers("strides"), dilations = n.integers("dilations"), pads = n.integers("pads");
  if (strides.empty()) strides.assign(count, 1);
  if (dilations.empty()) dilations.assign(count, 1);
  if (pads.empty()) pads.assign(2 * count, 0);
  if (!n.require(static_cast<size_t>(image.rank()) == count && strides.size() == count && dilations.size() == count &&
                     pads.size() == 2 * count,
                 "shapes, strides and dilations have an entry per axis of the image, pads two"))
    return {};
  std::vector<WindowAxis> axes;
  for (size_t i = 0; i < count; ++i) {
    WindowAxis a;
    a.size = image[static_cast<int>(i)];
    a.kernel = n.b.dim(block[i]);
    a.before = n.b.dim(pads[i]), a.after = n.b.dim(pads[count + i]);
    a.stride = strides[i], a.dilation = dilations[i];
    if (!n.require(block[i] > 0 && a.stride > 0 && a.dilation > 0, "blocks, strides and dilations are positive"))
      return {};
    a.count = floordiv(a.size + a.before + a.after - ((block[i] - 1) * a.dilation + 1), a.stride) + 1;
    axes.push_back(a);
  }
  return axes;
}

}  // namespace

namespace {

// Every element of the image gathers from the blocks that cover it: [n, c, image.., taps..], summed over the
// taps.
Tensor imageOf(OnnxNode& n, const Dims& image, const std::vector<int64_t>& block) {
  Tensor x = n.arg(0);
  std::vector<WindowAxis> axes = blockAxes(n, image, block);
  if (axes.empty()) return {};
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
    index.push_back(meetingPositions(positionsAlong(n.b, result, 2 + i), positionsAlong(n.b, result, 2 + count + i),
                                     axes[static_cast<size_t>(i)]));
  if (!split) return {};
  Tensor sums =
      reduce(Op::Add, cast(gather(split, index), sumDType(x.dtype())), axesFrom(2 + count, 2 + 2 * count), false);
  return cast(sums, x.dtype());
}

constexpr size_t kMostBlocks = 64;

// Adds the blocks of `taps` elements that cut an image into the blocks of x; `block` has the first sizes.
void addBlocks(OnnxNode& n, const Dims& image, int64_t taps, std::vector<int64_t> block,
               std::vector<std::vector<int64_t>>& all) {
  if (static_cast<int>(block.size()) < image.rank()) {
    block.push_back(0);
    for (int64_t size = 1; size <= taps && all.size() <= kMostBlocks; ++size) {
      block.back() = size;
      if (taps % size == 0) addBlocks(n, image, taps / size, block, all);
    }
    return;
  }
  if (taps != 1) return;
  Dim windows = n.b.dim(1);
  std::vector<WindowAxis> axes = blockAxes(n, image, block);
  for (const WindowAxis& a : axes) windows = a.count.min() > 0 ? windows * a.count : n.b.dim(0);
  if (!axes.empty() && windows == n.arg(0).dim(2)) all.push_back(std::move(block));
}

// Blocks that only a run knows: all that fit x and the image, and the operand chooses.
Tensor imageAtRun(OnnxNode& n, const Dims& image, Dim channels) {
  Tensor x = n.arg(0);
  if (!x.dim(1).isConst() || !channels.isConst() || channels.constant() == 0 || !n.hasEntries(2, image.rank())) {
    if (!n.b.failed()) n.integers(2);
    return {};
  }
  std::vector<std::vector<int64_t>> blocks;
  addBlocks(n, image, x.dim(1).constant() / channels.constant(), {}, blocks);
  if (blocks.size() > kMostBlocks) n.integers(2);
  if (n.b.failed()) return {};
  std::vector<CaseAtRun> cases;
  for (const std::vector<int64_t>& block : blocks) {
    Dims sizes;
    for (int64_t size : block) sizes.add(n.b.dim(size));
    Tensor isMeant = n.call("all", {eq(cast(n.arg(2), DType::I64), n.sizesTensor(sizes))});
    cases.push_back({isMeant, imageOf(n, image, block)});
  }
  return chosenAtRun(n, {2}, cases);
}

}  // namespace

Results onnxCol2Im(OnnxNode& n) {
  if (!n.require(n.arg(0).rank() == 3, "x is [n, channels * block, blocks]")) return Tensor();
  std::optional<Dims> declared = n.declared(0);
  Dims image;
  if (declared && declared->rank() > 2 && !n.isKnown(1)) {
    image = declared->slice(2, declared->rank());
    n.expect({1}, n.arg(1), image);
  } else {
    image = n.sizes(1);
  }
  if (n.b.failed()) return Tensor();
  if (!n.isKnown(2) && declared && declared->rank() == image.rank() + 2) return imageAtRun(n, image, (*declared)[1]);
  std::vector<int64_t> block = n.integers(2);
  return n.b.failed() ? Tensor() : imageOf(n, image, block);
}

}  // namespace svod
