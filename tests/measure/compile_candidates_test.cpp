// Candidates of a real kernel to machine code: those that cannot be compiled cost themselves.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdlib>
#include <new>

#include "common/model_text.h"
#include "common/temp_folder.h"
#include "measure/compile_candidates.h"
#include "measure/cpu_measure.h"
#include "measure/test_data.h"

using namespace svod;

namespace {

struct Bench {
  TempFolder folder;
  Linker linker{folder / ""};
  CompileOptions options;
  Model model;
  std::unique_ptr<Compilation> compilation;
  const CompiledKernel* kernel = nullptr;

  explicit Bench(const std::string& text) : model(modelOf(text)) {
    options.machine = makeCpuTarget("", "native").value();
    options.linker = &linker;
    auto compiled = compile(model, options);
    if (!compiled) FAIL(toText(compiled.error()));
    compilation = std::move(*compiled);
    kernel = &compilation->kernels.at(0);
  }
  std::vector<CompiledCandidate> of(const std::vector<std::string>& texts, const CompileLimits& limits = {},
                                    const KnownCode& known = {}) {
    std::vector<std::vector<OptOp>> lists;
    for (const std::string& text : texts) lists.push_back(parseOpts(text).value());
    return compileCandidates(*kernel, lists, options, limits, known, folder / "c" + std::to_string(batches++) + "-");
  }
  int batches = 0;
};

constexpr const char* kProduct = "input a: f32[33, 20]\ninput b: f32[20, 48]\noutput y = matmul(a, b)\n";

}  // namespace

TEST_CASE("A batch is one library, and lists with one code are compiled once") {
  Bench bench(kProduct);
  const auto all = bench.of({"", "vector(n1,8)", "vector(n1,8) upcast(n0,3)", "upcast(n0,3) vector(n1,8)"});
  for (const CompiledCandidate& c : all) {
    CHECK(c.verdict.outcome == Outcome::Timed);
    CHECK(c.code.library == all[0].code.library);
  }
  CHECK(all[2].code.hash == all[3].code.hash);
  CHECK(all[2].code.function == all[3].code.function);
  CHECK(all[0].code.hash != all[1].code.hash);
  CHECK(all[0].code.function != all[1].code.function);
  const KnownCode known = {{all[1].code.hash, all[1].code}};
  const auto again = bench.of({"vector(n1,8)", "vector(n1,16)"}, {}, known);
  CHECK(again[0].code.library == all[1].code.library);
  CHECK(again[1].code.library != all[1].code.library);
}

TEST_CASE("Lists that do not apply, or are too large, cost themselves") {
  Bench bench(kProduct);
  bench.options.mostInstructions = 400;
  const auto all = bench.of({"vector(n1,16)", "vector(n9,16)", "upcast(n0,33) upcast(n1,12)", "upcast(n0,2)"});
  CHECK(all[0].verdict.outcome == Outcome::Timed);
  CHECK(all[1].verdict.outcome == Outcome::CompileFailed);
  CHECK(all[1].verdict.reason.find("n9") != std::string::npos);
  CHECK(all[2].verdict.outcome == Outcome::TooLarge);
  CHECK(all[2].verdict.reason.find("may have 400") != std::string::npos);
  CHECK(all[3].verdict.outcome == Outcome::Timed);
}

TEST_CASE("A candidate that halts, crashes or starves the compiler is given up, and the others are compiled") {
  Bench bench(kProduct);
  const struct {
    void (*plant)();
    std::string reason;
  } planted[] = {{[] { ::pause(); }, "took more than 3 s"},
                 {[] { std::abort(); }, "ended by a signal"},
                 {[] { throw std::bad_alloc(); }, "ran out of memory"}};
  for (const auto& each : planted) {
    INFO(each.reason);
    bench.options.passes.instrument = [&](const Pass& pass, UOp root, PassContext& cx) -> Result<UOp> {
      if (pass.name == "expand" && cx.job == "candidate_1") each.plant();
      return root;
    };
    const auto all = bench.of({"vector(n1,16)", "vector(n1,8)", "upcast(n0,2)"}, {3, uint64_t{4} << 30});
    CHECK(all[1].verdict.outcome == Outcome::CompileFailed);
    CHECK(all[1].verdict.reason.find(each.reason) != std::string::npos);
    CHECK(all[0].verdict.outcome == Outcome::Timed);
    CHECK(all[2].verdict.outcome == Outcome::Timed);
  }
}

TEST_CASE("Where no library can be made, every candidate says why") {
  Bench bench(kProduct);
  const std::vector<std::vector<OptOp>> lists = {
      {}, parseOpts("vector(n1,8)").value(), parseOpts("upcast(n0,2)").value()};
  for (const CompiledCandidate& c :
       compileCandidates(*bench.kernel, lists, bench.options, {}, {}, bench.folder / "none/here-")) {
    CHECK(c.verdict.outcome == Outcome::CompileFailed);
    CHECK(c.verdict.reason.find("none/here-") != std::string::npos);
  }
}

TEST_CASE("Variables are timed in the middle of their bounds") {
  Bench bench("var n in [10, 31]\ninput x: f32[n, 24]\noutput y = x + 1\n");
  CHECK(bench.of({""})[0].code.values == std::vector<int64_t>{20});
}

TEST_CASE("What is measured of a kernel comes from its code") {
  Bench bench(kProduct);
  CpuMeasure measure(*bench.kernel, bench.options, bench.folder / "", CpuMeasure::Clock::time_point::max());
  const std::vector<OptOp> usual = optsOf(bench.kernel->choice);
  REQUIRE(measure.begin({usual, toText(usual), "-O1", 0, {}}));
  const Candidate plain{{}, "", "test", 0, {}},
      broken{parseOpts("vector(n9,16)").value(), "vector(n9,16)", "test", 0, {}};
  const Candidate both[] = {plain, broken};
  const std::vector<Prepared> prepared = measure.prepare(both);
  CHECK(prepared[0].verdict.outcome == Outcome::Timed);
  CHECK(prepared[1].verdict.outcome == Outcome::CompileFailed);
  const TrialResult timed = measure.time(plain, 0);
  CHECK((timed.outcome == Outcome::Timed && timed.nanoseconds > 0));
  CHECK(measure.compare(plain).outcome == Outcome::Loses);
  CHECK(measure.time(broken, 0).outcome == Outcome::CompileFailed);
  CHECK(!measure.isOver());
}
