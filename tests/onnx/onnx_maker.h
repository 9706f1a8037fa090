// ONNX models written in tests.
#pragma once
#include <onnx.pb.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "onnx/onnx.h"

namespace svod {

/// Builds a ModelProto line by line. Dims are numbers or names: {"n", "3"}.
class OnnxMaker {
 public:
  proto::ModelProto model;

  explicit OnnxMaker(int opset = 17);
  using Names = std::vector<std::string>;

  OnnxMaker& input(const std::string& name, const Names& dims, int type = 1);
  OnnxMaker& output(const std::string& name, int type = 1);
  /// An output with declared dims.
  OnnxMaker& shapedOutput(const std::string& name, const std::vector<int64_t>& dims, int type = 1);
  OnnxMaker& floats(const std::string& name, std::vector<int64_t> dims, const std::vector<float>& values);
  OnnxMaker& ints(const std::string& name, std::vector<int64_t> dims, const std::vector<int64_t>& values);
  /// The node stays valid for more attributes.
  proto::NodeProto& node(const std::string& op, const Names& inputs, const Names& outputs);

  std::string bytes() const { return model.SerializeAsString(); }
  OnnxImport import(const LoadOptions& options = {}) const;
  /// As a graph file with its weights in graph.safetensors.
  Result<WrittenModel> convert(const LoadOptions& options = {}) const;
};

void addNode(google::protobuf::RepeatedPtrField<proto::NodeProto>& nodes, const std::string& op,
             const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);
void addAttribute(proto::NodeProto& node, const std::string& name, int64_t value);
void addAttribute(proto::NodeProto& node, const std::string& name, float value);
void addAttribute(proto::NodeProto& node, const std::string& name, const std::vector<int64_t>& values);
void addAttribute(proto::NodeProto& node, const std::string& name, const std::string& value);
/// A graph attribute, with inputs and outputs by name; its nodes are added by the caller.
proto::GraphProto& addGraph(proto::NodeProto& node, const std::string& name, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs);

}  // namespace svod
