// Images of the mock: lines that say what a kernel takes, and then a library of the host with its function, or the text
// of one thread that the interpreter runs, or such a library with the kernel as its threads, for an emulated grid.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <sstream>

#include "cuda/mock.h"
#include "cuda_grid/grid.h"
#include "interp/interp.h"
#include "support/element_type.h"
#include "target/emulated/thread_text.h"

namespace mock {

namespace {

using Native = void (*)(void* const*, const int64_t*, int64_t, int64_t, void*);

/// Null where that is no library. Its file stays open: the loader takes two files that had one number for the same.
void* opened(const std::string& library) {
  static std::mutex mutex;
  static std::map<std::string, void*, std::less<>> known;
  const std::lock_guard lock(mutex);
  void*& loaded = known[library];
  if (loaded != nullptr) return loaded;
  const int file = ::memfd_create("mock", MFD_CLOEXEC);
  if (file < 0 || ::write(file, library.data(), library.size()) != static_cast<ssize_t>(library.size())) return nullptr;
  return loaded = ::dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
}

Runner nativeRunner(const std::string& library, const std::string& name) {
  void* const loaded = opened(library);
  const auto function = loaded == nullptr ? nullptr : reinterpret_cast<Native>(::dlsym(loaded, name.c_str()));
  if (function == nullptr) return {};
  return [function](const Launched& launched) {
    std::vector<std::max_align_t> scratch(4096);
    function(launched.buffers.data(), launched.values.data(), 0, launched.groups[0], scratch.data());
  };
}

Runner gridRunner(const std::string& library, const std::string& name, const FunctionObject& function) {
  void* const loaded = opened(library);
  if (loaded == nullptr) return {};
  const auto kernel = reinterpret_cast<void (*)()>(::dlsym(loaded, name.c_str()));
  const auto use = reinterpret_cast<void (*)(const SvodCalls*)>(::dlsym(loaded, "svod_use"));
  if (kernel == nullptr || use == nullptr) return {};
  return [kernel, use, name, args = function.args](const Launched& launched) {
    svod::GridLaunch launch;
    launch.function = kernel, launch.values = launched.values, launch.sharedBytes = launched.sharedBytes;
    for (size_t axis = 0; axis < 3; axis++)
      launch.groups[axis] = launched.groups[axis], launch.threads[axis] = launched.threads[axis];
    for (size_t i = 0; i < args.size(); i++)
      launch.buffers.push_back({launched.buffers[i], args[i].bytes, args[i].isWritten});
    launch.maps = launched.maps;
    svod::EmulatedGrid grid({});
    use(grid.calls());
    if (const std::string fault = grid.run(launch); !fault.empty()) {
      std::fprintf(stderr, "mock: %s: %s\n", name.c_str(), fault.c_str());
      ::_exit(98);
    }
  };
}

struct Thread {
  svod::Graph graph;
  svod::LinearKernel kernel;
};

Runner threadRunner(const std::string& text, const std::string& name, const FunctionObject& function) {
  auto thread = std::make_shared<Thread>();
  auto read = svod::readThread(thread->graph, text, name);
  if (!read) return {};
  thread->kernel = std::move(*read);
  return [thread, args = function.args, names = function.values](const Launched& launched) {
    std::vector<svod::HostTensor> tensors;
    for (size_t i = 0; i < args.size(); i++) {
      const svod::DType dtype = *svod::dtypeFromText(args[i].dtype);
      const auto count =
          static_cast<int64_t>(args[i].bytes / svod::byteSize(*svod::elementTypeFromName(args[i].dtype)));
      tensors.push_back(svod::HostTensor::zeros(dtype, {count}));
      if (args[i].bytes > 0) std::memcpy(tensors.back().data.data(), launched.buffers[i], args[i].bytes);
    }
    svod::VariableValues values;
    for (size_t i = 0; i < names.size(); i++) values[names[i]] = launched.values[i];
    svod::LaunchExtents extents;
    for (size_t axis = 0; axis < 3; axis++)
      extents.groups[axis] = launched.groups[axis], extents.threads[axis] = launched.threads[axis];
    if (svod::Status status = svod::interpretLinear(thread->kernel, tensors, values, extents); !status) {
      std::fprintf(stderr, "mock: %s\n", svod::toText(status.error()).c_str());
      ::_exit(98);
    }
    for (size_t i = 0; i < args.size(); i++)
      if (args[i].isWritten && args[i].bytes > 0)
        std::memcpy(launched.buffers[i], tensors[i].data.data(), args[i].bytes);
  };
}

}  // namespace

bool readImage(std::string_view image, FunctionObject& function, std::string& arch, bool& isPtx) {
  std::istringstream lines{std::string(image)};
  std::string word, kind;
  size_t length = 0;
  if (!(lines >> word >> kind >> arch >> length) || word != "mock" || length != image.size()) return false;
  isPtx = kind == "ptx";
  while (lines >> word) {
    if (word == "kernel") lines >> function.name;
    if (word == "static") lines >> function.staticBytes;
    if (word == "registers") lines >> function.registers;
    if (word == "threads") lines >> function.mostThreads;
    if (word == "value") lines >> function.values.emplace_back();
    if (word == "arg") {
      MockArg& arg = function.args.emplace_back();
      std::string mode;
      lines >> arg.dtype >> arg.bytes >> mode;
      arg.isWritten = mode == "w";
      if (mode == "map") function.maps.insert(static_cast<unsigned>(function.args.size() - 1));
    }
    if (word == "native" || word == "thread" || word == "grid") {
      size_t bytes = 0;
      lines >> bytes;
      lines.get();
      std::string payload(bytes, '\0');
      lines.read(payload.data(), static_cast<std::streamsize>(bytes));
      function.run = word == "native" ? nativeRunner(payload, function.name)
                     : word == "grid" ? gridRunner(payload, function.name, function)
                                      : threadRunner(payload, function.name, function);
      break;
    }
  }
  return function.run != nullptr;
}

}  // namespace mock
