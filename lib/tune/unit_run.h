// Distributed tuning: one unit of work on this machine.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "report/document.h"
#include "tune/tune.h"
#include "tune/units.h"

namespace svod {

struct UnitRun {
  const std::string& folder;  // of the work
  const TuneUnit& unit;
  std::deque<TuneGraph>& all;  // that were planned
  TuneOptions options;
  double seconds = 0;
  std::string code;  // a folder for code that is measured
};

/// The folder that the paths of the work begin in, whose files are as they were when it was planned. Errors: Io;
/// Mismatch.
Result<std::string> checkedPlace(const TuneWork& work, const std::string& folder);
/// Whether the graphs are compiled here as they were planned. Errors: Mismatch.
Status checkCompiled(const TuneWork& work, const UnitRun& run);

/// Tunes the kernels of the unit and looks for decisions about its graphs, with a log of its own, and marks the unit
/// as done. `known`: what all units measured. `begun` is called once everything that is measured stays. Errors: Io;
/// Interrupted where time ended before anything was measured.
Result<Document> measureUnit(const UnitRun& run, TuningLog& known, const std::function<void()>& begun,
                             TuneProgress::Shows shows);
/// Compiles candidates ahead (ahead.h); nothing runs. Errors: Io.
Result<Document> compileUnit(const UnitRun& run, const TuningLog& known);

}  // namespace svod
