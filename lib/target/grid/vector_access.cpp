#include "target/grid/vector_access.h"

#include <algorithm>

#include "ir/bulk_tensor.h"
#include "ir/gpu_op.h"

namespace svod {

VectorAccess::VectorAccess(UOp address, int lanes, const LaneText& text) : text_(text) {
  const UOp a = behindAliases(address);
  index_ = a.src(1), storage_ = storageOf(a);
  if (storage_.op() == Op::Buffer) {
    isShared_ = storage_.argAs<SlotArg>().space == Space::Local;
    isRegister_ = !isShared_;
  }
  if (!isRegister_) width_ = lanesAtOnce(a, lanes);
}

std::string VectorAccess::type() const {
  return "svod_" + std::string(toText(storage_.dtype())) + "x" + std::to_string(width_);
}

std::string VectorAccess::call(const char* what, int lane, bool isVector, const std::string& value) const {
  if (isRegister_) {
    const std::string element = text_.storage(storage_) + "[" + text_.ref(index_, lane) + "]";
    return value.empty() ? element : element + " = " + value;
  }
  std::string function =
      std::string(isShared_ ? "svod_shared_" : "svod_") + what + "_" + std::string(toText(storage_.dtype()));
  if (isVector) function += "x" + std::to_string(width_);
  return function + "(" + text_.pointer(storage_, index_, lane) + (value.empty() ? "" : ", " + value) + ")";
}

std::vector<int64_t> argumentAlignment(const LinearKernel& kernel, const std::set<uint32_t>& needed, size_t arguments) {
  std::vector<int64_t> alignment(arguments, 1);
  const auto need = [&](UOp address, const auto& bytes) {
    const UOp a = behindAliases(address);
    if (a.op() != Op::Index || storageOf(a).op() != Op::Param) return;
    int64_t& known = alignment.at(storageOf(a).argAs<SlotArg>().slot);
    known = std::max<int64_t>(known, bytes(a));
  };
  const auto needVector = [&](UOp address, int lanes) {
    need(address, [&](UOp a) { return lanesAtOnce(a, lanes) * byteSize(storageOf(a).dtype()); });
  };
  for (UOp n : kernel.ops) {
    if (!needed.contains(n.id())) continue;
    if (n.op() == Op::Load) needVector(n.src(0), n.lanes());
    if (n.op() == Op::Store) needVector(n.src(0), std::max(n.src(0).lanes(), n.src(1).lanes()));
    if (n.op() == Op::Gpu)
      for (UOp operand : operandsOf(n))
        need(operand, [&](UOp) { return gpuOpOf(n).does(Bulk) ? kTensorAlignment : bytesCopied(gpuOpOf(n)); });
  }
  return alignment;
}

}  // namespace svod
