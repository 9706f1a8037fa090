#include <catch2/catch.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "common/sanitizers.h"
#include "measure/child.h"
#include "measure/guarded_buffer.h"
#include "measure/tile_threads.h"
#include "planted.h"

using namespace svod;

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
  for (const char* body : {"y[1024] = 1;", "y[-1020] = 1;", "((char*)y)[4000] = 1;", "((char*)y)[-1] = 1;",
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
