#include "plan/image_rule.h"

namespace svod {

namespace {

constexpr uint32_t kMinors = 10;  // of a major number

/// "90" is 9.0, "103" is 10.3; at least two digits, at most three.
std::optional<CudaCapability> capabilityOf(std::string_view digits) {
  if (digits.size() < 2 || digits.size() > 3 || digits[0] == '0') return std::nullopt;
  uint32_t number = 0;
  for (char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint32_t>(c - '0');
  }
  return CudaCapability{number / kMinors, number % kMinors};
}

bool runs(const CudaArch& arch, CudaCapability device) {
  if (arch.form == CudaArch::Form::Exact) return arch.capability == device;
  if (arch.isPtx && arch.form == CudaArch::Form::Plain) return arch.capability <= device;
  return arch.capability.major == device.major && arch.capability.minor <= device.minor;
}

}  // namespace

std::optional<CudaArch> parseCudaArch(std::string_view text) {
  CudaArch arch;
  constexpr std::string_view kCode = "sm_", kPtx = "compute_";
  arch.isPtx = text.starts_with(kPtx);
  if (!arch.isPtx && !text.starts_with(kCode)) return std::nullopt;
  text.remove_prefix(arch.isPtx ? kPtx.size() : kCode.size());
  if (text.ends_with('a')) arch.form = CudaArch::Form::Exact;
  if (text.ends_with('f')) arch.form = CudaArch::Form::Family;
  if (arch.form != CudaArch::Form::Plain) text.remove_suffix(1);
  const std::optional<CudaCapability> capability = capabilityOf(text);
  if (!capability) return std::nullopt;
  arch.capability = *capability;
  return arch;
}

uint32_t fitOf(const CudaArch& arch, CudaCapability device) {
  if (!runs(arch, device)) return 0;
  constexpr uint32_t kForms = 3, kNumbers = 1000;  // capabilities are below 100.0
  const uint32_t form = static_cast<uint32_t>(arch.form) + (arch.isPtx ? 0 : kForms);
  return form * kNumbers + arch.capability.major * kMinors + arch.capability.minor;
}

std::optional<size_t> chooseCudaImage(std::span<const std::string_view> archs, CudaCapability device, bool mayJit) {
  std::optional<size_t> best;
  uint32_t bestFit = 0;
  for (size_t i = 0; i < archs.size(); i++) {
    const std::optional<CudaArch> arch = parseCudaArch(archs[i]);
    if (!arch || (arch->isPtx && !mayJit)) continue;
    if (const uint32_t fit = fitOf(*arch, device); fit > bestFit) best = i, bestFit = fit;
  }
  return best;
}

std::string toText(CudaCapability capability) {
  return std::to_string(capability.major) + "." + std::to_string(capability.minor);
}

std::string runsOnText(const CudaArch& arch) {
  const std::string from = toText(arch.capability);
  if (arch.form == CudaArch::Form::Exact) return from + " alone";
  if (arch.isPtx && arch.form == CudaArch::Form::Plain) return from + " and later";
  const std::string to = toText({arch.capability.major, kMinors - 1});
  return from == to ? from : from + " to " + to;
}

std::optional<std::string> runsOnText(const ImageTarget& image) {
  const std::optional<CudaArch> arch = image.device == "cuda" ? parseCudaArch(image.arch) : std::nullopt;
  if (!arch) return std::nullopt;
  return "compute capability " + runsOnText(*arch);
}

std::string cudaArchFor(CudaCapability device) {
  // Generations whose tensor cores only exact code reaches.
  const bool isExact = device == CudaCapability{9, 0} || device == CudaCapability{10, 0};
  return "sm_" + std::to_string(device.major) + std::to_string(device.minor) + (isExact ? "a" : "");
}

}  // namespace svod
