// Loops and branches of GraphBuilder: scopes that open and close.
#include <algorithm>
#include <utility>

#include "frontend/builder.h"

namespace svod {

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
