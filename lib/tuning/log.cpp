#include "tuning/log.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace svod {

namespace {

auto placeOf(const CandidateRecord& r) { return std::tie(r.kernel, r.target, r.machine, r.compiler, r.opts); }

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

/// Sorted, each record once, and no Started one beside what became of it.
void settle(TuningLog& log) {
  using Place = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  std::set<Place> known;
  for (const CandidateRecord& r : log.candidates)
    if (r.outcome != Outcome::Started) known.insert(Place(placeOf(r)));
  std::erase_if(log.candidates, [&](const CandidateRecord& r) {
    return r.outcome == Outcome::Started && known.contains(Place(placeOf(r)));
  });
  sortByLine(log.kernels);
  sortByLine(log.candidates);
}

void add(TuningLog& log, TuningRecord record) {
  if (auto* kernel = std::get_if<KernelRecord>(&record))
    log.kernels.push_back(std::move(*kernel));
  else
    log.candidates.push_back(std::move(std::get<CandidateRecord>(record)));
}

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
      add(log, std::move(*record));
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
    all.kernels.insert(all.kernels.end(), log.kernels.begin(), log.kernels.end());
    all.candidates.insert(all.candidates.end(), log.candidates.begin(), log.candidates.end());
  }
  settle(all);
  return all;
}

std::string toText(const TuningLog& log) {
  std::vector<std::string> lines;
  for (const KernelRecord& r : log.kernels) lines.push_back(toLine(r));
  for (const CandidateRecord& r : log.candidates) lines.push_back(toLine(r));
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TuningLog pruned(const TuningLog& log) {
  TuningLog rest = log;
  std::erase_if(rest.candidates,
                [](const CandidateRecord& r) { return r.outcome == Outcome::Timed || r.outcome == Outcome::Slow; });
  return rest;
}

bool isSameCandidate(const CandidateRecord& a, const CandidateRecord& b) { return placeOf(a) == placeOf(b); }

}  // namespace svod
