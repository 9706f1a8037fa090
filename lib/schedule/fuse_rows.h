// Flash attention: values that a kernel holds row by row because several of its reductions sweep over them.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "tensor/graph_machine.h"
#include "tensor/nodes.h"
#include "tensor/uses.h"

namespace svod {

struct RowPlan {
  std::vector<int> axes;  // of the value: those of a row
  std::vector<int> over;  // axes of the kernel that count enough rows
};
/// The axes of `n` along which every use runs over a reduce axis of its own, where all other axes are leading axes of
/// one kernel, `root`, that has further ones: a row of these, filled once, serves all reductions. Nothing where that is
/// not so, where a row has more than `mostBytes`, or rows are too few to work on several at a time.
std::optional<RowPlan> planRows(UOp n, std::span<const Use> uses, UOp root, const TokenTable& tokens,
                                int64_t mostBytes);

/// A sum of products that is worth keeping row by row: what it reads again for every row of the result is small, and
/// rows are long beside its terms, so that storing them would take a good part of the time.
bool isRowProduct(UOp n, const RowPlan& plan);

/// Nanoseconds on a GPU of the product `n` and of the one of `root` that its rows are multiplied in: in one kernel that
/// holds rows, whose lanes multiply alone, and in kernels that have tiles, with the rows in memory between them.
struct RowTimes {
  double held, kept;
};
RowTimes timesOfRows(UOp n, UOp root, const GraphMachine& machine);

/// What becomes of the elements of the row value `n`, one by one, before several values need them: kept in its
/// place, masks and scales are applied once.
UOp beforeSweeps(UOp n, const Readers& readers);

}  // namespace svod
