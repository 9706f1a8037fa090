// Our types and functions of the CUDA driver are those of a toolkit's header, where there is one.
#include <catch2/catch.hpp>

#if __has_include(<cudaTypedefs.h>)
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstddef>
#include <type_traits>

#include "runtime-cuda/driver_types.h"

using namespace svod::cuda;

#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs) && alignof(ours) >= alignof(theirs))
SAME_SIZE(Uuid, CUuuid);
SAME_SIZE(DriverAttributeValue, CUlaunchAttributeValue);
SAME_SIZE(DriverAttribute, CUlaunchAttribute);
SAME_SIZE(LaunchConfig, CUlaunchConfig);
SAME_SIZE(KernelNode, CUDA_KERNEL_NODE_PARAMS_v2);
SAME_SIZE(CopyNode, CUDA_MEMCPY3D_v2);
SAME_SIZE(TensorMapObject, CUtensorMap);

#define SAME_PLACE(ours, member, theirs, other) static_assert(offsetof(ours, member) == offsetof(theirs, other))
SAME_PLACE(DriverAttribute, value, CUlaunchAttribute, value);
SAME_PLACE(DriverAttributeValue, cluster, CUlaunchAttributeValue, clusterDim);
SAME_PLACE(LaunchConfig, groups, CUlaunchConfig, gridDimX);
SAME_PLACE(LaunchConfig, threads, CUlaunchConfig, blockDimX);
SAME_PLACE(LaunchConfig, sharedBytes, CUlaunchConfig, sharedMemBytes);
SAME_PLACE(LaunchConfig, stream, CUlaunchConfig, hStream);
SAME_PLACE(LaunchConfig, attributes, CUlaunchConfig, attrs);
SAME_PLACE(LaunchConfig, attributeCount, CUlaunchConfig, numAttrs);
SAME_PLACE(KernelNode, function, CUDA_KERNEL_NODE_PARAMS_v2, func);
SAME_PLACE(KernelNode, groups, CUDA_KERNEL_NODE_PARAMS_v2, gridDimX);
SAME_PLACE(KernelNode, threads, CUDA_KERNEL_NODE_PARAMS_v2, blockDimX);
SAME_PLACE(KernelNode, sharedBytes, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
SAME_PLACE(KernelNode, parameters, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
SAME_PLACE(KernelNode, extra, CUDA_KERNEL_NODE_PARAMS_v2, extra);
SAME_PLACE(KernelNode, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
SAME_PLACE(KernelNode, context, CUDA_KERNEL_NODE_PARAMS_v2, ctx);
SAME_PLACE(CopySide, type, CUDA_MEMCPY3D_v2, srcMemoryType);
SAME_PLACE(CopySide, host, CUDA_MEMCPY3D_v2, srcHost);
SAME_PLACE(CopySide, device, CUDA_MEMCPY3D_v2, srcDevice);
SAME_PLACE(CopyNode, to.type, CUDA_MEMCPY3D_v2, dstMemoryType);
SAME_PLACE(CopyNode, to.host, CUDA_MEMCPY3D_v2, dstHost);
SAME_PLACE(CopyNode, to.device, CUDA_MEMCPY3D_v2, dstDevice);
SAME_PLACE(CopyNode, width, CUDA_MEMCPY3D_v2, WidthInBytes);
SAME_PLACE(CopyNode, height, CUDA_MEMCPY3D_v2, Height);
SAME_PLACE(CopyNode, depth, CUDA_MEMCPY3D_v2, Depth);

#define SAME_NUMBER(ours, theirs) static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))
SAME_NUMBER(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(kStubLibrary, CUDA_ERROR_STUB_LIBRARY);
SAME_NUMBER(kDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
SAME_NUMBER(kNoDevice, CUDA_ERROR_NO_DEVICE);
SAME_NUMBER(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME_NUMBER(kNoBinary, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME_NUMBER(kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
SAME_NUMBER(kNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
SAME_NUMBER(kNoJitCompiler, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
SAME_NUMBER(kUnsupportedPtx, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME_NUMBER(kNotReady, CUDA_ERROR_NOT_READY);
SAME_NUMBER(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME_NUMBER(kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME_NUMBER(kPeerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
SAME_NUMBER(kContextDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME_NUMBER(kAssert, CUDA_ERROR_ASSERT);
SAME_NUMBER(kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME_NUMBER(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME_NUMBER(kSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME_NUMBER(kCompatNotSupported, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
SAME_NUMBER(kUpdateFailure, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
SAME_NUMBER(kMostSharedBytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME_NUMBER(kMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_NUMBER(kCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_NUMBER(kCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_NUMBER(kMostSharedBytesOptIn, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_NUMBER(kMostThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_NUMBER(kStaticSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_NUMBER(kRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_NUMBER(kDynamicSharedBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_NUMBER(kMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME_NUMBER(kDeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME_NUMBER(kRangeStart, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
SAME_NUMBER(kRangeSize, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
SAME_NUMBER(kHost, CU_MEMORYTYPE_HOST);
SAME_NUMBER(kDevice, CU_MEMORYTYPE_DEVICE);
SAME_NUMBER(kInfoLog, CU_JIT_INFO_LOG_BUFFER);
SAME_NUMBER(kErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME_NUMBER(kNonBlockingStream, CU_STREAM_NON_BLOCKING);
SAME_NUMBER(kEventWithoutTime, CU_EVENT_DISABLE_TIMING);
SAME_NUMBER(kClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME_NUMBER(kSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
SAME_NUMBER(kPromotion256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);

namespace {

// Parameters are as many, each of the same size, and the version is that of a prototype of the header.
template <class Ours, class Theirs>
struct Alike : std::false_type {};
template <class... Ours, class... Theirs>
struct Alike<Code(Ours...), CUresult (*)(Theirs...)>
    : std::bool_constant<sizeof...(Ours) == sizeof...(Theirs) && ((sizeof(Ours) == sizeof(Theirs)) && ...) &&
                         ((std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>) && ...)> {};

#define CALL(name, suffix, version, isNeeded, parameters) \
  static_assert(Alike<Code parameters, PFN_##name##_v##version>::value, #name);
#include "runtime-cuda/driver_calls.def"
#undef CALL

}  // namespace

TEST_CASE("types, numbers and functions of the CUDA driver are those of its header") { SUCCEED(CUDA_VERSION); }
#else
TEST_CASE("types, numbers and functions of the CUDA driver are those of its header") {
  WARN("there is no cudaTypedefs.h on this machine: not compared");
}
#endif
