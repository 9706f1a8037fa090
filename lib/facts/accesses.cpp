#include "facts/accesses.h"

#include <algorithm>
#include <bit>

#include "facts/steps.h"
#include "ir/evaluate.h"
#include "ir/multiple_of.h"
#include "symbolic/symbolic.h"

namespace svod {

std::vector<Access> accessesOf(UOp sink) { return accessesOf(toposort(sink)); }

std::vector<Access> accessesOf(std::span<const UOp> nodes) {
  std::vector<Access> all;
  for (UOp n : nodes) {
    if (n.op() != Op::Load && n.op() != Op::Store) continue;
    UOp storage = storageOf(n.src(0));
    if (storage.op() == Op::Param)
      all.push_back({n, n.src(0).src(1), storage.argAs<SlotArg>().slot, n.op() == Op::Store});
    else if (storage.op() == Op::Fill)
      all.push_back({n, n.src(0).src(1), std::nullopt, false});
  }
  return all;
}

UOp copiedBy(UOp fill) {
  UOp value = fill.src(0).src(1);
  while (value.op() == Op::Bitcast || (value.op() == Op::Xor && value.src(1).isConst())) value = value.src(0);
  UOp storage = value.op() == Op::Load ? storageOf(value.src(0)) : UOp();
  return storage && storage.op() == Op::Param ? storage : UOp();
}

std::optional<int64_t> strideOf(const Access& access, UOp range) {
  if (!access.address.dependsOn(range)) return 0;
  return coefficientOf(access.address, range);
}

std::optional<Pace> paceOf(const Access& access, UOp range) {
  if (const std::optional<int64_t> stride = strideOf(access, range)) return Pace{static_cast<double>(*stride), *stride};
  const auto at = [&](int64_t value) -> std::optional<int64_t> {
    const std::optional<Scalar> found = evaluate(access.address, [&](UOp leaf) -> std::optional<Scalar> {
      if (leaf.op() == Op::Range) return Scalar::ofInt(DType::Index, leaf == range ? value : 0);
      return leaf.op() == Op::Var ? std::optional(Scalar::ofInt(DType::Index, leaf.bounds().max)) : std::nullopt;
    });
    return found ? std::optional(found->asInt()) : std::nullopt;
  };
  const int64_t last = std::max<int64_t>(maxExtent(range) - 1, 1);
  const std::optional<int64_t> start = at(0), next = at(1), end = at(last);
  if (!start || !next || !end) return std::nullopt;
  return Pace{static_cast<double>(*end - *start) / static_cast<double>(last), *next - *start};
}

std::optional<int64_t> greatestStrideOf(const Access& access, UOp range) {
  const std::optional<Pace> pace = paceOf(access, range);
  return pace && pace->average == static_cast<double>(pace->first) ? std::optional(pace->first) : std::nullopt;
}

int64_t togetherAlong(const Access& access, UOp range, int64_t most) {
  const std::optional<int64_t> extent = constExtent(range);
  if (!extent || *extent == 0 || strideOf(access, range) != 1) return 1;
  return std::min({static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most))), *extent & -*extent,
                   multipleOf(access.address, range)});
}

double bytesRead(const Access& access) {
  double bytes = static_cast<double>(byteSize(access.node.dtype()));
  for (UOp r : access.node.ranges()) bytes *= static_cast<double>(maxExtent(r));
  return bytes;
}

namespace {

// Whether every comparison of the gate moves with both loops or with neither. How far it moves does not tell: over
// counters from 0 on, 0 < 2 * x + k says no more than 0 < x + k.
bool gateMovesAlike(UOp gate, UOp out, UOp tap) {
  for (UOp n : toposort(gate)) {
    if (!has(n.op(), Comparison) || !isInt(n.src(0).dtype())) continue;
    for (UOp side : n.src()) {
      const std::optional<int64_t> a = coefficientOf(side, out), b = coefficientOf(side, tap);
      if (!a || !b || (*a == 0) != (*b == 0)) return false;
    }
  }
  return true;
}

}  // namespace

bool slides(const Access& load, UOp out, UOp tap) {
  const std::optional<AddressStep> x = stepOf(load.address, out), y = stepOf(load.address, tap);
  if (!x || !y || !x->isForward() || !y->isForward()) return false;
  const std::optional<int64_t> taps = x->timesOf(*y), outs = y->timesOf(*x);
  const bool meet = taps ? *taps < maxExtent(tap) : outs && *outs < maxExtent(out);
  return meet && (load.node.srcCount() < 3 || gateMovesAlike(load.node.src(2), out, tap));
}

}  // namespace svod
