// The kernel as changed so far and the opts that did it: what the parts of a choice hand on.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "choose/branches.h"
#include "choose/choice.h"
#include "facts/caps.h"
#include "facts/kernel_facts.h"
#include "opts/loop_names.h"
#include "opts/opt.h"
#include "support/integers.h"

namespace svod {

/// Borrows the graph, `caps` and the cache of facts. A copy is a trial: it may change its sink and opts without
/// touching the original's.
struct Chooser {
  /// Of a kernel that no opt has changed yet. `names`: of its loops.
  Chooser(Graph& graph, UOp sink, LoopNames names, const Caps& caps, FactsCache& cache)
      : graph(graph), sink(sink), caps(caps), cache(cache), given(sink), names(std::move(names)) {}

  Graph& graph;
  UOp sink;
  const Caps& caps;
  FactsCache& cache;
  UOp given;  // whose class counts: the kernel before its loops were changed, with groups apart
  LoopNames names;
  std::vector<ChosenOpt> opts;  // loops by name
  std::vector<MadeLoop> made;   // by the last of them
  Branches branches;            // that strategies came by

  Pattern pattern() const { return cache.of(given).pattern(); }
  /// Of the kernel as it is now. They live as long as the choice, whatever is applied.
  const KernelFacts& facts() const { return cache.of(sink); }

  /// Applies and records an opt, and in a phrase why; false (nothing changed) when it is not legal.
  bool apply(OptKind kind, OptArgs args, std::string why);
  bool apply(OptKind kind, uint32_t rangeId, int64_t amount, std::string why);
  /// Of the loops that the last opt made: the part `label` of a loop, or the copy of `from` (as it was before).
  UOp madePart(std::string_view label) const;
  UOp madeCopy(UOp from) const;
  /// The loop inside of the tile that was made last.
  UOp inner() const { return madePart("i"); }
  /// The loop inside of a tile of `amount` iterations, which is made; the loop itself where it has no more than that.
  uint32_t innerOfTile(uint32_t loop, int64_t amount, std::string why);
  /// The same with a constant number of iterations, also where the loop has no more than `amount` but the run knows how
  /// many: what threads share has then all the rows that they read.
  uint32_t constantTile(uint32_t loop, int64_t amount, std::string why);

  /// Goes on from where a copy came to.
  void keep(Chooser&& trial);

  /// The number of the axis whose range has this id, which splits keep for the outer part; -1 when there is
  /// none.
  int32_t numberOf(uint32_t rangeId) const;
  /// The range with this id.
  UOp range(uint32_t rangeId) const;

  /// Slots of weights that will stand in memory in the order in which the kernel reads them: any loop walks them as
  /// lanes do, and a panel of them needs no copy.
  std::vector<uint32_t> laidOut() const;
  bool isLaidOut(uint32_t slot) const;
};

/// Changes a copy; keeps what it came to if `change` returns true, and nothing of it otherwise.
template <class Change>
bool attempt(Chooser& chooser, const Change& change) {
  Chooser trial = chooser;
  if (!change(trial)) return false;
  chooser.keep(std::move(trial));
  return true;
}

/// The `run` of a strategy that always works out.
template <auto choose, class... More>
bool always(Chooser& chooser, const More&... more) {
  choose(chooser, more...);
  return true;
}

inline uint32_t idOf(UOp range) { return range.argAs<AxisArg>().id; }

}  // namespace svod
