// Inputs that a plan is run with where nobody gives any.
#pragma once
#include <cstdint>
#include <vector>

#include "interp/interp.h"

namespace svod {

/// A small generator with a fixed start: a failure can be repeated.
class Random {
 public:
  explicit Random(uint64_t number) : state_(0x9E3779B97F4A7C15 * (2 * number + 1)) {}
  uint64_t next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_;
  }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  uint64_t state_;
};

/// `wild`: half of the elements are of any magnitude, infinities, NaN, zeros of both signs, subnormals and the ends of
/// integers; the others small and exact.
HostTensor randomTensor(DType dtype, std::vector<int64_t> dims, Random& random, bool wild);

/// The float next to a finite one, up or down; other values unchanged.
Scalar neighbour(const Scalar& value, Random& random);

}  // namespace svod
