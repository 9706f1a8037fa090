// Evaluation of tensor graphs: whole tensors, node by node in topological order.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "interp/interp.h"
#include "interp/tensor_movement.h"
#include "interp/view.h"
#include "ir/evaluate.h"
#include "ir/text.h"

namespace svod {

namespace {

constexpr size_t kChunk = 1024;  // elements of a row evaluated at a time

// The buffer a view names elements of.
UOp baseOf(UOp target) {
  auto passes = [](Op op) { return op == Op::After || (isMovement(op) && op != Op::Pad && op != Op::Expand); };
  while (passes(target.op())) target = target.src(0);
  return target;
}

class TensorInterpreter {
 public:
  TensorInterpreter(const Model& model, const ModelBindings& bindings) : model_(model), bindings_(bindings) {}

  Status run(UOp root) {
    values_.resize(model_.graph->size());
    usesLeft_.assign(model_.graph->size(), 0);
    versions_.resize(model_.ports.size());
    storeIndex_.assign(model_.graph->size(), 0);
    versionAt_.clear(), counters_.clear(), bodies_.clear();
    std::vector<UOp> order = toposort(root);
    std::erase_if(order, [](UOp n) { return !n.ranges().empty(); });  // bodies belong to their End
    for (UOp n : order)
      for (UOp s : usedBy(n)) ++usesLeft_[s.id()];
    ++usesLeft_[root.id()];
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
    SVOD_TRY(int64_t count, number(range.src(0)));
    const std::vector<UOp>& body = bodyOf(end);
    std::vector<size_t> kept;  // versions from before the loop; of its own only the newest is
    for (const std::vector<View>& versions : versions_) kept.push_back(std::max<size_t>(1, versions.size()));
    for (int64_t i = 0; i < count; ++i) {
      SVOD_TRY(bool goesOn, conditionOf(range));
      if (!goesOn) break;
      counters_[range.id()] = i;
      noteVersions(range);
      for (UOp n : body) {
        auto isOpen = [&](UOp r) { return counters_.contains(r.id()); };
        if (!std::ranges::all_of(n.ranges(), isOpen)) continue;  // of a loop inside
        SVOD_TRY(values_[n.id()], value(n));
      }
      for (size_t slot = 0; slot < versions_.size(); ++slot)
        if (versions_[slot].size() > kept[slot] + 1)
          versions_[slot].erase(versions_[slot].begin() + static_cast<std::ptrdiff_t>(kept[slot]), versions_[slot].end() - 1);
    }
    counters_.erase(range.id());
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

  // -- numbers

  Result<int64_t> number(UOp dim) const {
    UOp unbound;
    std::optional<Scalar> value = evaluate(dim, [&](UOp leaf) -> std::optional<Scalar> {
      if (leaf.op() == Op::Var) {
        auto found = bindings_.variables.find(leaf.argAs<VarArg>().name);
        if (found != bindings_.variables.end()) return Scalar::ofInt(leaf.dtype(), found->second);
      }
      if (leaf.op() == Op::Range)
        if (auto found = counters_.find(leaf.id()); found != counters_.end())
          return Scalar::ofInt(leaf.dtype(), found->second);
      unbound = leaf;
      return std::nullopt;
    });
    if (value) return value->asInt();
    return fail(Diag::VariableBounds, "no value for " + toExpr(unbound), "bind every variable of the model");
  }

  Result<std::vector<int64_t>> numbers(std::span<const UOp> dims) const {
    std::vector<int64_t> out;
    for (UOp d : dims) {
      SVOD_TRY(int64_t v, number(d));
      out.push_back(v);
    }
    return out;
  }

  // -- storage: versions_[slot][k] is the buffer after k stores

  std::vector<View>& versionsOf(UOp buffer) { return versions_[buffer.argAs<SlotArg>().slot]; }

  Status openBuffer(UOp buffer) {
    if (buffer.argAs<SlotArg>().slot >= model_.ports.size())
      return fail(Diag::UnknownPort, "no port for " + toLineText(buffer), "give every buffer a port");
    std::vector<View>& versions = versionsOf(buffer);
    if (!versions.empty()) return {};
    SVOD_TRY(HostTensor content, initialContent(buffer));
    versions.push_back(View::of(std::move(content)));
    return {};
  }

  Result<HostTensor> initialContent(UOp buffer) const {
    size_t slot = buffer.argAs<SlotArg>().slot;
    const ModelPort& port = model_.ports[slot];
    SVOD_TRY(std::vector<int64_t> dims, numbers(buffer.shape()));
    if (std::ranges::any_of(dims, [](int64_t d) { return d < 0; }))
      return fail(Diag::VariableBounds, fmt::format("'{}' has a negative dim: [{}]", port.name, fmt::join(dims, ", ")),
                  "bind variables inside their bounds");
    if (slot < bindings_.ports.size() && bindings_.ports[slot].dtype != DType::Void) {
      const HostTensor& bound = bindings_.ports[slot];
      if (bound.dtype == buffer.dtype() && bound.dims == dims) return bound;
      return fail(Diag::InputMismatch,
                  fmt::format("'{}' is {}[{}], bound to {}[{}]", port.name, toText(buffer.dtype()), fmt::join(dims, ","),
                              toText(bound.dtype), fmt::join(bound.dims, ",")),
                  "bind a tensor of the declared dtype and shape");
    }
    const bool isShared = port.kind != PortKind::State;
    const auto bytes = static_cast<size_t>(isShared ? memoryBytes(buffer.dtype(), numelOf(dims))
                                                    : numelOf(dims) * byteSize(buffer.dtype()));
    bool needsData = port.kind == PortKind::Weight && port.data.data == nullptr && bytes > 0;
    if (port.kind == PortKind::Input || needsData)
      return fail(Diag::MissingInput, "'" + port.name + "' is not bound", "bind every input");
    if (!port.data.data) return HostTensor::zeros(buffer.dtype(), dims);
    if (port.data.bytes != bytes)
      return fail(Diag::BadWeights, fmt::format("'{}' has {} bytes of data, needs {}", port.name, port.data.bytes, bytes),
                  "check the declared shape");
    const std::span<const std::byte> data(port.data.data, bytes);
    if (isShared) return HostTensor::fromMemory(buffer.dtype(), dims, data);
    return HostTensor{buffer.dtype(), dims, {data.begin(), data.end()}};
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
      if (n.op() == Op::Store && baseOf(n.src(0)) == base) version = std::max(version, storeIndex_[n.id()]);
      if (n.op() == Op::End || n.op() == Op::Range) {
        version = std::max(version, versionAt_.at(n.id())[slot]);
      } else {
        pending.insert(pending.end(), n.src().begin(), n.src().end());
      }
    }
    return moved(node.src(0), versionsOf(base)[version]);
  }

  // The movement ops between the base buffer and `view`, applied to `content` of that buffer.
  Result<View> moved(UOp view, const View& content) {
    std::vector<UOp> ops;  // outermost first
    for (; view.op() != Op::Buffer; view = view.src(0))
      if (view.op() != Op::After) ops.push_back(view);
    View result = content;
    for (size_t i = ops.size(); i-- > 0;) {
      SVOD_TRY(result, move(ops[i], result));
    }
    return result;
  }

  Result<View> move(UOp node, const View& x) {
    size_t skip = node.op() == Op::Pad ? 2 : 1;  // of Pad the fill is no number
    Scalar fill = node.op() == Op::Pad ? scalarOf(node.src(1)) : Scalar();
    SVOD_TRY(std::vector<int64_t> values, numbers(node.src().subspan(skip)));
    return moveView(node, x, values, fill);
  }

  Status store(UOp node) {
    UOp base = baseOf(node.src(0));
    if (base.op() != Op::Buffer)
      return fail(Diag::Verify, "store to " + toLineText(node.src(0)), "store to a buffer or a view of one");
    SVOD_CHECK(openBuffer(base));
    HostTensor content = versionsOf(base).back().toTensor();
    SVOD_TRY(View places, moved(node.src(0), positions(content.dims)));
    View value = values_[node.src(1).id()];
    if (!value.dims.empty() && value.dims != places.dims) return mismatch(node, value, places);
    value = broadcastTo(value, places.dims);
    const View* views[] = {&places, &value};
    RowWalk walk(views);
    std::vector<Scalar> where(static_cast<size_t>(walk.rowLength())), what(where.size());
    walk.run([&](std::span<const int64_t> starts) {
      readRow(places, starts[0], walk.stride(0), where);
      readRow(value, starts[1], walk.stride(1), what);
      for (size_t j = 0; j < what.size(); ++j) content.set(where[j].asInt(), what[j]);
    });
    versionsOf(base).push_back(View::of(std::move(content)));
    storeIndex_[node.id()] = static_cast<uint32_t>(versionsOf(base).size() - 1);
    return {};
  }

  // The flat position of every element of a buffer.
  static View positions(const std::vector<int64_t>& dims) {
    HostTensor out = HostTensor::zeros(DType::I64, dims);
    for (int64_t i = 0, n = out.numel(); i < n; ++i) out.set(i, Scalar::ofInt(DType::I64, i));
    return View::of(std::move(out));
  }

  static tl::unexpected<Error> mismatch(UOp node, const View& a, const View& b) {
    return fail(Diag::ShapeMismatch,
                fmt::format("dims [{}] and [{}] meet in {}", fmt::join(a.dims, ", "), fmt::join(b.dims, ", "),
                            toLineText(node)),
                "check the values of the variables");
  }

  // -- values

  Scalar scalarOf(UOp u) const {
    Scalar out;
    const View& v = values_[u.id()];
    readRow(v, v.offset, 1, std::span(&out, 1));
    return out;
  }

  static View scalarView(const Scalar& value) {
    HostTensor t = HostTensor::zeros(value.dtype(), {});
    t.set(0, value);
    return View::of(std::move(t));
  }

  Result<View> value(UOp n) {
    if (isElementwise(n.op())) return elementwise(n);
    if (isMovement(n.op())) return move(n, values_[n.src(0).id()]);
    switch (n.op()) {
      case Op::Sink:
      case Op::Group: return View();
      case Op::End:
        SVOD_CHECK(runLoop(n));
        return View();
      case Op::Const: return scalarView(n.constant());
      case Op::Var:
      case Op::Range: {
        SVOD_TRY(int64_t v, number(n));
        return scalarView(Scalar::ofInt(n.dtype(), v));
      }
      case Op::Buffer:
        SVOD_CHECK(openBuffer(n));
        return versionsOf(n).front();
      case Op::After: return afterValue(n);
      case Op::Store: {
        SVOD_CHECK(store(n));
        return View();
      }
      case Op::Contiguous:
      case Op::Copy: return values_[n.src(0).id()];
      case Op::Iota: return iota(n);
      case Op::Stack: return stack(n);
      case Op::Reduce: return reduce(n);
      case Op::Gather: return gather(n);
      case Op::Scatter: return scatter(n);
      case Op::Custom: return custom(n);
      default: return fail(Diag::Verify, "not a tensor-stage node: " + toLineText(n), "verify the graph first");
    }
  }

  Result<View> elementwise(UOp n) {
    std::vector<View> src;
    const View* shaped = nullptr;
    for (UOp s : n.src()) src.push_back(values_[s.id()]);
    for (const View& v : src)
      if (!v.dims.empty() && shaped == nullptr) shaped = &v;
    std::vector<int64_t> dims = shaped != nullptr ? shaped->dims : std::vector<int64_t>();
    bool dense = true;
    for (View& v : src) {
      if (!v.dims.empty() && v.dims != dims) return mismatch(n, v, *shaped);
      dense &= v.dims.empty() || v.isDense();
      v = broadcastTo(v, dims);
    }
    HostTensor out = HostTensor::zeros(n.dtype(), dims);
    if (dense) flatten(src, out.numel());
    evalElements(n, src, out);
    return View::of(std::move(out));
  }

  // Dense views and broadcast scalars as one long row.
  static void flatten(std::vector<View>& src, int64_t count) {
    for (View& v : src) {
      bool broadcast = v.data->size() == static_cast<size_t>(byteSize(v.dtype));
      v.dims = {count};
      v.strides = {broadcast ? 0 : 1};
    }
  }

  static void evalElements(UOp n, const std::vector<View>& src, HostTensor& out) {
    std::vector<const View*> views;
    for (const View& v : src) views.push_back(&v);
    RowWalk walk(views);
    std::vector<Scalar> rows(src.size() * kChunk);
    int64_t next = 0;
    walk.run([&](std::span<const int64_t> starts) {
      for (int64_t at = 0; at < walk.rowLength(); at += kChunk) {
        auto count = static_cast<size_t>(std::min<int64_t>(kChunk, walk.rowLength() - at));
        for (size_t k = 0; k < src.size(); ++k)
          readRow(src[k], starts[k] + at * walk.stride(k), walk.stride(k), std::span(&rows[k * kChunk], count));
        for (size_t j = 0; j < count; ++j) {
          Scalar operands[3];
          for (size_t k = 0; k < src.size(); ++k) operands[k] = rows[k * kChunk + j];
          out.set(next++, evalScalar(n.op(), n.dtype(), std::span(operands, src.size())));
        }
      }
    });
  }

  Result<View> iota(UOp n) {
    SVOD_TRY(int64_t count, number(n.src(0)));
    HostTensor out = HostTensor::zeros(n.dtype(), {std::max<int64_t>(count, 0)});
    for (int64_t i = 0; i < count; ++i) out.set(i, Scalar::ofInt(n.dtype(), i));
    return View::of(std::move(out));
  }

  Result<View> stack(UOp n) {
    HostTensor out = HostTensor::zeros(n.dtype(), {static_cast<int64_t>(n.srcCount())});
    for (size_t i = 0; i < n.srcCount(); ++i) out.set(static_cast<int64_t>(i), scalarOf(n.src(i)));
    return View::of(std::move(out));
  }

  // Every output element starts at the identity and takes its inputs in row-major order, rounding each time.
  Result<View> reduce(UOp n) {
    const View& x = values_[n.src(0).id()];
    const ReduceArg& arg = n.argAs<ReduceArg>();
    std::vector<int64_t> dims;
    std::vector<bool> folded(x.dims.size());
    for (int32_t a : arg.axes) folded[a] = true;
    for (size_t i = 0; i < folded.size(); ++i)
      if (!folded[i]) dims.push_back(x.dims[i]);
    // Where each input element accumulates: strides of the output, 0 along folded axes.
    View places{x.dtype, x.dims, std::vector<int64_t>(folded.size()), 0, nullptr};
    std::vector<int64_t> outStrides = rowMajorStrides(dims);
    for (size_t i = 0, o = 0; i < folded.size(); ++i)
      if (!folded[i]) places.strides[i] = outStrides[o++];
    std::vector<Scalar> totals(static_cast<size_t>(numelOf(dims)), identity(arg.op, n.dtype()));
    const View* views[] = {&x, &places};
    RowWalk walk(views);
    std::vector<Scalar> row(static_cast<size_t>(walk.rowLength()));
    walk.run([&](std::span<const int64_t> starts) {
      readRow(x, starts[0], walk.stride(0), row);
      int64_t place = starts[1];
      for (const Scalar& element : row) {
        Scalar operands[] = {totals[static_cast<size_t>(place)], element};
        totals[static_cast<size_t>(place)] = evalScalar(arg.op, n.dtype(), operands);
        place += walk.stride(1);
      }
    });
    HostTensor out = HostTensor::zeros(n.dtype(), dims);
    for (size_t i = 0; i < totals.size(); ++i) out.set(static_cast<int64_t>(i), totals[i]);
    return View::of(std::move(out));
  }

  // Flat positions in `base` that the index tensors name, in row-major order; -1 outside.
  Result<HostTensor> places(UOp n, const View& base, std::span<const UOp> indices) {
    std::vector<int64_t> dims;
    for (UOp u : indices)
      if (!u.isScalar()) dims = values_[u.id()].dims;
    HostTensor out = HostTensor::zeros(DType::I64, dims);
    std::vector<int64_t> strides = rowMajorStrides(base.dims);
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      const View& view = values_[indices[axis].id()];
      if (!view.dims.empty() && view.dims != dims) return mismatch(n, view, View::of(out));
      HostTensor index = broadcastTo(view, dims).toTensor();
      for (int64_t i = 0, count = out.numel(); i < count; ++i) {
        int64_t at = index.at(i).asInt(), sum = out.at(i).asInt();  // a huge u64 is negative here, and outside as well
        bool outside = sum < 0 || at < 0 || at >= base.dims[axis];
        out.set(i, Scalar::ofInt(DType::I64, outside ? -1 : sum + at * strides[axis]));
      }
    }
    return out;
  }

  Result<View> gather(UOp n) {
    HostTensor base = values_[n.src(0).id()].toTensor();
    SVOD_TRY(HostTensor from, places(n, values_[n.src(0).id()], n.src().subspan(1)));
    HostTensor out = HostTensor::zeros(n.dtype(), from.dims);
    for (int64_t i = 0, count = out.numel(); i < count; ++i)
      if (int64_t at = from.at(i).asInt(); at >= 0) out.set(i, base.at(at));
    return View::of(std::move(out));
  }

  Result<View> scatter(UOp n) {
    HostTensor out = values_[n.src(0).id()].toTensor();
    size_t rank = n.src(0).rank();
    SVOD_TRY(HostTensor to, places(n, values_[n.src(0).id()], n.src().subspan(1, rank)));
    const View& updateView = values_[n.src().back().id()];
    if (!updateView.dims.empty() && updateView.dims != to.dims && !to.dims.empty())
      return mismatch(n, updateView, View::of(to));
    Op op = n.argAs<ReduceArg>().op;
    std::vector<int64_t> dims = to.dims.empty() ? updateView.dims : to.dims;
    HostTensor updates = broadcastTo(updateView, dims).toTensor();
    for (int64_t i = 0, count = updates.numel(); i < count; ++i) {
      int64_t at = to.at(to.dims.empty() ? 0 : i).asInt();
      if (at < 0) continue;
      Scalar operands[] = {out.at(at), updates.at(i)};
      out.set(at, op == Op::Store ? operands[1] : evalScalar(op, n.dtype(), operands));
    }
    return View::of(std::move(out));
  }

  Result<View> custom(UOp n) {
    const CustomArg& arg = n.argAs<CustomArg>();
    auto found = bindings_.functions.find(arg.name);
    if (found == bindings_.functions.end())
      return fail(Diag::MissingInput, "no host function '" + std::string(arg.name) + "'", "bind it");
    std::vector<HostTensor> inputs;
    for (int32_t i = 0; i < arg.inputs; ++i) inputs.push_back(values_[n.src(static_cast<size_t>(i)).id()].toTensor());
    SVOD_TRY(std::vector<int64_t> dims, numbers(n.shape()));
    SVOD_TRY(HostTensor out, found->second(inputs, n.dtype(), dims));
    if (out.dtype == n.dtype() && out.dims == dims) return View::of(std::move(out));
    return fail(Diag::DeviceFailure, "host function '" + std::string(arg.name) + "' returned another dtype or shape",
                "return " + toTypeText(n));
  }

  const Model& model_;
  const ModelBindings& bindings_;
  std::vector<View> values_;              // by node id
  std::vector<uint32_t> usesLeft_;        // by node id
  std::vector<std::vector<View>> versions_;  // by port
  std::vector<uint32_t> storeIndex_;      // by node id of a Store: the version it made
  std::map<uint32_t, std::vector<uint32_t>> versionAt_;  // by id of a Range or End, then by port
  std::map<uint32_t, int64_t> counters_;             // by id of the ranges of loops that are running
  std::map<uint32_t, std::vector<UOp>> bodies_;      // by id of an End
};

}  // namespace

Result<std::vector<HostTensor>> interpret(const Model& model, const ModelBindings& bindings) {
  TensorInterpreter interpreter(model, bindings);
  SVOD_CHECK(interpreter.run(model.sink));
  return interpreter.ports();
}

Result<HostTensor> interpretNode(const Model& model, UOp node, const ModelBindings& bindings) {
  TensorInterpreter interpreter(model, bindings);
  SVOD_CHECK(interpreter.run(node));
  return interpreter.result(node);
}

}  // namespace svod
