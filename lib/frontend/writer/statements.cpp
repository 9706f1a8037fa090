// Definitions and steps as statements, in the order of the layout.
#include <algorithm>

#include "frontend/writer/expressions.h"
#include "frontend/writer/writer.h"

namespace svod {

using Kind = BuildLog::Kind;

namespace {

/// Names with an underscore in front label nothing: they are the writer's own.
bool isName(std::string_view label) { return !label.empty() && label[0] != '_'; }

constexpr size_t kLongest = 60;
constexpr int kDeepest = 12;

}  // namespace

// A value with one user is written there if it is short, or what the user exports under its name, unless a statement
// between the two changes what it reads.
bool ModelWriter::isInlined(const Item& item, const GraphExpr& e) {
  const Definition& d = *item.definition;
  if (d.results.size() > 1 || item.users.size() + item.roots.size() != 1 || e.depth > kDeepest) return false;
  auto label = b_.model().labels.find(d.results[0].id());
  bool isLabelled = label != b_.model().labels.end();
  if (item.roots.empty()) {
    const Item& user = *item.users[0];
    return !isLabelled && user.before == item.before && user.scope == item.scope &&
           writeGraphExpr(e).size() <= kLongest;
  }
  const BuildLog::Step& user = *layout_.steps()[item.roots[0]];
  bool isNear = item.roots[0] == item.before || !layout_.readsStorage(d.results[0]);
  if (user.kind == Kind::Output && isNear) return !isLabelled || label->second == user.name;
  bool takesValue = user.kind == Kind::Assign || user.kind == Kind::Temporary || user.kind == Kind::Expect;
  return takesValue && isNear && item.roots[0] == item.before && !isLabelled;
}

Status ModelWriter::item(const Item& item) {
  const Definition& d = *item.definition;
  const auto& labels = b_.model().labels;
  SVOD_TRY(GraphExpr value, call(d, false));
  if (isInlined(item, value)) {
    inlined_.emplace(d.results[0].id(), std::move(value));
    return {};
  }
  Statement& s = add(StatementKind::Let);
  comment(s, item);
  s.hasValue = true;
  s.value = std::move(value);
  for (UOp r : d.results) {
    auto label = labels.find(r.id());
    bool isWanted = std::ranges::find(item.wanted, r) != item.wanted.end();
    if (!isWanted || names_.contains(r.id())) {
      s.names.push_back({"_", {}});
      continue;
    }
    bool isLabelled = label != labels.end() && isName(label->second);
    s.names.push_back({newName(isLabelled ? label->second : "_" + std::to_string(++unnamed_)), {}});
    names_[r.id()] = s.names.back().text;
  }
  return {};
}

Status ModelWriter::temporary(const BuildLog::Step& step) {
  UOp buffer = step.results.at(0);
  uint32_t slot = buffer.argAs<SlotArg>().slot;
  const std::string& label = b_.model().ports[slot].name;
  SVOD_TRY(TypeExpr type, typeOf(buffer.dtype(), buffer.shape()));
  SVOD_TRY(GraphExpr value, operand(step.operands[0]));
  slotNames_[slot] = newName(isName(label) ? label : "_" + std::to_string(++unnamed_));
  Statement& s = add(StatementKind::Temp, slotNames_[slot]);
  s.hasType = s.hasValue = true;
  s.type = std::move(type), s.value = std::move(value);
  return {};
}

Status ModelWriter::loop(const BuildLog::Step& step) {
  std::optional<GraphExpr> count = sizeExpr(step.count.node(), [this](UOp n) { return sizeName(n); });
  if (!count)
    return fail(Diag::Unsupported, "the count of a loop, " + describe(step.count) + ", has no form in graph files");
  GraphExpr condition;
  if (!step.operands.empty()) {
    SVOD_TRY(condition, unnamed(step.operands[0]));
  }
  const uint32_t id = step.results.at(0).argAs<AxisArg>().id;
  const std::string& counter = counters_[id] = counterNames_.at(b_.model().loops[id]);
  Statement& s = add(StatementKind::Loop, counter);
  s.hasValue = true, s.value = std::move(*count), s.unroll = step.unroll;
  s.hasCondition = !step.operands.empty(), s.condition = std::move(condition);
  bodies_.push_back(&s.body);
  return {};
}

Status ModelWriter::expectation(const BuildLog::Step& step) {
  Statement& s = add(StatementKind::Let, "_");
  s.hasValue = true;
  s.value = GraphExpr::call("equal_sizes", {});
  if (!step.operands.empty()) {
    SVOD_TRY(GraphExpr given, operand(step.operands[0]));
    SVOD_TRY(GraphExpr wanted, operand(step.operands[1]));
    s.value = GraphExpr::call("expect", {std::move(given), std::move(wanted)});
  }
  for (const auto& [name, value] : step.attributes) {
    std::optional<GraphExpr> written = attributeExpr(value, [this](UOp n) { return sizeName(n); });
    if (!written) return fail(Diag::Unsupported, "the size " + describe(value) + " has no form in graph files", "");
    s.value.depth = std::max(s.value.depth, written->depth + 1);
    s.value.attributes.push_back({name, std::move(*written), {}});
  }
  s.value.attributes.push_back({"text", GraphExpr::string(step.name), {}});
  return {};
}

Status ModelWriter::step(const BuildLog::Step& step) {
  switch (step.kind) {
    case Kind::Temporary: return temporary(step);
    case Kind::Loop: return loop(step);
    case Kind::Assign: {
      SVOD_TRY(GraphExpr target, unnamed({step.operands[0].node}));
      SVOD_TRY(GraphExpr value, operand(step.operands[1]));
      Statement& s = add(StatementKind::Assign);
      s.hasValue = true;
      s.target = std::move(target), s.value = std::move(value);
      return {};
    }
    case Kind::Output: {
      SVOD_TRY(GraphExpr value, operand(step.operands[0]));
      Statement& s = add(StatementKind::Output, step.name);
      s.hasValue = value.kind != ExprKind::Name || value.text != step.name;
      if (s.hasValue) s.value = std::move(value);
      return {};
    }
    case Kind::Expect: return expectation(step);
    case Kind::Branch: {
      SVOD_TRY(GraphExpr condition, operand(step.operands[0]));
      Statement& s = add(StatementKind::If);
      s.hasValue = true, s.value = std::move(condition);
      bodies_.push_back(&s.body);
      return {};
    }
    case Kind::Otherwise:
      bodies_.pop_back();
      bodies_.back()->back().hasOtherwise = true;
      bodies_.push_back(&bodies_.back()->back().otherwise);
      return {};
    case Kind::End: bodies_.pop_back(); return {};
    case Kind::Call:
    case Kind::Note: break;
  }
  return {};
}

// --- Notes become comments where they stand for more than one value

const BuildLog::Step* ModelWriter::noteOf(const Item& item) const {
  auto next = std::upper_bound(notes_.begin(), notes_.end(), item.at,
                               [](uint32_t at, const BuildLog::Step* note) { return at < note->at; });
  return next == notes_.begin() ? nullptr : *(next - 1);
}

void ModelWriter::comment(Statement& s, const Item& item) {
  const BuildLog::Step* note = noteOf(item);
  if (!note || noteSizes_[note] < 2) return;
  s.comments.push_back("# " + note->name);
  noteSizes_[note] = 0;
}

// --- Contents of storage that are read after a later assignment

bool ModelWriter::isStorage(UOp node) const {
  if (node.op() != Op::Buffer && node.op() != Op::After) return false;
  PortKind kind = b_.model().ports[slotBelow(node)].kind;
  return kind == PortKind::State || kind == PortKind::Temporary;
}

void ModelWriter::findHeld() {
  Contents contents;
  auto look = [&](const BuildLog::Operand& o) {
    if (isStorage(o.node) && !contents.isCurrent(o.node)) held_.emplace(o.node.id(), o.node);
  };
  for (size_t i = 0; i <= layout_.steps().size(); ++i) {
    for (const Item* item : layout_.itemsBefore(i)) std::ranges::for_each(item->definition->operands, look);
    if (i == layout_.steps().size()) break;
    const BuildLog::Step& step = *layout_.steps()[i];
    for (const BuildLog::Operand& o : step.operands)
      if (step.kind != Kind::Assign || &o != &step.operands[0]) look(o);
    contents.pass(step);
  }
}

// Names what is read later, as soon as it is there.
void ModelWriter::hold() {
  for (const auto& [id, content] : held_) {
    if (heldNames_.contains(id) || !contents_.isCurrent(content)) continue;
    heldNames_[id] = newName("_" + std::to_string(++unnamed_));
    Statement& s = add(StatementKind::Let, heldNames_[id]);
    s.hasValue = true;
    s.value = GraphExpr::call("held", {GraphExpr::name(slotNames_[slotBelow(content)])});
  }
}

Result<WrittenModel> ModelWriter::write() {
  for (const BuildLog::Step& step : log_.steps)
    if (step.kind == Kind::Note) notes_.push_back(&step);
  SVOD_CHECK(layout_.make());
  size_t count = layout_.steps().size();
  for (size_t i = 0; i <= count; ++i)
    for (const Item* item : layout_.itemsBefore(i)) ++noteSizes_[noteOf(*item)];
  bodies_.push_back(&out_.file.statements);
  SVOD_CHECK(declare());
  findHeld();
  hold();
  for (size_t i = 0; i <= count; ++i) {
    for (const Item* one : layout_.itemsBefore(i)) SVOD_CHECK(item(*one));
    if (i == count) break;
    SVOD_CHECK(step(*layout_.steps()[i]));
    contents_.pass(*layout_.steps()[i]);
    hold();
  }
  return std::move(out_);
}

Result<WrittenModel> writeModel(GraphBuilder& builder, const BuildLog& log, const std::string& weightFile) {
  builder.recordTo(nullptr);
  return ModelWriter(builder, log, weightFile).write();
}

}  // namespace svod
