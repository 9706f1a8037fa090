// The values of variables: set by the caller, or what the shapes of the bound inputs make them.
#include <map>

#include "runtime-min/bindings.h"
#include "support/expectation.h"
#include "support/says.h"

namespace svod {

namespace {
std::string quoted(const std::string& name) { return says({"'", name, "'"}); }
}  // namespace

Status Bindings::setVariable(VariableId id, int64_t value) {
  const Variable& variable = loaded_.plan().variables[id];
  if (variable.kind == VariableKind::Fixed && value != variable.value)
    return fail(Diag::VariableBounds, says({"variable ", quoted(variable.name), " was fixed to ", variable.value,
                                            " when the plan was compiled, it cannot be ", value}));
  if (value < variable.min || value > variable.max)
    return fail(Diag::VariableBounds, says({"variable ", quoted(variable.name), " is ", value, ", outside its bounds ",
                                            variable.min, " to ", variable.max}));
  if (set_[id] == value) return {};
  set_[id] = value;
  resolved_ = complete_ = false;
  return {};
}

void Bindings::clearVariable(VariableId id) {
  set_[id].reset();
  resolved_ = complete_ = false;
}

std::string Bindings::describe(const Source& source, int64_t value) const {
  if (source.set) return says({"it is set to ", value});
  return says(
      {"axis ", source.axis, " of input ", quoted(loaded_.plan().inputs[source.input].name), " makes it ", value});
}

std::string Bindings::agreementHelp(const Source& source, int64_t value, const Source& other) const {
  const Source& one = value == 1 ? source : other;
  std::string help = "bind arrays whose shapes agree";
  if (one.set || ports_[SVOD_INPUT][one.input].given[one.axis] != 1) return help;
  const Port& port = *ports_[SVOD_INPUT][one.input].port;
  std::string dims;
  for (uint32_t axis = 0; axis < port.shape.size(); axis++)
    dims += says({axis == 0 ? "" : "x", axis == one.axis ? "1" : toText(port.shape[axis], loaded_.variableNames())});
  return says({help, "; where the model stretches the axis of 1, compile it with --shape ", port.name, "=", dims});
}

Status Bindings::inferVariables() {
  const Plan& plan = loaded_.plan();
  for (VariableId id = 0; id < values_.size(); id++) {
    const Variable& variable = plan.variables[id];
    const bool fixed = variable.kind == VariableKind::Fixed, loop = variable.kind == VariableKind::Loop;
    values_[id] = fixed ? variable.value : set_[id].value_or(loop ? 0 : variable.min);
    sources_[id] = {fixed || loop || set_[id], true, 0, 0};
  }
  const auto forEachDim = [&](auto visit) -> Status {
    for (uint32_t input = 0; input < ports_[SVOD_INPUT].size(); input++) {
      const PortState& state = ports_[SVOD_INPUT][input];
      for (uint32_t axis = 0; state.bound && axis < state.given.size(); axis++) SVOD_CHECK(visit(input, axis));
    }
    return {};
  };
  SVOD_CHECK(forEachDim([&](uint32_t input, uint32_t axis) { return inferFrom(input, axis); }));
  // Dims such as 8*k or past + seq give the one variable of theirs that is unknown, which may leave one in another dim.
  for (bool goesOn = true; goesOn;) {
    goesOn = false;
    SVOD_CHECK(forEachDim([&](uint32_t input, uint32_t axis) -> Status {
      SVOD_TRY(const bool isSolved, solveFor(input, axis));
      goesOn = goesOn || isSolved;
      return {};
    }));
  }
  return {};
}

/// The value of a variable that is a dim.
Status Bindings::inferFrom(uint32_t input, uint32_t axis) {
  const PortState& state = ports_[SVOD_INPUT][input];
  const std::optional<uint32_t> variable = state.port->shape[axis].singleVar();
  if (!variable) return {};
  const VariableId id(*variable);
  const auto dim = static_cast<int64_t>(state.given[axis]);
  const Source here{true, false, input, axis};
  if (sources_[id].known && values_[id] != dim)
    return fail(Diag::BindMismatch,
                says({"variable ", quoted(loaded_.plan().variables[id].name),
                      " has two values: ", describe(sources_[id], values_[id]), ", ", describe(here, dim)}),
                agreementHelp(sources_[id], values_[id], here));
  if (!sources_[id].known) sources_[id] = here;
  values_[id] = dim;
  return {};
}

std::optional<VariableId> Bindings::onlyUnknown(const Expr& dim) const {
  std::optional<VariableId> unknown;
  for (const ExprNode& node : dim.nodes()) {
    if (node.op != ExprOp::Var) continue;
    const auto id = static_cast<VariableId>(node.value);
    if (sources_[id].known || unknown == id) continue;
    if (unknown) return std::nullopt;
    unknown = id;
  }
  return unknown;
}

/// times * variable + constant == dim. True when that gave a variable its value.
Result<bool> Bindings::solveFor(uint32_t input, uint32_t axis) {
  const PortState& state = ports_[SVOD_INPUT][input];
  const Expr& size = state.port->shape[axis];
  const std::optional<VariableId> id = onlyUnknown(size);
  if (!id) return false;
  const std::optional<Expr::Line> line = size.lineIn(*id, values_);
  const auto dim = static_cast<int64_t>(state.given[axis]);
  int64_t rest = 0;
  if (!line || line->times == 0 || line->times == INT64_MIN || __builtin_sub_overflow(dim, line->constant, &rest))
    return false;
  if (rest % line->times != 0) {
    const int64_t step = line->times < 0 ? -line->times : line->times;
    const int64_t more = (line->constant % step + step) % step;
    return fail(Diag::InputMismatch,
                says({state.word, " ", quoted(state.port->name), ": axis ", axis, " has length ", dim, ", but it is ",
                      toText(size, loaded_.variableNames()), " and must be ",
                      (more == 0 ? "" : std::to_string(more) + " more than "), "a multiple of ", step}));
  }
  values_[*id] = rest / line->times;
  sources_[*id] = {true, false, input, axis};
  return true;
}

Status Bindings::checkVariables() const {
  for (VariableId id = 0; id < values_.size(); id++) {
    const Variable& variable = loaded_.plan().variables[id];
    if (variable.kind != VariableKind::Free) continue;
    if (!sources_[id].known && variable.min != variable.max)
      return fail(
          Diag::MissingInput, says({"variable ", quoted(variable.name), " has no value"}),
          says({"give it one from ", variable.min, " to ", variable.max, ", or bind an input whose shape names it"}));
    if (values_[id] < variable.min || values_[id] > variable.max)
      return fail(Diag::VariableBounds, says({"variable ", quoted(variable.name), " must be from ", variable.min,
                                              " to ", variable.max, ", but ", describe(sources_[id], values_[id])}));
  }
  return {};
}

Status Bindings::checkSizes() const {
  const std::vector<std::string>& names = loaded_.variableNames();
  for (const EqualExprs& sizes : loaded_.plan().equalSizes) {
    const std::optional<int64_t> a = sizes.a.tryEvaluate(values_), b = sizes.b.tryEvaluate(values_);
    if (a && a == b) continue;
    SVOD_CHECK(sizes.a.evaluate(values_, names));
    SVOD_CHECK(sizes.b.evaluate(values_, names));
    std::map<std::string, int64_t> variables;
    for (const Expr& size : {sizes.a, sizes.b})
      for (const ExprNode& node : size.nodes())
        if (const auto id = static_cast<size_t>(node.value); node.op == ExprOp::Var) variables[names[id]] = values_[id];
    SVOD_CHECK(checkEqualSizes(sizes.text, *a, *b, variables));
  }
  return {};
}

}  // namespace svod
