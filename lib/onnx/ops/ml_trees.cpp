// Ensembles of trees of ai.onnx.ml.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "onnx/ops/common.h"
#include "onnx/ops/ml_forest.h"
#include "onnx/ops/ml_scores.h"

namespace svod {

namespace {

constexpr std::array<std::string_view, 6> kModes = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                    "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};

// A list of floats, or the tensor that stands for it.
std::vector<double> valuesOf(const OnnxNode& n, const std::string& name) {
  const std::string asTensor = name + "_as_tensor";
  if (!n.has(asTensor)) return n.numbers(name);
  std::vector<double> values;
  if (std::optional<HostTensor> t = n.tensor(asTensor);
      t && n.require(isFloat(t->dtype), "'" + asTensor + "' are floats"))
    for (int64_t i = 0; i < t->numel(); ++i) values.push_back(t->at(i).asFloat());
  return values;
}

/// The lists of a node by tree and node number, as opset 1 of the domain has them.
struct NodeLists {
  std::vector<int64_t> tree, node, feature, yes, no, takesNan;
  std::vector<std::string> mode;
  std::vector<double> value;
};

bool readLists(const OnnxNode& n, NodeLists& l) {
  l = {n.integers("nodes_treeids"),     n.integers("nodes_nodeids"),      n.integers("nodes_featureids"),
       n.integers("nodes_truenodeids"), n.integers("nodes_falsenodeids"), n.integers("nodes_missing_value_tracks_true"),
       n.words("nodes_modes"),          valuesOf(n, "nodes_values")};
  const size_t count = l.tree.size();
  auto fits = [&](const auto& list) { return list.size() == count; };
  return n.require(fits(l.node) && fits(l.feature) && fits(l.yes) && fits(l.no) && fits(l.mode) && fits(l.value) &&
                       (fits(l.takesNan) || l.takesNan.empty()),
                   "all lists of nodes have the length of 'nodes_treeids'");
}

// `of` is "target" or "class", the prefix of the lists of weights.
std::optional<Forest> readForest(const OnnxNode& n, const std::string& of, int64_t targets) {
  NodeLists l;
  if (!readLists(n, l)) return std::nullopt;
  Forest forest;
  forest.targetCount = targets;
  std::map<std::pair<int64_t, int64_t>, int64_t> placeOf;  // as in TreeNode::yes
  int64_t inner = 0;
  for (size_t i = 0; i < l.tree.size(); ++i) {
    const int64_t place = l.mode[i] == "LEAF" ? -1 - forest.leafCount++ : inner++;
    if (!n.require(placeOf.try_emplace({l.tree[i], l.node[i]}, place).second,
                   "every node of a tree has another number"))
      return std::nullopt;
    if (i == 0 || l.tree[i] != l.tree[i - 1]) forest.roots.push_back(place);
  }
  bool isGood = true;
  auto placed = [&](int64_t tree, int64_t node) {
    auto found = placeOf.find({tree, node});
    isGood &= found != placeOf.end();
    return found == placeOf.end() ? 0 : found->second;
  };
  for (size_t i = 0; i < l.tree.size(); ++i) {
    if (l.mode[i] == "LEAF") continue;
    const auto mode = std::ranges::find(kModes, l.mode[i]);
    if (!n.require(mode != kModes.end(), "'nodes_modes' are LEAF, BRANCH_LEQ, _LT, _GTE, _GT, _EQ or _NEQ"))
      return std::nullopt;
    forest.nodes.push_back({l.feature[i], static_cast<BranchMode>(mode - kModes.begin()), l.value[i],
                            !l.takesNan.empty() && l.takesNan[i] != 0, placed(l.tree[i], l.yes[i]),
                            placed(l.tree[i], l.no[i])});
  }
  const std::vector<int64_t> trees = n.integers(of + "_treeids"), nodes = n.integers(of + "_nodeids"),
                             ids = n.integers(of + "_ids");
  const std::vector<double> weights = valuesOf(n, of + "_weights");
  if (!n.require(trees.size() == nodes.size() && trees.size() == ids.size() && trees.size() == weights.size(),
                 "all lists of weights have the length of '" + of + "_treeids'"))
    return std::nullopt;
  for (size_t i = 0; i < trees.size(); ++i)
    if (const int64_t leaf = placed(trees[i], nodes[i]); leaf < 0)
      forest.weights.push_back({-1 - leaf, ids[i], weights[i]});
  if (!n.require(isGood, "nodes and weights name nodes that there are")) return std::nullopt;
  return forest;
}

Tensor plusBase(const OnnxNode& n, Tensor scores, const std::vector<double>& base) {
  if (!scores || base.empty()) return scores;
  return scores + constantOf(n, scores.dtype(), {std::ssize(base)}, base);
}

// The rows of x, where the forest is one for them.
Tensor rowsFor(const OnnxNode& n, const std::optional<Forest>& forest) {
  Tensor x = featureRows(n, true);
  return x && forest && checkForest(n, *forest, x) ? x : Tensor();
}

}  // namespace

Results onnxMlTreeEnsembleRegressor(OnnxNode& n) {
  constexpr std::array<std::string_view, 4> kFolds = {"SUM", "AVERAGE", "MIN", "MAX"};
  const auto fold = std::ranges::find(kFolds, n.word("aggregate_function"));
  const std::optional<ScoreTransform> transform = transformOf(n);
  const int64_t targets = n.integer("n_targets");
  const std::vector<double> base = valuesOf(n, "base_values");
  const std::optional<Forest> forest = readForest(n, "target", targets);
  Tensor x = rowsFor(n, forest);
  if (!n.require(fold != kFolds.end(), "'aggregate_function' is SUM, AVERAGE, MIN or MAX") ||
      !n.require(base.empty() || std::ssize(base) == targets, "'base_values' has one entry per target") || !x ||
      !transform)
    return Tensor();
  Tensor leaves = leavesOf(n, *forest, x);
  Tensor scores = scoresOf(n, *forest, static_cast<ForestFold>(fold - kFolds.begin()), leaves, x.dtype());
  return transformed(*transform, cast(plusBase(n, scores, base), DType::F32));
}

namespace {

// All weights belong to one of two classes: its score decides, from 0.5 on where scores are shares, else from 0 on.
Results oneOfTwo(OnnxNode& n, Tensor scores, int64_t scored, bool isShare, const std::vector<double>& base,
                 const ClassLabels& labels, ScoreTransform transform) {
  auto column = [&](int64_t i) { return narrow(scores, 1, n.b.dim(i), n.b.dim(1)); };
  if (base.size() == 2) scores = plusBase(n, scores, base);
  Tensor mine = column(scored);
  if (base.size() == 1 && !n.require(scored == 0, "'base_values' has one entry per class")) return Tensor();
  if (base.size() == 1) mine = mine + base[0];
  Tensor isSecond = squeeze(gt(mine, isShare ? 0.5 : 0.0), 1), label = labelIf(n, labels, isSecond);
  if (scored == 0 && base.size() != 2) {
    if (transform == ScoreTransform::Probit)
      return n.unsupported("PROBIT of one score for two classes", "weights for both classes");
    return std::vector{label, withFirstClass(n, transform, cast(mine, DType::F32), isShare)};
  }
  return std::vector{label, transformed(transform, cast(scores, DType::F32))};
}

}  // namespace

Results onnxMlTreeEnsembleClassifier(OnnxNode& n) {
  const std::optional<ScoreTransform> transform = transformOf(n);
  const ClassLabels labels = labelsOf(n, "classlabels_int64s", "classlabels_strings");
  const auto classes = static_cast<int64_t>(labels.count);
  const std::vector<double> base = valuesOf(n, "base_values");
  const std::optional<Forest> forest = readForest(n, "class", classes);
  Tensor x = rowsFor(n, forest);
  if (!x || !transform || !n.require(!forest->weights.empty(), "there are weights") ||
      !n.require(base.empty() || std::ssize(base) == classes || (classes == 2 && base.size() == 1),
                 "'base_values' has one entry per class"))
    return Tensor();
  Tensor leaves = leavesOf(n, *forest, x), scores = scoresOf(n, *forest, ForestFold::Sum, leaves, x.dtype());
  const int64_t one = forest->weights[0].target;
  const bool isShare = std::ranges::all_of(forest->weights, [](const LeafWeight& w) { return w.weight >= 0; });
  if (classes == 2 && std::ranges::all_of(forest->weights, [&](const LeafWeight& w) { return w.target == one; }))
    return oneOfTwo(n, scores, one, isShare, base, labels, *transform);
  if (!n.require(base.size() != 1 || classes == 1, "'base_values' has one entry per class")) return Tensor();
  scores = plusBase(n, scores, base);
  if (!scores) return Tensor();
  Tensor rated = scores;  // a class without a score is none of the best
  if (Tensor has = base.empty() ? hasScores(n, *forest, leaves) : Tensor())
    rated = where(has, scores, -std::numeric_limits<double>::infinity());
  Tensor best = classes == 1 ? Tensor() : n.call("argmax", {rated}, {{"axis", 1}});
  Tensor label = classes == 1 ? cast(gt(squeeze(scores, 1), 0), DType::I64) : labelsAt(n, labels, best);
  return std::vector{label, transformed(*transform, cast(scores, DType::F32))};
}

// --- The form of opset 5: leaves have lists of their own.

namespace {

constexpr int64_t kMember = 6;

std::vector<double> tensorNumbers(const OnnxNode& n, std::string_view name) {
  std::vector<double> values;
  if (std::optional<HostTensor> t = n.tensor(name))
    for (int64_t i = 0; i < t->numel(); ++i)
      values.push_back(isFloat(t->dtype) ? t->at(i).asFloat() : static_cast<double>(t->at(i).asInt()));
  return values;
}

// A node that asks whether its feature is one of `members`, which becomes a chain of comparisons; the first is `at`.
void askForMembers(Forest& forest, size_t at, const std::vector<double>& members) {
  const TreeNode whole = forest.nodes[at];
  forest.nodes[at].mode = BranchMode::Eq;
  forest.nodes[at].value = members.empty() ? std::numeric_limits<double>::quiet_NaN() : members[0];
  for (size_t i = 1; i < members.size(); ++i) {
    const auto next = std::ssize(forest.nodes);
    forest.nodes[at].no = next;
    forest.nodes.push_back({whole.feature, BranchMode::Eq, members[i], false, whole.yes, whole.no});
    at = static_cast<size_t>(next);
  }
}

bool readMembers(const OnnxNode& n, Forest& forest, const std::vector<double>& modes) {
  const std::vector<double> all = tensorNumbers(n, "membership_values");
  auto next = all.begin();
  for (size_t i = 0; i < modes.size(); ++i) {
    if (modes[i] != kMember) continue;
    const auto end = std::find_if(next, all.end(), [](double v) { return std::isnan(v); });
    if (!n.require(end != all.end(), "'membership_values' has a list that ends in NaN for each BRANCH_MEMBER"))
      return false;
    askForMembers(forest, i, {next, end});
    next = end + 1;
  }
  return true;
}

std::optional<Forest> readForestWithLeaves(const OnnxNode& n) {
  const std::vector<int64_t> feature = n.integers("nodes_featureids"), yes = n.integers("nodes_truenodeids"),
                             no = n.integers("nodes_falsenodeids"), yesIsLeaf = n.integers("nodes_trueleafs"),
                             noIsLeaf = n.integers("nodes_falseleafs"),
                             takesNan = n.integers("nodes_missing_value_tracks_true"),
                             targets = n.integers("leaf_targetids");
  const std::vector<double> modes = tensorNumbers(n, "nodes_modes"), splits = tensorNumbers(n, "nodes_splits"),
                            weights = tensorNumbers(n, "leaf_weights");
  const size_t count = modes.size();
  auto fits = [&](const auto& list) { return list.size() == count; };
  if (!n.require(fits(feature) && fits(yes) && fits(no) && fits(yesIsLeaf) && fits(noIsLeaf) && fits(splits) &&
                     (takesNan.empty() || fits(takesNan)),
                 "all lists of nodes have the length of 'nodes_modes'") ||
      !n.require(std::ranges::all_of(modes, [](double m) { return m >= 0 && m <= kMember; }),
                 "'nodes_modes' are 0 to 6") ||
      !n.require(targets.size() == weights.size(), "'leaf_targetids' and 'leaf_weights' are of one length"))
    return std::nullopt;
  Forest forest;
  forest.targetCount = n.integer("n_targets");
  forest.leafCount = std::ssize(weights);
  for (size_t i = 0; i < weights.size(); ++i)
    forest.weights.push_back({static_cast<int64_t>(i), targets[i], weights[i]});
  auto place = [](int64_t id, int64_t isLeaf) {
    return id < 0 ? std::numeric_limits<int64_t>::max() : isLeaf ? -1 - id : id;
  };
  for (size_t i = 0; i < count; ++i)
    forest.nodes.push_back({feature[i], modes[i] == kMember ? BranchMode::Eq : static_cast<BranchMode>(modes[i]),
                            splits[i], !takesNan.empty() && takesNan[i] != 0, place(yes[i], yesIsLeaf[i]),
                            place(no[i], noIsLeaf[i])});
  // A tree that is a leaf is a node with this leaf on both sides.
  for (int64_t root : n.integers("tree_roots")) forest.roots.push_back(place(root, 0));
  if (!readMembers(n, forest, modes)) return std::nullopt;
  return forest;
}

}  // namespace

Results onnxMlTreeEnsemble(OnnxNode& n) {
  constexpr std::array<ForestFold, 4> kFolds = {ForestFold::Average, ForestFold::Sum, ForestFold::Min, ForestFold::Max};
  constexpr std::array<ScoreTransform, 5> kTransforms = {ScoreTransform::None, ScoreTransform::Softmax,
                                                         ScoreTransform::Logistic, ScoreTransform::SoftmaxZero,
                                                         ScoreTransform::Probit};
  const int64_t fold = n.integer("aggregate_function"), transform = n.integer("post_transform");
  const std::optional<Forest> forest = readForestWithLeaves(n);
  Tensor x = rowsFor(n, forest);
  if (!x || !n.require(fold >= 0 && fold < 4, "'aggregate_function' is 0 to 3") ||
      !n.require(transform >= 0 && transform < 5, "'post_transform' is 0 to 4"))
    return Tensor();
  Tensor scores = scoresOf(n, *forest, kFolds[static_cast<size_t>(fold)], leavesOf(n, *forest, x), x.dtype());
  return cast(transformed(kTransforms[static_cast<size_t>(transform)], scores), n.arg(0).dtype());
}

}  // namespace svod
