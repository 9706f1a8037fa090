// From a schedule and its compiled kernels to a plan.
#pragma once
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "constants/constant_layout.h"
#include "ir/model.h"
#include "plan/memory_plan.h"
#include "plan/plan.h"
#include "schedule/schedule.h"

namespace svod {

/// What another processor runs, or another architecture of a device.
struct PlannedVariant {
  std::string cpu;  // as Variant::cpu
  std::vector<std::string> features;
  std::vector<KernelId> kernels;  // by kernel of the schedule, and those behind: what it runs in its place
};

struct KernelCase;

struct PlanOptions {
  std::string name;
  TargetRecord target;
  MemoryMode memory = MemoryMode::Arena;
  Rows<DeviceDesc> devices = {{"cpu", DeviceKind::Cpu, 0}};  // the host first
  DeviceId usual = {};  // where launches run whose operands are on no device besides the host
  std::vector<PlannedVariant> variants;
  std::span<const std::vector<KernelCase>> cases = {};  // by kernel of the schedule; empty where there are none
  std::optional<KernelId> functions = {};               // the first that is one, without: that behind the schedule's
};

struct PlannedKernel {
  const KernelDesc& desc;
  std::span<const ConstantLayout> layouts;  // of operands that are weights
};

/// The plan without its files. `kernels` are those of the schedule, by id, then those of cases, functions of C files,
/// and those of variants. Constants lie in file 1 (weights) as
/// `weights` lays them out, which borrows from the model and from `constants`, where weights in another order are
/// added; kernels in file 0.
Result<Plan> buildPlan(const Model& model, const Schedule& schedule, std::span<const PlannedKernel> kernels,
                       const PlanOptions& options, class WeightsLayout& weights, std::deque<LargeBytes>& constants);

}  // namespace svod
