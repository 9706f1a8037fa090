// The functions of the mock that give work: copies, launches, events, streams.
#include <dlfcn.h>

#include <cstring>

#include "cuda/mock_api.h"

using mock::Mock;

namespace {

constexpr Code kInvalidHandle = 400;

Code copy(Mock& m, Stream handle, const CopyNode& node, ContextObject* context) {
  Stream const stream = m.streamOf(handle, context);
  if (stream == nullptr) return kInvalidHandle;
  auto work = m.copyWork(node, context, false);
  return work ? m.launch(stream, std::move(*work)) : kInvalidValue;
}

/// Everything that was given to the stream is done, and the host knows.
Code finish(Mock& m, Stream stream) {
  const Code code = m.drain(stream, stream->given);
  m.hostWaited(stream, stream->given, stream->before);
  return code;
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
  return code == kSuccess && !m.isPinned(to) ? finish(m, m.streamOf(stream, context)) : code;
}
Code cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream stream) {
  MOCK_CALL("cuMemcpyDtoDAsync_v2");
  return copy(m, stream, {onDevice(from), onDevice(to), bytes, 1, 1}, context);
}

Code cuMemcpyPeerAsync(Address to, Context toContext, Address from, Context fromContext, size_t bytes, Stream stream) {
  MOCK_CALL("cuMemcpyPeerAsync");
  if ((stream = m.streamOf(stream, context)) == nullptr) return kInvalidHandle;
  if (m.real(to, bytes, toContext, "the target of a copy") == nullptr ||
      m.real(from, bytes, fromContext, "the source of a copy") == nullptr)
    return kInvalidValue;
  return m.launch(stream, [&m, to, toContext, from, fromContext, bytes]() -> Code {
    char* const target = m.real(to, bytes, toContext, "the target of a copy, when it happens");
    const char* const source = m.real(from, bytes, fromContext, "the source of a copy, when it happens");
    if (target == nullptr || source == nullptr) return kIllegalAddress;
    m.touch(from, bytes, false), m.touch(to, bytes, true);
    std::memmove(target, source, bytes);
    return kSuccess;
  });
}

Code cuStreamCreate(Stream* stream, unsigned flags) {
  MOCK_CALL("cuStreamCreate");
  if (flags != kNonBlockingStream) m.wrong("a stream that waits for that of others");
  *stream = m.newStream(context);
  return kSuccess;
}

Code cuStreamDestroy_v2(Stream stream) {
  MOCK_CALL("cuStreamDestroy_v2");
  if (m.streamOf(stream, context) == nullptr || stream->isDefault) return kInvalidHandle;
  const Code code = m.drain(stream, stream->given);
  m.streams.erase(stream);
  return code;
}

Code cuStreamSynchronize(Stream stream) {
  MOCK_CALL("cuStreamSynchronize");
  stream = m.streamOf(stream, context);
  return stream != nullptr ? finish(m, stream) : kInvalidHandle;
}

Code cuStreamWaitEvent(Stream stream, Event event, unsigned flags) {
  MOCK_CALL("cuStreamWaitEvent");
  if ((stream = m.streamOf(stream, context)) == nullptr || !m.events.contains(event) || flags != 0)
    return m.wrong("a wait for no event"), kInvalidHandle;
  if (!event->isRecorded) return m.wrong("a wait for an event that was never recorded"), kSuccess;
  stream->queue.push_back({nullptr, event->stream, event->count});
  stream->given++;
  for (const auto& [number, place] : event->before) stream->before[number] = std::max(stream->before[number], place);
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
  if ((stream = m.streamOf(stream, context)) == nullptr) return kInvalidHandle;
  event->isRecorded = true, event->stream = stream;
  event->count = stream->given + 1, event->time = -1;
  const Code code = m.launch(stream, [&m, event]() -> Code {
    if (m.events.contains(event)) event->time = m.clock;
    return kSuccess;
  });
  event->before = stream->before;
  return code;
}

Code cuEventSynchronize(Event event) {
  MOCK_CALL("cuEventSynchronize");
  if (!m.events.contains(event)) return m.wrong("a wait for no event"), kInvalidHandle;
  if (!event->isRecorded) return m.wrong("a wait for an event that was never recorded"), kSuccess;
  if (!m.streams.contains(event->stream)) return kSuccess;
  const Code code = m.drain(event->stream, event->count);
  m.hostWaited(event->stream, event->count, event->before);
  return code;
}

Code cuEventQuery(Event event) {
  MOCK_CALL("cuEventQuery");
  if (!m.events.contains(event)) return m.wrong("a question about no event"), kInvalidHandle;
  if (!event->isRecorded || !m.streams.contains(event->stream)) return kSuccess;
  if (event->stream->done < event->count) return kNotReady;
  m.hostWaited(event->stream, event->count, event->before);
  return kSuccess;
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
  if ((stream = m.streamOf(stream, context)) == nullptr) return kInvalidHandle;
  if (!m.functions.contains(function) || extra != nullptr) return m.wrong("a launch of no function"), kInvalidHandle;
  const unsigned groups[] = {groupsX, groupsY, groupsZ}, threads[] = {threadsX, threadsY, threadsZ};
  auto work = m.kernelWork(function, groups, threads, sharedBytes, parameters, context);
  return work ? m.launch(stream, std::move(*work)) : kInvalidValue;
}

}  // extern "C"
