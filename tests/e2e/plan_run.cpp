#include "e2e/plan_run.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>

#include "e2e/child.h"
#include "plan/json.h"
#include "runtime-min/handles.h"
#include "runtime/separate_device.h"
#include "svod/runtime.h"
#include "target/to_expr.h"

namespace svod {

namespace {

template <class T, void (*Free)(T*)>
using Owned = std::unique_ptr<T, decltype([](T* p) { Free(p); })>;

// As std::memcpy, which takes no null pointers, not even for nothing.
void copyBytes(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

// -- results on their way from the child

void put(std::string& out, const void* data, size_t bytes) { out.append(static_cast<const char*>(data), bytes); }
void putNumber(std::string& out, uint64_t number) { put(out, &number, sizeof number); }

uint64_t takeNumber(std::string_view& in) {
  uint64_t number = 0;
  std::memcpy(&number, in.data(), sizeof number);
  in.remove_prefix(sizeof number);
  return number;
}

std::string packed(const std::vector<HostTensor>& tensors) {
  std::string out;
  for (const HostTensor& t : tensors) {
    putNumber(out, static_cast<uint64_t>(t.dtype));
    putNumber(out, t.dims.size());
    for (int64_t d : t.dims) putNumber(out, static_cast<uint64_t>(d));
    putNumber(out, t.data.size());
    put(out, t.data.data(), t.data.size());
  }
  return out;
}

std::vector<HostTensor> unpacked(std::string_view in) {
  std::vector<HostTensor> tensors;
  while (!in.empty()) {
    HostTensor& t = tensors.emplace_back();
    t.dtype = static_cast<DType>(takeNumber(in));
    t.dims.resize(takeNumber(in));
    for (int64_t& d : t.dims) d = static_cast<int64_t>(takeNumber(in));
    t.data.resize(takeNumber(in));
    copyBytes(t.data.data(), in.data(), t.data.size());
    in.remove_prefix(t.data.size());
  }
  return tensors;
}

// -- host functions

HostTensor copyOf(const svod_host_argument& argument) {
  HostTensor t = HostTensor::zeros(*dtypeFromText(argument.dtype), {argument.shape, argument.shape + argument.rank});
  copyBytes(t.data.data(), argument.data, t.data.size());
  return t;
}

/// `user` is the function as the interpreter calls it.
int callFunction(void* user, const svod_host_call* call) {
  std::vector<HostTensor> inputs;
  for (size_t i = 1; i < call->argument_count; ++i) inputs.push_back(copyOf(call->arguments[i]));
  for (size_t i = 0; i < call->value_count; ++i) {
    inputs.push_back(HostTensor::zeros(DType::Index, {}));
    inputs.back().set(0, Scalar::ofInt(DType::Index, call->values[i]));
  }
  const svod_host_argument& result = call->arguments[0];
  std::vector<int64_t> dims(result.shape, result.shape + result.rank);
  Result<HostTensor> made = (*static_cast<const CustomFunction*>(user))(inputs, *dtypeFromText(result.dtype), dims);
  if (!made || made->data.size() != result.bytes || result.written == 0) return 1;
  copyBytes(result.data, made->data.data(), result.bytes);
  return 0;
}

// -- the run itself

class PlanRun {
 public:
  PlanRun(const PlanImage& image, const Model& model, const ExecuteOptions& options, WatchedMemory& memory)
      : image_(image), model_(model), options_(options), memory_(memory) {}

  /// The results for each of the bindings, which one instance gets one after the other.
  Result<std::vector<HostTensor>> executeAll(std::span<const ModelBindings> all) {
    bindings_ = &all[0];
    SVOD_CHECK(load());
    std::vector<HostTensor> results;
    for (const ModelBindings& bindings : all) {
      bindings_ = &bindings;
      if (&bindings != all.data()) svod_reset_states(instance_.get());
      SVOD_TRY(std::vector<HostTensor> ports, execute());
      std::ranges::move(ports, std::back_inserter(results));
    }
    return results;
  }

 private:
  Result<std::vector<HostTensor>> execute() {
    SVOD_CHECK(bind());
    svod_execute_options executeOptions{options_.orderSeed};
    if (options_.failAfter) SVOD_CHECK(failOnce(executeOptions));
    for (int i = 0; i < options_.runs; ++i) SVOD_CHECK(ok(svod_execute(instance_.get(), &executeOptions, &error_)));
    std::string damage = memory_.damage();
    if (!damage.empty()) return fail(Diag::DeviceFailure, damage);
    return collect();
  }

  struct PortMemory {
    std::byte* data = nullptr;
    std::vector<int64_t> dims;
  };

  Status ok(int exitCode) const {
    if (exitCode == 0) return {};
    return fail(Diag::DeviceFailure, error_.message, error_.help);
  }

  Status failOnce(const svod_execute_options& executeOptions) {
    devices_.at(0)->failAfter(*options_.failAfter, options_.isLost);
    const int exitCode = svod_execute(instance_.get(), &executeOptions, &error_);
    if (exitCode == 0) return fail(Diag::DeviceFailure, std::string(kNothingFailed));
    const std::string_view message = error_.message;
    const std::string device = "failed on device '" + image_.plan.devices[1].name + "'";
    if (exitCode == 6 && message.starts_with("step ") && message.find(device) != std::string_view::npos) return {};
    return fail(Diag::DeviceFailure, "exit code " + std::to_string(exitCode) + ": " + std::string(message));
  }

  Result<std::byte*> take(uint64_t bytes, uint64_t alignment, const std::string& name) {
    std::byte* data = memory_.take(bytes, alignment, name);
    if (data == nullptr) return fail(Diag::DeviceFailure, "no memory for " + name);
    return data;
  }

  Status load() {
    std::string json = toJson(image_.plan);
    std::vector<svod_file> files = {{"plan.json", json.data(), json.size()}};
    for (FileId i = 0; i < image_.contents.size(); ++i) {
      const FileDesc& file = image_.plan.files[i];
      const std::string& content = image_.contents[i];
      files.push_back({file.path.c_str(), content.data(), content.size()});
      if (file.kind != FileKind::Weights) continue;
      SVOD_TRY(std::byte * data, take(content.size(), kPlanAlignment, file.path));
      copyBytes(data, content.data(), content.size());
      memory_.makeReadOnly(data);
      files.back().data = data;
    }
    svod_plan* plan = nullptr;
    SVOD_CHECK(ok(svod_plan_load_memory(files.data(), files.size(), nullptr, &plan, &error_)));
    plan_.reset(plan);
    pool_.reset(options_.threads > 1 ? svod_pool_create(options_.threads) : nullptr);
    svod_memory source = memory_.source(options_.separate);
    svod_instance_options instanceOptions{};
    instanceOptions.pool = pool_.get();
    instanceOptions.memory = &source;
    std::vector<svod_host_entry> functions;
    for (const auto& [name, function] : bindings_->functions)
      functions.push_back({name.c_str(), callFunction, const_cast<CustomFunction*>(&function)});
    instanceOptions.functions = functions.data();
    instanceOptions.function_count = functions.size();
    if (options_.deviceSeed) return loadOnDevices(instanceOptions);
    svod_instance* instance = nullptr;
    SVOD_CHECK(ok(svod_instance_create(plan, &instanceOptions, &instance, &error_)));
    instance_.reset(instance);
    return {};
  }

  Status loadOnDevices(const svod_instance_options& instanceOptions) {
    constexpr uint32_t kMostMicroseconds = 20;
    std::vector<Device*> lent(1, nullptr);
    for (uint32_t i = 1; i < image_.plan.devices.size(); ++i) {
      const uint32_t seed = *options_.deviceSeed + i;
      devices_.push_back(options_.makeDevice
                             ? options_.makeDevice(image_.plan.devices[DeviceId(i)], seed, kMostMicroseconds)
                             : std::make_unique<SeparateDevice>(seed, kMostMicroseconds));
      lent.push_back(devices_.back().get());
    }
    Pool* pool = pool_ ? pool_->pool.get() : nullptr;
    SVOD_TRY(auto instance, Instance::create(plan_->loaded, instanceOptions, pool, std::move(lent)));
    instance_.reset(new svod_instance{pool_ ? pool_->pool : nullptr, std::move(instance)});
    return {};
  }

  Status bind() {
    variableNames_.clear(), variableValues_.clear();
    for (const auto& [name, value] : bindings_->variables) {
      variableNames_.push_back(name), variableValues_.push_back(value);
      size_t index = svod_plan_find(plan_.get(), SVOD_VARIABLE, name.c_str());
      if (index != SVOD_NONE) SVOD_CHECK(ok(svod_set_variable(instance_.get(), index, value, &error_)));
    }
    memories_.assign(model_.ports.size(), {});
    for (size_t i = 0; i < model_.ports.size(); ++i) {
      const ModelPort& port = model_.ports[i];
      if (port.kind == PortKind::Input) SVOD_CHECK(bindInput(port, i));
      if (port.kind == PortKind::State) SVOD_CHECK(fillState(port, i));
    }
    for (size_t i = 0; i < model_.ports.size(); ++i)
      if (model_.ports[i].kind == PortKind::Output) SVOD_CHECK(bindOutput(model_.ports[i], i));
    return {};
  }

  Status bindInput(const ModelPort& port, size_t i) {
    size_t index = svod_plan_find(plan_.get(), SVOD_INPUT, port.name.c_str());
    const HostTensor& t = bindings_->ports[i];
    const std::vector<std::byte> memory = t.toMemory();
    SVOD_TRY(std::byte * data, take(memory.size(), static_cast<uint64_t>(byteSize(t.dtype)), port.name));
    copyBytes(data, memory.data(), memory.size());
    memory_.makeReadOnly(data);
    std::vector<uint64_t> shape(t.dims.begin(), t.dims.end());
    return ok(svod_bind_input(instance_.get(), index, std::string(toText(t.dtype)).c_str(), shape.data(), shape.size(),
                              data, &error_));
  }

  Status bindOutput(const ModelPort& port, size_t i) {
    size_t index = svod_plan_find(plan_.get(), SVOD_OUTPUT, port.name.c_str());
    std::vector<uint64_t> shape(port.buffer.rank() + 1);
    SVOD_CHECK(ok(svod_get_shape(instance_.get(), SVOD_OUTPUT, index, shape.data(), nullptr, &error_)));
    memories_[i].dims.assign(shape.begin(), shape.end() - 1);
    auto size = static_cast<uint64_t>(byteSize(port.buffer.dtype())),
         bytes = static_cast<uint64_t>(memoryBytes(port.buffer.dtype(), numelOf(memories_[i].dims)));
    SVOD_TRY(memories_[i].data, take(bytes, size, port.name));
    return ok(svod_bind_output(instance_.get(), index, memories_[i].data, bytes, &error_));
  }

  Result<std::vector<int64_t>> actualDims(const ModelPort& port) {
    std::vector<int64_t> dims;
    for (UOp d : port.buffer.shape()) {
      SVOD_TRY(Expr e, toExpr(d, variableNames_));
      SVOD_TRY(int64_t value, e.evaluate(variableValues_, variableNames_));
      dims.push_back(value);
    }
    return dims;
  }

  Result<std::vector<std::byte>> readState(size_t index) {
    svod_tensor tensor{};
    svod_plan_tensor(plan_.get(), SVOD_STATE, index, &tensor);
    std::vector<std::byte> whole(tensor.max_bytes);
    SVOD_CHECK(ok(svod_read_state(instance_.get(), index, whole.data(), whole.size(), &error_)));
    return whole;
  }

  Status fillState(const ModelPort& port, size_t i) {
    if (i >= bindings_->ports.size() || bindings_->ports[i].dtype == DType::Void) return {};
    const HostTensor& from = bindings_->ports[i];
    const size_t index = svod_plan_find(plan_.get(), SVOD_STATE, port.name.c_str());
    SVOD_TRY(std::vector<std::byte> whole, readState(index));
    copyBox(port, from.dims, const_cast<std::byte*>(from.data.data()), whole.data(), true);
    return ok(svod_write_state(instance_.get(), index, whole.data(), whole.size(), &error_));
  }

  // A state is laid out for its largest shape; `dense` holds the elements of the actual one.
  static void copyBox(const ModelPort& port, const std::vector<int64_t>& dims, std::byte* dense, std::byte* state,
                      bool toState) {
    auto size = static_cast<size_t>(byteSize(port.buffer.dtype()));
    for (int64_t i = 0; i < numelOf(dims); ++i) {
      int64_t rest = i, at = 0, stride = 1;
      for (size_t axis = dims.size(); axis-- > 0;) {
        at += rest % dims[axis] * stride;
        rest /= dims[axis];
        stride *= port.buffer.shape()[axis].bounds().max;
      }
      std::byte *a = dense + static_cast<size_t>(i) * size, *b = state + static_cast<size_t>(at) * size;
      copyBytes(toState ? b : a, toState ? a : b, size);
    }
  }

  Result<std::vector<HostTensor>> collect() {
    std::vector<HostTensor> results(model_.ports.size());
    for (size_t i = 0; i < model_.ports.size(); ++i) {
      const ModelPort& port = model_.ports[i];
      if (port.kind == PortKind::Output) {
        const auto bytes = memoryBytes(port.buffer.dtype(), numelOf(memories_[i].dims));
        results[i] = HostTensor::fromMemory(port.buffer.dtype(), memories_[i].dims,
                                            {memories_[i].data, static_cast<size_t>(bytes)});
      }
      if (port.kind != PortKind::State) continue;
      SVOD_TRY(std::vector<int64_t> dims, actualDims(port));
      results[i] = HostTensor::zeros(port.buffer.dtype(), dims);
      SVOD_TRY(std::vector<std::byte> whole, readState(svod_plan_find(plan_.get(), SVOD_STATE, port.name.c_str())));
      copyBox(port, dims, results[i].data.data(), whole.data(), false);
    }
    return results;
  }

  const PlanImage& image_;
  const Model& model_;
  const ModelBindings* bindings_ = nullptr;
  const ExecuteOptions& options_;
  WatchedMemory& memory_;
  svod_error error_{};
  Owned<svod_plan, svod_plan_free> plan_;
  Owned<svod_pool, svod_pool_free> pool_;
  std::vector<std::unique_ptr<SeparateDevice>> devices_;
  Owned<svod_instance, svod_instance_free> instance_;
  std::vector<PortMemory> memories_;  // of outputs, by Model::ports
  std::vector<std::string> variableNames_;
  std::vector<int64_t> variableValues_;
};

std::string joined(const PlanFile& file) {
  std::string bytes;
  for (std::span<const std::byte> chunk : file.chunks) put(bytes, chunk.data(), chunk.size());
  return bytes;
}

}  // namespace

void describeContents(PlanImage& image) {
  std::vector<PlanFile> files;
  for (FileId i = 0; i < image.contents.size(); ++i) {
    const FileDesc& file = image.plan.files[i];
    files.push_back({file.path, file.kind, {std::as_bytes(std::span(image.contents[i]))}, file.image});
  }
  image.plan.files = describeFiles(files);
}

PlanImage planImage(const Compilation& compilation) {
  PlanImage image{compilation.plan, {}};
  image.plan.files.clear();
  std::string weights;
  auto add = [&](std::string path, FileKind kind, std::string content, ImageTarget target = {}) {
    image.plan.files.push_back({std::move(path), kind, 0, {}, std::move(target)});
    image.contents.push_back(std::move(content));
  };
  for (const PlanFile& file : compilation.files)
    if (file.kind == FileKind::Weights)
      weights = joined(file);  // always the last file, so that the ids of the others stay
    else
      add(file.path, file.kind, joined(file), file.image);
  for (Constant& constant : image.plan.constants) {
    std::string content = weights.substr(constant.offset, constant.bytes);
    constant.file = static_cast<FileId>(image.contents.size()), constant.offset = 0;
    add("weights" + std::to_string(constant.file) + ".bin", FileKind::Weights, std::move(content));
  }
  describeContents(image);
  return image;
}

Result<std::vector<std::vector<HostTensor>>> executePlan(const PlanImage& image, const Model& model,
                                                         std::span<const ModelBindings> all,
                                                         const ExecuteOptions& options) {
  WatchedMemory memory(options.watch);
  auto body = [&]() -> std::string {
    Result<std::vector<HostTensor>> results = PlanRun(image, model, options, memory).executeAll(all);
    return results ? "+" + packed(*results) : "-" + results.error()->message;
  };
  SVOD_TRY(std::string out, inChild(body, [&](uintptr_t address) { return memory.describe(address); }));
  if (out.empty() || out[0] != '+') return fail(Diag::DeviceFailure, out.empty() ? "no result" : out.substr(1));
  std::vector<HostTensor> flat = unpacked(std::string_view(out).substr(1));
  const size_t count = model.ports.size();
  std::vector<std::vector<HostTensor>> results;
  for (size_t run = 0; run < all.size(); ++run) {
    std::vector<HostTensor>& ports = results.emplace_back();
    for (size_t i = 0; i < count; ++i) ports.push_back(std::move(flat[run * count + i]));
    for (size_t i = 0; i < count && i < all[run].ports.size(); ++i)
      if (model.ports[i].kind == PortKind::Input) ports[i] = all[run].ports[i];
  }
  return results;
}

Result<std::vector<HostTensor>> executePlan(const PlanImage& image, const Model& model, const ModelBindings& bindings,
                                            const ExecuteOptions& options) {
  SVOD_TRY(std::vector<std::vector<HostTensor>> results, executePlan(image, model, std::span(&bindings, 1), options));
  return std::move(results[0]);
}

}  // namespace svod
