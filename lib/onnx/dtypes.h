// The element types of ONNX and what they are here: the table dtypes.def.
#pragma once
#include <span>
#include <string_view>

#include "ir/dtype.h"
#include "support/result.h"

namespace svod {

struct OnnxDType {
  int number;  // in the file
  std::string_view name;
  DType dtype;  // Void: not supported
  int bits;     // of one element in raw data; below 8 they are packed, the first element in the low bits
  std::string_view instead;
};

std::span<const OnnxDType> allOnnxDTypes();
/// Null for a number the table does not have.
const OnnxDType* findOnnxDType(int number);
/// The dtype, or Unsupported (UnknownDType for numbers that are no type), naming `what` has it.
Result<DType> dtypeOfOnnx(int number, const std::string& what);

}  // namespace svod
