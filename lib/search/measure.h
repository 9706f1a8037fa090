// Measurement, as a search asks a machine for it. Whatever happens to a candidate there is an answer, never an error.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "opts/opt.h"
#include "search/features.h"
#include "support/result.h"
#include "tuning/outcomes.h"

namespace svod {

/// A list of opts that applies, loops by name. Two with one text are one candidate.
struct Candidate {
  std::vector<OptOp> opts;
  std::string text;
  std::string origin;    // what proposed it
  double predicted = 0;  // nanoseconds that the cost model expects on as many threads as are timed
  Features features = {};
  double instructions = 0;  // about as many as it will have
};

/// What became of one. Times in nanoseconds.
struct TrialResult {
  Outcome outcome = Outcome::Timed;
  std::string reason = {};  // of a failure
  double nanoseconds = 0, noise = 0, ratio = 0;
  int64_t runs = 0;
  /// Of what was compared: how far its worst value is off, in units of the last place of the greatest.
  std::optional<double> ulp = {};
};

/// Equal `code` is equal machine code. Any outcome but Timed: there is none.
struct Prepared {
  std::string code;
  TrialResult verdict = {};
};

/// An error where the machine had no process or no room to try it: that says nothing about the candidate, and others
/// would fare no better.
Status wasTried(const TrialResult& verdict);

class Measure {
 public:
  virtual ~Measure() = default;
  /// Compiles candidates; in their order.
  virtual std::vector<Prepared> prepare(std::span<const Candidate> candidates) = 0;
  /// Runs one that was prepared, compares its values with those of the kernel without opts, and times it. Above
  /// `stopAbove` nanoseconds (if that is more than 0) it may stop early: Slow.
  virtual TrialResult time(const Candidate& candidate, double stopAbove) = 0;
  /// Runs it and the opts of -O1 in turns: Wins or Loses, with the ratio, or a failure.
  virtual TrialResult compare(const Candidate& candidate) = 0;
  /// No more time: the search ends with what it has, once the fastest were compared.
  virtual bool isOver() = 0;
};

}  // namespace svod
