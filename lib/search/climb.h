// Beam search: one opt more each time, for the best lists of the last step.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "search/moves.h"

namespace svod {

/// What is known of lists, and what a step must gain.
struct ClimbRules {
  // Nanoseconds; 0 where it has none. Those of slow ones count: from no opts, the way to the fastest ones is through
  // them.
  std::function<double(const Candidate&)> timeOf;
  std::function<bool(const Candidate&)> isHopeful;      // others are not tried
  double leastGain = 0;                                 // of the time of the last step
  std::function<double(const Candidate&)> rankOf = {};  // what is expected; the least goes first. None: as they come
  size_t most = SIZE_MAX;                               // lists of a step: the first of these
};

/// Borrows `moves`. Lists of a step are taken, in portions, and timed by whoever took them; then it goes on.
class Climb {
 public:
  Climb() = default;  // is over
  /// `width`: so many of the best go on.
  Climb(Moves& moves, const Candidate& from, size_t width, ClimbRules rules);

  bool isOver() const { return isOver_; }
  /// Lists of this step: all, and those that nobody took.
  size_t size() const { return made_.size(); }
  size_t left() const { return made_.size() - taken_; }
  std::span<const Candidate> take(size_t count);
  /// To the next step; over where this one gained nothing.
  void goOn();

 private:
  void makeStep(std::span<const Candidate> from);

  Moves* moves_ = nullptr;
  size_t width_ = 0, taken_ = 0;
  ClimbRules rules_;
  std::vector<Candidate> made_;
  double best_ = 0;  // time of the last step
  bool isOver_ = true;
};

}  // namespace svod
