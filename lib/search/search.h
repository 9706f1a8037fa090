// Schedule search: the opts of one kernel. Depends on its arguments and on what Measure and the known records say.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facts/caps.h"
#include "ir/graph.h"
#include "search/measure.h"
#include "search/neighbours.h"
#include "support/result.h"

namespace svod {

struct SearchOptions {
  int beam = 0;        // this many lists go on, from no opts at all, one opt at a time; 0: seeds and mutations
  size_t parents = 8;  // otherwise: so many go on,
  size_t mutants = 96, survivors = 24;  // so many are made of them, so many of which the cost model lets pass
  double mostInstructions = 6000;       // that a list may be expected to come to; others are not even compiled
  int patience = 8;                     // rounds without a gain before it begins anew elsewhere
  int restarts = 4;                     // so many of which may gain nothing before it ends
  int climbers = 4;                     // a climb beside them goes on with so many lists, from no opts,
  size_t climbStep = 64;                // of which a step tries so many, the best expected ones
  double climbBelow = 2e7;              // nanoseconds that the kernel is expected to take without opts, otherwise not
  double leastGain = 0.01;              // of the best time, that counts as one
  double stopAbove = 3;                 // times the best time: slower ones stop early
  double mostOfLeast = 1000;            // times the least expected time of all: others are not even compiled
  int threads = 1;                      // that run it: how many of them share it, and how, is searched as well
  bool timesSameCode = false;           // also lists that come to code that was timed
  size_t finalists = 5;                 // compared with -O1
  bool corrects = true;                 // the cost model is corrected by what was measured
  Neighbours neighbours = {};           // of the kernel: their lists are begun with, their times learned from
  uint64_t seed = 0;
};

/// What is known of candidates of this kernel, by their text: from a log, and from this search.
using KnownTrials = std::map<std::string, TrialResult>;

struct SearchResult {
  std::optional<Candidate> winner;               // nothing: -O1 stays
  TrialResult verdict = {};                      // of the winner
  double baseline = 0;                           // nanoseconds of -O1
  size_t measured = 0, known = 0, sameCode = 0;  // candidates: in this search, before it, and not timed again
  std::map<Outcome, size_t> outcomes;            // of those measured
  int rounds = 0, restarts = 0;
  bool isCut = false;  // no time was left for more
};

/// `hints`: lists to begin with besides the seeds. `record` gets every candidate before it runs (Started) and what
/// became of it; an error of it ends the search.
Result<SearchResult> search(Graph& graph, UOp sink, const Caps& caps, Measure& measure, const SearchOptions& options,
                            KnownTrials known, const std::vector<std::vector<OptOp>>& hints,
                            const std::function<Status(const Candidate&, const TrialResult&)>& record);

}  // namespace svod
