// Calls of graph ops: checked against their rows, lowered, and what a lowering reads of them.
#include <algorithm>
#include <charconv>
#include <utility>

#include "frontend/graph_op.h"
#include "frontend/other_spellings.h"
#include "support/suggest.h"

namespace svod {

// --- Checking a call against its row

namespace {

bool holdsNumber(const AttributeValue& v) {
  return std::holds_alternative<int64_t>(v.value) || std::holds_alternative<double>(v.value);
}
bool holdsSize(const AttributeValue& v) {
  return std::holds_alternative<int64_t>(v.value) || std::holds_alternative<Dim>(v.value);
}
bool holdsInt(const AttributeValue& v) {
  if (const Dim* d = std::get_if<Dim>(&v.value)) return d->isConst();
  return std::holds_alternative<int64_t>(v.value);
}

// One element or a list of elements.
bool isListOf(const AttributeValue& v, bool (*isElement)(const AttributeValue&)) {
  const auto* list = std::get_if<AttributeValue::List>(&v.value);
  return list ? std::all_of(list->begin(), list->end(), isElement) : isElement(v);
}

bool fits(const AttributeSpec& spec, const AttributeValue& v) {
  switch (spec.type) {
    case AttributeType::Int: return holdsInt(v);
    case AttributeType::Float: return holdsNumber(v);
    case AttributeType::Bool: return std::holds_alternative<bool>(v.value);
    case AttributeType::DType: return std::holds_alternative<DType>(v.value);
    case AttributeType::Dim: return holdsSize(v);
    case AttributeType::Ints: return isListOf(v, holdsInt);
    case AttributeType::Floats: return isListOf(v, holdsNumber);
    case AttributeType::Dims: return isListOf(v, holdsSize);
    case AttributeType::Word: break;
  }
  const auto* word = std::get_if<std::string>(&v.value);
  return word && (spec.choices.empty() || std::ranges::find(spec.choices, *word) != spec.choices.end());
}

std::string wanted(const AttributeSpec& spec) {
  switch (spec.type) {
    case AttributeType::Int: return "an integer";
    case AttributeType::Float: return "a number";
    case AttributeType::Bool: return "true or false";
    case AttributeType::DType: return "a dtype such as f32";
    case AttributeType::Dim: return "a size";
    case AttributeType::Ints: return "a list of integers";
    case AttributeType::Floats: return "a list of numbers";
    case AttributeType::Dims: return "a list of sizes";
    case AttributeType::Word: break;
  }
  if (spec.choices.empty()) return "a word";
  std::string text = "one of";
  for (std::string_view choice : spec.choices) text += " " + std::string(choice);
  return text;
}

void checkAttributes(OpCall& call) {
  const std::vector<AttributeSpec>& specs = attributeSpecs(call.op);
  std::vector<std::string_view> names;
  for (const AttributeSpec& spec : specs) names.push_back(spec.name);
  for (size_t i = 0; i < call.attributes.size(); ++i) {
    const auto& [name, value] = call.attributes[i];
    auto spec = std::find_if(specs.begin(), specs.end(), [&](const AttributeSpec& s) { return s.name == name; });
    if (spec == specs.end()) {
      std::string known = "it takes";
      for (std::string_view n : names) known += " " + std::string(n);
      const std::string_view here = spellingOfAttribute(name);
      const bool isKnown = std::ranges::find(names, here) != names.end();
      call.fail(Diag::BadAttribute, "no attribute is called '" + name + "'",
                isKnown ? "did you mean '" + std::string(here) + "'?"
                        : didYouMean(name, names, names.empty() ? "it takes no attributes" : known));
    } else if (!fits(*spec, value)) {
      const auto* word = std::get_if<std::string>(&value.value);
      const bool isChoice = word && !spec->choices.empty();
      const bool isDType = word && spec->type == AttributeType::DType && dtypeFromText(*word);
      call.fail(Diag::BadAttribute,
                "attribute '" + name + "' is " + (isDType ? "the text \"" + *word + "\"" : describe(value)),
                isChoice  ? choicesFor(*word, spec->choices)
                : isDType ? "a dtype stands without quotes: " + name + "=" + *word
                          : "it must be " + wanted(*spec));
    }
    for (size_t j = 0; j < i; ++j)
      if (call.attributes[j].first == name)
        call.fail(Diag::BadAttribute, "attribute '" + name + "' is given twice", "keep one of them");
    if (call.b.failed()) return;
  }
  for (const AttributeSpec& spec : specs)
    if (spec.required && !call.has(spec.name))
      call.fail(Diag::BadAttribute, "attribute '" + std::string(spec.name) + "' is missing", "it is " + wanted(spec));
}

void checkCount(OpCall& call) {
  int count = static_cast<int>(call.operands.size());
  if (count >= call.op.minOperands && count <= call.op.maxOperands) return;
  std::string expected = std::to_string(call.op.minOperands);
  if (call.op.maxOperands == kAny) {
    expected = "at least " + expected;
  } else if (call.op.maxOperands != call.op.minOperands) {
    expected += " to " + std::to_string(call.op.maxOperands);
  }
  expected += expected == "1" || expected == "at least 1" ? " operand" : " operands";
  std::string help = "write " + std::string(call.op.name) + "(" + std::string(call.op.operands) + ")";
  const std::vector<AttributeSpec>& specs = attributeSpecs(call.op);
  if (count > call.op.maxOperands && !specs.empty())
    help += "; attributes stand behind with their names: " + std::string(specs[0].name) + "=..";
  const std::string reduction = "reduce_" + std::string(call.op.name);
  if (count == 1 && findGraphOp(reduction, 1) != nullptr) help += ", or " + reduction + "(x)";
  call.fail(Diag::Arity, "takes " + expected + ", got " + std::to_string(count), help);
}

}  // namespace

std::vector<Tensor> GraphBuilder::ops(std::string_view name, std::span<const Tensor> operands,
                                      const Attributes& attributes) {
  for (const Tensor& t : operands)
    if (!t) return {};
  if (failed()) return {};
  const GraphOp* row = findGraphOp(name, operands.size());
  if (!row) {
    fail(Diag::UnknownOp, "no op is called '" + std::string(name) + "'",
         didYouMean(name, graphOpNames(), "svodc --list-ops shows them all"));
    return {};
  }
  // Inside of a lowering the op that is lowered says it all.
  const bool isLogged = opName_.empty() && record(BuildLog::Kind::Call, row->name, operands);
  if (isLogged) log_.openCall();
  expected_.isUsedInCondition &= !isLogged;
  std::string outer = std::exchange(opName_, std::string(row->name));
  OpCall call{*this, *row, operands, attributes};
  checkCount(call);
  checkAttributes(call);
  std::vector<Tensor> results;
  if (!failed()) results = row->lower(call);
  if (failed() || std::ranges::any_of(results, [](const Tensor& t) { return !t; })) results.clear();
  if (results.empty())
    fail(Diag::Unsupported, "could not be built", "this is a mistake of the compiler; please report it");
  opName_ = std::move(outer);
  if (isLogged) {
    BuildLog::Step& step = log_.closeCall();
    step.attributes = attributes;
    for (const Tensor& t : results) step.results.push_back(t.node());
    // In a graph file the sizes of the call would have to be equal in every run: primitives say it, below a note.
    if (expected_.isUsedInCondition) {
      step.kind = BuildLog::Kind::Note;
      step.operands.clear(), step.results.clear(), step.attributes.clear();
    }
  }
  return results;
}

// --- Attributes of a checked call

namespace {

AttributeValue defaultValue(const AttributeSpec& spec) {
  std::string_view text = spec.defaultText;
  auto toInt = [&] {
    int64_t v = 0;
    std::from_chars(text.data(), text.data() + text.size(), v);
    return v;
  };
  switch (spec.type) {
    case AttributeType::Int:
    case AttributeType::Dim:
    case AttributeType::Ints:
    case AttributeType::Dims: return toInt();
    case AttributeType::Float:
    case AttributeType::Floats: return std::strtod(std::string(text).c_str(), nullptr);
    case AttributeType::Bool: return text == "true";
    case AttributeType::DType: return dtypeFromText(text).value_or(DType::Void);
    case AttributeType::Word: break;
  }
  return std::string(text);
}

int64_t asInt(const AttributeValue& v) {
  if (const Dim* d = std::get_if<Dim>(&v.value)) return d->constant();
  return std::get<int64_t>(v.value);
}

double asNumber(const AttributeValue& v) {
  const auto* integer = std::get_if<int64_t>(&v.value);
  return integer ? static_cast<double>(*integer) : std::get<double>(v.value);
}

AttributeValue::List asList(const AttributeValue& v) {
  const auto* list = std::get_if<AttributeValue::List>(&v.value);
  return list ? *list : AttributeValue::List{v};
}

}  // namespace

bool OpCall::has(std::string_view name) const {
  if (std::ranges::any_of(attributes, [&](const auto& a) { return a.first == name; })) return true;
  for (const AttributeSpec& spec : attributeSpecs(op))
    if (spec.name == name) return !spec.required && spec.defaultText != "none";
  return false;
}

AttributeValue OpCall::find(std::string_view name) const {
  for (const auto& [key, value] : attributes)
    if (key == name) return value;
  for (const AttributeSpec& spec : attributeSpecs(op))
    if (spec.name == name) return defaultValue(spec);
  return int64_t{0};
}

int64_t OpCall::integer(std::string_view name) const { return asInt(find(name)); }
double OpCall::number(std::string_view name) const { return asNumber(find(name)); }
bool OpCall::flag(std::string_view name) const { return std::get<bool>(find(name).value); }
std::string OpCall::word(std::string_view name) const { return std::get<std::string>(find(name).value); }
DType OpCall::dtype(std::string_view name) const { return std::get<DType>(find(name).value); }

Dim OpCall::dim(std::string_view name) const {
  AttributeValue v = find(name);
  const Dim* d = std::get_if<Dim>(&v.value);
  return d ? *d : b.dim(asInt(v));
}

std::vector<int64_t> OpCall::integers(std::string_view name) const {
  std::vector<int64_t> all;
  if (has(name))
    for (const AttributeValue& v : asList(find(name))) all.push_back(asInt(v));
  return all;
}

std::vector<int> OpCall::axes(std::string_view name) const {
  std::vector<int> all;
  constexpr int64_t kFar = 1 << 20;  // no tensor has an axis so far out
  for (int64_t v : integers(name)) all.push_back(static_cast<int>(std::clamp(v, -kFar, kFar)));
  return all;
}

std::vector<double> OpCall::numbers(std::string_view name) const {
  std::vector<double> all;
  if (has(name))
    for (const AttributeValue& v : asList(find(name))) all.push_back(asNumber(v));
  return all;
}

Dims OpCall::dims(std::string_view name) const {
  Dims all;
  if (has(name))
    for (const AttributeValue& v : asList(find(name))) {
      const Dim* d = std::get_if<Dim>(&v.value);
      all.add(d ? *d : b.dim(asInt(v)));
    }
  return all;
}

bool OpCall::require(bool condition, std::string_view what) const {
  if (condition) return true;
  std::string got;
  constexpr size_t kMostShown = 6;
  for (size_t i = 0; i < std::min(operands.size(), kMostShown); ++i)
    got += (got.empty() ? "" : ", ") + describe(operands[i]);
  if (operands.size() > kMostShown) got += ", ..";
  fail(Diag::ShapeMismatch, std::string(what) + ", got " + got);
  return false;
}

}  // namespace svod
