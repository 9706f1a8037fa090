#include "emit.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "data/atomic_write.h"
#include "data/distinct.h"
#include "depfile.h"
#include "emit_cmake.h"
#include "emit_interface.h"
#include "emit_kinds.h"
#include "processors.h"
#include "support/suggest.h"

namespace svod {

namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Result<const EmitKind*> kindOf(std::string_view name) {
  std::vector<std::string_view> names;
  for (const EmitKind& kind : emitKinds()) {
    if (kind.name == name) return &kind;
    names.push_back(kind.name);
  }
  return fail(Diag::Usage, "--emit knows no kind '" + std::string(name) + "'", choicesFor(name, names));
}

/// The first file of a folder that is of another kind; empty where there is none, and where it cannot be read.
std::string otherFileIn(const std::string& folder, std::string_view extension) {
  std::error_code error;
  std::set<std::string> others;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (!entry->is_regular_file(error) || entry->path().extension() != extension)
      others.insert(entry->path().filename().string());
  return others.empty() ? "" : *others.begin();
}

/// Such a folder was written before, or is empty.
bool holdsOnly(const std::string& folder, std::string_view extension) {
  std::error_code error;
  return fs::is_directory(folder, error) && otherFileIn(folder, extension).empty();
}

Status checkPlace(const Emission& e, const Flags& flags) {
  if (e.kind->isPlan) return checkPlanTarget(e.path);
  if (isInPlan(e.path, flags))
    return fail(Diag::Usage, "'" + e.path + "' of --emit would be a part of the plan", "put it beside the plan");
  if (e.kind->checkFolder != nullptr) return e.kind->checkFolder(e.path);
  std::error_code ignored;
  if (e.kind->isFolder() && fs::exists(e.path, ignored) && !holdsOnly(e.path, e.kind->extension)) {
    const std::string other = otherFileIn(e.path, e.kind->extension);
    return fail(
        Diag::Io,
        "cannot write '" + e.path + "': it " +
            (other.empty() ? "is no folder" : "holds '" + other + "' beside *" + std::string(e.kind->extension)),
        "choose another name, or move that away");
  }
  return checkFolderOf(e.path);
}

Status checkPlaces(const Request& request, std::span<const Emission> emissions) {
  std::vector<ResultFile> files = {{"the graph", request.files.at(0)},
                                   {"--output", request.flags.output},
                                   {"--depfile", depfilePath(request.flags)}};
  for (const Emission& e : emissions) files.push_back({"--emit " + std::string(e.kind->name), e.path});
  SVOD_CHECK(checkDistinct(files));
  SVOD_CHECK(checkForCmake(emissions));
  for (const Emission& e : emissions) SVOD_CHECK(checkPlace(e, request.flags));
  return {};
}

/// Whose devices a kind of files is for.
std::string_view deviceKindOf(const TargetFiles& files) {
  for (const Target* target : targets())
    if (!target->files.empty() && &files >= target->files.data() &&
        &files < target->files.data() + target->files.size())
      return target->deviceKind;
  return {};
}

/// By kernel of the schedule, those of devices of one kind, the first architecture first.
std::vector<std::vector<BuiltImage>> imagesOf(const Compilation& c, const TargetFiles& files) {
  const std::string_view kind = deviceKindOf(files);
  std::vector<std::vector<BuiltImage>> all;
  const auto add = [&](std::vector<BuiltImage>& list, const CompiledKernel& kernel) {
    if (!kernel.desc.grid) return;
    const PlanFile& file = c.files[kernel.desc.grid->images[0].file];
    if (file.image.device == kind) list.push_back({kernel.desc, kernel, file.image, bytesOf(file)});
  };
  for (size_t k = 0; k < c.kernels.size(); ++k) {
    std::vector<BuiltImage> list;
    add(list, c.kernels[k]);
    for (const CompiledVariant& variant : c.variants)
      if (!variant.kernels[k].name.empty()) add(list, variant.kernels[k]);
    if (!list.empty()) all.push_back(std::move(list));
  }
  return all;
}

/// The files of a folder: one for each kernel and, of objects, one for each file of C, by its name. Where that is taken
/// a number makes it another one.
Result<std::vector<KernelFile>> filesOfFolder(const Emission& e, const Compilation& c) {
  if (e.kind->files->ofImages != nullptr) return e.kind->files->ofImages(imagesOf(c, *e.kind->files));
  SVOD_CHECK(checkHasKernels(c, e.kind->name));
  std::vector<KernelFile> files;
  std::set<std::string> taken;
  const auto add = [&](const std::string& name, const std::string& content) {
    std::string own = name;
    for (int number = 2; !taken.insert(own).second; number++) own = name + "-" + std::to_string(number);
    files.push_back({own + std::string(e.kind->extension), content});
  };
  for (const CompiledKernel* k : processorKernels(c)) add(k->desc.symbol, k->forms.at(std::string(e.kind->name)));
  if (e.kind->files->hasFunctions)
    for (const FunctionObject& f : c.functionObjects) add(fs::path(f.file).stem().string(), f.object);
  return files;
}

Status writeFolder(const Emission& e, const Compilation& c) {
  SVOD_TRY(const std::vector<KernelFile> files, filesOfFolder(e, c));
  std::vector<FileContent> contents;
  for (const KernelFile& file : files) contents.push_back({file.name, {bytesOf(file.bytes)}});
  return writeDirectoryAtomic(e.path, contents,
                              [&](const std::string& folder) { return holdsOnly(folder, e.kind->extension); });
}

Status writeOne(const Emission& e, EmitSource from) {
  if (e.kind->write != nullptr) return e.kind->write(e.path, from);
  from.path = e.path;
  SVOD_TRY(const std::string text, e.kind->file(from));
  const std::span<const std::byte> chunk = bytesOf(text);
  return holdsChunks(e.path, std::span(&chunk, 1)) ? Status() : writeFileAtomic(e.path, text);
}

/// Targets whose compilations may stand beside each other: neither has flags that the other does not know.
bool goTogether(std::string_view a, std::string_view b) {
  const auto isHost = [](std::string_view name) {
    const Result<const Target*> target = targetByName(name);
    return target && !(*target)->hasGrid();
  };
  return a == b || (isHost(a) && isHost(b));
}

bool isLibrary(const Emission& e) { return e.kind->isFunction && !e.kind->target.empty(); }

/// The words that work where one header stands beside libraries in C and of machine code.
std::string headerForEach(std::span<const Emission> emissions) {
  std::string words;
  std::set<std::string> seen;
  for (const Emission& e : emissions)
    if (isLibrary(e)) {
      words += " --emit " + std::string(e.kind->name) + "=" + e.path;
      if (seen.insert(e.target).second) words += " --emit header=" + e.path + ".h";
    }
  return "give each of them its own, behind it:" + words;
}

/// A header is of the one library that is written with it, whatever the target of that is. Where one is in C and
/// another machine code, each with names and an arena of its own, it is of the one before it.
Status setHeaderTargets(std::vector<Emission>& emissions, const std::string& target) {
  std::set<std::string> libraries, headers;
  for (const Emission& e : emissions)
    if (isLibrary(e)) libraries.insert(e.target);
  const bool areTwo = libraries.size() > 1;
  std::string nearest = libraries.empty() ? target : areTwo ? "" : *libraries.begin();
  for (Emission& e : emissions) {
    if (areTwo && isLibrary(e)) nearest = e.target;
    if (e.kind->name == "header") headers.insert(e.target = nearest);
    if (e.kind->name == "cmake") e.target = nearest.empty() ? target : nearest;
  }
  if (!areTwo || headers.empty() || headers == libraries) return {};
  return fail(Diag::Usage, "--emit header is of one library, and there are two, in C and as machine code",
              headerForEach(emissions));
}

Status setTargets(std::vector<Emission>& emissions, const std::string& target) {
  for (Emission& e : emissions) {
    e.target = e.kind->target.empty() ? target : std::string(e.kind->target);
    const bool isBound = e.kind->name == "functions";  // to the plan or pack beside it
    if (!goTogether(e.target, target) || (isBound && e.target != target))
      return fail(Diag::Usage,
                  "--emit " + std::string(e.kind->name) + " is for --target " + e.target + ", not " + target,
                  isBound ? "they belong to a plan of that target: add --target c --cc none"
                          : "a plan is for one target: compile once more for the other one");
  }
  return setHeaderTargets(emissions, target);
}

}  // namespace

Status checkProcessors(const EmitKind& kind, const Flags& flags) {
  const std::string of = kind.hasProcessors ? " of --target " + flags.target : "";
  Status one = checkOneProcessor(flags, "--emit " + std::string(kind.name) + of,
                                 "compile once for each; a plan, a pack and a library hold several");
  if (one || !kind.hasProcessors) return one;
  if (flags.target != "cpu") return kind.write != nullptr ? Status() : one;  // a function has code for one of them
  SVOD_TRY(const CpuTarget cpu, cpuTarget(flags));
  if (cpu.hasElf()) return {};
  return fail(Diag::Unsupported, "code for WebAssembly cannot tell which processor runs it",
              "name one in --cpu, and compile once for each");
}

Result<std::vector<Emission>> emissionsOf(const Request& request) {
  const Flags& flags = request.flags;
  std::vector<Emission> emissions;
  std::string base = flags.output;
  while (base.size() > 1 && base.back() == '/') base.pop_back();
  for (const std::string& text : flags.emit) {
    const size_t equals = text.find('=');
    SVOD_TRY(const EmitKind* kind, kindOf(std::string_view(text).substr(0, equals)));
    const std::string ending = kind->ending.empty() ? "." + std::string(kind->name) : std::string(kind->ending);
    const std::string path = equals != text.npos ? text.substr(equals + 1) : base.empty() ? "" : base + ending;
    if (path.empty() || path == "-")
      return fail(Diag::Usage, "--emit " + std::string(kind->name) + " needs a path",
                  "--emit " + std::string(kind->name) + "=PATH");
    emissions.push_back({kind, path, {}});
  }
  SVOD_CHECK(setTargets(emissions, flags.target));
  SVOD_CHECK(checkPlaces(request, emissions));
  return emissions;
}

bool needsForms(const Flags& flags) {
  return std::ranges::any_of(flags.emit, [](const std::string& text) {
    const Result<const EmitKind*> kind = kindOf(std::string_view(text).substr(0, text.find('=')));
    return kind && (*kind)->needsForms();
  });
}

Result<EmbedOptions> embedOptions(const Flags& flags) {
  EmbedOptions options;
  options.prefix = flags.prefix;
  SVOD_TRY(options.weights, weightsPlace(flags.weights));
  return options;
}

Status writeEmissions(std::span<const Emission> emissions, EmitSource source) {
  std::string content;
  if (std::ranges::any_of(emissions, [](const Emission& e) { return e.kind->isFunction; }))
    source.content = content = contentOf(source.compilation);
  for (const Emission& e : emissions)
    SVOD_CHECK(e.kind->isFolder() ? writeFolder(e, source.compilation) : writeOne(e, source));
  return {};
}

std::vector<std::string> filesOfPlan(const std::string& path, const Compilation& c) {
  std::vector<std::string> files = {path + "/" + kPlanFileName};
  for (const PlanFile& file : c.files) files.push_back(path + "/" + file.path);
  return files;
}

std::vector<std::string> filesOf(const Emission& e, const Compilation& c, const EmbedOptions& embed) {
  if (e.kind->isPlan) return filesOfPlan(e.path, c);
  std::vector<std::string> files;
  if (e.kind->fileNames != nullptr)
    for (const std::string& name : e.kind->fileNames(c, embed)) files.push_back(e.path + "/" + name);
  if (!files.empty()) return files;
  if (!e.kind->isFolder()) return {e.path};
  if (const Result<std::vector<KernelFile>> of = filesOfFolder(e, c))
    for (const KernelFile& file : *of) files.push_back(e.path + "/" + file.name);
  return files;
}

}  // namespace svod
