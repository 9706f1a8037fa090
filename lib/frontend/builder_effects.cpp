// States and temporaries of GraphBuilder: what is assigned to them, and calls that are kept.
#include <algorithm>
#include <utility>

#include "frontend/builder.h"

namespace svod {

namespace {

/// A state or temporary.
bool isAssigned(const Model& model, UOp buffer) {
  const uint32_t slot = buffer.argAs<SlotArg>().slot;
  if (slot >= model.ports.size()) return false;
  const PortKind kind = model.ports[slot].kind;
  return kind == PortKind::State || kind == PortKind::Temporary;
}

/// What gave a buffer its content.
UOp effectOf(UOp content) { return content.src().back(); }

/// The same view of the newest content of the state, so that a store follows every store and read before it;
/// null if `target` is no view of a state or temporary.
UOp storeTarget(GraphBuilder& b, UOp target) {
  std::vector<UOp> views;  // outermost first
  for (; target.op() != Op::Buffer; target = target.src(0)) {
    const bool isView = target.op() == Op::Reshape || target.op() == Op::Permute || target.op() == Op::Shrink ||
                        target.op() == Op::Flip;
    if (!isView && target.op() != Op::After) return {};
    if (isView) views.push_back(target);
  }
  if (!isAssigned(b.model(), target)) return {};
  UOp result = b.current(target);
  for (size_t i = views.size(); i-- > 0;) {
    std::vector<UOp> src(views[i].src().begin(), views[i].src().end());
    src[0] = result;
    result = b.graph().withSrc(views[i], src);
  }
  return result;
}

}  // namespace

UOp GraphBuilder::current(UOp node) {
  if (!node || node.op() != Op::Buffer || !isAssigned(model_, node)) return node;
  return bodies_.current(graph(), node);
}

bool GraphBuilder::checkVisible(const Tensor& value) {
  const std::vector<UOp> open = bodies_.ranges();
  for (UOp range : value.node().ranges()) {
    if (std::ranges::find(open, range) != open.end()) continue;
    fail(Diag::UnknownName, "a value of a loop is used outside of it",
         "assign it to a state or a temporary, and read that behind the loop");
    return false;
  }
  return true;
}

// --- Stores

void GraphBuilder::assign(Tensor target, Tensor value) {
  if (!target || !value) return;
  BuildLog::Step* step = record(BuildLog::Kind::Assign, "", {target, value});
  opName_ = "assign";
  storeInto(target, value);
  opName_.clear();
  if (step && !failed()) step->effect = effectOf(current(bufferOfView(target.node_)));
}

void GraphBuilder::storeInto(Tensor target, Tensor value) {
  UOp view = storeTarget(*this, target.node_);
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
  bodies_.addStore(graph(), bufferOfView(view), store);
}

Tensor GraphBuilder::temporary(Tensor value) {
  if (value && value.isLiteral()) value = cast(value, commonDType({&value, 1}));
  return value ? temporary(value.dtype(), value.dims(), value) : Tensor();
}

Tensor GraphBuilder::temporary(DType dtype, const Dims& dims, Tensor value) {
  if (!value) return {};
  BuildLog::Step* step = record(BuildLog::Kind::Temporary, "", {value});
  Tensor made = makeTemporary(dtype, dims, value);
  if (step && made && !failed()) step->results = {made.node_}, step->effect = effectOf(current(made.node_));
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
