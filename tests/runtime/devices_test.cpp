// Devices with memory of their own: copies, queues that run late, failures, and what the host may touch.
#include "runtime-min/instance.h"
#include "runtime/random_graph.h"
#include "runtime/separate_device.h"

using namespace svod;

namespace {

/// An instance of the plan, whose devices from 1 on are separate ones.
struct Separate {
  std::vector<std::unique_ptr<SeparateDevice>> devices;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<Instance> instance;

  Separate(const std::string& path, uint32_t seed, size_t threads, uint32_t microseconds = 60) {
    auto loaded = LoadedPlan::fromDirectory(path, WeightsCheck::Small);
    if (!loaded) FAIL(toText(loaded.error()));
    std::vector<Device*> lent(1, nullptr);
    for (size_t i = 1; i < (*loaded)->plan().devices.size(); i++) {
      devices.push_back(std::make_unique<SeparateDevice>(seed + static_cast<uint32_t>(i), microseconds));
      lent.push_back(devices.back().get());
    }
    if (threads > 1) pool = std::make_unique<Pool>(threads);
    auto made = Instance::create(*loaded, {}, pool.get(), std::move(lent));
    if (!made) FAIL(toText(made.error()));
    instance = std::move(*made);
  }
  ~Separate() {
    instance.reset();
    for (const auto& device : devices) CHECK(device->allocations() == 0);
  }

  template <class T>
  void bind(const std::vector<T>& input, std::vector<T>& output) {
    const uint64_t in = input.size();
    CHECK(instance->bindings().bindInput(0, nullptr, {&in, 1}, input.data()));
    CHECK(instance->bindings().bindOutput(0, output.data(), output.size() * sizeof(T)));
  }
};

/// y = (2x + w), doubled in a loop of n trips, on device 1; w is a weight, and what a trip leaves goes by the host.
void writeLoop(const std::string& path) {
  PlanBuilder b;
  b.plan.devices.push_back({"d1", DeviceKind::Cpu, 0});
  const Expr n = 8;
  const VariableId trips = b.variable("trips", 0, 5), i = b.variable("i", 0, 4, VariableKind::Loop);
  const BufferId x = b.input("x", 8, n), y = b.output("y", 8, n), host = b.arena("host", 8);
  const BufferId w = b.constant("w", {1, 2, 3, 4, 5, 6, 7, 8});
  b.device = 1;
  const BufferId a = b.arena("a", 8), c = b.arena("c", 8), d = b.arena("d", 8);
  b.step(Copy{a, x, 32});
  b.launch("k_double", {a, c}, {R, W}, {n});
  b.launch("k_add", {c, w, a}, {R, R, W}, {n});
  b.step(Copy{host, a, 32});
  b.step(Loop{i, Expr::variable(trips), 3});
  b.step(Copy{c, host, 32});
  b.launch("k_double", {c, d}, {R, W}, {n});
  b.step(Copy{host, d, 32});
  b.step(Copy{y, host, 32});
  b.write(path);
}

void checkLoop(Separate& s, int64_t trips) {
  std::vector<float> x = {3, 1, 4, 1, 5, 9, 2, 6}, y(8, 0);
  s.bind(x, y);
  CHECK(s.instance->bindings().setVariable(0, trips));
  const Status status = s.instance->execute(0);
  if (!status) FAIL(toText(status.error()));
  for (size_t k = 0; k < 8; k++) CHECK(y[k] == (2 * x[k] + static_cast<float>(k + 1)) * static_cast<float>(1 << trips));
}

}  // namespace

TEST_CASE("random graphs on separate devices that run late give the same bytes for any threads and order") {
  for (uint32_t seed = 1; seed <= 40; seed++) {
    TempFolder folder;
    RandomGraph graph(seed, 4 + seed, static_cast<MemoryMode>(seed % 3), seed % 4 == 0 ? 0 : UINT64_MAX, 2 + seed % 3);
    graph.builder.write(folder / "p", compiledKernels());
    Separate s(folder / "p", seed, 1 + seed % 4);
    for (uint64_t order : {0u, 0u, 1u, 2u}) {
      std::vector<uint32_t> output(kWords, 0);
      s.bind(graph.input, output);
      const Status status = s.instance->execute(order);
      if (!status) FAIL(toText(status.error()));
      CHECK(output == graph.expected);
    }
    uint64_t given = 0;
    for (const auto& device : s.devices) given += device->given();
    CHECK(given > 0);
  }
}

TEST_CASE("intermediates on separate devices are seen as they were") {
  for (uint32_t seed = 1; seed <= 20; seed++) {
    TempFolder folder;
    RandomGraph graph(seed, 4 + seed, static_cast<MemoryMode>(seed % 3), UINT64_MAX, 2 + seed % 3);
    graph.builder.write(folder / "p", compiledKernels());
    Separate s(folder / "p", seed, 1 + seed % 3);
    const std::vector<TensorView>& views = s.instance->loaded().views(SVOD_INTERMEDIATE);
    std::vector<std::vector<uint32_t>> seen(views.size(), std::vector<uint32_t>(kWords));
    for (size_t i = 0; i < views.size(); i++) CHECK(s.instance->probe(i, seen[i].data(), kWords * 4));
    std::vector<uint32_t> output(kWords);
    s.bind(graph.input, output);
    const Status status = s.instance->execute(0);
    if (!status) FAIL(toText(status.error()));
    CHECK(output == graph.expected);
    for (size_t i = 0; i < views.size(); i++) {
      const std::string& name = views[i].name;  // "t7", "t7 copied" or "t7 copied#12"
      const size_t of = name[0] == 'x' ? 0 : std::stoul(name.substr(1));
      INFO(name);
      CHECK(seen[i] == graph.values[of]);
    }
  }
}

TEST_CASE("loops and weights on a separate device") {
  TempFolder folder;
  writeLoop(folder / "p");
  for (size_t threads : {1u, 3u}) {
    Separate s(folder / "p", 5, threads);
    for (int64_t trips : {0, 1, 5, 2}) checkLoop(s, trips);
  }
}

TEST_CASE("a device that fails or is lost ends the run with the step named, and the next run works") {
  TempFolder folder;
  writeLoop(folder / "p");
  for (size_t threads : {1u, 3u})
    for (bool isLost : {false, true}) {
      // With two trips the device is given steps 0, 1, 2, 3, then twice 5, 6, 7.
      const uint32_t stepOf[] = {0, 1, 2, 3, 5, 6, 7, 5, 6, 7};
      Separate s(folder / "p", 9, threads);
      for (uint64_t piece = 0; piece < std::size(stepOf); piece++) {
        std::vector<float> x(8, 1), y(8, 0);
        s.bind(x, y);
        CHECK(s.instance->bindings().setVariable(0, 2));
        s.devices[0]->failAfter(piece, isLost);
        const Status status = s.instance->execute(0);
        REQUIRE_FALSE(status);
        CHECK(info(status.error().diag).exitCode == 6);
        const std::string step = "step " + std::to_string(stepOf[piece]);
        CHECK(status.error().message.starts_with(step));
        CHECK_THAT(status.error().message, Catch::Contains("failed on device 'd1'"));
        checkLoop(s, 2);
      }
    }
}

TEST_CASE("the arena of a lent device is reserved there and not on the host") {
  TempFolder folder;
  writeLoop(folder / "p");
  auto loaded = LoadedPlan::fromDirectory(folder / "p", WeightsCheck::Small);
  REQUIRE(loaded);
  for (const int separate : {0, 1}) {
    std::vector<std::string> asked;
    svod_memory memory = {};
    memory.user = &asked;
    memory.separate = separate;
    memory.allocate = [](void* user, uint64_t bytes, uint64_t alignment, const char* purpose) {
      static_cast<std::vector<std::string>*>(user)->push_back(purpose);
      return std::aligned_alloc(alignment < 64 ? 64 : alignment, (bytes + 63) / 64 * 64);
    };
    memory.release = [](void*, void* data, uint64_t) { std::free(data); };
    svod_instance_options options = {};
    options.memory = &memory;
    SeparateDevice device(1, 0);
    auto instance = Instance::create(*loaded, options, nullptr, {nullptr, &device});
    REQUIRE(instance);
    CHECK(asked == std::vector<std::string>{separate != 0 ? "host" : "arena"});
    CHECK(device.allocations() == 2);  // the arena and a weight
    instance->reset();
  }
}

TEST_CASE("copies between two separate devices, and within one") {
  TempFolder folder;
  PlanBuilder b;
  for (const char* name : {"d1", "d2"}) b.plan.devices.push_back({name, DeviceKind::Cpu, 0});
  const Expr n = 16;
  const BufferId x = b.input("x", 16, n), y = b.output("y", 16, n);
  b.device = 1;
  const BufferId a = b.arena("a", 16), again = b.arena("again", 16);
  b.device = 2;
  const BufferId c = b.arena("c", 16), twice = b.arena("twice", 16);
  b.step(Copy{a, x, 64});
  b.step(Copy{again, a, 64});
  b.step(Copy{c, again, 64});
  b.launch("k_double", {c, twice}, {R, W}, {n});
  b.step(Copy{y, twice, 64});
  b.write(folder / "p");
  for (size_t threads : {1u, 2u}) {
    Separate s(folder / "p", 3, threads, 500);
    std::vector<float> in(16, 1.5f), out(16, 0);
    s.bind(in, out);
    for (uint64_t order : {0u, 7u}) {
      out.assign(16, 0);
      CHECK(s.instance->execute(order));
      CHECK(out == std::vector<float>(16, 3.0f));
    }
  }
}
