#include "schedule/winograd.h"

#include <algorithm>
#include <map>

#include "schedule/tiled_convolution.h"

namespace svod {

namespace {

/// Rewrites the graph bottom-up. What is computed from the results of a convolution element by element is computed in
/// its tiles, as part of their transform, as long as nothing else reads what is in between.
class WinogradRewriter {
 public:
  WinogradRewriter(Model& model, WinogradChoice choose) : model_(model), g_(*model.graph), choose_(choose) {}

  WinogradGraph run(UOp sink) {
    for (UOp n : toposort(sink))
      for (UOp s : n.src())
        if (auto [it, isNew] = onlyUser_.try_emplace(s.id(), n); !isNew && it->second != n) it->second = UOp();
    result_.sink = transform(g_, sink, [&](UOp node, std::span<const UOp> src) { return rewritten(node, src); });
    return std::move(result_);
  }

 private:
  /// Results in tiles that are not stored yet, and how many steps behind their transform that is.
  struct Open {
    UOp tiles;
    int steps;
  };
  static constexpr int kMaxSteps = 24;

  UOp rewritten(UOp node, std::span<const UOp> src) {
    for (UOp s : node.src())
      if (open_.contains(s.id())) return continued(node, src, s);
    UOp same = std::ranges::equal(src, node.src()) ? node : g_.withSrc(node, src);
    std::optional<Convolution> conv = convolutionOf(model_, same);
    const WinogradForm* form = conv ? choose_(*conv, same.src(0)) : nullptr;
    if (form == nullptr) return same;
    TiledConvolution tiled(model_, *conv, *form, same, result_.whole);
    UOp tiles = tiled.results();
    const std::vector<UOp> shape = tiled.tiledShape();
    if (shape.empty() || !continues(node)) return tiled.untiled(stored(tiles));
    return opened(node, {g_.reshape(tiles, shape), 0});
  }

  /// Whether the one user of a node computes its elements from those of the node at the same places of the last two axes.
  bool continues(UOp node) const {
    UOp user = onlyUser_.at(node.id());
    if (!user || !std::ranges::equal(user.ranges(), node.ranges())) return false;
    if (isElementwise(user.op()))
      return std::ranges::none_of(user.src(), [&](UOp s) { return s != node && endsSum(s); });
    return user.op() == Op::Reshape && user.rank() >= 2 && std::ranges::equal(lastTwo(user.shape()), lastTwo(node.shape()));
  }

  /// Whether a sum would become part of the kernel that reads this: it has a better one of its own.
  bool endsSum(UOp value) const {
    std::vector<UOp> open{value};
    std::set<uint32_t> seen;
    while (!open.empty()) {
      UOp n = open.back();
      open.pop_back();
      if (n.op() == Op::Reduce) return true;
      const bool isPart = onlyUser_.at(n.id()) && (isElementwise(n.op()) || isMovement(n.op()));
      if (isPart && seen.insert(n.id()).second) open.insert(open.end(), n.src().begin(), n.src().end());
    }
    return false;
  }

  UOp opened(UOp node, Open open) {
    result_.whole.insert(open.tiles.id());
    open_[node.id()] = open;
    return node;  // its user takes the tiles
  }

  UOp continued(UOp node, std::span<const UOp> src, UOp from) {
    const auto [tiles, steps] = open_.at(from.id());
    const std::vector<UOp> shape = tiledShape(node, tiles);
    UOp result;
    if (node.op() == Op::Reshape) {
      result = g_.reshape(tiles, shape);
    } else {
      std::vector<UOp> operands;
      for (size_t i = 0; i < src.size(); ++i) {
        UOp old = node.src(i), operand = old == from ? tiles : open_.contains(old.id()) ? closed(old) : src[i];
        operands.push_back(old == from || old.rank() == 0 ? operand : g_.reshape(operand, shape));
      }
      result = g_.withSrc(node, operands);
    }
    opened(node, {result, steps + 1});
    return steps < kMaxSteps && continues(node) ? node : closed(node);
  }

  /// The value of a node whose tiles are open, stored.
  UOp closed(UOp node) {
    UOp value = g_.reshape(stored(open_.at(node.id()).tiles), node.shape());
    open_.erase(node.id());
    return value;
  }

  UOp stored(UOp tiles) {
    UOp value = g_.make(Op::Contiguous, tiles.dtype(), {tiles});
    result_.whole.insert(value.id());
    return value;
  }

  /// The shape of `node` with its last two axes as the last four of `tiles`.
  static std::vector<UOp> tiledShape(UOp node, UOp tiles) {
    std::vector<UOp> shape(node.shape().begin(), node.shape().end() - 2);
    shape.insert(shape.end(), tiles.shape().end() - 4, tiles.shape().end());
    return shape;
  }

  static std::span<const UOp> lastTwo(std::span<const UOp> shape) { return shape.last(2); }

  Model& model_;
  Graph& g_;
  WinogradChoice choose_;
  std::map<uint32_t, UOp> onlyUser_;  // by id of the graph as it was; null for several
  std::map<uint32_t, Open> open_;     // likewise
  WinogradGraph result_;
};

}  // namespace

WinogradGraph useWinograd(Model& model, UOp sink, WinogradChoice choose) {
  return WinogradRewriter(model, choose).run(sink);
}

}  // namespace svod
