#include "ir/numerics.h"

namespace svod {

namespace {
constexpr std::string_view kText[] = {"strict", "contract", "fast"};
}

std::string_view toText(Numerics numerics) { return kText[static_cast<size_t>(numerics)]; }

std::optional<Numerics> numericsFromText(std::string_view text) {
  for (size_t i = 0; i < std::size(kText); ++i)
    if (kText[i] == text) return static_cast<Numerics>(i);
  return std::nullopt;
}

}  // namespace svod
