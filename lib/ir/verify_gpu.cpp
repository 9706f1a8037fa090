// Rules about instructions of GPUs, and about who must pass them together.
#include <algorithm>
#include <set>

#include "ir/bulk_tensor.h"
#include "ir/gpu_op.h"
#include "ir/local_memory.h"
#include "ir/tensor_core.h"
#include "ir/verify_bulk.h"
#include "ir/verify_rules.h"
#include "ir/warpgroup_operand.h"
#include "ir/workgroup.h"

namespace svod {

using namespace detail;

namespace {

bool isAddressIn(UOp u, GpuOperandKind kind) {
  if (u.op() != Op::Index || !u.isScalar()) return false;
  UOp storage = behindAliases(u.src(0));
  if (kind == GpuOperandKind::Global) return storage.op() == Op::Param;
  const Space space = kind == GpuOperandKind::Registers ? Space::Reg : Space::Local;
  return storage.op() == Op::Buffer && storage.argAs<SlotArg>().space == space;
}

bool isCount(DType d) { return isInt(d) || d == DType::Index; }

// "" or what the operand should be.
std::string checkOperand(UOp u, const GpuOperand& operand) {
  const std::string name(operand.name);
  switch (operand.kind) {
    case GpuOperandKind::Value:
      return u.isScalar() && u.dtype() != DType::Void && u.op() != Op::Index ? "" : name + " is a scalar";
    case GpuOperandKind::Shared: return isAddressIn(u, operand.kind) ? "" : name + " is an address in local memory";
    case GpuOperandKind::Global: return isAddressIn(u, operand.kind) ? "" : name + " is an address in a parameter";
    case GpuOperandKind::Registers:
      return isAddressIn(u, operand.kind) && u.src(1).isConst(0) ? "" : name + " is the first of some registers";
    case GpuOperandKind::Bool: return u.dtype() == DType::Bool && u.isScalar() ? "" : name + " is a bool";
    case GpuOperandKind::Gate: return u.dtype() == DType::Bool && u.isScalar() ? "" : name + " is a bool";
    case GpuOperandKind::List:
      return u.op() == Op::Stack && u.lanes() <= kTensorDims && isCount(u.dtype()) ? "" : name + " is 2 to 5 integers";
    case GpuOperandKind::Map:
      return u.op() == Op::Gpu && u.argAs<NameArg>().name == "tensor_map" ? "" : name + " is a tensor map";
    case GpuOperandKind::Single: return u.dtype() == DType::F32 ? "" : name + " is f32";
    case GpuOperandKind::Byte: return u.dtype() == DType::U8 ? "" : name + " is u8";
    case GpuOperandKind::Const: return u.isConst() && u.constInt() >= 0 ? "" : name + " is a constant, 0 or more";
  }
  return {};
}

bool comesBefore(UOp u) { return u.dtype() == DType::Void || u.op() == Op::Range; }

std::string checkResult(const NodeView& n, const GpuOpInfo& row) {
  const DType wanted = row.result == GpuResult::Nothing  ? DType::Void
                       : row.result == GpuResult::Same   ? n.src[0].dtype()
                       : row.result == GpuResult::Flag   ? DType::Bool
                       : row.result == GpuResult::Single ? DType::F32
                       : row.result == GpuResult::Half   ? DType::U16
                       : row.result == GpuResult::Byte   ? DType::U8
                                                         : DType::U32;
  return n.dtype == wanted ? "" : "yields " + std::string(toText(wanted == DType::Void ? DType::Void : wanted));
}

std::string checkProduct(const NodeView& n, const TensorCore& core) {
  const UOp sums = storageOf(n.src[0]);
  if (sums.dtype() != core.out || sums.maxNumel() != core.c.elements())
    return "adds to " + std::to_string(core.c.elements()) + " sums of " + std::string(toText(core.out));
  for (UOp factor : n.src.subspan(1, 2))
    if (factor.dtype() != core.in && factor.dtype() != unsignedOf(core.in))
      return "multiplies " + std::string(toText(core.in));
  for (UOp factor : n.src.subspan(1, 2))
    if (const int swizzle = storageOf(factor).argAs<SlotArg>().swizzle; swizzle != 0 && 1 << swizzle != kOperandRow)
      return "multiplies what a swizzle of " + std::to_string(kOperandRow) + " has laid out";
  for (UOp factor : n.src.subspan(1, 2))
    if (localBytes(storageOf(factor)) % kOperandPeriod != 0)
      return "multiplies what lies in whole periods of " + std::to_string(kOperandPeriod) +
             " bytes, which start at one";
  for (UOp apart : n.src.subspan(3, 2))
    if (apart.constInt() % kOperandPeriod != 0) return "has parts of factors whole rows of pieces apart";
  return {};
}

// Bytes of an element that pieces of 4 to 16 bytes, or rows of a matrix, are made of.
std::string checkElements(const NodeView& n, const GpuOpInfo& row) {
  if (const TensorCore* core = productOf(row)) return checkProduct(n, *core);
  if (row.does(Bulk)) return checkBulk(n, row);
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

// Whether one of `effects`, or what they come after, starts a product that no wait between covers.
bool leavesProducts(std::span<const UOp> effects) {
  std::vector<UOp> below;
  std::set<uint32_t> seen;  // ids
  const auto visit = [&](std::span<const UOp> sources) {
    for (UOp s : sources)
      if (s.dtype() == DType::Void && seen.insert(s.id()).second) below.push_back(s);
  };
  visit(effects);
  for (size_t i = 0; i < below.size(); ++i) {
    UOp e = below[i];
    const GpuOpInfo* row = e.op() == Op::Gpu ? findGpuOp(e.argAs<NameArg>().name) : nullptr;
    if (row && row->does(Multiplies) && row->does(Waits) && e.srcCount() > 1 && e.src(1).isConst(0)) continue;
    if (row && productOf(*row)) return true;
    visit(e.src());
  }
  return false;
}

std::string checkSettled(const NodeView& n) {
  if (n.src[0].op() != Op::Index) return {};
  const UOp storage = n.src[0].src(0), buffer = behindAliases(storage);
  const bool isSums =
      storage.op() == Op::After && buffer.op() == Op::Buffer && buffer.argAs<SlotArg>().space == Space::Reg;
  return isSums && leavesProducts(storage.src().subspan(1)) ? "touches sums of products that are under way" : "";
}

bool isAccess(Op op) { return op == Op::Load || op == Op::Store; }

bool meets(Op op) { return op == Op::Barrier || op == Op::Wmma || op == Op::Gpu; }

// All threads that an instruction needs run its loops equally often.
std::string checkUniformLoops(const NodeView& n) {
  if (n.op == Op::Gpu) {
    const GpuOpInfo* row = findGpuOp(std::get<NameArg>(n.arg).name);
    if (!row || !row->isOfMany()) return {};
  }
  for (UOp s : n.src)
    for (UOp r : s.ranges()) {
      const std::vector<UOp> below = r.src(0).isConst() ? std::vector<UOp>{} : toposort(r.src(0));
      if (std::ranges::any_of(below, isThreadIndex)) return "stands in a loop that threads run unequally often";
    }
  return {};
}

// How many threads a gate leaves one of, as far as it is about their numbers alone.
int64_t threadsForOne(UOp gate) {
  if (gate.op() == Op::And) return threadsForOne(gate.src(0)) * threadsForOne(gate.src(1));
  const bool isNumber = gate.op() == Op::Eq && gate.src(1).isConst();
  if (!isNumber || std::ranges::none_of(toposort(gate.src(0)), isThreadIndex)) return 1;
  const Interval numbers = gate.src(0).bounds();
  return numbers.max - numbers.min + 1;
}

// Whether threads meet in every iteration of a loop for what this node does.
bool meetsIn(UOp node, UOp loop) {
  return std::ranges::any_of(toposort(node), [&](UOp n) {
    const GpuOpInfo* row = n.op() == Op::Gpu ? findGpuOp(n.argAs<NameArg>().name) : nullptr;
    return (n.op() == Op::Barrier || n.op() == Op::Wmma || (row && row->scope != GpuScope::Thread)) &&
           n.dependsOn(loop);
  });
}

// Not by whatever turns a ring, which is not known yet.
bool isFilledByThreads(UOp buffer) {
  return buffer.op() == Op::Buffer && buffer.argAs<SlotArg>().space == Space::Local &&
         buffer.argAs<SlotArg>().ring == 0;
}

std::string fillsAlone(int64_t threads, uint32_t slot) {
  const std::string all = std::to_string(threads), name = std::to_string(slot);
  std::string text;
  for (std::string_view part :
       {std::string_view("one of "), std::string_view(all), std::string_view(" threads fills local"),
        std::string_view(name), std::string_view(" alone, in a loop: spread deals it to all of them")})
    text += part;
  return text;
}

std::string checkLoneFill(const NodeView& n) {
  std::vector<UOp> effects{n.src[0]};
  for (size_t i = 0; i < effects.size(); ++i) {
    const UOp effect = effects[i];
    if (effect.op() == Op::Group) effects.insert(effects.end(), effect.src().begin(), effect.src().end());
    if (effect.op() != Op::Store || effect.srcCount() < 3) continue;
    const UOp buffer = storageOf(effect.src(0));
    const int64_t threads = threadsForOne(effect.src(2));
    const auto isOwn = [&](UOp r) { return effect.dependsOn(r) && !meetsIn(effect, r); };
    if (isFilledByThreads(buffer) && threads > kWarpLanes && std::ranges::any_of(n.src.subspan(1), isOwn))
      return fillsAlone(threads, buffer.argAs<SlotArg>().slot);
  }
  return {};
}

constexpr SpecRule kRules[] = {
    {"gpu", "instructions of GPUs have the operands of the table", L | P, isOp<Op::Gpu>, checkGpu},
    {"sums-in-flight", "registers that products add to are touched behind a wait for them", L | P, isAccess,
     checkSettled},
    {"sync-in-loop", "what synchronizes depends on the loop it stands in", L | P, isOp<Op::End>, checkSyncInLoop},
    {"lone-fill", "no thread fills memory of a large workgroup alone, element by element", L, isOp<Op::End>,
     checkLoneFill},
    {"uniform-loops", "threads that meet run the loops around equally often", L | P, meets, checkUniformLoops},
};

}  // namespace

std::span<const SpecRule> gpuRules() { return kRules; }

}  // namespace svod
