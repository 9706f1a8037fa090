// How many axes a value has may depend on sizes or on a run: Squeeze drops what is 1, branches of If differ. A plan is
// for one case. Sizes nobody bounded get bounds that leave the other one out; otherwise every run checks the case.
// Where what follows does not fit the case that comes first, readings of the model with another one tell whether it
// fits.
#include <algorithm>
#include <set>
#include <utility>

#include "onnx/importer.h"
#include "onnx/importer_text.h"
#include "support/text.h"

namespace svod {

namespace {

UOp elementOf(KnownValues& known, const Tensor& scalar) {
  const std::optional<std::vector<UOp>> all = known.elements(scalar);
  return all && all->size() == 1 ? all->front() : UOp();
}

// What to type for a plan of the other case.
std::string otherCaseHelp(const KnownValues& known, const Tensor& condition) {
  const Dependencies from = known.dependencies(condition);
  std::string options;
  for (const std::string& name : from.inputs) options += " " + optionText("--const", name, "FILE.npy");
  for (const std::string& name : from.variables) options += " " + optionText("--var", name, "SIZE");
  return options.empty() ? "" : "a plan for the other case:" + options;
}

void expectCase(KnownValues& known, GraphBuilder& b, const Tensor& condition, bool holds, const std::string& text) {
  const Tensor given = cast(condition, DType::I64);
  if (b.counters().empty()) return b.expect(given, b.literal(int64_t{holds}), text, ExpectationKind::Supported);
  const UOp size = elementOf(known, given);
  if (size && size.dtype() == DType::Index) return b.expectEqual(Dim(b.graph(), size), b.dim(holds), text);
  b.fail(Diag::Unsupported, "a condition that a loop computes decides how many axes a value has",
         "a condition made from constants and shapes, or branches of one rank");
}

}  // namespace

bool OnnxImporter::decideCase(const Tensor& condition, const CaseText& text) {
  const UOp onSizes = elementOf(known_, condition);
  const std::string key = body_->place + "\n" + node_->output(0) + "\n" + std::to_string(text.part);
  auto [at, isNew] = cases_.try_emplace(key);
  const std::string name = nameOf(*body_, *node_), help = otherCaseHelp(known_, condition);
  if (isNew)
    at->second = {
        .holds = usualCase(onSizes), .isOfSizes = bool(onSizes), .node = nodeCount_, .name = name, .help = help};
  if (text.only) at->second.holds = *text.only, at->second.isForced = at->second.leavesOut = true;
  const bool holds = at->second.holds;
  const std::string what = holds ? text.holds : text.fails;
  if (onSizes && !builder_.isConditional()) {
    const CaseDemands demands = demandsOf(builder_.graph(), onSizes, holds);
    auto hasLength = [&](UOp u) { return builder_.hasLength(Dim(builder_.graph(), u)); };
    for (const auto& [a, b] : demands.equal)
      if (!hasLength(a) && !hasLength(b)) demands_.push_back({a, b, true, name + ", where " + what + ","});
    for (const auto& [least, most] : demands.ordered)
      if (!hasLength(least) && !hasLength(most))
        demands_.push_back({most, least, false, name + ", where " + what + ","});
  }
  Error said(Diag::Unsupported, name + ": the plan is for runs in which " + what, help, {file_->path, 0, 0});
  said = printable(std::move(said));
  if (std::ranges::find(problems_.notes(), said->message, [](const Error& e) { return e->message; }) ==
      problems_.notes().end())
    problems_.addNote(said);
  expectCase(known_, builder_, condition, holds, said->message + (said->help.empty() ? "" : "; " + said->help));
  return holds;
}

std::vector<Error> OnnxImporter::errorsOf(const std::function<void()>& build) {
  GraphBuilder::Mark before = builder_.mark();
  ProblemList::Mark problems = problems_.mark();
  build();
  if (std::optional<Error> error = builder_.takeError()) recordNode(*body_, *node_, std::move(*error));
  if (problems_.count() == problems.count) return {};
  std::vector<Error> all = problems_.errorsSince(problems);
  auto isForgiven = [](const Error& e) {
    return e->diag == Diag::Unsupported || e->diag == Diag::ShapeMismatch || e->diag == Diag::BadAttribute;
  };
  if (all.empty() || problems_.areLastingSince(problems) || problems_.isFull() || !std::ranges::all_of(all, isForgiven))
    return {};
  builder_.rewind(std::move(before));
  problems_.rewind(std::move(problems));
  return all;
}

// --- Readings

ReadingScore OnnxImporter::score() const {
  const Model& model = builder_.model();
  const int64_t expected = std::ranges::count(model.ports, PortKind::Expectation, &ModelPort::kind);
  const int64_t leftOut = std::ranges::count_if(cases_, [](const auto& c) { return c.second.leavesOut; });
  const size_t checks = model.equalSizes.size() + static_cast<size_t>(expected);
  return {hasErrors(), problems_.firstAt(), otherRanks_, leftOut, checks, nodeCount_};
}

namespace {

// The first reading whose ops find the sizes they need, or the last one.
std::unique_ptr<OnnxImporter> readCases(const std::shared_ptr<const OnnxFile>& file, const LoadOptions& options,
                                        const StateRooms& rooms, bool keepsLog, const SizeFindings& from) {
  constexpr int kMostAttempts = 64;
  SizeFindings findings = from;
  std::unique_ptr<OnnxImporter> refused;  // by ops that need the value of an input
  for (int attempt = 1;; ++attempt) {
    auto importer = std::make_unique<OnnxImporter>(file, options, findings, rooms);
    if (keepsLog) importer->keepLog();
    importer->read();
    findings.cases = importer->cases();
    if (attempt < kMostAttempts && importer->learn(findings)) continue;
    const bool isGood = !importer->hasErrors() && !importer->hasOpenValues();
    if (!isGood && attempt < kMostAttempts && importer->learnValues(findings)) {
      if (!refused) refused = std::move(importer);
    } else {
      return isGood || !refused ? std::move(importer) : std::move(refused);
    }
  }
}

// The last case in front of the first error; without errors, one that may be in a branch that is left out or decide the
// rank of an output, or that no size decides. Empty where there is none.
std::string caseToTry(const OnnxImporter& reading, const std::set<std::string>& tried) {
  const ReadingScore score = reading.score();
  const RankCases& cases = reading.cases();
  std::string key;
  for (const auto& [name, c] : cases) {
    if (tried.contains(name) || c.isForced || (!key.empty() && c.node < cases.at(key).node)) continue;
    const bool isOpen = !c.isOfSizes || score.branchesLeftOut > 0 || score.otherRanks > 0;
    if (score.hasErrors ? c.node <= score.failedAt : isOpen) key = name;
  }
  return key;
}

// The best of readings with other cases, all of them starting from what is found already.
std::unique_ptr<OnnxImporter> bestReading(const std::shared_ptr<const OnnxFile>& file, const LoadOptions& options,
                                          const StateRooms& rooms, bool keepsLog, SizeFindings forced) {
  constexpr int kMostReadings = 16;
  std::unique_ptr<OnnxImporter> best = readCases(file, options, rooms, keepsLog, forced);
  std::set<std::string> tried;
  for (int readings = 1; readings < kMostReadings; ++readings) {
    const std::string key = caseToTry(*best, tried);
    if (key.empty()) break;
    tried.insert(key);
    const RankCase last = best->cases().at(key);
    SizeFindings other = forced;
    RankCase& changed = other.cases[key] = last;
    changed.holds = !last.holds, changed.isForced = true;
    std::unique_ptr<OnnxImporter> importer = readCases(file, options, rooms, keepsLog, other);
    const int better = importer->score().against(best->score());
    if (better == 0 && !last.isOfSizes && !best->hasErrors()) {
      best->recordAll({Error(Diag::Unsupported,
                             last.name + ": branches with different ranks under a condition that only a run can tell",
                             (last.help.empty() ? "" : last.help + "; or ") +
                                 "a condition made from constants and shapes, or branches of one rank")});
      break;
    }
    if (better > 0) best = std::move(importer), forced = std::move(other);
  }
  return best;
}

}  // namespace

// Sizes that a run computes are bounded where the model is refused otherwise. Where it is refused all the same, the
// reading that came further says what is missing.
std::unique_ptr<OnnxImporter> OnnxImporter::readFile(std::shared_ptr<const OnnxFile> file, const LoadOptions& options,
                                                     const StateRooms& rooms, bool keepsLog) {
  SizeFindings findings;
  std::unique_ptr<OnnxImporter> best = bestReading(file, options, rooms, keepsLog, findings);
  if (!best->hasErrors() || !best->wantsLengths()) return best;
  findings.boundsLengths = true;
  std::unique_ptr<OnnxImporter> bounded = bestReading(file, options, rooms, keepsLog, std::move(findings));
  const bool isFurther = !bounded->hasErrors() || bounded->score().failedAt > best->score().failedAt;
  return isFurther ? std::move(bounded) : std::move(best);
}

}  // namespace svod
