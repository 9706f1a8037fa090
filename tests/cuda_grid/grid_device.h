// A device of kind cuda for plans that hold CUDA C: an emulated grid runs it, in memory that the host cannot read.
#pragma once
#include <list>
#include <memory>
#include <vector>

#include "cuda_grid/grid.h"
#include "cuda_grid/host_kernel.h"
#include "runtime/separate_device.h"

namespace svod {

/// Runs every launch once on each of its grids, from the same memory: they must leave the same bytes.
class GridDevice final : public SeparateDevice {
 public:
  /// At least one grid. A process has one linker. `arch` is which architecture's kernels of a plan for several run, ""
  /// the first.
  GridDevice(uint32_t seed, uint32_t mostMicroseconds, std::span<const GridOptions> grids, Linker& linker,
             std::string arch = "")
      : SeparateDevice(seed, mostMicroseconds), linker_(linker), arch_(std::move(arch)) {
    for (const GridOptions& options : grids) grids_.emplace_back(options);
  }

  std::string_view kind() const override { return "cuda"; }
  Result<std::string_view> choose(std::span<const FileDesc> files) override;
  Result<const void*> load(const KernelDesc& kernel, const DeviceImage& image) override;

 private:
  struct Loaded {
    KernelDesc desc;
    HostKernel code;
  };

  std::string run(const DeviceLaunch& launch, std::span<void* const> buffers) override;

  std::list<EmulatedGrid> grids_;
  Linker& linker_;
  std::string arch_;
  std::vector<std::unique_ptr<Loaded>> loaded_;
};

/// Tensor maps of a kernel whose sizes are constants.
std::vector<DeviceTensorMap> fixedMaps(const KernelDesc& kernel);

/// What a launch of the plan is to the grid. `bytes` are those of its buffers, `values` as many as the kernel has.
GridLaunch gridLaunch(const KernelDesc& kernel, const HostKernel& code, const std::array<int64_t, 3>& groups,
                      std::span<void* const> buffers, std::span<const uint64_t> bytes, const int64_t* values,
                      std::span<const DeviceTensorMap> maps);

}  // namespace svod
