// What a plan with other decisions would take, before there is code.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compile/kernel.h"
#include "compile/options.h"
#include "ir/model.h"

namespace svod {

/// Nanoseconds of one launch on one thread with the opts that were chosen; 0 where that is not known.
double predictedTime(const CompiledKernel& kernel, const CompileOptions& options);

/// These, by tuningHash() of the kernel.
using KernelPrices = std::map<std::string, double>;

struct PlanPrice {
  std::vector<Decision> decisions;
  double nanoseconds = 0;  // of one run on one thread; loops with a variable count run half way between its bounds
  KernelPrices kernels;    // of one run, in each of them
  std::string plan;        // 32 digits: equal ones run the same kernels on the same buffers in the same order
};

/// `folded` of the model (Compilation::folded) with other decisions. Kernels that are not in `known` are taken as far
/// as their opts, and added. Adds nodes to the graph of the model. Errors: as for compile().
Result<PlanPrice> priceOf(Model& model, UOp folded, const CompileOptions& options, const DecisionRequests& decisions,
                          KernelPrices& known);

}  // namespace svod
