#include "constants/given_order.h"

#include <algorithm>

#include "constants/reading.h"
#include "ir/ranges.h"
#include "support/integers.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

struct Digit {
  int64_t stride, extent, place;  // in the operand, how many values, and in the order
};

/// By stride in the operand, the least first; nothing where elements are not told apart by them.
std::optional<std::vector<Digit>> digitsOf(const ConstantLayout& order) {
  if (order.table.size() != 1 || order.table[0] != 0) return std::nullopt;
  std::vector<Digit> digits;
  int64_t place = 1;
  for (size_t i = order.dims.size(); i-- > 0; place *= order.dims[i].extent) {
    const ConstantLayout::Dim& dim = order.dims[i];
    if (dim.step != 0) return std::nullopt;
    if (dim.extent > 1) digits.push_back({dim.stride, dim.extent, place});
  }
  std::ranges::sort(digits, {}, &Digit::stride);
  if (digits.empty() || digits[0].stride != 1) return std::nullopt;
  for (size_t i = 0; i + 1 < digits.size(); ++i) {
    const int64_t next = digits[i + 1].stride;
    if (next <= digits[i].stride || ceilDiv(next, digits[i].stride) > digits[i].extent) return std::nullopt;
  }
  return digits;
}

/// Counters of loops that are not written out, and sum nothing up.
bool isOuter(UOp range) { return axisType(range) == AxisType::Loop || axisType(range) == AxisType::Thread; }

/// Whether `address` divides nothing but counters whose leaf `isOuter`; `ranges` stand for `leaves` in it.
bool dividesOuterLoopsOnly(UOp address, std::span<const UOp> ranges, std::span<const UOp> leaves) {
  return std::ranges::all_of(toposort(address), [&](UOp n) {
    if (n.op() != Op::Floordiv && n.op() != Op::Floormod) return true;
    return std::ranges::all_of(n.ranges(), [&](UOp r) {
      const auto at = static_cast<size_t>(std::ranges::find(ranges, r) - ranges.begin());
      return isOuter(leaves[at].ranges()[0]);
    });
  });
}

/// Each counter of the order as what it is of the address.
UOp placeOf(Graph& g, std::span<const Digit> digits, UOp address) {
  UOp place = g.index(0);
  for (size_t i = 0; i < digits.size(); ++i) {
    UOp value = address;
    if (i + 1 < digits.size()) value = g.make(Op::Floormod, DType::Index, {value, g.index(digits[i + 1].stride)});
    value = g.make(Op::Floordiv, DType::Index, {value, g.index(digits[i].stride)});
    place = g.make(Op::Add, DType::Index, {place, g.make(Op::Mul, DType::Index, {value, g.index(digits[i].place)})});
  }
  return simplify(g, place);
}

}  // namespace

std::optional<UOp> readInOrder(Graph& g, UOp sink, const ConstantLayout& order) {
  const std::optional<Reading> reading = readingOf(sink, order.slot);
  const std::optional<std::vector<Digit>> digits = digitsOf(order);
  if (!reading || !digits) return std::nullopt;
  std::vector<UOp> ranges, leaves;
  const UOp address = simplify(g, withOwnRanges(g, reading->address(), reading->leaves, ranges, nextRangeId(sink)));
  const Interval bounds = address.bounds();
  if (bounds.min < 0 || bounds.max / digits->back().stride >= digits->back().extent) return std::nullopt;
  UOp place = placeOf(g, *digits, address);
  if (!dividesOuterLoopsOnly(place, ranges, reading->leaves)) return std::nullopt;
  for (UOp leaf : reading->leaves) leaves.push_back(withinCount(g, leaf));
  place = substitute(g, place, ranges, leaves);
  const UOp read = readAt(g, reading->load, order.elements(), place);
  return substitute(g, sink, std::span(&reading->load, 1), std::span(&read, 1));
}

}  // namespace svod
