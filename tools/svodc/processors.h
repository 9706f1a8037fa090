// Target processors: those of --cpu.
#pragma once
#include <string>
#include <vector>

#include "driver/compile.h"
#include "flags.h"

namespace svod {

/// --device NAME[=TARGET[:CPU]]
struct DeviceText {
  std::string name, target, cpu;
};
DeviceText deviceText(const std::string& text);

/// The first processor of --cpu, where target cpu would take it.
Result<CpuTarget> cpuTarget(const Flags& flags);
/// The names of --cpu; one that is empty where it is not given. Errors: Usage for names that are empty or there twice.
Result<std::vector<std::string>> cpuNamesOf(const Flags& flags);
/// By name of --cpu: whether that is native, the processor that svodc runs on. No --cpu may mean that as well.
std::vector<bool> areNative(const Flags& flags);
bool isNative(const Flags& flags);  // one of them
/// Errors: Usage where what --reproducible excludes is asked for: what depends on the machine that svodc runs on.
Status checkReproducible(const Flags& flags);
/// Errors: Usage where --cpu names several processors, which `what` cannot have.
Status checkOneProcessor(const Flags& flags, const std::string& what, const std::string& help);

/// Fills `machine` and `variants`, for the target and numerics that `options` has. Errors: Usage where only one name
/// will do; Unsupported for an unknown CPU or triple.
Status takeMachines(const Flags& flags, CompileOptions& options);

}  // namespace svod
