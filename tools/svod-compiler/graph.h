// What an svod_graph holds: a builder, and the values and sizes that a program has numbers for.
#pragma once
#include <string>
#include <vector>

#include <svod/compiler.h>

#include "frontend/builder.h"
#include "frontend/model_writer.h"

struct svod_graph {
  std::string name;
  svod::GraphBuilder builder{};
  svod::BuildLog log{};
  std::vector<svod::Tensor> values{};  // svod_value, counted from 1
  std::vector<svod::Dim> sizes{};
  size_t openLoops = 0;
  bool isComplete = false;
  svod::WrittenModel written{};  // once it is complete
  std::string text{};
};

namespace svod {

/// Whether it can name a plan and its files. Errors: Usage.
Status checkGraphName(std::string_view name);

/// Ends the building; a second call does nothing. `written` calls the file of large weights NAME.safetensors.
Status completeGraph(svod_graph& graph);

/// A value or size that a program named. Errors: Usage.
Result<Tensor> valueOf(svod_graph& graph, svod_value value, const char* what);
Result<Dim> sizeOf(svod_graph& graph, svod_size size);
Result<Dims> dimsOf(svod_graph& graph, const svod_size* dims, size_t rank);
/// The number that stands for one; a constant is itself.
svod_size numberOf(svod_graph& graph, Dim size);

/// Errors: UnknownDtype.
Result<DType> dtypeOf(const char* text);
Result<Attributes> attributesOf(svod_graph& graph, std::string_view op, const svod_attribute* attributes, size_t count);

}  // namespace svod
