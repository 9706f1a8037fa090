// The graphs of svodc tune, compiled as -O1 does, and what its flags say of tuning them.
#pragma once
#include <deque>

#include "build.h"
#include "tune/graph.h"
#include "tune/place.h"

namespace svod {

/// What tuning does not take. Errors: Usage, Unsupported.
Status checkTuning(const Request& request);

/// What --search has looked for. Errors of searchOf: Usage.
struct SearchKind {
  std::string_view name;
  bool wantsOpts, wantsDecisions;  // of kernels; about graphs
  bool isPriced = false;           // nothing runs
};
Result<SearchKind> searchOf(const Flags& flags);

/// How candidates are made and measured.
TuneOptions tuneOptions(const Flags& flags);

struct GraphFiles {
  std::deque<TuneGraph> graphs;      // of the files of a request, in order
  std::deque<BuildResult> compiles;  // in the same order: what else their options borrow, and which files were read
};
/// Without a log: what is measured is compared with -O1. Compiles find the kernels of each other, and no others.
Result<GraphFiles> buildAll(const Request& request, Console& console, Workplace& place);

/// Whether the code can run on this processor, where anything does, and --allow-c lets functions of C files run.
/// Errors: Unsupported, Usage.
Status checkMachine(const std::deque<TuneGraph>& graphs, const Flags& flags);

}  // namespace svod
