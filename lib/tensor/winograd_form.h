// F(r x r, 3 x 3) for the sizes there are: the constant matrices, and what a convolution costs in each form.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ir/numerics.h"
#include "support/large_pages.h"
#include "tensor/convolution.h"
#include "tensor/graph_machine.h"

namespace svod {

/// A constant matrix, row-major.
struct SmallMatrix {
  int rows, columns;
  std::span<const double> elements;
  double operator()(int row, int column) const { return elements[static_cast<size_t>(row * columns + column)]; }
};

/// The transforms of one axis. `data` and `result` are products of two matrices: what several rows share comes first.
struct WinogradForm {
  int tile, points;  // results and places of a tile along an axis
  Numerics least;    // the strictest mode in which it may stand for the sum
  SmallMatrix weights, dataShared, data, resultShared, result;
};

std::span<const WinogradForm> winogradForms();

/// How a convolution is computed. It takes its rows of tiles `rows` at a time, so that what is between its three steps
/// stays in cache; all at once if there are not more. No form: as a plain sum.
struct WinogradPlan {
  const WinogradForm* form = nullptr;
  int64_t rows = INT64_MAX;
};

struct PricedPlan {
  WinogradPlan plan;
  std::string name;  // direct, f4, f2.rows3, ..
  double cost;
  bool isLoop = false;  // over rows of tiles, of the form before it
};
/// The plain sum, then each form with all rows at once and with the best number of them, where that is fewer and their
/// number is known. Prices are those of the likely sizes: multiplications in register tiles.
std::vector<PricedPlan> pricedPlans(const Convolution& conv, UOp product, Numerics numerics,
                                    const GraphMachine& machine);
/// The position of the plan to take: of the least work, if it is worth more than its rounding.
size_t cheapestPlan(std::span<const PricedPlan> plans);

/// The elements of the weights as the product over channels reads them: [place, group, channel, filter].
LargeFloats transformedWeights(const WinogradForm& form, const Convolution& conv, UOp product,
                               std::span<const float> weights);

}  // namespace svod
