// What is known of a kernel after compiling.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "choose/choice.h"
#include "constants/constant_layout.h"
#include "ir/graph.h"
#include "linearize/linear.h"
#include "pass/pass.h"
#include "plan/plan.h"
#include "target/target.h"
#include "tuning/winners.h"

namespace svod {

/// Everything known about one kernel after compiling. Owns its graph. Of a kernel that was found in the cache,
/// `unopted`, `optimized`, `choice` but for its cases, `linear`, `launched`, `source`, `forms`, `notes` and `log` are
/// empty.
struct CompiledKernel : KernelCode {
  std::string name;
  std::unique_ptr<Graph> graph;
  UOp ast;                              // Kernel stage, as scheduled
  std::vector<int> inPlace;             // slots of arguments that its result may lie on
  std::vector<uint32_t> constants;      // slots of weights in every launch
  std::optional<size_t> standsFor;      // the kernel of Compilation::kernels whose place it takes at some sizes
  bool givesOrder = false;              // that one reads weights as it does; otherwise it reads as that one
  std::vector<ConstantLayout> orders;   // of weights as the other one of the two reads them
  std::vector<ConstantLayout> layouts;  // of those that it reads in another order than the graph has
  std::vector<UOp> launched;            // what its launches count, before legalization
  UOp unopted, optimized;               // Kernel stage, before and after opts
  Choice choice;                        // what was applied, and why
  LinearKernel linear;
  KernelDesc desc;  // for the plan
  LogKnows known = LogKnows::NotAsked;
  std::vector<Winner> tuned;        // what the tuning log has for it, best first
  std::vector<std::string> passed;  // why the first of those do not apply; the next one was taken, if there is one
  bool reused = false;              // found in the cache
  PassLog log;
};

}  // namespace svod
