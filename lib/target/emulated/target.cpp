#include "target/emulated/target.h"

#include "target/emulated/thread_text.h"

namespace svod::emulated {

namespace {

constexpr const char* kDeviceKind = "emulated";
constexpr const char* kSmallGrid = "small";

/// There is one, with workgroups of at most 64 threads.
Result<Machine> machine(std::string_view, std::string_view processor) {
  if (!processor.empty() && processor != kSmallGrid)
    return fail(Diag::Usage, "target emulated has no processor '" + std::string(processor) + "'",
                "leave --cpu out, or give small");
  GpuTarget gpu;
  gpu.name = kSmallGrid, gpu.generation = 80;
  gpu.limits = {{65535, 65535, 65535}, {64, 64, 64}}, gpu.maxThreads = 64, gpu.sharedBytes = 32 << 10, gpu.units = 4;
  return Machine(std::move(gpu));
}

Caps caps(const Machine& machine, Numerics numerics) { return capsOf(std::get<GpuTarget>(machine), numerics); }

LegalizeOptions legal(const Machine&, Numerics numerics) { return {.numerics = numerics, .narrowIndex = true}; }

Result<KernelCode> emit(const EmitJob& job) {
  KernelCode made;
  SVOD_TRY(made.code, threadText(job.graph, job.linear));
  if (job.keepSource) made.source = made.code;
  return made;
}

Result<std::vector<JoinedFile>> join(const JoinJob& job) {
  std::vector<JoinedFile> files;
  for (const JoinJob::Part& kernel : job.kernels)
    files.push_back(
        {std::string(kernel.name) + ".uop", FileKind::Image, kernel.code.code, {kDeviceKind, kSmallGrid, 1}});
  return files;
}

}  // namespace

constexpr Target kTarget{.name = "emulated",
                         .what = "workgroups of threads as text, kernels.uop, for a device that interprets it",
                         .deviceKind = kDeviceKind,
                         .machine = machine,
                         .caps = caps,
                         .legal = legal,
                         .emit = emit,
                         .join = join};

}  // namespace svod::emulated
