// What svodc tune works on: each kernel of some graphs once.
#pragma once
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "build.h"
#include "search/search.h"
#include "tuning/winners.h"

namespace svod {

struct TuneKernel {
  const BuildResult* build;
  const CompiledKernel* kernel;
  std::string hash;
  int64_t launches = 0;  // steps of all graphs
  double predicted = 0;  // nanoseconds of one of them, on one thread
  double weight() const { return predicted * static_cast<double>(launches); }
};

/// Of all builds, the one with the greatest weight first.
std::vector<TuneKernel> kernelsToTune(const std::deque<BuildResult>& builds);

/// Steps of one plan, by the hash of their kernel.
std::map<std::string, int64_t> launchesOf(const Compilation& compilation);

/// Where records come from: the same for all of a run.
struct TunePlace {
  std::string target, machine, compiler;
  std::string planMachine;  // of whole plans, which run on all processors that this process may use
  std::vector<std::string> decisions;
  int64_t number = 0;  // of the candidate, among those of its kernel
};

/// What the log knows of the candidates of a kernel in this place, and the lists that won anywhere.
KnownTrials knownOf(const TuningLog& log, const std::string& kernel, const TunePlace& place);
std::vector<std::vector<OptOp>> hintsOf(const TuningLog& log, const std::string& kernel, const TunePlace& place);

CandidateRecord recordOf(const Candidate& candidate, const TrialResult& verdict, const std::string& kernel,
                         const TunePlace& place);

/// At most `longest` characters of a kernel's name, which are many: of its begin, which says where it comes from, and
/// of its end, which tells it from others.
std::string shortName(const std::string& name, size_t longest);

/// This machine in a few words, whichever of its processors this process may use.
std::string machineText();

/// As records say ratios: with four places, which is finer than any noise.
double roundedRatio(double ratio);

}  // namespace svod
