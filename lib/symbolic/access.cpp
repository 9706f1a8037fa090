// Loads and stores: gates move onto them, and their addresses are simplified where the gate holds.
#include "symbolic/groups.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

UOp gatedAddress(Graph& g, UOp address, UOp gate) {
  if (address.op() != Op::Index) return address;
  std::vector<UOp> src(address.src().begin(), address.src().end());
  for (size_t i = 1; i < src.size(); ++i)
    if (src[i].isScalar()) src[i] = simplifyUnder(g, src[i], gate);
  return g.withSrc(address, src);
}

UOp loadUnderGate(const Match& m) {
  UOp node = m.node;
  if (node.srcCount() != 3 || !node.isScalar()) return {};
  UOp gate = simplifyGate(m.graph, node.src(2));
  if (gate.isConst()) return gate.isConst(1) ? m.graph.load(node.src(0)) : node.src(1);
  UOp result = m.graph.load(gatedAddress(m.graph, node.src(0), gate), node.src(1), gate);
  return result != node ? result : UOp();
}

UOp storeUnderGate(const Match& m) {
  UOp node = m.node;
  if (node.srcCount() != 3 || !node.src(0).isScalar()) return {};
  UOp gate = simplifyGate(m.graph, node.src(2));
  // The store of a fill says which buffer it fills, also where it never happens.
  if (gate.isConst(0) && storageOf(node.src(0)).op() != Op::Buffer)
    return m.graph.make(Op::Group, DType::Void, std::span<const UOp>{});
  if (gate.isConst(0) && node.src(2) == gate) return {};
  if (gate.isConst(1)) return m.graph.make(Op::Store, DType::Void, {node.src(0), node.src(1)});
  return m.graph.make(Op::Store, DType::Void, {gatedAddress(m.graph, node.src(0), gate), node.src(1), gate});
}

// where(g, load, alt) is a load with that gate, when the load has none or the same alternative.
UOp gateLoad(Graph& g, UOp load, UOp gate, UOp alt) {
  if (load.op() != Op::Load || !load.isScalar() || !gate.isScalar()) return {};
  if (load.srcCount() == 1) return g.load(load.src(0), alt, gate);
  return load.src(1) == alt ? g.load(load.src(0), alt, g.alu(Op::And, {load.src(2), gate})) : UOp();
}

UOp whereOntoLoad(const Match& m) {
  UOp gate = m.node.src(0), value = m.node.src(1), alt = m.node.src(2);
  if (!alt.isConst()) return {};
  if (UOp load = gateLoad(m.graph, value, gate, alt)) return load;
  if (value.op() != Op::Cast || value.src(0).op() != Op::Load) return {};
  // Below a conversion, when the alternative survives it.
  DType inner = value.src(0).dtype();
  Scalar in[] = {alt.constant()};
  Scalar below = evalScalar(Op::Cast, inner, in), back[] = {below};
  if (evalScalar(Op::Cast, alt.dtype(), back) != alt.constant()) return {};
  UOp load = gateLoad(m.graph, value.src(0), gate, m.graph.constant(below));
  return load ? m.graph.cast(load, alt.dtype()) : UOp();
}

// Storing what is there already changes nothing.
UOp storeOfOwnValue(const Match& m) {
  UOp node = m.node, value = node.src(1);
  auto isOwn = [&](UOp v) { return v.op() == Op::Load && v.srcCount() == 1 && v.src(0) == node.src(0); };
  if (isOwn(value)) return m.graph.make(Op::Group, DType::Void, std::span<const UOp>{});
  if (node.srcCount() != 2 || value.op() != Op::Where || !value.isScalar()) return {};
  if (isOwn(value.src(2))) return m.graph.make(Op::Store, DType::Void, {node.src(0), value.src(1), value.src(0)});
  if (!isOwn(value.src(1))) return {};
  return m.graph.make(Op::Store, DType::Void, {node.src(0), value.src(2), m.graph.alu(Op::Not, {value.src(0)})});
}

constexpr Rule kAccessRows[] = {
    native("load-under-gate", op(Op::Load), kAllDomains, loadUnderGate),
    native("store-under-gate", op(Op::Store), kAllDomains, storeUnderGate),
    native("where-onto-load", op(Op::Where), kAllDomains, whereOntoLoad),
    native("store-of-own-value", op(Op::Store), kAllDomains, storeOfOwnValue),
};

}  // namespace

constinit const RuleGroup kAccessRules{"access", kAccessRows};

}  // namespace svod
