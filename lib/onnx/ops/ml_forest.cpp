#include "onnx/ops/ml_forest.h"

#include <algorithm>
#include <limits>
#include <string>

#include "onnx/ops/common.h"
#include "onnx/ops/ml_scores.h"
#include "onnx/ops/steps.h"

namespace svod {

namespace {

constexpr int64_t kMostTableElements = int64_t{1} << 28;

// Steps from a root to the leaf that is farthest from it; -1 where a node can be reached from itself.
int64_t depthOf(const Forest& forest) {
  constexpr int64_t kNew = -1, kOpen = -2;
  std::vector<int64_t> depth(forest.nodes.size(), kNew), path;
  int64_t most = 0;
  auto depthAt = [&](int64_t at) { return at < 0 ? 0 : depth[static_cast<size_t>(at)]; };
  for (int64_t root : forest.roots) {
    if (root >= 0 && depthAt(root) == kNew) path.push_back(root);
    while (!path.empty()) {
      const TreeNode& node = forest.nodes[static_cast<size_t>(path.back())];
      int64_t& mine = depth[static_cast<size_t>(path.back())];
      const bool isFirst = mine == kNew;
      mine = kOpen;
      for (int64_t child : {node.yes, node.no}) {
        if (isFirst && depthAt(child) == kOpen) return -1;
        if (depthAt(child) == kNew && isFirst) path.push_back(child);
      }
      if (!isFirst || (depthAt(node.yes) >= 0 && depthAt(node.no) >= 0)) {
        mine = 1 + std::max(depthAt(node.yes), depthAt(node.no));
        path.pop_back();
      }
    }
    most = std::max(most, depthAt(root));
  }
  return most;
}

/// The forest as vectors: leaves follow the nodes and lead to themselves.
struct Tables {
  Tensor feature, value, yes, no, mode, takesNan;  // mode and takesNan null where they are the same for all nodes
};

template <class Get>
Tensor table(OnnxNode& n, const Forest& forest, DType dtype, Get get) {
  const auto nodes = std::ssize(forest.nodes);
  HostTensor all = HostTensor::zeros(dtype, {nodes + forest.leafCount});
  for (int64_t i = 0; i < nodes; ++i) all.set(i, get(forest.nodes[static_cast<size_t>(i)]));
  return n.constantTensor(all);
}

Tensor childTable(OnnxNode& n, const Forest& forest, int64_t TreeNode::* child) {
  const auto nodes = std::ssize(forest.nodes);
  HostTensor all = HostTensor::zeros(DType::I32, {nodes + forest.leafCount});
  for (int64_t i = 0; i < nodes + forest.leafCount; ++i) {
    const int64_t to = i < nodes ? forest.nodes[static_cast<size_t>(i)].*child : i;
    all.set(i, Scalar::ofInt(DType::I32, to < 0 ? nodes - 1 - to : to));
  }
  return n.constantTensor(all);
}

Tables tablesOf(OnnxNode& n, const Forest& forest, DType dtype) {
  Tables t;
  auto integer = [](DType d, int64_t v) { return Scalar::ofInt(d, v); };
  t.feature = table(n, forest, DType::I32, [&](const TreeNode& node) { return integer(DType::I32, node.feature); });
  t.value = table(n, forest, dtype, [&](const TreeNode& node) { return Scalar::of(dtype, node.value); });
  t.yes = childTable(n, forest, &TreeNode::yes);
  t.no = childTable(n, forest, &TreeNode::no);
  const TreeNode& first = forest.nodes[0];
  if (!std::ranges::all_of(forest.nodes, [&](const TreeNode& node) { return node.mode == first.mode; }))
    t.mode = table(n, forest, DType::U8,
                   [&](const TreeNode& node) { return integer(DType::U8, static_cast<int64_t>(node.mode)); });
  if (std::ranges::any_of(forest.nodes, &TreeNode::takesNan))
    t.takesNan =
        table(n, forest, DType::Bool, [&](const TreeNode& node) { return integer(DType::Bool, node.takesNan); });
  return t;
}

Tensor compared(BranchMode mode, Tensor x, Tensor value) {
  switch (mode) {
    case BranchMode::Leq: return le(x, value);
    case BranchMode::Lt: return lt(x, value);
    case BranchMode::Gte: return ge(x, value);
    case BranchMode::Gt: return gt(x, value);
    case BranchMode::Eq: return eq(x, value);
    case BranchMode::Neq: break;
  }
  return ne(x, value);
}

// One step down from the nodes `at`, [rows, trees].
Tensor stepped(OnnxNode& n, const Forest& forest, const Tables& t, Tensor x, Tensor at) {
  Tensor row = unsqueeze(cast(n.b.iota(x.dim(0)), DType::I64), -1);
  Tensor feature = gather(x, std::vector{row, take(t.feature, 0, at)}), value = take(t.value, 0, at);
  Tensor holds = compared(forest.nodes[0].mode, feature, value);
  if (t.mode) {
    Tensor mode = take(t.mode, 0, at);
    for (BranchMode m :
         {BranchMode::Leq, BranchMode::Lt, BranchMode::Gte, BranchMode::Gt, BranchMode::Eq, BranchMode::Neq})
      if (std::ranges::find(forest.nodes, m, &TreeNode::mode) != forest.nodes.end())
        holds = where(eq(mode, static_cast<int64_t>(m)), compared(m, feature, value), holds);
  }
  if (t.takesNan) holds = either(holds, both(isNan(feature), take(t.takesNan, 0, at)));
  return where(holds, take(t.yes, 0, at), take(t.no, 0, at));
}

}  // namespace

bool checkForest(const OnnxNode& n, const Forest& forest, const Tensor& x) {
  const auto nodes = std::ssize(forest.nodes);
  auto isNode = [&](int64_t at) { return at < nodes && at >= -forest.leafCount; };
  auto isGood = [&](const TreeNode& node) { return isNode(node.yes) && isNode(node.no) && node.feature >= 0; };
  auto isWeight = [&](const LeafWeight& w) { return w.target >= 0 && w.target < forest.targetCount; };
  if (!n.require(!forest.roots.empty() && std::ranges::all_of(forest.roots, isNode) &&
                     std::ranges::all_of(forest.nodes, isGood),
                 "there are trees, and their nodes name nodes, leaves and features that there are") ||
      !n.require(forest.targetCount > 0 && std::ranges::all_of(forest.weights, isWeight),
                 "weights belong to targets that there are"))
    return false;
  int64_t features = 0;
  for (const TreeNode& node : forest.nodes) features = std::max(features, node.feature + 1);
  return n.require(x.dim(1).min() >= features || !x.dim(1).isConst(), "x has all features that the trees ask for");
}

Tensor leavesOf(OnnxNode& n, const Forest& forest, Tensor x) {
  const auto nodes = std::ssize(forest.nodes), trees = std::ssize(forest.roots);
  const int64_t depth = depthOf(forest);
  if (!n.require(depth >= 0, "no node of a tree leads to itself")) return {};
  std::vector<int64_t> roots;
  for (int64_t root : forest.roots) roots.push_back(root < 0 ? nodes - 1 - root : root);
  Tensor at = expand(integersOf(n, DType::I32, {trees}, roots), {x.dim(0), n.b.dim(trees)});
  if (depth > 0) {
    const Tables tables = tablesOf(n, forest, x.dtype());
    auto step = [&](const StepInputs& in) -> std::optional<StepResults> {
      Tensor next = stepped(n, forest, tables, x, in.state[0]);
      return next ? std::optional(StepResults{{}, {next}, {}}) : std::nullopt;
    };
    StepLoop loop;
    loop.count = n.b.dim(depth);
    std::optional<StepTotals> totals = runSteps(n, loop, {at}, step);
    if (!totals) return {};
    at = totals->state[0];
  }
  return contiguous(at - nodes);
}

namespace {

// [leaves, targets], `nothing` where a leaf adds to no target.
Tensor weightTable(OnnxNode& n, const Forest& forest, DType dtype, ForestFold fold, double nothing) {
  HostTensor all = HostTensor::zeros(dtype, {forest.leafCount, forest.targetCount});
  std::vector<double> weights(static_cast<size_t>(all.numel()), nothing);
  for (const LeafWeight& w : forest.weights) {
    double& mine = weights[static_cast<size_t>(w.leaf * forest.targetCount + w.target)];
    mine = fold == ForestFold::Min   ? std::min(mine, w.weight)
           : fold == ForestFold::Max ? std::max(mine, w.weight)
                                     : mine + w.weight;
  }
  for (size_t i = 0; i < weights.size(); ++i) all.set(static_cast<int64_t>(i), Scalar::of(dtype, weights[i]));
  return n.constantTensor(all);
}

bool fitsTable(OnnxNode& n, const Forest& forest) {
  if (forest.leafCount <= kMostTableElements / std::max<int64_t>(1, forest.targetCount)) return true;
  n.unsupported("a table of " + std::to_string(forest.leafCount) + " leaves by " + std::to_string(forest.targetCount) +
                    " targets",
                "at most 2^28 entries: split the ensemble");
  return false;
}

}  // namespace

Tensor scoresOf(OnnxNode& n, const Forest& forest, ForestFold fold, Tensor leaves, DType dtype) {
  if (!leaves || !fitsTable(n, forest)) return {};
  const bool isSum = fold == ForestFold::Sum || fold == ForestFold::Average;
  const double infinity = std::numeric_limits<double>::infinity();
  const double nothing = isSum ? 0 : fold == ForestFold::Min ? infinity : -infinity;
  Tensor all = take(weightTable(n, forest, dtype, fold, nothing), 0, leaves);  // [rows, trees, targets]
  if (isSum) {
    Tensor total = sum(all, 1);
    return fold == ForestFold::Sum ? total : total * (1.0 / static_cast<double>(forest.roots.size()));
  }
  const std::vector<int> trees{1};
  Tensor total = reduce(fold == ForestFold::Min ? Op::Min : Op::Max, all, trees, false);
  return where(eq(total, nothing), 0, total);
}

Tensor hasScores(OnnxNode& n, const Forest& forest, Tensor leaves) {
  if (!leaves || !fitsTable(n, forest)) return {};
  HostTensor has = HostTensor::zeros(DType::Bool, {forest.leafCount, forest.targetCount});
  for (const LeafWeight& w : forest.weights)
    has.set(w.leaf * forest.targetCount + w.target, Scalar::ofInt(DType::Bool, 1));
  if (std::ranges::all_of(has.data, [](std::byte b) { return b != std::byte{0}; })) return {};
  return n.call("any", {take(n.constantTensor(has), 0, leaves)}, {{"axes", AttributeValue::List{1}}});
}

}  // namespace svod
