// The machine that kernels are compiled for: a processor or a GPU.
#pragma once
#include <string>
#include <variant>

#include "machine/cpu.h"
#include "machine/gpu.h"

namespace svod {

using Machine = std::variant<CpuTarget, GpuTarget>;

inline std::string toText(const Machine& machine) {
  return std::visit([](const auto& m) { return toText(m); }, machine);
}

}  // namespace svod
