#include "runtime-webgpu/webgpu_device.h"

#include "support/says.h"

namespace svod::webgpu {

namespace {

struct Requested {
  Number status = 0;
  DeviceHandle device = nullptr;
  std::string message;
};

void answered(Number status, DeviceHandle device, Text message, void* to, void*) {
  *static_cast<Requested*>(to) = {status, device, textOf(message)};
}

}  // namespace

Result<std::unique_ptr<WebGpuDevice>> WebGpuDevice::open(const Library& wgpu, const WebGpuChoice& choice) {
  SVOD_TRY(Adapters adapters, Adapters::find(wgpu));
  if (static_cast<size_t>(choice.ordinal) >= adapters.count())
    return fail(Diag::NoDevice,
                says({"there is no device webgpu:", choice.ordinal, "; this machine has ", adapters.count()}),
                "put the device of the plan on one that is there: svod-run --device NAME=0, or the option 'number' of "
                "svod_instance_options.device_options");
  std::unique_ptr<WebGpuDevice> device(new WebGpuDevice(wgpu, choice, std::move(adapters)));
  SVOD_CHECK(device->start());
  return device;
}

Status WebGpuDevice::start() {
  DeviceDescriptor descriptor;
  descriptor.limits = &info().limits;
  descriptor.lost.first = descriptor.error.first = &trouble_;
  descriptor.lost.callback = [](const DeviceHandle*, Number reason, Text message, void* to, void*) {
    auto& trouble = *static_cast<Trouble*>(to);
    const std::lock_guard lock(trouble.mutex);
    if (reason == kDestroyed) return;
    trouble.isLost = true;
    if (trouble.text.empty()) trouble.text = says({"the device is lost: ", textOf(message)});
  };
  descriptor.error.callback = [](const DeviceHandle*, Number type, Text message, void* to, void*) {
    auto& trouble = *static_cast<Trouble*>(to);
    const std::lock_guard lock(trouble.mutex);
    if (!trouble.text.empty()) return;
    trouble.text = textOf(message), trouble.isMemory = type == kOutOfMemory;
  };
  Requested requested;
  DeviceRequest request;
  request.callback = answered, request.first = &requested;
  (void)wgpu_.wgpuAdapterRequestDevice(adapters_.handle(static_cast<size_t>(choice_.ordinal)), &descriptor, request);
  if (requested.status != kSuccess || requested.device == nullptr)
    return fail(Diag::DeviceFailure, says({"cannot use ", nameText(info()), ": ", requested.message}),
                "vulkaninfo shows the devices and the state of their drivers");
  device_ = requested.device;
  queue_ = wgpu_.wgpuDeviceGetQueue(device_);
  constexpr uint64_t kWordBytes = 256 << 10, kNothingBytes = 256;
  const bool isReady =
      growBuffer(words_, kWordBytes, kUniformUse | kCopyTarget) && growBuffer(nothing_, kNothingBytes, kStorageUse);
  if (isReady) return {};
  return fail(Diag::DeviceBusy, says({"cannot reserve memory on ", nameText(info()), ": ", takeTrouble()}),
              "free memory of the device");
}

WebGpuDevice::~WebGpuDevice() {
  endPass();
  if (encoder_ != nullptr) wgpu_.wgpuCommandEncoderRelease(encoder_);
  if (device_ != nullptr) (void)wgpu_.wgpuDevicePoll(device_, 1, nullptr);
  for (const auto& [text, pipeline] : pipelines_) {
    wgpu_.wgpuComputePipelineRelease(pipeline.pipeline);
    wgpu_.wgpuBindGroupLayoutRelease(pipeline.layout);
  }
  for (const Buffer* buffer : {&staging_, &between_, &words_, &nothing_})
    if (buffer->handle != nullptr) freeBuffer(buffer->handle);
  if (queue_ != nullptr) wgpu_.wgpuQueueRelease(queue_);
  if (device_ != nullptr) wgpu_.wgpuDeviceRelease(device_);
}

std::string WebGpuDevice::takeTrouble(bool* isMemory) {
  const std::lock_guard lock(trouble_.mutex);
  if (isMemory != nullptr) *isMemory = trouble_.isMemory;
  trouble_.isMemory = false;
  std::string text = std::move(trouble_.text);
  trouble_.text.clear();
  return text;
}

bool WebGpuDevice::isLost() const {
  const std::lock_guard lock(trouble_.mutex);
  return trouble_.isLost;
}

}  // namespace svod::webgpu
