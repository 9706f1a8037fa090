// What the tests of rests ask of a kernel: opts that apply, stages that are valid, and what it stores.
#pragma once
#include <catch2/catch.hpp>
#include <string>

#include "ir/text.h"
#include "ir/verify.h"
#include "opts/kernel_parts.h"
#include "opts/opt_checks.h"

namespace svod {

inline UOp withOpts(Graph& g, UOp sink, const std::string& opts) {
  auto tuned = applyOpts(g, sink, *parseOpts(opts), cpuCaps());
  if (!tuned) FAIL(opts << ": " << toText(tuned.error()));
  return *tuned;
}

/// The buffers after the kernel, of any stage, ran with one variable.
inline Buffers ranWith(UOp sink, Buffers buffers, const std::string& variable, int64_t value) {
  const Status status = interpretKernel(sink, buffers, {{variable, value}});
  if (!status) FAIL(toText(status.error()) << "\n" << toUopText(sink));
  return buffers;
}

inline void checkStages(UOp kernel, UOp lowered) {
  for (auto [sink, stage] : {std::pair(kernel, Stage::Kernel), std::pair(lowered, Stage::Lowered)}) {
    const Status valid = verify(sink, stage);
    CHECK((valid ? "" : toText(valid.error())) == "");
  }
}

}  // namespace svod
