#include <algorithm>
#include <cmath>
#include <cstdio>

#include "data/sha256.h"
#include "report/tuning_page.h"

namespace svod {

namespace {

/// Of what was only timed no error is known.
Cell ulpOrNone(const CandidateRecord& r) {
  if (!r.ulp) return Cell("-");
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", *r.ulp);
  return Cell(*r.ulp, text);
}

bool isTimed(const CandidateRecord& r) { return r.nanoseconds > 0 && !info(r.outcome).isFailure; }

/// One sentence.
std::string whyOf(const KernelAccount& account) {
  if (account.winner) {
    const std::string ratio = percentCell(account.winner->ratio).text();
    const std::string runs = account.won && account.won->runs > 0
                                 ? " in " + std::to_string(account.won->runs) + " interleaved pairs of runs"
                                 : "";
    return "It took " + ratio + " % of the time of -O1" + runs + ", and failed nowhere" +
           (account.winner->isHint ? ". The code was made by another compiler: it is a hint." : ".");
  }
  const auto lost = account.outcomes.find(Outcome::Loses);
  if (lost != account.outcomes.end())
    return lost->second == 1
               ? "-O1 stays: one list was compared with it, and was not clearly faster."
               : "-O1 stays: " + std::to_string(lost->second) + " were compared with it, and none was clearly faster.";
  if (account.candidates.empty()) return "-O1 stays: nothing was measured.";
  return "-O1 stays: none of the others was fast enough to be compared with it.";
}

FactList factsOf(const KernelAccount& account) {
  const auto candidates = static_cast<int64_t>(account.candidates.size());
  int64_t dropped = 0;
  for (const DropReason& drop : account.drops) dropped += drop.count;
  FactList facts = {{"name", "kernel", account.name},
                    {"kernel", "hash", account.kernel},
                    {"target", "target", account.target},
                    {"machine", "measured on", account.machine},
                    {"launches", "launches", account.launches},
                    {"ratio", "% of -O1", percentCell(account.ratio())},
                    {"candidates", "candidates tried", candidates},
                    {"dropped", "of which failed", dropped}};
  if (account.won && !account.won->origin.empty()) facts.push_back({"origin", "proposed by", account.won->origin});
  return facts;
}

/// -O1 beside the winner.
Table comparison(const KernelAccount& account) {
  Table table{"compared",
              {{"who", "list"},
               {"ns", "measured", true},
               {"noise", "+- %", true},
               {"predicted", "predicted", true},
               {"ulp", "error, ULP", true},
               {"number", "tried as number", true},
               {"opts", "opts", false, true}},
              {}};
  const auto add = [&](const char* who, const CandidateRecord& r) {
    table.rows.push_back({who, timeOrNone(r.nanoseconds), percentCell(r.noise), timeOrNone(r.predicted), ulpOrNone(r),
                          r.number, optsCell(r.opts)});
  };
  if (account.baseline) add("-O1", *account.baseline);
  if (account.won) add("winner", *account.won);
  return table;
}

Table differences(const KernelAccount& account) {
  Table table{"differences", {{"what", "opt"}, {"usual", "-O1"}, {"winner", "winner"}}, {}};
  if (!account.baseline || !account.winner) return table;
  for (const OptDifference& d : differencesOf(account.baseline->opts, account.winner->opts))
    table.rows.push_back({nameOf(d.kind), d.baseline, d.winner});
  return table;
}

/// The fastest of the others.
Table runnersUp(const KernelAccount& account) {
  constexpr size_t kMost = 5;
  std::vector<const CandidateRecord*> others;
  for (const CandidateRecord& r : account.candidates)
    if (isTimed(r) && !(account.won && r.opts == account.won->opts) && r.outcome != Outcome::Slow) others.push_back(&r);
  std::ranges::stable_sort(others, {}, &CandidateRecord::nanoseconds);
  others.resize(std::min(others.size(), kMost));
  Table table{"others",
              {{"outcome", "others"},
               {"ns", "measured", true},
               {"ratio", "% of -O1", true},
               {"predicted", "predicted", true},
               {"opts", "opts", false, true}},
              {}};
  for (const CandidateRecord* r : others)
    table.rows.push_back({std::string(info(r->outcome).name) + (r->origin == "-O1" ? ", -O1" : ""),
                          timeOrNone(r->nanoseconds), r->ratio > 0 ? percentCell(r->ratio) : Cell("-"),
                          timeOrNone(r->predicted), optsCell(r->opts)});
  return table;
}

Table dropsTable(const KernelAccount& account) {
  Table table{"drops", {{"outcome", "failed"}, {"count", "candidates", true}, {"reason", "reason", false, true}}, {}};
  for (const DropReason& d : account.drops) table.rows.push_back({info(d.outcome).name, d.count, d.reason});
  return table;
}

}  // namespace

std::string anchorOf(const KernelAccount& account) {
  return "kernel-" + account.kernel.substr(0, 16) + "-" + sha256Hex(account.target).substr(0, 8);
}

Cell optsCell(const std::string& opts) { return {opts, opts.empty() ? "none" : ""}; }

Cell timeOrNone(double nanoseconds) { return nanoseconds > 0 ? timeCell(nanoseconds) : Cell("-"); }

Cell percentCell(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", 100 * ratio);
  return Cell(ratio, text);
}

Table outcomesTable(const std::map<Outcome, int64_t>& counts) {
  Table table{"outcomes", {{"outcome", "outcome"}, {"count", "candidates", true}, {"what", "meaning"}}, {}};
  for (const OutcomeInfo& row : allOutcomes())
    if (const auto found = counts.find(row.outcome); found != counts.end())
      table.rows.push_back({row.name, found->second, row.what});
  return table;
}

Section tunedKernel(const KernelAccount& account) {
  Section section{anchorOf(account), account.name};
  const std::string why = whyOf(account);
  section.blocks = {FactList{{"why", "why", why}}, factsOf(account),   comparison(account),
                    differences(account),          runnersUp(account), dropsTable(account)};
  if (account.outcomes.size() > 1) section.blocks.push_back(outcomesTable(account.outcomes));
  return section;
}

}  // namespace svod
