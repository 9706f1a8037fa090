// Lists of nodes that are imported, and what names stand for in them (an internal header of the room).
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/tensor.h"
#include "onnx/attributes.h"
#include "onnx/node_order.h"

namespace svod {

using Opsets = std::map<std::string, int64_t, std::less<>>;  // by domain
using NodeList = google::protobuf::RepeatedPtrField<proto::NodeProto>;
using Declarations = google::protobuf::RepeatedPtrField<proto::ValueInfoProto>;

/// What a name stands for: a tensor, or an initializer nobody has used yet, or something with an error.
struct NamedValue {
  Tensor tensor;
  const proto::TensorProto* data = nullptr;
  bool isBroken = false;
  const proto::SparseTensorProto* sparse = nullptr;  // in place of `data`
};

struct NameScope {
  std::unordered_map<std::string, NamedValue> values;
  NameScope* outer = nullptr;
};

/// A list of nodes being imported: that of the model, of a function, or of a graph attribute.
struct ImportedBody {
  NameScope scope;
  const NodeList* nodes = nullptr;
  const Opsets* opsets = nullptr;
  UsedNames used;  // by nodes, or as results
  UsedNames left;  // what nobody asks for: nodes that make it are left out
  FunctionAttributes attributes;
  std::vector<const Declarations*> declarations;  // of its values
  bool isOfFunction = false;            // it is a function or in one, where names of dims are not those of the model
  std::string place;                    // " in function 'f'", for messages
  const ImportedBody* outer = nullptr;  // the one whose values a graph attribute sees
  int depth = 0;
};

struct ImportedFunction {
  const proto::FunctionProto* proto;
  Opsets opsets;
};

}  // namespace svod
