// The functions of the mock that give work: copies, launches, events, streams.
#include <dlfcn.h>

#include <cstring>

#include "cuda/mock_api.h"

using mock::Mock;

namespace {

constexpr Code kInvalidHandle = 400, kNotReady = 600;

/// Whether the stream belongs to what is current.
bool isOurs(Mock& m, Stream stream, const ContextObject* context) {
  if (!m.isStream(stream)) return false;
  if (stream->context == context) return true;
  m.wrong("a stream of another context");
  return false;
}

Code copy(Mock& m, Stream stream, const CopyNode& node, ContextObject* context) {
  if (!isOurs(m, stream, context)) return kInvalidHandle;
  auto work = m.copyWork(node, context, false);
  return work ? m.launch(stream, std::move(*work)) : kInvalidValue;
}

CopySide onDevice(Address address) {
  CopySide side = {};
  side.type = kDevice, side.device = address;
  return side;
}
CopySide onHost(const void* memory) {
  CopySide side = {};
  side.type = kHost, side.host = const_cast<void*>(memory);
  return side;
}

}  // namespace

extern "C" {

Code cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, Stream stream) {
  MOCK_CALL("cuMemcpyHtoDAsync_v2");
  return copy(m, stream, {onHost(from), onDevice(to), bytes, 1, 1}, context);
}
Code cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, Stream stream) {
  MOCK_CALL("cuMemcpyDtoHAsync_v2");
  const Code code = copy(m, stream, {onDevice(from), onHost(to), bytes, 1, 1}, context);
  // To memory that is not pinned it returns when the copy is done.
  return code == kSuccess && !m.isPinned(to) ? m.drain(stream, stream->given) : code;
}
Code cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream stream) {
  MOCK_CALL("cuMemcpyDtoDAsync_v2");
  return copy(m, stream, {onDevice(from), onDevice(to), bytes, 1, 1}, context);
}

Code cuMemcpyPeerAsync(Address to, Context toContext, Address from, Context fromContext, size_t bytes, Stream stream) {
  MOCK_CALL("cuMemcpyPeerAsync");
  if (!isOurs(m, stream, context)) return kInvalidHandle;
  if (m.real(to, bytes, toContext, "the target of a copy") == nullptr ||
      m.real(from, bytes, fromContext, "the source of a copy") == nullptr)
    return kInvalidValue;
  return m.launch(stream, [&m, to, toContext, from, fromContext, bytes]() -> Code {
    char* const target = m.real(to, bytes, toContext, "the target of a copy, when it happens");
    const char* const source = m.real(from, bytes, fromContext, "the source of a copy, when it happens");
    if (target == nullptr || source == nullptr) return kIllegalAddress;
    std::memmove(target, source, bytes);
    return kSuccess;
  });
}

Code cuStreamCreate(Stream* stream, unsigned flags) {
  MOCK_CALL("cuStreamCreate");
  if (flags != kNonBlockingStream) m.wrong("a stream that waits for that of others");
  auto made = std::make_unique<StreamObject>();
  made->context = context;
  *stream = made.get();
  m.streams[*stream] = std::move(made);
  return kSuccess;
}

Code cuStreamDestroy_v2(Stream stream) {
  MOCK_CALL("cuStreamDestroy_v2");
  if (!isOurs(m, stream, context)) return kInvalidHandle;
  const Code code = m.drain(stream, stream->given);
  m.streams.erase(stream);
  return code;
}

Code cuStreamSynchronize(Stream stream) {
  MOCK_CALL("cuStreamSynchronize");
  return isOurs(m, stream, context) ? m.drain(stream, stream->given) : kInvalidHandle;
}

Code cuStreamWaitEvent(Stream stream, Event event, unsigned flags) {
  MOCK_CALL("cuStreamWaitEvent");
  if (!isOurs(m, stream, context) || !m.events.contains(event) || flags != 0)
    return m.wrong("a wait for no event"), kInvalidHandle;
  if (!event->isRecorded) return m.wrong("a wait for an event that was never recorded"), kSuccess;
  if (event->stream == nullptr) return kSuccess;
  stream->queue.push_back({nullptr, event->stream, event->count});
  stream->given++;
  return kSuccess;
}

Code cuEventCreate(Event* event, unsigned flags) {
  MOCK_CALL("cuEventCreate");
  if ((flags & ~static_cast<unsigned>(kEventWithoutTime)) != 0) m.wrong("an event with other flags");
  auto made = std::make_unique<EventObject>();
  made->context = context, made->hasTime = flags == 0;
  *event = made.get();
  m.events[*event] = std::move(made);
  return kSuccess;
}

Code cuEventDestroy_v2(Event event) {
  MOCK_CALL("cuEventDestroy_v2");
  if (m.events.erase(event) == 0) return m.wrong("an event that is none is destroyed"), kInvalidHandle;
  return kSuccess;
}

Code cuEventRecord(Event event, Stream stream) {
  MOCK_CALL("cuEventRecord");
  if (!m.events.contains(event) || event->context != context)
    return m.wrong("no event of this context"), kInvalidHandle;
  event->isRecorded = true, event->stream = stream;
  if (stream == nullptr) return kSuccess;  // nobody gives work to the default stream
  if (!isOurs(m, stream, context)) return kInvalidHandle;
  event->count = stream->given + 1, event->time = -1;
  return m.launch(stream, [&m, event]() -> Code {
    if (m.events.contains(event)) event->time = m.clock;
    return kSuccess;
  });
}

Code cuEventSynchronize(Event event) {
  MOCK_CALL("cuEventSynchronize");
  if (!m.events.contains(event)) return m.wrong("a wait for no event"), kInvalidHandle;
  if (!event->isRecorded) return m.wrong("a wait for an event that was never recorded"), kSuccess;
  return m.streams.contains(event->stream) ? m.drain(event->stream, event->count) : kSuccess;
}

Code cuEventElapsedTime(float* milliseconds, Event from, Event to) {
  MOCK_CALL("cuEventElapsedTime");
  if (!m.events.contains(from) || !m.events.contains(to) || !from->hasTime || !to->hasTime)
    return m.wrong("the time of no event"), kInvalidHandle;
  if (from->time < 0 || to->time < 0) return m.wrong("the time of an event that is not over"), kNotReady;
  *milliseconds = to->time - from->time;
  return kSuccess;
}

Code cuLaunchKernel(Function function, unsigned groupsX, unsigned groupsY, unsigned groupsZ, unsigned threadsX,
                    unsigned threadsY, unsigned threadsZ, unsigned sharedBytes, Stream stream, void** parameters,
                    void** extra) {
  MOCK_CALL("cuLaunchKernel");
  if (!isOurs(m, stream, context)) return kInvalidHandle;
  if (!m.functions.contains(function) || extra != nullptr) return m.wrong("a launch of no function"), kInvalidHandle;
  const unsigned groups[] = {groupsX, groupsY, groupsZ}, threads[] = {threadsX, threadsY, threadsZ};
  auto work = m.kernelWork(function, groups, threads, sharedBytes, parameters, context);
  return work ? m.launch(stream, std::move(*work)) : kInvalidValue;
}

}  // extern "C"
