// Where plans that tuning times in its own process have their memory, and what times of theirs tell.
#include "tune/running_plan.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include "common/model_text.h"
#include "common/temp_folder.h"
#include "measure/code.h"
#include "target/target.h"
#include "toolchain/linker.h"
#include "tune/plans_in_turns.h"

using namespace svod;

namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;

bool beginsAt(const std::byte* data, uint64_t unit) { return reinterpret_cast<uintptr_t>(data) % unit == 0; }

/// Whether the kernel of the system was asked for huge pages where `data` lies; nothing where it does not say.
std::optional<bool> asksForHugePages(const std::byte* data) {
  std::ifstream smaps("/proc/self/smaps");
  const auto at = reinterpret_cast<uintptr_t>(data);
  bool isHere = false;
  for (std::string line; std::getline(smaps, line);) {
    uintptr_t first = 0, end = 0;
    char dash = 0;
    if (std::istringstream in(line); in >> std::hex >> first >> dash >> end && dash == '-')
      isHere = at >= first && at < end;
    if (isHere && line.starts_with("VmFlags:")) return (line + " ").find(" hg ") != std::string::npos;
  }
  return std::nullopt;
}

std::unique_ptr<Compilation> compiledHere(Model& model, const std::string& folder) {
  Linker linker{folder};
  CompileOptions options;
  options.machine = makeCpuTarget("", "native").value();
  options.linker = &linker;
  auto compiled = compile(model, options);
  if (!compiled) FAIL(toText(compiled.error()));
  return std::move(*compiled);
}

}  // namespace

TEST_CASE("Plans in turns are timed as long as there is time, and their kernels where they are told of") {
  Model model = modelOf("input x: f32[64, 48]\noutput y = contiguous(exp(x)) * 2\noutput z = sum(x, axes=1)\n");
  TempFolder folder;
  const auto compiled = compiledHere(model, folder / "");
  const PlanPair itself{model, model, *compiled, *compiled, {}, kLikely};
  for (const double seconds : {0.0, 1000.0}) {
    const KernelsInPlan times = timeKernelsInPlans(itself, seconds);
    REQUIRE(times.problem.empty());
    CHECK(times.kernels.size() == compiled->kernels.size());
    for (const auto& [name, kernel] : times.kernels) {
      CHECK((kernel.isTold || (seconds == 0 && !kernel.isSlower)));
      CHECK((kernel.warm > 0 && kernel.cold > 0));
    }
  }
  const KernelsInPlan whole = timeWholePlans(itself, 0);
  CHECK((whole.problem.empty() && whole.kernels.empty() && whole.whole.warm > 0 && whole.otherNs > 0));
}

TEST_CASE("A plan that is timed has memory as the runtime has it: lines for ports, huge pages for arenas") {
  // Two values of 6 MiB and one of 600 bytes wait in arenas.
  Model model = modelOf(
      "input x: f32[1536, 1024]\ninput few: f32[150]\noutput y = contiguous(exp(x)) * sum(contiguous(exp(few)))\n"
      "output z = contiguous(transpose(contiguous(cos(x)))) + 1\n");
  TempFolder folder;
  const auto compiled = compiledHere(model, folder / "");
  const std::unique_ptr<svod_pool, decltype(&svod_pool_free)> pool(svod_pool_create(1), svod_pool_free);
  const auto made = RunningPlan::make(model, *compiled, pool.get(), false, kLikely);
  if (!made) FAIL(toText(made.error()));
  RunningPlan& plan = **made;
  REQUIRE(plan.run());

  REQUIRE(plan.bound().size() == 4);
  for (std::span<const std::byte> port : plan.bound()) CHECK(beginsAt(port.data(), kLineBytes));
  int large = 0;
  for (std::span<const std::byte> block : plan.working()) {
    CHECK(beginsAt(block.data(), alignof(std::max_align_t)));
    if (block.size() < 2 * kHugePage) continue;
    ++large;
    CHECK(beginsAt(block.data(), kHugePage));
    CHECK(asksForHugePages(block.data()).value_or(true));
  }
  CHECK(large >= 1);
}
