// Sequences and optionals as lists of the importer: nothing of them is left in the graph.
#include <algorithm>

#include "onnx/ops/common.h"

namespace svod {

namespace {

using Elements = std::vector<Tensor>;

/// Operand i, a sequence; null and an error for everything else.
const Elements* sequence(OnnxNode& n, int i) {
  const TensorList* list = n.list(i);
  const bool isSequence = list != nullptr && !list->isNothing;
  if (!n.require(isSequence, "operand " + std::to_string(i) + " is a sequence")) return nullptr;
  return &list->elements;
}

Tensor listed(OnnxNode& n, Elements elements) { return n.listOf({std::move(elements), false}); }

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

/// The element in a place that only a run knows: all elements are laid one behind the other.
Tensor elementAtRun(OnnxNode& n, const Elements& all) {
  const bool areAlike = std::ranges::all_of(
      all, [&](const Tensor& t) { return !n.list(t) && t.dims() == all[0].dims() && t.dtype() == all[0].dtype(); });
  if (all.empty() || !areAlike)
    return n.unsupported("a position that only a run can tell, in a sequence of tensors that are not alike",
                         "a position made from constants and shapes, or elements of one shape and type");
  const Tensor at = cast(reshape(n.arg(1), Dims()), DType::I64);
  const auto count = static_cast<int64_t>(all.size());
  return take(n.call("stack", all, {{"axis", 0}}), 0, where(lt(at, 0), at + count, at));
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
  if (!size.isConst()) {
    n.unsupported("a sequence of as many tensors as the symbolic size " + describe(size),
                  "fix it with --var or --shape: the length of a sequence is known when the model is compiled");
    return {};
  }
  if (!n.require(given.size() == 1 && given[0] > 0, "the size of the parts is one number above 0")) return {};
  std::vector<int64_t> sizes;
  for (int64_t left = size.constant(); left > 0; left -= given[0]) sizes.push_back(std::min(left, given[0]));
  return sizes;
}

}  // namespace

Results onnxSequenceConstruct(OnnxNode& n) { return listed(n, {n.args().begin(), n.args().end()}); }
Results onnxSequenceEmpty(OnnxNode& n) { return listed(n, {}); }

Results onnxSequenceInsert(OnnxNode& n) {
  const Elements* all = sequence(n, 0);
  if (!all || !n.require(n.has(1) && !n.list(1), "what is inserted is a tensor")) return Tensor();
  Elements more = *all;
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
  const Elements* all = sequence(n, 0);
  if (!all || !n.require(!all->empty(), "the sequence is not empty")) return Tensor();
  Elements rest = *all;
  const int64_t at = n.has(1) ? place(n, 1, rest.size()) : static_cast<int64_t>(rest.size()) - 1;
  if (at < 0) return Tensor();
  rest.erase(rest.begin() + at);
  return listed(n, std::move(rest));
}

Results onnxSequenceAt(OnnxNode& n) {
  const Elements* all = sequence(n, 0);
  if (!all) return Tensor();
  if (!n.isKnown(1)) return elementAtRun(n, *all);
  const int64_t at = place(n, 1, all->size());
  return at < 0 ? Tensor() : (*all)[static_cast<size_t>(at)];
}

Results onnxSequenceLength(OnnxNode& n) {
  const Elements* all = sequence(n, 0);
  return all ? number(n, static_cast<int64_t>(all->size())) : Tensor();
}

// The body for every element; other sequences go along, tensors are the same for all.
Results onnxSequenceMap(OnnxNode& n) {
  const Elements* all = sequence(n, 0);
  if (!all) return Tensor();
  std::vector<Elements> made(static_cast<size_t>(n.resultCount));
  const Elements first = *all;
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
  const Elements* all = sequence(n, 0);
  if (!all || !n.require(!all->empty(), "the sequence is not empty")) return Tensor();
  const bool isNew = n.flag("new_axis");
  const int axis = n.axis(n.integer("axis"), (*all)[0].rank() + (isNew ? 1 : 0));
  if (axis < 0) return Tensor();
  if (all->size() == 1 && !isNew) return (*all)[0];
  return n.call(isNew ? "stack" : "concat", *all, {{"axis", axis}});
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
