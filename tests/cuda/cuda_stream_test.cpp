// Runs in streams of the caller: nobody waits on the host, and nothing is used before it is there. The driver of the
// tests does work as late as it can, and writes down what two streams do to the same memory at once.
#include "cuda/mock_plans.h"
#include "runtime-cuda/driver_types.h"

using namespace svod;

namespace {

/// y = 2 * 2x + k.
void writeStreamPlan(const std::string& path, bool hasHostStep = false) {
  PlanBuilder b;
  b.plan.devices.push_back({"gpu", DeviceKind::Cpu, 0});
  const Expr n = Expr::variable(b.variable("n", 0, 8)), k = Expr::variable(b.variable("k", 0, 100));
  const BufferId x = b.input("x", 8, n), y = b.output("y", 8, n);
  const BufferId h = hasHostStep ? b.arena("h", 8) : x;
  if (hasHostStep) b.launch("k_double", {x, h}, {R, W}, {n});
  b.device = 1;
  const BufferId in = b.arena("in", 8), out = b.arena("out", 8);
  b.step(Copy{in, h, n * 4});
  b.launch("k_double", {in, out}, {R, W}, {n});
  b.launch("k_add_value", {out}, {RW}, {n, k});
  b.step(Copy{y, out, n * 4});
  addHazardEdges(b.plan, StorageView::Placed);
  toCuda(b.plan);
  writeCuda(b, path);
}

/// Another library on the device: a context, streams and memory of its own.
class Caller {
 public:
  explicit Caller(const MockCuda& mock, int device = 0) : mock_(mock), device_(device) {
    CHECK(find<unsigned>("cuInit")(0) == 0);
    cuda::Context context = nullptr;
    CHECK(find<cuda::Context*, int>("cuDevicePrimaryCtxRetain")(&context, device) == 0);
    CHECK(find<cuda::Context>("cuCtxPushCurrent_v2")(context) == 0);
  }
  ~Caller() {
    for (const cuda::Address address : memory_) CHECK(find<cuda::Address>("cuMemFree_v2")(address) == 0);
    for (const cuda::Stream stream : streams_) CHECK(find<cuda::Stream>("cuStreamDestroy_v2")(stream) == 0);
    cuda::Context context = nullptr;
    CHECK(find<cuda::Context*>("cuCtxPopCurrent_v2")(&context) == 0);
    CHECK(find<int>("cuDevicePrimaryCtxRelease_v2")(device_) == 0);
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  cuda::Stream stream() {
    cuda::Stream made = nullptr;
    CHECK(find<cuda::Stream*, unsigned>("cuStreamCreate")(&made, cuda::kNonBlockingStream) == 0);
    return streams_.emplace_back(made);
  }
  void* take(size_t bytes) {
    cuda::Address address = 0;
    CHECK(find<cuda::Address*, size_t>("cuMemAlloc_v2")(&address, bytes) == 0);
    memory_.push_back(address);
    return reinterpret_cast<void*>(address);
  }
  // Copies that are done when the stream comes so far.
  void send(void* to, const std::vector<float>& from, cuda::Stream stream) const {
    CHECK(find<cuda::Address, const void*, size_t, cuda::Stream>("cuMemcpyHtoDAsync_v2")(
              reinterpret_cast<cuda::Address>(to), from.data(), from.size() * 4, stream) == 0);
  }
  void move(void* to, const void* from, size_t bytes, cuda::Stream stream) const {
    CHECK(find<cuda::Address, cuda::Address, size_t, cuda::Stream>("cuMemcpyDtoDAsync_v2")(
              reinterpret_cast<cuda::Address>(to), reinterpret_cast<cuda::Address>(from), bytes, stream) == 0);
  }
  std::vector<float> fetch(const void* from, size_t count, cuda::Stream stream) const {
    std::vector<float> values(count);
    CHECK(find<void*, cuda::Address, size_t, cuda::Stream>("cuMemcpyDtoHAsync_v2")(
              values.data(), reinterpret_cast<cuda::Address>(from), count * 4, stream) == 0);
    return values;
  }
  void capture(cuda::Stream stream, bool isCaptured) const {
    CHECK(find<cuda::Stream, int>("svod_mock_capture")(stream, isCaptured ? 1 : 0) == 0);
  }
  template <class... Parameters>
  cuda::Code (*find(const char* name) const)(Parameters...) {
    return mock_.find<cuda::Code (*)(Parameters...)>(name);
  }

 private:
  const MockCuda& mock_;
  int device_;
  std::vector<cuda::Stream> streams_;
  std::vector<cuda::Address> memory_;
};

constexpr uint64_t kEight[] = {8};

void bindOnDevice(const InstanceHandle& instance, const void* x, void* y, uint64_t count = 8) {
  svod_error error = {};
  CHECK(svod_bind_device_input(instance.get(), 0, 1, "f32", &count, 1, x, &error) == 0);
  CHECK(svod_bind_device_output(instance.get(), 0, 1, y, count * 4, &error) == 0);
}

void enqueue(const InstanceHandle& instance) {
  svod_error error = {};
  INFO(error.message);
  CHECK(svod_enqueue(instance.get(), nullptr, &error) == 0);
}

void setStream(const InstanceHandle& instance, void* stream) {
  svod_error error = {};
  CHECK(svod_set_stream(instance.get(), 1, stream, &error) == 0);
}

const std::vector<MockOptions>& ways() {
  static const std::vector<MockOptions> all = {MockOptions(), MockOptions({{"graphs", "off"}}),
                                               MockOptions({{"wait", "on"}})};
  return all;
}

}  // namespace

TEST_CASE("runs in a stream of the caller follow what it was given, and the host waits for nothing") {
  const MockCuda mock;
  TempFolder folder;
  writeStreamPlan(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  for (int seed = 1; seed <= 40; seed++) {
    mock.configure("seed=" + std::to_string(seed));
    for (const MockOptions& options : {ways()[0], ways()[1]}) {
      const InstanceHandle instance = makeInstance(plan, options);
      Caller caller(mock);
      const cuda::Stream own = caller.stream();
      for (cuda::Stream stream : {own, cuda::Stream(nullptr), reinterpret_cast<cuda::Stream>(2)}) {
        void *const x = caller.take(32), *const y = caller.take(32), *const z = caller.take(32);
        setStream(instance, stream);
        caller.send(x, std::vector<float>(8, 3), stream);
        CHECK(svod_set_variable(instance.get(), 1, 1, nullptr) == 0);
        bindOnDevice(instance, x, y);
        enqueue(instance);  // first, as it makes the graph
        const uint64_t waits = mock.count("cuEventSynchronize") + mock.count("cuStreamSynchronize");
        // Between runs other memory is bound and a variable changes, and none of it is seen by those under way.
        for (int64_t run = 0; run < 5; run++) {
          bindOnDevice(instance, run % 2 == 0 ? y : z, run % 2 == 0 ? z : y);
          CHECK(svod_set_variable(instance.get(), 1, run, nullptr) == 0);
          enqueue(instance);
        }
        caller.move(x, z, 32, stream);
        CHECK(mock.count("cuEventSynchronize") + mock.count("cuStreamSynchronize") == waits);
        float expected = 3;  // each run makes 2 * 2x + k of it
        for (const float k : {1.F, 0.F, 1.F, 2.F, 3.F, 4.F}) expected = expected * 4 + k;
        CHECK(caller.fetch(x, 8, stream) == std::vector<float>(8, expected));
        CHECK(svod_wait(instance.get(), nullptr) == 0);
      }
    }
    CHECK(mock.report() == "");
  }
}

TEST_CASE("another stream goes on where the one before ends, and reads and runs wait for what was enqueued") {
  const MockCuda mock;
  TempFolder folder;
  writeStreamPlan(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  for (int seed = 1; seed <= 40; seed++) {
    mock.configure("seed=" + std::to_string(seed));
    for (const MockOptions& options : ways()) {
      const InstanceHandle instance = makeInstance(plan, options);
      Caller caller(mock);
      const cuda::Stream streams[] = {caller.stream(), caller.stream(), nullptr};
      void *const x = caller.take(32), *const y = caller.take(32);
      CHECK(svod_set_variable(instance.get(), 1, 0, nullptr) == 0);
      caller.send(x, std::vector<float>(8, 1), streams[0]);
      float expected = 1;
      for (int run = 0; run < 6; run++) {
        setStream(instance, streams[run % 3]);
        bindOnDevice(instance, run % 2 == 0 ? x : y, run % 2 == 0 ? y : x);
        enqueue(instance);
        expected *= 4;
      }
      setStream(instance, SVOD_OWN_STREAM);
      std::vector<float> out(8, 0);
      svod_error error = {};
      CHECK(svod_bind_device_input(instance.get(), 0, 1, "f32", kEight, 1, x, &error) == 0);
      bindOut(instance, 0, out);
      execute(instance);
      CHECK(out == std::vector<float>(8, expected * 4));
      CHECK(svod_poll(instance.get()) == 1);
      CHECK(svod_wait(instance.get(), &error) == 0);
      CHECK(svod_wait(instance.get(), &error) == 2);
      CHECK_THAT(error.message, Catch::Contains("no submitted run"));
    }
    CHECK(mock.report() == "");
  }
}

TEST_CASE("outputs in memory of the host are there when svod_wait returns, and svod_poll tells when that is") {
  const MockCuda mock;
  TempFolder folder;
  writeStreamPlan(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  mock.configure("");
  {
    const std::vector<float> in(8, 3);
    std::vector<std::vector<float>> outs(3, std::vector<float>(8, 0));
    const InstanceHandle instance = makeInstance(plan, MockOptions());
    CHECK(svod_poll(instance.get()) == 1);
    bindIn(instance, 0, in);
    for (int64_t run = 0; run < 3; run++) {
      bindOut(instance, 0, outs[run]);
      CHECK(svod_set_variable(instance.get(), 1, run, nullptr) == 0);
      enqueue(instance);
    }
    bool wasUnderWay = false;
    for (int asked = 0; asked < 1000 && svod_poll(instance.get()) == 0; asked++) wasUnderWay = true;
    CHECK(wasUnderWay);
    CHECK(svod_wait(instance.get(), nullptr) == 0);
    CHECK(svod_poll(instance.get()) == 1);
    for (int run = 0; run < 3; run++) CHECK(outs[run] == std::vector<float>(8, static_cast<float>(12 + run)));
    // Freed with runs under way.
    enqueue(instance);
  }
  CHECK(mock.report() == "");
}

TEST_CASE("kernels use memory of the caller itself, where it is aligned, and the arena where it is not") {
  const MockCuda mock;
  TempFolder folder;
  writeStreamPlan(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  for (const MockOptions& options : ways()) {
    mock.configure("");
    {
      const InstanceHandle instance = makeInstance(plan, options);
      Caller caller(mock);
      const cuda::Stream stream = caller.stream();
      auto *const x = static_cast<float*>(caller.take(64)), *const y = static_cast<float*>(caller.take(64));
      const auto copies = [&] {
        return mock.count("cuMemcpyDtoDAsync_v2") + mock.count("cuGraphAddMemcpyNode") +
               mock.count("cuGraphExecMemcpyNodeSetParams");
      };
      setStream(instance, stream);
      caller.send(x, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, stream);
      CHECK(svod_set_variable(instance.get(), 1, 1, nullptr) == 0);
      // Sizes below the greatest, memory of the host before and after, and addresses that vectors cannot start at.
      for (const auto& [shift, count] : {std::pair(0, 8), std::pair(0, 3), std::pair(1, 3), std::pair(0, 0)}) {
        caller.send(y, std::vector<float>(12, -1), stream);
        const uint64_t before = copies();
        bindOnDevice(instance, x + shift, y + shift, static_cast<uint64_t>(count));
        enqueue(instance);
        CHECK((copies() == before) == (shift == 0));
        const std::vector<float> out = caller.fetch(y, 12, stream);
        for (int i = 0; i < 12; i++) {
          const bool isFilled = i >= shift && i < shift + count;
          CHECK(out[static_cast<size_t>(i)] == (isFilled ? static_cast<float>(4 * (i + 1) + 1) : -1));
        }
        std::vector<float> in(8, 2), host(8, 0);
        bindIn(instance, 0, in);
        bindOut(instance, 0, host);
        execute(instance);
        CHECK(host == std::vector<float>(8, 9));
      }
      // What is looked at lies in the arena.
      std::vector<float> seen(8, 0);
      const size_t index = svod_plan_find(plan.get(), SVOD_INTERMEDIATE, "in");
      bindOnDevice(instance, x, y);
      enqueue(instance);
      CHECK(svod_probe(instance.get(), index, seen.data(), 32, nullptr) == 0);
      execute(instance);
      CHECK(seen == std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
      CHECK(svod_probe(instance.get(), index, nullptr, 0, nullptr) == 0);
      execute(instance);
      CHECK(caller.fetch(y, 8, stream)[7] == 33);
      setStream(instance, SVOD_OWN_STREAM);
    }
    CHECK(mock.report() == "");
  }
}

TEST_CASE("a run that the host has a part in is waited for") {
  const MockCuda mock;
  mock.configure("");
  TempFolder folder;
  writeStreamPlan(folder / "p", true);
  const PlanHandle plan = loadPlan(folder / "p");
  {
    const InstanceHandle instance = makeInstance(plan, MockOptions());
    const std::vector<float> in(8, 3);
    std::vector<float> out(8, 0);
    bindIn(instance, 0, in);
    bindOut(instance, 0, out);
    CHECK(svod_set_variable(instance.get(), 1, 5, nullptr) == 0);
    enqueue(instance);
    CHECK(svod_poll(instance.get()) == 1);
    CHECK(out == std::vector<float>(8, 29));
    CHECK(svod_wait(instance.get(), nullptr) == 0);
  }
  CHECK(mock.report() == "");
}

TEST_CASE("streams that do not fit, or are being captured, are refused") {
  const MockCuda mock;
  mock.configure("");
  TempFolder folder;
  writeStreamPlan(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  {
    const InstanceHandle instance = makeInstance(plan, MockOptions());
    svod_error error = {};
    {
      Caller other(mock, 1);
      CHECK(svod_set_stream(instance.get(), 1, other.stream(), &error) == 1);
      CHECK_THAT(error.message, Catch::Contains("the stream is none of cuda:0"));
    }
    CHECK(svod_set_stream(instance.get(), 0, nullptr, &error) == 3);
    CHECK_THAT(error.message, Catch::Contains("what the host runs goes into no stream"));
    CHECK(svod_set_stream(instance.get(), 7, nullptr, &error) == 1);
    CHECK(svod_set_stream(nullptr, 1, nullptr, &error) == 2);
    CHECK(svod_enqueue(nullptr, nullptr, &error) == 2);
    Caller caller(mock);
    const cuda::Stream stream = caller.stream();
    setStream(instance, stream);
    const std::vector<float> in(8, 3);
    std::vector<float> out(8, 0);
    bindIn(instance, 0, in);
    bindOut(instance, 0, out);
    CHECK(svod_set_variable(instance.get(), 1, 5, nullptr) == 0);
    caller.capture(stream, true);
    CHECK(svod_enqueue(instance.get(), nullptr, &error) == 3);
    CHECK_THAT(error.message, Catch::Contains("is being captured"));
    caller.capture(stream, false);
    enqueue(instance);
    CHECK(svod_wait(instance.get(), &error) == 0);
    CHECK(out == std::vector<float>(8, 17));
    setStream(instance, SVOD_OWN_STREAM);
  }
  CHECK(mock.report() == "");
}

TEST_CASE("a kernel that goes astray in an enqueued run is told by the next function that waits") {
  const MockCuda mock;
  TempFolder folder;
  writeStreamPlan(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  for (const bool waits : {true, false}) {
    mock.configure("fault=k_double:700");
    {
      const std::vector<float> in(8, 3);
      std::vector<float> out(8, 0);
      const InstanceHandle instance = makeInstance(plan, MockOptions());
      bindIn(instance, 0, in);
      bindOut(instance, 0, out);
      CHECK(svod_set_variable(instance.get(), 1, 5, nullptr) == 0);
      svod_error error = {};
      CHECK(svod_enqueue(instance.get(), nullptr, &error) == 0);
      CHECK((waits ? svod_wait(instance.get(), &error) : svod_execute(instance.get(), nullptr, &error)) == 6);
      CHECK(std::string(error.code) == "device-lost");
      CHECK_THAT(error.message, Catch::Contains("CUDA_ERROR_ILLEGAL_ADDRESS"));
      CHECK(svod_enqueue(instance.get(), nullptr, &error) == 6);
    }
    CHECK(mock.report() == "");
  }
}

TEST_CASE("every call that fails in a run of a stream is an error that says so, and the next run works") {
  const MockCuda mock;
  TempFolder folder;
  writeStreamPlan(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  for (const MockOptions& options : {ways()[0], ways()[1]}) {
    uint64_t failures = 0;
    for (uint64_t at = 1; at <= 60; at++) {
      mock.configure("");
      {
        const std::vector<float> in(8, 3);
        std::vector<float> out(8, 0);
        const InstanceHandle instance = makeInstance(plan, options);
        Caller caller(mock);
        const cuda::Stream stream = caller.stream();
        bindIn(instance, 0, in);
        bindOut(instance, 0, out);
        CHECK(svod_set_variable(instance.get(), 1, 5, nullptr) == 0);
        svod_error error = {};
        mock.configure("fail=" + std::to_string(at) + ":999");
        int code = svod_set_stream(instance.get(), 1, stream, &error);
        if (code == 0) code = svod_enqueue(instance.get(), nullptr, &error);
        if (code == 0) code = svod_wait(instance.get(), &error);
        failures += code != 0;
        mock.configure("");
        if (code != 0) {
          CHECK(code == 6);
          CHECK(std::string(error.message).size() > 20);
        }
        setStream(instance, stream);
        enqueue(instance);
        (void)svod_wait(instance.get(), nullptr);
        enqueue(instance);
        CHECK(svod_wait(instance.get(), nullptr) == 0);
        CHECK(out == std::vector<float>(8, 17));
        setStream(instance, SVOD_OWN_STREAM);
      }
      INFO("call " << at);
      CHECK(mock.report() == "");
    }
    CHECK(failures > 10);
  }
}

TEST_CASE("the driver of the tests finds two streams that use the same memory without waiting") {
  const MockCuda mock;
  mock.configure("");
  for (const bool waits : {true, false}) {
    {
      Caller caller(mock);
      const cuda::Stream first = caller.stream(), second = caller.stream();
      void *const x = caller.take(32), *const y = caller.take(32);
      caller.send(x, std::vector<float>(8, 1), first);
      cuda::Event event = nullptr;
      CHECK(caller.find<cuda::Event*, unsigned>("cuEventCreate")(&event, cuda::kEventWithoutTime) == 0);
      CHECK(caller.find<cuda::Event, cuda::Stream>("cuEventRecord")(event, first) == 0);
      if (waits) CHECK(caller.find<cuda::Stream, cuda::Event, unsigned>("cuStreamWaitEvent")(second, event, 0) == 0);
      caller.move(y, x, 32, second);
      for (const cuda::Stream stream : {first, second})
        CHECK(caller.find<cuda::Stream>("cuStreamSynchronize")(stream) == 0);
      CHECK(caller.find<cuda::Event>("cuEventDestroy_v2")(event) == 0);
    }
    const std::string report = mock.report();
    CHECK(report.empty() == waits);
    if (!waits) CHECK_THAT(report, Catch::Contains("neither waits for the other"));
  }
}
