#include "wrong_plan.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>

#include "data/atomic_write.h"
#include "data/npy.h"
#include "data/safetensors.h"
#include "frontend/model_reader.h"
#include "models.h"
#include "onnx/onnx.h"
#include "repro.h"
#include "verify/graph_reducer.h"

namespace svod {

namespace {

namespace fs = std::filesystem;

constexpr const char *kGraph = "graph.svod", *kSmaller = "smaller.svod", *kWeights = "graph.safetensors";
constexpr uint64_t kMostBytes = uint64_t{64} << 20;  // of weights, and of arrays, that are left
// Which a graph file that was made of an ONNX model has taken in.
constexpr std::string_view kModelFlags[] = {"var", "shape", "const", "state", "host-op"};

/// A graph as a file, and the data of its weights where that came out of an ONNX model.
struct ReproGraph {
  GraphFile file;
  std::vector<WrittenWeight> weights;
  LoadOptions load;
};

Result<ReproGraph> graphOf(const Request& request) {
  const std::string& path = request.files.at(0);
  SVOD_TRY(LoadOptions load, loadOptions(request.flags));
  if (path == "-") return fail(Diag::Io, "the graph came from stdin", "");
  if (!isOnnxPath(path)) {
    SVOD_TRY(GraphFile file, readGraph(path));
    return ReproGraph{std::move(file), {}, std::move(load)};
  }
  SVOD_TRY(OnnxConversion converted, convertOnnx(path, load, kWeights));
  return ReproGraph{std::move(converted.written.file), std::move(converted.written.weights), {}};
}

Result<Model> modelOf(const ReproGraph& graph, const GraphFile& file) {
  ModelReader reader(file, graph.load);
  for (const WrittenWeight& w : graph.weights) reader.weights().give(std::string(kWeights) + ":" + w.name, w.data);
  reader.read();
  if (!reader.errors().empty()) return fail(reader.errors().front());
  return reader.finish();
}

/// The files of weights, as seen from another folder.
void moveFiles(GraphExpr& e, const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (e.kind == ExprKind::String && !fs::path(e.text).is_absolute() && fs::is_regular_file(from / e.text, error)) {
    const fs::path seen = fs::relative(from / e.text, to, error);
    if (!error) e.text = seen.string();
  }
  for (GraphExpr& item : e.items) moveFiles(item, from, to);
}

GraphFile moved(GraphFile file, const std::string& folder) {
  const fs::path from = fs::path(file.path).parent_path();
  for (Statement& s : file.statements)
    if (s.kind == StatementKind::Weight || s.kind == StatementKind::State)
      moveFiles(s.value, from.empty() ? "." : from, folder);
  return file;
}

/// The command with another graph; `drops` flags that this one has taken in.
std::string commandFor(const Request& request, const std::string& graph, bool drops) {
  std::vector<std::string> words;
  for (size_t i = 0; i < request.words.size(); ++i) {
    const std::string& word = request.words[i];
    const std::string_view name = std::string_view(word).starts_with("--") ? std::string_view(word).substr(2) : "";
    const size_t equals = name.find('=');
    if (drops && std::ranges::find(kModelFlags, name.substr(0, equals)) != std::end(kModelFlags)) {
      if (equals == name.npos) ++i;  // its value
      continue;
    }
    words.push_back(word == request.files.at(0) ? graph : word);
  }
  return shellCommand(words);
}

/// Files of the folder, with the bytes that they borrow.
struct Bundle {
  std::vector<FileContent> files;
  std::deque<std::string> texts;
  std::deque<std::vector<std::byte>> arrays;
  std::string report, smaller;

  void add(const std::string& name, std::string text) {
    texts.push_back(std::move(text));
    files.push_back({name, {std::as_bytes(std::span(texts.back()))}});
  }
  void add(const std::string& name, const HostTensor& tensor) {
    const ElementType dtype = *elementTypeFromName(toText(tensor.dtype));
    const std::vector<uint64_t> shape(tensor.dims.begin(), tensor.dims.end());
    arrays.push_back(tensor.toMemory());
    if (std::vector<std::byte> items = npyItems(dtype, shape, arrays.back()); !items.empty())
      arrays.push_back(std::move(items));
    texts.push_back(npyHeader(dtype, shape));
    files.push_back({name, {std::as_bytes(std::span(texts.back())), arrays.back()}});
  }
};

void addArrays(Bundle& bundle, const WrongRun& wrong) {
  const std::pair<const char*, const std::vector<NamedTensor>*> lists[] = {
      {"input", &wrong.inputs}, {"expected", &wrong.expected}, {"plan", &wrong.actual}};
  uint64_t bytes = 0;
  for (const auto& [kind, tensors] : lists)
    for (const NamedTensor& each : *tensors) bytes += each.tensor.data.size();
  if (bytes > kMostBytes) return;
  for (const auto& [kind, tensors] : lists)
    for (size_t i = 0; i < tensors->size(); ++i) {
      const std::string name = std::string(kind) + "-" + std::to_string(i) + ".npy";
      bundle.add(name, (*tensors)[i].tensor);
      bundle.report += name + ": " + (*tensors)[i].name + "\n";
    }
}

/// The weights that came out of a model, if they are few.
bool addWeights(Bundle& bundle, const ReproGraph& graph, NewSafetensors& layout) {
  uint64_t bytes = 0;
  std::vector<NewSafeTensor> tensors;
  for (const WrittenWeight& w : graph.weights) {
    bytes += w.data.bytes;
    tensors.push_back(
        {w.name, *elementTypeFromName(toText(w.dtype)), {w.dims.begin(), w.dims.end()}, {w.data.data, w.data.bytes}});
  }
  if (bytes > kMostBytes) return false;
  layout = layOutSafetensors(std::move(tensors));
  if (!graph.weights.empty()) bundle.files.push_back({kWeights, layout.chunks()});
  return true;
}

GraphFile smallerOf(const ReproGraph& graph, const BuildResult& build, double seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  CompileOptions options = build.options;
  options.progress = {};
  const GraphFails fails = [&](const GraphFile& file, Model* model) {
    Result<Model> made = modelOf(graph, file);
    if (!made) return false;
    const auto compiled = compile(*made, options);
    if (!compiled) return false;
    const auto choices = verifyPlan(*made, **compiled, options.numerics);
    if (choices || choices.error()->diag != Diag::Mismatch) return false;
    *model = std::move(*made);
    return true;
  };
  return reducedGraph(graph.file, fails, [&] { return Clock::now() >= end; });
}

}  // namespace

Error withWrongPlan(Error error, const WrongRun& wrong, const BuildResult& build, const Request& request) {
  const std::string& folder = request.flags.reproDir;
  if (folder == "none") return error;
  const bool isModel = isOnnxPath(request.files.at(0));
  Bundle bundle;
  const std::string sizes = toText(wrong.variables);
  bundle.report = "command: " + shellCommand(request.words) + "\ninputs: random, of seed " +
                  std::to_string(wrong.number) + (sizes.empty() ? "" : ", with " + sizes) + "\n";
  const Result<ReproGraph> graph =
      build.options.cFiles.empty() ? graphOf(request) : fail(Diag::Unsupported, "it has functions in C", "");
  NewSafetensors layout;
  const bool hasGraph = graph && addWeights(bundle, *graph, layout);
  if (hasGraph) {
    bundle.add(kGraph, writeGraphText(moved(graph->file, folder)));
    bundle.report += "again: " + commandFor(request, folder + "/" + kGraph, isModel) + "\n";
  } else {
    bundle.report += "graph: " + request.files.at(0) + (graph ? "" : ", " + graph.error()->message) + "\n";
  }
  addArrays(bundle, wrong);
  const auto write = [&](const std::string& more) {
    std::vector<FileContent> files = bundle.files;
    const std::string report = bundle.report + more + "\n" + toText(error) + "\n";
    files.push_back({kReportFile, {std::as_bytes(std::span(report))}});
    return writeDirectoryAtomic(folder, files, isRepro);
  };
  Status written = write("");
  std::string also;
  if (written && hasGraph && request.flags.reproSeconds > 0) {  // a plan that is wrong may end the process
    const GraphFile smaller = smallerOf(*graph, build, static_cast<double>(request.flags.reproSeconds));
    const size_t before = statementsOf(graph->file), after = statementsOf(smaller);
    bundle.add(kSmaller, writeGraphText(moved(smaller, folder)));
    also = ", and a smaller graph of " + std::to_string(after) + " statements in place of " + std::to_string(before);
    written = write("smaller: " + commandFor(request, folder + "/" + kSmaller, isModel) + "\n");
  }
  if (!written) return std::move(error).withNote("nothing was left in --repro-dir: " + written.error()->message);
  return std::move(error).withNote("the graph, its inputs, both values" + also + " are in " + folder);
}

}  // namespace svod
