// The table of ONNX ops: one row per op and opset from which it means what the row says. Rows stand in
// ops/FAMILY.def, lowerings in ops/FAMILY.cpp. docs/add-an-onnx-op.md says how to add one.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/graph_op.h"

namespace svod {

class OnnxNode;

/// Type of an attribute in a row. Flag and DType are integers in the file.
enum class OnnxType : uint8_t { Float, Int, Flag, DType, String, Tensor, Sparse, Graph, Type, Floats, Ints, Strings };

struct OnnxAttribute {
  std::string_view name;
  OnnxType type;
  bool isRequired;
  std::optional<std::string_view> preset;  // text of the default
};

struct OnnxOp {
  std::string_view name;  // "Conv"; "DOMAIN::Name" outside the default domain
  int since;              // first opset it holds for; it ends where the next row of the name begins
  int minInputs, maxInputs;
  std::string_view inputs;      // their names, for messages
  std::string_view attributes;  // "name:type=default, .."; without default required, `=none` optional
  std::string_view graphOp;     // the op of frontend/ops.def that it is; else `lower`
  Results (*lower)(OnnxNode& node);
};

/// The newest opset of the default domain that the rows were written for.
inline constexpr int kNewestOnnxOpset = 28;

/// Sorted by name and opset.
std::span<const OnnxOp> allOnnxOps();
/// The row for a version of the op's domain; null when there is none.
const OnnxOp* findOnnxOp(std::string_view name, int opset);
/// The first opset that has a row of that name, or nothing.
std::optional<int> firstOnnxOpset(std::string_view name);
/// Names, each once, for did-you-mean.
std::span<const std::string_view> onnxOpNames();
const std::vector<OnnxAttribute>& onnxAttributes(const OnnxOp& op);

}  // namespace svod
