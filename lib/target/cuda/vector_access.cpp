#include "target/cuda/vector_access.h"

#include "ir/gpu_op.h"

namespace svod {

VectorAccess::VectorAccess(UOp address, int lanes, const LaneText& text) : text_(text) {
  const UOp a = behindAliases(address);
  index_ = a.src(1), storage_ = storageOf(a), bytes_ = byteSize(storage_.dtype());
  if (storage_.op() == Op::Buffer) {
    isShared_ = storage_.argAs<SlotArg>().space == Space::Local;
    isRegister_ = !isShared_;
  } else {
    slot_ = static_cast<int>(storage_.argAs<SlotArg>().slot);
  }
  if (!isRegister_) width_ = lanesAtOnce(a, lanes);
}

std::string VectorAccess::type() const {
  return "svod_" + std::string(toText(storage_.dtype())) + "x" + std::to_string(width_);
}

std::string VectorAccess::call(const char* what, int lane, bool isVector, const std::string& value) const {
  const std::string base = text_.storage(storage_), at = text_.ref(index_, lane);
  if (isRegister_) return value.empty() ? base + "[" + at + "]" : base + "[" + at + "] = " + value;
  std::string function =
      std::string(isShared_ ? "svod_shared_" : "svod_") + what + "_" + std::string(toText(storage_.dtype()));
  if (isVector) function += "x" + std::to_string(width_);
  const std::string pointer = at == "0" ? base : base + " + " + at;
  return function + "(" + pointer + (value.empty() ? "" : ", " + value) + ")";
}

}  // namespace svod
