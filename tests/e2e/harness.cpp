#include "e2e/harness.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "common/sanitizers.h"
#include "toolchain/linker.h"

namespace svod {

namespace {

// LLD keeps process-wide state, so all tests of a process share one linker.
Linker& linker() {
  static Linker instance(std::filesystem::temp_directory_path().string());
  return instance;
}

bool sanitized() { return std::getenv("SVOD_SANITIZED") != nullptr; }

}  // namespace

std::span<const char* const> testTargets() {
  static constexpr const char* kTargets[] = {"c", "cpu"};
  return std::span(kTargets).first(sanitized() ? 1 : 2);
}

CompileOptions compileOptions(const RunOptions& options) {
  CompileOptions c;
  c.name = "test";
  c.target = *targetByName(options.target);
  c.machine = *c.target->machine("", options.cpu);
  c.devices = options.devices;
  c.optLevel = options.optLevel;
  c.numerics = options.numerics;
  c.memory = options.memory;
  c.jobs = options.jobs;
  if (!options.opts.empty()) c.opts = {{"", *parseOpts(options.opts)}};
  c.linker = &linker();
  c.passes.verifyEach = true;
  c.decisions = options.decisions;
  c.specializations = options.specializations;
  c.passes.disabledPasses = options.disabledPasses;
  if (options.target != "c") return c;
  const Tool compiler = cCompiler(options);
  c.tools = *c.target->open(
      {{{"cc", compiler.program}}, {}, compiler.environment, std::filesystem::temp_directory_path().string()});
  return c;
}

Tool cCompiler(const RunOptions& options) {
  bool quick = options.quickC || options.optLevel == 0;
  const char* program = sanitized()        ? SVOD_TEST_DIR "/sanitized_cc"
                        : kThreadSanitizer ? SVOD_TEST_DIR "/racing_cc"
                        : quick            ? SVOD_TEST_DIR "/quick_cc"
                                           : "cc";
  return {program, {"PATH=/usr/bin:/bin"}};
}

Result<std::vector<std::vector<HostTensor>>> runPlan(Model& model, const ModelBindings& bindings,
                                                     const RunOptions& options,
                                                     const std::vector<ExecuteOptions>& runs) {
  SVOD_TRY(std::unique_ptr<Compilation> compilation, compile(model, compileOptions(options)));
  PlanImage image = planImage(*compilation);
  std::vector<std::vector<HostTensor>> results;
  for (ExecuteOptions run : runs) {
    if (sanitized()) run.watch = Watch::Heap;
    SVOD_TRY(std::vector<HostTensor> ports, executePlan(image, model, bindings, run));
    results.push_back(std::move(ports));
  }
  return results;
}

Result<std::vector<HostTensor>> runPlan(Model& model, const ModelBindings& bindings, const RunOptions& options) {
  SVOD_TRY(std::vector<std::vector<HostTensor>> results, runPlan(model, bindings, options, {options.execute}));
  return std::move(results[0]);
}

std::string difference(const HostTensor& expected, const HostTensor& actual, double tolerance) {
  if (expected.dims != actual.dims || expected.dtype != actual.dtype) return "dtype or shape differs";
  for (int64_t i = 0; i < expected.numel(); ++i) {
    Scalar e = expected.at(i), a = actual.at(i);
    bool same = e == a;
    if (isFloat(e.dtype()) && !same) {
      double x = e.asFloat(), y = a.asFloat();
      same = x == y || std::abs(x - y) <= tolerance * std::max(1.0, std::abs(x));
    }
    if (!same) return "element " + std::to_string(i) + ": expected " + toText(e) + ", got " + toText(a);
  }
  return "";
}

}  // namespace svod
