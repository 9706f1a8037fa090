#include <algorithm>
#include <map>

#include "report/tuning_page.h"

namespace svod {

namespace {

std::string nameOf(const TuningLog& log, const std::string& graph) {
  const auto found = std::ranges::find(log.graphs, graph, &GraphRecord::graph);
  return found == log.graphs.end() ? graph : found->name;
}

}  // namespace

std::string decisionsText(const std::vector<std::string>& decisions) {
  std::string text;
  for (const std::string& decision : decisions) text += (text.empty() ? "" : " ") + decision;
  return text;
}

Table planWinnersTable(const TuningLog& log, std::string_view compiler) {
  Table table{"plans",
              {{"name", "graph"},
               {"graph", "hash"},
               {"target", "target"},
               {"ratio", "% of the usual plan", true},
               {"hint", "hint"},
               {"machines", "measured on"},
               {"decisions", "decisions"}},
              {}};
  for (const PlanWinner& w : bestPlansOf(log, compiler))
    table.rows.push_back({nameOf(log, w.graph), w.graph, w.target, percentCell(w.ratio), w.isHint, w.machines,
                          decisionsText(w.decisions)});
  return table;
}

Table plansTable(const TuningLog& log) {
  Table table{"plans",
              {{"name", "graph"},
               {"outcome", "outcome"},
               {"predicted", "predicted", true},
               {"ns", "measured", true},
               {"ratio", "% of the usual plan", true},
               {"origin", "proposed by"},
               {"decisions", "decisions"},
               {"reason", "reason", false, true}},
              {}};
  std::vector<const PlanRecord*> records;
  for (const PlanRecord& r : log.plans) records.push_back(&r);
  std::ranges::stable_sort(records, {}, [](const PlanRecord* r) { return r->ratio > 0 ? r->ratio : 1e9; });
  for (const PlanRecord* r : records)
    table.rows.push_back({nameOf(log, r->graph), info(r->outcome).name, timeCell(r->predicted),
                          timeCell(r->nanoseconds), r->ratio > 0 ? percentCell(r->ratio) : Cell(""), r->origin,
                          decisionsText(r->decisions), r->reason});
  return table;
}

}  // namespace svod
