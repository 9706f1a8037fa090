// What stays on a device between runs: inputs, outputs and states; and where its arena is.
#include "data/mapped_file.h"
#include "runtime/separate.h"

using namespace svod;

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

TEST_CASE("an input that is a part of a mapped file is copied to a device from there, exactly") {
  TempFolder folder;
  loopPlan("d1").write(folder / "p");
  std::string text = "some other bytes";
  const std::vector<float> before(3, -1), after(5, -2);
  for (const std::vector<float>& part : {before, kLoopInput, after})
    text.append(reinterpret_cast<const char*>(part.data()), part.size() * sizeof(float));
  writeText(folder / "file", text);
  const auto file = MappedFile::open(folder / "file");
  REQUIRE(file);
  for (size_t threads : {1u, 2u}) {
    Separate s(folder / "p", 5, threads);
    const uint64_t shape = 8;
    std::vector<float> y(8, 0);
    CHECK(s.instance->bindings().bindInput(0, nullptr, {&shape, 1}, file->data() + 16 + 12));
    CHECK(s.instance->bindings().bindOutput(0, y.data(), 32));
    CHECK(s.instance->bindings().setVariable(0, 3));
    const Status status = s.instance->execute(0);
    if (!status) FAIL(toText(status.error()));
    CHECK(y == loopResult(kLoopInput, 3));
  }
}

TEST_CASE("a large state moves from one place on a device to another, with what it held") {
  TempFolder folder;
  PlanBuilder b;
  b.plan.devices.push_back({"d1", DeviceKind::Cpu, 0});
  const Expr n = 20'000;
  const uint64_t bytes = 80'000;
  const BufferId s = b.state("s", 20'000);
  b.device = 1;
  const BufferId a = b.arena("a", 20'000);
  b.step(Copy{a, s, bytes});
  b.launch("k_add_value", {a}, {RW}, {n, Expr(1)});
  b.step(Copy{s, a, bytes});
  b.write(folder / "p");
  Separate device(folder / "p", 3, 1);
  const uint64_t all = 2 * bytes, some = 40'000;
  auto* const memory = static_cast<std::byte*>(*device.devices[0]->allocate(all));
  std::vector<float> held(20'000), expected(20'000);
  for (size_t i = 0; i < held.size(); i++) expected[i] = static_cast<float>(i);
  CHECK(device.instance->writeState(0, expected.data()));
  for (uint64_t at : {uint64_t{0}, bytes, bytes - some, bytes, some, uint64_t{0}}) {  // apart, and over each other
    for (float& value : expected) value = value * 2 + 1;
    CHECK(device.instance->bindState(0, 1, memory + at));
    CHECK(device.instance->execute(0));
    CHECK(device.instance->readState(0, held.data()));
    CHECK(held == expected);
  }
  device.devices[0]->release(memory, all);
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
  loopPlan("d1").write(folder / "p");
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
