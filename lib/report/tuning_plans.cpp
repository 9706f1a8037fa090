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

Table gainsTable(const TuningLog& log, std::string_view compiler) {
  Table table{"gains",
              {{"name", "graph"},
               {"target", "target"},
               {"kernels", "kernels", true},
               {"winners", "with a winner", true},
               {"usual", "-O1", true},
               {"tuned", "tuned", true},
               {"warm", "% of -O1, warm", true},
               {"cold", "% of -O1, cold", true},
               {"hint", "hint"},
               {"asked", "asked for"},
               {"decisions", "decisions"},
               {"machine", "whole plan timed on"}},
              {}};
  const auto percent = [](double ratio) { return ratio > 0 ? percentCell(ratio) : Cell("-"); };
  for (const GraphAccount& a : graphAccountsOf(log, compiler)) {
    std::vector<GainRecord> gains = a.gains;
    if (gains.empty()) {
      GainRecord& none = gains.emplace_back();
      none.compiler = compiler, none.warm = none.cold = a.isBaseline ? 1 : 0;
      none.machine =
          a.isBaseline ? "nothing won: it is the plan of -O1" : "not timed with these winners: svodc tune does";
    }
    for (const GainRecord& r : gains)
      table.rows.push_back({a.name, a.target, a.kernels, a.winners, timeOrNone(r.baseline),
                            timeOrNone(r.baseline * r.warm), percent(r.warm), percent(r.cold), r.compiler != compiler,
                            decisionsText(r.asked), decisionsText(r.decisions), r.machine});
  }
  return table;
}

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
               {"decisions", "decisions"},
               {"note", ""}},
              {}};
  const std::vector<GainRecord> gains = gainsOf(log);
  for (const PlanWinner& best : bestPlansOf(log, compiler))
    for (const PlanWinner& w : planWinnersOf(log, best.graph, best.target, compiler)) {
      const bool isPassed = std::ranges::any_of(gains, [&](const GainRecord& r) {
        return r.graph == w.graph && r.target == w.target && r.compiler == compiler &&
               std::ranges::find(r.passed, w.decisions) != r.passed.end();
      });
      table.rows.push_back({nameOf(log, w.graph), w.graph, w.target, percentCell(w.ratio), w.isHint, w.machines,
                            decisionsText(w.decisions), isPassed ? "passed over: the graph does not have them" : ""});
      if (!isPassed) break;
    }
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
