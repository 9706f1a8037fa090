// The C interface: turns handles, null pointers and exceptions into what the C++ inside expects, and back.
#include "runtime-min/api_error.h"
#include "runtime-min/memory_block.h"
#include "support/says.h"

namespace {

using namespace svod;

const TensorView* findTensor(const svod_plan* plan, svod_kind kind, size_t index) {
  if (plan == nullptr || kind < SVOD_INPUT || kind > SVOD_INTERMEDIATE) return nullptr;
  const std::vector<TensorView>& views = plan->loaded->views(kind);
  return index < views.size() ? &views[index] : nullptr;
}

template <class Load>
int load(const void* from, const char* what, svod_plan** plan, svod_error* error, Load body) {
  return guard(error, [&]() -> Status {
    SVOD_CHECK(checkPointer(plan, "the place for the plan"));
    *plan = nullptr;
    SVOD_CHECK(checkPointer(from, what));
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

}  // namespace

extern "C" {

int svod_plan_load(const char* path, const svod_load_options* options, svod_plan** plan, svod_error* error) {
  return load(path, "the path", plan, error, [&] { return LoadedPlan::fromPath(path, loadChoice(options)); });
}

int svod_plan_load_static(const char* path, const svod_function_table* table, const svod_load_options* options,
                          svod_plan** plan, svod_error* error) {
  return load(path, "the path", plan, error, [&]() -> Result<std::shared_ptr<const LoadedPlan>> {
    if (table == nullptr) return fail(Diag::Usage, "there is no table of functions", "svod_plan_load needs none");
    return LoadedPlan::fromPath(path, loadChoice(options), table);
  });
}

int svod_plan_load_memory(const svod_file* files, size_t count, const svod_load_options* options, svod_plan** plan,
                          svod_error* error) {
  return load(files, "the array of files", plan, error,
              [&] { return LoadedPlan::fromMemory({files, count}, loadChoice(options)); });
}

void svod_plan_free(svod_plan* plan) { delete plan; }

void svod_plan_get_info(const svod_plan* plan, svod_plan_info* out) {
  if (out == nullptr) return;
  *out = {};
  if (plan == nullptr) return;
  const Plan& from = plan->loaded->plan();
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
  if (plan == nullptr) return 0;
  const LoadedPlan& loaded = *plan->loaded;
  return svod::arenaBytes(loaded.plan()) + loaded.stateBytes() +
         Run::bytesFor(loaded, threads == 0 ? usableProcessors() : threads) + loaded.plan().buffers.size() * 16;
}

size_t svod_plan_find(const svod_plan* plan, svod_kind kind, const char* name) {
  if (plan == nullptr || name == nullptr) return SVOD_NONE;
  if (kind == SVOD_VARIABLE) {
    const LoadedPlan& loaded = *plan->loaded;
    for (size_t i = 0; i < loaded.variables().size(); i++)
      if (loaded.plan().variables[loaded.variables()[i]].name == name) return i;
    return SVOD_NONE;
  }
  for (size_t i = 0; findTensor(plan, kind, i) != nullptr; i++)
    if (findTensor(plan, kind, i)->name == name) return i;
  return SVOD_NONE;
}

int svod_plan_tensor(const svod_plan* plan, svod_kind kind, size_t index, svod_tensor* tensor) {
  const TensorView* view = findTensor(plan, kind, index);
  if (view == nullptr || tensor == nullptr) return 1;
  *tensor = view->c;
  return 0;
}

int svod_plan_variable(const svod_plan* plan, size_t index, svod_variable* variable) {
  if (plan == nullptr || variable == nullptr || index >= plan->loaded->variables().size()) return 1;
  const LoadedPlan& loaded = *plan->loaded;
  const Variable& from = loaded.plan().variables[loaded.variables()[index]];
  const bool fixed = from.kind == VariableKind::Fixed;
  *variable = {from.name.c_str(), fixed ? from.value : from.min, fixed ? from.value : from.max, fixed};
  return 0;
}

const char* svod_plan_host_function(const svod_plan* plan, size_t index) {
  if (plan == nullptr) return nullptr;
  const std::vector<std::string>& names = plan->loaded->program().hostFunctions;
  return index < names.size() ? names[index].c_str() : nullptr;
}

const char* svod_plan_device(const svod_plan* plan, size_t index) {
  if (plan == nullptr) return nullptr;
  const std::vector<DeviceDesc>& devices = plan->loaded->plan().devices;
  return index < devices.size() ? devices[index].name.c_str() : nullptr;
}

int svod_plan_processor(const svod_plan* plan, size_t index, svod_processor* processor) {
  if (plan == nullptr || processor == nullptr) return 1;
  const ProcessorChoice& choice = plan->loaded->processors();
  if (index >= choice.views.size()) return 1;
  const ProcessorView& view = choice.views[index];
  *processor = {view.name.c_str(), view.features.c_str(), view.missing.c_str(), index == choice.used};
  return 0;
}

svod_pool* svod_pool_create(size_t threads) {
  const size_t wanted = threads == 0 ? usableProcessors() : threads;
  if (!hasMemory(wanted * sizeof(Pool))) return nullptr;
  std::unique_ptr<svod_pool> pool(new svod_pool{std::shared_ptr<Pool>(new Pool(wanted))});
  return pool->pool->started() == wanted ? pool.release() : nullptr;
}

size_t svod_pool_threads(const svod_pool* pool) { return pool == nullptr ? 1 : pool->pool->threads(); }
void svod_pool_free(svod_pool* pool) { delete pool; }

}  // extern "C"
