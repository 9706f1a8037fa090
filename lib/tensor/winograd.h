// Convolutions with fewer multiplications: Winograd's minimal filtering F(r x r, 3 x 3).
#pragma once
#include <cstdint>
#include <functional>
#include <set>

#include "support/decision.h"
#include "tensor/winograd_form.h"

namespace svod {

/// The graph below `sink` with convolutions of 3 x 3 taps, stride and dilation 1 as
///   Y = A^T ((G g G^T) * (B^T d B)) A
/// for tiles d of (r+2) x (r+2) elements that give r x r results, where that is less work: matrix products over
/// channels, one for each place in a tile, between two transforms. The weights must be constants of the model; they are
/// transformed here, and become a port of their own. Where the tiles of a convolution are large, a loop takes some rows
/// of them at a time and leaves the results in a port of their own. Results differ from the direct sum by rounding
/// (docs/numerics.md).
struct WinogradGraph {
  UOp sink;
  std::set<uint32_t>
      uncut;  // ids of values inside the transforms: they share what they compute, and stay in one kernel
};
/// `choose` decides which convolutions, and how, given the product and the sum of it in the graph as it was. A model
/// that is scheduled again keeps the ports and loops it has.
using WinogradChoice = std::function<WinogradPlan(const Convolution& conv, UOp product, UOp sum)>;
WinogradGraph useWinograd(Model& model, UOp sink, const WinogradChoice& choose);
/// With the cheapest plan for each convolution of those that the mode allows, unless it is decided otherwise.
WinogradGraph useWinograd(Model& model, UOp sink, Numerics numerics, const GraphMachine& machine, Decisions& decisions);

}  // namespace svod
