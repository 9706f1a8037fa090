#include "tensor/winograd.h"

#include <algorithm>
#include <map>
#include <optional>

#include "tensor/node_names.h"
#include "tensor/nodes.h"
#include "tensor/tile_loops.h"

namespace svod {

namespace {

/// Rewrites the graph bottom-up. What is computed from the results of a convolution element by element is computed in
/// its tiles, as part of their transform, as long as nothing else reads what is in between.
class WinogradRewriter {
 public:
  WinogradRewriter(Model& model, UOp sink, const WinogradChoice& choose)
      : model_(model), g_(*model.graph), choose_(choose), sink_(sink), nodes_(toposort(sink)), loops_(model, nodes_),
        readers_(nodes_) {}

  WinogradGraph run() {
    UOp sink = transform(g_, sink_, [&](UOp node, std::span<const UOp> src) { return rewritten(node, src); });
    result_.sink = loops_.withLoops(sink);
    return std::move(result_);
  }

 private:
  /// Results in tiles that are not stored yet, of all rows of tiles or of a block of them, and how many steps behind
  /// their transform that is.
  struct Open {
    UOp tiles;
    std::optional<TileBlock> block;
    size_t rowAxis;
    UOp rows;  // all
    std::string label;
    int steps = 0;
  };
  static constexpr int kMaxSteps = 24;

  UOp rewritten(UOp node, std::span<const UOp> src) {
    for (UOp s : node.src())
      if (open_.contains(s.id())) return continued(node, src, s);
    UOp same = std::ranges::equal(src, node.src()) ? node : g_.withSrc(node, src);
    std::optional<Convolution> conv = convolutionOf(model_, same);
    const WinogradPlan plan = conv ? choose_(*conv, same.src(0), node) : WinogradPlan();
    if (plan.form == nullptr) return same;
    TiledConvolution tiled(model_, *conv, *plan.form, same, result_.uncut);
    Open open{{}, {}, tiled.rowAxis(), tiled.rows(), labelOf(node, model_.ports[conv->weights].name)};
    if (tiled.rows().isConst() && plan.rows < tiled.rows().constInt() && same.ranges().empty())
      open.block = loops_.open(tiled.rows().constInt(), plan.rows);
    open.tiles = tiled.results(open.block ? &*open.block : nullptr);
    std::vector<UOp> shape = tiled.tiledShape();
    if (shape.empty() || !continues(node)) return tiled.untiled(stored(open));
    open.rowAxis = shape.size() - 4;
    shape[open.rowAxis] = open.tiles.shape()[tiled.rowAxis()];
    open.tiles = g_.reshape(open.tiles, shape);
    return opened(node, open);
  }

  std::string labelOf(UOp node, const std::string& otherwise) const {
    auto label = model_.labels.find(node.id());
    return label == model_.labels.end() ? otherwise : label->second;
  }

  /// Whether the one user of a node computes its elements from those of the node at the same places of the last two
  /// axes.
  bool continues(UOp node) const {
    UOp user = readers_.only(node);
    if (!user || !std::ranges::equal(user.ranges(), node.ranges())) return false;
    if (isElementwise(user.op()))
      return std::ranges::none_of(user.src(), [&](UOp s) { return s != node && endsSum(s); });
    return user.op() == Op::Reshape && user.rank() >= 2 &&
           std::ranges::equal(lastTwo(user.shape()), lastTwo(node.shape()));
  }

  /// Whether a sum would become part of the kernel that reads this: it has a better one of its own.
  bool endsSum(UOp value) const {
    std::vector<UOp> open{value};
    std::set<uint32_t> seen;
    while (!open.empty()) {
      UOp n = open.back();
      open.pop_back();
      if (n.op() == Op::Reduce) return true;
      const bool isPart = readers_.only(n) && (isElementwise(n.op()) || isMovement(n.op()));
      if (isPart && seen.insert(n.id()).second) open.insert(open.end(), n.src().begin(), n.src().end());
    }
    return false;
  }

  UOp opened(UOp node, Open open) {
    result_.uncut.insert(open.tiles.id());
    open.label = labelOf(node, open.label);
    open_.insert_or_assign(node.id(), std::move(open));
    return node;  // its user takes the tiles
  }

  UOp continued(UOp node, std::span<const UOp> src, UOp from) {
    Open open = open_.at(from.id());
    std::vector<UOp> shape(node.shape().begin(), node.shape().end() - 2);
    shape.insert(shape.end(), open.tiles.shape().end() - 4, open.tiles.shape().end());
    open.rowAxis = shape.size() - 4;
    if (node.op() == Op::Reshape) {
      open.tiles = g_.reshape(open.tiles, shape);
    } else {
      std::vector<UOp> operands;
      for (size_t i = 0; i < src.size(); ++i) {
        UOp old = node.src(i), operand = old == from ? open.tiles : open_.contains(old.id()) ? closed(old) : src[i];
        operands.push_back(old == from || old.rank() == 0 ? operand : inTiles(operand, open, shape));
      }
      open.tiles = g_.withSrc(node, operands);
    }
    const bool isLast = ++open.steps > kMaxSteps || !continues(node);
    opened(node, std::move(open));
    return isLast ? closed(node) : node;
  }

  /// A value of the shape of results, in tiles of this shape.
  UOp inTiles(UOp value, const Open& open, std::vector<UOp> shape) {
    const std::vector<UOp> sizes = shape;
    shape[open.rowAxis] = open.rows;
    UOp tiles = g_.reshape(value, shape);
    if (!open.block) return tiles;
    std::vector<UOp> offsets(shape.size(), g_.index(0));
    offsets[open.rowAxis] = open.block->first;
    return g_.shrink(tiles, offsets, sizes);
  }

  /// The value of a node whose tiles are open, stored.
  UOp closed(UOp node) {
    UOp value = g_.reshape(stored(open_.at(node.id())), node.shape());
    open_.erase(node.id());
    return value;
  }

  UOp stored(const Open& open) {
    if (open.block) return loops_.close(*open.block, open.tiles, open.rowAxis, open.rows, open.label);
    UOp value = g_.make(Op::Contiguous, open.tiles.dtype(), {open.tiles});
    result_.uncut.insert(value.id());
    return value;
  }

  static std::span<const UOp> lastTwo(std::span<const UOp> shape) { return shape.last(2); }

  Model& model_;
  Graph& g_;
  const WinogradChoice& choose_;
  UOp sink_;
  std::vector<UOp> nodes_;
  TileLoops loops_;
  Readers readers_;                // of the graph as it was
  std::map<uint32_t, Open> open_;  // by id of that graph
  WinogradGraph result_;
};

}  // namespace

WinogradGraph useWinograd(Model& model, UOp sink, const WinogradChoice& choose) {
  return WinogradRewriter(model, sink, choose).run();
}

WinogradGraph useWinograd(Model& model, UOp sink, Numerics numerics, const GraphMachine& machine,
                          Decisions& decisions) {
  NodeDecisions decide(model, toposort(sink), decisions);
  return useWinograd(model, sink, [&](const Convolution& conv, UOp product, UOp sum) {
    const std::vector<PricedPlan> plans = pricedPlans(conv, product, numerics, machine);
    if (plans.size() == 1) return plans[0].plan;
    std::vector<Alternative> alternatives;
    for (const PricedPlan& p : plans) alternatives.push_back({p.name, p.cost});
    const size_t usual = cheapestPlan(plans);
    const char* reason = usual == 0 ? "the plain sum is hardly more work" : "the least work";
    return plans[decide.decide("conv", sum, std::move(alternatives), usual, reason)].plan;
  });
}

}  // namespace svod
