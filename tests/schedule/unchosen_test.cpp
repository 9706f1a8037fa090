// What one side of a choice needs is left out where a run takes the other side.
#include "schedule/unchosen.h"

#include <catch2/catch.hpp>
#include <random>

#include "common/model_text.h"
#include "schedule/checked.h"
#include "schedule/sides.h"

using namespace svod;

namespace {

const std::string kInputs =
    "input c: i64\ninput d: bool\ninput x: f32[48, 48]\nweight u: f32[48, 48] = 2\nweight v: f32[48, 48] = 3\n";

/// The schedule computes what the graph means, whatever `c` and `d` are.
Schedule scheduled(const std::string& text) {
  Model model = modelOf(kInputs + text);
  Schedule schedule = checked(model);
  for (int64_t c = 0; c < 4; ++c) {
    ModelBindings bindings = patterns(model);
    for (size_t i = 0; i < model.ports.size(); ++i) {
      if (model.ports[i].name == "c") bindings.ports[i].set(0, Scalar::ofInt(DType::I64, c));
      if (model.ports[i].name == "d") bindings.ports[i].set(0, Scalar::ofInt(DType::Bool, c % 2));
    }
    const auto expected = interpret(model, bindings);
    auto actual = interpretSchedule(model, schedule, bindings, {});
    REQUIRE(expected);
    REQUIRE(actual);
    INFO("c = " << c << "\n" << text << toText(schedule));
    for (size_t i = 0; i < model.ports.size(); ++i) {
      if (model.ports[i].kind != PortKind::Output) continue;
      (*actual)[i].dims = (*expected)[i].dims;
      CHECK(sameValues((*expected)[i], (*actual)[i], true));
    }
  }
  return schedule;
}

/// "1 2": how many items stand in each loop under a condition.
std::string conditionsOf(const Schedule& schedule) {
  std::string all;
  for (const ScheduleItem& item : schedule.items)
    if (item.kind == ItemKind::Loop && schedule.loops[static_cast<size_t>(item.kernel)].condition >= 0)
      all += (all.empty() ? "" : " ") + std::to_string(item.length);
  return all;
}

std::string skipped(const std::string& text) { return conditionsOf(scheduled(text)); }

}  // namespace

TEST_CASE("products that one side needs wait for the choice") {
  Model free = modelOf(kInputs + "var n in [1, 64] ~ 64\ninput t: f32[n, 48]\noutput y = where(d, t @ u, t)\n");
  CHECK(skipped("output y = where(d, x @ u @ v, x)\n") == "2");
  CHECK(skipped("output y = where(d, x, x @ u @ v)\n") == "2");
  CHECK(skipped("output y = where(eq(c, 3), x @ u, x @ v)\n") == "1 1");
  CHECK(skipped("output y = where(eq(sum(x @ u), 3), x @ v, x)\n") == "1");
  CHECK(skipped("output y = sin(where(d, relu(x @ u), x)) * 2\n") == "1");
  CHECK(skipped("a = x @ u\noutput y = where(d, a, x)\noutput z = where(d, a * 2, x)\n") == "1");
  CHECK(conditionsOf(makeSchedule(free, {}).value()) == "1");
}

TEST_CASE("what every run needs, and what costs little, runs always") {
  CHECK(skipped("a = x @ u\noutput y = where(d, a, x)\noutput a\n").empty());
  CHECK(skipped("a = x @ u\noutput y = where(d, a, x) + a\n").empty());
  CHECK(skipped("a = x @ u\noutput y = where(d, a, x)\noutput z = where(d, x, a)\n").empty());
  CHECK(skipped("a = x @ u\noutput y = where(d, a, x)\noutput z = where(eq(c, 1), a, x)\n").empty());
  CHECK(skipped("output y = where(d, sum(x, axes=0), 1)\n").empty());
  CHECK(skipped("output y = where(lt(x, 1), x @ u, x)\n").empty());  // an element of each
}

TEST_CASE("places of elements are known on both sides") {
  const std::string places = "p = cast(relu(min(x @ u, 9)), dtype=i32)\n";
  CHECK(
      skipped(places +
              "output y = where(d, gather(x, reshape(slice(p, starts=[0, 0], ends=[1, 48]), shape=[48]), axis=0), x)\n")
          .empty());
}

TEST_CASE("a choice within a side is one of that side") {
  CHECK(skipped("output y = where(d, where(eq(c, 1), x @ u, x @ v), x)\n") == "2");
  CHECK(skipped("a = where(eq(c, 1), x @ u, x @ v)\noutput y = where(d, a @ v, x)\n") == "3");
}

TEST_CASE("loops on one side are skipped with their bodies") {
  CHECK(
      skipped("temp s: f32[48, 48] = 0\nloop t < 3 {\n  assign s = (s + x) @ u\n}\noutput y = where(d, s @ v, x)\n") !=
      "");
}

TEST_CASE("what is stored stays in order with what reads it") {
  const std::string state = "state s: f32[48, 48] = 1\n";
  CHECK(skipped(state + "a = s @ u\nassign s = x * 2\noutput y = where(d, a, x) + s\n") == "1");
  CHECK(skipped(state + "assign s = x * 2\noutput y = where(d, s @ u, x)\n") == "1");
  CHECK(skipped(state + "assign s = where(d, s @ u, x)\noutput y = s + 1\n") == "1");
}

TEST_CASE("random choices compute what the graph means") {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return random() % n; };
    std::string text;
    std::vector<std::string> values{"x"};
    const auto any = [&] { return values[below(static_cast<uint32_t>(values.size()))]; };
    for (int i = 0; i < 9; ++i) {
      const std::string name = "v" + std::to_string(i);
      const std::string condition = below(2) == 0 ? "d" : "eq(c, " + std::to_string(below(3)) + ")";
      std::string value = "where(" + condition + ", " + any() + ", " + any() + ")";
      if (below(2) == 0) value = "max(min(" + any() + (below(2) == 0 ? " @ u" : " @ v") + ", 4), -4)";
      text += name + " = " + value + "\n";
      values.push_back(name);
    }
    text += "output " + values.back() + "\n";
    if (below(3) == 0) text += "output w = " + any() + " + 1\n";
    INFO("seed " << seed);
    scheduled(text);
  }
}
