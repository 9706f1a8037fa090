// What a micro kernel that keeps some rows and vectors of a result in registers (register blocking) costs.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "facts/caps.h"
#include "facts/kernel_facts.h"

namespace svod {

/// Copies of the values of a loop body: `rows` along another output axis, `vectors` along the vector axis.
struct RegisterTile {
  UOp rowAxis;  // null: one row
  int64_t rows = 1, vectors = 1;
};

/// One step of the innermost loop of a reduce with lanes along an output loop or along one of its own. Borrows
/// `caps` only.
class RegisterTileCost {
 public:
  /// `laidOut`: slots of operands that stand in memory as the kernel reads them.
  RegisterTileCost(const KernelFacts& kernel, const Caps& caps, UOp reduce, const Lanes& lanes,
                   std::span<const uint32_t> laidOut);

  /// More rows along `axis` make sense where they use the same element.
  bool isReusedAlong(UOp axis) const;
  /// Accumulators and what is loaded for one row must stay in registers with some to spare (more where a copy with
  /// gates keeps its masks and counters), and no part may be empty. Functions of the sums are code for each of them.
  bool fits(const RegisterTile& tile) const;
  /// Cycles per useful vector of the tile: arithmetic, load ports or latency, whichever is most, and what memory and
  /// the loop add. An element shared by all lanes comes from a matrix that is streamed again for every column tile; a
  /// vector comes from a panel in the second level cache, or across cache lines.
  double cycles(const RegisterTile& tile) const;

 private:
  struct Load {
    Access access;
    bool isFar;        // too large for the second level cache beside a panel
    bool startsLines;  // the next step along the reduce touches other lines of the cache
  };
  double freshLines(const Load& load, const RegisterTile& tile) const;

  const Caps& caps_;
  const Lanes lanes_;
  std::vector<Load> loads_;
  double arithmetic_ = 0;
  int64_t functions_;
  int64_t sums_ = 1;     // accumulators of one result: those of the sums around this one, too
  bool copies_ = false;  // the kernel fills a local buffer behind gates
};

/// The tile with the least cycles, at most `maxVectors` wide. `held`: a loop for which local buffers will get a dim, so
/// that it may be expanded.
RegisterTile bestRegisterTile(const KernelFacts& kernel, const Caps& caps, std::span<const uint32_t> laidOut,
                              UOp reduce, const Lanes& lanes, int64_t maxVectors, UOp held = {});
/// Why rows and vectors are repeated.
std::string toText(const RegisterTile& tile, const Caps& caps);

}  // namespace svod
