// Sequences and optionals as lists of the importer: nothing of them is left in the graph. A list of as many tensors as
// a size says is one tensor, with its elements along axis 0.
#include <algorithm>

#include "onnx/ops/common.h"
#include "onnx/ops/steps.h"

namespace svod {

namespace {

using Elements = std::vector<Tensor>;

/// Operand i, a sequence; nothing and an error for everything else.
std::optional<TensorList> sequence(OnnxNode& n, int i) {
  const TensorList* list = n.list(i);
  const bool isSequence = list != nullptr && !list->isNothing;
  if (!n.require(isSequence, "operand " + std::to_string(i) + " is a sequence")) return std::nullopt;
  return *list;
}

Tensor listed(OnnxNode& n, Elements elements) { return n.listOf({std::move(elements), false}); }
Tensor stacked(OnnxNode& n, Tensor stack) { return stack ? n.listOf({{}, false, stack}) : Tensor(); }

/// Operand i, a place in a list of so many, counted from its end where it is negative; -1 and an error outside of it.
int64_t place(OnnxNode& n, int i, size_t count) {
  const std::vector<int64_t> given = n.integers(i);
  if (n.b.failed() || !n.require(given.size() == 1, "the position is one number")) return -1;
  const auto size = static_cast<int64_t>(count);
  const int64_t at = given[0] < 0 ? given[0] + size : given[0];
  return n.require(at >= 0 && at < size, "the position " + std::to_string(given[0]) + " is one of " +
                                             std::to_string(size) + ", counted from 0 or from the end")
             ? at
             : -1;
}

Tensor elementOf(const Tensor& stack, Tensor at) {
  const Tensor count = cast(stack.builder()->value(stack.dim(0)), DType::I64);
  return take(stack, 0, where(lt(at, 0), at + count, at));
}

/// The element in a place that only a run knows: all elements are laid one behind the other.
Tensor elementAtRun(OnnxNode& n, const Elements& all) {
  const bool areAlike = std::ranges::all_of(
      all, [&](const Tensor& t) { return !n.list(t) && t.dims() == all[0].dims() && t.dtype() == all[0].dtype(); });
  if (all.empty() || !areAlike)
    return n.unsupported("a position that only a run can tell, in a sequence of tensors that are not alike",
                         "a position made from constants and shapes, or elements of one shape and type");
  return elementOf(n.call("stack", all, {{"axis", 0}}), cast(reshape(n.arg(1), Dims()), DType::I64));
}

/// What a stack is of an axis that is cut into parts of `size` elements, whose number is a variable.
Tensor stackOfParts(OnnxNode& n, const Tensor& x, int axis, int64_t size, bool keepsAxis) {
  const Dim parts = floordiv(x.dim(axis), size);
  Dims dims = x.dims();
  dims.set(axis, parts * size);
  const Dim given = x.dim(axis);
  n.b.expectEqual(dims[axis], given,
                  "SplitToSequence: parts of " + std::to_string(size) + " of an axis of " + describe(given) +
                      " (the last may be smaller with" + n.sizeOptions(n.b.value(given)) + ")");
  const Tensor whole = n.b.fitted(x, dims);
  dims.set(axis, parts), dims.insert(axis + 1, n.b.dim(size));
  std::vector<int> order = axesFrom(0, dims.rank());
  order.erase(order.begin() + axis), order.insert(order.begin(), axis);
  const Tensor stack = permute(reshape(whole, dims), order);
  return keepsAxis ? stack : squeeze(stack, axis + 1);
}

/// Elements [count, dims ..] one behind the other along one of their axes.
Tensor joined(const Tensor& stack, int axis) {
  std::vector<int> order;
  Dims dims = stack.dims();
  dims.erase(0);
  dims.set(axis, stack.dim(0) * dims[axis]);
  for (int i = 1; i < stack.rank(); ++i) {
    if (i == axis + 1) order.push_back(0);
    order.push_back(i);
  }
  return reshape(permute(stack, order), dims);
}

/// What the parts of an axis are: operand 1, or one element each. Nothing after an error.
std::vector<int64_t> partSizes(OnnxNode& n, Dim size) {
  const bool isList = n.has(1) && n.arg(1).rank() > 0;
  const std::vector<int64_t> given = n.has(1) ? n.integers(1) : std::vector<int64_t>{1};
  if (n.b.failed()) return {};
  if (!n.require(std::ranges::all_of(given, [](int64_t v) { return v >= 0; }), "parts have 0 elements or more"))
    return {};
  if (isList) {
    int64_t total = 0;
    for (const int64_t v : given) total += v;
    const bool fits = !size.isConst() || n.require(size.is(total), "the parts make up the axis");
    if (fits && !size.isConst()) n.b.expectEqual(size, n.b.dim(total), "the axis and the parts of SplitToSequence");
    return fits ? given : std::vector<int64_t>();
  }
  if (!n.require(given.size() == 1 && given[0] > 0, "the size of the parts is one number above 0")) return {};
  std::vector<int64_t> sizes;
  for (int64_t left = size.constant(); left > 0; left -= given[0]) sizes.push_back(std::min(left, given[0]));
  return sizes;
}

}  // namespace

Results onnxSequenceConstruct(OnnxNode& n) { return listed(n, {n.args().begin(), n.args().end()}); }
Results onnxSequenceEmpty(OnnxNode& n) { return listed(n, {}); }

namespace {

/// How many elements of a stack stand before a place, and how many from there on.
struct Parts {
  Dim before, after;
};

/// Operand `place` of an op, or the last place without one. It is counted from the end where it is negative. Every run
/// checks that so many elements are there, `least` of them from the place on. Nothing and an error where only a run
/// knows the place.
std::optional<Parts> partsAt(OnnxNode& n, int place, Dim count, int64_t least) {
  if (!n.has(place)) return Parts{n.natural(count - least), n.b.dim(least)};
  if (n.isKnown(place)) {
    const Dims given = n.sizes(place);
    if (n.b.failed() || !n.require(given.rank() == 1, "the position is one number")) return std::nullopt;
    if (given[0].isConst() && given[0].constant() < 0)
      return Parts{n.natural(count + given[0].constant()), n.b.dim(-given[0].constant())};
    if (given[0].min() >= 0) return Parts{given[0], n.natural(count - given[0] - least) + least};
  }
  n.unsupported("a position that only a run can tell, in a sequence of as many tensors as a size says",
                "a position made from constants and shapes; or --var gives the size a number");
  return std::nullopt;
}

Results insertedIntoStack(OnnxNode& n, const Tensor& stack) {
  const std::optional<Parts> parts = partsAt(n, 2, stack.dim(0), 0);
  if (!parts) return Tensor();
  Elements all{unsqueeze(n.arg(1), 0)};
  if (!parts->before.is(0)) all.insert(all.begin(), narrow(stack, 0, n.b.dim(0), parts->before));
  if (!parts->after.is(0)) all.push_back(narrow(stack, 0, parts->before, parts->after));
  return stacked(n, n.call("concat", all, {{"axis", 0}}));
}

Results erasedFromStack(OnnxNode& n, const Tensor& stack) {
  const std::optional<Parts> parts = partsAt(n, 1, stack.dim(0), 1);
  if (!parts) return Tensor();
  Elements all;
  if (!parts->before.is(0)) all.push_back(narrow(stack, 0, n.b.dim(0), parts->before));
  const Dim rest = parts->after - 1;
  if (!rest.is(0)) all.push_back(narrow(stack, 0, parts->before + 1, rest));
  return stacked(n, all.size() == 1 ? all[0] : n.call("concat", all, {{"axis", 0}}));
}

}  // namespace

Results onnxSequenceInsert(OnnxNode& n) {
  const std::optional<TensorList> all = sequence(n, 0);
  if (!all || !n.require(n.has(1) && !n.list(1), "what is inserted is a tensor")) return Tensor();
  if (all->stack) return insertedIntoStack(n, all->stack);
  Elements more = all->elements;
  int64_t at = static_cast<int64_t>(more.size());
  if (n.has(2)) at = place(n, 2, more.size() + 1);
  // Counted from the end, a place is before the element there.
  if (n.has(2) && at >= 0 && n.integers(2)[0] < 0) --at;
  if (at < 0 && !n.b.failed()) n.require(false, "the position lies in the sequence");
  if (n.b.failed()) return Tensor();
  more.insert(more.begin() + at, n.arg(1));
  return listed(n, std::move(more));
}

Results onnxSequenceErase(OnnxNode& n) {
  const std::optional<TensorList> all = sequence(n, 0);
  if (!all || !n.require(all->stack || !all->elements.empty(), "the sequence is not empty")) return Tensor();
  if (all->stack) return erasedFromStack(n, all->stack);
  Elements rest = all->elements;
  const int64_t at = n.has(1) ? place(n, 1, rest.size()) : static_cast<int64_t>(rest.size()) - 1;
  if (at < 0) return Tensor();
  rest.erase(rest.begin() + at);
  return listed(n, std::move(rest));
}

Results onnxSequenceAt(OnnxNode& n) {
  const std::optional<TensorList> all = sequence(n, 0);
  if (!all) return Tensor();
  if (all->stack) return elementOf(all->stack, cast(reshape(n.arg(1), Dims()), DType::I64));
  if (!n.isKnown(1)) return elementAtRun(n, all->elements);
  const int64_t at = place(n, 1, all->elements.size());
  return at < 0 ? Tensor() : all->elements[static_cast<size_t>(at)];
}

Results onnxSequenceLength(OnnxNode& n) {
  const std::optional<TensorList> all = sequence(n, 0);
  if (!all) return Tensor();
  if (all->stack) return cast(n.b.value(all->stack.dim(0)), DType::I64);
  return number(n, static_cast<int64_t>(all->elements.size()));
}

namespace {

// The steps of a loop of the plan, as many as a size says.
Results mappedOverStack(OnnxNode& n, const Tensor& stack) {
  Elements stacks;
  for (int k = 0; k < n.count(); ++k) {
    const TensorList* other = n.list(k);
    if (other != nullptr &&
        !n.require(other->stack && n.b.agree(other->stack.dim(0), stack.dim(0)), "all sequences have one length"))
      return Tensor();
    stacks.push_back(other != nullptr ? other->stack : Tensor());
  }
  StepLoop steps;
  steps.count = stack.dim(0);
  const auto body = [&](const StepInputs& from) -> std::optional<StepResults> {
    Elements inputs;
    for (int k = 0; k < n.count(); ++k) {
      const Tensor& x = stacks[static_cast<size_t>(k)];
      inputs.push_back(x ? squeeze(narrow(x, 0, from.at, n.b.dim(1)), 0) : n.arg(k));
    }
    StepResults made{Tensor(), {}, n.graph("body", inputs)};
    const bool isGood = !n.b.failed() && made.collected.size() >= static_cast<size_t>(n.resultCount);
    return isGood ? std::optional(std::move(made)) : std::nullopt;
  };
  const std::optional<StepTotals> totals = runSteps(n, steps, {}, body);
  if (!totals) return Tensor();
  Elements lists;
  for (const Tensor& collected : totals->collected) lists.push_back(stacked(n, collected));
  return lists;
}

}  // namespace

// The body for every element; other sequences go along, tensors are the same for all.
Results onnxSequenceMap(OnnxNode& n) {
  const std::optional<TensorList> all = sequence(n, 0);
  if (!all) return Tensor();
  if (all->stack) return mappedOverStack(n, all->stack);
  std::vector<Elements> made(static_cast<size_t>(n.resultCount));
  const Elements& first = all->elements;
  for (size_t i = 0; i < first.size(); ++i) {
    Elements inputs{first[i]};
    for (int k = 1; k < n.count(); ++k) {
      const TensorList* other = n.list(k);
      if (other != nullptr && !n.require(other->elements.size() == first.size(), "all sequences have one length"))
        return Tensor();
      inputs.push_back(other != nullptr ? other->elements[i] : n.arg(k));
    }
    const Elements results = n.graph("body", inputs);
    if (n.b.failed() || results.empty()) return Tensor();
    if (!n.require(results.size() >= made.size(), "the body has as many outputs as the node")) return Tensor();
    for (size_t k = 0; k < made.size(); ++k) made[k].push_back(results[k]);
  }
  Elements lists;
  for (Elements& elements : made) lists.push_back(listed(n, std::move(elements)));
  return lists;
}

Results onnxSplitToSequence(OnnxNode& n) {
  const Tensor x = n.arg(0);
  const int axis = n.axis(n.integer("axis"), x.rank());
  if (axis < 0) return Tensor();
  const bool isList = n.has(1) && n.arg(1).rank() > 0;
  if (!x.dim(axis).isConst() && !isList) {
    const std::vector<int64_t> size = n.has(1) ? n.integers(1) : std::vector<int64_t>{1};
    if (n.b.failed() || !n.require(size.size() == 1 && size[0] > 0, "the size of the parts is one number above 0"))
      return Tensor();
    return stacked(n, stackOfParts(n, x, axis, size[0], n.has(1) || n.flag("keepdims")));
  }
  const std::vector<int64_t> sizes = partSizes(n, x.dim(axis));
  if (n.b.failed()) return Tensor();
  Elements parts;
  int64_t from = 0;
  for (const int64_t size : sizes) {
    Tensor part = narrow(x, axis, n.b.dim(from), n.b.dim(size));
    parts.push_back(n.has(1) || n.flag("keepdims") ? part : squeeze(part, axis));
    from += size;
  }
  return listed(n, std::move(parts));
}

Results onnxConcatFromSequence(OnnxNode& n) {
  const std::optional<TensorList> list = sequence(n, 0);
  if (!list || !n.require(list->stack || !list->elements.empty(), "the sequence is not empty")) return Tensor();
  const Elements& all = list->elements;
  const bool isNew = n.flag("new_axis");
  const int rank = list->stack ? list->stack.rank() - 1 : all[0].rank();
  const int axis = n.axis(n.integer("axis"), rank + (isNew ? 1 : 0));
  if (axis < 0) return Tensor();
  if (list->stack && !isNew) return joined(list->stack, axis);
  if (list->stack) {
    std::vector<int> order = axesFrom(1, list->stack.rank());
    order.insert(order.begin() + axis, 0);
    return permute(list->stack, order);
  }
  if (all.size() == 1 && !isNew) return all[0];
  return n.call(isNew ? "stack" : "concat", all, {{"axis", axis}});
}

Results onnxOptional(OnnxNode& n) { return n.has(0) ? n.arg(0) : n.listOf({{}, true}); }

Results onnxOptionalGetElement(OnnxNode& n) {
  const TensorList* list = n.list(0);
  return n.require(list == nullptr || !list->isNothing, "the optional has a value") ? n.arg(0) : Tensor();
}

Results onnxOptionalHasElement(OnnxNode& n) {
  const TensorList* list = n.list(0);
  return n.b.constant(Scalar::ofInt(DType::Bool, n.has(0) && !(list && list->isNothing) ? 1 : 0));
}

}  // namespace svod
