// Loops and branches of GraphBuilder: bodies that open and close.
#include <algorithm>
#include <utility>

#include "frontend/builder.h"

namespace svod {

namespace {

// The loop runs at most as often as there is room for, and the count ends it.
GraphBuilder::LoopOptions countedTo(GraphBuilder& b, Dim count, const GraphBuilder::LoopOptions& options,
                                    Tensor& done) {
  done = b.temporary(b.constant(Scalar::ofInt(DType::I64, 0)));
  GraphBuilder::LoopOptions bounded = options;
  Tensor limit = cast(b.value(count), DType::I64);
  bounded.condition = [done, limit, other = options.condition] {
    Tensor goesOn = lt(done, limit);
    return other ? both(goesOn, other()) : goesOn;
  };
  return bounded;
}

/// Unlike the variables, the counters of the enclosing loops, and what is given and stored by name.
std::string loopName(const Model& model, std::span<const UOp> ranges, std::string_view counter) {
  std::string name(counter);
  auto isTaken = [&] {
    for (UOp v : model.variables)
      if (v.argAs<VarArg>().name == name) return true;
    for (const ModelPort& port : model.ports)
      if (port.kind != PortKind::Temporary && port.name == name) return true;
    for (UOp range : ranges)
      if (model.loops[range.argAs<AxisArg>().id] == name) return true;
    return false;
  };
  for (int i = 1; isTaken(); ++i) name = std::string(counter) + "." + std::to_string(i);
  return name;
}

}  // namespace

void GraphBuilder::loop(std::string_view counter, Dim count, const std::function<void(Dim)>& body,
                        const LoopOptions& options) {
  Dim at = beginLoop(counter, count, options);
  if (!at) return;
  body(at);
  endLoop();
}

Dim GraphBuilder::beginLoop(std::string_view counter, Dim count, const LoopOptions& asked) {
  if (!count || failed()) return {};
  Tensor done;
  const LoopOptions options = hasLength(count) ? countedTo(*this, count, asked, done) : asked;
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
  openBody(counter, count, flag, options.unroll ? AxisType::Unroll : AxisType::Loop);
  bodies_.innermost().condition = options.condition;
  bodies_.innermost().done = done;
  if (step) step->count = count, step->unroll = options.unroll, step->results = {bodies_.innermost().range};
  return Dim(graph(), bodies_.innermost().range);
}

/// The condition in a buffer of its own.
Tensor GraphBuilder::keptCondition(Tensor condition) {
  if (!condition) return {};
  if (condition.dtype() == DType::Bool && condition.rank() == 0) return makeTemporary(DType::Bool, {}, condition);
  return fail(Diag::DTypeMismatch, "the condition is " + describe(condition) + ", not a bool scalar",
              "compare numbers; any(x) and all(x) fold the axes of a comparison away");
}

void GraphBuilder::openBody(std::string_view counter, Dim count, Tensor flag, AxisType type) {
  auto id = static_cast<uint32_t>(model_.loops.size());
  model_.loops.push_back(loopName(model_, bodies_.ranges(), counter));
  std::vector<UOp> src{count.node()};
  if (flag) src.push_back(flag.node());
  bodies_.open({.range = graph().make(Op::Range, DType::Index, src, AxisArg{id, type}), .flag = flag});
}

void GraphBuilder::endLoop() {
  if (!bodies_.isInLoop()) return;
  UOp end = closeBody();
  if (BuildLog::Step* step = record(BuildLog::Kind::End, "", {})) step->effect = end;
}

/// The End of the innermost body, or null when it leaves nothing behind.
UOp GraphBuilder::closeBody() {
  if (Tensor done = bodies_.innermost().done; done && !failed()) assign(done, done + 1);
  if (bodies_.innermost().condition && !failed()) {
    BuildRecorder log = std::exchange(log_, {});  // the condition is part of the loop
    assign(bodies_.innermost().flag, bodies_.innermost().condition());
    log_ = log;
  }
  OpenBodies::Body body = bodies_.close();
  return failed() || body.stores.empty() ? UOp() : bodies_.addLoop(model_, std::move(body));
}

std::vector<Dim> GraphBuilder::counters() {
  std::vector<Dim> all;
  for (UOp range : bodies_.ranges()) all.emplace_back(graph(), range);
  return all;
}

// A branch is a loop of at most one iteration.
bool GraphBuilder::openBranch(Tensor condition) {
  Tensor flag = keptCondition(condition);
  if (flag) openBody("branch", dim(1), flag, AxisType::Loop);
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
    if (step) step->results = {bodies_.innermost().range};
    body();
    end = closeBody();
  };
  part(record(BuildLog::Kind::Branch, "", {condition}), kept, then);
  if (otherwise) part(record(BuildLog::Kind::Otherwise, "", {}), negated(kept), otherwise);
  if (BuildLog::Step* step = record(BuildLog::Kind::End, "", {})) step->effect = end;
}

}  // namespace svod
