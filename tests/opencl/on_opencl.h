// Options of e2e/harness.h for plans of target opencl, which run on the first OpenCL device of this machine.
#pragma once
#include <catch2/catch.hpp>
#include <cstdlib>

#include "e2e/harness.h"

namespace svod {

inline RunOptions onOpenCl(int optLevel, Numerics numerics, std::string limits = "") {
  RunOptions options;
  options.target = "opencl", options.cpu = std::move(limits);
  options.optLevel = optLevel, options.numerics = numerics;
  options.execute.separate = false;
  return options;
}

/// Asked in another process: what was forked from one that has used OpenCL cannot use it.
inline bool hasOpenCl() {
  if (std::system(SVOD_BIN_DIR "/svod-run --list-devices --opencl-loader libOpenCL.so.1 >/dev/null 2>&1") == 0)
    return true;
  WARN("skipped: this machine has no OpenCL device; pocl-opencl-icd brings one");
  return false;
}

}  // namespace svod
