#include "emit.h"

#include <algorithm>
#include <filesystem>

#include "data/atomic_write.h"
#include "data/distinct.h"
#include "depfile.h"
#include "support/suggest.h"

namespace svod {

namespace {

namespace fs = std::filesystem;

constexpr EmitKind kKinds[] = {
    {"obj", "one relocatable object with all kernels", ".o", nullptr},
    {"obj-dir", "a folder with a relocatable object for each kernel", ".o", &CompiledKernel::object},
    {"asm", "a folder with the assembly text of each kernel", ".s", &CompiledKernel::assembly},
    {"llvm-ir", "a folder with the LLVM IR of each kernel, as it is before LLVM's passes", ".ll",
     &CompiledKernel::source},
};

std::span<const std::byte> bytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Result<const EmitKind*> kindOf(std::string_view name) {
  std::vector<std::string_view> names;
  for (const EmitKind& kind : kKinds) {
    if (kind.name == name) return &kind;
    names.push_back(kind.name);
  }
  return fail(Diag::Usage, "--emit knows no kind '" + std::string(name) + "'", choicesFor(name, names));
}

/// A folder that was written before, or an empty one.
bool holdsOnly(const std::string& folder, std::string_view extension) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (!entry->is_regular_file(error) || entry->path().extension() != extension) return false;
  return !error;
}

Status checkPlace(const Emission& e, const Flags& flags) {
  if (isInPlan(e.path, flags))
    return fail(Diag::Usage, "'" + e.path + "' of --emit would be a part of the plan", "put it beside the plan");
  std::error_code ignored;
  if (e.kind->text != nullptr && fs::exists(e.path, ignored) &&
      !(fs::is_directory(e.path, ignored) && holdsOnly(e.path, e.kind->extension)))
    return fail(
        Diag::Io,
        "cannot write '" + e.path + "': it is no folder, or holds other files than *" + std::string(e.kind->extension),
        "choose another name, or remove it first");
  return checkFolderOf(e.path);
}

Status checkPlaces(const Request& request, std::span<const Emission> emissions) {
  std::vector<ResultFile> files = {{"the graph", request.files.at(0)},
                                   {"--output", request.flags.output},
                                   {"--depfile", depfilePath(request.flags)}};
  for (const Emission& e : emissions) files.push_back({"--emit " + std::string(e.kind->name), e.path});
  SVOD_CHECK(checkDistinct(files));
  for (const Emission& e : emissions) SVOD_CHECK(checkPlace(e, request.flags));
  return {};
}

Status writeFolder(const Emission& e, const Compilation& c) {
  std::vector<FileContent> files;
  for (const CompiledKernel& k : c.kernels)
    files.push_back({k.desc.symbol + std::string(e.kind->extension), {bytesOf(k.*e.kind->text)}});
  return writeDirectoryAtomic(e.path, files,
                              [&](const std::string& folder) { return holdsOnly(folder, e.kind->extension); });
}

Status writeObject(const std::string& path, const Compilation& c, Linker& linker) {
  if (c.kernels.empty())
    return fail(Diag::Unsupported, "the plan has no kernels, of which --emit obj would make an object",
                "leave --emit obj out");
  std::vector<std::string> objects;
  for (const CompiledKernel& k : c.kernels) objects.push_back(k.object);
  SVOD_TRY(const std::string object, linker.linkRelocatable(objects));
  const std::span<const std::byte> chunk = bytesOf(object);
  return holdsChunks(path, std::span(&chunk, 1)) ? Status() : writeFileAtomic(path, object);
}

}  // namespace

Result<std::vector<Emission>> emissionsOf(const Request& request) {
  const Flags& flags = request.flags;
  std::vector<Emission> emissions;
  std::string base = flags.output;
  while (base.size() > 1 && base.back() == '/') base.pop_back();
  for (const std::string& text : flags.emit) {
    const size_t equals = text.find('=');
    SVOD_TRY(const EmitKind* kind, kindOf(std::string_view(text).substr(0, equals)));
    const std::string path = equals == text.npos ? base + "." + std::string(kind->name) : text.substr(equals + 1);
    if (path.empty() || path == "-")
      return fail(Diag::Usage, "--emit " + std::string(kind->name) + " needs a path",
                  "--emit " + std::string(kind->name) + "=PATH");
    emissions.push_back({kind, path});
  }
  if (!emissions.empty() && flags.target != "cpu")
    return fail(Diag::Usage,
                "--emit " + std::string(emissions[0].kind->name) + " is for --target cpu, not " + flags.target,
                "leave --emit out: a plan of target " + flags.target + " holds its source");
  SVOD_CHECK(checkPlaces(request, emissions));
  return emissions;
}

Status writeEmissions(std::span<const Emission> emissions, const Compilation& compilation, Linker& linker) {
  for (const Emission& e : emissions)
    SVOD_CHECK(e.kind->text == nullptr ? writeObject(e.path, compilation, linker) : writeFolder(e, compilation));
  return {};
}

std::vector<std::string> filesOf(const Emission& e, const Compilation& c) {
  if (e.kind->text == nullptr) return {e.path};
  std::vector<std::string> files;
  for (const CompiledKernel& k : c.kernels)
    files.push_back(e.path + "/" + k.desc.symbol + std::string(e.kind->extension));
  return files;
}

}  // namespace svod
