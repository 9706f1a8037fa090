// The texts of a module (an internal header of the room).
#pragma once
#include "web/layout.h"
#include "web/web.h"

namespace svod::web {

std::string moduleText(const Plan& plan, const WebLayout& layout, const WebParts& parts, const WebOptions& options);
/// The types of what the module has, for TypeScript.
std::string declarationText(const Plan& plan, const WebOptions& options);
/// What every module has, from the files of `runtime`.
std::string_view runtimeText();

uint64_t totalBytes(std::span<const std::span<const std::byte>> chunks);
std::string base64(std::span<const std::span<const std::byte>> chunks);

}  // namespace svod::web
