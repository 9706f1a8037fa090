#include "tune/log_tables.h"

#include <map>
#include <set>

#include "report/tuning_page.h"
#include "tuning/winners.h"

namespace svod {

namespace {

std::map<std::string, std::string> namesOf(const TuningLog& log) {
  std::map<std::string, std::string> names;
  for (const KernelRecord& r : log.kernels) names.emplace(r.kernel, r.name);
  return names;
}

std::string nameIn(const std::map<std::string, std::string>& names, const std::string& kernel) {
  const auto found = names.find(kernel);
  return found == names.end() ? kernel : found->second;
}

/// Of a log where nothing won: "-".
Cell ratioOrNone(const Winner& w) { return w.ratio > 0 ? percentCell(w.ratio) : Cell(w.ratio, "-"); }
Cell optsOrNone(const Winner& w) { return w.ratio > 0 ? optsCell(w.opts) : Cell(w.opts, "-"); }

template <class Record, class Member>
int64_t distinct(const std::vector<Record>& records, Member member) {
  std::set<std::string> values;
  for (const Record& r : records) values.insert(r.*member);
  return static_cast<int64_t>(values.size());
}

/// Empty, and not shown, where all winners apply.
Table passedTable(const AppliedLog& applied) {
  const auto names = namesOf(applied.log);
  Table table{"passed",
              {{"name", "passed over"},
               {"kernel", "hash"},
               {"target", "target"},
               {"ratio", "% of -O1", true},
               {"reason", "why it does not apply"},
               {"opts", "opts"}},
              {}};
  for (const auto& [w, reason] : applied.passed)
    table.rows.push_back({nameIn(names, w.kernel), w.kernel, w.target, percentCell(w.ratio), reason, optsCell(w.opts)});
  return table;
}

}  // namespace

Document statsOf(const AppliedLog& applied, std::string_view compiler) {
  const TuningLog& log = applied.log;
  std::map<Outcome, int64_t> counts;
  for (const CandidateRecord& r : log.candidates) ++counts[r.outcome];
  const FactList facts = {{"kernels", "kernels", distinct(log.candidates, &CandidateRecord::kernel)},
                          {"candidates", "candidates", log.candidates.size()},
                          {"targets", "targets", distinct(log.candidates, &CandidateRecord::target)},
                          {"machines", "machines", distinct(log.candidates, &CandidateRecord::machine)},
                          {"compilers", "compilers", distinct(log.candidates, &CandidateRecord::compiler)},
                          {"winners", "kernels with a winner", bestOf(log, {}).size()},
                          {"graphs", "graphs", distinct(log.graphs, &GraphRecord::graph)},
                          {"plans", "plans", log.plans.size()},
                          {"planWinners", "graphs with other decisions", bestPlansOf(log, {}).size()}};
  return {"", {{"", "Tuning log", {facts, gainsTable(log, compiler), passedTable(applied), outcomesTable(counts)}}}};
}

Document bestTable(const AppliedLog& applied, std::string_view compiler) {
  const TuningLog& log = applied.log;
  const auto names = namesOf(log);
  Table table{"winners",
              {{"name", "kernel"},
               {"kernel", "hash"},
               {"target", "target"},
               {"ratio", "% of -O1", true},
               {"hint", "hint"},
               {"machines", "measured on"},
               {"opts", "opts"}},
              {}};
  for (const Winner& w : bestOf(log, compiler))
    table.rows.push_back(
        {nameIn(names, w.kernel), w.kernel, w.target, percentCell(w.ratio), w.isHint, w.machines, optsCell(w.opts)});
  return {"",
          {{"", "Whole graphs", {gainsTable(log, compiler)}},
           {"", "Winners", {table, passedTable(applied)}},
           {"", "Decisions", {planWinnersTable(log, compiler)}}}};
}

Document differences(const TuningLog& before, const TuningLog& after, std::string_view compiler) {
  const TuningLog both[] = {before, after};
  const auto names = namesOf(merged(both));
  std::map<std::pair<std::string, std::string>, std::pair<Winner, Winner>> places;
  for (Winner& w : bestOf(before, compiler)) places[{w.kernel, w.target}].first = w;
  for (Winner& w : bestOf(after, compiler)) places[{w.kernel, w.target}].second = w;
  Table table{"differences",
              {{"name", "kernel"},
               {"kernel", "hash"},
               {"target", "target"},
               {"ratioBefore", "% before", true},
               {"ratioAfter", "% after", true},
               {"optsBefore", "opts before"},
               {"optsAfter", "opts after"}},
              {}};
  for (const auto& [place, pair] : places)
    if (pair.first.opts != pair.second.opts || (pair.first.ratio == 0) != (pair.second.ratio == 0))
      table.rows.push_back({nameIn(names, place.first), place.first, place.second, ratioOrNone(pair.first),
                            ratioOrNone(pair.second), optsOrNone(pair.first), optsOrNone(pair.second)});
  std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>> graphs;
  for (const PlanWinner& w : bestPlansOf(before, compiler))
    graphs[{w.graph, w.target}].first = decisionsText(w.decisions);
  for (const PlanWinner& w : bestPlansOf(after, compiler))
    graphs[{w.graph, w.target}].second = decisionsText(w.decisions);
  Table plans{"plans",
              {{"graph", "graph"}, {"target", "target"}, {"before", "decisions before"}, {"after", "decisions after"}},
              {}};
  for (const auto& [place, pair] : graphs)
    if (pair.first != pair.second) plans.rows.push_back({place.first, place.second, pair.first, pair.second});
  return {"", {{"", "Winners that differ", {table, plans}}}};
}

}  // namespace svod
