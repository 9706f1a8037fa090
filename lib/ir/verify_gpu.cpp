// Rules about instructions of GPUs, and about who must pass them together.
#include <algorithm>

#include "ir/gpu_op.h"
#include "ir/tensor_core.h"
#include "ir/verify_rules.h"

namespace svod {

using namespace detail;

namespace {

bool isAddressIn(UOp u, GpuOperandKind kind) {
  if (u.op() != Op::Index || !u.isScalar()) return false;
  UOp storage = behindAliases(u.src(0));
  if (kind == GpuOperandKind::Global) return storage.op() == Op::Param;
  return storage.op() == Op::Buffer && storage.argAs<SlotArg>().space == Space::Local;
}

// "" or what the operand should be.
std::string checkOperand(UOp u, const GpuOperand& operand) {
  const std::string name(operand.name);
  switch (operand.kind) {
    case GpuOperandKind::Value:
      return u.isScalar() && u.dtype() != DType::Void && u.op() != Op::Index ? "" : name + " is a scalar";
    case GpuOperandKind::Shared: return isAddressIn(u, operand.kind) ? "" : name + " is an address in local memory";
    case GpuOperandKind::Global: return isAddressIn(u, operand.kind) ? "" : name + " is an address in a parameter";
    case GpuOperandKind::Bool: return u.dtype() == DType::Bool && u.isScalar() ? "" : name + " is a bool";
    case GpuOperandKind::Const: return u.isConst() && u.constInt() >= 0 ? "" : name + " is a constant, 0 or more";
  }
  return {};
}

bool comesBefore(UOp u) { return u.dtype() == DType::Void || u.op() == Op::Range; }

std::string checkResult(const NodeView& n, const GpuOpInfo& row) {
  const DType wanted = row.result == GpuResult::Nothing ? DType::Void
                       : row.result == GpuResult::Same  ? n.src[0].dtype()
                                                        : DType::U32;
  return n.dtype == wanted ? "" : "yields " + std::string(toText(wanted == DType::Void ? DType::Void : wanted));
}

// Bytes of an element that pieces of 4 to 16 bytes, or rows of a matrix, are made of.
std::string checkElements(const NodeView& n, const GpuOpInfo& row) {
  if (row.does(Issues)) {
    const bool isBare = n.src[0].dtype() == n.src[1].dtype() && bytesCopied(row) % byteSize(n.src[0].dtype()) == 0;
    return isBare ? "" : "copies whole elements of one dtype";
  }
  return !row.does(ReadsShared) || byteSize(n.src[0].dtype()) == 2 ? "" : "loads elements of 16 bits";
}

std::string checkGpu(const NodeView& n) {
  const GpuOpInfo* row = findGpuOp(std::get<NameArg>(n.arg).name);
  if (!row) return "names no instruction of the table";
  size_t at = 0;
  for (int i = 0; i < row->operandCount; ++i) {
    const GpuOperand& operand = row->operands[static_cast<size_t>(i)];
    const bool isThere = at < n.src.size() && !(operand.isOptional && n.src[at].dtype() != DType::Bool);
    if (!isThere && operand.isOptional) continue;
    if (!isThere) return "misses " + std::string(operand.name);
    if (std::string wrong = checkOperand(n.src[at++], operand); !wrong.empty()) return wrong;
  }
  if (!std::ranges::all_of(n.src.subspan(at), comesBefore)) return "comes after stores, ends and ranges alone";
  if (std::string wrong = checkResult(n, *row); !wrong.empty()) return wrong;
  return checkElements(n, *row);
}

// What an End closes, through groups.
bool closesHoistable(UOp effect, UOp range) {
  if (effect.op() == Op::Group)
    return std::ranges::any_of(effect.src(), [&](UOp each) { return closesHoistable(each, range); });
  return synchronizes(effect) && !effect.dependsOn(range);
}

std::string checkSyncInLoop(const NodeView& n) {
  for (UOp r : n.src.subspan(1))
    if (closesHoistable(n.src[0], r))
      return "closes a meeting that is not in its loop: name the range among its sources";
  return {};
}

bool isThreadIndex(UOp u) { return u.op() == Op::Special && u.argAs<VarArg>().name.starts_with("lidx"); }

bool meets(Op op) { return op == Op::Barrier || op == Op::Wmma || op == Op::Gpu; }

// All threads that an instruction needs run its loops equally often.
std::string checkUniformLoops(const NodeView& n) {
  if (n.op == Op::Gpu) {
    const GpuOpInfo* row = findGpuOp(std::get<NameArg>(n.arg).name);
    if (!row || row->scope == GpuScope::Thread) return {};
  }
  for (UOp s : n.src)
    for (UOp r : s.ranges()) {
      const std::vector<UOp> below = r.src(0).isConst() ? std::vector<UOp>{} : toposort(r.src(0));
      if (std::ranges::any_of(below, isThreadIndex)) return "stands in a loop that threads run unequally often";
    }
  return {};
}

constexpr SpecRule kRules[] = {
    {"gpu", "instructions of GPUs have the operands of the table", L | P, isOp<Op::Gpu>, checkGpu},
    {"sync-in-loop", "what synchronizes depends on the loop it stands in", L | P, isOp<Op::End>, checkSyncInLoop},
    {"uniform-loops", "threads that meet run the loops around equally often", L | P, meets, checkUniformLoops},
};

}  // namespace

std::span<const SpecRule> gpuRules() { return kRules; }

}  // namespace svod
