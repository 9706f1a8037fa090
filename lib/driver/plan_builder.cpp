#include "driver/plan_builder.h"

#include <algorithm>
#include <map>
#include <set>

#include "driver/describe_kernel.h"
#include "driver/place_devices.h"
#include "driver/plan_weights.h"
#include "driver/to_expr.h"
#include "plan/directory.h"
#include "plan/hazards.h"

namespace svod {

namespace {

class PlanBuilder {
 public:
  PlanBuilder(const Model& model, const Schedule& schedule, std::span<const PlannedKernel> kernels,
              const PlanOptions& options, WeightsLayout& weights, std::deque<std::vector<std::byte>>& constants)
      : model_(model), schedule_(schedule), kernels_(kernels), layout_(weights),
        weights_(model, schedule, kernels, options.variants, weights, constants), variants_(options.variants),
        variantLaunches_(options.variants.size()) {
    plan_.name = options.name;
    plan_.target = options.target;
    plan_.devices = options.devices;
  }

  Result<Plan> build(const PlanOptions& options) {
    addVariables();
    for (const ScheduleBuffer& b : schedule_.buffers) addBuffer(b);
    for (const PlannedKernel& k : kernels_) plan_.kernels.push_back(k.desc);
    for (const ScheduleItem& item : schedule_.items) SVOD_CHECK(addStep(item));
    leaveLoops();
    for (size_t i = 0; i < model_.ports.size(); ++i) SVOD_CHECK(addPort(static_cast<BufferId>(i)));
    for (const EqualSizes& sizes : model_.equalSizes) {
      SVOD_TRY(Expr a, toExpr(sizes.a, names_));
      SVOD_TRY(Expr b, toExpr(sizes.b, names_));
      plan_.equalSizes.push_back({std::move(a), std::move(b), sizes.text});
    }
    plan_.constants = layout_.constants();
    const WeightCopies copies = weightCopies();
    placeOnDevices(plan_, asked_, options.usual, KernelId(schedule_.kernels.size()), copies);
    addVariants(copies);
    planMemory(plan_, {options.memory, UINT64_MAX, inPlace_});
    return std::move(plan_);
  }

 private:
  WeightCopies weightCopies() const {
    WeightCopies copies{{}, weights_.copies()};
    for (BufferId id = 0; id < weights_.held().size(); ++id)
      if (const int weight = weights_.held()[id]; weight >= 0 && BufferId(weight) != id)
        copies.weightOf[id] = BufferId(weight);
    return copies;
  }

  void addVariables() {
    for (UOp v : model_.variables) {
      const auto& var = v.argAs<VarArg>();
      plan_.variables.push_back({std::string(var.name), var.min, var.max});
      names_.emplace_back(var.name);
      taken_.emplace(var.name);
    }
  }

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
    // The plan does not need what no step reads.
    if (isWeight && !weights_.isRead(id)) d.place = Place::Arena, d.shape = {0}, d.bytes = 0;
    plan_.buffers.push_back(std::move(d));
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
      SVOD_TRY(Expr extent, toExpr(dim, names_));
      p.shape.push_back(std::move(extent));
    }
    (port.kind == PortKind::Input ? plan_.inputs : plan_.outputs).push_back(std::move(p));
    return {};
  }

  /// Counters are known by their names inside of their loops only.
  void leaveLoops() {
    while (!loopEnds_.empty() && loopEnds_.back().first == plan_.steps.size()) {
      names_[loopEnds_.back().second].clear();
      loopEnds_.pop_back();
    }
  }

  Status addLoop(const ScheduleItem& item) {
    const ScheduleLoop& scheduled = schedule_.loops[item.kernel];
    Loop loop;
    SVOD_TRY(loop.trips, toExpr(scheduled.count, names_));
    if (scheduled.condition >= 0) loop.condition = static_cast<BufferId>(scheduled.condition);
    loop.length = static_cast<uint32_t>(item.length);
    loop.variable = static_cast<VariableId>(plan_.variables.size());
    plan_.variables.push_back({uniqueName(scheduled.counter), 0, std::max<int64_t>(0, scheduled.count.bounds().max - 1),
                               VariableKind::Loop, 0});
    names_.push_back(scheduled.counter);
    plan_.steps.push_back({{}, std::move(loop)});
    asked_.emplace_back();
    loopEnds_.emplace_back(plan_.steps.size() + item.length, names_.size() - 1);
    return {};
  }

  /// Loops after each other may share the name of their counter in the graph.
  std::string uniqueName(const std::string& counter) {
    std::string name = counter;
    int& last = lastOf_.try_emplace(counter, 1).first->second;
    while (taken_.contains(name)) name = counter + "." + std::to_string(++last);
    taken_.insert(name);
    return name;
  }

  Status addStep(const ScheduleItem& item) {
    leaveLoops();
    if (item.kind == ItemKind::Loop) return addLoop(item);
    Step step;
    if (item.kind == ItemKind::Launch) {
      SVOD_TRY(Launch launch, launchOf(item, KernelId(item.kernel)));
      for (size_t v = 0; v < variants_.size(); ++v) {
        SVOD_TRY(Launch other, launchOf(item, variants_[v].kernels[static_cast<size_t>(item.kernel)]));
        variantLaunches_[v].push_back(std::move(other));
      }
      if (item.function.empty() && item.overwrites >= 0) {
        const auto result = std::find(item.writes.begin(), item.writes.end(), true) - item.writes.begin();
        inPlace_.push_back({launch.buffers[item.overwrites], launch.buffers[result]});
      }
      if (!variants_.empty()) ownLaunches_.push_back(launch);
      step.action = std::move(launch);
    } else if (item.kind == ItemKind::Copy) {
      SVOD_TRY(Expr elements, toExpr(item.elements, names_));
      const auto to = static_cast<BufferId>(item.args[0]), from = static_cast<BufferId>(item.args[1]);
      step.action = Copy{to, from, elements * static_cast<int64_t>(byteSize(plan_.buffers[from].dtype))};
    } else {
      SVOD_TRY(step.action, hostCallOf(item));
    }
    plan_.steps.push_back(std::move(step));
    SVOD_TRY(asked_.emplace_back(), deviceOf(item));
    return {};
  }

  Result<std::optional<DeviceId>> deviceOf(const ScheduleItem& item) const {
    if (item.device.empty()) return std::nullopt;
    const auto known = std::ranges::find(model_.devices, item.device);
    if (known == model_.devices.end()) return fail(Diag::Verify, "a copy to '" + item.device + "', which is no device");
    return static_cast<DeviceId>(known - model_.devices.begin());
  }

  Result<Launch> launchOf(const ScheduleItem& item, KernelId kernel) {
    Launch launch{kernel, {}, {}};
    for (size_t slot = 0; slot < item.args.size(); ++slot)
      launch.buffers.push_back(weights_.bufferFor(item, kernel, slot, plan_.buffers));
    if (!item.function.empty()) {
      SVOD_TRY(launch.values, valuesOf(item));
      return launch;
    }
    for (const std::string& name : plan_.kernels[kernel].values)
      launch.values.push_back(
          Expr::variable(static_cast<uint32_t>(std::find(names_.begin(), names_.end(), name) - names_.begin())));
    return launch;
  }

  /// Where launches of variants differ from those of the plan. Launches have kept their order since; other buffers
  /// than weights may have been exchanged for those of a device.
  void addVariants(const WeightCopies& copies) {
    for (size_t v = 0; v < variants_.size(); ++v) {
      Variant& variant = plan_.variants.emplace_back(Variant{variants_[v].cpu, variants_[v].features, {}});
      size_t at = 0;
      for (StepId step = 0; step < plan_.steps.size(); ++step) {
        const auto* own = std::get_if<Launch>(&plan_.steps[step].action);
        if (own == nullptr) continue;
        Launch& launch = variantLaunches_[v][at];
        for (size_t slot = 0; slot < launch.buffers.size(); ++slot) {
          BufferId& buffer = launch.buffers[slot];
          if (buffer == ownLaunches_[at].buffers[slot]) buffer = own->buffers[slot];
          if (const auto weight = copies.weightOf.find(buffer); weight != copies.weightOf.end())
            buffer = weight->second;
        }
        if (!(launch == *own)) variant.launches.push_back({step, std::move(launch)});
        ++at;
      }
    }
  }

  /// What a function of a C file is given besides its arrays: its numbers, and how many elements each array has.
  Result<std::vector<Expr>> valuesOf(const ScheduleItem& item) const {
    SVOD_TRY(HostCall call, hostCallOf(item));
    for (const HostArg& arg : call.args) {
      Expr elements = 1;
      for (const Expr& extent : arg.shape) elements = elements * extent;
      call.values.push_back(std::move(elements));
    }
    return std::move(call.values);
  }

  Result<HostCall> hostCallOf(const ScheduleItem& item) const {
    HostCall call{item.function, {}, {}};
    for (size_t i = 0; i < item.args.size(); ++i) {
      HostArg arg{static_cast<BufferId>(item.args[i]), item.writes[i] ? Mode::Write : Mode::Read, {}};
      for (UOp dim : item.shapes[i]) {
        SVOD_TRY(Expr extent, toExpr(dim, names_));
        arg.shape.push_back(std::move(extent));
      }
      call.args.push_back(std::move(arg));
    }
    for (UOp v : item.values) {
      SVOD_TRY(Expr value, toExpr(v, names_));
      call.values.push_back(std::move(value));
    }
    return call;
  }

  const Model& model_;
  const Schedule& schedule_;
  std::span<const PlannedKernel> kernels_;
  WeightsLayout& layout_;
  PlanWeights weights_;
  const std::vector<PlannedVariant>& variants_;
  std::vector<Launch> ownLaunches_;                   // in order, as they were made
  std::vector<std::vector<Launch>> variantLaunches_;  // by variant, the same
  Plan plan_;
  std::vector<std::optional<DeviceId>> asked_;       // by step: where the graph copies its result to
  std::vector<InPlace> inPlace_;                     // offers of the schedule
  std::vector<std::string> names_;                   // by variable; empty for counters of loops that ended
  std::set<std::string, std::less<>> taken_;         // names of the plan's variables
  std::map<std::string, int> lastOf_;                // by counter: the last number behind its name
  std::vector<std::pair<size_t, size_t>> loopEnds_;  // first step behind an open loop, and its variable
};

}  // namespace

Result<Plan> buildPlan(const Model& model, const Schedule& schedule, std::span<const PlannedKernel> kernels,
                       const PlanOptions& options, WeightsLayout& weights,
                       std::deque<std::vector<std::byte>>& constants) {
  return PlanBuilder(model, schedule, kernels, options, weights, constants).build(options);
}

}  // namespace svod
