// The few types of the CUDA driver API that we use, laid out as the driver has them on 64-bit systems. Nothing of a
// toolkit is needed to build the runtime; tests/cuda/driver_types_test.cpp compares with its header where there is one.
#pragma once
#include <cstddef>
#include <cstdint>

namespace svod::cuda {

using Code = int;  // CUresult; 0 is success
using DeviceNumber = int;
using Address = unsigned long long;  // of memory of a device
inline Address addressOf(const void* memory) { return reinterpret_cast<Address>(memory); }
using Context = struct ContextObject*;
using Module = struct ModuleObject*;
using Function = struct FunctionObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using Graph = struct GraphObject*;
using GraphNode = struct GraphNodeObject*;
using GraphExec = struct GraphExecObject*;

enum CodeNumber : Code {
  kTooManyGroups = -2,  // ours: no call was made
  kNotAligned = -1,
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kStubLibrary = 34,
  kDeviceUnavailable = 46,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kNoBinary = 209,
  kEccUncorrectable = 214,
  kNvlinkUncorrectable = 220,
  kNoJitCompiler = 221,
  kUnsupportedPtx = 222,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kPeerAccessAlreadyEnabled = 704,
  kContextDestroyed = 709,
  kAssert = 710,
  kHardwareStackError = 714,
  kLaunchFailed = 719,
  kTensorMemoryLeak = 721,
  kSystemDriverMismatch = 803,
  kCompatNotSupported = 804,
  kUpdateFailure = 910,
};

enum DeviceAttribute : int {
  kMostSharedBytes = 8,
  kMultiprocessors = 16,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kMostSharedBytesOptIn = 97,
};
enum FunctionAttribute : int { kMostThreads = 0, kStaticSharedBytes = 1, kRegisters = 4, kDynamicSharedBytes = 8 };
enum PointerAttribute : int { kMemoryType = 2, kDeviceOrdinal = 9, kRangeStart = 11, kRangeSize = 12 };
enum MemoryType : unsigned { kHost = 1, kDevice = 2, kUnified = 4 };
enum JitOption : int { kInfoLog = 3, kInfoLogBytes = 4, kErrorLog = 5, kErrorLogBytes = 6 };
enum CallFlags : unsigned { kNonBlockingStream = 1, kEventWithoutTime = 2 };

struct Uuid {
  char bytes[16];
};

enum DriverAttributeId : int { kClusterDimension = 4 };
union alignas(8) DriverAttributeValue {
  char pad[64];
  struct {
    unsigned x, y, z;
  } cluster;
};
struct DriverAttribute {
  DriverAttributeId id;
  char pad[8 - sizeof(DriverAttributeId)];
  DriverAttributeValue value;
};
struct LaunchConfig {
  unsigned groups[3], threads[3], sharedBytes;
  Stream stream;
  DriverAttribute* attributes;
  unsigned attributeCount;
};

struct KernelNode {
  Function function;
  unsigned groups[3], threads[3], sharedBytes;
  void** parameters;
  void** extra;
  void* kernel;
  Context context;
};

/// One side of a copy node.
struct CopySide {
  size_t x, y, z, level;
  MemoryType type;
  void* host;
  Address device;
  void* array;
  void* reserved;
  size_t pitch, height;
};
struct CopyNode {
  CopySide from, to;
  size_t width, height, depth;  // bytes, and 1
};

enum TensorSwizzle : int { kNoSwizzle, kSwizzle32, kSwizzle64, kSwizzle128 };
enum TensorPromotion : int { kNoPromotion, kPromotion64, kPromotion128, kPromotion256 };
struct alignas(128) TensorMapObject {
  uint64_t words[16];
};

}  // namespace svod::cuda
