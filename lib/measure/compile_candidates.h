// Candidates to machine code, in a process of their own.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "measure/code.h"
#include "search/measure.h"

namespace svod {

/// What a candidate may take, and what it is compiled for.
struct CompileLimits {
  double seconds = 10;                     // for one candidate
  uint64_t moreBytes = uint64_t{4} << 30;  // of memory, for all
  size_t mostInstructions = 3000;          // of a candidate
  int variablesAt = kLikely;               // measuredValue(), while it runs
};

/// One candidate: where it is wanted and what came of it. Timed: there is code.
struct CompiledCandidate {
  CandidateCode code;
  TrialResult verdict;
};

/// As `options`, for candidates: no cache and no log.
CompileOptions candidateOptions(CompileOptions options);

/// What was compiled already, by CandidateCode::hash.
using KnownCode = std::map<std::string, CandidateCode>;

/// Compiles `kernel` with each of the lists, in as many processes at once as `options` has jobs, where there are enough
/// for them: each lowers its part, compiles together what comes to different code, and links it to one library, whose
/// path begins with `prefix`; what is in `known` is compiled no more. A candidate that takes too long, too much memory,
/// or the compiler with it, costs itself. `options`: of the compile that made the kernel; its linker must be set.
std::vector<CompiledCandidate> compileCandidates(const CompiledKernel& kernel,
                                                 std::span<const std::vector<OptOp>> lists,
                                                 const CompileOptions& options, const CompileLimits& limits,
                                                 const KnownCode& known, const std::string& prefix);

}  // namespace svod
