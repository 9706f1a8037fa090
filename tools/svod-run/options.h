// The command line of svod-run.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "step_names.h"
#include "support/result.h"

namespace svod {

using NameValue = std::pair<std::string, std::string>;

struct RunOptions {
  std::string plan;
  std::vector<NameValue> inputs, outputs;  // port name, file; "-" is standard input or output
  std::vector<NameValue> dumps;            // name of an intermediate, file or ""
  std::vector<NameValue> devices;          // of the plan, number on this machine
  std::string outputDir;
  std::vector<std::pair<std::string, int64_t>> variables;
  int64_t threads = 0;  // 0: one per processor
  int64_t repeat = 1;
  int64_t orderSeed = 0;
  int64_t seed = 0;                         // of inputs without a file
  bool random = false;                      // inputs need no files
  ProfileBy profileBy = ProfileBy::Kernel;  // what a row of the profile is
  bool profile = false, json = false, verifyWeights = false, trustWeights = false;
  bool noJit = false, noGraphs = false, syncSteps = false;  // of CUDA devices
  std::string cpu;                                          // whose code runs; empty: the best for this machine
  bool explain = false;                                     // which that is; nothing runs
  bool help = false, version = false, listDevices = false;  // asked for; the rest is not checked then
  std::string trace;                                        // file for Chrome and Perfetto
  std::string reference;                                    // directory of NAME.npy
  std::string loadState, saveState;                         // .safetensors files
  std::string diagnostics = "text";
  std::string cudaDriver, openclLoader, webgpuLibrary;  // libraries
  std::optional<double> rtol, atol;

  /// Whether an output goes to standard output.
  bool dataOnStdout() const;
};

/// `words` are the arguments without the program's name. Errors: Usage.
Result<RunOptions> parseOptions(const std::vector<std::string>& words);

std::string helpText();

}  // namespace svod
