// Evaluation of tensor graphs: whole tensors, node by node in topological order.
#include <algorithm>

#include "interp/buffer_versions.h"
#include "interp/interp.h"
#include "interp/size_values.h"
#include "interp/tensor_movement.h"
#include "interp/tensor_values.h"
#include "interp/view.h"
#include "ir/text.h"

namespace svod {

namespace {

// The flat position of every element of a buffer.
View positions(const std::vector<int64_t>& dims) {
  HostTensor out = HostTensor::zeros(DType::I64, dims);
  for (int64_t i = 0, n = out.numel(); i < n; ++i) out.set(i, Scalar::ofInt(DType::I64, i));
  return View::of(std::move(out));
}

Result<View> callHost(const ModelBindings& bindings, UOp n, std::span<const HostTensor> inputs,
                      const std::vector<int64_t>& dims) {
  const CustomArg& arg = n.argAs<CustomArg>();
  auto found = bindings.functions.find(arg.name);
  if (found == bindings.functions.end())
    return fail(Diag::MissingInput, "no host function '" + std::string(arg.name) + "'", "bind it");
  SVOD_TRY(HostTensor out, found->second(inputs, n.dtype(), dims));
  if (out.dtype == n.dtype() && out.dims == dims) return View::of(std::move(out));
  return fail(Diag::DeviceFailure, "host function '" + std::string(arg.name) + "' returned another dtype or shape",
              "return " + toTypeText(n));
}

class TensorInterpreter {
 public:
  TensorInterpreter(const Model& model, const ModelBindings& bindings)
      : model_(model), bindings_(bindings), sizes_{bindings, {}}, buffers_(model, bindings) {}

  Status run(std::span<const UOp> roots) {
    values_.resize(model_.graph->size());
    usesLeft_.assign(model_.graph->size(), 0);
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
      SVOD_CHECK(buffers_.open(port.buffer, sizes_));
      out.push_back(buffers_.newest(port.buffer).toTensor());
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
    const std::vector<size_t> before = buffers_.counts();
    for (int64_t i = 0; i < count; ++i) {
      SVOD_TRY(bool goesOn, conditionOf(range));
      if (!goesOn) break;
      sizes_.counters[range.id()] = i;
      buffers_.noteAt(range);
      for (UOp n : body) {
        auto isOpen = [&](UOp r) { return sizes_.counters.contains(r.id()); };
        if (!std::ranges::all_of(n.ranges(), isOpen)) continue;  // of a loop inside
        SVOD_TRY(values_[n.id()], value(n));
      }
      buffers_.forgetSince(before);
    }
    sizes_.counters.erase(range.id());
    buffers_.noteAt(end);
    for (UOp n : body) values_[n.id()] = View();
    return {};
  }

  Result<bool> conditionOf(UOp range) {
    if (range.srcCount() < 2) return true;
    UOp flag = baseOf(range.src(1));
    SVOD_CHECK(buffers_.open(flag, sizes_));
    return buffers_.newest(flag).toTensor().at(0).asInt() != 0;
  }

  // -- storage

  Result<View> afterValue(UOp node) {
    UOp base = baseOf(node);
    if (base.op() != Op::Buffer) return values_[node.src(0).id()];
    SVOD_CHECK(buffers_.open(base, sizes_));
    return moved(node.src(0), buffers_.seenBy(node, base), Scalar::of(base.dtype(), 0));
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
    SVOD_CHECK(buffers_.open(base, sizes_));
    HostTensor content = buffers_.newest(base).toTensor();
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
    buffers_.add(node, View::of(std::move(content)));
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
      case Op::Buffer: SVOD_CHECK(buffers_.open(n, sizes_)); return buffers_.oldest(n);
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
      case Op::Reduce: return reduceView(n, values_[n.src(0).id()], bindings_.areSumsRoundedOnce);
      case Op::Gather: return gatherView(n, values_[n.src(0).id()], viewsOf(n.src().subspan(1)));
      case Op::Scatter:
        return scatterView(n, values_[n.src(0).id()], viewsOf(n.src().subspan(1, n.src(0).rank())),
                           values_[n.src().back().id()], bindings_.areArbitrary);
      case Op::Custom: return custom(n);
      default: return fail(Diag::Verify, "not a tensor-stage node: " + toLineText(n), "verify the graph first");
    }
  }

  Result<View> custom(UOp n) {
    std::vector<HostTensor> inputs;
    for (UOp input : n.src().first(static_cast<size_t>(n.argAs<CustomArg>().inputs)))
      inputs.push_back(values_[input.id()].toTensor());
    SVOD_TRY(std::vector<int64_t> dims, sizes_.numbers(n.shape()));
    return callHost(bindings_, n, inputs, dims);
  }

  const Model& model_;
  const ModelBindings& bindings_;
  SizeValues sizes_;
  BufferVersions buffers_;
  std::vector<View> values_;                     // by node id
  std::vector<uint32_t> usesLeft_;               // by node id
  std::map<uint32_t, std::vector<UOp>> bodies_;  // by id of an End
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
