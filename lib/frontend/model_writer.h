// From a graph that is being built to a graph file that builds the same graph: what `svodc convert` makes of models in
// other formats.
#pragma once
#include <string>
#include <vector>

#include "frontend/builder.h"
#include "frontend/graph_file.h"

namespace svod {

/// A weight that stands in the weight file.
struct WrittenWeight {
  std::string name;
  DType dtype = DType::Void;
  std::vector<int64_t> dims;
  ConstData data;
};

struct WrittenModel {
  GraphFile file;
  std::vector<WrittenWeight> weights;  // in the order of the file
};

/// Everything that was built since the log began, which must be all of it. `weightFile` is what the text calls the
/// .safetensors file of the weights; those with few elements stand in the text. Values keep their labels as names,
/// others are _1, _2, .. Reading the result gives the same Model as builder.finish() does. The builder must have no
/// error; nodes are added to its graph, but none that a model needs. Diag::Unsupported for what has no form in graph
/// files.
Result<WrittenModel> writeModel(GraphBuilder& builder, const BuildLog& log, const std::string& weightFile);

}  // namespace svod
