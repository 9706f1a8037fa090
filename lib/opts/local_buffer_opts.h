// The opts that decide where values are held: in buffers local to the kernel.
#pragma once
#include "opts/opt.h"

namespace svod {

Result<Applied> applyPack(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyWindow(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyShare(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyHold(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);
Result<Applied> applyKBlock(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

/// The one load from parameter `slot`, which the kernel only reads, whose address depends on all of `axes`. `kind` is
/// the opt that asks.
Result<UOp> loadToPack(UOp sink, OptKind kind, uint32_t slot, std::span<const UOp> axes);
/// What the copy of an operand holds: the load, or that with the top bits of bytes flipped where nothing else reads it.
UOp flippedAround(UOp sink, UOp load);

}  // namespace svod
