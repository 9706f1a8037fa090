// Where what is measured comes from, and what a log knows of that place.
#pragma once
#include <string>
#include <vector>

#include "measure/cpu_measure.h"
#include "search/search.h"
#include "tune/graph.h"
#include "tuning/winners.h"

namespace svod {

/// How candidates are made and measured.
struct TuneOptions {
  bool isPriced = false;      // nothing runs: times are what the cost model expects
  SearchOptions search = {};  // but what depends on the kernel
  MeasureOptions measure = {};
};

/// Of records: the same for all of a run.
struct TunePlace {
  std::string target, machine, compiler;
  std::string planMachine;  // of whole plans, which run on all processors that this process may use
  std::vector<std::string> decisions;
  int64_t number = 0;  // of the candidate, among those of its kernel
};

/// Of what is measured here of kernels of the graph.
TunePlace placeOf(const TuneGraph& graph, const TuneOptions& options);

/// What the log knows of the candidates of a kernel in this place, and the lists that won anywhere.
KnownTrials knownOf(const TuningLog& log, const std::string& kernel, const TunePlace& place);
std::vector<std::vector<OptOp>> hintsOf(const TuningLog& log, const std::string& kernel, const TunePlace& place);

CandidateRecord recordOf(const Candidate& candidate, const TrialResult& verdict, const std::string& kernel,
                         const TunePlace& place);

/// This machine in a few words, whichever of its processors this process may use.
std::string machineText();

/// As records say ratios: with four places, which is finer than any noise.
double roundedRatio(double ratio);

}  // namespace svod
