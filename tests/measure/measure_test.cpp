#include <catch2/catch.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "common/sanitizers.h"
#include "common/temp_folder.h"
#include "measure/child.h"
#include "measure/guarded_buffer.h"
#include "measure/run_candidate.h"
#include "measure/sequential_test.h"
#include "measure/test_data.h"
#include "measure/tile_threads.h"
#include "measure/timing.h"

using namespace svod;

namespace {

constexpr size_t kElements = 1000;

/// y = 2 x, with something planted.
CandidateCode built(const TempFolder& folder, const std::string& name, const std::string& body) {
  const std::string source = folder / (name + ".c"), library = folder / (name + ".so");
  writeText(source,
            "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
            "#include <time.h>\n"
            "void candidate(void* const* b, const int64_t* v, int64_t begin, int64_t end, void* scratch) {\n"
            "float* y = b[0]; const float* x = b[1]; (void)v; (void)begin; (void)end; (void)scratch;\n"
            "for (int i = 0; i < 1000; ++i) y[i] = 2 * x[i];\n" +
                body + "\n}\n");
  REQUIRE(std::system(("cc -O1 -w -shared -fPIC -o " + library + " " + source).c_str()) == 0);
  CandidateCode code;
  code.library = library, code.function = "candidate";
  code.args = {{ElementType::F32, Mode::Write, 4 * kElements}, {ElementType::F32, Mode::Read, 4 * kElements}};
  code.scratchBytes = 128;
  return code;
}

KernelData data() {
  KernelData all;
  all.types = {ElementType::F32, ElementType::F32};
  all.operands.assign(2, std::vector<std::byte>(4 * kElements));
  fillWithData(all.operands[1], ElementType::F32, 1);
  return all;
}

std::set<std::string> linesOf(const std::string& file) {
  std::ifstream in(file);
  std::set<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

struct Bench {
  TempFolder folder;
  KernelData all = data();
  RunLimits limits{2, 256 << 20};
  Runner runner{all, limits};
  int planted = 0;

  Bench() {
    const TrialResult reference = runReference(built(folder, "reference", ""), all, limits);
    REQUIRE(reference.outcome == Outcome::Timed);
  }
  TrialResult time(const CandidateCode& code, double stopAbove = 0) { return runner.time(code, stopAbove); }
  /// Libraries have different names: a process loads one of a name once.
  TrialResult of(const std::string& body) { return time(built(folder, "planted" + std::to_string(planted++), body)); }
};

}  // namespace

TEST_CASE("A right candidate is timed") {
  Bench bench;
  const TrialResult v = bench.of("");
  CHECK(v.outcome == Outcome::Timed);
  CHECK((v.nanoseconds > 10 && v.runs > 7));
  CHECK(bench.of("scratch = memset(scratch, 0, 128);").outcome == Outcome::Timed);
}

TEST_CASE("Planted candidates cost themselves, and the reason says what they did") {
  Bench bench;
  CHECK(bench.of("abort();").outcome == Outcome::Crashed);
  CHECK(bench.of("*(volatile int*)8 = 1;").outcome == Outcome::Crashed);
  CHECK(bench.of("exit(0);").outcome == Outcome::Crashed);
  CHECK(bench.of("for (volatile int i = 0;; ) i = 1;").outcome == Outcome::Hung);
  CHECK(bench.of("y[1] = 7;").outcome == Outcome::Wrong);
  CHECK(bench.of("y[1] = 7;").reason.find("element 1 is 7") != std::string::npos);
  CHECK(bench.of("((float*)x)[3] = 1;").reason.find("may only read") != std::string::npos);
  CHECK(bench.of("y[999] = 0.0f / (x[0] - x[0]);").outcome == Outcome::Wrong);
  for (const char* body : {"y[1024] = 1;", "y[-1100] = 1;", "((char*)y)[4000] = 1;", "((char*)y)[-1] = 1;",
                           "((char*)scratch)[128] = 1;", "y[0] = 2 * x[0] + 0 * x[1100];"}) {
    INFO(body);
    CHECK(bench.of(body).outcome == Outcome::OutOfBounds);
  }
  CandidateCode large = built(bench.folder, "large", "");
  large.scratchBytes = uint64_t{1} << 40;
  CHECK(bench.time(large).outcome == Outcome::Memory);
  CandidateCode absent = large;
  absent.scratchBytes = 0, absent.library = bench.folder / "none.so";
  CHECK(bench.time(absent).outcome == Outcome::CompileFailed);
  CHECK(bench.of("").outcome == Outcome::Timed);  // and the next one is fine
}

TEST_CASE("An operand in an order of its own is what candidates read, one after the other, and cannot be written") {
  Bench bench;
  const auto reversed = [&](const std::string& name, const std::string& body) {
    CandidateCode code = built(bench.folder, name, "for (int i = 0; i < 1000; ++i) y[i] = 2 * x[999 - i];" + body);
    code.layouts = {{1, {{1000, -1, 0}}, {999}}};
    return bench.time(code);
  };
  CHECK(reversed("first", "").outcome == Outcome::Timed);
  CHECK(reversed("writes", "((float*)x)[3] = 1;").reason.find("may only read") != std::string::npos);
  CHECK(reversed("beside", "y[0] += 0 * x[1100];").outcome == Outcome::OutOfBounds);
  CHECK(reversed("again", "").outcome == Outcome::Timed);
}

TEST_CASE("Samples are taken on copies of the data in other pages, on one where runs are long or threads share them") {
  Bench bench;
  // How many places it ran in while it was timed, and while it was compared; `often`: timed again after a first run
  // that happened to take long.
  const auto placesOf = [&](const std::string& name, Runner& runner, const std::string& more, int often) {
    const std::string list = bench.folder / (name + ".txt");
    const CandidateCode code = built(bench.folder, name,
                                     more + "static const float* last; if (x != last) { FILE* f = fopen(\"" + list +
                                         "\", \"a\"); fprintf(f, \"%p\\n\", (void*)(last = x)); fclose(f); }");
    CHECK(runner.setUsual(built(bench.folder, name + "-usual", more)).outcome == Outcome::Timed);
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
  // The first few bring the code, and say nothing; sleeping may take longer than is asked for.
  bool isTimed = false;
  for (int i = 0; i < 20 && !isTimed; ++i) {
    CandidateCode small = built(bench.folder, "small" + std::to_string(i),
                                "static int n; extern int usleep(unsigned); if (n++ == 0) usleep(100);");
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
  CandidateCode code = built(bench.folder, "slow",
                             "FILE* f = fopen(\"" + list +
                                 "\", \"a\"); fprintf(f, \"%d\\n\", (int)(end - begin)); fclose(f);\n"
                                 "struct timespec from, now; clock_gettime(CLOCK_MONOTONIC, &from);\n"
                                 "do clock_gettime(CLOCK_MONOTONIC, &now); while ((now.tv_sec - from.tv_sec) * 1e9 + "
                                 "now.tv_nsec - from.tv_nsec < " +
                                 std::to_string(kTileNs) + " * (end - begin));");
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
}

TEST_CASE("Threads that share tiles are started once, and compute every tile once in each run") {
  TileThreads threads(4);
  REQUIRE(threads.count() == 4);
  constexpr int kTiles = 200;
  static std::atomic<int> times[kTiles];
  static std::mutex mutex;
  static std::set<std::pair<std::thread::id, void*>> workers;
  const KernelFunction function = [](void* const*, const int64_t*, int64_t begin, int64_t end, void* scratch) {
    for (int64_t t = begin; t < end; ++t) ++times[t];
    const std::lock_guard lock(mutex);
    workers.emplace(std::this_thread::get_id(), scratch);
  };
  char memory[4];
  void* const scratch[] = {memory, memory + 1, memory + 2, memory + 3};
  for (int run = 1; run <= 50; ++run) {
    threads.run({function, nullptr, nullptr, kTiles, scratch});
    CHECK(std::ranges::all_of(times, [&](const auto& count) { return count == run; }));
  }
  CHECK(workers.size() <= 4);  // each with scratch memory of its own
  CHECK(workers.contains({std::this_thread::get_id(), memory}));
}

TEST_CASE("Candidates that threads share are right, and timed") {
  Bench bench;
  CandidateCode code = built(bench.folder, "shared", "(void)0;");
  code.tiles = 3;
  Runner runner(bench.all, bench.limits, {3, false, false});
  CHECK(runner.time(code, 0).outcome == Outcome::Timed);
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

TEST_CASE("Interleaved runs tell a clear gain from none") {
  Bench bench;
  const CandidateCode fast = built(bench.folder, "fast", ""),
                      slow = built(bench.folder, "long", "for (volatile int i = 0; i < 20000; ) i = i + 1;");
  REQUIRE(bench.runner.setUsual(slow).outcome == Outcome::Timed);
  const TrialResult wins = bench.runner.compare(fast);
  CHECK((wins.outcome == Outcome::Wins && wins.ratio < 0.9 && wins.ulp == 0));
  const TrialResult near = bench.runner.compare(built(bench.folder, "near", "y[3] += 0x1p-22f;"));
  CHECK((near.outcome == Outcome::Wins && near.ulp >= 1 && near.ulp <= 4));  // of values between 1 and 2
  const double alone = bench.time(fast).nanoseconds;                         // beside the slow one
  CHECK((alone > 0 && alone < 1e6));
  REQUIRE(bench.runner.setUsual(fast).outcome == Outcome::Timed);
  CHECK(bench.runner.compare(slow).outcome == Outcome::Loses);
}

TEST_CASE("A child that dies, sleeps or asks for too much ends alone") {
  CHECK(runInChild({5, 0}, [](const ChildOutput& out) { out.write("words"); }).text == "words");
  CHECK(runInChild({5, 0}, [](const ChildOutput&) { std::abort(); }).signal == SIGABRT);
  CHECK(runInChild({0.2, 0}, [](const ChildOutput&) { ::pause(); }).timedOut);
  CHECK(runInChild({5, 0}, [](const ChildOutput&) { ::_exit(7); }).exitCode == 7);
}

TEST_CASE("A child answers question after question, and another one after it died") {
  AnsweringChild child({5, 0}, [] {
    return [count = 0](const std::string& question) mutable {
      if (question == "die") std::abort();
      if (question == "sleep") ::pause();
      return question + std::to_string(++count);
    };
  });
  CHECK(child.ask("a").text == "a1");
  CHECK(child.ask(std::string(100000, 'b')).text == std::string(100000, 'b') + "2");
  CHECK(child.ask("die").signal == SIGABRT);
  CHECK(child.ask("c").text == "c1");
  child.end();
  CHECK(child.ask("d").text == "d1");
}

TEST_CASE("Floats may differ by what another order of sums does, integers not at all") {
  std::vector<std::byte> a(64), b;
  fillWithData(a, ElementType::F32, 3);
  b = a;
  CHECK(!firstDifference(a, b, ElementType::F32));
  float value;
  std::memcpy(&value, b.data() + 8, 4);
  value = std::nextafterf(value, 2);
  std::memcpy(b.data() + 8, &value, 4);
  CHECK(!firstDifference(a, b, ElementType::F32));
  CHECK(firstDifference(a, b, ElementType::I32));
  value += 0.01F;
  std::memcpy(b.data() + 8, &value, 4);
  CHECK(firstDifference(a, b, ElementType::F32)->starts_with("element 2 is "));
}
