// Time budgets: how one is written, and which kernel has how much of it.
#pragma once
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/result.h"

namespace svod {

/// Seconds of "90", "90s", "10m" or "1.5h". Errors: Usage.
Result<double> parseSeconds(const std::string& text);
/// "1:02:03", "10:05".
std::string clockText(double seconds);

using TuneClock = std::chrono::steady_clock;
TuneClock::time_point afterSeconds(TuneClock::time_point from, double seconds);
double secondsBetween(TuneClock::time_point from, TuneClock::time_point to);

/// What a kernel may ask for time with.
struct TimeClaim {
  double weight = 0;    // what all its launches take, in any unit
  double gain = 1;      // the part of it that its last turn gained
  bool isOver = false;  // its search came to an end
  double start = 0;     // seconds that its last turn took before anything was tried
};

/// Who is next, and for how long. In the first round every kernel has a turn by its weight, and half of all time is
/// spent; each further one spends half of what is left among those whose search is not over, by what they take and what
/// their last turn gained. What a turn does not use is there for all that follow.
/// A round with less than four seconds for each kernel is the last, and every kernel has at least 0.6 of an equal part.
/// No turn is shorter than some times what turns took to start: where there are more kernels than time, the heaviest
/// ones have some, and the others none.
class Turns {
 public:
  struct Turn {
    size_t kernel;
    double seconds;
    int round;  // from 1 on
  };
  Turns(std::vector<TimeClaim> claims, double seconds);

  /// Nothing where all searches are over or no time is left.
  std::optional<Turn> next(double secondsLeft);
  /// After its turn.
  void ended(size_t kernel, const TimeClaim& claim);

 private:
  double claimOf(size_t kernel) const;
  void beginRound(double secondsLeft);

  std::vector<TimeClaim> claims_;
  std::vector<size_t> waiting_;  // for their turn in this round, the first one last
  int round_ = 0;
  double reserved_ = 0;  // for the rounds behind this one
  double least_ = 0;     // seconds of a turn in this round
  double starts_ = 0;    // seconds that all turns took to start,
  int turns_ = 0;        // so many
};

}  // namespace svod
