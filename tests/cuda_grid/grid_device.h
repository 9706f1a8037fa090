// A device of kind cuda for plans that hold CUDA C: an emulated grid runs it, in memory that the host cannot read.
#pragma once
#include <memory>
#include <vector>

#include "cuda_grid/grid.h"
#include "cuda_grid/host_kernel.h"
#include "runtime/separate_device.h"

namespace svod {

class GridDevice final : public SeparateDevice {
 public:
  /// A process has one linker.
  GridDevice(uint32_t seed, uint32_t mostMicroseconds, GridOptions options, Linker& linker)
      : SeparateDevice(seed, mostMicroseconds), grid_(options), linker_(linker) {}

  std::string_view kind() const override { return "cuda"; }
  Result<const void*> load(const KernelDesc& kernel, std::span<const DeviceImage> images) override;

 private:
  struct Loaded {
    KernelDesc desc;
    HostKernel code;
  };

  std::string run(const DeviceLaunch& launch, std::span<void* const> buffers) override;

  EmulatedGrid grid_;
  Linker& linker_;
  std::vector<std::unique_ptr<Loaded>> loaded_;
};

/// What a launch of the plan is to the grid. `values` are as many as the kernel has.
GridLaunch gridLaunch(const KernelDesc& kernel, const HostKernel& code, const std::array<int64_t, 3>& groups,
                      std::span<void* const> buffers, const int64_t* values);

}  // namespace svod
