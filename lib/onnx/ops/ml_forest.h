// Trees of decisions, and the walk from their roots to their leaves.
#pragma once
#include <optional>
#include <vector>

#include "onnx/node.h"

namespace svod {

/// How the feature of a node compares with its value.
enum class BranchMode : uint8_t { Leq, Lt, Gte, Gt, Eq, Neq };

struct TreeNode {
  int64_t feature = 0;
  BranchMode mode = BranchMode::Leq;
  double value = 0;
  bool takesNan = false;    // NaN goes where the comparison holds
  int64_t yes = 0, no = 0;  // nodes; -1 - i for leaf i
};

/// What leaf `leaf` adds to the score of `target`.
struct LeafWeight {
  int64_t leaf = 0, target = 0;
  double weight = 0;
};

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;  // as in TreeNode::yes
  int64_t leafCount = 0, targetCount = 0;
  std::vector<LeafWeight> weights;
};

/// Whether the nodes are trees; an error says what is wrong otherwise.
bool checkForest(const OnnxNode& n, const Forest& forest, const Tensor& x);
/// The leaf of every row of x [rows, features] in every tree: i32 [rows, trees]. Null after an error.
Tensor leavesOf(OnnxNode& n, const Forest& forest, Tensor x);

enum class ForestFold : uint8_t { Sum, Average, Min, Max };
/// Scores [rows, targets] in `dtype`, those of all trees folded; 0 where no leaf adds to one.
Tensor scoresOf(OnnxNode& n, const Forest& forest, ForestFold fold, Tensor leaves, DType dtype);
/// Whether a row has a score, bool [rows, targets]; null where all have.
Tensor hasScores(OnnxNode& n, const Forest& forest, Tensor leaves);

}  // namespace svod
