#include "onnx/known_values.h"

#include <algorithm>
#include <set>

#include "interp/interp.h"
#include "onnx/known_elements.h"

namespace svod {

namespace {

using Elements = std::vector<UOp>;

bool isLeaf(Op op) { return op == Op::Const || op == Op::Var || op == Op::Range || op == Op::Buffer || op == Op::Iota; }

// Sources whose elements decide the elements of the node; the others are dims and offsets.
size_t valueSources(UOp node) {
  switch (node.op()) {
    case Op::Reshape:
    case Op::Expand:
    case Op::Permute:
    case Op::Shrink:
    case Op::Flip:
    case Op::Contiguous:
    case Op::Reduce: return 1;
    case Op::Pad: return 2;
    case Op::Stack:
    case Op::Gather:
    case Op::Scatter: return node.srcCount();
    default: return isElementwise(node.op()) ? node.srcCount() : 0;
  }
}

}  // namespace

std::optional<Elements> KnownValues::elements(const Tensor& x) {
  if (!x || knownCount(x.node()) < 0) return std::nullopt;
  Elements all = visit(x.node());
  if (all.empty()) all.resize(static_cast<size_t>(knownCount(x.node())));
  return all;
}

// Sources before users, without recursion: chains of ops can be long.
const Elements& KnownValues::visit(UOp root) {
  std::vector<UOp> stack = {root};
  while (!stack.empty()) {
    UOp node = stack.back();
    if (known_.contains(node.id())) {
      stack.pop_back();
      continue;
    }
    size_t waiting = stack.size();
    if (knownCount(node) >= 0)
      for (size_t i = 0; i < valueSources(node); ++i)
        if (!known_.contains(node.src(i).id())) stack.push_back(node.src(i));
    if (stack.size() > waiting) continue;
    stack.pop_back();
    known_[node.id()] = knownCount(node) < 0 ? Elements() : evaluate(node);
  }
  return known_[root.id()];
}

Elements KnownValues::evaluate(UOp node) {
  Graph& g = b_.graph();
  if (!isLeaf(node.op()) && valueSources(node) == 0) return {};
  for (size_t i = 0; i < valueSources(node); ++i)
    if (known_[node.src(i).id()].empty() && node.op() != Op::Gather && !isElementwise(node.op())) return {};
  switch (node.op()) {
    case Op::Const:
    case Op::Var:
    case Op::Range:  // the counter of a loop
      return {node};
    case Op::Buffer: return buffer(node);
    case Op::Iota: {
      Elements all;
      for (int64_t i = 0; i < knownCount(node); ++i) all.push_back(g.index(i));
      return all;
    }
    case Op::Reshape:
    case Op::Contiguous: return known_[node.src(0).id()];
    case Op::Stack: {
      Elements all;
      for (UOp s : node.src()) all.push_back(known_[s.id()][0]);
      return all;
    }
    case Op::Gather: return gathered(node);
    case Op::Scatter: return scattered(node);
    case Op::Reduce: return reduced(node);
    default: return isElementwise(node.op()) ? elementwise(node) : moved(node);
  }
}

Elements KnownValues::buffer(UOp node) {
  const ModelPort& port = b_.model().ports[node.argAs<SlotArg>().slot];
  if (port.kind != PortKind::Weight) return {};
  Elements all;
  for (int64_t i = 0; i < knownCount(node); ++i)
    all.push_back(b_.graph().constant(HostTensor::readMemory(node.dtype(), port.data.data, i)));
  return all;
}

bool KnownValues::dependsOnRun(UOp root) {
  std::vector<UOp> stack = {root};
  while (!stack.empty()) {
    UOp node = stack.back();
    if (dependsOnRun_.contains(node.id())) {
      stack.pop_back();
      continue;
    }
    size_t waiting = stack.size();
    bool depends = node.op() == Op::Var || node.op() == Op::Range || node.op() == Op::After || node.op() == Op::Custom;
    if (node.op() == Op::Buffer) depends = b_.model().ports[node.argAs<SlotArg>().slot].kind != PortKind::Weight;
    for (UOp s : node.src()) {
      auto known = dependsOnRun_.find(s.id());
      if (known == dependsOnRun_.end()) {
        stack.push_back(s);
      } else {
        depends |= known->second;
      }
    }
    if (!depends && stack.size() > waiting) continue;
    stack.resize(waiting - 1);
    dependsOnRun_[node.id()] = depends;
  }
  return dependsOnRun_[root.id()];
}

std::optional<HostTensor> KnownValues::constant(const Tensor& x) {
  if (!x) return std::nullopt;
  UOp node = x.node();
  if (std::optional<Elements> all = elements(x); all && std::ranges::all_of(*all, isConstant)) {
    HostTensor value = HostTensor::zeros(x.dtype(), knownDims(node));
    for (size_t i = 0; i < all->size(); ++i) {
      Scalar element = (*all)[i].constant();
      value.set(static_cast<int64_t>(i),
                element.dtype() == x.dtype() ? element : Scalar::ofInt(x.dtype(), element.asInt()));
    }
    return value;
  }
  if (dependsOnRun(node)) return std::nullopt;
  Result<HostTensor> value = interpretNode(b_.model(), node, {});
  if (!value) return std::nullopt;
  return std::move(*value);
}

Dependencies KnownValues::dependencies(const Tensor& x) const {
  std::set<std::string> inputs, variables;
  std::vector<UOp> nodes = x ? toposort(x.node()) : std::vector<UOp>();
  std::set<uint32_t> lengths;
  for (size_t i = 0; i < nodes.size(); ++i) {
    UOp n = nodes[i], count = n.op() == Op::Var ? b_.countOf(n) : UOp();
    if (count && lengths.insert(n.id()).second) {
      std::vector<UOp> below = toposort(count);
      nodes.insert(nodes.end(), below.begin(), below.end());
    }
    if (count) continue;
    if (n.op() == Op::Var) variables.emplace(n.argAs<VarArg>().name);
    if (n.op() != Op::Buffer) continue;
    const ModelPort& port = b_.model().ports[n.argAs<SlotArg>().slot];
    if (port.kind == PortKind::Input) inputs.insert(port.name);
  }
  return {{inputs.begin(), inputs.end()}, {variables.begin(), variables.end()}};
}

}  // namespace svod
