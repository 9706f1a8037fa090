#include "emulated/emulated_device.h"

#include <cstring>

#include "interp/interp.h"
#include "target/emulated/thread_text.h"

namespace svod {

namespace {

constexpr uint64_t kThreads = 64, kSharedBytes = 32 << 10;  // of a workgroup
constexpr uint32_t kDriver = 1;

bool fits(const Grid& grid, const KernelImage& image) {
  return grid.threads[0] * grid.threads[1] * grid.threads[2] <= kThreads &&
         grid.sharedBytes + image.sharedBytes <= kSharedBytes;
}

}  // namespace

Result<std::string_view> EmulatedDevice::choose(std::span<const FileDesc> files) {
  for (const FileDesc& file : files)
    if (file.image.device == kind() && file.image.arch == "small" && file.image.driver <= kDriver)
      return file.image.arch;
  return SeparateDevice::choose(files);
}

Result<const void*> EmulatedDevice::load(const KernelDesc& kernel, const DeviceImage& image) {
  const Grid& grid = *kernel.grid;
  if (!grid.attributes.empty() || !grid.tensorMaps.empty())
    return svod::fail(Diag::Unsupported, "an emulated device knows no attributes of launches and no tensor maps");
  if (!fits(grid, image.needs)) return SeparateDevice::load(kernel, image);
  auto loaded = std::make_unique<Loaded>();
  loaded->desc = kernel;
  const std::string_view text(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
  SVOD_TRY(loaded->kernel, readThread(loaded->graph, text, kernel.symbol));
  return loaded_.emplace_back(std::move(loaded)).get();
}

std::string EmulatedDevice::run(const DeviceLaunch& launch, std::span<void* const> buffers) {
  const auto& loaded = *static_cast<const Loaded*>(launch.loaded);
  const std::vector<uint64_t> bytes = roomOf(launch, loaded.desc.args);
  std::vector<HostTensor> tensors;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const KernelArg& arg = loaded.desc.args[i];
    const auto count = static_cast<int64_t>(arg.bytes / byteSize(arg.dtype));
    tensors.push_back(HostTensor::zeros(*dtypeFromText(nameOf(arg.dtype)), {count}));
    if (bytes[i] > 0) std::memcpy(tensors.back().data.data(), buffers[i], bytes[i]);
  }
  VariableValues values;
  for (size_t i = 0; i < loaded.desc.values.size(); ++i) values[loaded.desc.values[i]] = launch.values[i];
  LaunchExtents extents;
  extents.groups = launch.groups;
  for (size_t axis = 0; axis < 3; ++axis) extents.threads[axis] = static_cast<int64_t>(loaded.desc.grid->threads[axis]);
  if (Status status = interpretLinear(loaded.kernel, tensors, values, extents); !status) return status.error()->message;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (writes(loaded.desc.args[i].mode) && bytes[i] > 0) std::memcpy(buffers[i], tensors[i].data.data(), bytes[i]);
  return "";
}

}  // namespace svod
