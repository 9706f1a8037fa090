// The ICD loader of this machine, opened by name: the functions of OpenCL, and what its errors mean.
#pragma once
#include <string>
#include <string_view>

#include "runtime-opencl/cl_types.h"
#include "support/result.h"

namespace svod::opencl {

class Loader {
 public:
  /// `library` in place of libOpenCL.so.1, "" for that. Errors: NoDevice when there is no loader, or an old one.
  static Result<Loader> open(const std::string& library);

#define CALL(name, result, parameters) result(*name) parameters = nullptr;
#include "runtime-opencl/loader_calls.def"
#undef CALL
};

/// "CL_OUT_OF_RESOURCES (-5)"
std::string nameOf(Code code);
/// The error of a call that failed: `what` could not be done. Memory that ran out is DeviceBusy.
tl::unexpected<Error> failed(Code code, std::string_view what);

}  // namespace svod::opencl

/// `SVOD_CL("load the kernels", cl.clBuildProgram(..));` returns the error of a call.
#define SVOD_CL(what, call)                                                                 \
  do {                                                                                      \
    if (const ::svod::opencl::Code svodCode = (call); svodCode != ::svod::opencl::kSuccess) \
      return ::svod::opencl::failed(svodCode, what);                                        \
  } while (0)
