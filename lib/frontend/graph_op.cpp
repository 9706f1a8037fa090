#include "frontend/graph_op.h"

#include <algorithm>
#include <array>

namespace svod {

#define THEME(name)
#define GRAPH_OP(text, min, max, operands, attributes, lower, what) Results lower(OpCall& call);
#define GRAPH_ALU(text, op, count, operands, what)
#include "frontend/ops.def"
#undef THEME
#undef GRAPH_OP
#undef GRAPH_ALU

namespace {

template <Op op>
Results lowerAlu(OpCall& call) {
  return elementwise(op, call.operands);
}

struct Row {
  GraphOp op;
  bool isTheme;
};

constexpr Row kRows[] = {
#define THEME(name) {{{}, 0, 0, {}, {}, nullptr, {}, name}, true},
#define GRAPH_OP(text, min, max, operands, attributes, lower, what) \
  {{text, min, max, operands, attributes, lower, what, {}}, false},
#define GRAPH_ALU(text, op, count, operands, what) \
  {{text, count, count, operands, "", lowerAlu<Op::op>, what, {}}, false},
#include "frontend/ops.def"
#undef THEME
#undef GRAPH_OP
#undef GRAPH_ALU
};

constexpr size_t kOpCount = std::count_if(std::begin(kRows), std::end(kRows), [](const Row& r) { return !r.isTheme; });

constexpr auto kOps = [] {
  std::array<GraphOp, kOpCount> ops{};
  std::string_view theme;
  size_t count = 0;
  for (const Row& row : kRows) {
    if (row.isTheme) {
      theme = row.op.theme;
    } else {
      ops[count] = row.op;
      ops[count++].theme = theme;
    }
  }
  return ops;
}();

constexpr auto kNames = [] {
  std::array<std::string_view, kOpCount> names{};
  for (size_t i = 0; i < kOpCount; ++i) names[i] = kOps[i].name;
  return names;
}();

// Positions in kOps, by name.
constexpr auto kByName = [] {
  std::array<uint16_t, kOpCount> order{};
  for (size_t i = 0; i < kOpCount; ++i) order[i] = static_cast<uint16_t>(i);
  std::sort(order.begin(), order.end(), [](uint16_t a, uint16_t b) { return kOps[a].name < kOps[b].name; });
  return order;
}();

struct Symbol {
  std::string_view text, name;
  size_t operands;
};
constexpr Symbol kSymbols[] = {{"+", "add", 2}, {"-", "sub", 2},       {"-", "neg", 1},     {"*", "mul", 2},
                               {"/", "div", 2}, {"//", "floordiv", 2}, {"%", "floormod", 2}};

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The part of `text` before `mark`, which is removed with it.
std::string_view cutBefore(std::string_view& text, char mark) {
  size_t at = text.find(mark);
  std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return trim(head);
}

struct TypeName {
  std::string_view text;
  AttributeType type;
};
constexpr TypeName kTypeNames[] = {
    {"int", AttributeType::Int},   {"float", AttributeType::Float},   {"bool", AttributeType::Bool},
    {"word", AttributeType::Word}, {"dtype", AttributeType::DType},   {"dim", AttributeType::Dim},
    {"ints", AttributeType::Ints}, {"floats", AttributeType::Floats}, {"dims", AttributeType::Dims}};

AttributeSpec parseSpec(std::string_view text) {
  AttributeSpec spec{};
  spec.name = cutBefore(text, ':');
  spec.required = text.find('=') == std::string_view::npos;
  std::string_view type = cutBefore(text, '=');
  spec.defaultText = trim(text);
  spec.type = AttributeType::Word;
  for (const TypeName& t : kTypeNames)
    if (t.text == type) spec.type = t.type;
  if (type.find('|') != std::string_view::npos)
    while (!type.empty()) spec.choices.push_back(cutBefore(type, '|'));
  return spec;
}

std::vector<std::vector<AttributeSpec>> parseAllSpecs() {
  std::vector<std::vector<AttributeSpec>> all;
  for (const GraphOp& op : kOps) {
    all.emplace_back();
    for (std::string_view rest = op.attributes; !trim(rest).empty();)
      all.back().push_back(parseSpec(cutBefore(rest, ',')));
  }
  return all;
}

}  // namespace

std::string_view toText(AttributeType type) {
  for (const TypeName& t : kTypeNames)
    if (t.type == type) return t.text;
  return "?";
}

std::span<const GraphOp> allGraphOps() { return kOps; }
std::span<const std::string_view> graphOpNames() { return kNames; }

const GraphOp* findGraphOp(std::string_view name, size_t operandCount) {
  for (const Symbol& s : kSymbols)
    if (s.text == name && s.operands == operandCount) name = s.name;
  auto at = std::lower_bound(kByName.begin(), kByName.end(), name,
                             [](uint16_t i, std::string_view n) { return kOps[i].name < n; });
  return at != kByName.end() && kOps[*at].name == name ? &kOps[*at] : nullptr;
}

const std::vector<AttributeSpec>& attributeSpecs(const GraphOp& op) {
  static const std::vector<std::vector<AttributeSpec>> kSpecs = parseAllSpecs();
  return kSpecs[static_cast<size_t>(&op - kOps.data())];
}

std::string describe(const AttributeValue& v) {
  struct Visitor {
    std::string operator()(int64_t x) const { return std::to_string(x); }
    std::string operator()(double x) const { return toText(Scalar::ofFloat(DType::F64, x)); }
    std::string operator()(bool x) const { return x ? "true" : "false"; }
    std::string operator()(const std::string& x) const { return "'" + x + "'"; }
    std::string operator()(DType x) const { return std::string(toText(x)); }
    std::string operator()(Dim x) const { return describe(x); }
    std::string operator()(const AttributeValue::List& list) const {
      constexpr size_t kLongest = 100;
      std::string text;
      for (const AttributeValue& item : list) {
        text += (text.empty() ? "" : ", ") + describe(item);
        if (text.size() > kLongest) return "[" + text + ", ..]";
      }
      return "[" + text + "]";
    }
  };
  return std::visit(Visitor{}, v.value);
}

}  // namespace svod
