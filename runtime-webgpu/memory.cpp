// Memory of a device of WebGPU. Bytes are moved in words of four: what lies beside those that are meant stays.
#include <algorithm>
#include <cstring>

#include "runtime-webgpu/webgpu_device.h"
#include "support/says.h"

namespace svod::webgpu {

namespace {

constexpr uint64_t kChunk = uint64_t{64} << 20;  // that is read back at once
constexpr const char* kNoMemory = "an address is no memory of the device";

uint64_t down(uint64_t bytes) { return bytes & ~uint64_t{3}; }
uint64_t up(uint64_t bytes) { return down(bytes + 3); }

}  // namespace

BufferHandle WebGpuDevice::makeBuffer(uint64_t bytes, Flags usage) {
  BufferDescriptor descriptor;
  descriptor.usage = usage, descriptor.bytes = bytes;
  return wgpu_.wgpuDeviceCreateBuffer(device_, &descriptor);
}

void WebGpuDevice::freeBuffer(BufferHandle buffer) {
  wgpu_.wgpuBufferDestroy(buffer);
  wgpu_.wgpuBufferRelease(buffer);
}

bool WebGpuDevice::growBuffer(Buffer& buffer, uint64_t bytes, Flags usage) {
  if (buffer.bytes >= bytes) return true;
  if (buffer.handle != nullptr) wgpu_.wgpuBufferRelease(buffer.handle);
  buffer = {makeBuffer(bytes, usage), bytes};
  const std::lock_guard lock(trouble_.mutex);
  return buffer.handle != nullptr && trouble_.text.empty();
}

Result<void*> WebGpuDevice::allocate(uint64_t bytes) {
  const std::string what = says({"reserve ", bytes, " bytes on ", nameText(info())});
  constexpr const char* kHelp = "compile for smaller sizes: svodc compile --var NAME=MIN:MAX";
  const uint64_t most = std::min<uint64_t>(info().limits.bufferBytes, UINT32_MAX);  // kernels count bytes in words
  if (bytes > most)
    return fail(Diag::DeviceBusy, says({"cannot ", what, ", which gives at most ", most, " at once"}), kHelp);
  const std::lock_guard lock(mutex_);
  const uint64_t whole = std::max<uint64_t>(up(bytes), kDeviceAlignment);
  const BufferHandle handle = makeBuffer(whole, kStorageUse | kCopySource | kCopyTarget);
  bool isMemory = false;
  if (const std::string trouble = takeTrouble(&isMemory); handle == nullptr || !trouble.empty()) {
    if (handle != nullptr) wgpu_.wgpuBufferRelease(handle);
    return fail(isMemory ? Diag::DeviceBusy : Diag::DeviceFailure, says({"cannot ", what, ": ", trouble}), kHelp);
  }
  auto* const buffer = new Buffer{handle, whole};
  if (void* const address = addresses_.reserve(buffer, bytes); address != nullptr) return address;
  freeBuffer(handle);
  delete buffer;
  return fail(Diag::DeviceBusy, says({"cannot ", what, ": no addresses are left"}), kHelp);
}

void WebGpuDevice::release(void* memory, uint64_t) {
  const std::lock_guard lock(mutex_);
  (void)flush();
  Buffer* const known = addresses_.release(memory);
  if (known == nullptr) return;
  freeBuffer(known->handle);
  delete known;
}

Status WebGpuDevice::checkAddress(const void* address, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const Place place = addresses_.find(address);
  if (place.memory == nullptr)
    return fail(Diag::InputMismatch, "it is no memory that svod has on this device of WebGPU");
  if (place.room < bytes)
    return fail(Diag::InputMismatch,
                says({"it needs ", bytes, " bytes, the allocation has ", place.room, " from there on"}));
  return {};
}

// ---- Copies

/// Words of a buffer. The host waits for them, and so for all that was given before.
std::string WebGpuDevice::readChunk(const Buffer& from, uint64_t offset, uint64_t bytes, std::byte* to) {
  if (!growBuffer(staging_, bytes, kMapRead | kCopyTarget)) return says({"no memory to read back: ", takeTrouble()});
  endPass();
  if (encoder_ == nullptr) encoder_ = wgpu_.wgpuDeviceCreateCommandEncoder(device_, nullptr);
  wgpu_.wgpuCommandEncoderCopyBufferToBuffer(encoder_, from.handle, offset, staging_.handle, 0, bytes);
  if (std::string trouble = flush(); !trouble.empty()) return trouble;
  Number status = 0;
  MapInfo info;
  info.first = &status;
  info.callback = [](Number result, Text, void* first, void*) { *static_cast<Number*>(first) = result; };
  (void)wgpu_.wgpuBufferMapAsync(staging_.handle, kReading, 0, bytes, info);
  while (status == 0 && !isLost()) (void)wgpu_.wgpuDevicePoll(device_, 1, nullptr);
  const void* const data =
      status == kSuccess ? wgpu_.wgpuBufferGetConstMappedRange(staging_.handle, 0, bytes) : nullptr;
  if (data == nullptr) return says({"memory was not read back: ", takeTrouble()});
  std::memcpy(to, data, bytes);
  wgpu_.wgpuBufferUnmap(staging_.handle);
  return takeTrouble();
}

std::string WebGpuDevice::readBack(const Buffer& from, uint64_t offset, uint64_t bytes, std::byte* to) {
  const uint64_t begin = down(offset), end = up(offset + bytes);
  if (begin == offset && end == offset + bytes) {
    for (uint64_t at = 0; at < bytes; at += kChunk)
      if (std::string trouble = readChunk(from, offset + at, std::min(kChunk, bytes - at), to + at); !trouble.empty())
        return trouble;
    return {};
  }
  std::vector<std::byte> words(end - begin);
  std::string trouble = readBack(from, begin, end - begin, words.data());
  if (trouble.empty()) std::memcpy(to, words.data() + (offset - begin), bytes);
  return trouble;
}

std::string WebGpuDevice::writeIn(const Buffer& to, uint64_t offset, const std::byte* from, uint64_t bytes) {
  const uint64_t begin = down(offset), end = up(offset + bytes);
  if (begin == offset && end == offset + bytes) {
    std::string trouble = flush();
    if (trouble.empty()) wgpu_.wgpuQueueWriteBuffer(queue_, to.handle, offset, from, bytes);
    return trouble.empty() ? takeTrouble() : trouble;
  }
  std::vector<std::byte> words(end - begin);
  for (const uint64_t edge : {begin, end - 4})
    if (std::string trouble = readBack(to, edge, 4, words.data() + (edge - begin)); !trouble.empty()) return trouble;
  std::memcpy(words.data() + (offset - begin), from, bytes);
  return writeIn(to, begin, words.data(), end - begin);
}

/// WebGPU copies words, and from one buffer to another.
std::string WebGpuDevice::copyPart(const Place& to, const Place& from, uint64_t bytes) {
  if ((to.offset | from.offset | bytes) % 4 != 0) {
    std::vector<std::byte> data(bytes);
    std::string trouble = readBack(*from.memory, from.offset, bytes, data.data());
    return trouble.empty() ? writeIn(*to.memory, to.offset, data.data(), bytes) : trouble;
  }
  const bool isWithin = to.memory == from.memory;
  if (isWithin && between_.bytes < bytes) {
    if (std::string trouble = flush(); !trouble.empty()) return trouble;
    if (!growBuffer(between_, bytes, kCopySource | kCopyTarget)) return says({"no memory to copy: ", takeTrouble()});
  }
  endPass();
  if (encoder_ == nullptr) encoder_ = wgpu_.wgpuDeviceCreateCommandEncoder(device_, nullptr);
  const auto encode = [&](BufferHandle source, uint64_t sourceOffset, BufferHandle target, uint64_t targetOffset) {
    wgpu_.wgpuCommandEncoderCopyBufferToBuffer(encoder_, source, sourceOffset, target, targetOffset, bytes);
  };
  if (!isWithin) {
    encode(from.memory->handle, from.offset, to.memory->handle, to.offset);
  } else {
    encode(from.memory->handle, from.offset, between_.handle, 0);
    encode(between_.handle, 0, to.memory->handle, to.offset);
  }
  return takeTrouble();
}

std::string WebGpuDevice::copy(const DeviceWork& work) {
  if (work.bytes == 0) return {};
  const Place to = addresses_.find(work.to), from = addresses_.find(work.from);
  const bool goesIn = work.kind != DeviceWork::Kind::CopyOut, comesOut = work.kind != DeviceWork::Kind::CopyIn;
  if ((goesIn && to.room < work.bytes) || (comesOut && from.room < work.bytes)) return kNoMemory;
  if (!comesOut) return writeIn(*to.memory, to.offset, static_cast<const std::byte*>(work.from), work.bytes);
  if (!goesIn) return readBack(*from.memory, from.offset, work.bytes, static_cast<std::byte*>(work.to));
  return copyPart(to, from, work.bytes);
}

}  // namespace svod::webgpu
