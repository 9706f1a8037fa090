// Types and numbers of webgpu.h as wgpu-native 29 has them: no header of it is needed. The names are ours, with that of
// webgpu.h where they differ.
#pragma once
#include <cstddef>
#include <cstdint>

namespace svod::webgpu {

using Flags = uint64_t;
using Bool = uint32_t;
using Number = uint32_t;  // of an enumeration

struct InstanceObject;
struct AdapterObject;
struct DeviceObject;
struct QueueObject;
struct BufferObject;
struct ModuleObject;
struct GroupLayoutObject;
struct LayoutObject;
struct PipelineObject;
struct GroupObject;
struct EncoderObject;
struct PassObject;
struct CommandsObject;
using InstanceHandle = InstanceObject*;
using AdapterHandle = AdapterObject*;
using DeviceHandle = DeviceObject*;
using QueueHandle = QueueObject*;
using BufferHandle = BufferObject*;
using ModuleHandle = ModuleObject*;            // WGPUShaderModule
using GroupLayoutHandle = GroupLayoutObject*;  // WGPUBindGroupLayout
using LayoutHandle = LayoutObject*;            // WGPUPipelineLayout
using PipelineHandle = PipelineObject*;        // WGPUComputePipeline
using GroupHandle = GroupObject*;              // WGPUBindGroup
using EncoderHandle = EncoderObject*;          // WGPUCommandEncoder
using PassHandle = PassObject*;                // WGPUComputePassEncoder
using CommandsHandle = CommandsObject*;        // WGPUCommandBuffer

inline constexpr size_t kToNull = SIZE_MAX;  // as a length: up to the null byte
inline constexpr Number kWgsl = 2;           // WGPUSType_ShaderSourceWGSL
inline constexpr Number kInstanceExtras = 0x00030004;
inline constexpr Flags kPrimaryBackends = 1 | 4 | 8;  // Vulkan, Metal, DX12
inline constexpr Number kVulkan = 6, kMetal = 5, kDirect3D12 = 4;
inline constexpr Number kDiscrete = 1, kIntegrated = 2, kProcessor = 3;  // WGPUAdapterType
inline constexpr Number kSuccess = 1;                                    // of requests and maps
inline constexpr Number kOutOfMemory = 3;                                // WGPUErrorType
inline constexpr Number kSpontaneous = 3;                                // WGPUCallbackMode_AllowSpontaneous
inline constexpr Number kDestroyed = 2;                                  // WGPUDeviceLostReason
inline constexpr Number kUniform = 2, kStorage = 3;                      // WGPUBufferBindingType
inline constexpr Flags kMapRead = 1, kCopySource = 4, kCopyTarget = 8, kUniformUse = 64, kStorageUse = 128;
inline constexpr Flags kReading = 1;  // WGPUMapMode_Read
inline constexpr Flags kCompute = 4;  // WGPUShaderStage_Compute

struct Text {  // WGPUStringView
  const char* data = nullptr;
  size_t length = kToNull;
};
struct Chained {
  Chained* next = nullptr;
  Number kind = 0;
};
struct Future {
  uint64_t id;
};

struct InstanceExtras {
  Chained chain{nullptr, kInstanceExtras};
  Flags backends = kPrimaryBackends, flags = 0;
  uint64_t others[16] = {};  // of other backends, and budgets of memory: none
};
struct InstanceDescriptor {
  Chained* next = nullptr;
  size_t featureCount = 0;
  const Number* features = nullptr;
  const void* limits = nullptr;
};
struct AdapterOptions {  // WGPUInstanceEnumerateAdapterOptions
  const Chained* next = nullptr;
  Flags backends = kPrimaryBackends;
};
struct AdapterDescription {  // WGPUAdapterInfo
  Chained* next = nullptr;
  Text vendor, architecture, device, description;
  Number backend = 0, type = 0;
  uint32_t vendorId = 0, deviceId = 0, subgroupMin = 0, subgroupMax = 0;
};
struct Limits {  // WGPULimits
  Chained* next = nullptr;
  uint32_t textures[4] = {};
  uint32_t bindGroups = 0, bindGroupsAndVertexBuffers = 0, bindingsOfGroup = 0;
  uint32_t dynamicUniforms = 0, dynamicStorages = 0, sampledTextures = 0, samplers = 0;
  uint32_t storageBuffers = 0, storageTextures = 0, uniformBuffers = 0;
  uint64_t uniformBytes = 0, storageBytes = 0;  // of a binding
  uint32_t uniformAlignment = 0, storageAlignment = 0;
  uint32_t vertexBuffers = 0;
  uint64_t bufferBytes = 0;
  uint32_t vertexAttributes = 0, vertexStride = 0, interStage = 0, colors = 0, colorBytes = 0;
  uint32_t sharedBytes = 0, threads = 0, threadsX = 0, threadsY = 0, threadsZ = 0, groups = 0, immediates = 0;
};

using DeviceCallback = void (*)(Number status, DeviceHandle device, Text message, void* first, void* second);
using LostCallback = void (*)(const DeviceHandle* device, Number reason, Text message, void* first, void* second);
using ErrorCallback = void (*)(const DeviceHandle* device, Number type, Text message, void* first, void* second);
using MapCallback = void (*)(Number status, Text message, void* first, void* second);
struct DeviceRequest {  // WGPURequestDeviceCallbackInfo
  Chained* next = nullptr;
  Number mode = kSpontaneous;
  DeviceCallback callback = nullptr;
  void *first = nullptr, *second = nullptr;
};
struct LostInfo {
  Chained* next = nullptr;
  Number mode = kSpontaneous;
  LostCallback callback = nullptr;
  void *first = nullptr, *second = nullptr;
};
struct ErrorInfo {
  Chained* next = nullptr;
  ErrorCallback callback = nullptr;
  void *first = nullptr, *second = nullptr;
};
struct MapInfo {
  Chained* next = nullptr;
  Number mode = kSpontaneous;
  MapCallback callback = nullptr;
  void *first = nullptr, *second = nullptr;
};
struct Labelled {  // what is nothing but a label: descriptors of queues, encoders and commands
  Chained* next = nullptr;
  Text label;
};
struct DeviceDescriptor {
  Chained* next = nullptr;
  Text label;
  size_t featureCount = 0;
  const Number* features = nullptr;
  const Limits* limits = nullptr;
  Labelled queue;
  LostInfo lost;
  ErrorInfo error;
};

struct BufferDescriptor {
  Chained* next = nullptr;
  Text label;
  Flags usage = 0;
  uint64_t bytes = 0;
  Bool isMapped = 0;
};
struct ModuleDescriptor {
  Chained* next = nullptr;
  Text label;
};
struct WgslSource {
  Chained chain{nullptr, kWgsl};
  Text code;
};
struct BufferLayout {
  Chained* next = nullptr;
  Number type = 0;
  Bool isDynamic = 0;
  uint64_t leastBytes = 0;
};
struct SamplerLayout {
  Chained* next = nullptr;
  Number type = 0;
};
struct TextureLayout {
  Chained* next = nullptr;
  Number sample = 0, dimension = 0;
  Bool isMultisampled = 0;
};
struct StorageTextureLayout {
  Chained* next = nullptr;
  Number access = 0, format = 0, dimension = 0;
};
struct LayoutEntry {  // WGPUBindGroupLayoutEntry
  Chained* next = nullptr;
  uint32_t binding = 0;
  Flags stages = kCompute;
  uint32_t arrayLength = 0;
  BufferLayout buffer;
  SamplerLayout sampler;
  TextureLayout texture;
  StorageTextureLayout storageTexture;
};
struct GroupLayoutDescriptor {
  Chained* next = nullptr;
  Text label;
  size_t count = 0;
  const LayoutEntry* entries = nullptr;
};
struct LayoutDescriptor {
  Chained* next = nullptr;
  Text label;
  size_t count = 0;
  const GroupLayoutHandle* groups = nullptr;
  uint32_t immediates = 0;
};
struct ComputeStage {  // WGPUComputeState
  Chained* next = nullptr;
  ModuleHandle module = nullptr;
  Text entry;
  size_t constantCount = 0;
  const void* constants = nullptr;
};
struct PipelineDescriptor {
  Chained* next = nullptr;
  Text label;
  LayoutHandle layout = nullptr;
  ComputeStage stage;
};
struct GroupEntry {
  Chained* next = nullptr;
  uint32_t binding = 0;
  BufferHandle buffer = nullptr;
  uint64_t offset = 0, bytes = 0;
  void *sampler = nullptr, *texture = nullptr;
};
struct GroupDescriptor {
  Chained* next = nullptr;
  Text label;
  GroupLayoutHandle layout = nullptr;
  size_t count = 0;
  const GroupEntry* entries = nullptr;
};
struct PassDescriptor {
  Chained* next = nullptr;
  Text label;
  const void* timestamps = nullptr;
};

}  // namespace svod::webgpu
