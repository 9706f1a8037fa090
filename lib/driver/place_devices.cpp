#include "driver/place_devices.h"

#include <algorithm>
#include <map>

namespace svod {

namespace {

class Placer {
 public:
  Placer(Plan& plan, std::span<const std::optional<DeviceId>> asked)
      : plan_(plan), asked_(asked), deviceOf_(plan.buffers.size()), isTouched_(plan.buffers.size(), false) {
    for (BufferId id = 0; id < plan.buffers.size(); id++) {
      const Place place = plan.buffers[id].place;
      isTouched_[id] = place == Place::Input || place == Place::State || place == Place::Constant;
      if (place != Place::Arena && place != Place::Constant) deviceOf_[id] = 0;
    }
    for (const Expectation& e : plan.expectations) deviceOf_[e.buffer] = 0;
    for (const Step& step : plan.steps)
      if (const auto* loop = std::get_if<Loop>(&step.action); loop != nullptr && loop->condition)
        deviceOf_[base(*loop->condition)] = 0;
  }

  void run() {
    const std::vector<Step> steps = std::exchange(plan_.steps, {});
    struct Open {
      StepId loop;
      size_t end;
    };
    std::vector<Open> open;
    const auto close = [&](size_t step) {
      for (; !open.empty() && open.back().end == step; open.pop_back())
        std::get<Loop>(plan_.steps[open.back().loop].action).length =
            static_cast<uint32_t>(plan_.steps.size() - open.back().loop - 1);
    };
    for (size_t i = 0; i < steps.size(); i++) {
      close(i);
      isRepeated_ = !open.empty();
      add(steps[i], asked_[i]);
      if (const auto* loop = std::get_if<Loop>(&steps[i].action))
        open.push_back({static_cast<StepId>(plan_.steps.size() - 1), i + 1 + loop->length});
    }
    close(steps.size());
    for (BufferId id = 0; id < plan_.buffers.size(); id++)
      if (plan_.buffers[id].place == Place::Arena) plan_.buffers[id].device = deviceOf_[id].value_or(0);
  }

 private:
  BufferId base(BufferId id) const { return plan_.buffers[id].place == Place::View ? plan_.buffers[id].base : id; }
  bool isConstant(BufferId id) const { return plan_.buffers[base(id)].place == Place::Constant; }

  void add(Step step, std::optional<DeviceId> asked) {
    if (auto* launch = std::get_if<Launch>(&step.action)) {
      const std::vector<KernelArg>& args = plan_.kernels[launch->kernel].args;
      std::vector<Mode> modes;
      for (const KernelArg& arg : args) modes.push_back(arg.mode);
      std::vector<BufferId*> buffers;
      for (BufferId& id : launch->buffers) buffers.push_back(&id);
      return addOn(homeOf(launch->buffers), asked, step, buffers, modes);
    }
    if (auto* call = std::get_if<HostCall>(&step.action)) {
      std::vector<Mode> modes;
      std::vector<BufferId*> buffers;
      for (HostArg& arg : call->args) modes.push_back(arg.mode), buffers.push_back(&arg.buffer);
      return addOn(0, {}, step, buffers, modes);
    }
    if (const auto* copy = std::get_if<Copy>(&step.action)) {
      std::optional<DeviceId>& to = deviceOf_[base(copy->dst)];
      if (!to) to = asked.value_or(deviceOf_[base(copy->src)].value_or(0));
      isTouched_[base(copy->dst)] = true;
    }
    plan_.steps.push_back(std::move(step));
  }

  DeviceId homeOf(std::span<const BufferId> buffers) const {
    for (BufferId id : buffers)
      if (deviceOf_[base(id)].value_or(0) != 0) return *deviceOf_[base(id)];
    return 0;
  }

  /// The step with all its buffers on `home`. New values stay there unless another device is asked for.
  void addOn(DeviceId home, std::optional<DeviceId> asked, Step& step, std::span<BufferId* const> buffers,
             std::span<const Mode> modes) {
    std::map<BufferId, BufferId> stand;  // in for those on other devices
    std::vector<Step> after;
    for (size_t i = 0; i < buffers.size(); i++) {
      BufferId& id = *buffers[i];
      const BufferId owner = base(id);
      const bool isNew = !deviceOf_[owner] && !isConstant(id);
      if (isNew) deviceOf_[owner] = writes(modes[i]) ? asked.value_or(home) : home;
      if (isConstant(id) || *deviceOf_[owner] == home) {
        isTouched_[owner] = isTouched_[owner] || writes(modes[i]);
        continue;
      }
      const auto [at, isFirst] = stand.try_emplace(id, static_cast<BufferId>(plan_.buffers.size()));
      if (isFirst) addStandIn(id, home);
      // What the step leaves as it is must be there afterwards, too; in a loop an earlier iteration may have written
      // it.
      const bool isKept = isTouched_[owner] || isRepeated_;
      if (isFirst && isKept) plan_.steps.push_back({{}, Copy{at->second, id, bytesOf(id)}});
      if (writes(modes[i])) {
        after.push_back({{}, Copy{id, at->second, bytesOf(id)}});
        isTouched_[owner] = true;
      }
      id = at->second;
    }
    plan_.steps.push_back(std::move(step));
    plan_.steps.insert(plan_.steps.end(), after.begin(), after.end());
  }

  void addStandIn(BufferId id, DeviceId device) {
    BufferDesc desc = plan_.buffers[id];
    desc.name += desc.name.empty() ? "" : "@" + plan_.devices[device].name;
    desc.place = Place::Arena;
    desc.offset = 0, desc.base = 0, desc.constant = 0, desc.device = device;
    plan_.buffers.push_back(std::move(desc));
    deviceOf_.push_back(device);
    isTouched_.push_back(true);
  }

  /// Callers lend memory for the sizes of the run; everything else has room for the greatest ones.
  Expr bytesOf(BufferId id) const {
    for (const std::vector<Port>* ports : {&plan_.inputs, &plan_.outputs})
      for (const Port& port : *ports) {
        if (port.buffer != id) continue;
        const auto perElement = static_cast<int64_t>(info(plan_.buffers[id].dtype).bits);
        Expr bits = perElement;
        if (perElement % 8 == 0) bits = perElement / 8;
        for (const Expr& dim : port.shape) bits = bits * dim;
        return perElement % 8 == 0 ? bits : Expr::make(ExprOp::CeilDiv, bits, 8);
      }
    return static_cast<int64_t>(plan_.buffers[id].bytes);
  }

  Plan& plan_;
  std::span<const std::optional<DeviceId>> asked_;
  std::vector<std::optional<DeviceId>> deviceOf_;  // by buffer; none yet, or a constant
  std::vector<bool> isTouched_;                    // by buffer: holds something
  bool isRepeated_ = false;                        // the step stands in a loop
};

}  // namespace

void placeOnDevices(Plan& plan, std::span<const std::optional<DeviceId>> asked) {
  if (plan.devices.size() > 1) Placer(plan, asked).run();
}

}  // namespace svod
