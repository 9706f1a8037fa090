// From a graph file to a Model. The formats are documented in docs/graph-format.md.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/graph_file.h"
#include "frontend/size_form.h"
#include "ir/model.h"
#include "support/result.h"

namespace svod {

/// What the command line says about a variable: other bounds, its likely value, one value, or what it is in terms of
/// others.
struct VariableOption {
  std::string name;
  std::optional<int64_t> min, max, value;
  std::optional<SizeForm> form = {};
  std::optional<int64_t> likely = {};
};
/// The dims of an input: numbers, or sizes over variables of the graph or new ones.
using ShapeOption = std::pair<std::string, std::vector<SizeForm>>;

/// An op of an ONNX model that is a function of the application: --host-op.
struct HostOpOption {
  std::string domain, op;
  std::optional<DType> dtype;  // of its results, where the model does not say it
};

struct LoadOptions {
  std::vector<VariableOption> variables;                       // --var
  std::vector<ShapeOption> shapes;                             // --shape
  std::vector<std::pair<std::string, std::string>> constants;  // --const: a .npy file in place of an input
  std::vector<std::pair<std::string, std::string>> states =
      {};  // --state: an input, and the output it is in the next run
  std::vector<HostOpOption> hostOps = {};
  std::vector<std::string> inputDefaults = {};  // --input-default: inputs that stay some although the model has a value
  std::vector<std::string> devices = {};        // --device: besides cpu, what copy(x, device=NAME) may name
  std::set<std::string>* filesRead = nullptr;   // gets the path of every file with weights that is opened
};

/// "n=1:64", "n=1:64~8", "n=~8", "n=8", "n=m" or "h=8*k + 1".
Result<VariableOption> parseVariableOption(std::string_view text);
/// "x=1x3x224x224"; "x=" for a scalar. Dims may be sizes: "x=batchx4x8*k". Where a comma stands, dims end at commas
/// only.
Result<ShapeOption> parseShapeOption(std::string_view text);
/// "w=file.npy".
Result<std::pair<std::string, std::string>> parseConstantOption(std::string_view text);
/// "past.*.key=present.*.key".
Result<std::pair<std::string, std::string>> parseStateOption(std::string_view text);
/// "com.acme:Scale" or "com.acme:Scale=f32".
Result<HostOpOption> parseHostOpOption(std::string_view text);

/// Reads `.json` as JSON and `.svod` as text; other names by their first character, which is { for JSON.
Result<GraphFile> readGraphFile(const std::string& path);
/// The same from memory. Relative weight paths start at the directory of `path`.
Result<GraphFile> parseGraph(std::string_view text, const std::string& path);

/// The model a file describes. Weight files are mapped, not copied; the model keeps them mapped.
Result<Model> buildModel(const GraphFile& file, const LoadOptions& options = {});
/// Every error buildModel can find, at most 20. Empty: the file is good.
std::vector<Error> checkGraphFile(const GraphFile& file, const LoadOptions& options = {});

/// readGraphFile, then buildModel.
Result<Model> loadModel(const std::string& path, const LoadOptions& options = {});

}  // namespace svod
