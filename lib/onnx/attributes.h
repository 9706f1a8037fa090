// Attributes of a node checked against the row of its op.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "onnx/model_file.h"
#include "onnx/op_table.h"
#include "support/result.h"

namespace svod {

/// Numbers of attribute types in the file.
enum AttributeFileType {
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kSparse = 11,
  kType = 13
};
/// The type of an attribute, also where the file does not say it; 0 for an empty list without one.
int typeOf(const proto::AttributeProto& a);

/// Attributes of the function whose body is being imported, by name.
using FunctionAttributes = std::map<std::string, const proto::AttributeProto*>;

/// The attributes a node has, with references replaced by what the function was given. References to
/// attributes the function was not given are left out. `made` keeps renamed copies alive.
std::vector<const proto::AttributeProto*> resolveAttributes(const proto::NodeProto& node,
                                                            const FunctionAttributes& function,
                                                            std::vector<std::unique_ptr<proto::AttributeProto>>& made);

/// Errors: Unsupported for attributes the row does not have, BadAttribute for wrong types, doubles and what
/// is missing.
Status checkAttributes(const OnnxOp& op, const std::vector<const proto::AttributeProto*>& attributes);

/// The attributes for a row that is an op of frontend/ops.def: the same names, defaults filled in.
Attributes graphAttributes(const OnnxNode& node);

}  // namespace svod
