// How far svodc tune is, for people and for programs.
#pragma once
#include <string>
#include <vector>

#include "console/console.h"
#include "tune_budget.h"
#include "tune_kernels.h"

namespace svod {

enum class ProgressForm : uint8_t { Text, Json };
/// Errors: Usage.
Result<ProgressForm> progressForm(const std::string& name);

/// Of one run. Times of kernels are nanoseconds of one launch on one thread, 0 where not known.
class TuneProgress {
 public:
  TuneProgress(Console& console, ProgressForm form, TuneClock::time_point deadline)
      : console_(console), form_(form), deadline_(deadline) {}

  void begin(const std::vector<TuneKernel>& kernels);
  /// More kernels, of plans that may not come to be: they do not count in what is expected. The number of the first.
  size_t add(const std::vector<TuneKernel>& kernels);
  /// Decisions about a graph are looked for: so many plans were measured.
  void plans(size_t measured);
  /// A kernel's turn.
  void turn(size_t kernel);
  void knows(size_t kernel, double usual, double best);
  void tried();
  void isDone(size_t kernel);
  void end();

 private:
  struct Row {
    std::string name, hash;
    double launches = 0, predicted = 0, usual = 0, best = 0;
    bool isDone = false;
  };

  /// What all launches are expected to take, as a part of -O1.
  double expected() const;
  double perSecond() const;
  size_t kernelsDone() const;
  void show(const char* event);
  std::string text() const;
  std::string json(const char* event) const;

  Console& console_;
  ProgressForm form_;
  TuneClock::time_point deadline_, start_ = TuneClock::now(), shown_{};
  std::vector<Row> rows_;
  size_t at_ = 0, candidates_ = 0, plans_ = 0;
};

}  // namespace svod
