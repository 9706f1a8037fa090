// LinearKernel to a C-like language of GPUs, by a dialect. The text calls a prelude for everything that C lacks.
#pragma once
#include <string>
#include <vector>

#include "linearize/linear.h"
#include "plan/plan.h"
#include "support/result.h"
#include "target/grid/grid_dialect.h"

namespace svod {

/// What one thread of a workgroup does, as a function with the name of the kernel. The text needs the prelude of its
/// language in front of it, or another one with the same functions.
struct GridText {
  std::string text;
  std::vector<int64_t> alignment;  // bytes that each argument has to start at a multiple of, by slot
  std::vector<UOp> maps;           // nodes tensor_map, each of which stands in place of the address it is made of
};

/// The parameters are `arguments` addresses, by slot, or maps in their place, and the values as i64. `threads` are
/// those of a workgroup. Vectors are written lane by lane, and moved as one where they are aligned. Thread-safe,
/// deterministic. Fails with Verify if a kernel was not legalized.
Result<GridText> printGrid(const GridDialect& dialect, const LinearKernel& kernel, size_t arguments, int64_t threads);

/// Attributes align.SLOT for arguments that have to start at multiples of more than their elements are long.
void addAlignment(const GridText& printed, KernelDesc& kernel);
/// Threads of a workgroup: the extents of its hardware indices.
int64_t threadsOf(const LinearKernel& kernel);

}  // namespace svod
