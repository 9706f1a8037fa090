#include "models.h"

#include <algorithm>

#include "data/inside_folder.h"
#include "driver/c_functions.h"
#include "onnx/onnx.h"

namespace svod {

namespace {

constexpr uint64_t kMaxGraphBytes = uint64_t{1} << 26;  // as for a file

/// Values are put on devices by statements of a graph file; a model has none.
Status noDevices(const LoadOptions& options) {
  if (options.devices.empty()) return {};
  return fail(
      Diag::Usage, "--device " + options.devices[0] + " is for graph files, and this is an ONNX model",
      "svodc convert writes it as a graph file, in which copy(x, device=" + options.devices[0] + ") puts values there");
}

}  // namespace

Result<GraphFile> readGraph(const std::string& path) {
  if (path != "-") return readGraphFile(path);
  SVOD_TRY(std::string text, readStandardInput(kMaxGraphBytes));
  return parseGraph(text, "stdin");
}

Result<Model> readModel(const std::string& path, const LoadOptions& options, std::vector<Error>& notes,
                        CSources& sources) {
  if (isOnnxPath(path)) {
    SVOD_CHECK(noDevices(options));
    OnnxImport import = importOnnx(path, options);
    notes = std::move(import.notes);
    return std::move(import.model);
  }
  SVOD_TRY(const GraphFile file, readGraph(path));
  return buildModel(file, options, sources);
}

CFiles filesOf(const CSources& sources, const std::string& path) {
  CFiles files;
  for (const auto& [name, file] : sources.files) files.emplace(name, CFile{file.path, file.text, foldersOf(path)});
  return files;
}

Status checkFunctions(const Model& model, const CFiles& files, const CSources& sources, const CpuTarget* processor,
                      std::set<std::string>* filesRead) {
  if (sources.files.empty()) return {};
  SVOD_TRY(const CpuTarget baseline, makeCpuTarget("", ""));
  return checkCFunctions(model, files, processor == nullptr ? baseline : *processor, sources.calls, filesRead);
}

Result<Checkup> checkModel(const std::string& path, const LoadOptions& options) {
  if (isOnnxPath(path)) {
    SVOD_CHECK(noDevices(options));
    OnnxImport import = importOnnx(path, options);
    return Checkup{
        std::move(import.errors), std::move(import.notes), import.counts.inputs, import.counts.outputs, "nodes",
        import.counts.nodes};
  }
  SVOD_TRY(const GraphFile file, readGraph(path));
  auto countOf = [&](StatementKind kind) {
    return static_cast<size_t>(std::ranges::count(file.statements, kind, &Statement::kind));
  };
  CSources sources;
  std::vector<Error> errors = checkGraphFile(file, options, sources);
  if (errors.empty() && !sources.files.empty()) {
    SVOD_TRY(const Model model, buildModel(file, options));
    if (Status good = checkFunctions(model, filesOf(sources, path), sources, nullptr, nullptr); !good)
      errors.push_back(std::move(good.error()));
  }
  return Checkup{std::move(errors),     {}, countOf(StatementKind::Input), countOf(StatementKind::Output), "statements",
                 file.statements.size()};
}

Status checkAllowed(const CompileOptions& options, const Flags& flags, const std::string& runner) {
  if (flags.allowC || options.cFiles.empty()) return {};
  return fail(
      Diag::Usage, runner + " runs '" + options.cFiles.begin()->second.name + "': native code of the graph's author",
      "add --allow-c if you trust whoever wrote it" + std::string(flags.verify ? ", or compile without --verify" : ""));
}

}  // namespace svod
