#include "runtime-min/device_steps.h"
#include "support/says.h"

#include <algorithm>
#include <cstring>

namespace svod {

DeviceSteps::DeviceSteps(const Plan& plan, std::vector<Device*> devices)
    : plan_(&plan), devices_(std::move(devices)), places_(plan.buffers.size(), 0), homes_(plan.steps.size(), 0),
      tickets_(plan.steps.size(), 0) {
  devices_.resize(plan.devices.size(), nullptr);
  any_ = std::ranges::any_of(devices_, [](const Device* device) { return device != nullptr; });
  if (!any_) return;
  last_ = std::make_unique<std::atomic<Device::Ticket>[]>(devices_.size());
  const auto queueOf = [&](BufferId buffer) {
    const DeviceId device = deviceOf(plan, buffer).value_or(0);
    return devices_[device] != nullptr ? device : DeviceId();
  };
  for (BufferId buffer = 0; buffer < plan.buffers.size(); buffer++)
    places_[buffer] = deviceOf(plan, buffer).value_or(0);
  uint64_t staged = 0;
  for (StepId step = 0; step < plan.steps.size(); step++) {
    DeviceId& home = homes_[step];
    if (const auto* launch = std::get_if<Launch>(&plan.steps[step].action)) {
      for (BufferId buffer : launch->buffers) home = std::max(home, queueOf(buffer));  // they are on one device
    } else if (const auto* copy = std::get_if<Copy>(&plan.steps[step].action)) {
      const DeviceId to = queueOf(copy->dst), from = queueOf(copy->src);
      home = to != 0 ? to : from;
      if (to != 0 && from != 0 && to != from) staged = std::max(staged, plan.buffers[copy->dst].bytes);
    }
  }
  staging_.resize(staged);
}

std::vector<uint32_t> DeviceSteps::queues() const {
  std::vector<uint32_t> queues(homes_.begin(), homes_.end());
  for (StepId step = 0; step < queues.size(); step++)
    if (isAcross(step)) queues[step] = static_cast<uint32_t>(devices_.size()) + step;  // nothing is given with it
  return queues;
}

bool DeviceSteps::isAcross(StepId step) const {
  const auto* copy = std::get_if<Copy>(&plan_->steps[step].action);
  if (copy == nullptr) return false;
  const DeviceId to = deviceOf(*plan_, copy->dst).value_or(0), from = deviceOf(*plan_, copy->src).value_or(0);
  return to != from && devices_[to] != nullptr && devices_[from] != nullptr;
}

const Device* DeviceSteps::readerAtOnce(StepId step) const {
  const Device* const device = any_ ? devices_[homes_[step]] : nullptr;
  return device != nullptr && device->readsAtOnce() && !isAcross(step) ? device : nullptr;
}

namespace {

/// "step 3, kernel 'a',", or of several "one of the steps 3 to 9, kernels 'a', 'b', ...,"
std::string stepsText(const Plan& plan, const Device::Failure& failure) {
  constexpr size_t kMostNames = 4;
  const uint32_t last = std::min<uint32_t>(std::max(failure.tag, failure.last), plan.steps.size() - 1);
  std::vector<std::string> names;
  for (uint32_t id = failure.tag; id <= last; id++)
    if (const auto* launch = std::get_if<Launch>(&plan.steps[StepId(id)].action)) {
      std::string name = "'" + plan.kernels[launch->kernel].name + "'";
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  std::string text =
      last > failure.tag ? says({"one of the steps ", failure.tag, " to ", last}) : says({"step ", failure.tag});
  if (!names.empty()) text += names.size() > 1 ? ", kernels " : ", kernel ";
  for (size_t i = 0; i < std::min(names.size(), kMostNames); i++) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kMostNames) text += ", ...";
  return names.empty() ? text : text + ",";
}

}  // namespace

Status DeviceSteps::failure(DeviceId device, const Device::Failure& failure) const {
  return fail(
      diagAfterFailure(*devices_[device]),
      says({stepsText(*plan_, failure), " failed on device '", plan_->devices[device].name, "': ", failure.what}),
      helpAfterFailure(*devices_[device]));
}

Status DeviceSteps::wait(DeviceId device, Device::Ticket ticket) {
  const std::optional<Device::Failure> failed = devices_[device]->wait(ticket);
  return failed ? failure(device, *failed) : Status();
}

Status DeviceSteps::await(StepId step, std::span<const StepId> after) {
  // A step that has nothing to do gives no work: who waits for it waits for what came before on its queue.
  tickets_[step] = 0;
  for (StepId dep : after) {
    if (homes_[dep] == 0) continue;
    if (homes_[dep] == homes_[step])
      tickets_[step] = std::max(tickets_[step], tickets_[dep]);
    else if (tickets_[dep] != 0)
      SVOD_CHECK(order(step, homes_[step], homes_[dep], tickets_[dep]));
  }
  return {};
}

/// What `device` (0: the host) does from here on comes after the ticket of `after`.
Status DeviceSteps::order(StepId step, DeviceId device, DeviceId after, Device::Ticket ticket) {
  if (device == 0) return wait(after, ticket);
  const Device::Ticket waits = devices_[device]->waitFor(*devices_[after], ticket, step);
  if (waits == 0) return wait(after, ticket);
  gave(step, device, waits);
  return {};
}

/// Several workers may give work to one queue: the greatest ticket counts.
void DeviceSteps::gave(StepId step, DeviceId device, Device::Ticket ticket) {
  tickets_[step] = ticket;
  Device::Ticket last = last_[device].load();
  while (last < ticket && !last_[device].compare_exchange_weak(last, ticket)) {
  }
}

DeviceId DeviceSteps::placeOf(BufferId buffer) const {
  return places_[plan_->buffers[buffer].place == Place::View ? plan_->buffers[buffer].base : buffer];
}

DeviceWork DeviceSteps::copyWork(StepId step, void* to, const void* from, uint64_t bytes) const {
  const auto& copy = std::get<Copy>(plan_->steps[step].action);
  const bool isIn = devices_[placeOf(copy.src)] == nullptr, isOut = devices_[placeOf(copy.dst)] == nullptr;
  DeviceWork work;
  work.kind = isIn ? DeviceWork::Kind::CopyIn : isOut ? DeviceWork::Kind::CopyOut : DeviceWork::Kind::CopyWithin;
  work.tag = step, work.to = to, work.from = from, work.bytes = bytes;
  return work;
}

/// They were given together, the first of them stands for all.
void DeviceSteps::share(std::span<const StepId> steps) {
  for (StepId step : steps) tickets_[step] = tickets_[steps.front()];
}

void DeviceSteps::give(std::span<const StepId> steps, DeviceBatch& batch) {
  const DeviceId home = homes_[steps.front()];
  if (!batch.works.empty()) gave(steps.front(), home, devices_[home]->give(batch));
  share(steps);
}

Status DeviceSteps::time(std::span<const StepId> steps, DeviceBatch& batch, std::span<DeviceTime> times) {
  const DeviceId home = homes_[steps.front()];
  share(steps);
  if (batch.works.empty()) return {};
  const std::optional<Device::Failure> failed = devices_[home]->time(batch, times);
  return failed ? failure(home, *failed) : Status();
}

Status DeviceSteps::copyAcross(StepId step, void* to, const void* from, uint64_t bytes) {
  const auto& copy = std::get<Copy>(plan_->steps[step].action);
  const DeviceId target = placeOf(copy.dst), source = placeOf(copy.src);
  if (const Device::Ticket direct = devices_[target]->copyFrom(*devices_[source], to, from, bytes, step)) {
    gave(step, target, direct);
    return {};
  }
  const std::lock_guard lock(*stagingLock_);
  if (stagingReader_ != 0 && stagingReader_ != source) SVOD_CHECK(order(step, source, stagingReader_, stagingRead_));
  gave(step, source, devices_[source]->copyOut(staging_.data(), from, bytes, step));
  SVOD_CHECK(order(step, target, source, tickets_[step]));
  gave(step, target, devices_[target]->copyIn(to, staging_.data(), bytes, step));
  stagingReader_ = target, stagingRead_ = tickets_[step];
  return {};
}

Status DeviceSteps::fetch(StepId step, BufferId buffer, void* to, const void* from, uint64_t bytes) {
  if (isOnDevice(step)) {
    const DeviceId id = deviceOf(*plan_, buffer).value_or(0);
    if (devices_[id] != nullptr) gave(step, id, devices_[id]->copyOut(to, from, bytes, step));
    SVOD_CHECK(wait(homes_[step], tickets_[step]));
    if (devices_[id] != nullptr) return {};
  }
  std::memcpy(to, from, bytes);
  return {};
}

Status DeviceSteps::settle(bool waits) {
  for (DeviceId device = 0; device < devices_.size(); device++)
    if (devices_[device] != nullptr) SVOD_CHECK(wait(device, waits ? last_[device].load() : 0));
  return {};
}

bool DeviceSteps::isSettled() const {
  for (DeviceId device = 0; device < devices_.size(); device++)
    if (devices_[device] != nullptr && !devices_[device]->isDone(last_[device].load())) return false;
  return true;
}

Status DeviceSteps::checkPresent() const {
  for (DeviceId device = 0; device < devices_.size(); device++)
    if (devices_[device] != nullptr && devices_[device]->isLost())
      return fail(Diag::DeviceLost,
                  says({"device '", plan_->devices[device].name, "' is lost, and this instance with it"}),
                  helpAfterFailure(*devices_[device]));
  return {};
}

bool DeviceSteps::recover() {
  bool isNew = false;
  for (DeviceId device = 0; device < devices_.size(); device++) {
    if (devices_[device] == nullptr || !devices_[device]->wait(last_[device].load())) continue;
    if (!devices_[device]->isLost()) devices_[device]->reset();
    isNew = true;
  }
  return isNew;
}

}  // namespace svod
