#include "runtime-cuda/cuda_device.h"

#include <algorithm>

#include "runtime-cuda/graph.h"
#include "support/says.h"
#include "svod/runtime.h"

namespace svod::cuda {

Result<std::unique_ptr<CudaDevice>> CudaDevice::open(Driver driver, const DeviceChoice& choice) {
  std::unique_ptr<CudaDevice> device(new CudaDevice(driver, choice));
  SVOD_CHECK(device->start());
  return device;
}

Status CudaDevice::start() {
  SVOD_TRY(const int count, deviceCount(driver_));
  if (choice_.ordinal >= count)
    return svod::fail(
        Diag::NoDevice, says({"there is no device cuda:", choice_.ordinal, "; this machine has ", count}),
        "put the device of the plan on one that is there: svod-run --device NAME=0, or the option 'number' of "
        "svod_instance_options.device_options");
  SVOD_TRY(info_, deviceInfo(driver_, choice_.ordinal));
  const std::string what = says({"use ", nameText(info_)});
  // Never a context of our own: it would cost memory, and nothing could be shared with other libraries.
  SVOD_CUDA(driver_, what, cuDevicePrimaryCtxRetain(&context_, info_.device));
  hasContext_ = true;
  const Current current(driver_, context_);
  Code code = current.code();
  if (code == kSuccess) code = driver_.cuStreamCreate(&own_, kNonBlockingStream);
  stream_ = own_;
  for (Mark& mark : marks_)
    if (code == kSuccess) code = driver_.cuEventCreate(&mark.event, kEventWithoutTime);
  if (code == kSuccess) code = driver_.cuEventCreate(&others_, kEventWithoutTime);
  return code == kSuccess ? Status() : refused(code, what);
}

bool CudaDevice::isThere() {
  if (!isLost_ && endsContext(waitForAll())) isLost_ = true;
  return !isLost_;
}

tl::unexpected<Error> CudaDevice::refused(Code code, std::string_view what) {
  if (endsContext(code)) isLost_ = true;
  return driver_.failed(code, what);
}

CudaDevice::~CudaDevice() {
  if (!hasContext_ || isLost_) return;
  {
    const Current current(driver_, context_);
    if (current.code() != kSuccess) return;
    if (own_ != nullptr && !isThere()) return;
    for (const Mark& mark : marks_)
      if (mark.event != nullptr) (void)driver_.cuEventDestroy(mark.event);
    if (others_ != nullptr) (void)driver_.cuEventDestroy(others_);
    for (const Event clock : clocks_) (void)driver_.cuEventDestroy(clock);
    for (const auto& [argument, memory] : aligned_)
      if (memory != 0) (void)driver_.cuMemFree(memory);
    for (const auto& [path, module] : modules_) (void)driver_.cuModuleUnload(module);
    if (own_ != nullptr) (void)driver_.cuStreamDestroy(own_);
  }
  (void)driver_.cuDevicePrimaryCtxRelease(info_.device);
}

// ---- Memory

Result<void*> CudaDevice::allocate(uint64_t bytes) {
  const std::string what = says({"reserve ", bytes, " bytes on ", nameText(info_)});
  const Current current(driver_, context_);
  Address address = 0;
  const Code code = current.code() != kSuccess ? current.code() : driver_.cuMemAlloc(&address, bytes);
  if (code != kSuccess) return refused(code, what);
  return reinterpret_cast<void*>(address);
}

void CudaDevice::release(void* memory, uint64_t) {
  const Current current(driver_, context_);
  if (current.code() == kSuccess && isThere()) (void)driver_.cuMemFree(addressOf(memory));
}

Status CudaDevice::checkAddress(const void* memory, uint64_t bytes) {
  const auto refuse = [](std::string_view what) { return svod::fail(Diag::InputMismatch, what); };
  const Current current(driver_, context_);
  if (current.code() != kSuccess) return driver_.failed(current.code(), "look at an address");
  const Address address = addressOf(memory);
  unsigned type = 0;
  if (driver_.cuPointerGetAttribute(&type, kMemoryType, address) != kSuccess || type != kDevice)
    return refuse("it is memory of the host");
  int ordinal = -1;
  SVOD_CUDA(driver_, "look at an address", cuPointerGetAttribute(&ordinal, kDeviceOrdinal, address));
  if (ordinal != info_.ordinal)
    return refuse(says({"it is memory of cuda:", ordinal, ", the device is cuda:", info_.ordinal}));
  Address start = 0;
  size_t size = 0;
  SVOD_CUDA(driver_, "look at an address", cuPointerGetAttribute(&start, kRangeStart, address));
  SVOD_CUDA(driver_, "look at an address", cuPointerGetAttribute(&size, kRangeSize, address));
  const uint64_t room = size - (address - start);
  if (room < bytes) return refuse(says({"it needs ", bytes, " bytes, the allocation has ", room, " from there on"}));
  const std::lock_guard lock(mutex_);
  bound_[address] = bytes;
  return {};
}

// ---- Work

Code CudaDevice::giveLaunch(const DeviceLaunch& launch) {
  const auto& kernel = *static_cast<const DeviceKernel*>(launch.loaded);
  const Code code = checkLaunch(kernel, launch);
  if (code == kNotAligned) return giveAligned(kernel, launch);
  return code == kSuccess ? giveKernel(kernel, launch) : code;
}

Code CudaDevice::giveKernel(const DeviceKernel& kernel, const DeviceLaunch& launch) {
  if (const Code code = parameters_.fill(driver_, launch); code != kSuccess) return code;
  const auto x = static_cast<unsigned>(launch.groups[0]), y = static_cast<unsigned>(launch.groups[1]),
             z = static_cast<unsigned>(launch.groups[2]);
  const auto [tx, ty, tz] = kernel.threads;
  if (!kernel.hasCluster())
    return driver_.cuLaunchKernel(kernel.function, x, y, z, tx, ty, tz, kernel.sharedBytes, stream_,
                                  parameters_.addresses(), nullptr);
  DriverAttribute cluster{kClusterDimension, {}, {}};
  cluster.value.cluster = {kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]};
  const LaunchConfig config{{x, y, z}, {tx, ty, tz}, kernel.sharedBytes, stream_, &cluster, 1};
  return driver_.cuLaunchKernelEx(&config, kernel.function, parameters_.addresses(), nullptr);
}

Code CudaDevice::giveWork(const DeviceWork& work) {
  switch (work.kind) {
    case DeviceWork::Kind::Launch: return giveLaunch(work.launch);
    case DeviceWork::Kind::CopyIn: return driver_.cuMemcpyHtoDAsync(addressOf(work.to), work.from, work.bytes, stream_);
    case DeviceWork::Kind::CopyOut:
      return driver_.cuMemcpyDtoHAsync(work.to, addressOf(work.from), work.bytes, stream_);
    case DeviceWork::Kind::CopyWithin:
      return driver_.cuMemcpyDtoDAsync(addressOf(work.to), addressOf(work.from), work.bytes, stream_);
  }
  return kInvalidValue;
}

/// A lost context shows at any call: what was given before and is not known to be done may have done it.
void CudaDevice::failed(Code code, uint32_t first, uint32_t last) {
  if (endsContext(code)) {
    isLost_ = true;
    for (const Mark& mark : marks_)
      if (mark.ticket > done_) first = std::min(first, mark.first), last = std::max(last, mark.last);
  }
  if (!failure_) failure_ = {first, driver_.nameOf(code), last};
}

void CudaDevice::mark(uint32_t first, uint32_t last) {
  Mark& mark = marks_[given_ % marks_.size()];
  mark.ticket = given_, mark.first = first, mark.last = last;
  if (const Code code = driver_.cuEventRecord(mark.event, stream_); code != kSuccess)
    mark.ticket = 0, failed(code, first, last);
}

CudaDevice::Ticket CudaDevice::gave(Code code, uint32_t first, uint32_t last) {
  given_++;
  if (code == kSuccess && choice_.waitsForEach) {
    code = driver_.cuStreamSynchronize(stream_);
    if (code == kSuccess) done_ = given_;
  }
  if (code != kSuccess)
    failed(code, first, last);
  else
    mark(first, last);
  return given_;
}

CudaDevice::Ticket CudaDevice::giveOneWork(const DeviceWork& work) {
  const std::lock_guard lock(mutex_);
  if (failure_) return ++given_;
  const Current current(driver_, context_);
  return gave(current.code() != kSuccess ? current.code() : giveWork(work), work.tag, work.tag);
}

CudaDevice::Ticket CudaDevice::launch(const DeviceLaunch& launch, uint32_t tag) {
  return giveOneWork({DeviceWork::Kind::Launch, tag, {}, launch});
}
CudaDevice::Ticket CudaDevice::copyIn(void* to, const void* fromHost, uint64_t bytes, uint32_t tag) {
  return giveOneWork({DeviceWork::Kind::CopyIn, tag, {}, {}, to, fromHost, bytes});
}
CudaDevice::Ticket CudaDevice::copyOut(void* toHost, const void* from, uint64_t bytes, uint32_t tag) {
  return giveOneWork({DeviceWork::Kind::CopyOut, tag, {}, {}, toHost, from, bytes});
}
CudaDevice::Ticket CudaDevice::copyWithin(void* to, const void* from, uint64_t bytes, uint32_t tag) {
  return giveOneWork({DeviceWork::Kind::CopyWithin, tag, {}, {}, to, from, bytes});
}

CudaDevice::Ticket CudaDevice::copyFrom(Device& other, void* to, const void* from, uint64_t bytes, uint32_t tag) {
  if (other.kind() != kKind) return 0;
  auto& source = static_cast<CudaDevice&>(other);
  const std::lock_guard lock(mutex_);
  if (failure_) return ++given_;
  const Current current(driver_, context_);
  if (current.code() != kSuccess) return gave(current.code(), tag, tag);
  if (source.context_ == context_)
    return gave(driver_.cuMemcpyDtoDAsync(addressOf(to), addressOf(from), bytes, stream_), tag, tag);
  // A way between the two makes it faster; without one the driver goes by the host. To have it already is no error.
  int can = 0;
  if (driver_.cuDeviceCanAccessPeer(&can, info_.device, source.info_.device) == kSuccess && can != 0)
    (void)driver_.cuCtxEnablePeerAccess(source.context_, 0);
  return gave(driver_.cuMemcpyPeerAsync(addressOf(to), context_, addressOf(from), source.context_, bytes, stream_), tag,
              tag);
}

CudaDevice::Ticket CudaDevice::give(DeviceBatch& batch) {
  const std::lock_guard lock(mutex_);
  if (failure_) return ++given_;
  const uint32_t first = batch.works.front().tag, last = batch.works.back().tag;
  const Current current(driver_, context_);
  if (current.code() != kSuccess) return gave(current.code(), first, last);
  const bool isGraph =
      choice_.usesGraphs && !choice_.waitsForEach && driver_.hasGraphs() && fitsGraph(batch) && isAligned(batch);
  if (isGraph) {
    uint32_t at = first, until = last;
    const Code code = giveGraph(*this, batch, at, until);
    return gave(code, at, until);
  }
  for (const DeviceWork& work : batch.works) {
    const Code code = giveWork(work);
    if (code != kSuccess) return gave(code, work.tag, work.tag);
    if (choice_.waitsForEach)
      if (const Code waited = driver_.cuStreamSynchronize(stream_); waited != kSuccess)
        return gave(waited, work.tag, work.tag);
  }
  return gave(kSuccess, first, last);
}

// ---- Waiting

/// The first one behind the ticket; null where nothing was given behind the last failure.
const CudaDevice::Mark* CudaDevice::markOf(Ticket ticket) const {
  const Mark* found = nullptr;
  for (const Mark& mark : marks_)
    if (mark.ticket >= ticket && mark.ticket > 0 && (found == nullptr || mark.ticket < found->ticket)) found = &mark;
  return found;
}

Code CudaDevice::waitForAll() const {
  const Mark* const last = markOf(given_);
  if (last != nullptr || stream_ != own_) {
    const Code code = last != nullptr ? driver_.cuEventSynchronize(last->event) : driver_.cuStreamSynchronize(stream_);
    if (code != kSuccess) return code;
  }
  return driver_.cuStreamSynchronize(own_);
}

/// The new stream waits for the last work in the one before, so that tickets are done in their order.
Status CudaDevice::useStream(void* stream) {
  const Stream wanted = stream == SVOD_OWN_STREAM ? own_ : static_cast<Stream>(stream);
  const std::lock_guard lock(mutex_);
  if (wanted == stream_) return {};
  const Current current(driver_, context_);
  Context owner = context_;
  Code code = current.code();
  if (code == kSuccess && wanted != own_ && driver_.cuStreamGetCtx != nullptr)
    code = driver_.cuStreamGetCtx(wanted, &owner);
  if (code == kSuccess && owner != context_)
    return svod::fail(Diag::InputMismatch, says({"the stream is none of ", nameText(info_)}),
                      "give a stream of the primary context of this device, as torch and the CUDA runtime make them");
  const Mark* const last = failure_ ? nullptr : markOf(given_);
  if (code == kSuccess && last != nullptr) code = driver_.cuStreamWaitEvent(wanted, last->event, 0);
  if (code != kSuccess) return refused(code, "use the stream");
  stream_ = wanted;
  return {};
}

/// The usual queue of others is the default stream: ours does not wait for it by itself. A stream of the caller's
/// orders what the caller gives to it.
Status CudaDevice::beginRun(bool isBound) {
  const std::lock_guard lock(mutex_);
  if (failure_ || (stream_ == own_ && !isBound)) return {};
  const Current current(driver_, context_);
  Code code = current.code();
  if (stream_ == own_) {
    if (code == kSuccess) code = driver_.cuEventRecord(others_, nullptr);
    if (code == kSuccess) code = driver_.cuStreamWaitEvent(stream_, others_, 0);
    if (code != kSuccess) gave(code, 0, 0);
    return {};
  }
  int capture = 0;
  if (code == kSuccess && driver_.cuStreamIsCapturing != nullptr) code = driver_.cuStreamIsCapturing(stream_, &capture);
  if (code != kSuccess) return refused(code, "use the stream");
  if (capture == 0) return {};
  return svod::fail(Diag::Unsupported, "the stream is being captured into a graph, and a run cannot be a part of one",
                    "run the plan outside of the capture: its steps are a graph already");
}

CudaDevice::Ticket CudaDevice::waitFor(Device& other, Ticket ticket, uint32_t tag) {
  if (other.kind() != kKind) return 0;
  auto& source = static_cast<CudaDevice&>(other);
  const std::scoped_lock lock(mutex_, source.mutex_);
  if (failure_ || source.failure_) return 0;
  const Mark* const mark = source.markOf(ticket);
  if (mark == nullptr) return 0;
  const Current current(driver_, context_);
  return gave(current.code() != kSuccess ? current.code() : driver_.cuStreamWaitEvent(stream_, mark->event, 0), tag,
              tag);
}

std::optional<Device::Failure> CudaDevice::wait(Ticket ticket) {
  Event event = nullptr;
  uint32_t first = 0, last = 0;
  {
    const std::lock_guard lock(mutex_);
    if (failure_ || ticket <= done_) return failure_;
    const Mark* const mark = markOf(ticket);
    if (mark == nullptr) return failure_;
    event = mark->event, first = mark->first, last = mark->last, ticket = mark->ticket;
  }
  const Current current(driver_, context_);
  const Code code = current.code() != kSuccess ? current.code() : driver_.cuEventSynchronize(event);
  const std::lock_guard lock(mutex_);
  if (code != kSuccess)
    failed(code, first, last);
  else
    done_ = std::max(done_, ticket);
  return failure_;
}

bool CudaDevice::isDone(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  const Mark* const mark = failure_ || ticket <= done_ ? nullptr : markOf(ticket);
  if (mark == nullptr) return true;
  const Current current(driver_, context_);
  return current.code() != kSuccess || driver_.cuEventQuery(mark->event) != kNotReady;
}

void CudaDevice::reset() {
  const std::lock_guard lock(mutex_);
  const Current current(driver_, context_);
  if (const Code code = current.code() != kSuccess ? current.code() : waitForAll(); endsContext(code))
    isLost_ = true;
  else
    failure_.reset(), done_ = given_;
}

}  // namespace svod::cuda
