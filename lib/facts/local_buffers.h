// What local buffers of a kernel mean for its loops.
#pragma once
#include "facts/kernel_facts.h"
#include "ir/tensor_box.h"
#include "machine/gpu.h"

namespace svod {

/// What a fill fills.
UOp bufferOf(UOp fill);

/// What the buffer of a fill takes of memory when the threads of a workgroup fill it: stages, whole periods of a
/// swizzle, and the elements of threads that the last round of a spread has too many.
int64_t bytesInMemory(UOp fill, int64_t threads);

/// Largest number of bytes that a fill has elements for; and all of a kernel together.
int64_t fillBytes(UOp fill);
int64_t bytesOfFills(const KernelFacts& kernel);

/// What a fill copies as it is: its load of a parameter. Nothing where the fill computes.
std::optional<Access> bareCopyOf(UOp fill);

/// The box that a bulk copy fills the buffer with, where its loops are not dealt to threads and its parameter is used
/// for nothing else; nothing where no bulk copy does it.
std::optional<TensorBox> bulkBoxOf(UOp sink, UOp fill);

/// Whether hardware fills the stages of this ring, in a workgroup of so many threads: then none of them does.
bool isFilledInBulk(UOp sink, UOp fill, int64_t threads, const GpuTarget& gpu);

/// The most elements of a stage that one thread copies at once: 16 bytes, or fewer where those are no neighbours in
/// memory, or not aligned.
int64_t widestCopy(UOp fill);

/// A local buffer is filled behind gates: in short lines that fill vectors badly.
bool isGated(UOp fill);

/// A buffer local to the kernel is filled once per iteration of this loop, so the loop cannot be expanded.
bool isInFill(const KernelFacts& kernel, UOp range);

/// Elements of the first local buffer that is read between neighbours along `axis`.
std::optional<int64_t> strideInFill(const KernelFacts& kernel, UOp axis);

}  // namespace svod
