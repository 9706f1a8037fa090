#include "options.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace svod {

namespace {

Result<NameValue> splitPair(const std::string& text, const std::string& flag, const std::string& what) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return fail(Diag::Usage, flag + " '" + text + "' is not NAME=" + what,
                "for example " + flag + " x=" + (what == "FILE" ? "x.npy" : "17"));
  return NameValue{text.substr(0, equals), text.substr(equals + 1)};
}

Result<std::vector<NameValue>> splitPairs(const std::vector<std::string>& texts, const std::string& flag) {
  std::vector<NameValue> pairs;
  for (const std::string& text : texts) {
    SVOD_TRY(NameValue pair, splitPair(text, flag, "FILE"));
    for (const NameValue& other : pairs)
      if (other.first == pair.first) return fail(Diag::Usage, flag + " names '" + pair.first + "' twice");
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

Status readVariables(const std::vector<std::string>& texts, RunOptions& options) {
  for (const std::string& text : texts) {
    SVOD_TRY(NameValue pair, splitPair(text, "--var", "NUMBER"));
    int64_t value = 0;
    if (!CLI::detail::lexical_cast(pair.second, value))
      return fail(Diag::Usage, "--var '" + text + "': '" + pair.second + "' is not a whole number");
    options.variables.emplace_back(pair.first, value);
  }
  return {};
}

}  // namespace

Result<std::optional<RunOptions>> parseOptions(int argc, char** argv) {
  RunOptions options;
  std::vector<std::string> inputs, outputs, variables;
  CLI::App app("Runs a plan that svodc wrote.", "svod-run");
  app.add_option("PLAN", options.plan, "plan directory")->required();
  app.add_option("-i,--input", inputs, "NAME=FILE.npy: an input; - reads standard input")
      ->allow_extra_args(false);
  app.add_option("-o,--output", outputs, "NAME=FILE.npy: where to write an output; - is standard output")
      ->allow_extra_args(false);
  app.add_option("--output-dir", options.outputDir, "write every output as DIR/NAME.npy");
  app.add_option("--var", variables, "NAME=NUMBER: a variable that no input's shape gives")
      ->allow_extra_args(false);
  app.add_option("-t,--threads", options.threads, "worker threads; 0, the default, is one per processor");
  app.add_option("--repeat", options.repeat, "run so many times; states carry over, the last outputs count")
      ->check(CLI::Range(UINT64_C(1), UINT64_MAX));
  app.add_flag("--profile", options.profile, "print the time of every kernel");
  app.add_option("--trace", options.trace, "write a trace for Perfetto or chrome://tracing");
  app.add_option("--reference", options.reference,
                 "compare every output with DIR/NAME.npy; exit 4 when they differ");
  app.add_option("--rtol", options.rtol,
                 "allowed error relative to the reference; the default depends on the dtype");
  app.add_option("--atol", options.atol, "allowed absolute error; the default depends on the dtype");
  app.add_flag("--verify-weights", options.verifyWeights, "also check the checksum of the weights");
  app.add_flag("--json", options.json, "print the report as JSON");
  app.add_option("--order-seed", options.orderSeed,
                 "run independent steps in an order drawn from this number");
  app.set_version_flag("--version", "svod-run " SVOD_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // help and version
      app.exit(error);
      return std::optional<RunOptions>();
    }
    return fail(Diag::Usage, error.what(), "svod-run --help lists the options");
  }
  SVOD_TRY(options.inputs, splitPairs(inputs, "--input"));
  SVOD_TRY(options.outputs, splitPairs(outputs, "--output"));
  SVOD_CHECK(readVariables(variables, options));
  if (!options.outputDir.empty() && !options.outputs.empty())
    return fail(Diag::Usage, "--output-dir and --output cannot be used together");
  return std::optional<RunOptions>(std::move(options));
}

}  // namespace svod
