// What a search learns from times: of its own kernel, and of those that are like it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "choose/choose.h"
#include "ir/text.h"
#include "opts/kernels.h"
#include "opts/machines.h"
#include "search/moves.h"
#include "search/neighbours.h"
#include "search/search.h"
#include "seeds.h"

using namespace svod;

namespace {

/// A machine whose times are those of the cost model, but for what its features say: always in the same way.
class BiasedMeasure : public Measure {
 public:
  explicit BiasedMeasure(const Features& bias, size_t most) : bias_(bias), most_(most) {}

  std::vector<Prepared> prepare(std::span<const Candidate> candidates) override {
    std::vector<Prepared> all;
    for (const Candidate& c : candidates) all.push_back({c.text, {}});
    return all;
  }
  TrialResult time(const Candidate& c, double) override {
    times.push_back(timeOf(c));
    return {Outcome::Timed, "", times.back(), 0.01, 0, 7};
  }
  TrialResult compare(const Candidate& c) override { return {Outcome::Wins, "", timeOf(c), 0.01, 0.5, 20}; }
  bool isOver() override { return times.size() >= most_; }

  double timeOf(const Candidate& c) const {
    double error = 0;
    for (size_t i = 0; i < kFeatureCount; ++i) error += bias_[i] * c.features[i];
    return c.predicted * std::exp(error);
  }
  std::vector<double> times;

 private:
  Features bias_;
  size_t most_;
};

/// Copies in registers cost this machine more than the cost model says, lanes and loops less.
constexpr Features kBias = {0.4, 0, -0.6, 0.35, -0.3, 0.2, 0.5, -0.15};

struct Search {
  std::vector<double> times;  // in the order in which they were measured
  std::vector<CandidateRecord> records;
  double best() const { return *std::ranges::min_element(times); }
  /// How many were timed until one took at most this.
  size_t until(double nanoseconds) const {
    const auto found = std::ranges::find_if(times, [&](double t) { return t <= nanoseconds; });
    return static_cast<size_t>(found - times.begin()) + 1;
  }
};

constexpr const char* kHash = "00000000000000000000000000000001";

Search searched(const Sizes& sizes, SearchOptions options, size_t most) {
  Graph g;
  const UOp sink = buildMatmul(g, sizes);
  BiasedMeasure measure(kBias, most);
  options.mutants = 60, options.survivors = 8, options.patience = 1000;
  Search search;
  const auto result =
      svod::search(g, sink, avx2(), measure, options, {}, {}, [&](const Candidate& c, const TrialResult& v) {
        CandidateRecord r;
        r.kernel = kHash, r.target = "target", r.machine = "machine", r.compiler = "compiler";
        r.opts = c.text, r.origin = c.origin, r.outcome = v.outcome, r.nanoseconds = v.nanoseconds, r.ratio = v.ratio;
        if (v.outcome != Outcome::Started) search.records.push_back(r);
        return Status();
      });
  REQUIRE(result);
  search.times = std::move(measure.times);
  return search;
}

TuningLog logOf(const Sizes& sizes, const Search& search) {
  Graph g;
  return {{{kHash, "gemm", toUopText(buildMatmul(g, sizes))}}, search.records};
}

Neighbours neighboursIn(const TuningLog& log, UOp sink, const std::string& hash = std::string(32, '2')) {
  return neighboursOf({sink, hash, "target", "machine"}, avx2(), log);
}

}  // namespace

TEST_CASE("Least squares finds the weights that made the errors of a cost model") {
  std::mt19937_64 random(3);
  Correction correction;
  std::vector<Candidate> all;
  for (int i = 0; i < 400; ++i) {
    Candidate c;
    c.predicted = 1000 + static_cast<double>(random() % 1000);
    double error = i % 2 == 0 ? 0.7 : -1.1;  // of its kernel, which no weight can be made of
    for (size_t f = 0; f < kFeatureCount; ++f) {
      c.features[f] = static_cast<double>(random() % 1000) / 250;
      error += kBias[f] * c.features[f];
    }
    correction.add(i % 2 == 0 ? "a" : "b", c, c.predicted * std::exp(error));
    all.push_back(c);
  }
  CHECK(correction.expected(all[0]) == all[0].predicted);  // nothing is learned yet
  correction.fit();
  for (size_t f = 0; f < kFeatureCount; ++f) CHECK(std::fabs(correction.weights()[f] - kBias[f]) < 0.02);
  Correction few;
  for (int i = 0; i < 5; ++i) few.add("a", all[static_cast<size_t>(i)], 10);
  few.fit();
  CHECK(few.weights() == Features{});
}

TEST_CASE(
    "On a machine that differs from the cost model, a ranking that was corrected finds what is fast with fewer times") {
  size_t plain = 0, corrected = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SearchOptions options;
    options.seed = seed;
    const Search with = searched({24, 32, 16}, options, 240);
    options.corrects = false;
    const Search without = searched({24, 32, 16}, options, 240);
    plain += without.until(without.best()), corrected += with.until(without.best());
  }
  INFO("timed until what was best without a correction was found: " << plain << ", with one: " << corrected);
  CHECK(10 * corrected < 9 * plain);
}

TEST_CASE("What won for a kernel of other extents is where a search begins, and it needs fewer times then") {
  const Search first = searched({24, 32, 16}, {}, 240);
  const TuningLog log = logOf({24, 32, 16}, first);
  const Sizes other{48, 40, 20};
  Graph g;
  const Neighbours neighbours = neighboursIn(log, buildMatmul(g, other));
  REQUIRE(!neighbours.hints.empty());
  CHECK(neighbours.hints[0].origin == "nearest gemm");
  CHECK(neighbours.correction.samples() > 12);
  size_t plain = 0, helped = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SearchOptions options;
    options.seed = seed;
    const Search without = searched(other, options, 160);
    options.neighbours = neighbours;
    const Search with = searched(other, options, 160);
    plain += without.until(without.best()), helped += with.until(without.best());
  }
  INFO("timed until what was best without the log was found: " << plain << ", with it: " << helped);
  CHECK(3 * helped < 2 * plain);
}

TEST_CASE("Neighbours are of the same class, nearest first, and never the kernel itself") {
  const Search search = searched({24, 32, 16}, {}, 30);
  TuningLog log = logOf({24, 32, 16}, search);
  Graph g;
  const UOp matmul = buildMatmul(g, {32, 32, 16});
  CHECK(!neighboursIn(log, matmul).hints.empty());
  CHECK(neighboursIn(log, matmul, kHash).hints.empty());
  CHECK(neighboursIn(log, buildSoftmax(g, {24, 32, 16})).hints.empty());
  CHECK(neighboursOf({matmul, "", "other target", "machine"}, avx2(), log).hints.empty());
  const Neighbours elsewhere = neighboursOf({matmul, "", "target", "other machine"}, avx2(), log);
  CHECK((!elsewhere.hints.empty() && elsewhere.correction.samples() == 0));

  Graph far;
  log.kernels.insert(log.kernels.begin(), {std::string(32, '0'), "far", toUopText(buildMatmul(far, {512, 512, 512}))});
  for (CandidateRecord r : search.records) {
    r.kernel = std::string(32, '0');
    log.candidates.push_back(r);
  }
  const std::vector<Hint> hints = neighboursIn(log, matmul).hints;
  REQUIRE(hints.size() > 3);
  CHECK(hints.front().origin == "nearest gemm");
  CHECK(hints.back().origin == "nearest far");

  log.kernels.push_back({std::string(32, '3'), "broken", "%0 = nonsense"});
  CHECK(neighboursIn(log, matmul).hints == hints);
}
