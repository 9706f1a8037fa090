// Results that leave through memory of the workgroup leave to places that one thread can tell.
#include <catch2/catch.hpp>

#include "common/model_text.h"
#include "opts/opt_checks.h"
#include "schedule/schedule.h"

using namespace svod;

TEST_CASE("A result whose place several threads compute together is not stashed") {
  Model model = modelOf(
      "input x: f32[16, 9]\ninput i: i64[16, 4, 64]\ninput u: f32[16, 4]\n"
      "output y = scatter_elements(x, sum(i, axes=2), u, axis=1)\n");
  Result<Schedule> schedule = makeSchedule(model, {});
  if (!schedule) FAIL(toText(schedule.error()));
  Kernel& kernel = schedule->kernels.back();
  const auto error = [&](const char* opts) { return errorOf(*kernel.graph, kernel.sink, opts, gpuCaps()); };
  CHECK(error("local(n0,16) group(k0,4) stash(1)").find("is computed by several threads") != std::string::npos);
}
