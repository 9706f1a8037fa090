#include "emit_targets.h"

#include <algorithm>

#include "target_flags.h"

namespace svod {

Result<std::vector<EmitPart>> partsOf(const Request& request, std::span<const Emission> emissions) {
  const Flags& flags = request.flags;
  std::vector<std::string> targets;
  if (!flags.output.empty() || emissions.empty()) targets.push_back(flags.target);
  for (const Emission& e : emissions)
    if (std::ranges::find(targets, e.target) == targets.end()) targets.push_back(e.target);
  std::vector<EmitPart> parts;
  for (const std::string& target : targets) {
    EmitPart& part = parts.emplace_back(EmitPart{request, {}});
    if (target != flags.target) {
      SVOD_TRY(const Target* other, targetByName(target));
      part.request.flags = flagsFor(*other, flags, flags.verify);  // C that nothing runs needs no compiler
      part.request.flags.output.clear();
    }
    part.request.flags.emit.clear();
    for (const Emission& e : emissions) {
      if (e.target != target) continue;
      part.emissions.push_back(e);
      part.request.flags.emit.push_back(std::string(e.kind->name) + "=" + e.path);
      SVOD_CHECK(checkProcessors(*e.kind, part.request.flags));
    }
  }
  return parts;
}

}  // namespace svod
