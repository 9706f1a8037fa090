// Plans built by hand, with kernels from the system's C compiler, and the C interface without its chores.
#pragma once
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>

#include "common/sanitizers.h"
#include "common/temp_folder.h"
#include "plan/directory.h"
#include "plan/hazards.h"
#include "plan/pack.h"
#include "svod/runtime.h"

namespace svod {

/// Kernels for tests. Every tile is 4 elements of `n` = values[0], unless it says otherwise.
inline constexpr const char* kKernelSource = R"(
#include <stdint.h>
#include <string.h>
#include <time.h>
#define KERNEL(name) void name(void* const* b, const int64_t* v, int64_t t0, int64_t t1, void* scratch)
#define FOR(i) (void)scratch; for (int64_t i = t0 * 4, end = t1 * 4 < v[0] ? t1 * 4 : v[0]; i < end; i++)
KERNEL(k_add) { const float *x = b[0], *y = b[1]; float* o = b[2]; FOR(i) o[i] = x[i] + y[i]; }
KERNEL(k_double) { const float* x = b[0]; float* o = b[1]; FOR(i) o[i] = 2 * x[i]; }
KERNEL(k_accumulate) { const float* x = b[0]; float* s = b[1]; FOR(i) s[i] += x[i]; }
KERNEL(k_add_value) { float* s = b[0]; FOR(i) s[i] = s[i] * 2 + (float)v[1]; }
KERNEL(k_reverse) { /* one tile */
  const float* x = b[0]; float *o = b[1], *s = scratch;
  if (t0 != 0 || t1 != 1) return;
  for (int64_t i = 0; i < v[0]; i++) s[i] = x[v[0] - 1 - i];
  memcpy(o, s, (size_t)v[0] * 4);
}
KERNEL(k_mix) { /* o = hash of two inputs and values[1]; n = values[0] words */
  const uint32_t *x = b[0], *y = b[1]; uint32_t* o = b[2];
  FOR(i) {
    uint32_t h = x[i] * 2654435761u ^ (y[i] + 0x9e3779b9u + (uint32_t)v[1]);
    h ^= h >> 15;
    o[i] = h * 2246822519u;
  }
}
KERNEL(k_spin) { /* about values[1] steps of work per tile of one element */
  uint32_t* o = b[0]; (void)scratch;
  for (int64_t i = t0; i < t1; i++) {
    uint32_t h = (uint32_t)i + 1;
    for (int64_t k = 0; k < v[1]; k++) h = h * 1664525u + 1013904223u;
    o[i] = h;
  }
}
KERNEL(k_meet) { /* of the first tile 1 when values[1] calls are in here at once, within 20 s */
  static int inside; float* o = b[0]; (void)scratch; (void)t1;
  __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
  const time_t until = time(0) + 20;
  while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) % v[1] != 0 && time(0) < until) {}
  o[t0] = __atomic_load_n(&inside, __ATOMIC_SEQ_CST) % v[1] == 0;
}
KERNEL(k_address) { uint64_t* o = b[1]; (void)v; (void)t0; (void)t1; (void)scratch; *o = (uintptr_t)b[0]; }
KERNEL(k_nothing) { (void)b; (void)v; (void)t0; (void)t1; (void)scratch; }
)";

/// The compiler of the kernels. In a sanitizer build they are watched as well; the program has the runtime they call.
inline constexpr const char* kKernelCompiler = kThreadSanitizer ? "clang-19 -fsanitize=thread"
                                               : kAddressSanitizer
                                                   ? "clang-19 -fsanitize=address,undefined -fno-sanitize-recover=all"
                                                   : "cc";

/// The bytes of a shared library built from C source.
inline std::string compiled(const std::string& source) {
  TempFolder folder;
  writeText(folder / "k.c", source);
  const std::string command =
      std::string(kKernelCompiler) + " -std=c99 -O1 -g -shared -fPIC -o " + folder / "k.so" + " " + folder / "k.c";
  if (std::system(command.c_str()) != 0) throw std::runtime_error("the C compiler failed: " + command);
  return readText(folder / "k.so");
}
/// The kernels above, compiled once per test program.
inline const std::string& compiledKernels() {
  static const std::string library = compiled(kKernelSource);
  return library;
}

/// Host triple and no CPU feature.
inline TargetRecord hostTarget() {
#if defined(__aarch64__)
  return {"aarch64-unknown-linux-gnu", "generic", {}, "contract", "svod test"};
#else
  return {"x86_64-unknown-linux-gnu", "x86-64", {}, "contract", "svod test"};
#endif
}

/// Grows a plan in program order; `finish` adds dependencies and lays the arena out without reuse.
struct PlanBuilder {
  Plan plan;
  std::vector<std::vector<float>> weights;
  DeviceId device = 0;  // of arena buffers from here on

  PlanBuilder() {
    plan.name = "test";
    plan.target = hostTarget();
    plan.memory.mode = "off";
  }

  VariableId variable(const std::string& name, int64_t min, int64_t max, VariableKind kind = VariableKind::Free) {
    plan.variables.push_back({name, min, max, kind, min});
    return static_cast<VariableId>(plan.variables.size() - 1);
  }
  BufferId buffer(const std::string& name, uint64_t count, Place place, ElementType dtype = ElementType::F32) {
    BufferDesc desc{name, dtype, {count}, count * byteSize(dtype), place, 0, 0, 0};
    if (place == Place::State) desc.device = device;
    if (place == Place::Arena) {
      desc.device = device;
      uint64_t& arena = plan.devices[device].arenaBytes;
      desc.offset = arena;
      arena += (desc.bytes + 63) / 64 * 64;
    }
    plan.buffers.push_back(desc);
    return static_cast<BufferId>(plan.buffers.size() - 1);
  }
  BufferId input(const std::string& name, uint64_t most, Expr dim, ElementType dtype = ElementType::F32) {
    plan.inputs.push_back({name, buffer(name, most, Place::Input, dtype), {std::move(dim)}});
    return plan.inputs.back().buffer;
  }
  BufferId output(const std::string& name, uint64_t most, Expr dim, ElementType dtype = ElementType::F32) {
    plan.outputs.push_back({name, buffer(name, most, Place::Output, dtype), {std::move(dim)}});
    return plan.outputs.back().buffer;
  }
  BufferId arena(const std::string& name, uint64_t count, ElementType dtype = ElementType::F32) {
    return buffer(name, count, Place::Arena, dtype);
  }
  /// One of `count` elements at most, in an arena that is laid out for every run: in these units, where a run uses
  /// `elements`. To be called for all buffers of the device, which gets `bytes` more.
  BufferId arenaInUnits(const std::string& name, uint64_t count, Expr elements, uint32_t begin, uint32_t end,
                        uint64_t bytes) {
    const BufferId id = arena(name, count);
    plan.devices[device].arenaBytes += bytes - (plan.buffers[id].bytes + 63) / 64 * 64;
    plan.buffers[id].offset = 0;
    plan.buffers[id].run = RunPlace{begin, end, elements * static_cast<int64_t>(byteSize(plan.buffers[id].dtype))};
    return id;
  }
  BufferId constant(const std::string& name, std::vector<float> values) {
    const BufferId id = buffer(name, values.size(), Place::Constant);
    plan.buffers[id].constant = static_cast<ConstantId>(weights.size());
    weights.push_back(std::move(values));
    return id;
  }
  BufferId state(const std::string& name, uint64_t count, std::optional<ConstantId> init = {}) {
    plan.states.push_back({name, buffer(name, count, Place::State), init});
    return plan.states.back().buffer;
  }
  BufferId view(const std::string& name, BufferId base, uint64_t offset, uint64_t count) {
    const BufferId id = buffer(name, count, Place::View, plan.buffers[base].dtype);
    plan.buffers[id].base = base;
    plan.buffers[id].offset = offset;
    return id;
  }
  /// Kernels with the same symbol, modes and sizes are shared. The first value is the element count.
  StepId launch(const std::string& symbol, std::vector<BufferId> buffers, std::vector<Mode> modes,
                std::vector<Expr> values, Expr tiles = Expr::make(ExprOp::CeilDiv, Expr::variable(0), 4),
                uint64_t scratch = 0) {
    KernelDesc kernel{0, symbol, symbol, {}, {}, std::move(tiles), scratch, Expr::variable(0), Expr::variable(0) * 4,
                      ""};
    for (size_t i = 0; i < buffers.size(); i++)
      kernel.args.push_back({plan.buffers[buffers[i]].dtype, modes[i], plan.buffers[buffers[i]].bytes});
    for (size_t i = 0; i < values.size(); i++) kernel.values.push_back("v" + std::to_string(i));
    KernelId id = 0;
    while (id < plan.kernels.size() && !(plan.kernels[id] == kernel)) id++;
    if (id == plan.kernels.size()) plan.kernels.push_back(kernel);
    return step(Launch{id, std::move(buffers), std::move(values), {}});
  }
  template <class Action>
  StepId step(Action action) {
    plan.steps.push_back({{}, std::move(action)});
    return static_cast<StepId>(plan.steps.size() - 1);
  }

  /// Writes the plan directory.
  void write(const std::string& path) {
    addHazardEdges(plan, StorageView::Placed);
    write(path, compiledKernels());
  }
  void write(const std::string& path, const std::string& library) { writeBy(writePlanDirectory, path, library); }
  /// Writes the plan as one file.
  void writePackFile(const std::string& path) {
    addHazardEdges(plan, StorageView::Placed);
    writeBy(writePack, path, compiledKernels());
  }

 private:
  using Writer = Status(const std::string& path, Plan plan, std::span<const PlanFile> files);
  void writeBy(Writer writer, const std::string& path, const std::string& library) {
    WeightsLayout layout(1);
    for (const std::vector<float>& values : weights) layout.add(std::as_bytes(std::span(values)));
    plan.constants = layout.constants();
    std::vector<PlanFile> files = {{"kernels.so", FileKind::Code, {std::as_bytes(std::span(library))}}};
    if (!weights.empty()) files.push_back(layout.file("weights.bin"));
    const auto status = writer(path, plan, files);
    if (!status) FAIL(toText(status.error()));
  }
};

constexpr Mode R = Mode::Read, W = Mode::Write, RW = Mode::ReadWrite;

// ---- The C interface, with objects that free themselves. ----

struct Freer {
  void operator()(svod_plan* plan) const { svod_plan_free(plan); }
  void operator()(svod_pool* pool) const { svod_pool_free(pool); }
  void operator()(svod_instance* instance) const { svod_instance_free(instance); }
};
using PlanHandle = std::unique_ptr<svod_plan, Freer>;
using PoolHandle = std::unique_ptr<svod_pool, Freer>;
using InstanceHandle = std::unique_ptr<svod_instance, Freer>;

inline PlanHandle loadPlan(const std::string& path) {
  svod_plan* plan = nullptr;
  svod_error error = {};
  if (svod_plan_load(path.c_str(), nullptr, &plan, &error) != 0) FAIL(error.message);
  return PlanHandle(plan);
}
inline svod_error loadError(const std::string& path, int verifyWeights = 0) {
  svod_plan* plan = nullptr;
  svod_error error = {};
  const svod_load_options options = {verifyWeights, nullptr};
  const int code = svod_plan_load(path.c_str(), &options, &plan, &error);
  CHECK(plan == nullptr);
  CHECK(code == error.exit_code);
  svod_plan_free(plan);
  return error;
}
inline InstanceHandle makeInstance(const PlanHandle& plan, svod_instance_options options = {}) {
  svod_instance* instance = nullptr;
  svod_error error = {};
  if (svod_instance_create(plan.get(), &options, &instance, &error) != 0) FAIL(error.message);
  return InstanceHandle(instance);
}
template <class T>
void bindIn(const InstanceHandle& instance, size_t index, const std::vector<T>& data) {
  const uint64_t shape = data.size();
  svod_error error = {};
  if (svod_bind_input(instance.get(), index, nullptr, &shape, 1, data.data(), &error) != 0) FAIL(error.message);
}
template <class T>
void bindOut(const InstanceHandle& instance, size_t index, std::vector<T>& data) {
  svod_error error = {};
  if (svod_bind_output(instance.get(), index, data.data(), data.size() * sizeof(T), &error) != 0) FAIL(error.message);
}
inline void execute(const InstanceHandle& instance, uint64_t seed = 0) {
  const svod_execute_options options = {seed};
  svod_error error = {};
  if (svod_execute(instance.get(), &options, &error) != 0) FAIL(error.message);
}
inline svod_error executeError(const InstanceHandle& instance, uint64_t seed = 0) {
  svod_error error = {};
  const svod_execute_options options = {seed};
  CHECK(svod_execute(instance.get(), &options, &error) == error.exit_code);
  CHECK(error.exit_code != 0);
  return error;
}

}  // namespace svod
