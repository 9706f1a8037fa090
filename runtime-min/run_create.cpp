// What happens once per run or binding of sizes: there, size counts.
#include "runtime-min/run.h"

namespace svod {

Run::Run(const LoadedPlan& loaded, Config config)
    : loaded_(loaded), config_(std::move(config)), devices_(loaded.plan(), config_.devices),
      own_(devices_.any() ? std::make_unique<const Program>(loaded.programFor(devices_.queues())) : nullptr),
      program_(own_ ? *own_ : loaded.program()), args_(program_.argBuffers.size()), sizes_(program_.argBuffers.size()),
      values_(program_.valueCount), variables_(loaded.plan().variables.size()), work_(program_.steps.size()),
      chosen_(program_.steps.size()), hostLaunches_(program_.steps.size()), batches_(program_.segments.size()),
      isStale_(program_.segments.size(), true), places_(own_ ? program_.steps.size() : 0), isPlaced_(places_.size(), 0),
      workers_(config_.workers), pending_(std::make_unique<std::atomic<uint32_t>[]>(program_.steps.size())),
      shares_(std::make_unique<std::atomic<uint64_t>[]>(program_.steps.size() * workers_.size())),
      done_(std::make_unique<std::atomic<uint32_t>[]>(program_.steps.size())), scopes_(program_.scopes.size()) {
  groups_.resize(config_.loaded.own.size());
  maps_.resize(config_.loaded.own.size());
  findLoops();
  for (Worker& worker : workers_) worker.deque.reserve(program_.steps.size());
  for (StepId step : program_.calls)
    calls_.emplace_back(loaded.plan(), std::get<HostCall>(loaded.plan().steps[step].action));
  if (config_.profile) profile_ = Profile(program_.steps.size(), config_.workers, config_.traceEvents);
}

uint64_t Run::bytesFor(const LoadedPlan& loaded, size_t workers) {
  const Program& program = loaded.program();
  const uint64_t scratch = (program.scratchBytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
  return workers * (scratch + sizeof(Worker) + std::bit_ceil(program.steps.size() + 1) * 4 + program.steps.size() * 8) +
         program.argBuffers.size() * 16 + program.valueCount * UINT64_C(8) +
         program.calls.size() * sizeof(PreparedCall) +
         program.steps.size() * (sizeof(Work) + sizeof(HostLaunch) + sizeof(Chosen) + 8) +
         program.scopes.size() * sizeof(ScopeState);
}

Result<std::unique_ptr<Run>> Run::create(const LoadedPlan& loaded, Config config) {
  std::unique_ptr<Run> run(new Run(loaded, std::move(config)));
  const uint64_t each = (run->program_.scratchBytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
  for (Worker& worker : run->workers_) {
    SVOD_TRY(worker.scratch, MemoryBlock::allocate(run->config_.memory, each, kPlanAlignment, "scratch"));
  }
  return run;
}

/// The first case that holds. Sizes of the run are known, counters of loops are not.
Status Run::choose(StepId id, const Launch& launch) {
  const ProgramStep& step = program_.steps[id];
  const LoadedKernels& loaded = config_.loaded;
  chosen_[id] = {&launch, {step.function, step.args, step.values}, loaded.own.empty() ? nullptr : loaded.own[id], 0};
  for (uint32_t i = 0; i < launch.cases.size(); i++) {
    bool holds = true;
    for (const SizeRange& range : launch.cases[i].when) {
      SVOD_TRY(const int64_t size, range.size.evaluate(variables_, loaded_.variableNames()));
      holds = holds && size >= range.min && size <= range.max;
    }
    if (!holds) continue;
    const uint32_t at = step.cases.begin + i;
    chosen_[id] = {&launch.cases[i].launch, program_.cases[at], loaded.own.empty() ? nullptr : loaded.cases[at], i + 1};
    break;
  }
  return {};
}

Run::~Run() = default;

}  // namespace svod
