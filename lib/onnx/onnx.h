// From an ONNX model to a Model: the same graph of tensors that a graph file becomes. docs/onnx.md says what
// is read.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/frontend.h"
#include "frontend/model_writer.h"

namespace svod {

/// What a model holds, for summaries.
struct OnnxCounts {
  size_t inputs = 0, outputs = 0, nodes = 0;
};

/// What reading a model gave: a model when there are no errors.
struct OnnxImport {
  Result<Model> model = fail(Diag::Syntax, "nothing was read");
  std::vector<Error> errors;  // every problem, those of dependent nodes left out
  std::vector<Error> notes;   // what was chosen because neither the model nor the options do; none beside errors
  OnnxCounts counts;
};

/// Whether `path` is named as an ONNX model: it ends in .onnx, in capitals or not.
bool isOnnxPath(std::string_view path);

/// Reads `path`. Weights in files with external data stay mapped; those inside of `path` are copied once, by
/// the parser. The model keeps both alive. Variables come from the symbolic dims of the inputs.
OnnxImport importOnnx(const std::string& path, const LoadOptions& options = {});
/// The same from memory. External data is looked for in the folder of `path`; `bytes` are not
/// needed afterwards.
OnnxImport importOnnxBytes(std::span<const std::byte> bytes, const std::string& path, const LoadOptions& options = {});

/// A model as a graph file, and the notes of OnnxImport.
struct OnnxConversion {
  WrittenModel written;
  std::vector<Error> notes;
};

/// The model as a graph file that builds the same Model; the first error. `weightFile` is what the text calls the file
/// of its weights. The bytes of the weights stay those of the model, mapped or copied as importOnnx says.
Result<OnnxConversion> convertOnnx(const std::string& path, const LoadOptions& options, const std::string& weightFile);
Result<OnnxConversion> convertOnnxBytes(std::span<const std::byte> bytes, const std::string& path,
                                        const LoadOptions& options, const std::string& weightFile);

}  // namespace svod
