// Statements that are read several times: the copies of a repeat, and the bodies of functions where they are called.
#include <algorithm>

#include "frontend/model_reader.h"

namespace svod {

namespace {

constexpr size_t kMaxCopied = size_t{1} << 20;  // statements of one file that copies and calls read
constexpr size_t kMaxCalls = 16;                // inside each other; reading them takes stack

}  // namespace

bool ModelReader::mayCopy(const Statement& s, Position at) {
  if (copied_ > kMaxCopied) return false;
  copied_ += s.body.size() + 1;
  if (copied_ <= kMaxCopied) return true;
  record(Diag::TooLarge, at, "copies and calls make more than 2^20 statements", "fewer copies, or a loop");
  return false;
}

// --- Repeat

void ModelReader::repeat(const Statement& s) {
  const NameAt& name = s.names[0];
  const Dim count = size(s.value);
  if (!count || !declare(name)) return;
  const size_t errors = errors_.size();
  if (!count.isConst())
    record(Diag::VariableBounds, s.value.at,
           "the count of a repeat is " + describe(count) + ", which is not known when the plan is made",
           "bind its variables with --var, or write it as a loop");
  for (int64_t i = 0; count.isConst() && i < count.constant() && errors_.size() == errors && mayCopy(s, s.at); ++i) {
    scope_[name.text].kind = Entry::Kind::Variable;
    scope_[name.text].dim = builder_.dim(i);
    copies_.push_back(i);
    scoped(s.body);
    copies_.pop_back();
  }
  end(name);
}

// A let in a copy may give a value from outside of the copies another value, unless a run decides whether it is
// reached.
bool ModelReader::isCarried(const NameAt& name) const {
  const auto found = scope_.find(name.text);
  return found != scope_.end() && found->second.isLet && found->second.copies < copies_.size() &&
         found->second.bodies == bodies_;
}

// A name of its own in every copy and call: w.0, or block.2.h of the third call of block.
std::string ModelReader::fullName(const NameAt& name) const {
  std::string text = (calls_.empty() ? "" : calls_.back().prefix) + name.text;
  for (size_t k = calls_.empty() ? 0 : calls_.back().copies; k < copies_.size(); ++k)
    text += "." + std::to_string(copies_[k]);
  return text;
}

// "layer.{i}.weight" with the number that i is.
GraphExpr ModelReader::filled(GraphExpr data) const {
  if (data.kind != ExprKind::String) return data;
  std::string text;
  for (size_t at = 0; at < data.text.size();) {
    const size_t open = data.text.find('{', at), close = data.text.find('}', open);
    const Entry* entry = close == std::string::npos ? nullptr : find(data.text.substr(open + 1, close - open - 1));
    const bool isNumber = entry != nullptr && entry->kind == Entry::Kind::Variable && entry->dim.isConst();
    const size_t end = isNumber ? open : std::min(open, data.text.size() - 1) + 1;
    text += data.text.substr(at, end - at);
    if (isNumber) text += std::to_string(entry->dim.constant());
    at = isNumber ? close + 1 : end;
  }
  data.text = std::move(text);
  return data;
}

// --- Functions

void ModelReader::function(const Statement& s) {
  const NameAt& name = s.names[0];
  if (findGraphOp(name.text) != nullptr)
    return record(Diag::DuplicateName, name.at, "'" + name.text + "' is an op", "give the function another name");
  const auto [at, isNew] = functions_.try_emplace(name.text, Function{&s, order_.size(), false, 0});
  Function& function = at->second;
  if (!isNew)
    return record(
        Error(Diag::DuplicateName, "function '" + name.text + "' is defined twice", "give one of them another name")
            .withNote("first defined at " + place(function.definition->at)),
        name.at);
  if (s.body.empty() || s.body.back().kind != StatementKind::Return)
    return record(Diag::Syntax, s.at, "function '" + name.text + "' returns nothing", "its last line is: return VALUE");
  for (size_t i = 1; i < s.names.size(); ++i)
    if (std::ranges::count(s.names.begin() + 1, s.names.end(), s.names[i].text, &NameAt::text) > 1)
      return record(Diag::DuplicateName, s.names[i].at, "two parameters are called '" + s.names[i].text + "'",
                    "give one of them another name");
  function.isGood = true;
}

// A function sees those above it, so that calls end.
bool ModelReader::isVisible(const Function& function) const {
  return calls_.empty() || function.definition < calls_.back().function->definition;
}

const ModelReader::Entry* ModelReader::find(const std::string& name) const {
  if (const auto own = scope_.find(name); own != scope_.end()) return &own->second;
  if (calls_.empty()) return nullptr;
  const auto shared = calls_.front().scope.find(name);
  const bool isSeen = shared != calls_.front().scope.end() && shared->second.isShared &&
                      shared->second.order < calls_.back().function->known;
  return isSeen ? &shared->second : nullptr;
}

namespace {

bool isLiteral(const GraphExpr& e) {
  return e.kind == ExprKind::Int || e.kind == ExprKind::Float || e.kind == ExprKind::Bool ||
         e.kind == ExprKind::String || (e.kind == ExprKind::List && std::ranges::all_of(e.items, isLiteral));
}

bool isSizeOperator(const GraphExpr& e) {
  static constexpr std::string_view kOperators[] = {"+", "-", "*", "//", "%", "min", "max"};
  const auto isOne = [](std::string_view text) { return std::ranges::find(kOperators, text) != std::end(kOperators); };
  if (e.kind == ExprKind::Call) return e.attributes.empty() && isOne(e.text);
  return e.kind == ExprKind::Chain && std::ranges::all_of(e.operators, isOne, &OperatorAt::text);
}

}  // namespace

// Whether an operand is a size, which the function can use in shapes and as a number.
bool ModelReader::isSize(const GraphExpr& e) const {
  if (e.kind == ExprKind::Int) return !e.isBig;
  if (e.kind == ExprKind::Call && e.text == "size") return true;
  if (e.kind == ExprKind::Name) {
    const Entry* entry = find(e.text);
    return entry != nullptr &&
           (entry->kind == Entry::Kind::Variable || (entry->kind == Entry::Kind::Literal && isSize(*entry->literal)));
  }
  return isSizeOperator(e) && std::ranges::all_of(e.items, [&](const GraphExpr& item) { return isSize(item); });
}

ModelReader::Entry ModelReader::operand(const GraphExpr& e) {
  Entry entry;
  entry.at = e.at;
  if (isLiteral(e)) {
    entry.kind = Entry::Kind::Literal;
    entry.literal = &e;
  } else if (e.kind == ExprKind::Name) {
    if (const Entry* found = lookup(e)) entry = *found;
  } else if (isSize(e)) {
    entry.dim = size(e);
    if (entry.dim) entry.kind = Entry::Kind::Variable;
  } else {
    entry.tensor = value(e);
    if (entry.tensor) entry.kind = Entry::Kind::Value;
  }
  entry.isLet = entry.isShared = false;
  return entry;
}

std::vector<Tensor> ModelReader::callFunction(Function& function, const GraphExpr& e) {
  const Statement& definition = *function.definition;
  const size_t wanted = definition.names.size() - 1;
  if (!function.isGood) return {};
  if (e.items.size() != wanted || !e.attributes.empty()) {
    const std::string& name = definition.names[0].text;
    record(Diag::Arity, e.at,
           e.attributes.empty()
               ? "'" + name + "' takes " + std::to_string(wanted) +
                     (wanted == 1 ? " operand, got " : " operands, got ") + std::to_string(e.items.size())
               : "an operand of '" + name + "' is given by its name, '" + e.attributes[0].name + "'",
           "operands of functions stand in the order of their parameters, at " + place(definition.at));
    return {};
  }
  if (calls_.size() >= kMaxCalls) {
    record(Diag::TooLarge, e.at, "more than 16 calls of functions are inside each other",
           "name what an inner one gives on a line of the file");
    return {};
  }
  const std::string prefix = (calls_.empty() ? "" : calls_.back().prefix) + definition.names[0].text + ".";
  FunctionCall call{{}, {}, {}, &function, e.at, prefix + std::to_string(function.calls++) + ".", copies_.size()};
  bool isComplete = mayCopy(definition, e.at);
  for (size_t i = 0; i < wanted; ++i) {
    Entry& entry = call.scope[definition.names[i + 1].text] = operand(e.items[i]);
    call.order.push_back(definition.names[i + 1].text);
    isComplete &= entry.kind != Entry::Kind::Broken;
  }
  if (!isComplete) return {};
  swapNames(call);
  calls_.push_back(std::move(call));
  std::vector<Tensor> results = bodyResults(definition);
  call = std::move(calls_.back());
  calls_.pop_back();
  swapNames(call);
  return results;
}

// The names of the caller wait in the call while its own are used.
void ModelReader::swapNames(FunctionCall& call) {
  std::swap(call.scope, scope_);
  std::swap(call.order, order_);
  std::swap(call.ended, ended_);
}

std::vector<Tensor> ModelReader::bodyResults(const Statement& definition) {
  const Statement* caller = current_;
  const size_t errors = errors_.size();
  std::vector<Tensor> results;
  for (const Statement& s : definition.body) {
    if (errors_.size() > errors) break;
    current_ = &s;
    if (&s != &definition.body.back()) {
      statement(s);
      continue;
    }
    for (const GraphExpr& item : s.value.items) results.push_back(value(item));
  }
  current_ = caller;
  return std::ranges::all_of(results, [](const Tensor& t) { return bool(t); }) ? results : std::vector<Tensor>();
}

}  // namespace svod
