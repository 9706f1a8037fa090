#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "random_logs.h"
#include "tuning/account.h"
#include "tuning/log_file.h"
#include "tuning/winners.h"

using namespace svod;

namespace {

std::vector<std::string> winnersIn(std::vector<CandidateRecord> records) {
  std::vector<std::string> opts;
  const TuningLog log{{}, std::move(records)};
  for (const Winner& w : winnersOf(log, std::string(32, '0'), "t", "this")) opts.push_back(w.opts);
  return opts;
}

}  // namespace

TEST_CASE("A line of a tuning log reads back as what it was") {
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    const TuningRecord record = randomRecord(random);
    const std::string line = toLine(record);
    CHECK(line.find('\n') == line.npos);
    Result<TuningRecord> again = recordFromLine(line);
    REQUIRE(again);
    CHECK(*again == record);
    CHECK(toLine(*again) == line);
  }
}

TEST_CASE("Merging logs is idempotent, commutative and associative, and is what reading them as one file gives") {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    const std::string texts[] = {randomLines(random, random() % 12), randomLines(random, random() % 12),
                                 randomLines(random, random() % 12)};
    const TuningLog a = parsed(texts[0]), b = parsed(texts[1]), c = parsed(texts[2]);
    CHECK(merge({a, a}) == a);
    CHECK(merge({a, b}) == merge({b, a}));
    CHECK(merge({merge({a, b}), c}) == merge({a, merge({b, c})}));
    CHECK(parsed(texts[0] + texts[1] + texts[2]) == merge({a, b, c}));
    CHECK(parsed(toText(a)) == a);
    CHECK(toText(merge({c, a, b, a})) == toText(merge({a, b, c})));
  }
}

TEST_CASE("A torn last line is left out, wherever it was torn") {
  std::mt19937 random(3);
  const std::string whole = randomLines(random, 3), last = toLine(randomRecord(random));
  for (size_t length = 1; length <= last.size(); ++length) {
    UnreadLines unread;
    Result<TuningLog> log = parseTuningLog(whole + last.substr(0, length), unread);
    REQUIRE(log);
    CHECK(*log == parsed(whole));
    CHECK((unread.tornEnd && unread.malformed.empty()));
  }
}

TEST_CASE("Lines that are no records are counted and left out") {
  const std::string good = toLine(candidate("vector(n0,8)", Outcome::Wins, 0.5));
  const std::string deep(100000, '[');
  std::vector<std::string> bad = {
      "x",
      "[]",
      "null",
      "{}",
      "{\"svod-tuning\":1}",
      "\xff\xfe",
      deep,
      "{\"a\":" + deep,
      good.substr(0, 40),
      good + "x",
      R"({"svod-tuning":0,"kernel":"00000000000000000000000000000000","record":"kernel","name":"","text":""})",
      R"({"svod-tuning":1,"kernel":"0000000000000000000000000000000","record":"kernel","name":"","text":""})",
      R"({"svod-tuning":1,"kernel":"../../../../../../etc/passwd/000","record":"kernel","name":"","text":""})",
      R"({"svod-tuning":1,"kernel":"00000000000000000000000000000000","record":"kernel","name":1,"text":""})",
  };
  for (const char* members : {R"("usual":1e308,"warm":1,"cold":1})", R"("warm":1e307,"cold":1})",
                              R"("passed":["a"],"warm":1,"cold":1})", R"("passed":1,"warm":1,"cold":1})"})
    bad.push_back(R"({"svod-tuning":1,"graph":"00000000000000000000000000000000","record":"gain","target":"",)"
                  R"("machine":"","compiler":"",)" +
                  std::string(members));
  for (const auto& [from, to] : {std::pair{"\"wins\"", "\"best\""},
                                 {"0.5", "-0.5"},
                                 {"0.5", "1e999"},
                                 {"0.5", "1e307"},
                                 {"0.5", "0.5,\"ns\":1e300"},
                                 {"0.5", "0.5,\"predicted\":1e16"},
                                 {"0.5", "0.5,\"noise\":1e10"},
                                 {"0.5", "0.5,\"ulp\":1e308"},
                                 {"0.5", "0.5,\"runs\":1e13"},
                                 {"0.5", "\"0\""},
                                 {"\"ratio\"", "\"else\""},
                                 {"\"opts\":\"", "\"opts\":[\""}}) {
    std::string line = good;
    line.replace(line.find(from), std::string_view(from).size(), to);
    UnreadLines unread;
    Result<TuningLog> log = parseTuningLog(line + "\n" + good + "\n", unread);
    INFO(line);
    REQUIRE(log);
    CHECK(log->candidates.size() == 1);
    CHECK(unread.malformed == std::vector<size_t>{1});
  }
  for (const std::string& line : bad) {
    UnreadLines unread;
    Result<TuningLog> log = parseTuningLog(good + "\n\n" + line + "\n" + good + "\n", unread);
    INFO(line.substr(0, 200));
    REQUIRE(log);
    CHECK(log->candidates.size() == 1);
    CHECK(unread.malformed == std::vector<size_t>{3});
    CHECK(!unread.firstProblem.empty());
  }
}

TEST_CASE("Of numbers that a log may have all sums are finite") {
  const std::string kernel(32, '0');
  CandidateRecord baseline = candidate("", Outcome::Timed, 0), winner = candidate("b", Outcome::Wins, 1e9);
  baseline.origin = "-O1", baseline.nanoseconds = baseline.predicted = winner.nanoseconds = 1e15;
  const TuningLog log = parsed(toText({{{kernel, "k", "", int64_t{1'000'000'000'000}}}, {baseline, winner}}));
  REQUIRE(log.candidates.size() == 2);
  const KernelAccount account = accountsOf(log, "this").at(0);
  CHECK((std::isfinite(account.before()) && std::isfinite(100 * account.after())));
}

TEST_CASE("Random changes of a log never do worse than lose lines") {
  std::mt19937 random(4);
  const std::string whole = randomLines(random, 6);
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    for (uint32_t n = 1 + random() % 4; n > 0; --n) text[random() % text.size()] = static_cast<char>(random());
    UnreadLines unread;
    Result<TuningLog> log = parseTuningLog(text, unread);
    if (log) CHECK(parsed(toText(*log)) == *log);
    if (!log) CHECK(log.error()->diag == Diag::Unsupported);
  }
}

TEST_CASE("A line of a later form is an error, not a loss") {
  UnreadLines unread;
  Result<TuningLog> log = parseTuningLog("\n{\"svod-tuning\":2,\"more\":1}\n", unread);
  REQUIRE(!log);
  CHECK(log.error()->diag == Diag::Unsupported);
  CHECK(toText(log.error()).find("line 2") != std::string::npos);
}

TEST_CASE("A winner won everywhere it was compared and failed nowhere") {
  CHECK(winnersIn({candidate("a", Outcome::Timed, 0), candidate("b", Outcome::Wins, 0.8)}) ==
        std::vector<std::string>{"b"});
  CHECK(winnersIn({candidate("b", Outcome::Wins, 0.8), candidate("b", Outcome::Loses, 1.1)}).empty());
  CHECK(winnersIn({candidate("b", Outcome::Wins, 0.8), candidate("b", Outcome::Wrong, 0)}).empty());
  // its worst ratio counts
  CHECK(winnersIn({candidate("a", Outcome::Wins, 0.2), candidate("a", Outcome::Wins, 0.9),
                   candidate("b", Outcome::Wins, 0.8)}) == std::vector<std::string>{"b", "a"});
  // equal ones: the shorter list, then its text
  CHECK(winnersIn({candidate("c", Outcome::Wins, 0.5), candidate("b", Outcome::Wins, 0.5),
                   candidate("aa", Outcome::Wins, 0.5)}) == std::vector<std::string>{"b", "c", "aa"});
}

TEST_CASE("Records of another compiler are hints, behind all of this one") {
  CHECK(winnersIn({candidate("a", Outcome::Wins, 0.2, "other"), candidate("b", Outcome::Wins, 0.8)}) ==
        std::vector<std::string>{"b", "a"});
  const TuningLog log{{}, {candidate("a", Outcome::Wins, 0.2, "other")}};
  CHECK(winnersOf(log, std::string(32, '0'), "t", "this").at(0).isHint);
  CHECK(winnersOf(log, std::string(32, '0'), "other target", "this").empty());
}

TEST_CASE("The winners of a log depend on the set of its records, and pruning keeps them") {
  std::mt19937 random(5);
  const auto textOf = [](const std::vector<Winner>& winners) {
    std::string text;
    for (const Winner& w : winners)
      text += w.kernel + w.target + w.opts + std::to_string(w.ratio) + w.machines + (w.isHint ? "hint\n" : "\n");
    return text;
  };
  for (int i = 0; i < 100; ++i) {
    TuningLog log = parsed(randomLines(random, 40));
    const std::string best = textOf(bestOf(log, "one"));
    CHECK(textOf(bestOf(pruned(log), "one")) == best);
    CHECK(pruned(pruned(log)) == pruned(log));
    CHECK(textOf(bestOf(pruned(log, 2), "one")) == best);
    CHECK(pruned(pruned(log, 2), 2) == pruned(log, 2));
    CHECK(gainsOf(pruned(log)) == gainsOf(log));
    CHECK(pruned(log).gains == gainsOf(log));
    TuningLog allFast = pruned(log, 1000);
    allFast.gains = log.gains;
    CHECK(allFast == log);
    std::ranges::shuffle(log.candidates, random);
    CHECK(textOf(bestOf(log, "one")) == best);
  }
}

TEST_CASE("A gain counts while the winners that it was timed with are those of the log") {
  const std::string kernel(32, '0'), other(32, '1');
  GainRecord gain;
  gain.graph = std::string(32, 'a'), gain.target = "t", gain.machine = "m", gain.compiler = "this";
  gain.kernels = {{kernel, "b"}, {other, std::nullopt}}, gain.baseline = 100, gain.warm = 0.8, gain.cold = 0.9;
  TuningLog log{{}, {candidate("b", Outcome::Wins, 0.8)}, {}, {}, {gain}};
  CHECK(gainsOf(log) == std::vector{gain});
  GainRecord worse = gain;
  worse.warm = 0.85;
  log.gains.push_back(worse);
  CHECK(gainsOf(log) == std::vector{worse});  // the least
  const auto with = [&](const CandidateRecord& r) {
    TuningLog more = log;
    more.candidates.push_back(r);
    return gainsOf(more).size();
  };
  CandidateRecord ofOther = candidate("c", Outcome::Wins, 0.7);
  ofOther.kernel = other;
  CHECK(with(ofOther) == 0);
  CHECK(with(candidate("c", Outcome::Wins, 0.7)) == 0);
  CHECK(with(candidate("c", Outcome::Wins, 0.9)) == 1);
  CHECK(with(candidate("b", Outcome::Loses, 1.1)) == 0);
  PlanRecord plan;
  plan.graph = gain.graph, plan.target = "t", plan.machine = "m", plan.compiler = "this", plan.decisions = {"a=1"};
  plan.outcome = Outcome::Wins, plan.ratio = 0.9;
  log.plans = {plan};
  CHECK(gainsOf(log).empty());
  log.gains[0].decisions = plan.decisions;
  CHECK(gainsOf(log).size() == 1);
  PlanRecord better = plan;
  better.decisions = {"b=1"}, better.ratio = 0.5;
  log.plans.push_back(better);
  CHECK(gainsOf(log).empty());
  log.gains[0].passed = {better.decisions};  // the graph does not have them: a compile takes the next ones
  CHECK(gainsOf(log).size() == 1);
  log.gains[0].passed.push_back(plan.decisions), log.gains[0].decisions.clear();  // none of them
  CHECK(gainsOf(log).size() == 1);
}

TEST_CASE("Kernels count as often as usual plans run them") {
  const std::string kernel(32, '0');
  const CandidateRecord baseline = [] {
    CandidateRecord r = candidate("", Outcome::Timed, 0);
    r.origin = "-O1", r.nanoseconds = 10;
    return r;
  }();
  TuningLog log{{{kernel, "k", "", 3}}, {baseline, candidate("b", Outcome::Wins, 0.5)}};
  const auto launches = [&] { return accountsOf(log, "this").at(0).launches; };
  CHECK(launches() == 3);  // no baseline plan is known
  log.graphs = {{std::string(32, 'a'), "one", "t", "old", {}, {{kernel, 5}}},
                {std::string(32, 'b'), "two", "t", "this", {}, {{kernel, 2}}}};
  CHECK(launches() == 7);
  log.graphs.push_back({std::string(32, 'a'), "one", "t", "this", {}, {{std::string(32, '1'), 1}}});
  CHECK(launches() == 2);  // this compiler makes another plan of the first
  log.graphs = {{std::string(32, 'b'), "two", "t", "this", {}, {{std::string(32, '1'), 1}}}};
  CHECK(launches() == 0);
  log.graphs.push_back({std::string(32, 'c'), "three"});
  CHECK(launches() == 3);  // the third may have it
  log.graphs.pop_back();
  CHECK(accountsOf(log, "this").at(0).before() == 0);
  const GraphAccount graph = graphAccountsOf(log, "this").at(0);
  CHECK((graph.name == "two" && graph.kernels == 1 && graph.winners == 0 && graph.isBaseline && graph.gains.empty()));
}

TEST_CASE("Decisions win where their plan won everywhere, and failed nowhere") {
  const auto plan = [](std::string decision, Outcome outcome, double ratio, std::string compiler = "this") {
    PlanRecord r;
    r.graph = std::string(32, '0'), r.target = "t", r.machine = "m", r.compiler = std::move(compiler);
    r.decisions = {std::move(decision)}, r.origin = "test", r.outcome = outcome, r.ratio = ratio;
    return r;
  };
  const auto winners = [](std::vector<PlanRecord> records) {
    std::vector<std::string> all;
    const TuningLog log{{}, {}, {}, std::move(records)};
    for (const PlanWinner& w : planWinnersOf(log, std::string(32, '0'), "t", "this")) all.push_back(w.decisions[0]);
    return all;
  };
  using Names = std::vector<std::string>;
  CHECK(winners({plan("a=1", Outcome::Wins, 0.9), plan("b=1", Outcome::Wins, 0.8)}) == Names{"b=1", "a=1"});
  CHECK(winners({plan("a=1", Outcome::Wins, 0.9), plan("b=1", Outcome::Wins, 0.8, "other")}) == Names{"a=1", "b=1"});
  CHECK(winners({plan("a=1", Outcome::Wins, 0.7), plan("a=1", Outcome::Loses, 1.1)}).empty());
  for (Outcome failure : {Outcome::Started, Outcome::Crashed, Outcome::Wrong, Outcome::Hung})
    CHECK(winners({plan("a=1", Outcome::Wins, 0.7), plan("a=1", failure, 1)}).empty());
  CHECK(winners({plan("a=1", Outcome::Timed, 0.7)}).empty());
}
