// svod-opt: passes of the compiler on a graph in text form.
#include <cstdio>
#include <cstdlib>
#include <new>

#include "console/console.h"
#include "console/process.h"
#include "data/atomic_write.h"
#include "data/mapped_file.h"
#include "interp/same_values.h"
#include "ir/text.h"
#include "proposals.h"
#include "reduce.h"
#include "run_passes.h"

namespace svod {
namespace {

Result<std::string> listText(const OptToolOptions& options) {
  SVOD_TRY(const Target* target, targetByName(options.target));
  std::string text;
  for (const Pass& pass : target->passes()) {
    std::string row(pass.name);
    row.resize(std::max<size_t>(row.size() + 2, 20), ' ');
    row += std::string(toText(pass.in)) + " -> " + std::string(toText(pass.out));
    row.resize(std::max<size_t>(row.size() + 2, 42), ' ');
    text += row + std::string(pass.what) + "\n";
  }
  return text;
}

/// The passes, and with --check what they make of the values. Used once, and for every graph that --reduce tries.
Result<UOp> runOn(const OptToolOptions& options, Graph& graph, UOp root, PassLog& log) {
  SVOD_TRY(const std::vector<Pass> passes, passesOf(options, root));
  SVOD_TRY(const UOp result, runPasses(passes, options, graph, root, log));
  if (options.check) SVOD_CHECK(checkSameValues(root, result));
  return result;
}

/// A graph that fails with the same diagnostic in the same pass.
Result<std::string> reduced(const OptToolOptions& options, Graph& graph, UOp root) {
  const auto failure = [&](Graph& g, UOp r) -> std::string {
    PassLog log;
    const Result<UOp> ran = runOn(options, g, r, log);
    return ran ? "" : log.failedPass + " " + std::string(info(ran.error().diag).code);
  };
  const std::string first = failure(graph, root);
  if (first.empty())
    return fail(Diag::Usage, "nothing fails here, so there is nothing to reduce", "--check also compares values");
  Graph small;
  return toUopText(reduceUop(small, root, [&](Graph& g, UOp r) { return failure(g, r) == first; }));
}

Result<std::string> resultText(const OptToolOptions& options) {
  SVOD_TRY(std::string text, readWholeFile(options.file == "-" ? "/dev/stdin" : options.file));
  if (const size_t end = text.find("\n; gives\n"); end != text.npos) text.resize(end + 1);
  Graph graph;
  Result<UOp> root = parseUop(graph, text);
  if (!root) {
    root.error().loc.file = options.file;
    return fail(std::move(root).error());
  }
  if (options.reduce) return reduced(options, graph, *root);
  PassLog log;
  SVOD_TRY(const UOp result, runOn(options, graph, *root, log));
  if (options.propose) return proposalsFor(options, graph, result);
  if (options.timePasses) std::fputs(toText(log.times).c_str(), stderr);
  return options.emit.empty() ? toUopText(result) : emitted(options, graph, result);
}

Status run(const OptToolOptions& options, Console& console) {
  if (options.help) return console.print(optToolHelp());
  if (options.version) return console.print("svod-opt " SVOD_VERSION "\n");
  if (options.list) {
    SVOD_TRY(const std::string list, listText(options));
    return console.print(list);
  }
  SVOD_TRY(const std::string text, resultText(options));
  return options.output.empty() || options.output == "-" ? console.print(text) : writeFileAtomic(options.output, text);
}

}  // namespace
}  // namespace svod

int main(int argc, char** argv) {
  svod::prepareProcess();
  const auto options = svod::parseOptToolOptions({argv + 1, argv + argc});
  const char* noColor = std::getenv("NO_COLOR");
  svod::Console console({noColor != nullptr && *noColor != '\0', options && options->diagnostics == "json", false});
  if (!options) return console.finish(options.error());
  svod::InterruptGuard interrupts(console);
  try {
    const svod::Status status = svod::run(*options, console);
    if (status) return 0;
    interrupts.beforeError();
    return console.finish(status.error());
  } catch (const std::bad_alloc&) {
    return console.finish({svod::Diag::DeviceFailure, "out of memory", "use a smaller graph", {}, {}});
  }
}
