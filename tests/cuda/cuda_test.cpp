// Plans on CUDA devices of the mock give the bytes that they must, whatever the order, the threads and the way of
// giving work.
#include <thread>

#include "cuda/mock_plans.h"
#include "runtime-cuda/driver_types.h"
#include "runtime/random_graph.h"

using namespace svod;

namespace {

void writeRandom(RandomGraph& graph, const std::string& path) {
  toCuda(graph.builder.plan);
  writeCuda(graph.builder, path);
}

void checkRuns(const InstanceHandle& instance, const RandomGraph& graph) {
  for (uint64_t order : {0u, 0u, 1u, 2u}) {
    std::vector<uint32_t> output(kWords, 0);
    bindIn(instance, 0, graph.input);
    bindOut(instance, 0, output);
    execute(instance, order);
    CHECK(output == graph.expected);
  }
}

}  // namespace

TEST_CASE("random graphs on CUDA devices give the same bytes for any threads, order and way of giving work") {
  const MockCuda mock;
  mock.configure("devices=3");
  uint64_t graphs = 0;
  for (uint32_t seed = 1; seed <= 30; seed++) {
    TempFolder folder;
    RandomGraph graph(seed, 4 + seed, static_cast<MemoryMode>(seed % 3), UINT64_MAX, 2 + seed % 3);
    writeRandom(graph, folder / "p");
    const PlanHandle plan = loadPlan(folder / "p");
    const PoolHandle pool(seed % 2 == 0 ? nullptr : svod_pool_create(1 + seed % 4));
    for (const MockOptions& chosen : {MockOptions(), MockOptions({{"graphs", "off"}}), MockOptions({{"wait", "on"}})}) {
      svod_instance_options options = chosen;
      options.pool = pool.get();
      options.profile = seed % 5 == 0;
      const InstanceHandle instance = makeInstance(plan, options);
      checkRuns(instance, graph);
    }
    graphs += mock.count("cuGraphLaunch");
    CHECK(mock.report() == "");
  }
  CHECK(graphs > 0);
}

TEST_CASE("intermediates on CUDA devices are seen as they were") {
  const MockCuda mock;
  mock.configure("devices=3");
  for (uint32_t seed = 1; seed <= 10; seed++) {
    TempFolder folder;
    RandomGraph graph(seed, 4 + seed, static_cast<MemoryMode>(seed % 3), UINT64_MAX, 2 + seed % 3);
    writeRandom(graph, folder / "p");
    const PlanHandle plan = loadPlan(folder / "p");
    const InstanceHandle instance = makeInstance(plan, MockOptions());
    svod_tensor tensor = {};
    std::vector<std::vector<uint32_t>> seen;
    seen.reserve(1000);
    svod_error error = {};
    for (size_t i = 0; svod_plan_tensor(plan.get(), SVOD_INTERMEDIATE, i, &tensor) == 0; i++)
      CHECK(svod_probe(instance.get(), i, seen.emplace_back(kWords).data(), kWords * 4, &error) == 0);
    std::vector<uint32_t> output(kWords);
    bindIn(instance, 0, graph.input);
    bindOut(instance, 0, output);
    execute(instance);
    CHECK(output == graph.expected);
    for (size_t i = 0; i < seen.size(); i++) {
      svod_plan_tensor(plan.get(), SVOD_INTERMEDIATE, i, &tensor);
      CHECK(seen[i] == graph.values[std::strtoul(tensor.name + 1, nullptr, 10)]);  // "t7", "t7 copied#3", "x copied"
    }
  }
  CHECK(mock.report() == "");
}

TEST_CASE("loops on a CUDA device, with weights, for any number of trips, one after the other") {
  const MockCuda mock;
  mock.configure("");
  TempFolder folder;
  PlanBuilder b = loopPlan();
  writeCuda(b, folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  for (const MockOptions& options : {MockOptions(), MockOptions({{"graphs", "off"}})}) {
    const InstanceHandle instance = makeInstance(plan, options);
    for (int64_t trips : {3, 0, 5, 1, 1}) checkLoop(instance, trips);
  }
  CHECK(mock.report() == "");
}

namespace {

/// A loop in a loop, all of which the device does: x = x * 2 + i, then so often x = x * 2 + j, and a copy of it.
void writeInner(const std::string& path, int64_t outer, const Expr& inner, int64_t most) {
  PlanBuilder b;
  b.plan.devices.push_back({"gpu", DeviceKind::Cpu, 0});
  const VariableId i = b.variable("i", 0, outer, VariableKind::Loop), j = b.variable("j", 0, most, VariableKind::Loop);
  const BufferId x = b.input("x", 8, 8), y = b.output("y", 8, 8), z = b.output("z", 8, 8);
  b.device = 1;
  const BufferId a = b.arena("a", 8), c = b.arena("c", 8);
  b.step(Copy{a, x, 32});
  b.step(Loop{i, outer, 4});
  b.launch("k_add_value", {a}, {RW}, {8, Expr::variable(i)});
  b.step(Loop{j, inner, 1});
  b.launch("k_add_value", {a}, {RW}, {8, Expr::variable(j)});
  b.step(Copy{c, a, 32});
  b.step(Copy{y, a, 32});
  b.step(Copy{z, c, 32});
  addHazardEdges(b.plan, StorageView::Placed);
  toCuda(b.plan);
  writeCuda(b, path);
}

}  // namespace

TEST_CASE("loops that a CUDA device does alone are one graph, or are given without waiting for an iteration") {
  const MockCuda mock;
  mock.configure("");
  TempFolder folder;
  struct Case {
    int64_t outer;
    Expr inner;
    int64_t most;
    uint64_t launches;  // of graphs, at most
  };
  // How often the inner loop runs depends on the outer one; the last comes to too many works for one graph.
  for (const Case& c :
       {Case{6, 2, 1, 3}, Case{5, Expr::variable(0), 4, 3}, Case{0, 2, 1, 2}, Case{4, 0, 0, 3}, Case{900, 2, 1, 950}}) {
    writeInner(folder / "p", c.outer, c.inner, c.most);
    const PlanHandle plan = loadPlan(folder / "p");
    for (const MockOptions& options : {MockOptions(), MockOptions({{"graphs", "off"}})}) {
      const InstanceHandle instance = makeInstance(plan, options);
      std::vector<float> in(8, 1), out(8, 0), last(8, 0);
      bindIn(instance, 0, in);
      bindOut(instance, 0, out);
      bindOut(instance, 1, last);
      float expected = 1;
      for (int64_t trip = 0; trip < c.outer; trip++) {
        expected = expected * 2 + static_cast<float>(trip);
        const int64_t trips = c.most == 1 ? 2 : c.most == 0 ? 0 : trip;
        for (int64_t k = 0; k < trips; k++) expected = expected * 2 + static_cast<float>(k);
      }
      for (uint64_t order : {0u, 0u, 3u}) {
        const uint64_t waits = mock.count("cuEventSynchronize"), graphs = mock.count("cuGraphLaunch");
        execute(instance, order);
        CHECK(out[5] == expected);
        if (c.outer > 0) CHECK(last[5] == expected);
        CHECK(mock.count("cuEventSynchronize") - waits <= 3);
        CHECK(mock.count("cuGraphLaunch") - graphs <= c.launches);
      }
    }
  }
  CHECK(mock.report() == "");
}

TEST_CASE("other addresses change nodes of a graph, and the same ones nothing") {
  const MockCuda mock;
  mock.configure("");
  TempFolder folder;
  RandomGraph graph(3, 20, MemoryMode::Arena, UINT64_MAX, 2);
  writeRandom(graph, folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  {
    const InstanceHandle instance = makeInstance(plan, MockOptions());
    std::vector<uint32_t> output(kWords), other(kWords);
    bindIn(instance, 0, graph.input);
    bindOut(instance, 0, output);
    execute(instance);
    const uint64_t made = mock.count("cuGraphInstantiateWithFlags");
    CHECK(made > 0);
    CHECK(mock.count("cuGraphExecMemcpyNodeSetParams") == 0);
    for (int run = 0; run < 3; run++) execute(instance);
    CHECK(mock.count("cuGraphExecMemcpyNodeSetParams") + mock.count("cuGraphExecKernelNodeSetParams_v2") == 0);
    const std::vector<uint32_t> moved = graph.input;
    bindIn(instance, 0, moved);
    bindOut(instance, 0, other);
    execute(instance);
    CHECK(other == graph.expected);
    CHECK(mock.count("cuGraphInstantiateWithFlags") == made);
    CHECK(mock.count("cuGraphExecKernelNodeSetParams_v2") == 0);
  }
  CHECK(mock.report() == "");
}

TEST_CASE("other values of variables change nodes of a graph") {
  const MockCuda mock;
  mock.configure("");
  TempFolder folder;
  PlanBuilder b;
  b.plan.devices.push_back({"gpu", DeviceKind::Cpu, 0});
  const Expr n = Expr::variable(b.variable("n", 0, 8)), k = Expr::variable(b.variable("k", 0, 100));
  const BufferId x = b.input("x", 8, n), y = b.output("y", 8, n);
  b.device = 1;
  const BufferId a = b.arena("a", 8);
  b.step(Copy{a, x, n * 4});
  b.launch("k_add_value", {a}, {RW}, {n, k});
  b.step(Copy{y, a, n * 4});
  addHazardEdges(b.plan, StorageView::Placed);
  toCuda(b.plan);
  writeCuda(b, folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  {
    const InstanceHandle instance = makeInstance(plan, MockOptions());
    for (const auto& [count, value] :
         {std::pair(8, 1), std::pair(8, 5), std::pair(3, 5), std::pair(0, 5), std::pair(8, 7)}) {
      std::vector<float> in(count, 3), out(count, 0);
      bindIn(instance, 0, in);
      bindOut(instance, 0, out);
      CHECK(svod_set_variable(instance.get(), 1, value, nullptr) == 0);
      execute(instance);
      CHECK(out == std::vector<float>(count, 6 + static_cast<float>(value)));
    }
    // Sizes of 0 leave nothing to do; the graph from before is there still.
    CHECK(mock.count("cuGraphInstantiateWithFlags") == 1);
    CHECK(mock.count("cuGraphExecKernelNodeSetParams_v2") > 1);
  }
  CHECK(mock.report() == "");
}

TEST_CASE("weights of more than one buffer go through two pinned ones") {
  const MockCuda mock;
  mock.configure("");
  TempFolder folder;
  constexpr size_t kCount = (size_t{40} << 20) / 4;
  PlanBuilder b;
  b.plan.devices.push_back({"gpu", DeviceKind::Cpu, 0});
  const BufferId y = b.output("y", kCount, Expr(static_cast<int64_t>(kCount)));
  std::vector<float> v(kCount), w(kCount);
  for (size_t i = 0; i < kCount; i++) v[i] = static_cast<float>(i % 1021), w[i] = static_cast<float>(i / 1021);
  const BufferId first = b.constant("v", v), second = b.constant("w", w);
  b.device = 1;
  const BufferId sum = b.arena("sum", kCount);
  b.launch("k_add", {first, second, sum}, {R, R, W}, {Expr(static_cast<int64_t>(kCount))});
  b.step(Copy{y, sum, static_cast<int64_t>(kCount * 4)});
  addHazardEdges(b.plan, StorageView::Placed);
  toCuda(b.plan);
  writeCuda(b, folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  {
    const InstanceHandle instance = makeInstance(plan, MockOptions());
    CHECK(mock.count("cuMemHostAlloc") == 2);
    CHECK(mock.count("cuMemcpyHtoDAsync_v2") == 4);
    std::vector<float> out(kCount);
    bindOut(instance, 0, out);
    execute(instance);
    size_t wrong = 0;
    for (size_t i = 0; i < kCount; i++) wrong += out[i] != v[i] + w[i];
    CHECK(wrong == 0);
  }
  CHECK(mock.report() == "");
}

TEST_CASE("addresses of a CUDA device are bound, and others are refused") {
  const MockCuda mock;
  mock.configure("");
  TempFolder folder;
  PlanBuilder b;
  b.plan.devices.push_back({"gpu", DeviceKind::Cpu, 0});
  const BufferId x = b.input("x", 8, 8), y = b.output("y", 8, 8);
  b.device = 1;
  const BufferId in = b.arena("in", 8), out = b.arena("out", 8);
  b.step(Copy{in, x, 32});
  b.launch("k_double", {in, out}, {R, W}, {8});
  b.step(Copy{y, out, 32});
  addHazardEdges(b.plan, StorageView::Placed);
  toCuda(b.plan);
  writeCuda(b, folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  const auto retain = mock.find<cuda::Code (*)(cuda::Context*, cuda::DeviceNumber)>("cuDevicePrimaryCtxRetain");
  const auto release = mock.find<cuda::Code (*)(cuda::DeviceNumber)>("cuDevicePrimaryCtxRelease_v2");
  const auto push = mock.find<cuda::Code (*)(cuda::Context)>("cuCtxPushCurrent_v2");
  const auto pop = mock.find<cuda::Code (*)(cuda::Context*)>("cuCtxPopCurrent_v2");
  const auto take = mock.find<cuda::Code (*)(cuda::Address*, size_t)>("cuMemAlloc_v2");
  const auto give = mock.find<cuda::Code (*)(cuda::Address)>("cuMemFree_v2");
  CHECK(mock.find<cuda::Code (*)(unsigned)>("cuInit")(0) == 0);
  const auto on = [&](int device, auto body) {
    cuda::Context context = nullptr;
    CHECK((retain(&context, device) == 0 && push(context) == 0));
    body();
    CHECK((pop(&context) == 0 && release(device) == 0));
  };
  cuda::Address ours = 0, theirs = 0;
  on(0, [&] { CHECK(take(&ours, 64) == 0); });
  on(1, [&] { CHECK(take(&theirs, 64) == 0); });
  {
    const InstanceHandle instance = makeInstance(plan, MockOptions());
    const uint64_t shape = 8;
    svod_error error = {};
    std::vector<float> input(8, 3), output(8, 0);
    // The first run leaves its result on the device, the second takes it from there.
    bindIn(instance, 0, input);
    CHECK(svod_bind_device_output(instance.get(), 0, 1, reinterpret_cast<void*>(ours), 32, &error) == 0);
    execute(instance);
    CHECK(svod_bind_device_input(instance.get(), 0, 1, "f32", &shape, 1, reinterpret_cast<void*>(ours), &error) == 0);
    bindOut(instance, 0, output);
    execute(instance);
    CHECK(output == std::vector<float>(8, 12));
    CHECK(mock.count("cuStreamWaitEvent") == 2);  // of the default stream, once for each run
    const auto refused = [&](const void* address, const char* says) {
      CHECK(svod_bind_device_input(instance.get(), 0, 1, "f32", &shape, 1, address, &error) == 0);
      const svod_error refusal = executeError(instance);
      CHECK(refusal.exit_code == 1);
      CHECK_THAT(refusal.message, Catch::Contains(says));
    };
    refused(input.data(), "'x' is bound to no memory of device 'gpu': it is memory of the host");
    refused(reinterpret_cast<const void*>(theirs), "it is memory of cuda:1, the device is cuda:0");
    refused(reinterpret_cast<const void*>(ours + 48), "it needs 32 bytes, the allocation has 16 from there on");
  }
  on(0, [&] { CHECK(give(ours) == 0); });
  on(1, [&] { CHECK(give(theirs) == 0); });
  CHECK(mock.report() == "");
}

TEST_CASE("sixteen threads with instances of their own on two CUDA devices") {
  const MockCuda mock;
  mock.configure("devices=2");
  TempFolder folder;
  std::vector<RandomGraph> graphs;
  std::vector<PlanHandle> plans;
  for (uint32_t i = 0; i < 4; i++) {
    graphs.emplace_back(i + 1, 10 + 4 * i, MemoryMode::Arena, UINT64_MAX, 3);
    writeRandom(graphs[i], folder / ("p" + std::to_string(i)));
    plans.push_back(loadPlan(folder / ("p" + std::to_string(i))));
  }
  std::atomic<int> wrong{0};
  const MockOptions options;
  std::vector<std::thread> threads;
  for (uint32_t id = 0; id < 16; id++)
    threads.emplace_back([&, id] {
      const svod_instance_options chosen = options;
      svod_instance* instance = nullptr;
      if (svod_instance_create(plans[id % 4].get(), &chosen, &instance, nullptr) != 0) return void(wrong++);
      const InstanceHandle owned(instance);
      const uint64_t shape = kWords;
      for (uint32_t run = 0; run < 8; run++) {
        std::vector<uint32_t> output(kWords, 0);
        int code = svod_bind_input(instance, 0, nullptr, &shape, 1, graphs[id % 4].input.data(), nullptr);
        code += svod_bind_output(instance, 0, output.data(), kWords * 4, nullptr);
        code += run % 2 == 0 ? svod_execute(instance, nullptr, nullptr)
                             : svod_submit(instance, nullptr, nullptr) + svod_wait(instance, nullptr);
        if (code != 0 || output != graphs[id % 4].expected) wrong++;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(mock.report() == "");
}

TEST_CASE("a profile has the times of the device") {
  const MockCuda mock;
  mock.configure("");
  TempFolder folder;
  PlanBuilder b = loopPlan();
  writeCuda(b, folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  {
    const MockOptions chosen;
    svod_instance_options options = chosen;
    options.profile = 1, options.trace_events = 100;
    const InstanceHandle instance = makeInstance(plan, options);
    checkLoop(instance, 3);
    std::map<std::string, uint64_t> calls;
    svod_profile_record record = {};
    for (size_t i = 0; svod_profile_get(instance.get(), i, &record) == 0; i++) {
      calls[record.name] += record.calls;
      CHECK(record.wall_ns > 0);
      CHECK(record.wall_ns % 250'000 < 2000);  // the clock of the mock
    }
    CHECK(calls["k_double"] == 4);
    CHECK(calls["k_add"] == 1);
    CHECK(svod_trace_count(instance.get()) > 8);
  }
  CHECK(mock.report() == "");
}
