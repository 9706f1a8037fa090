// Decisions about a graph follow the machine: where a number of a decision is one of the machine, it comes from there.
#include <catch2/catch.hpp>

#include "common/model_text.h"
#include "schedule/schedule.h"

using namespace svod;

namespace {

/// What was decided for the first name that begins so; empty where nothing was.
std::string decided(const std::string& text, std::string_view name, const GraphMachine& machine,
                    Numerics numerics = Numerics::Contract) {
  Model model = modelOf(text);
  auto schedule = makeSchedule(model, {numerics, machine, {}, {}});
  if (!schedule) FAIL(toText(schedule.error()));
  for (const Decision& decision : schedule->decisions)
    if (decision.name.starts_with(name)) return decision.value();
  return "";
}

GraphMachine withCache(int64_t bytes) { return {.cacheBytes = bytes, .sweepBytes = bytes}; }

}  // namespace

TEST_CASE("a row of a softmax is cut where the cache of a core does not hold it, into parts that it holds") {
  const std::string text = "input x: f32[100, 262144]\noutput y = softmax(x)\n";  // rows of 1 MiB
  CHECK(decided(text, "rescale", withCache(1 << 20)) == "1");
  CHECK(decided(text, "rescale", withCache(512 << 10)) == "64");
  CHECK(decided(text, "rescale", withCache(256 << 10)) == "64");
  CHECK(decided(text, "rescale", withCache(64 << 10)) == "1");  // parts that it holds would be too short
  const std::string narrow = "input x: f16[100, 262144]\noutput y = cast(softmax(cast(x, dtype=f32)), dtype=f16)\n";
  CHECK(decided(narrow, "rescale", withCache(512 << 10)) == "64");
}

TEST_CASE("a value is laid out for its readers where what lies together is as long as the machine writes at once") {
  const auto text = [](int width, const std::string& dtype) {
    const std::string w = std::to_string(width), all = std::to_string(4 * width);
    return "input x: " + dtype + "[64, 40]\nweight w: " + dtype + "[40, " + all + "] = 1\ny0 = matmul(x, w)\n" +
           "heads = permute(reshape(y0, shape=[64, 4, " + w + "]), order=[1, 0, 2])\n" +
           "output y = matmul(heads, permute(heads, order=[0, 2, 1]))\n";
  };
  const auto layout = [&](int width, const std::string& dtype, int64_t runBytes) {
    return decided(text(width, dtype), "layout", {.runBytes = runBytes});
  };
  CHECK(layout(16, "f32", 64) == "read");
  CHECK(layout(16, "f32", 128).empty());
  CHECK(layout(32, "f32", 128) == "read");
  CHECK(layout(16, "f64", 128) == "read");
}

TEST_CASE("convolutions take as many rows of tiles at a time as stay in the second level cache") {
  const std::string text =
      "input x: f32[1, 64, 112, 112]\nweight w: f32[64, 64, 3, 3] = 1\noutput y = conv2d(x, w, padding=1)\n";
  const auto rowsOf = [&](int64_t bytes) {
    const std::string plan = decided(text, "conv", withCache(bytes), Numerics::Fast);
    const size_t at = plan.find(".rows");
    return at == plan.npos ? 1000 : std::stoi(plan.substr(at + 5));
  };
  CHECK(rowsOf(512 << 10) < rowsOf(2 << 20));
  CHECK(rowsOf(2 << 20) <= rowsOf(64 << 20));
}

TEST_CASE("rows are held in a kernel where its own memory has room for them") {
  const std::string text =
      "input q: f32[64, 32]\ninput k: f32[4096, 32]\ninput v: f32[4096, 32]\n"
      "output y = matmul(softmax(matmul(q, permute(k, order=[1, 0]))), v)\n";
  const auto launches = [&](int64_t heldBytes) {
    Model model = modelOf(text);
    auto schedule = makeSchedule(model, {Numerics::Contract, {.heldBytes = heldBytes}, {}, {}});
    REQUIRE(schedule);
    return schedule->items.size();
  };
  CHECK(launches(4096 * 4) == 1);
  CHECK(launches(4096 * 4 - 1) > 1);
}

namespace {

constexpr GraphMachine kGpu = {
    .heldBytes = 227 << 10, .narrowProducts = true, .gpu = {67584, 3350, 29652, 308340, 256, 8}};

}  // namespace

TEST_CASE("rows of attention are held on a GPU where a second and a third kernel would take longer") {
  const auto launches = [&](int queries) {
    const std::string n = std::to_string(queries);
    Model model = modelOf("input q: f16[2, " + n + ", 64]\ninput k: f16[2, " + n + ", 64]\ninput v: f16[2, " + n +
                          ", 64]\noutput y = attention(q, k, v)\n");
    auto schedule = makeSchedule(model, {Numerics::Contract, kGpu, {}, {}});
    REQUIRE(schedule);
    return schedule->items.size();
  };
  CHECK(launches(32) > 1);  // rows so short are never held
  CHECK(launches(128) == 1);
  CHECK(launches(1024) == 3);
}

TEST_CASE("reductions go in parts on a GPU where their results leave threads without work") {
  const auto parts = [](const std::string& text) { return decided(text + "\n", "parts", kGpu); };
  CHECK(parts("input x: f32[1000003, 3]\noutput y = sum(x, axes=0)") == "1024");
  CHECK(parts("input x: f32[4096, 4096]\noutput y = sum(x, axes=0)") == "4");
  CHECK(parts("input x: f32[8, 1000000]\noutput y = sum(x, axes=1)") == "100");
  CHECK(parts("input x: f32[131072, 128]\noutput y = reduce_max(x, axes=0)") == "128");
  CHECK(parts("input p: f16[8, 1, 4096]\ninput v: f16[8, 4096, 128]\noutput y = matmul(p, v)") == "16");
  CHECK(parts("input x: f32[4099, 4097]\noutput y = reduce_max(x)") == "4099");
  CHECK(parts("input x: f32[4, 320, 64, 64]\noutput y = mean(reshape(x, shape=[4, 32, 40960]), axes=2)") == "5");
  CHECK(parts("input x: f32[4096, 4096]\noutput y = sum(x, axes=1)") == "1");
  CHECK(parts("input x: f32[1, 4096]\noutput y = sum(x, axes=1)") == "1");
  CHECK(parts("input a: f16[4096, 4096]\ninput b: f16[4096, 4096]\noutput y = matmul(a, b)") == "1");
  CHECK(decided("input x: f32[64, 32000]\noutput y = softmax(x)\n", "rescale", kGpu) == "10");
}

TEST_CASE("a sum of what is made along many ways from one tensor takes no longer to schedule on a GPU") {
  std::string text = "input x: f32[4096, 64]\na0 = x * x\n";
  for (int i = 1; i <= 48; ++i) {
    const std::string before = "a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + " = " + before + " * " + before + " - " + before + "\n";
  }
  CHECK(decided(text + "output y = sum(a48, axes=0)\n", "rescale", kGpu).empty());
}

TEST_CASE("updates that never go to one place run in any order") {
  const auto serial = [](const std::string& text) {
    Model model = modelOf(text + "\n");
    auto schedule = makeSchedule(model, {});
    REQUIRE(schedule);
    int loops = 0;
    for (const Kernel& kernel : schedule->kernels)
      for (UOp n : toposort(kernel.sink)) loops += n.op() == Op::Range && n.argAs<AxisArg>().type == AxisType::Serial;
    return loops;
  };
  const std::string rows = "input x: f32[9, 8]\ninput i: i64[5, 1]\ninput u: f32[5, 8]\n";
  CHECK(serial(rows + "output y = scatter_nd(x, i, u, mode=add)") == 1);
  CHECK(serial(rows + "output y = scatter_nd(x, i, u, mode=add, distinct=true)") == 0);
  CHECK(serial("input x: f32[6, 9]\ninput i: i64[6, 4]\ninput u: f32[6, 4]\n"
               "output y = scatter_elements(x, i, u, axis=1)") == 1);
  CHECK(serial("input x: f32[9]\ninput i: i64[4, 2]\ninput u: f32[4, 2]\noutput y = scatter_at(x, i, u)") == 2);
  CHECK(serial("input x: f32[3, 600]\na, b = sort(x)\noutput a") == 0);
}
