#include "runtime-min/loaded_plan.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "plan/check.h"
#include "plan/directory.h"
#include "plan/json.h"
#include "plan/pack.h"
#include "plan/variants.h"
#include "runtime-min/device.h"
#include "runtime-min/memory_block.h"
#include "support/says.h"

namespace svod {

namespace {

std::string_view asText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Bytes of memory for one of a manifest while it is read, at most, where no manifest is below a page.
constexpr uint64_t kMostFactor = 64, kPageOfText = 4096;

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

Status LoadedPlan::chooseCode(const LoadChoice& options, const svod_function_table* table) {
  if (whole_ != nullptr) {
    processors_.used = whole_->processors_.used;
    return {};
  }
  if (table != nullptr) {
    if (table->plan == nullptr || recordOf(table->plan) != record_)
      return fail(Diag::PlanChecksum, "the functions were made with another plan",
                  "compile the graph again with --emit functions, and the program with what that wrote");
    processors_ = withoutChoice(plan_);
    return {};
  }
  SVOD_TRY(processors_, chooseProcessor(plan_, options.cpu));
  for (const KernelDesc& kernel : plan_.kernels)
    if (!kernel.grid && plan_.files[kernel.file].kind != FileKind::Code)
      return fail(Diag::Unsupported, "the plan holds the source of its kernels, not machine code",
                  "compile the graph without --cc none, or with --target cpu");
  return {};
}

Status LoadedPlan::readManifest(std::string_view text, const std::string& name, const LoadChoice& options,
                                const svod_function_table* table, std::span<Device* const> devices) {
  if (!hasMemory(kMostFactor * (text.size() + kPageOfText)))
    return fail(Diag::DeviceFailure, says({"out of memory: no room to read '", name, "'"}), "free some memory");
  SVOD_CHECK(readPlanJson(text, name, plan_));
  SVOD_CHECK(check(plan_));
  record_ = codeRecord(text);
  SVOD_CHECK(chooseCode(options, table));
  takeVariant(plan_, processors_.used);
  for (DeviceId id = 1; id < devices.size(); id++) {
    if (devices[id] == nullptr || devices[id]->kind() == DeviceKind::Cpu) continue;
    SVOD_TRY(const std::string_view arch, devices[id]->choose(plan_.files));
    takeArch(plan_, id, arch);
  }
  if (!plan_.variants.empty()) manifest_ = text;
  isUsed_.resize(plan_.kernels.size());
  for (const Step& step : plan_.steps)
    if (const auto* launch = std::get_if<Launch>(&step.action)) {
      isUsed_[launch->kernel] = 1;
      for (const LaunchCase& one : launch->cases) isUsed_[one.launch.kernel] = 1;
    }
  names_ = svod::variableNames(plan_);
  files_.resize(plan_.files.size());
  libraries_.resize(plan_.files.size(), nullptr);
  return {};
}

bool LoadedPlan::isLinked(FileId id) const {
  if (plan_.files[id].kind != FileKind::Code) return false;
  for (const KernelDesc& kernel : plan_.kernels)
    if (!kernel.grid && kernel.file == id && isUsed(kernel)) return true;
  return false;
}

Checksum LoadedPlan::checksumOf(FileId id, WeightsCheck weights) const {
  if (plan_.files[id].kind == FileKind::Code && !isLinked(id)) return Checksum::Skip;
  return checksumFor(plan_.files[id], weights);
}

Status LoadedPlan::checkRecord(FileId id, const std::string& shown) const {
  const bool isChecked = plan_.files[id].kind == FileKind::Image || isLinked(id);
  return isChecked ? checkCodeRecord(record_, files_[id], shown) : Status();
}

Status LoadedPlan::checkFile(FileId id, const std::string& shown, WeightsCheck weights) const {
  SVOD_CHECK(checkBytes(plan_.files[id], files_[id], shown, checksumOf(id, weights)));
  return checkRecord(id, shown);
}

Status LoadedPlan::link(FileId id, const std::string& path, const std::string& shown) {
  libraries_[id] = ::dlopen(linkName(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (libraries_[id] != nullptr) return {};
  const char* reason = ::dlerror();
  struct statvfs system = {};
  if (::statvfs(path.c_str(), &system) != 0)  // of an anonymous file
    return fail(Diag::Io, says({"cannot link '", shown, "': '", path, "' is not there: /proc is not mounted"}),
                "mount it, or load the plan as a folder");
  if ((system.f_flag & ST_NOEXEC) != 0)
    return fail(Diag::Io, says({"cannot link '", shown, "': its file system is mounted noexec"}),
                "copy the plan to another one, or make a pack of it: svodc compile --emit pack=FILE");
  return fail(Diag::BadPlan, says({"cannot link '", shown, "': ", (reason != nullptr ? reason : "unknown reason")}),
              "compile the graph again, for this machine");
}

Result<KernelFunction> LoadedPlan::functionOf(const KernelDesc& kernel, const svod_function_table* table) const {
  for (size_t i = 0; table != nullptr && i < table->count; i++)
    if (table->functions[i].symbol != nullptr && table->functions[i].symbol == kernel.symbol)
      return table->functions[i].function;
  void* const library = table != nullptr ? nullptr : libraries_[kernel.file];
  if (void* const address = library == nullptr ? nullptr : ::dlsym(library, kernel.symbol.c_str()))
    return reinterpret_cast<KernelFunction>(address);
  const std::string where = table != nullptr ? "the table" : says({"'", plan_.files[kernel.file].path, "'"});
  return fail(Diag::BadPlan, says({where, " has no function '", kernel.symbol, "'"}), "compile the graph again");
}

Status LoadedPlan::finish(const svod_function_table* table) {
  std::vector<KernelFunction> functions;
  for (const KernelDesc& kernel : plan_.kernels) {
    KernelFunction& function = functions.emplace_back(nullptr);
    // Those with a grid are loaded by the devices of an instance.
    if (kernel.grid || !isUsed(kernel) || whole_ != nullptr) continue;
    SVOD_TRY(function, functionOf(kernel, table));
  }
  program_ = Program(plan_, functions);
  for (StepId step = 0; whole_ != nullptr && step < program_.steps.size(); step++) {
    const ProgramStep& whole = whole_->program_.steps[step];
    program_.steps[step].function = whole.function;
    const Range cases = program_.steps[step].cases;
    for (uint32_t i = 0; whole.function != nullptr && i < cases.size(); i++)  // as many: those of the host are the same
      program_.cases[cases.begin + i].function = whole_->program_.cases[whole.cases.begin + i].function;
  }
  describe();
  return {};
}

Result<std::shared_ptr<const LoadedPlan>> LoadedPlan::fromDirectory(const std::string& path, const LoadChoice& options,
                                                                    const svod_function_table* table) {
  SVOD_CHECK(checkHoldsPlan(path));
  std::unique_ptr<LoadedPlan> loaded(new LoadedPlan);
  const std::string manifest = path + "/" + kPlanFileName;
  SVOD_TRY(MappedFile json, MappedFile::open(manifest));
  SVOD_CHECK(loaded->readManifest(asText(json.bytes()), manifest, options, table));
  for (FileId id = 0; id < loaded->plan_.files.size(); id++) {
    const FileDesc& desc = loaded->plan_.files[id];
    SVOD_TRY(MappedFile mapped, openPlanFile(path, desc, loaded->checksumOf(id, options.weights)));
    loaded->mapped_.push_back(std::move(mapped));
    loaded->files_[id] = loaded->mapped_.back().bytes();
    // A name without a separator would be searched for in the system's folders.
    const std::string file = path + "/" + desc.path;
    SVOD_CHECK(loaded->checkRecord(id, file));
    if (!loaded->isLinked(id) || table != nullptr) continue;
    SVOD_CHECK(loaded->link(id, file[0] == '/' ? file : "./" + file, file));
  }
  SVOD_CHECK(loaded->finish(table));
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

Result<std::shared_ptr<const LoadedPlan>> LoadedPlan::fromPath(const std::string& path, const LoadChoice& options,
                                                               const svod_function_table* table) {
  struct stat status = {};
  const bool isFile = ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
  return isFile ? fromPack(path, options, table) : fromDirectory(path, options, table);
}

Result<std::shared_ptr<const LoadedPlan>> LoadedPlan::fromPack(const std::string& path, const LoadChoice& options,
                                                               const svod_function_table* table) {
  std::unique_ptr<LoadedPlan> loaded(new LoadedPlan);
  SVOD_TRY(MappedFile pack, MappedFile::open(path));
  const std::span<const std::byte> bytes = pack.bytes();
  loaded->mapped_.push_back(std::move(pack));
  SVOD_TRY(const std::string_view manifest, manifestOf(bytes, path));
  SVOD_CHECK(loaded->readManifest(manifest, path, options, table));
  SVOD_TRY(loaded->files_, filesOf(bytes, loaded->plan_, path));
  for (FileId id = 0; id < loaded->plan_.files.size(); id++) {
    const std::string shown = path + ":" + loaded->plan_.files[id].path;
    SVOD_CHECK(loaded->checkFile(id, shown, options.weights));
    if (loaded->isLinked(id) && table == nullptr) SVOD_CHECK(loaded->linkCopy(id, shown));
  }
  SVOD_CHECK(loaded->finish(table));
  return std::shared_ptr<const LoadedPlan>(std::move(loaded));
}

Result<std::shared_ptr<const LoadedPlan>> LoadedPlan::fromMemory(std::span<const svod_file> files,
                                                                 const LoadChoice& options) {
  std::unique_ptr<LoadedPlan> loaded(new LoadedPlan);
  const svod_file* json = findFile(files, kPlanFileName);
  if (json == nullptr) return fail(Diag::BadPlan, "no file is called plan.json", "pass every file of the plan");
  SVOD_CHECK(loaded->readManifest({static_cast<const char*>(json->data), json->bytes}, kPlanFileName, options));
  for (FileId id = 0; id < loaded->plan_.files.size(); id++) {
    const FileDesc& desc = loaded->plan_.files[id];
    const svod_file* file = findFile(files, desc.path);
    if (file == nullptr)
      return fail(Diag::BadPlan, says({"no file is called ", desc.path}), "pass every file of the plan");
    loaded->files_[id] = {static_cast<const std::byte*>(file->data), file->bytes};
    SVOD_CHECK(loaded->checkFile(id, desc.path, options.weights));
    if (desc.kind == FileKind::Code) {
      if (loaded->isLinked(id)) SVOD_CHECK(loaded->linkCopy(id, desc.path));
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

// Read once more, as most plans have one architecture, and instances are few.
Result<std::shared_ptr<const LoadedPlan>> LoadedPlan::forDevices(std::shared_ptr<const LoadedPlan> loaded,
                                                                 std::span<Device* const> devices) {
  if (loaded->plan_.variants.empty()) return loaded;
  std::unique_ptr<LoadedPlan> own(new LoadedPlan);
  own->whole_ = std::move(loaded);
  SVOD_CHECK(own->readManifest(own->whole_->manifest_, kPlanFileName, {}, nullptr, devices));
  for (FileId id = 0; id < own->files_.size(); id++) own->files_[id] = own->whole_->files_[id];
  SVOD_CHECK(own->finish());
  return std::shared_ptr<const LoadedPlan>(std::move(own));
}

Program LoadedPlan::programFor(std::span<const uint32_t> queues) const {
  std::vector<KernelFunction> functions(plan_.kernels.size(), nullptr);
  for (StepId step = 0; step < plan_.steps.size(); step++)
    if (const auto* launch = std::get_if<Launch>(&plan_.steps[step].action)) {
      functions[launch->kernel] = program_.steps[step].function;
      uint32_t at = program_.steps[step].cases.begin;
      for (const LaunchCase& one : launch->cases) functions[one.launch.kernel] = program_.cases[at++].function;
    }
  return Program(plan_, functions, queues);
}

uint64_t LoadedPlan::stateBytes() const {
  uint64_t bytes = 0;
  for (const State& state : plan_.states)
    bytes += (plan_.buffers[state.buffer].bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
  return bytes;
}

}  // namespace svod
