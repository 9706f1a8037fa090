#include "tune/tune.h"

namespace svod {

namespace {

constexpr double kPartOfDecisions = 0.25;  // what is left by that and the part of kernels is for the last part

}  // namespace

Result<TuneResult> tune(std::deque<TuneGraph>& graphs, TuningLog& log, LogAppender& appender, const TuneTask& task,
                        TuneProgress::Shows shows) {
  SVOD_CHECK(recordGraphs(graphs, log, appender));
  TuneSettings settings{task.options, placeOf(graphs.front(), task.options), task.folder, "", {}};
  const TuneClock::time_point start = TuneClock::now();
  const auto until = [&](double part) { settings.deadline = afterSeconds(start, part * task.seconds); };
  until(1);
  TuneProgress progress(settings.deadline, std::move(shows));
  const std::vector<TuneKernel> kernels = task.wantsOpts ? kernelsToTune(graphs) : std::vector<TuneKernel>();
  progress.begin(kernels);
  TuneResult result;
  until(task.wantsDecisions ? kPartOfKernels : kPartOfKernels + kPartOfDecisions);
  SVOD_TRY(result.kernels, tuneInTurns(kernels, log, appender, settings, progress));
  until(kPartOfKernels + kPartOfDecisions);
  if (task.wantsDecisions) {
    std::vector<TuneGraph*> every;
    for (TuneGraph& graph : graphs) every.push_back(&graph);
    progress.decisions();
    SVOD_TRY(result.graphs, tuneDecisions(every, log, appender, settings, progress));
  }
  until(1);
  if (!task.options.isPriced) {
    progress.checks();
    SVOD_TRY(result.checks, checkInPlans(graphs, log, appender, settings));
  }
  progress.end();
  return result;
}

}  // namespace svod
