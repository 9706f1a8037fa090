#include "runtime-min/host_call.h"
#include "support/says.h"

namespace svod {

PreparedCall::PreparedCall(const Plan& plan, const HostCall& call)
    : call_(&call), arguments_(call.args.size()), values_(call.values.size()) {
  size_t rank = 0;
  for (const HostArg& arg : call.args) rank += arg.shape.size();
  dims_.resize(rank);
  size_t next = 0;
  for (size_t i = 0; i < arguments_.size(); i++) {
    const HostArg& arg = call.args[i];
    const BufferDesc& buffer = plan.buffers[arg.buffer];
    svod_host_argument& argument = arguments_[i];
    argument.name = buffer.name.c_str();
    argument.dtype = nameOf(buffer.dtype).data();
    argument.element_bytes = byteSize(buffer.dtype);
    argument.rank = arg.shape.size();
    argument.shape = dims_.data() + next;
    argument.written = writes(arg.mode) ? 1 : 0;
    next += arg.shape.size();
  }
  given_ = {call.function.c_str(), arguments_.data(), arguments_.size(), values_.data(), values_.size()};
}

Status PreparedCall::prepareArgument(size_t index, std::span<const int64_t> variables,
                                     std::span<const std::string> names, uint64_t room) {
  svod_host_argument& argument = arguments_[index];
  const auto first = static_cast<size_t>(argument.shape - dims_.data());
  argument.bytes = argument.element_bytes;
  bool fits = true, isEmpty = false;
  for (size_t axis = 0; axis < argument.rank; axis++) {
    const Expr& expr = call_->args[index].shape[axis];
    const std::optional<int64_t> dim = expr.tryEvaluate(variables);
    if (!dim) return fail(expr.evaluate(variables, names).error());
    fits = fits && *dim >= 0;
    dims_[first + axis] = static_cast<uint64_t>(*dim);
    isEmpty = isEmpty || *dim == 0;
    fits = fits && !__builtin_mul_overflow(argument.bytes, dims_[first + axis], &argument.bytes);
  }
  if (isEmpty) argument.bytes = 0;
  if (fits && argument.bytes <= room) return {};
  return fail(
      Diag::VariableBounds,
      says({"host function '", call_->function, "' would be given more of '", argument.name, "' than it holds"}),
      "choose other values for the variables");
}

Status PreparedCall::prepare(std::span<const int64_t> variables, std::span<const std::string> names,
                             std::span<void* const> pointers, std::span<const uint64_t> sizes) {
  for (size_t i = 0; i < arguments_.size(); i++) {
    SVOD_CHECK(prepareArgument(i, variables, names, sizes[i]));
    arguments_[i].data = pointers[i];
  }
  for (size_t i = 0; i < values_.size(); i++) {
    const std::optional<int64_t> value = call_->values[i].tryEvaluate(variables);
    if (!value) return fail(call_->values[i].evaluate(variables, names).error());
    values_[i] = *value;
  }
  return {};
}

}  // namespace svod
