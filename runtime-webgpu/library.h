// wgpu-native, opened by name: the functions of webgpu.h, and its version.
#pragma once
#include <string>
#include <string_view>

#include "runtime-webgpu/wgpu_types.h"
#include "support/result.h"

namespace svod::webgpu {

class Library {
 public:
  /// `library` in place of libwgpu_native.so, "" for that. Errors: NoDevice when there is none, or one of another
  /// version.
  static Result<Library> open(const std::string& library);

  uint32_t version = 0;  // a byte for each part

#define CALL(name, result, parameters) result(*name) parameters = nullptr;
#include "runtime-webgpu/wgpu_calls.def"
#undef CALL
};

std::string textOf(Text text);
/// "29.0.1.1"
std::string versionText(uint32_t version);

}  // namespace svod::webgpu
