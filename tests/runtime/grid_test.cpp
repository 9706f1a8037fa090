// Kernels with a grid: which devices a plan needs, which image a device takes, and what it is told of each launch.
#include "runtime-min/instance.h"
#include "runtime/changed_numbers.h"
#include "runtime/separate_device.h"

using namespace svod;

namespace {

/// A device of another kind, which runs images of one architecture: y = 2 x, by "kernels" of four threads.
class GridDevice final : public SeparateDevice {
 public:
  explicit GridDevice(std::string arch) : SeparateDevice(1, 20), arch_(std::move(arch)) {}

  std::string_view kind() const override { return "grid"; }
  Result<std::string_view> choose(std::span<const FileDesc> files) override {
    for (const FileDesc& file : files)
      if (file.image.device == kind() && file.image.arch == arch_) return file.image.arch;
    return SeparateDevice::choose(files);
  }
  Result<const void*> load(const KernelDesc& kernel, const DeviceImage& image) override {
    for (const LaunchAttribute& attribute : kernel.grid->attributes)
      return svod::fail(Diag::Unsupported, "no attribute '" + attribute.name + "'");
    return taken.emplace_back(text(image.bytes)).c_str();
  }

  std::vector<std::string> taken;                // what was loaded
  std::vector<std::array<int64_t, 3>> launched;  // the groups of each launch
  std::string wrong;                             // what the next launch ends with

 private:
  static std::string text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::string run(const DeviceLaunch& launch, std::span<void* const> buffers) override {
    launched.push_back(launch.groups);
    CHECK(launch.loaded == taken.at(0).c_str());
    for (int64_t i = 0; i < std::min(4 * launch.groups[0], launch.values[0]); i++)
      static_cast<float*>(buffers[1])[i] = 2 * static_cast<const float*>(buffers[0])[i];
    return std::exchange(wrong, "");
  }

  std::string arch_;
};

/// y = 2 x on a device of kind grid, from images for two architectures.
PlanBuilder twice() {
  PlanBuilder b;
  b.plan.devices.push_back({"far", "grid", 0});
  const Expr n = Expr::variable(b.variable("n", 0, 8));
  const BufferId x = b.input("x", 8, n), y = b.output("y", 8, n);
  b.device = 1;
  const BufferId in = b.arena("in", 8), out = b.arena("out", 8);
  b.step(Copy{in, x, n * 4});
  b.launch("k_double", {in, out}, {R, W}, {n});
  b.step(Copy{y, out, n * 4});
  KernelDesc& kernel = b.plan.kernels[0];
  Grid& grid = kernel.grid.emplace();
  grid.groups[0] = std::exchange(kernel.tiles, Expr(1));
  grid.threads[0] = 4;
  grid.images = {{1, 0, 0}, {2, 0, 0}};
  return b;
}

void write(PlanBuilder& b, const std::string& path) {
  addHazardEdges(b.plan, StorageView::Placed);
  const auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  const std::string code = compiledKernels(), newer = "newer", older = "older";
  const std::vector<PlanFile> files = {{"kernels.so", FileKind::Code, {bytes(code)}},
                                       {"newer.bin", FileKind::Image, {bytes(newer)}, {"grid", "arch_9", 0}},
                                       {"older.bin", FileKind::Image, {bytes(older)}, {"grid", "arch_8", 0}}};
  const Status status = writePlanDirectory(path, b.plan, files);
  if (!status) FAIL(toText(status.error()));
}

Result<std::unique_ptr<Instance>> instanceOn(const std::string& path, Device& device) {
  SVOD_TRY(auto loaded, LoadedPlan::fromDirectory(path, {}));
  return Instance::create(loaded, {}, nullptr, {nullptr, &device});
}

}  // namespace

TEST_CASE("the host stands in for no device of another kind") {
  TempFolder folder;
  PlanBuilder b = twice();
  write(b, folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  svod_instance* instance = nullptr;
  svod_error error = {};
  CHECK(svod_instance_create(plan.get(), nullptr, &instance, &error) == 77);
  CHECK(std::string(error.code) == "no-device");
  CHECK_THAT(error.message, Catch::Contains("kind 'grid', which it calls 'far'"));
  SeparateDevice ofCpu(1, 0);
  CHECK(instanceOn(folder / "p", ofCpu).error()->diag == Diag::NoDevice);
}

TEST_CASE("a device takes the first image that it runs, and is told the workgroups of each launch") {
  TempFolder folder;
  PlanBuilder b = twice();
  write(b, folder / "p");
  const auto [arch, content] = GENERATE(table<std::string, std::string>({{"arch_9", "newer"}, {"arch_8", "older"}}));
  GridDevice device(arch);
  auto instance = instanceOn(folder / "p", device);
  if (!instance) FAIL(toText(instance.error()));
  CHECK(device.taken == std::vector{content});
  for (uint64_t n : {5, 0, 8}) {
    std::vector<float> x(n, 3), y(n, 0);
    CHECK((*instance)->bindings().bindInput(0, nullptr, {&n, 1}, x.data()));
    CHECK((*instance)->bindings().bindOutput(0, y.data(), n * sizeof(float)));
    const Status status = (*instance)->execute(0);
    if (!status) FAIL(toText(status.error()));
    CHECK(y == std::vector<float>(n, 6));
  }
  CHECK(device.launched == std::vector<std::array<int64_t, 3>>{{2, 1, 1}, {2, 1, 1}});
}

TEST_CASE("a kernel that fails on a device ends the run with its step and its name, and the next run works") {
  TempFolder folder;
  PlanBuilder b = twice();
  write(b, folder / "p");
  GridDevice device("arch_8");
  auto instance = instanceOn(folder / "p", device);
  if (!instance) FAIL(toText(instance.error()));
  const uint64_t n = 8;
  std::vector<float> x(n, 3), y(n, 0);
  CHECK((*instance)->bindings().bindInput(0, nullptr, {&n, 1}, x.data()));
  CHECK((*instance)->bindings().bindOutput(0, y.data(), n * sizeof(float)));
  for (int round = 0; round < 2; round++) {
    y.assign(n, 0);
    device.wrong = "element 9 of 8 was read";
    const Status status = (*instance)->execute(0);
    REQUIRE_FALSE(status);
    CHECK(info(status.error()->diag).exitCode == 6);
    CHECK(status.error()->message == "step 1, kernel 'k_double', failed on device 'far': element 9 of 8 was read");
    CHECK(y == std::vector<float>(n, 0));
    CHECK((*instance)->execute(0));
    CHECK(y == std::vector<float>(n, 6));
  }
}

TEST_CASE("what a device or this runtime cannot do is refused before anything runs") {
  const auto refusal = [](PlanBuilder b, const std::string& arch) {
    TempFolder folder;
    write(b, folder / "p");
    GridDevice device(arch);
    auto instance = instanceOn(folder / "p", device);
    REQUIRE(!instance);
    return instance.error();
  };
  const Error other = refusal(twice(), "arch_7");
  CHECK(other->diag == Diag::CpuFeatures);
  CHECK(other->message == "the device loads no kernels");
  PlanBuilder told = twice();
  told.plan.kernels[0].grid->attributes = {{"cluster.x", 2}};
  CHECK(refusal(told, "arch_9")->message == "no attribute 'cluster.x'");
  PlanBuilder shared = twice();
  shared.plan.devices[1].sharedBytes = 64;
  CHECK(refusal(shared, "arch_9")->diag == Diag::Unsupported);
}

TEST_CASE("every changed number of a plan for several devices is refused, with a repaired checksum too") {
  TempFolder folder;
  PlanBuilder b = twice();
  b.plan.devices.push_back({"near", DeviceKind::Cpu, 0});
  const BufferId z = b.output("z", 8, Expr::variable(0));
  b.device = 2;
  const BufferId in = b.arena("in", 8), out = b.arena("out", 8);
  b.step(Copy{in, BufferId(0), Expr::variable(0) * 4});
  b.launch("k_double", {in, out}, {R, W}, {Expr::variable(0)});
  b.step(Copy{z, out, Expr::variable(0) * 4});
  b.plan.kernels[0].grid->attributes = {{"cluster.x", 2}};
  b.plan.kernels[0].grid->tensorMaps = {{0, 0, ElementType::F32, {4, 2}, {16}, {4, 2}, {1, 1}, 32}};
  write(b, folder / "p");
  loadPlan(folder / "p");
  size_t tried = 0;
  CHECK(acceptedNumbers(folder / "p", tried) == std::set<std::string>());
  CHECK(tried > 600);
}

TEST_CASE("workgroups below none are an error of the sizes") {
  TempFolder folder;
  PlanBuilder b = twice();
  b.plan.kernels[0].grid->groups[1] = Expr::variable(0) - 4;
  write(b, folder / "p");
  GridDevice device("arch_9");
  auto instance = instanceOn(folder / "p", device);
  REQUIRE(instance);
  const uint64_t n = 3;
  std::vector<float> x(n, 3), y(n, 0);
  CHECK((*instance)->bindings().bindInput(0, nullptr, {&n, 1}, x.data()));
  CHECK((*instance)->bindings().bindOutput(0, y.data(), n * sizeof(float)));
  const Status status = (*instance)->execute(0);
  REQUIRE(!status);
  CHECK(status.error()->message == "kernel 'k_double' would have -1 workgroups");
}
