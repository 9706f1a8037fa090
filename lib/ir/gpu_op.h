// Instructions of GPUs as data (gpu_ops.def, and tensor_cores.def for products of warpgroups): what one Gpu node takes,
// gives and does.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/tensor_core.h"
#include "ir/uop.h"
#include "support/gpu_family.h"

namespace svod {

/// Who must pass an instruction together. What is of a lane computes with each lane of its operands alone, as
/// elementwise ops do, and changes nothing.
enum class GpuScope : uint8_t { Lane, Thread, Warp, Warpgroup };
enum class GpuResult : uint8_t { Nothing, Same, Flag, Words2, Words4, Single, Half, Byte };
enum class GpuOperandKind : uint8_t { Value, Shared, Global, Registers, Bool, Const, List, Map, Gate, Single, Byte };
/// Copies, and products of warpgroups, are under way from where they are issued to a wait that covers the group they
/// were committed to.
enum GpuEffect : uint16_t {
  ReadsShared = 1,
  WritesShared = 2,
  ReadsGlobal = 4,
  Issues = 8,
  Commits = 16,
  Waits = 32,
  Fences = 64,
  Multiplies = 128,  // is about products, not copies
  Bulk = 256,        // is about mbarriers, and copies that arrive at them
  Makes = 512,
  Arrives = 1024,
};

struct GpuOperand {
  std::string_view name;
  GpuOperandKind kind = GpuOperandKind::Value;
  bool isOptional = false;
};

struct GpuOpInfo {
  std::string_view name;
  int cuda, metal;  // first generation that has it; 0: none
  GpuScope scope;
  std::array<GpuOperand, 5> operands;
  int operandCount;
  GpuResult result;
  uint16_t effects;  // bits of GpuEffect
  std::string_view what;

  bool does(GpuEffect effect) const { return (effects & effect) != 0; }
  int words() const { return result == GpuResult::Words2 ? 2 : result == GpuResult::Words4 ? 4 : 0; }
  bool isOfLane() const { return scope == GpuScope::Lane; }
  bool isOfMany() const { return scope == GpuScope::Warp || scope == GpuScope::Warpgroup; }
};

inline constexpr int kWarpLanes = 32, kWarpgroupLanes = 128;
inline constexpr int64_t kMatrixRowBytes = 16;  // of a row that ldmatrix loads
inline constexpr int64_t kAccessBytes = 16;     // that one load or store of a lane moves at most

std::span<const GpuOpInfo> allGpuOps();
/// Null for an unknown name.
const GpuOpInfo* findGpuOp(std::string_view name);
bool hasGpuOp(std::string_view name, GpuFamily family, int generation);

/// Of a node whose name stands in the table.
const GpuOpInfo& gpuOpOf(UOp node);
/// Whether a node is an instruction that computes lane by lane.
bool isGpuOfLane(UOp node);
/// What such an instruction gives for one lane: the exact value, rounded once, where the hardware's is within some
/// units of the last place.
Scalar evalGpu(const GpuOpInfo& row, std::span<const Scalar> operands);
/// Those of its sources that are operands, none where the table has no such name; what it comes after stands behind.
std::span<const UOp> operandsOf(UOp node);
/// Whether threads wait for each other, or for copies, or give copies a group: such a node keeps its place in a loop.
bool synchronizes(UOp node);
/// The tensor core whose product an instruction is, null for others.
const TensorCore* productOf(const GpuOpInfo& row);
/// The same of a node, null for what is no instruction.
const TensorCore* productOf(UOp node);
/// Bytes that a copy of a thread moves, 0 of all others.
int64_t bytesCopied(const GpuOpInfo& row);
/// Of `lanes` elements at `address` those that one load or store moves: a power of two that divides them. The address
/// of each such part is a multiple of its size, as far as the storage is.
int lanesAtOnce(UOp address, int lanes);

}  // namespace svod
