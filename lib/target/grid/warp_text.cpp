#include "target/grid/warp_text.h"

#include <algorithm>

#include "ir/bulk_tensor.h"
#include "ir/gpu_op.h"

namespace svod {

namespace {

constexpr int64_t kLanes = 32;

std::string listed(UOp value, const LaneText& text) {
  std::string all;
  for (int lane = 0; lane < value.lanes(); ++lane) all += (lane == 0 ? "" : ", ") + text.ref(value, lane);
  return "{{" + all + "}}";
}

/// An address of the device or of the workgroup, which is not read here.
std::string pointerText(UOp address, const LaneText& text) {
  return text.pointer(storageOf(address), address.src(1), 0);
}

/// The registers that products add to, and how many they are.
std::string sumsText(UOp address, const LaneText& text) {
  const UOp sums = storageOf(address);
  return text.storage(sums) + ", " + std::to_string(sums.maxNumel());
}

/// Factors are told by what finds them in shared memory; which of them have their rows apart, by a bit for each.
std::string productText(UOp node, const LaneText& text) {
  std::string function(node.argAs<NameArg>().name);
  std::ranges::replace(function, '-', '_');
  std::string call = "svod_" + function + "(" + text.storage(storageOf(node.src(0)));
  int turned = 0;
  for (size_t i : {1, 2}) {
    const int64_t apart = node.src(i + 2).constInt();
    const UOp address = behindAliases(node.src(i));
    const auto [at, constant] = text.placeOf(address.src(1), 0);
    call += ", svod_factor(" + text.storage(storageOf(address)) + ", " + (at.empty() ? "0" : at) + ", " +
            std::to_string(constant) + ", " + std::to_string(apart) + ")";
    turned |= apart > 0 ? static_cast<int>(i) : 0;
  }
  return call + ", " + std::to_string(turned) + ")";
}

/// A copy names its map, its mbarrier and as many coordinates as the function has.
std::string bulkText(std::span<const UOp> operands, const LaneText& text) {
  std::string call = "svod_bulk_load(" + pointerText(behindAliases(operands[0]), text) + ", SVOD_MAP_OF(" +
                     text.storage(storageOf(operands[1].src(0))) + "), " +
                     pointerText(behindAliases(operands[3]), text) + ", " + std::to_string(operands[2].lanes());
  for (int i = 0; i < kTensorDims; ++i)
    call += ", " + (i < operands[2].lanes() ? text.ref(operands[2], i) : std::string("0"));
  return call + ")";
}

}  // namespace

std::string vectorType(UOp value) {
  return "svod_" + std::string(toText(value.dtype())) + "x" + std::to_string(value.lanes());
}

CallText wmmaText(UOp wmma, const LaneText& text) {
  CallText call;
  std::string function(wmma.argAs<NameArg>().name);
  std::ranges::replace(function, '-', '_');
  call.text = "svod_" + function + "(";
  for (size_t i = 0; i < 3; ++i) {
    const std::string operand = text.name(wmma) + "abc"[i];
    call.declarations.push_back("const " + vectorType(wmma.src(i)) + " " + operand + " = " + listed(wmma.src(i), text) +
                                ";");
    call.text += (i == 0 ? "" : ", ") + operand;
  }
  call.text += ")";
  return call;
}

CallText gpuText(UOp node, const LaneText& text, int64_t threads) {
  const GpuOpInfo& row = gpuOpOf(node);
  if (productOf(row)) return {{}, productText(node, text)};
  const std::span<const UOp> operands = operandsOf(node);
  const bool isGated = !operands.empty() && row.operands[operands.size() - 1].kind == GpuOperandKind::Gate;
  const std::string gate = isGated ? "if (" + text.ref(behindAliases(operands.back()), 0) + ") " : "";
  if (row.does(Bulk) && row.does(Issues)) return {{}, gate + bulkText(operands, text)};
  std::vector<std::string> arguments;
  for (size_t i = 0; i < operands.size() - (isGated ? 1 : 0); ++i) {
    const UOp behind = behindAliases(operands[i]);
    const bool isSums = row.operands[i].kind == GpuOperandKind::Registers;
    arguments.push_back(isSums                     ? sumsText(behind, text)
                        : behind.op() == Op::Index ? pointerText(behind, text)
                                                   : text.ref(behind, 0));
  }
  std::string function = "svod_" + std::string(row.name);
  if (static_cast<int>(arguments.size()) < row.operandCount && !row.does(Bulk)) arguments.push_back("true");
  if (row.result == GpuResult::Same) {
    function += "_" + std::string(toText(node.dtype()));
    arguments.push_back(std::to_string(threads < kLanes ? (1U << threads) - 1 : ~0U) + "u");
  }
  std::string joined;
  for (const std::string& argument : arguments) joined += (joined.empty() ? "" : ", ") + argument;
  return {{}, gate + function + "(" + joined + ")"};
}

}  // namespace svod
