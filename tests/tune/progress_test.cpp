#include "tune/progress.h"

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

using namespace svod;

TEST_CASE(
    "A kernel is done after its turn in a round, or once its search is over; at the end all are that had a turn") {
  CompiledKernel a, b, c, ofPlan;
  const std::vector<TuneKernel> kernels = {
      {nullptr, &a, "a", 1, 10}, {nullptr, &b, "b", 1, 5}, {nullptr, &c, "c", 1, 1}};
  std::vector<nlohmann::json> events;
  TuneProgress progress(TuneClock::now(), [&](const TuneProgress& told, std::string_view event) {
    events.push_back(nlohmann::json::parse(told.json(event)));
    CHECK(told.text(80).starts_with(std::to_string(events.back()["kernelsDone"].get<int>()) + "/3 "));
  });
  progress.begin(kernels);
  progress.turn(0, 1), progress.hadTurn(0, false);
  progress.turn(1, 1), progress.hadTurn(1, true);
  progress.turn(0, 2), progress.hadTurn(0, false);
  const std::vector<TuneKernel> more = {{nullptr, &ofPlan, "p", 1, 1}};
  const size_t added = progress.add(more);
  progress.turn(added, 1), progress.hadTurn(added, true);
  progress.turn(0, 3), progress.end();
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
