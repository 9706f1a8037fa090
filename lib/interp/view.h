// Strided views: how the interpreter holds the tensors it computes with, so that most movement ops copy nothing.
#pragma once
#include <memory>
#include <vector>

#include "interp/tensor.h"

namespace svod {

/// Element (i0, i1, ..) is element `offset + sum(i * strides)` of `data`. Shared data is never written.
struct View {
  DType dtype = DType::Void;
  std::vector<int64_t> dims, strides;
  int64_t offset = 0;
  std::shared_ptr<const std::vector<std::byte>> data;

  static View of(HostTensor tensor);
  int64_t numel() const { return numelOf(dims); }
  bool isDense() const;  // row-major without gaps, from element 0 of data
  HostTensor toTensor() const;
};

std::vector<int64_t> rowMajorStrides(std::span<const int64_t> dims);

/// Visits the rows (runs along the last axis) of one or more views of equal dims in row-major order.
/// `row(starts, n)` gets the first element of each view's row; element j of view k is at starts[k] + j * stride(k).
class RowWalk {
 public:
  explicit RowWalk(std::span<const View* const> views);
  int64_t rowLength() const { return length_; }
  int64_t stride(size_t view) const { return rowStrides_[view]; }

  template <class Row>
  void run(Row row) {
    if (rows_ == 0 || length_ == 0) return;
    for (int64_t r = 0; r < rows_; ++r) {
      row(std::span<const int64_t>(starts_));
      advance();
    }
  }

 private:
  void advance();

  std::span<const View* const> views_;
  std::vector<int64_t> dims_, at_, starts_, rowStrides_;
  int64_t rows_ = 1, length_ = 1;
};

/// Reads `n` elements from `start` with `stride` into `out`.
void readRow(const View& view, int64_t start, int64_t stride, std::span<Scalar> out);

}  // namespace svod
