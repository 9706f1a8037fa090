// Expressions of a graph file as tensors, sizes and attribute values.
#include <algorithm>
#include <unordered_set>

#include "data/inside_folder.h"
#include "data/mapped_file.h"
#include "frontend/model_reader.h"
#include "frontend/other_spellings.h"
#include "ir/c_function.h"
#include "ir/dim_facts.h"
#include "support/suggest.h"

namespace svod {

namespace {

constexpr uint64_t kMaxSourceBytes = uint64_t{1} << 24;

}  // namespace

// --- Names

const ModelReader::Entry* ModelReader::lookup(const GraphExpr& e, bool isSize) {
  const Entry* entry = find(e.text);
  if (entry == nullptr) unknownName(e, isSize);
  return entry;
}

namespace {

void collectNames(const GraphExpr& e, std::vector<std::string_view>& names) {
  if (e.kind == ExprKind::Name) names.push_back(e.text);
  for (const GraphExpr& item : e.items) collectNames(item, names);
  for (const Argument& a : e.attributes) collectNames(a.value, names);
}

std::vector<std::string_view> namesUsed(const Statement& s) {
  std::vector<std::string_view> names;
  if (s.hasValue) collectNames(s.value, names);
  for (const GraphExpr& d : s.type.dims) collectNames(d, names);
  return names;
}

}  // namespace

const Statement* ModelReader::definitionOf(std::string_view name) {
  if (definitions_.empty())
    for (const Statement& s : file_.statements)
      if (s.kind != StatementKind::Output && s.kind != StatementKind::Assign && !hasBody(s.kind))
        for (const NameAt& n : s.names) definitions_.try_emplace(n.text, &s);
  auto it = definitions_.find(name);
  return it == definitions_.end() ? nullptr : it->second;
}

bool ModelReader::dependsOnStatement(const Statement& from, const Statement& target) {
  std::vector<const Statement*> pending{&from};
  std::unordered_set<const Statement*> seen{&from};
  while (!pending.empty()) {
    const Statement* s = pending.back();
    pending.pop_back();
    if (s == &target) return true;
    for (std::string_view name : namesUsed(*s))
      if (const Statement* next = definitionOf(name); next && seen.insert(next).second) pending.push_back(next);
  }
  return false;
}

void ModelReader::unknownName(const GraphExpr& e, bool isSize) {
  if (!calls_.empty() && calls_.front().scope.contains(e.text))
    return record(Diag::UnknownName, e.at, "'" + e.text + "' is no name that a function sees",
                  "give it to the function as an operand; it sees variables, inputs, weights and states above it");
  if (auto ended = ended_.find(e.text); ended != ended_.end())
    return record(
        Diag::UnknownName, e.at, "'" + e.text + "' ended with the body it was defined in, at " + place(ended->second),
        "assign it to a temp or state that is declared above the loop; a repeat carries values defined above it");
  if (const Statement* later = definitionOf(e.text)) {
    if (current_ && dependsOnStatement(*later, *current_))
      return record(Diag::Cycle, e.at, "'" + e.text + "' depends on itself",
                    later == current_ ? "a value cannot be used in its own definition"
                                      : "the other half of the circle is at " + place(later->at));
    return record(Diag::UnknownName, e.at, "'" + e.text + "' is used before it is defined",
                  "move its line, " + place(later->at) + ", above this one");
  }
  if (const std::string here = memberOf(e.text, false); !here.empty())
    return record(Diag::UnknownName, e.at, "nothing is called '" + e.text + "'", here);
  std::vector<std::string_view> known;
  for (const std::string& name : order_)
    if (!isSize || scope_.at(name).kind == Entry::Kind::Variable) known.push_back(name);
  std::string help = "define it above, or declare it: input " + e.text + ": f32[2, 3]";
  if (isSize) help = "declare it above: var " + e.text + " in [MIN, MAX]";
  if (const std::string_view here = spellingOfName(e.text); !here.empty())
    return record(Diag::UnknownName, e.at, "nothing is called '" + e.text + "'", std::string(here));
  if (findGraphOp(e.text)) help = "'" + e.text + "' is an op: write " + e.text + "(..)";
  record(Diag::UnknownName, e.at, "nothing is called '" + e.text + "'", didYouMean(e.text, known, help));
}

/// The help where `name` is a value or library, a dot and what other languages write behind it.
std::string ModelReader::memberOf(const std::string& name, bool hasArguments) const {
  const size_t dot = name.find('.');
  if (dot == name.npos) return {};
  if (find(name.substr(0, dot)) == nullptr)
    return spellingOfModule(name.substr(0, dot), name.substr(name.rfind('.') + 1));
  return spellingOfMember(name.substr(0, dot), name.substr(dot + 1, name.find('.', dot + 1) - dot - 1), hasArguments);
}

// Of a state or temp the content, whatever the expression or a function it calls assigns before it is used.
Tensor ModelReader::named(const GraphExpr& e) {
  const Entry* entry = lookup(e);
  if (!entry) return {};
  if (entry->kind == Entry::Kind::Variable) return cast(builder_.value(entry->dim), DType::I64);
  if (entry->kind == Entry::Kind::Literal) return value(*entry->literal);
  return builder_.held(entry->tensor);
}

// --- Tensors

Tensor ModelReader::value(const GraphExpr& e) {
  std::vector<Tensor> results = values(e);
  if (results.size() > 1) {
    record(Diag::Arity, e.at,
           e.text + " gives " + std::to_string(results.size()) + " results where one value is needed",
           "name them on a line of their own: a, b = " + e.text + "(..)");
    return {};
  }
  return results.empty() ? Tensor() : results[0];
}

std::vector<Tensor> ModelReader::values(const GraphExpr& e) {
  Tensor one;
  switch (e.kind) {
    case ExprKind::Call: return call(e);
    case ExprKind::Chain: one = chain(e); break;
    case ExprKind::Name: one = named(e); break;
    case ExprKind::Int:
      one = e.isBig ? builder_.constant(Scalar::ofInt(DType::U64, e.integer)) : builder_.literal(e.integer);
      break;
    case ExprKind::Float: one = builder_.literal(e.number); break;
    case ExprKind::Bool: one = builder_.literal(e.flag); break;
    case ExprKind::String:
    case ExprKind::List:
      record(
          Diag::Syntax, e.at, writeGraphExpr(e).substr(0, 60) + " is not a tensor",
          std::any_of(e.items.begin(), e.items.end(), [](const GraphExpr& item) { return item.kind == ExprKind::Name; })
              ? "operands stand side by side, without brackets: concat(a, b)"
              : "declare constant data with weight NAME: TYPE = ..");
      break;
  }
  return one ? std::vector<Tensor>{one} : std::vector<Tensor>{};
}

/// A word behind // that is the name of nothing.
bool ModelReader::isComment(std::string_view op, const GraphExpr& behind) {
  if (op != "//" || behind.kind != ExprKind::Name || find(behind.text) != nullptr) return false;
  record(Diag::UnknownName, behind.at, "nothing is called '" + behind.text + "'", std::string(kCommentSpelling));
  return true;
}

Tensor ModelReader::chain(const GraphExpr& e) {
  std::vector<Tensor> operands;
  bool isComplete = true;
  for (size_t i = 0; i < e.items.size(); ++i) {
    if (i > 0 && isComment(e.operators[i - 1].text, e.items[i])) return {};
    operands.push_back(value(e.items[i]));
    isComplete &= static_cast<bool>(operands.back());
  }
  if (!isComplete) return {};
  Tensor result = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) {
    const Tensor sides[] = {result, operands[i]};
    std::vector<Tensor> results = builder_.ops(e.operators[i - 1].text, sides, {});
    if (takeError(e.operators[i - 1].at) || results.empty()) return {};
    result = results[0];
  }
  return result;
}

std::vector<Tensor> ModelReader::call(const GraphExpr& e) {
  if (const auto function = functions_.find(e.text); function != functions_.end() && isVisible(function->second))
    return callFunction(function->second, e);
  const GraphOp* op = findGraphOp(e.text, e.items.size());
  if (!op) return unknownOp(e), std::vector<Tensor>();
  if (isAttributeGivenAsOperand(*op, e) || (e.items.size() == 2 && isComment(e.text, e.items[1]))) return {};
  std::vector<Tensor> operands;
  bool isComplete = true;
  for (const GraphExpr& item : e.items) {
    operands.push_back(value(item));
    isComplete &= static_cast<bool>(operands.back());
  }
  Attributes attributes;
  const std::vector<AttributeSpec>& specs = attributeSpecs(*op);
  for (const Argument& a : e.attributes) {
    auto spec = std::ranges::find_if(specs, [&](const AttributeSpec& s) { return s.name == a.name; });
    std::optional<AttributeValue> v = attribute(a.value, spec == specs.end() ? AttributeType::Word : spec->type);
    isComplete &= v.has_value();
    if (v) attributes.emplace_back(a.name, std::move(*v));
  }
  if (!isComplete) return {};
  std::vector<Tensor> results = builder_.ops(e.text, operands, attributes);
  if (takeError(e.at)) return {};
  if (e.text == "custom" && !readSource(attributes, e.at)) return {};
  return results;
}

void ModelReader::unknownOp(const GraphExpr& e) {
  const bool callsItself = std::ranges::any_of(
      calls_, [&](const FunctionCall& call) { return call.function->definition->names[0].text == e.text; });
  if (callsItself)
    return record(Diag::UnknownOp, e.at, "'" + e.text + "' calls itself",
                  "functions are copied into the graph; what repeats is a loop NAME < COUNT { .. }");
  std::string help = memberOf(e.text, !e.items.empty() || !e.attributes.empty());
  if (help.empty()) help = spellingOfOp(e.text);
  constexpr std::string_view kAnyDType = "dtype=f32";
  const GraphExpr* type = !e.items.empty() ? &e.items[0] : !e.attributes.empty() ? &e.attributes[0].value : nullptr;
  const std::string_view dtype = type != nullptr ? spellingOfDType(type->text) : std::string_view();
  if (const size_t at = help.find(kAnyDType); at != help.npos && !dtype.empty())
    help.replace(at, kAnyDType.size(), "dtype=" + std::string(dtype));
  if (help.empty())
    help = didYouMean(e.text, graphOpNames(), "svodc --list-ops shows them all; functions stand above their calls");
  record(Diag::UnknownOp, e.at, "no op is called '" + e.text + "'", help);
}

/// A list, a dtype or text among the operands, which ops take as attributes alone.
bool ModelReader::isAttributeGivenAsOperand(const GraphOp& op, const GraphExpr& e) {
  const auto isGiven = [&](const AttributeSpec& spec) {
    return std::ranges::any_of(e.attributes, [&](const Argument& a) { return a.name == spec.name; });
  };
  for (const GraphExpr& item : e.items) {
    const bool isName = item.kind == ExprKind::Name && find(item.text) == nullptr;
    const bool isDType = (isName || item.kind == ExprKind::String) && dtypeFromText(item.text);
    if (item.kind != ExprKind::List && !isDType) continue;
    for (const AttributeSpec& spec : attributeSpecs(op)) {
      const bool isList =
          spec.type == AttributeType::Ints || spec.type == AttributeType::Floats || spec.type == AttributeType::Dims;
      if (isGiven(spec) || (isDType ? spec.type != AttributeType::DType : !isList)) continue;
      const std::string text = isDType ? item.text : writeGraphExpr(item).substr(0, 60),
                        first = writeGraphExpr(e.items[0]).substr(0, 60);
      record(Diag::Syntax, item.at, text + (isDType ? " is a dtype, not a tensor" : " is a list, not a tensor"),
             "attributes have names: " + std::string(op.name) + "(" + (&item == &e.items[0] ? "x" : first) + ", " +
                 std::string(spec.name) + "=" + text + ")");
      return true;
    }
  }
  return false;
}

/// Reads the file of C that has the function of a custom call.
bool ModelReader::readSource(const Attributes& attributes, Position at) {
  CFunctionName name;
  for (const auto& [key, value] : attributes) {
    if (key == "source") name.source = std::get<std::string>(value.value);
    if (key == "function") name.function = std::get<std::string>(value.value);
  }
  if (name.source.empty() || sources_ == nullptr) return true;
  sources_->calls.try_emplace(name.text(), locationOf(at));
  if (sources_->files.contains(name.source)) return true;
  const size_t slash = name.source.starts_with('/') ? file_.path.npos : file_.path.rfind('/');
  const std::string path = slash == file_.path.npos ? name.source : file_.path.substr(0, slash + 1) + name.source;
  const std::optional<std::string> inside = pathInside(foldersOf(file_.path), path);
  if (!inside) {
    record(Diag::BadAttribute, at, "custom cannot take '" + name.source + "': it is outside the folder of the graph",
           "files of C lie beside the graph or below it");
    return false;
  }
  if (options_.filesRead != nullptr) options_.filesRead->insert(path);
  Result<std::string> text = readWholeFile(*inside, kMaxSourceBytes);
  if (!text) return record(std::move(text.error()), at), false;
  sources_->files.emplace(name.source, CSources::File{path, std::move(*text)});
  return true;
}

// --- Attributes

std::optional<AttributeValue> ModelReader::attribute(const GraphExpr& e, AttributeType type) {
  bool isSize = type == AttributeType::Int || type == AttributeType::Dim || type == AttributeType::Ints ||
                type == AttributeType::Dims;
  switch (e.kind) {
    case ExprKind::Int:
      if (!e.isBig) return e.integer;
      record(Diag::TooLarge, e.at, writeGraphExpr(e) + " does not fit 64 bits with a sign",
             "write it as a float: add .0");
      return std::nullopt;
    case ExprKind::Float: return e.number;
    case ExprKind::Bool: return e.flag;
    case ExprKind::String: return e.text;
    case ExprKind::List: {
      AttributeValue::List list;
      for (const GraphExpr& item : e.items) {
        std::optional<AttributeValue> v = attribute(item, type);
        if (!v) return std::nullopt;
        list.push_back(std::move(*v));
      }
      return AttributeValue(std::move(list));
    }
    case ExprKind::Name:
      if (const Entry* entry = find(e.text); entry != nullptr && entry->kind == Entry::Kind::Literal)
        return attribute(*entry->literal, type);
      if (type == AttributeType::DType) {
        std::optional<DType> found = dtype({e.text, {}, e.at});
        if (found) return *found;
        return std::nullopt;
      }
      if (!isSize) return e.text;
      break;
    case ExprKind::Call:
    case ExprKind::Chain: break;
  }
  Dim d = size(e);
  if (!d) return std::nullopt;
  if (d.isConst()) return d.constant();
  return d;
}

// --- Sizes

Dim ModelReader::size(const GraphExpr& e) {
  switch (e.kind) {
    case ExprKind::Int:
      if (e.isBig) break;
      return builder_.dim(e.integer);
    case ExprKind::Call: return sizeCall(e);
    case ExprKind::Chain: {
      Dim result = size(e.items[0]);
      for (size_t i = 1; result && i < e.items.size(); ++i) {
        const Dim next = size(e.items[i]);
        result = next ? sizeOf(e.operators[i - 1].text, {result, next}, e.operators[i - 1].at) : Dim();
      }
      return result;
    }
    case ExprKind::Name: {
      const Entry* entry = lookup(e, true);
      if (!entry || entry->kind == Entry::Kind::Broken) return {};
      if (entry->kind == Entry::Kind::Variable) return entry->dim;
      if (entry->kind == Entry::Kind::Literal) return size(*entry->literal);
      record(Diag::ShapeMismatch, e.at, "'" + e.text + "' is a tensor, not a size",
             "sizes are integers over variables: var NAME in [MIN, MAX]; elements by a tensor are gather(x, i)");
      return {};
    }
    default: break;
  }
  record(Diag::ShapeMismatch, e.at, writeGraphExpr(e).substr(0, 60) + " is not a size",
         "sizes are integers and variables");
  return {};
}

Dim ModelReader::sizeCall(const GraphExpr& e) {
  if (e.text == "size") {
    Tensor x = e.items.size() == 1 ? value(e.items[0]) : Tensor();
    if (!x) return {};
    bool hasAxis =
        e.attributes.size() == 1 && e.attributes[0].name == "axis" && e.attributes[0].value.kind == ExprKind::Int;
    int axis = hasAxis ? builder_.axis(x, e.attributes[0].value.integer) : -1;
    if (!hasAxis) record(Diag::BadAttribute, e.at, "size needs an axis", "write size(x, axis=0)");
    return takeError(e.at) || axis < 0 ? Dim() : x.dim(axis);
  }
  std::vector<Dim> sides;
  for (const GraphExpr& item : e.items) {
    sides.push_back(size(item));
    if (!sides.back()) return {};
  }
  return sizeOf(e.text, e.attributes.empty() ? sides : std::vector<Dim>(), e.at);
}

Dim ModelReader::sizeOf(const std::string& symbol, const std::vector<Dim>& sides, Position at) {
  const GraphOp* op = findGraphOp(symbol, sides.size());
  std::string_view name = op ? op->name : std::string_view();
  if (sides.size() == 1 && name == "neg") return builder_.dim(0) - sides[0];
  if (sides.size() == 2) {
    Dim a = sides[0], b = sides[1];
    if (name == "add") return a + b;
    if (name == "sub") return a - b;
    if (name == "mul") return a * b;
    if (name == "min") return smaller(a, b);
    if (name == "max") return larger(a, b);
    if (name == "floordiv" || name == "floormod") {
      const bool isPositive = b.min() > 0 || lessEqualDims(builder_.dim(1).node(), b.node()) == Truth::Always;
      if (isPositive) return name == "floordiv" ? floordiv(a, b) : floormod(a, b);
      record(Diag::VariableBounds, at, "the divisor " + describe(b) + " can be 0 or negative",
             "divide sizes by positive ones");
      return {};
    }
  }
  const bool isExtreme = symbol == "minimum" || symbol == "maximum";
  record(Diag::ShapeMismatch, at, "'" + symbol + "' is no operation on sizes",
         isExtreme ? "of sizes it is called " + symbol.substr(0, 3) + ": " + symbol.substr(0, 3) + "(a, b)"
                   : "use + - * // % min max and size(x, axis=0)");
  return {};
}

}  // namespace svod
