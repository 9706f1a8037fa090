// How long candidates take, and whether one is faster than another.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <set>

#include "common/sanitizers.h"
#include "measure/loaded.h"
#include "measure/sequential_test.h"
#include "measure/timing.h"
#include "planted.h"

using namespace svod;

namespace {

std::set<std::string> linesOf(const std::string& file) {
  std::ifstream in(file);
  std::set<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

/// A statement that takes so many nanoseconds, times `more`.
std::string spin(double nanoseconds, const std::string& more = "1") {
  return "{ struct timespec from, now; clock_gettime(CLOCK_MONOTONIC, &from);\n"
         "do clock_gettime(CLOCK_MONOTONIC, &now); while ((now.tv_sec - from.tv_sec) * 1e9 + "
         "now.tv_nsec - from.tv_nsec < " +
         std::to_string(nanoseconds) + " * " + more + "); }";
}

}  // namespace

TEST_CASE("Samples are taken on copies of the data in other pages, on one where runs are long or threads share them") {
  Bench bench;
  // How many places it ran in while it was timed, and while it was compared; `often`: timed again after a first run
  // that happened to take long.
  const auto placesOf = [&](const std::string& name, Runner& runner, const std::string& more, int often) {
    const std::string list = bench.folder / (name + ".txt");
    const CandidateCode code = built(bench.folder, name,
                                     more + "static const float* last; if (x != last) { FILE* f = fopen(\"" + list +
                                         "\", \"a\"); fprintf(f, \"%p\\n\", (void*)(last = x)); fclose(f); }");
    CHECK(runner.setBaseline(built(bench.folder, name + "-usual", more)).outcome == Outcome::Timed);
    size_t timed = 0;
    for (int i = 0; i < often && timed < 5; ++i) {
      writeText(list, "");
      CHECK(runner.time(code, 0).outcome == Outcome::Timed);
      timed = linesOf(list).size();
    }
    writeText(list, "");
    CHECK_FALSE(info(runner.compare(code).outcome).isFailure);
    return std::pair(timed, linesOf(list).size());
  };
  const auto [timed, compared] = placesOf("many", bench.runner, "", 20);
  CHECK(timed == 5);                        // one for every pair
  CHECK((compared >= 3 && compared <= 8));  // one for every two, six at least
  Runner slow(bench.all, bench.limits), shared(bench.all, bench.limits, {3, false, false});
  CHECK(placesOf("slow", slow, "for (volatile int i = 0; i < 300000; ) i = i + 1;", 1).first == 1);
  CHECK(placesOf("shared", shared, "", 1) == std::pair<size_t, size_t>(1, 0));  // it stays where it was
}

TEST_CASE("A slow candidate stops early") {
  Bench bench;
  const TrialResult v =
      bench.time(built(bench.folder, "slow", "for (volatile int i = 0; i < 3000000; ) i = i + 1;"), 1e5);
  CHECK(v.outcome == Outcome::Slow);
  CHECK(v.nanoseconds > 1e5);
}

TEST_CASE("A few tiles tell that all of them would be too slow, unless whole grids are asked for") {
  Bench bench;
  CandidateCode code = built(bench.folder, "tiles", "extern int usleep(unsigned); usleep(20000 * (end - begin));");
  code.tiles = 1000;  // 20 s, and 2 s are what it may take
  const TrialResult v = bench.time(code, 1e6);
  CHECK(v.outcome == Outcome::Slow);
  CHECK(v.nanoseconds >= 2e10);
  CHECK(Runner(bench.all, bench.limits, {1, false, true}).time(code, 1e6).outcome == Outcome::Hung);
  // The first few bring the code, and say nothing where that is short; something else may take the processor meanwhile.
  bool isTimed = false;
  for (int i = 0; i < 20 && !isTimed; ++i) {
    CandidateCode small = built(bench.folder, "small" + std::to_string(i), "static int n; if (n++ == 0) " + spin(5e4));
    small.tiles = 1000000;
    isTimed = bench.time(small, 1e6).outcome == Outcome::Timed;
  }
  CHECK(isTimed);
}

TEST_CASE("Of a kernel that takes long some tiles are timed") {
  CHECK(tilesOfSample(100, 1e6) == 100);
  CHECK(tilesOfSample(100, 20e6) == 10);
  CHECK(tilesOfSample(100, 2e9) == 4);
  CHECK(tilesOfSample(2, 2e9) == 2);
  CHECK(tilesOfSample(100, 2e9, 3) == 12);
  CHECK(tilesOfSample(0, 100) == 0);
  Bench bench;
  CandidateCode code = built(bench.folder, "tiles", "for (int64_t t = begin; t < end; ++t) y[t] = 7;");
  code.tiles = 50;
  Workspace workspace(bench.all, code.args, {});
  const Loaded loaded(code, workspace);
  CHECK(loaded.nanosecondsOf(1, 5) > 0);
  const auto* y = reinterpret_cast<const float*>(loaded.bytes(0).data());
  CHECK((y[0] == 7 && y[4] == 7 && y[5] != 7));
  loaded.nanosecondsOf(1);
  CHECK((y[49] == 7 && y[50] != 7));
}

TEST_CASE("The time of some tiles is told as that of all, and whole grids are run where they are asked for") {
  constexpr double kTileNs = 2e5;
  Bench bench;
  const std::string list = bench.folder / "tiles.txt";
  CandidateCode code =
      built(bench.folder, "slow",
            "FILE* f = fopen(\"" + list + "\", \"a\"); fprintf(f, \"%d\\n\", (int)(end - begin)); fclose(f);\n" +
                spin(kTileNs, "(end - begin)"));
  code.tiles = 50;
  for (bool wholeGrids : {false, true}) {
    Runner runner(bench.all, bench.limits, {1, false, wholeGrids});
    writeText(list, "");
    const TrialResult v = runner.time(code, 0);
    CHECK(v.outcome == Outcome::Timed);
    CHECK(v.nanoseconds >= 50 * kTileNs);  // of which a sample of ten takes a fifth
    const std::set<std::string> portions = linesOf(list);
    CHECK(portions.contains("50"));
    CHECK((portions.size() == 1) == wholeGrids);
  }
  Workspace workspace(bench.all, code.args, {});
  CHECK(Loaded(code, workspace).nanosecondsOf(1, 5) >= 50 * kTileNs);
}

TEST_CASE("With cold caches a run waits for memory") {
  if (kAddressSanitizer || kThreadSanitizer) return;
  Bench bench;
  const CandidateCode code = built(bench.folder, "copy", "");
  Workspace warm(bench.all, code.args, {}), cold(bench.all, code.args, {1, true, false});
  const Loaded often(code, warm), rarely(code, cold);
  often.nanosecondsOf(100);
  CHECK(rarely.nanosecondsOf(100) > 1.5 * often.nanosecondsOf(1000));
}

TEST_CASE("The sequential test knows a clear gain and a clear loss soon, and noise never wins") {
  SequentialTest gains(0.98), loses(0.98), even(0.98);
  while (!gains.isOver()) gains.add(0.9);
  while (!loses.isOver()) loses.add(1.1);
  CHECK((gains.wins() && !gains.loses() && gains.pairs() < 20 && gains.ratio() == 0.9));
  CHECK((loses.loses() && !loses.wins() && loses.pairs() < 20));
  for (int i = 0; !even.isOver(); ++i) even.add(i % 3 == 0 ? 0.9 : 1.02);
  CHECK(!even.wins());
  std::mt19937 random(1);
  int wins = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    SequentialTest test(1);
    while (!test.isOver()) test.add(random() % 2 == 0 ? 0.99 : 1.01);
    wins += test.wins();
  }
  CHECK(wins <= 40);  // twice the error that is stated
}

TEST_CASE("Too few pairs tell nothing, and enough of them whether cold caches outweigh warm ones") {
  const auto of = [](double ratio, size_t pairs, size_t most) {
    SequentialTest test(1, most);
    while (test.pairs() < pairs) test.add(test.pairs() % 8 == 7 ? 1.3 - ratio / 4 : ratio);  // of noise
    return test;
  };
  const auto told = [&](double warm, size_t warmPairs, double cold, size_t coldPairs) {
    return isSlower(of(warm, warmPairs, 60), of(cold, coldPairs, 15));
  };
  CHECK(told(1.01, 4, 1.01, 5) == std::nullopt);
  CHECK(told(0.99, 5, 0.99, 5) == std::nullopt);
  CHECK(told(0.9, 60, 1.01, 5) == std::nullopt);
  CHECK(told(0.9, 60, 0.95, 15) == false);
  CHECK(told(0.9, 60, 1.05, 15) == false);
  CHECK(told(0.9, 60, 1.15, 15) == true);
  CHECK(told(1.5, 10, 1, 0) == true);  // a clear loss needs no cold ones
  CHECK(told(1.01, 60, 0.9, 15) == true);
}

TEST_CASE("Interleaved runs tell a clear gain from none") {
  Bench bench;
  const CandidateCode fast = built(bench.folder, "fast", ""),
                      slow = built(bench.folder, "long", "for (volatile int i = 0; i < 20000; ) i = i + 1;");
  REQUIRE(bench.runner.setBaseline(slow).outcome == Outcome::Timed);
  const TrialResult wins = bench.runner.compare(fast);
  CHECK((wins.outcome == Outcome::Wins && wins.ratio < 0.9 && wins.ulp == 0));
  const TrialResult near = bench.runner.compare(built(bench.folder, "near", "y[3] += 0x1p-22f;"));
  CHECK((near.outcome == Outcome::Wins && near.ulp >= 1 && near.ulp <= 4));  // of values between 1 and 2
  const double alone = bench.time(fast).nanoseconds;                         // beside the slow one
  CHECK((alone > 0 && alone < 1e6));
  REQUIRE(bench.runner.setBaseline(fast).outcome == Outcome::Timed);
  CHECK(bench.runner.compare(slow).outcome == Outcome::Loses);
}

TEST_CASE("What one run leaves behind is no loss of the other one of a pair") {
  Bench bench;  // both take as long, and the one that runs behind the other one takes ten times as long
  const auto one = [&](const std::string& name) {
    return built(bench.folder, name,
                 "const char* last = getenv(\"LAST\"); int n = last && !strcmp(last, \"" + name +
                     "\") ? 100000 : 1000000;\nif (n > 100000) setenv(\"LAST\", \"" + name +
                     "\", 1);\nfor (volatile int i = 0; i < n; ) i = i + 1;");
  };
  REQUIRE(bench.runner.setBaseline(one("usual")).outcome == Outcome::Timed);
  const CandidateCode other = built(bench.folder, "other",
                                    "setenv(\"LAST\", \"other\", 1);\n"
                                    "for (volatile int i = 0; i < 100000; ) i = i + 1;");
  CHECK(bench.runner.compare(other).ratio > 0.5);
}
