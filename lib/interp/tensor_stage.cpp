// Evaluation of tensor graphs: whole tensors, node by node in topological order.
#include <algorithm>
#include <set>

#include "interp/interp.h"
#include "interp/port_content.h"
#include "interp/size_values.h"
#include "interp/tensor_movement.h"
#include "interp/tensor_values.h"
#include "interp/view.h"
#include "ir/text.h"

namespace svod {

namespace {

// The buffer a view names elements of.
UOp baseOf(UOp target) {
  auto passes = [](Op op) { return op == Op::After || (isMovement(op) && op != Op::Pad && op != Op::Expand); };
  while (passes(target.op())) target = target.src(0);
  return target;
}

// The flat position of every element of a buffer.
View positions(const std::vector<int64_t>& dims) {
  HostTensor out = HostTensor::zeros(DType::I64, dims);
  for (int64_t i = 0, n = out.numel(); i < n; ++i) out.set(i, Scalar::ofInt(DType::I64, i));
  return View::of(std::move(out));
}

class TensorInterpreter {
 public:
  TensorInterpreter(const Model& model, const ModelBindings& bindings)
      : model_(model), bindings_(bindings), sizes_{bindings, {}} {}

  Status run(std::span<const UOp> roots) {
    values_.resize(model_.graph->size());
    usesLeft_.assign(model_.graph->size(), 0);
    versions_.resize(model_.ports.size()), storeIndex_.assign(model_.graph->size(), 0);
    versionAt_.clear(), sizes_.counters.clear(), bodies_.clear();
    std::vector<UOp> order = toposort(roots);
    std::erase_if(order, [](UOp n) { return !n.ranges().empty(); });  // bodies belong to their End
    for (UOp n : order)
      for (UOp s : usedBy(n)) ++usesLeft_[s.id()];
    for (UOp root : roots) ++usesLeft_[root.id()];
    for (UOp n : order) {
      SVOD_TRY(values_[n.id()], value(n));
      for (UOp s : usedBy(n))
        if (--usesLeft_[s.id()] == 0) values_[s.id()] = View();
    }
    return {};
  }

  HostTensor result(UOp root) const { return values_[root.id()].toTensor(); }

  Result<std::vector<HostTensor>> ports() {
    std::vector<HostTensor> out;
    for (const ModelPort& port : model_.ports) {
      SVOD_CHECK(openBuffer(port.buffer));
      out.push_back(versionsOf(port.buffer).back().toTensor());
    }
    return out;
  }

 private:
  // -- loops

  /// What depends on the counter of the loop, sources first.
  const std::vector<UOp>& bodyOf(UOp end) {
    auto [it, isNew] = bodies_.try_emplace(end.id());
    if (isNew) {
      it->second = toposort(end.src(0));
      std::erase_if(it->second, [&](UOp n) { return !n.dependsOn(end.src(1)); });
    }
    return it->second;
  }

  /// The values a node is computed from; those of a loop from outside of it, also where only a loop inside reads them.
  static std::vector<UOp> usedBy(UOp n) {
    if (n.op() != Op::End) return {n.src().begin(), n.src().end()};
    std::vector<UOp> used;
    for (UOp inner : toposort(n.src(0)))
      for (UOp s : inner.ranges().empty() ? std::span<const UOp>() : inner.src())
        if (s.ranges().empty()) used.push_back(s);
    return used;
  }

  Status runLoop(UOp end) {
    UOp range = end.src(1);
    SVOD_TRY(int64_t count, sizes_.number(range.src(0)));
    const std::vector<UOp>& body = bodyOf(end);
    std::vector<size_t> kept;  // versions from before the loop; of its own only the newest is
    for (const std::vector<View>& versions : versions_) kept.push_back(std::max<size_t>(1, versions.size()));
    for (int64_t i = 0; i < count; ++i) {
      SVOD_TRY(bool goesOn, conditionOf(range));
      if (!goesOn) break;
      sizes_.counters[range.id()] = i;
      noteVersions(range);
      for (UOp n : body) {
        auto isOpen = [&](UOp r) { return sizes_.counters.contains(r.id()); };
        if (!std::ranges::all_of(n.ranges(), isOpen)) continue;  // of a loop inside
        SVOD_TRY(values_[n.id()], value(n));
      }
      for (size_t slot = 0; slot < versions_.size(); ++slot)
        if (versions_[slot].size() > kept[slot] + 1)
          versions_[slot].erase(versions_[slot].begin() + static_cast<std::ptrdiff_t>(kept[slot]),
                                versions_[slot].end() - 1);
    }
    sizes_.counters.erase(range.id());
    noteVersions(end);
    for (UOp n : body) values_[n.id()] = View();
    return {};
  }

  Result<bool> conditionOf(UOp range) {
    if (range.srcCount() < 2) return true;
    UOp flag = baseOf(range.src(1));
    SVOD_CHECK(openBuffer(flag));
    return versionsOf(flag).back().toTensor().at(0).asInt() != 0;
  }

  /// Remembers the newest version of every buffer: what an iteration starts with, or what a loop left.
  void noteVersions(UOp node) {
    std::vector<uint32_t>& at = versionAt_[node.id()];
    at.clear();
    for (const std::vector<View>& versions : versions_)
      at.push_back(static_cast<uint32_t>(std::max<size_t>(1, versions.size()) - 1));
  }

  // -- storage: versions_[slot][k] is the buffer after k stores

  std::vector<View>& versionsOf(UOp buffer) { return versions_[buffer.argAs<SlotArg>().slot]; }

  Status openBuffer(UOp buffer) {
    if (buffer.argAs<SlotArg>().slot >= model_.ports.size())
      return fail(Diag::UnknownPort, "no port for " + toLineText(buffer), "give every buffer a port");
    std::vector<View>& versions = versionsOf(buffer);
    if (!versions.empty()) return {};
    const size_t slot = buffer.argAs<SlotArg>().slot;
    const HostTensor* bound = slot < bindings_.ports.size() ? &bindings_.ports[slot] : nullptr;
    SVOD_TRY(std::vector<int64_t> dims, sizes_.numbers(buffer.shape()));
    SVOD_TRY(HostTensor content, portContent(buffer.dtype(), std::move(dims), model_.ports[slot], bound));
    versions.push_back(View::of(std::move(content)));
    return {};
  }

  // The content the dependencies guarantee: after the last store to this buffer any of them needed.
  Result<View> afterValue(UOp node) {
    UOp base = baseOf(node);
    if (base.op() != Op::Buffer) return values_[node.src(0).id()];
    SVOD_CHECK(openBuffer(base));
    uint32_t version = 0;
    const size_t slot = base.argAs<SlotArg>().slot;
    std::vector<UOp> pending{node};
    std::set<uint32_t> seen;
    while (!pending.empty()) {
      UOp n = pending.back();
      pending.pop_back();
      if (!seen.insert(n.id()).second) continue;
      if (n.op() == Op::Store && baseOf(n.src(0)) == base) {
        version = std::max(version, storeIndex_[n.id()]);  // those before it made older versions
        continue;
      }
      if (n.op() == Op::End || n.op() == Op::Range) {
        version = std::max(version, versionAt_.at(n.id())[slot]);
      } else {
        pending.insert(pending.end(), n.src().begin(), n.src().end());
      }
    }
    return moved(node.src(0), versionsOf(base)[version], Scalar::of(base.dtype(), 0));
  }

  // The movement ops between the base buffer and `view`, applied to `content` of that buffer.
  Result<View> moved(UOp view, const View& content, const Scalar& outside) {
    std::vector<UOp> ops;  // outermost first
    for (; view.op() != Op::Buffer; view = view.src(0))
      if (view.op() != Op::After) ops.push_back(view);
    View result = content;
    for (size_t i = ops.size(); i-- > 0;) {
      SVOD_TRY(result, move(ops[i], result, outside));
    }
    return result;
  }

  /// `outside`: what a part holds where a variable carries it beyond x.
  Result<View> move(UOp node, const View& x, const Scalar& outside) {
    size_t skip = node.op() == Op::Pad ? 2 : 1;  // of Pad the fill is no number
    Scalar fill = node.op() == Op::Pad ? scalarOf(values_[node.src(1).id()]) : outside;
    SVOD_TRY(std::vector<int64_t> values, sizes_.numbers(node.src().subspan(skip)));
    return moveView(node, x, values, fill);
  }

  Status store(UOp node) {
    UOp base = baseOf(node.src(0));
    if (base.op() != Op::Buffer)
      return fail(Diag::Verify, "store to " + toLineText(node.src(0)), "store to a buffer or a view of one");
    SVOD_CHECK(openBuffer(base));
    HostTensor content = versionsOf(base).back().toTensor();
    const Scalar nowhere = Scalar::ofInt(DType::I64, -1);
    SVOD_TRY(View places, moved(node.src(0), positions(content.dims), nowhere));
    View value = values_[node.src(1).id()];
    if (!value.dims.empty() && value.dims != places.dims) return dimsMismatch(node, value, places);
    value = broadcastTo(value, places.dims);
    const View* views[] = {&places, &value};
    RowWalk walk(views);
    std::vector<Scalar> where(static_cast<size_t>(walk.rowLength())), what(where.size());
    walk.run([&](std::span<const int64_t> starts) {
      readRow(places, starts[0], walk.stride(0), where);
      readRow(value, starts[1], walk.stride(1), what);
      for (size_t j = 0; j < what.size(); ++j)
        if (where[j].asInt() >= 0) content.set(where[j].asInt(), what[j]);
    });
    versionsOf(base).push_back(View::of(std::move(content)));
    storeIndex_[node.id()] = static_cast<uint32_t>(versionsOf(base).size() - 1);
    return {};
  }

  // -- values

  std::vector<View> viewsOf(std::span<const UOp> nodes) const {
    std::vector<View> out;
    for (UOp n : nodes) out.push_back(values_[n.id()]);
    return out;
  }

  Result<View> value(UOp n) {
    if (isElementwise(n.op())) return elementwiseView(n, viewsOf(n.src()));
    if (isMovement(n.op())) return move(n, values_[n.src(0).id()], Scalar::of(n.dtype(), 0));
    switch (n.op()) {
      case Op::Sink:
      case Op::Group: return View();
      case Op::End: SVOD_CHECK(runLoop(n)); return View();
      case Op::Const: return scalarView(n.constant());
      case Op::Var:
      case Op::Range: {
        SVOD_TRY(int64_t v, sizes_.number(n));
        return scalarView(Scalar::ofInt(n.dtype(), v));
      }
      case Op::Buffer: SVOD_CHECK(openBuffer(n)); return versionsOf(n).front();
      case Op::After: return afterValue(n);
      case Op::Store: {
        SVOD_CHECK(store(n));
        return View();
      }
      case Op::Contiguous:
      case Op::Copy: return values_[n.src(0).id()];
      case Op::Iota: {
        SVOD_TRY(int64_t count, sizes_.number(n.src(0)));
        return iotaView(n.dtype(), count);
      }
      case Op::Stack: return stackView(n.dtype(), viewsOf(n.src()));
      case Op::Reduce: return reduceView(n, values_[n.src(0).id()]);
      case Op::Gather: return gatherView(n, values_[n.src(0).id()], viewsOf(n.src().subspan(1)));
      case Op::Scatter:
        return scatterView(n, values_[n.src(0).id()], viewsOf(n.src().subspan(1, n.src(0).rank())),
                           values_[n.src().back().id()]);
      case Op::Custom: return custom(n);
      default: return fail(Diag::Verify, "not a tensor-stage node: " + toLineText(n), "verify the graph first");
    }
  }

  Result<View> custom(UOp n) {
    const CustomArg& arg = n.argAs<CustomArg>();
    auto found = bindings_.functions.find(arg.name);
    if (found == bindings_.functions.end())
      return fail(Diag::MissingInput, "no host function '" + std::string(arg.name) + "'", "bind it");
    std::vector<HostTensor> inputs;
    for (int32_t i = 0; i < arg.inputs; ++i) inputs.push_back(values_[n.src(static_cast<size_t>(i)).id()].toTensor());
    SVOD_TRY(std::vector<int64_t> dims, sizes_.numbers(n.shape()));
    SVOD_TRY(HostTensor out, found->second(inputs, n.dtype(), dims));
    if (out.dtype == n.dtype() && out.dims == dims) return View::of(std::move(out));
    return fail(Diag::DeviceFailure, "host function '" + std::string(arg.name) + "' returned another dtype or shape",
                "return " + toTypeText(n));
  }

  const Model& model_;
  const ModelBindings& bindings_;
  SizeValues sizes_;
  std::vector<View> values_;                             // by node id
  std::vector<uint32_t> usesLeft_;                       // by node id
  std::vector<std::vector<View>> versions_;              // by port
  std::vector<uint32_t> storeIndex_;                     // by node id of a Store: the version it made
  std::map<uint32_t, std::vector<uint32_t>> versionAt_;  // by id of a Range or End, then by port
  std::map<uint32_t, std::vector<UOp>> bodies_;          // by id of an End
};

}  // namespace

Result<std::vector<HostTensor>> interpret(const Model& model, const ModelBindings& bindings) {
  if (!bindings.areArbitrary) SVOD_CHECK(checkEqualSizes(model, bindings.variables));
  TensorInterpreter interpreter(model, bindings);
  SVOD_CHECK(interpreter.run({&model.sink, 1}));
  SVOD_TRY(std::vector<HostTensor> contents, interpreter.ports());
  if (!bindings.areArbitrary) SVOD_CHECK(checkExpectations(model, contents));
  return contents;
}

Result<HostTensor> interpretNode(const Model& model, UOp node, const ModelBindings& bindings) {
  TensorInterpreter interpreter(model, bindings);
  SVOD_CHECK(interpreter.run({&node, 1}));
  return interpreter.result(node);
}

Result<std::vector<HostTensor>> interpretNodes(const Model& model, std::span<const UOp> nodes,
                                               const ModelBindings& bindings) {
  TensorInterpreter interpreter(model, bindings);
  SVOD_CHECK(interpreter.run(nodes));
  std::vector<HostTensor> values;
  for (UOp node : nodes) values.push_back(interpreter.result(node));
  return values;
}

}  // namespace svod
