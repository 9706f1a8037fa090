// The oracle: evaluates graphs of any stage with evalScalar, one element at a time. Slow and simple on purpose;
// in strict mode compiled plans must agree with it bit for bit outside transcendentals (docs/semantics.md).
// Functions here share nothing and may run on several threads at once.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "interp/tensor.h"
#include "ir/model.h"
#include "linearize/linear.h"
#include "support/result.h"

namespace svod {

using VariableValues = std::map<std::string, int64_t, std::less<>>;

/// A host function called by Custom: gets its inputs, returns a tensor of the given dtype and dims.
using CustomFunction =
    std::function<Result<HostTensor>(std::span<const HostTensor> inputs, DType dtype, std::span<const int64_t> dims)>;

struct ModelBindings {
  std::vector<HostTensor>
      ports;                 // by Model::ports; dtype Void or a missing tail: weights and states use their own data
  VariableValues variables;  // every variable of the model
  std::map<std::string, CustomFunction, std::less<>> functions;
  bool areSumsRoundedOnce = false;  // of floats: what all orders of their terms are near to
  bool areArbitrary = false;        // the inputs: whether they are what the model expects does not matter
};

/// Tensor stage. Returns the contents of every port afterwards, by Model::ports; states as the stores left them.
/// InputMismatch when sizes that must be equal are not, an expectation is not met, or updates that the graph calls
/// distinct go to one element.
Result<std::vector<HostTensor>> interpret(const Model& model, const ModelBindings& bindings);

/// Whether the contents of all ports, as interpret() returns them, are what the model expects. InputMismatch names the
/// first expectation that is not met.
Status checkExpectations(const Model& model, std::span<const HostTensor> contents);

/// Whether these variables make sizes equal that the model takes as equal. InputMismatch names the first that are not.
Status checkEqualSizes(const Model& model, const VariableValues& variables);

/// The value of one tensor-stage node, for tests and for finding the first node two evaluations disagree on.
Result<HostTensor> interpretNode(const Model& model, UOp node, const ModelBindings& bindings);

/// The values of several such nodes; what they share is computed once.
Result<std::vector<HostTensor>> interpretNodes(const Model& model, std::span<const UOp> nodes,
                                               const ModelBindings& bindings);

/// Kernel and lowered stage. `buffers[slot]` is the storage of Param `slot`, read and written in place; its dtype may
/// differ from the Param's if the size agrees (u8 for bool). Every loop runs in order, whatever its axis type.
/// Errors name the node: an access outside its buffer, a missing buffer or variable.
Status interpretKernel(UOp sink, std::span<HostTensor> buffers, const VariableValues& variables);

/// Linear stage. `buffers[i]` belongs to kernel.params[i], variables are found by name. Specials named lidx* are the
/// threads of a workgroup and meet at barriers; all others enumerate workgroups. A Thread range runs over
/// [tileBegin, tileEnd), the whole range when tileEnd is negative.
Status interpretLinear(const LinearKernel& kernel, std::span<HostTensor> buffers, const VariableValues& variables,
                       int64_t tileBegin = 0, int64_t tileEnd = -1);

/// The workgroups of a launch and the threads of each, x first.
struct LaunchExtents {
  std::array<int64_t, 3> groups = {1, 1, 1}, threads = {1, 1, 1};
};
/// The same with these extents, whatever those of the kernel's Specials are: as a device is told them.
Status interpretLinear(const LinearKernel& kernel, std::span<HostTensor> buffers, const VariableValues& variables,
                       const LaunchExtents& extents);

}  // namespace svod
