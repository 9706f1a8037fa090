// The compiler on one screen: what happens to a kernel between the schedule and the list of instructions.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "choose/choose.h"
#include "constants/constant_layout.h"
#include "facts/caps.h"
#include "lower/legalize.h"
#include "machine/gpu.h"
#include "opts/opt.h"
#include "pass/pass.h"
#include "tuning/winners.h"

namespace svod {

struct Target;

/// What the passes of one kernel share.
struct KernelJob {
  Caps caps;
  LegalizeOptions legalize;
  int optLevel = 1;
  std::optional<std::vector<OptOp>> requested;  // replayed in place of what choose() finds
  std::vector<Winner> tuned;                    // of a tuning log: the first that applies, before choose() is asked
  size_t mostInstructions = 3000;               // that one of those may come to
  std::vector<std::string> passed;              // filled by apply-opts: why those before it do not apply
  Choice choice;                                // filled by apply-opts: what was applied, and why
  UOp unopted, optimized;                       // filled by apply-opts: the kernel before it and after
  std::vector<ConstantLayout> orders;           // that another kernel reads weights in
  std::vector<ConstantLayout> layouts;          // filled by constant-layout
  std::vector<UOp> launched;                    // filled by legalize: what launchedIn() finds
};

/// Of targets with loops and threads, and of those with a grid and workgroups.
std::span<const Pass> loopKernelPasses();
std::span<const Pass> gridKernelPasses();
std::span<const Pass> kernelPasses(const Target& target);
/// The tables that a graph and its kernels go through, in this order.
std::array<std::span<const Pass>, 2> passTables(const Target& target);

}  // namespace svod
