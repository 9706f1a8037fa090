#include "support/suggest.h"
#include "target/c/target.h"
#include "target/cpu/target.h"
#include "target/cuda/target.h"
#include "target/emulated/target.h"
#include "target/opencl/target.h"
#include "target/webgpu/target.h"

namespace svod {

namespace {

constexpr const Target* kTargets[] = {&cpu::kTarget,    &c::kTarget,      &cuda::kTarget,
                                      &opencl::kTarget, &webgpu::kTarget, &emulated::kTarget};

}  // namespace

std::span<const Target* const> targets() { return kTargets; }

Result<const Target*> targetByName(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Target* target : kTargets) {
    if (target->name == name) return target;
    names.push_back(target->name);
  }
  return fail(Diag::Usage, "there is no target '" + std::string(name) + "'", choicesFor(name, names));
}

}  // namespace svod
