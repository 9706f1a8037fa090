// What an instance keeps on lent devices: an arena, states, and copies of the weights that launches there read.
#pragma once
#include <utility>
#include <vector>

#include "plan/arena.h"
#include "runtime-min/device.h"
#include "runtime-min/loaded_plan.h"

namespace svod {

class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  /// `devices` by DeviceId, null or missing for the host; borrowed. Sets the `pointers` of states there, and of buffers
  /// in arenas that are not laid out for every run.
  Status allocate(const LoadedPlan& loaded, std::vector<Device*> devices, const ArenaUnits& units,
                  std::vector<void*>& pointers);
  /// The arena of a device where it is laid out for every run, with at least so many bytes: the one that was there, or
  /// another one. Nothing is being done on the device.
  Result<void*> arena(DeviceId device, uint64_t bytes);
  bool fits(DeviceId device, uint64_t bytes) const { return bytes <= perRun_[device].bytes; }
  /// Also after a device lost what it held, in a run or in one of the copies here.
  Status copyConstants();
  /// Copies that are done when they return, on `device` or, where that is not lent, on the host.
  Status copyIn(DeviceId device, void* to, const void* fromHost, uint64_t bytes, const std::string& what);
  Status copyOut(DeviceId device, void* toHost, const void* from, uint64_t bytes, const std::string& what);
  /// Whether a device can have so many bytes of the value `name` at `data`. Errors: InputMismatch.
  Status checkAddress(DeviceId device, const void* data, uint64_t bytes, const std::string& name) const;
  /// Device::beginRun of every device; `bound` by DeviceId. Device::useStream of one.
  Status beginRun(std::span<const uint8_t> bound) const;
  Status useStream(DeviceId device, void* stream) const;
  /// Zeros for a state that has a place on `device` in the plan.
  Status clear(DeviceId device, void* to, uint64_t bytes, const std::string& what);
  /// Argument slots of the program whose weights lie on a device, and where.
  const std::vector<std::pair<uint32_t, void*>>& arguments() const { return arguments_; }
  /// Whether a copy failed, and the device started anew, since the weights were copied: they may be gone.
  bool lostMemory() const { return lostMemory_; }
  bool has(DeviceId device) const { return device < devices_.size() && devices_[device] != nullptr; }

 private:
  static constexpr uint64_t kNowhere = UINT64_MAX;
  uint64_t& place(DeviceId device, ConstantId constant) {
    return places_[device * loaded_->plan().constants.size() + constant];
  }
  struct Block {
    Device* device;
    void* data;
    uint64_t bytes;
  };
  Result<void*> take(Device* device, uint64_t bytes);
  Status finish(DeviceId device, const std::optional<Device::Failure>& failed, const std::string& what);
  Status placeConstants();
  void findConstants(uint32_t firstSlot, const Launch& launch, std::vector<uint64_t>& sizes);

  const LoadedPlan* loaded_ = nullptr;
  std::vector<Device*> devices_;
  std::vector<Block> blocks_;
  std::vector<std::byte> zeros_;
  std::vector<void*> arenas_;        // by DeviceId; null for the host
  std::vector<Block> perRun_;        // by DeviceId: arenas that are laid out for every run
  std::vector<uint64_t> places_;     // by place(): in the block of weights, or kNowhere
  std::vector<std::byte*> weights_;  // by DeviceId: one block
  struct Argument {
    uint32_t slot;
    DeviceId device;
    ConstantId constant;
    uint64_t offset;
  };
  std::vector<Argument> readers_;  // of constants
  bool lostMemory_ = false;
  std::vector<std::pair<uint32_t, void*>> arguments_;
};

}  // namespace svod
