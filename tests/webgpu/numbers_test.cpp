// Our numbers, structures and functions of WebGPU are those of the headers of wgpu-native, where there are some.
#include <catch2/catch.hpp>

#if __has_include(<wgpu.h>)
#include <webgpu.h>
#include <wgpu.h>

#include <cstddef>
#include <type_traits>

#include "runtime-webgpu/library.h"

using namespace svod::webgpu;

#define SAME(ours, theirs) static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))
SAME(kToNull, WGPU_STRLEN);
SAME(kWgsl, WGPUSType_ShaderSourceWGSL);
SAME(kInstanceExtras, WGPUSType_InstanceExtras);
SAME(kPrimaryBackends, WGPUInstanceBackend_Vulkan | WGPUInstanceBackend_Metal | WGPUInstanceBackend_DX12);
SAME(kVulkan, WGPUBackendType_Vulkan);
SAME(kMetal, WGPUBackendType_Metal);
SAME(kDirect3D12, WGPUBackendType_D3D12);
SAME(kDiscrete, WGPUAdapterType_DiscreteGPU);
SAME(kIntegrated, WGPUAdapterType_IntegratedGPU);
SAME(kProcessor, WGPUAdapterType_CPU);
SAME(kSuccess, WGPUStatus_Success);
SAME(kSuccess, WGPURequestDeviceStatus_Success);
SAME(kSuccess, WGPUMapAsyncStatus_Success);
SAME(kOutOfMemory, WGPUErrorType_OutOfMemory);
SAME(kSpontaneous, WGPUCallbackMode_AllowSpontaneous);
SAME(kDestroyed, WGPUDeviceLostReason_Destroyed);
SAME(kUniform, WGPUBufferBindingType_Uniform);
SAME(kStorage, WGPUBufferBindingType_Storage);
SAME(kMapRead, WGPUBufferUsage_MapRead);
SAME(kCopySource, WGPUBufferUsage_CopySrc);
SAME(kCopyTarget, WGPUBufferUsage_CopyDst);
SAME(kUniformUse, WGPUBufferUsage_Uniform);
SAME(kStorageUse, WGPUBufferUsage_Storage);
SAME(kReading, WGPUMapMode_Read);
SAME(kCompute, WGPUShaderStage_Compute);

#define SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs) && alignof(ours) == alignof(theirs));
#define PLACE(ours, member, theirs, other) static_assert(offsetof(ours, member) == offsetof(theirs, other));
SIZE(Text, WGPUStringView)
SIZE(Chained, WGPUChainedStruct)
SIZE(InstanceDescriptor, WGPUInstanceDescriptor)
static_assert(sizeof(InstanceExtras) >= sizeof(WGPUInstanceExtras));
PLACE(InstanceExtras, backends, WGPUInstanceExtras, backends)
PLACE(InstanceExtras, flags, WGPUInstanceExtras, flags)
SIZE(AdapterOptions, WGPUInstanceEnumerateAdapterOptions)
SIZE(AdapterDescription, WGPUAdapterInfo)
PLACE(AdapterDescription, description, WGPUAdapterInfo, description)
PLACE(AdapterDescription, type, WGPUAdapterInfo, adapterType)
SIZE(Limits, WGPULimits)
PLACE(Limits, storageBuffers, WGPULimits, maxStorageBuffersPerShaderStage)
PLACE(Limits, uniformBytes, WGPULimits, maxUniformBufferBindingSize)
PLACE(Limits, storageBytes, WGPULimits, maxStorageBufferBindingSize)
PLACE(Limits, bufferBytes, WGPULimits, maxBufferSize)
PLACE(Limits, sharedBytes, WGPULimits, maxComputeWorkgroupStorageSize)
PLACE(Limits, threads, WGPULimits, maxComputeInvocationsPerWorkgroup)
PLACE(Limits, threadsZ, WGPULimits, maxComputeWorkgroupSizeZ)
PLACE(Limits, groups, WGPULimits, maxComputeWorkgroupsPerDimension)
SIZE(DeviceRequest, WGPURequestDeviceCallbackInfo)
SIZE(LostInfo, WGPUDeviceLostCallbackInfo)
SIZE(ErrorInfo, WGPUUncapturedErrorCallbackInfo)
SIZE(MapInfo, WGPUBufferMapCallbackInfo)
SIZE(Labelled, WGPUQueueDescriptor)
SIZE(Labelled, WGPUCommandEncoderDescriptor)
SIZE(Labelled, WGPUCommandBufferDescriptor)
SIZE(DeviceDescriptor, WGPUDeviceDescriptor)
PLACE(DeviceDescriptor, limits, WGPUDeviceDescriptor, requiredLimits)
PLACE(DeviceDescriptor, error, WGPUDeviceDescriptor, uncapturedErrorCallbackInfo)
SIZE(BufferDescriptor, WGPUBufferDescriptor)
SIZE(ModuleDescriptor, WGPUShaderModuleDescriptor)
SIZE(WgslSource, WGPUShaderSourceWGSL)
SIZE(LayoutEntry, WGPUBindGroupLayoutEntry)
PLACE(LayoutEntry, stages, WGPUBindGroupLayoutEntry, visibility)
PLACE(LayoutEntry, buffer, WGPUBindGroupLayoutEntry, buffer)
SIZE(GroupLayoutDescriptor, WGPUBindGroupLayoutDescriptor)
SIZE(LayoutDescriptor, WGPUPipelineLayoutDescriptor)
SIZE(ComputeStage, WGPUComputeState)
SIZE(PipelineDescriptor, WGPUComputePipelineDescriptor)
SIZE(GroupEntry, WGPUBindGroupEntry)
PLACE(GroupEntry, offset, WGPUBindGroupEntry, offset)
SIZE(GroupDescriptor, WGPUBindGroupDescriptor)
SIZE(PassDescriptor, WGPUComputePassDescriptor)

/// Numbers have one size; whatever an address points to, it is one; structures are as above.
template <class Ours, class Theirs>
constexpr bool isAlike() {
  if constexpr (std::is_void_v<Ours> || std::is_void_v<Theirs>)
    return std::is_void_v<Ours> && std::is_void_v<Theirs>;
  else
    return std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> && std::is_class_v<Ours> == std::is_class_v<Theirs> &&
           sizeof(Ours) == sizeof(Theirs);
}
template <class Ours, class Theirs>
constexpr bool isSameCall = false;
template <class R, class S, class... Ours, class... Theirs>
constexpr bool isSameCall<R (*)(Ours...), S (*)(Theirs...)> = [] {
  if constexpr (sizeof...(Ours) == sizeof...(Theirs)) return isAlike<R, S>() && (isAlike<Ours, Theirs>() && ...);
  return false;
}();

#define CALL(name, result, parameters) static_assert(isSameCall<decltype(Library::name), decltype(&::name)>);
#include "runtime-webgpu/wgpu_calls.def"
#undef CALL

TEST_CASE("what is declared of WebGPU is as the headers have it") { SUCCEED("as the compiler has checked"); }
#else
TEST_CASE("what is declared of WebGPU is as the headers have it") {
  WARN("skipped: this machine has no wgpu.h; it comes with wgpu-native");
}
#endif
