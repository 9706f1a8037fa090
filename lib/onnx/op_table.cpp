#include "onnx/op_table.h"

#include <algorithm>
#include <array>

namespace svod {

#define ONNX_OP(name, since, min, max, inputs, attributes, lower) Results lower(OnnxNode& node);
#define ONNX_AS(name, since, min, max, inputs, attributes, graphOp)
#include "onnx/ops.def"
#undef ONNX_OP
#undef ONNX_AS

namespace {

constexpr OnnxOp kRows[] = {
#define ONNX_OP(name, since, min, max, inputs, attributes, lower) \
  {name, since, min, max, inputs, attributes, {}, lower},
#define ONNX_AS(name, since, min, max, inputs, attributes, graphOp) \
  {name, since, min, max, inputs, attributes, graphOp, nullptr},
#include "onnx/ops.def"
#undef ONNX_OP
#undef ONNX_AS
};

constexpr auto kOps = [] {
  std::array<OnnxOp, std::size(kRows)> ops{};
  std::copy(std::begin(kRows), std::end(kRows), ops.begin());
  std::sort(ops.begin(), ops.end(),
            [](const OnnxOp& a, const OnnxOp& b) { return a.name != b.name ? a.name < b.name : a.since < b.since; });
  return ops;
}();

struct TypeName {
  std::string_view text;
  OnnxType type;
};
constexpr TypeName kTypeNames[] = {
    {"float", OnnxType::Float},   {"int", OnnxType::Int},       {"flag", OnnxType::Flag},
    {"dtype", OnnxType::DType},   {"string", OnnxType::String}, {"tensor", OnnxType::Tensor},
    {"sparse", OnnxType::Sparse}, {"graph", OnnxType::Graph},   {"type", OnnxType::Type},
    {"floats", OnnxType::Floats}, {"ints", OnnxType::Ints},     {"strings", OnnxType::Strings}};

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// One "name:type=default".
OnnxAttribute parseAttribute(std::string_view text) {
  size_t colon = text.find(':'), equals = std::min(text.find('='), text.size());
  OnnxAttribute attribute{trim(text.substr(0, colon)), OnnxType::Int, equals == text.size(), std::nullopt};
  std::string_view type = trim(text.substr(colon + 1, equals - colon - 1));
  for (const TypeName& t : kTypeNames)
    if (t.text == type) attribute.type = t.type;
  if (equals < text.size() && trim(text.substr(equals + 1)) != "none") attribute.preset = trim(text.substr(equals + 1));
  return attribute;
}

std::vector<std::vector<OnnxAttribute>> parseAll() {
  std::vector<std::vector<OnnxAttribute>> all;
  for (const OnnxOp& op : kOps) {
    all.emplace_back();
    for (std::string_view rest = op.attributes; !trim(rest).empty();) {
      size_t comma = std::min(rest.find(','), rest.size());
      all.back().push_back(parseAttribute(rest.substr(0, comma)));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return all;
}

}  // namespace

std::span<const OnnxOp> allOnnxOps() { return kOps; }

const OnnxOp* findOnnxOp(std::string_view name, int opset) {
  const OnnxOp* found = nullptr;
  auto at = std::lower_bound(kOps.begin(), kOps.end(), name,
                             [](const OnnxOp& op, std::string_view n) { return op.name < n; });
  for (; at != kOps.end() && at->name == name && at->since <= opset; ++at) found = &*at;
  return found;
}

std::optional<int> firstOnnxOpset(std::string_view name) {
  auto at = std::lower_bound(kOps.begin(), kOps.end(), name,
                             [](const OnnxOp& op, std::string_view n) { return op.name < n; });
  if (at == kOps.end() || at->name != name) return std::nullopt;
  return at->since;
}

std::span<const std::string_view> onnxOpNames() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const OnnxOp& op : kOps)
      if (names.empty() || names.back() != op.name) names.push_back(op.name);
    return names;
  }();
  return kNames;
}

const std::vector<OnnxAttribute>& onnxAttributes(const OnnxOp& op) {
  static const std::vector<std::vector<OnnxAttribute>> kAttributes = parseAll();
  return kAttributes[static_cast<size_t>(&op - kOps.data())];
}

}  // namespace svod
