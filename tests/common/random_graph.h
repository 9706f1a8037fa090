// Random tensor graphs and data for differential tests: the same seed gives the same model on every platform.
#pragma once
#include <cstdint>

#include "interp/interp.h"

namespace svod {

struct RandomOptions {
  int steps = 24;                // ops drawn; movement and casts that make operands fit come on top
  int64_t maxElements = 400;     // of any tensor
  bool contract = false;         // no rounded float feeds a comparison, rounding op, integer cast, gather or bitcast
  bool transcendentals = false;  // exp, log, sin, pow, ..: equal only within their documented error
  bool states = true;            // buffers that are read, stored to (also in part) and read again
  bool symbolic = true;          // sometimes a variable as a leading dim
  bool zeroDims = true;          // sometimes tensors without elements
  bool loops = false;            // temporaries, and loops, conditions and branches that assign them
  bool composites = false;       // products of matrices, rows, running folds, sorted rows, .. above maxElements
  bool edges = false;  // sizes that can be 0, or only 0, quotients, remainders, products and differences; parts
                       // that these carry beyond their tensor; more small floats, bools, casts and special values
  std::vector<DType> dtypes;  // of inputs and casts; empty: all
};

/// A legal tensor graph with inputs, weights, two to five outputs that share subgraphs, states, and loops if wanted.
/// Its results do not depend on what the language leaves open: the sign of a zero chosen by max or min never reaches a
/// division, and the bits of a NaN never reach an integer. Compare with sameValues(a, b, true).
Model randomModel(uint64_t seed, const RandomOptions& options = {});

/// Data for every input and state and a value for every variable: any, with `edges` its least, its greatest, a prime or
/// one between. Special values (NaN, infinity, -0, subnormals,
/// extreme integers) are mixed in unless `options.contract`, where floats stay moderate.
ModelBindings randomBindings(const Model& model, uint64_t seed, const RandomOptions& options = {});

/// Elements as randomBindings draws them; `special`: how many of a hundred are special values.
HostTensor randomTensor(DType dtype, std::vector<int64_t> dims, uint64_t seed, bool special, int percent = 8);

/// Draws that are the same everywhere; call it once per statement, the order of arguments is not.
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0x1234567u) {}
  uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t min, int64_t max) { return min + below(max - min + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class Items>
  auto& of(Items& items) {
    return items[static_cast<size_t>(below(static_cast<int64_t>(std::size(items))))];
  }

 private:
  uint64_t state_;
};

}  // namespace svod
