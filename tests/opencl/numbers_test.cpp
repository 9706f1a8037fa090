// Our numbers and functions of OpenCL are those of Khronos' headers, where there are some.
#include <catch2/catch.hpp>

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <type_traits>

#include "runtime-opencl/loader.h"

using namespace svod::opencl;

#define SAME(ours, theirs) static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))
SAME(kSuccess, CL_SUCCESS);
SAME(kMemoryFailure, CL_MEM_OBJECT_ALLOCATION_FAILURE);
SAME(kOutOfResources, CL_OUT_OF_RESOURCES);
SAME(kOutOfHostMemory, CL_OUT_OF_HOST_MEMORY);
SAME(kBuildFailure, CL_BUILD_PROGRAM_FAILURE);
SAME(kInvalidValue, CL_INVALID_VALUE);
SAME(kInvalidBufferSize, CL_INVALID_BUFFER_SIZE);
SAME(kNoPlatform, CL_PLATFORM_NOT_FOUND_KHR);
SAME(kAllDevices, CL_DEVICE_TYPE_ALL);
SAME(kTypeCpu, CL_DEVICE_TYPE_CPU);
SAME(kTypeGpu, CL_DEVICE_TYPE_GPU);
SAME(kTypeAccelerator, CL_DEVICE_TYPE_ACCELERATOR);
SAME(kPlatformName, CL_PLATFORM_NAME);
SAME(kType, CL_DEVICE_TYPE);
SAME(kComputeUnits, CL_DEVICE_MAX_COMPUTE_UNITS);
SAME(kWorkItemSizes, CL_DEVICE_MAX_WORK_ITEM_SIZES);
SAME(kWorkGroupSize, CL_DEVICE_MAX_WORK_GROUP_SIZE);
SAME(kMaxAllocation, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
SAME(kParameterBytes, CL_DEVICE_MAX_PARAMETER_SIZE);
SAME(kSingleConfig, CL_DEVICE_SINGLE_FP_CONFIG);
SAME(kGlobalBytes, CL_DEVICE_GLOBAL_MEM_SIZE);
SAME(kLocalBytes, CL_DEVICE_LOCAL_MEM_SIZE);
SAME(kIsAvailable, CL_DEVICE_AVAILABLE);
SAME(kHasCompiler, CL_DEVICE_COMPILER_AVAILABLE);
SAME(kName, CL_DEVICE_NAME);
SAME(kDriverVersion, CL_DRIVER_VERSION);
SAME(kProfile, CL_DEVICE_PROFILE);
SAME(kVersion, CL_DEVICE_VERSION);
SAME(kDoubleConfig, CL_DEVICE_DOUBLE_FP_CONFIG);
SAME(kLanguageVersion, CL_DEVICE_OPENCL_C_VERSION);
SAME(kSubnormals, CL_FP_DENORM);
SAME(kRoundedDivision, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);
SAME(kProfiling, CL_QUEUE_PROFILING_ENABLE);
SAME(kReadWrite, CL_MEM_READ_WRITE);
SAME(kBuildLog, CL_PROGRAM_BUILD_LOG);
SAME(kKernelThreads, CL_KERNEL_WORK_GROUP_SIZE);
SAME(kEventStatus, CL_EVENT_COMMAND_EXECUTION_STATUS);
SAME(kEventBegin, CL_PROFILING_COMMAND_START);
SAME(kEventEnd, CL_PROFILING_COMMAND_END);
SAME(kComplete, CL_COMPLETE);

/// Numbers have one size and the same sign; whatever an address points to, it is one.
template <class Ours, class Theirs>
constexpr bool isAlike = std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> && sizeof(Ours) == sizeof(Theirs) &&
                         std::is_signed_v<Ours> == std::is_signed_v<Theirs>;
template <class Ours, class Theirs>
constexpr bool isSameCall = false;
template <class R, class S, class... Ours, class... Theirs>
constexpr bool isSameCall<R (*)(Ours...), S (*)(Theirs...)> = [] {
  if constexpr (sizeof...(Ours) == sizeof...(Theirs)) return isAlike<R, S> && (isAlike<Ours, Theirs> && ...);
  return false;
}();

#define CALL(name, result, parameters) static_assert(isSameCall<decltype(Loader::name), decltype(&::name)>);
#include "runtime-opencl/loader_calls.def"
#undef CALL

TEST_CASE("numbers and functions of OpenCL are those of the headers") { SUCCEED("as the compiler has checked"); }
#else
TEST_CASE("numbers and functions of OpenCL are those of the headers") {
  WARN("skipped: this machine has no CL/cl.h; opencl-headers brings it");
}
#endif
