#include "emulated/emulated_device.h"

#include <cstring>

#include "interp/interp.h"
#include "plan/image_archive.h"
#include "target/emulated/thread_text.h"

namespace svod {

namespace {

constexpr uint64_t kThreads = 64, kSharedBytes = 32 << 10;  // of a workgroup
constexpr uint32_t kDriver = 1;

bool runs(const DeviceImage& image, const Grid& grid) {
  return image.file.image.arch == "small" && image.file.image.driver <= kDriver &&
         grid.threads[0] * grid.threads[1] * grid.threads[2] <= kThreads &&
         grid.sharedBytes + image.needs.sharedBytes <= kSharedBytes;
}

}  // namespace

Result<const void*> EmulatedDevice::load(const KernelDesc& kernel, std::span<const DeviceImage> images) {
  const Grid& grid = *kernel.grid;
  if (!grid.attributes.empty() || !grid.tensorMaps.empty())
    return svod::fail(Diag::Unsupported, "an emulated device knows no attributes of launches and no tensor maps");
  for (const DeviceImage& image : images) {
    if (!runs(image, grid)) continue;
    auto loaded = std::make_unique<Loaded>();
    loaded->desc = kernel;
    const auto code = codeIn(image.bytes, kernel.symbol);
    if (!code) return svod::fail(Diag::BadPlan, "no text of kernel '" + kernel.symbol + "'", "compile the graph again");
    const std::string_view text(reinterpret_cast<const char*>(code->data()), code->size());
    SVOD_TRY(loaded->kernel, readThread(loaded->graph, text, kernel.symbol));
    return loaded_.emplace_back(std::move(loaded)).get();
  }
  return SeparateDevice::load(kernel, images);
}

std::string EmulatedDevice::run(const DeviceLaunch& launch, std::span<void* const> buffers) {
  const auto& loaded = *static_cast<const Loaded*>(launch.loaded);
  std::vector<HostTensor> tensors;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const KernelArg& arg = loaded.desc.args[i];
    const auto count = static_cast<int64_t>(arg.bytes / byteSize(arg.dtype));
    tensors.push_back(HostTensor::zeros(*dtypeFromText(nameOf(arg.dtype)), {count}));
    if (arg.bytes > 0) std::memcpy(tensors.back().data.data(), buffers[i], arg.bytes);
  }
  VariableValues values;
  for (size_t i = 0; i < loaded.desc.values.size(); ++i) values[loaded.desc.values[i]] = launch.values[i];
  LaunchExtents extents;
  extents.groups = launch.groups;
  for (size_t axis = 0; axis < 3; ++axis) extents.threads[axis] = static_cast<int64_t>(loaded.desc.grid->threads[axis]);
  if (Status status = interpretLinear(loaded.kernel, tensors, values, extents); !status) return status.error()->message;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (const KernelArg& arg = loaded.desc.args[i]; writes(arg.mode) && arg.bytes > 0)
      std::memcpy(buffers[i], tensors[i].data.data(), arg.bytes);
  return "";
}

}  // namespace svod
