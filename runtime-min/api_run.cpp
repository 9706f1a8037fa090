// The C interface of runs and events.
#include "runtime-min/api_error.h"

using namespace svod;

extern "C" {

int svod_execute(svod_instance* instance, const svod_execute_options* options, svod_error* error) {
  return guardInstance(instance, error,
                       [&](Instance& inner) { return inner.execute(options != nullptr ? options->order_seed : 0); });
}

int svod_enqueue(svod_instance* instance, const svod_execute_options* options, svod_error* error) {
  return guardInstance(instance, error,
                       [&](Instance& inner) { return inner.enqueue(options != nullptr ? options->order_seed : 0); });
}

int svod_set_stream(svod_instance* instance, size_t device, void* stream, svod_error* error) {
  return guardInstance(instance, error, [&](Instance& inner) -> Status {
    SVOD_CHECK(checkIndex(device, inner.loaded().plan().devices.size(), "device"));
    return inner.useStream(static_cast<DeviceId>(device), stream);
  });
}

int svod_submit(svod_instance* instance, const svod_submit_options* options, svod_error* error) {
  return guardInstance(instance, error, [&](Instance& inner) -> Status {
    const svod_submit_options chosen = options != nullptr ? *options : svod_submit_options{};
    SVOD_CHECK(checkArray(chosen.after, chosen.after_count, "the array of events"));
    for (size_t i = 0; i < chosen.after_count; i++) SVOD_CHECK(checkPointer(chosen.after[i].event, "an event"));
    SVOD_CHECK(inner.prepare());
    inner.submission().submit({chosen.after, chosen.after_count},
                              chosen.done != nullptr ? &chosen.done->event : nullptr, chosen.order_seed);
    return {};
  });
}

int svod_poll(const svod_instance* instance) {
  if (instance == nullptr) return 1;
  const Submission& submission = instance->inner->submission();
  return submission.isIdle() ? instance->inner->isEnqueuedDone() : submission.isDone();
}

int svod_wait(svod_instance* instance, svod_error* error) {
  if (instance == nullptr || instance->inner->submission().isIdle())
    return guardInstance(instance, error, [](Instance& inner) { return inner.waitEnqueued(); });
  return guard(error, [&] { return instance->inner->submission().wait(); });
}

void svod_stop(svod_instance* instance) {
  if (instance == nullptr) return;
  instance->inner->run().stop();
  instance->inner->submission().stop();
}

int svod_probe(svod_instance* instance, size_t index, void* data, uint64_t bytes, svod_error* error) {
  return guardInstance(instance, error, [&](Instance& inner) -> Status {
    SVOD_CHECK(checkPort(inner.loaded(), SVOD_INTERMEDIATE, index));
    return inner.probe(index, data, bytes);
  });
}

uint64_t svod_probe_count(const svod_instance* instance, size_t index) {
  const InstanceCall call(instance);
  if (!call) return 0;
  const std::vector<BufferId>& buffers = instance->inner->loaded().intermediates();
  return index < buffers.size() ? instance->inner->run().probes().count(buffers[index]) : 0;
}

svod_event* svod_event_create(void) { return new (std::nothrow) svod_event; }
void svod_event_free(svod_event* event) { delete event; }
void svod_event_add(svod_event* event, uint64_t count) {
  if (event != nullptr) event->event.add(count);
}
void svod_event_fail(svod_event* event) {
  if (event != nullptr) event->event.fail();
}
void svod_event_reset(svod_event* event) {
  if (event != nullptr) event->event.reset();
}
uint64_t svod_event_count(const svod_event* event) { return event == nullptr ? 0 : event->event.count(); }

int svod_event_wait(svod_event* event, uint64_t count, svod_error* error) {
  return guard(error, [&]() -> Status {
    SVOD_CHECK(checkPointer(event, "the event"));
    if (event->event.wait(count)) return {};
    return fail(Diag::Interrupted, "the event failed", "svod_wait of the run that it belongs to says why");
  });
}

}  // extern "C"
