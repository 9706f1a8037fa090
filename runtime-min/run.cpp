#include "runtime-min/run.h"
#include "support/says.h"

#include <algorithm>
#include <cstring>

namespace svod {

namespace {

// Rough speed of one worker, to decide what is worth sharing: operations and bytes per nanosecond.
constexpr uint64_t kFlopsPerNs = 16, kBytesPerNs = 8;
constexpr uint64_t kTaskNs = 4'000;      // a task shorter than this costs more to share than it saves
constexpr uint64_t kRunNs = 20'000;      // a shorter run stays on the calling thread
constexpr uint64_t kUnknownNs = 50'000;  // for kernels without estimates
constexpr uint32_t kTasksPerWorker = 4;
constexpr uint64_t kScratchBytesPerNs = 2;  // that are filled, in the same rough units
constexpr uint64_t kWorthScratch = 32;      // times as long as its scratch takes to fill: what a task should do
constexpr int64_t kCopyTile = 256 << 10;    // bytes
constexpr int64_t kMaxTiles = INT64_C(1) << 40;

uint64_t nanoseconds(uint64_t flops, uint64_t bytes) {
  return flops == 0 && bytes == 0 ? kUnknownNs : std::max(flops / kFlopsPerNs, bytes / kBytesPerNs);
}

/// An estimate is never a reason to fail.
uint64_t estimate(const Expr& expr, std::span<const int64_t> values) {
  return static_cast<uint64_t>(std::max<int64_t>(0, expr.tryEvaluate(values).value_or(0)));
}

/// Why an expression has no value.
[[gnu::cold, gnu::noinline]] tl::unexpected<Error> noValue(const Expr& expr, std::span<const int64_t> values,
                                                           const std::vector<std::string>& names) {
  return svod::fail(expr.evaluate(values, names).error());
}

[[gnu::cold, gnu::noinline]] tl::unexpected<Error> tooMany(const KernelDesc& kernel, int64_t count, const char* parts) {
  return svod::fail(Diag::VariableBounds, says({"kernel '", kernel.name, "' would have ", count, parts}),
                    "choose other values for the variables");
}

}  // namespace

// ---- What the steps get ----

/// Every task may fill its scratch anew, so there are fewer where that is much work: as many for each worker.
uint32_t Run::tasksFor(const Work& work, uint64_t scratchBytes) const {
  const uint64_t workers = workers_.size(), tiles = static_cast<uint64_t>(work.tiles);
  uint64_t most = std::min(tiles, workers * kTasksPerWorker);
  if (workers == 1 || most <= 1) return 1;
  const uint64_t expected = nanoseconds(work.flops, work.bytes), scratch = scratchBytes / kScratchBytesPerNs;
  if (scratch > 0)
    most = std::min(most, std::max<uint64_t>(1, expected / (kWorthScratch * scratch) / workers) * workers);
  return static_cast<uint32_t>(std::clamp<uint64_t>(expected / kTaskNs, 1, most));
}

Status Run::evaluateLaunch(StepId step) {
  const Launch& launch = *chosen_[step].launch;
  const ProgramLaunch& call = chosen_[step].call;
  const KernelDesc& kernel = loaded_.plan().kernels[launch.kernel];
  const std::span<int64_t> values(values_.data() + call.values.begin, launch.values.size());
  for (size_t i = 0; i < values.size(); i++) {
    if (const std::optional<int64_t> value = launch.values[i].tryEvaluate(variables_))
      values[i] = *value;
    else
      return noValue(launch.values[i], variables_, loaded_.variableNames());
  }
  if (kernel.grid) return evaluateGrid(step, kernel, values);
  const std::optional<int64_t> tiles = kernel.tiles.tryEvaluate(values);
  if (!tiles) return noValue(kernel.tiles, values, kernel.values);
  if (*tiles < 0 || *tiles > kMaxTiles) return tooMany(kernel, *tiles, " tiles");
  work_[step] = {*tiles, 1, estimate(kernel.flops, values), estimate(kernel.bytes, values)};
  if (devices_.isOnDevice(step)) return {};
  work_[step].tasks = tasksFor(work_[step], kernel.scratchBytes);
  hostLaunches_[step] = {call.function, args_.data() + call.args.begin, values.data(), *tiles};
  return {};
}

Status Run::evaluateGrid(StepId step, const KernelDesc& kernel, std::span<const int64_t> values) {
  bool isEmpty = false;
  for (size_t axis = 0; axis < 3; axis++) {
    const Expr& extent = kernel.grid->groups[axis];
    const std::optional<int64_t> groups = extent.tryEvaluate(values);
    if (!groups) return noValue(extent, values, kernel.values);
    if (*groups < 0 || *groups > kMaxTiles) return tooMany(kernel, *groups, " workgroups");
    groups_[step][axis] = *groups;
    isEmpty = isEmpty || *groups == 0;
  }
  work_[step] = {isEmpty ? 0 : 1, 1, estimate(kernel.flops, values), estimate(kernel.bytes, values)};
  maps_[step].resize(kernel.grid->tensorMaps.size());
  return evaluateTensorMaps(step, kernel, values);
}

Status Run::evaluate(StepId id) {
  const auto& action = loaded_.plan().steps[id].action;
  if (std::holds_alternative<Launch>(action)) return evaluateLaunch(id);
  if (const auto* copy = std::get_if<Copy>(&action)) return evaluateCopy(id, *copy);
  return std::holds_alternative<HostCall>(action) ? evaluateCall(id) : Status();
}

Status Run::evaluateCall(StepId id) {
  const ProgramStep& step = program_.steps[id];
  const size_t first = step.args.begin, count = step.args.size();
  SVOD_CHECK(calls_[step.call].prepare(variables_, loaded_.variableNames(), std::span(args_).subspan(first, count),
                                       std::span(sizes_).subspan(first, count)));
  work_[id] = {1, 1, 0, 0};
  return {};
}

Status Run::evaluateCopy(StepId id, const Copy& copy) {
  const std::optional<int64_t> bytes = copy.bytes.tryEvaluate(variables_);
  if (!bytes) return noValue(copy.bytes, variables_, loaded_.variableNames());
  const uint32_t slot = program_.steps[id].args.begin;
  if (*bytes < 0 || static_cast<uint64_t>(*bytes) > std::min(sizes_[slot], sizes_[slot + 1]))
    return svod::fail(Diag::VariableBounds,
                      says({"step ", id, " would copy ", *bytes, " bytes from '", loaded_.plan().buffers[copy.src].name,
                            "' to '", loaded_.plan().buffers[copy.dst].name, "', which is more than they hold"}),
                      "choose other values for the variables");
  if (args_[slot] == args_[slot + 1]) return work_[id] = {}, Status();
  work_[id] = {(*bytes + kCopyTile - 1) / kCopyTile, 1, 0, 2 * static_cast<uint64_t>(*bytes)};
  work_[id].tasks = devices_.isOnDevice(id) ? 1 : tasksFor(work_[id], 0);
  return {};
}

Status Run::prepare(std::span<const int64_t> variables, std::span<void* const> pointers,
                    std::span<const uint64_t> sizes, std::span<const std::pair<uint32_t, void*>> elsewhere) {
  std::copy(variables.begin(), variables.end(), variables_.begin());
  for (size_t slot = 0; slot < args_.size(); slot++) {
    args_[slot] = pointers[program_.argBuffers[slot]];
    sizes_[slot] = sizes[program_.argBuffers[slot]];
  }
  for (const auto& [slot, pointer] : elsewhere) args_[slot] = pointer;
  probes_.place(pointers, sizes);
  uint64_t total = 0;
  bool shared = false;
  for (StepId step = 0; step < program_.steps.size(); step++) {
    if (const auto* launch = std::get_if<Launch>(&loaded_.plan().steps[step].action))
      if (chosen_[step].launch == nullptr || !launch->cases.empty()) SVOD_CHECK(choose(step, *launch));
    if (!program_.steps[step].dynamic) SVOD_CHECK(evaluate(step));
    if (devices_.isOnDevice(step)) continue;
    total += nanoseconds(work_[step].flops, work_[step].bytes);
    shared = shared || work_[step].tasks > 1;
  }
  isStale_.assign(isStale_.size(), 1);
  isLoopStale_.assign(isLoopStale_.size(), 1);
  worthSharing_ = workers_.size() > 1 && total >= kRunNs && (shared || !program_.isChain);
  return {};
}

Result<int64_t> Run::tripsOf(StepId step) const {
  const auto& loop = std::get<Loop>(loaded_.plan().steps[step].action);
  SVOD_TRY(const int64_t trips, loop.trips.evaluate(variables_, loaded_.variableNames()));
  const Variable& variable = loaded_.plan().variables[loop.variable];
  if (trips > 0 && (variable.min > 0 || trips - 1 > variable.max))
    return svod::fail(Diag::VariableBounds,
                      says({"the loop over '", variable.name, "' would run ", trips, " times, outside its bounds"}));
  return trips;
}

bool Run::goesOn(StepId loop) const {
  const ProgramStep& step = program_.steps[loop];
  return step.args.begin == step.args.end || *static_cast<const uint8_t*>(args_[step.args.begin]) != 0;
}

/// Sets the loop variable and what follows from it. Nothing of the body is running.
Status Run::beginIteration(uint32_t scope, int64_t trip) {
  const auto& loop = std::get<Loop>(loaded_.plan().steps[program_.scopes[scope].loop].action);
  variables_[loop.variable] = trip;
  for (StepId step : program_.scopes[scope].dynamic) {
    SVOD_CHECK(evaluate(step));
    if (program_.steps[step].segment != kNoSegment) isStale_[program_.steps[step].segment] = 1;
  }
  return {};
}

// ---- Running one step ----

Status Run::perform(StepId id, uint32_t worker, int64_t tileBegin, int64_t tileEnd) {
  const ProgramStep& step = program_.steps[id];
  void* const* args = args_.data() + step.args.begin;
  if (step.kind == StepKind::Launch) {
    const HostLaunch& launch = hostLaunches_[id];
    launch.function(launch.args, launch.values, tileBegin, tileEnd, workers_[worker].scratch.data());
  } else if (step.kind == StepKind::Copy) {
    const int64_t bytes = static_cast<int64_t>(work_[id].bytes / 2), begin = tileBegin * kCopyTile;
    const int64_t end = std::min(tileEnd * kCopyTile, bytes);
    if (end > begin)
      std::memmove(static_cast<char*>(args[0]) + begin, static_cast<char*>(args[1]) + begin,
                   static_cast<size_t>(end - begin));
  } else {
    const int code = calls_[step.call].call(config_.functions[step.hostFunction]);
    if (code != 0)
      return svod::fail(Diag::DeviceFailure,
                        says({"host function '", program_.hostFunctions[step.hostFunction], "' failed with ", code}));
  }
  return {};
}

Status Run::call(StepId step, uint32_t worker, int64_t tileBegin, int64_t tileEnd) {
  if (!profile_.on()) return perform(step, worker, tileBegin, tileEnd);
  const uint64_t start = Profile::now();
  Status status = perform(step, worker, tileBegin, tileEnd);
  profile_.add(worker, {step, start, Profile::now(), tileBegin, tileEnd});
  return status;
}

// ---- One worker, in plan order ----

Status Run::runInOrder(uint32_t scope) {
  const bool isWatched = profile_.on() || probes_.any();
  void* const scratch = workers_[0].scratch.data();
  for (StepId id : program_.scopes[scope].steps) {
    if (stop_.load(std::memory_order_relaxed)) return svod::fail(Diag::Interrupted, "the run was stopped");
    // What small plans are made of: nothing else stands between one kernel and the next.
    if (const HostLaunch& launch = hostLaunches_[id]; launch.function != nullptr && !isWatched && !devices_.any()) {
      if (launch.tiles > 0) launch.function(launch.args, launch.values, 0, launch.tiles, scratch);
      continue;
    }
    SVOD_CHECK(runStepInOrder(id));
  }
  return {};
}

Status Run::runStepInOrder(StepId id) {
  const ProgramStep& step = program_.steps[id];
  if (devices_.any()) SVOD_CHECK(awaitDevices(id));
  if (step.segment != kNoSegment) {
    const ProgramSegment& segment = program_.segments[step.segment];
    return probes_.any() ? runSegmentInOrder(segment) : runSegment(segment, 0);
  }
  if (step.kind == StepKind::Loop) {
    if (alone_[step.body] != nullptr && !probes_.any()) return runLoop(id, 0);
    SVOD_TRY(const int64_t trips, tripsOf(id));
    for (int64_t trip = 0; trip < trips && goesOn(id); trip++) {
      SVOD_CHECK(beginIteration(step.body, trip));
      SVOD_CHECK(runInOrder(step.body));
      if (devices_.any()) SVOD_CHECK(devices_.settle());
    }
    return {};
  }
  const Work& work = work_[id];
  if (profile_.on()) profile_.begin(id, Profile::now());
  if (work.tiles > 0) SVOD_CHECK(call(id, 0, 0, work.tiles));
  if (profile_.on()) profile_.end(id, Profile::now(), work.flops, work.bytes);
  return probes_.any() && work.tiles > 0 ? probe(id) : Status();
}

/// The step is the last that was begun.
Status Run::probe(StepId step) {
  for (Probe& probe : probes_.all()) {
    if (probe.isWrittenBy[step] == 0) continue;
    SVOD_CHECK(devices_.fetch(step, probe.buffer, probe.to, probe.from, probe.bytes));
    probe.count++;
  }
  return {};
}

Status Run::settle(bool waits) {
  Status status = devices_.settle(waits);
  if (waits || !status) lostMemory_ = devices_.recover() || lostMemory_;
  return status;
}

Status Run::execute(Pool* pool, uint64_t seed, bool waits) {
  if (probes_.any()) probes_.begin();
  Status status = probes_.any() || (seed == 0 && !worthSharing_) ? runInOrder(0) : runShared(pool, seed);
  if (devices_.any()) {
    if (status)
      status = settle(waits);
    else
      (void)settle();
  }
  // A stop that came too late for this run ends the next one, so that nobody waits for it in vain.
  if (!status) clearStop();
  return status;
}

}  // namespace svod
