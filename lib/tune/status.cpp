#include "tune/status.h"

#include <map>

#include "driver/tuned_opts.h"
#include "measure/code_store.h"

namespace svod {

namespace {

size_t compiledAhead(const std::string& folder, const TuneUnit& unit) {
  const CodeStore store(codeFolder(folder, unit));
  size_t count = 0;
  for (const UnitPart& kernel : unit.kernels) count += store.of(kernel.hash).size();
  return count;
}

std::string namesOf(const TuneUnit& unit) {
  std::string names;
  for (const UnitPart& kernel : unit.kernels) names += (names.empty() ? "" : " ") + kernel.name;
  for (const UnitPart& graph : unit.graphs) names += (names.empty() ? "" : " ") + ("decisions of " + graph.name);
  return names;
}

/// In the greatest unit that it has two of; programs get seconds.
Cell ageCell(const AttemptTrace& last, const std::vector<std::string>& attempts) {
  constexpr std::pair<int64_t, const char*> kUnits[] = {{86400, " d"}, {3600, " h"}, {60, " min"}, {1, " s"}};
  if (attempts.empty()) return "";
  for (const auto& [seconds, name] : kUnits)
    if (last.age >= 2 * seconds || seconds == 1) return Cell(last.age, std::to_string(last.age / seconds) + name);
  return "";
}

}  // namespace

Result<Document> statusOf(const TuneWork& work, const std::string& folder, const Warns& warns) {
  Table table{"units",
              {{"unit", "unit", true},
               {"hash", "hash"},
               {"state", "state"},
               {"attempts", "attempts", true},
               {"host", "host"},
               {"age", "last growth", true},
               {"candidates", "candidates", true},
               {"winners", "winners", true},
               {"plans", "plans", true},
               {"ahead", "compiled ahead", true},
               {"parts", "kernels and graphs"}},
              {}};
  std::map<UnitState, size_t> counts;
  for (size_t i = 0; i < work.units.size(); ++i) {
    const TuneUnit& unit = work.units[i];
    const std::vector<std::string> attempts = attemptsOf(folder, unit);
    SVOD_TRY(const TuningLog log, readAttempts(attempts, warns));
    const UnitState state = stateOf(folder, unit);
    const AttemptTrace last = attempts.empty() ? AttemptTrace() : traceOf(attempts.back());
    ++counts[state];
    if (state == UnitState::Damaged)
      warns({Diag::Io, "unit " + std::to_string(i) + " was done, and since then a log of it got lost or was changed",
             "svodc tune run " + folder + " --unit " + std::to_string(i) + " does it again"});
    table.rows.push_back({i, unit.hash, nameOf(state), attempts.size(), last.host, ageCell(last, attempts),
                          log.candidates.size(), bestOf(log, tuningCompiler()).size(), log.plans.size(),
                          compiledAhead(folder, unit), namesOf(unit)});
  }
  const FactList facts = {{"work", "work", folder},
                          {"target", "target", work.target},
                          {"done", "done", counts[UnitState::Done]},
                          {"started", "started", counts[UnitState::Started]},
                          {"open", "open", counts[UnitState::Open]},
                          {"damaged", "damaged", counts[UnitState::Damaged]},
                          {"next", "all logs as one", "svodc log merge " + folder + " -o tuning.log"}};
  return Document{"", {{"", "Tuning work", {facts, table}}}};
}

}  // namespace svod
