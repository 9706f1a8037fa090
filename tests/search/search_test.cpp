// What a search does with the answers of a machine.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "choose/choose.h"
#include "opts/kernels.h"
#include "opts/machines.h"
#include "search/moves.h"
#include "seeds.h"
#include "simulated.h"

using namespace svod;

namespace {

struct Run {
  SearchResult result;
  std::vector<std::string> timed;
  std::vector<std::pair<std::string, TrialResult>> records;
  std::set<std::string> origins;
};

Run runSearch(const SearchOptions& options, KnownTrials known = {}, size_t most = SIZE_MAX, uint64_t codes = 997) {
  Graph g;
  const UOp sink = buildMatmul(g, {24, 32, 16});
  SimulatedMeasure measure(most);
  measure.codes = codes;
  const Caps all = avx2();
  measure.baseline = SimulatedMeasure::timeOf(*Moves(g, sink, all).candidate(chooseOpts(g, sink, all), ""));
  Run run;
  auto result =
      search(g, sink, all, measure, options, std::move(known), {}, [&](const Candidate& c, const TrialResult& v) {
        run.records.emplace_back(c.text, v);
        run.origins.insert(c.origin);
        return Status();
      });
  REQUIRE(result);
  run.result = std::move(*result), run.timed = std::move(measure.timed);
  return run;
}

KnownTrials knownFrom(const Run& run, size_t records) {
  KnownTrials known;
  for (size_t i = 0; i < std::min(records, run.records.size()); ++i)
    known[run.records[i].first] = run.records[i].second;
  return known;
}

}  // namespace

TEST_CASE("A candidate that is expected to take far longer than the best is not compiled") {
  SearchOptions options = small(4);
  const Run all = runSearch(options);
  options.mostOfLeast = 1;
  const Run few = runSearch(options);
  CHECK(few.records.size() < all.records.size());
}

TEST_CASE("The more a step must gain, the sooner a search ends") {
  for (int beam : {0, 4}) {
    SearchOptions options = small(beam);
    options.leastGain = 0;
    const Run anything = runSearch(options);
    options.leastGain = 0.5;
    const Run much = runSearch(options);
    CHECK(much.timed.size() < anything.timed.size());
    CHECK(much.result.rounds < anything.result.rounds);
  }
}

TEST_CASE("Lists with code that was timed are timed as well, where that is asked for") {
  SearchOptions options = small();
  CHECK(runSearch(options).result.sameCode > 0);
  options.timesSameCode = true;
  const Run all = runSearch(options);
  CHECK(all.result.sameCode == 0);
  std::set<uint64_t> codes;
  for (const auto& [text, verdict] : all.records)
    if (verdict.outcome == Outcome::Started) codes.insert(SimulatedMeasure::hashOf({{}, text, ""}) % 997);
  CHECK(codes.size() < all.timed.size());
}

TEST_CASE("A search with the same seed and answers has the same records and result") {
  for (int beam : {0, 2}) {
    const Run a = runSearch(small(beam)), b = runSearch(small(beam));
    CHECK(a.timed == b.timed);
    CHECK(a.records.size() == b.records.size());
    CHECK(a.result.winner.has_value() == b.result.winner.has_value());
    if (a.result.winner) CHECK(a.result.winner->text == b.result.winner->text);
  }
  SearchOptions other = small();
  other.seed = 7;
  CHECK(runSearch(other).timed != runSearch(small()).timed);
}

TEST_CASE("A search finds a faster list, and beam as well as seeds with mutations do") {
  for (int beam : {0, 4}) {
    const Run run = runSearch(small(beam));
    REQUIRE(run.result.winner);
    CHECK(run.result.verdict.ratio < 0.98);
    CHECK(run.result.rounds > 1);
  }
}

TEST_CASE("Failures are recorded with their reason, never win, and do not end the search") {
  const Run run = runSearch(small());
  std::set<Outcome> outcomes;
  for (const auto& [text, verdict] : run.records) {
    outcomes.insert(verdict.outcome);
    if (info(verdict.outcome).isFailure && verdict.outcome != Outcome::Started) {
      CHECK(verdict.reason == "planted");
      CHECK((!run.result.winner || run.result.winner->text != text));
    }
  }
  for (Outcome o : {Outcome::Crashed, Outcome::Hung, Outcome::Wrong, Outcome::CompileFailed, Outcome::TooLarge})
    CHECK(outcomes.contains(o));
}

TEST_CASE("Where the machine has no room for more, that is an error of the search and says nothing of candidates") {
  Graph g;
  SimulatedMeasure measure;
  measure.untriedAfter = 20;
  size_t untried = 0, recorded = 0;
  const auto result = search(g, buildMatmul(g, {24, 32, 16}), avx2(), measure, small(), {}, {},
                             [&](const Candidate&, const TrialResult& v) {
                               ++recorded, untried += v.outcome == Outcome::Untried;
                               return Status();
                             });
  REQUIRE_FALSE(result);
  CHECK(result.error()->diag == Diag::Io);
  CHECK(result.error()->message.find("planted") != std::string::npos);
  CHECK((measure.timed.size() == 21 && untried == 0 && recorded > 20));
}

TEST_CASE("A candidate is recorded before it runs, and runs once") {
  const Run run = runSearch(small());
  std::set<std::string> started;
  for (const auto& [text, verdict] : run.records)
    if (verdict.outcome == Outcome::Started) started.insert(text);
  CHECK(started.size() == run.timed.size());
  CHECK(std::set<std::string>(run.timed.begin(), run.timed.end()) == started);
  CHECK(run.result.sameCode > 0);
}

TEST_CASE("A search ends when its measure is over") {
  CHECK(runSearch(small()).timed.size() > 20);
  CHECK_FALSE(runSearch(small()).result.isCut);
  for (size_t most : {size_t{0}, size_t{1}, size_t{5}}) {
    CHECK(runSearch(small(), {}, most).timed.size() == most);
    CHECK(runSearch(small(), {}, most).result.isCut);
    CHECK(runSearch(small(2), {}, most).timed.size() == most);
  }
}

TEST_CASE("A search begins anew elsewhere until that gains nothing any more") {
  constexpr uint64_t kCodes = UINT64_MAX;  // as many as lists: times of those with one code would depend on the order
  double once = 0, often = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SearchOptions options = small();
    options.seed = seed, options.restarts = 0;
    const Run alone = runSearch(options, {}, SIZE_MAX, kCodes);
    options.restarts = 3;
    const Run anew = runSearch(options, {}, SIZE_MAX, kCodes);
    CHECK(alone.result.restarts == 0);
    CHECK(anew.result.restarts >= 3);
    REQUIRE((alone.result.winner && anew.result.winner));
    CHECK(anew.result.verdict.ratio <= alone.result.verdict.ratio);
    once += alone.result.verdict.ratio, often += anew.result.verdict.ratio;
  }
  CHECK(often < once);
}

TEST_CASE("Beside changes a climb goes on from no opts, and the fastest list is tried with each opt more") {
  SearchOptions options = small();
  const auto has = [](const Run& run, const char* origin) { return run.origins.contains(origin); };
  const Run run = runSearch(options);
  for (const char* origin : {"no opts", "beam 1", "beam 2", "mutation", "one more, first", "one more, last"}) {
    INFO(origin);
    CHECK(has(run, origin));
  }
  const Run begun = runSearch(options, {}, 40);  // not one behind the other
  for (const char* origin : {"beam 1", "mutation", "one more, first"}) CHECK(has(begun, origin));
  options.climbBelow = 0;  // where a climb would take too long
  const Run without = runSearch(options);
  CHECK((!has(without, "no opts") && !has(without, "beam 1")));
}

TEST_CASE("Slow candidates stop early") {
  SearchOptions options = small(4);
  options.stopAbove = 1.1;
  const Run run = runSearch(options);
  CHECK(std::ranges::any_of(run.records, [](const auto& r) { return r.second.outcome == Outcome::Slow; }));
  options.stopAbove = 1e-9;  // what they took until then leads a climb on all the same
  CHECK(runSearch(options).result.rounds > 1);
}

TEST_CASE(
    "A search that was stopped anywhere goes on from its records: nothing is measured twice, and it ends the same") {
  constexpr uint64_t kCodes = UINT64_MAX;  // lists with equal code have one time, and which one depends on the order
  const Run whole = runSearch(small(), {}, SIZE_MAX, kCodes);
  for (size_t stop : {size_t{1}, size_t{5}, whole.timed.size() / 2, whole.timed.size() - 1}) {
    const Run first = runSearch(small(), {}, stop, kCodes);
    const Run second = runSearch(small(), knownFrom(first, first.records.size()), SIZE_MAX, kCodes);
    for (const std::string& text : second.timed) CHECK(std::ranges::find(first.timed, text) == first.timed.end());
    REQUIRE(second.result.winner.has_value() == whole.result.winner.has_value());
    if (whole.result.winner) CHECK(second.result.verdict.ratio == whole.result.verdict.ratio);
  }
  // killed while one ran: that one is not tried again
  const size_t inFlight = 2 * 6;
  KnownTrials known = knownFrom(whole, inFlight);
  std::string started;
  for (const auto& [text, verdict] : known)
    if (verdict.outcome == Outcome::Started) started = text;
  const Run resumed = runSearch(small(), known);
  CHECK(std::ranges::find(resumed.timed, started) == resumed.timed.end());
}
