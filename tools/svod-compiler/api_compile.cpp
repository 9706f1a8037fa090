// Functions of svod/compiler.h that compile.
#include <optional>

#include "tools/svod-compiler/call.h"
#include "tools/svod-compiler/compilation.h"
#include "tools/svodc/model_files.h"
#include "tools/svodc/options.h"

using namespace svod;

struct svod_artifacts {
  std::optional<TempDir> folder{};  // of files that stand nowhere else
  CompiledFiles made{};
};

namespace {

/// What is compiled: a file, in a folder of its own where it was made for this.
struct Source {
  std::string path, name;
  std::optional<TempDir> folder{};
};

struct Wanted {
  const char* const* flags;
  size_t count;
  const char* folder;
};

/// An error as one message, as svod_error has no place for the rest. What was made for the compile goes by its name.
Error withPlace(Error error, const Source& source) {
  const SourceLoc& at = error->loc;
  std::string place = source.folder && at.file == source.path ? source.name + ".svod" : at.file;
  if (at.line > 0) place += ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
  if (!place.empty()) error->message = place + ": " + error->message;
  for (const std::string& note : error->notes) error->message += "\n" + note;
  return error;
}

Status compileSource(const Source& source, const Wanted& wanted, svod_artifacts** artifacts) {
  SVOD_CHECK(checkGiven({artifacts}));
  if (wanted.count > 0) SVOD_CHECK(checkGiven({wanted.flags}));
  std::vector<std::string> words;
  for (size_t i = 0; i < wanted.count; ++i) {
    SVOD_CHECK(checkGiven({wanted.flags[i]}));
    words.emplace_back(wanted.flags[i]);
  }
  auto made = std::make_unique<svod_artifacts>();
  std::string folder = wanted.folder == nullptr ? "" : wanted.folder;
  if (wanted.folder == nullptr) {
    SVOD_TRY(made->folder, makeWorkFolder());
    folder = made->folder->file("");
  }
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  Result<CompiledFiles> files = compileInProcess(source.path, source.name, words, folder);
  if (!files) return fail(withPlace(std::move(files.error()), source));
  made->made = std::move(*files);
  *artifacts = made.release();
  return {};
}

/// A place for the graph file `name`.
Result<Source> sourceNamed(const std::string& name) {
  SVOD_TRY(TempDir folder, makeWorkFolder());
  std::string path = folder.file(name + ".svod");
  return Source{std::move(path), name, std::move(folder)};
}

}  // namespace

int svod_compiler_abi(void) { return SVOD_COMPILER_ABI; }
const char* svod_compiler_release(void) { return SVOD_VERSION; }

int svod_compile_file(const char* path, const char* const* flags, size_t flag_count, const char* folder,
                      svod_artifacts** artifacts, svod_error* error) {
  return guardCall(error, [&]() -> Status {
    SVOD_CHECK(checkGiven({path}));
    if (std::string_view(path) == "-") return fail(Diag::Usage, "a library reads no standard input", "give a path");
    return compileSource({path, graphName(path)}, {flags, flag_count, folder}, artifacts);
  });
}

int svod_compile_text(const char* text, const char* name, const char* const* flags, size_t flag_count,
                      const char* folder, svod_artifacts** artifacts, svod_error* error) {
  return guardCall(error, [&]() -> Status {
    SVOD_CHECK(checkGiven({text, name}));
    SVOD_CHECK(checkGraphName(name));
    SVOD_TRY(const Source source, sourceNamed(name));
    SVOD_CHECK(writeWholeFile(source.path, text));
    return compileSource(source, {flags, flag_count, folder}, artifacts);
  });
}

int svod_compile_graph(svod_graph* graph, const char* const* flags, size_t flag_count, const char* folder,
                       svod_artifacts** artifacts, svod_error* error) {
  return guardCall(error, [&]() -> Status {
    SVOD_CHECK(checkGiven({graph}));
    SVOD_CHECK(completeGraph(*graph));
    SVOD_TRY(const Source source, sourceNamed(graph->name));
    SVOD_CHECK(writeModelFiles(source.path, graph->text, graph->written.weights));
    return compileSource(source, {flags, flag_count, folder}, artifacts);
  });
}

void svod_artifacts_free(svod_artifacts* artifacts) { delete artifacts; }

size_t svod_artifacts_count(const svod_artifacts* artifacts) {
  return artifacts == nullptr ? 0 : artifacts->made.files.size();
}

const char* svod_artifacts_path(const svod_artifacts* artifacts, size_t index) {
  return index < svod_artifacts_count(artifacts) ? artifacts->made.files[index].path.c_str() : nullptr;
}

const void* svod_artifacts_data(const svod_artifacts* artifacts, size_t index, size_t* bytes) {
  const bool isThere = index < svod_artifacts_count(artifacts);
  if (bytes != nullptr) *bytes = isThere ? static_cast<size_t>(artifacts->made.files[index].file.size()) : 0;
  return isThere ? artifacts->made.files[index].file.data() : nullptr;
}

const char* svod_artifacts_report(const svod_artifacts* artifacts) {
  return artifacts == nullptr ? "" : artifacts->made.report.c_str();
}

const char* svod_artifacts_notes(const svod_artifacts* artifacts) {
  return artifacts == nullptr ? "" : artifacts->made.notes.c_str();
}
