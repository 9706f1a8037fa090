// Tuning as a library: graphs, a log and a time, without a command line.
#include "tune/tune.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "common/model_text.h"
#include "common/temp_folder.h"
#include "toolchain/linker.h"
#include "tune/report.h"

using namespace svod;

namespace {

constexpr const char* kGraph = "input x: f32[48, 40]\ninput y: f32[40, 56]\noutput z = relu(matmul(x, y))\n";

/// A graph of the text `kGraph`, the folder of its code, and its log.
struct Tuning {
  TempFolder folder;
  Linker linker{folder / ""};
  std::deque<TuneGraph> graphs;
  TuningLog log;
  std::vector<std::string> events;

  Tuning() {
    CompileOptions options;
    options.name = "product", options.linker = &linker;
    options.machine = makeCpuTarget("", "native").value();
    TuneGraph graph{"product.svod", "product", [] { return Result<Model>(modelOf(kGraph)); }, {options, {}, nullptr}};
    graphs.push_back(std::move(graph));
    BuiltGraph& usual = graphs.front().usual;
    usual.model = modelOf(kGraph);
    auto compiled = compile(usual.model, usual.options);
    if (!compiled) FAIL(toText(compiled.error()));
    usual.compilation = std::move(*compiled);
  }

  TuneResult run(double seconds, bool wantsOpts = true) {
    auto appender = LogAppender::open(folder / "log");
    REQUIRE(appender);
    TuneTask task;
    task.seconds = seconds, task.folder = folder / "", task.wantsOpts = wantsOpts, task.wantsDecisions = false;
    auto result = tune(graphs, log, *appender, task, [&](const TuneProgress& progress, std::string_view event) {
      events.emplace_back(event);
      CHECK(progress.json(event).starts_with("{\"progress\""));
    });
    if (!result) FAIL(toText(result.error()));
    return std::move(*result);
  }
};

}  // namespace

TEST_CASE("Tuning adds to its log and to the file the same, tells of every part, and a second one knows the first") {
  Tuning tuning;
  TuneResult first = tuning.run(1.5);
  for (double seconds = 5; first.kernels.at(0).result.measured == 0 && seconds < 60; seconds *= 2)  // a busy machine
    first = tuning.run(seconds);
  REQUIRE(first.kernels.size() == 1);
  CHECK((first.kernels[0].problem.empty() && first.kernels[0].turns > 0 && first.kernels[0].result.measured > 0));
  REQUIRE(first.checks.size() == 1);
  CHECK(first.checks[0].problem.empty());
  const std::set<std::string> events(tuning.events.begin(), tuning.events.end());
  for (const char* event : {"begin", "turn", "done", "checks", "end"}) CHECK(events.contains(event));
  CHECK((tuning.events.front() == "begin" && tuning.events.back() == "end"));

  UnreadLines unread;
  const auto file = readTuningLog(tuning.folder / "log", unread);
  REQUIRE(file);
  CHECK(unread.malformed.empty());
  const auto ended = [](const TuningLog& log) {
    std::set<std::string> texts;
    for (const CandidateRecord& r : log.candidates)
      if (r.outcome != Outcome::Started) texts.insert(r.opts);
    return texts;
  };
  CHECK(ended(*file) == ended(tuning.log));
  CHECK((file->graphs == tuning.log.graphs && file->kernels == tuning.log.kernels));

  const TuneResult second = tuning.run(1);
  CHECK(second.kernels[0].result.known >= first.kernels[0].result.measured);
  CHECK(describe(second, "log").sections.size() == 2);
}

TEST_CASE("Without a search the winners of a log are timed inside the plan, and what loses there is no winner") {
  Tuning tuning;
  const std::deque<TuneGraph>& graphs = tuning.graphs;
  const TuneKernel kernel = kernelsToTune(graphs).at(0);
  const TunePlace place = placeOf(graphs.front(), {});
  Candidate slow{{}, "", "a test", 0};  // no opts at all
  tuning.log.candidates.push_back(recordOf(slow, {Outcome::Wins, "", 1000, 0.01, 0.5, 10, {}}, kernel.hash, place));
  const TuneResult result = tuning.run(4, false);
  CHECK(result.kernels.empty());
  REQUIRE(result.checks.size() == 1);
  CHECK((result.checks[0].problem.empty() && result.checks[0].dropped == 1));
  CHECK(tuning.log.candidates.back().outcome == Outcome::Loses);
}
