#include "target/cuda/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "support/suggest.h"

namespace svod {

namespace {

using Program = struct ProgramObject*;
constexpr int kSuccess = 0, kInvalidArchitecture = 5;
constexpr size_t kLinesShown = 20;
constexpr const char* kHelp =
    "get it with 'pip install nvidia-cuda-nvrtc', or with the CUDA toolkit, and say where it is with --nvrtc PATH or "
    "SVOD_NVRTC; --nvrtc none writes the plan with CUDA C in place of machine code";

/// The functions of the library, as its header declares them.
struct Functions final : Nvrtc::Library {
  void* handle = nullptr;
  int (*nvrtcVersion)(int*, int*) = nullptr;
  int (*nvrtcGetNumSupportedArchs)(int*) = nullptr;
  int (*nvrtcGetSupportedArchs)(int*) = nullptr;
  int (*nvrtcCreateProgram)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*nvrtcDestroyProgram)(Program*) = nullptr;
  int (*nvrtcCompileProgram)(Program, int, const char* const*) = nullptr;
  int (*nvrtcGetProgramLogSize)(Program, size_t*) = nullptr;
  int (*nvrtcGetProgramLog)(Program, char*) = nullptr;
  int (*nvrtcGetCUBINSize)(Program, size_t*) = nullptr;
  int (*nvrtcGetCUBIN)(Program, char*) = nullptr;
  int (*nvrtcGetPTXSize)(Program, size_t*) = nullptr;
  int (*nvrtcGetPTX)(Program, char*) = nullptr;
  const char* (*nvrtcGetErrorString)(int) = nullptr;

  ~Functions() override {
    if (handle != nullptr) dlclose(handle);
  }
  /// Whether the library has them all.
  bool find() {
    const auto get = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      return function != nullptr;
    };
#define SVOD_GET(name) get(name, #name)
    return SVOD_GET(nvrtcVersion) && SVOD_GET(nvrtcGetNumSupportedArchs) && SVOD_GET(nvrtcGetSupportedArchs) &&
           SVOD_GET(nvrtcCreateProgram) && SVOD_GET(nvrtcDestroyProgram) && SVOD_GET(nvrtcCompileProgram) &&
           SVOD_GET(nvrtcGetProgramLogSize) && SVOD_GET(nvrtcGetProgramLog) && SVOD_GET(nvrtcGetCUBINSize) &&
           SVOD_GET(nvrtcGetCUBIN) && SVOD_GET(nvrtcGetPTXSize) && SVOD_GET(nvrtcGetPTX) &&
           SVOD_GET(nvrtcGetErrorString);
#undef SVOD_GET
  }
};

bool isLibrary(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("libnvrtc.so") && name.find("alt") == name.npos;
}

/// The libraries of a folder, the newest first.
std::vector<std::string> librariesIn(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (isLibrary(entry.path())) found.push_back(entry.path().string());
  std::ranges::sort(found, std::greater<>());
  return found;
}

std::vector<std::string> candidates(const std::string& named, const std::vector<std::string>& folders) {
  std::error_code error;
  if (!named.empty()) return std::filesystem::is_directory(named, error) ? librariesIn(named) : std::vector{named};
  std::vector<std::string> all = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"};
  for (const std::string& folder : folders)
    for (std::string& library : librariesIn(folder)) all.push_back(std::move(library));
  return all;
}

std::vector<std::string> firstLines(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size() && lines.size() < kLinesShown;) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// The number that stands behind `word`, or in front of it.
uint32_t numberBehind(std::string_view line, std::string_view word) {
  const size_t at = line.find(word);
  return at == line.npos ? 0 : static_cast<uint32_t>(std::strtoul(line.data() + at + word.size(), nullptr, 10));
}
uint32_t numberBefore(std::string_view line, std::string_view word) {
  size_t end = line.find(word), begin = end;
  if (end == line.npos) return 0;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  return static_cast<uint32_t>(std::strtoul(std::string(line.substr(begin, end - begin)).c_str(), nullptr, 10));
}

std::string textOf(Program program, int (*size)(Program, size_t*), int (*get)(Program, char*)) {
  size_t bytes = 0;
  if (size(program, &bytes) != kSuccess || bytes == 0) return {};
  std::string text(bytes, '\0');
  if (get(program, text.data()) != kSuccess) return {};
  return text;
}

/// A text comes with the zero at its end.
std::string withoutZero(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace

void readPtxasLog(std::string_view log, GpuCode& code) {
  for (size_t at = 0; at < log.size();) {
    const size_t end = std::min(log.find('\n', at), log.size());
    const std::string line(log.substr(at, end - at));
    at = end + 1;
    if (line.find(" bytes stack frame") != line.npos) {
      code.stackBytes = numberBefore(line, " bytes stack frame");
      code.spillBytes = numberBefore(line, " bytes spill stores") + numberBefore(line, " bytes spill loads");
    }
    if (line.find("Used ") != line.npos && line.find(" registers") != line.npos) {
      code.registers = numberBehind(line, "Used ");
      code.sharedBytes = numberBefore(line, " bytes smem");
    }
    if (line.find("warning") != line.npos || line.find("(C7") != line.npos) code.warnings.push_back(line);
  }
}

Result<Nvrtc> Nvrtc::open(const std::string& named, const std::vector<std::string>& folders) {
  std::string trouble;
  for (const std::string& path : candidates(named, folders)) {
    auto functions = std::make_shared<Functions>();
    // NVRTC keeps what it allocated in its own variables: unloading it would leak that memory once per opening.
    functions->handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (functions->handle == nullptr) {
      const char* reason = dlerror();
      if (trouble.empty()) trouble = reason == nullptr ? path : reason;
      continue;
    }
    Nvrtc nvrtc;
    int count = 0;
    if (!functions->find() || functions->nvrtcVersion(&nvrtc.major_, &nvrtc.minor_) != kSuccess ||
        functions->nvrtcGetNumSupportedArchs(&count) != kSuccess) {
      trouble = path + " is no NVRTC of CUDA 11.1 or later";
      continue;
    }
    std::vector<int> numbers(static_cast<size_t>(std::max(count, 1)));
    if (functions->nvrtcGetSupportedArchs(numbers.data()) == kSuccess)
      for (int i = 0; i < count; ++i) nvrtc.archs_.push_back("sm_" + std::to_string(numbers[static_cast<size_t>(i)]));
    nvrtc.library_ = std::move(functions);
    return nvrtc;
  }
  if (trouble.empty()) trouble = "'" + named + "' holds no libnvrtc.so";
  Error error(Diag::CompileFailed, "target cuda needs NVRTC, the compiler of CUDA as a library, which is not found",
              kHelp);
  error->notes.push_back(trouble);
  return fail(std::move(error));
}

std::string Nvrtc::version() const { return "NVRTC " + std::to_string(major_) + "." + std::to_string(minor_); }

Result<GpuCode> Nvrtc::compile(const std::string& name, const std::string& source, const std::string& arch) const {
  const auto& f = static_cast<const Functions&>(*library_);
  Program program = nullptr;
  if (const int code = f.nvrtcCreateProgram(&program, source.c_str(), (name + ".cu").c_str(), 0, nullptr, nullptr);
      code != kSuccess)
    return fail(Diag::CompileFailed, version() + " cannot begin: " + f.nvrtcGetErrorString(code));
  const std::string wanted = "--gpu-architecture=" + arch;
  const char* const options[] = {wanted.c_str(), "--std=c++17", "--fmad=false", "--ptxas-options=-v",
                                 "-diag-suppress=177"};
  const int code = f.nvrtcCompileProgram(program, std::size(options), options);
  const std::string log = withoutZero(textOf(program, f.nvrtcGetProgramLogSize, f.nvrtcGetProgramLog));
  GpuCode result;
  result.arch = arch;
  if (code == kSuccess)
    result.bytes = arch.starts_with("compute_") ? withoutZero(textOf(program, f.nvrtcGetPTXSize, f.nvrtcGetPTX))
                                                : textOf(program, f.nvrtcGetCUBINSize, f.nvrtcGetCUBIN);
  f.nvrtcDestroyProgram(&program);
  if (code == kInvalidArchitecture) {
    std::string known;
    for (const std::string& a : archs_) known += (known.empty() ? "" : ", ") + a;
    return fail(Diag::Usage, version() + " has no code for '" + arch + "'",
                "it has " + known + "; --nvrtc takes another one");
  }
  if (code != kSuccess || result.bytes.empty()) {
    Error error(Diag::CompileFailed,
                version() + " does not compile the kernel for " + arch + ": " + f.nvrtcGetErrorString(code),
                "its first lines are above; svodc inspect GRAPH --source shows the text");
    error->notes = firstLines(log);
    return fail(std::move(error));
  }
  readPtxasLog(log, result);
  return result;
}

}  // namespace svod
