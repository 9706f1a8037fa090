// svod-opt: passes of the compiler on a graph in text form.
#include <cstdio>
#include <cstdlib>
#include <new>

#include "console/console.h"
#include "console/process.h"
#include "data/atomic_write.h"
#include "data/mapped_file.h"
#include "graph_run.h"
#include "interp/same_values.h"
#include "ir/text.h"
#include "proposals.h"
#include "reduce.h"
#include "run_passes.h"
#include "schedule/graph_passes.h"

namespace svod {
namespace {

Result<std::string> listText(const OptToolOptions& options) {
  SVOD_TRY(const Target* target, targetByName(options.target));
  std::string text;
  std::vector<Pass> passes(graphPasses().begin(), graphPasses().end());
  passes.insert(passes.end(), kernelPasses(*target).begin(), kernelPasses(*target).end());
  for (const Pass& pass : passes) {
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

std::string codeOf(const Error& error, const PassLog& log) {
  return log.failedPass + " " + std::string(info(error->diag).code);
}

/// A graph that fails with the same diagnostic in the same pass. `ports`: what its text says of them.
Result<std::string> reduced(const OptToolOptions& options, Graph& graph, UOp root, const std::string& ports) {
  const bool overGraph = isOverGraph(options, root);
  const auto failure = [&](Graph& g, UOp r) -> std::string {
    PassLog log;
    if (overGraph) {
      const Result<std::string> ran = runOverGraph(options, ports + toUopText(r), log);
      return ran ? "" : codeOf(ran.error(), log);
    }
    const Result<UOp> ran = runOn(options, g, r, log);
    return ran ? "" : codeOf(ran.error(), log);
  };
  const std::string first = failure(graph, root);
  if (first.empty())
    return fail(Diag::Usage, "nothing fails here, so there is nothing to reduce", "--check also compares values");
  Graph small;
  return ports + toUopText(reduceUop(small, root, [&](Graph& g, UOp r) { return failure(g, r) == first; }));
}

/// The comments that describe ports of a model (ir/model_text.h).
std::string portLines(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    if (line.starts_with("; port ")) lines += line;
    text.remove_prefix(line.size());
  }
  return lines;
}

Result<std::string> resultText(const OptToolOptions& options) {
  SVOD_TRY(std::string text, options.file == "-" ? readStandardInput() : readWholeFile(options.file));
  if (const size_t end = text.find("\n; gives\n"); end != text.npos) text.resize(end + 1);
  Graph graph;
  Result<UOp> root = parseUop(graph, text);
  if (!root) {
    root.error()->loc.file = options.file;
    return fail(std::move(root).error());
  }
  if (options.reduce) return reduced(options, graph, *root, portLines(text));
  PassLog log;
  if (isOverGraph(options, *root)) {
    SVOD_TRY(std::string result, runOverGraph(options, text, log));
    if (options.timePasses) std::fputs(toText(log.times).c_str(), stderr);
    return result;
  }
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
    return console.finish({svod::Diag::DeviceFailure, "out of memory", "use a smaller graph"});
  }
}
