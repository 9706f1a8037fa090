// What a direct convolution costs whose lanes are filters: each element under the windows is loaded for all of them.
#pragma once
#include <optional>

#include "facts/caps.h"

namespace svod {

/// Results in registers: vectors of filters x columns.
struct FilterTile {
  int64_t vectors = 1, columns = 1;
};

/// What there is of them: products for each result, and lanes of a vector.
struct FilterLoops {
  int64_t filters, columns, taps, lanes;
};

/// The tile with the fewest cycles for products, loads and the weights of its filters, which every tile of columns
/// reads again, wider ones first; nothing where none fits the registers.
std::optional<FilterTile> bestFilterTile(const FilterLoops& loops, const Caps& caps);

}  // namespace svod
