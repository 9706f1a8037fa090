// Values without operands, ops by name, expectations, the log, and the model in the end.
#include <algorithm>
#include <utility>

#include "frontend/builder.h"
#include "frontend/distribute.h"
#include "ir/shape.h"

namespace svod {

Tensor GraphBuilder::literal(int64_t v) { return Tensor(this, graph().constant(Scalar::ofInt(DType::I64, v)), true); }
Tensor GraphBuilder::literal(double v) { return Tensor(this, graph().constant(Scalar::ofFloat(DType::F64, v)), true); }
Tensor GraphBuilder::literal(bool v) { return Tensor(this, graph().boolean(v), true); }
Tensor GraphBuilder::constant(Scalar v) { return Tensor(this, graph().constant(v), false); }
Tensor GraphBuilder::full(const Dims& dims, Tensor value) {
  if (value.isLiteral()) value = cast(value, commonDType({&value, 1}));
  return expand(value, dims);
}
Tensor GraphBuilder::value(Dim d) { return d ? Tensor(this, d.node(), false) : Tensor(); }
Tensor GraphBuilder::iota(Dim size) {
  return size ? wrap(graph().make(Op::Iota, DType::Index, {size.node()})) : Tensor();
}

Tensor GraphBuilder::held(Tensor x) {
  if (x) x.node_ = x.node(), x.isHeld_ = true;
  return x;
}

void GraphBuilder::label(Tensor x, std::string_view name) {
  if (!x) return;
  UOp node = x.node_;
  while (node.op() == Op::After) node = node.src(0);
  if (node.op() == Op::Buffer)
    if (ModelPort& port = model_.ports[node.argAs<SlotArg>().slot];
        port.kind == PortKind::Temporary && port.name.empty())
      port.name = name;
  if (node.op() != Op::Const) model_.labels.emplace(node.id(), name);
}

Tensor GraphBuilder::op(std::string_view name, std::initializer_list<Tensor> operands, const Attributes& attributes) {
  return op(name, std::span(operands.begin(), operands.size()), attributes);
}

Tensor GraphBuilder::op(std::string_view name, std::span<const Tensor> operands, const Attributes& attributes) {
  std::vector<Tensor> results = ops(name, operands, attributes);
  return results.empty() ? Tensor() : results[0];
}

// --- Expectations

void GraphBuilder::expect(Tensor given, Tensor wanted, std::string_view text, ExpectationKind kind) {
  if (!given || !wanted || !checkVisible(given) || !checkVisible(wanted)) return;
  if (bodies_.isInLoop()) {
    fail(Diag::Syntax, "something is expected inside a loop", "expect it before the loop, or of what the loop leaves");
    return;
  }
  auto isWhole = [](const Tensor& t) { return t.isLiteral() || !isFloat(t.dtype()); };
  bool isFixed = given.rank() == 0 || (given.rank() == 1 && given.dim(0).isConst());
  if (!isWhole(given) || !isWhole(wanted) || !isFixed) {
    fail(Diag::ShapeMismatch, describe(given) + " is expected to be " + describe(wanted),
         "expect integers of integers: scalars, or vectors of a constant size");
    return;
  }
  if (isConditional()) return expected_.inConditions.back().push_back({given, wanted, std::string(text), kind});
  Tensor row = cast(given, DType::I64);
  if (row.rank() == 0) row = unsqueeze(row, 0);
  if (!addExpectation(row, expand(cast(wanted, DType::I64), row.dims()), text, kind)) return;
  BuildLog::Step* step = record(BuildLog::Kind::Expect, text, {given, wanted});
  if (step && kind != ExpectationKind::Agrees) step->attributes = {{"kind", std::string(toText(kind))}};
}

namespace {

/// A lowering that is tried twice asks twice.
bool isExpected(const Model& model, std::span<const UOp> stores, UOp both, std::string_view text) {
  return std::ranges::any_of(stores, [&](UOp s) {
    if (s.op() != Op::Store || s.src(1) != both || s.src(0).op() != Op::Buffer) return false;
    const ModelPort& port = model.ports[s.src(0).argAs<SlotArg>().slot];
    return port.kind == PortKind::Expectation && port.name == text;
  });
}

}  // namespace

bool GraphBuilder::addExpectation(Tensor row, Tensor wanted, std::string_view text, ExpectationKind kind) {
  Tensor both = where(eq(unsqueeze(iota(dim(2)), -1), 0), row, wanted);
  if (!both || isExpected(model_, bodies_.outermost().stores, both.node(), text)) return false;
  Tensor target = port(PortKind::Expectation, "expectation", DType::I64, both.dims(), {});
  if (!target) return false;
  model_.ports.back().name = text;
  model_.ports.back().expectation = kind;
  bodies_.outermost().stores.push_back(graph().make(Op::Store, DType::Void, {target.node_, both.node()}));
  return true;
}

// --- The log

BuildLog::Step* GraphBuilder::record(BuildLog::Kind kind, std::string_view name, std::span<const Tensor> tensors) {
  if (!log_.log()) return nullptr;
  std::vector<BuildLog::Operand> operands;
  for (const Tensor& t : tensors) {
    bool isTarget = kind == BuildLog::Kind::Assign && operands.empty();
    operands.push_back({isTarget ? t.node_ : t.node(), t.isLiteral()});
  }
  return log_.add(kind, name, graph().size(), std::move(operands));
}

void GraphBuilder::note(std::string text) { record(BuildLog::Kind::Note, text, {}); }

// --- Trying things out

GraphBuilder::Mark GraphBuilder::mark() const {
  Mark mark;
  mark.bodies = bodies_;
  mark.expected = expected_;
  mark.lastCall = lastCall_;
  mark.ports = model_.ports.size();
  mark.sizesOfRuns = model_.equalSizes.size();
  mark.steps = log_.size();
  return mark;
}

// Loops and temporaries keep their numbers, so that no node that is built later is one of theirs; finish() drops them.
void GraphBuilder::rewind(Mark mark) {
  bodies_ = std::move(mark.bodies);
  expected_ = std::move(mark.expected);
  lastCall_ = mark.lastCall;
  model_.equalSizes.resize(std::min(mark.sizesOfRuns, model_.equalSizes.size()));
  for (size_t i = mark.ports; i < model_.ports.size(); ++i)
    if (PortKind& kind = model_.ports[i].kind; kind == PortKind::Output || kind == PortKind::Expectation)
      kind = PortKind::Temporary;
  log_.dropStatements(mark.steps);
}

// --- The model

namespace {

/// What graph files declare comes first, then outputs, expectations and temporaries.
int rank(PortKind kind) {
  return kind == PortKind::Temporary ? 3 : kind == PortKind::Expectation ? 2 : kind == PortKind::Output ? 1 : 0;
}

/// The new slot of every port, or -1: weights that nothing reads are left out.
std::vector<int> newSlots(const Model& model, std::span<const UOp> nodes) {
  std::vector<bool> isUsed(model.ports.size());
  for (UOp n : nodes)
    if (n.op() == Op::Buffer) isUsed[n.argAs<SlotArg>().slot] = true;
  std::vector<int> slots(model.ports.size(), -1);
  int next = 0;
  for (int r = 0; r <= rank(PortKind::Temporary); ++r)
    for (size_t i = 0; i < slots.size(); ++i) {
      PortKind kind = model.ports[i].kind;
      bool isKept = isUsed[i] || (kind != PortKind::Weight && kind != PortKind::Temporary);
      if (isKept && rank(kind) == r) slots[i] = next++;
    }
  return slots;
}

/// The new numbers of the loops that are left, by their old ones.
std::vector<uint32_t> newLoops(Model& model, const std::vector<std::string>& names, std::span<const UOp> nodes) {
  std::vector<bool> isUsed(names.size());
  for (UOp n : nodes)
    if (n.op() == Op::Range) isUsed[n.argAs<AxisArg>().id] = true;
  std::vector<uint32_t> numbers(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    numbers[i] = static_cast<uint32_t>(model.loops.size());
    if (isUsed[i]) model.loops.push_back(names[i]);
  }
  return numbers;
}

/// A node like `n`, of these sources. The order of the terms in a size follows what they are, so it changes with the
/// numbers of loops.
UOp remade(Graph& graph, UOp n, std::span<const UOp> src, Arg arg) {
  const bool isSize = n.dtype() == DType::Index && n.shape().empty() && !n.ranges().empty();
  if (isSize && n.op() == Op::Add) return addDims(graph, src[0], src[1]);
  if (isSize && n.op() == Op::Mul) return mulDims(graph, src[0], src[1]);
  return graph.make(n.op(), n.dtype(), src, std::move(arg));
}

/// The part of a model that counts. Nodes are numbered in an order that depends on structure only.
Model tidied(Model from) {
  std::vector<int> slots = newSlots(from, toposort(from.sink));
  std::vector<UOp> roots{from.sink};
  roots.insert(roots.end(), from.variables.begin(), from.variables.end());
  for (const EqualSizes& e : from.equalSizes) roots.push_back(e.a), roots.push_back(e.b);
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i] >= 0) roots.push_back(from.ports[i].buffer);
  Model to;
  std::vector<UOp> order = toposort(roots), made(from.graph->size()), src;
  std::vector<uint32_t> loops = newLoops(to, from.loops, order);
  for (UOp n : order) {
    src.clear();
    for (UOp s : n.src()) src.push_back(made[s.id()]);
    Arg arg = n.arg();
    if (n.op() == Op::Buffer) std::get<SlotArg>(arg).slot = static_cast<uint32_t>(slots[n.argAs<SlotArg>().slot]);
    if (n.op() == Op::Range) std::get<AxisArg>(arg).id = loops[n.argAs<AxisArg>().id];
    made[n.id()] = remade(*to.graph, n, src, std::move(arg));
  }
  to.sink = made[from.sink.id()];
  for (UOp v : from.variables) to.variables.push_back(made[v.id()]);
  to.devices = std::move(from.devices);
  for (EqualSizes& e : from.equalSizes) to.equalSizes.push_back({made[e.a.id()], made[e.b.id()], std::move(e.text)});
  to.ports.resize(static_cast<size_t>(std::ranges::count_if(slots, [](int slot) { return slot >= 0; })));
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] < 0) continue;
    ModelPort& port = to.ports[static_cast<size_t>(slots[i])];
    port = std::move(from.ports[i]);
    port.buffer = made[port.buffer.id()];
  }
  for (auto& [id, name] : from.labels)
    if (made[id]) to.labels.emplace(made[id].id(), std::move(name));
  return to;
}

}  // namespace

Result<Model> GraphBuilder::finish() {
  settleLengths();
  if (!failed() && bodies_.isInLoop()) fail(Diag::Syntax, "a loop is still open", "end every loop that was begun");
  if (!failed() && bodies_.outermost().stores.empty())
    fail(Diag::NoOutputs, "the graph has no output and assigns no state", "add `output NAME`");
  if (auto error = takeError()) return tl::unexpected<Error>(std::move(*error));
  model_.sink = graph().make(Op::Sink, DType::Void, bodies_.outermost().stores);
  model_.sink = distributed(model_);
  return tidied(std::exchange(model_, {}));
}

}  // namespace svod
