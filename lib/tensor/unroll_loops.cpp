// Loops that are asked to be unrolled, as copies of their bodies.
#include <algorithm>
#include <set>

#include "tensor/loops.h"

namespace svod {

namespace {

constexpr int64_t kMaxNodes = 1 << 20;  // of all copies of one body

/// The node with other sources, under the name it has. A content after no effect is the buffer.
UOp withSources(Model& model, UOp node, std::span<const UOp> src) {
  if (std::ranges::equal(src, node.src())) return node;
  if (node.op() == Op::After && src.size() == 1) return src[0];
  UOp made = model.graph->withSrc(node, src);
  if (auto label = model.labels.find(node.id()); label != model.labels.end())
    model.labels.emplace(made.id(), label->second);
  return made;
}

/// One loop at a time; the effects of its iterations take the place of its End.
class Unroller {
 public:
  Unroller(Model& model, UOp end) : model_(model), g_(*model.graph), end_(end), range_(end.src(1)), inner_{end.src(1)} {
    std::vector<UOp> below = toposort(end.src(0));
    for (UOp n : below)
      if (n.op() == Op::End && n.src(1) != range_) inner_.push_back(n.src(1));
    // A loop before this one is no part of the body, nor is what depends on its counter.
    std::erase_if(inner_, [&](UOp r) { return r != range_ && !isNested(r, below); });
    std::ranges::copy_if(below, std::back_inserter(body_), [&](UOp n) { return isInside(n); });
  }

  /// `room`: effects that the graph may still gain.
  Status unroll(int64_t& room) {
    const int64_t count = range_.src(0).constInt(), nodes = std::ssize(body_), effects = std::ssize(end_.src(0).src());
    if (count > kMaxNodes / std::max<int64_t>(1, nodes) || count > room / std::max<int64_t>(1, effects))
      return fail(Diag::TooLarge, "a loop of " + std::to_string(count) + " iterations is too long to be unrolled",
                  "leave unroll out");
    room -= count * effects;
    for (int64_t i = 0; i < count; ++i) iteration(i);
    return {};
  }

  /// `node` with sources that were rebuilt; the End among them is replaced by the effects of all iterations.
  UOp rebuilt(UOp node, std::span<const UOp> src) {
    std::vector<UOp> all;
    UOp written = node.op() == Op::After ? bufferBelow(node) : UOp();
    for (UOp s : src) {
      if (s == end_) {
        append(all, written);
      } else {
        all.push_back(s);
      }
    }
    return withSources(model_, node, all);
  }

 private:
  bool isInside(UOp n) const {
    return std::ranges::any_of(inner_, [&](UOp r) { return n.dependsOn(r); });
  }

  bool isNested(UOp range, const std::vector<UOp>& below) const {
    return std::any_of(below.begin(), below.end(),
                       [&](UOp n) { return n.op() == Op::End && n.src(1) == range && n.dependsOn(range_); });
  }

  /// The effects so far, or the last one on a buffer, which those before it lead to.
  void append(std::vector<UOp>& all, UOp buffer) const {
    if (!buffer) all.insert(all.end(), effects_.begin(), effects_.end());
    auto last = buffer ? lastOn_.find(buffer.id()) : lastOn_.end();
    if (last != lastOn_.end()) all.push_back(last->second);
  }

  void iteration(int64_t i) {
    std::map<uint32_t, UOp> copyOf;
    for (UOp n : body_) {
      std::vector<UOp> src;
      for (UOp s : n.src()) {
        if (s == range_ && n.op() == Op::After) {
          append(src, bufferBelow(n));
        } else {
          auto copied = copyOf.find(s.id());
          src.push_back(copied == copyOf.end() ? s : copied->second);
        }
      }
      copyOf[n.id()] = n == range_           ? g_.index(i)
                       : n.op() == Op::Range ? freshRange(n, src)
                                             : withSources(model_, n, src);
    }
    for (UOp e : end_.src(0).src()) {
      effects_.push_back(copyOf.at(e.id()));
      for (UOp buffer : writtenBy(effects_.back())) lastOn_[buffer.id()] = effects_.back();
    }
  }

  /// Copies of a loop inside are loops of their own.
  UOp freshRange(UOp range, const std::vector<UOp>& src) {
    AxisArg arg = range.argAs<AxisArg>();
    model_.loops.push_back(model_.loops[arg.id]);
    arg.id = static_cast<uint32_t>(model_.loops.size()) - 1;
    return g_.make(Op::Range, range.dtype(), src, arg);
  }

  Model& model_;
  Graph& g_;
  UOp end_, range_;
  std::vector<UOp> inner_, body_, effects_;
  std::map<uint32_t, UOp> lastOn_;  // by Buffer id
};

/// A loop without iterations leaves the graph. A loop around it may store to fewer buffers then, or to none: what it
/// leaves in the others is what they hold when its iterations begin.
class EmptyLoop {
 public:
  EmptyLoop(Model& model, UOp end) : model_(model), end_(end) {}

  UOp rebuilt(UOp node, std::span<const UOp> src) {
    if (node.op() == Op::After) return content(node, src);
    if (node.op() == Op::End && (node == end_ || isNothing(src[0])))
      return model_.graph->make(Op::Group, DType::Void, {});
    std::vector<UOp> all(src.begin(), src.end());
    if (node.op() == Op::Group || node.op() == Op::Sink) std::erase_if(all, isNothing);
    return withSources(model_, node, all);
  }

 private:
  static bool isNothing(UOp effects) { return effects.op() == Op::Group && effects.srcCount() == 0; }

  /// Sources are the buffer, and effects and counters in their order: what stands before a counter was there before the
  /// loop.
  UOp content(UOp node, std::span<const UOp> src) {
    const uint32_t buffer = bufferBelow(node).id();
    std::vector<UOp> all;
    const auto add = [&](UOp effect) {
      if (std::ranges::find(all, effect) == all.end()) all.push_back(effect);
    };
    for (size_t i = 0; i < src.size(); ++i) {
      const UOp was = node.src(i);
      if (was.op() == Op::Range) before_[{was.id(), buffer}].assign(all.begin() + 1, all.end());
      if (was.op() == Op::End && !isWritten(src[i], buffer))
        std::ranges::for_each(before_[{was.src(1).id(), buffer}], add);
      else
        add(src[i]);
    }
    return withSources(model_, node, all);
  }

  static bool isWritten(UOp effect, uint32_t buffer) {
    return std::ranges::any_of(writtenBy(effect), [&](UOp b) { return b.id() == buffer; });
  }

  Model& model_;
  UOp end_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<UOp>> before_;  // by Range and Buffer id: effects before the loop
};

}  // namespace

Result<UOp> unrollLoops(Model& model, UOp sink, Decisions& decisions) {
  std::set<uint32_t> stay;                       // loops, by number
  int64_t room = kAny - std::ssize(sink.src());  // the sink has all effects as sources
  for (;;) {
    std::vector<UOp> order = toposort(sink);
    auto end = std::find_if(order.begin(), order.end(), [&](UOp n) {
      const AxisArg* axis = n.op() == Op::End ? &n.src(1).argAs<AxisArg>() : nullptr;
      return axis != nullptr && axis->type == AxisType::Unroll && !stay.contains(axis->id);
    });
    if (end == order.end()) return sink;
    const uint32_t loop = end->src(1).argAs<AxisArg>().id;
    if (decisions.decide({"unroll:" + model.loops[loop], {{"yes", {}}, {"no", {}}}, 0, "the graph asks for it"}) == 1) {
      stay.insert(loop);
      continue;
    }
    if (end->src(1).src(0).bounds().max <= 0) {
      EmptyLoop loop(model, *end);
      sink = transform(*model.graph, sink, [&](UOp n, std::span<const UOp> src) { return loop.rebuilt(n, src); });
      continue;
    }
    Unroller unroller(model, *end);
    SVOD_CHECK(unroller.unroll(room));
    sink = transform(*model.graph, sink, [&](UOp n, std::span<const UOp> src) { return unroller.rebuilt(n, src); });
  }
}

}  // namespace svod
