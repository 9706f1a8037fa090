// The CUDA driver of this machine, opened by name: its functions, and what its errors mean.
#pragma once
#include <string>
#include <string_view>

#include "runtime-cuda/driver_types.h"
#include "support/result.h"

namespace svod::cuda {

class Driver {
 public:
  /// `library` in place of libcuda.so.1, "" for that. Errors: NoDevice when there is no driver, or none that works.
  static Result<Driver> open(const std::string& library);

#define CALL(name, suffix, version, isNeeded, parameters) Code(*name) parameters = nullptr;
#include "runtime-cuda/driver_calls.def"
#undef CALL

  /// As cuDriverGetVersion counts: 12020 is CUDA 12.2.
  int version() const { return version_; }
  /// Whether work can be given as graphs, whose nodes are changed in place.
  bool hasGraphs() const;

  /// "CUDA_ERROR_ILLEGAL_ADDRESS (700), an illegal memory access was encountered"
  std::string nameOf(Code code) const;
  /// The error of a call that failed: `what` could not be done. Busy devices and memory that ran out are DeviceBusy.
  tl::unexpected<Error> failed(Code code, std::string_view what) const;

 private:
  Status start();

  int version_ = 0;
};

/// "12.2" of 12020.
std::string versionText(int version);
/// "525 (CUDA 12.0)": the first branch of drivers that has this version of CUDA, as far as is known.
std::string driverBranchText(int version);
/// Whether the context is gone for good after this error, with all that is in it: no call works any more.
bool endsContext(Code code);

}  // namespace svod::cuda

/// `SVOD_CUDA(driver, "load the kernels", cuModuleUnload(module));` returns the error of a call.
#define SVOD_CUDA(driver, what, call)                                                          \
  do {                                                                                         \
    if (const ::svod::cuda::Code svodCode = (driver).call; svodCode != ::svod::cuda::kSuccess) \
      return (driver).failed(svodCode, what);                                                  \
  } while (0)
