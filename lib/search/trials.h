// The history of a search: what became of the lists that it tried, and what that says of others.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

#include "search/correction.h"
#include "search/population.h"
#include "search/search.h"

namespace svod {

using Recorder = std::function<Status(const Candidate&, const TrialResult&)>;

/// Each list has one verdict. Borrows everything but `known`, what earlier searches found; counts what it does in
/// `result`.
class Trials {
 public:
  Trials(Measure& measure, const SearchOptions& options, KnownTrials known, const Recorder& record,
         SearchResult& result)
      : measure_(measure), options_(options), known_(std::move(known)), record_(record), result_(result),
        correction_(options.neighbours.correction) {}

  /// Gives each a verdict. What is known is not run again, and equal code is timed once. An error of `record` ends it.
  Status evaluate(std::span<const Candidate> candidates);
  /// Against -O1, unless it was compared before.
  Result<TrialResult> compared(const Candidate& candidate);

  bool isSeen(const std::string& text) const { return seen_.contains(text); }
  /// Nanoseconds of one that was timed, or of the one run of a slow one, else 0; of a list by its text, whatever became
  /// of it.
  double timeOf(const Candidate& candidate) const;
  double measured(const std::string& text) const;
  /// All that were timed.
  const Population& timed() const { return timed_; }
  double bestTime() const { return timed_.bestTime(); }
  /// Gets what is timed from here on as well; null for none.
  void watch(Population* population) { population_ = population; }

  /// Learns from the times so far.
  void fit() {
    if (options_.corrects) correction_.fit();
  }
  /// Nanoseconds of the cost model, corrected.
  double expected(const Candidate& c) const { return options_.corrects ? correction_.expected(c) : c.predicted; }

 private:
  Status run(const Candidate& c, const Prepared& prepared);
  void note(const Candidate& c, const TrialResult& verdict, const std::string& code);

  Measure& measure_;
  const SearchOptions& options_;
  KnownTrials known_;
  const Recorder& record_;
  SearchResult& result_;
  Correction correction_;
  Population timed_;
  Population* population_ = nullptr;
  std::set<std::string> seen_, prepared_;
  std::map<std::string, TrialResult> byCode_;
  size_t batch_ = 4;  // so many are compiled together: few at first, so that there is a result soon
};

}  // namespace svod
