#include "frontend/writer/definitions.h"

#include <algorithm>

#include "frontend/graph_op.h"
#include "ir/custom.h"

namespace svod {

bool isLeaf(UOp node) { return node.isConst() || node.op() == Op::Buffer || node.op() == Op::After; }

bool isKeptCall(const BuildLog::Step& step) {
  if (step.kind != BuildLog::Kind::Call || step.name != "custom" || step.results.empty()) return false;
  const UOp node = step.results[0];
  return node.op() == Op::Custom && !contentsBeforeCall(node.src(), node.argAs<CustomArg>()).empty();
}

Definitions::Definitions(GraphBuilder& builder, const BuildLog& log) : b_(builder), log_(log) {
  b_.closeSizes();
  for (const BuildLog::Step& step : log_.steps) {
    if (step.kind != BuildLog::Kind::Call) continue;
    // A result that was there before its operands may be what they are made from.
    auto makes = [&](UOp result) {
      return std::ranges::all_of(step.operands, [&](const BuildLog::Operand& o) { return o.node.id() < result.id(); });
    };
    if (!std::ranges::all_of(step.results, [&](UOp r) { return isLeaf(r) || makes(r); })) continue;
    for (UOp r : step.results)
      if (!isLeaf(r)) callOf_.try_emplace(r.id(), &step);
  }
}

Result<const Definition*> Definitions::of(UOp node) {
  if (auto known = known_.find(node.id()); known != known_.end()) return known->second;
  auto call = callOf_.find(node.id());
  if (call == callOf_.end()) {
    SVOD_TRY(Definition made, primitive(node));
    all_.push_back(std::move(made));
    return known_[node.id()] = &all_.back();
  }
  const BuildLog::Step& step = *call->second;
  Definition made{step.name, step.operands, step.attributes, step.results};
  all_.push_back(isKeptCall(step) ? std::move(made)
                                  : shortened(std::move(made)));  // a second call would be another one
  for (UOp r : step.results)
    if (auto other = callOf_.find(r.id()); other != callOf_.end() && other->second == &step)
      known_[r.id()] = &all_.back();
  return &all_.back();
}

Tensor Definitions::operand(const BuildLog::Operand& o) {
  if (!o.isLiteral) return b_.wrap(o.node);
  const Scalar value = o.node.constant();
  if (value.dtype() == DType::Bool) return b_.literal(value.asInt() != 0);
  if (isFloat(value.dtype())) return b_.literal(value.asFloat());
  bool isBig = value.dtype() == DType::U64 && value.asInt() < 0;
  return isBig ? b_.constant(value) : b_.literal(value.asInt());
}

bool Definitions::gives(const Definition& d) {
  std::vector<Tensor> operands;
  for (const BuildLog::Operand& o : d.operands) operands.push_back(operand(o));
  std::vector<Tensor> results = b_.ops(d.op, operands, d.attributes);
  if (b_.takeError() || results.size() != d.results.size()) return false;
  return std::ranges::equal(results, d.results, [](const Tensor& t, UOp n) { return t.node() == n; });
}

Definition Definitions::shortened(Definition d) {
  Definition bare = d;
  for (BuildLog::Operand& o : bare.operands) o.isLiteral |= o.node.isConst();
  if (gives(bare)) {
    d = std::move(bare);
  } else {
    for (BuildLog::Operand& o : d.operands) {
      if (o.isLiteral || !o.node.isConst()) continue;
      o.isLiteral = true;
      o.isLiteral = gives(d);
    }
  }
  shortenAttributes(d);
  return d;
}

// Leaves out what says no more than the default; a list of equal entries may be one number.
void Definitions::shortenAttributes(Definition& d) {
  const GraphOp* row = findGraphOp(d.op, d.operands.size());
  for (const AttributeSpec& spec : attributeSpecs(*row)) {
    auto at = std::ranges::find(d.attributes, spec.name, &Attributes::value_type::first);
    if (at == d.attributes.end()) continue;
    Definition tried = d;
    tried.attributes.erase(tried.attributes.begin() + (at - d.attributes.begin()));
    if (!spec.required && gives(tried)) {
      d = std::move(tried);
      continue;
    }
    const auto* list = std::get_if<AttributeValue::List>(&at->second.value);
    if (!list || list->size() < 2) continue;
    tried = d;
    tried.attributes[static_cast<size_t>(at - d.attributes.begin())].second = list->front();
    if (gives(tried)) d = std::move(tried);
  }
}

Result<Definition> Definitions::primitive(UOp node) {
  std::vector<Definition> all = ways(node);
  for (Definition& d : all) {
    d.results = {node};
    if (!gives(d)) continue;
    shortenAttributes(d);
    return std::move(d);
  }
  // What a state held before the first assignment cannot be asked for again.
  auto isStorage = [](const BuildLog::Operand& o) { return o.node.op() == Op::Buffer; };
  if (!all.empty() && std::ranges::any_of(all.back().operands, isStorage)) return std::move(all.back());
  return fail(Diag::Unsupported,
              "a value made by '" + std::string(toText(node.op())) + "', " + describe(b_.wrap(node)) +
                  ", has no form in graph files",
              "compile the model without converting it");
}

}  // namespace svod
