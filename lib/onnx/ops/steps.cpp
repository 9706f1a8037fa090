#include "onnx/ops/steps.h"

#include <algorithm>
#include <limits>

#include "onnx/ops/common.h"

namespace svod {

namespace {

// No run gets that far; sizes and positions stay within 64 bits.
constexpr int64_t kEndless = std::numeric_limits<int32_t>::max();

Tensor scalarOf(Tensor x) { return x && x.rank() > 0 ? reshape(x, Dims()) : x; }

bool isAlways(OnnxNode& n, const Tensor& condition) {
  if (!condition) return true;
  std::optional<HostTensor> value = n.valueOf(condition);
  return value && value->numel() == 1 && value->at(0).asInt() != 0;
}

/// One run of runSteps.
class StepRunner {
 public:
  StepRunner(OnnxNode& n, const StepLoop& loop, const StepBody& body)
      : n_(n), b_(n.b), loop_(loop), body_(body), count_(loop.count ? loop.count : n.b.dim(kEndless)) {
    // What has no room is not collected; expectRoom() has the run fail then.
    for (const Dim& room : loop.room)
      if (room && !loop.count) count_ = smaller(count_, room);
  }
  std::optional<StepTotals> run(const std::vector<Tensor>& initial);

 private:
  bool rehearse(const std::vector<Tensor>& initial);
  bool makeRoom();
  GraphBuilder::LoopOptions options();
  bool step(Dim at);
  bool firstStep();
  bool loopFrom(int64_t first);
  bool keep(const StepResults& made, Dim at);
  void expectRoom();
  void expectStated();
  void fitToStated(StepResults& made);
  std::optional<StepResults> called(Dim at);
  /// What a temporary holds now, whatever is assigned later.
  Tensor content(Tensor temporary) { return b_.wrap(temporary.node()); }

  OnnxNode& n_;
  GraphBuilder& b_;
  const StepLoop& loop_;
  const StepBody& body_;
  Dim count_;
  std::vector<Tensor> state_, kept_;        // temporaries
  std::vector<Tensor> shown_;               // values that are collected, as the rehearsal made them
  std::vector<Tensor> first_;               // and as the step before the loop did, where one stands there
  Tensor goesOn_, done_;                    // temporaries; null when all steps take place
  std::vector<std::pair<Dim, Dim>> sizes_;  // of collected values in one step: what they are, and what they are to be
  std::vector<Tensor> seen_;                // temporaries, per pair: the first one that is another
};

std::optional<StepResults> StepRunner::called(Dim at) {
  StepInputs inputs{at, {}};
  for (const Tensor& s : state_) inputs.state.push_back(content(s));
  std::optional<StepResults> made = body_(inputs);
  if (!made || b_.failed()) return std::nullopt;
  fitToStated(*made);
  bool keepsShape = std::ranges::equal(made->state, state_, [](const Tensor& a, const Tensor& b) {
    return a && a.dims() == b.dims() && a.dtype() == b.dtype();
  });
  auto isSame = [&](Dim d) { return d.node().ranges().empty() && b_.outlives(d, b_.counters().back()); };
  auto isFixed = [&](const Tensor& x) { return x && std::ranges::all_of(x.dims(), isSame); };
  if (keepsShape && std::ranges::all_of(made->collected, isFixed)) return made;
  n_.unsupported(
      "values that change their shape from step to step, in a loop with many steps or with a number of "
      "steps that only a run can tell",
      "values that keep their shapes, or a smaller trip count that is known when the model is compiled");
  return std::nullopt;
}

// Steps have the dims that are stated; sizes that only a run can tell are compared with them when it is over.
void StepRunner::fitToStated(StepResults& made) {
  sizes_.clear();
  for (size_t i = 0; i < std::min(made.collected.size(), loop_.stated.size()); ++i) {
    Tensor& x = made.collected[i];
    for (int axis = 0; x && axis < std::min(x.rank(), loop_.stated[i].rank()); ++axis) {
      const Dim stated = loop_.stated[i][axis], size = x.dim(axis);
      if (!stated || size == stated) continue;
      sizes_.emplace_back(size, stated);
      x = take(x, axis, b_.iota(stated));
    }
  }
}

// One step whose effects are forgotten: it tells whether a step can be the last, and what is collected.
bool StepRunner::rehearse(const std::vector<Tensor>& initial) {
  GraphBuilder::Mark before = b_.mark();
  bool wasRehearsing = n_.isRehearsing();
  n_.setRehearsing(true);
  for (const Tensor& s : initial) state_.push_back(b_.temporary(s));
  bool isGood = !b_.failed(), canEnd = !isAlways(n_, loop_.goesOn);
  if (isGood)
    if (Dim at = b_.beginLoop("step", larger(count_, b_.dim(1)), {})) {
      std::optional<StepResults> made = called(at);
      isGood = made.has_value();
      if (made) canEnd |= !isAlways(n_, made->goesOn), shown_ = made->collected;
    }
  b_.rewind(std::move(before));
  n_.setRehearsing(wasRehearsing);
  state_.clear();
  for (const auto& [size, stated] : sizes_) seen_.push_back(b_.temporary(cast(b_.value(stated), DType::I64)));
  if (isGood && canEnd) goesOn_ = b_.temporary(loop_.goesOn ? scalarOf(loop_.goesOn) : b_.literal(true));
  if (isGood && (canEnd || loop_.limit)) done_ = b_.temporary(number(n_, 0));
  return isGood && !b_.failed();
}

bool StepRunner::makeRoom() {
  for (size_t i = 0; i < shown_.size(); ++i) {
    Dim room = loop_.count ? loop_.count : i < loop_.room.size() ? loop_.room[i] : Dim();
    if (!room && loop_.limit && !n_.isKnown(0)) {
      n_.sizes(0);  // the message names the input that the trip count comes from, and what gives it a value
      return false;
    }
    if (!room) {
      n_.unsupported("a loop without a largest number of steps that collects values",
                     "declare the dims of the result, or a trip count that is known when the model is compiled");
      return false;
    }
    Dims dims = shown_[i].dims();
    dims.insert(0, room);
    // What every step will fill starts as the first one, if there is one, or as zeros.
    kept_.push_back(
        b_.temporary(shown_[i].dtype(), dims, first_.empty() ? b_.literal(false) : unsqueeze(first_[i], 0)));
  }
  return !b_.failed();
}

GraphBuilder::LoopOptions StepRunner::options() {
  GraphBuilder::LoopOptions options;
  if (!done_) return options;
  options.condition = [this] {
    if (!loop_.limit) return goesOn_;
    Tensor isInside = lt(done_, loop_.limit);
    return goesOn_ ? both(goesOn_, isInside) : isInside;
  };
  return options;
}

// Of the shapes that the rehearsal has seen, and of no loop.
bool StepRunner::firstStep() {
  std::optional<StepResults> made = body_({b_.dim(0), loop_.folded});
  if (!made || b_.failed()) return false;
  for (const Tensor& s : made->state) state_.push_back(b_.temporary(s));
  first_ = made->collected;
  return !b_.failed();
}

bool StepRunner::loopFrom(int64_t first) {
  const Dim count = count_ - first;
  if (count.is(0)) return true;
  const Dim at = b_.beginLoop("step", count, options());
  if (!at) return false;
  const bool isGood = step(at + first);
  b_.endLoop();
  return isGood && !b_.failed();
}

bool StepRunner::keep(const StepResults& made, Dim at) {
  for (size_t i = 0; i < state_.size(); ++i) b_.assign(state_[i], made.state[i]);
  for (size_t i = 0; i < kept_.size(); ++i) {
    Tensor place = narrow(kept_[i], 0, at, b_.dim(1));
    b_.assign(place, unsqueeze(made.collected[i], 0));
  }
  for (size_t i = 0; i < seen_.size(); ++i) {
    const Tensor size = cast(b_.value(sizes_[i].first), DType::I64),
                 stated = cast(b_.value(sizes_[i].second), DType::I64);
    const Tensor seen = content(seen_[i]);
    b_.assign(seen_[i], where(eq(seen, stated), size, seen));
  }
  if (goesOn_) b_.assign(goesOn_, made.goesOn ? scalarOf(made.goesOn) : b_.literal(true));
  if (done_) b_.assign(done_, done_ + 1);
  return !b_.failed();
}

bool StepRunner::step(Dim at) {
  std::optional<StepResults> made = called(at);
  return made && made->collected.size() == kept_.size() && sizes_.size() == seen_.size() && keep(*made, at);
}

// When all steps that have room are done, there is no other one.
void StepRunner::expectRoom() {
  bool isDeclared = !loop_.count && std::ranges::any_of(loop_.room, [](const Dim& room) { return bool(room); });
  if (!isDeclared || !done_) return;
  Tensor done = content(done_), goesOn = goesOn_ ? content(goesOn_) : n_.b.constant(Scalar::ofInt(DType::Bool, 1));
  if (loop_.limit) goesOn = both(goesOn, lt(done, loop_.limit));
  Tensor room = cast(b_.value(count_), DType::I64), isFull = both(goesOn, ge(done, room));
  n_.expect({0, 1}, where(isFull, room + 1, room), {count_});
}

void StepRunner::expectStated() {
  for (size_t i = 0; i < seen_.size(); ++i)
    b_.expect(content(seen_[i]), cast(b_.value(sizes_[i].second), DType::I64),
              std::string(n_.op.name) + ": the sizes of what its steps put together");
}

std::optional<StepTotals> StepRunner::run(const std::vector<Tensor>& initial) {
  if (!rehearse(initial)) return std::nullopt;
  // Inside of another rehearsal dims are all that matters.
  const bool isFirstApart = !loop_.folded.empty() && !done_ && !n_.isRehearsing();
  if ((isFirstApart && !firstStep()) || !makeRoom()) return std::nullopt;
  if (!isFirstApart)
    for (const Tensor& s : initial) state_.push_back(b_.temporary(s));
  if (!n_.isRehearsing() && !loopFrom(isFirstApart ? 1 : 0)) return std::nullopt;
  if (!n_.isRehearsing()) expectRoom(), expectStated();
  StepTotals totals;
  for (const Tensor& s : state_) totals.state.push_back(content(s));
  for (size_t i = 0; i < kept_.size(); ++i) {
    bool isBackward = i < loop_.isBackward.size() && loop_.isBackward[i];
    totals.collected.push_back(isBackward ? flip(content(kept_[i]), {{0}}) : content(kept_[i]));
  }
  if (done_) totals.steps = content(done_);
  return totals;
}

}  // namespace

std::optional<StepTotals> runSteps(OnnxNode& n, const StepLoop& loop, const std::vector<Tensor>& initial,
                                   const StepBody& body) {
  return StepRunner(n, loop, body).run(initial);
}

}  // namespace svod
