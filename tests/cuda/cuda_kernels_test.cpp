// What kernels ask of a CUDA device besides workgroups: clusters, tensor maps, aligned arguments, shared memory.
#include "cuda/mock_plans.h"
#include "runtime-cuda/driver_types.h"

using namespace svod;

namespace {

/// y = 2 x on one CUDA device; `change` says what else its kernel wants.
template <class Change>
std::string writeTwice(const TempFolder& folder, Change change, const MockCode& code = {}) {
  PlanBuilder b;
  b.plan.devices.push_back({"gpu", DeviceKind::Cpu, 0});
  const BufferId x = b.input("x", 16, 16), y = b.output("y", 16, 16);
  b.device = 1;
  const BufferId in = b.arena("in", 16), out = b.arena("out", 16);
  b.step(Copy{in, x, 64});
  b.launch("k_double", {in, out}, {R, W}, {16});
  b.step(Copy{y, out, 64});
  addHazardEdges(b.plan, StorageView::Placed);
  toCuda(b.plan);
  for (KernelDesc& kernel : b.plan.kernels)
    if (kernel.grid) change(kernel);
  writeCuda(b, folder / "p", {code});
  return folder / "p";
}

void checkTwice(const PlanHandle& plan, const MockOptions& options) {
  const InstanceHandle instance = makeInstance(plan, options);
  std::vector<float> in(16, 3), out(16, 0);
  bindIn(instance, 0, in);
  bindOut(instance, 0, out);
  execute(instance);
  CHECK(out == std::vector<float>(16, 6));
}

/// Memory of cuda:0 that a user has.
struct OwnMemory {
  OwnMemory(const MockCuda& cuda, size_t bytes) : mock(cuda) {
    CHECK(mock.find<cuda::Code (*)(unsigned)>("cuInit")(0) == 0);
    in([&] { CHECK(mock.find<cuda::Code (*)(cuda::Address*, size_t)>("cuMemAlloc_v2")(&address, bytes) == 0); });
  }
  void free() const {
    in([&] { CHECK(mock.find<cuda::Code (*)(cuda::Address)>("cuMemFree_v2")(address) == 0); });
  }
  template <class Body>
  void in(Body body) const {
    cuda::Context context = nullptr;
    CHECK(mock.find<cuda::Code (*)(cuda::Context*, cuda::DeviceNumber)>("cuDevicePrimaryCtxRetain")(&context, 0) == 0);
    CHECK(mock.find<cuda::Code (*)(cuda::Context)>("cuCtxPushCurrent_v2")(context) == 0);
    body();
    CHECK(mock.find<cuda::Code (*)(cuda::Context*)>("cuCtxPopCurrent_v2")(&context) == 0);
    CHECK(mock.find<cuda::Code (*)(cuda::DeviceNumber)>("cuDevicePrimaryCtxRelease_v2")(0) == 0);
  }

  const MockCuda& mock;
  cuda::Address address = 0;
};

svod_error refusal(const std::string& path) { return instanceError(loadPlan(path), MockOptions()); }

}  // namespace

TEST_CASE("clusters of workgroups and tensor maps reach the driver, in graphs and without") {
  const MockCuda mock;
  TempFolder folder;
  const PlanHandle plan = loadPlan(writeTwice(folder, [](KernelDesc& kernel) {
    kernel.grid->attributes = {{"cluster.x", 2}, {"align.0", 128}};
    kernel.grid->tensorMaps = {{0, 0, ElementType::F32, {8, 2}, {32}, {8, 2}, {1, 1}, 32}};
  }));
  mock.configure("");
  checkTwice(plan, MockOptions());
  CHECK(mock.count("cuTensorMapEncodeTiled") == 1);
  CHECK(mock.count("cuGraphKernelNodeSetAttribute") == 1);
  CHECK(mock.count("cuOccupancyMaxActiveClusters") == 1);
  mock.configure("");
  checkTwice(plan, MockOptions({{"graphs", "off"}}));
  CHECK(mock.count("cuLaunchKernelEx") == 1);
  CHECK(mock.report() == "");
  mock.configure("cc=8.0");
  const svod_error error = instanceError(plan, MockOptions());  // of an image for 9.0 alone
  CHECK(error.exit_code == 5);
  CHECK(mock.report() == "");
}

TEST_CASE("devices without clusters or tensor maps refuse kernels that want them") {
  const MockCuda mock;
  mock.configure("cc=8.0");
  TempFolder folder;
  const MockCode code{"sm_80", 0, 32, 1024};
  svod_error error =
      refusal(writeTwice(folder, [](KernelDesc& kernel) { kernel.grid->attributes = {{"cluster.y", 2}}; }, code));
  CHECK(error.exit_code == 5);
  CHECK_THAT(error.message,
             Catch::Contains("kernel 'k_double' is launched in clusters of workgroups, which cuda:0, Mock GPU 0, "
                             "compute capability 8.0 with this driver does not have"));
  error = refusal(writeTwice(
      folder,
      [](KernelDesc& kernel) {
        kernel.grid->tensorMaps = {{0, 0, ElementType::F32, {8, 2}, {32}, {8, 2}, {1, 1}, 32}};
      },
      code));
  CHECK(error.exit_code == 5);
  CHECK_THAT(error.message, Catch::Contains("kernel 'k_double' copies tensors in boxes"));
  CHECK(mock.report() == "");
}

TEST_CASE("attributes that nobody knows are refused") {
  const MockCuda mock;
  mock.configure("");
  TempFolder folder;
  for (const auto& [name, value] :
       {std::pair("cluster.w", 2), std::pair("cluster.x", 0), std::pair("cluster.x", 17), std::pair("align.2", 64),
        std::pair("align.x", 64), std::pair("align.0", 512), std::pair("priority", 1)}) {
    INFO(name << " " << value);
    const std::string path = writeTwice(folder, [&](KernelDesc& kernel) { kernel.grid->attributes = {{name, value}}; });
    const svod_error error = refusal(path);
    CHECK(error.exit_code == 3);
    CHECK_THAT(error.message, Catch::Contains("kernel 'k_double' is launched with '" + std::string(name) + "'"));
  }
  CHECK(mock.report() == "");
}

TEST_CASE("an argument that is not aligned as its kernel needs is an error of the run that names the step") {
  const MockCuda mock;
  mock.configure("");
  TempFolder folder;
  const PlanHandle plan =
      loadPlan(writeTwice(folder, [](KernelDesc& kernel) { kernel.grid->attributes = {{"align.1", 128}}; }));
  for (const MockOptions& options : {MockOptions(), MockOptions({{"graphs", "off"}})}) {
    const InstanceHandle instance = makeInstance(plan, options);
    std::vector<float> in(16, 3), out(16, 0);
    bindIn(instance, 0, in);
    bindOut(instance, 0, out);
    const svod_error error = executeError(instance);  // out stands 64 bytes behind the beginning of the arena
    CHECK(error.exit_code == 6);
    CHECK_THAT(
        error.message,
        Catch::Equals("step 1, kernel 'k_double', failed on device 'gpu': an argument does not start at a multiple of "
                      "what the kernel needs"));
  }
  CHECK(mock.report() == "");
}

TEST_CASE("a state that is bound where vectors of its kernel are not aligned is copied for it, and one note says so") {
  const MockCuda mock;
  mock.configure("");
  TempFolder folder;
  PlanBuilder b;
  b.plan.devices.push_back({"gpu", DeviceKind::Cpu, 0});
  b.device = 1;
  const BufferId s = b.state("s", 8);
  for (int i = 0; i < 2; i++) b.launch("k_add_value", {s}, {RW}, {8, Expr(1)});
  addHazardEdges(b.plan, StorageView::Placed);
  toCuda(b.plan);
  for (KernelDesc& kernel : b.plan.kernels)
    if (kernel.grid) kernel.grid->attributes = {{"align.0", 16}};
  writeCuda(b, folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  const OwnMemory ours(mock, 64);
  for (const MockOptions& options : {MockOptions(), MockOptions({{"graphs", "off"}})}) {
    const InstanceHandle instance = makeInstance(plan, options);
    svod_error error = {};
    const std::vector<float> first(8, 3);
    std::vector<float> held(8, 0);
    CHECK(svod_write_state(instance.get(), 0, first.data(), 32, &error) == 0);
    execute(instance);  // where it is by itself, nothing is copied
    CHECK(svod_instance_note(instance.get(), 0) == nullptr);
    CHECK(svod_bind_device_state(instance.get(), 0, 1, reinterpret_cast<void*>(ours.address + 4), &error) == 0);
    execute(instance), execute(instance);
    CHECK(svod_read_state(instance.get(), 0, held.data(), 32, &error) == 0);
    CHECK(held == std::vector<float>(8, 255));  // 3 and six times 2 x + 1
    CHECK_THAT(svod_instance_note(instance.get(), 0), Catch::Contains("argument 0 of kernel 'k_add_value' is bound"));
    CHECK(svod_instance_note(instance.get(), 1) == nullptr);
  }
  ours.free();
  CHECK(mock.report() == "");
}

TEST_CASE("what does not fit on the device is refused when the instance is made") {
  const MockCuda mock;
  mock.configure("");
  TempFolder folder;
  const auto refused = [&](const char* says, auto change, const MockCode& code) {
    const svod_error error = refusal(writeTwice(folder, change, code));
    CHECK(error.exit_code == 5);
    CHECK_THAT(error.message, Catch::Contains(says));
    CHECK_THAT(error.help, Catch::Contains("--cuda-arch sm_90a"));
  };
  refused(
      "kernel 'k_double' needs 240000 bytes of shared memory for a workgroup, cuda:0, Mock GPU 0, compute capability "
      "9.0 has 232448",
      [](KernelDesc& kernel) { kernel.grid->sharedBytes = 200000; }, {"sm_90a", 40000, 32, 1024});
  refused(
      "no workgroup of kernel 'k_double' fits on cuda:0, Mock GPU 0, compute capability 9.0: it has 512 threads with "
      "200 registers each",
      [](KernelDesc& kernel) { kernel.grid->threads = {512, 1, 1}; }, {"sm_90a", 0, 200, 1024});
  refused("it has 512 threads", [](KernelDesc& kernel) { kernel.grid->threads = {512, 1, 1}; }, {"sm_90a", 0, 32, 256});
  refused("no workgroup of kernel 'k_double' fits",
          [](KernelDesc& kernel) { kernel.grid->attributes = {{"cluster.x", 16}}; }, {});
  CHECK(mock.report() == "");
  // What is above the usual amount is asked for.
  mock.configure("");
  checkTwice(loadPlan(writeTwice(folder, [](KernelDesc& kernel) { kernel.grid->sharedBytes = 200000; })),
             MockOptions());
  CHECK(mock.count("cuFuncSetAttribute") == 1);
  CHECK(mock.report() == "");
}
