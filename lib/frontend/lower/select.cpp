// The first few of a sort, without the sort: the best key, then the best behind it, and so on. A key holds the value
// and the position, so that no two are equal and equal values keep their order. Of a long axis only the blocks with
// the k best maxima are looked at: each element of the result lies in one of them.
#include "frontend/lower/select.h"

#include <bit>
#include <cmath>

#include "frontend/lower/common.h"

namespace svod {

namespace {

constexpr int64_t kMostSelected = 128;             // each costs one pass over the axis
constexpr int64_t kLeastInBlocks = 4;              // fewer are found sooner by passes over the whole axis
constexpr int64_t kLongAxis = 32;                  // times what is selected
constexpr int64_t kLast = (int64_t{1} << 31) - 1;  // position, which takes the low bits of a key

/// Integers of up to 33 bits in the order of the values: NaN above all others, -0 and 0 equal.
Tensor orderOf(Tensor x) {
  if (!isFloat(x.dtype())) return cast(x, DType::I64);
  const Tensor wide = cast(x, DType::F32), bits = bitcast(wide, DType::I32);
  const Tensor ordered = where(lt(bits, 0), exclusive(bits, maxInt(DType::I32)), bits);
  const Tensor joined = where(eq(wide, 0), 0, ordered);
  return cast(where(isNan(wide), maxInt(DType::I32), joined), DType::I64);
}

class Selection {
 public:
  Selection(Tensor x, int axis, int64_t k, bool isLargest)
      : b_(*x.builder()), x_(x), axis_(axis), k_(k), isLargest_(isLargest) {}

  Tensor positions() const {
    const Tensor keys = keysOf(x_, cast(positionsAlong(b_, x_.dims(), axis_), DType::I64));
    const int64_t block = blockSize();
    return positionsOf(best(block > 1 ? candidates(keys, block) : keys));
  }

 private:
  Tensor least() const { return b_.constant(Scalar::ofInt(DType::I64, minInt(DType::I64))); }
  Tensor keysOf(Tensor values, Tensor at) const {
    const Tensor order = orderOf(values);
    return (isLargest_ ? order : -order) * (kLast + 1) + (kLast - at);
  }
  static Tensor positionsOf(Tensor keys) { return kLast - both(keys, kLast); }

  /// The k best along the axis, side by side.
  Tensor best(Tensor keys) const {
    if (k_ == 1) return maximum(keys, axis_, true);
    keys = contiguous(keys);
    std::vector<Tensor> found;
    for (int64_t i = 0; i < k_; ++i) {
      const Tensor behind = i == 0 ? keys : where(lt(keys, found.back()), keys, least());
      found.push_back(contiguous(maximum(behind, axis_, true)));  // the next pass reads it, and does not find it again
    }
    return joined(found, axis_);
  }

  /// Of an axis in blocks, as many passes over the maxima of blocks and over k blocks; 1 for an axis without blocks.
  int64_t blockSize() const {
    const Dim size = x_.dim(axis_);
    if (k_ < kLeastInBlocks || !size.isConst() || size.constant() < kLongAxis * k_) return 1;
    const double even = std::sqrt(static_cast<double>(size.constant()) / static_cast<double>(k_));
    return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(even)));
  }

  /// The keys in the k blocks whose maxima are the best.
  Tensor candidates(Tensor keys, int64_t block) const {
    const int64_t size = x_.dim(axis_).constant(), count = (size + block - 1) / block;
    const Tensor starts = positionsOf(best(maximaOf(keys, count, block)));
    Dims dims = x_.dims();
    dims.set(axis_, b_.dim(k_ * block));
    const Tensor within = reshape(cast(b_.iota(b_.dim(block)), DType::I64), alongBlocks(block));
    const Tensor first = floordiv(unsqueeze(starts, axis_ + 1), block) * block;
    const Tensor at = reshape(first + within, dims), inside = min(at, size - 1);
    const Tensor own = keysOf(elementsAt(x_, axis_, inside), at);
    return count * block == size ? own : where(lt(at, size), own, least());
  }

  Tensor maximaOf(Tensor keys, int64_t count, int64_t block) const {
    const int64_t size = x_.dim(axis_).constant();
    Dims before, after;
    for (int i = 0; i < x_.rank(); ++i) {
      before.add(b_.dim(0));
      after.add(b_.dim(i == axis_ ? count * block - size : 0));
    }
    Dims blocks = x_.dims().slice(0, axis_) + Dims{b_.dim(count), b_.dim(block)};
    for (int i = axis_ + 1; i < x_.rank(); ++i) blocks.add(x_.dim(i));
    return contiguous(maximum(reshape(pad(keys, before, after, least()), blocks), axis_ + 1));
  }

  /// 1 for all axes but the one inside of blocks.
  Dims alongBlocks(int64_t block) const {
    Dims dims;
    for (int i = 0; i <= x_.rank(); ++i) dims.add(b_.dim(i == axis_ + 1 ? block : 1));
    return dims;
  }

  GraphBuilder& b_;
  Tensor x_;
  int axis_;
  int64_t k_;
  bool isLargest_;
};

}  // namespace

Tensor elementsAt(const Tensor& x, int axis, const Tensor& positions) {
  std::vector<Tensor> indices;
  for (int i = 0; i < x.rank(); ++i)
    indices.push_back(i == axis ? positions : positionsAlong(*x.builder(), positions.dims(), i));
  return gather(x, indices);
}

bool isSelected(const Tensor& x, int axis, Dim k) {
  const bool fits = byteSize(x.dtype()) <= 4 && x.dim(axis).max() <= kLast;
  return fits && k.max() > 0 && k.max() <= kMostSelected;
}

Tensor selectedPositions(Tensor x, int axis, int64_t k, bool isLargest) {
  return Selection(x, axis, k, isLargest).positions();
}

}  // namespace svod
