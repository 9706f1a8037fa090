// Loops and branches of graph files as plans, against the interpreter.
#include <catch2/catch.hpp>

#include "e2e/graph_text.h"

using namespace svod;

namespace {

// Inputs have constant shapes in these graphs, so any n fits the bindings.
const char* const kGraphs[] = {
    // A recurrence that keeps its rows and a state.
    R"(var n in [0, 6]
input x: f32[6, 3]
input u: f32[3, 3]
state total: f32[3]
temp h: f32[3] = 0
temp rows: f32[6, 3] = 0
loop i < n {
  next = tanh(reshape(slice(x, starts=[i], ends=[i + 1]), shape=[3]) + matmul(h, u))
  assign h = next
  assign slice(rows, starts=[i], ends=[i + 1]) = reshape(next, shape=[1, 3])
  assign total = total + h * cast(i, dtype=f32)
}
output h
output rows
output total
)",
    // Bodies inside each other; the inner count is the outer counter.
    R"(var n in [0, 6]
input x: f32[4]
temp a = x
loop i < n {
  temp b = a
  loop j < i {
    assign b = b * 0.5 + cast(i - j, dtype=f32)
  }
  loop j < 2 {
    assign slice(b, starts=[j], ends=[j + 2]) = slice(b, starts=[j + 1], ends=[j + 3])
  }
  assign a = a + b
}
output a
)",
    // What was there before the loop is read inside of it; values that do not change; copies.
    R"(var n in [0, 6]
input x: f32[4, 4]
state s: f32[4]
before = s * 2 + sum(x, axes=0)
same = softmax(x)
temp kept = s
loop i < n {
  assign s = s + before + reshape(slice(same, starts=[1], ends=[2]), shape=[4])
  assign kept = s
}
output y = kept - s
output z = before
)",
    // A condition over carried values and a branch with two ways.
    R"(var n in [0, 6]
input x: f32[8, 4]
state seen: f32[4]
temp acc: f32[4] = 0
temp steps: i32 = 0
loop i < n + 2 while any(lt(acc, 15)) {
  row = reshape(slice(x, starts=[i], ends=[i + 1]), shape=[4])
  if gt(sum(row), 0) {
    assign acc = acc + abs(row)
  } else {
    assign acc = acc + 5
    assign seen = row
  }
  assign steps = steps + 1
}
output acc
output steps
)",
    // A large body next to independent work.
    R"(input x: f32[64, 64]
temp a = x
loop i < 5 {
  assign a = matmul(a, x) * 0.01 + a
}
temp b = x
loop i < 5 {
  assign b = b + transpose(b) * 0.1
}
output a
output b
output c = sum(x, axes=0)
)",
};

}  // namespace

TEST_CASE("loops in plans equal the interpreter") {
  for (const char* text : kGraphs)
    for (int64_t n : {0, 1, 6}) {
      INFO(text << "\nn = " << n);
      Model model = modelOf(text);
      if (model.variables.empty() && n != 6) continue;
      ModelBindings bindings = bindingsOf(model, n);
      auto expected = interpret(model, bindings);
      if (!expected) FAIL(toText(expected.error()));
      std::vector<ExecuteOptions> runs(4);
      for (size_t i = 0; i < runs.size(); ++i) runs[i].threads = i + 1, runs[i].orderSeed = i;
      for (MemoryMode memory : {MemoryMode::Arena, MemoryMode::Remap, MemoryMode::Off}) {
        RunOptions options;
        options.memory = memory, options.optLevel = memory == MemoryMode::Remap ? 0 : 1;
        auto actual = runPlan(model, bindings, options, runs);
        if (!actual) FAIL(toText(actual.error()));
        for (const std::vector<HostTensor>& ports : *actual) checkEqual(model, *expected, ports);
      }
    }
}

TEST_CASE("unrolled loops give the same values") {
  const std::string text = R"(input x: f32[4, 3]
temp h: f32[3] = 1
temp out: f32[4, 3] = 0
loop i < 4, unroll=true {
  temp t: f32[3] = 0
  loop j < i {
    assign t = t + h * cast(j + 1, dtype=f32)
  }
  loop j < 2, unroll=true {
    assign h = h * 0.5 + t + reshape(slice(x, starts=[i], ends=[i + 1]), shape=[3])
  }
  assign slice(out, starts=[i], ends=[i + 1]) = reshape(h, shape=[1, 3])
}
output h
output out
)";
  Model model = modelOf(text);
  ModelBindings bindings = bindingsOf(model, 0);
  auto expected = interpret(model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  auto actual = runPlan(model, bindings, RunOptions{});
  if (!actual) FAIL(toText(actual.error()));
  checkEqual(model, *expected, *actual);
  auto schedule = makeSchedule(model, {});
  REQUIRE(schedule);
  CHECK(schedule->loops.size() == 4);  // the first inner loop of every iteration
}

TEST_CASE("loops without iterations leave what was there, unrolled or not") {
  const std::string text = R"(input x: f32[6]
state s: f32[6] = 7
temp a: f32[6] = 3
assign s = s + 1
loop i < 2, unroll=true {
  assign a = a + 2
  loop j < 0UNROLL {
    if gt(sum(x), 0) {
      assign s = x
      assign slice(a, starts=[j], ends=[j + 1]) = slice(x, starts=[0], ends=[1])
    }
    loop k < 3UNROLL {
      assign a = a + x
    }
  }
  assign s = s + a
}
loop i < 0UNROLL {
  assign a = x
}
output s
output a
)";
  for (const std::string unroll : {"", ", unroll=true"}) {
    std::string own = text;
    for (size_t at; (at = own.find("UNROLL")) != std::string::npos;) own.replace(at, 6, unroll);
    INFO(own);
    Model model = modelOf(own);
    ModelBindings bindings = bindingsOf(model, 0);
    auto actual = runPlan(model, bindings, RunOptions{});
    if (!actual) FAIL(toText(actual.error()));
    auto expected = interpret(model, bindings);
    if (!expected) FAIL(toText(expected.error()));
    checkEqual(model, *expected, *actual);
  }
}

// What the outer body leaves in t and u may be what the statements before it left.
TEST_CASE("an unrolled loop without iterations in a body leaves what was there") {
  const std::string inner = "  loop i < 0, unroll=true {\n    assign t = t + 1\n    assign u = t\n  }\n";
  const std::string bodies[] = {inner, inner + inner, "  assign u = u + t\n" + inner,
                                inner + "  assign t = t * 2\n" + inner + "  assign u = u + t\n",
                                "  temp v = t\n" + inner + "  loop k < 2 {\n" + inner + "    assign v = v + u\n" +
                                    inner + "  }\n  assign t = v\n" + inner};
  for (const std::string head :
       {"loop j < 2 {\n", "loop j < 2, unroll=true {\n", "if any(t > 2) {\n", "loop j < 0 {\n", "loop j < n {\n"})
    for (const std::string& body : bodies)
      for (int64_t n : {0, 3})
        checkBetweenGuards(
            "var n in [0, 3]\ninput z: i8[n]\ntemp t: i32[3] = 3\ntemp u: i32[3] = 5\nstate s: i32[3] = 7\n" + head +
                body + "}\nassign s = s + t\noutput t\noutput u\noutput r = s * u\n",
            n);
}

TEST_CASE("a loop over the rows of a tensor without rows does nothing") {
  for (const char* count : {"0", "n", "n // 4"})
    for (int64_t n : {0, 3})
      for (const char* rows : {"0", "n // 4"})
        checkBetweenGuards("var n in [0, 3]\ninput x: f32[" + std::string(rows) +
                               ", 3]\ntemp h: f32[3] = 1\ntemp all: f32[" + rows + ", 3] = 5\nloop i < " + count +
                               " {\n  assign h = h + reshape(slice(x, starts=[i], ends=[i + 1]), shape=[3])\n"
                               "  assign slice(all, starts=[i], ends=[i + 1]) = reshape(h, shape=[1, 3])\n}\n"
                               "output h\noutput all\n",
                           n);
}

TEST_CASE("a long loop stays one step, and states survive runs") {
  Model model = modelOf(R"(state s: i64
loop i < 1000 {
  assign s = s + i
}
output s
)");
  auto schedule = makeSchedule(model, {});
  REQUIRE(schedule);
  CHECK(schedule->items.size() <= 3);
  RunOptions twice;
  twice.execute.runs = 2;
  auto actual = runPlan(model, ModelBindings{}, twice);
  if (!actual) FAIL(toText(actual.error()));
  CHECK((*actual)[0].at(0).asInt() == 999000);
}

TEST_CASE("counters cannot be set") {
  Result<GraphFile> file = parseGraph("svod 1\nstate s: i64\nloop i < 3 {\n  assign s = s + i\n}\n", "l.svod");
  REQUIRE(file);
  LoadOptions options;
  options.variables.push_back(*parseVariableOption("i=1"));
  Result<Model> model = buildModel(*file, options);
  REQUIRE_FALSE(model);
  CHECK(model.error()->message.find("counter of a loop") != std::string::npos);
}
