#include "runtime-opencl/loader.h"

#include <dirent.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <vector>

#include "support/says.h"

namespace svod::opencl {

namespace {

constexpr const char* kLibrary = "libOpenCL.so.1";

using AnyFunction = void (*)();

struct Call {
  const char* name;
  AnyFunction* address;
};

struct Row {
  Code code;
  const char* name;
};
constexpr Row kCodes[] = {
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {kMemoryFailure, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {kOutOfResources, "CL_OUT_OF_RESOURCES"},
    {kOutOfHostMemory, "CL_OUT_OF_HOST_MEMORY"},
    {-8, "CL_MEM_COPY_OVERLAP"},
    {kBuildFailure, "CL_BUILD_PROGRAM_FAILURE"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {kInvalidValue, "CL_INVALID_VALUE"},
    {-33, "CL_INVALID_DEVICE"},
    {-34, "CL_INVALID_CONTEXT"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-43, "CL_INVALID_BUILD_OPTIONS"},
    {-44, "CL_INVALID_PROGRAM"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-48, "CL_INVALID_KERNEL"},
    {-49, "CL_INVALID_ARG_INDEX"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-58, "CL_INVALID_EVENT"},
    {kInvalidBufferSize, "CL_INVALID_BUFFER_SIZE"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {kNoPlatform, "CL_PLATFORM_NOT_FOUND_KHR"},
};

/// The library that a file of the loader names: its first line.
std::string libraryIn(const std::string& path) {
  char line[1024] = "";
  std::FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return {};
  const bool isRead = std::fgets(line, sizeof line, file) != nullptr;
  (void)std::fclose(file);
  const std::string_view text = isRead ? line : "";
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

/// Those that files in the usual folder of loaders name.
std::vector<std::string> vendorLibraries() {
  constexpr const char* folder = "/etc/OpenCL/vendors";
  std::vector<std::string> libraries;
  DIR* const open = ::opendir(folder);
  if (open == nullptr) return libraries;
  while (const dirent* entry = ::readdir(open)) {
    if (!std::string_view(entry->d_name).ends_with(".icd")) continue;
    if (std::string library = libraryIn(says({folder, "/", entry->d_name})); !library.empty())
      libraries.push_back(std::move(library));
  }
  (void)::closedir(open);
  return libraries;
}

// Sanitizers end a program that opens a library with this flag, and not every libc has it.
#if !defined(RTLD_DEEPBIND) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kOwnSymbols = 0;
#elif defined(__has_feature)
constexpr int kOwnSymbols = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ? 0 : RTLD_DEEPBIND;
#else
constexpr int kOwnSymbols = RTLD_DEEPBIND;
#endif

/// Opens the drivers before the loader does, so that they find their own compilers: a program may have another version
/// of LLVM, whose symbols have the same names.
void openVendors() {
  if (kOwnSymbols == 0) return;
  for (const std::string& library : vendorLibraries())
    (void)::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | kOwnSymbols);
}

}  // namespace

Result<Loader> Loader::open(const std::string& given) {
  const std::string name = given.empty() ? kLibrary : given;
  // Never closed: drivers have threads of their own, and other libraries of the process use it.
  void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    return fail(Diag::NoDevice, says({"there is no OpenCL: ", reason != nullptr ? reason : name.c_str()}),
                "install an ICD loader (ocl-icd-libopencl1) and a driver, such as that of the GPU or pocl-opencl-icd");
  }
  Loader loader;
  const Call calls[] = {
#define CALL(name, result, parameters) {#name, reinterpret_cast<AnyFunction*>(&loader.name)},
#include "runtime-opencl/loader_calls.def"
#undef CALL
  };
  for (const Call& call : calls) {
    *call.address = reinterpret_cast<AnyFunction>(::dlsym(library, call.name));
    if (*call.address == nullptr)
      return fail(Diag::NoDevice, says({"the OpenCL library '", name, "' has no function ", call.name}),
                  "install a loader of OpenCL 1.2 or later");
  }
  openVendors();
  return loader;
}

std::string nameOf(Code code) {
  const Row* const row = std::ranges::find(kCodes, code, &Row::code);
  return says({row == std::end(kCodes) ? "an unknown error" : row->name, " (", code, ")"});
}

tl::unexpected<Error> failed(Code code, std::string_view what) {
  const std::string message = says({"cannot ", what, ": ", nameOf(code)});
  const bool isMemory =
      code == kMemoryFailure || code == kOutOfResources || code == kOutOfHostMemory || code == kInvalidBufferSize;
  if (isMemory)
    return svod::fail(Diag::DeviceBusy, message,
                      "free memory of the device, or compile for smaller sizes: svodc compile --var NAME=MIN:MAX");
  return svod::fail(Diag::DeviceFailure, message, "clinfo shows the devices and the state of their drivers");
}

}  // namespace svod::opencl
