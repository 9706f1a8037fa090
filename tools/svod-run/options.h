// The command line of svod-run.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/result.h"

namespace svod {

using NameValue = std::pair<std::string, std::string>;

struct RunOptions {
  std::string plan;
  std::vector<NameValue> inputs, outputs;  // port name, file; "-" is standard input or output
  std::string outputDir;
  std::vector<std::pair<std::string, int64_t>> variables;
  size_t threads = 0;  // 0: one per processor
  uint64_t repeat = 1;
  uint64_t orderSeed = 0;
  bool profile = false, json = false, verifyWeights = false;
  std::string trace;      // file for Chrome and Perfetto
  std::string reference;  // directory of NAME.npy
  std::optional<double> rtol, atol;
};

/// Nothing when help or the version was printed. Errors are Diag::Usage.
Result<std::optional<RunOptions>> parseOptions(int argc, char** argv);

}  // namespace svod
