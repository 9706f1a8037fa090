// Schedules that were compared with the interpreter of the graph.
#pragma once
#include <catch2/catch.hpp>

#include "driver/schedule_interp.h"
#include "ir/model.h"
#include "lower/expand.h"
#include "schedule/schedule.h"

namespace svod {

inline HostTensor pattern(UOp buffer, int seed) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < buffer.rank(); ++i) dims.push_back(buffer.dim(i));
  HostTensor t = HostTensor::zeros(buffer.dtype(), dims);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.set(i, Scalar::of(t.dtype, static_cast<double>((i * 7 + seed * 3) % 11 - 5)));
  return t;
}

inline ModelBindings patterns(const Model& model) {
  ModelBindings bindings;
  int seed = 0;
  for (const ModelPort& p : model.ports)
    bindings.ports.push_back(p.kind == PortKind::Output ? HostTensor{} : pattern(p.buffer, ++seed));
  return bindings;
}

/// The schedule computes what the graph means, as kernels and after expansion. Sums of `patterns` are exact in any
/// order.
inline Schedule checked(Model& model, Numerics numerics = Numerics::Strict) {
  auto schedule = makeSchedule(model, {.numerics = numerics, .passes = {.verifyEach = true}});
  REQUIRE(schedule);
  ModelBindings bindings = patterns(model);
  auto expected = interpret(model, bindings);
  REQUIRE(expected);
  KernelTransform lower = [](const Kernel& k) -> Result<UOp> {
    SVOD_TRY(UOp sink, expand(*k.graph, k.sink));
    return mergeLoops(*k.graph, sink);
  };
  for (const KernelTransform& transform : {KernelTransform(), lower}) {
    auto actual = interpretSchedule(model, *schedule, bindings, transform);
    if (!actual) FAIL(toText(actual.error()));
    for (size_t i = 0; i < model.ports.size(); ++i) {
      if (model.ports[i].kind != PortKind::Output && model.ports[i].kind != PortKind::State) continue;
      INFO("port " << model.ports[i].name << "\n" << toText(*schedule));
      (*actual)[i].dims = (*expected)[i].dims;
      CHECK(sameValues((*expected)[i], (*actual)[i], true));
    }
  }
  return std::move(*schedule);
}

}  // namespace svod
