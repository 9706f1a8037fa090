// Distributed tuning: a folder of units of work with plan.json, and for every unit a folder with a log for each
// attempt.
#pragma once
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "tune/kernels.h"

namespace svod {

/// A kernel, or a graph whose decisions are looked for.
struct UnitPart {
  std::string hash, name;
};

struct TuneUnit {
  std::string hash;  // 12 digits of what it is to do: equal units have equal hashes
  std::vector<UnitPart> kernels, graphs;
};

/// What whoever planned the work was told, by a name of theirs.
struct WorkSetting {
  std::string name;
  std::variant<bool, int64_t, std::string, std::vector<std::string>> value;
  bool isOfSearch = false;  // it changes how kernels are measured; others change what is compiled. No part of the file
};

/// What every machine needs to know to do its units.
struct TuneWork {
  std::string directory;  // where paths begin, seen from the folder of the work
  std::vector<std::string> graphs;
  std::vector<WorkSetting> settings;         // those that change what is compiled, and how it is searched
  std::map<std::string, std::string> files;  // that were read, with SHA-256
  std::string target, compiler;
  double seconds = 0;  // for each unit
  std::vector<TuneUnit> units;
};

/// Graphs whose decisions can be looked for, equal ones once.
std::vector<UnitPart> graphsToTune(const std::deque<TuneGraph>& graphs);

/// Kernels and graphs to at most `most` units (0: one each), so that the weights of kernels differ little. Graphs have
/// units of their own, the last ones, where there are enough.
std::vector<TuneUnit> unitsOf(const std::vector<TuneKernel>& kernels, const std::vector<UnitPart>& graphs, int64_t most,
                              const TuneWork& work);

/// Whether a plan may be written there: into a new folder, an empty one, or one that holds such work. Errors: Io.
Status checkWorkFolder(const std::string& folder);

std::string toText(const TuneWork& work);
/// Errors: Io; Syntax, Unsupported for another form.
Result<TuneWork> readTuneWork(const std::string& folder);

/// Logs of all attempts there are, in order.
std::vector<std::string> attemptsOf(const std::string& folder, const TuneUnit& unit);
/// A log for the next attempt, which nobody else has; a file beside it names this host. Errors: Io.
Result<std::string> claimAttempt(const std::string& folder, const TuneUnit& unit);
/// Where an attempt runs or ran, and the seconds since its log grew.
struct AttemptTrace {
  std::string host;  // empty: unknown
  int64_t age = 0;
};
AttemptTrace traceOf(const std::string& attempt);
/// Where candidates of a unit are kept that were compiled ahead.
std::string codeFolder(const std::string& folder, const TuneUnit& unit);
Status markDone(const std::string& folder, const TuneUnit& unit, const std::string& attempt);

/// Damaged: it was done, and since then a log of it got lost, or that of the attempt that ended it was changed.
enum class UnitState { Open, Started, Done, Damaged };
std::string_view nameOf(UnitState state);
UnitState stateOf(const std::string& folder, const TuneUnit& unit);

Result<std::string> hashOfFile(const std::string& path);

/// Every log below the folder, also of units of an earlier plan.
std::vector<std::string> logsIn(const std::string& folder);

}  // namespace svod
