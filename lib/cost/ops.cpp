#include "cost/ops.h"

#include <algorithm>

#include "cost/parameters.h"

namespace svod {

namespace {

using namespace parameters;

// Cycles of one vector.
double transcendentalCycles(Op op) {
  switch (op) {
    case Op::Exp:
    case Op::Exp2: return kExpCycles;
    case Op::Erf: return kErfCycles;
    case Op::Log:
    case Op::Log2: return kLogCycles;
    case Op::Tanh: return kTanhCycles;
    case Op::Pow: return kPowCycles;
    default: return kSineCycles;
  }
}

// Counted in machine code for sm_90a, of f32, whose functions are made of approximate instructions.
double gpuInstructions(Op op) {
  switch (op) {
    case Op::Exp:
    case Op::Exp2: return kGpuExp;
    case Op::Erf:
    case Op::Tanh: return kGpuPolynomial;
    case Op::Log:
    case Op::Log2: return kGpuLog;
    case Op::Pow: return kGpuPow;
    case Op::Sin:
    case Op::Cos:
    case Op::Tan: return kGpuSine;
    case Op::Fdiv:
    case Op::Recip: return kGpuDivision;
    case Op::Sqrt: return kGpuRoot;
    case Op::Fmod: return kGpuRemainder;
    default: return 1;
  }
}

// Addresses, and conditions on counters of loops: they are known when loops are written out, or take scalar units.
bool isAddress(UOp n) {
  if (n.dtype() != DType::Bool || n.srcCount() == 0) return n.dtype() == DType::Index;
  return std::ranges::all_of(n.src(), isAddress);
}

/// Elements of a group that lie apart: each is loaded for itself, and put beside the others.
int64_t apartInGroup(const Access& access, const Caps& caps) {
  if (access.isStore || isLaidOut(access, caps)) return 1;
  for (UOp r : access.node.ranges())
    if (axisType(r) == AxisType::Dot && strideOf(access, r) != 1) return maxExtent(r);
  return 1;
}

}  // namespace

int64_t neighbourStride(const Access& access) {
  for (UOp r : access.node.ranges())
    if (axisType(r) == AxisType::Dot && strideOf(access, r) == 1) return maxExtent(r);
  return 1;
}

bool isLaidOut(const Access& access, const Caps& caps) {
  return access.slot && !access.isStore && std::ranges::find(caps.constants, *access.slot) != caps.constants.end();
}

bool hasMasks(const Access& access, const Caps& caps) {
  return caps.maskedBytes > 0 && byteSize(storageOf(access.node.src(0)).dtype()) >= caps.maskedBytes;
}

int64_t laneBytes(UOp n) {
  if (n.dtype() == DType::Index || n.dtype() == DType::Bool || n.dtype() == DType::Void) return 1;
  return isFloat(n.dtype()) ? std::max(byteSize(n.dtype()), 4) : byteSize(n.dtype());
}

Cycles cyclesOf(UOp n, const Caps& caps) {
  const double plain = 1.0 / caps.fmaPerCycle;
  if (n.op() == Op::Reduce) return {plain, 0, 1};
  if (!isElementwise(n.op()) || n.op() == Op::Bitcast) return {};
  const bool divides = n.op() == Op::Cdiv || n.op() == Op::Cmod || n.op() == Op::Floordiv || n.op() == Op::Floormod;
  if (isAddress(n)) return {0, 0, divides ? 4.0 : n.dtype() == DType::Bool ? 1.0 : 0.0};  // divided by constants
  if (has(n.op(), Transcend)) return {transcendentalCycles(n.op()), 0, 2 * transcendentalCycles(n.op())};
  if (n.op() == Op::Fmod) return {kRemainderCycles, 0, 2 * kRemainderCycles};
  if (divides) return {kIntegerDivisionCycles, 0, kIntegerDivisionCycles};
  if (n.op() == Op::Threefry) return {kHashCycles, 0, 2 * kHashCycles};
  const bool isProduct = n.op() == Op::Fdiv && n.src(1).isConst() && n.dtype() == DType::F32;  // with a step behind it
  if (isProduct) return {kQuotientOps * plain, 0, kQuotientOps};
  if (n.op() == Op::Fdiv || n.op() == Op::Sqrt || n.op() == Op::Recip) return {kDivisionCycles, 0, 1};
  return {plain, 0, 1};
}

double gpuInstructionsOf(UOp n) {
  constexpr double kWide = 16;  // a GPU may have few lanes of f64
  return (info(n.dtype()).bits > 32 ? kWide : 1) * gpuInstructions(n.op());
}

Cycles cyclesOf(const Access& access, UOp range, int64_t width, double vectors, const Caps& caps) {
  const double ports = access.isStore ? kStorePorts : kLoadPorts;
  const Cycles plain{0, vectors / ports, vectors};
  const std::optional<Pace> moves = paceOf(access, range);
  const bool isSpread = width > 1 && moves && moves->first == 0 && moves->average == 0;  // one element for all lanes
  if (const auto apart = static_cast<double>(apartInGroup(access, caps)); apart > 1 && (width <= 1 || isSpread))
    return {kApartInGroup * apart, apart / ports, 2 * apart};
  if (width <= 1) return plain;
  const bool isMasked = access.node.srcCount() > 2;
  if (isSpread) return {0, 1 / ports, 1};
  if (isLaidOut(access, caps) || (moves && moves->first == neighbourStride(access))) {
    if (!isMasked) return plain;
    const double each = access.isStore ? kMaskedStore : kMaskedLoad;
    const double instructions = access.isStore || access.node.src(2).dependsOn(range) ? 2 : kGated;
    return {0, vectors * each * (hasMasks(access, caps) ? 1 : static_cast<double>(width)), instructions * vectors};
  }
  const auto lanes = static_cast<double>(width * neighbourStride(access));  // groups are gathered by element
  const int64_t apart = moves ? std::abs(moves->first) : 0;
  // Loads of a few vectors where those hold all lanes, then shuffles (lower/strided_loads.h).
  if (!access.isStore && apart > 0 && width >= 4 && apart <= std::max<int64_t>(2, width / 4)) {
    const auto loads = static_cast<double>(apart) * vectors;
    return {loads, loads / ports, 2 * loads};
  }
  const double each = access.isStore ? kScatteredLane : caps.gatheredLane;
  return {access.isStore ? 0 : lanes / 4, each * lanes, 2 * lanes};
}

}  // namespace svod
