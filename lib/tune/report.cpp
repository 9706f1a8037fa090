#include "tune/report.h"

#include "report/tuning_page.h"

namespace svod {

namespace {

/// "2 wrong, 1 hung".
Cell droppedCell(const std::map<Outcome, size_t>& outcomes) {
  size_t all = 0;
  std::string reasons;
  for (const auto& [outcome, count] : outcomes)
    if (info(outcome).isFailure) {
      all += count;
      reasons += (reasons.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(info(outcome).name);
    }
  return Cell(all, reasons);  // nothing: shown as 0
}

Cell optsOrWhyNot(const Tuned& t) {
  if (!t.problem.empty()) return t.problem;
  if (t.result.winner) return optsCell(t.result.winner->text);
  return isTried(t) ? "-O1 stays" : t.turns > 0 ? "its time was too short" : "no time was left";
}

Cell unknown(double forPrograms) { return Cell(forPrograms, "-"); }

Table kernelsTable(const std::vector<Tuned>& all) {
  Table table{"kernels",
              {{"name", "kernel"},
               {"launches", "launches", true},
               {"ns", "-O1", true},
               {"ratio", "% of it", true},
               {"candidates", "tried", true},
               {"known", "known", true},
               {"sameCode", "same code", true},
               {"dropped", "dropped", true},
               {"opts", "opts, or why not"}},
              {}};
  for (const Tuned& t : all) {
    const SearchResult& r = t.result;
    const Cell ratio = r.winner ? percentCell(r.verdict.ratio) : r.baseline > 0 ? percentCell(1) : unknown(1);
    table.rows.push_back({t.kernel.kernel->name, t.kernel.launches, r.baseline > 0 ? timeCell(r.baseline) : unknown(0),
                          ratio, r.measured, r.known, r.sameCode, droppedCell(r.outcomes), optsOrWhyNot(t)});
  }
  return table;
}

Table describeGraphs(const std::vector<TunedGraph>& graphs) {
  Table table{"graphs",
              {{"name", "graph"},
               {"ratio", "% of usual", true},
               {"priced", "priced", true},
               {"same", "same", true},
               {"hopeless", "expected slower", true},
               {"small", "too small", true},
               {"measured", "measured", true},
               {"dropped", "dropped", true},
               {"decisions", "decisions, or why not"}},
              {}};
  for (const TunedGraph& g : graphs) {
    const PlanSearchResult& r = g.result;
    size_t dropped = 0;
    for (const auto& [outcome, count] : r.outcomes) dropped += info(outcome).isFailure ? count : 0;
    const std::string what = !g.problem.empty() ? g.problem
                             : r.winner         ? decisionsText(linesOf(r.winner->asked))
                                                : "the usual ones stay";
    table.rows.push_back({g.name, g.problem.empty() ? percentCell(r.ratio) : Cell(r.ratio, "-"), r.priced, r.same,
                          r.hopeless, r.small, r.measured, dropped, what});
  }
  return table;
}

Table describeChecks(const std::vector<CheckedGraph>& graphs) {
  Table table{"plans",
              {{"name", "graph"},
               {"warm", "% warm", true},
               {"cold", "% cold", true},
               {"checked", "winners", true},
               {"slower", "lost there", true},
               {"untold", "not told", true},
               {"problem", "why not run"}},
              {}};
  for (const CheckedGraph& g : graphs) {
    const auto cell = [&](double ratio) { return g.problem.empty() ? percentCell(ratio) : Cell(ratio, "-"); };
    table.rows.push_back({g.name, cell(g.warm), cell(g.cold), g.checked, g.dropped, g.untold, g.problem});
  }
  return table;
}

FactList factsOf(const std::vector<Tuned>& all, const std::string& log) {
  if (all.empty()) return {{"log", "tuning log", log}};
  double before = 0, after = 0;
  size_t gained = 0, candidates = 0, known = 0, untried = 0;
  std::map<Outcome, size_t> outcomes;
  for (const Tuned& t : all) {
    const SearchResult& r = t.result;
    const double time = (r.baseline > 0 ? r.baseline : t.kernel.predicted) * static_cast<double>(t.kernel.launches);
    before += time, after += time * (r.winner ? r.verdict.ratio : 1);
    gained += r.winner ? 1 : 0, candidates += r.measured, known += r.known;
    for (const auto& [outcome, count] : r.outcomes) outcomes[outcome] += count;
    untried += isTried(t) || !t.problem.empty() ? 0 : 1;
  }
  const auto ofAll = [&](size_t count, const char* more) {
    return Cell(count, std::to_string(count) + " of " + std::to_string(all.size()) + (count > 0 ? more : ""));
  };
  return {{"log", "tuning log", log},
          {"candidates", "candidates tried", candidates},
          {"known", "known before", known},
          {"dropped", "dropped", droppedCell(outcomes)},
          {"gained", "kernels that gained", ofAll(gained, "")},
          {"untried", "kernels without time", ofAll(untried, "; the same command again goes on with them")},
          {"expected", "expected time, % of -O1", percentCell(before > 0 ? after / before : 1)}};
}

}  // namespace

Document describe(const TuneResult& result, const std::string& log) {
  Document document{"", {{"", "Tuned", {factsOf(result.kernels, log), kernelsTable(result.kernels)}}}};
  if (!result.graphs.empty()) document.sections.push_back({"", "Decisions", {describeGraphs(result.graphs)}});
  if (!result.checks.empty())
    document.sections.push_back(
        {"", "Inside the plan: % of the time of -O1, with warm and cold caches", {describeChecks(result.checks)}});
  return document;
}

}  // namespace svod
