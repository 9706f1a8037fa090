#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "common/temp_folder.h"
#include "tuning/account.h"
#include "tuning/log_file.h"
#include "tuning/winners.h"

using namespace svod;

namespace {

std::string pick(std::mt19937& random, std::initializer_list<const char*> values) {
  return *(values.begin() + random() % values.size());
}

std::string hashOf(std::mt19937& random) { return std::string(31, 'a') + pick(random, {"0", "1", "2"}); }

PlanRecord randomPlan(std::mt19937& random) {
  PlanRecord r;
  r.graph = hashOf(random), r.target = "cpu arm contract", r.machine = "here",
  r.compiler = pick(random, {"one", "two"});
  r.decisions = {pick(random, {"keep:a=keep", "keep:a=fuse"}), "conv:c=direct"};
  r.origin = "every keep", r.outcome = static_cast<Outcome>(random() % allOutcomes().size());
  r.ratio = 0.01 + static_cast<double>(random() % 200) / 100;
  return r;
}

GainRecord randomGain(std::mt19937& random) {
  GainRecord r;
  r.graph = hashOf(random), r.target = "cpu arm contract", r.machine = "here";
  r.compiler = pick(random, {"one", "two"});
  if (random() % 4 == 0) r.asked = {"keep:b=keep"};
  if (random() % 4 == 0) r.decisions = {"keep:a=keep", "conv:c=direct"};
  for (uint32_t n = random() % 3; n > 0; --n)
    r.kernels[hashOf(random)] = random() % 3 == 0 ? std::nullopt : std::optional<std::string>("tile(n0,2)");
  r.usual = 1000, r.warm = 0.5 + static_cast<double>(random() % 9) / 8, r.cold = 0.75;
  return r;
}

TuningRecord randomRecord(std::mt19937& random) {
  if (random() % 16 == 0) return GraphRecord{hashOf(random), pick(random, {"net", "other"})};
  if (random() % 16 == 0)
    return GraphRecord{hashOf(random),       "net", "cpu arm contract", pick(random, {"one", "two"}), {},
                       {{hashOf(random), 2}}};
  if (random() % 8 == 0) return randomGain(random);
  if (random() % 4 == 0) return randomPlan(random);
  if (random() % 8 == 0)
    return KernelRecord{hashOf(random), pick(random, {"matmul_1", "sum"}),
                        pick(random, {"%0 = param\n", "\"quoted\"\t\\"}), static_cast<int64_t>(random() % 3)};
  CandidateRecord r;
  r.kernel = hashOf(random);
  r.target = pick(random, {"cpu x86 znver4 contract", "cpu arm contract"});
  r.machine = pick(random, {"here", "there"});
  r.compiler = pick(random, {"", "one", "two"});
  r.opts = pick(random, {"", "vector(n0,8)", "upcast(n0,4) vector(n1,16)", "tile(n0,2)"});
  r.origin = pick(random, {"beam", "strategy"});
  r.outcome = static_cast<Outcome>(random() % allOutcomes().size());
  if (random() % 4 == 0) r.decisions = {"keep:a=keep"};
  if (random() % 4 == 0) r.reason = "signal 11 \xc3\xa9\n";
  r.nanoseconds = static_cast<double>(random() % 1000) / 7;
  r.ratio = 0.01 + static_cast<double>(random() % 200) / 100;
  r.runs = static_cast<int64_t>(random() % 9);
  if (random() % 4 != 0) r.ulp = static_cast<double>(random() % 5) / 4;
  r.number = static_cast<int64_t>(random() % 5);
  return r;
}

std::string randomLines(std::mt19937& random, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += toLine(randomRecord(random)) + "\n";
  return text;
}

TuningLog parsed(std::string_view text) {
  UnreadLines unread;
  Result<TuningLog> log = parseTuningLog(text, unread);
  REQUIRE(log);
  return *log;
}

TuningLog merge(std::vector<TuningLog> logs) { return merged(logs); }

CandidateRecord candidate(std::string opts, Outcome outcome, double ratio, std::string compiler = "this") {
  CandidateRecord r;
  r.kernel = std::string(32, '0'), r.target = "t", r.machine = "m", r.compiler = std::move(compiler);
  r.opts = std::move(opts), r.origin = "test", r.outcome = outcome, r.ratio = ratio;
  return r;
}

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
  std::string bad[] = {
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
  for (const auto& [from, to] : {std::pair{"\"wins\"", "\"best\""},
                                 {"0.5", "-0.5"},
                                 {"0.5", "1e999"},
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
  gain.kernels = {{kernel, "b"}, {other, std::nullopt}}, gain.usual = 100, gain.warm = 0.8, gain.cold = 0.9;
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
}

TEST_CASE("Kernels count as often as usual plans run them") {
  const std::string kernel(32, '0');
  const CandidateRecord usual = [] {
    CandidateRecord r = candidate("", Outcome::Timed, 0);
    r.origin = "-O1", r.nanoseconds = 10;
    return r;
  }();
  TuningLog log{{{kernel, "k", "", 3}}, {usual, candidate("b", Outcome::Wins, 0.5)}};
  const auto launches = [&] { return accountsOf(log, "this").at(0).launches; };
  CHECK(launches() == 3);  // no usual plan is known
  log.graphs = {{std::string(32, 'a'), "one", "t", "old", {}, {{kernel, 5}}},
                {std::string(32, 'b'), "two", "t", "this", {}, {{kernel, 2}}}};
  CHECK(launches() == 7);
  log.graphs.push_back({std::string(32, 'a'), "one", "t", "this", {}, {{std::string(32, '1'), 1}}});
  CHECK(launches() == 2);  // this compiler makes another plan of the first
  log.graphs = {{std::string(32, 'b'), "two", "t", "this", {}, {{std::string(32, '1'), 1}}}};
  CHECK(launches() == 0);
  CHECK(accountsOf(log, "this").at(0).before() == 0);
  const GraphAccount graph = graphAccountsOf(log, "this").at(0);
  CHECK((graph.name == "two" && graph.kernels == 1 && graph.winners == 0 && graph.isUsual && graph.gains.empty()));
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

TEST_CASE("A log that grows too long keeps winners, failures and the fastest lists") {
  const TempFolder folder;
  const std::string path = folder / "log";
  const LogLimits limits{60000, 5000, 4};
  uint64_t longest = 0;
  {
    auto log = LogAppender::open(path, limits);
    REQUIRE(log);
    for (int i = 0; i < 1000; ++i) {
      CandidateRecord r = candidate("l" + std::to_string(i), Outcome::Started, 0);
      REQUIRE(log->append(r));
      r.outcome = i % 100 == 7 ? Outcome::Crashed
                  : i == 500   ? Outcome::Wins
                  : i % 2 == 0 ? Outcome::Slow
                               : Outcome::Timed;
      r.ratio = i == 500 ? 0.5 : 0, r.nanoseconds = 5000 - i;
      REQUIRE(log->append(r));
      longest = std::max<uint64_t>(longest, readText(path).size());
    }
  }
  CHECK(longest <= limits.bytes + limits.every + 1000);
  UnreadLines unread;
  const TuningLog rest = *readTuningLog(path, unread);
  CHECK(unread.malformed.empty());
  const auto count = [&](Outcome outcome) {
    return std::ranges::count(rest.candidates, outcome, &TrialRecord::outcome);
  };
  CHECK((count(Outcome::Crashed) == 10 && count(Outcome::Wins) == 1));
  const TuningLog kept = pruned(rest, limits.fastest);
  std::vector<std::string> timed;
  for (const CandidateRecord& r : kept.candidates)
    if (r.outcome == Outcome::Timed) timed.push_back(r.opts);
  CHECK(timed == std::vector<std::string>{"l993", "l995", "l997", "l999"});  // never the slow ones in place of them
}

TEST_CASE("A log that is too long already is shortened when it is opened, and stays as open to others as it was") {
  const TempFolder folder;
  const std::string path = folder / "log";
  std::string text;
  for (int i = 0; i < 200; ++i) text += toLine(candidate("l" + std::to_string(i), Outcome::Slow, 0)) + "\n";
  for (const mode_t mode : {0600, 0666}) {  // rights that new files do not have, and more than those
    writeText(path, text);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    {
      const auto other = LogAppender::open(path, {text.size()});
      REQUIRE(other);
      REQUIRE(LogAppender::open(path, {1000, 1'000'000, 4}));
      CHECK(readText(path) == text);  // another process appends to it
    }
    REQUIRE(LogAppender::open(path, {1000, 1'000'000, 4}));
    UnreadLines unread;
    CHECK(readTuningLog(path, unread)->candidates.size() == 4);
    struct stat about = {};
    REQUIRE(::stat(path.c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == mode);
  }
}

TEST_CASE("A log that two processes append to, or that has lines of others, stays as it is") {
  const TempFolder folder;
  const std::string record = toLine(candidate("l0", Outcome::Timed, 0)) + "\n";
  for (const char* begin : {"", "no record\n"}) {
    const std::string path = folder / ("log" + std::to_string(*begin));
    writeText(path, begin + record);
    auto log = LogAppender::open(path, {1000, 100, 1});
    std::optional<LogAppender> other;
    if (*begin == 0) other = std::move(*LogAppender::open(path));
    for (int i = 1; i < 50; ++i) REQUIRE(log->append(candidate("l" + std::to_string(i), Outcome::Timed, 0)));
    UnreadLines unread;
    CHECK(readTuningLog(path, unread)->candidates.size() == 50);
    if (!other) continue;
    other.reset();  // from here on it has the log for itself
    for (int i = 50; i < 100; ++i) REQUIRE(log->append(candidate("l" + std::to_string(i), Outcome::Timed, 0)));
    CHECK(readTuningLog(path, unread)->candidates.size() < 20);
  }
}

TEST_CASE("Appended records survive, and a torn line before them costs itself only") {
  const TempFolder folder;
  const std::string path = folder / "log";
  {
    auto log = LogAppender::open(path);
    REQUIRE(log);
    REQUIRE(log->append(candidate("a", Outcome::Wins, 0.5)));
    REQUIRE(log->flush());
  }
  std::string text = readText(path);
  text += text.substr(0, text.size() / 2);
  writeText(path, text);
  REQUIRE(LogAppender::open(path)->append(candidate("b", Outcome::Wins, 0.5)));
  UnreadLines unread;
  CHECK(readTuningLog(path, unread)->candidates.size() == 2);
  CHECK((unread.malformed == std::vector<size_t>{2} && !unread.tornEnd));
  CHECK(!LogAppender::open(folder / "no/folder"));
  CHECK(!LogAppender::open("/dev/null"));
}

TEST_CASE("A file with text and no record is something else than a tuning log") {
  const TempFolder folder;
  const std::string path = folder / "log", record = toLine(candidate("a", Outcome::Wins, 0.5));
  const auto isRead = [&](const std::string& text) {
    writeText(path, text);
    UnreadLines unread;
    const Result<TuningLog> log = readTuningLog(path, unread);
    if (!log) CHECK((log.error()->diag == Diag::Syntax && log.error()->message.starts_with("'" + path)));
    return log.has_value();
  };
  for (const std::string text :
       {"svod 1\n", "a,b\n1,2\n", "no end of a line", "\n\nx", "{}\n{\"svod-tuning\":1", "\1\2"})
    CHECK(!isRead(text));
  for (const std::string& text : {std::string(), std::string("\n"), record + "\n", "x\n" + record + "\n"})
    CHECK(isRead(text));
  for (const size_t length : {1, 5, 20, 60}) CHECK(isRead(record.substr(0, length)));  // its writer was stopped
}

TEST_CASE("Who locks a log is waited for, with a word, and not for ever") {
  const TempFolder folder;
  const std::string path = folder / "log";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  REQUIRE(::flock(file, LOCK_EX) == 0);
  int words = 0;
  LogLimits limits;
  limits.quietSeconds = 0.05, limits.waitSeconds = 0.2;
  limits.says = [&](const Error& wait) { words += wait->message.find(path) != std::string::npos ? 1 : 0; };
  const auto late = LogAppender::open(path, limits);
  REQUIRE(!late);
  CHECK((late.error()->diag == Diag::Io && late.error()->help.find("flock") != std::string::npos && words == 1));
  limits.waitSeconds = 60;
  limits.says = [&](const Error&) { ::close(file); };
  REQUIRE(LogAppender::open(path, limits));
}

TEST_CASE("Writers that share a log lose nothing and tear nothing") {
  const TempFolder folder;
  const std::string path = folder / "log";
  constexpr int kWriters = 8, kRecords = 200;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w)
    writers.emplace_back([&, w] {
      auto log = LogAppender::open(path);
      for (int i = 0; log && i < kRecords; ++i)
        if (!log->append(candidate(std::to_string(w) + " " + std::to_string(i), Outcome::Timed, 0))) return;
    });
  for (std::thread& t : writers) t.join();
  UnreadLines unread;
  CHECK(readTuningLog(path, unread)->candidates.size() == kWriters * kRecords);
  CHECK((unread.malformed.empty() && !unread.tornEnd));
}
