#include "cuda_grid/grid_device.h"

#include <algorithm>

namespace svod {

namespace {

SvodMap gridMap(const DeviceTensorMap& map, void* argument) {
  const TensorMap& desc = *map.desc;
  SvodMap made{};
  made.address = static_cast<std::byte*>(argument) + desc.offset;
  made.dims = static_cast<uint8_t>(desc.dims.size()), made.swizzle = static_cast<uint8_t>(desc.swizzleBytes);
  made.elementBytes = static_cast<uint8_t>(byteSize(desc.dtype));
  for (size_t d = 0; d < desc.dims.size(); ++d) {
    made.extents[d] = static_cast<uint32_t>(map.dims[d]), made.box[d] = static_cast<uint16_t>(desc.box[d]);
    if (d > 0) made.strides[d - 1] = map.strides[d - 1];
  }
  return made;
}

}  // namespace

std::vector<DeviceTensorMap> fixedMaps(const KernelDesc& kernel) {
  std::vector<DeviceTensorMap> maps;
  for (const TensorMap& desc : kernel.grid->tensorMaps) {
    DeviceTensorMap& map = maps.emplace_back(DeviceTensorMap{&desc});
    for (size_t d = 0; d < desc.dims.size(); ++d) map.dims[d] = static_cast<uint64_t>(*desc.dims[d].constant());
    for (size_t d = 0; d < desc.strides.size(); ++d)
      map.strides[d] = static_cast<uint64_t>(*desc.strides[d].constant());
  }
  return maps;
}

GridLaunch gridLaunch(const KernelDesc& kernel, const HostKernel& code, const std::array<int64_t, 3>& groups,
                      std::span<void* const> buffers, std::span<const uint64_t> bytes, const int64_t* values,
                      std::span<const DeviceTensorMap> maps) {
  GridLaunch launch;
  launch.function = code.function();
  launch.groups = groups, launch.threads = kernel.grid->threads, launch.sharedBytes = kernel.grid->sharedBytes;
  launch.values.assign(values, values + kernel.values.size());
  for (size_t i = 0; i < kernel.args.size(); ++i)
    launch.buffers.push_back({buffers[i], bytes[i], writes(kernel.args[i].mode)});
  for (const DeviceTensorMap& map : maps) launch.maps[map.desc->arg] = gridMap(map, buffers[map.desc->arg]);
  return launch;
}

namespace {

std::vector<std::string> writtenOf(const GridLaunch& launch) {
  std::vector<std::string> contents;
  for (const GridBuffer& b : launch.buffers)
    if (b.isWritten) contents.emplace_back(static_cast<const char*>(b.address), b.bytes);
  return contents;
}

void restore(const GridLaunch& launch, const std::vector<std::string>& contents) {
  auto next = contents.begin();
  for (const GridBuffer& b : launch.buffers)
    if (b.isWritten) std::ranges::copy(*next++, static_cast<char*>(b.address));
}

}  // namespace

Result<std::string_view> GridDevice::choose(std::span<const FileDesc> files) {
  for (const FileDesc& file : files)
    if (file.image.device == kind() && file.image.arch.starts_with("source:" + arch_)) return file.image.arch;
  return SeparateDevice::choose(files);
}

Result<const void*> GridDevice::load(const KernelDesc& kernel, const DeviceImage& image) {
  const std::string text(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
  SVOD_TRY(HostKernel code, HostKernel::load(text, kernel.symbol, linker_));
  return loaded_.emplace_back(std::make_unique<Loaded>(Loaded{kernel, std::move(code)})).get();
}

std::string GridDevice::run(const DeviceLaunch& launch, std::span<void* const> buffers) {
  const auto& loaded = *static_cast<const Loaded*>(launch.loaded);
  const GridLaunch run = gridLaunch(loaded.desc, loaded.code, launch.groups, buffers, roomOf(launch, loaded.desc.args),
                                    launch.values, launch.tensorMaps);
  const std::vector<std::string> before = writtenOf(run);
  std::vector<std::string> first;
  for (EmulatedGrid& grid : grids_) {
    if (&grid != &grids_.front()) restore(run, before);
    loaded.code.use(grid.calls());
    if (std::string fault = grid.run(run); !fault.empty()) return grid.mode() + ": " + fault;
    std::vector<std::string> now = writtenOf(run);
    if (&grid == &grids_.front())
      first = std::move(now);
    else if (now != first)
      return grid.mode() + ": DIFFERENT: leaves other bytes than " + grids_.front().mode();
  }
  return "";
}

}  // namespace svod
