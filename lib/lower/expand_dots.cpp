#include "lower/expand_dots.h"

namespace svod {

UOp widenedAddress(Graph& g, UOp address, int lanes) {
  if (address.lanes() >= lanes) return address;
  UOp at = g.make(Op::Stack, DType::Index, std::vector<UOp>(static_cast<size_t>(lanes), address.src(1)));
  return g.indexInto(address.src(0), {&at, 1});
}

FoldTerm DotExpander::term(const DotForm& form, const Assignment& point) {
  const int64_t group = form.range.src(0).constInt();
  UOp a = factor(form.a, form.range, point);
  // Ones fit both signs, and a product of unlike signs is what all units have.
  DType other = form.b ? form.b.dtype() : isSigned(form.a.dtype()) ? DType::U8 : DType::I8;
  UOp ones = form.b ? UOp() : repeated(g_, g_.constant(Scalar::ofInt(other, 1)), group);
  return {a, form.b ? factor(form.b, form.range, point) : ones, group};
}

UOp DotExpander::factor(UOp node, UOp dot, const Assignment& point) {
  DotLanes lanes{dot, index_.vectorRange(node).value_or(UOp())};
  UOp bytes = grouped(node, lanes, point);
  return bytes.isScalar() ? repeated(g_, bytes, lanes.count()) : bytes;
}

UOp DotExpander::grouped(UOp node, const DotLanes& lanes, const Assignment& point) {
  if (!node.dependsOn(lanes.dot) && !(lanes.vector && node.dependsOn(lanes.vector))) return around_.value(node, point);
  auto key = std::pair(node.id(), relevant(node, point));
  auto& known = groups_[lanes.vector ? lanes.vector.id() : lanes.dot.id()];
  if (auto it = known.find(key); it != known.end()) return it->second;
  return known[key] = buildGrouped(node, lanes, point);
}

UOp DotExpander::buildGrouped(UOp node, const DotLanes& lanes, const Assignment& point) {
  if (index_.isIndexMath(node)) return spreadOver(g_, index_.fixed(node, point), lanes);
  if (node.op() == Op::Index) {
    UOp at = grouped(node.src(1), lanes, point);
    return g_.indexInto(around_.storage(node.src(0), point), {&at, 1});
  }
  std::vector<UOp> src;
  for (UOp s : node.src()) src.push_back(grouped(s, lanes, point));
  if (node.op() == Op::Load && src.size() == 3) src[0] = widenedAddress(g_, src[0], src[2].lanes());
  return g_.withSrc(node, src);
}

}  // namespace svod
