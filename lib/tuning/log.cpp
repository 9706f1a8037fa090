#include "tuning/log.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tuning/winners.h"

namespace svod {

namespace {

/// What a record is about, but for what became of it.
using Subject = std::tuple<std::string, std::string, std::string, std::string, std::string>;
Subject subjectOf(const CandidateRecord& r) { return {r.kernel, r.target, r.machine, r.compiler, r.opts}; }
Subject subjectOf(const PlanRecord& r) {
  std::string asked;
  for (const std::string& decision : r.decisions) asked += decision + "\n";
  return {r.graph, r.target, r.machine, r.compiler, asked};
}

template <class Record>
void sortByLine(std::vector<Record>& records) {
  std::map<std::string, Record> byLine;
  for (Record& record : records) {
    std::string line = toLine(record);
    byLine.emplace(std::move(line), std::move(record));
  }
  records.clear();
  for (auto& [line, record] : byLine) records.push_back(std::move(record));
}

/// No Started record beside what became of it.
template <class Record>
void dropStarted(std::vector<Record>& records) {
  std::set<Subject> known;
  for (const Record& r : records)
    if (r.outcome != Outcome::Started) known.insert(subjectOf(r));
  std::erase_if(records,
                [&](const Record& r) { return r.outcome == Outcome::Started && known.contains(subjectOf(r)); });
}

/// Sorted, each record once.
void settle(TuningLog& log) {
  dropStarted(log.candidates), dropStarted(log.plans);
  sortByLine(log.kernels), sortByLine(log.candidates);
  sortByLine(log.graphs), sortByLine(log.plans), sortByLine(log.gains);
}

struct Adder {
  TuningLog& log;
  void operator()(KernelRecord& r) const { log.kernels.push_back(std::move(r)); }
  void operator()(CandidateRecord& r) const { log.candidates.push_back(std::move(r)); }
  void operator()(GraphRecord& r) const { log.graphs.push_back(std::move(r)); }
  void operator()(PlanRecord& r) const { log.plans.push_back(std::move(r)); }
  void operator()(GainRecord& r) const { log.gains.push_back(std::move(r)); }
};

template <class Record>
void append(std::vector<Record>& to, const std::vector<Record>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

template <class Record>
void addLines(std::vector<std::string>& lines, const std::vector<Record>& records) {
  for (const Record& r : records) lines.push_back(toLine(r));
}

bool isOnlyTimed(const CandidateRecord& r) { return r.outcome == Outcome::Timed || r.outcome == Outcome::Slow; }

}  // namespace

Result<TuningLog> parseTuningLog(std::string_view text, UnreadLines& unread) {
  TuningLog log;
  size_t number = 0;
  for (; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    if (end == text.npos) {
      unread.tornEnd = true;
      break;
    }
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty()) continue;
    Result<TuningRecord> record = recordFromLine(line);
    if (record) {
      std::visit(Adder{log}, *record);
    } else if (record.error()->diag == Diag::Unsupported) {
      return fail(std::move(record.error()).withNote("in line " + std::to_string(number + 1)));
    } else {
      if (unread.malformed.empty()) unread.firstProblem = record.error()->message;
      unread.malformed.push_back(number + 1);
    }
  }
  settle(log);
  return log;
}

TuningLog merged(std::span<const TuningLog> logs) {
  TuningLog all;
  for (const TuningLog& log : logs) {
    append(all.kernels, log.kernels), append(all.candidates, log.candidates);
    append(all.graphs, log.graphs), append(all.plans, log.plans), append(all.gains, log.gains);
  }
  settle(all);
  return all;
}

std::string toText(const TuningLog& log) {
  std::vector<std::string> lines;
  addLines(lines, log.kernels), addLines(lines, log.candidates);
  addLines(lines, log.graphs), addLines(lines, log.plans), addLines(lines, log.gains);
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TuningLog pruned(const TuningLog& log, size_t fastest) {
  using Place = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Place, std::vector<const CandidateRecord*>> timed;
  for (const CandidateRecord& r : log.candidates)
    if (isOnlyTimed(r)) timed[Place(r.kernel, r.target, r.machine, r.compiler)].push_back(&r);
  std::set<const CandidateRecord*> kept;
  for (auto& [place, records] : timed) {
    const auto rank = [](const CandidateRecord* r) {
      return std::tuple(r->outcome == Outcome::Slow, r->nanoseconds, std::string_view(r->opts));
    };
    std::ranges::stable_sort(records, {}, rank);
    records.resize(std::min(records.size(), fastest));
    kept.insert(records.begin(), records.end());
  }
  TuningLog rest{log.kernels, {}, log.graphs, log.plans, gainsOf(log)};
  for (const CandidateRecord& r : log.candidates)
    if (!isOnlyTimed(r) || kept.contains(&r)) rest.candidates.push_back(r);
  return rest;
}

}  // namespace svod
