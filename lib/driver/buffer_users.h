// Where the buffers of a plan are used (an internal header of the room).
#pragma once
#include <optional>
#include <set>
#include <vector>

#include "plan/plan.h"

namespace svod {

/// What steps of the graph do with each buffer, not the copies that a placement adds. By owners of memory, not by
/// views.
class BufferUsers {
 public:
  explicit BufferUsers(size_t buffers) : users_(buffers), partners_(buffers), isForHost_(buffers, false) {}

  /// One more, which nothing uses yet.
  void add() { users_.emplace_back(), partners_.emplace_back(), isForHost_.push_back(false); }

  /// Functions and conditions read it where the host does.
  void needOnHost(BufferId buffer) { isForHost_[buffer] = true; }
  void useOn(DeviceId device, BufferId buffer) { users_[buffer].insert(device); }
  void copy(BufferId from, DeviceId fromDevice, BufferId to, DeviceId toDevice) {
    partners_[from].insert(toDevice), partners_[to].insert(fromDevice);
  }

  /// The one device besides the host whose kernels use a state, whatever else it is copied to and from; for one that is
  /// only copied, the one device that it is copied to and from. Kernels of the host follow it.
  std::optional<DeviceId> only(BufferId state) const {
    std::set<DeviceId> users = users_[state].empty() ? partners_[state] : users_[state];
    if (isForHost_[state]) users.insert(0);
    if (users.size() == 2 && !users_[state].empty() && !isForHost_[state]) users.erase(0);
    return users.size() == 1 ? std::optional(*users.begin()) : std::nullopt;
  }

 private:
  std::vector<std::set<DeviceId>> users_;     // where steps run that are given it
  std::vector<std::set<DeviceId>> partners_;  // what the graph copies it to and from
  std::vector<bool> isForHost_;
};

}  // namespace svod
