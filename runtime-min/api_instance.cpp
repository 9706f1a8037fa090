// The C interface of instances: what is bound to them, their variables and states.
#include <sched.h>

#include <algorithm>

#include "runtime-min/api_error.h"
#include "runtime-min/drivers.h"
#include "support/says.h"

namespace {

using namespace svod;

/// `data` has room for a whole state.
Status checkState(const Instance& inner, size_t index, const void* data, uint64_t bytes) {
  SVOD_CHECK(checkPort(inner.loaded(), SVOD_STATE, index));
  const TensorView& view = inner.loaded().views(SVOD_STATE)[index];
  if (bytes != view.c.max_bytes || (data == nullptr && bytes > 0))
    return fail(Diag::InputMismatch, says({"state '", view.name, "' has ", view.c.max_bytes,
                                           " bytes, the memory given for it ", data == nullptr ? 0 : bytes}));
  return {};
}

Status checkOptions(const svod_instance_options& options) {
  SVOD_CHECK(checkArray(options.functions, options.function_count, "the array of functions"));
  SVOD_CHECK(checkArray(options.device_options, options.device_option_count, "the array of options of devices"));
  for (size_t i = 0; i < options.device_option_count; i++)
    if (options.device_options[i].name == nullptr || options.device_options[i].value == nullptr)
      return checkPointer(nullptr, "the name or value of an option of a device");
  return {};
}

}  // namespace

extern "C" {

int svod_instance_create(svod_plan* plan, const svod_instance_options* options, svod_instance** instance,
                         svod_error* error) {
  return guard(error, [&]() -> Status {
    SVOD_CHECK(checkPointer(instance, "the place for the instance"));
    *instance = nullptr;
    SVOD_CHECK(checkPointer(plan, "the plan"));
    const svod_instance_options chosen = options != nullptr ? *options : svod_instance_options{};
    SVOD_CHECK(checkOptions(chosen));
    std::shared_ptr<Pool> pool = chosen.pool != nullptr ? chosen.pool->pool : nullptr;
    SVOD_TRY(auto devices, openDevices(plan->loaded->plan(), {chosen.device_options, chosen.device_option_count}));
    std::vector<Device*> lent;
    for (const auto& device : devices) lent.push_back(device.get());
    SVOD_TRY(auto inner, Instance::create(plan->loaded, chosen, pool.get(), std::move(lent)));
    inner->own(std::move(devices));
    *instance = new svod_instance{std::move(pool), std::move(inner)};
    return {};
  });
}

void svod_instance_free(svod_instance* instance) {
  if (instance == nullptr) return;
  while (instance->inside.load(std::memory_order_acquire) == thisProcess()) {
    instance->inner->run().stop();
    ::sched_yield();
  }
  // What a device holds is the parent's, whose driver does not work in a child.
  if (instance->process != thisProcess() && instance->ownsDevices()) (void)instance->inner.release();
  delete instance;
}

int svod_set_variable(svod_instance* instance, size_t index, int64_t value, svod_error* error) {
  return guardInstance(instance, error, [&](Instance& inner) -> Status {
    const std::vector<VariableId>& ids = inner.loaded().variables();
    SVOD_CHECK(checkPort(inner.loaded(), SVOD_VARIABLE, index));
    return inner.bindings().setVariable(ids[index], value);
  });
}

void svod_clear_variable(svod_instance* instance, size_t index) {
  if (const InstanceCall call(instance); call) {
    const std::vector<VariableId>& ids = instance->inner->loaded().variables();
    if (index < ids.size()) instance->inner->bindings().clearVariable(ids[index]);
  }
}

int svod_bind_input(svod_instance* instance, size_t index, const char* dtype, const uint64_t* shape, size_t rank,
                    const void* data, svod_error* error) {
  return svod_bind_device_input(instance, index, 0, dtype, shape, rank, data, error);
}

int svod_bind_device_input(svod_instance* instance, size_t index, size_t device, const char* dtype,
                           const uint64_t* shape, size_t rank, const void* data, svod_error* error) {
  return guardInstance(instance, error, [&](Instance& inner) -> Status {
    SVOD_CHECK(checkPort(inner.loaded(), SVOD_INPUT, index));
    SVOD_CHECK(checkIndex(device, inner.loaded().plan().devices.size(), "device"));
    SVOD_CHECK(checkArray(shape, rank, "the shape"));
    return inner.bindings().bindInput(index, dtype, {shape, rank}, data, static_cast<DeviceId>(device));
  });
}

int svod_bind_output(svod_instance* instance, size_t index, void* data, uint64_t bytes, svod_error* error) {
  return svod_bind_device_output(instance, index, 0, data, bytes, error);
}

int svod_bind_device_output(svod_instance* instance, size_t index, size_t device, void* data, uint64_t bytes,
                            svod_error* error) {
  return guardInstance(instance, error, [&](Instance& inner) -> Status {
    SVOD_CHECK(checkPort(inner.loaded(), SVOD_OUTPUT, index));
    SVOD_CHECK(checkIndex(device, inner.loaded().plan().devices.size(), "device"));
    return inner.bindings().bindOutput(index, data, bytes, static_cast<DeviceId>(device));
  });
}

int svod_bind_device_state(svod_instance* instance, size_t index, size_t device, void* data, svod_error* error) {
  return guardInstance(instance, error, [&](Instance& inner) -> Status {
    SVOD_CHECK(checkPort(inner.loaded(), SVOD_STATE, index));
    SVOD_CHECK(checkIndex(device, inner.loaded().plan().devices.size(), "device"));
    return inner.bindState(StateId(index), static_cast<DeviceId>(device), data);
  });
}

int svod_get_variable(svod_instance* instance, size_t index, int64_t* value, svod_error* error) {
  return guardInstance(instance, error, [&](Instance& inner) -> Status {
    const std::vector<VariableId>& ids = inner.loaded().variables();
    SVOD_CHECK(checkPort(inner.loaded(), SVOD_VARIABLE, index));
    SVOD_CHECK(checkPointer(value, "the place for the value"));
    SVOD_CHECK(inner.bindings().resolve());
    *value = inner.bindings().values()[ids[index]];
    return {};
  });
}

int svod_get_shape(svod_instance* instance, svod_kind kind, size_t index, uint64_t* shape, uint64_t* bytes,
                   svod_error* error) {
  return guardInstance(instance, error, [&](Instance& inner) -> Status {
    if (kind < SVOD_INPUT || kind > SVOD_INTERMEDIATE || kind == SVOD_VARIABLE)
      return fail(Diag::UnknownPort, "only tensors have a shape");
    SVOD_CHECK(checkPort(inner.loaded(), kind, index));
    std::span<const uint64_t> found = inner.loaded().views(kind)[index].shape;
    uint64_t size = inner.loaded().views(kind)[index].c.max_bytes;
    if (kind == SVOD_INPUT || kind == SVOD_OUTPUT) {
      SVOD_CHECK(inner.bindings().resolve());
      found = inner.bindings().shape(kind, index);
      size = inner.bindings().bytes(kind, index);
    }
    if (shape != nullptr) std::copy(found.begin(), found.end(), shape);
    if (bytes != nullptr) *bytes = size;
    return {};
  });
}

void* svod_state_data(svod_instance* instance, size_t index) {
  if (instance == nullptr || index >= instance->inner->loaded().plan().states.size()) return nullptr;
  return instance->inner->isOnHost(StateId(index)) ? instance->inner->state(StateId(index)) : nullptr;
}

int svod_read_state(svod_instance* instance, size_t index, void* data, uint64_t bytes, svod_error* error) {
  return guardInstance(instance, error, [&](Instance& inner) -> Status {
    SVOD_CHECK(checkState(inner, index, data, bytes));
    return inner.readState(StateId(index), data);
  });
}

int svod_write_state(svod_instance* instance, size_t index, const void* data, uint64_t bytes, svod_error* error) {
  return guardInstance(instance, error, [&](Instance& inner) -> Status {
    SVOD_CHECK(checkState(inner, index, data, bytes));
    return inner.writeState(StateId(index), data);
  });
}

void svod_reset_states(svod_instance* instance) {
  if (const InstanceCall call(instance); call) instance->inner->resetStates();
}

}  // extern "C"
