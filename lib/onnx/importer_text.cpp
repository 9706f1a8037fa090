#include "onnx/importer_text.h"

#include <algorithm>

#include "support/text.h"

namespace svod {

namespace {

// What stands for the size of a dim without a number.
std::string textOfDim(const proto::ValueInfoProto& input, int axis) {
  const auto& dim = input.type().tensor_type().shape().dim(axis);
  return dim.dim_param().empty() ? input.name() + "." + std::to_string(axis) : dim.dim_param();
}

// Exporters write sizes that depend on others as expressions: 2*s0, past + seq. A hyphen without spaces is part of a
// name.
bool isExpression(std::string_view text) {
  if (text.find_first_of("+*- ") == text.npos) return false;
  for (size_t at = text.find('-'); at != text.npos; at = text.find('-', at + 1))
    if (at == 0 || text[at - 1] != ' ') return false;
  return true;
}

}  // namespace

SizeForm formOfDim(const proto::ValueInfoProto& input, int axis) {
  const std::string text = textOfDim(input, axis);
  const bool isNamed = !input.type().tensor_type().shape().dim(axis).dim_param().empty();
  if (isNamed && isExpression(text))
    if (Result<SizeForm> form = parseSizeForm(text); form && !form->isNumber()) return *form;
  return SizeForm::variable(text);
}

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
    std::ranges::replace_if(text, [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == 0x7f; }, '?');
  };
  clean(error->message);
  clean(error->help);
  std::ranges::for_each(error->notes, clean);
  return error;
}

}  // namespace svod
