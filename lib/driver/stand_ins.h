// Copies of buffers on devices besides their own, as steps find them (an internal header of the room).
#pragma once
#include <map>
#include <optional>
#include <utility>

#include "plan/plan.h"

namespace svod {

/// Which stand-ins hold what their buffers do: from when they are filled until the buffer is written, or the loop ends
/// in which they were filled.
class StandIns {
 public:
  explicit StandIns(const Plan& plan) : plan_(plan) {}

  std::optional<BufferId> find(BufferId of, DeviceId on) const {
    const auto found = valid_.find({of, on});
    return found == valid_.end() ? std::nullopt : std::optional(found->second.buffer);
  }
  void add(BufferId of, DeviceId on, BufferId standIn) { valid_[{of, on}] = {standIn, depth_}; }

  /// The memory of `of` has changed; its stand-in on `updated` has as well.
  void wrote(BufferId of, std::optional<DeviceId> updated) {
    const BufferId owner = ownerOf(of);
    std::erase_if(valid_, [&](const auto& entry) {
      const auto& [buffer, device] = entry.first;
      return ownerOf(buffer) == owner && !(buffer == of && device == updated);
    });
  }

  /// A later iteration finds what an earlier one wrote.
  void enterLoop(std::span<const Step> body) {
    depth_++;
    for (const Step& step : body) {
      if (const auto* copy = std::get_if<Copy>(&step.action)) wrote(copy->dst, {});
      if (const auto* call = std::get_if<HostCall>(&step.action))
        for (const HostArg& arg : call->args)
          if (writes(arg.mode)) wrote(arg.buffer, {});
      if (const auto* launch = std::get_if<Launch>(&step.action))
        for (size_t i = 0; i < launch->buffers.size(); i++)
          if (writes(plan_.kernels[launch->kernel].args[i].mode)) wrote(launch->buffers[i], {});
    }
  }
  /// It may have had no iteration.
  void leaveLoop() {
    depth_--;
    std::erase_if(valid_, [&](const auto& entry) { return entry.second.depth > depth_; });
  }

 private:
  struct StandIn {
    BufferId buffer = 0;
    size_t depth = 0;  // of the loop that filled it
  };
  BufferId ownerOf(BufferId id) const { return plan_.buffers[id].place == Place::View ? plan_.buffers[id].base : id; }

  const Plan& plan_;
  std::map<std::pair<BufferId, DeviceId>, StandIn> valid_;
  size_t depth_ = 0;
};

}  // namespace svod
