#include "interp/lanes.h"

#include <algorithm>

namespace svod {

namespace {

Lanes elementwise(Op op, DType dtype, std::span<const Lanes* const> in) {
  Scalar operands[3];
  size_t width = 0;
  for (size_t k = 0; k < in.size(); ++k) {
    operands[k] = in[k]->first;
    if (in[k]->isVector()) width = std::max(width, in[k]->vector.size());
  }
  if (width == 0) return Lanes(evalScalar(op, dtype, std::span(operands, in.size())));
  std::vector<Scalar> out(width);
  for (size_t i = 0; i < width; ++i) {
    for (size_t k = 0; k < in.size(); ++k) operands[k] = (*in[k])[i];
    out[i] = evalScalar(op, dtype, std::span(operands, in.size()));
  }
  return Lanes(std::move(out));
}

Lanes foldLanes(Op op, DType dtype, const Lanes& v) {
  std::vector<Scalar> lanes = v.vector;
  for (size_t half = lanes.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) {
      Scalar operands[] = {lanes[i], lanes[i + half]};
      lanes[i] = evalScalar(op, dtype, operands);
    }
  return Lanes(lanes.empty() ? v.first : lanes[0]);
}

Lanes rampOf(UOp node, const Lanes& base) {
  std::vector<Scalar> lanes(node.argAs<SlotArg>().slot);
  for (size_t i = 0; i < lanes.size(); ++i)
    lanes[i] = Scalar::ofInt(node.dtype(), base.first.asInt() + static_cast<int64_t>(i));
  return Lanes(std::move(lanes));
}

}  // namespace

bool hasEvalLanes(UOp node) {
  Op op = node.op();
  return isElementwise(op) || op == Op::Const || op == Op::Stack || op == Op::Ramp || op == Op::Lane ||
         (op == Op::Reduce && node.srcCount() == 1);
}

Lanes evalLanes(UOp node, std::span<const Lanes* const> in) {
  switch (node.op()) {
    case Op::Const: return Lanes(node.constant());
    case Op::Ramp: return rampOf(node, *in[0]);
    case Op::Lane: return Lanes((*in[0])[node.argAs<SlotArg>().slot]);
    case Op::Reduce: return foldLanes(node.argAs<ReduceArg>().op, node.dtype(), *in[0]);
    case Op::Stack: {
      std::vector<Scalar> lanes;
      for (const Lanes* l : in) lanes.push_back(l->first);
      return Lanes(std::move(lanes));
    }
    default: return elementwise(node.op(), node.dtype(), in);
  }
}

Lanes combine(Op op, DType dtype, const Lanes& a, const Lanes& b) {
  const Lanes* operands[] = {&a, &b};
  return elementwise(op, dtype, operands);
}

}  // namespace svod
