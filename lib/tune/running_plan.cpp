#include "tune/running_plan.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "measure/code.h"
#include "measure/cold_caches.h"
#include "verify/inputs.h"

namespace svod {

namespace {

constexpr char kRunning[] = "while running the plan";
constexpr uint64_t kMostBytes = uint64_t{4} << 30;
constexpr uint64_t kHugePage = uint64_t{2} << 20;

Status tooLarge() {
  return fail(Diag::Unsupported, "the plan takes more than 4 GiB at the sizes it would be timed with",
              "give variables tighter bounds");
}

}  // namespace

void* RunningPlan::allocate(void* user, uint64_t bytes, uint64_t alignment, const char*) {
  const bool isLarge = bytes >= 2 * kHugePage;
  const uint64_t unit = isLarge ? kHugePage : std::max<uint64_t>(alignment, sizeof(void*));
  const uint64_t whole = std::max((bytes + unit - 1) / unit * unit, unit);
  void* const data = std::aligned_alloc(unit, whole);
#ifdef MADV_HUGEPAGE
  if (data != nullptr && isLarge) (void)::madvise(data, whole, MADV_HUGEPAGE);
#endif
  if (data != nullptr) static_cast<RunningPlan*>(user)->allocated_.push_back({static_cast<std::byte*>(data), bytes});
  return data;
}

void RunningPlan::release(void* user, void* data, uint64_t) {
  std::erase_if(static_cast<RunningPlan*>(user)->allocated_, [&](auto block) { return block.data() == data; });
  std::free(data);
}

Result<std::unique_ptr<RunningPlan>> RunningPlan::make(const Model& model, const Compilation& compilation,
                                                       svod_pool* pool, bool profiles, int variablesAt) {
  std::unique_ptr<RunningPlan> made(new RunningPlan(model, compilation));
  SVOD_TRY(made->plan_, made->memory_.load(kRunning));
  if (svod_plan_host_function(made->plan_.get(), 0) != nullptr)
    return fail(Diag::Unsupported, "it calls functions of the program that runs the plan", "");
  if (svod_plan_instance_bytes(made->plan_.get(), svod_pool_threads(pool)) > kMostBytes)
    return fail(tooLarge().error());
  svod_instance_options options{};
  options.pool = pool, options.profile = profiles ? 1 : 0, options.memory = &made->allocator_;
  svod_error error{};
  svod_instance* instance = nullptr;
  if (svod_instance_create(made->plan_.get(), &options, &instance, &error) != 0) return fail(toError(error, kRunning));
  made->instance_.reset(instance);
  SVOD_CHECK(made->bind(compilation.plan, variablesAt));
  return made;
}

Status RunningPlan::bind(const Plan& plan, int variablesAt) {
  std::vector<int64_t> values;
  svod_error error{};
  for (VariableId i = 0; i < plan.variables.size(); ++i) {
    const Variable& v = plan.variables[i];
    values.push_back(
        v.kind == VariableKind::Fixed ? v.value : measuredValue({v.min, v.max}, v.likely.value_or(v.min), variablesAt));
    if (v.kind == VariableKind::Free && svod_set_variable(instance_.get(), i, values.back(), &error) != 0)
      return fail(toError(error, kRunning));
  }
  const std::vector<std::string> names = variableNames(plan);
  for (size_t i = 0; i < plan.inputs.size(); ++i) SVOD_CHECK(bindInput(i, plan.inputs[i], values, names, i + 1));
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    uint64_t bytes = 0;
    if (svod_get_shape(instance_.get(), SVOD_OUTPUT, i, nullptr, &bytes, &error) != 0)
      return fail(toError(error, kRunning));
    if (bytes > kMostBytes) return tooLarge();
    outputs_.emplace_back(bytes);
    for (const ModelPort& port : model_.ports)
      if (port.kind == PortKind::Output && port.name == plan.outputs[i].name)
        outputTypes_.push_back(port.buffer.dtype());
    if (svod_bind_output(instance_.get(), i, outputs_[i].data(), bytes, &error) != 0)
      return fail(toError(error, kRunning));
  }
  return {};
}

Status RunningPlan::bindInput(size_t index, const Port& port, std::span<const int64_t> values,
                              const std::vector<std::string>& names, uint64_t number) {
  std::vector<int64_t> dims;
  double elements = 1;
  for (const Expr& dim : port.shape) {
    SVOD_TRY(const int64_t size, dim.evaluate(values, names));
    dims.push_back(size);
    elements *= static_cast<double>(size);
  }
  if (elements > static_cast<double>(kMostBytes / 8)) return tooLarge();
  const auto found = std::ranges::find_if(
      model_.ports, [&](const ModelPort& p) { return p.kind == PortKind::Input && p.name == port.name; });
  if (found == model_.ports.end()) return fail(Diag::Unsupported, "input '" + port.name + "' is none of the model", "");
  Random random(number);
  const std::vector<uint64_t> shape(dims.begin(), dims.end());
  const std::vector<std::byte> data = randomTensor(found->buffer.dtype(), std::move(dims), random, false).toMemory();
  inputs_.emplace_back(data.begin(), data.end());
  svod_error error{};
  if (svod_bind_input(instance_.get(), index, nullptr, shape.data(), shape.size(), inputs_.back().data(), &error) != 0)
    return fail(toError(error, kRunning));
  return {};
}

Status RunningPlan::run() {
  svod_error error{};
  if (svod_execute(instance_.get(), nullptr, &error) != 0) return fail(toError(error, kRunning));
  return {};
}

Result<double> RunningPlan::nanosecondsOf(int64_t runs) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (int64_t i = 0; i < runs; ++i) SVOD_CHECK(run());
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(runs);
}

std::map<std::string, double> RunningPlan::kernelTimes() {
  std::map<std::string, double> times;
  for (size_t i = 0; i < svod_profile_count(instance_.get()); ++i)
    if (svod_profile_record record{}; svod_profile_get(instance_.get(), i, &record) == 0)
      times[record.name] += static_cast<double>(record.busy_ns);
  svod_profile_reset(instance_.get());
  return times;
}

std::vector<HostTensor> RunningPlan::results() const {
  std::vector<HostTensor> all;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const DType dtype = outputTypes_[i];
    const auto bytes = static_cast<int64_t>(outputs_[i].size());
    const int64_t elements = isPacked(dtype) ? bytes * elementsPerByte(dtype) : bytes / byteSize(dtype);
    all.push_back(HostTensor::fromMemory(dtype, {elements}, outputs_[i]));
  }
  return all;
}

std::vector<std::span<const std::byte>> RunningPlan::bound() const {
  std::vector<std::span<const std::byte>> all(inputs_.begin(), inputs_.end());
  all.insert(all.end(), outputs_.begin(), outputs_.end());
  return all;
}

void RunningPlan::coolDown() const {
  for (std::span<const std::byte> block : working()) coolCaches(block);
  for (std::span<const std::byte> block : bound()) coolCaches(block);
  for (const std::vector<std::byte>& block : memory_.memory) coolCaches(block);
}

}  // namespace svod
