// Plans whose devices are CUDA devices of the mock, and how a test talks to the mock.
#pragma once
#include <dlfcn.h>

#include <deque>

#include "cuda/mock_image_text.h"
#include "runtime/loop_plan.h"

namespace svod {

inline const std::string kMock = SVOD_BIN_DIR "/../tests/libcuda_mock.so";

/// The mock in this process.
struct MockCuda {
  using Configure = void (*)(const char*);
  using Report = void (*)(char*, size_t);
  using Count = uint64_t (*)(const char*);

  MockCuda() {
    library = ::dlopen(kMock.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) FAIL(::dlerror());
  }
  template <class Function>
  Function find(const char* name) const {
    void* const address = ::dlsym(library, name);
    if (address == nullptr) FAIL(name);
    return reinterpret_cast<Function>(address);
  }
  void configure(const std::string& text) const { find<Configure>("svod_mock_configure")(text.c_str()); }
  /// What was wrong and what is left, from here on forgotten.
  std::string report() const {
    char text[4096] = "";
    find<Report>("svod_mock_report")(text, sizeof text);
    return text;
  }
  /// Calls since the last configure; "" is all of them.
  uint64_t count(const char* name = "") const { return find<Count>("svod_mock_count")(name); }

  void* library = nullptr;
};

/// Makes the devices of a plan CUDA devices: what is launched there has a grid of as many workgroups as it had tiles.
inline void toCuda(Plan& plan) {
  for (DeviceId id = 1; id < plan.devices.size(); id++) plan.devices[id].kind = "cuda";
  std::map<KernelId, KernelId> onGrid;
  for (Step& step : plan.steps) {
    auto* launch = std::get_if<Launch>(&step.action);
    if (launch == nullptr || deviceOf(plan, *launch) == 0) continue;
    const auto [at, isNew] = onGrid.try_emplace(launch->kernel, KernelId(plan.kernels.size()));
    if (isNew) {
      KernelDesc kernel = plan.kernels[launch->kernel];
      Grid& grid = kernel.grid.emplace();
      grid.groups[0] = std::exchange(kernel.tiles, Expr(1));
      grid.threads = {32, 1, 1};
      kernel.scratchBytes = 0;
      plan.kernels.push_back(std::move(kernel));
    }
    launch->kernel = at->second;
  }
}

/// Writes the plan with an image for each of `codes`. `library` has the functions of kernels with and without a grid.
inline void writeCuda(PlanBuilder& b, const std::string& path, const std::vector<MockCode>& codes = {MockCode{}},
                      uint32_t driver = 12000) {
  const std::string& library = compiledKernels();
  WeightsLayout layout(1);
  for (const std::vector<float>& values : b.weights) layout.add(std::as_bytes(std::span(values)));
  b.plan.constants = layout.constants();
  std::vector<PlanFile> files = {{"kernels.so", FileKind::Code, {std::as_bytes(std::span(library))}}};
  if (!b.weights.empty()) files.push_back(layout.file("weights.bin"));
  std::deque<std::string> images;
  for (const MockCode& code : codes)
    for (KernelDesc& kernel : b.plan.kernels) {
      if (!kernel.grid) continue;
      kernel.grid->images.push_back({FileId(files.size()), 0, 0});
      const std::string& image = images.emplace_back(mockImage(kernel, code, "native", library));
      files.push_back({kernel.symbol + "." + code.arch,
                       FileKind::Image,
                       {std::as_bytes(std::span(image))},
                       {"cuda", code.arch, driver}});
    }
  const Status status = writePlanDirectory(path, b.plan, files);
  if (!status) FAIL(toText(status.error()));
}

/// Options of the devices of an instance.
struct MockOptions {
  std::vector<svod_device_option> list;
  explicit MockOptions(std::initializer_list<std::pair<const char*, const char*>> more = {}) {
    list.push_back({nullptr, "driver", kMock.c_str()});
    for (const auto& [name, value] : more) list.push_back({nullptr, name, value});
  }
  operator svod_instance_options() const {
    svod_instance_options options = {};
    options.device_options = list.data(), options.device_option_count = list.size();
    return options;
  }
};

inline svod_error instanceError(const PlanHandle& plan, const svod_instance_options& options) {
  svod_instance* instance = nullptr;
  svod_error error = {};
  CHECK(svod_instance_create(plan.get(), &options, &instance, &error) == error.exit_code);
  CHECK(instance == nullptr);
  return error;
}

/// loopPlan of a CUDA device.
inline PlanBuilder loopPlan() {
  PlanBuilder b = loopPlan("gpu");
  addHazardEdges(b.plan, StorageView::Placed);
  toCuda(b.plan);
  return b;
}

inline void checkLoop(const InstanceHandle& instance, int64_t trips) {
  std::vector<float> y(8, 0);
  bindIn(instance, 0, kLoopInput);
  bindOut(instance, 0, y);
  svod_error error = {};
  CHECK(svod_set_variable(instance.get(), 0, trips, &error) == 0);
  execute(instance);
  CHECK(y == loopResult(kLoopInput, trips));
}

}  // namespace svod
