#include "cuda_grid/host_kernel.h"

#include <dlfcn.h>

#include "data/inside_folder.h"
#include "data/mapped_file.h"
#include "toolchain/clang.h"
#include "toolchain/temp_dir.h"

namespace svod {

Result<HostKernel> HostKernel::load(const std::string& text, const std::string& symbol, Linker& linker) {
  SVOD_TRY(const CpuTarget cpu, makeCpuTarget("", "native"));
  const CFile file{std::string(SVOD_GRID_DIR) + "/kernel.c", "#include \"prelude.h\"\n" + text,
                   foldersOf(std::string(SVOD_GRID_DIR) + "/kernel.c")};
  SVOD_TRY(std::string object, compileC(file, cpu, OptLevel::O0));  // compiling takes far longer than running
  static const Result<std::string> memory = compileMemoryFunctions(cpu);
  if (!memory) return tl::unexpected(memory.error());
  const std::string objects[] = {std::move(object), *memory};
  SVOD_TRY(const std::string library, linker.linkShared(objects));
  SVOD_TRY(TempDir folder, TempDir::make("/tmp"));
  SVOD_CHECK(writeWholeFile(folder.file("kernel.so"), library));
  void* handle = dlopen(folder.file("kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail(Diag::CompileFailed, dlerror());
  HostKernel code;
  // The file stays: libraries are told apart by its name and number, which another one could get.
  code.library_ =
      std::shared_ptr<void>(handle, [kept = std::make_shared<TempDir>(std::move(folder))](void* h) { dlclose(h); });
  code.function_ = reinterpret_cast<Function>(dlsym(handle, symbol.c_str()));
  code.use_ = reinterpret_cast<void (*)(const SvodCalls*)>(dlsym(handle, "svod_use"));
  if (code.function_ == nullptr || code.use_ == nullptr) return fail(Diag::CompileFailed, "no function " + symbol);
  return code;
}

}  // namespace svod
