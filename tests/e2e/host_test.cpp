// Host functions of graph files: compiled, called through svod/runtime.h, compared with the interpreter.
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <map>

#include "common/random_graph.h"
#include "e2e/graph_text.h"
#include "e2e/harness.h"

using namespace svod;

namespace {

/// result[e] = e + the sum of (k + 1) * (element e, wrapped) over the inputs k: every element, value and position
/// shows.
Result<HostTensor> blend(std::span<const HostTensor> inputs, DType dtype, std::span<const int64_t> dims) {
  HostTensor out = HostTensor::zeros(dtype, {dims.begin(), dims.end()});
  for (int64_t e = 0; e < out.numel(); ++e) {
    double sum = static_cast<double>(e);
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k].numel() == 0) continue;
      const Scalar x = inputs[k].at(e % inputs[k].numel());
      sum += static_cast<double>(k + 1) * (isFloat(x.dtype()) ? x.asFloat() : static_cast<double>(x.asInt()));
    }
    out.set(e, Scalar::of(dtype, sum));
  }
  return out;
}

void check(const std::string& text, std::initializer_list<int64_t> sizes) {
  for (int64_t n : sizes) {
    INFO(text << "\nn = " << n);
    Model model = modelOf(text);
    ModelBindings bindings = bindingsOf(model, n);
    bindings.functions["blend"] = blend;
    auto expected = interpret(model, bindings);
    if (!expected) FAIL(toText(expected.error()));
    std::vector<ExecuteOptions> runs(3);
    for (size_t i = 0; i < runs.size(); ++i) runs[i].threads = i + 1, runs[i].orderSeed = i;
    for (const char* target : testTargets()) {
      RunOptions options;
      options.target = target, options.optLevel = target[1] == 'p' ? 1 : 0;
      auto actual = runPlan(model, bindings, options, runs);
      if (!actual) FAIL(toText(actual.error()));
      for (const std::vector<HostTensor>& ports : *actual) checkEqual(model, *expected, ports);
    }
  }
}

}  // namespace

TEST_CASE("host functions get dense tensors, and sizes as numbers") {
  check(R"(var n in [1, 6]
input x: f32[n, 4]
h = x * 2
a = custom(h, cast(x, dtype=i32), function=blend, shape=[3, n], values=[n, 2 * n + 1, -7])
output y = transpose(a) + 1
output z = custom(a, x, function=blend, shape=[n], dtype=i64)
)",
        {1, 4, 6});
}

TEST_CASE("host functions read storage with gaps, and nothing") {
  check(R"(var n in [1, 6]
input x: f32[4, n]
input e: f32[0, 3]
state s: f32[4, n]
output old = custom(s, function=blend, shape=[4, n], values=[n])
assign s = x * 3
temp t = x + 1
output new = custom(s, t, e, function=blend, shape=[2, n])
output only = custom(function=blend, shape=[], dtype=i32, values=[n])
)",
        {1, 5, 6});
}

TEST_CASE("host functions get contiguous parts where they lie") {
  const std::string text = R"(var n in [1, 6]
input x: f32[8, 4]
input m: f32[n, 4]
state s: f32[6, 4]
h = custom(x, function=blend, shape=[6, 4])
a = custom(x[2:5], h[1], m, function=blend, shape=[3, n])
b = custom(reshape(h[3:], shape=[12]), s[1:3], function=blend, shape=[4])
output y = a + 1
output z = b
output before = custom(s[4:], function=blend, shape=[4])
assign s = s + 1
)";
  check(text, {1, 6});
  Model model = modelOf(text);
  auto compilation = compile(model, compileOptions({}));
  if (!compilation) FAIL(toText(compilation.error()));
  const Plan& plan = (*compilation)->plan;
  std::map<std::string, std::vector<uint64_t>> views;  // offsets by name of the base
  for (const BufferDesc& buffer : plan.buffers)
    if (buffer.place == Place::View) views[plan.buffers[buffer.base].name].push_back(buffer.offset);
  CHECK(views == std::map<std::string, std::vector<uint64_t>>{{"h", {16, 48}}, {"x", {32}}});
}

TEST_CASE("host functions are called in every iteration, with the counters") {
  check(R"(var n in [1, 6]
input x: f32[4]
state total: f32[4]
temp acc = x
loop i < n {
  loop j < i {
    assign acc = custom(acc, total, function=blend, shape=[4], values=[i, n - j]) * 0.125
  }
  assign total = total + acc
}
once = custom(x, function=blend, shape=[4])
temp kept: f32[4] = 0
loop k < 3 {
  assign kept = kept + once
}
output acc
output kept
)",
        {1, 3, 6});
}

TEST_CASE("a loop calls a function as often as it runs, and what stays the same once") {
  Model model = modelOf(R"(input x: f32[4]
temp acc = x
loop i < 5 {
  assign acc = acc + custom(acc, function=often, shape=[4], values=[i]) + custom(x, function=once, shape=[4], pure=true)
}
output acc
)");
  auto compilation = compile(model, compileOptions({}));
  if (!compilation) FAIL(toText(compilation.error()));
  const Plan& plan = (*compilation)->plan;
  const Loop* loop = nullptr;
  std::vector<std::string> inside, outside;
  size_t end = 0;
  for (StepId i = 0; i < plan.steps.size(); ++i) {
    if (const auto* l = std::get_if<Loop>(&plan.steps[i].action)) loop = l, end = i + 1 + l->length;
    if (const auto* call = std::get_if<HostCall>(&plan.steps[i].action))
      (i < end ? inside : outside).push_back(call->function);
  }
  REQUIRE(loop != nullptr);
  CHECK(inside == std::vector<std::string>{"often"});
  CHECK(outside == std::vector<std::string>{"once"});
}

TEST_CASE("what a call gives lies where its function writes it") {
  Model model = modelOf(R"(input x: f32[4]
_ = custom(x, function=log, shape=[4])
a = custom(x, function=blend, shape=[4])
loop i < 3 {
  _ = custom(a, function=log, shape=[2], values=[i])
}
output y = a + 1
)");
  auto compilation = compile(model, compileOptions({}));
  if (!compilation) FAIL(toText(compilation.error()));
  const auto isCopy = [](const Step& step) { return std::holds_alternative<Copy>(step.action); };
  CHECK(std::ranges::none_of((*compilation)->plan.steps, isCopy));
  CHECK((*compilation)->plan.kernels.size() == 1);
}

namespace {

/// What functions were called with, also in the processes that run plans.
class CallLog {
 public:
  CallLog() {
    void* shared = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    memory_ = static_cast<int64_t*>(shared);
  }
  ~CallLog() { ::munmap(memory_, kBytes); }
  CallLog(const CallLog&) = delete;
  void add(int64_t number) { memory_[++memory_[0]] = number; }
  std::vector<int64_t> take() {
    std::vector<int64_t> all(memory_ + 1, memory_ + 1 + memory_[0]);
    memory_[0] = 0;
    return all;
  }

 private:
  static constexpr size_t kBytes = 4096;
  int64_t* memory_ = nullptr;  // how many, then these
};

}  // namespace

TEST_CASE("calls are made as often as they are written, in the order of the file, also where nothing reads them") {
  Model model = modelOf(R"(input x: f32[4]
_ = custom(x, function=log, shape=[1], values=[1])
a = custom(x, function=log, shape=[1], values=[2])
b = custom(x, function=log, shape=[1], values=[2])
loop i < 3 {
  _ = custom(function=log, shape=[i + 1], values=[10 + i])
  if gt(i, 0) {
    _ = custom(x, function=log, shape=[0], values=[20])
  } else {
    _ = custom(x, function=log, shape=[2], values=[30])
  }
  _ = custom(x * 2, function=log, shape=[1], values=[40 + i])
}
loop j < 2, unroll=true {
  _ = custom(function=log, shape=[1], values=[50 + j])
  _ = custom(function=log, shape=[1], values=[60])
}
unread = custom(x, function=never, shape=[1], pure=true)
one = custom(x, function=log, shape=[1], values=[70], pure=true)
same = custom(x, function=log, shape=[1], values=[70], pure=true)
output y = x + a
output z = b + one * same
_ = custom(function=log, shape=[1], values=[80])
)");
  CallLog log;
  ModelBindings bindings = bindingsOf(model, 1);
  bindings.functions["log"] = [&](std::span<const HostTensor> inputs, DType dtype, std::span<const int64_t> dims) {
    log.add(inputs.back().at(0).asInt());
    return Result<HostTensor>(HostTensor::zeros(dtype, {dims.begin(), dims.end()}));
  };
  const std::vector<int64_t> expected{1, 2, 2, 10, 30, 40, 11, 20, 41, 12, 20, 42, 50, 60, 51, 60, 80};
  auto keptCalls = [&] {
    std::vector<int64_t> calls = log.take();
    CHECK(std::ranges::count(calls, 70) == 1);
    std::erase(calls, 70);
    return calls;
  };
  REQUIRE(interpret(model, bindings));
  CHECK(keptCalls() == expected);
  for (int optLevel : {0, 1})
    for (uint64_t seed = 0; seed < 6; ++seed) {
      RunOptions options;
      options.optLevel = optLevel;
      const std::vector<ExecuteOptions> runs{{.threads = 1 + seed % 3, .orderSeed = seed}};
      auto actual = runPlan(model, bindings, options, runs);
      if (!actual) FAIL(toText(actual.error()));
      CHECK(keptCalls() == expected);
    }
}
