#include "e2e/harness.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "driver/to_expr.h"
#include "svod/runtime.h"

namespace svod {

namespace {

// LLD keeps process-wide state, so all tests of a process share one linker.
Linker& linker() {
  static Linker instance(std::filesystem::temp_directory_path().string());
  return instance;
}

class TempPlan {
 public:
  TempPlan() {
    std::string pattern = (std::filesystem::temp_directory_path() / "svod_e2e_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~TempPlan() { std::filesystem::remove_all(root_); }
  std::string path() const { return root_ + "/p.plan"; }

 private:
  std::string root_;
};

template <class T, void (*Free)(T*)>
using Owned = std::unique_ptr<T, decltype([](T* p) { Free(p); })>;

Error toError(const svod_error& e) { return Error{Diag::DeviceFailure, e.message, e.help, {}, {}}; }

class Run {
 public:
  Run(Model& model, const ModelBindings& bindings) : model_(model), bindings_(bindings) {}

  Result<std::vector<HostTensor>> execute(const std::string& path, const RunOptions& options) {
    svod_plan* plan = nullptr;
    if (svod_plan_load(path.c_str(), nullptr, &plan, &error_) != 0) return fail(toError(error_));
    plan_.reset(plan);
    pool_.reset(options.threads > 1 ? svod_pool_create(options.threads) : nullptr);
    svod_instance_options instanceOptions{};
    instanceOptions.pool = pool_.get();
    svod_instance* instance = nullptr;
    if (svod_instance_create(plan, &instanceOptions, &instance, &error_) != 0) return fail(toError(error_));
    instance_.reset(instance);
    SVOD_CHECK(bind());
    svod_execute_options executeOptions{options.orderSeed};
    for (int i = 0; i < options.runs; ++i)
      if (svod_execute(instance, &executeOptions, &error_) != 0) return fail(toError(error_));
    return collect();
  }

 private:
  Status bind() {
    for (const auto& [name, value] : bindings_.variables) {
      variableNames_.push_back(name), variableValues_.push_back(value);
      size_t index = svod_plan_find(plan_.get(), SVOD_VARIABLE, name.c_str());
      if (index != SVOD_NONE && svod_set_variable(instance_.get(), index, value, &error_) != 0) return fail(toError(error_));
    }
    results_.resize(model_.ports.size());
    for (size_t i = 0; i < model_.ports.size(); ++i) {
      const ModelPort& port = model_.ports[i];
      if (port.kind == PortKind::Input) SVOD_CHECK(bindInput(port, i));
      if (port.kind == PortKind::State && i < bindings_.ports.size() && bindings_.ports[i].dtype != DType::Void) {
        size_t index = svod_plan_find(plan_.get(), SVOD_STATE, port.name.c_str());
        copyBox(port, bindings_.ports[i].dims, const_cast<std::byte*>(bindings_.ports[i].data.data()),
                static_cast<std::byte*>(svod_state_data(instance_.get(), index)), true);
      }
    }
    for (size_t i = 0; i < model_.ports.size(); ++i)
      if (model_.ports[i].kind == PortKind::Output) SVOD_CHECK(bindOutput(model_.ports[i], i));
    return {};
  }

  Status bindInput(const ModelPort& port, size_t i) {
    size_t index = svod_plan_find(plan_.get(), SVOD_INPUT, port.name.c_str());
    const HostTensor& t = bindings_.ports[i];
    results_[i] = t;
    std::vector<uint64_t> shape(t.dims.begin(), t.dims.end());
    if (svod_bind_input(instance_.get(), index, std::string(toText(t.dtype)).c_str(), shape.data(), shape.size(),
                        results_[i].data.data(), &error_) != 0)
      return fail(toError(error_));
    return {};
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
      std::memcpy(toState ? b : a, toState ? a : b, size);
    }
  }

  Result<HostTensor> zerosFor(svod_kind kind, size_t index, const ModelPort& port) {
    std::vector<uint64_t> shape(port.buffer.rank() + 1);
    if (svod_get_shape(instance_.get(), kind, index, shape.data(), nullptr, &error_) != 0) return fail(toError(error_));
    return HostTensor::zeros(port.buffer.dtype(), {shape.begin(), shape.end() - 1});
  }

  Status bindOutput(const ModelPort& port, size_t i) {
    size_t index = svod_plan_find(plan_.get(), SVOD_OUTPUT, port.name.c_str());
    SVOD_TRY(results_[i], zerosFor(SVOD_OUTPUT, index, port));
    if (svod_bind_output(instance_.get(), index, results_[i].data.data(), results_[i].data.size(), &error_) != 0)
      return fail(toError(error_));
    return {};
  }

  Result<std::vector<HostTensor>> collect() {
    for (size_t i = 0; i < model_.ports.size(); ++i) {
      const ModelPort& port = model_.ports[i];
      if (port.kind != PortKind::State) continue;
      size_t index = svod_plan_find(plan_.get(), SVOD_STATE, port.name.c_str());
      SVOD_TRY(std::vector<int64_t> dims, actualDims(port));
      results_[i] = HostTensor::zeros(port.buffer.dtype(), dims);
      copyBox(port, dims, results_[i].data.data(), static_cast<std::byte*>(svod_state_data(instance_.get(), index)), false);
    }
    return std::move(results_);
  }

  Model& model_;
  const ModelBindings& bindings_;
  svod_error error_{};
  Owned<svod_plan, svod_plan_free> plan_;
  Owned<svod_pool, svod_pool_free> pool_;
  Owned<svod_instance, svod_instance_free> instance_;
  std::vector<HostTensor> results_;
  std::vector<std::string> variableNames_;
  std::vector<int64_t> variableValues_;
};

}  // namespace

CompileOptions compileOptions(const RunOptions& options) {
  CompileOptions c;
  c.name = "test";
  c.target = options.target;
  c.cpu = *makeCpuTarget("", options.cpu);
  c.optLevel = options.optLevel;
  c.numerics = options.numerics;
  c.memory = options.memory;
  c.jobs = options.jobs;
  c.linker = &linker();
  c.passes.verifyEach = true;
  c.tempDirectory = std::filesystem::temp_directory_path().string();
  if (options.target == "c") c.cCompiler = {"cc", {"PATH=/usr/bin:/bin"}};
  return c;
}

Result<std::vector<std::vector<HostTensor>>> runPlan(Model& model, const ModelBindings& bindings,
                                                     const std::vector<RunOptions>& runs) {
  SVOD_TRY(std::unique_ptr<Compilation> compilation, compile(model, compileOptions(runs.at(0))));
  TempPlan directory;
  SVOD_CHECK(writePlanDirectory(directory.path(), compilation->plan, compilation->files));
  std::vector<std::vector<HostTensor>> results;
  for (const RunOptions& options : runs) {
    SVOD_TRY(std::vector<HostTensor> ports, Run(model, bindings).execute(directory.path(), options));
    results.push_back(std::move(ports));
  }
  return results;
}

Result<std::vector<HostTensor>> runPlan(Model& model, const ModelBindings& bindings, const RunOptions& options) {
  SVOD_TRY(std::vector<std::vector<HostTensor>> results, runPlan(model, bindings, std::vector{options}));
  return std::move(results[0]);
}

std::string difference(const HostTensor& expected, const HostTensor& actual, double tolerance) {
  if (expected.dims != actual.dims || expected.dtype != actual.dtype) return "dtype or shape differs";
  for (int64_t i = 0; i < expected.numel(); ++i) {
    Scalar e = expected.at(i), a = actual.at(i);
    bool same = e == a;
    if (isFloat(e.dtype()) && !same) {
      double x = e.asFloat(), y = a.asFloat();
      same = x == y || std::abs(x - y) <= tolerance * std::max(1.0, std::abs(x));
    }
    if (!same) return "element " + std::to_string(i) + ": expected " + toText(e) + ", got " + toText(a);
  }
  return "";
}

}  // namespace svod
