// Temporaries, loops and branches of graph files: statements that have bodies, and what these assign.
#include "frontend/model_reader.h"

namespace svod {

void ModelReader::temporary(const Statement& s) {
  const NameAt& name = s.names[0];
  Tensor start = value(s.value), made;
  if (!declare(name) || !start) return;
  if (s.hasType) {
    std::optional<StatedType> type = statedType(s.type);
    if (!type) return;
    made = builder_.temporary(type->dtype, type->dims, start);
  } else {
    made = builder_.temporary(start);
  }
  if (!takeError(s.value.at)) define(name, made);
}

void ModelReader::body(const std::vector<Statement>& statements) {
  ++bodies_;
  scoped(statements);
  --bodies_;
}

// Names that are defined by these statements end with them.
void ModelReader::scoped(const std::vector<Statement>& statements) {
  size_t outer = order_.size();
  inOrder(statements);
  for (; order_.size() > outer; order_.pop_back()) {
    ended_.insert_or_assign(order_.back(), scope_.at(order_.back()).at);
    scope_.erase(order_.back());
  }
}

void ModelReader::loop(const Statement& s) {
  const NameAt& name = s.names[0];
  Dim count = size(s.value);
  if (!count || !declare(name)) return;
  GraphBuilder::LoopOptions options{s.unroll, {}};
  if (s.hasCondition) options.condition = [&] { return value(s.condition); };
  auto run = [&](Dim counter) {
    scope_[name.text].kind = Entry::Kind::Variable;
    scope_[name.text].dim = counter;
    body(s.body);
  };
  builder_.loop(name.text, count, run, options);
  takeError(s.at);
  end(name);
}

// The name that a body was for.
void ModelReader::end(const NameAt& name) {
  scope_.erase(name.text);
  if (!order_.empty() && order_.back() == name.text) order_.pop_back();  // names of the body went before it
  ended_.insert_or_assign(name.text, name.at);
}

void ModelReader::branch(const Statement& s) {
  Tensor condition = value(s.value);
  if (!condition) return;
  auto otherwise = [&] { body(s.otherwise); };
  builder_.branch(condition, [&] { body(s.body); }, s.hasOtherwise ? otherwise : std::function<void()>());
  takeError(s.value.at);
}

}  // namespace svod
