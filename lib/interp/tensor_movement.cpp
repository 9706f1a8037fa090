#include "interp/tensor_movement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/text.h"

namespace svod {

namespace {

tl::unexpected<Error> doesNotFit(UOp node, const View& x, std::span<const int64_t> numbers) {
  return fail(Diag::ShapeMismatch,
              fmt::format("{} does not fit a tensor of dims [{}] with values [{}]: {}", toText(node.op()),
                          fmt::join(x.dims, ", "), fmt::join(numbers, ", "), toLineText(node)),
              "check the values of the variables");
}

bool isNegative(int64_t v) { return v < 0; }

Result<View> expandView(UOp node, const View& x, std::span<const int64_t> dims) {
  if (dims.size() != x.dims.size()) return doesNotFit(node, x, dims);
  View out = x;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (x.dims[i] == dims[i]) continue;
    if (x.dims[i] != 1 || dims[i] < 0) return doesNotFit(node, x, dims);
    out.dims[i] = dims[i];
    out.strides[i] = 0;
  }
  return out;
}

View permuteView(const View& x, std::span<const int32_t> order) {
  View out = x;
  for (size_t i = 0; i < order.size(); ++i) {
    out.dims[i] = x.dims[order[i]];
    out.strides[i] = x.strides[order[i]];
  }
  return out;
}

View flipView(const View& x, std::span<const int32_t> axes) {
  View out = x;
  for (int32_t a : axes) {
    out.offset += (x.dims[a] - 1) * x.strides[a];
    out.strides[a] = -x.strides[a];
  }
  return out;
}

/// The elements of a box inside x.
View cutView(const View& x, std::span<const int64_t> offsets, std::span<const int64_t> sizes) {
  View out = x;
  for (size_t i = 0; i < sizes.size(); ++i) {
    out.offset += offsets[i] * x.strides[i];
    out.dims[i] = sizes[i];
  }
  return out;
}

/// A tensor of `fill` with x in it, from the position `before` on.
View placedView(const View& x, std::vector<int64_t> dims, std::span<const int64_t> before, const Scalar& fill) {
  HostTensor out = HostTensor::zeros(x.dtype, std::move(dims));
  for (int64_t i = 0, n = out.numel(); i < n; ++i) out.set(i, fill);
  // The place of x in `out`, walked together with x.
  View middle{x.dtype, x.dims, rowMajorStrides(out.dims), 0, nullptr};
  for (size_t i = 0; i < x.dims.size(); ++i) middle.offset += before[i] * middle.strides[i];
  const View* views[] = {&middle, &x};
  RowWalk walk(views);
  std::vector<Scalar> row(static_cast<size_t>(walk.rowLength()));
  walk.run([&](std::span<const int64_t> starts) {
    readRow(x, starts[1], walk.stride(1), row);
    for (size_t j = 0; j < row.size(); ++j) out.set(starts[0] + static_cast<int64_t>(j) * walk.stride(0), row[j]);
  });
  return View::of(std::move(out));
}

/// Positions that a variable carries beyond x hold `outside`: no element is there.
Result<View> shrinkView(UOp node, const View& x, std::span<const int64_t> numbers, const Scalar& outside) {
  const size_t rank = x.dims.size();
  const std::span<const int64_t> offsets = numbers.first(rank), sizes = numbers.subspan(rank);
  if (std::ranges::any_of(sizes, isNegative)) return doesNotFit(node, x, numbers);
  std::vector<int64_t> first, kept, before;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t dim = x.dims[i], offset = std::clamp(offsets[i], -sizes[i], dim);
    first.push_back(std::max<int64_t>(offset, 0));
    before.push_back(first[i] - offset);
    kept.push_back(std::min(sizes[i] - before[i], dim - first[i]));
  }
  View inside = cutView(x, first, kept);
  if (std::ranges::equal(kept, sizes)) return inside;
  return placedView(inside, {sizes.begin(), sizes.end()}, before, outside);
}

Result<View> padView(UOp node, const View& x, std::span<const int64_t> numbers, const Scalar& fill) {
  if (std::ranges::any_of(numbers, isNegative)) return doesNotFit(node, x, numbers);
  const size_t rank = x.dims.size();
  std::vector<int64_t> dims;
  for (size_t i = 0; i < rank; ++i) dims.push_back(numbers[i] + x.dims[i] + numbers[rank + i]);
  return placedView(x, std::move(dims), numbers.first(rank), fill);
}

}  // namespace

View broadcastTo(const View& x, std::span<const int64_t> dims) {
  if (!x.dims.empty()) return x;
  View out = x;
  out.dims.assign(dims.begin(), dims.end());
  out.strides.assign(dims.size(), 0);
  return out;
}

View reshapeView(const View& x, std::span<const int64_t> dims) {
  View out = x.isDense() ? x : View::of(x.toTensor());
  out.dims.assign(dims.begin(), dims.end());
  out.strides = rowMajorStrides(dims);
  return out;
}

Result<View> moveView(UOp node, const View& x, std::span<const int64_t> numbers, const Scalar& fill) {
  switch (node.op()) {
    case Op::Reshape:
      if (std::ranges::any_of(numbers, isNegative) || numelOf(numbers) != x.numel())
        return doesNotFit(node, x, numbers);
      return reshapeView(x, numbers);
    case Op::Expand: return expandView(node, x, numbers);
    case Op::Permute: return permuteView(x, node.argAs<AxesArg>().axes);
    case Op::Flip: return flipView(x, node.argAs<AxesArg>().axes);
    case Op::Shrink: return shrinkView(node, x, numbers, fill);
    case Op::Pad: return padView(node, x, numbers, fill);
    default: return doesNotFit(node, x, numbers);
  }
}

}  // namespace svod
