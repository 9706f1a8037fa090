// The memory problem of a plan, and its solution as offsets.
#include <algorithm>
#include <numeric>

#include "plan/memory_plan.h"
#include "plan/run_places.h"

namespace svod {

namespace {

/// A buffer touched inside a loop is in use for the whole loop: the next iteration may read what this one
/// left.
void stretchOverLoops(const Plan& plan, std::vector<std::vector<BufferAccess>>& steps) {
  for (StepId step = StepId(plan.steps.size()); step-- > 0;) {
    const auto* loop = std::get_if<Loop>(&plan.steps[step].action);
    if (loop == nullptr) continue;
    std::vector<BufferAccess> all;
    for (StepId inner = step; inner <= step + loop->length; inner++)
      all.insert(all.end(), steps[inner].begin(), steps[inner].end());
    std::sort(all.begin(), all.end(),
              [](const BufferAccess& a, const BufferAccess& b) { return a.storage < b.storage; });
    all.erase(std::unique(all.begin(), all.end(),
                          [](const BufferAccess& a, const BufferAccess& b) { return a.storage == b.storage; }),
              all.end());
    for (BufferAccess& access : all) access.mode = Mode::ReadWrite;
    for (StepId inner = step; inner <= step + loop->length; inner++) steps[inner] = all;
  }
}

/// Steps of a body come after the loop's step, and what waits for the loop waits for its last step.
DepLists flatDeps(const Plan& plan) {
  DepLists deps(plan.steps.size());
  std::vector<StepId> lastOf(plan.steps.size());
  for (StepId step = 0; step < plan.steps.size(); step++) {
    const auto* loop = std::get_if<Loop>(&plan.steps[step].action);
    lastOf[step] = loop == nullptr ? step : step + loop->length;
    for (StepId dep : plan.steps[step].deps) deps[step].push_back(lastOf[dep]);
  }
  // The planner sees a body as one piece, in program order: all its steps use the same buffers.
  for (StepId step = 0; step < plan.steps.size(); step++)
    for (StepId inner = step + 1; inner <= lastOf[step]; inner++) deps[inner].push_back(inner - 1);
  return deps;
}

/// What a run is checked against when all its steps are done must still be there: one more step, the last, reads it.
void readAtTheEnd(const Plan& plan, std::span<const uint32_t> slotOf, MemoryProblem& problem) {
  if (plan.expectations.empty()) return;
  std::vector<BufferAccess>& reads = problem.steps.emplace_back();
  for (const Expectation& e : plan.expectations)
    reads.push_back({slotOf[e.buffer], 0, plan.buffers[e.buffer].bytes, Mode::Read});
  std::vector<uint32_t> all(problem.deps.size());
  std::iota(all.begin(), all.end(), 0);
  problem.deps.push_back(std::move(all));
}

/// The buffers of one arena as a problem: `placed` is filled with their ids, in the order of its sizes.
MemoryProblem problemOf(const Plan& plan, DeviceId device, MemorySpace space, const MemoryOptions& options,
                        std::vector<BufferId>& placed) {
  const auto isHere = [&](BufferId id) {
    const BufferDesc& buffer = plan.buffers[id];
    return buffer.place == Place::Arena && buffer.device == device && buffer.space == space;
  };
  std::vector<uint32_t> slotOf(plan.buffers.size(), 0);
  for (BufferId id = 0; id < plan.buffers.size(); id++)
    if (isHere(id)) {
      slotOf[id] = static_cast<uint32_t>(placed.size());
      placed.push_back(id);
    }
  MemoryProblem problem;
  problem.budgetBytes = options.budgetBytes;
  for (BufferId id : placed) problem.sizes.push_back(plan.buffers[id].bytes);
  for (StepId step = 0; step < plan.steps.size(); step++) {
    std::vector<BufferAccess>& mine = problem.steps.emplace_back();
    // Of a loop, what it touches itself: the condition. Its body are steps of their own.
    std::vector<BufferAccess> accesses = accessesOf(plan, step, StorageView::Separate);
    if (const auto* loop = std::get_if<Loop>(&plan.steps[step].action)) accesses.resize(loop->condition ? 1 : 0);
    for (BufferAccess access : accesses) {
      const BufferId owner(access.storage - 1);
      if (!isHere(owner)) continue;
      access.storage = slotOf[owner];
      mine.push_back(access);
    }
  }
  stretchOverLoops(plan, problem.steps);
  problem.deps = flatDeps(plan);
  if (device == 0) readAtTheEnd(plan, slotOf, problem);
  for (const InPlace& pair : options.inPlace)
    if (isHere(pair.source) && isHere(pair.result))
      problem.inPlace.push_back({slotOf[pair.source], slotOf[pair.result]});
  return problem;
}

void addReport(Plan& plan, const MemoryLayout& layout, std::span<const BufferId> placed) {
  const MemoryReport& report = layout.report;
  MemoryReport& all = plan.memory;
  all.mode = report.mode;
  all.peakBytes += report.peakBytes;
  all.unplannedBytes += report.unplannedBytes;
  all.lowerBoundBytes += report.lowerBoundBytes;
  all.addedEdges += report.addedEdges;
  for (const PlacePair& pair : layout.inPlace) all.inPlace.push_back({placed[pair.source], placed[pair.result]});
}

/// Lays out the arena of a device and adds it to the report.
void planArena(Plan& plan, DeviceId device, MemorySpace space, const MemoryOptions& options) {
  std::vector<BufferId> placed;
  MemoryProblem problem = problemOf(plan, device, space, options, placed);
  if (space == MemorySpace::Shared && placed.empty()) return;
  if (std::ranges::any_of(placed, [&](BufferId id) { return plan.buffers[id].run.has_value(); }))
    return addReport(plan, planRuns(plan, device, space, problem, placed, options.mode), placed);
  const MemoryLayout layout = placeBuffers(problem, options.mode);
  uint64_t& arena = arenaBytes(plan.devices[device], space);
  arena = layout.report.peakBytes;
  for (size_t i = 0; i < placed.size(); i++) {  // also one that no step touches has its place inside
    BufferDesc& buffer = plan.buffers[placed[i]];
    buffer.offset = layout.offsets[i];
    arena = std::max(arena, buffer.offset + buffer.bytes);
  }
  addReport(plan, layout, placed);
}

}  // namespace

void planMemory(Plan& plan, const MemoryOptions& options) {
  addHazardEdges(plan, StorageView::Separate);
  plan.memory = {};
  for (DeviceId device = 0; device < plan.devices.size(); device++)
    for (MemorySpace space : kMemorySpaces) planArena(plan, device, space, options);
  std::ranges::sort(plan.memory.inPlace, {}, &InPlace::result);
  addHazardEdges(plan, StorageView::Placed);
}

}  // namespace svod
