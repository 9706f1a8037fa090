#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "choose/choose.h"
#include "opts/kernels.h"
#include "opts/replay.h"
#include "search/ahead.h"
#include "search/herd.h"
#include "search/moves.h"
#include "search/search.h"

using namespace svod;

namespace {

Caps caps() {
  Caps caps;
  caps.vectorBytes = 32;
  return caps;
}

/// Times are a function of the list; some lists crash, hang, are wrong or do not compile. Ends after `most` candidates.
class SimulatedMeasure : public Measure {
 public:
  explicit SimulatedMeasure(size_t most = SIZE_MAX) : most_(most) {}

  std::vector<Prepared> prepare(std::span<const Candidate> candidates) override {
    std::vector<Prepared> all;
    for (const Candidate& c : candidates) {
      const uint64_t h = hashOf(c);
      prepared.insert(c.text);
      if (h % 13 == 1)
        all.push_back({"", {Outcome::CompileFailed, "planted"}});
      else if (h % 13 == 2)
        all.push_back({"", {Outcome::TooLarge, "planted"}});
      else
        all.push_back({std::to_string(h % codes)});
    }
    return all;
  }
  TrialResult time(const Candidate& c, double stopAbove) override {
    CHECK(prepared.contains(c.text));
    timed.push_back(c.text);
    const uint64_t h = hashOf(c);
    if (h % 17 == 0) return {Outcome::Crashed, "planted"};
    if (h % 17 == 1) return {Outcome::Hung, "planted"};
    if (h % 17 == 2) return {Outcome::Wrong, "planted"};
    const double t = timeOf(c);
    if (stopAbove > 0 && t > stopAbove) return {Outcome::Slow, "", t, 0, 0, 1};
    return {Outcome::Timed, "", t, 0.01, 0, 7};
  }
  TrialResult compare(const Candidate& c) override {
    CHECK(prepared.contains(c.text));
    const double ratio = timeOf(c) / usual;
    return {ratio < 0.98 ? Outcome::Wins : Outcome::Loses, "", timeOf(c), 0.01, ratio, 20};
  }
  bool isOver() override { return timed.size() >= most_; }

  static uint64_t hashOf(const Candidate& c) {
    uint64_t h = 1469598103934665603u;
    for (char ch : c.text) h = (h ^ static_cast<unsigned char>(ch)) * 1099511628211u;
    return h ^ (h >> 31);
  }
  /// The cost model's time and noise.
  static double timeOf(const Candidate& c) {
    return c.predicted * (0.7 + 0.6 * static_cast<double>(hashOf(c) % 1000) / 1000);
  }

  double usual = 1;
  uint64_t codes = 997;  // how many different ones there are
  std::set<std::string> prepared;
  std::vector<std::string> timed;

 private:
  size_t most_;
};

/// Each thread that a kernel of 24 x 32 results is cut for costs as much as a ninth of its work.
class CostlyThreads : public SimulatedMeasure {
 public:
  using SimulatedMeasure::SimulatedMeasure;
  static int64_t tilesOf(const Candidate& c) {
    int64_t tiles = 1;
    for (const OptOp& opt : c.opts)
      if (opt.kind == OptKind::Thread) {
        const auto& args = std::get<AxisAmount>(opt.args);
        const int64_t extent = toText(opt).find("n0") == std::string::npos ? 32 : 24;
        tiles *= (extent + args.amount - 1) / args.amount;
      }
    return tiles;
  }
  static double timeFor(const Candidate& c) {
    const auto sharers = static_cast<double>(std::min<int64_t>(tilesOf(c), 8));
    return 9000 / sharers + 1000 * sharers;
  }
  std::vector<Prepared> prepare(std::span<const Candidate> candidates) override {
    std::vector<Prepared> all;
    for (const Candidate& c : candidates) all.push_back({c.text});
    return all;
  }
  TrialResult time(const Candidate& c, double) override {
    timed.push_back(c.text);
    return {Outcome::Timed, "", timeFor(c), 0.01, 0, 7};
  }
  TrialResult compare(const Candidate& c) override {
    const double ratio = timeFor(c) / usual;
    return {ratio < 0.98 ? Outcome::Wins : Outcome::Loses, "", timeFor(c), 0.01, ratio, 20};
  }
};

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
  const Caps all = caps();
  measure.usual = SimulatedMeasure::timeOf(*Moves(g, sink, all).candidate(chooseOpts(g, sink, all), ""));
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

SearchOptions small(int beam = 0) {
  SearchOptions options;
  options.mutants = 40, options.survivors = 10, options.patience = 5, options.beam = beam;
  return options;
}

KnownTrials knownFrom(const Run& run, size_t records) {
  KnownTrials known;
  for (size_t i = 0; i < std::min(records, run.records.size()); ++i)
    known[run.records[i].first] = run.records[i].second;
  return known;
}

}  // namespace

TEST_CASE("Every move is a list that applies and is written as it applies") {
  Graph g;
  const UOp sink = buildMatmul(g, {24, 32, 16});
  const Caps all = caps();
  Moves moves(g, sink, all);
  std::vector<Candidate> parents = moves.seeds();
  REQUIRE(!parents.empty());
  CHECK(parents[0].opts == chooseOpts(g, sink, all));
  for (const Candidate& c : moves.successors(parents[0])) CHECK(applyOpts(g, sink, c.opts, all));
  std::mt19937_64 random(1);
  std::set<std::string> texts;
  for (int i = 0; i < 200; ++i) {
    const std::optional<Candidate> mutant = moves.mutant(parents, random);
    if (!mutant) continue;
    INFO(mutant->text);
    CHECK(applyOpts(g, sink, mutant->opts, all));
    CHECK(parseOpts(mutant->text) == mutant->opts);
    texts.insert(mutant->text);
    if (i % 10 == 0) parents.push_back(*mutant);
  }
  CHECK(texts.size() > 60);
}

TEST_CASE("How threads share a kernel changes where it is searched, and nowhere else") {
  Graph g;
  const UOp sink = buildMatmul(g, {24, 32, 16});
  const Caps all = caps();
  const auto threadsOf = [](const Candidate& c) {
    std::vector<OptOp> opts = c.opts;
    std::erase_if(opts, [](const OptOp& opt) { return opt.kind != OptKind::Thread; });
    return toText(opts);
  };
  std::set<std::string> ways[2];
  for (bool searched : {false, true}) {
    Moves moves(g, sink, all, searched ? 4 : 1);
    const std::vector<Candidate> parents = {*moves.candidate(parseOpts("vector(n1,8) thread(n0,4)").value(), "test")};
    std::mt19937_64 random(1);
    for (int i = 0; i < 300; ++i)
      if (const std::optional<Candidate> mutant = moves.mutant(parents, random))
        ways[searched].insert(threadsOf(*mutant));
  }
  CHECK(ways[1].size() > ways[0].size());
}

TEST_CASE("How many threads share a kernel is searched where there are several") {
  for (int beam : {0, 2}) {
    Graph g;
    const UOp sink = buildMatmul(g, {24, 32, 16});
    const Caps all = caps();
    CostlyThreads measure(400);
    measure.usual = 10000;
    SearchOptions options = small(beam);
    options.threads = 8;
    const auto found =
        search(g, sink, all, measure, options, {}, {}, [](const auto&, const auto&) { return Status(); });
    REQUIRE((found && found->winner));
    CHECK(CostlyThreads::tilesOf(*found->winner) == 3);
  }
}

TEST_CASE("A list is shared by as many threads as it is asked for, if a loop is that long") {
  Graph g;
  const UOp sink = buildMatmul(g, {24, 32, 16});
  const Caps all = caps();
  Moves moves(g, sink, all, 6);
  CHECK(moves.threadCounts() == std::vector<int>{1, 2, 4, 6});
  const Candidate plain = *moves.candidate({}, "no opts");
  const std::optional<Candidate> one = moves.shared(plain, 1), six = moves.shared(plain, 6),
                                 more = moves.shared(plain, 100);
  REQUIRE((one && six && more));
  CHECK(CostlyThreads::tilesOf(*one) == 1);
  CHECK(CostlyThreads::tilesOf(*six) == 6);
  CHECK(CostlyThreads::tilesOf(*more) >= 100);  // of both loops
  CHECK(six->predicted < one->predicted);
  CHECK(!moves.shared(plain, 1000));
}

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

TEST_CASE("Candidates to be compiled ahead are those that a search begins with, and the best changes of them") {
  Graph g;
  const UOp sink = buildMatmul(g, {24, 32, 16});
  const Caps all = caps();
  const std::vector<std::vector<OptOp>> hints = {*parseOpts("vector(n1,8)")};
  const std::vector<Candidate> ahead = candidatesAhead(g, sink, all, small(), hints, 40);
  CHECK(ahead.size() == 40);
  std::set<std::string> texts;
  for (const Candidate& c : ahead) texts.insert(c.text);
  CHECK(texts.size() == 40);
  Moves moves(g, sink, all);
  for (const Candidate& c : startOf(moves, small(), hints)) CHECK(texts.contains(c.text));
  const std::vector<Candidate> again = candidatesAhead(g, sink, all, small(), hints, 40);
  CHECK(std::ranges::equal(ahead, again, {}, &Candidate::text, &Candidate::text));
  CHECK(candidatesAhead(g, sink, all, small(), hints, 2).size() == 2);
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
  for (uint64_t seed = 0; seed < 6; ++seed) {
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

TEST_CASE("Lists with one code are once among those that changes are made of") {
  Herd herd;
  const auto list = [](std::string text, size_t opts) {
    return Candidate{std::vector<OptOp>(opts), std::move(text), ""};
  };
  CHECK(herd.add(list("b", 2), 20, "B"));
  CHECK(herd.add(list("a", 3), 10, "A"));
  CHECK(!herd.add(list("a again, longer", 4), 10, "A"));
  CHECK(herd.best(5)[0].text == "a");
  CHECK(!herd.add(list("a again", 1), 10, "A"));
  CHECK(herd.best(5)[0].text == "a again");
  CHECK((herd.size() == 2 && herd.bestTime() == 10 && herd.fastest(1).size() == 1));
  CHECK(herd.add(list("c", 1), 10, "C"));  // as fast, where times are rounded
  CHECK(herd.size() == 3);
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) herd.add(list(std::to_string(i), 1), 30 + i, "");
  const Herd some = herd.some(4, random);
  CHECK(some.size() == 4);
  for (const Timed& timed : some.fastest(4)) CHECK(timed.nanoseconds < 30 + 61);  // of the fastest 64
}

TEST_CASE("The agreement of two rankings") {
  std::vector<double> up, down, squares, level(20, 7);
  for (int i = 0; i < 20; ++i) up.push_back(i), down.push_back(-i), squares.push_back(i * i);
  CHECK(rankAgreement(up, squares) == Approx(1));
  CHECK(rankAgreement(up, down) == Approx(-1));
  CHECK(rankAgreement(up, level) == 0);
  CHECK(rankAgreement(std::span(up).first(5), std::span(squares).first(5)) == 0);  // too few
  std::swap(squares[0], squares[19]);
  CHECK(rankAgreement(up, squares) == Approx(1 - 6.0 * 2 * 19 * 19 / (20 * 399)));
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
