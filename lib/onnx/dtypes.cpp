#include "onnx/dtypes.h"

#include <string>

namespace svod {

namespace {

constexpr OnnxDType kDTypes[] = {
#define ONNX_DTYPE(number, name, dtype, bits, instead) {number, name, DType::dtype, bits, instead},
#include "onnx/dtypes.def"
#undef ONNX_DTYPE
};

}  // namespace

std::span<const OnnxDType> allOnnxDTypes() { return kDTypes; }

const OnnxDType* findOnnxDType(int number) {
  for (const OnnxDType& row : kDTypes)
    if (row.number == number) return &row;
  return nullptr;
}

Result<DType> dtypeOfOnnx(int number, const std::string& what) {
  const OnnxDType* row = findOnnxDType(number);
  if (!row)
    return fail(Diag::UnknownDType,
                what + " has the element type " + std::to_string(number) + ", which ONNX does not define",
                "element types are numbered 1 to " + std::to_string(std::size(kDTypes)));
  if (row->dtype != DType::Void) return row->dtype;
  return fail(Diag::Unsupported, what + " has the element type " + std::string(row->name) + ", which is not supported",
              "use " + std::string(row->instead));
}

}  // namespace svod
