// Random models and the kernels made from them compute the same before and after simplification.
#include <catch2/catch.hpp>
#include "driver/schedule_interp.h"

#include "common/random_graph.h"
#include "interp/error_bounds.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "schedule/schedule.h"
#include "symbolic/symbolic.h"

using namespace svod;

namespace {

// Buffers by parameter slot with random contents; `special` mixes in NaN, infinities and extreme integers.
std::vector<HostTensor> randomBuffers(UOp sink, uint64_t seed) {
  std::vector<HostTensor> buffers;
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Param) continue;
    size_t slot = n.argAs<SlotArg>().slot;
    if (slot >= buffers.size()) buffers.resize(slot + 1);
    buffers[slot] = randomTensor(n.dtype(), {n.src(0).bounds().max}, seed + slot, true);
  }
  return buffers;
}

VariableValues variableValues(UOp sink, Draw& draw) {
  VariableValues values;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Var)
      values[std::string(n.argAs<VarArg>().name)] = draw.between(n.argAs<VarArg>().min, n.argAs<VarArg>().max);
  return values;
}

}  // namespace

TEST_CASE("tensor graphs keep their results") {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Model model = randomModel(seed);
    ModelBindings bindings = randomBindings(model, seed + 1);
    Result<std::vector<HostTensor>> before = interpret(model, bindings);
    REQUIRE(before.has_value());
    std::string text = toUopText(model.sink);
    model.sink = simplify(*model.graph, model.sink);
    INFO("seed " << seed << "\n" << text << "\n->\n" << toUopText(model.sink));
    Status legal = verify(model.sink, Stage::Tensor);
    if (!legal) FAIL(toText(legal.error()));
    Result<std::vector<HostTensor>> after = interpret(model, bindings);
    if (!after) FAIL(toText(after.error()));
    for (size_t i = 0; i < before->size(); ++i)
      if (!sameValues((*before)[i], (*after)[i], true)) FAIL("port " << model.ports[i].name << " changed");
  }
}

TEST_CASE("kernels keep their results") {
  int changed = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Model model = randomModel(seed);
    Result<Schedule> schedule = makeSchedule(model, {Numerics::Strict});
    if (!schedule) FAIL(toText(schedule.error()));
    for (Kernel& kernel : schedule->kernels) {
      Draw draw(seed);
      UOp simple = simplifyKernel(*kernel.graph, kernel.sink, Numerics::Strict);
      if (simple == kernel.sink) continue;
      ++changed;
      INFO("seed " << seed << "\n" << toUopText(kernel.sink) << "\n->\n" << toUopText(simple));
      Status legal = verify(simple, Stage::Kernel);
      if (!legal) FAIL(toText(legal.error()));
      std::vector<HostTensor> before = randomBuffers(kernel.sink, seed), after = before;
      VariableValues variables = variableValues(kernel.sink, draw);
      Status ran = interpretKernel(kernel.sink, before, variables);
      if (!ran) FAIL(toText(ran.error()));
      ran = interpretKernel(simple, after, variables);
      if (!ran) FAIL(toText(ran.error()));
      for (size_t i = 0; i < before.size(); ++i)
        if (!sameValues(before[i], after[i], true)) FAIL("buffer " << i << " changed");
      CHECK(simplifyKernel(*kernel.graph, simple, Numerics::Strict) == simple);
    }
  }
  CHECK(changed > 30);
}

TEST_CASE("schedules in contract mode stay within their error bounds") {
  RandomOptions options;
  options.contract = true;
  options.symbolic = false;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Model model = randomModel(seed, options);
    ModelBindings bindings = randomBindings(model, seed + 1, options);
    Result<BoundedResult> want = interpretWithBounds(model, bindings);
    if (!want) FAIL(toText(want.error()));
    Result<Schedule> schedule = makeSchedule(model, {Numerics::Contract});
    if (!schedule) FAIL(toText(schedule.error()));
    INFO("seed " << seed);
    Result<std::vector<HostTensor>> got =
        interpretSchedule(model, *schedule, bindings, [](const Kernel& kernel) -> Result<UOp> {
          return simplifyKernel(*kernel.graph, kernel.sink, Numerics::Contract);
        });
    if (!got) FAIL(toText(got.error()));
    for (size_t i = 0; i < want->values.size(); ++i) {
      (*got)[i].dims = want->values[i].dims;
      std::string difference = differenceBeyond((*got)[i], want->values[i], want->bounds[i]);
      if (!difference.empty()) FAIL(model.ports[i].name << ": " << difference);
    }
  }
}
