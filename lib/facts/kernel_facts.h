// All that is asked of a kernel again and again while its opts are chosen, walked for once.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "facts/accesses.h"
#include "facts/axes.h"
#include "facts/loops_of.h"
#include "facts/patterns.h"

namespace svod {

/// Borrows the graph of `sink`, a kernel-stage graph with flat addresses. Used by one thread.
class KernelFacts {
 public:
  explicit KernelFacts(UOp sink);

  const UOp sink;
  const std::vector<UOp> nodes;           // sources before their users
  const std::vector<UOp> reduces, fills;  // of those, in their order
  const std::vector<Axis> axes;
  const std::vector<Access> accesses;
  const std::vector<Lanes> lanes;  // the vector axes there are

  Pattern pattern() const;
  /// Some loop must run in order.
  bool hasSerial() const;
  const LoopsOf& loops() const;
  /// The nodes that close `range`, in the order of `nodes`.
  std::vector<UOp> closersOf(UOp range) const { return svod::closersOf(nodes, range); }

 private:
  mutable std::optional<Pattern> pattern_;
  mutable std::optional<LoopsOf> loops_;
};

/// Facts of every kernel that a choice comes through: opts taken back lead to one that is known. What of()
/// returns lives as long as the cache.
class FactsCache {
 public:
  const KernelFacts& of(UOp sink);

 private:
  std::map<uint32_t, KernelFacts> facts_;  // by node id
};

}  // namespace svod
