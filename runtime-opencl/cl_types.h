// Types and numbers of OpenCL 1.2, as the specification says them: no header of Khronos is needed. The names are ours,
// with that of the specification where they differ.
#pragma once
#include <cstddef>
#include <cstdint>

namespace svod::opencl {

using Code = int32_t;     // what calls return
using Number = uint32_t;  // of what is asked for
using Bits = uint64_t;

struct PlatformObject;
struct DeviceObject;
struct ContextObject;
struct QueueObject;
struct MemoryObject;
struct ProgramObject;
struct KernelObject;
struct EventObject;
using PlatformId = PlatformObject*;
using DeviceId = DeviceObject*;
using Context = ContextObject*;
using Queue = QueueObject*;
using Memory = MemoryObject*;
using Program = ProgramObject*;
using Kernel = KernelObject*;
using Event = EventObject*;

inline constexpr Code kSuccess = 0;
inline constexpr Code kDeviceNotFound = -1;
inline constexpr Code kMemoryFailure = -4;       // CL_MEM_OBJECT_ALLOCATION_FAILURE
inline constexpr Code kOutOfResources = -5;      // CL_OUT_OF_RESOURCES
inline constexpr Code kOutOfHostMemory = -6;     // CL_OUT_OF_HOST_MEMORY
inline constexpr Code kBuildFailure = -11;       // CL_BUILD_PROGRAM_FAILURE
inline constexpr Code kInvalidValue = -30;       // CL_INVALID_VALUE
inline constexpr Code kInvalidBufferSize = -61;  // CL_INVALID_BUFFER_SIZE
inline constexpr Code kNoPlatform = -1001;       // CL_PLATFORM_NOT_FOUND_KHR

inline constexpr Bits kAllDevices = 0xFFFFFFFF;  // CL_DEVICE_TYPE_ALL
inline constexpr Bits kTypeCpu = 2, kTypeGpu = 4, kTypeAccelerator = 8;

// Of platforms and devices.
inline constexpr Number kPlatformName = 0x0902;
inline constexpr Number kType = 0x1000, kComputeUnits = 0x1002, kWorkItemSizes = 0x1005, kWorkGroupSize = 0x1004;
inline constexpr Number kMaxAllocation = 0x1010, kParameterBytes = 0x1017, kBaseAlignment = 0x1019;
inline constexpr Number kSingleConfig = 0x101B, kGlobalBytes = 0x101F, kLocalBytes = 0x1023, kIsAvailable = 0x1027;
inline constexpr Number kHasCompiler = 0x1028, kName = 0x102B, kDriverVersion = 0x102D, kProfile = 0x102E;
inline constexpr Number kVersion = 0x102F, kDoubleConfig = 0x1032, kLanguageVersion = 0x103D;
// Of CL_DEVICE_SINGLE_FP_CONFIG.
inline constexpr Bits kSubnormals = 1, kRoundedDivision = 1 << 7;

inline constexpr Bits kProfiling = 2;  // CL_QUEUE_PROFILING_ENABLE
inline constexpr Bits kReadWrite = 1;  // CL_MEM_READ_WRITE
inline constexpr Number kBuildLog = 0x1183;
inline constexpr Number kKernelThreads = 0x11B0, kKernelLocalBytes = 0x11B2;  // CL_KERNEL_WORK_GROUP_SIZE, _LOCAL_MEM_
inline constexpr Number kEventStatus = 0x11D3, kEventBegin = 0x1282, kEventEnd = 0x1283;
inline constexpr Code kComplete = 0;  // as a status; errors are below it

}  // namespace svod::opencl
