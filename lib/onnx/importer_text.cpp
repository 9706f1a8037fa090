#include "onnx/importer_text.h"

#include <algorithm>

#include "support/text.h"

namespace svod {

namespace {

// Exporters mark a dim without a name by nothing, blanks, "?" or a number below 0.
bool isName(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return false;
  text = text.substr(first, text.find_last_not_of(' ') + 1 - first);
  const bool isNegative = text.size() > 1 && text[0] == '-' && text.find_first_not_of("0123456789", 1) == text.npos;
  return text != "?" && !isNegative;
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
  const auto& dim = input.type().tensor_type().shape().dim(axis);
  const std::string& text = dim.dim_param();
  if (dim.has_dim_value() || !isName(text)) return SizeForm::variable(input.name() + "." + std::to_string(axis));
  if (isExpression(text))
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

bool isFreeDim(const proto::TensorShapeProto& shape, int axis) {
  return !shape.dim(axis).has_dim_value() || shape.dim(axis).dim_value() < 0;
}

bool hasShape(const proto::ValueInfoProto& value) {
  return value.type().has_tensor_type() && value.type().tensor_type().has_shape();
}

std::string shapeText(const proto::ValueInfoProto& input) {
  std::string text;
  const proto::TensorShapeProto& shape = input.type().tensor_type().shape();
  for (int i = 0; i < shape.dim_size(); ++i)
    text += (text.empty() ? "" : "x") + (isFreeDim(shape, i) ? "SIZE" : std::to_string(shape.dim(i).dim_value()));
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
