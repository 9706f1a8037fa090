// The steps that devices do: given to their queues as batches, which are made once and changed where sizes or addresses
// change.
#include <algorithm>

#include "runtime-min/run.h"

namespace svod {

Status Run::awaitDevices(StepId step) {
  const uint32_t segment = program_.steps[step].segment;
  return devices_.await(step, segment == kNoSegment ? std::span<const StepId>(loaded_.plan().steps[step].deps)
                                                    : std::span<const StepId>(program_.segments[segment].awaits));
}

Status Run::evaluateTensorMaps(StepId step, const KernelDesc& kernel, std::span<const int64_t> values) {
  const std::vector<TensorMap>& descs = kernel.grid->tensorMaps;
  const auto evaluate = [&](const Expr& expr, uint64_t& to) -> Status {
    SVOD_TRY(const int64_t value, expr.evaluate(values, kernel.values));
    if (value < 0)
      return svod::fail(Diag::VariableBounds, "kernel '" + kernel.name + "' would read a tensor of negative sizes",
                        "choose other values for the variables");
    to = static_cast<uint64_t>(value);
    return {};
  };
  for (size_t i = 0; i < descs.size(); i++) {
    DeviceTensorMap& map = maps_[step][i];
    map.desc = &descs[i];
    for (size_t axis = 0; axis < descs[i].dims.size(); axis++)
      SVOD_CHECK(evaluate(descs[i].dims[axis], map.dims[axis]));
    for (size_t axis = 0; axis < descs[i].strides.size(); axis++)
      SVOD_CHECK(evaluate(descs[i].strides[axis], map.strides[axis]));
  }
  return {};
}

DeviceWork Run::workOf(StepId id) const {
  const ProgramStep& step = program_.steps[id];
  void* const* args = args_.data() + step.args.begin;
  if (step.kind == StepKind::Copy) return devices_.copyWork(id, args[0], args[1], work_[id].bytes / 2);
  const Chosen& chosen = chosen_[id];
  DeviceWork work;
  work.tag = id;
  work.launch = {chosen.call.function,    args_.data() + chosen.call.args.begin,
                 chosen.call.args.size(), values_.data() + chosen.call.values.begin,
                 work_[id].tiles,         loaded_.plan().kernels[chosen.launch->kernel].scratchBytes};
  if (groups_.empty()) return work;
  work.launch.loaded = chosen.loaded, work.launch.groups = groups_[id];
  work.launch.valueCount = chosen.call.values.size();
  work.launch.tensorMaps = maps_[id];
  return work;
}

/// Adds what the step does, if anything, behind those of the batch that it depends on, or else behind `first`.
void Run::addWork(StepId id, DeviceBatch& batch, std::span<const uint32_t> first) {
  const auto begin = static_cast<uint32_t>(batch.after.size());
  const auto add = [&](uint32_t work) {
    for (size_t i = begin; i < batch.after.size(); i++)
      if (batch.after[i] == work) return;
    batch.after.push_back(work);
  };
  bool isFirst = true;
  for (StepId dep : loaded_.plan().steps[id].deps) {
    if (isPlaced_[dep] == 0) continue;
    isFirst = false;
    const WorkPlace& place = places_[dep];
    if (!place.isList) add(place.work);
    for (uint32_t i = place.list.begin; place.isList && i < place.list.end; i++) add(batch.after[i]);
  }
  for (size_t i = 0; isFirst && i < first.size(); i++) add(first[i]);
  const bool isEmpty = work_[id].tiles == 0;
  places_[id] = {
      static_cast<uint32_t>(batch.works.size()), isEmpty, {begin, static_cast<uint32_t>(batch.after.size())}};
  isPlaced_[id] = 1;
  if (isEmpty) return;
  batch.works.push_back(workOf(id));
  batch.works.back().after = places_[id].list;
}

void Run::fillBatch(const ProgramSegment& segment, DeviceBatch& batch) {
  batch.works.clear();
  batch.after.clear();
  batch.version++;
  for (StepId id : segment.steps) addWork(id, batch, {});
  for (StepId id : segment.steps) isPlaced_[id] = 0;
}

Status Run::runSegment(const ProgramSegment& segment, uint32_t worker) {
  const StepId first = segment.steps.front();
  if (devices_.isAcross(first)) {
    if (work_[first].tiles == 0) return {};
    const ProgramStep& step = program_.steps[first];
    if (profile_.on()) profile_.begin(first, Profile::now());
    SVOD_CHECK(devices_.copyAcross(first, args_[step.args.begin], args_[step.args.begin + 1], work_[first].bytes / 2));
    if (profile_.on()) profile_.end(first, Profile::now(), work_[first].flops, work_[first].bytes);
    return {};
  }
  const uint32_t index = program_.steps[first].segment;
  DeviceBatch& batch = batches_[index];
  if (isStale_[index]) fillBatch(segment, batch);
  isStale_[index] = false;
  return runWorks(segment.steps, batch, worker);
}

/// Gives a batch, which stands for `steps`.
Status Run::runWorks(std::span<const StepId> steps, DeviceBatch& batch, uint32_t worker) {
  if (!profile_.on()) {
    devices_.give(steps, batch);
    return {};
  }
  std::vector<DeviceTime> times(batch.works.size());
  SVOD_CHECK(devices_.time(steps, batch, times));
  for (size_t i = 0; i < times.size(); i++) {
    const StepId step(batch.works[i].tag);
    profile_.begin(step, times[i].begin);
    profile_.add(worker, {step, times[i].begin, times[i].end, 0, 1});
    profile_.end(step, times[i].end, work_[step].flops, work_[step].bytes);
  }
  return {};
}

/// One step at a time, each looked at when it is done.
Status Run::runSegmentInOrder(const ProgramSegment& segment) {
  DeviceBatch& batch = single_;
  for (StepId id : segment.steps) {
    if (work_[id].tiles == 0) continue;
    batch.works.assign(1, workOf(id));
    batch.version++;
    const StepId one[] = {id};
    if (devices_.isAcross(id))
      SVOD_CHECK(devices_.copyAcross(id, args_[program_.steps[id].args.begin], args_[program_.steps[id].args.begin + 1],
                                     work_[id].bytes / 2));
    else
      devices_.give(one, batch);
    SVOD_CHECK(probe(id));
  }
  return {};
}

}  // namespace svod
