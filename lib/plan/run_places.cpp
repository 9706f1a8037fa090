#include "plan/run_places.h"

#include <algorithm>

#include "plan/arena.h"

namespace svod {

namespace {

uint64_t roundUp(uint64_t bytes) { return (bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment; }

std::vector<int64_t> valuesOf(const Plan& plan, int64_t (*ofFree)(const Variable&)) {
  std::vector<int64_t> values;
  for (const Variable& v : plan.variables)
    values.push_back(v.kind == VariableKind::Free ? ofFree(v) : v.kind == VariableKind::Fixed ? v.value : 0);
  return values;
}

/// The places that offsets for some sizes come down to: a unit lies between each two places where a buffer begins or
/// ends.
std::vector<RunPlace> unitsOf(std::span<const uint64_t> offsets, std::span<const uint64_t> sizes) {
  std::vector<uint64_t> borders = {0};
  const auto endOf = [&](size_t i) { return offsets[i] + std::max(roundUp(sizes[i]), kPlanAlignment); };
  for (size_t i = 0; i < offsets.size(); i++) borders.insert(borders.end(), {offsets[i], endOf(i)});
  std::ranges::sort(borders);
  borders.erase(std::ranges::unique(borders).begin(), borders.end());
  const auto unit = [&](uint64_t border) {
    return static_cast<uint32_t>(std::ranges::lower_bound(borders, border) - borders.begin());
  };
  std::vector<RunPlace> places;
  for (size_t i = 0; i < offsets.size(); i++) places.push_back({unit(offsets[i]), unit(endOf(i)), {}});
  return places;
}

/// One arena, and what it takes at each of several points.
class RunPlanner {
 public:
  RunPlanner(Plan& plan, DeviceId device, MemorySpace space, MemoryProblem problem, std::span<const BufferId> placed)
      : plan_(plan), device_(device), space_(space), problem_(std::move(problem)), placed_(placed) {
    std::vector<bool> isUsed(placed.size(), false);
    for (const std::vector<BufferAccess>& step : problem_.steps)
      for (const BufferAccess& access : step) isUsed[access.storage] = true;
    for (size_t i = 0; i < placed.size(); i++) {
      BufferDesc& buffer = plan.buffers[placed[i]];
      if (!buffer.run) buffer.run = RunPlace{0, 0, static_cast<int64_t>(buffer.bytes)};
      if (!isUsed[i]) buffer.run->bytes = 0;
    }
    sizesAt_ = {sizesAt(likelyValues(plan)), sizesAt(valuesOf(plan, [](const Variable& v) { return v.min; })),
                sizesAt(valuesOf(plan, [](const Variable& v) { return v.max; }))};
  }

  MemoryLayout run(MemoryMode mode) {
    std::vector<MemoryLayout> layouts;
    std::vector<std::vector<RunPlace>> places;
    for (const std::vector<uint64_t>& sizes : sizesAt_) {
      problem_.sizes = sizes;
      layouts.push_back(placeBuffers(problem_, mode));
      places.push_back(unitsOf(layouts.back().offsets, sizes));
    }
    const size_t best = bestOf(places);
    use(places[best]);
    MemoryLayout likely = layouts[0];
    likely.inPlace = layouts[best].inPlace;
    likely.report.peakBytes = bytesAt(sizesAt_[0]);
    likely.report.addedEdges = layouts[best].report.addedEdges;
    std::vector<uint64_t> most;
    for (BufferId id : placed_) most.push_back(plan_.buffers[id].bytes);
    arenaBytes(plan_.devices[device_], space_) = bytesAt(most);
    return likely;
  }

 private:
  /// What is empty at these values only has a place as well.
  std::vector<uint64_t> sizesAt(std::span<const int64_t> values) const {
    std::vector<uint64_t> sizes;
    for (BufferId id : placed_) {
      const BufferDesc& buffer = plan_.buffers[id];
      const uint64_t bytes = bytesInRun(buffer, values).value_or(buffer.bytes);
      sizes.push_back(std::max(bytes, std::min<uint64_t>(buffer.run->bytes.constant() ? 0 : 1, buffer.bytes)));
    }
    return sizes;
  }

  void use(std::span<const RunPlace> places) {
    for (size_t i = 0; i < placed_.size(); i++) {
      RunPlace& place = *plan_.buffers[placed_[i]].run;
      place.begin = places[i].begin, place.end = places[i].end;
    }
  }

  /// What the places in use take for these sizes.
  uint64_t bytesAt(std::span<const uint64_t> sizes) const {
    std::vector<uint64_t> bytes(plan_.buffers.size(), 0);
    for (size_t i = 0; i < placed_.size(); i++) bytes[placed_[i]] = sizes[i];
    ArenaUnits units(plan_);
    units.layOut(plan_, bytes);
    return units.bytesOf(device_, space_);
  }

  /// The one whose greatest loss at a point, against the best one there, is least; the first of equals.
  size_t bestOf(std::span<const std::vector<RunPlace>> places) {
    std::vector<std::vector<double>> bytes;  // by places, by point
    for (const std::vector<RunPlace>& each : places) {
      use(each);
      std::vector<double>& at = bytes.emplace_back();
      for (const std::vector<uint64_t>& sizes : sizesAt_)
        at.push_back(static_cast<double>(std::max<uint64_t>(1, bytesAt(sizes))));
    }
    const auto loss = [&](size_t i) {
      double most = 0;
      for (size_t point = 0; point < sizesAt_.size(); point++) {
        double least = bytes[0][point];
        for (const std::vector<double>& other : bytes) least = std::min(least, other[point]);
        most = std::max(most, bytes[i][point] / least);
      }
      return most;
    };
    size_t best = 0;
    for (size_t i = 1; i < places.size(); i++)
      if (loss(i) < loss(best)) best = i;
    return best;
  }

  Plan& plan_;
  DeviceId device_;
  MemorySpace space_;
  MemoryProblem problem_;
  std::span<const BufferId> placed_;
  std::vector<std::vector<uint64_t>> sizesAt_;  // at the likely, the least and the greatest values
};

}  // namespace

std::vector<int64_t> likelyValues(const Plan& plan) {
  return valuesOf(plan, [](const Variable& v) { return v.likely.value_or(v.min); });
}

std::vector<BufferSpan> spansAt(const Plan& plan, std::span<const int64_t> values) {
  std::vector<BufferSpan> spans(plan.buffers.size());
  std::vector<uint64_t> bytes(plan.buffers.size(), 0);
  for (BufferId id = 0; id < plan.buffers.size(); id++) {
    const BufferDesc& buffer = plan.buffers[id];
    if (buffer.place != Place::Arena) continue;
    spans[id] = {buffer.offset, buffer.bytes};
    if (buffer.run) spans[id].bytes = bytes[id] = bytesInRun(buffer, values).value_or(buffer.bytes);
  }
  ArenaUnits units(plan);
  units.layOut(plan, bytes);
  for (BufferId id = 0; id < plan.buffers.size(); id++)
    if (plan.buffers[id].run) spans[id].offset = units.offsetOf(plan.buffers[id]);
  return spans;
}

MemoryLayout planRuns(Plan& plan, DeviceId device, MemorySpace space, MemoryProblem problem,
                      std::span<const BufferId> placed, MemoryMode mode) {
  return RunPlanner(plan, device, space, std::move(problem), placed).run(mode);
}

}  // namespace svod
