// A kernel of a plan on an OpenCL device: what launches of it have to know.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "runtime-min/device.h"
#include "runtime-opencl/device_info.h"

namespace svod::opencl {

struct OpenClKernel {
  Kernel kernel = nullptr;
  std::array<size_t, 3> threads = {1, 1, 1};
  std::vector<uint64_t> alignment;  // of each argument: its start is a multiple of so many bytes
  bool dividesLoosely = false;      // and could divide rounded elsewhere
};

/// Whether the device can do what the plan says of a kernel, before it is built. Errors: CpuFeatures; Unsupported for
/// an attribute that is not known.
Status checkFits(const OpenClInfo& info, const KernelDesc& desc);
/// The program of an image, built for the device. Errors: BadPlan with the log of the compiler.
Result<Program> buildProgram(const Loader& cl, Context context, const OpenClInfo& info, const std::string& path,
                             std::string_view text);
/// Of such a program. Errors: BadPlan when it has none of that name; CpuFeatures when no workgroup of it fits.
Result<OpenClKernel> findKernel(const Loader& cl, const OpenClInfo& info, Program program, const KernelDesc& desc);

}  // namespace svod::opencl
