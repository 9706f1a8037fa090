#include "interp/same_values.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "interp/interp.h"

namespace svod {

namespace {

constexpr int64_t kMostElements = int64_t{1} << 26;  // of one argument
constexpr double kUnits = 256;                       // of the last place of the largest element

struct Argument {
  DType dtype = DType::Void;
  int64_t elements = 0;
};

/// By slot; those of `sink`, which need not read all.
std::vector<Argument> argumentsOf(UOp sink) {
  std::vector<Argument> arguments;
  for (UOp node : toposort(sink)) {
    if (node.op() != Op::Param) continue;
    const size_t slot = node.argAs<SlotArg>().slot;
    arguments.resize(std::max(arguments.size(), slot + 1));
    arguments[slot] = {node.dtype(), node.src(0).bounds().max};
  }
  return arguments;
}

}  // namespace

bool agree(const Scalar& a, const Scalar& b, double allowed) {
  if (a == b) return true;
  if (!isFloat(a.dtype())) return false;
  const double x = a.asFloat(), y = b.asFloat();
  return (std::isnan(x) && std::isnan(y)) || x == y || std::abs(x - y) <= allowed;
}

HostTensor plainValues(DType dtype, std::vector<int64_t> dims, std::mt19937& random) {
  HostTensor tensor = HostTensor::zeros(dtype, std::move(dims));
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const auto draw = static_cast<double>(random() % 129);
    tensor.set(i, Scalar::of(dtype, isFloat(dtype)         ? draw / 64 - 1
                                    : dtype == DType::Bool ? std::fmod(draw, 2)
                                                           : std::fmod(draw, 8)));
  }
  return tensor;
}

Status checkClose(const std::string& name, const HostTensor& before, const HostTensor& after) {
  double largest = 1e-30;
  if (isFloat(before.dtype))
    for (int64_t i = 0; i < before.numel(); ++i)
      if (const double v = std::abs(before.at(i).asFloat()); std::isfinite(v)) largest = std::max(largest, v);
  const double allowed =
      isFloat(before.dtype) ? largest * kUnits * std::ldexp(1.0, -info(before.dtype).fractionBits - 1) : 0;
  for (int64_t i = 0; i < before.numel(); ++i)
    if (!agree(before.at(i), after.at(i), allowed))
      return fail(Diag::Mismatch,
                  "element " + std::to_string(i) + " of " + name + " is " + toText(after.at(i)) + ", and " +
                      toText(before.at(i)) + " before",
                  "give fewer passes to find the one that changes it, and --reduce for a small graph");
  return {};
}

namespace {

using RunKernel = std::function<Status(std::span<HostTensor> buffers, const VariableValues& variables)>;

Status checkAt(UOp before, const RunKernel& after, const VariableValues& variables) {
  std::mt19937 random(1);
  std::vector<HostTensor> data;
  for (const Argument& argument : argumentsOf(before)) {
    if (argument.elements > kMostElements)
      return fail(Diag::Unsupported, "an argument of " + std::to_string(argument.elements) + " elements",
                  "--check interprets every element: use a smaller graph");
    data.push_back(argument.dtype == DType::Void ? HostTensor{}
                                                 : plainValues(argument.dtype, {argument.elements}, random));
  }
  std::vector<HostTensor> expected = data;
  SVOD_CHECK(interpretKernel(before, expected, variables));
  if (Status ran = after(data, variables); !ran)
    return fail(std::move(ran).error().withNote("in the graph after the passes"));
  for (size_t slot = 0; slot < data.size(); ++slot)
    if (data[slot].dtype != DType::Void)
      SVOD_CHECK(checkClose("argument " + std::to_string(slot), expected[slot], data[slot]));
  return {};
}

Status checkSame(UOp before, const RunKernel& after) {
  for (int part : {0, 1, 2}) {
    VariableValues variables;
    for (UOp node : toposort(before)) {
      if (node.op() != Op::Var) continue;
      const VarArg& v = node.argAs<VarArg>();
      variables[std::string(v.name)] = part == 0 ? v.min : part == 1 ? v.max : v.min + (v.max - v.min) / 2;
    }
    SVOD_CHECK(checkAt(before, after, variables));
    if (variables.empty()) break;
  }
  return {};
}

}  // namespace

Status checkSameValues(UOp before, UOp after) {
  return checkSame(before, [&](std::span<HostTensor> buffers, const VariableValues& variables) {
    return interpretKernel(after, buffers, variables);
  });
}

Status checkSameValues(UOp before, const LinearKernel& after) {
  return checkSame(before, [&](std::span<HostTensor> buffers, const VariableValues& variables) {
    return interpretLinear(after, buffers, variables);
  });
}

}  // namespace svod
