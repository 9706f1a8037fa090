// What the caller of a reader chooses: values and bounds of variables, shapes of inputs, constants.
#include <algorithm>

#include "frontend/model_reader.h"
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
  if (isNew || it->second.value == value) return;
  record(Diag::BindMismatch, {},
         "variable '" + variable + "' is bound to " + std::to_string(it->second.value) + " (" +
             it->second.from + ") and to " + std::to_string(value) + " (" + from + ")",
         "bind it once, or to the same value");
}

void ModelReader::bindShape(const std::string& input, const std::vector<int64_t>& shape,
                            const std::string& from) {
  auto s = std::ranges::find_if(file_.statements, [&](const Statement& x) {
    return x.kind == StatementKind::Input && x.names[0].text == input;
  });
  if (s == file_.statements.end()) {
    std::vector<std::string_view> inputs;
    for (const Statement& x : file_.statements)
      if (x.kind == StatementKind::Input) inputs.push_back(x.names[0].text);
    return record(Diag::UnknownPort, {}, from + ": the graph has no input '" + input + "'",
                  didYouMean(input, inputs, "svodc inspect GRAPH shows them"));
  }
  if (s->type.dims.size() != shape.size())
    return record(Diag::ShapeMismatch, s->at,
                  from + ": input '" + input + "' has rank " + std::to_string(s->type.dims.size()) +
                      ", not " + std::to_string(shape.size()));
  for (size_t i = 0; i < shape.size(); ++i)
    if (s->type.dims[i].kind == ExprKind::Name) bind(s->type.dims[i].text, shape[i], from);
}

void ModelReader::applyOptions() {
  std::vector<std::string_view> variables;
  for (const Statement& s : file_.statements) {
    if (s.kind != StatementKind::Var) continue;
    variables.push_back(s.names[0].text);
    if (!s.hasValue) continue;
    if (s.value.kind == ExprKind::Int && !s.value.isBig) {
      bind(s.names[0].text, s.value.integer, place(s.at));
    } else {
      record(Diag::Syntax, s.value.at,
             "variable '" + s.names[0].text + "' is bound to " + writeGraphExpr(s.value),
             "bind it to an integer");
    }
  }
  for (const VariableOption& o : options_.variables) {
    if (std::ranges::find(variables, o.name) == variables.end())
      record(Diag::UnknownPort, {}, "--var: " + (isCounter(file_.statements, o.name)
                 ? "'" + o.name + "' is the counter of a loop" : "the graph has no variable '" + o.name + "'"),
             didYouMean(o.name, variables));
    if (o.value) bind(o.name, *o.value, "--var " + o.name + "=" + std::to_string(*o.value));
  }
  for (const auto& [name, shape] : options_.shapes) bindShape(name, shape, "--shape " + name);
  for (const auto& [name, path] : options_.constants) {
    DType want = DType::Void;
    for (const Statement& s : file_.statements)
      if (s.kind == StatementKind::Input && s.names[0].text == name)
        want = dtypeFromText(s.type.dtype).value_or(DType::Void);
    if (auto shape = WeightLoader::npyShape(path, want)) {
      constantFiles_[name] = path;
      bindShape(name, *shape, "--const " + name + "=" + path);
    } else {
      record(shape.error(), {});
    }
  }
}

void ModelReader::checkShapeOption(const Statement& s, const Dims& dims) {
  for (const auto& [name, shape] : options_.shapes) {
    if (name != s.names[0].text || static_cast<int>(shape.size()) != dims.rank()) continue;
    for (int i = 0; i < dims.rank(); ++i)
      if (s.type.dims[i].kind != ExprKind::Name && !dims[i].is(shape[i]))
        record(Diag::ShapeMismatch, s.at,
               "--shape " + name + ": axis " + std::to_string(i) + " of input '" + name + "' is " +
                   describe(dims[i]) + ", not " + std::to_string(shape[i]),
               "only dims that are a variable can be chosen");
  }
}

}  // namespace svod
