#include "target/grid/kernel_body.h"

namespace svod {

void KernelBody::define(UOp value, int lane, const std::string& text) {
  const DType dtype = value.dtype() == DType::F16 ? DType::U16 : value.dtype();
  line("const " + typeName(dtype) + " " + values_.laneName(value, lane) + " = " + text + ";");
}

}  // namespace svod
