#include "options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "console/command_flags.h"
#include "input_file.h"
#include "support/suggest.h"

namespace svod {

namespace {

/// The texts of flags that need another look.
struct Words {
  std::vector<std::string> inputs, outputs, variables, dumps, devices;
  std::string profileBy;                            // empty: not given
  double rtol = std::nan(""), atol = std::nan("");  // NaN: not given
};

std::vector<CommandFlag> flagsFor(RunOptions& o, Words& w) {
  return {
      {"input", "i", "NAME=FILE", "", "",
       "file of an input: .npy, FILE.safetensors:TENSOR, or - for stdin; [A:B] behind it takes entries of the first "
       "axis",
       &w.inputs},
      {"output", "o", "NAME=FILE", "", "", "file for an output; - is stdout", &w.outputs},
      {"output-dir", "", "DIR", "", "", "write every output as DIR/NAME.npy", &o.outputDir},
      {"random", "", "", "", "",
       "random inputs where no file is given; a variable without --var then has its least value, 1 rather than 0",
       &o.random},
      {"seed", "", "N", "0", "", "seed of --random", &o.seed},
      {"var", "", "NAME=VALUE", "", "", "value of a variable that no input shape gives", &w.variables},
      {"threads", "t", "N", "0", "SVOD_THREADS", "worker threads; 0 is one per processor", &o.threads},
      {"cpu", "", "NAME", "", "",
       "processor whose code runs, of a plan for several; default: the best for this machine", &o.cpu},
      {"explain", "", "", "", "",
       "show what the plan has code for, what this machine, its devices and the sizes of --var take, and why",
       &o.explain},
      {"repeat", "", "N", "1", "", "number of runs; states carry over, outputs are those of the last", &o.repeat},
      {"load-state", "", "FILE", "", "", "initial states: a .safetensors file", &o.loadState},
      {"save-state", "", "FILE", "", "", "write the final states; it may be the file of --load-state", &o.saveState},
      {"dump", "", "NAME[=FILE]", "", "",
       "intermediate value to show, or to write as .npy; the plan runs on one thread then", &w.dumps},
      {"profile", "", "", "", "", "table of the time of every kernel, and between kernels", &o.profile},
      {"profile-by", "", "WHAT", "kernel", "",
       "a row of --profile for each kernel, for each value that steps write (the node of an ONNX model), or for each "
       "layer (the path before the last / or dot of such a value)",
       &w.profileBy},
      {"trace", "", "FILE", "", "", "write a trace for Perfetto or chrome://tracing", &o.trace},
      {"reference", "", "DIR", "", "",
       "compare outputs with DIR/NAME.npy and show the greatest errors; exit code 4 when they differ", &o.reference},
      {"rtol", "", "X", "", "", "relative tolerance of --reference; the default depends on the dtype", &w.rtol},
      {"atol", "", "X", "", "", "absolute tolerance of --reference; the default depends on the dtype", &w.atol},
      {"verify-weights", "", "", "", "", "verify the checksum of the weights, however large they are",
       &o.verifyWeights},
      {"no-verify-weights", "", "", "", "", "skip the checksum of the weights, however small they are",
       &o.trustWeights},
      {"device", "", "NAME=N", "", "", "run a device of the plan on the N-th of its kind on this machine, from 0 on",
       &w.devices},
      {"list-devices", "", "", "", "", "show the CUDA, OpenCL and WebGPU devices of this machine; no plan is needed",
       &o.listDevices},
      {"cuda-driver", "", "FILE", "", "SVOD_CUDA_DRIVER", "driver library in place of libcuda.so.1", &o.cudaDriver},
      {"opencl-loader", "", "FILE", "", "SVOD_OPENCL_LOADER", "library in place of libOpenCL.so.1", &o.openclLoader},
      {"webgpu-library", "", "FILE", "", "SVOD_WEBGPU_LIBRARY", "library in place of libwgpu_native.so",
       &o.webgpuLibrary},
      {"no-jit", "", "", "", "", "reject code that the CUDA driver would have to compile on loading", &o.noJit},
      {"no-graphs", "", "", "", "", "launch steps on CUDA devices one by one, not as CUDA graphs", &o.noGraphs},
      {"sync-steps", "", "", "", "", "synchronize after every step on a device, so that an error names the step",
       &o.syncSteps},
      {"json", "", "", "", "", "the report as JSON, with the profile", &o.json},
      {"diagnostics", "", "FORM", "text", "SVOD_DIAGNOSTICS", "errors as text or json, one per line", &o.diagnostics},
      {"order-seed", "", "N", "0", "", "seed for a random order of independent steps", &o.orderSeed},
      {"help", "h", "", "", "", "this text", &o.help},
      {"version", "", "", "", "", "the version of svod-run", &o.version},
  };
}

Result<NameValue> splitPair(const std::string& text, const std::string& flag, const std::string& what) {
  const size_t equals = text.find('=');
  const std::string name = equals == 0 || text.empty() ? "x" : text.substr(0, equals);
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return fail(Diag::Usage, flag + " '" + text + "' is not NAME=" + what,
                "for example " + flag + " " + name + "=" + (what == "FILE" ? "x.npy" : "17"));
  return NameValue{text.substr(0, equals), text.substr(equals + 1)};
}

Result<std::vector<NameValue>> splitPairs(const std::vector<std::string>& texts, const std::string& flag) {
  std::vector<NameValue> pairs;
  bool standard = false;
  for (const std::string& text : texts) {
    SVOD_TRY(NameValue pair, splitPair(text, flag, "FILE"));
    for (const NameValue& other : pairs)
      if (other.first == pair.first)
        return fail(Diag::Usage, flag + " names '" + pair.first + "' twice", "leave one of them out");
    const bool isStandard = pair.second == "-" || (flag == "--input" && isStandardInput(pair.second));
    if (isStandard && standard)
      return fail(Diag::Usage, flag + " has - twice", "only one array can go through a pipe; name a file");
    standard = standard || isStandard;
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

Status readDumps(const std::vector<std::string>& texts, RunOptions& options) {
  for (const std::string& text : texts) {
    NameValue dump{text, ""};
    if (text.find('=') != std::string::npos) {
      SVOD_TRY(dump, splitPair(text, "--dump", "FILE"));
    }
    if (dump.first.empty() || dump.second == "-")
      return fail(Diag::Usage, "--dump '" + text + "' names no " + (dump.first.empty() ? "value" : "file"),
                  "for example --dump h, or --dump h=h.npy");
    for (const NameValue& other : options.dumps)
      if (other.first == dump.first)
        return fail(Diag::Usage, "--dump names '" + dump.first + "' twice", "leave one of them out");
    options.dumps.push_back(std::move(dump));
  }
  return {};
}

Status readVariables(const std::vector<std::string>& texts, RunOptions& options) {
  for (const std::string& text : texts) {
    SVOD_TRY(NameValue pair, splitPair(text, "--var", "NUMBER"));
    int64_t value = 0;
    const char* const end = pair.second.data() + pair.second.size();
    const auto [stop, error] = std::from_chars(pair.second.data(), end, value);
    if (error != std::errc() || stop != end)
      return fail(Diag::Usage, "--var '" + text + "': '" + pair.second + "' is not a whole number",
                  "for example --var " + pair.first + "=17");
    options.variables.emplace_back(pair.first, value);
  }
  return {};
}

Status checkNumbers(const RunOptions& options) {
  constexpr int64_t kMostThreads = 4096;
  if (options.threads < 0 || options.threads > kMostThreads)
    return fail(Diag::Usage, "--threads needs a number from 0 to " + std::to_string(kMostThreads),
                "0 is one per processor");
  if (options.repeat < 1)
    return fail(Diag::Usage, "--repeat needs a number of at least 1, not " + std::to_string(options.repeat),
                "leave it out to run once");
  constexpr std::string_view kForms[] = {"text", "json"};
  if (options.diagnostics != "text" && options.diagnostics != "json")
    return fail(Diag::Usage, "there is no form '" + options.diagnostics + "' of diagnostics",
                choicesFor(options.diagnostics, kForms));
  if (options.rtol.value_or(0) < 0 || options.atol.value_or(0) < 0)
    return fail(Diag::Usage, "--rtol and --atol need numbers of at least 0",
                "0 asks for equal values, and leaving them out for what the dtype can be expected to give");
  return {};
}

Status readProfileBy(const std::string& text, RunOptions& options) {
  constexpr std::string_view kWords[] = {"kernel", "value", "layer"};
  const auto found = std::find(std::begin(kWords), std::end(kWords), text.empty() ? kWords[0] : text);
  if (found == std::end(kWords))
    return fail(Diag::Usage, "a profile has no rows by '" + text + "'", choicesFor(text, kWords));
  options.profileBy = static_cast<ProfileBy>(found - std::begin(kWords));
  options.profile = options.profile || !text.empty();
  return {};
}

std::optional<double> given(double value) { return std::isnan(value) ? std::nullopt : std::optional<double>(value); }

}  // namespace

bool RunOptions::dataOnStdout() const {
  return std::any_of(outputs.begin(), outputs.end(), [](const NameValue& o) { return o.second == "-"; });
}

Result<RunOptions> parseOptions(const std::vector<std::string>& words) {
  RunOptions options;
  Words texts;
  std::vector<std::string> files;
  SVOD_CHECK(parseCommandFlags("svod-run", flagsFor(options, texts), words, files));
  if (options.help || options.version || options.listDevices) return options;
  if (files.empty()) return fail(Diag::Usage, "svod-run needs PLAN", "the directory or pack that svodc compile wrote");
  options.plan = files.front();
  SVOD_TRY(options.inputs, splitPairs(texts.inputs, "--input"));
  SVOD_TRY(options.outputs, splitPairs(texts.outputs, "--output"));
  SVOD_CHECK(readDumps(texts.dumps, options));
  SVOD_CHECK(readVariables(texts.variables, options));
  SVOD_CHECK(readProfileBy(texts.profileBy, options));
  for (const std::string& text : texts.devices) {
    SVOD_TRY(NameValue device, splitPair(text, "--device", "NUMBER"));
    options.devices.push_back(std::move(device));
  }
  options.rtol = given(texts.rtol);
  options.atol = given(texts.atol);
  SVOD_CHECK(checkNumbers(options));
  if (options.verifyWeights && options.trustWeights)
    return fail(Diag::Usage, "--verify-weights and --no-verify-weights cannot be used together",
                "without either, small weights are checked");
  if (options.reference.empty() && (options.rtol || options.atol))
    return fail(Diag::Usage, "--rtol and --atol are for --reference, which is not there",
                "add --reference DIR, or leave them out");
  if (!options.outputDir.empty() && !options.outputs.empty())
    return fail(Diag::Usage, "--output-dir and --output cannot be used together", "--output-dir writes all outputs");
  return options;
}

std::string helpText() {
  RunOptions unused;
  Words texts;
  return "usage: svod-run PLAN [FLAG]...\n\nrun a plan that svodc compile wrote. Without --output and "
         "--output-dir, a few values of every output are shown.\n\nflags:\n" +
         helpEntries(flagsFor(unused, texts)) + std::string(kHelpLegend);
}

}  // namespace svod
