#include "target/cuda/target.h"

#include <algorithm>

#include "machine/occupancy.h"
#include "plan/image_rule.h"
#include "target/cuda/print_cuda.h"
#include "target/cuda/tensor_maps.h"
#include "target/cuda/tools.h"

namespace svod::cuda {

namespace {

const GpuTarget& gpuOf(const Machine& machine) { return std::get<GpuTarget>(machine); }

Caps caps(const Machine& machine, Numerics numerics) { return capsOf(gpuOf(machine), numerics); }

LegalizeOptions legal(const Machine& machine, Numerics numerics) {
  const GpuTarget& gpu = gpuOf(machine);
  return {.numerics = numerics,
          .fma = true,
          .nativeF16 = true,
          .narrowIndex = true,
          .gpuFamily = gpu.family,
          .gpuGeneration = gpu.generation};
}

/// What the image of a kernel is: its architecture as the plan says it, and what its file ends with.
struct ImageForm {
  std::string arch;
  const char* ending;
};
ImageForm formOf(const std::string& arch, const Nvrtc* nvrtc) {
  if (nvrtc == nullptr) return {kSource + arch, ".cu"};
  return {arch, parseCudaArch(arch)->isPtx ? ".ptx" : ".cubin"};
}

/// The least version of a driver that loads an image. Within a major version all load each other's machine code.
uint32_t driverFor(const std::string& arch, const Nvrtc* nvrtc) {
  if (nvrtc == nullptr) return 0;
  const bool isPtx = parseCudaArch(arch)->isPtx;
  return static_cast<uint32_t>(nvrtc->major() * 1000 + (isPtx ? nvrtc->minor() * 10 : 0));
}

uint64_t threadsOf(const Grid& grid) { return grid.threads[0] * grid.threads[1] * grid.threads[2]; }

Status checkShared(const KernelDesc& kernel, const GpuTarget& gpu, uint64_t more) {
  const uint64_t bytes = kernel.grid->sharedBytes + more;
  if (bytes <= static_cast<uint64_t>(gpu.sharedBytes)) return {};
  return fail(Diag::BadOpt,
              "a workgroup would need " + std::to_string(bytes) + " bytes of shared memory, and " + gpu.name +
                  " gives it " + std::to_string(gpu.sharedBytes),
              "--opts with smaller tiles or fewer stages needs less; --cuda-arch of another GPU may give more");
}

/// Machine code for as many workgroups of one unit as the compiler finds registers for. Where an eighth of them keeps
/// one more workgroup out, it is asked to do without these, and may, unless something is spilled then; `source` says so
/// then.
Result<GpuCode> compileFor(const std::string& arch, const KernelDesc& kernel, std::string& source, const Nvrtc& nvrtc) {
  const Grid& grid = *kernel.grid;
  const GpuTarget gpu = *gpuFor(arch);
  const auto groupsOf = [&](const GpuCode& code, int64_t registers) {
    const auto threads = static_cast<int64_t>(threadsOf(grid));
    const auto shared = static_cast<int64_t>(grid.sharedBytes + code.sharedBytes);
    return occupancyOf(gpu, {registers, shared, threads}).groups;
  };
  SVOD_TRY(GpuCode code, nvrtc.compile(kernel.symbol, source, arch));
  const int64_t groups = groupsOf(code, code.registers), more = groupsOf(code, code.registers - code.registers / 8);
  if (code.registers == 0 || more <= groups) return code;
  const std::string asked = "#define SVOD_GROUPS " + std::to_string(more) + "\n";
  Result<GpuCode> tight = nvrtc.compile(kernel.symbol, asked + source, arch);  // some instructions need them all
  const bool isBetter = tight && tight->spillBytes <= code.spillBytes && tight->stackBytes <= code.stackBytes &&
                        groupsOf(*tight, tight->registers) > groups;
  if (!isBetter) return code;
  source = asked + source;
  return tight;
}

/// The text that the driver or ptxas compiles; empty without NVRTC.
Result<std::string> ptxOf(const std::string& arch, const KernelDesc& kernel, const std::string& source,
                          const Nvrtc* nvrtc) {
  if (nvrtc == nullptr) return std::string();
  SVOD_TRY(GpuCode code, nvrtc->compile(kernel.symbol, source, "compute_" + arch.substr(arch.find('_') + 1)));
  return std::move(code.bytes);
}

/// The text, and what its launches have to know of it.
Result<std::string> printedFor(const EmitJob& job) {
  Grid& grid = *job.desc.grid;
  const auto threads = static_cast<int64_t>(threadsOf(grid));
  SVOD_TRY(GridText printed, printCuda(job.linear, job.desc.args.size(), threads));
  for (UOp map : printed.maps) {
    SVOD_TRY(TensorMap described, describeMap(map, job.desc));
    grid.tensorMaps.push_back(std::move(described));
  }
  addAlignment(printed, job.desc);
  return std::move(printed.text);
}

}  // namespace

// Names of forms are those of files().
Result<KernelCode> emit(const EmitJob& job) {
  const GpuTarget& gpu = gpuOf(job.machine);
  const Nvrtc* nvrtc = nvrtcOf(job.tools);
  SVOD_CHECK(checkShared(job.desc, gpu, 0));
  SVOD_TRY(std::string text, printedFor(job));
  KernelCode made;
  if (job.keepSource) made.source = text;
  GpuCode code;
  std::string source = std::string(cudaPrelude()) + text;
  code.bytes = std::move(text);
  if (nvrtc != nullptr) {
    SVOD_TRY(code, compileFor(gpu.name, job.desc, source, *nvrtc));
  }
  if (job.keepForms) {
    SVOD_TRY(made.forms["ptx"], ptxOf(gpu.name, job.desc, source, nvrtc));
    made.forms["cuda-c"] = std::move(source);
  }
  SVOD_CHECK(checkShared(job.desc, gpu, code.sharedBytes));
  job.desc.grid->images = {{0, code.registers, code.sharedBytes}};
  made.code = std::move(code.bytes);
  made.notes = {{code.arch, code.spillBytes, std::move(code.warnings)}};
  return made;
}

Result<std::vector<JoinedFile>> join(const JoinJob& job) {
  const Nvrtc* nvrtc = nvrtcOf(job.tools);
  const std::string& arch = gpuOf(job.machine).name;
  const ImageForm form = formOf(arch, nvrtc);
  const ImageTarget needs = {kDeviceKind, form.arch, driverFor(form.arch, nvrtc)};
  std::vector<JoinedFile> files;
  for (const JoinJob::Part& kernel : job.kernels)
    files.push_back({std::string(kernel.name) + "." + arch + form.ending, FileKind::Image, kernel.code.code, needs});
  return files;
}

namespace {

constexpr std::string_view kArch = "cuda-arch";
constexpr TargetFlag kFlags[] = {{kArch}, {kNvrtcFlag, true}};

Result<std::string> print(const LinearKernel& kernel, std::string_view, std::string_view) {
  SVOD_TRY(GridText printed, printCuda(kernel, kernel.params.size(), threadsOf(kernel)));
  return std::move(printed.text);
}

}  // namespace

const Target kTarget{.name = "cuda",
                     .what = "machine code for NVIDIA's GPUs, through NVRTC; kernels of its own for each --cuda-arch",
                     .deviceKind = kDeviceKind,
                     .machine = machine,
                     .caps = caps,
                     .legal = legal,
                     .emit = emit,
                     .join = join,
                     .machineFlag = kArch,
                     .machineNames = archsOf,
                     .open = open,
                     .flags = kFlags,
                     .files = kFiles,
                     .textForm = "cuda",
                     .print = print};

}  // namespace svod::cuda
