// svodc convert GRAPH -o GRAPH
#include <algorithm>
#include <filesystem>
#include <set>

#include "console/console.h"
#include "depfile.h"
#include "model_files.h"
#include "models.h"
#include "onnx/onnx.h"
#include "options.h"
#include "print.h"

namespace svod {

namespace {

/// Whether `path` is to hold JSON; stdout gets the format that the input does not have.
Result<bool> wantsJson(const std::string& path, const std::string& input) {
  if (path == "-") return !input.ends_with(".json") && !isOnnxPath(input);
  if (path.ends_with(".json")) return true;
  if (path.ends_with(".svod")) return false;
  return fail(Diag::Usage, "cannot tell the format of '" + path + "'", "name it .svod for text or .json for JSON");
}

std::string textOf(const GraphFile& file, bool json) { return json ? writeGraphJson(file) : writeGraphText(file); }

Status convertModel(const Request& request, bool json, Console& console) {
  const std::string &path = request.files.at(0), &output = request.flags.output;
  SVOD_TRY(LoadOptions load, loadOptions(request.flags));
  std::set<std::string> read = namedFiles(request, load);
  load.filesRead = &read;
  const std::string weightPath = weightPathOf(output);
  SVOD_TRY(const OnnxConversion conversion,
           convertOnnx(path, load, std::filesystem::path(weightPath).filename().string()));
  const WrittenModel& model = conversion.written;
  for (const Error& note : conversion.notes) console.note(note);
  const std::string text = textOf(model.file, json);
  if (model.weights.empty()) {
    SVOD_CHECK(writeResult(output, text, request, console));
    return writeDepfile(request, {output}, read);
  }
  if (output == "-")
    return fail(Diag::Usage, "the weights of '" + path + "' need a file beside the graph",
                "give the graph a name: -o GRAPH.svod");
  return request.interrupts->place([&]() -> Status {
    SVOD_CHECK(writeModelFiles(output, text, model.weights));
    return writeDepfile(request, {output, weightPath}, read);
  });
}

}  // namespace

Result<int> runConvert(const Request& request, Console& console) {
  const std::string &input = request.files.at(0), &output = request.flags.output;
  if (output.empty()) return fail(Diag::Usage, "svodc convert needs -o GRAPH", "svodc convert --help");
  SVOD_TRY(const bool json, wantsJson(output, input));
  SVOD_CHECK(checkResults(request));
  if (isOnnxPath(input)) {
    SVOD_CHECK(convertModel(request, json, console));
    return 0;
  }
  const Flags& flags = request.flags;
  if (!flags.var.empty() || !flags.shape.empty() || !flags.constant.empty())
    return fail(Diag::Usage, "--var, --shape and --const are for models: a graph file keeps its variables and inputs",
                "give them to svodc compile");
  SVOD_TRY(const GraphFile file, readGraph(input));
  SVOD_CHECK(writeResult(output, textOf(file, json), request, console));
  SVOD_CHECK(writeDepfile(request, {output}, namedFiles(request, {})));
  return 0;
}

}  // namespace svod
