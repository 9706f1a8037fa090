// What there is to say about a plan and the compilation it came from, as a Document (document.h) for render.h.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/model.h"
#include "linearize/linear.h"
#include "plan/plan.h"
#include "report/document.h"

namespace svod {

/// One list of opts for a kernel.
struct SeedView {
  std::string name, opts;
  double predictedNs = 0;  // 0: not known
};

/// What an image of a kernel takes of a unit of its GPU.
struct ImageView {
  std::string arch;
  int64_t groups = 0;       // on one unit at a time
  double share = 0;         // of the threads that a unit can hold
  std::string_view limit;   // what keeps it from more
  int64_t spillBytes = -1;  // of a thread; below 0: not known
  std::vector<std::string> warnings = {};
};

/// Accesses of a warp that are alike.
struct WarpAccessView {
  std::string what;       // "4 loads of 16 bytes by 32 lanes, argument 1"
  std::string_view unit;  // sectors or wavefronts
  int transfers = 0, least = 0;
};

/// How the schedule of a kernel came about, and how fast it should be. Times are of one call, 0 where not known.
struct KernelInsight {
  std::string_view pattern, patternWhat;                  // its class; empty where not known
  std::string strategy;                                   // that chose its opts; empty: none did, or not known
  std::vector<std::pair<std::string, std::string>> opts;  // each with the reason for it
  std::string scheduled, optimized;                       // its loops by name, before and after opts; may be empty
  double predictedNs = 0;                                 // on one thread, or of a grid, with the likely sizes
  std::string_view limit;                                 // what most of that goes to
  double rooflineNs = 0;                                  // the least the machine needs on one thread
  double measuredNs = 0;                                  // time of all threads together
  double measuredRooflineNs = 0;                          // for what was measured: variables may have been smaller
  std::string chosen = {};                                // why by this strategy; may be empty
  std::string tuningHash = {};                            // by which tuning logs know it; may be empty
  std::vector<SeedView> seeds = {};                       // what all strategies make of it, in order of preference
  std::vector<ImageView> images = {};                     // of a GPU
  std::vector<WarpAccessView> accesses = {};              // of a GPU
};

/// What is known about a kernel besides the plan; matched to the plan's kernels by name.
struct KernelView {
  std::string_view name;
  const LinearKernel* linear = nullptr;  // null: not known
  std::string_view source;               // generated code
  KernelInsight insight = {};
};

/// A part of a step that one thread ran, in nanoseconds since the run began.
struct TracedPart {
  size_t step = 0;
  uint32_t thread = 0;
  double start = 0, end = 0;
};

/// What one core of the processor can do at most; 0 where not known.
struct CoreLimits {
  double memoryGBs = 0, cacheGBs = 0, gflops = 0;  // of the second level cache; of f32
};

/// Everything is borrowed. `model` and `kernels` are absent when a plan was read from disk.
struct Subject {
  const Plan* plan = nullptr;
  const Model* model = nullptr;
  std::vector<KernelView> kernels;
  std::string_view planSource;  // text of the plan's Source file, if it has one
  CoreLimits core = {};
  std::vector<TracedPart> events = {};  // of one run, by start; empty: not known
};

/// Which parts to describe in full; without any, all of them in short.
struct ReportOptions {
  bool graph = false, kernels = false, memory = false, steps = false;
  bool source = false;  // generated code, with the kernels
  bool decisions = false;
  bool any() const { return graph || kernels || memory || steps || source || decisions; }
  static ReportOptions all() { return {true, true, true, true, true, true}; }
};

Document describe(const Subject& subject, const ReportOptions& options);
/// All of it in the order of a page: how fast first, then what runs when and where, the weights last.
Document pageOf(const Subject& subject);

// The parts. `full` adds what is too long for an overview.
Section overviewOf(const Plan& plan);
Section graphOf(const Model& model, bool full);
Section decisionsOf(const Plan& plan);
Section kernelsOf(const Subject& subject, bool full, bool source);
Section memoryOf(const Plan& plan, bool full);
Section stepsOf(const Plan& plan, bool full);

// Of pages alone.
/// The key figures, without a title.
Section figuresOf(const Subject& subject);
/// As kernelsOf, without the details of each, and these alone, folded.
Section kernelsInShort(const Subject& subject);
Section kernelDetails(const Subject& subject);
Section flowOf(const Subject& subject);
/// When which step runs: of `events`, else as long as its kernel takes by itself. Empty where nothing is known.
Section timeLineOf(const Subject& subject);
/// As memoryOf in full, without constants, and these alone.
Section memoryAtWork(const Plan& plan);
Section weightsOf(const Plan& plan);

}  // namespace svod
