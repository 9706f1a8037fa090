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
    auto loaded = LoadedPlan::fromDirectory(path, {});
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
    for (const auto& device : devices) CHECK((device->isLost() || device->allocations() == 0));
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

TEST_CASE(
    "a device that is lost ends the run with the step named and its instance with it, and another instance works") {
  TempFolder folder;
  writeLoop(folder / "p");
  const uint32_t stepOf[] = {0, 1, 2, 3, 5, 6, 7, 5, 6, 7};
  for (size_t threads : {1u, 3u})
    for (uint64_t piece = 0; piece < std::size(stepOf); piece++) {
      Separate s(folder / "p", 9, threads);
      checkLoop(s, 2);
      std::vector<float> x(8, 1), y(8, 0);
      s.bind(x, y);
      s.devices[0]->loseAfter(piece);
      const Status status = s.instance->execute(0);
      REQUIRE_FALSE(status);
      CHECK(status.error()->diag == Diag::DeviceLost);
      CHECK(status.error()->message.starts_with("step " + std::to_string(stepOf[piece])));
      if (stepOf[piece] == 1 || stepOf[piece] == 6)
        CHECK_THAT(status.error()->message, Catch::Contains(", kernel 'k_double', failed"));
      CHECK_THAT(status.error()->message, Catch::Contains("failed on device 'd1': the device is lost"));
      CHECK_THAT(status.error()->help, Catch::Contains("free the instance"));
      const uint64_t given = s.devices[0]->given();
      for (int again = 0; again < 2; again++) {
        const Status later = s.instance->execute(0);
        REQUIRE_FALSE(later);
        CHECK(later.error()->diag == Diag::DeviceLost);
        CHECK(later.error()->message == "device 'd1' is lost, and this instance with it");
      }
      CHECK(s.devices[0]->given() == given);
      Separate other(folder / "p", 9, threads);
      checkLoop(other, 2);
    }
}

TEST_CASE("a device that has no memory for an instance, or is lost while it is made, leaves nothing behind") {
  TempFolder folder;
  writeLoop(folder / "p");
  auto loaded = LoadedPlan::fromDirectory(folder / "p", {});
  REQUIRE(loaded);
  for (uint64_t allocations : {0u, 1u}) {
    SeparateDevice device(1, 20);
    device.refuseMemoryAfter(allocations);
    auto made = Instance::create(*loaded, {}, nullptr, {nullptr, &device});
    REQUIRE_FALSE(made);
    CHECK(made.error()->diag == Diag::DeviceFailure);
    CHECK(device.allocations() == 0);
  }
  for (bool isLost : {false, true}) {
    SeparateDevice device(1, 20);
    isLost ? device.loseAfter(0) : device.failAfter(0, false);
    auto made = Instance::create(*loaded, {}, nullptr, {nullptr, &device});
    REQUIRE_FALSE(made);
    CHECK_THAT(made.error()->message, Catch::Contains("cannot copy weights to or from device 'd1'"));
    CHECK(made.error()->diag == (isLost ? Diag::DeviceLost : Diag::DeviceFailure));
    CHECK((isLost || device.allocations() == 0));
  }
}

TEST_CASE("a device that fails or loses its memory ends the run with the step named, and the next run works") {
  TempFolder folder;
  writeLoop(folder / "p");
  for (size_t threads : {1u, 3u})
    for (bool forgets : {false, true}) {
      // With two trips the device is given steps 0, 1, 2, 3, then twice 5, 6, 7.
      const uint32_t stepOf[] = {0, 1, 2, 3, 5, 6, 7, 5, 6, 7};
      Separate s(folder / "p", 9, threads);
      for (uint64_t piece = 0; piece < std::size(stepOf); piece++) {
        std::vector<float> x(8, 1), y(8, 0);
        s.bind(x, y);
        CHECK(s.instance->bindings().setVariable(0, 2));
        s.devices[0]->failAfter(piece, forgets);
        const Status status = s.instance->execute(0);
        REQUIRE_FALSE(status);
        CHECK(info(status.error()->diag).exitCode == 6);
        const std::string step = "step " + std::to_string(stepOf[piece]);
        CHECK(status.error()->message.starts_with(step));
        CHECK_THAT(status.error()->message, Catch::Contains("failed on device 'd1'"));
        checkLoop(s, 2);
      }
    }
}

TEST_CASE("queues wait for each other by events, and the host only for what it reads") {
  TempFolder folder;
  PlanBuilder b;
  for (const char* name : {"d1", "d2"}) b.plan.devices.push_back({name, DeviceKind::Cpu, 0});
  const Expr n = 16;
  BufferId value = b.input("x", 16, n);
  const BufferId y = b.output("y", 16, n);
  constexpr int kHops = 20;
  for (int hop = 0; hop < kHops; hop++) {
    b.device = static_cast<DeviceId>(1 + hop % 2);
    const BufferId here = b.arena("h", 16), twice = b.arena("t", 16);
    b.step(Copy{here, value, 64});
    b.launch(hop % 4 == 0 ? "k_double" : "k_reverse", {here, twice}, {R, W}, {n},
             hop % 4 == 0 ? Expr::make(ExprOp::CeilDiv, Expr::variable(0), 4) : Expr(1), 64);
    value = twice;
  }
  b.step(Copy{y, value, 64});
  b.write(folder / "p");
  for (const bool withEvents : {true, false})
    for (size_t threads : {1u, 2u}) {
      Separate s(folder / "p", 3, threads, 300);
      if (!withEvents) s.devices[0]->useNoEvents();
      std::vector<float> in(16), out(16, 0), want(16);
      for (size_t k = 0; k < 16; k++) in[k] = static_cast<float>(k), want[k] = static_cast<float>(15 - k) * 32;
      s.bind(in, out);
      const uint64_t before = s.devices[0]->waits() + s.devices[1]->waits();
      for (uint64_t order : {0u, 7u}) {
        out.assign(16, 0);
        CHECK(s.instance->execute(order));
        CHECK(out == want);
      }
      const uint64_t waits = s.devices[0]->waits() + s.devices[1]->waits() - before;
      CHECK((waits <= 2 * 2 * 2) == withEvents);  // at the end of each run, each device, twice
    }
}

TEST_CASE("inputs and outputs on a device stay there between runs, and only what copies to and from it can") {
  TempFolder folder;
  PlanBuilder b;
  for (const char* name : {"d1", "d2"}) b.plan.devices.push_back({name, DeviceKind::Cpu, 0});
  const Expr n = Expr::variable(b.variable("n", 0, 16)), bytes = n * 4;
  const BufferId x = b.input("x", 16, n), y = b.output("y", 16, n), z = b.output("z", 16, n);
  const BufferId host = b.arena("host", 16);
  b.device = 1;
  const BufferId a = b.arena("a", 16), twice = b.arena("twice", 16);
  b.step(Copy{a, x, bytes});
  b.launch("k_double", {a, twice}, {R, W}, {n});
  b.step(Copy{y, twice, bytes});
  b.step(Copy{host, twice, bytes});
  b.launch("k_double", {host, z}, {R, W}, {n});
  b.write(folder / "p");
  for (size_t threads : {1u, 2u}) {
    Separate s(folder / "p", 3, threads);
    Bindings& bindings = s.instance->bindings();
    void* const memory[] = {*s.devices[0]->allocate(64), *s.devices[0]->allocate(64)};
    std::vector<float> in(16, 1.5f), out(16, 0), z(16, 0);
    const uint64_t shape = 12;
    const auto run = [&](uint64_t order) {
      CHECK(bindings.bindOutput(1, z.data(), 64));
      const Status status = s.instance->execute(order);
      if (!status) FAIL(toText(status.error()));
    };
    CHECK(bindings.bindInput(0, nullptr, {&shape, 1}, in.data()));
    CHECK(bindings.bindOutput(0, memory[0], 64, 1));
    run(0);
    const uint64_t before = s.devices[0]->transfers();
    for (size_t round = 0; round < 6; round++) {
      CHECK(bindings.bindInput(0, nullptr, {&shape, 1}, memory[round % 2], 1));
      CHECK(bindings.bindOutput(0, memory[(round + 1) % 2], 64, 1));
      run(round);
      CHECK(z[11] == 1.5f * static_cast<float>(8 << round));
    }
    CHECK(s.devices[0]->transfers() - before == 6);  // what z is made from
    CHECK(bindings.bindInput(0, nullptr, {&shape, 1}, memory[0], 1));
    CHECK(bindings.bindOutput(0, out.data(), 64));
    run(0);
    CHECK(std::vector<float>(out.begin(), out.begin() + 12) == std::vector<float>(12, 1.5f * 256));
    CHECK(out[12] == 0);
    // The same address on the host is another place.
    CHECK(bindings.bindOutput(0, memory[0], 64, 0));
    CHECK(bindings.complete());
    CHECK(bindings.bindOutput(0, static_cast<float*>(memory[0]) + 4, 64, 1));
    CHECK_THAT(bindings.complete().error()->message, Catch::Contains("overlapping"));
    CHECK_THAT(bindings.bindInput(0, nullptr, {&shape, 1}, memory[0], 2).error()->message,
               Catch::Contains("input 'x' cannot be on device 'd2': the plan does more with it than copies"));
    CHECK_THAT(bindings.bindOutput(1, memory[0], 64, 1).error()->message,
               Catch::Contains("output 'z' cannot be on device 'd1'"));
    for (void* each : memory) s.devices[0]->release(each, 64);
  }
  // Through the C interface, where the host runs the devices.
  const PlanHandle plan = loadPlan(folder / "p");
  CHECK(std::string(svod_plan_device(plan.get(), 1)) == "d1");
  CHECK(svod_plan_device(plan.get(), 3) == nullptr);
  const InstanceHandle instance = makeInstance(plan);
  std::vector<float> in(16, 2), out(16, 0), other(16, 0);
  const uint64_t shape = 16;
  CHECK(svod_bind_device_input(instance.get(), 0, 1, "f32", &shape, 1, in.data(), nullptr) == 0);
  CHECK(svod_bind_device_output(instance.get(), 0, 1, out.data(), 64, nullptr) == 0);
  CHECK(svod_bind_device_output(instance.get(), 1, 1, other.data(), 64, nullptr) == 1);
  CHECK(svod_bind_device_output(instance.get(), 1, 3, other.data(), 64, nullptr) == 1);
  CHECK(svod_bind_device_output(instance.get(), 1, 0, other.data(), 64, nullptr) == 0);
  execute(instance);
  CHECK(out == std::vector<float>(16, 4));
  CHECK(other == std::vector<float>(16, 8));
}

TEST_CASE("a state stays on a device between runs, with what it held, and comes back") {
  TempFolder folder;
  PlanBuilder b;
  b.plan.devices.push_back({"d1", DeviceKind::Cpu, 0});
  const Expr n = 8;
  const BufferId s = b.state("s", 8), t = b.state("t", 8), y = b.output("y", 8, n);
  b.device = 1;
  const BufferId a = b.arena("a", 8);
  b.step(Copy{a, s, 32});
  b.launch("k_add_value", {a}, {RW}, {n, Expr(1)});
  b.step(Copy{s, a, 32});
  b.step(Copy{y, a, 32});
  b.launch("k_add_value", {t}, {RW}, {n, Expr(1)});
  b.write(folder / "p");
  for (size_t threads : {1u, 2u}) {
    Separate device(folder / "p", 3, threads);
    Instance& instance = *device.instance;
    std::vector<float> out(8);
    void* const memory = *device.devices[0]->allocate(32);
    float value = 0;
    const auto run = [&] {
      CHECK(instance.bindings().bindOutput(0, out.data(), 32));
      const Status status = instance.execute(0);
      if (!status) FAIL(toText(status.error()));
      value = value * 2 + 1;
      CHECK(out == std::vector<float>(8, value));
    };
    run();
    CHECK(instance.bindState(0, 1, memory));
    CHECK(instance.state(0) == memory);
    const uint64_t before = device.devices[0]->transfers();
    for (int i = 0; i < 4; i++) run();
    CHECK(device.devices[0]->transfers() - before == 4);  // the output
    CHECK(instance.bindState(0, 0, nullptr));
    CHECK(static_cast<float*>(instance.state(0))[7] == value);
    run();
    CHECK(instance.bindState(0, 1, memory));
    instance.resetStates();
    value = 0;
    run();
    run();
    device.devices[0]->failAfter(0, true);
    CHECK_FALSE(instance.execute(0));
    instance.resetStates();
    value = 0;
    run();
    CHECK_THAT(instance.bindState(1, 1, memory).error()->message,
               Catch::Contains("state 't' cannot be on device 'd1'"));
    device.devices[0]->release(memory, 32);
  }
  const PlanHandle plan = loadPlan(folder / "p");
  const InstanceHandle instance = makeInstance(plan);
  std::vector<float> out(8), there(8, 5);
  bindOut(instance, 0, out);
  execute(instance);
  CHECK(svod_bind_device_state(instance.get(), 0, 1, nullptr, nullptr) == 1);
  CHECK(svod_bind_device_state(instance.get(), 0, 1, there.data(), nullptr) == 0);
  CHECK(there[7] == 1);
  execute(instance);
  CHECK(there == std::vector<float>(8, 3));
}

TEST_CASE("a state of the plan that is on a device begins there, stays there, and is read and written from the host") {
  TempFolder folder;
  PlanBuilder b;
  b.plan.devices.push_back({"d1", DeviceKind::Cpu, 0});
  const Expr n = 8;
  b.constant("first", {1, 2, 3, 4, 5, 6, 7, 8});
  const BufferId y = b.output("y", 8, n), h = b.state("h", 8);
  b.device = 1;
  const BufferId s = b.state("s", 8, ConstantId{0}), z = b.state("z", 700'000), a = b.arena("a", 8);
  b.launch("k_add_value", {s}, {RW}, {n, Expr(1)});
  b.launch("k_add_value", {z}, {RW}, {n, Expr(3)});
  b.launch("k_add", {s, z, a}, {R, R, W}, {n});
  b.step(Copy{y, a, 32});
  b.launch("k_add_value", {h}, {RW}, {n, Expr(1)});
  b.write(folder / "p");
  for (size_t threads : {1u, 2u}) {
    Separate device(folder / "p", 3, threads);
    Instance& instance = *device.instance;
    std::vector<float> out(8), held(8), zeros(700'000, 1);
    CHECK_FALSE(instance.isOnHost(1));
    CHECK(instance.isOnHost(0));
    CHECK(instance.readState(1, held.data()));
    CHECK(held[7] == 8);
    CHECK(instance.readState(2, zeros.data()));
    CHECK(std::ranges::count(zeros, 0.0f) == 700'000);
    float last = 8, added = 0;
    const auto run = [&] {
      CHECK(instance.bindings().bindOutput(0, out.data(), 32));
      const Status status = instance.execute(0);
      if (!status) FAIL(toText(status.error()));
      last = last * 2 + 1, added = added * 2 + 3;
      CHECK(out[7] == last + added);
    };
    run();
    const uint64_t before = device.devices[0]->transfers();
    for (int i = 0; i < 3; i++) run();
    CHECK(device.devices[0]->transfers() - before == 3);  // the output
    CHECK(instance.readState(1, held.data()));
    CHECK(held[7] == last);
    held.assign(8, last = 40);
    CHECK(instance.writeState(1, held.data()));
    run();
    void* const memory = *device.devices[0]->allocate(32);
    CHECK(instance.bindState(1, 1, memory));
    run();
    CHECK(instance.bindState(1, 0, nullptr));
    device.devices[0]->release(memory, 32);
    run();
    device.devices[0]->failAfter(0, true);
    CHECK_FALSE(instance.execute(0));
    instance.resetStates();
    last = 8, added = 0;
    run();
    instance.resetStates();
    CHECK(instance.readState(1, held.data()));
    CHECK(held[7] == 8);
    device.devices[0]->loseAfter(0);
    CHECK_FALSE(instance.execute(0));
    CHECK(instance.readState(1, held.data()).error()->diag == Diag::DeviceLost);
    CHECK(instance.writeState(1, held.data()).error()->diag == Diag::DeviceLost);
  }
  // Where the host runs the device it has the state, too.
  const InstanceHandle instance = makeInstance(loadPlan(folder / "p"));
  std::vector<float> out(8);
  bindOut(instance, 0, out);
  execute(instance);
  CHECK(out[0] == 6);
  CHECK(static_cast<const float*>(svod_state_data(instance.get(), 1))[0] == 3);
  CHECK(svod_read_state(instance.get(), 1, out.data(), 32, nullptr) == 0);
  CHECK(out[7] == 17);
  CHECK(svod_read_state(instance.get(), 1, out.data(), 31, nullptr) == 1);
  CHECK(svod_write_state(instance.get(), 1, nullptr, 32, nullptr) == 1);
  CHECK(svod_read_state(instance.get(), 7, out.data(), 32, nullptr) == 1);
}

TEST_CASE("the arena of a lent device is reserved there and not on the host") {
  TempFolder folder;
  writeLoop(folder / "p");
  auto loaded = LoadedPlan::fromDirectory(folder / "p", {});
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
