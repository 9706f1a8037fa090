#include <algorithm>

#include "plan/image_rule.h"
#include "target/cuda/fatbin.h"
#include "target/cuda/target.h"

namespace svod::cuda {

namespace {

/// A kernel as it is for one architecture.
struct Built {
  const KernelDesc& desc;
  const KernelCode& kernel;
  std::string arch;  // "sm_90a"
  std::string code;  // a cubin or PTX; empty without NVRTC
};

Built builtOf(const BuiltImage& image) {
  const std::string_view arch = image.image.arch, source = kSource;
  const bool isSource = arch.starts_with(source);
  return {image.desc, image.code, std::string(isSource ? arch.substr(source.size()) : arch),
          isSource ? "" : image.bytes};
}

bool isPtx(const Built& built) { return parseCudaArch(built.arch)->isPtx; }

/// "compute_90a" of "sm_90a"
std::string ptxArch(const std::string& arch) { return "compute_" + arch.substr(arch.find('_') + 1); }

tl::unexpected<Error> hasNone(const std::string& what, const std::string& help) {
  return fail(Diag::Unsupported, "the plan has no " + what, help);
}

constexpr const char* kNeedsNvrtc = "compile with NVRTC: leave --nvrtc none out";
constexpr const char* kNeedsDevice = "add --target cuda, or --device NAME=cuda";

/// A file for each kernel and architecture of which `fileOf` gives some.
Result<std::vector<KernelFile>> filesOf(std::span<const std::vector<BuiltImage>> kernels, const std::string& what,
                                        const std::string& help, KernelFile (*fileOf)(const Built&)) {
  if (kernels.empty()) return hasNone("kernels of CUDA devices", kNeedsDevice);
  std::vector<KernelFile> files;
  for (const std::vector<BuiltImage>& list : kernels)
    for (const BuiltImage& image : list) {
      KernelFile file = fileOf(builtOf(image));
      const auto isSame = [&](const KernelFile& known) { return known.name == file.name; };
      if (!file.bytes.empty() && std::ranges::none_of(files, isSame)) files.push_back(std::move(file));
    }
  return files.empty() ? hasNone(what, help) : Result<std::vector<KernelFile>>(std::move(files));
}

std::string formOf(const Built& built, std::string_view form) {
  const auto found = built.kernel.forms.find(form);
  return found == built.kernel.forms.end() ? "" : found->second;
}

using Kernels = std::span<const std::vector<BuiltImage>>;

Result<std::vector<KernelFile>> cubinFiles(Kernels kernels) {
  return filesOf(
      kernels, "machine code for CUDA devices", "compile with NVRTC, for an architecture such as --cuda-arch sm_80",
      [](const Built& b) { return KernelFile{b.desc.symbol + "." + b.arch + ".cubin", isPtx(b) ? "" : b.code}; });
}

Result<std::vector<KernelFile>> ptxFiles(Kernels kernels) {
  return filesOf(kernels, "PTX", kNeedsNvrtc, [](const Built& b) {
    return KernelFile{b.desc.symbol + "." + ptxArch(b.arch) + ".ptx", formOf(b, "ptx")};
  });
}

Result<std::vector<KernelFile>> cudaFiles(Kernels kernels) {
  return filesOf(kernels, "CUDA C", kNeedsDevice,
                 [](const Built& b) { return KernelFile{b.desc.symbol + "." + b.arch + ".cu", formOf(b, "cuda-c")}; });
}

/// One for each kernel, with all that it has for architectures, PTX among them.
Result<std::vector<KernelFile>> fatbinFiles(Kernels kernels) {
  std::vector<KernelFile> files;
  if (kernels.empty()) return hasNone("kernels of CUDA devices", kNeedsDevice);
  for (const std::vector<BuiltImage>& list : kernels) {
    std::vector<FatbinPart> parts;
    for (const BuiltImage& image : list) {
      const Built built = builtOf(image);  // parts stay borrowed from the image
      if (built.code.empty()) return hasNone("machine code for CUDA devices", kNeedsNvrtc);
      const CudaArch arch = *parseCudaArch(built.arch);
      constexpr uint32_t kMinors = 10;
      const char form = arch.form == CudaArch::Form::Exact ? 'a' : arch.form == CudaArch::Form::Family ? 'f' : '\0';
      parts.push_back({arch.capability.major * kMinors + arch.capability.minor, form, arch.isPtx, image.bytes});
    }
    files.push_back({list[0].desc.symbol + ".fatbin", joinFatbin(parts)});
  }
  return files;
}

}  // namespace

constexpr TargetFiles kFiles[] = {
    {.name = "cubin",
     .what = "a folder with machine code for CUDA devices, of each kernel and architecture",
     .extension = ".cubin",
     .ofImages = cubinFiles,
     .needsForms = false},
    {.name = "ptx", .what = "a folder with the same as PTX", .extension = ".ptx", .ofImages = ptxFiles},
    {.name = "cuda-c", .what = "a folder with the same as CUDA C", .extension = ".cu", .ofImages = cudaFiles},
    {.name = "fatbin",
     .what = "a folder with a file for each kernel, which has all of its machine code and PTX",
     .extension = ".fatbin",
     .ofImages = fatbinFiles,
     .needsForms = false},
};

}  // namespace svod::cuda
