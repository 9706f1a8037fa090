#include "driver/place_devices.h"

#include <algorithm>

#include "driver/buffer_users.h"
#include "driver/stand_ins.h"

namespace svod {

namespace {

/// Callers lend memory for the sizes of the run, and arenas may be laid out for it; states and weights are as large as
/// they ever are.
/// A part of them may begin or end beyond these.
Expr bytesOf(const Plan& plan, BufferId id) {
  const BufferDesc& desc = plan.buffers[id];
  if (desc.place == Place::View) {
    const Expr behind = bytesOf(plan, desc.base) - static_cast<int64_t>(desc.offset);
    return Expr::make(ExprOp::Min, static_cast<int64_t>(desc.bytes), Expr::make(ExprOp::Max, behind, 0));
  }
  if (desc.run) return desc.run->bytes;
  for (const std::vector<Port>* ports : {&plan.inputs, &plan.outputs})
    for (const Port& port : *ports) {
      if (port.buffer != id) continue;
      const auto perElement = static_cast<int64_t>(info(plan.buffers[id].dtype).bits);
      Expr bits = perElement;
      if (perElement % 8 == 0) bits = perElement / 8;
      for (const Expr& dim : port.shape) bits = bits * dim;
      return perElement % 8 == 0 ? bits : Expr::make(ExprOp::CeilDiv, bits, 8);
    }
  return static_cast<int64_t>(plan.buffers[id].bytes);
}

class Placer {
 public:
  /// States are on the devices that their buffers have.
  Placer(Plan& plan, std::span<const std::optional<DeviceId>> asked, DeviceId usual, KernelId functions,
         const WeightCopies& weights)
      : plan_(plan), asked_(asked), usual_(usual), functions_(functions), weights_(weights), standIns_(plan),
        deviceOf_(plan.buffers.size()), isTouched_(plan.buffers.size(), false), users_(plan.buffers.size()) {
    for (BufferId id = 0; id < plan.buffers.size(); id++) {
      const Place place = plan.buffers[id].place;
      isTouched_[id] = place == Place::Input || place == Place::State || place == Place::Constant;
      if (place == Place::State)
        deviceOf_[id] = plan.buffers[id].device;
      else if (place != Place::Arena && place != Place::Constant)
        deviceOf_[id] = DeviceId();
    }
    for (const Expectation& e : plan.expectations) deviceOf_[e.buffer] = DeviceId();
    for (const Step& step : plan.steps)
      if (const auto* loop = std::get_if<Loop>(&step.action); loop != nullptr && loop->condition)
        users_.needOnHost(base(*loop->condition)), deviceOf_[base(*loop->condition)] = DeviceId();
  }

  /// After run().
  const BufferUsers& users() const { return users_; }

  void run() {
    const std::vector<Step> steps = std::exchange(plan_.steps, {});
    struct Open {
      StepId loop;
      size_t end;
    };
    std::vector<Open> open;
    const auto close = [&](size_t step) {
      for (; !open.empty() && open.back().end == step; open.pop_back()) {
        std::get<Loop>(plan_.steps[open.back().loop].action).length =
            static_cast<uint32_t>(plan_.steps.size() - open.back().loop - 1);
        standIns_.leaveLoop();
      }
    };
    for (size_t i = 0; i < steps.size(); i++) {
      close(i);
      isRepeated_ = !open.empty();
      add(steps[i], asked_[i]);
      if (const auto* loop = std::get_if<Loop>(&steps[i].action)) {
        open.push_back({static_cast<StepId>(plan_.steps.size() - 1), i + 1 + loop->length});
        standIns_.enterLoop(std::span(steps).subspan(i + 1, loop->length));
      }
    }
    close(steps.size());
    for (BufferId id = 0; id < plan_.buffers.size(); id++)
      if (plan_.buffers[id].place == Place::Arena) plan_.buffers[id].device = deviceOf_[id].value_or(0);
    for (const auto& [copy, weight] : weights_.weightOf) plan_.buffers[copy].shape = {0}, plan_.buffers[copy].bytes = 0;
  }

 private:
  BufferId base(BufferId id) const { return plan_.buffers[id].place == Place::View ? plan_.buffers[id].base : id; }
  bool isConstant(BufferId id) const { return plan_.buffers[base(id)].place == Place::Constant; }

  BufferId weightOf(BufferId id) const {
    const auto found = weights_.weightOf.find(id);
    return found == weights_.weightOf.end() ? id : found->second;
  }

  void add(Step step, std::optional<DeviceId> asked) {
    if (auto* launch = std::get_if<Launch>(&step.action)) {
      const std::vector<KernelArg>& args = plan_.kernels[launch->kernel].args;
      std::vector<Mode> modes;
      for (const KernelArg& arg : args) modes.push_back(arg.mode);
      std::vector<BufferId*> buffers;
      for (BufferId& id : launch->buffers) buffers.push_back(&id);
      return addOn(homeOf(*launch), asked, step, buffers, modes);
    }
    if (auto* call = std::get_if<HostCall>(&step.action)) {
      std::vector<Mode> modes;
      std::vector<BufferId*> buffers;
      for (HostArg& arg : call->args) modes.push_back(arg.mode), buffers.push_back(&arg.buffer);
      return addOn(0, {}, step, buffers, modes);
    }
    if (auto* copy = std::get_if<Copy>(&step.action)) {
      std::optional<DeviceId>& to = deviceOf_[base(copy->dst)];
      if (!to) to = asked.value_or(deviceOf_[base(copy->src)].value_or(0));
      if (weights_.weightOf.contains(copy->dst)) return;
      copy->src = weightOf(copy->src);
      users_.copy(base(copy->src), deviceOf_[base(copy->src)].value_or(0), base(copy->dst), *to);
      isTouched_[base(copy->dst)] = true;
      standIns_.wrote(copy->dst, {});
    }
    plan_.steps.push_back(std::move(step));
  }

  DeviceId homeOf(const Launch& launch) const {
    if (launch.kernel >= functions_) return 0;
    for (BufferId id : launch.buffers) {
      const auto copy = weights_.standsFor.find(id);
      const BufferId owner = copy == weights_.standsFor.end() ? base(id) : copy->second;
      if (deviceOf_[owner].value_or(0) != 0) return *deviceOf_[owner];
    }
    return usual_;
  }

  /// The step with all its buffers on `home`. New values stay there unless another device is asked for.
  void addOn(DeviceId home, std::optional<DeviceId> asked, Step& step, std::span<BufferId* const> buffers,
             std::span<const Mode> modes) {
    const auto* launch = std::get_if<Launch>(&step.action);
    const bool isOfHost = launch == nullptr || launch->kernel >= functions_;
    std::vector<Step> after;
    std::vector<std::pair<BufferId, std::optional<DeviceId>>> written;
    for (size_t i = 0; i < buffers.size(); i++) {
      BufferId& id = *buffers[i];
      id = weightOf(id);
      const BufferId owner = base(id);
      users_.useOn(home, owner);
      if (isOfHost) users_.needOnHost(owner);
      const bool isNew = !deviceOf_[owner] && !isConstant(id);
      if (isNew) deviceOf_[owner] = writes(modes[i]) ? asked.value_or(home) : home;
      if (isConstant(id) || *deviceOf_[owner] == home) {
        isTouched_[owner] = isTouched_[owner] || writes(modes[i]);
        if (writes(modes[i])) written.emplace_back(id, std::nullopt);
        continue;
      }
      const BufferId standIn = standInOf(id, home);
      if (writes(modes[i])) {
        after.push_back({{}, Copy{id, standIn, bytesOf(plan_, id)}});
        isTouched_[owner] = true;
        written.emplace_back(id, home);
      }
      id = standIn;
    }
    plan_.steps.push_back(std::move(step));
    plan_.steps.insert(plan_.steps.end(), after.begin(), after.end());
    for (const auto& [id, updated] : written) standIns_.wrote(id, updated);
  }

  /// With what the buffer holds.
  BufferId standInOf(BufferId id, DeviceId device) {
    if (const std::optional<BufferId> known = standIns_.find(id, device)) return *known;
    const auto standIn = static_cast<BufferId>(plan_.buffers.size());
    addStandIn(id, device);
    // What the step leaves as it is must be there afterwards, too; in a loop an earlier iteration may have written it.
    if (isTouched_[base(id)] || isRepeated_) plan_.steps.push_back({{}, Copy{standIn, id, bytesOf(plan_, id)}});
    standIns_.add(id, device, standIn);
    return standIn;
  }

  void addStandIn(BufferId id, DeviceId device) {
    BufferDesc desc = plan_.buffers[id];
    if (const Expr bytes = bytesOf(plan_, id); !bytes.constant()) desc.run = RunPlace{0, 0, bytes};
    desc.name += desc.name.empty() ? "" : "@" + plan_.devices[device].name;
    desc.place = Place::Arena;
    desc.offset = 0, desc.base = 0, desc.constant = 0, desc.device = device;
    plan_.buffers.push_back(std::move(desc));
    deviceOf_.push_back(device);
    isTouched_.push_back(true);
    users_.add();
  }

  Plan& plan_;
  std::span<const std::optional<DeviceId>> asked_;
  DeviceId usual_;
  KernelId functions_;  // the first of them
  const WeightCopies& weights_;
  StandIns standIns_;
  std::vector<std::optional<DeviceId>> deviceOf_;  // by buffer; none yet, or a constant
  std::vector<bool> isTouched_;                    // by buffer: holds something
  BufferUsers users_;
  bool isRepeated_ = false;  // the step stands in a loop
};

/// From all of them on the host on. Where one is decides where kernels run, and so where the others are.
void placeStates(Plan& plan, std::span<const std::optional<DeviceId>> asked, DeviceId usual, KernelId functions,
                 const WeightCopies& weights) {
  const auto isState = [](const BufferDesc& buffer) { return buffer.place == Place::State; };
  bool isSettled = false;
  for (auto trials = std::ranges::count_if(plan.buffers, isState); trials > 0 && !isSettled; --trials) {
    Plan tried = plan;
    Placer placer(tried, asked, usual, functions, weights);
    placer.run();
    isSettled = true;
    for (BufferId id = 0; id < plan.buffers.size(); id++) {
      if (!isState(plan.buffers[id])) continue;
      const DeviceId device = placer.users().only(id).value_or(0);
      isSettled = isSettled && device == plan.buffers[id].device;
      plan.buffers[id].device = device;
    }
  }
}

}  // namespace

void placeOnDevices(Plan& plan, std::span<const std::optional<DeviceId>> asked, DeviceId usual, KernelId functions,
                    const WeightCopies& weights) {
  if (plan.devices.size() == 1 && weights.weightOf.empty()) return;
  placeStates(plan, asked, usual, functions, weights);
  Placer(plan, asked, usual, functions, weights).run();
}

}  // namespace svod
