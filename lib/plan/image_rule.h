// Which image of a plan a CUDA device runs. The loader decides before the driver does, so that it can say what is
// missing.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace svod {

/// Compute capability: 9.0 is {9, 0}.
struct CudaCapability {
  uint32_t major = 0, minor = 0;
  auto operator<=>(const CudaCapability&) const = default;
};

/// ImageTarget::arch of a CUDA image: "sm_90a", "sm_100f", "sm_86" are machine code, "compute_80" is PTX, which the
/// driver compiles when it loads it.
struct CudaArch {
  enum class Form : uint8_t {
    Plain,   // sm_86: runs on the same major number, from this minor one on; as PTX on everything from it on
    Family,  // sm_100f: runs on the same major number, from this minor one on, with instructions that only those have
    Exact,   // sm_90a: runs on this capability and on no other, ever
  };
  CudaCapability capability;
  Form form = Form::Plain;
  bool isPtx = false;
  bool operator==(const CudaArch&) const = default;
};

std::optional<CudaArch> parseCudaArch(std::string_view text);

/// How well a device runs code for `arch`: the more the better, 0 not at all. Exact code before that of the family,
/// before plain code, before PTX; among equals the newest.
uint32_t fitOf(const CudaArch& arch, CudaCapability device);

/// The index of the best image, by their archs; nothing where the device runs none. Archs that are none are never
/// taken, and PTX only with `mayJit`.
std::optional<size_t> chooseCudaImage(std::span<const std::string_view> archs, CudaCapability device,
                                      bool mayJit = true);

/// "9.0"
std::string toText(CudaCapability capability);
/// What runs code for `arch`: "9.0 alone", "8.6 to 8.9", "8.0 and later".
std::string runsOnText(const CudaArch& arch);
/// What runs an image, where that is known of its kind of device: "compute capability 8.6 to 8.9".
std::optional<std::string> runsOnText(const ImageTarget& image);
/// The --cuda-arch that gives code for the device: "sm_90a".
std::string cudaArchFor(CudaCapability device);

}  // namespace svod
