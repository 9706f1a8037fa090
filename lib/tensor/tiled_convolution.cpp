#include "tensor/tiled_convolution.h"

#include <algorithm>
#include <cstring>

#include "ir/dim_facts.h"
#include "ir/shape.h"
#include "tensor/small_transforms.h"

namespace svod {

namespace {

/// 0, 1, .. along one axis of `shape`.
UOp counter(Graph& g, const std::vector<UOp>& shape, size_t axis) {
  std::vector<UOp> thin(shape.size(), g.index(1));
  thin[axis] = shape[axis];
  UOp along = g.make(Op::Iota, DType::Index, {shape[axis]});
  return g.expand(g.reshape(along, thin), shape);
}

UOp gathered(Graph& g, UOp from, const std::vector<UOp>& at) {
  std::vector<UOp> src{from};
  src.insert(src.end(), at.begin(), at.end());
  return g.make(Op::Gather, DType::F32, src);
}

/// A weight with these elements, made of `plain`: that of an earlier schedule of the model, or a new one.
UOp constantFrom(Model& model, const ModelPort& plain, LargeFloats values, const std::vector<UOp>& shape) {
  auto elements = std::make_shared<LargeFloats>(std::move(values));
  ConstData data{reinterpret_cast<const std::byte*>(elements->data()), elements->size() * sizeof(float), elements};
  for (const ModelPort& p : model.ports)
    if (p.kind == PortKind::Weight && p.buffer.dtype() == DType::F32 && std::ranges::equal(p.buffer.shape(), shape) &&
        p.data.bytes == data.bytes && std::memcmp(p.data.data, data.data, data.bytes) == 0)
      return p.buffer;
  UOp buffer = model.graph->buffer(DType::F32, shape, {static_cast<uint32_t>(model.ports.size()), Space::Global});
  model.ports.push_back({PortKind::Weight, plain.name + ".winograd", buffer, std::move(data)});
  return buffer;
}

}  // namespace

TiledConvolution::TiledConvolution(Model& model, const Convolution& conv, const WinogradForm& form, UOp reduce,
                                   std::set<uint32_t>& uncut)
    : model_(model), g_(*model.graph), conv_(conv), form_(form), reduce_(reduce), product_(reduce.src(0)),
      uncut_(uncut) {
  for (size_t w = 0; w < 2; ++w)
    tiles_[w] = floordivDims(g_, addDims(g_, dim(conv.windows[w].out), g_.index(form.tile - 1)), g_.index(form.tile));
}

UOp TiledConvolution::results(const TileBlock* block) {
  part_ = tiles_;
  if (block != nullptr) part_[0] = g_.index(block->rows), first_ = block->first;
  UOp data = g_.make(Op::Contiguous, DType::F32, {asWhole(transformedData())});
  uncut_.insert(data.id());
  return asWhole(transformedResults(g_.make(Op::Contiguous, DType::F32, {products(data)})));
}

size_t TiledConvolution::rowAxis() const {
  size_t at = 0;
  for (int32_t axis : resultAxes()) {
    if (windowOf(axis) == 0) break;
    at += windowOf(axis) < 2 ? 2 : 1;
  }
  return at;
}

UOp TiledConvolution::untiled(UOp tiles) {
  Values all, offsets, extents;
  for (int32_t axis : resultAxes()) {
    const size_t w = windowOf(axis);
    all.push_back(w < 2 ? mulDims(g_, tiles_[w], g_.index(form_.tile)) : dim(axis));
    offsets.push_back(g_.index(0)), extents.push_back(dim(axis));
  }
  return g_.reshape(g_.shrink(g_.reshape(tiles, all), offsets, extents), reduce_.shape());
}

std::vector<UOp> TiledConvolution::tiledShape() const {
  const std::vector<int32_t> axes = resultAxes();
  std::vector<UOp> shape(reduce_.shape().begin(), reduce_.shape().end());
  const size_t rank = shape.size();
  for (size_t w = 0; w < 2; ++w) {
    const int32_t out = conv_.windows[w].out;
    const bool isLast = axes[axes.size() - 2 + w] == out && shape[rank - 2 + w] == dim(out);
    if (!isLast || !alwaysEqual(mulDims(g_, tiles_[w], g_.index(form_.tile)), dim(out))) return {};
  }
  shape.resize(rank - 2);
  for (UOp tiles : tiles_) shape.push_back(tiles), shape.push_back(g_.index(form_.tile));
  return shape;
}

UOp TiledConvolution::count(std::span<const int32_t> axes) const {
  Values extents;
  for (int32_t axis : axes) extents.push_back(dim(axis));
  return numel(g_, extents);
}

// Places, groups, batch and tiles, then `last`; position[axis] is where an axis of the product is.
std::vector<UOp> TiledConvolution::tileShape(std::span<const int32_t> last, std::vector<size_t>& position) const {
  Values shape{g_.index(form_.points), g_.index(form_.points)};
  position.assign(product_.rank(), 0);
  auto append = [&](std::span<const int32_t> axes) {
    for (int32_t axis : axes) {
      position[static_cast<size_t>(axis)] = shape.size();
      shape.push_back(windowOf(axis) < 2 ? part_[windowOf(axis)] : dim(axis));
    }
  };
  append(conv_.groups), append(conv_.batch);
  for (const ConvWindow& w : conv_.windows) append({&w.out, 1});
  append(last);
  return shape;
}

// Axes of the product with more than one element that the result has.
std::vector<int32_t> TiledConvolution::resultAxes() const {
  std::vector<int32_t> axes;
  std::span<const int32_t> reduced = reduce_.argAs<ReduceArg>().axes;
  for (int32_t axis = 0; axis < static_cast<int32_t>(product_.rank()); ++axis)
    if (std::ranges::find(reduced, axis) == reduced.end() && !dim(axis).isConst(1)) axes.push_back(axis);
  return axes;
}

size_t TiledConvolution::windowOf(int32_t axis) const {
  return static_cast<size_t>(std::ranges::find(conv_.windows, axis, &ConvWindow::out) - conv_.windows.begin());
}

UOp TiledConvolution::asWhole(UOp value) {
  Values open{value};
  while (!open.empty()) {
    UOp n = open.back();
    open.pop_back();
    if (isElementwise(n.op()) && uncut_.insert(n.id()).second) open.insert(open.end(), n.src().begin(), n.src().end());
  }
  return value;
}

UOp TiledConvolution::transformedData() {
  std::vector<size_t> position;
  const Values shape = tileShape(conv_.channels, position);
  Values at;
  for (int32_t axis : conv_.axisOfDim)
    at.push_back(axis < 0 ? g_.index(0) : counter(g_, shape, position[static_cast<size_t>(axis)]));
  auto along = [&](const ConvWindow& w, int place) {
    UOp tile = counter(g_, shape, position[static_cast<size_t>(w.out)]);
    if (first_ && windowOf(w.out) == 0) tile = g_.alu(Op::Add, {tile, first_});
    return g_.alu(Op::Add, {g_.alu(Op::Mul, {tile, g_.index(form_.tile)}), g_.index(place - w.before)});
  };
  std::vector<Values> d(static_cast<size_t>(form_.points));
  for (int i = 0; i < form_.points; ++i)
    for (int j = 0; j < form_.points; ++j) {
      at[conv_.windows[0].dim] = along(conv_.windows[0], i), at[conv_.windows[1].dim] = along(conv_.windows[1], j);
      d[static_cast<size_t>(i)].push_back(gathered(g_, conv_.data, at));
    }
  return selected(g_, bothSides(g_, form_.dataShared, form_.data, d), counter(g_, shape, 0), counter(g_, shape, 1));
}

// [place and group, batch and tile, filter].
UOp TiledConvolution::products(UOp data) {
  const UOp one = g_.index(1), k = mulDims(g_, g_.index(form_.points * form_.points), count(conv_.groups)),
            c = count(conv_.channels), t = mulDims(g_, count(conv_.batch), mulDims(g_, part_[0], part_[1])),
            m = count(conv_.filters);
  const Values all{k, t, m, c}, rows{k, t, one, c}, columns{k, one, m, c};
  const int32_t turn[] = {0, 2, 1}, last = 3;
  UOp a = g_.expand(g_.reshape(data, rows), all);
  const ModelPort& plain = model_.ports[conv_.weights];
  const std::span<const float> taps{reinterpret_cast<const float*>(plain.data.data), plain.data.bytes / sizeof(float)};
  UOp weights = constantFrom(model_, plain, transformedWeights(form_, conv_, product_, taps), {k, c, m});
  UOp b = g_.expand(g_.reshape(g_.permute(weights, turn), columns), all);
  return g_.reduce(Op::Add, g_.alu(Op::Mul, {a, b}), {&last, 1});
}

UOp TiledConvolution::transformedResults(UOp sums) {
  std::vector<size_t> position;
  const Values from = tileShape(conv_.filters, position);
  UOp tiles = g_.reshape(sums, from);
  Values shape;
  std::vector<size_t> axisAt(from.size());  // by dim of `from`: the axis of the result
  std::array<size_t, 2> place{};
  for (int32_t axis : resultAxes()) {
    const size_t w = windowOf(axis);
    axisAt[position[static_cast<size_t>(axis)]] = shape.size();
    shape.push_back(w < 2 ? part_[w] : dim(axis));
    if (w == 2) continue;
    place[w] = shape.size();
    shape.push_back(g_.index(form_.tile));
  }
  Values at{UOp(), UOp()};
  for (size_t d = 2; d < from.size(); ++d) at.push_back(counter(g_, shape, axisAt[d]));
  std::vector<Values> m(static_cast<size_t>(form_.points));
  for (int i = 0; i < form_.points; ++i)
    for (int j = 0; j < form_.points; ++j) {
      at[0] = g_.index(i), at[1] = g_.index(j);
      m[static_cast<size_t>(i)].push_back(gathered(g_, tiles, at));
    }
  return selected(g_, bothSides(g_, form_.resultShared, form_.result, m), counter(g_, shape, place[0]),
                  counter(g_, shape, place[1]));
}

}  // namespace svod
