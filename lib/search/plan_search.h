// Graph-level search: decisions about a graph. Depends on its arguments and on what PlanMeasure and the known records
// say.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/measure.h"
#include "support/decision.h"
#include "support/result.h"

namespace svod {

/// Decisions asked for, values by name. What is not asked for is as usual.
using Asked = std::map<std::string, std::string>;
/// `NAME=VALUE` each, in the order of names.
std::vector<std::string> linesOf(const Asked& asked);

/// A plan that was made with decisions, as far as its kernels are chosen. Nothing ran.
struct PlanForecast {
  std::vector<Decision> decisions;             // all that were made, in order
  double nanoseconds = 0;                      // that the cost model expects of one run
  std::string plan;                            // equal: the same kernels on the same buffers in the same order
  std::string problem;                         // why there is none
  std::map<std::string, double> kernels = {};  // nanoseconds of one run in each of its kernels; empty: not known
};

struct PlanCandidate {
  Asked asked;
  std::string origin;    // what proposed it
  double predicted = 0;  // nanoseconds of one run
};

/// What a search of decisions asks of a machine. Whatever happens to a plan there is an answer, never an error.
class PlanMeasure {
 public:
  virtual ~PlanMeasure() = default;
  virtual PlanForecast price(const Asked& asked) = 0;
  /// Tunes the kernels of `candidate` that nobody has tuned, runs its plan and the one of `than` in turns, and compares
  /// their results: Wins or Loses, with the ratio of their times, or a failure.
  virtual TrialResult compare(const PlanCandidate& candidate, const PlanCandidate& than) = 0;
  /// No more time: the search ends with what it has.
  virtual bool isOver() = 0;
  /// Changes of another plan to beat are priced from here on, until this is over or there are no more.
  virtual void beginPricing() {}
  virtual bool isPricingOver() { return isOver(); }
};

struct PlanSearchOptions {
  double promising = 1.03;  // times what the plan to beat is expected to take: what is beyond is not measured
  double least = 0.02;      // of that, that the kernels take which differ: what is below cannot gain enough
  size_t together = 24;     // plans at most that are measured against one plan to beat
};

/// What is known of plans, by what was asked of them.
using KnownPlans = std::map<Asked, TrialResult>;

struct PlanSearchResult {
  std::optional<PlanCandidate> winner;  // nothing: the baseline plan stays
  double ratio = 1;                     // of its time and the baseline plan's
  size_t priced = 0, same = 0;          // plans; of these, the same as one that was priced before
  size_t hopeless = 0, small = 0;       // expected to be slower; too little of them differs
  size_t impossible = 0;                // that cannot be made
  size_t measured = 0, known = 0;
  std::map<Outcome, size_t> outcomes;  // of those measured
  bool isCut = false;                  // no time was left for more
};

/// Begins with `base`, what a user asked for, and with `hints`. Changes one decision, or all of a kind that were made
/// alike, of the plan to beat; plans that are expected to be fast are measured, best first, and one that wins is the
/// plan to beat from then on. Never touches what `base` asks for. `record` gets every plan before it runs (Started) and
/// what became of it, its ratio that of the baseline plan; an error of it ends the search.
Result<PlanSearchResult> searchPlans(PlanMeasure& measure, const Asked& base, const std::vector<Asked>& hints,
                                     const PlanSearchOptions& options, KnownPlans known,
                                     const std::function<Status(const PlanCandidate&, const TrialResult&)>& record);

}  // namespace svod
