// Flags that belong to one target: what they are on this command line, and what is opened by them.
#pragma once
#include "command.h"
#include "compile/options.h"

namespace svod {

/// The values of the flags of a target.
TargetFlags flagsOf(const Target& target, const Flags& flags);
/// The flags of a compile for `target` beside one that these are for: without those that a target has for itself.
/// Nothing is built that only a run of the plan needs, unless `runs`.
Flags flagsFor(const Target& target, const Flags& flags, bool runs);

/// The machines of a target that `processor` names; those that the flag of the target names where it is empty. Errors:
/// Usage for --cpu where another flag names processors; those of Target::machine.
Result<std::vector<Machine>> machinesFor(const Target& target, const Flags& flags, const std::string& processor);

/// Opens the tools of all targets of the plan. Errors: those of Target::open; Usage for a flag of a target that the
/// plan has not.
Status openTools(const Request& request, CompileOptions& options);

}  // namespace svod
