#include "cuda_grid/grid_device.h"

#include "plan/image_archive.h"

namespace svod {

GridLaunch gridLaunch(const KernelDesc& kernel, const HostKernel& code, const std::array<int64_t, 3>& groups,
                      std::span<void* const> buffers, const int64_t* values) {
  GridLaunch launch;
  launch.function = code.function();
  launch.groups = groups, launch.threads = kernel.grid->threads, launch.sharedBytes = kernel.grid->sharedBytes;
  launch.values.assign(values, values + kernel.values.size());
  for (size_t i = 0; i < kernel.args.size(); ++i) {
    const KernelArg& arg = kernel.args[i];
    launch.buffers.push_back({buffers[i], arg.bytes, writes(arg.mode)});
  }
  return launch;
}

Result<const void*> GridDevice::load(const KernelDesc& kernel, std::span<const DeviceImage> images) {
  for (const DeviceImage& image : images) {
    if (image.file.image.arch != "source") continue;
    const auto bytes = codeIn(image.bytes, kernel.symbol);
    if (!bytes) break;
    const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    SVOD_TRY(HostKernel code, HostKernel::load(text, kernel.symbol, linker_));
    return loaded_.emplace_back(std::make_unique<Loaded>(Loaded{kernel, std::move(code)})).get();
  }
  return SeparateDevice::load(kernel, images);
}

std::string GridDevice::run(const DeviceLaunch& launch, std::span<void* const> buffers) {
  const auto& loaded = *static_cast<const Loaded*>(launch.loaded);
  loaded.code.use(grid_.calls());
  return grid_.run(gridLaunch(loaded.desc, loaded.code, launch.groups, buffers, launch.values));
}

}  // namespace svod
