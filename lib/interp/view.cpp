#include "interp/view.h"

#include <cstring>

namespace svod {

std::vector<int64_t> rowMajorStrides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = step;
    step *= dims[i];
  }
  return strides;
}

View View::of(HostTensor t) {
  View v{t.dtype, std::move(t.dims), {}, 0, std::make_shared<const std::vector<std::byte>>(std::move(t.data))};
  v.strides = rowMajorStrides(v.dims);
  return v;
}

bool View::isDense() const {
  return offset == 0 && strides == rowMajorStrides(dims) &&
         data->size() == static_cast<size_t>(numel()) * static_cast<size_t>(byteSize(dtype));
}

HostTensor View::toTensor() const {
  if (isDense()) return {dtype, dims, *data};
  HostTensor out = HostTensor::zeros(dtype, dims);
  auto size = static_cast<size_t>(byteSize(dtype));
  std::byte* to = out.data.data();
  const View* self = this;
  RowWalk walk({&self, 1});
  walk.run([&](std::span<const int64_t> starts) {
    const std::byte* from = data->data() + starts[0] * static_cast<int64_t>(size);
    for (int64_t j = 0; j < walk.rowLength(); ++j, to += size)
      std::memcpy(to, from + j * walk.stride(0) * static_cast<int64_t>(size), size);
  });
  return out;
}

RowWalk::RowWalk(std::span<const View* const> views) : views_(views), dims_(views[0]->dims) {
  if (!dims_.empty()) {
    length_ = dims_.back();
    dims_.pop_back();
  }
  at_.assign(dims_.size(), 0);
  rows_ = numelOf(dims_);
  for (const View* v : views_) {
    starts_.push_back(v->offset);
    rowStrides_.push_back(v->strides.empty() ? 0 : v->strides.back());
  }
}

void RowWalk::advance() {
  for (size_t axis = dims_.size(); axis-- > 0;) {
    bool carry = ++at_[axis] == dims_[axis];
    for (size_t k = 0; k < views_.size(); ++k) {
      int64_t stride = views_[k]->strides[axis];
      starts_[k] += carry ? -stride * (dims_[axis] - 1) : stride;
    }
    if (!carry) return;
    at_[axis] = 0;
  }
}

void readRow(const View& view, int64_t start, int64_t stride, std::span<Scalar> out) {
  const std::byte* data = view.data->data();
  for (Scalar& element : out) {
    element = HostTensor::readElement(view.dtype, data, start);
    start += stride;
  }
}

}  // namespace svod
