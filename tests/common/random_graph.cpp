#include "common/random_graph.h"

#include "common/random_loops.h"

namespace svod {

namespace {

class Generator : RandomLoops {
 public:
  Generator(uint64_t seed, const RandomOptions& options) : RandomLoops(seed, options) {}

  Model build() {
    if (options_.edges) {
      sizes();
    } else if (options_.symbolic && draw_.chance(25)) {
      variable_ = g_.variable("n", 1, 7);
      model_.variables.push_back(variable_);
    }
    leaves();
    for (int i = 0; i < options_.steps; ++i) step();
    if (options_.states && draw_.chance(35)) state();
    if (options_.loops) loops();
    stores_ = effects();
    outputs();
    model_.sink = g_.make(Op::Sink, DType::Void, stores_);
    return std::move(model_);
  }

 private:
  void outputs() {
    // Values nothing uses become outputs first, so that most of the graph is alive.
    std::vector<bool> used(g_.size());
    for (const Value& v : pool_)
      for (UOp n : toposort(v.node))
        if (n != v.node) used[n.id()] = true;
    int64_t count = draw_.between(2, 5);
    for (int64_t i = 0; i < count; ++i) {
      std::optional<Value> unused = pickWhere([&](const Value& v) { return !used[v.node.id()]; });
      UOp value = i == 0 || !unused ? pool_.back().node : unused->node;
      if (draw_.chance(15)) value = pick().node;
      used[value.id()] = true;
      UOp target = port(PortKind::Output, value.dtype(), UOps(value.shape().begin(), value.shape().end()));
      stores_.push_back(g_.make(Op::Store, DType::Void, {target, value}));
    }
  }

  UOps stores_;
};

}  // namespace

Model randomModel(uint64_t seed, const RandomOptions& options) { return Generator(seed, options).build(); }

}  // namespace svod
