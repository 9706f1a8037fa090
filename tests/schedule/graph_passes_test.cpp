// The passes over a graph as a table: what they print, where they stop, and what a schedule must keep to.
#include "schedule/graph_passes.h"

#include <catch2/catch.hpp>

#include "common/graphs.h"
#include "ir/model_text.h"
#include "schedule/checked.h"

using namespace svod;

TEST_CASE("passes over the graph are printed, with the schedule once there are kernels, and stop where they are told") {
  GraphMaker m;
  m.output("y", m.softmax(m.input("x", {3, 4}), 3, 4));
  PassLog log;
  ScheduleOptions options;
  options.passes.printAfter = {"all"};
  REQUIRE(runGraphPasses(m.model, m.model.sink, options, log));
  for (const Pass& pass : graphPasses())
    CHECK(log.text.find("; after " + std::string(pass.name) + " (graph)") != log.text.npos);
  CHECK(log.text.find("buffer b0") > log.text.find("; after make-kernels"));
  PassLog stopped;
  options.passes = {.stopAfter = "fuse"};
  auto none = runGraphPasses(m.model, m.model.sink, options, stopped);
  REQUIRE(none);
  CHECK_FALSE(none->has_value());
  CHECK(stopped.text.find("; after fuse (graph)") == 0);
}

TEST_CASE("a schedule that breaks its rules is an error that names the pass and the item") {
  const std::pair<const char*, void (*)(Schedule&)> faults[] = {
      {"reads", [](Schedule& s) { std::swap(s.items.front(), s.items.back()); }},
      {"more parameters than there are arguments",
       [](Schedule& s) { s.items[0].args.pop_back(), s.items[0].reads.pop_back(), s.items[0].writes.pop_back(); }},
      {"an argument is no buffer", [](Schedule& s) { s.items[0].args[0] = 100; }},
      {"overwrites an argument that it does not have", [](Schedule& s) { s.items[0].overwrites = 7; }},
      {"in kernel", [](Schedule& s) { s.kernels[0].sink = s.kernels[0].sink.src(0); }},
  };
  for (const auto& [words, breakIt] : faults) {
    INFO(words);
    GraphMaker m;
    UOp x = m.input("x", {64, 64});
    m.output("y", m.matmul(m.matmul(x, x, 64, 64, 64), x, 64, 64, 64));
    ScheduleOptions options;
    options.passes.verifyEach = true;
    options.passes.instrument = [&, breakIt = breakIt](const Pass& pass, UOp root, PassContext& cx) -> Result<UOp> {
      if (pass.name == "make-kernels") breakIt(*cx.data.get<GraphJob>().schedule);
      return root;
    };
    PassLog log;
    auto schedule = runGraphPasses(m.model, m.model.sink, options, log);
    REQUIRE_FALSE(schedule);
    CHECK(schedule.error()->diag == Diag::Verify);
    CHECK(toText(schedule.error()).find(words) != std::string::npos);
    CHECK(toText(schedule.error()).find("in pass make-kernels of graph") != std::string::npos);
    CHECK(log.lastGood == toText(m.model, m.model.sink));
  }
}

TEST_CASE("a schedule that breaks its rules can be printed") {
  GraphMaker m;
  UOp x = m.input("x", {64, 64});
  m.output("y", m.matmul(x, x, 64, 64, 64));
  Schedule s = std::move(*makeSchedule(m.model, {}));
  ScheduleItem& item = s.items.at(0);
  item.kernel = 5, item.overwrites = 7, item.writes.clear();
  CHECK(toText(s).find("launch ?5 b") != std::string::npos);
  CHECK(toText(s).find(" over argument 7") != std::string::npos);
}
