#include "target/webgpu/target.h"

#include <algorithm>

#include "target/webgpu/print_wgsl.h"

namespace svod::webgpu {

namespace {

/// Counts changes of how texts are called (plan/wgsl_arguments.h).
constexpr uint32_t kVersion = 1;

const GpuTarget& gpuOf(const Machine& machine) { return std::get<GpuTarget>(machine); }

Caps caps(const Machine& machine, Numerics numerics) { return capsOf(gpuOf(machine), numerics); }

LegalizeOptions legal(const Machine& machine, Numerics numerics) {
  return {.numerics = numerics, .fma = true, .narrowIndex = true, .gpuFamily = gpuOf(machine).family};
}

Status checkShared(const LinearKernel& kernel, int64_t bytes, const GpuTarget& gpu) {
  if (bytes <= gpu.sharedBytes) return {};
  return fail(Diag::BadOpt,
              "a workgroup of kernel '" + kernel.name + "' would need " + std::to_string(bytes) +
                  " bytes of shared memory, and the limits '" + gpu.name + "' give it " +
                  std::to_string(gpu.sharedBytes),
              "--opts with smaller tiles or fewer stages needs less");
}

Result<KernelCode> emit(const EmitJob& job) {
  std::vector<WordUse> uses;
  for (const KernelArg& arg : job.desc.args) uses.push_back(wordUse(arg.mode, byteSize(arg.dtype)));
  SVOD_TRY(WgslText printed, printWgsl(job.linear, uses));
  SVOD_CHECK(checkShared(job.linear, printed.sharedBytes, gpuOf(job.machine)));
  Grid& grid = *job.desc.grid;
  grid.sharedBytes = static_cast<uint64_t>(printed.sharedBytes);
  if (printed.isFolded) grid.attributes.push_back({std::string(kFolded), 1});
  grid.images = {{0, 0, 0}};
  KernelCode made;
  if (job.keepSource) made.source = printed.text;
  made.code = std::move(printed.text);
  return made;
}

Result<std::vector<JoinedFile>> join(const JoinJob& job) {
  const std::string& limits = gpuOf(job.machine).name;
  std::vector<JoinedFile> files;
  for (const JoinJob::Part& kernel : job.kernels)
    files.push_back({std::string(kernel.name) + "." + limits + ".wgsl",
                     FileKind::Image,
                     kernel.code.code,
                     {kDeviceKind, limits, kVersion}});
  return files;
}

Result<std::string> print(const LinearKernel& kernel, std::string_view, std::string_view) {
  const std::vector<WordUse> uses = wordUses(kernel);
  SVOD_TRY(WgslText printed, printWgsl(kernel, uses));
  return std::move(printed.text);
}

/// A module for each kernel.
Result<std::vector<KernelFile>> sourceFiles(std::span<const std::vector<BuiltImage>> kernels) {
  if (kernels.empty())
    return fail(Diag::Unsupported, "the plan has no kernels of WebGPU devices",
                "add --target webgpu, or --device NAME=webgpu");
  std::vector<KernelFile> files;
  for (const std::vector<BuiltImage>& list : kernels)
    for (const BuiltImage& image : list)
      files.push_back({image.desc.symbol + "." + std::string(image.image.arch) + ".wgsl", image.bytes});
  return files;
}

constexpr TargetFiles kFiles[] = {{.name = "wgsl",
                                   .what = "a folder with WGSL, a module for each kernel of WebGPU devices",
                                   .extension = ".wgsl",
                                   .ofImages = sourceFiles,
                                   .needsForms = false}};

}  // namespace

const Target kTarget{.name = "webgpu",
                     .what = "WGSL for any adapter of WebGPU, which compiles it when the plan is loaded",
                     .deviceKind = kDeviceKind,
                     .machine = machine,
                     .caps = caps,
                     .legal = legal,
                     .emit = emit,
                     .join = join,
                     .files = kFiles,
                     .textForm = "wgsl",
                     .print = print,
                     .isForPages = true};

}  // namespace svod::webgpu
