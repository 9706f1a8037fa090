// Tuning logs as files: what is appended, shortened and locked.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>
#include <thread>

#include "common/temp_folder.h"
#include "random_logs.h"
#include "tuning/log_file.h"
#include "tuning/winners.h"

using namespace svod;

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

TEST_CASE("A log with several names stays one file") {
  const TempFolder folder;
  const std::string path = folder / "log", other = folder / "other";
  std::string text;
  for (int i = 0; i < 200; ++i) text += toLine(candidate("l" + std::to_string(i), Outcome::Slow, 0)) + "\n";
  writeText(path, text);
  std::filesystem::create_hard_link(path, other);
  {
    auto log = LogAppender::open(path, {1000, 100, 4});
    REQUIRE(log);
    for (int i = 0; i < 10; ++i) REQUIRE(log->append(candidate("more", Outcome::Wins, 0.5)));
  }
  CHECK(std::filesystem::equivalent(path, other));
  CHECK((readText(other).starts_with(text) && readText(other).ends_with("}\n")));
  UnreadLines unread;
  CHECK(readTuningLog(other, unread)->candidates.size() == 201);
  std::filesystem::remove(other);
  REQUIRE(LogAppender::open(path, {1000, 100, 4}));
  CHECK(readTuningLog(path, unread)->candidates.size() == 5);
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

TEST_CASE("What replaces a log waits until nobody appends to it, and who appends finds the new one") {
  const TempFolder folder;
  const std::string path = folder / "log";
  LogLimits limits;
  limits.quietSeconds = 0, limits.waitSeconds = 0.05;
  {
    auto log = LogAppender::open(path);
    REQUIRE((log && log->append(candidate("a", Outcome::Timed, 0))));
    const auto early = LogAlone::of(path, limits);
    REQUIRE(!early);
    CHECK(early.error()->help.find("svodc tune") != std::string::npos);
    std::filesystem::remove(path);
    REQUIRE(log->append(candidate("b", Outcome::Timed, 0)));
  }
  UnreadLines unread;
  CHECK(readTuningLog(path, unread)->candidates.at(0).opts == "b");
  const auto alone = LogAlone::of(path, limits);
  REQUIRE(alone);
  CHECK(!LogAppender::open(path, limits));
}

TEST_CASE("A log that nothing can be put in place of is appended to, however long it is") {
  const TempFolder folder;
  const std::string path =
      folder / std::string(255, 'l');  // no other name beside it is longer, as that of a new file would be
  writeText(path, toLine(candidate("a", Outcome::Timed, 0)) + "\n");
  LogLimits limits;
  limits.bytes = 10;
  auto log = LogAppender::open(path, limits);
  REQUIRE(log);
  CHECK(log->append(candidate("b", Outcome::Timed, 0)));
  UnreadLines unread;
  CHECK(readTuningLog(path, unread)->candidates.size() == 2);
}
