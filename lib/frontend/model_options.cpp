// What the caller of a reader chooses: values and bounds of variables, shapes of inputs, constants.
#include <algorithm>

#include "frontend/model_reader.h"
#include "frontend/size_options.h"
#include "support/suggest.h"

namespace svod {

namespace {

bool isCounter(const std::vector<Statement>& statements, std::string_view name) {
  return std::ranges::any_of(statements, [&](const Statement& s) {
    return (s.kind == StatementKind::Loop && s.names[0].text == name) || isCounter(s.body, name) ||
           isCounter(s.otherwise, name);
  });
}

}  // namespace

void ModelReader::bind(const std::string& variable, int64_t value, const std::string& from) {
  auto [it, isNew] = bound_.try_emplace(variable, Bound{value, from});
  if (!isNew && it->second.value != value)
    return record(Diag::BindMismatch, {},
                  "variable '" + variable + "' is bound to " + std::to_string(it->second.value) + " (" +
                      it->second.from + ") and to " + std::to_string(value) + " (" + from + ")",
                  "bind it once, or to the same value");
  if (Status made = sizes_.equate(SizeForm::variable(variable), SizeForm::number(value), from); !made)
    record(std::move(made.error()), {});
}

void ModelReader::bindDim(const Statement& input, size_t axis, const SizeForm& wanted, const std::string& from) {
  const GraphExpr& declared = input.type.dims[axis];
  if (declared.kind == ExprKind::Name && wanted.isNumber()) return bind(declared.text, wanted.constant, from);
  const Result<SizeForm> form = sizeFormOf(declared);
  if (!form || *form == wanted) return;  // checkShapeOption compares what it becomes
  if (form->isNumber()) {
    if (!wanted.isNumber())
      record(fixedDimError(from, input.names[0].text, static_cast<int>(axis), toText(*form), wanted,
                           "only dims that are a variable can be chosen"),
             input.at);
    return;
  }
  if (Status made = sizes_.equate(*form, wanted, from); !made) record(std::move(made.error()), {});
}

void ModelReader::bindShape(const std::string& input, const std::vector<SizeForm>& shape, const std::string& from) {
  auto s = std::ranges::find_if(
      file_.statements, [&](const Statement& x) { return x.kind == StatementKind::Input && x.names[0].text == input; });
  if (s == file_.statements.end()) {
    std::vector<std::string_view> inputs;
    for (const Statement& x : file_.statements)
      if (x.kind == StatementKind::Input) inputs.push_back(x.names[0].text);
    return record(Diag::UnknownPort, {}, from + ": the graph has no input '" + input + "'",
                  didYouMean(input, inputs, "svodc inspect GRAPH shows them"));
  }
  if (s->type.dims.size() != shape.size()) {
    std::string declared;
    for (const GraphExpr& dim : s->type.dims) declared += (declared.empty() ? "" : ", ") + writeGraphExpr(dim);
    return record(Diag::ShapeMismatch, s->at,
                  from + ": input '" + input + "' has rank " + std::to_string(s->type.dims.size()) + ", not " +
                      std::to_string(shape.size()),
                  "it is declared as [" + declared + "]: give it one size for each of these");
  }
  for (size_t i = 0; i < shape.size(); ++i) bindDim(*s, i, shape[i], from);
}

void ModelReader::declareVariables() {
  for (const Statement& s : file_.statements) {
    if (s.kind != StatementKind::Var) continue;
    sizes_.declare(s.names[0].text, {s.min, s.max}, SizeVariables::Source::Given);
    if (s.likely) sizes_.prefer(s.names[0].text, *s.likely);
    if (!s.hasValue) continue;
    if (s.value.kind == ExprKind::Int && !s.value.isBig) {
      bind(s.names[0].text, s.value.integer, place(s.at));
    } else {
      record(Diag::Syntax, s.value.at, "variable '" + s.names[0].text + "' is bound to " + writeGraphExpr(s.value),
             "bind it to an integer");
    }
  }
}

void ModelReader::applyOptions() {
  for (const auto& [past, present] : options_.states)
    record(Diag::Usage, {}, "--state " + past + "=" + present + ": a graph file names its states itself",
           "write 'state " + past + "' in place of the input, and 'assign' in place of the output");
  for (const std::string& name : options_.inputDefaults)
    record(Diag::Usage, {}, "--input-default " + name + ": inputs of a graph file have no value",
           "write 'input " + name + "' in place of the weight");
  declareVariables();
  auto unknown = [&](const std::string& name) {
    std::vector<std::string_view> variables;
    for (const Statement& s : file_.statements)
      if (s.kind == StatementKind::Var) variables.push_back(s.names[0].text);
    return Error(Diag::UnknownPort,
                 "--var: " + (isCounter(file_.statements, name) ? "'" + name + "' is the counter of a loop"
                                                                : "the graph has no variable '" + name + "'"),
                 didYouMean(name, variables,
                            variables.empty() ? "it has none: all its dims are numbers" : choicesFor(name, variables)));
  };
  applyVariableOptions(
      sizes_, options_,
      {[&](Error e) { record(std::move(e), {}); }, unknown,
       [&](const std::string& name, int64_t value, const std::string& from) { bind(name, value, from); }});
  for (const auto& [name, shape] : options_.shapes) bindShape(name, shape, "--shape " + name);
  for (const auto& [name, path] : options_.constants) {
    DType want = DType::Void;
    for (const Statement& s : file_.statements)
      if (s.kind == StatementKind::Input && s.names[0].text == name)
        want = dtypeFromText(s.type.dtype).value_or(DType::Void);
    if (auto shape = WeightLoader::npyShape(path, want)) {
      constantFiles_[name] = path;
      std::vector<SizeForm> dims;
      for (int64_t d : *shape) dims.push_back(SizeForm::number(d));
      bindShape(name, dims, "--const " + name + "=" + path);
    } else {
      record(shape.error(), {});
    }
  }
  if (Status settled = sizes_.settle(std::nullopt); !settled) record(std::move(settled.error()), {});
}

void ModelReader::checkShapeOption(const Statement& s, const Dims& dims) {
  for (const auto& [name, shape] : options_.shapes) {
    if (name != s.names[0].text || static_cast<int>(shape.size()) != dims.rank()) continue;
    for (int i = 0; i < dims.rank(); ++i) {
      const SizeForm& wanted = shape[static_cast<size_t>(i)];
      const Result<SizeForm> form = sizeFormOf(s.type.dims[static_cast<size_t>(i)]);
      const bool isSolved = form && !form->isNumber();  // by bindDim, or it recorded why not
      if (!isSolved && wanted.isNumber() && !dims[i].is(wanted.constant))
        record(fixedDimError("--shape " + name, name, i, describe(dims[i]), wanted,
                             "only dims that are a variable can be chosen"),
               s.at);
    }
  }
}

// --- Variables as sizes

Dim ModelReader::sizeOf(const SizeForm& form) {
  Dim total = builder_.dim(form.constant);
  for (const auto& [name, times] : form.factors) total = total + freeVariable(name) * times;
  return total;
}

Dim ModelReader::freeVariable(const std::string& name) {
  auto [at, isNew] = freeVariables_.try_emplace(name);
  if (isNew) {
    const Interval bounds = sizes_.boundsOf(name);
    at->second = builder_.variable(name, bounds.min, bounds.max, sizes_.likelyOf(name, usualSize(bounds)));
  }
  return at->second;
}

}  // namespace svod
