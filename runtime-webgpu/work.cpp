// Launches on a device of WebGPU, and the order of its work.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "runtime-webgpu/webgpu_device.h"
#include "support/says.h"

namespace svod::webgpu {

namespace {

constexpr uint64_t kBindingAlignment = 256;  // every adapter takes multiples of it as offsets

}  // namespace

/// Arguments in one buffer share a binding: the whole of it, or as much as an adapter binds at once. WebGPU takes no
/// two bindings of one place where one of them is written.
std::string WebGpuDevice::bind(const WebGpuKernel& kernel, std::span<const Place> places,
                               std::vector<uint32_t>& memories, std::vector<Binding>& bindings) const {
  std::vector<size_t> order(places.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return std::pair(places[i].memory, places[i].offset); });
  std::vector<uint64_t> ends;  // of what arguments touch, by binding
  memories.assign(places.size(), 0);
  for (const size_t i : order) {
    const Buffer& buffer = *places[i].memory;
    const bool isWhole = buffer.bytes <= info().limits.storageBytes;
    const uint64_t begin = isWhole ? 0 : places[i].offset / kBindingAlignment * kBindingAlignment;
    const uint64_t touched = std::min(places[i].offset + kernel.bytes[i], buffer.bytes);
    const uint64_t end = isWhole ? buffer.bytes : std::min((touched + 3) / 4 * 4, buffer.bytes);
    const bool isNext = bindings.empty() || bindings.back().buffer != &buffer;
    const bool joins = !isNext && (end - bindings.back().begin <= info().limits.storageBytes || begin < ends.back());
    if (!joins) bindings.push_back({&buffer, begin, end}), ends.push_back(touched);
    Binding& binding = bindings.back();
    binding.end = std::max(binding.end, end), ends.back() = std::max(ends.back(), touched);
    if (binding.end - binding.begin > info().limits.storageBytes)
      return says({"it touches ", binding.end - binding.begin, " bytes of one buffer, and the adapter binds ",
                   info().limits.storageBytes});
    memories[i] = static_cast<uint32_t>(bindings.size() - 1);
  }
  if (bindings.size() <= info().limits.storageBuffers) return {};
  return says(
      {"its arguments are in ", bindings.size(), " buffers, and the adapter binds ", info().limits.storageBuffers});
}

Result<Pipeline> WebGpuDevice::buildPipeline(const std::string& path, const std::string& text, size_t bindings) {
  WgslSource source;
  source.code = {text.data(), text.size()};
  ModuleDescriptor moduleOf;
  moduleOf.next = &source.chain;
  const ModuleHandle module = wgpu_.wgpuDeviceCreateShaderModule(device_, &moduleOf);
  std::vector<LayoutEntry> entries(bindings + 1);
  for (size_t i = 0; i < entries.size(); i++)
    entries[i].binding = static_cast<uint32_t>(i), entries[i].buffer.type = i == 0 ? kUniform : kStorage;
  GroupLayoutDescriptor groupOf;
  groupOf.count = entries.size(), groupOf.entries = entries.data();
  Pipeline built;
  built.layout = wgpu_.wgpuDeviceCreateBindGroupLayout(device_, &groupOf);
  LayoutDescriptor layoutOf;
  layoutOf.count = 1, layoutOf.groups = &built.layout;
  const LayoutHandle layout = wgpu_.wgpuDeviceCreatePipelineLayout(device_, &layoutOf);
  std::string trouble = takeTrouble();
  if (trouble.empty()) {
    PipelineDescriptor pipelineOf;
    pipelineOf.layout = layout, pipelineOf.stage.module = module, pipelineOf.stage.entry = {"main", 4};
    built.pipeline = wgpu_.wgpuDeviceCreateComputePipeline(device_, &pipelineOf);
    trouble = takeTrouble();
  }
  if (module != nullptr) wgpu_.wgpuShaderModuleRelease(module);
  if (layout != nullptr) wgpu_.wgpuPipelineLayoutRelease(layout);
  if (trouble.empty() && built.pipeline != nullptr) return built;
  if (built.pipeline != nullptr) wgpu_.wgpuComputePipelineRelease(built.pipeline);
  if (built.layout != nullptr) wgpu_.wgpuBindGroupLayoutRelease(built.layout);
  constexpr size_t kMost = 1500;  // of what a message shows
  return fail(Diag::BadPlan,
              says({"cannot compile '", path, "' for ", nameText(info()), ": ", trouble.substr(0, kMost)}),
              "the text is in the plan: report it with the message, or compile the graph again");
}

Result<const Pipeline*> WebGpuDevice::pipelineFor(const WebGpuKernel& kernel, const std::vector<uint32_t>& memories,
                                                  size_t count) {
  if (const auto known = kernel.pipelines.find(memories); known != kernel.pipelines.end()) return &known->second;
  const std::string text = kernel.textFor(memories);
  auto same = pipelines_.find(text);
  if (same == pipelines_.end()) {
    const auto begin = std::chrono::steady_clock::now();
    SVOD_TRY(const Pipeline built, buildPipeline(kernel.path, text, count));
    milliseconds_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    same = pipelines_.emplace(text, built).first;
  }
  return &(kernel.pipelines[memories] = same->second);
}

std::string WebGpuDevice::giveLaunch(const DeviceLaunch& launch) {
  const auto& kernel = *static_cast<const WebGpuKernel*>(launch.loaded);
  if (std::ranges::any_of(launch.groups, [](int64_t n) { return n <= 0; })) return {};
  std::vector<Place> places;
  for (uint32_t slot = 0; slot < launch.bufferCount; slot++) {
    places.push_back(launch.buffers[slot] == nullptr ? Place{&nothing_, 0, nothing_.bytes}
                                                     : addresses_.find(launch.buffers[slot]));
    if (places.back().memory == nullptr) return "an address is no memory of the device";
    if (places.back().offset % kernel.alignment[slot] != 0)
      return says({"argument ", slot, " does not start at a multiple of ", kernel.alignment[slot], " bytes"});
  }
  std::vector<uint32_t> memories;
  std::vector<Binding> bindings;
  if (std::string trouble = bind(kernel, places, memories, bindings); !trouble.empty()) return trouble;
  const auto pipeline = pipelineFor(kernel, memories, bindings.size());
  if (!pipeline) return pipeline.error()->message;
  std::vector<uint32_t> words(launchWords(places.size(), kernel.values));
  words[kGroupsX] = static_cast<uint32_t>(launch.groups[0]), words[kGroupsZ] = static_cast<uint32_t>(launch.groups[2]);
  for (size_t slot = 0; slot < places.size(); slot++)
    words[wordOfArgument(slot)] = static_cast<uint32_t>(places[slot].offset - bindings[memories[slot]].begin);
  for (uint32_t i = 0; i < launch.valueCount; i++) {
    const auto value = static_cast<uint64_t>(launch.values[i]);
    words[wordOfValue(places.size(), i)] = static_cast<uint32_t>(value);
    words[wordOfValue(places.size(), i) + 1] = static_cast<uint32_t>(value >> 32);
  }
  return dispatch(kernel, **pipeline, bindings, words, launch.groups);
}

std::string WebGpuDevice::dispatch(const WebGpuKernel& kernel, const Pipeline& pipeline,
                                   std::span<const Binding> bindings, std::span<const uint32_t> words,
                                   const std::array<int64_t, 3>& groups) {
  const int64_t parts = (groups[0] + kMostGroups - 1) / kMostGroups;
  const bool fits = groups[1] <= kMostGroups && groups[2] * parts <= kMostGroups && (parts == 1 || kernel.isFolded);
  if (!fits)
    return says({"it has ", groups[0], " by ", groups[1], " by ", groups[2], " workgroups, more than WebGPU counts"});
  if (4 * (launchWords_.size() + words.size()) > words_.bytes)
    if (std::string trouble = flush(); !trouble.empty()) return trouble;
  const uint64_t at = 4 * launchWords_.size();
  launchWords_.insert(launchWords_.end(), words.begin(), words.end());
  launchWords_.resize((4 * launchWords_.size() + kBindingAlignment - 1) / kBindingAlignment * kBindingAlignment / 4);

  std::vector<GroupEntry> entries(bindings.size() + 1);
  entries[0].buffer = words_.handle, entries[0].offset = at, entries[0].bytes = 4 * words.size();
  for (size_t i = 0; i < bindings.size(); i++) {
    GroupEntry& entry = entries[i + 1];
    entry.binding = static_cast<uint32_t>(i + 1), entry.buffer = bindings[i].buffer->handle;
    entry.offset = bindings[i].begin, entry.bytes = bindings[i].end - bindings[i].begin;
  }
  GroupDescriptor groupOf;
  groupOf.layout = pipeline.layout, groupOf.count = entries.size(), groupOf.entries = entries.data();
  const GroupHandle group = wgpu_.wgpuDeviceCreateBindGroup(device_, &groupOf);
  if (std::string trouble = takeTrouble(); !trouble.empty()) {
    if (group != nullptr) wgpu_.wgpuBindGroupRelease(group);
    return trouble;
  }
  if (encoder_ == nullptr) encoder_ = wgpu_.wgpuDeviceCreateCommandEncoder(device_, nullptr);
  if (pass_ == nullptr) pass_ = wgpu_.wgpuCommandEncoderBeginComputePass(encoder_, nullptr);
  wgpu_.wgpuComputePassEncoderSetPipeline(pass_, pipeline.pipeline);
  wgpu_.wgpuComputePassEncoderSetBindGroup(pass_, 0, group, 0, nullptr);
  wgpu_.wgpuComputePassEncoderDispatchWorkgroups(pass_, static_cast<uint32_t>(std::min(groups[0], kMostGroups)),
                                                 static_cast<uint32_t>(groups[1]),
                                                 static_cast<uint32_t>(groups[2] * parts));
  wgpu_.wgpuBindGroupRelease(group);
  return takeTrouble();
}

void WebGpuDevice::endPass() {
  if (pass_ == nullptr) return;
  wgpu_.wgpuComputePassEncoderEnd(pass_);
  wgpu_.wgpuComputePassEncoderRelease(pass_);
  pass_ = nullptr;
}

/// Words of launches are written behind what was submitted before, and in front of what is submitted now.
std::string WebGpuDevice::flush() {
  endPass();
  if (encoder_ == nullptr) return {};
  if (!launchWords_.empty())
    wgpu_.wgpuQueueWriteBuffer(queue_, words_.handle, 0, launchWords_.data(), 4 * launchWords_.size());
  launchWords_.clear();
  const CommandsHandle commands = wgpu_.wgpuCommandEncoderFinish(encoder_, nullptr);
  wgpu_.wgpuCommandEncoderRelease(encoder_);
  encoder_ = nullptr;
  if (commands != nullptr) {
    wgpu_.wgpuQueueSubmit(queue_, 1, &commands);
    wgpu_.wgpuCommandBufferRelease(commands);
  }
  return takeTrouble();
}

// ---- Tickets

std::string WebGpuDevice::giveWork(const DeviceWork& work) {
  std::string trouble = work.kind == DeviceWork::Kind::Launch ? giveLaunch(work.launch) : copy(work);
  if (!trouble.empty() || !choice_.waitsForEach) return trouble;
  trouble = flush();
  (void)wgpu_.wgpuDevicePoll(device_, 1, nullptr);
  return trouble.empty() ? takeTrouble() : trouble;
}

void WebGpuDevice::failed(std::string what, uint32_t first, uint32_t last) {
  if (!failure_) failure_ = {first, std::move(what), last};
}

WebGpuDevice::Ticket WebGpuDevice::giveOneWork(const DeviceWork& work) {
  const std::lock_guard lock(mutex_);
  ++given_;
  if (failure_) return given_;
  std::string trouble = giveWork(work);
  if (trouble.empty()) trouble = flush();
  if (!trouble.empty()) failed(std::move(trouble), work.tag, work.tag);
  return given_;
}

WebGpuDevice::Ticket WebGpuDevice::launch(const DeviceLaunch& launch, uint32_t tag) {
  return giveOneWork({DeviceWork::Kind::Launch, tag, {}, launch});
}
WebGpuDevice::Ticket WebGpuDevice::copyIn(void* to, const void* fromHost, uint64_t bytes, uint32_t tag) {
  return giveOneWork({DeviceWork::Kind::CopyIn, tag, {}, {}, to, fromHost, bytes});
}
WebGpuDevice::Ticket WebGpuDevice::copyOut(void* toHost, const void* from, uint64_t bytes, uint32_t tag) {
  return giveOneWork({DeviceWork::Kind::CopyOut, tag, {}, {}, toHost, from, bytes});
}
WebGpuDevice::Ticket WebGpuDevice::copyWithin(void* to, const void* from, uint64_t bytes, uint32_t tag) {
  return giveOneWork({DeviceWork::Kind::CopyWithin, tag, {}, {}, to, from, bytes});
}

WebGpuDevice::Ticket WebGpuDevice::give(DeviceBatch& batch) {
  const std::lock_guard lock(mutex_);
  ++given_;
  for (const DeviceWork& work : batch.works) {
    if (failure_) return given_;
    if (std::string trouble = giveWork(work); !trouble.empty()) failed(std::move(trouble), work.tag, work.tag);
  }
  std::string trouble = failure_ ? "" : flush();
  if (!trouble.empty()) failed(std::move(trouble), batch.works.front().tag, batch.works.back().tag);
  return given_;
}

std::optional<Device::Failure> WebGpuDevice::wait(Ticket ticket) {
  Ticket given = 0;
  {
    const std::lock_guard lock(mutex_);
    if (failure_ || ticket <= done_) return failure_;
    given = given_;
  }
  while (wgpu_.wgpuDevicePoll(device_, 1, nullptr) == 0 && !isLost()) {
  }
  const std::lock_guard lock(mutex_);
  if (std::string trouble = takeTrouble(); !trouble.empty()) failed(std::move(trouble), 0, UINT32_MAX);
  if (!failure_) done_ = std::max(done_, given);
  return failure_;
}

bool WebGpuDevice::isDone(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  return failure_ || ticket <= done_ || wgpu_.wgpuDevicePoll(device_, 0, nullptr) != 0;
}

void WebGpuDevice::reset() {
  const std::lock_guard lock(mutex_);
  endPass();
  if (encoder_ != nullptr) wgpu_.wgpuCommandEncoderRelease(encoder_);
  encoder_ = nullptr;
  launchWords_.clear();
  (void)wgpu_.wgpuDevicePoll(device_, 1, nullptr);
  (void)takeTrouble();
  failure_.reset(), done_ = given_;
}

}  // namespace svod::webgpu
