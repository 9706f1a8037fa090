#include "target/opencl/target.h"

#include <algorithm>

#include "target/opencl/print_opencl.h"

namespace svod::opencl {

namespace {

/// Of OpenCL, as 10 * major + minor of it and a zero: what the text of kernels is written in.
constexpr uint32_t kVersion = 120;

const GpuTarget& gpuOf(const Machine& machine) { return std::get<GpuTarget>(machine); }

Caps caps(const Machine& machine, Numerics numerics) { return capsOf(gpuOf(machine), numerics); }

LegalizeOptions legal(const Machine& machine, Numerics numerics) {
  return {.numerics = numerics, .fma = true, .narrowIndex = true, .gpuFamily = gpuOf(machine).family};
}

Status checkShared(const KernelDesc& kernel, const GpuTarget& gpu) {
  if (kernel.grid->sharedBytes <= static_cast<uint64_t>(gpu.sharedBytes)) return {};
  return fail(Diag::BadOpt,
              "a workgroup would need " + std::to_string(kernel.grid->sharedBytes) + " bytes of local memory, and " +
                  gpu.name + " gives it " + std::to_string(gpu.sharedBytes),
              "--opts with smaller tiles or fewer stages needs less");
}

/// What a kernel asks of a device beyond full profiles of OpenCL 1.2: attributes, which its driver looks at.
void addNeeds(const LinearKernel& linear, KernelDesc& kernel) {
  const auto has = [&](auto&& is) { return std::ranges::any_of(linear.ops, is); };
  std::vector<LaunchAttribute>& needs = kernel.grid->attributes;
  if (has([](UOp n) { return n.dtype() == DType::F64; })) needs.push_back({"fp64", 1});
  const bool isStrict = linear.numerics == Numerics::Strict;
  if (isStrict && has([](UOp n) { return n.dtype() == DType::F32; })) needs.push_back({"subnormals", 1});
  const bool divides = has([](UOp n) { return n.dtype() == DType::F32 && (n.op() == Op::Fdiv || n.op() == Op::Sqrt); });
  if (divides) needs.push_back({"rounded-division", isStrict ? 2 : 1});
}

Result<KernelCode> emit(const EmitJob& job) {
  SVOD_CHECK(checkShared(job.desc, gpuOf(job.machine)));
  const auto& threads = job.desc.grid->threads;
  SVOD_TRY(GridText printed,
           printOpenCl(job.linear, job.desc.args.size(), static_cast<int64_t>(threads[0] * threads[1] * threads[2])));
  addAlignment(printed, job.desc);
  addNeeds(job.linear, job.desc);
  job.desc.grid->images = {{0, 0, 0}};
  KernelCode made;
  made.code = openClPrelude(printed.text) + printed.text;
  if (job.keepSource) made.source = std::move(printed.text);
  return made;
}

Result<std::vector<JoinedFile>> join(const JoinJob& job) {
  const std::string& limits = gpuOf(job.machine).name;
  std::vector<JoinedFile> files;
  for (const JoinJob::Part& kernel : job.kernels)
    files.push_back({std::string(kernel.name) + "." + limits + ".cl",
                     FileKind::Image,
                     kernel.code.code,
                     {kDeviceKind, limits, kVersion}});
  return files;
}

Result<std::string> print(const LinearKernel& kernel, std::string_view, std::string_view) {
  SVOD_TRY(GridText printed, printOpenCl(kernel, kernel.params.size(), threadsOf(kernel)));
  return openClPrelude(printed.text) + printed.text;
}

/// A file for each kernel, whose whole text compilers of OpenCL C take.
Result<std::vector<KernelFile>> sourceFiles(std::span<const std::vector<BuiltImage>> kernels) {
  if (kernels.empty())
    return fail(Diag::Unsupported, "the plan has no kernels of OpenCL devices",
                "add --target opencl, or --device NAME=opencl");
  std::vector<KernelFile> files;
  for (const std::vector<BuiltImage>& list : kernels)
    for (const BuiltImage& image : list)
      files.push_back({image.desc.symbol + "." + std::string(image.image.arch) + ".cl", image.bytes});
  return files;
}

constexpr TargetFiles kFiles[] = {{.name = "opencl-c",
                                   .what = "a folder with OpenCL C, a file for each kernel of OpenCL devices",
                                   .extension = ".cl",
                                   .ofImages = sourceFiles,
                                   .needsForms = false}};

}  // namespace

const Target kTarget{.name = "opencl",
                     .what = "OpenCL C 1.2 for any device, which compiles it when the plan is loaded",
                     .deviceKind = kDeviceKind,
                     .machine = machine,
                     .caps = caps,
                     .legal = legal,
                     .emit = emit,
                     .join = join,
                     .files = kFiles,
                     .textForm = "opencl",
                     .print = print};

}  // namespace svod::opencl
