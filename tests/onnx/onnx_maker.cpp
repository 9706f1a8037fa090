#include "onnx_maker.h"

namespace svod {

OnnxMaker::OnnxMaker(int opset) {
  model.set_ir_version(8);
  model.mutable_graph()->set_name("test");
  model.add_opset_import()->set_version(opset);
}

OnnxMaker& OnnxMaker::input(const std::string& name, const Names& dims, int type) {
  proto::ValueInfoProto& info = *model.mutable_graph()->add_input();
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  auto& shape = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const std::string& d : dims) {
    bool isNumber = d.find_first_not_of("-0123456789") == std::string::npos;
    auto& dim = *shape.add_dim();
    if (isNumber) {
      dim.set_dim_value(std::stoll(d));
    } else {
      dim.set_dim_param(d);
    }
  }
  return *this;
}

OnnxMaker& OnnxMaker::output(const std::string& name, int type) {
  proto::ValueInfoProto& info = *model.mutable_graph()->add_output();
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  return *this;
}

OnnxMaker& OnnxMaker::shapedOutput(const std::string& name, const std::vector<int64_t>& dims, int type) {
  output(name, type);
  auto& shape =
      *model.mutable_graph()->mutable_output()->rbegin()->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int64_t d : dims) shape.add_dim()->set_dim_value(d);
  return *this;
}

OnnxMaker& OnnxMaker::floats(const std::string& name, std::vector<int64_t> dims, const std::vector<float>& values) {
  proto::TensorProto& t = *model.mutable_graph()->add_initializer();
  t.set_name(name);
  t.set_data_type(1);
  t.mutable_dims()->Add(dims.begin(), dims.end());
  t.mutable_float_data()->Add(values.begin(), values.end());
  return *this;
}

OnnxMaker& OnnxMaker::ints(const std::string& name, std::vector<int64_t> dims, const std::vector<int64_t>& values) {
  proto::TensorProto& t = *model.mutable_graph()->add_initializer();
  t.set_name(name);
  t.set_data_type(7);
  t.mutable_dims()->Add(dims.begin(), dims.end());
  t.mutable_int64_data()->Add(values.begin(), values.end());
  return *this;
}

proto::NodeProto& OnnxMaker::node(const std::string& op, const Names& inputs, const Names& outputs) {
  addNode(*model.mutable_graph()->mutable_node(), op, inputs, outputs);
  return *model.mutable_graph()->mutable_node()->rbegin();
}

OnnxImport OnnxMaker::import(const LoadOptions& options) const {
  const std::string data = bytes();
  return importOnnxBytes(std::as_bytes(std::span(data.data(), data.size())), "test.onnx", options);
}

Result<WrittenModel> OnnxMaker::convert(const LoadOptions& options) const {
  const std::string data = bytes();
  auto bytes = std::as_bytes(std::span(data.data(), data.size()));
  SVOD_TRY(OnnxConversion conversion, convertOnnxBytes(bytes, "test.onnx", options, "graph.safetensors"));
  return std::move(conversion.written);
}

void addNode(google::protobuf::RepeatedPtrField<proto::NodeProto>& nodes, const std::string& op,
             const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  proto::NodeProto& node = *nodes.Add();
  size_t mark = op.find("::");
  node.set_op_type(mark == std::string::npos ? op : op.substr(mark + 2));
  if (mark != std::string::npos) node.set_domain(op.substr(0, mark));
  for (const std::string& name : inputs) node.add_input(name);
  for (const std::string& name : outputs) node.add_output(name);
}

void addAttribute(proto::NodeProto& node, const std::string& name, int64_t value) {
  proto::AttributeProto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(2);
  a.set_i(value);
}

void addAttribute(proto::NodeProto& node, const std::string& name, float value) {
  proto::AttributeProto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(1);
  a.set_f(value);
}

void addAttribute(proto::NodeProto& node, const std::string& name, const std::vector<int64_t>& values) {
  proto::AttributeProto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(7);
  a.mutable_ints()->Add(values.begin(), values.end());
}

void addAttribute(proto::NodeProto& node, const std::string& name, const std::string& value) {
  proto::AttributeProto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(3);
  a.set_s(value);
}

proto::GraphProto& addGraph(proto::NodeProto& node, const std::string& name, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs) {
  proto::AttributeProto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(5);
  for (const std::string& input : inputs) a.mutable_g()->add_input()->set_name(input);
  for (const std::string& output : outputs) a.mutable_g()->add_output()->set_name(output);
  return *a.mutable_g();
}

}  // namespace svod
