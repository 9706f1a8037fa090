#include "runtime-min/device.h"

#include "runtime-min/profile.h"

namespace svod {

Device::Ticket Device::giveOne(const DeviceWork& work) {
  switch (work.kind) {
    case DeviceWork::Kind::Launch: return launch(work.launch, work.tag);
    case DeviceWork::Kind::CopyIn: return copyIn(work.to, work.from, work.bytes, work.tag);
    case DeviceWork::Kind::CopyOut: return copyOut(work.to, work.from, work.bytes, work.tag);
    case DeviceWork::Kind::CopyWithin: return copyWithin(work.to, work.from, work.bytes, work.tag);
  }
  return 0;
}

Status Device::useStream(void*) { return fail(Diag::Unsupported, "devices of this kind have no streams"); }

std::optional<Device::Failure> Device::time(DeviceBatch& batch, std::span<DeviceTime> times) {
  for (size_t i = 0; i < batch.works.size(); i++) {
    times[i].begin = Profile::now();
    if (std::optional<Failure> failed = wait(giveOne(batch.works[i]))) return failed;
    times[i].end = Profile::now();
  }
  return std::nullopt;
}

}  // namespace svod
