#include "verify/c_calls.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "driver/c_functions.h"
#include "driver/device_kernels.h"
#include "ir/c_function.h"
#include "toolchain/linker.h"

namespace svod {

namespace {

constexpr unsigned kMostSeconds = 60;
constexpr size_t kPage = 4096;

using Compiled = void (*)(void* const* arrays, const int64_t* numbers, int64_t, int64_t, void*);

/// Code that stays loaded as long as a function uses it.
struct Library {
  void* handle = nullptr;
  ~Library() {
    if (handle != nullptr) dlclose(handle);
  }
};

/// Memory that a child shares, with pages around it that nobody may touch. What is read lies at its end, aligned for
/// any element.
class GuardedArray {
 public:
  explicit GuardedArray(size_t bytes, size_t alignment) : bytes_(bytes) {
    const size_t inner = (bytes + alignment + kPage - 1) / kPage * kPage;
    size_ = inner + 2 * kPage;
    void* made = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return;
    base_ = static_cast<std::byte*>(made);
    mprotect(base_, kPage, PROT_NONE);
    mprotect(base_ + kPage + inner, kPage, PROT_NONE);
    data_ = base_ + kPage + inner - bytes;
  }
  GuardedArray(GuardedArray&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), data_(other.data_), size_(other.size_), bytes_(other.bytes_) {}
  ~GuardedArray() {
    if (base_ != nullptr) munmap(base_, size_);
  }
  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  std::byte *base_ = nullptr, *data_ = nullptr;
  size_t size_ = 0, bytes_;
};

Error ended(const std::string& name, int status) {
  const std::string what = "while verifying: the function " + name;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return Error(Diag::DeviceFailure, what + " did not return within " + std::to_string(kMostSeconds) + " seconds",
                 "look for a loop without an end, or compile without --verify");
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const std::string signal = number == 0 ? "ended its process" : "crashed: " + std::string(strsignal(number));
  return Error(Diag::DeviceFailure, what + " " + signal,
               "it got arrays that end where memory ends: compare its indices with their sizes");
}

/// Runs the kernel in a child; 0 when it returned.
int inChild(Compiled kernel, std::span<void* const> arrays, std::span<const int64_t> numbers) {
  const pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(number, SIG_DFL);
    alarm(kMostSeconds);
    kernel(arrays.data(), numbers.data(), 0, 1, nullptr);
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

Result<HostTensor> call(Compiled kernel, const std::string& name, std::span<const HostTensor> inputs, DType dtype,
                        std::span<const int64_t> dims) {
  HostTensor result = HostTensor::zeros(dtype, {dims.begin(), dims.end()});
  std::vector<GuardedArray> arrays;
  std::vector<int64_t> numbers;
  arrays.emplace_back(result.data.size(), byteSize(dtype));
  for (const HostTensor& input : inputs) {
    if (input.dtype == DType::Index) {
      numbers.push_back(input.at(0).asInt());
      continue;
    }
    arrays.emplace_back(input.data.size(), byteSize(input.dtype));
    if (arrays.back().data() != nullptr && !input.data.empty())
      std::memcpy(arrays.back().data(), input.data.data(), input.data.size());
  }
  std::vector<void*> pointers;
  for (const GuardedArray& array : arrays) pointers.push_back(array.data());
  if (std::ranges::find(pointers, nullptr) != pointers.end())
    return fail(Diag::DeviceFailure, "while verifying: no memory for a call of " + name, "compile without --verify");
  if (const int status = inChild(kernel, pointers, numbers); status != 0) return fail(ended(name, status));
  if (!result.data.empty()) std::memcpy(result.data.data(), pointers[0], result.data.size());
  return result;
}

/// The kernels of one file, without optimizations.
Result<std::shared_ptr<Library>> load(const CFile& file, std::span<const CCall> calls, const CompileOptions& options) {
  const CpuTarget* cpu = hostProcessor(options);
  if (cpu == nullptr)
    return fail(Diag::Unsupported, "--verify cannot call functions of C files: no target is for a processor",
                "compile without --verify");
  SVOD_TRY(std::string object, compileC(withKernels(file, calls), *cpu, OptLevel::O0));
  SVOD_TRY(std::string memory, compileMemoryFunctions(*cpu));
  SVOD_TRY(const std::string code, options.linker->linkShared(std::vector{std::move(object), std::move(memory)}));
  const int descriptor = memfd_create("svod-functions", MFD_CLOEXEC);
  if (descriptor < 0 || write(descriptor, code.data(), code.size()) != static_cast<ssize_t>(code.size()))
    return fail(Diag::Io, "cannot keep the code of '" + file.name + "'", "compile without --verify");
  auto library = std::make_shared<Library>();
  library->handle = dlopen(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(descriptor);
  if (library->handle == nullptr)
    return fail(Diag::DeviceFailure, "cannot load the code of '" + file.name + "': " + dlerror(),
                "compile without --verify");
  return library;
}

}  // namespace

Result<CustomFunctions> isolatedFunctions(const Model& model, const CompileOptions& options) {
  std::map<std::string, std::map<std::string, CCall>> calls;  // by file, then by the name of the Custom node
  for (UOp n : toposort(model.sink)) {
    const auto name = n.op() == Op::Custom ? cFunctionOf(n.argAs<CustomArg>().name) : std::nullopt;
    if (!name || !options.cFiles.contains(name->source)) continue;
    CCall made{"svod_call_" + std::to_string(calls[name->source].size()), name->function, 1, 0};
    for (UOp s : n.src().first(static_cast<size_t>(n.argAs<CustomArg>().inputs)))
      (s.dtype() == DType::Index ? made.numbers : made.arrays)++;
    calls[name->source].try_emplace(name->text(), std::move(made));
  }
  CustomFunctions functions;
  for (const auto& [file, named] : calls) {
    std::vector<CCall> list;
    for (const auto& [name, each] : named) list.push_back(each);
    SVOD_TRY(const std::shared_ptr<Library> library, load(options.cFiles.at(file), list, options));
    for (const auto& [name, each] : named) {
      const auto kernel = reinterpret_cast<Compiled>(dlsym(library->handle, each.symbol.c_str()));
      const std::string shown = "'" + each.function + "' of " + options.cFiles.at(file).name;
      functions[name] = [library, kernel, shown](std::span<const HostTensor> inputs, DType dtype,
                                                 std::span<const int64_t> dims) {
        return call(kernel, shown, inputs, dtype, dims);
      };
    }
  }
  return functions;
}

}  // namespace svod
