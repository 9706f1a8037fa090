#include "toolchain/shared_library.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace svod {

SharedLibrary::SharedLibrary(const std::string& bytes) {
  const int file = memfd_create("kernels", MFD_CLOEXEC);
  if (write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()))
    handle_ = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) error_ = dlerror();
  close(file);
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* SharedLibrary::find(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }

}  // namespace svod
