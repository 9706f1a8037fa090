#include "runtime-webgpu/library.h"

#include <dlfcn.h>

#include <cstring>

#include "support/says.h"

namespace svod::webgpu {

namespace {

constexpr const char* kLibrary = "libwgpu_native.so";
constexpr uint32_t kMajor = 29;  // whose structures wgpu_types.h has
constexpr const char* kHelp =
    "give the file of wgpu-native 29 with --webgpu-library: releases of wgpu-native have it, and the Python package "
    "wgpu 0.32 as wgpu/resources/libwgpu_native-release.so";

using AnyFunction = void (*)();
struct Call {
  const char* name;
  AnyFunction* address;
};

}  // namespace

Result<Library> Library::open(const std::string& library) {
  const char* const name = library.empty() ? kLibrary : library.c_str();
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    return fail(Diag::NoDevice, says({"there is no WebGPU: ", why == nullptr ? name : why}), kHelp);
  }
  Library found;
  const Call calls[] = {
#define CALL(name, result, parameters) {#name, reinterpret_cast<AnyFunction*>(&found.name)},
#include "runtime-webgpu/wgpu_calls.def"
#undef CALL
  };
  for (const Call& call : calls) {
    *call.address = reinterpret_cast<AnyFunction>(::dlsym(handle, call.name));
    if (*call.address == nullptr)
      return fail(Diag::NoDevice, says({"the library '", name, "' has no function ", call.name}), kHelp);
  }
  found.version = found.wgpuGetVersion();
  if (found.version >> 24 != kMajor)
    return fail(Diag::NoDevice,
                says({"'", name, "' is wgpu-native ", versionText(found.version), ", and this runtime knows ", kMajor}),
                kHelp);
  return found;
}

std::string textOf(Text text) {
  if (text.data == nullptr) return {};
  return {text.data, text.length == kToNull ? std::strlen(text.data) : text.length};
}

std::string versionText(uint32_t version) {
  return says({version >> 24, ".", version >> 16 & 255, ".", version >> 8 & 255, ".", version & 255});
}

}  // namespace svod::webgpu
