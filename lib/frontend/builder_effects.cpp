// States and temporaries of GraphBuilder: which content a read sees, what stores and calls do to it, and what of that
// leaves the body of a loop.
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

}  // namespace svod
