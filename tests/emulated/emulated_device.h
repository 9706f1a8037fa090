// A device with workgroups, for plans of target emulated: the interpreter runs their threads, in memory that the host
// cannot read.
#pragma once
#include <memory>
#include <vector>

#include "linearize/linear.h"
#include "runtime/separate_device.h"

namespace svod {

class EmulatedDevice final : public SeparateDevice {
 public:
  using SeparateDevice::SeparateDevice;

  std::string_view kind() const override { return "emulated"; }
  Result<std::string_view> choose(std::span<const FileDesc> files) override;
  Result<const void*> load(const KernelDesc& kernel, const DeviceImage& image) override;

 private:
  struct Loaded {
    KernelDesc desc;
    Graph graph;
    LinearKernel kernel;
  };

  std::string run(const DeviceLaunch& launch, std::span<void* const> buffers) override;

  std::vector<std::unique_ptr<Loaded>> loaded_;
};

}  // namespace svod
