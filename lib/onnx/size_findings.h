// What the ops of a model say about its sizes where nobody else does: dims that must be one, and the bounds without
// which an op is refused. The importer collects demands while it builds, and starts again with what follows from them.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/size_variables.h"
#include "frontend/tensor.h"
#include "onnx/rank_cases.h"

namespace svod {

/// What an op needs for all values of the variables: left == right, or left >= right.
struct SizeDemand {
  UOp left, right;  // over free variables
  bool isEqual = true;
  std::string by;       // the op and its node
  bool isRoom = false;  // left is what there is, right what is taken: all variables leave some, not one of them all
  bool mayBeChecked = false;  // every run can check it: bounds of one variable must not depend on another one
  Stretch stretch = Stretch::None;
};

/// How many variables stand in the sizes.
int variablesIn(UOp left, UOp right);

/// A value takes addresses for its greatest sizes, and a process has few: what it must not exceed, with `by` left
/// empty. Nothing where it does not.
std::optional<SizeDemand> roomDemand(const Tensor& value);

/// What a size is taken for that nobody bounds. Arenas are laid out for the sizes of a run, so that a greatest size
/// costs addresses and no memory: the memory of the machine that runs the plan ends sizes, not the compiler.
struct UsualSizes {
  static constexpr Interval kAny{1, 1 << 20};
  static constexpr int64_t kMostSamples = 1 << 26;
  // Likely sizes of axes that windows go along.
  static constexpr int64_t kImage = 224;      // each of two
  static constexpr int64_t kFrames = 256;     // one, behind channels
  static constexpr int64_t kSamples = 16000;  // one, of one channel: a second

  // The same of networks that take what they keep from run to run: of a piece of 32 milliseconds.
  static constexpr int64_t kPieceFrames = 16, kPieceSamples = 512;

  static constexpr int64_t inPieces(int64_t likely) {
    return likely == kFrames ? kPieceFrames : likely == kSamples ? kPieceSamples : likely;
  }
  static constexpr int64_t mostOf(int64_t likely) { return likely == kSamples ? kMostSamples : kAny.max; }
};

struct SizeFindings {
  static constexpr int64_t kUsual = INT64_MAX;  // a greatest value that no op asks for
  struct Equality {
    SizeForm left, right;
    std::string by;
  };
  struct Bounds {
    Interval bounds;
    std::string by;
  };
  std::vector<Equality> equalities;      // each takes away one variable
  std::map<std::string, Bounds> bounds;  // of variables that stay free
  std::map<std::string, int64_t>
      rooms;                     // greatest values under the bounds of the others: found again where these change
  std::set<std::string> values;  // inputs whose elements are sizes
  std::map<std::string, int64_t> swept;  // likely values of variables that windows go along
  // Of models that hear sound piece by piece, and return the next value of an input: the variables of its dims.
  std::optional<std::set<std::string>> kept;
  RankCases cases;             // by node
  bool boundsLengths = false;  // sizes that a run computes, and that nothing bounds, are short
};

/// Adds to `findings` what meets the demand, as far as variables are concerned that nobody bounded: an equality, or
/// tighter bounds. `sizes` has all equalities found so far. False, and nothing is added, when nothing meets it.
bool learn(const SizeDemand& demand, SizeVariables& sizes, SizeFindings& findings);

}  // namespace svod
