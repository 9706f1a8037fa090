#include "lower/expand_index.h"

#include <algorithm>

namespace svod {

bool IndexExpander::isMath(UOp node) {
  if (node.op() == Op::Range || node.op() == Op::Const || node.op() == Op::Var) return true;
  if (!isElementwise(node.op()) || node.dtype() != DType::Index || node.op() == Op::Cast || node.op() == Op::Where)
    return false;
  if (auto known = isMath_.find(node.id()); known != isMath_.end()) return known->second;
  return isMath_[node.id()] = std::ranges::all_of(node.src(), [this](UOp s) { return isMath(s); });
}

UOp IndexExpander::fixed(UOp expr, const Assignment& at) {
  std::vector<UOp> from, to;
  for (UOp r : expr.ranges())
    if (auto it = at.find(r.id()); isUnrolled(r) && it != at.end())
      from.push_back(r), to.push_back(g_.index(it->second));
  return from.empty() ? expr : simplified_(substitute(g_, expr, from, to));
}

UOp IndexExpander::value(UOp expr, const Assignment& at) {
  UOp scalar = fixed(expr, at);
  std::optional<UOp> vector = vectorRange(scalar);
  return vector ? perLane(scalar, *vector) : scalar;
}

UOp IndexExpander::position(UOp flat, const Assignment& at) {
  UOp scalar = fixed(flat, at);
  std::optional<UOp> vector = vectorRange(scalar);
  if (!vector) return scalar;
  if (coefficientOf(scalar, *vector) != 1) return perLane(scalar, *vector);
  UOp zero = g_.index(0);
  UOp first = simplified_(substitute(g_, scalar, {&*vector, 1}, {&zero, 1}));
  return g_.make(Op::Ramp, DType::Index, {first}, SlotArg{static_cast<uint32_t>(extentOf(*vector))});
}

UOp IndexExpander::lanes(UOp range) {
  std::vector<UOp> values;
  for (int64_t i = 0; i < extentOf(range); ++i) values.push_back(g_.index(i));
  return g_.make(Op::Stack, DType::Index, values);
}

std::optional<UOp> IndexExpander::vectorRange(UOp node) {
  std::optional<UOp> found;
  for (UOp r : node.ranges()) {
    if (!isVector(r)) continue;
    if (found && error_.empty())
      error_ = "a value depends on two vector axes, r" + std::to_string(found->argAs<AxisArg>().id) + " and r" +
               std::to_string(r.argAs<AxisArg>().id);
    found = r;
  }
  return found;
}

UOp IndexExpander::perLane(UOp scalar, UOp vector) {
  UOp values = lanes(vector);
  return substitute(g_, scalar, {&vector, 1}, {&values, 1});
}

}  // namespace svod
