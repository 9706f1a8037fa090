#include "frontend/distributed_values.h"

#include <algorithm>

namespace svod::detail {

namespace {

constexpr int kMostMovement = 64;          // ops that are moved to the devices for one value
constexpr std::string_view kHost = "cpu";  // where joined values are

}  // namespace

UOp copiedTo(Graph& graph, UOp x, const std::string& device) {
  const DType stored = x.dtype() == DType::Index ? DType::I64 : x.dtype();
  return graph.cast(graph.make(Op::Copy, stored, {graph.cast(x, stored)}, NameArg{device}), x.dtype());
}

void DistributedValues::add(UOp node, UOp whole) {
  noteFree(node);
  whole_[node.id()] = whole;
}

void DistributedValues::add(UOp node, Value value) {
  noteFree(node);
  values_.emplace(node.id(), std::move(value));
}

void DistributedValues::noteFree(UOp node) {
  const bool isKnown = node.op() == Op::Const || node.op() == Op::Var || node.op() == Op::Iota ||
                       node.op() == Op::Range || isElementwise(node.op()) || isMovement(node.op());
  isFree_[node.id()] = isKnown && std::ranges::all_of(node.src(), [&](UOp s) { return isFree_[s.id()]; });
}

const DistributedValues::Value* DistributedValues::find(UOp node) const {
  const auto known = values_.find(node.id());
  return known == values_.end() ? nullptr : &known->second;
}

UOp DistributedValues::whole(UOp node) {
  UOp& known = whole_[node.id()];
  if (!known) known = joined(values_.at(node.id()), std::string(kHost));
  return known;
}

UOp DistributedValues::joined(const Value& value, const std::string& device) {
  const std::vector<std::string>& devices = value.layout.to.devices;
  if (!value.layout.isCut()) {
    const auto there = std::ranges::find(devices, device);
    return there == devices.end() ? copiedTo(g_, value.parts[0], device)
                                  : value.parts[static_cast<size_t>(there - devices.begin())];
  }
  std::vector<UOp> parts;
  for (size_t i = 0; i < devices.size(); ++i)
    parts.push_back(devices[i] == device ? value.parts[i] : copiedTo(g_, value.parts[i], device));
  return joinedParts(g_, parts, value.layout.to.axis);
}

std::vector<UOp> DistributedValues::demand(UOp node, const Layout& layout, int depth) {
  std::vector<UOp> parts;
  if (const auto known = values_.find(node.id()); known != values_.end()) return converted(known->second, layout);
  if (isMovement(node.op()) && !isFree_[node.id()] && depth < kMostMovement)
    if (const std::optional<Layout> below = layoutOfOperand(g_, node, layout)) {
      parts = demand(node.src(0), *below, depth + 1);
      return moved(node, parts, *below, layout);
    }
  for (size_t i = 0; i < layout.count(); ++i) {
    const UOp part = narrow(whole_[node.id()], layout, i);
    parts.push_back(isFree_[node.id()] ? part : copiedTo(g_, part, layout.to.devices[i]));
  }
  return parts;
}

std::vector<UOp> DistributedValues::moved(UOp node, std::vector<UOp> parts, const Layout& operand,
                                          const Layout& result) {
  std::vector<UOp> src(node.src().begin(), node.src().end());
  if (node.op() == Op::Pad) src[1] = whole(src[1]);
  for (size_t i = 0; i < parts.size(); ++i) {
    src[0] = parts[i];
    parts[i] = movedPart(g_, node, src, operand, result, i);
  }
  return parts;
}

std::vector<UOp> DistributedValues::converted(const Value& have, const Layout& layout) {
  if (have.layout.isLike(layout)) return have.parts;
  const bool isThere = have.layout.to.devices == layout.to.devices;
  std::vector<UOp> parts;
  for (size_t i = 0; i < layout.count(); ++i) {
    const std::string& device = layout.to.devices[i];
    parts.push_back(narrow(isThere && !have.layout.isCut() ? have.parts[i] : joined(have, device), layout, i));
  }
  return parts;
}

UOp DistributedValues::narrow(UOp x, const Layout& layout, size_t i) {
  return layout.isCut() ? narrowed(g_, x, layout.to.axis, layout.cuts[i], layout.size(i)) : x;
}

}  // namespace svod::detail
