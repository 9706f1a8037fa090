#include "verify/graph_reducer.h"

#include <algorithm>
#include <optional>

#include "frontend/writer/expressions.h"

namespace svod {

namespace {

size_t countOf(const std::vector<Statement>& statements) {
  size_t count = statements.size();
  for (const Statement& s : statements) count += countOf(s.body) + countOf(s.otherwise);
  return count;
}

/// What the value that people call `name` is, as a file writes it.
std::optional<TypeExpr> typeOf(const Model& model, const std::string& name) {
  const SizeNames names = [](UOp n) { return n.op() == Op::Var ? std::string(n.argAs<VarArg>().name) : std::string(); };
  for (UOp n : toposort(model.sink)) {
    const auto label = model.labels.find(n.id());
    if (label == model.labels.end() || label->second != name || n.dtype() == DType::Index) continue;
    TypeExpr type{std::string(toText(n.dtype())), {}, {}};
    for (UOp dim : n.shape()) {
      std::optional<GraphExpr> size = sizeExpr(dim, names);
      if (!size) return std::nullopt;
      type.dims.push_back(std::move(*size));
    }
    return type;
  }
  return std::nullopt;
}

/// An input in the place of a value or a weight.
Statement inputOf(const Statement& from, TypeExpr type) {
  Statement input;
  input.kind = StatementKind::Input;
  input.names = {from.names[0]}, input.hasType = true, input.type = std::move(type);
  return input;
}

class Reducer {
 public:
  Reducer(GraphFile file, const GraphFails& fails, const std::function<bool()>& isOver)
      : file_(std::move(file)), fails_(fails), isOver_(isOver) {}

  GraphFile run() {
    (void)fails_(file_, &model_);
    do {
      changed_ = false;
      leaveOut(file_.statements);
      makeInputs();
      simplify();
      bodies();
    } while (changed_ && !isOver_());
    return std::move(file_);
  }

 private:
  /// Tries what `file_` is now; where it is right, `undo` takes the change back.
  template <class Undo>
  bool keeps(Undo undo) {
    Model model;
    if (!isOver_() && fails_(file_, &model)) {
      model_ = std::move(model);
      return changed_ = true;
    }
    undo();
    return false;
  }

  /// Runs of statements, long ones first, from the end on: what a statement needs stands before it.
  void leaveOut(std::vector<Statement>& list) {
    for (size_t length = std::max<size_t>(list.size() / 2, 1); length > 0; length /= 2)
      for (size_t end = list.size(); end > 0 && !isOver_();) {
        const size_t begin = end - std::min(length, end);
        const std::vector<Statement> before = list;
        list.erase(list.begin() + static_cast<ptrdiff_t>(begin), list.begin() + static_cast<ptrdiff_t>(end));
        keeps([&] { list = before; });
        end = std::min(begin, list.size());
      }
  }

  void makeInputs() {
    for (size_t i = file_.statements.size(); i-- > 0 && !isOver_();) {
      Statement& s = file_.statements[i];
      const bool isValue = s.kind == StatementKind::Let && s.names.size() == 1;
      if (!isValue && s.kind != StatementKind::Weight) continue;
      const std::optional<TypeExpr> type = isValue ? typeOf(model_, s.names[0].text) : s.type;
      if (!type) continue;
      const Statement before = s;
      s = inputOf(s, *type);
      keeps([&] { file_.statements[i] = before; });
    }
  }

  void simplify() {
    for (size_t i = file_.statements.size(); i-- > 0 && !isOver_();)
      if (const StatementKind kind = file_.statements[i].kind;
          kind == StatementKind::Let || kind == StatementKind::Output || kind == StatementKind::Assign)
        simplify(file_.statements[i].value);
  }
  /// Calls whose operands do as well.
  void simplify(GraphExpr& e) {
    for (bool isShorter = true; isShorter && !isOver_();) {
      isShorter = false;
      for (size_t k = 0; k < e.items.size() && !isShorter; ++k) {
        const GraphExpr before = e;
        e = GraphExpr(before.items[k]);
        isShorter = keeps([&] { e = before; });
      }
    }
    for (GraphExpr& item : e.items) simplify(item);
  }

  void bodies() {
    for (Statement& s : file_.statements) {
      if (!s.body.empty()) leaveOut(s.body);
      if (!s.otherwise.empty()) leaveOut(s.otherwise);
    }
  }

  GraphFile file_;
  const GraphFails& fails_;
  const std::function<bool()>& isOver_;
  Model model_;
  bool changed_ = false;
};

}  // namespace

GraphFile reducedGraph(GraphFile file, const GraphFails& fails, const std::function<bool()>& isOver) {
  return Reducer(std::move(file), fails, isOver).run();
}

size_t statementsOf(const GraphFile& file) { return countOf(file.statements); }

}  // namespace svod
