// Replacing loops of a kernel by other loops that compute the same: the one rewrite all opts are made of.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"
#include "opts/opt.h"

namespace svod {

/// Range `from` goes away. `value` stands for its counter and is an expression over `ranges`, which take its
/// place, outermost first, in the lists of all nodes that close it. Where `valid` is given and false, the
/// iteration did not exist before: stores are gated off and reduces get their identity. Loads whose address
/// may then lie outside the storage are gated as well, unless `clamped` says that `value` is the counter of
/// an existing iteration even then.
struct Reloop {
  UOp from, value;
  std::vector<UOp> ranges;
  UOp valid = {};
  bool clamped = false;
};

/// Applies all replacements at once. A reduce left without ranges becomes its one value; sums of a tensor core get
/// their neutral element as products of zeros.
UOp reloop(Graph& graph, UOp sink, std::span<const Reloop> loops);
inline UOp reloop(Graph& graph, UOp sink, const Reloop& loop) { return reloop(graph, sink, std::span(&loop, 1)); }

/// How a loop of N iterations becomes two. Inner: counter = outer * amount + inner, the inner loop has
/// `amount` iterations. Chunks: counter = inner * ceil(N / amount) + outer, so each value of the inner range
/// owns one contiguous chunk. The outer range keeps the id of the old one.
enum class SplitForm : uint8_t { Inner, Chunks };
struct Split {
  UOp range;
  int64_t amount;
  AxisType outer, inner;
  SplitForm form = SplitForm::Inner;
  bool once = false;  // no iteration may run twice
};

struct SplitResult {
  UOp sink, outer, inner;
};
/// Splits a loop. When the amount does not divide the extent, the last step starts earlier where there is at
/// least one full step and running an iteration twice is safe (a reduce skips what it has seen). Otherwise
/// the iterations beyond the extent are masked, and copies of values (Upcast, Unroll) repeat the last
/// iteration instead of gating loads.
SplitResult splitRange(Graph& graph, UOp sink, const Split& split);

/// The names of both loops.
std::vector<MadeLoop> partsOf(const SplitResult& split, UOp range);

/// The same loop with another type.
UOp retypeRange(Graph& graph, UOp sink, UOp range, AxisType type);

/// Whether `dim` is a multiple of n for every value of its variables (a sufficient test).
bool isMultipleOf(UOp dim, int64_t n);

/// Drops loops of one iteration.
UOp dropUnitRanges(Graph& graph, UOp sink);

}  // namespace svod
