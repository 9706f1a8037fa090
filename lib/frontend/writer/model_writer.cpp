// Names, declarations and expressions of the written file.
#include <algorithm>

#include "frontend/weights.h"
#include "frontend/writer/expressions.h"
#include "frontend/writer/writer.h"

namespace svod {

// --- Names

std::string ModelWriter::newName(std::string_view wanted) {
  std::string name(wanted);
  for (int i = 2; !taken_.insert(name).second; ++i) name = std::string(wanted) + "." + std::to_string(i);
  return name;
}

std::string ModelWriter::sizeName(UOp size) const {
  if (size.op() == Op::Var) return std::string(size.argAs<VarArg>().name);
  auto counter = counters_.find(size.argAs<AxisArg>().id);
  return counter == counters_.end() ? "?" : counter->second;
}

Statement& ModelWriter::add(StatementKind kind, std::string name) {
  Statement& s = bodies_.back()->emplace_back();
  s.kind = kind;
  if (!name.empty()) s.names.push_back({std::move(name), {}});
  return s;
}

// --- Declarations

Result<TypeExpr> ModelWriter::typeOf(DType dtype, std::span<const UOp> dims) {
  TypeExpr type{std::string(toText(dtype)), {}, {}};
  for (UOp d : dims) {
    std::optional<GraphExpr> size = sizeExpr(d, [this](UOp n) { return sizeName(n); });
    if (!size)
      return fail(Diag::Unsupported, "the size " + describe(Dim(b_.graph(), d)) + " has no form in graph files");
    type.dims.push_back(std::move(*size));
  }
  return type;
}

void ModelWriter::weight(const ModelPort& port) {
  WrittenWeight w{port.name, port.buffer.dtype(), {}, port.data};
  for (UOp d : port.buffer.shape()) w.dims.push_back(d.constInt());
  if (port.kind == PortKind::State) w.data = sharedBytes(w.dtype, w.data);
  Statement& s = bodies_.back()->back();
  s.hasValue = true;
  if (std::optional<GraphExpr> list = inlineData(w.dtype, w.dims, w.data)) {
    s.value = std::move(*list);
    return;
  }
  s.value = GraphExpr::string(weightFile_ + ":" + port.name);
  out_.weights.push_back(std::move(w));
}

Status ModelWriter::declare() {
  for (UOp v : b_.model().variables) {
    const auto& var = v.argAs<VarArg>();
    Statement& s = add(StatementKind::Var, newName(var.name));
    s.min = var.min, s.max = var.max;
    if (var.likely != usualSize({var.min, var.max})) s.likely = var.likely;
  }
  for (const ModelPort& port : b_.model().ports) {
    uint32_t slot = port.buffer.argAs<SlotArg>().slot;
    if (port.kind == PortKind::Output || port.kind == PortKind::Temporary || port.kind == PortKind::Expectation)
      continue;
    if (port.kind == PortKind::Weight && !layout_.reads(slot)) continue;
    slotNames_[slot] = newName(port.name);
    Statement& s = add(port.kind == PortKind::Input    ? StatementKind::Input
                       : port.kind == PortKind::Weight ? StatementKind::Weight
                                                       : StatementKind::State,
                       port.name);
    s.hasType = true;
    SVOD_TRY(s.type, typeOf(port.buffer.dtype(), port.buffer.shape()));
    if (port.kind != PortKind::Input && port.data.bytes > 0) weight(port);
    if (port.kind == PortKind::Weight && port.data.bytes == 0) s.hasValue = true, s.value = GraphExpr::name("zeros");
  }
  for (const std::string& name : b_.model().loops)  // kernels have them, so no label may take one
    if (!counterNames_.contains(name)) counterNames_[name] = newName(name);
  return {};
}

// --- Expressions

Result<GraphExpr> ModelWriter::operand(const BuildLog::Operand& o) {
  UOp node = o.node;
  if (node.isConst()) return o.isLiteral ? numberExpr(node.constant()) : constantExpr(node.constant());
  if (node.op() == Op::Buffer || node.op() == Op::After) {
    auto held = heldNames_.find(node.id());
    bool isHeld = held != heldNames_.end() && !contents_.isCurrent(node);
    return GraphExpr::name(isHeld ? held->second : slotNames_[slotBelow(node)]);
  }
  if (auto inlined = inlined_.find(node.id()); inlined != inlined_.end()) return inlined->second;
  auto name = names_.find(node.id());
  if (name != names_.end()) return GraphExpr::name(name->second);
  return fail(Diag::Unsupported, "a value of a loop is used where it has no name",
              "compile the model without converting it");
}

namespace {

std::string symbolOf(std::string_view op, size_t operands) {
  constexpr std::pair<std::string_view, std::string_view> kSymbols[] = {
      {"add", "+"},  {"sub", "-"},       {"mul", "*"},      {"div", "/"},
      {"fdiv", "/"}, {"floordiv", "//"}, {"floormod", "%"}, {"neg", "-"}};
  for (const auto& [name, symbol] : kSymbols)
    if (name == op && isOperator(symbol, operands)) return std::string(symbol);
  return std::string(op);
}

}  // namespace

Result<GraphExpr> ModelWriter::call(const Definition& d, bool inlinesStorage) {
  std::vector<GraphExpr> operands;
  for (const BuildLog::Operand& o : d.operands) {
    SVOD_TRY(GraphExpr e, inlinesStorage ? unnamed(o) : operand(o));
    operands.push_back(std::move(e));
  }
  std::string op = symbolOf(d.op, operands.size());
  if (operands.size() == 2 && isOperator(op, 2) && d.attributes.empty())
    return GraphExpr::binary(std::move(operands[0]), {std::move(op), {}}, std::move(operands[1]));
  GraphExpr e = GraphExpr::call(std::move(op), std::move(operands));
  for (const auto& [name, value] : d.attributes) {
    std::optional<GraphExpr> written = attributeExpr(value, [this](UOp n) { return sizeName(n); });
    if (!written)
      return fail(Diag::Unsupported,
                  d.op + ": the attribute '" + name + "' is " + describe(value) + ", which has no form in graph files");
    e.depth = std::max(e.depth, written->depth + 1);
    e.attributes.push_back({name, std::move(*written), {}});
  }
  return e;
}

// The value without names for anything that reads storage.
Result<GraphExpr> ModelWriter::unnamed(const BuildLog::Operand& o) {
  if (isLeaf(o.node) || !layout_.readsStorage(o.node)) return operand(o);
  SVOD_TRY(const Definition* d, definitions_.of(o.node));
  if (d->results.size() == 1) return call(*d, true);
  return fail(Diag::Unsupported, "the condition of a loop needs one result of '" + d->op + "' only",
              "compile the model without converting it");
}

}  // namespace svod
