// Warnings of arenas that would not fit a machine at the greatest sizes.
#pragma once
#include <optional>
#include <string>

#include "plan/plan.h"

namespace svod {

/// "512M", "2G", "65536": bytes, with K, M, G or T for powers of 1024.
Result<uint64_t> parseBytes(std::string_view text);

/// What is worth a warning: the arena at the greatest sizes is beyond the limit, which is --max-arena, or a quarter of
/// this machine's memory where that is empty. Changes nothing in the plan.
Result<std::optional<Error>> arenaWarning(const Plan& plan, const std::string& maxArena);

}  // namespace svod
