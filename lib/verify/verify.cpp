#include "verify/verify.h"

#include <algorithm>
#include <iterator>

#include "interp/error_bounds.h"
#include "support/cpu_features.h"
#include "verify/compare.h"
#include "verify/inputs.h"
#include "verify/plan_in_memory.h"

namespace svod {

namespace {

constexpr char kVerifying[] = "while verifying";

/// One set of variables and inputs, run both ways.
class Trial {
 public:
  /// `number`: trials with different ones have different inputs.
  Trial(const Model& model, const Plan& plan, svod_plan* handle, int number, const CustomFunctions& functions)
      : model_(model), plan_(plan), handle_(handle), random_(static_cast<uint64_t>(number)) {
    bindings_.functions = functions;
  }

  Status run(const VariableValues& variables, const ResultTolerance& tolerance) {
    setVariables(variables);
    SVOD_CHECK(chooseInputs(tolerance.wild));
    SVOD_TRY(std::vector<HostTensor> expected, interpret(model_, bindings_));
    expected_ = expected;
    svod_error error{};
    svod_instance* made = nullptr;
    if (svod_instance_create(handle_, nullptr, &made, &error) != 0) return fail(toError(error, kVerifying));
    const InstanceHandle instance(made, svod_instance_free);
    const Status bound = bind(made, expected);
    if (const Status sizes = checkEqualSizes(model_, variables); !sizes)  // such a run ends before it begins
      return checkOutcome(bound ? executed(made, error) : Result<std::string>(bound.error()->message), sizes);
    SVOD_CHECK(bound);
    // Random inputs need not meet the model's expectations; a run must say so, and leaves the results as they are.
    const Status outcome = checkExpectations(model_, expected);
    SVOD_CHECK(checkOutcome(executed(made, error), outcome));
    SVOD_CHECK(readResults(made, expected));
    return judged(std::move(expected), tolerance);
  }

  /// Elements that may be anything in the numerics of the plan, and are not what the interpreter says.
  int64_t open() const { return open_; }

  /// What was run, as far as it came.
  WrongRun taken(int number) const {
    WrongRun run{bindings_.variables, number, {}, {}, {}};
    for (size_t i = 0; i < model_.ports.size(); ++i) {
      const ModelPort& port = model_.ports[i];
      if (port.kind == PortKind::Input && i < bindings_.ports.size())
        run.inputs.push_back({port.name, bindings_.ports[i]});
      if (port.kind != PortKind::Output || i >= expected_.size() || i >= results_.size() || results_[i].empty())
        continue;
      run.expected.push_back({port.name, expected_[i]});
      run.actual.push_back({port.name, HostTensor::fromMemory(expected_[i].dtype, expected_[i].dims, results_[i])});
    }
    return run;
  }

 private:
  Status judged(std::vector<HostTensor> expected, const ResultTolerance& tolerance) {
    Status compared = compareAll(expected, tolerance);
    if (compared) return compared;
    // Thousands of steps that depend on each other may add up roundings: as much as the last bits of the inputs do.
    ResultTolerance sensitive{tolerance.numerics, tolerance.certainties, tolerance.wild, {}};
    SVOD_TRY(sensitive.moved, interpretMoved());
    compared = compareAll(expected, sensitive);
    if (compared) return compared;
    // A long sum that takes its terms in order may be further from all others than these are from each other.
    ModelBindings near = bindings_;
    near.areSumsRoundedOnce = true;
    SVOD_TRY(std::vector<HostTensor> rounded, interpret(model_, near));
    for (size_t i = 0; i < expected.size(); ++i)
      if (tolerance.certainties[i] != Certainty::Free) rounded[i] = expected[i];
    if (compareAll(rounded, sensitive)) return {};
    if (tolerance.numerics == Numerics::Strict) return compared;
    // Products in another order and decisions by rounded values may be further away, but within computed bounds.
    SVOD_TRY(const BoundedResult bounded, interpretWithBounds(model_, bindings_, tolerance.numerics));
    return compareAll(expected, sensitive, &bounded.bounds);
  }

  /// What the interpreter makes of inputs of which every float is a neighbour of what it was.
  Result<std::vector<HostTensor>> interpretMoved() {
    ModelBindings moved = bindings_;
    for (size_t i = 0; i < moved.ports.size(); ++i) {
      HostTensor& port = moved.ports[i];
      for (int64_t at = 0; port.dtype != DType::Void && at < port.numel(); ++at)
        port.set(at, neighbour(port.at(at), random_));
    }
    return interpret(model_, moved);
  }

  /// What a run says: nothing where it is fine or ends otherwise than by what is expected of it.
  static Result<std::string> executed(svod_instance* instance, svod_error& error) {
    if (svod_execute(instance, nullptr, &error) == 0) return std::string();
    if (error.code != std::string_view("input-mismatch")) return fail(toError(error, kVerifying));
    return std::string(error.message);
  }

  static Status checkOutcome(Result<std::string> outcome, const Status& wanted) {
    SVOD_TRY(const std::string said, std::move(outcome));
    const std::string should = wanted ? "" : wanted.error()->message;
    if (said == should.substr(0, sizeof(svod_error::message) - 1)) return {};
    auto quoted = [](const std::string& text) { return text.empty() ? "is fine" : "fails: \"" + text + "\""; };
    return fail(Diag::Mismatch, "a run " + quoted(said) + "; the interpreter says that it " + quoted(should),
                kFindThePass);
  }

  void setVariables(const VariableValues& variables) {
    bindings_.variables = variables;
    for (const Variable& v : plan_.variables) {
      auto chosen = bindings_.variables.find(v.name);
      values_.push_back(v.kind == VariableKind::Fixed         ? v.value
                        : chosen == bindings_.variables.end() ? 0
                                                              : chosen->second);
    }
  }

  Status chooseInputs(bool wild) {
    bindings_.areArbitrary = true;
    bindings_.ports.resize(model_.ports.size());
    const std::vector<std::string> names = variableNames(plan_);
    for (const Port& port : plan_.inputs) {
      std::vector<int64_t> dims;
      for (const Expr& dim : port.shape) {
        SVOD_TRY(const int64_t size, dim.evaluate(values_, names));
        dims.push_back(size);
      }
      for (size_t i = 0; i < model_.ports.size(); ++i)
        if (const ModelPort& p = model_.ports[i]; p.kind == PortKind::Input && p.name == port.name)
          bindings_.ports[i] = randomTensor(p.buffer.dtype(), dims, random_, wild);
    }
    return {};
  }

  Status bind(svod_instance* instance, const std::vector<HostTensor>& expected) {
    svod_error error{};
    for (VariableId i = 0; i < plan_.variables.size(); ++i)
      if (plan_.variables[i].kind == VariableKind::Free && svod_set_variable(instance, i, values_[i], &error) != 0)
        return fail(toError(error, kVerifying));
    results_.resize(model_.ports.size());
    for (size_t i = 0; i < model_.ports.size(); ++i) {
      const ModelPort& port = model_.ports[i];
      if (port.kind == PortKind::Input) SVOD_CHECK(bindInput(instance, port, bindings_.ports[i]));
      if (port.kind != PortKind::Output) continue;
      results_[i].resize(static_cast<size_t>(memoryBytes(port.buffer.dtype(), expected[i].numel())));
      const size_t index = svod_plan_find(handle_, SVOD_OUTPUT, port.name.c_str());
      if (svod_bind_output(instance, index, results_[i].data(), results_[i].size(), &error) != 0)
        return fail(toError(error, kVerifying));
    }
    return {};
  }

  Status bindInput(svod_instance* instance, const ModelPort& port, const HostTensor& tensor) {
    const std::vector<std::byte>& memory = inputs_.emplace_back(tensor.toMemory());
    svod_error error{};
    const size_t index = svod_plan_find(handle_, SVOD_INPUT, port.name.c_str());
    if (index == SVOD_NONE) return {};  // an input that no output needs
    const std::vector<uint64_t> shape(tensor.dims.begin(), tensor.dims.end());
    if (svod_bind_input(instance, index, nullptr, shape.data(), shape.size(), memory.data(), &error) != 0)
      return fail(toError(error, kVerifying));
    return {};
  }

  Status readResults(svod_instance* instance, const std::vector<HostTensor>& expected) {
    actual_.resize(model_.ports.size());
    for (size_t i = 0; i < model_.ports.size(); ++i) {
      const ModelPort& port = model_.ports[i];
      if (port.kind == PortKind::Output)
        actual_[i] = HostTensor::fromMemory(expected[i].dtype, expected[i].dims, results_[i]);
      if (port.kind != PortKind::State) continue;
      const size_t index = svod_plan_find(handle_, SVOD_STATE, port.name.c_str());
      if (index == SVOD_NONE) continue;
      svod_tensor tensor{};
      svod_plan_tensor(handle_, SVOD_STATE, index, &tensor);
      std::vector<std::byte> state(tensor.max_bytes);
      svod_error error{};
      if (svod_read_state(instance, index, state.data(), state.size(), &error) != 0)
        return fail(toError(error, kVerifying));
      actual_[i] = presentState(port, expected[i], state.data());
    }
    return {};
  }

  Status compareAll(const std::vector<HostTensor>& expected, const ResultTolerance& tolerance,
                    const std::vector<HostTensor>* bounds = nullptr) {
    for (size_t i = 0; i < actual_.size(); ++i)
      if (actual_[i].dtype != DType::Void)
        SVOD_CHECK(compare(model_.ports[i].name, expected[i], actual_[i], tolerance.of(i, expected[i]),
                           bounds == nullptr ? nullptr : &(*bounds)[i], &open_));
    return {};
  }

  const Model& model_;
  const Plan& plan_;
  svod_plan* handle_;
  Random random_;
  ModelBindings bindings_;
  std::vector<int64_t> values_;                  // by plan variable
  std::vector<std::vector<std::byte>> inputs_;   // the memory bound to them
  std::vector<std::vector<std::byte>> results_;  // by model port
  std::vector<HostTensor> expected_;             // by the interpreter, by model port
  std::vector<HostTensor> actual_;               // outputs and states that were read, by model port
  int64_t open_ = 0;
};

/// The code for one processor of the plan, with each choice of sizes.
Status verifyFor(const std::string& cpu, const PlanInMemory& memory, const Model& model, const Plan& plan,
                 std::span<SizeChoice> choices, const ResultTolerance& tolerance, const CustomFunctions& functions,
                 WrongRun* wrong) {
  SVOD_TRY(const PlanHandle handle, memory.load(kVerifying, plan.variants.empty() ? nullptr : cpu.c_str()));
  for (SizeChoice& choice : choices)
    for (int number = 0; number < choice.runs; ++number) {
      Trial trial(model, plan, handle.get(), number, functions);
      Status status = trial.run(choice.values, tolerance);
      choice.open += trial.open();
      if (status) continue;
      if (wrong != nullptr) *wrong = trial.taken(number);
      const std::string at = toText(choice.values);
      return fail(at.empty() ? std::move(status.error()) : std::move(status.error()).withNote("with " + at));
    }
  return {};
}

}  // namespace

std::vector<Processor> processorsToVerify(const Plan& plan) {
  std::vector<Processor> all = processorsOf(plan), here;
  std::ranges::copy_if(all, std::back_inserter(here),
                       [](const Processor& p) { return missingCpuFeatures(p.features).empty(); });
  return here.empty() ? std::vector<Processor>{all.front()} : here;
}

Result<std::vector<SizeChoice>> verifyPlan(const Model& model, const Compilation& compilation, Numerics numerics,
                                           const CustomFunctions& functions, WrongRun* wrong) {
  for (UOp node : toposort(model.sink))
    if (node.op() == Op::Custom && !functions.contains(node.argAs<CustomArg>().name))
      return fail(Diag::Unsupported, "--verify cannot call the functions that the program which runs the plan provides",
                  "compile without --verify");
  std::vector<SizeChoice> choices = chooseSizes(model);
  if (choices.empty())
    return fail(Diag::Unsupported, "--verify: the interpreter would need an hour or more for this graph",
                "make the loops or dims of a copy smaller and verify that, or compile without --verify");
  ResultTolerance tolerance{numerics, certainties(model, numerics), false, {}};
  tolerance.wild = std::ranges::count(tolerance.certainties, Certainty::Free) == 0 && !dependsOnOpenBits(model);
  const PlanInMemory memory(compilation);
  for (const Processor& processor : processorsToVerify(compilation.plan)) {
    Status status = verifyFor(processor.cpu, memory, model, compilation.plan, choices, tolerance, functions, wrong);
    if (status) continue;
    return fail(compilation.plan.variants.empty()
                    ? std::move(status.error())
                    : std::move(status.error()).withNote("in the code for " + processor.cpu));
  }
  return choices;
}

}  // namespace svod
