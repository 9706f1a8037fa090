#include "runtime-opencl/kernel.h"

#include <charconv>

#include "support/says.h"

namespace svod::opencl {

namespace {

constexpr std::string_view kAlign = "align.";
constexpr const char* kSmaller = "compile the graph for smaller workgroups: svodc compile --cpu small";

uint64_t threadsOf(const Grid& grid) { return grid.threads[0] * grid.threads[1] * grid.threads[2]; }

tl::unexpected<Error> lacks(const OpenClInfo& info, const KernelDesc& desc, std::string_view what, const char* help) {
  return svod::fail(Diag::CpuFeatures, says({"kernel '", desc.name, "' ", what, " (", nameText(info), ")"}), help);
}

Status checkAttribute(const OpenClInfo& info, const KernelDesc& desc, const LaunchAttribute& attribute) {
  if (attribute.name.starts_with(kAlign)) return {};
  if (attribute.name == "fp64") {
    if (info.hasDoubles()) return {};
    return lacks(info, desc, "computes in f64, which the device has not",
                 "run it on another device, or make the graph's values f32");
  }
  if (attribute.name == "subnormals") {
    if (info.hasSubnormals()) return {};
    return lacks(info, desc, "is strict, and the device takes subnormal f32 for zeros",
                 "compile the graph with --numerics contract, or run it on another device");
  }
  if (attribute.name == "rounded-division") {
    if (info.dividesRounded() || attribute.value < 2) return {};
    return lacks(info, desc, "is strict, and the device does not round quotients and roots of f32 correctly",
                 "compile the graph with --numerics contract, or run it on another device");
  }
  return svod::fail(Diag::Unsupported,
                    says({"kernel '", desc.name, "' has the attribute '", attribute.name,
                          "', which this driver of OpenCL devices does not know"}),
                    "install the runtime of the svodc that made the plan");
}

std::string logOf(const Loader& cl, Program program, DeviceId device) {
  constexpr size_t kMost = 1500;  // of what a message shows
  size_t bytes = 0;
  if (cl.clGetProgramBuildInfo(program, device, kBuildLog, 0, nullptr, &bytes) != kSuccess || bytes == 0) return {};
  std::string log(bytes, '\0');
  if (cl.clGetProgramBuildInfo(program, device, kBuildLog, bytes, log.data(), nullptr) != kSuccess) return {};
  log.resize(std::min(log.find('\0'), std::min(log.size(), kMost)));
  return log;
}

}  // namespace

Status checkFits(const OpenClInfo& info, const KernelDesc& desc) {
  const Grid& grid = *desc.grid;
  for (const LaunchAttribute& attribute : grid.attributes) SVOD_CHECK(checkAttribute(info, desc, attribute));
  if (!grid.tensorMaps.empty())
    return svod::fail(Diag::Unsupported, says({"kernel '", desc.name, "' has a tensor map"}),
                      "compile the graph again");
  bool fits = threadsOf(grid) <= info.threads;
  for (size_t axis = 0; axis < 3; axis++)
    fits = fits && (info.threadsAlong[axis] == 0 || grid.threads[axis] <= info.threadsAlong[axis]);
  if (!fits)
    return lacks(
        info, desc,
        says({"has workgroups of ", threadsOf(grid), " threads, more than the ", info.threads, " of the device"}),
        kSmaller);
  if (grid.sharedBytes > info.localBytes)
    return lacks(info, desc,
                 says({"needs ", grid.sharedBytes, " bytes of local memory for a workgroup, of ", info.localBytes}),
                 kSmaller);
  constexpr uint64_t kBytesOfArgument = 16, kBytesOfValue = 8;  // memory and an offset
  const uint64_t bytes = desc.args.size() * kBytesOfArgument + desc.values.size() * kBytesOfValue;
  if (bytes > info.parameterBytes)
    return lacks(info, desc,
                 says({"has arguments of ", bytes, " bytes, more than the ", info.parameterBytes, " of the device"}),
                 "compile the graph with -O0, whose kernels have fewer arguments");
  return {};
}

Result<Program> buildProgram(const Loader& cl, Context context, const OpenClInfo& info, const std::string& path,
                             std::string_view text) {
  const char* begin = text.data();
  const size_t length = text.size();
  Code code = kSuccess;
  const std::string what = says({"build '", path, "' for ", nameText(info)});
  const Program program = cl.clCreateProgramWithSource(context, 1, &begin, &length, &code);
  if (code != kSuccess) return failed(code, what);
  std::string options = "-cl-std=CL1.2";
  if (info.dividesRounded()) options += " -cl-fp32-correctly-rounded-divide-sqrt";
  code = cl.clBuildProgram(program, 1, &info.device, options.c_str(), nullptr, nullptr);
  if (code == kSuccess) return program;
  const std::string log = logOf(cl, program, info.device);
  (void)cl.clReleaseProgram(program);
  if (code != kBuildFailure) return failed(code, what);
  return svod::fail(Diag::BadPlan, says({"cannot ", what, ": ", nameOf(code), log.empty() ? "" : ": ", log}),
                    "the text is in the plan: report it with the log, or compile the graph again");
}

Result<OpenClKernel> findKernel(const Loader& cl, const OpenClInfo& info, Program program, const KernelDesc& desc) {
  OpenClKernel found;
  Code code = kSuccess;
  found.kernel = cl.clCreateKernel(program, desc.symbol.c_str(), &code);
  if (code != kSuccess)
    return svod::fail(Diag::BadPlan, says({"the image has no kernel '", desc.symbol, "': ", nameOf(code)}),
                      "compile the graph again");
  found.alignment.assign(desc.args.size(), 1);
  for (size_t axis = 0; axis < 3; axis++) found.threads[axis] = desc.grid->threads[axis];
  for (const LaunchAttribute& attribute : desc.grid->attributes) {
    found.dividesLoosely |= attribute.name == "rounded-division" && !info.dividesRounded();
    if (!attribute.name.starts_with(kAlign)) continue;
    size_t slot = 0;
    const char *first = attribute.name.data() + kAlign.size(), *last = attribute.name.data() + attribute.name.size();
    const auto [end, error] = std::from_chars(first, last, slot);
    if (error == std::errc() && end == last && slot < found.alignment.size() && attribute.value > 0)
      found.alignment[slot] = static_cast<uint64_t>(attribute.value);
  }
  size_t most = 0;
  code = cl.clGetKernelWorkGroupInfo(found.kernel, info.device, kKernelThreads, sizeof most, &most, nullptr);
  if (code == kSuccess && threadsOf(*desc.grid) > most) {
    (void)cl.clReleaseKernel(found.kernel);
    return lacks(info, desc,
                 says({"has workgroups of ", threadsOf(*desc.grid), " threads, and the device takes ", most, " of it"}),
                 kSmaller);
  }
  return found;
}

}  // namespace svod::opencl
