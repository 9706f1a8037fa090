// Loops that are asked to be unrolled, as copies of their bodies.
#include <algorithm>
#include <set>

#include "tensor/loops.h"

namespace svod {

namespace {

constexpr int64_t kMaxNodes = 1 << 20;  // of all copies of one body

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
    if (effects_.empty()) enter();
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
    return make(node, all);
  }

 private:
  bool isInside(UOp n) const {
    return std::ranges::any_of(inner_, [&](UOp r) { return n.dependsOn(r); });
  }

  bool isNested(UOp range, const std::vector<UOp>& below) const {
    return std::any_of(below.begin(), below.end(),
                       [&](UOp n) { return n.op() == Op::End && n.src(1) == range && n.dependsOn(range_); });
  }

  /// What a loop without iterations leaves in a buffer: what was there when it began.
  void enter() {
    for (UOp n : body_) {
      if (n.op() != Op::After || std::ranges::find(n.src(), range_) == n.src().end()) continue;
      std::vector<UOp>& before = before_[bufferBelow(n).id()];
      for (UOp s : n.src().subspan(1))
        if (!isInside(s) && std::ranges::find(before, s) == before.end()) before.push_back(s);
    }
  }

  /// The effects so far, or the last one on a buffer, which those before it lead to.
  void append(std::vector<UOp>& all, UOp buffer) const {
    if (!buffer) all.insert(all.end(), effects_.begin(), effects_.end());
    if (auto before = buffer ? before_.find(buffer.id()) : before_.end(); before != before_.end())
      all.insert(all.end(), before->second.begin(), before->second.end());
    auto last = buffer ? lastOn_.find(buffer.id()) : lastOn_.end();
    if (last != lastOn_.end()) all.push_back(last->second);
  }

  UOp make(UOp node, const std::vector<UOp>& src) {
    if (std::ranges::equal(src, node.src())) return node;
    if (node.op() == Op::After && src.size() == 1) return src[0];
    UOp made = g_.withSrc(node, src);
    if (auto label = model_.labels.find(node.id()); label != model_.labels.end())
      model_.labels.emplace(made.id(), label->second);
    return made;
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
      copyOf[n.id()] = n == range_ ? g_.index(i) : n.op() == Op::Range ? freshRange(n, src) : make(n, src);
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
  std::map<uint32_t, UOp> lastOn_;               // by Buffer id
  std::map<uint32_t, std::vector<UOp>> before_;  // by Buffer id, of a loop without iterations
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
    Unroller unroller(model, *end);
    SVOD_CHECK(unroller.unroll(room));
    sink = transform(*model.graph, sink, [&](UOp n, std::span<const UOp> src) { return unroller.rebuilt(n, src); });
  }
}

}  // namespace svod
