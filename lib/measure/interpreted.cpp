#include "measure/interpreted.h"

#include <algorithm>
#include <optional>

#include "facts/axes.h"
#include "interp/interp.h"
#include "measure/test_data.h"

namespace svod {

namespace {

constexpr double kMostSteps = 2e6;  // some tenths of a second

/// Every node once for each iteration of the loops that it is open in.
double stepsOf(UOp kernel) {
  double all = 0;
  for (UOp n : toposort(kernel)) {
    double times = 1;
    for (UOp r : n.ranges()) times *= static_cast<double>(std::max<int64_t>(maxExtent(r), 1));
    all += times;
  }
  return all;
}

/// Operands by slot; nothing where elements share bytes.
std::optional<std::vector<HostTensor>> buffersOf(UOp kernel, const KernelData& data) {
  std::vector<HostTensor> buffers(data.operands.size());
  for (UOp n : toposort(kernel)) {
    if (n.op() != Op::Param) continue;
    const auto slot = static_cast<size_t>(n.argAs<SlotArg>().slot);
    if (isPacked(n.dtype())) return std::nullopt;
    const auto count = static_cast<int64_t>(data.operands[slot].size()) / byteSize(n.dtype());
    buffers[slot] = {n.dtype(), {count}, data.operands[slot]};
  }
  return buffers;
}

}  // namespace

bool preferInterpreted(const CompiledKernel& kernel, KernelData& data, int variablesAt) {
  if (stepsOf(kernel.ast) > kMostSteps) return false;
  VariableValues values;
  for (UOp n : toposort(kernel.ast)) {
    if (n.op() != Op::Var) continue;
    const auto& variable = n.argAs<VarArg>();
    values.emplace(variable.name, measuredValue(variable, variablesAt));
  }
  std::optional<std::vector<HostTensor>> buffers = buffersOf(kernel.ast, data);
  if (!buffers || !interpretKernel(kernel.ast, *buffers, values)) return false;
  for (size_t slot = 0; slot < data.wanted.size(); ++slot)
    if (!data.wanted[slot].empty() && !firstDifference(data.wanted[slot], (*buffers)[slot].data, data.types[slot]))
      data.wanted[slot] = std::move((*buffers)[slot].data);
  return true;
}

}  // namespace svod
