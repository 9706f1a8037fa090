// Sizes of a run for which the list of opts of a kernel is clearly not the best.
#pragma once
#include <span>
#include <vector>

#include "choose/choice.h"
#include "choose/size_points.h"
#include "facts/caps.h"

namespace svod {

/// A list of opts for a kernel of free sizes: what was chosen for one of the points, and what it costs at all of them.
struct SizedChoice {
  Choice choice;
  UOp sink;                   // with these opts
  size_t point = 0;           // that it was chosen for
  std::vector<double> times;  // in nanoseconds, by point
  double regret = 0;          // sum over the points of the weight times the logarithm of the time
};

/// Beside `best`, one on each side of it at most: where another choice is expected to be kCaseGain times as fast.
/// Not where the kernels would hold many weights twice, each in an order of its own.
std::vector<SizeCase> casesBeside(Graph& graph, const SizePoints& points, std::span<const SizedChoice> choices,
                                  const SizedChoice& best, const Caps& caps);

}  // namespace svod
