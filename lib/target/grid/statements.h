// What single ops become (an internal header of the room). Values are written lane by lane.
#pragma once
#include "support/result.h"
#include "target/grid/kernel_body.h"

namespace svod {

/// Moved as one where lanes are aligned (VectorAccess).
void printLoad(UOp load, KernelBody& body);
void printStore(UOp store, KernelBody& body);

/// Verify if C has no text for the op.
Status printValue(UOp value, KernelBody& body);
/// Halves are combined until one lane is left.
Status printReduce(UOp reduce, KernelBody& body);
/// A sum per lane, of integers wrapping; the products of small numbers are exact.
void printDot(UOp dot, KernelBody& body);

}  // namespace svod
