// What becomes of a model.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compile/kernel.h"
#include "plan/directory.h"
#include "schedule/schedule.h"
#include "support/large_pages.h"

namespace svod {

/// The kernels of a plan for one more processor, or one more architecture of a device.
struct CompiledVariant {
  std::vector<CompiledKernel> kernels;  // by kernel id of the schedule; those of other targets without a name
  std::vector<FunctionObject> functionObjects;
  std::vector<std::optional<size_t>> same;  // by kernel: the first processor with an equal one, the plan's being 0
  std::optional<size_t> sameFunctions;      // the same of all functions of C files
  std::vector<KernelDesc> functions;        // where they are others
};

/// The kernel that takes the place of one where variables are within these sizes.
struct KernelCase {
  std::vector<SizeLimits> sizes;
  size_t kernel = 0;  // of Compilation::kernels
};

/// Seconds of wall time per phase, in order.
struct PhaseTime {
  std::string phase;
  double seconds = 0;
};

struct Compilation {
  LogKnows known = LogKnows::NotAsked;         // by the tuning log, of the graph
  std::vector<std::string> passed;             // why winners about the graph do not apply
  size_t tuned = 0;                            // decisions that are those of the tuning log
  UOp folded;                                  // the sink that the schedule was made of: constants are computed
  Schedule schedule;                           // without the graphs of its kernels
  std::vector<CompiledKernel> kernels;         // by kernel id of the schedule, then those of cases
  std::vector<std::vector<KernelCase>> cases;  // by kernel id of the schedule: the first that fits a run is taken
  Plan plan;                                   // without the descriptions of its files
  std::vector<PlanFile> files;                 // chunks borrowed from `code`, the kernels, `constants` and the model
  std::deque<LargeBytes> constants;            // weights in the order in which kernels read them
  std::deque<std::string> code;                // joined, by the targets that have kernels
  std::vector<PhaseTime> times;
  PassLog log;                                  // of all kernels, in order
  std::vector<KernelDesc> functions;            // of C files: kernels of the plan behind `kernels`
  std::vector<FunctionObject> functionObjects;  // with their code
  std::vector<CompiledVariant> variants;        // those of devices first, then as CompileOptions::variants
};

}  // namespace svod
