#include "tune_report.h"

#include <algorithm>

#include "options.h"
#include "report/render.h"
#include "report/tuning_page.h"

namespace svod {

namespace {

/// What people find in the log, or as a sum.
struct ForPrograms {
  std::string_view table, column;
};
constexpr ForPrograms kForPrograms[] = {{"kernels", "known"}, {"kernels", "sameCode"}, {"kernels", "dropped"},
                                        {"graphs", "same"},   {"graphs", "hopeless"},  {"graphs", "small"},
                                        {"graphs", "dropped"}};

constexpr size_t kOtherColumns = 63, kLeastName = 16;  // of what stands beside a name, as much as matters

bool isForPrograms(const Table& table, const Column& column) {
  return std::ranges::any_of(
      kForPrograms, [&](const ForPrograms& row) { return row.table == table.key && row.column == column.key; });
}

void makeBrief(Table& table, size_t width) {
  for (size_t i = table.columns.size(); i-- > 0;) {
    if (!isForPrograms(table, table.columns[i])) continue;
    table.columns.erase(table.columns.begin() + static_cast<int64_t>(i));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<int64_t>(i));
  }
  if (width == 0) return;
  for (auto& row : table.rows)
    row[0] = shortName(row[0].text(), std::max(kLeastName, width - std::min(width, kOtherColumns)));
}

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

Document describe(const std::vector<Tuned>& all, const std::vector<TunedGraph>& graphs,
                  const std::vector<CheckedGraph>& checks, const std::string& log) {
  Document document{"", {{"", "Tuned", {factsOf(all, log), kernelsTable(all)}}}};
  if (!graphs.empty()) document.sections.push_back({"", "Decisions", {describeGraphs(graphs)}});
  if (!checks.empty())
    document.sections.push_back(
        {"", "Inside the plan: % of the time of -O1, with warm and cold caches", {describeChecks(checks)}});
  return document;
}

std::string tuneText(Document document, const Request& request, const Console& console) {
  if (request.flags.json) return toJson(document);
  for (Section& section : document.sections)
    for (Block& block : section.blocks)
      if (Table* const table = std::get_if<Table>(&block))
        makeBrief(*table, static_cast<size_t>(console.outputWidth()));
  return toText(document, styleOf(console));
}

}  // namespace svod
