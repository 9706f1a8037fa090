#include "runtime-min/loaded_plan.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <map>

#include "plan/check.h"
#include "plan/directory.h"
#include "plan/json.h"
#include "plan/pack.h"
#include "runtime-min/probes.h"
#include "support/cpu_features.h"
#include "support/says.h"

namespace svod {

namespace {

std::string_view asText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Architecture and system of this build, as they begin and as they occur in a triple.
#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "x86_64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "aarch64";
#elif defined(__ARM_ARCH_7A__)
constexpr std::string_view kArchitecture = "armv7";
#elif defined(__riscv) && __riscv_xlen == 64
constexpr std::string_view kArchitecture = "riscv64";
#else
constexpr std::string_view kArchitecture = "unknown";
#endif

Status checkMachine(const TargetRecord& target) {
  const std::string architecture = target.triple.substr(0, target.triple.find('-'));
  if (architecture != kArchitecture || target.triple.find("linux") == std::string::npos)
    return fail(Diag::CpuFeatures,
                says({"the plan is for ", target.triple, ", this machine is ", kArchitecture, "-linux"}),
                "compile the graph with --triple for this machine");
  const std::vector<std::string> missing = missingCpuFeatures(target.features);
  if (missing.empty()) return {};
  std::string names;
  for (const std::string& name : missing) names += (names.empty() ? "" : ", ") + name;
  return fail(Diag::CpuFeatures, says({"the plan was compiled for CPU '", target.cpu, "'; this one lacks ", names}),
              "compile the graph with --cpu native on this machine, or for an older --cpu");
}

/// The linker takes a name it knows for the library it knows, whatever lies there now: a plan that was compiled again
/// while the old one is loaded, or an anonymous file whose descriptor another one had. So the name tells the file, too:
/// its inode number, bit by bit, as `./` and `.//`, which lead nowhere else.
std::string linkName(const std::string& path) {
  struct stat file = {};
  if (::stat(path.c_str(), &file) != 0) return path;
  std::string bits;
  for (auto number = static_cast<uint64_t>(file.st_ino); number != 0; number >>= 1)
    bits += number % 2 == 1 ? ".//" : "./";
  return path.size() + bits.size() < PATH_MAX ? std::string(path).insert(path.rfind('/') + 1, bits) : path;
}

}  // namespace

LoadedPlan::~LoadedPlan() {
  for (void* library : libraries_)
    if (library != nullptr) ::dlclose(library);
}

Status LoadedPlan::readManifest(std::string_view text, const std::string& name) {
  SVOD_TRY(plan_, planFromJson(text, name));
  SVOD_CHECK(check(plan_));
  SVOD_CHECK(checkMachine(plan_.target));
  for (const KernelDesc& kernel : plan_.kernels)
    if (!kernel.grid && plan_.files[kernel.file].kind != FileKind::Code)
      return fail(Diag::Unsupported, "the plan holds the source of its kernels, not machine code",
                  "compile the graph without --cc none, or with --target cpu");
  names_ = svod::variableNames(plan_);
  files_.resize(plan_.files.size());
  libraries_.resize(plan_.files.size(), nullptr);
  return {};
}

Status LoadedPlan::checkFile(FileId id, const std::string& shown, WeightsCheck weights) const {
  SVOD_CHECK(checkBytes(plan_.files[id], files_[id], shown, checksumFor(plan_.files[id], weights)));
  return isCode(plan_.files[id].kind) ? checkCodeRecord(plan_, files_[id], shown) : Status();
}

Status LoadedPlan::link(FileId id, const std::string& path, const std::string& shown) {
  libraries_[id] = ::dlopen(linkName(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (libraries_[id] != nullptr) return {};
  const char* reason = ::dlerror();
  return fail(Diag::BadPlan, says({"cannot link '", shown, "': ", (reason != nullptr ? reason : "unknown reason")}),
              "compile the graph again, for this machine");
}

Status LoadedPlan::finish() {
  std::vector<KernelFunction> functions;
  for (const KernelDesc& kernel : plan_.kernels) {
    if (kernel.grid) {  // loaded by the devices of an instance
      functions.push_back(nullptr);
      continue;
    }
    void* address = ::dlsym(libraries_[kernel.file], kernel.symbol.c_str());
    if (address == nullptr)
      return fail(Diag::BadPlan, says({"'", plan_.files[kernel.file].path, "' has no function '", kernel.symbol, "'"}),
                  "compile the graph again");
    functions.push_back(reinterpret_cast<KernelFunction>(address));
  }
  program_ = Program(plan_, functions);
  describe();
  return {};
}

Result<std::shared_ptr<const LoadedPlan>> LoadedPlan::fromDirectory(const std::string& path, WeightsCheck weights) {
  SVOD_CHECK(checkHoldsPlan(path));
  auto loaded = std::make_shared<LoadedPlan>();
  const std::string manifest = path + "/" + kPlanFileName;
  SVOD_TRY(MappedFile json, MappedFile::open(manifest));
  SVOD_CHECK(loaded->readManifest(asText(json.bytes()), manifest));
  for (FileId id = 0; id < loaded->plan_.files.size(); id++) {
    const FileDesc& desc = loaded->plan_.files[id];
    SVOD_TRY(MappedFile mapped, openPlanFile(path, desc, checksumFor(desc, weights)));
    loaded->mapped_.push_back(std::move(mapped));
    loaded->files_[id] = loaded->mapped_.back().bytes();
    // A name without a separator would be searched for in the system's folders.
    const std::string file = path + "/" + desc.path;
    if (isCode(desc.kind)) SVOD_CHECK(checkCodeRecord(loaded->plan_, loaded->files_[id], file));
    if (desc.kind != FileKind::Code) continue;
    SVOD_CHECK(loaded->link(id, file[0] == '/' ? file : "./" + file, file));
  }
  SVOD_CHECK(loaded->finish());
  return std::shared_ptr<const LoadedPlan>(std::move(loaded));
}

namespace {

const svod_file* findFile(std::span<const svod_file> files, std::string_view name) {
  for (const svod_file& file : files)
    if (file.name != nullptr && file.name == name) return &file;
  return nullptr;
}

/// Makes `bytes` linkable: an anonymous file, closed when this object goes.
struct AnonymousFile {
  int fd = -1;
  ~AnonymousFile() {
    if (fd >= 0) ::close(fd);
  }
  Status fill(const std::string& name, std::span<const std::byte> bytes) {
    fd = ::memfd_create(name.c_str(), MFD_CLOEXEC);
    if (fd < 0) return fail(ioError("cannot create", name, errno));
    while (!bytes.empty()) {
      const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return fail(ioError("cannot write", name, errno));
      bytes = bytes.subspan(static_cast<size_t>(wrote));
    }
    return {};
  }
  std::string path() const { return says({"/proc/self/fd/", fd}); }
};

}  // namespace

Status LoadedPlan::linkCopy(FileId id, const std::string& shown) {
  AnonymousFile code;
  SVOD_CHECK(code.fill(plan_.files[id].path, files_[id]));
  return link(id, code.path(), shown);
}

Result<std::shared_ptr<const LoadedPlan>> LoadedPlan::fromPath(const std::string& path, WeightsCheck weights) {
  struct stat status = {};
  const bool isFile = ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
  return isFile ? fromPack(path, weights) : fromDirectory(path, weights);
}

Result<std::shared_ptr<const LoadedPlan>> LoadedPlan::fromPack(const std::string& path, WeightsCheck weights) {
  auto loaded = std::make_shared<LoadedPlan>();
  SVOD_TRY(MappedFile pack, MappedFile::open(path));
  const std::span<const std::byte> bytes = pack.bytes();
  loaded->mapped_.push_back(std::move(pack));
  SVOD_TRY(const std::string_view manifest, manifestOf(bytes, path));
  SVOD_CHECK(loaded->readManifest(manifest, path));
  SVOD_TRY(loaded->files_, filesOf(bytes, loaded->plan_, path));
  for (FileId id = 0; id < loaded->plan_.files.size(); id++) {
    const std::string shown = path + ":" + loaded->plan_.files[id].path;
    SVOD_CHECK(loaded->checkFile(id, shown, weights));
    if (loaded->plan_.files[id].kind == FileKind::Code) SVOD_CHECK(loaded->linkCopy(id, shown));
  }
  SVOD_CHECK(loaded->finish());
  return std::shared_ptr<const LoadedPlan>(std::move(loaded));
}

Result<std::shared_ptr<const LoadedPlan>> LoadedPlan::fromMemory(std::span<const svod_file> files,
                                                                 WeightsCheck weights) {
  auto loaded = std::make_shared<LoadedPlan>();
  const svod_file* json = findFile(files, kPlanFileName);
  if (json == nullptr) return fail(Diag::BadPlan, "no file is called plan.json", "pass every file of the plan");
  SVOD_CHECK(loaded->readManifest({static_cast<const char*>(json->data), json->bytes}, kPlanFileName));
  for (FileId id = 0; id < loaded->plan_.files.size(); id++) {
    const FileDesc& desc = loaded->plan_.files[id];
    const svod_file* file = findFile(files, desc.path);
    if (file == nullptr)
      return fail(Diag::BadPlan, says({"no file is called ", desc.path}), "pass every file of the plan");
    loaded->files_[id] = {static_cast<const std::byte*>(file->data), file->bytes};
    SVOD_CHECK(loaded->checkFile(id, desc.path, weights));
    if (desc.kind == FileKind::Code) {
      SVOD_CHECK(loaded->linkCopy(id, desc.path));
    } else if (reinterpret_cast<uintptr_t>(file->data) % kPlanAlignment != 0 && file->bytes > 0) {
      auto* copy = static_cast<std::byte*>(::operator new[](file->bytes, std::align_val_t{kPlanAlignment}));
      loaded->copies_.emplace_back(copy);
      std::memcpy(copy, file->data, file->bytes);
      loaded->files_[id] = {copy, file->bytes};
    }
  }
  SVOD_CHECK(loaded->finish());
  return std::shared_ptr<const LoadedPlan>(std::move(loaded));
}

uint64_t LoadedPlan::stateBytes() const {
  uint64_t bytes = 0;
  for (const State& state : plan_.states)
    bytes += (plan_.buffers[state.buffer].bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
  return bytes;
}

namespace {

std::vector<std::string> numberTexts(const std::vector<uint64_t>& shape) {
  std::vector<std::string> texts;
  for (uint64_t dim : shape) texts.push_back(std::to_string(dim));
  return texts;
}

}  // namespace

void LoadedPlan::addView(svod_kind kind, std::string name, BufferId buffer, std::vector<std::string> texts) {
  const BufferDesc& desc = plan_.buffers[buffer];
  views_[kind].push_back({std::move(name), std::string(nameOf(desc.dtype)), desc.shape, std::move(texts), {}, {}});
  views_[kind].back().c.element_bytes = byteSize(desc.dtype);
  views_[kind].back().c.max_bytes = *tensorBytes(desc.dtype, desc.shape);
}

/// Names that several buffers have are told apart by the buffer's number.
void LoadedPlan::addIntermediates() {
  std::map<std::string_view, size_t> uses;
  for (BufferId id = 0; id < plan_.buffers.size(); id++) {
    if (!isIntermediate(plan_, id)) continue;
    intermediates_.push_back(id);
    uses[plan_.buffers[id].name]++;
  }
  for (BufferId id : intermediates_) {
    const std::string& name = plan_.buffers[id].name;
    const bool isAlone = !name.empty() && uses[name] == 1;
    addView(SVOD_INTERMEDIATE, isAlone ? name : name + "#" + std::to_string(id), id,
            numberTexts(plan_.buffers[id].shape));
  }
}

void LoadedPlan::describe() {
  auto addPorts = [&](svod_kind kind, const std::vector<Port>& ports) {
    for (const Port& port : ports) {
      std::vector<std::string> texts;
      for (const Expr& dim : port.shape) texts.push_back(toText(dim, names_));
      addView(kind, port.name, port.buffer, std::move(texts));
    }
  };
  addPorts(SVOD_INPUT, plan_.inputs);
  addPorts(SVOD_OUTPUT, plan_.outputs);
  for (const State& state : plan_.states)
    addView(SVOD_STATE, state.name, state.buffer, numberTexts(plan_.buffers[state.buffer].shape));
  addIntermediates();
  for (std::vector<TensorView>& views : views_)
    for (TensorView& view : views) {  // the vectors have their final size: addresses stay
      for (const std::string& text : view.texts) view.textPointers.push_back(text.c_str());
      view.c.name = view.name.c_str();
      view.c.dtype = view.dtype.c_str();
      view.c.rank = view.shape.size();
      view.c.max_shape = view.shape.data();
      view.c.shape_texts = view.textPointers.data();
    }
  for (VariableId id = 0; id < plan_.variables.size(); id++)
    if (plan_.variables[id].kind != VariableKind::Loop) variables_.push_back(id);
}

}  // namespace svod
