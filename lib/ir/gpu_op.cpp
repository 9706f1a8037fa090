#include "ir/gpu_op.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/multiple_of.h"

namespace svod {

namespace {

consteval GpuOperandKind kindOf(std::string_view text) {
  if (text == "value") return GpuOperandKind::Value;
  if (text == "shared") return GpuOperandKind::Shared;
  if (text == "global") return GpuOperandKind::Global;
  if (text == "registers") return GpuOperandKind::Registers;
  if (text == "bool") return GpuOperandKind::Bool;
  if (text == "const") return GpuOperandKind::Const;
  if (text == "list") return GpuOperandKind::List;
  if (text == "map") return GpuOperandKind::Map;
  if (text == "gate") return GpuOperandKind::Gate;
  if (text == "f32") return GpuOperandKind::Single;
  if (text == "u8") return GpuOperandKind::Byte;
  throw "a kind of operand that does not exist";
}

consteval GpuOpInfo row(std::string_view name, int cuda, int metal, GpuScope scope, std::string_view operands,
                        GpuResult result, int effects, std::string_view what) {
  GpuOpInfo info{name, cuda, metal, scope, {}, 0, result, static_cast<uint16_t>(effects), what};
  while (!operands.empty()) {
    std::string_view word = operands.substr(0, operands.find(' '));
    operands.remove_prefix(std::min(operands.size(), word.size() + 1));
    GpuOperand& operand = info.operands.at(static_cast<size_t>(info.operandCount++));
    operand.isOptional = word.ends_with('?');
    if (operand.isOptional) word.remove_suffix(1);
    operand.name = word.substr(0, word.find(':'));
    operand.kind = kindOf(word.substr(operand.name.size() + 1));
  }
  return info;
}

using enum GpuScope;
using enum GpuResult;
constexpr GpuOpInfo kGpuOps[] = {
#define GPU_OP(name, cuda, metal, scope, operands, result, effects, what) \
  row(name, cuda, metal, scope, operands, result, effects, what),
#include "ir/gpu_ops.def"
#undef GPU_OP
#define CORE(...)
#define GROUP_CORE(name, generation, ...)                                                                             \
  row(name, generation, 0, Warpgroup, "sums:registers rows:shared columns:shared rowsApart:const columnsApart:const", \
      Nothing, Multiplies | Issues | ReadsShared, "starts to add a product of matrices in shared memory to its sums"),
#include "ir/tensor_cores.def"
#undef GROUP_CORE
#undef CORE
};

}  // namespace

std::span<const GpuOpInfo> allGpuOps() { return kGpuOps; }

const GpuOpInfo* findGpuOp(std::string_view name) {
  auto at = std::ranges::find(kGpuOps, name, &GpuOpInfo::name);
  return at == std::end(kGpuOps) ? nullptr : at;
}

bool hasGpuOp(std::string_view name, GpuFamily family, int generation) {
  const GpuOpInfo* found = findGpuOp(name);
  if (found == nullptr || family == GpuFamily::Portable) return false;
  const int since = family == GpuFamily::Cuda ? found->cuda : found->metal;
  return since > 0 && generation >= since;
}

bool isGpuOfLane(UOp node) {
  const GpuOpInfo* row = node.op() == Op::Gpu ? findGpuOp(node.argAs<NameArg>().name) : nullptr;
  return row != nullptr && row->isOfLane();
}

const GpuOpInfo& gpuOpOf(UOp node) { return *findGpuOp(node.argAs<NameArg>().name); }

std::span<const UOp> operandsOf(UOp node) {
  const GpuOpInfo* info = findGpuOp(node.argAs<NameArg>().name);
  auto count = info ? static_cast<size_t>(info->operandCount) : 0;
  if (count > 0 && info->operands[count - 1].isOptional &&
      (node.srcCount() < count || node.src(count - 1).dtype() != DType::Bool))
    --count;
  return node.src().first(std::min(count, node.srcCount()));
}

bool synchronizes(UOp node) {
  if (node.op() == Op::Barrier) return true;
  const GpuOpInfo* info = node.op() == Op::Gpu ? findGpuOp(node.argAs<NameArg>().name) : nullptr;
  return info && (info->effects & (Commits | Waits | Fences | Makes | Arrives)) != 0;
}

const TensorCore* productOf(const GpuOpInfo& row) {
  return row.does(Multiplies) && row.does(Issues) ? findTensorCore(row.name) : nullptr;
}
const TensorCore* productOf(UOp node) {
  const GpuOpInfo* row = node.op() == Op::Gpu ? findGpuOp(node.argAs<NameArg>().name) : nullptr;
  return row ? productOf(*row) : nullptr;
}

int64_t bytesCopied(const GpuOpInfo& row) {
  if (!row.does(Issues) || row.does(Multiplies) || row.does(Bulk)) return 0;
  return row.name == "cp_async4" ? 4 : row.name == "cp_async8" ? 8 : 16;
}

int lanesAtOnce(UOp address, int lanes) {
  address = behindAliases(address);
  const UOp at = behindAliases(address.src(1));
  if (at.op() != Op::Ramp) return 1;
  const int64_t bytes = byteSize(storageOf(address).dtype()), aligned = multipleOf(at.src(0));
  int width = 1;
  while (width * 2 * bytes <= kAccessBytes && lanes % (width * 2) == 0 && aligned % (width * 2) == 0) width *= 2;
  return width;
}

}  // namespace svod
