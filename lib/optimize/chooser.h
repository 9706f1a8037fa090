// Shared by the parts of the heuristic: the kernel as changed so far and the opts that did it.
#pragma once
#include <bit>
#include <optional>
#include <vector>

#include "optimize/axes.h"
#include "optimize/choose.h"
#include "optimize/cost.h"
#include "optimize/opt.h"

namespace svod {

/// Borrows the graph and `caps`. A copy is a trial: it may change its sink and opts without touching the
/// original's.
struct Chooser {
  Graph& graph;
  UOp sink;
  const Caps& caps;
  std::vector<ChosenOpt> opts;

  /// Applies and records an opt, and in a phrase why; false (nothing changed) when it is not legal.
  bool apply(OptKind kind, OptArgs args, std::string why);
  bool apply(OptKind kind, uint32_t rangeId, int64_t amount, std::string why);

  /// The number of the axis whose range has this id, which splits keep for the outer part; -1 when there is
  /// none.
  int32_t numberOf(uint32_t rangeId) const;
  /// The range with this id.
  UOp range(uint32_t rangeId) const;
};

/// The largest power of two that is not above n > 0.
inline int64_t powerBelow(int64_t n) { return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n))); }

inline uint32_t idOf(UOp range) { return range.argAs<AxisArg>().id; }

/// Joins output and reduce loops that every access walks as one contiguous loop.
void mergeLoops(Chooser& chooser);

/// Splits output loops along which what a load reads changes every n iterations only (grouped convolutions): the rows of a
/// group share it.
void splitGroups(Chooser& chooser);

/// Writes out short output loops whose counter selects among values that every iteration computes.
void expandCases(Chooser& chooser);

/// Keeps expensive values that several sweeps over a row need in a buffer of one row.
void shareRows(Chooser& chooser);

/// Copies what the windows of a convolution read. True when its lanes and register tile are chosen as well; else the
/// rest of it is a matrix product.
bool packWindows(Chooser& chooser);

/// Vector axes, at most one per value, and an operand that must be packed for them to pay.
struct LanePlan {
  std::vector<Lanes> lanes;
  std::optional<uint32_t> packed;  // parameter slot
};
LanePlan chooseLanes(const Chooser& chooser);

/// Copies of the values of a loop body: `rows` along another output axis, `vectors` along the vector axis.
struct RegisterTile {
  UOp rowAxis;  // null: one row
  int64_t rows = 1, vectors = 1;
};
/// `held`: a loop for which local buffers will get a dim, so that it may be expanded.
RegisterTile chooseRegisterTile(const Chooser& chooser, UOp reduce, const Lanes& lanes, int64_t maxVectors, UOp held = {});
/// Why rows and vectors are repeated, for Chooser::apply.
std::string registersText(const Chooser& chooser, const RegisterTile& tile);
inline constexpr const char* kPanelOutside = "one panel of columns serves all rows";

/// Blocks of rows for kernels that keep rows of a product in local buffers; false (nothing changed) for others.
bool tileRows(Chooser& chooser);

/// Lanes along an output loop of what `reduce` computes, a register tile, and the panel of an operand: that of parameter
/// `packed` in any case, another where it pays.
void tileReduceOverOutputLanes(Chooser& chooser, UOp reduce, const Lanes& lanes, std::optional<uint32_t> packed);

/// The first reduce whose value depends on `range`, or null; iterations of its innermost loops are written out where a body
/// of `copies` terms is short.
UOp reduceOver(UOp sink, UOp range);
void unrollInnermost(Chooser& chooser, UOp reduce, int64_t copies);

/// Lanes, register tiles and, for matrix products, loop order and packed panel.
void tileForVectors(Chooser& chooser);

/// What a reduce reads of one operand for one column of the result.
struct Panel {
  uint32_t slot;
  std::vector<UOp> reduceAxes;  // the ones the operand depends on, outermost first
  int64_t elementBytes, bytesPerColumn;
  int64_t rowStride;  // elements between neighbours along the innermost of them
};
/// Nothing when the operand depends on no loop of the reduce, or in no regular way.
std::optional<Panel> panelOf(const Access& load, UOp reduce);

/// The operand that is contiguous along the lanes and the same for all rows: reused by every row tile. `slot` names one
/// that is to be packed whatever its strides.
std::optional<Panel> panelOperand(const Chooser& chooser, UOp reduce, const Lanes& lanes, UOp rowAxis,
                                  std::optional<uint32_t> slot);
inline constexpr const char* kCopyLanes = "the copy runs in whole vectors";
/// The copy into the panel of parameter `slot` runs in vectors.
void vectorizeFill(Chooser& chooser, uint32_t slot, int64_t width, int64_t vectors);
/// The loop directly inside of another one: of a tile, the one that keeps no id.
UOp loopInside(const Chooser& chooser, uint32_t loop);
/// The loop inside of a tile of `amount` iterations; the loop itself where it has no more than that.
uint32_t innerOfTile(Chooser& chooser, uint32_t loop, int64_t amount, std::string why);

/// The operand whose elements all lanes share, where rows are neighbours in it and the terms of their sums far apart.
struct RowPanel {
  uint32_t slot;
  int64_t rows;  // that one copy holds
};
inline constexpr const char* kSharedCopy = "rows that share a copy of the other operand";
/// Nothing where such an operand is read as well where it lies, or by too few columns, or where a copy of `terms` of each
/// sum that takes at most `mostBytes` has too few rows.
std::optional<RowPanel> rowPanelOf(const Chooser& chooser, UOp reduce, const Lanes& lanes, const RegisterTile& tile,
                                   int64_t terms, int64_t mostBytes);
/// Copies what the loops `row` and `depth` (of the reduce) read of it, turned: the terms of a sum are neighbours.
bool packAcross(Chooser& chooser, uint32_t slot, uint32_t row, uint32_t depth, int64_t width);

/// Blocks of a long reduce around the output loops, where its operands would not stay in cache: a tall panel, or a
/// large matrix that few rows are multiplied with. False (nothing changed) where that does not pay.
bool blockReduce(Chooser& chooser, UOp reduce, const Lanes& lanes);

/// Sums of products of bytes and of bf16 in groups, where the CPU has instructions for that.
void useDots(Chooser& chooser);
/// Whether dot was applied to the reduce, or to any of the kernel.
bool sumsGroups(UOp reduce);
bool hasGroups(UOp sink);

/// Whether the operand will stand in memory in the order in which the kernel reads it: any loop walks it as lanes do, and
/// a panel of it needs no copy.
bool isLaidOut(const Chooser& chooser, uint32_t slot);

/// A local buffer is filled behind gates: in short lines that fill vectors badly.
bool isGated(UOp stage);

/// A buffer local to the kernel is filled once per iteration of this loop, so the loop cannot be expanded.
bool fillsStage(UOp sink, UOp range);

/// Tiles for worker threads.
void splitForThreads(Chooser& chooser);

/// Outputs too large for any cache are written past them.
void streamOutputs(Chooser& chooser);

/// Operands of streams and rows are prefetched where they do not fit the second level cache. `pattern`: of the kernel before
/// any opt.
void prefetchOperands(Chooser& chooser, Pattern pattern);

/// Copies of operands that are read in short runs and do not fit the first level cache are prefetched.
void prefetchCopies(Chooser& chooser);

/// A grid and workgroups.
void fillGrid(Chooser& chooser);

/// Tiles of a sum of products for a tensor core of the target, some per warp and per workgroup. False (nothing changed)
/// where none applies.
bool useTensorCore(Chooser& chooser);

}  // namespace svod
