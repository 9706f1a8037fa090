#include "verify.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "certainty.h"
#include "interp/interp.h"
#include "plan/json.h"
#include "svod/runtime.h"

namespace svod {

namespace {

using PlanHandle = std::unique_ptr<svod_plan, decltype(&svod_plan_free)>;
using InstanceHandle = std::unique_ptr<svod_instance, decltype(&svod_instance_free)>;

constexpr double kUnitsOfLastPlace = 256;
/// A result may differ by this many times what the last bits of the inputs change of it.
constexpr double kSensitivity = 16;
constexpr char kFindThePass[] =
    "find the first pass that changes the value: svodc compile --verify --bisect-limit=N with growing N";

Error toError(const svod_error& error) {
  Diag diag = Diag::DeviceFailure;
  for (size_t i = 0; i < allDiagnostics().size(); ++i)
    if (allDiagnostics()[i].code == error.code) diag = static_cast<Diag>(i);
  return Error{diag, "while verifying: " + std::string(error.message), error.help, {}, {}};
}

/// The files of a plan as the runtime reads them, without writing them anywhere.
struct PlanInMemory {
  std::string json;
  std::vector<std::vector<std::byte>> contents;
  std::vector<svod_file> files;

  explicit PlanInMemory(const Compilation& c) {
    Plan plan = c.plan;
    plan.files = describeFiles(c.files);
    json = toJson(plan);
    files.push_back({kPlanFileName, json.data(), json.size()});
    contents.reserve(c.files.size());
    for (const PlanFile& file : c.files) {
      std::vector<std::byte>& bytes = contents.emplace_back();
      for (std::span<const std::byte> chunk : file.chunks) bytes.insert(bytes.end(), chunk.begin(), chunk.end());
      files.push_back({file.path.c_str(), bytes.data(), bytes.size()});
    }
  }
};

/// A small generator with a fixed start: a failure can be repeated.
class Random {
 public:
  explicit Random(uint64_t number) : state_(0x9E3779B97F4A7C15 * (2 * number + 1)) {}
  uint64_t next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_;
  }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  uint64_t state_;
};

/// Floats in [-1, 1] in steps of 1/64, which every float dtype but the 8-bit ones holds exactly; integers in [0, 7].
Scalar plainElement(DType dtype, Random& random) {
  const double value = isFloat(dtype) ? static_cast<double>(random.between(-64, 64)) / 64.0
                                      : static_cast<double>(random.between(0, dtype == DType::Bool ? 1 : 7));
  return Scalar::of(dtype, value);
}

/// Where every result is certain: any magnitude, infinities, NaN, zeros of both signs, subnormals, the ends of
/// integers.
Scalar wildElement(DType dtype, Random& random) {
  if (!isFloat(dtype)) {
    const int64_t kEnds[] = {minInt(dtype), maxInt(dtype), -1, 0};
    const bool isEnd = random.between(0, 1) == 0;
    return Scalar::ofInt(dtype, isEnd ? kEnds[random.between(0, 3)] : static_cast<int64_t>(random.next()));
  }
  const double tiny = Scalar::fromBits(dtype, 1).asFloat();
  const double kEnds[] = {HUGE_VAL, -HUGE_VAL, std::nan(""), -0.0, tiny, -tiny, maxFinite(dtype), -maxFinite(dtype)};
  if (random.between(0, 2) == 0) return Scalar::ofFloat(dtype, kEnds[random.between(0, 7)]);
  return Scalar::ofFloat(dtype, static_cast<double>(random.between(-(1 << 20), 1 << 20)) / 4096.0);
}

/// The float next to a finite one, up or down.
Scalar neighbour(const Scalar& value, Random& random) {
  if (!isFloat(value.dtype()) || !std::isfinite(value.asFloat()) || value.asFloat() == 0) return value;
  const uint64_t bits = value.storageBits();
  return Scalar::fromBits(value.dtype(), random.between(0, 1) == 0 ? bits - 1 : bits + 1);
}

HostTensor randomTensor(DType dtype, std::vector<int64_t> dims, Random& random, bool wild) {
  HostTensor tensor = HostTensor::zeros(dtype, std::move(dims));
  for (int64_t i = 0; i < tensor.numel(); ++i)
    tensor.set(i, wild && random.between(0, 1) == 0 ? wildElement(dtype, random) : plainElement(dtype, random));
  return tensor;
}

struct Tolerance {
  std::vector<Certainty> certainties;  // by model port
  bool wild = false;                   // all of them are certain
  std::vector<HostTensor> moved;       // by model port, for inputs of which every float is its neighbour; may be empty

  bool isFree(size_t port, const HostTensor& expected) const {
    return certainties[port] == Certainty::Free && isFloat(expected.dtype);
  }

  double of(size_t port, const HostTensor& expected) const {
    if (!isFree(port, expected)) return 0;
    return std::max(units(expected), moved.empty() ? 0 : kSensitivity * distance(expected, moved[port]));
  }

 private:
  static double units(const HostTensor& expected) {
    double largest = 1e-30;
    for (int64_t i = 0; i < expected.numel(); ++i)
      if (const double v = std::abs(expected.at(i).asFloat()); std::isfinite(v)) largest = std::max(largest, v);
    return largest * kUnitsOfLastPlace * std::ldexp(1.0, -info(expected.dtype).fractionBits - 1);
  }

  static double distance(const HostTensor& a, const HostTensor& b) {
    double largest = 0;
    for (int64_t i = 0; i < std::min(a.numel(), b.numel()); ++i)
      if (const double d = std::abs(a.at(i).asFloat() - b.at(i).asFloat()); std::isfinite(d))
        largest = std::max(largest, d);
    return largest;
  }
};

bool agree(const Scalar& expected, const Scalar& actual, double tolerance) {
  if (expected == actual) return true;
  if (!isFloat(expected.dtype())) return false;
  const double a = expected.asFloat(), b = actual.asFloat();
  return (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= tolerance;
}

std::string positionText(int64_t flat, const std::vector<int64_t>& dims) {
  std::vector<int64_t> position(dims.size());
  for (size_t i = dims.size(); i-- > 0; flat /= dims[i]) position[i] = flat % dims[i];
  std::string text = "[";
  for (size_t i = 0; i < position.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(position[i]);
  return text + "]";
}

Status compare(const std::string& name, const HostTensor& expected, const void* data, double allowed) {
  for (int64_t i = 0; i < expected.numel(); ++i) {
    const Scalar actual = HostTensor::readElement(expected.dtype, static_cast<const std::byte*>(data), i);
    if (agree(expected.at(i), actual, allowed)) continue;
    return fail(Diag::Mismatch,
                name + positionText(i, expected.dims) + " is " + toText(actual) + ", the interpreter says " +
                    toText(expected.at(i)),
                kFindThePass);
  }
  return {};
}

/// A state is laid out for its largest shape; `expected` holds the elements of the present one.
Status compareState(const ModelPort& port, const HostTensor& expected, const void* data, double allowed) {
  HostTensor present = HostTensor::zeros(expected.dtype, expected.dims);
  for (int64_t i = 0; i < present.numel(); ++i) {
    int64_t rest = i, at = 0, stride = 1;
    for (size_t axis = expected.dims.size(); axis-- > 0; rest /= expected.dims[axis]) {
      at += rest % expected.dims[axis] * stride;
      stride *= port.buffer.shape()[axis].bounds().max;
    }
    present.set(i, HostTensor::readElement(expected.dtype, static_cast<const std::byte*>(data), at));
  }
  return compare(port.name, expected, present.data.data(), allowed);
}

/// One set of variables and inputs, run both ways.
class Trial {
 public:
  /// `number`: trials with different ones have different inputs.
  Trial(const Model& model, const Plan& plan, svod_plan* handle, int number)
      : model_(model), plan_(plan), handle_(handle), random_(static_cast<uint64_t>(number)) {}

  Status run(const VariableValues& variables, const Tolerance& tolerance) {
    setVariables(variables);
    SVOD_CHECK(chooseInputs(tolerance.wild));
    SVOD_TRY(std::vector<HostTensor> expected, interpret(model_, bindings_));
    svod_error error{};
    svod_instance* made = nullptr;
    if (svod_instance_create(handle_, nullptr, &made, &error) != 0) return fail(toError(error));
    const InstanceHandle instance(made, svod_instance_free);
    const Status bound = bind(made, expected);
    if (const Status sizes = checkEqualSizes(model_, variables); !sizes)  // such a run ends before it begins
      return checkOutcome(bound ? executed(made, error) : Result<std::string>(bound.error().message), sizes);
    SVOD_CHECK(bound);
    // Random inputs need not meet the model's expectations; a run must say so, and leaves the results as they are.
    const Status outcome = checkExpectations(model_, expected);
    SVOD_CHECK(checkOutcome(executed(made, error), outcome));
    Status compared = compareAll(made, expected, tolerance);
    if (compared) return compared;
    // Thousands of steps that depend on each other may add up roundings: as much as the last bits of the inputs do.
    Tolerance sensitive{tolerance.certainties, tolerance.wild, {}};
    SVOD_TRY(sensitive.moved, interpretMoved());
    return compareAll(made, expected, sensitive);
  }

 private:
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
    if (error.code != std::string_view("input-mismatch")) return fail(toError(error));
    return std::string(error.message);
  }

  static Status checkOutcome(Result<std::string> outcome, const Status& wanted) {
    SVOD_TRY(const std::string said, std::move(outcome));
    const std::string should = wanted ? "" : wanted.error().message;
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
    for (size_t i = 0; i < plan_.variables.size(); ++i)
      if (plan_.variables[i].kind == VariableKind::Free && svod_set_variable(instance, i, values_[i], &error) != 0)
        return fail(toError(error));
    results_.resize(model_.ports.size());
    for (size_t i = 0; i < model_.ports.size(); ++i) {
      const ModelPort& port = model_.ports[i];
      if (port.kind == PortKind::Input) SVOD_CHECK(bindInput(instance, port, bindings_.ports[i]));
      if (port.kind != PortKind::Output) continue;
      results_[i].resize(static_cast<size_t>(memoryBytes(port.buffer.dtype(), expected[i].numel())));
      const size_t index = svod_plan_find(handle_, SVOD_OUTPUT, port.name.c_str());
      if (svod_bind_output(instance, index, results_[i].data(), results_[i].size(), &error) != 0)
        return fail(toError(error));
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
      return fail(toError(error));
    return {};
  }

  Status compareAll(svod_instance* instance, const std::vector<HostTensor>& expected, const Tolerance& tolerance) {
    for (size_t i = 0; i < model_.ports.size(); ++i) {
      const ModelPort& port = model_.ports[i];
      if (port.kind == PortKind::Output) {
        const HostTensor actual = HostTensor::fromMemory(expected[i].dtype, expected[i].dims, results_[i]);
        SVOD_CHECK(compare(port.name, expected[i], actual.data.data(), tolerance.of(i, expected[i])));
      }
      if (port.kind != PortKind::State) continue;
      const size_t index = svod_plan_find(handle_, SVOD_STATE, port.name.c_str());
      if (index != SVOD_NONE)
        SVOD_CHECK(compareState(port, expected[i], svod_state_data(instance, index), tolerance.of(i, expected[i])));
    }
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
};

}  // namespace

Result<std::vector<SizeChoice>> verifyPlan(const Model& model, const Compilation& compilation, Numerics numerics) {
  for (UOp node : toposort(model.sink))
    if (node.op() == Op::Custom)
      return fail(Diag::Unsupported, "--verify cannot call the host functions of the graph",
                  "compile without --verify");
  std::vector<SizeChoice> choices = chooseSizes(model);
  if (choices.empty())
    return fail(Diag::Unsupported, "--verify: the interpreter would need an hour or more for this graph",
                "make the loops or dims of a copy smaller and verify that, or compile without --verify");
  Tolerance tolerance{certainties(model, numerics), false, {}};
  tolerance.wild = std::ranges::count(tolerance.certainties, Certainty::Free) == 0 && !dependsOnOpenBits(model);
  const PlanInMemory memory(compilation);
  svod_error error{};
  svod_plan* handle = nullptr;
  if (svod_plan_load_memory(memory.files.data(), memory.files.size(), nullptr, &handle, &error) != 0)
    return fail(toError(error));
  const PlanHandle owner(handle, svod_plan_free);
  for (const SizeChoice& choice : choices)
    for (int number = 0; number < choice.runs; ++number) {
      Status status = Trial(model, compilation.plan, handle, number).run(choice.values, tolerance);
      if (status) continue;
      const std::string at = toText(choice.values);
      return fail(at.empty() ? std::move(status.error()) : std::move(status.error()).withNote("with " + at));
    }
  return choices;
}

}  // namespace svod
