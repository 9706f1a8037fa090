// How float arithmetic of a compile may deviate from one rounding per op. See docs/semantics.md.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace svod {

/// Strict: one rounding per op, no reassociation. Contract: a*b+c may fuse, the schedule may reassociate reductions.
/// Fast: rules that are wrong for NaN, infinity or -0 as well.
enum class Numerics : uint8_t { Strict, Contract, Fast };

std::string_view toText(Numerics numerics);
std::optional<Numerics> numericsFromText(std::string_view text);

}  // namespace svod
