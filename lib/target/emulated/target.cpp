#include "target/emulated/target.h"

#include "target/emulated/thread_text.h"

namespace svod::emulated {

namespace {

constexpr const char* kSmallGrid = "small";

}  // namespace

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

Result<std::string> emit(const GridKernel& kernel) { return threadText(kernel.graph, kernel.linear); }

Result<ImageFile> image(const std::string& kernel, std::string code, const Machine&) {
  return ImageFile{kernel + ".uop", {kDeviceKind, kSmallGrid, 1}, std::move(code)};
}

}  // namespace svod::emulated
