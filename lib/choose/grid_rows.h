// Everything but matrix products on a GPU: which loops its threads run.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Whether sums of few terms read the same elements for the results along a loop of few iterations.
bool sharesReads(const KernelFacts& kernel);
/// A thread has all results of these in registers, and reads each element once.
bool sumInThreads(Chooser& chooser);
/// Reductions along what is contiguous: neighbours share a row, exchange their sums, and write the row, too.
bool reduceRows(Chooser& chooser);
/// Reductions across what is contiguous: threads side by side, and some rows of them for each column.
bool reduceColumns(Chooser& chooser);
/// Rows of a product that are held in shared memory: one workgroup for each, which fills them together.
bool holdRowsInGroups(Chooser& chooser);
/// Tiles that are read along one axis and written along the other.
bool transposeInTiles(Chooser& chooser);
/// Elements that do not depend on each other, in vectors.
bool streamInVectors(Chooser& chooser);

}  // namespace svod
