// States, temporaries and loops of GraphBuilder: which content a read sees, and what a body leaves behind.
#include <algorithm>
#include <utility>

#include "frontend/builder.h"

namespace svod {

namespace {

bool isAssigned(PortKind kind) { return kind == PortKind::State || kind == PortKind::Temporary; }

UOp bufferOf(UOp target) {
  while (target.op() != Op::Buffer) target = target.src(0);
  return target;
}

/// Whether the newest content of a scope comes from an effect in it: a body starts with that of its counter.
bool isWrittenIn(bool isOutermost, UOp newest) {
  return newest.op() == Op::After && (isOutermost || newest.src().back().op() != Op::Range);
}

}  // namespace

// --- The newest content

/// What is read once `effect` has happened after `content`. The targets of stores hold the content before them, so a
/// store or the end of a loop stands for all effects before it; the counter of a loop does not.
UOp GraphBuilder::followedBy(UOp content, UOp effect) {
  std::vector<UOp> src{bufferOf(content)};
  if (effect.op() == Op::Range && content.op() == Op::After) src.assign(content.src().begin(), content.src().end());
  src.push_back(effect);
  return graph().make(Op::After, content.dtype(), src);
}

UOp GraphBuilder::currentIn(size_t scope, UOp buffer) {
  Scope& s = scopes_[scope];
  if (auto it = s.newest.find(buffer.id()); it != s.newest.end()) return it->second;
  if (scope == 0) return buffer;
  UOp content = followedBy(currentIn(scope - 1, buffer), s.range);
  s.newest.emplace(buffer.id(), content);
  s.read.push_back(buffer);
  return content;
}

UOp GraphBuilder::current(UOp node) {
  if (!node || node.op() != Op::Buffer) return node;
  uint32_t slot = node.argAs<SlotArg>().slot;
  if (slot >= model_.ports.size() || !isAssigned(model_.ports[slot].kind)) return node;
  return currentIn(scopes_.size() - 1, node);
}

void GraphBuilder::addEffect(size_t scope, UOp buffer, UOp effect) {
  UOp before = currentIn(scope, buffer);
  Scope& s = scopes_[scope];
  s.newest[buffer.id()] = followedBy(before, effect);
  if (!isWrittenIn(scope == 0, before)) s.written.push_back(buffer);
}

bool GraphBuilder::checkVisible(const Tensor& value) {
  for (UOp range : value.node().ranges()) {
    bool isOpen = std::any_of(scopes_.begin(), scopes_.end(), [&](const Scope& s) { return s.range == range; });
    if (isOpen) continue;
    fail(Diag::UnknownName, "a value of a loop is used outside of it",
         "assign it to a state or a temporary, and read that behind the loop");
    return false;
  }
  return true;
}

// --- Stores

// The same view of the newest content of the state, so that a store follows every store and read before it;
// null if `target` is no view of a state or temporary.
UOp GraphBuilder::storeTarget(UOp target) {
  std::vector<UOp> views;  // outermost first
  for (; target.op() != Op::Buffer; target = target.src(0)) {
    const bool isView = target.op() == Op::Reshape || target.op() == Op::Permute || target.op() == Op::Shrink ||
                        target.op() == Op::Flip;
    if (!isView && target.op() != Op::After) return {};
    if (isView) views.push_back(target);
  }
  const uint32_t slot = target.argAs<SlotArg>().slot;
  if (slot >= model_.ports.size() || !isAssigned(model_.ports[slot].kind)) return {};
  UOp result = current(target);
  for (size_t i = views.size(); i-- > 0;) {
    std::vector<UOp> src(views[i].src().begin(), views[i].src().end());
    src[0] = result;
    result = graph().withSrc(views[i], src);
  }
  return result;
}

/// What gave the buffer its content.
UOp GraphBuilder::newestEffect(UOp buffer) { return current(buffer).src().back(); }

void GraphBuilder::assign(Tensor target, Tensor value) {
  if (!target || !value) return;
  BuildLog::Step* step = record(BuildLog::Kind::Assign, "", {target, value});
  opName_ = "assign";
  storeInto(target, value);
  opName_.clear();
  if (step && !failed()) step->effect = newestEffect(bufferOf(target.node_));
}

void GraphBuilder::storeInto(Tensor target, Tensor value) {
  UOp view = storeTarget(target.node_);
  if (!view) {
    fail(Diag::UnknownPort, "the target is not a state or temporary, or a view of one",
         "assign to a state or temp, or to a shrink, reshape, permute or flip of it");
    return;
  }
  if (value.isLiteral()) value = cast(value, target.dtype());
  if (value && value.dtype() != target.dtype()) {
    fail(Diag::DTypeMismatch, "a value " + describe(value) + " is assigned to " + describe(target),
         "cast it: cast(value, dtype=" + std::string(toText(target.dtype())) + ")");
    return;
  }
  value = expand(value, target.dims());
  if (!value || !checkVisible(value)) return;
  UOp store = graph().make(Op::Store, DType::Void, {view, value.node()});
  scopes_.back().stores.push_back(store);
  addEffect(scopes_.size() - 1, bufferOf(view), store);
}

Tensor GraphBuilder::temporary(Tensor value) {
  if (value && value.isLiteral()) value = cast(value, commonDType({&value, 1}));
  return value ? temporary(value.dtype(), value.dims(), value) : Tensor();
}

Tensor GraphBuilder::temporary(DType dtype, const Dims& dims, Tensor value) {
  if (!value) return {};
  BuildLog::Step* step = record(BuildLog::Kind::Temporary, "", {value});
  Tensor made = makeTemporary(dtype, dims, value);
  if (step && made && !failed()) step->results = {made.node_}, step->effect = newestEffect(made.node_);
  return made;
}

Tensor GraphBuilder::makeTemporary(DType dtype, const Dims& dims, Tensor value) {
  Tensor made = value ? port(PortKind::Temporary, "", dtype, dims, {}) : Tensor();
  if (made) storeInto(made, value);
  return made;
}

// --- Calls

// The result goes into a temporary of its own, so that the call is an effect as stores are: it is made in every
// iteration of the loops around it. Reading what the temporary held before ties it to the iteration, and reading the
// temporary of the call before it keeps the order.
Tensor GraphBuilder::keptCall(std::string_view function, std::vector<UOp> src, DType dtype, const Dims& dims) {
  Dims most;  // storage is as large as the result is in any iteration
  for (const Dim& d : dims) most.add(d.node().ranges().empty() ? d : dim(d.max()));
  const Tensor kept = port(PortKind::Temporary, "", dtype, most, {});
  if (!kept) return {};
  const auto inputs = static_cast<int32_t>(src.size());
  for (const Dim& d : dims) src.push_back(d.node());
  src.push_back(current(kept.node_));
  if (lastCall_) src.push_back(current(lastCall_));
  const Tensor result = wrap(graph().make(Op::Custom, dtype, src, CustomArg{function, inputs}));
  if (!result) return {};
  storeInto(shrink(kept, Dims(std::vector<Dim>(static_cast<size_t>(dims.rank()), dim(0))), dims), result);
  lastCall_ = kept.node_;
  return result;
}

// --- Loops

void GraphBuilder::loop(std::string_view counter, Dim count, const std::function<void(Dim)>& body,
                        const LoopOptions& options) {
  Dim at = beginLoop(counter, count, options);
  if (!at) return;
  body(at);
  endLoop();
}

// The loop runs at most as often as there is room for, and the count ends it.
GraphBuilder::LoopOptions GraphBuilder::countedTo(Dim count, const LoopOptions& options, Tensor& done) {
  done = temporary(constant(Scalar::ofInt(DType::I64, 0)));
  LoopOptions bounded = options;
  Tensor limit = cast(value(count), DType::I64);
  bounded.condition = [done, limit, other = options.condition] {
    Tensor goesOn = lt(done, limit);
    return other ? both(goesOn, other()) : goesOn;
  };
  return bounded;
}

Dim GraphBuilder::beginLoop(std::string_view counter, Dim count, const LoopOptions& asked) {
  if (!count || failed()) return {};
  Tensor done;
  const LoopOptions options = hasLength(count) ? countedTo(count, asked, done) : asked;
  if (mayBeNegative(count.node())) count = larger(count, dim(0));
  if (options.unroll && (!count.isConst() || options.condition)) {
    fail(Diag::BadAttribute,
         "a loop of " + describe(count) + " iterations" + (options.condition ? " and a condition" : "") +
             " cannot be unrolled",
         "leave unroll out, or make the count a constant");
    return {};
  }
  Tensor flag, condition;
  if (options.condition) {
    condition = options.condition();
    flag = keptCondition(condition);
    if (!flag) return {};
  }
  BuildLog::Step* step = record(BuildLog::Kind::Loop, counter, std::span(&condition, condition ? 1 : 0));
  openScope(counter, count, flag, options.unroll ? AxisType::Unroll : AxisType::Loop);
  scopes_.back().condition = options.condition;
  scopes_.back().done = done;
  if (step) step->count = count, step->unroll = options.unroll, step->results = {scopes_.back().range};
  return Dim(graph(), scopes_.back().range);
}

/// The condition in a buffer of its own.
Tensor GraphBuilder::keptCondition(Tensor condition) {
  if (!condition) return {};
  if (condition.dtype() == DType::Bool && condition.rank() == 0) return makeTemporary(DType::Bool, {}, condition);
  return fail(Diag::DTypeMismatch, "the condition is " + describe(condition) + ", not a bool scalar",
              "compare numbers; any(x) and all(x) fold the axes of a comparison away");
}

void GraphBuilder::openScope(std::string_view counter, Dim count, Tensor flag, AxisType type) {
  auto id = static_cast<uint32_t>(model_.loops.size());
  model_.loops.push_back(loopName(counter));
  std::vector<UOp> src{count.node()};
  if (flag) src.push_back(flag.node());
  Scope scope;
  scope.flag = flag;
  scope.range = graph().make(Op::Range, DType::Index, src, AxisArg{id, type});
  scopes_.push_back(std::move(scope));
}

/// Unlike the variables and the counters of the enclosing loops.
std::string GraphBuilder::loopName(std::string_view counter) const {
  std::string name(counter);
  auto isTaken = [&] {
    for (UOp v : model_.variables)
      if (v.argAs<VarArg>().name == name) return true;
    for (const Scope& s : scopes_)
      if (s.range && model_.loops[s.range.argAs<AxisArg>().id] == name) return true;
    return false;
  };
  for (int i = 1; isTaken(); ++i) name = std::string(counter) + "." + std::to_string(i);
  return name;
}

/// The stores of a body; buffers it only reads are read as they are before the loop, so that what follows from them
/// need not be computed in every iteration.
std::vector<UOp> GraphBuilder::withoutReadOnly(Scope& body) {
  std::map<uint32_t, UOp> replaced;  // content at the start of an iteration -> content before the loop
  for (UOp buffer : body.read)
    if (!isWrittenIn(false, body.newest.at(buffer.id())))
      replaced.emplace(body.newest.at(buffer.id()).id(), currentIn(scopes_.size() - 1, buffer));
  if (replaced.empty()) return std::move(body.stores);
  UOp group = graph().make(Op::Group, DType::Void, body.stores);
  group = transform(graph(), group, [&](UOp node, std::span<const UOp> src) {
    if (auto it = replaced.find(node.id()); it != replaced.end()) return it->second;
    if (std::ranges::equal(src, node.src())) return node;
    UOp changed = graph().withSrc(node, src);
    if (auto name = model_.labels.find(node.id()); name != model_.labels.end())
      model_.labels.emplace(changed.id(), name->second);
    return changed;
  });
  return {group.src().begin(), group.src().end()};
}

void GraphBuilder::endLoop() {
  if (scopes_.size() < 2) return;
  UOp end = closeScope();
  if (BuildLog::Step* step = record(BuildLog::Kind::End, "", {})) step->effect = end;
}

/// The End of the innermost scope, or null when it leaves nothing behind.
UOp GraphBuilder::closeScope() {
  if (Tensor done = scopes_.back().done; done && !failed()) assign(done, done + 1);
  if (scopes_.back().condition && !failed()) {
    BuildLog* log = std::exchange(log_, nullptr);  // the condition is part of the loop
    assign(scopes_.back().flag, scopes_.back().condition());
    log_ = log;
  }
  Scope body = std::move(scopes_.back());
  scopes_.pop_back();
  if (failed() || body.stores.empty()) return {};
  std::vector<UOp> stores = withoutReadOnly(body);
  UOp end = graph().make(Op::End, DType::Void, {graph().make(Op::Group, DType::Void, stores), body.range});
  scopes_.back().stores.push_back(end);
  for (UOp buffer : body.written) addEffect(scopes_.size() - 1, buffer, end);
  return end;
}

// --- Branches

std::vector<Dim> GraphBuilder::counters() {
  std::vector<Dim> all;
  for (size_t i = 1; i < scopes_.size(); ++i) all.emplace_back(graph(), scopes_[i].range);
  return all;
}

// A branch is a loop of at most one iteration.
bool GraphBuilder::openBranch(Tensor condition) {
  Tensor flag = keptCondition(condition);
  if (flag) openScope("branch", dim(1), flag, AxisType::Loop);
  return static_cast<bool>(flag);
}

void GraphBuilder::branch(Tensor condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  Tensor kept = keptCondition(condition);  // what it is computed from may be assigned in the first part
  if (!kept) return;
  UOp end;
  auto part = [&](BuildLog::Step* step, Tensor flag, const std::function<void()>& body) {
    if (step) step->effect = end;
    end = {};
    if (!openBranch(flag)) return;
    if (step) step->results = {scopes_.back().range};
    body();
    end = closeScope();
  };
  part(record(BuildLog::Kind::Branch, "", {condition}), kept, then);
  if (otherwise) part(record(BuildLog::Kind::Otherwise, "", {}), negated(kept), otherwise);
  if (BuildLog::Step* step = record(BuildLog::Kind::End, "", {})) step->effect = end;
}

}  // namespace svod
