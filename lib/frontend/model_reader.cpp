#include "frontend/model_reader.h"

#include <algorithm>

namespace svod {

namespace {

constexpr size_t kMaxCallNotes = 3;

std::string directoryOf(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash == 0 ? 1 : slash);
}

}  // namespace

ModelReader::ModelReader(const GraphFile& file, const LoadOptions& options, CSources* sources)
    : file_(file), options_(options), sources_(sources), weights_(directoryOf(file.path), options.filesRead) {}

void ModelReader::read() {
  for (const std::string& device : options_.devices) builder_.addDevice(device);
  applyOptions();
  inOrder(file_.statements);
}

void ModelReader::inOrder(const std::vector<Statement>& statements) {
  for (const Statement& s : statements) {
    if (errors_.size() >= kMaxErrors) return;
    current_ = &s;
    statement(s);
  }
}

void ModelReader::statement(const Statement& s) {
  bool isDeclaration = s.kind == StatementKind::Var || s.kind == StatementKind::Input ||
                       s.kind == StatementKind::Weight || s.kind == StatementKind::State;
  if (bodies_ > 0 && (isDeclaration || s.kind == StatementKind::Output))
    return record(Diag::Syntax, s.at, std::string(toText(s.kind)) + " stands inside a body",
                  isDeclaration ? "declare it above the loop"
                                : "assign the value to a temp or state, and export that below the loop");
  const bool isPort =
      s.kind == StatementKind::Weight || s.kind == StatementKind::State || s.kind == StatementKind::Output;
  const bool isCopied = !copies_.empty() || bodies_ > 0 || !calls_.empty();
  if (!calls_.empty() && (isDeclaration || isPort))
    return record(Diag::Syntax, s.at, std::string(toText(s.kind)) + " stands inside a function",
                  isDeclaration ? "declare it above the function, or give it as an operand" : "return the value");
  if (isCopied && !isPort && (isDeclaration || s.kind == StatementKind::Def))
    return record(Diag::Syntax, s.at, std::string(toText(s.kind)) + " stands inside a body",
                  "move it to the statements of the file");
  switch (s.kind) {
    case StatementKind::Var: return variable(s);
    case StatementKind::Input: return input(s);
    case StatementKind::Weight:
    case StatementKind::State: return weightOrState(s);
    case StatementKind::Let: return let(s);
    case StatementKind::Assign: return assign(s);
    case StatementKind::Output: return output(s);
    case StatementKind::Temp: return temporary(s);
    case StatementKind::Loop: return loop(s);
    case StatementKind::If: return branch(s);
    case StatementKind::Repeat: return repeat(s);
    case StatementKind::Def: return function(s);
    case StatementKind::Return:
      return record(Diag::Syntax, s.at, "return stands outside of a function", "it is the last line of a def");
  }
}

// --- Errors and names

std::string ModelReader::place(Position at) const {
  return at.line == 0 ? file_.path : file_.path + ":" + std::to_string(at.line);
}

SourceLoc ModelReader::locationOf(Position at) const {
  return file_.source ? file_.source->at(file_.path, at.line, at.column) : SourceLoc{file_.path, at.line, at.column};
}

void ModelReader::record(Error error, Position at) {
  for (auto call = calls_.rbegin(); call != calls_.rend() && error->notes.size() < kMaxCallNotes; ++call)
    error->notes.push_back("in '" + call->function->definition->names[0].text + "', called at " + place(call->at));
  if (error->loc.file.empty()) error->loc = locationOf(at);
  errors_.push_back(std::move(error));
}

void ModelReader::record(Diag diag, Position at, std::string message, std::string help) {
  record(Error(diag, std::move(message), std::move(help)), at);
}

bool ModelReader::takeError(Position at) {
  std::optional<Error> error = builder_.takeError();
  if (!error) return false;
  record(std::move(*error), at);
  return true;
}

bool ModelReader::declare(const NameAt& name) {
  auto [it, isNew] = scope_.try_emplace(name.text, Entry{Entry::Kind::Broken, {}, {}, name.at});
  if (isNew) {
    it->second.order = order_.size();
    it->second.copies = copies_.size(), it->second.bodies = bodies_;
    order_.push_back(name.text);
    return true;
  }
  record(Error(Diag::DuplicateName, "'" + name.text + "' is defined twice", "give one of them another name")
             .withNote("first defined at " + place(it->second.at)),
         name.at);
  return false;
}

void ModelReader::define(const NameAt& name, Tensor value) {
  if (!value) return;
  Entry& entry = scope_[name.text];
  entry.kind = Entry::Kind::Value;
  entry.tensor = value;
  if (!name.text.starts_with('_')) builder_.label(value, fullName(name));
}

// --- Statements

namespace {

/// What to do about a value outside of the bounds. Few dims can be made of a negative one.
std::string otherBounds(const std::string& name, int64_t min, int64_t max, int64_t value) {
  const std::string inside = "bind it to a value inside";
  if (value < 0 && min >= 0) return inside;
  return inside + ", or give it other bounds: --var " + name + "=" + std::to_string(std::min(min, value)) + ":" +
         std::to_string(std::max(max, value));
}

}  // namespace

void ModelReader::variable(const Statement& s) {
  const NameAt& name = s.names[0];
  if (!declare(name)) return;
  int64_t min = s.min, max = s.max;
  for (const VariableOption& o : options_.variables)
    if (o.name == name.text && o.min) min = *o.min, max = *o.max;
  const bool isFree = sizes_.isFree(name.text);
  const bool isMade = freeVariables_.contains(name.text);  // an earlier size needed it
  if (!isFree) {
    builder_.variable(name.text, min, max);  // the name stays taken
    builder_.dropVariable(name.text);
  }
  const SizeForm form = sizes_.reduced(SizeForm::variable(name.text));
  Dim dim = sizeOf(form);
  if ((!isFree || !isMade) && takeError(name.at)) return;
  if (form.isNumber() && (form.constant < min || form.constant > max))
    return record(Diag::VariableBounds, name.at,
                  "variable '" + name.text + "' is bound to " + std::to_string(form.constant) + " (" +
                      sizes_.reasonOf(name.text) + "), outside [" + std::to_string(min) + ", " + std::to_string(max) +
                      "]",
                  otherBounds(name.text, min, max, form.constant));
  Entry& entry = scope_[name.text];
  entry.kind = Entry::Kind::Variable;
  entry.dim = dim;
  entry.isShared = true;
}

namespace {

std::optional<std::vector<int64_t>> constantShape(const Dims& dims) {
  std::vector<int64_t> shape;
  for (const Dim& d : dims) {
    if (!d.isConst() || d.constant() < 0) return std::nullopt;
    shape.push_back(d.constant());
  }
  return shape;
}

}  // namespace

void ModelReader::input(const Statement& s) {
  const NameAt& name = s.names[0];
  if (!declare(name)) return;
  std::optional<StatedType> type = statedType(s.type);
  if (!type) return;
  checkShapeOption(s, type->dims);
  Tensor made;
  if (auto constant = constantFiles_.find(name.text); constant != constantFiles_.end()) {
    std::optional<std::vector<int64_t>> sizes = constantShape(type->dims);
    if (!sizes)
      return record(Diag::ShapeMismatch, name.at,
                    "constant '" + name.text + "' has the symbolic shape " + describe(type->dims),
                    "bind the variables in it with --var");
    Result<ConstData> data = WeightLoader::loadConstant(name.text, constant->second, type->dtype, *sizes);
    if (!data) return record(data.error(), name.at);
    made = builder_.weight(name.text, type->dtype, type->dims, *data);
  } else {
    made = builder_.input(name.text, type->dtype, type->dims);
  }
  takeError(name.at);
  define(name, made);
  scope_[name.text].isShared = true;
}

void ModelReader::weightOrState(const Statement& s) {
  const NameAt& name = s.names[0];
  if (!declare(name)) return;
  std::optional<StatedType> type = statedType(s.type);
  if (!type) return;
  bool isState = s.kind == StatementKind::State;
  bool startsAsZeros = isState && (!s.hasValue || (s.value.kind == ExprKind::Name && s.value.text == "zeros"));
  ConstData data;
  if (!startsAsZeros) {
    std::optional<std::vector<int64_t>> sizes = constantShape(type->dims);
    if (!sizes)
      return record(Diag::ShapeMismatch, s.type.at,
                    std::string(toText(s.kind)) + " '" + name.text + "' has data and the shape " + describe(type->dims),
                    "data needs constant dims of 0 or more");
    Result<ConstData> loaded = weights_.load(filled(s.value), type->dtype, *sizes);
    if (!loaded) return record(std::move(loaded.error()), s.value.at);
    data = std::move(*loaded);
  }
  Tensor made = isState ? builder_.state(fullName(name), type->dtype, type->dims, std::move(data))
                        : builder_.weight(fullName(name), type->dtype, type->dims, std::move(data));
  takeError(name.at);
  define(name, made);
  scope_[name.text].isShared = copies_.empty();
}

void ModelReader::let(const Statement& s) {
  std::vector<Tensor> results = values(s.value);
  for (const NameAt& name : s.names)
    if (name.text != "_" && !isCarried(name)) {
      if (!declare(name)) return;
      scope_[name.text].isLet = true;
    }
  if (results.empty()) return;
  if (results.size() != s.names.size())
    return record(Diag::Arity, s.at,
                  writeGraphExpr(s.value).substr(0, 60) + " gives " + std::to_string(results.size()) +
                      " results, named are " + std::to_string(s.names.size()),
                  "name each result, or _ to drop it");
  for (size_t i = 0; i < results.size(); ++i)
    if (s.names[i].text != "_") define(s.names[i], results[i]);
  if (s.hasType) checkAnnotation(s, results[0]);
}

void ModelReader::assign(const Statement& s) {
  const Entry* named = s.target.kind == ExprKind::Name ? find(s.target.text) : nullptr;
  Tensor to = named != nullptr && named->kind == Entry::Kind::Value ? named->tensor : value(s.target);
  Tensor from = value(s.value);
  if (!to || !from) return;
  builder_.assign(to, from);
  takeError(s.target.at);
}

void ModelReader::output(const Statement& s) {
  GraphExpr self = GraphExpr::name(s.names[0].text);
  self.at = s.names[0].at;
  Tensor result = value(s.hasValue ? s.value : self);
  if (!result) return;
  builder_.output(fullName(s.names[0]), result);
  takeError(s.names[0].at);
}

// --- Entry points

namespace {

Result<Model> modelOf(ModelReader& reader, const GraphFile& file) {
  reader.read();
  if (!reader.errors().empty()) return tl::unexpected<Error>(reader.errors()[0]);
  Result<Model> model = reader.finish();
  if (!model) model.error()->loc.file = file.path;
  return model;
}

std::vector<Error> errorsOf(ModelReader& reader, const GraphFile& file) {
  const Result<Model> model = modelOf(reader, file);
  if (!reader.errors().empty()) return reader.errors();
  return model ? std::vector<Error>() : std::vector{model.error()};
}

}  // namespace

Result<Model> buildModel(const GraphFile& file, const LoadOptions& options) {
  ModelReader reader(file, options);
  return modelOf(reader, file);
}

Result<Model> buildModel(const GraphFile& file, const LoadOptions& options, CSources& sources) {
  ModelReader reader(file, options, &sources);
  return modelOf(reader, file);
}

std::vector<Error> checkGraphFile(const GraphFile& file, const LoadOptions& options) {
  ModelReader reader(file, options);
  return errorsOf(reader, file);
}

std::vector<Error> checkGraphFile(const GraphFile& file, const LoadOptions& options, CSources& sources) {
  ModelReader reader(file, options, &sources);
  return errorsOf(reader, file);
}

}  // namespace svod
