// Lists of opts made of others, and how many threads share a kernel.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "choose/choose.h"
#include "opts/kernels.h"
#include "opts/machines.h"
#include "opts/replay.h"
#include "search/ahead.h"
#include "search/moves.h"
#include "simulated.h"

using namespace svod;

namespace {

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
    const double ratio = timeFor(c) / baseline;
    return {ratio < 0.98 ? Outcome::Wins : Outcome::Loses, "", timeFor(c), 0.01, ratio, 20};
  }
};

}  // namespace

TEST_CASE("Every move is a list that applies and is written as it applies") {
  Graph g;
  const UOp sink = buildMatmul(g, {24, 32, 16});
  const Caps all = avx2();
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

TEST_CASE("What a list comes to does not depend on the lists before it") {
  Graph g;
  const UOp sink = buildMatmul(g, {24, 32, 16});
  const Caps all = avx2();
  Moves moves(g, sink, all);
  const auto checkAlone = [&](const Candidate& c) {
    Graph own;
    const std::optional<Candidate> alone = Moves(own, own.clone(sink), all).candidate(c.opts, c.origin);
    INFO(c.text);
    REQUIRE(alone);
    CHECK((alone->text == c.text && alone->opts == c.opts && alone->features == c.features));
    CHECK((alone->predicted == c.predicted && alone->instructions == c.instructions));
  };
  std::vector<Candidate> parents = moves.seeds();
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const std::optional<Candidate> mutant = moves.mutant(parents, random);
    if (!mutant) continue;
    checkAlone(*mutant);
    if (i % 10 == 0) parents.push_back(*mutant);
  }
  for (const Candidate& c : moves.additions(parents.back())) checkAlone(c);
  CHECK(g.size() > 1 << 13);  // it was begun anew
}

TEST_CASE("How threads share a kernel changes where it is searched, and nowhere else") {
  Graph g;
  const UOp sink = buildMatmul(g, {24, 32, 16});
  const Caps all = avx2();
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
    const Caps all = avx2();
    CostlyThreads measure(400);
    measure.baseline = 10000;
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
  const Caps all = avx2();
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

TEST_CASE("Candidates to be compiled ahead are those that a search begins with, and the best changes of them") {
  Graph g;
  const UOp sink = buildMatmul(g, {24, 32, 16});
  const Caps all = avx2();
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
