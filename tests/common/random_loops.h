// States, temporaries, and the loops and branches that assign them, in the form GraphBuilder gives them.
#pragma once
#include "common/random_steps.h"

namespace svod {

class RandomLoops : protected RandomSteps {
 protected:
  using RandomSteps::RandomSteps;

  void state() {
    UOps dims = randomDims();
    DType dtype = randomDType();
    UOp buffer = port(PortKind::State, dtype, dims), now = buffer;
    bool exact = true;
    add({buffer});
    for (int i = 0; i < 3; ++i) step();
    int64_t updates = draw_.between(1, 2);
    for (int64_t i = 0; i < updates; ++i) {
      UOp target = draw_.chance(40) ? part(now) : now;
      Value value = fit(converted(pick(), dtype), target.shape(), false);
      exact &= value.exact;
      now = g_.make(Op::After, dtype, {now, store(target, value.node)});
      add({now, exact, true});
    }
    kept_.push_back({now});
    for (int i = 0; i < 3; ++i) step();
  }

  void loops() {
    for (int64_t i = draw_.between(1, 2); i > 0; --i) {
      temporary();
      if (draw_.chance(50)) temporary();
      std::vector<size_t> all;
      for (size_t k = 0; k < kept_.size(); ++k) all.push_back(k);
      loop(all, 0);
      for (int64_t k = draw_.between(0, 4); k > 0; --k) step();
    }
  }

  const UOps& effects() const { return bodies_[0]; }

 private:
  /// A buffer that may be assigned, as its newest content.
  struct Kept {
    UOp content;
  };

  static UOp bufferOf(UOp content) {
    while (content.op() != Op::Buffer) content = content.src(0);
    return content;
  }

  UOp store(UOp target, UOp value) {
    UOp store = g_.make(Op::Store, DType::Void, {target, value});
    bodies_.back().push_back(store);
    return store;
  }

  UOp followedBy(UOp content, UOp effect) {
    UOps src(content.src().begin(), content.src().end());
    if (content.op() == Op::Buffer) src = {content};
    src.push_back(effect);
    return g_.make(Op::After, content.dtype(), src);
  }

  UOp filled(DType dtype, const UOps& dims, UOp value) {
    UOp content = port(PortKind::Temporary, dtype, dims);
    for (UOp counter : counters_) content = followedBy(content, counter);  // it starts anew in every iteration
    return followedBy(content, store(content, value));
  }

  void temporary() {
    UOps dims = randomDims();
    DType dtype = randomDType();
    kept_.push_back({filled(dtype, dims, fit(converted(pick(), dtype), dims, false).node)});
    add({kept_.back().content, false, true});
  }

  UOp flag() {
    std::optional<Value> v = pickWhere([](const Value& x) { return x.node.dtype() == DType::Bool; });
    return v ? firstOf(*v).node : constant(DType::Bool).node;
  }

  /// A count, a condition in a buffer of its own or null, and the kind of the range.
  struct Head {
    UOp count, condition;
    AxisType type = AxisType::Loop;
  };

  Head head() {
    Head head;
    head.count = g_.index(draw_.between(0, 4));
    if (variable_ && draw_.chance(25)) head.count = symbolicSize();
    if (!counters_.empty() && draw_.chance(25)) head.count = counters_.back();
    const bool branch = draw_.chance(25);
    if (branch) head.count = g_.index(1);
    if (branch || draw_.chance(25)) {
      head.condition = filled(DType::Bool, {}, flag());
    } else if (head.count.isConst() && draw_.chance(20)) {
      head.type = AxisType::Unroll;
      if (!counters_.empty() && draw_.chance(30)) head.count = g_.index(0);
    }
    return head;
  }

  void loop(const std::vector<size_t>& assignable, int depth) {
    const Head h = head();
    const auto id = static_cast<uint32_t>(model_.loops.size());
    model_.loops.push_back("i" + std::to_string(id));
    UOp range =
        g_.make(Op::Range, DType::Index, h.condition ? UOps{h.count, h.condition} : UOps{h.count}, AxisArg{id, h.type});
    std::vector<size_t> written;
    for (size_t k : assignable)
      if (draw_.chance(60) || (written.empty() && k == assignable.back())) written.push_back(k);
    const std::vector<Kept> before = kept_;
    const size_t poolBefore = pool_.size();
    counters_.push_back(range), bodies_.emplace_back();
    for (size_t k : written) add({kept_[k].content = followedBy(kept_[k].content, range), false, true});
    add({g_.cast(range, DType::I32)});

    body(written, depth);
    UOp condition = h.condition;
    if (condition) condition = followedBy(h.condition, range), store(condition, flag());

    UOps stores = std::move(bodies_.back());
    bodies_.pop_back(), counters_.pop_back();
    UOp end = g_.make(Op::End, DType::Void, {g_.make(Op::Group, DType::Void, stores), range});
    bodies_.back().push_back(end);
    pool_.resize(poolBefore);
    kept_ = before;
    for (size_t k : written) add({kept_[k].content = followedBy(kept_[k].content, end), false, true});
  }

  void body(const std::vector<size_t>& written, int depth) {
    std::vector<size_t> assignable = written;
    if (draw_.chance(30)) assignable.push_back(kept_.size()), temporary();
    for (int64_t i = draw_.between(2, 6); i > 0; --i) draw_.chance(20) ? window() : step();
    if (depth < 2 && draw_.chance(35)) {
      loop(assignable, depth + 1);
      for (int64_t i = draw_.between(0, 3); i > 0; --i) step();
    }
    for (size_t k : written) {
      const bool isLoopsAlone = isFromLoop(kept_[k].content) && draw_.chance(50);
      for (int64_t i = draw_.chance(20) ? 2 : 1; i > 0 && !isLoopsAlone; --i) assign(k);
    }
  }

  /// Whether a loop inside of this body is the last that stored to the buffer.
  static bool isFromLoop(UOp content) { return content.op() == Op::After && content.src().back().op() == Op::End; }

  void assign(size_t k) {
    UOp now = kept_[k].content, target = now;
    if (draw_.chance(40)) target = part(now);
    if (UOp moving = draw_.chance(30) ? windowOf(now) : UOp()) target = moving;
    UOp value = fit(converted(pick(), now.dtype()), target.shape(), false).node;
    kept_[k].content = followedBy(now, store(target, value));
    add({kept_[k].content, false, true});
  }

  // A view of a buffer that names some of its elements.
  UOp part(UOp buffer) {
    if (options_.edges && draw_.chance(60)) {
      const Part part = edgePart(buffer, counters_.empty() ? UOp() : counters_.back());
      return g_.shrink(buffer, part.offsets, part.sizes);
    }
    UOps offsets, sizes;
    for (UOp d : buffer.shape()) {
      int64_t smallest = std::max<int64_t>(d.bounds().min, 0), offset = draw_.between(0, smallest / 2);
      offsets.push_back(g_.index(offset));
      sizes.push_back(g_.index(smallest - offset));
    }
    UOp view = g_.shrink(buffer, offsets, sizes);
    return draw_.chance(30) ? g_.flip(view, someAxes(view)) : view;
  }

  /// A part that moves with the counter along the first axis; null where it would leave the value.
  UOp windowOf(UOp x) {
    UOp counter = counters_.back();
    if (options_.edges && x.rank() > 0 && draw_.chance(50)) {
      const Part part = edgePart(x, counter);
      return g_.shrink(x, part.offsets, part.sizes);
    }
    const int64_t last = std::max<int64_t>(counter.bounds().max, 0);
    if (x.rank() == 0 || x.hasSymbolicShape() || x.dim(0) <= last) return {};
    UOps offsets(x.rank(), g_.index(0)), sizes(x.shape().begin(), x.shape().end());
    offsets[0] = counter, sizes[0] = g_.index(x.dim(0) - last);
    return g_.shrink(x, offsets, sizes);
  }

  void window() {
    Value v = pick();
    if (UOp view = windowOf(v.node)) add(moved(v, view));
  }

  std::vector<Kept> kept_;
  UOps counters_;                    // of the open loops, innermost last
  std::vector<UOps> bodies_ = {{}};  // effects of the graph, then of the open loops
};

}  // namespace svod
