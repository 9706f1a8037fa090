#include "onnx/importer_text.h"

#include <algorithm>

#include "support/text.h"

namespace svod {

std::string opName(const proto::NodeProto& node) {
  std::string domain(canonicalDomain(node.domain()));
  return domain.empty() ? node.op_type() : domain + "::" + node.op_type();
}

std::string functionKey(std::string_view domain, const std::string& name, const std::string& overload) {
  return std::string(canonicalDomain(domain)) + "::" + name + "::" + overload;
}

std::string optionText(std::string_view flag, const std::string& name, std::string_view value) {
  return std::string(flag) + " " + shellWord(shortened(name) + "=" + std::string(value));
}

bool hasShape(const proto::ValueInfoProto& value) {
  return value.type().has_tensor_type() && value.type().tensor_type().has_shape();
}

std::string shapeText(const proto::ValueInfoProto& input) {
  std::string text;
  for (const auto& dim : input.type().tensor_type().shape().dim()) {
    const bool isNumber = dim.has_dim_value() && dim.dim_value() >= 0;
    text += (text.empty() ? "" : "x") + (isNumber ? std::to_string(dim.dim_value()) : "SIZE");
  }
  return text;
}

Error printable(Error error) {
  auto clean = [](std::string& text) {
    std::ranges::replace_if(
        text, [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == 0x7f; }, '?');
  };
  clean(error.message);
  clean(error.help);
  std::ranges::for_each(error.notes, clean);
  return error;
}

}  // namespace svod
