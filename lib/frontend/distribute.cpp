#include "frontend/distribute.h"

#include <algorithm>
#include <map>

#include "frontend/distributed_parts.h"

namespace svod {

using namespace detail;

namespace {

constexpr char kSeparator = '\n';          // that stands in no name of a device
constexpr int kMostMovement = 64;          // ops that are moved to the devices for one value
constexpr std::string_view kHost = "cpu";  // where joined values are

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

class Distributor {
 public:
  explicit Distributor(Model& model)
      : model_(model), g_(*model.graph), nodes_(toposort(model.sink)), whole_(g_.size()), isFree_(g_.size(), false) {}

  UOp run() {
    if (std::ranges::none_of(nodes_, [](UOp node) { return distributionOf(node).has_value(); })) return model_.sink;
    for (UOp node : nodes_) add(node);
    return whole_[model_.sink.id()];
  }

 private:
  struct Value {
    Layout layout;
    std::vector<UOp> parts;
  };

  void add(UOp node) {
    isFree_[node.id()] = isFree(node);
    std::optional<Value> made;
    if (const std::optional<Distribution> to = distributionOf(node)) {
      const Layout layout = layoutFor(*to, node);
      made = Value{layout, demand(node.src(0), layout)};
      for (size_t i = 0; isFree_[node.src(0).id()] && i < layout.count(); ++i)
        made->parts[i] = copied(made->parts[i], to->devices[i]);
    } else if (std::ranges::any_of(node.src(), [&](UOp s) { return values_.contains(s.id()); })) {
      made = inParts(node);
    }
    if (!made) {
      whole_[node.id()] = rebuilt(node);
      return;
    }
    for (UOp part : made->parts) label(node, part);
    values_.emplace(node.id(), std::move(*made));
  }

  void label(UOp from, UOp to) {
    if (const auto known = model_.labels.find(from.id()); known != model_.labels.end())
      model_.labels.emplace(to.id(), known->second);
  }

  /// Costs nothing where it is needed, since it reads nothing.
  bool isFree(UOp node) const {
    const bool isKnown = node.op() == Op::Const || node.op() == Op::Var || node.op() == Op::Iota ||
                         node.op() == Op::Range || isElementwise(node.op()) || isMovement(node.op());
    return isKnown && std::ranges::all_of(node.src(), [&](UOp s) { return isFree_[s.id()]; });
  }

  Layout layoutFor(const Distribution& to, UOp node) {
    Layout layout{to, {}};
    if (to.axis < 0) return layout;
    const Dim dim(g_, node.shape()[static_cast<size_t>(to.axis)]);
    const auto count = static_cast<int64_t>(to.devices.size());
    for (int64_t i = 0; i <= count; ++i) layout.cuts.push_back(floordiv(dim * i, count));
    return layout;
  }

  // ---- What other ops read

  UOp rebuilt(UOp node) {
    if (node.op() == Op::Copy && values_.contains(node.src(0).id()))
      return joined(values_.at(node.src(0).id()), std::string(node.argAs<NameArg>().name));
    std::vector<UOp> src;
    for (UOp s : node.src()) src.push_back(whole(s));
    if (std::ranges::equal(src, node.src())) return node;
    const UOp made = g_.withSrc(node, src);
    label(node, made);
    return made;
  }

  UOp whole(UOp node) {
    UOp& known = whole_[node.id()];
    if (!known) known = joined(values_.at(node.id()), std::string(kHost));
    return known;
  }

  /// On one device.
  UOp joined(const Value& value, const std::string& device) {
    const std::vector<std::string>& devices = value.layout.to.devices;
    if (!value.layout.isCut()) {
      const auto there = std::ranges::find(devices, device);
      return there == devices.end() ? copied(value.parts[0], device)
                                    : value.parts[static_cast<size_t>(there - devices.begin())];
    }
    std::vector<UOp> parts;
    for (size_t i = 0; i < devices.size(); ++i)
      parts.push_back(devices[i] == device ? value.parts[i] : copied(value.parts[i], device));
    return joinedParts(g_, parts, value.layout.to.axis);
  }

  UOp copied(UOp x, const std::string& device) {
    const DType stored = x.dtype() == DType::Index ? DType::I64 : x.dtype();
    return g_.cast(g_.make(Op::Copy, stored, {g_.cast(x, stored)}, NameArg{device}), x.dtype());
  }

  // ---- Parts of operands

  UOp narrow(UOp x, const Layout& layout, size_t i) {
    return layout.isCut() ? narrowed(g_, x, layout.to.axis, layout.cuts[i], layout.size(i)) : x;
  }

  /// The parts that lie so. What is on no device yet is copied there, but for movement, which its operand is copied
  /// before, and what no memory is read for.
  std::vector<UOp> demand(UOp node, const Layout& layout, int depth = 0) {
    std::vector<UOp> parts;
    if (const auto known = values_.find(node.id()); known != values_.end()) return converted(known->second, layout);
    if (isMovement(node.op()) && !isFree_[node.id()] && depth < kMostMovement)
      if (const std::optional<Layout> below = layoutOfOperand(g_, node, layout)) {
        parts = demand(node.src(0), *below, depth + 1);
        return moved(node, parts, *below, layout);
      }
    for (size_t i = 0; i < layout.count(); ++i) {
      const UOp part = narrow(whole_[node.id()], layout, i);
      parts.push_back(isFree_[node.id()] ? part : copied(part, layout.to.devices[i]));
    }
    return parts;
  }

  std::vector<UOp> converted(const Value& have, const Layout& layout) {
    if (have.layout.isLike(layout)) return have.parts;
    const bool isThere = have.layout.to.devices == layout.to.devices;
    std::vector<UOp> parts;
    for (size_t i = 0; i < layout.count(); ++i) {
      const std::string& device = layout.to.devices[i];
      parts.push_back(narrow(isThere && !have.layout.isCut() ? have.parts[i] : joined(have, device), layout, i));
    }
    return parts;
  }

  // ---- Ops on parts

  std::optional<Value> inParts(UOp node) {
    if (isElementwise(node.op())) return elementwise(node, 0);
    if (node.op() == Op::Gather) return gathered(node);
    const auto known = values_.find(node.src(0).id());
    if (known == values_.end()) return std::nullopt;
    const Value& x = known->second;
    if (node.op() == Op::Reduce) return reduced(node, x);
    if (node.op() == Op::Contiguous) return eachPart(node, x.layout, [&](size_t i) { return std::vector{x.parts[i]}; });
    if (!isMovement(node.op())) return std::nullopt;
    const std::optional<Layout> result = layoutOfResult(g_, node, x.layout);
    if (!result) return std::nullopt;
    return Value{*result, moved(node, x.parts, x.layout, *result)};
  }

  /// Movement of parts; the value that a Pad fills with is whole for each.
  std::vector<UOp> moved(UOp node, std::vector<UOp> parts, const Layout& operand, const Layout& result) {
    std::vector<UOp> src(node.src().begin(), node.src().end());
    if (node.op() == Op::Pad) src[1] = whole(src[1]);
    for (size_t i = 0; i < parts.size(); ++i) {
      src[0] = parts[i];
      parts[i] = movedPart(g_, node, src, operand, result, i);
    }
    return parts;
  }

  template <class Sources>
  Value eachPart(UOp node, const Layout& layout, const Sources& sources) {
    Value value{layout, {}};
    for (size_t i = 0; i < layout.count(); ++i)
      value.parts.push_back(g_.make(node.op(), node.dtype(), sources(i), node.arg()));
    return value;
  }

  /// How the sources from `first` on, which meet element by element, are to lie; nothing where none is distributed.
  std::optional<Layout> common(UOp node, size_t first) const {
    std::optional<Layout> layout;
    for (size_t s = first; s < node.srcCount(); ++s)
      if (const auto value = values_.find(node.src(s).id()); value != values_.end())
        if (!layout || (!layout->isCut() && value->second.layout.isCut())) layout = value->second.layout;
    return layout;
  }

  /// The sources from `first` on in parts, by source and part.
  std::vector<std::vector<UOp>> together(UOp node, size_t first, const Layout& layout) {
    std::vector<std::vector<UOp>> sources;
    for (size_t s = first; s < node.srcCount(); ++s)
      sources.push_back(demand(node.src(s), node.src(s).isScalar() ? layout.whole() : layout));
    return sources;
  }

  std::optional<Value> elementwise(UOp node, size_t first) {
    const Layout layout = *common(node, first);
    const std::vector<std::vector<UOp>> sources = together(node, first, layout);
    return eachPart(node, layout, [&](size_t i) { return column(sources, i); });
  }

  static std::vector<UOp> column(const std::vector<std::vector<UOp>>& sources, size_t i) {
    std::vector<UOp> src;
    for (const std::vector<UOp>& parts : sources) src.push_back(parts[i]);
    return src;
  }

  /// Positions in parts; what they are read from is whole on every device, or cut like them, where an axis of the
  /// result walks along the axis that is cut, as in windows and along the other axes of a table.
  std::optional<Value> gathered(UOp node) {
    if (const auto x = values_.find(node.src(0).id()); x != values_.end() && x->second.layout.isCut())
      if (std::optional<Value> along = gatheredAlong(node, x->second)) return along;
    const std::optional<Layout> layout = common(node, 1);
    if (!layout) return std::nullopt;
    std::vector<std::vector<UOp>> sources = together(node, 1, *layout);
    sources.insert(sources.begin(), demand(node.src(0), layout->whole()));
    return eachPart(node, *layout, [&](size_t i) { return column(sources, i); });
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
    return eachPart(node, layout, [&](size_t i) { return column(sources, i); });
  }

  /// The axis along which positions are 0, 1, 2, .. whatever the others are.
  static std::optional<int> walkedAxis(UOp positions) {
    const UOp once = positions.op() == Op::Expand ? positions.src(0) : positions;
    UOp counts = once;
    while (counts.op() == Op::Reshape) counts = counts.src(0);
    if (counts.op() != Op::Iota) return std::nullopt;
    for (size_t axis = 0; axis < once.rank(); ++axis)
      if (once.shape()[axis] == counts.src(0) && !counts.src(0).isConst(1)) return static_cast<int>(axis);
    return std::nullopt;
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
    Value value = eachPart(node, layout, [&](size_t i) { return std::vector{x.parts[i]}; });
    if (!isAcross) return value;
    // In the order of the parts, on the first device, so that all get the same bits.
    UOp all = value.parts[0];
    for (size_t i = 1; i < value.parts.size(); ++i)
      all = g_.make(arg.op, node.dtype(), {all, copied(value.parts[i], layout.to.devices[0])});
    for (size_t i = 0; i < value.parts.size(); ++i) value.parts[i] = i == 0 ? all : copied(all, layout.to.devices[i]);
    return value;
  }

  Model& model_;
  Graph& g_;
  std::vector<UOp> nodes_;
  std::vector<UOp> whole_;            // by id of a node: what stands for it on one device, where it was made
  std::vector<bool> isFree_;          // by id
  std::map<uint32_t, Value> values_;  // by id
};

}  // namespace

std::string toText(const Distribution& distribution) {
  std::string text = std::to_string(distribution.axis);
  for (const std::string& device : distribution.devices) text += kSeparator + device;
  return text;
}

UOp distributed(Model& model) { return Distributor(model).run(); }

}  // namespace svod
