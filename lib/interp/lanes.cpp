#include "interp/lanes.h"

#include <algorithm>

#include "ir/gpu_op.h"
#include "ir/tile_unit.h"

namespace svod {

namespace {

/// `eval` gives a lane of the result for those of the operands.
template <class Eval>
LaneValues laneByLane(std::span<const LaneValues* const> in, Eval eval) {
  Scalar operands[3];
  size_t width = 0;
  for (size_t k = 0; k < in.size(); ++k) {
    operands[k] = in[k]->first;
    if (in[k]->isVector()) width = std::max(width, in[k]->vector.size());
  }
  if (width == 0) return LaneValues(eval(std::span(operands, in.size())));
  std::vector<Scalar> out(width);
  for (size_t i = 0; i < width; ++i) {
    for (size_t k = 0; k < in.size(); ++k) operands[k] = (*in[k])[i];
    out[i] = eval(std::span(operands, in.size()));
  }
  return LaneValues(std::move(out));
}

LaneValues foldLanes(Op op, DType dtype, const LaneValues& v) {
  std::vector<Scalar> lanes = v.vector;
  for (size_t half = lanes.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) {
      Scalar operands[] = {lanes[i], lanes[i + half]};
      lanes[i] = evalScalar(op, dtype, operands);
    }
  return LaneValues(lanes.empty() ? v.first : lanes[0]);
}

// c[i] + a[g*i] * b[g*i] + ..; a factor of g lanes serves every i. Wraps like the ops it is made of.
LaneValues dotOf(UOp node, std::span<const LaneValues* const> in) {
  const size_t group = node.argAs<SlotArg>().slot;
  auto factor = [&](size_t k, size_t i) {
    const std::vector<Scalar>& lanes = in[k]->vector;
    return evalScalar(Op::Cast, node.dtype(), std::span(&lanes[i % lanes.size()], 1));
  };
  std::vector<Scalar> sums = in[2]->isVector() ? in[2]->vector : std::vector<Scalar>{in[2]->first};
  for (size_t i = 0; i < sums.size() * group; ++i) {
    Scalar operands[] = {factor(0, i), factor(1, i), sums[i / group]};
    sums[i / group] = evalScalar(Op::Mulacc, node.dtype(), operands);
  }
  return in[2]->isVector() ? LaneValues(std::move(sums)) : LaneValues(sums[0]);
}

LaneValues rampOf(UOp node, const LaneValues& base) {
  std::vector<Scalar> lanes(node.argAs<SlotArg>().slot);
  for (size_t i = 0; i < lanes.size(); ++i)
    lanes[i] = Scalar::ofInt(node.dtype(), base.first.asInt() + static_cast<int64_t>(i));
  return LaneValues(std::move(lanes));
}

LaneValues rowsOf(UOp node, std::span<const LaneValues* const> in) {
  const int64_t apart = in[1]->first.asInt(), columns = in[2]->first.asInt();
  std::vector<Scalar> lanes(node.argAs<SlotArg>().slot);
  for (size_t i = 0; i < lanes.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    lanes[i] = Scalar::ofInt(node.dtype(), in[0]->first.asInt() + at / columns * apart + at % columns);
  }
  return LaneValues(std::move(lanes));
}

// Each sum takes its products in the order of their terms.
LaneValues tileDotOf(UOp node, std::span<const LaneValues* const> in) {
  const TileUnit& unit = *findTileUnit(node.argAs<NameArg>().name);
  const auto values = [&](const LaneValues& from) {
    std::vector<Scalar> wide;
    for (const Scalar& x : from.vector) {
      const bool isBits = isFloat(unit.in) && !isFloat(x.dtype());
      const Scalar factor = isBits ? Scalar::fromBits(unit.in, x.storageBits()) : x;
      wide.push_back(evalScalar(Op::Cast, unit.out, std::span(&factor, 1)));
    }
    return wide;
  };
  const std::vector<Scalar> a = values(*in[0]), b = values(*in[1]);
  std::vector<Scalar> sums = in[2]->vector;
  const auto columns = static_cast<size_t>(unit.n), terms = a.size() / static_cast<size_t>(unit.m);
  const auto group = static_cast<size_t>(unit.group());
  for (size_t i = 0; i < sums.size(); ++i)
    for (size_t k = 0; k < terms; ++k) {
      const size_t inB = k / group * columns * group + i % columns * group + k % group;
      Scalar operands[] = {a[i / columns * terms + k], b[inB], sums[i]};
      sums[i] = evalScalar(Op::Mulacc, unit.out, operands);
    }
  return LaneValues(std::move(sums));
}

}  // namespace

bool hasEvalLanes(UOp node) {
  Op op = node.op();
  return isElementwise(op) || op == Op::Const || op == Op::Stack || op == Op::Ramp || op == Op::Rows ||
         op == Op::Lane || op == Op::Dot || op == Op::TileDot || (op == Op::Reduce && node.srcCount() == 1) ||
         isGpuOfLane(node);
}

LaneValues evalLanes(UOp node, std::span<const LaneValues* const> in) {
  switch (node.op()) {
    case Op::Const: return LaneValues(node.constant());
    case Op::Ramp: return rampOf(node, *in[0]);
    case Op::Rows: return rowsOf(node, in);
    case Op::TileDot: return tileDotOf(node, in);
    case Op::Lane: return LaneValues((*in[0])[node.argAs<SlotArg>().slot]);
    case Op::Dot: return dotOf(node, in);
    case Op::Reduce: return foldLanes(node.argAs<ReduceArg>().op, node.dtype(), *in[0]);
    case Op::Stack: {
      std::vector<Scalar> lanes;
      for (const LaneValues* l : in) lanes.push_back(l->first);
      return LaneValues(std::move(lanes));
    }
    case Op::Gpu: return laneByLane(in, [&](std::span<const Scalar> x) { return evalGpu(gpuOpOf(node), x); });
    default: return laneByLane(in, [&](std::span<const Scalar> x) { return evalScalar(node.op(), node.dtype(), x); });
  }
}

void evalLanes(UOp node, std::span<const LaneValues* const> in, LaneValues& out) {
  bool isOfScalars = isElementwise(node.op());
  Scalar operands[3];
  for (size_t k = 0; isOfScalars && k < in.size(); ++k) {
    operands[k] = in[k]->first;
    isOfScalars = !in[k]->isVector();
  }
  if (!isOfScalars) {
    out = evalLanes(node, in);
    return;
  }
  out.first = evalScalar(node.op(), node.dtype(), std::span(operands, in.size()));
  out.vector.clear();
}

LaneValues combine(Op op, DType dtype, const LaneValues& a, const LaneValues& b) {
  const LaneValues* operands[] = {&a, &b};
  return laneByLane(operands, [&](std::span<const Scalar> x) { return evalScalar(op, dtype, x); });
}

}  // namespace svod
