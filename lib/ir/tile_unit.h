// Tile units of processors as data (tile_units.def), and which sums of a kernel they compute.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ir/graph.h"

namespace svod {

struct TileUnit {
  std::string_view name, feature;  // beside kTileFeature, which all need
  DType in, out;                   // of A and B, and of C
  int m, n, groups;                // groups at most
  int registers;                   // that hold one matrix each
  double cycles, latency;          // from one instruction to the next, and to the next one that adds to the same sums

  int group() const { return dotGroup(in); }  // terms that lie side by side
  bool takes(DType factor) const { return factor == in || (in == DType::I8 && factor == DType::U8); }
};

std::span<const TileUnit> allTileUnits();
/// Null for an unknown name.
const TileUnit* findTileUnit(std::string_view name);

/// The sum of a kernel with the opt tc on a processor. It closes a Core range of groups of terms, and a Dot range of
/// the terms of a group. A has a row for each iteration of the Core range `rows`, and B a column for each lane of
/// `columns`. Both are bare loads.
struct TileForm {
  const TileUnit* unit = nullptr;
  UOp groups = {}, terms = {}, rows = {}, columns = {};  // ranges
  UOp a = {}, b = {};                                    // loads

  int64_t groupCount() const { return groups.src(0).constInt(); }  // of one instruction
  int64_t termCount() const { return groupCount() * unit->group(); }
};
/// Nothing where the reduce closes no Core range, or is no sum that a unit of the table computes. Kernel stage.
std::optional<TileForm> tileFormOf(UOp reduce);

}  // namespace svod
