// The table of what fusion decides by: for each value, the first rule that fits says what becomes of it, and why.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "schedule/fuse_costs.h"
#include "schedule/fuse_rows.h"
#include "schedule/fuse_uses.h"
#include "schedule/sides.h"

namespace svod {

/// What becomes of a value: computed where it is read, kept in a buffer, or held row by row in the kernel that reads
/// it.
enum class Fate : uint8_t { Fuse, Keep, Rows };
std::string_view toText(Fate fate);

struct PricedRows {
  RowPlan plan;
  RowTimes times;
};

inline constexpr int kNoDevice = -1, kManyDevices = -2;

/// What is known while fusion walks the graph. Sets hold node ids where nothing else is said.
struct FusionState {
  FusionState(UOp sink, const GraphMachine& machine);

  const GraphMachine& machine;
  std::vector<UOp> order;         // sources before their users
  std::vector<bool> isIndexMath;  // by node id: every kernel computes these for itself
  std::vector<bool> isCut;        // by node id: kept, as its kernel would be too large
  std::vector<int> deviceOf;      // by node id: number of the one device whose copies it reads, kNoDevice, kManyDevices
  std::vector<Side> sideOf;       // by node id: the runs that need it
  std::set<uint32_t> deciding;    // sums that choices with a dear side are made by
  FusionUses uses;
  ElementDag dag;
  FusionCosts costs;
  std::set<uint32_t> isOperand;             // values that kinds with kernels of their own read whole
  std::set<uint32_t> dotOperands;           // bf16 that dot product instructions take as it is
  std::set<uint32_t> productOf;             // numbers of roots that compute a long reduction for each of their elements
  std::set<uint32_t> rowProducts, noRows;   // owners of kernels that hold rows of a product, or none
  std::map<uint32_t, PricedRows> inMemory;  // products of a GPU whose rows are not held, found by an earlier walk

  /// Forgets what a walk found, but not what is cut, refused or taken as it is.
  void beginWalk();
};

/// The best fate of a value, why, and which others are legal.
struct Verdict {
  Fate fate = Fate::Fuse;
  std::string_view reason = {};  // empty: there is nothing to choose
  bool mayFuse = true, mayKeep = true;
  std::optional<RowPlan> rows = {};
  std::optional<KeepOrFuse> cost = {};
  bool isUnpriced = false;             // a cost that nothing depended on was not found
  std::optional<RowTimes> times = {};  // of rows on a GPU
};

/// The first rule of the table whose `fits` is true decides. `fits` may leave in the verdict what it found on the way:
/// a plan for rows, costs.
struct FusionRule {
  Fate fate;
  std::string_view reason;  // empty: no choice
  bool (*fits)(FusionState& state, UOp n, Verdict& verdict);
};
std::span<const FusionRule> fusionRules();

Verdict judge(FusionState& state, UOp n);

}  // namespace svod
