#include "tune/ahead.h"

#include <algorithm>
#include <filesystem>

#include "measure/code_store.h"
#include "search/ahead.h"

namespace svod {

namespace {

constexpr size_t kLists = 96;  // of a kernel: what the first rounds of a search ask for
constexpr size_t kBatch = 32;  // that are compiled together

struct Ahead {
  std::string kernel;
  size_t compiled = 0, failed = 0;
};

Result<Ahead> compileFor(const TuneKernel& task, const TuningLog& log, const TuneSettings& settings,
                         const std::string& writer) {
  const CodeStore store(settings.ahead);
  const std::map<std::string, CompiledCandidate> known = store.of(task.hash);
  std::vector<Candidate> wanted =
      candidatesAhead(*task.kernel->graph, task.kernel->unopted, capsFor(task), searchOptions(task, log, settings),
                      hintsOf(log, task.hash, settings.place), kLists);
  std::erase_if(wanted, [&](const Candidate& c) { return known.contains(c.text); });
  Ahead ahead{task.kernel->name};
  std::vector<std::string> texts;
  std::vector<CompiledCandidate> compiled;
  KnownCode byHash;
  for (size_t first = 0; first < wanted.size() && TuneClock::now() < settings.deadline; first += kBatch) {
    std::vector<std::vector<OptOp>> lists;
    for (size_t i = first; i < std::min(first + kBatch, wanted.size()); ++i) {
      lists.push_back(wanted[i].opts);
      texts.push_back(wanted[i].text);
    }
    const std::string prefix = store.libraries(task.hash, writer) + std::to_string(first) + "-";
    for (CompiledCandidate& made : compileCandidates(*task.kernel, lists, candidateOptions(task.build->options),
                                                     settings.options.measure.compile, byHash, prefix)) {
      SVOD_CHECK(wasTried(made.verdict));
      const bool isCode = made.verdict.outcome == Outcome::Timed;
      if (isCode) byHash.emplace(made.code.hash, made.code);
      (isCode ? ahead.compiled : ahead.failed) += 1;
      compiled.push_back(std::move(made));
    }
  }
  if (!compiled.empty()) SVOD_CHECK(store.add(task.hash, writer, texts, compiled));
  return ahead;
}

}  // namespace

Result<Document> compileAhead(const std::vector<TuneKernel>& kernels, const TuningLog& log,
                              const TuneSettings& settings, const std::string& writer) {
  std::error_code problem;
  std::filesystem::create_directories(settings.ahead, problem);
  if (problem) return fail(ioError("cannot create", settings.ahead, problem.value()));
  Table table{"kernels", {{"name", "kernel"}, {"compiled", "compiled", true}, {"failed", "without code", true}}, {}};
  for (const TuneKernel& kernel : kernels) {
    SVOD_TRY(const Ahead ahead, compileFor(kernel, log, settings, writer));
    table.rows.push_back({ahead.kernel, ahead.compiled, ahead.failed});
  }
  return Document{"", {{"", "Compiled ahead", {table}}}};
}

}  // namespace svod
