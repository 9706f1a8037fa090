// The steps of a plan as flat tables that a run walks without looking at the plan again. Immutable.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace svod {

using KernelFunction = void (*)(void* const* buffers, const int64_t* values, int64_t tileBegin, int64_t tileEnd,
                                void* scratch);

enum class StepKind : uint8_t { Launch, Copy, Call, Loop };

/// A range in one of Program's vectors.
struct Range {
  uint32_t begin = 0, end = 0;
  uint32_t size() const { return end - begin; }
};

constexpr uint32_t kNoSegment = UINT32_MAX;

/// A kernel with the slots of its arguments in an instance.
struct ProgramLaunch {
  KernelFunction function = nullptr;
  Range args, values;
};

struct ProgramStep {
  StepKind kind = StepKind::Launch;
  KernelFunction function = nullptr;  // Launch
  Range args;                         // argument slots of an instance; Program::argBuffers names their buffers
  Range values;                       // value slots of an instance (Launch)
  Range cases;                        // in Program::cases, in the order of the plan (Launch)
  Range successors;                   // in Program::successors, least urgent first
  uint32_t depCount = 0;
  bool dynamic = false;           // its values depend on a loop variable
  uint32_t scope = 0;             // the scope it belongs to
  uint32_t body = 0;              // Loop: its scope
  uint32_t hostFunction = 0;      // Call: index into Program::hostFunctions
  uint32_t call = 0;              // Call: its position among the calls of the plan
  uint32_t segment = kNoSegment;  // Program::segments
};

/// Steps of one queue that need nothing of others in between, so that they are given together: the first of them stands
/// for all in the scope, with the dependencies of all.
struct ProgramSegment {
  std::vector<StepId> steps;   // in plan order
  std::vector<StepId> awaits;  // what they depend on besides
};

/// The steps that run together: the whole plan (scope 0), or the body of a loop.
struct ProgramScope {
  StepId loop = 0;              // the Loop step, except in scope 0
  std::vector<StepId> steps;    // in an order to run them in, without those of nested loops
  std::vector<StepId> roots;    // steps without dependencies, least urgent first
  std::vector<StepId> dynamic;  // those with values that depend on a loop variable
};

struct Program {
  Program() = default;
  /// `functions` by KernelId. The plan must have passed `check`. `queues` by StepId: those that share a number above 0
  /// may be given together; empty where the host does everything.
  Program(const Plan& plan, std::span<const KernelFunction> functions, std::span<const uint32_t> queues = {});

  std::vector<ProgramStep> steps;
  std::vector<ProgramScope> scopes;
  std::vector<ProgramSegment> segments;
  std::vector<StepId> successors;
  std::vector<ProgramLaunch> cases;
  std::vector<BufferId> argBuffers;  // by argument slot
  uint32_t valueCount = 0;
  std::vector<std::string> hostFunctions;  // distinct names, in order of first use
  std::vector<StepId> calls;               // the steps that call them
  uint64_t scratchBytes = 0;               // the most any kernel wants
  bool isChain = false;                    // no loop, and every step waits for the one before

 private:
  Range addArgs(std::span<const BufferId> buffers);
  ProgramLaunch addLaunch(const Plan& plan, const Launch& launch, KernelFunction function);
  /// Everything of the steps but their order.
  void fillSteps(const Plan& plan, std::span<const KernelFunction> functions);
  /// What of each scope is given together, and an order of the rest in which everything can be done.
  void groupSteps(const Plan& plan, std::span<const uint32_t> queues);
  void linkSteps(const Plan& plan);
  /// The step that stands for it in its scope.
  StepId leaderOf(StepId id) const {
    return steps[id].segment == kNoSegment ? id : segments[steps[id].segment].steps.front();
  }
};

}  // namespace svod
