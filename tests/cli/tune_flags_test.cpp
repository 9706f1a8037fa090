#include <catch2/catch.hpp>

#include <unistd.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "common/temp_folder.h"
#include "tools/svodc/command_line.h"
#include "tools/svodc/tune.h"

using namespace svod;

namespace {

/// The objects that `work` writes to stderr, a line each.
std::vector<nlohmann::json> eventsOf(const std::function<void()>& work) {
  TempFolder folder;
  const std::string path = folder / "events";
  const int before = ::dup(STDERR_FILENO);
  REQUIRE(std::freopen(path.c_str(), "w", stderr) != nullptr);
  work();
  std::fflush(stderr);
  REQUIRE(::dup2(before, STDERR_FILENO) == STDERR_FILENO);
  ::close(before);
  std::vector<nlohmann::json> events;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) events.push_back(nlohmann::json::parse(line));
  return events;
}

Request tuneRequest(const std::vector<std::string>& flags) {
  std::vector<std::string> words = {"tune", "model.svod"};
  words.insert(words.end(), flags.begin(), flags.end());
  return parseCommandLine(words, {}).value();
}

}  // namespace

TEST_CASE(
    "A kernel is done after its turn in a round, or once its search is over; at the end all are that had a turn") {
  CompiledKernel a, b, c, ofPlan;
  const std::vector<TuneKernel> kernels = {
      {nullptr, &a, "a", 1, 10}, {nullptr, &b, "b", 1, 5}, {nullptr, &c, "c", 1, 1}};
  const auto events = eventsOf([&] {
    Console console({.quiet = true});
    TuneProgress progress(console, ProgressForm::Json, TuneClock::now());
    progress.begin(kernels);
    progress.turn(0, 1), progress.hadTurn(0, false);
    progress.turn(1, 1), progress.hadTurn(1, true);
    progress.turn(0, 2), progress.hadTurn(0, false);
    const std::vector<TuneKernel> more = {{nullptr, &ofPlan, "p", 1, 1}};
    const size_t added = progress.add(more);
    progress.turn(added, 1), progress.hadTurn(added, true);
    progress.turn(0, 3), progress.end();
  });
  std::vector<int> done, rounds;
  for (const auto& event : events) {
    done.push_back(event["kernelsDone"]), rounds.push_back(event["round"]);
    CHECK(event["kernels"] == 3);
  }
  CHECK(done == std::vector<int>{0, 0, 1, 1, 2, 1, 2, 2, 2, 1, 2});
  CHECK(rounds == std::vector<int>{1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3});
  CHECK(events.back()["planKernels"] == 1);
}

TEST_CASE("Names are cut in the middle") {
  CHECK(shortName("features_1f8460a3", 17) == "features_1f8460a3");
  CHECK(shortName("features_1f8460a3", 10) == "feat..60a3");
  CHECK(shortName("features_1f8460a3", 1) == "..");
}

TEST_CASE("What a search and its measurements are told by flags") {
  const Flags usual = tuneRequest({}).flags;
  CHECK((measureOptions(usual).compile.seconds == 10 && !measureOptions(usual).run.wholeGrids));
  CHECK((measureOptions(usual).compile.variablesAt == 50 && !searchOptions(usual).timesSameCode));
  CHECK(searchOptions(usual).leastGain == Approx(0.01));
  const Flags other = tuneRequest({"--compile-seconds", "7", "--whole-grids", "--least-gain", "5", "--same-code=time",
                                   "--variables-at", "10", "--most-of-least", "2", "--stop-above", "4"})
                          .flags;
  const MeasureOptions how = measureOptions(other);
  CHECK((how.compile.seconds == 7 && how.run.wholeGrids && how.compile.variablesAt == 10));
  const SearchOptions search = searchOptions(other);
  CHECK((search.leastGain == Approx(0.05) && search.timesSameCode && search.mostOfLeast == 2 && search.stopAbove == 4));
}
