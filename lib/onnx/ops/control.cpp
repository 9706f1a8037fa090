// If and Loop. A condition that is known chooses a branch, and few steps are laid out one after the other. Ops
// have no side effects, so a branch that only a run can choose is a choice between values.
#include <algorithm>

#include "onnx/counted_loops.h"
#include "onnx/grown_states.h"
#include "onnx/ops/common.h"
#include "onnx/ops/steps.h"

namespace svod {

namespace {

constexpr int64_t kMostLaidOut = 4096;

// Values of one rank that a condition chooses between: as large as the chosen one.
Tensor chosen(OnnxNode& n, Tensor condition, Tensor a, Tensor b) {
  if (a.dims() == b.dims()) return where(condition, a, b);
  auto size = [&](Dim d) { return cast(n.b.value(d), DType::I64); };
  for (int i = 0; i < a.rank(); ++i) {
    Dim sizeA = a.dim(i), sizeB = b.dim(i);
    if (sizeA == sizeB) continue;
    Dim length = n.length(where(condition, size(sizeA), size(sizeB)), larger(sizeA, sizeB));
    if (!length) return {};
    a = take(a, i, n.b.iota(length)), b = take(b, i, n.b.iota(length));
  }
  return where(condition, a, b);
}

// The same where the values are lists: element by element.
Tensor chosenLists(OnnxNode& n, Tensor condition, Tensor a, Tensor b) {
  if (a.node() == b.node()) return a;
  const TensorList *x = n.list(a), *y = n.list(b);
  bool fits = x != nullptr && y != nullptr && x->isNothing == y->isNothing && bool(x->stack) == bool(y->stack) &&
              x->elements.size() == y->elements.size();
  TensorList both = fits ? *x : TensorList();
  if (fits && both.stack) {
    fits = x->stack.dtype() == y->stack.dtype() && x->stack.rank() == y->stack.rank();
    if (fits) both.stack = chosen(n, condition, x->stack, y->stack);
    if (fits) return both.stack ? n.listOf(std::move(both)) : Tensor();
  }
  for (size_t i = 0; fits && i < both.elements.size(); ++i) {
    Tensor& element = both.elements[i];
    const Tensor other = y->elements[i];
    fits = !n.list(element) && !n.list(other) && element.dtype() == other.dtype() && element.rank() == other.rank();
    if (fits) element = chosen(n, condition, element, other);
    if (n.b.failed()) return {};
  }
  if (fits) return n.listOf(std::move(both));
  return n.unsupported("sequences of other lengths or elements, under a condition that only a run can tell",
                       "a condition made from constants and shapes, or sequences that are alike");
}

bool isList(const OnnxNode& n, const Tensor& x) { return n.list(x) != nullptr; }

bool sameShapes(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(
      a, b, [](const Tensor& x, const Tensor& y) { return x && y && x.dims() == y.dims() && x.dtype() == y.dtype(); });
}

Tensor scalarOf(Tensor x) { return x && x.rank() > 0 ? reshape(x, Dims()) : x; }
Tensor always(OnnxNode& n) { return n.b.constant(Scalar::ofInt(DType::Bool, 1)); }

// What a condition is known to be; omitted ones hold.
std::optional<bool> knownCondition(OnnxNode& n, Tensor condition) {
  if (!condition) return true;
  std::optional<HostTensor> value = n.valueOf(condition);
  return value && value->numel() == 1 ? std::optional(value->at(0).asInt() != 0) : std::nullopt;
}

}  // namespace

namespace {

/// A branch of an If under a condition that only a run can tell.
struct Branch {
  std::vector<Tensor> made;
  std::vector<Error> errors;  // where the model may be right without the branch
};

std::vector<Tensor> resultsOf(OnnxNode& n, bool isThen) {
  std::vector<Tensor> made = n.graph(isThen ? "then_branch" : "else_branch", {});
  const auto count = static_cast<size_t>(n.resultCount);
  if (!made.empty()) n.require(made.size() >= count, "every branch has as many outputs as the node");
  if (!made.empty()) made.resize(count);
  return n.b.failed() ? std::vector<Tensor>() : made;
}

// What the branch expects of sizes and values needs to hold only where it is taken.
Branch branchOf(OnnxNode& n, const Tensor& condition, bool isThen) {
  Branch branch;
  branch.errors = n.errorsOf(
      [&] { n.b.onlyWhere(isThen ? condition : eq(condition, false), [&] { branch.made = resultsOf(n, isThen); }); });
  return branch;
}

bool isOfKindOf(const OnnxNode& n, const Tensor& a, const Tensor& b) {
  return isList(n, a) == isList(n, b) && a.dtype() == b.dtype();
}

bool hasRanksOf(const Branch& a, const Branch& b) {
  return std::ranges::equal(a.made, b.made, [](const Tensor& x, const Tensor& y) { return x.rank() == y.rank(); });
}

}  // namespace

Results onnxIf(OnnxNode& n) {
  if (std::optional<bool> known = knownCondition(n, n.arg(0))) return resultsOf(n, *known);
  const Tensor condition = scalarOf(n.arg(0));
  CaseText text{"its condition holds", "its condition does not hold"};
  Branch then = branchOf(n, condition, true);
  if (then.made.empty() && then.errors.empty()) return Tensor();
  Branch otherwise = branchOf(n, condition, false);
  if (otherwise.made.empty() && otherwise.errors.empty()) return Tensor();
  if (!then.errors.empty() && !otherwise.errors.empty()) {
    n.recordAll(then.errors), n.recordAll(otherwise.errors);
    return Tensor();
  }
  if (!then.errors.empty() || !otherwise.errors.empty()) {
    text.only = then.errors.empty();
    const Error& reason = *text.only ? otherwise.errors.front() : then.errors.front();
    (*text.only ? text.holds : text.fails) += ", since the other branch does not fit: " + reason->message;
    return n.decideCase(condition, text) ? then.made : otherwise.made;
  }
  for (size_t i = 0; i < then.made.size(); ++i)
    if (!n.require(isOfKindOf(n, then.made[i], otherwise.made[i]), "branches give values of one type")) return Tensor();
  if (!hasRanksOf(then, otherwise)) return n.decideCase(condition, text) ? then.made : otherwise.made;
  for (size_t i = 0; i < then.made.size(); ++i) {
    Tensor& x = then.made[i];
    x = isList(n, x) ? chosenLists(n, condition, x, otherwise.made[i]) : chosen(n, condition, x, otherwise.made[i]);
  }
  return then.made;
}

namespace {

/// The values of a Loop: its trip count and condition, and what goes from step to step.
struct LoopNode {
  OnnxNode& n;
  std::vector<Tensor> state;
  std::optional<int64_t> trips;  // when it is known
  Tensor condition;              // of the first step, or null
  Dim count;                     // the trip count where it is known, but no number
  bool isCounted = false;        // its condition holds for that many steps, and for no other one

  std::vector<Tensor> body(Tensor step, const std::vector<Tensor>& from, std::span<const OutputAs> others = {}) const {
    // A step takes place only under its condition.
    std::vector<Tensor> inputs = {step, always(n)};
    inputs.insert(inputs.end(), from.begin(), from.end());
    std::vector<Tensor> made = n.graph("body", inputs, others);
    if (n.b.failed() || made.empty()) return {};
    bool fits = n.require(made.size() >= state.size() + 1, "the body gives a condition and every carried value");
    if (fits && isCounted) made[0] = always(n);
    return fits ? made : std::vector<Tensor>();
  }
  void countSteps();
  Tensor fixedValue(const std::string& condition, const std::string& name) const;
};

// A value that no node of the body makes.
Tensor LoopNode::fixedValue(const std::string& condition, const std::string& name) const {
  Tensor value;
  n.attempt([&] {
    GraphBuilder::Mark before = n.b.mark();
    const bool wasRehearsing = n.isRehearsing();
    n.setRehearsing(true);
    const std::vector<Tensor> made = body(number(n, 0), state, std::vector<OutputAs>{{condition, name}});
    if (!made.empty()) value = made[0];
    n.b.rewind(std::move(before));
    n.setRehearsing(wasRehearsing);
  });
  return value && isInt(value.dtype()) && value.rank() == 0 ? value : Tensor();
}

// A loop over time that counts for itself has as many steps as its counter takes to the limit.
void LoopNode::countSteps() {
  const proto::GraphProto* text = n.graphText("body");
  const std::optional<CountedLoop> counted = text != nullptr ? countedLoop(*text) : std::nullopt;
  if (!counted || counted->state >= state.size()) return;
  const std::optional<HostTensor> first = n.valueOf(state[counted->state]);
  if (!first || first->numel() != 1 || !isInt(first->dtype)) return;
  const Tensor step = fixedValue(counted->condition, counted->step),
               limit = step ? fixedValue(counted->condition, counted->limit) : Tensor();
  const std::optional<HostTensor> by = step ? n.valueOf(step) : std::nullopt;
  if (!limit || !by || by->at(0).asInt() != 1 || !n.withArgs({limit}).isKnown(0)) return;
  const Dim steps = n.withArgs({limit}).sizes(0)[0] - first->at(0).asInt();
  constexpr int64_t kExact = 1 << 24;  // what f32 counts to, in which they may be compared
  if (!steps || steps.max() > kExact || steps.min() < 1) return;
  if (!knownCondition(n, condition)) n.expect({1}, unsqueeze(cast(scalarOf(condition), DType::I64), 0), {n.b.dim(1)});
  isCounted = true, condition = Tensor();
  trips = steps.isConst() ? std::optional(steps.constant()) : std::nullopt;
  if (!trips) count = steps;
}

/// Steps laid out one after the other, which may be of different shapes.
class LaidOut {
 public:
  explicit LaidOut(LoopNode& loop) : loop_(loop), n_(loop.n), condition_(loop.condition) {}
  Results run();

 private:
  bool step(int64_t i);
  Results results();
  bool noSteps();

  LoopNode& loop_;
  OnnxNode& n_;
  Tensor condition_, isActive_, steps_;  // null: all steps so far take place
  int64_t certain_ = 0;                  // steps that do
  std::vector<std::vector<Tensor>> collected_;
  std::vector<Tensor> last_;
};

// One step; the states stay as they are once a step does not take place.
bool LaidOut::step(int64_t i) {
  size_t carried = loop_.state.size();
  last_ = loop_.body(number(n_, i), loop_.state);
  if (last_.empty()) return false;
  std::vector<Tensor> made(last_.begin() + 1, last_.begin() + 1 + static_cast<ptrdiff_t>(carried));
  if (isActive_ && !sameShapes(made, loop_.state)) {
    n_.unsupported("a loop that only a run can end, with values that change their shape",
                   "values that keep their shapes, or a condition made from constants and shapes");
    return false;
  }
  if (isActive_) {
    for (size_t k = 0; k < carried; ++k)
      made[k] = isList(n_, made[k]) ? chosenLists(n_, isActive_, made[k], loop_.state[k])
                                    : where(isActive_, made[k], loop_.state[k]);
    if (n_.b.failed()) return false;
    Tensor one = cast(isActive_, DType::I64);
    steps_ = steps_ ? steps_ + one : one;
  } else {
    ++certain_;
  }
  for (size_t k = carried + 1; k < last_.size(); ++k)
    if (isList(n_, last_[k])) return n_.unsupported("a sequence that is collected from step to step", "tensors"), false;
  collected_.resize(last_.size() - 1 - carried);
  for (size_t k = 0; k < collected_.size(); ++k) collected_[k].push_back(last_[1 + carried + k]);
  loop_.state = std::move(made);
  condition_ = last_[0];
  return true;
}

// The shape of what a step would collect, and none of them.
bool LaidOut::noSteps() {
  size_t carried = loop_.state.size();
  if (static_cast<size_t>(n_.resultCount) <= carried) return true;
  last_ = loop_.body(number(n_, 0), loop_.state);
  for (size_t k = carried + 1; k < last_.size(); ++k) {
    Dims dims = last_[k].dims();
    dims.insert(0, n_.b.dim(0));
    loop_.state.push_back(n_.b.full(dims, cast(n_.b.literal(false), last_[k].dtype())));
  }
  return !last_.empty();
}

Results LaidOut::results() {
  if (last_.empty() && !noSteps()) return Tensor();
  for (const std::vector<Tensor>& steps : collected_) {
    Tensor all = n_.call("stack", steps, {{"axis", 0}});
    loop_.state.push_back(steps_ ? n_.firstOf(all, 0, steps_ + certain_) : all);
  }
  return loop_.state;
}

Results LaidOut::run() {
  int64_t trips = loop_.trips.value_or(kMostLaidOut + 1);
  for (int64_t i = 0; i < trips; ++i) {
    std::optional<bool> known = knownCondition(n_, condition_);
    if (known == false) break;
    if (i >= kMostLaidOut || (!known && trips > kMostLaidOut)) {
      const std::string options = condition_ ? n_.sizeOptions(condition_) : "";
      return n_.unsupported(
          "values that change their shape in a loop with a number of steps that only a run can "
          "tell, or with more than " +
              std::to_string(kMostLaidOut),
          options.empty() ? "values that keep their shapes, or a trip count made from constants and shapes"
                          : "give the sizes that decide how many steps there are a number:" + options);
    }
    if (!known) isActive_ = isActive_ ? isActive_ * scalarOf(condition_) : scalarOf(condition_);
    if (!step(i)) return Tensor();
  }
  return results();
}

/// Steps as a loop of the plan. What a step only puts behind a carried value is collected, and put there at once when
/// the loop is over.
class StepsInPlan {
 public:
  explicit StepsInPlan(const LoopNode& loop);
  Results run();

 private:
  std::optional<StepResults> step(const StepInputs& from) const;
  std::vector<Tensor> statesOf(const StepInputs& from) const;
  bool isGrown(size_t state) const { return std::ranges::find(grown_, state, &GrownState::state) != grown_.end(); }
  Tensor grownBy(const GrownState& grown, const Tensor& steps, const StepTotals& totals) const;
  Tensor grownList(const TensorList& first, const Tensor& steps, const StepTotals& totals) const;

  const LoopNode& loop_;
  OnnxNode& n_;
  size_t carried_;
  std::vector<GrownState> grown_;
  std::vector<OutputAs> others_;  // of the body: what is put behind, in place of the whole
  std::vector<int> collected_;    // outputs of the node that are collected
};

StepsInPlan::StepsInPlan(const LoopNode& loop) : loop_(loop), n_(loop.n), carried_(loop.state.size()) {
  std::vector<DType> dtypes;
  for (const Tensor& state : loop_.state) dtypes.push_back(state.dtype());
  if (const proto::GraphProto* body = n_.graphText("body")) grown_ = grownStates(*body, dtypes);
  std::erase_if(grown_, [&](const GrownState& g) { return g.isList != isList(n_, loop_.state[g.state]); });
  for (const GrownState& g : grown_) others_.push_back({g.made, g.fresh});
  for (int i = static_cast<int>(carried_); i < n_.resultCount; ++i)
    if (n_.wants(i)) collected_.push_back(i);
}

std::vector<Tensor> StepsInPlan::statesOf(const StepInputs& from) const {
  std::vector<Tensor> all;
  auto next = from.state.begin();
  for (size_t k = 0; k < carried_; ++k) all.push_back(isGrown(k) ? loop_.state[k] : *next++);
  return all;
}

std::optional<StepResults> StepsInPlan::step(const StepInputs& from) const {
  const std::vector<Tensor> made = loop_.body(cast(n_.b.value(from.at), DType::I64), statesOf(from), others_);
  if (made.empty()) return std::nullopt;
  StepResults results{made[0], {}, {}};
  for (size_t k = 0; k < carried_; ++k)
    if (!isGrown(k)) results.state.push_back(made[k + 1]);
  for (int i : collected_)
    if (static_cast<size_t>(i) + 1 < made.size()) results.collected.push_back(made[static_cast<size_t>(i) + 1]);
  for (const GrownState& g : grown_) results.collected.push_back(made[g.state + 1]);
  return results;
}

// Along other axes what is put behind has the sizes of the value itself.
Dims statedFor(const GrownState& grown, const Tensor& state) {
  Dims stated = state.dims();
  if (grown.axis < stated.rank() && grown.axis >= -stated.rank()) stated.set(static_cast<int>(grown.axis), Dim());
  return stated;
}

Tensor StepsInPlan::grownBy(const GrownState& grown, const Tensor& steps, const StepTotals& totals) const {
  const Tensor& state = loop_.state[grown.state];
  if (grown.isList) return grownList(*n_.list(state), steps, totals);
  const int axis = n_.axis(grown.axis, state.rank());
  if (axis < 0 || !n_.require(steps.rank() == state.rank() + 1, "what is put behind has the rank of the value"))
    return {};
  const Tensor all = totals.steps ? n_.firstOf(steps, 0, totals.steps) : steps;
  if (!all) return {};
  std::vector<int> order;
  Dims dims = all.dims();
  dims.erase(0);
  dims.set(axis, all.dim(0) * dims[axis]);
  for (int i = 1; i < all.rank(); ++i) {
    if (i == axis + 1) order.push_back(0);
    order.push_back(i);
  }
  return n_.call("concat", {state, reshape(permute(all, order), dims)}, {{"axis", axis}});
}

Tensor StepsInPlan::grownList(const TensorList& first, const Tensor& steps, const StepTotals& totals) const {
  Tensor all = totals.steps ? n_.firstOf(steps, 0, totals.steps) : steps;
  Tensor before = first.stack;
  if (!first.elements.empty()) before = n_.call("stack", first.elements, {{"axis", 0}});
  if (all && before) all = n_.call("concat", {before, all}, {{"axis", 0}});
  return all ? n_.listOf({{}, false, all}) : Tensor();
}

Results StepsInPlan::run() {
  for (size_t k = 0; k < carried_; ++k)
    if (isList(n_, loop_.state[k]) && !isGrown(k))
      return n_.unsupported("a sequence that goes from step to step, in a loop whose trip count only a run can tell",
                            "steps that only put a tensor behind it, or a trip count made from constants and shapes");
  StepLoop steps;
  steps.goesOn = loop_.condition;
  if (loop_.trips && *loop_.trips <= INT32_MAX) steps.count = n_.b.dim(std::max<int64_t>(0, *loop_.trips));
  if (loop_.count) steps.count = loop_.count;
  if (!loop_.trips && !loop_.count && (!collected_.empty() || !grown_.empty())) steps.count = n_.lengthOf(0);
  if (!loop_.trips && !steps.count) steps.limit = scalarOf(cast(n_.arg(0), DType::I64));
  for (int i : collected_) {
    std::optional<Dims> declared = n_.declared(i);
    steps.room.push_back(declared && declared->rank() > 0 ? (*declared)[0] : Dim());
  }
  steps.stated.resize(collected_.size());
  for (const GrownState& g : grown_) steps.stated.push_back(g.isList ? Dims() : statedFor(g, loop_.state[g.state]));
  std::vector<Tensor> initial;
  for (size_t k = 0; k < carried_; ++k)
    if (!isGrown(k)) initial.push_back(loop_.state[k]);
  std::optional<StepTotals> totals = runSteps(n_, steps, initial, [&](const StepInputs& from) { return step(from); });
  if (!totals) return Tensor();
  std::vector<Tensor> results(static_cast<size_t>(std::max(n_.resultCount, static_cast<int>(carried_))));
  auto state = totals->state.begin();
  for (size_t k = 0; k < carried_; ++k)
    if (!isGrown(k)) results[k] = *state++;
  auto all = totals->collected.begin();
  for (int i : collected_)
    if (all != totals->collected.end())
      results[static_cast<size_t>(i)] = totals->steps ? n_.firstOf(*all++, 0, totals->steps) : *all++;
  for (const GrownState& g : grown_)
    if (all != totals->collected.end()) results[g.state] = grownBy(g, *all++, *totals);
  return results;
}

}  // namespace

Results onnxLoop(OnnxNode& n) {
  LoopNode loop{n, {n.args().begin() + std::min(2, n.count()), n.args().end()}, INT64_MAX, n.arg(1), {}};
  if (!n.require(std::ranges::all_of(loop.state, [](const Tensor& t) { return bool(t); }),
                 "carried values are not omitted"))
    return Tensor();
  if (n.has(0) && !n.valueOf(n.arg(0))) {
    loop.trips.reset();
    if (n.isKnown(0)) loop.count = n.sizes(0)[0];
  } else if (n.has(0)) {
    loop.trips = n.integer("", 0, 0);
  }
  if (loop.trips > INT32_MAX && knownCondition(n, loop.condition) != false) loop.countSteps();
  if (n.b.failed()) return Tensor();
  const bool hasLists = std::ranges::any_of(loop.state, [&](const Tensor& x) { return isList(n, x); });
  if (hasLists && loop.trips) return LaidOut(loop).run();
  if (!loop.trips) return StepsInPlan(loop).run();
  if (*loop.trips <= kMostUnrolledSteps) return LaidOut(loop).run();
  // A small trip count may stand for steps of different shapes.
  Results results = Tensor();
  if (n.attempt([&] { results = StepsInPlan(loop).run(); })) return results;
  return LaidOut(loop).run();
}

}  // namespace svod
