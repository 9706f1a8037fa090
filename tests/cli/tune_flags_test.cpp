#include <catch2/catch.hpp>

#include "tools/svodc/command_line.h"
#include "tools/svodc/tune_graphs.h"

using namespace svod;

namespace {

Request tuneRequest(const std::vector<std::string>& flags) {
  std::vector<std::string> words = {"tune", "model.svod"};
  words.insert(words.end(), flags.begin(), flags.end());
  return parseCommandLine(words, {}).value();
}

}  // namespace

TEST_CASE("What a search and its measurements are told by flags") {
  const Flags usual = tuneRequest({}).flags;
  CHECK((tuneOptions(usual).measure.compile.seconds == 10 && !tuneOptions(usual).measure.run.wholeGrids));
  CHECK((tuneOptions(usual).measure.compile.variablesAt == kLikely && !tuneOptions(usual).search.timesSameCode));
  CHECK(tuneOptions(usual).search.leastGain == Approx(0.01));
  const Flags other = tuneRequest({"--compile-seconds", "7", "--whole-grids", "--least-gain", "5", "--same-code=time",
                                   "--variables-at", "10", "--most-of-least", "2", "--stop-above", "4"})
                          .flags;
  const MeasureOptions how = tuneOptions(other).measure;
  CHECK((how.compile.seconds == 7 && how.run.wholeGrids && how.compile.variablesAt == 10));
  const SearchOptions search = tuneOptions(other).search;
  CHECK((search.leastGain == Approx(0.05) && search.timesSameCode && search.mostOfLeast == 2 && search.stopAbove == 4));
}
