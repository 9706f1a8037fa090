#include "e2e/reduce_graph.h"

#include <array>

namespace svod {

namespace {

bool isValue(UOp n) {
  bool leaf = n.op() == Op::Buffer || n.op() == Op::Const || n.op() == Op::Var;
  const bool isInLoop = !n.ranges().empty();
  return !leaf && !isInLoop && n.dtype() != DType::Void && n.dtype() != DType::Index && n.op() != Op::After;
}

class Reducer {
 public:
  Reducer(Model& model, ModelBindings& bindings, const ModelCheck& check)
      : model_(model), bindings_(bindings), check_(check), words_(check(model, bindings)) {}

  std::string run() {
    if (words_.empty()) return words_;
    bindings_.ports.resize(model_.ports.size());
    for (UOp n : toposort(model_.sink))
      if (isValue(n) && tryAsOutput(n)) break;
    for (UOp n : toposort(model_.sink))
      if (isValue(n) && !isTarget(n)) tryAsInput(n);
    return words_;
  }

 private:
  /// Whether a store writes to the value: it is a part of a state.
  bool isTarget(UOp n) const {
    for (UOp store : toposort(model_.sink)) {
      if (store.op() != Op::Store) continue;
      for (UOp part = store.src(0); part.srcCount() > 0 && part.op() != Op::Buffer; part = part.src(0))
        if (part == n) return true;
    }
    return false;
  }

  uint32_t addPort(PortKind kind, UOp like, HostTensor data) {
    auto slot = static_cast<uint32_t>(model_.ports.size());
    UOp buffer = model_.graph->buffer(like.dtype(), like.shape(), SlotArg{slot});
    model_.ports.push_back({kind, (kind == PortKind::Input ? "cut" : "result") + std::to_string(slot), buffer, {}});
    bindings_.ports.push_back(std::move(data));
    return slot;
  }

  bool stillFails(UOp sink) {
    UOp before = model_.sink;
    model_.sink = sink;
    std::string words = check_(model_, bindings_);
    if (words.empty())
      model_.sink = before;
    else
      words_ = words;
    return !words.empty();
  }

  // Outputs that nothing writes any more become inputs, which nothing reads.
  bool tryAsOutput(UOp n) {
    std::vector<ModelPort> ports = model_.ports;
    std::vector<HostTensor> data = bindings_.ports;
    Result<std::vector<HostTensor>> values = interpret(model_, bindings_);
    for (size_t i = 0; values && i < model_.ports.size(); ++i)
      if (model_.ports[i].kind == PortKind::Output) {
        model_.ports[i].kind = PortKind::Input;
        bindings_.ports[i] = (*values)[i];
      }
    uint32_t slot = addPort(PortKind::Output, n, {});
    UOp store = model_.graph->make(Op::Store, DType::Void, {model_.ports[slot].buffer, n});
    if (values && stillFails(model_.graph->make(Op::Sink, DType::Void, {store}))) return true;
    model_.ports = ports, bindings_.ports = data;
    return false;
  }

  void tryAsInput(UOp n) {
    Result<HostTensor> value = interpretNode(model_, n, bindings_);
    if (!value) return;
    uint32_t slot = addPort(PortKind::Input, n, *value);
    std::array from{n}, to{model_.ports[slot].buffer};
    if (stillFails(substitute(*model_.graph, model_.sink, from, to))) return;
    model_.ports.pop_back(), bindings_.ports.pop_back();
  }

  Model& model_;
  ModelBindings& bindings_;
  const ModelCheck& check_;
  std::string words_;
};

}  // namespace

std::string reduceGraph(Model& model, ModelBindings& bindings, const ModelCheck& check) {
  return Reducer(model, bindings, check).run();
}

}  // namespace svod
