#include "tune_graphs.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "machine/host.h"
#include "models.h"
#include "options.h"
#include "processors.h"
#include "support/suggest.h"
#include "verify/c_calls.h"

namespace svod {

namespace {

struct NumberRange {
  std::string_view flag;
  int64_t Flags::* member;
  int64_t least, most;
};
constexpr NumberRange kNumbers[] = {
    {"beam", &Flags::beam, 0, 1000},
    {"compile-seconds", &Flags::compileSeconds, 1, 3600},
    {"most-instructions", &Flags::mostInstructions, 1, 1000000},
    {"most-of-least", &Flags::mostOfLeast, 1, 1000000000},
    {"stop-above", &Flags::stopAbove, 1, 1000000},
    {"least-gain", &Flags::leastGain, 0, 99},
    {"threads", &Flags::threads, 0, 256},
};

struct ChoiceOf {
  std::string_view flag;
  std::string Flags::* member;
  std::array<std::string_view, 2> choices;
};
constexpr ChoiceOf kChoices[] = {
    {"caches", &Flags::caches, {"warm", "cold"}},
    {"same-code", &Flags::sameCode, {"skip", "time"}},
};

/// What measuredValue() takes for --variables-at.
std::optional<int> placeOfVariables(std::string_view text) {
  constexpr int kMost = 100;
  if (text == "likely") return kLikely;
  int percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool isNumber = error == std::errc() && end == text.data() + text.size();
  return isNumber && percent >= 0 && percent <= kMost ? std::optional(percent) : std::nullopt;
}

constexpr std::string_view kPriced = "priced";
constexpr SearchKind kSearchKinds[] = {
    {"all", true, true}, {"kernels", true, false}, {"none", false, false}, {kPriced, true, true, true}};

}  // namespace

Result<SearchKind> searchOf(const Flags& flags) {
  std::vector<std::string_view> names;
  for (const SearchKind& kind : kSearchKinds) names.push_back(kind.name);
  const auto found = std::ranges::find(kSearchKinds, flags.search, &SearchKind::name);
  if (found == std::end(kSearchKinds))
    return fail(Diag::Usage, "there is no search for '" + flags.search + "'", choicesFor(flags.search, names));
  return *found;
}

Status checkTuning(const Request& request) {
  const Flags& flags = request.flags;
  SVOD_CHECK(checkOneProcessor(flags, "a measurement", "tune for each; compile takes the log for all of them"));
  if (flags.target != "cpu" && flags.search != kPriced)
    return fail(Diag::Unsupported, "target " + flags.target + " cannot be measured here",
                "add --search priced, or leave " + sourceOf(request, "target") + " out, to tune for target cpu");
  for (const ChoiceOf& row : kChoices)
    if (const std::string& value = flags.*row.member; std::ranges::find(row.choices, value) == row.choices.end())
      return fail(Diag::Usage, sourceOf(request, row.flag) + " cannot be '" + value + "'",
                  choicesFor(value, row.choices));
  for (const NumberRange& range : kNumbers)
    if (const int64_t value = flags.*range.member; value < range.least || value > range.most)
      return fail(Diag::Usage,
                  sourceOf(request, range.flag) + " needs a number from " + std::to_string(range.least) + " to " +
                      std::to_string(range.most) + ", not " + std::to_string(value),
                  "svodc tune --help says what it is");
  if (!placeOfVariables(flags.variablesAt))
    return fail(Diag::Usage,
                sourceOf(request, "variables-at") + " needs 'likely' or a number from 0 to 100, not '" +
                    flags.variablesAt + "'",
                "svodc tune --help says what it is");
  return {};
}

TuneOptions tuneOptions(const Flags& flags) {
  TuneOptions options;
  options.isPriced = flags.search == kPriced;
  SearchOptions& search = options.search;
  const int threads = flags.threads == 0 ? hostCores() : static_cast<int>(flags.threads);
  search.beam = static_cast<int>(flags.beam), search.threads = threads;
  search.stopAbove = static_cast<double>(flags.stopAbove), search.mostOfLeast = static_cast<double>(flags.mostOfLeast);
  search.mostInstructions = 2 * static_cast<double>(flags.mostInstructions);  // the estimate may be too high
  search.leastGain = static_cast<double>(flags.leastGain) / 100;
  search.timesSameCode = flags.sameCode == "time";
  CompileLimits& compile = options.measure.compile;
  compile.seconds = static_cast<double>(flags.compileSeconds);
  compile.mostInstructions = static_cast<size_t>(flags.mostInstructions);
  compile.variablesAt = placeOfVariables(flags.variablesAt).value_or(kLikely);
  options.measure.run = {threads, flags.caches == "cold", flags.wholeGrids};
  return options;
}

namespace {

/// It says its notes once, when the graph is compiled for the first time.
Result<Model> readAgain(const Request& request) {
  SVOD_TRY(const LoadOptions load, loadOptions(request.flags));
  std::vector<Error> notes;
  CSources sources;
  return readModel(request.files.at(0), load, notes, sources);
}

}  // namespace

Result<GraphFiles> buildAll(const Request& request, Console& console, Workplace& place) {
  GraphFiles all;
  for (const std::string& path : request.files) {
    Request one = request;
    one.files = {path}, one.flags.tuningLog.clear();
    one.flags.cacheDir = place.directory.file("kernels"), one.flags.noCache = false;
    one.flags.cacheLimit = int64_t{1} << 12;
    SVOD_TRY(BuildResult build, buildGraph(one, console, place, false));
    CompileOptions options = build.options;
    options.progress = {};
    all.graphs.push_back({path,
                          graphName(path),
                          [one = std::move(one)] { return readAgain(one); },
                          {std::move(options), std::move(build.model), std::move(build.compilation)}});
    all.compiles.push_back(std::move(build));
  }
  return all;
}

namespace {

Status checkPriced(const std::deque<TuneGraph>& graphs) {
  for (const TuneGraph& graph : graphs)
    if (!graph.usual.options.variants.empty())
      return fail(Diag::Usage, "prices are for one processor or architecture, and '" + graph.path + "' is for several",
                  "tune for each; compile takes the log for all of them");
  return {};
}

}  // namespace

Status checkMachine(const std::deque<TuneGraph>& graphs, const Flags& flags) {
  if (flags.search == kPriced) return checkPriced(graphs);
  for (const TuneGraph& graph : graphs) {
    SVOD_CHECK(checkAllowed(graph.usual.options, flags, "svodc tune"));
    SVOD_CHECK(checkRunsHere(graph.usual.options));
  }
  return {};
}

}  // namespace svod
