// The C interface: turns handles, null pointers and exceptions into what the C++ inside expects, and back.
#include <algorithm>

#include "runtime-min/api_error.h"
#include "runtime-min/drivers.h"
#include "runtime-min/memory_block.h"
#include "support/says.h"

namespace {

using namespace svod;

const char* wordOf(svod_kind kind) {
  constexpr const char* kWords[] = {"input", "output", "state", "variable", "intermediate"};
  return kWords[kind];
}

const TensorView* findTensor(const LoadedPlan& loaded, svod_kind kind, size_t index) {
  if (kind < SVOD_INPUT || kind > SVOD_INTERMEDIATE || index >= loaded.views(kind).size()) return nullptr;
  return &loaded.views(kind)[index];
}

template <class Load>
int load(svod_plan** plan, svod_error* error, Load body) {
  *plan = nullptr;
  return guard(error, [&]() -> Status {
    SVOD_TRY(auto loaded, body());
    *plan = new svod_plan{std::move(loaded)};
    return {};
  });
}

LoadChoice loadChoice(const svod_load_options* options) {
  if (options == nullptr) return {};
  const int asked = options->verify_weights;
  return {asked > 0 ? WeightsCheck::Always : asked < 0 ? WeightsCheck::Never : WeightsCheck::Small, options->cpu};
}

/// `data` has room for a whole state, and no run has it.
Status checkState(svod_instance* instance, size_t index, const void* data, uint64_t bytes) {
  const LoadedPlan& loaded = instance->inner->loaded();
  SVOD_CHECK(checkIndex(index, loaded.plan().states.size(), "state"));
  SVOD_CHECK(checkIdle(instance));
  const TensorView& view = loaded.views(SVOD_STATE)[index];
  if (bytes != view.c.max_bytes || (data == nullptr && bytes > 0))
    return fail(Diag::InputMismatch, says({"state '", view.name, "' has ", view.c.max_bytes,
                                           " bytes, the memory given for it ", data == nullptr ? 0 : bytes}));
  return {};
}

}  // namespace

extern "C" {

int svod_plan_load(const char* path, const svod_load_options* options, svod_plan** plan, svod_error* error) {
  return load(plan, error, [&] { return LoadedPlan::fromPath(path, loadChoice(options)); });
}

int svod_plan_load_static(const char* path, const svod_function_table* table, const svod_load_options* options,
                          svod_plan** plan, svod_error* error) {
  return load(plan, error, [&]() -> Result<std::shared_ptr<const LoadedPlan>> {
    if (table == nullptr) return fail(Diag::Usage, "there is no table of functions", "svod_plan_load needs none");
    return LoadedPlan::fromPath(path, loadChoice(options), table);
  });
}

int svod_plan_load_memory(const svod_file* files, size_t count, const svod_load_options* options, svod_plan** plan,
                          svod_error* error) {
  return load(plan, error, [&] { return LoadedPlan::fromMemory({files, count}, loadChoice(options)); });
}

void svod_plan_free(svod_plan* plan) { delete plan; }

void svod_plan_get_info(const svod_plan* plan, svod_plan_info* out) {
  const Plan& from = plan->loaded->plan();
  *out = {};
  out->name = from.name.c_str();
  out->triple = from.target.triple.c_str();
  out->cpu = from.target.cpu.c_str();
  out->numerics = from.target.numerics.c_str();
  out->compiler = from.target.compiler.c_str();
  out->inputs = from.inputs.size();
  out->outputs = from.outputs.size();
  out->states = from.states.size();
  out->variables = plan->loaded->variables().size();
  out->kernels = from.kernels.size();
  out->steps = from.steps.size();
  out->arena_bytes = svod::arenaBytes(from);
  out->state_bytes = plan->loaded->stateBytes();
  out->scratch_bytes = plan->loaded->program().scratchBytes;
  for (const FileDesc& file : from.files)
    if (file.kind == FileKind::Weights) out->constant_bytes += file.bytes;
}

uint64_t svod_plan_instance_bytes(const svod_plan* plan, size_t threads) {
  const LoadedPlan& loaded = *plan->loaded;
  return svod::arenaBytes(loaded.plan()) + loaded.stateBytes() +
         Run::bytesFor(loaded, threads == 0 ? usableProcessors() : threads) + loaded.plan().buffers.size() * 16;
}

size_t svod_plan_find(const svod_plan* plan, svod_kind kind, const char* name) {
  const LoadedPlan& loaded = *plan->loaded;
  if (kind == SVOD_VARIABLE) {
    for (size_t i = 0; i < loaded.variables().size(); i++)
      if (loaded.plan().variables[loaded.variables()[i]].name == name) return i;
    return SVOD_NONE;
  }
  for (size_t i = 0; findTensor(loaded, kind, i) != nullptr; i++)
    if (findTensor(loaded, kind, i)->name == name) return i;
  return SVOD_NONE;
}

int svod_plan_tensor(const svod_plan* plan, svod_kind kind, size_t index, svod_tensor* tensor) {
  const TensorView* view = findTensor(*plan->loaded, kind, index);
  if (view == nullptr) return 1;
  *tensor = view->c;
  return 0;
}

int svod_plan_variable(const svod_plan* plan, size_t index, svod_variable* variable) {
  const LoadedPlan& loaded = *plan->loaded;
  if (index >= loaded.variables().size()) return 1;
  const Variable& from = loaded.plan().variables[loaded.variables()[index]];
  const bool fixed = from.kind == VariableKind::Fixed;
  *variable = {from.name.c_str(), fixed ? from.value : from.min, fixed ? from.value : from.max, fixed};
  return 0;
}

const char* svod_plan_host_function(const svod_plan* plan, size_t index) {
  const std::vector<std::string>& names = plan->loaded->program().hostFunctions;
  return index < names.size() ? names[index].c_str() : nullptr;
}

const char* svod_plan_device(const svod_plan* plan, size_t index) {
  const std::vector<DeviceDesc>& devices = plan->loaded->plan().devices;
  return index < devices.size() ? devices[index].name.c_str() : nullptr;
}

int svod_plan_processor(const svod_plan* plan, size_t index, svod_processor* processor) {
  const ProcessorChoice& choice = plan->loaded->processors();
  if (index >= choice.views.size()) return 1;
  const ProcessorView& view = choice.views[index];
  *processor = {view.name.c_str(), view.features.c_str(), view.missing.c_str(), index == choice.used};
  return 0;
}

svod_pool* svod_pool_create(size_t threads) {
  const size_t wanted = threads == 0 ? usableProcessors() : threads;
  if (!hasMemory(wanted * sizeof(Pool))) return nullptr;
  std::unique_ptr<svod_pool> pool(new svod_pool{Pool(wanted)});
  return pool->pool.threads() == wanted ? pool.release() : nullptr;
}

size_t svod_pool_threads(const svod_pool* pool) { return pool == nullptr ? 1 : pool->pool.threads(); }
void svod_pool_free(svod_pool* pool) { delete pool; }

int svod_instance_create(svod_plan* plan, const svod_instance_options* options, svod_instance** instance,
                         svod_error* error) {
  *instance = nullptr;
  return guard(error, [&]() -> Status {
    const svod_instance_options chosen = options != nullptr ? *options : svod_instance_options{};
    Pool* pool = chosen.pool != nullptr ? &chosen.pool->pool : nullptr;
    SVOD_TRY(auto devices, openDevices(plan->loaded->plan(), {chosen.device_options, chosen.device_option_count}));
    std::vector<Device*> lent;
    for (const auto& device : devices) lent.push_back(device.get());
    SVOD_TRY(auto inner, Instance::create(plan->loaded, chosen, pool, std::move(lent)));
    inner->own(std::move(devices));
    *instance = new svod_instance{std::move(inner)};
    return {};
  });
}

void svod_instance_free(svod_instance* instance) { delete instance; }

int svod_set_variable(svod_instance* instance, size_t index, int64_t value, svod_error* error) {
  return guard(error, [&]() -> Status {
    const std::vector<VariableId>& ids = instance->inner->loaded().variables();
    SVOD_CHECK(checkIndex(index, ids.size(), "variable"));
    SVOD_CHECK(checkIdle(instance));
    return instance->inner->bindings().setVariable(ids[index], value);
  });
}

void svod_clear_variable(svod_instance* instance, size_t index) {
  const std::vector<VariableId>& ids = instance->inner->loaded().variables();
  if (index < ids.size() && instance->inner->submission().isIdle())
    instance->inner->bindings().clearVariable(ids[index]);
}

int svod_bind_input(svod_instance* instance, size_t index, const char* dtype, const uint64_t* shape, size_t rank,
                    const void* data, svod_error* error) {
  return guard(error, [&]() -> Status {
    SVOD_CHECK(checkIndex(index, instance->inner->loaded().plan().inputs.size(), "input"));
    SVOD_CHECK(checkIdle(instance));
    return instance->inner->bindings().bindInput(index, dtype, {shape, rank}, data);
  });
}

int svod_bind_device_input(svod_instance* instance, size_t index, size_t device, const char* dtype,
                           const uint64_t* shape, size_t rank, const void* data, svod_error* error) {
  return guard(error, [&]() -> Status {
    SVOD_CHECK(checkIndex(index, instance->inner->loaded().plan().inputs.size(), "input"));
    SVOD_CHECK(checkIndex(device, instance->inner->loaded().plan().devices.size(), "device"));
    SVOD_CHECK(checkIdle(instance));
    return instance->inner->bindings().bindInput(index, dtype, {shape, rank}, data, static_cast<DeviceId>(device));
  });
}

int svod_bind_output(svod_instance* instance, size_t index, void* data, uint64_t bytes, svod_error* error) {
  return guard(error, [&]() -> Status {
    SVOD_CHECK(checkIndex(index, instance->inner->loaded().plan().outputs.size(), "output"));
    SVOD_CHECK(checkIdle(instance));
    return instance->inner->bindings().bindOutput(index, data, bytes);
  });
}

int svod_bind_device_output(svod_instance* instance, size_t index, size_t device, void* data, uint64_t bytes,
                            svod_error* error) {
  return guard(error, [&]() -> Status {
    SVOD_CHECK(checkIndex(index, instance->inner->loaded().plan().outputs.size(), "output"));
    SVOD_CHECK(checkIndex(device, instance->inner->loaded().plan().devices.size(), "device"));
    SVOD_CHECK(checkIdle(instance));
    return instance->inner->bindings().bindOutput(index, data, bytes, static_cast<DeviceId>(device));
  });
}

int svod_bind_device_state(svod_instance* instance, size_t index, size_t device, void* data, svod_error* error) {
  return guard(error, [&]() -> Status {
    SVOD_CHECK(checkIndex(index, instance->inner->loaded().plan().states.size(), "state"));
    SVOD_CHECK(checkIndex(device, instance->inner->loaded().plan().devices.size(), "device"));
    SVOD_CHECK(checkIdle(instance));
    return instance->inner->bindState(StateId(index), static_cast<DeviceId>(device), data);
  });
}

int svod_get_variable(svod_instance* instance, size_t index, int64_t* value, svod_error* error) {
  return guard(error, [&]() -> Status {
    const std::vector<VariableId>& ids = instance->inner->loaded().variables();
    SVOD_CHECK(checkIndex(index, ids.size(), "variable"));
    SVOD_CHECK(checkIdle(instance));
    SVOD_CHECK(instance->inner->bindings().resolve());
    *value = instance->inner->bindings().values()[ids[index]];
    return {};
  });
}

int svod_get_shape(svod_instance* instance, svod_kind kind, size_t index, uint64_t* shape, uint64_t* bytes,
                   svod_error* error) {
  return guard(error, [&]() -> Status {
    if (kind < SVOD_INPUT || kind > SVOD_INTERMEDIATE || kind == SVOD_VARIABLE)
      return fail(Diag::UnknownPort, "only tensors have a shape");
    SVOD_CHECK(checkIndex(index, instance->inner->loaded().views(kind).size(), wordOf(kind)));
    std::span<const uint64_t> found = instance->inner->loaded().views(kind)[index].shape;
    uint64_t size = instance->inner->loaded().views(kind)[index].c.max_bytes;
    if (kind == SVOD_INPUT || kind == SVOD_OUTPUT) {
      SVOD_CHECK(checkIdle(instance));
      SVOD_CHECK(instance->inner->bindings().resolve());
      found = instance->inner->bindings().shape(kind, index);
      size = instance->inner->bindings().bytes(kind, index);
    }
    if (shape != nullptr) std::copy(found.begin(), found.end(), shape);
    if (bytes != nullptr) *bytes = size;
    return {};
  });
}

void* svod_state_data(svod_instance* instance, size_t index) {
  const bool isThere = index < instance->inner->loaded().plan().states.size();
  return isThere && instance->inner->isOnHost(StateId(index)) ? instance->inner->state(StateId(index)) : nullptr;
}

int svod_read_state(svod_instance* instance, size_t index, void* data, uint64_t bytes, svod_error* error) {
  return guard(error, [&]() -> Status {
    SVOD_CHECK(checkState(instance, index, data, bytes));
    return instance->inner->readState(StateId(index), data);
  });
}

int svod_write_state(svod_instance* instance, size_t index, const void* data, uint64_t bytes, svod_error* error) {
  return guard(error, [&]() -> Status {
    SVOD_CHECK(checkState(instance, index, data, bytes));
    return instance->inner->writeState(StateId(index), data);
  });
}

void svod_reset_states(svod_instance* instance) {
  if (instance->inner->submission().isIdle()) instance->inner->resetStates();
}

}  // extern "C"
