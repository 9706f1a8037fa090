#include "frontend/distribute.h"

#include <algorithm>

#include "frontend/distributed_values.h"

namespace svod {

using namespace detail;

namespace {

constexpr char kSeparator = '\n';  // that stands in no name of a device

std::optional<Distribution> distributionOf(UOp node) {
  if (node.op() != Op::Copy) return std::nullopt;
  std::string_view text = node.argAs<NameArg>().name;
  Distribution out;
  size_t at = text.find(kSeparator);
  if (at == text.npos) return std::nullopt;
  out.axis = std::stoi(std::string(text.substr(0, at)));
  while (at != text.npos) {
    text.remove_prefix(at + 1);
    at = text.find(kSeparator);
    out.devices.emplace_back(text.substr(0, at));
  }
  return out;
}

Layout layoutFor(Graph& graph, const Distribution& to, UOp node) {
  if (to.axis < 0) return {to, {}};
  const Dim dim(graph, node.shape()[static_cast<size_t>(to.axis)]);
  return {to, evenCuts(dim, static_cast<int64_t>(to.devices.size()))};
}

/// The axis along which positions are 0, 1, 2, .. whatever the others are.
std::optional<int> walkedAxis(UOp positions) {
  const UOp once = positions.op() == Op::Expand ? positions.src(0) : positions;
  UOp counts = once;
  while (counts.op() == Op::Reshape) counts = counts.src(0);
  if (counts.op() != Op::Iota) return std::nullopt;
  for (size_t axis = 0; axis < once.rank(); ++axis)
    if (once.shape()[axis] == counts.src(0) && !counts.src(0).isConst(1)) return static_cast<int>(axis);
  return std::nullopt;
}

class Distributor {
 public:
  explicit Distributor(Model& model) : model_(model), g_(*model.graph), nodes_(toposort(model.sink)), values_(g_) {}

  UOp run() {
    if (std::ranges::none_of(nodes_, [](UOp node) { return distributionOf(node).has_value(); })) return model_.sink;
    for (UOp node : nodes_) add(node);
    return values_.whole(model_.sink);
  }

 private:
  using Value = DistributedValues::Value;

  void add(UOp node) {
    std::optional<Value> made;
    if (const std::optional<Distribution> to = distributionOf(node)) {
      const Layout layout = layoutFor(g_, *to, node);
      made = Value{layout, values_.demand(node.src(0), layout)};
      for (size_t i = 0; values_.isFree(node.src(0)) && i < layout.count(); ++i)
        made->parts[i] = copiedTo(g_, made->parts[i], to->devices[i]);
    } else if (std::ranges::any_of(node.src(), [&](UOp s) { return values_.find(s) != nullptr; })) {
      made = inParts(node);
    }
    if (!made) {
      values_.add(node, rebuilt(node));
      return;
    }
    for (UOp part : made->parts) label(node, part);
    values_.add(node, std::move(*made));
  }

  void label(UOp from, UOp to) {
    if (const auto known = model_.labels.find(from.id()); known != model_.labels.end())
      model_.labels.emplace(to.id(), known->second);
  }

  UOp rebuilt(UOp node) {
    if (node.op() == Op::Copy)
      if (const Value* value = values_.find(node.src(0)))
        return values_.joined(*value, std::string(node.argAs<NameArg>().name));
    std::vector<UOp> src;
    for (UOp s : node.src()) src.push_back(values_.whole(s));
    if (std::ranges::equal(src, node.src())) return node;
    const UOp made = g_.withSrc(node, src);
    label(node, made);
    return made;
  }

  std::optional<Value> inParts(UOp node) {
    if (isElementwise(node.op())) return elementwise(node, 0);
    if (node.op() == Op::Gather) return gathered(node);
    const Value* x = values_.find(node.src(0));
    if (x == nullptr) return std::nullopt;
    if (node.op() == Op::Reduce) return reduced(node, *x);
    if (node.op() == Op::Contiguous) return eachPart(node, x->layout, {x->parts});
    if (!isMovement(node.op())) return std::nullopt;
    const std::optional<Layout> result = layoutOfResult(g_, node, x->layout);
    if (!result) return std::nullopt;
    return Value{*result, values_.moved(node, x->parts, x->layout, *result)};
  }

  /// The op on parts of its sources, which are by source and part.
  Value eachPart(UOp node, const Layout& layout, const std::vector<std::vector<UOp>>& sources) {
    Value value{layout, {}};
    for (size_t i = 0; i < layout.count(); ++i) {
      std::vector<UOp> src;
      for (const std::vector<UOp>& parts : sources) src.push_back(parts[i]);
      value.parts.push_back(g_.withSrc(node, src));
    }
    return value;
  }

  /// How the sources from `first` on, which meet element by element, are to lie; nothing where none is distributed.
  std::optional<Layout> common(UOp node, size_t first) const {
    std::optional<Layout> layout;
    for (size_t s = first; s < node.srcCount(); ++s)
      if (const Value* value = values_.find(node.src(s)))
        if (!layout || (!layout->isCut() && value->layout.isCut())) layout = value->layout;
    return layout;
  }

  /// The sources from `first` on in parts, by source and part.
  std::vector<std::vector<UOp>> together(UOp node, size_t first, const Layout& layout) {
    std::vector<std::vector<UOp>> sources;
    for (size_t s = first; s < node.srcCount(); ++s)
      sources.push_back(values_.demand(node.src(s), node.src(s).isScalar() ? layout.whole() : layout));
    return sources;
  }

  std::optional<Value> elementwise(UOp node, size_t first) {
    const Layout layout = *common(node, first);
    return eachPart(node, layout, together(node, first, layout));
  }

  /// Positions in parts; what they are read from is whole on every device, or cut like them, where an axis of the
  /// result walks along the axis that is cut, as in windows and along the other axes of a table.
  std::optional<Value> gathered(UOp node) {
    if (const Value* x = values_.find(node.src(0)); x != nullptr && x->layout.isCut())
      if (std::optional<Value> along = gatheredAlong(node, *x)) return along;
    const std::optional<Layout> layout = common(node, 1);
    if (!layout) return std::nullopt;
    std::vector<std::vector<UOp>> sources = together(node, 1, *layout);
    sources.insert(sources.begin(), values_.demand(node.src(0), layout->whole()));
    return eachPart(node, *layout, sources);
  }

  std::optional<Value> gatheredAlong(UOp node, const Value& x) {
    const size_t position = 1 + static_cast<size_t>(x.layout.to.axis);
    const std::optional<int> axis = walkedAxis(node.src(position));
    const UOp extent = node.src(0).shape()[position - 1];
    if (!axis || node.shape()[static_cast<size_t>(*axis)] != extent) return std::nullopt;
    const Layout layout = x.layout.along(*axis, x.layout.cuts);
    std::vector<std::vector<UOp>> sources = together(node, 1, layout);
    for (size_t i = 0; i < layout.count(); ++i) {
      UOp& own = sources[position - 1][i];
      const std::vector<UOp> ones(own.rank(), g_.index(1));
      const UOp begin = g_.expand(g_.reshape(layout.cuts[i].node(), ones), own.shape());
      own = g_.make(Op::Sub, own.dtype(), {own, begin});
    }
    sources.insert(sources.begin(), x.parts);
    return eachPart(node, layout, sources);
  }

  std::optional<Value> reduced(UOp node, const Value& x) {
    const auto& arg = node.argAs<ReduceArg>();
    const int axis = x.layout.to.axis;
    const bool isAcross = x.layout.isCut() && std::ranges::find(arg.axes, axis) != arg.axes.end();
    Layout layout = x.layout;
    if (isAcross)
      layout = x.layout.whole();
    else if (layout.isCut())
      layout.to.axis -= static_cast<int>(std::ranges::count_if(arg.axes, [&](int32_t a) { return a < axis; }));
    Value value = eachPart(node, layout, {x.parts});
    if (!isAcross) return value;
    // In the order of the parts, on the first device, so that all get the same bits.
    UOp all = value.parts[0];
    for (size_t i = 1; i < value.parts.size(); ++i)
      all = g_.make(arg.op, node.dtype(), {all, copiedTo(g_, value.parts[i], layout.to.devices[0])});
    for (size_t i = 0; i < value.parts.size(); ++i)
      value.parts[i] = i == 0 ? all : copiedTo(g_, all, layout.to.devices[i]);
    return value;
  }

  Model& model_;
  Graph& g_;
  std::vector<UOp> nodes_;
  DistributedValues values_;
};

}  // namespace

std::string toText(const Distribution& distribution) {
  std::string text = std::to_string(distribution.axis);
  for (const std::string& device : distribution.devices) text += kSeparator + device;
  return text;
}

UOp distributed(Model& model) { return Distributor(model).run(); }

}  // namespace svod
