#include "interp/size_values.h"

#include "ir/evaluate.h"
#include "ir/text.h"

namespace svod {

Result<int64_t> SizeValues::number(UOp dim) const {
  UOp unbound;
  std::optional<Scalar> value = evaluate(dim, [&](UOp leaf) -> std::optional<Scalar> {
    if (leaf.op() == Op::Var) {
      auto found = bindings.variables.find(leaf.argAs<VarArg>().name);
      if (found != bindings.variables.end()) return Scalar::ofInt(leaf.dtype(), found->second);
    }
    if (leaf.op() == Op::Range)
      if (auto found = counters.find(leaf.id()); found != counters.end())
        return Scalar::ofInt(leaf.dtype(), found->second);
    unbound = leaf;
    return std::nullopt;
  });
  if (value) return value->asInt();
  return fail(Diag::VariableBounds, "no value for " + toExpr(unbound), "bind every variable of the model");
}

Result<std::vector<int64_t>> SizeValues::numbers(std::span<const UOp> dims) const {
  std::vector<int64_t> out;
  for (UOp d : dims) {
    SVOD_TRY(int64_t v, number(d));
    out.push_back(v);
  }
  return out;
}

}  // namespace svod
