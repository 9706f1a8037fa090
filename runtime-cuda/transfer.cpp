// Weights through pinned memory, and the times of works.
#include <algorithm>
#include <cstring>

#include "runtime-cuda/cuda_device.h"
#include "runtime-min/profile.h"

namespace svod::cuda {

/// Two halves take turns: one is filled while the other is on its way. Weights are mapped files, and pinning these
/// would hold the whole model in memory.
Code CudaDevice::copyStaged(std::span<const DeviceUpload> uploads, void* const (&halves)[2], uint64_t half) {
  Event sent[2] = {marks_[0].event, marks_[1].event};
  uint64_t turn = 0;
  for (const DeviceUpload& upload : uploads)
    for (uint64_t at = 0; at < upload.bytes; at += half, turn++) {
      const uint64_t bytes = std::min(half, upload.bytes - at), side = turn % 2;
      if (turn >= 2)
        if (const Code code = driver_.cuEventSynchronize(sent[side]); code != kSuccess) return code;
      std::memcpy(halves[side], static_cast<const std::byte*>(upload.from) + at, bytes);
      const auto to = reinterpret_cast<Address>(upload.to) + at;
      if (const Code code = driver_.cuMemcpyHtoDAsync(to, halves[side], bytes, stream_); code != kSuccess) return code;
      if (const Code code = driver_.cuEventRecord(sent[side], stream_); code != kSuccess) return code;
    }
  return driver_.cuStreamSynchronize(stream_);
}

std::optional<Device::Failure> CudaDevice::upload(std::span<const DeviceUpload> uploads) {
  constexpr uint64_t kHalf = UINT64_C(32) << 20;
  uint64_t half = 0;
  for (const DeviceUpload& each : uploads) half = std::max(half, std::min(each.bytes, kHalf));
  const std::lock_guard lock(mutex_);
  const Current current(driver_, context_);
  Code code = current.code();
  void* halves[2] = {};
  for (void*& memory : halves)
    if (code == kSuccess) code = driver_.cuMemHostAlloc(&memory, half, 0);
  if (code == kSuccess) code = copyStaged(uploads, halves, half);
  if (endsContext(code)) isLost_ = true;
  if (code != kSuccess && !isLost_ && halves[0] != nullptr) (void)driver_.cuStreamSynchronize(stream_);
  for (void* memory : halves)
    if (memory != nullptr && !isLost_) (void)driver_.cuMemFreeHost(memory);
  for (Mark& mark : marks_) mark.ticket = 0;  // their events were used for this; everything was waited for
  if (code == kSuccess) {
    done_ = given_;
    return std::nullopt;
  }
  failed(code, 0, 0);
  return failure_;
}

Code CudaDevice::timeEach(DeviceBatch& batch, size_t& given) {
  while (clocks_.size() < 1 + 2 * batch.works.size()) {
    Event event = nullptr;
    if (const Code code = driver_.cuEventCreate(&event, 0); code != kSuccess) return code;
    clocks_.push_back(event);
  }
  if (const Code code = driver_.cuEventRecord(clocks_[0], stream_); code != kSuccess) return code;
  if (const Code code = driver_.cuEventSynchronize(clocks_[0]); code != kSuccess) return code;
  for (given = 0; given < batch.works.size(); given++) {
    if (const Code code = driver_.cuEventRecord(clocks_[1 + 2 * given], stream_); code != kSuccess) return code;
    if (const Code code = giveWork(batch.works[given]); code != kSuccess) return code;
    if (const Code code = driver_.cuEventRecord(clocks_[2 + 2 * given], stream_); code != kSuccess) return code;
    if (choice_.waitsForEach)
      if (const Code code = driver_.cuStreamSynchronize(stream_); code != kSuccess) return code;
  }
  return kSuccess;
}

std::optional<Device::Failure> CudaDevice::time(DeviceBatch& batch, std::span<DeviceTime> times) {
  const std::lock_guard lock(mutex_);
  if (failure_) return failure_;
  const Current current(driver_, context_);
  size_t given = 0;
  Code code = current.code() != kSuccess ? current.code() : timeEach(batch, given);
  if (code != kSuccess) {
    const uint32_t tag = batch.works[std::min(given, batch.works.size() - 1)].tag;
    failed(code, tag, tag);
    return failure_;
  }
  given_++;
  code = driver_.cuStreamSynchronize(stream_);
  const uint64_t now = Profile::now();
  // Events are a clock of the device: its last one was now.
  float whole = 0;
  if (code == kSuccess) code = driver_.cuEventElapsedTime(&whole, clocks_[0], clocks_[2 * batch.works.size()]);
  const auto nanoseconds = [](float milliseconds) { return static_cast<uint64_t>(milliseconds * 1e6f); };
  for (size_t i = 0; code == kSuccess && i < batch.works.size(); i++) {
    float from = 0, to = 0;
    code = driver_.cuEventElapsedTime(&from, clocks_[0], clocks_[1 + 2 * i]);
    if (code == kSuccess) code = driver_.cuEventElapsedTime(&to, clocks_[0], clocks_[2 + 2 * i]);
    times[i] = {now - nanoseconds(whole) + nanoseconds(from), now - nanoseconds(whole) + nanoseconds(to)};
  }
  if (code != kSuccess)
    failed(code, batch.works.front().tag, batch.works.back().tag);
  else
    done_ = given_;
  return failure_;
}

}  // namespace svod::cuda
