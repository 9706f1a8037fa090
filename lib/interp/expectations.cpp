#include "interp/interp.h"
#include "ir/evaluate.h"
#include "support/expectation.h"

namespace svod {

Status checkExpectations(const Model& model, std::span<const HostTensor> contents) {
  for (size_t i = 0; i < model.ports.size(); ++i) {
    if (model.ports[i].kind != PortKind::Expectation) continue;
    std::vector<int64_t> both;
    for (int64_t k = 0; k < contents[i].numel(); ++k) both.push_back(contents[i].at(k).asInt());
    SVOD_CHECK(checkExpectation(model.ports[i].expectation, model.ports[i].name, both));
  }
  return {};
}

Status checkEqualSizes(const Model& model, const VariableValues& variables) {
  for (const EqualSizes& sizes : model.equalSizes) {
    std::map<std::string, int64_t> used;
    const auto leaf = [&](UOp n) -> std::optional<Scalar> {
      const auto found = n.op() == Op::Var ? variables.find(n.argAs<VarArg>().name) : variables.end();
      if (found == variables.end()) return std::nullopt;
      used.insert(*found);
      return Scalar::ofInt(n.dtype(), found->second);
    };
    const std::optional<Scalar> a = evaluate(sizes.a, leaf), b = evaluate(sizes.b, leaf);
    if (!a || !b) return fail(Diag::MissingInput, sizes.text + ": a variable has no value", "bind every variable");
    SVOD_CHECK(checkEqualSizes(sizes.text, a->asInt(), b->asInt(), used));
  }
  return {};
}

}  // namespace svod
