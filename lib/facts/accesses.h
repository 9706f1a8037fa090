// How a kernel touches memory: per access and loop the stride.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "facts/axes.h"
#include "ir/graph.h"

namespace svod {

/// One load from or store to a parameter of the kernel, or a load from a buffer local to it.
struct Access {
  UOp node;                      // Load or Store
  UOp address;                   // flat element index
  std::optional<uint32_t> slot;  // of the parameter
  bool isStore;
};

/// All accesses to parameters and all loads from local buffers, in a structural order.
std::vector<Access> accessesOf(UOp sink);
std::vector<Access> accessesOf(std::span<const UOp> nodes);  // of the kernel, in the order of toposort()

/// The parameter that a Fill holds a copy of, in another order, with gaps filled or bytes flipped; null for other
/// values.
UOp copiedBy(UOp fill);

/// Elements the address moves when `range` advances by one: 0 when it does not depend on it, nothing when it
/// is no constant (a gather, a division).
std::optional<int64_t> strideOf(const Access& access, UOp range);

/// How an address moves along a loop: elements from one iteration to the next on average, and from the first to the
/// second. Nothing where a value from memory decides.
struct Pace {
  double average = 0;
  int64_t first = 0;
};
std::optional<Pace> paceOf(const Access& access, UOp range);

/// The stride where it is a size of the run that decides, with the greatest one: 640 of `c * (h * w)` with 20 rows
/// of 32.
std::optional<int64_t> greatestStrideOf(const Access& access, UOp range);

/// The most neighbours along `range`, a power of two up to `most`, that are one aligned access: neighbours in memory,
/// from a multiple of their number on, in all rounds of all loops. 1 where they are none.
int64_t togetherAlong(const Access& access, UOp range, int64_t most);

/// Bytes of all elements an access reads or writes, each counted once per loop it depends on.
double bytesRead(const Access& access);

/// Whether a window slides: the address and the gate move alike with `out`, an output loop, and `tap`, a loop of the
/// reduce, in whole steps of one of them, and meet again (strided windows, dilated ones). Where padding lets a column
/// of the result run on beside a line of the input, it meets the next line, or channel, by its address only.
bool slides(const Access& load, UOp out, UOp tap);

}  // namespace svod
