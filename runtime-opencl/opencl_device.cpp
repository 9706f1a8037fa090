#include "runtime-opencl/opencl_device.h"

#include <algorithm>

#include "runtime-min/profile.h"
#include "support/says.h"

namespace svod::opencl {

namespace {

// Of launches that the driver is not asked for.
constexpr Code kNotAligned = 1, kNoMemory = 2;

std::string textOf(Code code) {
  if (code == kNotAligned) return "an argument does not start at a multiple of what the kernel needs";
  if (code == kNoMemory) return "an address is no memory of the device";
  return nameOf(code);
}

}  // namespace

Result<std::unique_ptr<OpenClDevice>> OpenClDevice::open(const Loader& cl, const OpenClChoice& choice) {
  std::unique_ptr<OpenClDevice> device(new OpenClDevice(cl, choice));
  SVOD_CHECK(device->start());
  return device;
}

Status OpenClDevice::start() {
  SVOD_TRY(const std::vector<OpenClInfo> all, allDevices(cl_));
  if (static_cast<size_t>(choice_.ordinal) >= all.size())
    return svod::fail(
        Diag::NoDevice, says({"there is no device opencl:", choice_.ordinal, "; this machine has ", all.size()}),
        "put the device of the plan on one that is there: svod-run --device NAME=0, or the option 'number' of "
        "svod_instance_options.device_options");
  info_ = all[static_cast<size_t>(choice_.ordinal)];
  Code code = kSuccess;
  context_ = cl_.clCreateContext(nullptr, 1, &info_.device, nullptr, nullptr, &code);
  if (code != kSuccess) return opencl::failed(code, says({"use ", nameText(info_)}));
  return makeQueue();
}

Status OpenClDevice::makeQueue() {
  Code code = kSuccess;
  queue_ = cl_.clCreateCommandQueue(context_, info_.device, kProfiling, &code);
  return code == kSuccess ? Status() : opencl::failed(code, says({"make a queue on ", nameText(info_)}));
}

OpenClDevice::~OpenClDevice() {
  if (queue_ != nullptr) (void)cl_.clFinish(queue_);
  for (const Mark& mark : marks_)
    if (mark.event != nullptr) (void)cl_.clReleaseEvent(mark.event);
  for (const auto& kernel : kernels_) (void)cl_.clReleaseKernel(kernel->kernel);
  for (const auto& [path, program] : programs_) (void)cl_.clReleaseProgram(program);
  if (queue_ != nullptr) (void)cl_.clReleaseCommandQueue(queue_);
  if (context_ != nullptr) (void)cl_.clReleaseContext(context_);
}

// ---- Memory

Result<void*> OpenClDevice::allocate(uint64_t bytes) {
  const std::string what = says({"reserve ", bytes, " bytes on ", nameText(info_)});
  if (bytes > info_.mostAtOnce)
    return svod::fail(Diag::DeviceBusy, says({"cannot ", what, ", which gives at most ", info_.mostAtOnce, " at once"}),
                      "compile for smaller sizes: svodc compile --var NAME=MIN:MAX");
  Code code = kSuccess;
  const Memory memory = cl_.clCreateBuffer(context_, kReadWrite, std::max<size_t>(bytes, 1), nullptr, &code);
  if (code != kSuccess) return opencl::failed(code, what);
  const std::lock_guard lock(mutex_);
  void* const address = addresses_.reserve(memory, bytes);
  if (address != nullptr) return address;
  (void)cl_.clReleaseMemObject(memory);
  return opencl::failed(kOutOfHostMemory, what);
}

void OpenClDevice::release(void* memory, uint64_t) {
  const std::lock_guard lock(mutex_);
  if (const Memory known = addresses_.release(memory); known != nullptr) (void)cl_.clReleaseMemObject(known);
}

Status OpenClDevice::checkAddress(const void* address, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const Addresses<Memory>::Place place = addresses_.find(address);
  if (place.memory == nullptr)
    return svod::fail(Diag::InputMismatch, "it is no memory that svod has on this OpenCL device");
  if (place.room < bytes)
    return svod::fail(Diag::InputMismatch,
                      says({"it needs ", bytes, " bytes, the allocation has ", place.room, " from there on"}));
  return {};
}

// ---- Work

Code OpenClDevice::giveLaunch(const DeviceLaunch& launch, Event* event) {
  const auto& kernel = *static_cast<const OpenClKernel*>(launch.loaded);
  Number index = 0;
  for (uint32_t slot = 0; slot < launch.bufferCount; slot++) {
    const Addresses<Memory>::Place place = addresses_.find(launch.buffers[slot]);
    if (place.memory == nullptr && launch.buffers[slot] != nullptr) return kNoMemory;
    if (slot < kernel.alignment.size() && place.offset % kernel.alignment[slot] != 0) return kNotAligned;
    if (const Code code = cl_.clSetKernelArg(kernel.kernel, index++, sizeof place.memory, &place.memory)) return code;
    if (const Code code = cl_.clSetKernelArg(kernel.kernel, index++, sizeof place.offset, &place.offset)) return code;
  }
  for (uint32_t i = 0; i < launch.valueCount; i++)
    if (const Code code = cl_.clSetKernelArg(kernel.kernel, index++, sizeof(int64_t), launch.values + i)) return code;
  size_t global[3] = {};
  bool isEmpty = false;
  for (size_t axis = 0; axis < 3; axis++) {
    global[axis] = static_cast<size_t>(launch.groups[axis]) * kernel.threads[axis];
    isEmpty = isEmpty || global[axis] == 0;
  }
  if (isEmpty) return cl_.clEnqueueMarkerWithWaitList(queue_, 0, nullptr, event);
  return cl_.clEnqueueNDRangeKernel(queue_, kernel.kernel, 3, nullptr, global, kernel.threads.data(), 0, nullptr,
                                    event);
}

Code OpenClDevice::copy(const DeviceWork& work, Event* event) {
  if (work.bytes == 0) return cl_.clEnqueueMarkerWithWaitList(queue_, 0, nullptr, event);
  const Addresses<Memory>::Place to = addresses_.find(work.to), from = addresses_.find(work.from);
  const bool goesIn = work.kind != DeviceWork::Kind::CopyOut, comesOut = work.kind != DeviceWork::Kind::CopyIn;
  if ((goesIn && to.room < work.bytes) || (comesOut && from.room < work.bytes)) return kNoMemory;
  switch (work.kind) {
    case DeviceWork::Kind::CopyIn:
      return cl_.clEnqueueWriteBuffer(queue_, to.memory, 0, to.offset, work.bytes, work.from, 0, nullptr, event);
    case DeviceWork::Kind::CopyOut:
      return cl_.clEnqueueReadBuffer(queue_, from.memory, 0, from.offset, work.bytes, work.to, 0, nullptr, event);
    default:
      return cl_.clEnqueueCopyBuffer(queue_, from.memory, to.memory, from.offset, to.offset, work.bytes, 0, nullptr,
                                     event);
  }
}

Code OpenClDevice::giveWork(const DeviceWork& work, Event* event) {
  return work.kind == DeviceWork::Kind::Launch ? giveLaunch(work.launch, event) : copy(work, event);
}

void OpenClDevice::failed(Code code, uint32_t first, uint32_t last) {
  if (!failure_) failure_ = {first, textOf(code), last};
}

OpenClDevice::Ticket OpenClDevice::gave(Code code, Event event, uint32_t first, uint32_t last) {
  given_++;
  if (code == kSuccess) code = cl_.clFlush(queue_);
  if (code == kSuccess && choice_.waitsForEach) code = cl_.clFinish(queue_);
  if (code != kSuccess) {
    failed(code, first, last);
    if (event != nullptr) (void)cl_.clReleaseEvent(event);
    return given_;
  }
  Mark& mark = marks_[given_ % marks_.size()];
  if (mark.event != nullptr) (void)cl_.clReleaseEvent(mark.event);
  mark = {event, given_, first, last};
  return given_;
}

OpenClDevice::Ticket OpenClDevice::giveOneWork(const DeviceWork& work) {
  const std::lock_guard lock(mutex_);
  if (failure_) return ++given_;
  Event event = nullptr;
  const Code code = giveWork(work, &event);
  return gave(code, event, work.tag, work.tag);
}

OpenClDevice::Ticket OpenClDevice::launch(const DeviceLaunch& launch, uint32_t tag) {
  return giveOneWork({DeviceWork::Kind::Launch, tag, {}, launch});
}
OpenClDevice::Ticket OpenClDevice::copyIn(void* to, const void* fromHost, uint64_t bytes, uint32_t tag) {
  return giveOneWork({DeviceWork::Kind::CopyIn, tag, {}, {}, to, fromHost, bytes});
}
OpenClDevice::Ticket OpenClDevice::copyOut(void* toHost, const void* from, uint64_t bytes, uint32_t tag) {
  return giveOneWork({DeviceWork::Kind::CopyOut, tag, {}, {}, toHost, from, bytes});
}
OpenClDevice::Ticket OpenClDevice::copyWithin(void* to, const void* from, uint64_t bytes, uint32_t tag) {
  return giveOneWork({DeviceWork::Kind::CopyWithin, tag, {}, {}, to, from, bytes});
}

OpenClDevice::Ticket OpenClDevice::give(DeviceBatch& batch) {
  const std::lock_guard lock(mutex_);
  if (failure_) return ++given_;
  const uint32_t first = batch.works.front().tag, last = batch.works.back().tag;
  for (size_t i = 0; i < batch.works.size(); i++) {
    const DeviceWork& work = batch.works[i];
    Event event = nullptr;
    const bool isLast = i + 1 == batch.works.size();
    Code code = giveWork(work, isLast ? &event : nullptr);
    if (code == kSuccess && isLast) return gave(code, event, first, last);
    if (code == kSuccess && choice_.waitsForEach) code = cl_.clFinish(queue_);
    if (code != kSuccess) return gave(code, event, work.tag, work.tag);
  }
  return given_;
}

/// How long the device says it took, up to the moment at which the host sees that it is done.
Code OpenClDevice::timeOne(const DeviceWork& work, DeviceTime& time) {
  Event event = nullptr;
  if (const Code code = giveWork(work, &event)) return code;
  Code code = cl_.clWaitForEvents(1, &event);
  time.begin = time.end = Profile::now();
  uint64_t begin = 0, end = 0;
  if (code == kSuccess && cl_.clGetEventProfilingInfo(event, kEventBegin, sizeof begin, &begin, nullptr) == kSuccess &&
      cl_.clGetEventProfilingInfo(event, kEventEnd, sizeof end, &end, nullptr) == kSuccess && end > begin)
    time.begin = time.end - std::min(end - begin, time.end);
  (void)cl_.clReleaseEvent(event);
  return code;
}

std::optional<Device::Failure> OpenClDevice::time(DeviceBatch& batch, std::span<DeviceTime> times) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < batch.works.size() && !failure_; i++)
    if (const Code code = timeOne(batch.works[i], times[i]); code != kSuccess)
      failed(code, batch.works[i].tag, batch.works[i].tag);
  return failure_;
}

// ---- Waiting

/// The first one behind the ticket; null where nothing was given behind the last failure.
const OpenClDevice::Mark* OpenClDevice::markOf(Ticket ticket) const {
  const Mark* found = nullptr;
  for (const Mark& mark : marks_)
    if (mark.ticket >= ticket && mark.ticket > 0 && (found == nullptr || mark.ticket < found->ticket)) found = &mark;
  return found;
}

std::optional<Device::Failure> OpenClDevice::wait(Ticket ticket) {
  Mark waited;
  {
    const std::lock_guard lock(mutex_);
    const Mark* const mark = failure_ || ticket <= done_ ? nullptr : markOf(ticket);
    if (mark == nullptr) return failure_;
    waited = *mark;
    if (const Code code = cl_.clRetainEvent(waited.event); code != kSuccess) failed(code, waited.first, waited.last);
    if (failure_) return failure_;
  }
  const Code code = cl_.clWaitForEvents(1, &waited.event);
  (void)cl_.clReleaseEvent(waited.event);
  const std::lock_guard lock(mutex_);
  if (code != kSuccess)
    failed(code, waited.first, waited.last);
  else
    done_ = std::max(done_, waited.ticket);
  return failure_;
}

bool OpenClDevice::isDone(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  const Mark* const mark = failure_ || ticket <= done_ ? nullptr : markOf(ticket);
  if (mark == nullptr) return true;
  Code status = kComplete;
  const Code code = cl_.clGetEventInfo(mark->event, kEventStatus, sizeof status, &status, nullptr);
  return code != kSuccess || status <= kComplete;
}

/// With another queue: the old one may hold what failed.
void OpenClDevice::reset() {
  const std::lock_guard lock(mutex_);
  (void)cl_.clFinish(queue_);
  for (Mark& mark : marks_) {
    if (mark.event != nullptr) (void)cl_.clReleaseEvent(mark.event);
    mark = {};
  }
  (void)cl_.clReleaseCommandQueue(queue_);
  queue_ = nullptr;
  if (!makeQueue()) {
    isLost_ = true;
    return;
  }
  failure_.reset(), done_ = given_;
}

}  // namespace svod::opencl
