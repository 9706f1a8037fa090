#include "runtime-cuda/kernel.h"

#include <charconv>

#include "support/says.h"

namespace svod::cuda {

namespace {

/// "cluster.x" and so on, and "align.2" for the third argument.
bool readAttribute(const LaunchAttribute& attribute, size_t arguments, DeviceKernel& kernel) {
  constexpr std::string_view kAxes[] = {"cluster.x", "cluster.y", "cluster.z"}, kAlign = "align.";
  constexpr int64_t kMostCluster = 16, kMostAlignment = 256;
  const std::string& name = attribute.name;
  for (size_t axis = 0; axis < 3; axis++)
    if (name == kAxes[axis]) {
      kernel.cluster[axis] = static_cast<unsigned>(attribute.value);
      return attribute.value >= 1 && attribute.value <= kMostCluster;
    }
  uint32_t argument = 0;
  const char* const end = name.data() + name.size();
  if (!name.starts_with(kAlign)) return false;
  const auto [stop, error] = std::from_chars(name.data() + kAlign.size(), end, argument);
  if (error != std::errc() || stop != end || argument >= arguments) return false;
  kernel.alignments.emplace_back(argument, attribute.value);
  return attribute.value >= 1 && attribute.value <= kMostAlignment;
}

Status readAttributes(const Driver& driver, const DeviceInfo& info, const KernelDesc& desc, DeviceKernel& kernel) {
  for (const LaunchAttribute& attribute : desc.grid->attributes)
    if (!readAttribute(attribute, desc.args.size(), kernel))
      return fail(Diag::Unsupported,
                  says({"kernel '", desc.name, "' is launched with '", attribute.name, "' ", attribute.value,
                        ", which devices of kind cuda do not know"}),
                  "compile the graph again with the svodc that belongs to this runtime");
  if (kernel.hasCluster() && (driver.cuLaunchKernelEx == nullptr || info.capability.major < 9))
    return fail(Diag::CpuFeatures,
                says({"kernel '", desc.name, "' is launched in clusters of workgroups, which ", nameText(info),
                      " with this driver does not have"}),
                says({"compile the graph with --cuda-arch ", cudaArchFor(info.capability)}));
  return {};
}

Status checkTensorMaps(const Driver& driver, const DeviceInfo& info, const KernelDesc& desc) {
  if (desc.grid->tensorMaps.empty() || (driver.cuTensorMapEncodeTiled != nullptr && info.capability.major >= 9))
    return {};
  return fail(Diag::CpuFeatures,
              says({"kernel '", desc.name, "' copies tensors in boxes, which ", nameText(info),
                    " with this driver does not do"}),
              says({"compile the graph with --cuda-arch ", cudaArchFor(info.capability)}));
}

Status checkSharedBytes(const Driver& driver, const DeviceInfo& info, const KernelDesc& desc, DeviceKernel& kernel) {
  int fixed = 0;
  SVOD_CUDA(driver, says({"load kernel '", desc.name, "'"}),
            cuFuncGetAttribute(&fixed, kStaticSharedBytes, kernel.function));
  const uint64_t all = desc.grid->sharedBytes + static_cast<uint64_t>(fixed);
  if (all > info.sharedBytes)
    return fail(Diag::CpuFeatures,
                says({"kernel '", desc.name, "' needs ", all, " bytes of shared memory for a workgroup, ",
                      nameText(info), " has ", info.sharedBytes}),
                says({"compile the graph with --cuda-arch ", cudaArchFor(info.capability)}));
  kernel.sharedBytes = static_cast<unsigned>(desc.grid->sharedBytes);
  if (all <= info.sharedBytesUnasked) return {};
  SVOD_CUDA(driver, says({"give kernel '", desc.name, "' ", all, " bytes of shared memory"}),
            cuFuncSetAttribute(kernel.function, kDynamicSharedBytes, static_cast<int>(kernel.sharedBytes)));
  return {};
}

Status checkFits(const Driver& driver, const DeviceInfo& info, const KernelDesc& desc, const DeviceKernel& kernel) {
  const std::string what = says({"load kernel '", desc.name, "'"});
  const uint64_t threads = desc.grid->threads[0] * desc.grid->threads[1] * desc.grid->threads[2];
  int most = 0, registers = 0, blocks = 0;
  SVOD_CUDA(driver, what, cuFuncGetAttribute(&most, kMostThreads, kernel.function));
  SVOD_CUDA(driver, what, cuFuncGetAttribute(&registers, kRegisters, kernel.function));
  if (threads <= static_cast<uint64_t>(most))
    SVOD_CUDA(driver, what,
              cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, static_cast<int>(threads),
                                                          kernel.sharedBytes));
  int clusters = 1;
  if (blocks > 0 && kernel.hasCluster() && driver.cuOccupancyMaxActiveClusters != nullptr) {
    const auto [x, y, z] = kernel.cluster;
    DriverAttribute cluster{kClusterDimension, {}, {}};
    cluster.value.cluster = {x, y, z};
    const auto [tx, ty, tz] = kernel.threads;
    const LaunchConfig config{{x, y, z}, {tx, ty, tz}, kernel.sharedBytes, nullptr, &cluster, 1};
    SVOD_CUDA(driver, what, cuOccupancyMaxActiveClusters(&clusters, kernel.function, &config));
  }
  if (blocks > 0 && clusters > 0) return {};
  return fail(
      Diag::CpuFeatures,
      says({"no workgroup of kernel '", desc.name, "' fits on ", nameText(info), ": it has ", threads, " threads with ",
            registers, " registers each, and ", kernel.sharedBytes, " bytes of shared memory"}),
      says({"compile the graph with --cuda-arch ", cudaArchFor(info.capability)}));
}

int dataType(ElementType dtype) {
  switch (dtype) {
    case ElementType::F16: return 6;
    case ElementType::F32: return 7;
    case ElementType::F64: return 8;
    case ElementType::BF16: return 9;
    default: break;
  }
  const size_t bytes = byteSize(dtype);
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 4;
}

TensorSwizzle swizzle(uint64_t bytes) {
  return bytes == 32 ? kSwizzle32 : bytes == 64 ? kSwizzle64 : bytes == 128 ? kSwizzle128 : kNoSwizzle;
}

Code encode(const Driver& driver, const DeviceTensorMap& map, void* base, TensorMapObject& to) {
  const TensorMap& desc = *map.desc;
  unsigned box[5] = {}, step[5] = {};
  for (size_t axis = 0; axis < desc.dims.size(); axis++) {
    box[axis] = static_cast<unsigned>(desc.box[axis]);
    step[axis] = static_cast<unsigned>(desc.step[axis]);
  }
  return driver.cuTensorMapEncodeTiled(&to, dataType(desc.dtype), static_cast<unsigned>(desc.dims.size()),
                                       static_cast<std::byte*>(base) + desc.offset, map.dims.data(), map.strides.data(),
                                       box, step, 0, swizzle(desc.swizzleBytes), kPromotion128, 0);
}

}  // namespace

Result<DeviceKernel> findKernel(const Driver& driver, const DeviceInfo& info, Module module, const KernelDesc& desc) {
  DeviceKernel kernel;
  kernel.name = desc.name;
  if (const Code code = driver.cuModuleGetFunction(&kernel.function, module, desc.symbol.c_str()); code != kSuccess)
    return fail(Diag::BadPlan, says({"the image has no kernel '", desc.symbol, "': ", driver.nameOf(code)}),
                "compile the graph again");
  for (size_t axis = 0; axis < 3; axis++) kernel.threads[axis] = static_cast<unsigned>(desc.grid->threads[axis]);
  for (const KernelArg& arg : desc.args) kernel.arguments.push_back({arg.bytes, writes(arg.mode)});
  SVOD_CHECK(readAttributes(driver, info, desc, kernel));
  SVOD_CHECK(checkTensorMaps(driver, info, desc));
  SVOD_CHECK(checkSharedBytes(driver, info, desc, kernel));
  SVOD_CHECK(checkFits(driver, info, desc, kernel));
  return kernel;
}

Code Parameters::fill(const Driver& driver, const DeviceLaunch& launch) {
  addresses_.clear();
  for (uint32_t i = 0; i < launch.bufferCount; i++) addresses_.push_back(const_cast<void**>(&launch.buffers[i]));
  maps_.resize(launch.tensorMaps.size());
  for (size_t i = 0; i < maps_.size(); i++) {
    const uint32_t arg = launch.tensorMaps[i].desc->arg;
    if (const Code code = encode(driver, launch.tensorMaps[i], launch.buffers[arg], maps_[i]); code != kSuccess)
      return code;
    addresses_[arg] = &maps_[i];
  }
  for (uint32_t i = 0; i < launch.valueCount; i++) addresses_.push_back(const_cast<int64_t*>(&launch.values[i]));
  return kSuccess;
}

Code checkLaunch(const DeviceKernel& kernel, const DeviceLaunch& launch) {
  constexpr int64_t kMostX = INT32_MAX, kMostOthers = 65535;
  if (launch.groups[0] > kMostX || launch.groups[1] > kMostOthers || launch.groups[2] > kMostOthers)
    return kTooManyGroups;
  for (const auto& [argument, alignment] : kernel.alignments)
    if (reinterpret_cast<uintptr_t>(launch.buffers[argument]) % alignment != 0) return kNotAligned;
  return kSuccess;
}

}  // namespace svod::cuda
