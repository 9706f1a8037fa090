#include "target/grid/lane_text.h"

#include "target/c/c_dialect.h"

namespace svod {

LaneText::LaneText(const LinearKernel& kernel) {
  for (UOp n : kernel.ops) position_.emplace(n.id(), position_.size());
}

std::string LaneText::name(UOp node) const { return "v" + std::to_string(position_.at(node.id())); }

std::string LaneText::laneName(UOp node, int lane) const {
  return node.rank() == 0 ? name(node) : name(node) + "_" + std::to_string(lane);
}

std::string LaneText::storage(UOp node) const {
  return node.op() == Op::Param ? "p" + std::to_string(node.argAs<SlotArg>().slot) : name(node);
}

LaneText::Place LaneText::placeOf(UOp index, int lane) const {
  int64_t constant = 0;
  UOp at = behindAliases(index);
  if (at.op() == Op::Ramp) constant = lane, at = behindAliases(at.src(0));
  if (at.op() == Op::Add && at.rank() == 0 && at.src(1).isConst()) constant += at.src(1).constInt(), at = at.src(0);
  if (at.isConst()) constant += at.constInt(), at = UOp();
  return {at ? ref(at, lane) : "", constant};
}

std::string LaneText::pointer(UOp of, UOp index, int lane) const {
  const auto [at, constant] = placeOf(index, lane);
  std::string text = storage(of);
  if (!at.empty()) text += " + " + at;
  if (constant != 0) text += (constant < 0 ? " - " : " + ") + std::to_string(std::abs(constant));
  return text;
}

std::string LaneText::ref(UOp node, int lane) const {
  node = behindAliases(node);
  if (node.isConst()) return literal(node.constant());
  if (node.op() == Op::Stack) return ref(node.src(static_cast<size_t>(lane)), 0);
  if (node.op() == Op::Lane) return ref(node.src(0), static_cast<int>(node.argAs<SlotArg>().slot));
  if (node.op() == Op::Ramp) return lane == 0 ? ref(node.src(0), 0) : larger(node.dtype(), ref(node.src(0), 0), lane);
  if (auto texts = texts_.find(node.id()); texts != texts_.end())
    return texts->second[node.rank() == 0 ? 0 : static_cast<size_t>(lane)];
  return laneName(node, lane);
}

std::string LaneText::literal(const Scalar& value) const { return literalText(value); }

std::string LaneText::larger(DType, const std::string& text, int more) const {
  return "(" + text + " + " + std::to_string(more) + ")";
}

std::vector<std::string> LaneText::operands(UOp node, int lane) const {
  std::vector<std::string> texts;
  for (UOp s : node.src())
    texts.push_back(behindAliases(s).op() == Op::Index || s.dtype() == DType::Void ? "" : ref(s, lane));
  return texts;
}

}  // namespace svod
