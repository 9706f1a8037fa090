// Devices with memory of their own: copies, and queues that run late.
#include "runtime/random_graph.h"
#include "runtime/separate.h"

using namespace svod;

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
  loopPlan("d1").write(folder / "p");
  for (size_t threads : {1u, 3u}) {
    Separate s(folder / "p", 5, threads);
    for (int64_t trips : {0, 1, 5, 2}) checkLoop(s, trips);
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
