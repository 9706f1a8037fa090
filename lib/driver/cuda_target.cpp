#include "driver/cuda_target.h"

#include <algorithm>

#include "driver/compile.h"
#include "driver/to_expr.h"
#include "ir/bulk_tensor.h"
#include "machine/occupancy.h"
#include "plan/image_rule.h"
#include "support/suggest.h"
#include "target/cuda/print_cuda.h"
#include "toolchain/nvrtc.h"

namespace svod::cuda {

namespace {

constexpr std::string_view kUsual = "sm_80";

const GpuTarget& gpuOf(const Machine& machine) { return std::get<GpuTarget>(machine); }

Result<GpuTarget> gpuNamed(const std::string& name) {
  if (const std::optional<GpuTarget> gpu = gpuFor(name)) return *gpu;
  return fail(Diag::Usage, "there is no architecture '" + name + "' for --cuda-arch",
              choicesFor(name, gpuNames()) + "; compute_80 and the like are PTX, which the driver compiles");
}

/// Best first, as devices take the first that they can run: exact code before that of a family, before plain code,
/// before PTX; the newest of each.
bool comesBefore(const std::string& a, const std::string& b) {
  const auto place = [](const CudaArch& arch) {
    return std::tuple(arch.isPtx, -static_cast<int>(arch.form), -static_cast<int>(arch.capability.major),
                      -static_cast<int>(arch.capability.minor));
  };
  return place(*parseCudaArch(a)) < place(*parseCudaArch(b));
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    parts.emplace_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// What the image of a kernel is: its architecture as the plan says it, and what its file ends with.
struct ImageForm {
  std::string arch;
  const char* ending;
};
ImageForm formOf(const CompileOptions& options) {
  const std::string& arch = gpuOf(options.machine).name;
  if (!options.nvrtc) return {kSource + arch, ".cu"};
  return {arch, parseCudaArch(arch)->isPtx ? ".ptx" : ".cubin"};
}

/// The least version of a driver that loads an image. Within a major version all load each other's machine code.
uint32_t driverFor(const std::string& arch, const Nvrtc* nvrtc) {
  if (nvrtc == nullptr) return 0;
  const bool isPtx = parseCudaArch(arch)->isPtx;
  return static_cast<uint32_t>(nvrtc->major() * 1000 + (isPtx ? nvrtc->minor() * 10 : 0));
}

Status checkShared(const CompiledKernel& kernel, const GpuTarget& gpu, uint64_t more) {
  const uint64_t bytes = kernel.desc.grid->sharedBytes + more;
  if (bytes <= static_cast<uint64_t>(gpu.sharedBytes)) return {};
  return fail(Diag::BadOpt,
              "a workgroup would need " + std::to_string(bytes) + " bytes of shared memory, and " + gpu.name +
                  " gives it " + std::to_string(gpu.sharedBytes),
              "--opts with smaller tiles or fewer stages needs less; --cuda-arch of another GPU may give more");
}

/// Machine code for as many workgroups of one unit as the compiler finds registers for. Where an eighth of them keeps
/// one more workgroup out, it is asked to do without these, and may, unless something is spilled then; `source` says so
/// then.
Result<GpuCode> compileFor(const std::string& arch, const CompiledKernel& kernel, std::string& source,
                           const Nvrtc& nvrtc) {
  const Grid& grid = *kernel.desc.grid;
  const GpuTarget gpu = *gpuFor(arch);
  const auto groupsOf = [&](const GpuCode& code, int64_t registers) {
    const auto threads = static_cast<int64_t>(grid.threads[0] * grid.threads[1] * grid.threads[2]);
    const auto shared = static_cast<int64_t>(grid.sharedBytes + code.sharedBytes);
    return occupancyOf(gpu, {registers, shared, threads}).groups;
  };
  SVOD_TRY(GpuCode code, nvrtc.compile(kernel.name, source, arch));
  const int64_t groups = groupsOf(code, code.registers), more = groupsOf(code, code.registers - code.registers / 8);
  if (code.registers == 0 || more <= groups) return code;
  const std::string asked = "#define SVOD_GROUPS " + std::to_string(more) + "\n";
  Result<GpuCode> tight = nvrtc.compile(kernel.name, asked + source, arch);  // some instructions need them all
  const bool isBetter = tight && tight->spillBytes <= code.spillBytes && tight->stackBytes <= code.stackBytes &&
                        groupsOf(*tight, tight->registers) > groups;
  if (!isBetter) return code;
  source = asked + source;
  return tight;
}

/// The text that the driver or ptxas compiles; empty without NVRTC.
Result<std::string> ptxOf(const std::string& arch, const CompiledKernel& kernel, const std::string& source,
                          const CompileOptions& options) {
  if (!options.nvrtc) return std::string();
  SVOD_TRY(GpuCode code, options.nvrtc->compile(kernel.name, source, "compute_" + arch.substr(arch.find('_') + 1)));
  return std::move(code.bytes);
}

/// What the runtime is told of a node tensor_map.
Result<TensorMap> describeMap(UOp node, const KernelDesc& kernel) {
  const BulkTensor tensor = bulkTensorOf(node);
  const UOp param = storageOf(tensor.from);
  const int64_t bytes = byteSize(param.dtype());
  TensorMap map;
  map.arg = param.argAs<SlotArg>().slot, map.dtype = kernel.args[map.arg].dtype;
  map.offset = static_cast<uint64_t>(tensor.from.src(1).constInt() * bytes);
  map.swizzleBytes = static_cast<uint64_t>(tensor.swizzle);
  for (size_t d = 0; d < tensor.extents.size(); ++d) {
    SVOD_TRY(Expr extent, toExpr(tensor.extents[d], kernel.values));
    map.dims.push_back(std::move(extent));
    if (d > 0) map.strides.emplace_back(tensor.strides[d] * bytes);
    map.box.push_back(static_cast<uint64_t>(tensor.box[d])), map.step.push_back(1);
  }
  return map;
}

}  // namespace

std::optional<GpuTarget> gpuFor(std::string_view name) {
  const std::optional<CudaArch> arch = parseCudaArch(name);
  if (!arch) return std::nullopt;
  const uint32_t major = arch->capability.major * 10;
  if (arch->form == CudaArch::Form::Exact)
    if (auto gpu = findGpu("sm_" + std::to_string(major + arch->capability.minor) + "a")) return gpu;
  for (uint32_t minor = arch->capability.minor + 1; minor-- > 0;)
    if (auto gpu = findGpu("sm_" + std::to_string(major + minor))) return gpu;
  return std::nullopt;
}

Result<std::vector<std::string>> archsOf(std::string_view list) {
  std::vector<std::string> names = split(list.empty() ? kUsual : list);
  for (const std::string& name : names) SVOD_CHECK(gpuNamed(name).transform([](const GpuTarget&) {}));
  std::ranges::sort(names, comesBefore);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

Result<Machine> machine(std::string_view, std::string_view arch) {
  const std::string name(arch.empty() ? kUsual : arch);
  SVOD_TRY(GpuTarget gpu, gpuNamed(name));
  gpu.name = name;
  return Machine(std::move(gpu));
}

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

Status emitKernel(CompiledKernel& kernel, const CompileOptions& options) {
  Grid& grid = *kernel.desc.grid;
  const GpuTarget& gpu = gpuOf(options.machine);
  SVOD_CHECK(checkShared(kernel, gpu, 0));
  const uint64_t threads = grid.threads[0] * grid.threads[1] * grid.threads[2];
  SVOD_TRY(const CudaText printed, printCuda(kernel.linear, kernel.desc.args.size(), static_cast<int64_t>(threads)));
  for (UOp map : printed.maps) {
    SVOD_TRY(TensorMap described, describeMap(map, kernel.desc));
    grid.tensorMaps.push_back(std::move(described));
  }
  for (size_t slot = 0; slot < printed.alignment.size(); ++slot)
    if (printed.alignment[slot] > static_cast<int64_t>(byteSize(kernel.desc.args[slot].dtype)))
      grid.attributes.push_back({"align." + std::to_string(slot), printed.alignment[slot]});
  if (options.keepSource) kernel.source = printed.text;
  GpuCode code;
  code.bytes = printed.text;
  std::string source = std::string(cudaPrelude()) + printed.text;
  if (options.nvrtc) {
    SVOD_TRY(code, compileFor(gpu.name, kernel, source, *options.nvrtc));
  }
  if (options.keepForms) {
    kernel.object = source;
    SVOD_TRY(kernel.assembly, ptxOf(gpu.name, kernel, source, options));
  }
  SVOD_CHECK(checkShared(kernel, gpu, code.sharedBytes));
  grid.images = {{0, code.registers, code.sharedBytes}};
  kernel.code = std::exchange(code.bytes, {});
  kernel.gpuLogs = {std::move(code)};
  return {};
}

Status finish(Compilation& c, const CodeParts& code, const CompileOptions& options) {
  const ImageForm form = formOf(options);
  for (CompiledKernel* kernel : code.kernels) {
    kernel->desc.grid->images[0].file = FileId(c.files.size());
    const std::string& image = c.code.emplace_back(std::move(kernel->code));
    c.files.push_back({kernel->name + "." + gpuOf(options.machine).name + form.ending,
                       FileKind::Image,
                       {std::as_bytes(std::span(image))},
                       {kDeviceKind, form.arch, driverFor(form.arch, options.nvrtc.get())}});
  }
  return {};
}

}  // namespace svod::cuda
