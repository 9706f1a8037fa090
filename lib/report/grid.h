// Kernels with a grid: how they are launched, and what their images need.
#pragma once
#include <vector>

#include "plan/plan.h"
#include "report/document.h"
#include "report/report.h"

namespace svod {

/// Workgroups, threads, memory and attributes of a launch.
void addGridFacts(FactList& facts, const KernelDesc& kernel);
/// The images, and the tensor maps if there are any.
std::vector<Table> gridTables(const KernelDesc& kernel, const Plan& plan);
/// What a GPU makes of it, as far as that is known.
std::vector<Table> gpuTables(const KernelInsight& insight);

}  // namespace svod
