// Neighbourhood moves: from lists of opts to others, by one opt more or less, other amounts, or parts of two lists.
#pragma once
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "choose/chooser.h"
#include "search/measure.h"

namespace svod {

/// One kernel and what is known of it. Used by one thread; borrows the graph and `caps`.
class Moves {
 public:
  /// `sink`: Kernel stage, before any opt, simplified.
  /// `threads`: so many run a kernel, and where they are more than one, lists also change in how many of them share the
  /// work and how.
  Moves(Graph& graph, UOp sink, const Caps& caps, int threads = 1)
      : given_(sink), sink_(sink), caps_(caps), threads_(threads), graph_(&graph),
        facts_(std::make_unique<FactsCache>()) {}

  /// The list as it applies: opts that do not are left out, and where no loop is cut for threads and that is not looked
  /// for, loops are cut as -O1 does it. Nothing where that is no list for this kernel.
  std::optional<Candidate> candidate(std::span<const OptOp> opts, std::string origin);
  /// What every strategy makes of the kernel, the preferred one first.
  std::vector<Candidate> seeds();
  /// The list with its outermost loops cut so that `count` threads share them, none for one thread. Nothing where loops
  /// have not so many iterations.
  std::optional<Candidate> shared(const Candidate& of, int count);
  /// Numbers of threads that are tried: powers of two, and all there are.
  std::vector<int> threadCounts() const;
  /// The list and one opt more, for every opt that makes sense; how threads share the work is left alone where it is
  /// not looked for.
  std::vector<Candidate> successors(const Candidate& of);
  /// The list and one opt more before all others, or behind them, for every opt that makes sense there.
  std::vector<Candidate> additions(const Candidate& of);
  /// At most so many random changes of one of `parents`, or a random part of two of them.
  std::optional<Candidate> mutant(std::span<const Candidate> parents, std::mt19937_64& random, int changes = 2);

 private:
  /// Goes on from what these have in common with the list before.
  Chooser replayed(std::span<const OptOp> opts);
  std::vector<OptOp> withoutFixed(std::vector<OptOp> opts) const;
  /// Opts of threads, which are as -O1 has them.
  bool isFixed(const OptOp& opt) const;
  std::vector<OptOp> proposals(const Chooser& at);
  std::vector<OptOp> changed(const std::vector<OptOp>& opts, std::mt19937_64& random);
  std::vector<OptOp> macro(const std::vector<OptOp>& opts, std::mt19937_64& random);

  /// More copies along one axis, and fewer along another: the register tile keeps about its size.
  static void reshape(std::vector<OptOp>& opts, std::mt19937_64& random);
  bool startAnewWhenLarge();

  struct Step {
    OptOp opt;
    Chooser after;
  };
  static constexpr size_t kMoreNodes = 1 << 13;

  UOp given_, sink_;
  const Caps& caps_;
  int threads_;
  Graph* graph_;                // where lists are tried:
  std::unique_ptr<Graph> own_;  // from when the given one has grown
  std::unique_ptr<FactsCache> facts_;
  std::vector<Step> path_;  // the list that was replayed last
  size_t mostNodes_ = kMoreNodes;
};

}  // namespace svod
