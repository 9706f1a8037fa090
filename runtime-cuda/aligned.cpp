// Arguments that a user bound where the kernel's vectors are not aligned: copies of them.
#include <algorithm>

#include "runtime-cuda/cuda_device.h"
#include "support/says.h"

namespace svod::cuda {

/// Bytes from `memory` on of what was bound there; 0 where nothing was.
uint64_t CudaDevice::boundBytes(const void* memory) const {
  const Address address = addressOf(memory);
  const auto behind = bound_.upper_bound(address);
  if (behind == bound_.begin()) return 0;
  const auto& [first, bytes] = *std::prev(behind);
  return address < first + bytes ? first + bytes - address : 0;
}

/// Memory of its own for an argument of a kernel, as large as it can be; 0 after an error.
Code CudaDevice::placeFor(const DeviceKernel& kernel, uint32_t argument, Address& place) {
  Address& known = aligned_[{&kernel, argument}];
  if (known == 0) {
    const uint64_t bytes = kernel.arguments[argument].bytes;
    if (const Code code = driver_.cuMemAlloc(&known, bytes); code != kSuccess) return known = 0, code;
    notes_.push_back(says({"argument ", argument, " of kernel '", kernel.name,
                           "' is bound to memory that is not aligned as the kernel needs it: every run copies it, up "
                           "to ",
                           bytes, " bytes; memory that starts at a multiple of 256 bytes is used in place"}));
  }
  place = known;
  return kSuccess;
}

Code CudaDevice::giveAligned(const DeviceKernel& kernel, const DeviceLaunch& launch) {
  struct Copied {
    Address to, from;
    uint64_t bytes;
  };
  std::vector<Copied> written;
  std::vector<void*> buffers(launch.buffers, launch.buffers + launch.bufferCount);
  for (const auto& [argument, alignment] : kernel.alignments) {
    const Address from = addressOf(buffers[argument]);
    if (from % alignment == 0) continue;
    const uint64_t bytes = std::min(boundBytes(buffers[argument]), kernel.arguments[argument].bytes);
    if (bytes == 0) return kNotAligned;
    Address place = 0;
    if (const Code code = placeFor(kernel, argument, place); code != kSuccess) return code;
    // Also what is only written: a kernel may leave parts as they are.
    if (const Code code = driver_.cuMemcpyDtoDAsync(place, from, bytes, stream_); code != kSuccess) return code;
    if (kernel.arguments[argument].isWritten) written.push_back({from, place, bytes});
    buffers[argument] = reinterpret_cast<void*>(place);
  }
  DeviceLaunch moved = launch;
  moved.buffers = buffers.data();
  Code code = giveKernel(kernel, moved);
  for (const Copied& each : written)
    if (code == kSuccess) code = driver_.cuMemcpyDtoDAsync(each.to, each.from, each.bytes, stream_);
  return code;
}

/// Graphs have no place for such copies.
bool CudaDevice::isAligned(const DeviceBatch& batch) {
  return std::ranges::none_of(batch.works, [](const DeviceWork& work) {
    return work.kind == DeviceWork::Kind::Launch &&
           checkLaunch(*static_cast<const DeviceKernel*>(work.launch.loaded), work.launch) == kNotAligned;
  });
}

}  // namespace svod::cuda
