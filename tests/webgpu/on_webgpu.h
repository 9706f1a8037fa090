// Options of e2e/harness.h for plans of target webgpu, which run on the first adapter of WebGPU of this machine.
#pragma once
#include <catch2/catch.hpp>
#include <cstdlib>

#include "e2e/harness.h"

namespace svod {

inline RunOptions onWebGpu(int optLevel, std::string limits = "") {
  RunOptions options;
  options.target = "webgpu", options.cpu = std::move(limits);
  options.optLevel = optLevel;
  options.execute.separate = false;
  return options;
}

/// Asked in another process: what was forked from one that has used an adapter cannot use it.
inline bool hasWebGpu() {
  if (std::system(SVOD_BIN_DIR "/svod-run --list-devices --webgpu-library libwgpu_native.so >/dev/null 2>&1") == 0)
    return true;
  WARN("skipped: this machine has no adapter of WebGPU; docs/webgpu.md says what brings one");
  return false;
}

}  // namespace svod
