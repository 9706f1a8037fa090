#include "report/tuning_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace svod {

namespace {

using Accounts = std::span<const KernelAccount>;

std::string timeText(double nanoseconds) { return timeCell(nanoseconds).text(); }

template <class Value>
double sum(Accounts accounts, Value value) {
  double all = 0;
  for (const KernelAccount& a : accounts) all += value(a);
  return all;
}

Section overview(const TuningLog& log, Accounts accounts, std::string_view compiler) {
  std::set<std::string> machines;
  for (const CandidateRecord& r : log.candidates) machines.insert(r.machine);
  const double before = sum(accounts, [](const auto& a) { return a.before(); }),
               after = sum(accounts, [](const auto& a) { return a.after(); });
  const auto isBaseline = [](const KernelAccount& a) { return a.launches > 0; };
  const auto baseline = std::ranges::count_if(accounts, isBaseline);
  const auto winners = std::ranges::count_if(accounts, [&](const auto& a) { return isBaseline(a) && a.winner; });
  FactList facts = {{"kernels", "kernels of usual plans", baseline},
                    {"winners", "with a winner", winners},
                    {"others", "kernels of other plans", std::ssize(accounts) - baseline},
                    {"candidates", "candidates", sum(accounts, [](const auto& a) { return a.candidates.size(); })},
                    {"machines", "machines", machines.size()}};
  if (before > 0) {
    facts.push_back({"before", "sum of launches, each alone, -O1", timeCell(before)});
    facts.push_back({"after", "with the winners", timeCell(after)});
    facts.push_back({"ratio", "% of -O1", percentCell(after / before)});
  }
  return {"", "", {gainsTable(log, compiler), facts}};
}

/// The time of a kernel with its winner, in what -O1 takes.
Chart gainChart(Accounts accounts) {
  constexpr size_t kMost = 32;
  Chart chart{"Time of all launches of a kernel: -O1 grey, with the winner before it; what saves most comes first",
              "time on one thread", ""};
  chart.xUnit = Chart::Unit::Nanoseconds;
  for (const KernelAccount& a : accounts) {
    if (a.before() <= 0 || chart.rows.size() == kMost) continue;
    const auto row = static_cast<double>(chart.rows.size());
    const std::string label = a.name + ": " + timeText(a.before()) + " with -O1, " + timeText(a.after()) +
                              " with the winner, " + percentCell(a.ratio()).text() + " %";
    chart.rows.push_back(percentCell(a.ratio()).text() + " %");
    chart.boxes.push_back({label, "", 0, a.before(), row + 0.08, row + 0.92, Chart::kOtherColor, anchorOf(a)});
    chart.boxes.push_back({label, a.name, 0, a.after(), row + 0.08, row + 0.92, a.winner ? size_t{4} : 0, anchorOf(a)});
    chart.width = std::max(chart.width, a.before());
  }
  chart.height = static_cast<double>(chart.rows.size());
  return chart;
}

Table kernelTable(Accounts accounts) {
  Table table{"kernels",
              {{"name", "kernel"},
               {"launches", "launches", true},
               {"before", "-O1", true},
               {"after", "winner", true},
               {"ratio", "% of -O1", true},
               {"share", "share", true},
               {"candidates", "tried", true},
               {"dropped", "failed", true},
               {"opts", "opts of the winner", false, true, true}},
              {}};
  const double before = sum(accounts, [](const auto& a) { return a.before(); }),
               after = sum(accounts, [](const auto& a) { return a.after(); });
  for (const KernelAccount& a : accounts) {
    int64_t dropped = 0;
    for (const DropReason& d : a.drops) dropped += d.count;
    const double share = before > 0 ? a.before() / before : 0;
    table.rows.push_back({Cell(a.name).to(anchorOf(a)), a.launches, timeOrNone(a.before()), timeOrNone(a.after()),
                          percentCell(a.ratio()), Cell(share, std::to_string(std::lround(100 * share)) + " %"),
                          a.candidates.size(), dropped, a.winner ? optsCell(a.winner->opts) : Cell("")});
  }
  table.totals = {"all", "", timeCell(before), timeCell(after), percentCell(before > 0 ? after / before : 1), "", "",
                  "",    ""};
  return table;
}

/// The best time there was after so many candidates, as a part of that of -O1.
Curves curvesOf(Accounts accounts) {
  Curves curves{"Searches: the best time after so many candidates; the kernels that save most have colors",
                "candidates tried",
                "% of the time of -O1",
                {}};
  for (const KernelAccount& a : accounts) {
    if (!a.baseline) continue;
    Curves::Line line{a.name, a.name, {{0, 100}}, curves.lines.size(), anchorOf(a)};
    double best = a.baseline->nanoseconds;
    for (const CandidateRecord& r : a.candidates) {
      if (r.number == 0 || r.nanoseconds <= 0 || info(r.outcome).isFailure || r.nanoseconds >= best) continue;
      best = r.nanoseconds;
      line.points.emplace_back(static_cast<double>(r.number), 100 * best / a.baseline->nanoseconds);
    }
    const int64_t last = a.candidates.empty() ? 0 : a.candidates.back().number;
    if (last == 0) continue;
    line.points.emplace_back(static_cast<double>(last), line.points.back().second);
    line.label += ": " + percentCell(line.points.back().second / 100).text() + " % after " + std::to_string(last);
    curves.lines.push_back(std::move(line));
  }
  return curves;
}

Scatter predictions(Accounts accounts) {
  constexpr size_t kMost = 1500;
  std::vector<Scatter::Point> points;
  size_t timed = 0;
  const auto isShown = [](const CandidateRecord& r) {
    return r.predicted > 0 && r.nanoseconds > 0 && !info(r.outcome).isFailure && r.outcome != Outcome::Slow;
  };
  for (const KernelAccount& a : accounts) timed += std::ranges::count_if(a.candidates, isShown);
  const size_t step = timed / kMost + 1;
  size_t at = 0;
  for (const KernelAccount& a : accounts)
    for (const CandidateRecord& r : a.candidates) {
      if (!isShown(r)) continue;
      const bool isWinner = a.winner && r.opts == a.winner->opts, isBaseline = r.origin == "-O1";
      if (at++ % step != 0 && !isWinner && !isBaseline) continue;
      const double x = r.predicted / 1e3, y = r.nanoseconds / 1e3;
      const std::string who = a.name + (isWinner ? ", the winner" : isBaseline ? ", -O1" : "");
      points.push_back({who + ": predicted " + timeText(r.predicted) + ", measured " + timeText(r.nanoseconds) + ", " +
                            (r.opts.empty() ? "no opts" : r.opts),
                        isWinner ? who : "", x, y, y, isWinner ? 0.15 : 0, anchorOf(a)});
    }
  std::string title =
      "What the cost model expected and what was measured; on the line both are the same, winners are larger";
  if (step > 1) title += "; one of " + std::to_string(step) + " candidates is shown";
  return {title,
          "predicted, microseconds",
          "measured",
          std::move(points),
          {{"as predicted", 1, std::numeric_limits<double>::infinity()}}};
}

Table dropTable(Accounts accounts) {
  std::map<std::pair<Outcome, std::string>, std::pair<int64_t, std::set<std::string>>> reasons;
  for (const KernelAccount& a : accounts)
    for (const DropReason& d : a.drops) {
      auto& [count, kernels] = reasons[{d.outcome, d.reason}];
      count += d.count, kernels.insert(a.name);
    }
  Table table{"drops",
              {{"outcome", "failed"},
               {"count", "candidates", true},
               {"kernels", "kernels", true},
               {"reason", "reason", false, true}},
              {}};
  for (const auto& [what, where] : reasons)
    table.rows.push_back({info(what.first).name, where.first, where.second.size(), what.second});
  std::ranges::stable_sort(table.rows, std::greater(), [](const auto& row) { return std::get<int64_t>(row[1].value); });
  return table;
}

/// "vector" of "vector(n1,16)".
std::string kindOf(const std::string& opt) { return opt.substr(0, opt.find('(')); }

/// By kind of opt: in how many winners it is as in -O1, has other amounts, is new, or is gone.
Table changesTable(Accounts accounts) {
  std::map<std::string, std::array<std::set<std::string>, 4>> kinds;
  for (const KernelAccount& a : accounts)
    if (a.baseline && a.winner)
      for (const OptDifference& d : differencesOf(a.baseline->opts, a.winner->opts))
        kinds[kindOf(d.winner.empty() ? d.baseline : d.winner)][static_cast<size_t>(d.kind)].insert(a.kernel);
  Table table{"changes", {{"opt", "opt"}}, {}};
  constexpr std::array<std::string_view, 4> kKeys = {"kept", "changed", "removed", "added"};
  for (size_t kind = 0; kind < kKeys.size(); ++kind)
    table.columns.push_back({std::string(kKeys[kind]), std::string(nameOf(OptDifference::Kind(kind))), true});
  for (const auto& [opt, kernels] : kinds)
    table.rows.push_back({opt, kernels[0].size(), kernels[1].size(), kernels[2].size(), kernels[3].size()});
  return table;
}

Section details(Accounts accounts) {
  Section section{"details", "Kernel by kernel"};
  section.partsKey = "details";
  for (const KernelAccount& a : accounts) {
    Section part = tunedKernel(a);
    part.isFolded = true, part.brief = a.winner ? percentCell(a.ratio()).text() + " % of -O1" : "-O1 stays";
    section.parts.push_back(std::move(part));
  }
  return section;
}

}  // namespace

Document tuningPage(const TuningLog& log, std::string_view compiler, const std::string& title) {
  const std::vector<KernelAccount> accounts = accountsOf(log, compiler);
  std::map<Outcome, int64_t> outcomes;
  for (const KernelAccount& a : accounts)
    for (const auto& [outcome, count] : a.outcomes) outcomes[outcome] += count;
  const Note changed{
      "In how many winners an opt stands as in the list of -O1, with other amounts, or in one of both only."};
  return {title,
          {overview(log, accounts, compiler),
           {"gain", "Gain", {gainChart(accounts), kernelTable(accounts)}},
           {"searches", "Searches", {curvesOf(accounts)}},
           {"predictions", "Predictions", {predictions(accounts)}},
           {"winners", "What winners do differently", {changed, changesTable(accounts)}},
           {"decisions", "Decisions about graphs", {plansTable(log)}},
           {"failed", "What became of candidates", {outcomesTable(outcomes), dropTable(accounts)}},
           details(accounts)}};
}

}  // namespace svod
