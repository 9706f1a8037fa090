#include "constants/given_order.h"

#include <algorithm>
#include <ranges>

#include "constants/digits.h"
#include "constants/reading.h"
#include "ir/ranges.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

/// The digits of an address, by stride, the least first. Nothing where elements are not told apart by digits, which is
/// so where more than the beginning of blocks of one kind is in a table.
std::optional<std::vector<Digit>> digitsOf(const ConstantLayout& order) {
  if (order.table[0] != 0) return std::nullopt;
  std::vector<Digit> digits;
  int64_t place = 1;
  for (size_t i = order.dims.size(); i-- > 0; place *= order.dims[i].extent) {
    const auto& [extent, affine, step] = order.dims[i];
    if (extent == 1) continue;
    const int64_t stride = step == 0 ? affine : order.table[static_cast<size_t>(step)];
    digits.push_back({stride, extent, place, step == 0 ? INT64_MAX : order.table.back()});
    if (step == 0) continue;
    if (order.table.size() != static_cast<size_t>(extent)) return std::nullopt;
    for (int64_t entry = 0; entry < extent; ++entry)
      if (order.table[static_cast<size_t>(entry)] != std::min(entry * stride, order.table.back())) return std::nullopt;
  }
  std::ranges::sort(digits, {}, &Digit::stride);
  if (digits.empty() || digits[0].stride != 1) return std::nullopt;
  return digits;
}

/// Whether every address up to `most` is the sum of the digits that it is divided into.
bool reach(std::span<const Digit> digits, int64_t most) {
  for (const auto& [stride, extent, place, last] : digits | std::views::reverse) {
    if (most / stride >= extent) return false;
    most = std::max(std::min(most, stride - 1), most - std::min(most / stride * stride, last));
  }
  return most == 0;
}

/// Counters of loops that sum nothing up, and of what is written out: quotients of them are taken outside of sums.
bool isDivided(UOp range) {
  const AxisType type = axisType(range);
  return type == AxisType::Loop || type == AxisType::Thread || type == AxisType::Upcast || type == AxisType::Unroll;
}

/// Whether `address` divides nothing but counters whose leaf `isDivided`; `ranges` stand for `leaves` in it.
bool dividesOutsideSums(UOp address, std::span<const UOp> ranges, std::span<const UOp> leaves) {
  return std::ranges::all_of(toposort(address), [&](UOp n) {
    if (n.op() != Op::Floordiv && n.op() != Op::Floormod) return true;
    return std::ranges::all_of(n.ranges(), [&](UOp r) {
      const auto at = static_cast<size_t>(std::ranges::find(ranges, r) - ranges.begin());
      return isDivided(leaves[at].ranges()[0]);
    });
  });
}

/// Whether lanes, and terms of one instruction, are neighbours at `place` as they are in an order of their own.
bool keepsNeighbours(UOp place, std::span<const UOp> ranges, std::span<const UOp> leaves) {
  const Linear form = linearOf(place);
  int64_t stride = 1;
  for (size_t i = leaves.size(); i-- > 0;) {
    const AxisType type = axisType(leaves[i].ranges()[0]);
    if (type != AxisType::Vector && type != AxisType::Dot) break;
    if (form.coefOf(ranges[i]) != stride) return false;
    stride *= countOf(leaves[i]);
  }
  return true;
}

}  // namespace

std::optional<UOp> readInOrder(Graph& g, UOp sink, const ConstantLayout& order) {
  const std::optional<Reading> reading = readingOf(sink, order.slot);
  const std::optional<std::vector<Digit>> digits = digitsOf(order);
  if (!reading || !digits) return std::nullopt;
  std::vector<UOp> ranges, leaves;
  const UOp address = simplify(g, withOwnRanges(g, reading->address(), reading->leaves, ranges, nextRangeId(sink)));
  if (address.bounds().min < 0 || !reach(*digits, address.bounds().max)) return std::nullopt;
  UOp place = simplify(g, placeOf(g, *digits, linearOf(address)));
  if (!dividesOutsideSums(place, ranges, reading->leaves) || !keepsNeighbours(place, ranges, reading->leaves))
    return std::nullopt;
  for (UOp leaf : reading->leaves) leaves.push_back(withinCount(g, leaf));
  place = substitute(g, place, ranges, leaves);
  const UOp read = readAt(g, reading->load, order.elements(), place);
  return substitute(g, sink, std::span(&reading->load, 1), std::span(&read, 1));
}

}  // namespace svod
