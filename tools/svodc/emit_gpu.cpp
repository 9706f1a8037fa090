#include "emit_gpu.h"

#include <algorithm>

#include "driver/cuda_target.h"
#include "plan/image_rule.h"
#include "toolchain/fatbin.h"

namespace svod {

namespace {

/// A kernel as it is for one architecture.
struct Built {
  const CompiledKernel& kernel;
  std::string arch;  // "sm_90a"
  std::string code;  // a cubin or PTX; empty without NVRTC
};

std::string bytesOf(const PlanFile& file) {
  std::string bytes;
  for (std::span<const std::byte> chunk : file.chunks)
    bytes.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
  return bytes;
}

/// By kernel of the schedule, those of CUDA devices, the first architecture first.
std::vector<std::vector<Built>> builtKernels(const Compilation& c) {
  std::vector<std::vector<Built>> all;
  const auto add = [&](std::vector<Built>& list, const CompiledKernel& kernel) {
    if (!kernel.desc.grid) return;
    const PlanFile& file = c.files[kernel.desc.grid->images[0].file];
    if (file.image.device != cuda::kDeviceKind) return;
    const std::string_view arch = file.image.arch, source = cuda::kSource;
    const bool isSource = arch.starts_with(source);
    list.push_back({kernel, std::string(isSource ? arch.substr(source.size()) : arch), isSource ? "" : bytesOf(file)});
  };
  for (size_t k = 0; k < c.kernels.size(); ++k) {
    std::vector<Built> list;
    add(list, c.kernels[k]);
    for (const CompiledVariant& variant : c.variants)
      if (!variant.kernels[k].name.empty()) add(list, variant.kernels[k]);
    if (!list.empty()) all.push_back(std::move(list));
  }
  return all;
}

bool isPtx(const Built& built) { return parseCudaArch(built.arch)->isPtx; }

/// "compute_90a" of "sm_90a"
std::string ptxArch(const std::string& arch) { return "compute_" + arch.substr(arch.find('_') + 1); }

tl::unexpected<Error> hasNone(const std::string& what, const std::string& help) {
  return fail(Diag::Unsupported, "the plan has no " + what, help);
}

constexpr const char* kNeedsNvrtc = "compile with NVRTC: leave --nvrtc none out";
constexpr const char* kNeedsDevice = "add --target cuda, or --device NAME=cuda";

/// A file for each kernel and architecture of which `bytesOf` gives some.
Result<std::vector<KernelFile>> filesOf(const Compilation& c, const std::string& what, const std::string& help,
                                        KernelFile (*fileOf)(const Built&)) {
  const std::vector<std::vector<Built>> kernels = builtKernels(c);
  if (kernels.empty()) return hasNone("kernels of CUDA devices", kNeedsDevice);
  std::vector<KernelFile> files;
  for (const std::vector<Built>& list : kernels)
    for (const Built& built : list) {
      KernelFile file = fileOf(built);
      const auto isSame = [&](const KernelFile& known) { return known.name == file.name; };
      if (!file.bytes.empty() && std::ranges::none_of(files, isSame)) files.push_back(std::move(file));
    }
  return files.empty() ? hasNone(what, help) : Result<std::vector<KernelFile>>(std::move(files));
}

}  // namespace

Result<std::vector<KernelFile>> cubinFiles(const Compilation& c) {
  return filesOf(c, "machine code for CUDA devices",
                 "compile with NVRTC, for an architecture such as --cuda-arch sm_80", [](const Built& b) {
                   return KernelFile{b.kernel.desc.symbol + "." + b.arch + ".cubin", isPtx(b) ? "" : b.code};
                 });
}

Result<std::vector<KernelFile>> ptxFiles(const Compilation& c) {
  return filesOf(c, "PTX", kNeedsNvrtc, [](const Built& b) {
    return KernelFile{b.kernel.desc.symbol + "." + ptxArch(b.arch) + ".ptx", b.kernel.assembly};
  });
}

Result<std::vector<KernelFile>> cudaFiles(const Compilation& c) {
  return filesOf(c, "CUDA C", kNeedsDevice, [](const Built& b) {
    return KernelFile{b.kernel.desc.symbol + "." + b.arch + ".cu", b.kernel.object};
  });
}

Result<std::vector<KernelFile>> fatbinFiles(const Compilation& c) {
  std::vector<KernelFile> files;
  const std::vector<std::vector<Built>> kernels = builtKernels(c);
  if (kernels.empty()) return hasNone("kernels of CUDA devices", kNeedsDevice);
  for (const std::vector<Built>& list : kernels) {
    std::vector<FatbinPart> parts;
    for (const Built& built : list) {
      if (built.code.empty()) return hasNone("machine code for CUDA devices", kNeedsNvrtc);
      const CudaArch arch = *parseCudaArch(built.arch);
      constexpr uint32_t kMinors = 10;
      const char form = arch.form == CudaArch::Form::Exact ? 'a' : arch.form == CudaArch::Form::Family ? 'f' : '\0';
      parts.push_back({arch.capability.major * kMinors + arch.capability.minor, form, arch.isPtx, built.code});
    }
    files.push_back({list[0].kernel.desc.symbol + ".fatbin", joinFatbin(parts)});
  }
  return files;
}

}  // namespace svod
