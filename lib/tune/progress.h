// Progress reports of tuning, for people and for programs.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tune/budget.h"
#include "tune/kernels.h"

namespace svod {

/// Of one run. Times of kernels are nanoseconds of one launch on one thread, 0 where not known. A kernel is done where
/// its search is over or it had its turn in this round; at the end, where it had one in any.
class TuneProgress {
 public:
  /// Who is told of every event, with its name: begin, turn, candidates, done, decisions, plans, checks, end.
  using Shows = std::function<void(const TuneProgress&, std::string_view event)>;

  TuneProgress(TuneClock::time_point deadline, Shows shows) : shows_(std::move(shows)), deadline_(deadline) {}

  void begin(const std::vector<TuneKernel>& kernels);
  /// More kernels, of plans that may not come to be: they do not count among those that are done, nor in what is
  /// expected. The number of the first.
  size_t add(const std::vector<TuneKernel>& kernels);
  /// What comes behind the turns of kernels.
  void decisions();
  void checks();
  /// Decisions about a graph are looked for: so many plans were measured.
  void plans(size_t measured);
  /// A kernel's turn.
  void turn(size_t kernel, int round);
  void knows(size_t kernel, double baseline, double best);
  void tried();
  /// Its turn is over, and its search may be.
  void hadTurn(size_t kernel, bool isOver);
  void end();

  /// One line, which says of the kernel that has its turn what `width` leaves room for; empty before there is anything
  /// to say.
  std::string text(size_t width) const;
  /// One line.
  std::string json(std::string_view event) const;

 private:
  struct Row {
    std::string name, hash;
    double launches = 0, predicted = 0, baseline = 0, best = 0;
    bool isDone = false, isOver = false, hadTurn = false;
  };

  /// What all launches are expected to take, as a part of -O1.
  double expected() const;
  double perSecond() const;
  size_t kernelsDone() const;
  void show(std::string_view event);
  void does(std::string_view event, std::string what);
  std::string kernelText(size_t room) const;

  Shows shows_;
  TuneClock::time_point deadline_, start_ = TuneClock::now(), shown_{};
  std::vector<Row> rows_;
  size_t own_ = 0;  // rows of the graphs; those behind them are of plans
  size_t at_ = 0, candidates_ = 0, plans_ = 0;
  int round_ = 1;
  std::string doing_;  // in place of a kernel's turn
};

}  // namespace svod
