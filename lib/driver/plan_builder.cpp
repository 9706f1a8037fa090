#include "driver/plan_builder.h"

#include <algorithm>

#include "driver/compile.h"
#include "driver/describe_kernel.h"
#include "driver/place_devices.h"
#include "driver/plan_calls.h"
#include "driver/plan_weights.h"
#include "driver/variant_launches.h"
#include "plan/directory.h"
#include "plan/hazards.h"

namespace svod {

namespace {

/// Not where the stores of a kernel are gone at its sizes: what it never touches counts as read.
bool touchesNoMore(const KernelDesc& kernel, const KernelDesc& own) {
  return std::ranges::equal(kernel.args, own.args, [](const KernelArg& a, const KernelArg& b) {
    return reads(a.mode) <= reads(b.mode) && writes(a.mode) <= writes(b.mode);
  });
}

class PlanBuilder {
 public:
  PlanBuilder(const Model& model, const Schedule& schedule, std::span<const PlannedKernel> kernels,
              const PlanOptions& options, WeightsLayout& weights, std::deque<LargeBytes>& constants)
      : model_(model), schedule_(schedule), kernels_(kernels), layout_(weights),
        weights_(model, schedule, kernels, options, weights, constants), variants_(options.variants),
        cases_(options.cases), launches_(options.variants), variables_(plan_.variables) {
    plan_.name = options.name;
    plan_.target = options.target;
    plan_.devices = options.devices;
  }

  Result<Plan> build(const PlanOptions& options) {
    for (UOp v : model_.variables) variables_.add(v.argAs<VarArg>());
    for (const ScheduleBuffer& b : schedule_.buffers) addBuffer(b);
    for (const PlannedKernel& k : kernels_) plan_.kernels.push_back(k.desc);
    for (const ScheduleItem& item : schedule_.items) SVOD_CHECK(addStep(item));
    variables_.leaveLoops(plan_.steps.size());
    for (size_t i = 0; i < model_.ports.size(); ++i) SVOD_CHECK(addPort(static_cast<BufferId>(i)));
    for (const EqualSizes& sizes : model_.equalSizes) {
      SVOD_TRY(Expr a, variables_.expr(sizes.a));
      SVOD_TRY(Expr b, variables_.expr(sizes.b));
      plan_.equalSizes.push_back({std::move(a), std::move(b), sizes.text});
    }
    plan_.constants = layout_.constants();
    const WeightCopies copies = weights_.copies();
    placeOnDevices(plan_, asked_, options.usual, options.functions.value_or(KernelId(schedule_.kernels.size())),
                   copies);
    launches_.finish(plan_, copies.weightOf);
    planMemory(plan_, {options.memory, UINT64_MAX, inPlace_});
    return std::move(plan_);
  }

 private:
  void addBuffer(const ScheduleBuffer& b) {
    const size_t id = plan_.buffers.size();
    const bool isWeight = b.port >= 0 && model_.ports[static_cast<size_t>(b.port)].kind == PortKind::Weight;
    BufferDesc d;
    d.name = b.name;
    d.dtype = storedType(b.dtype);
    if (b.port < 0) {
      d.shape = {static_cast<uint64_t>(b.maxElements)};
      if (b.viewOf >= 0) {
        d.place = Place::View, d.base = static_cast<BufferId>(b.viewOf);
        d.offset = static_cast<uint64_t>(b.viewOffset) * byteSize(d.dtype);
      }
    } else {
      const ModelPort& port = model_.ports[b.port];
      for (UOp dim : port.buffer.shape()) d.shape.push_back(static_cast<uint64_t>(dim.bounds().max));
      place(port, d);
    }
    d.bytes = memoryBytes(d.dtype, static_cast<uint64_t>(b.maxElements));
    if (d.place == Place::Arena && b.elements) placeForRuns(b.elements, d);
    // The plan does not need what no step reads.
    if (isWeight && !weights_.isRead(id)) d.place = Place::Arena, d.shape = {0}, d.bytes = 0;
    plan_.buffers.push_back(std::move(d));
  }

  /// Unless the size is known, or only inside a loop.
  void placeForRuns(UOp elements, BufferDesc& d) {
    const Result<Expr> count = variables_.expr(elements);
    if (count && !count->constant()) d.run = RunPlace{0, 0, *count * static_cast<int64_t>(byteSize(d.dtype))};
  }

  void place(const ModelPort& port, BufferDesc& d) {
    switch (port.kind) {
      case PortKind::Input: d.place = Place::Input; break;
      case PortKind::Output: d.place = Place::Output; break;
      case PortKind::State: d.place = Place::State; break;
      case PortKind::Temporary:
      case PortKind::Expectation: d.place = Place::Arena; break;
      case PortKind::Weight:
        d.place = Place::Constant;
        if (weights_.isPlain(plan_.buffers.size())) d.constant = layout_.add({port.data.data, port.data.bytes});
        break;
    }
  }

  Status addPort(BufferId id) {
    const ModelPort& port = model_.ports[id];
    if (port.kind == PortKind::Weight || port.kind == PortKind::Temporary) return {};
    if (port.kind == PortKind::State) {
      State state{port.name, id, {}};
      if (port.data.bytes > 0) state.init = layout_.add({port.data.data, port.data.bytes});
      plan_.states.push_back(std::move(state));
      return {};
    }
    if (port.kind == PortKind::Expectation) {
      plan_.expectations.push_back({id, port.expectation, port.name});
      return {};
    }
    Port p{port.name, id, {}};
    for (UOp dim : port.buffer.shape()) {
      SVOD_TRY(Expr extent, variables_.expr(dim));
      p.shape.push_back(std::move(extent));
    }
    (port.kind == PortKind::Input ? plan_.inputs : plan_.outputs).push_back(std::move(p));
    return {};
  }

  Status addLoop(const ScheduleItem& item) {
    const ScheduleLoop& scheduled = schedule_.loops[item.kernel];
    Loop loop;
    SVOD_TRY(loop.trips, variables_.expr(scheduled.count));
    if (scheduled.condition >= 0) loop.condition = static_cast<BufferId>(scheduled.condition);
    loop.length = static_cast<uint32_t>(item.length);
    loop.variable = variables_.enterLoop(scheduled, plan_.steps.size() + 1 + item.length);
    plan_.steps.push_back({{}, std::move(loop)});
    asked_.emplace_back();
    return {};
  }

  Status addStep(const ScheduleItem& item) {
    variables_.leaveLoops(plan_.steps.size());
    if (item.kind == ItemKind::Loop) return addLoop(item);
    Step step;
    if (item.kind == ItemKind::Launch) {
      SVOD_TRY(Launch launch, launchOf(item, {}));
      for (const PlannedVariant& variant : variants_) {
        SVOD_TRY(Launch other, launchOf(item, variant.kernels));
        launches_.add(&variant - variants_.data(), std::move(other));
      }
      if (item.function.empty() && item.overwrites >= 0) {
        const auto result = std::find(item.writes.begin(), item.writes.end(), true) - item.writes.begin();
        inPlace_.push_back({launch.buffers[item.overwrites], launch.buffers[result]});
      }
      launches_.addOwn(launch);
      step.action = std::move(launch);
    } else if (item.kind == ItemKind::Copy) {
      SVOD_TRY(Expr elements, variables_.expr(item.elements));
      const auto to = static_cast<BufferId>(item.args[0]), from = static_cast<BufferId>(item.args[1]);
      step.action = Copy{to, from, elements * static_cast<int64_t>(byteSize(plan_.buffers[from].dtype))};
    } else {
      SVOD_TRY(step.action, hostCallOf(item, variables_));
    }
    plan_.steps.push_back(std::move(step));
    SVOD_TRY(asked_.emplace_back(), deviceOf(item));
    return {};
  }

  Result<std::optional<DeviceId>> deviceOf(const ScheduleItem& item) const {
    if (item.device.empty()) return std::nullopt;
    const auto known = std::ranges::find(model_.devices, item.device);
    if (known == model_.devices.end())
      return fail(Diag::Verify, "a copy to '" + item.device + "', which is no device",
                  "this is a mistake of the compiler; please report it");
    return static_cast<DeviceId>(known - model_.devices.begin());
  }

  /// `instead`: by kernel, what a variant runs in its place.
  Result<Launch> launchOf(const ScheduleItem& item, std::span<const KernelId> instead) {
    const auto idOf = [&](size_t kernel) { return instead.empty() ? KernelId(kernel) : instead[kernel]; };
    const auto own = static_cast<size_t>(item.kernel);
    SVOD_TRY(Launch launch, callOf(item, idOf(own)));
    if (own >= cases_.size()) return launch;
    for (const KernelCase& known : cases_[own]) {
      LaunchCase& one = launch.cases.emplace_back();
      for (const SizeLimits& own : known.sizes) one.when.push_back({variables_.named(own.size), own.min, own.max});
      SVOD_TRY(one.launch, callOf(item, idOf(known.kernel)));
      if (!touchesNoMore(plan_.kernels[one.launch.kernel], plan_.kernels[launch.kernel])) launch.cases.pop_back();
    }
    return launch;
  }
  Result<Launch> callOf(const ScheduleItem& item, KernelId kernel) {
    Launch launch{kernel, {}, {}, {}};
    for (size_t slot = 0; slot < item.args.size(); ++slot)
      launch.buffers.push_back(weights_.bufferFor(item, kernel, slot, plan_.buffers));
    if (!item.function.empty()) {
      SVOD_TRY(launch.values, functionValues(item, variables_));
      return launch;
    }
    for (const std::string& name : plan_.kernels[kernel].values) launch.values.push_back(variables_.named(name));
    return launch;
  }

  const Model& model_;
  const Schedule& schedule_;
  std::span<const PlannedKernel> kernels_;
  WeightsLayout& layout_;
  PlanWeights weights_;
  const std::vector<PlannedVariant>& variants_;
  std::span<const std::vector<KernelCase>> cases_;
  VariantLaunches launches_;
  Plan plan_;
  PlanVariables variables_;
  std::vector<std::optional<DeviceId>> asked_;  // by step: where the graph copies its result to
  std::vector<InPlace> inPlace_;                // offers of the schedule
};

}  // namespace

Result<Plan> buildPlan(const Model& model, const Schedule& schedule, std::span<const PlannedKernel> kernels,
                       const PlanOptions& options, WeightsLayout& weights, std::deque<LargeBytes>& constants) {
  return PlanBuilder(model, schedule, kernels, options, weights, constants).build(options);
}

}  // namespace svod
