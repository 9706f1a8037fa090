// Loops of which one device does everything. Where they come to few works these are one batch, of all iterations; else
// each iteration is given without waiting for the one before.
#include <algorithm>

#include "runtime-min/run.h"

namespace svod {

namespace {

constexpr uint64_t kMostWorks = 2048;  // in the batch of a loop

}  // namespace

/// Scopes of inner loops follow those of outer ones. The device must not look at values later: an iteration changes
/// them.
void Run::findLoops() {
  alone_.assign(program_.scopes.size(), nullptr);
  if (own_ == nullptr) return;
  const auto isBranch = [&](StepId id) {
    return program_.steps[id].kind == StepKind::Loop && program_.steps[id].args.size() > 0;
  };
  for (size_t scope = program_.scopes.size(); scope-- > 1;) {
    const std::vector<StepId>& steps = program_.scopes[scope].steps;
    const StepId loop = program_.scopes[scope].loop;
    const auto deviceOf = [&](StepId id) -> const Device* {
      if (isBranch(id)) return nullptr;
      return program_.steps[id].kind == StepKind::Loop ? alone_[program_.steps[id].body] : devices_.readerAtOnce(id);
    };
    const Device* const device = steps.empty() || isBranch(loop) ? nullptr : deviceOf(steps.front());
    if (device == nullptr || !std::ranges::all_of(steps, [&](StepId id) { return deviceOf(id) == device; })) continue;
    alone_[scope] = device;
    devices_.adoptLoop(loop, steps.front());
  }
  isAhead_ = true;
  for (StepId id = 0; id < program_.steps.size(); id++)
    isAhead_ = isAhead_ && (program_.steps[id].kind == StepKind::Loop ? alone_[program_.steps[id].body] != nullptr
                                                                      : devices_.readerAtOnce(id) != nullptr);
  loops_.resize(program_.scopes.size());
  isLoopStale_.resize(program_.scopes.size(), 1);
}

/// Of so many iterations, at most: how often inner loops run may depend on the iteration.
uint64_t Run::worksIn(StepId id, int64_t trips) const {
  const auto& loop = std::get<Loop>(loaded_.plan().steps[id].action);
  uint64_t count = 0;
  for (StepId step = id + 1; step <= id + loop.length && count <= kMostWorks; step++) {
    // What a launch is given in place of an address would have to be kept for each iteration.
    const bool keepsMaps = program_.steps[step].dynamic && !maps_.empty() && !maps_[step].empty();
    if (const auto* inner = std::get_if<Loop>(&loaded_.plan().steps[step].action)) {
      count += worksIn(step, std::min<int64_t>(loaded_.plan().variables[inner->variable].max, kMostWorks) + 1);
      step += inner->length;
    } else {
      count += keepsMaps ? kMostWorks + 1 : 1;
    }
  }
  return count * static_cast<uint64_t>(std::clamp<int64_t>(trips, 0, kMostWorks + 1));
}

/// One iteration: `ends` are the works that it comes after, and then those that it ends with.
Status Run::addTrip(StepId id, DeviceBatch& batch, std::vector<uint32_t>& ends) {
  const auto& loop = std::get<Loop>(loaded_.plan().steps[id].action);
  const auto begin = static_cast<uint32_t>(batch.works.size());
  for (StepId step = id + 1; step <= id + loop.length; step++) {
    if (const auto* inner = std::get_if<Loop>(&loaded_.plan().steps[step].action)) {
      addWork(step, batch, ends);  // no work: stands for what it depends on
      const Range list = places_[step].list;
      std::vector<uint32_t> innerEnds(batch.after.begin() + list.begin, batch.after.begin() + list.end);
      SVOD_CHECK(unroll(step, batch, innerEnds));
      const auto at = static_cast<uint32_t>(batch.after.size());
      batch.after.insert(batch.after.end(), innerEnds.begin(), innerEnds.end());
      places_[step].list = {at, static_cast<uint32_t>(batch.after.size())};
      step += inner->length;
      continue;
    }
    addWork(step, batch, ends);
    if (work_[step].tiles == 0 || !program_.steps[step].dynamic || batch.works.back().kind != DeviceWork::Kind::Launch)
      continue;
    DeviceLaunch& launch = batch.works.back().launch;
    const uint32_t count = chosen_[step].call.values.size();
    batch.values.push_back(std::make_unique<int64_t[]>(count));
    std::copy_n(launch.values, count, batch.values.back().get());
    launch.values = batch.values.back().get();
  }
  for (StepId step = id + 1; step <= id + loop.length; step++) isPlaced_[step] = 0;
  if (batch.works.size() == begin) return {};
  std::vector<uint8_t> isEnd(batch.works.size() - begin, 1);
  for (size_t i = begin; i < batch.works.size(); i++)
    for (uint32_t at = batch.works[i].after.begin; at < batch.works[i].after.end; at++)
      if (batch.after[at] >= begin) isEnd[batch.after[at] - begin] = 0;
  ends.clear();
  for (uint32_t i = 0; i < isEnd.size(); i++)
    if (isEnd[i] != 0) ends.push_back(begin + i);
  return {};
}

Status Run::unroll(StepId id, DeviceBatch& batch, std::vector<uint32_t>& ends) {
  SVOD_TRY(const int64_t trips, tripsOf(id));
  for (int64_t trip = 0; trip < trips; trip++) {
    SVOD_CHECK(beginIteration(program_.steps[id].body, trip));
    SVOD_CHECK(addTrip(id, batch, ends));
  }
  return {};
}

/// A loop in another one that is not done alone may have other values each time.
Status Run::runLoop(StepId id, uint32_t worker) {
  const uint32_t body = program_.steps[id].body;
  SVOD_TRY(const int64_t trips, tripsOf(id));
  if (worksIn(id, trips) > kMostWorks) return runLoopByTrips(id, trips, worker);
  DeviceBatch& batch = loops_[body];
  if (isLoopStale_[body] != 0 || program_.steps[id].scope != 0) {
    batch.works.clear(), batch.after.clear(), batch.values.clear();
    batch.version++;
    std::vector<uint32_t> ends;
    SVOD_CHECK(unroll(id, batch, ends));
    isLoopStale_[body] = 0;
  }
  const StepId one[] = {id};
  return runWorks(one, batch, worker);
}

Status Run::runLoopByTrips(StepId id, int64_t trips, uint32_t worker) {
  const uint32_t body = program_.steps[id].body;
  for (int64_t trip = 0; trip < trips; trip++) {
    if (stop_.load(std::memory_order_relaxed)) return svod::fail(Diag::Interrupted, "the run was stopped");
    SVOD_CHECK(beginIteration(body, trip));
    for (StepId step : program_.scopes[body].steps) {
      SVOD_CHECK(awaitDevices(step));
      const uint32_t segment = program_.steps[step].segment;
      SVOD_CHECK(segment == kNoSegment ? runLoop(step, worker) : runSegment(program_.segments[segment], worker));
    }
  }
  devices_.gaveLoop(id);
  return {};
}

}  // namespace svod
