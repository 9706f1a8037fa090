// Legalization: the last lowering of a kernel. Afterwards only ops and dtypes remain that every target emits (see
// emittableOps() in target/emittable.h): no small floats, no Index, no transcendentals, no op that could trap or be
// undefined.
#pragma once
#include "ir/graph.h"
#include "ir/numerics.h"
#include "support/gpu_family.h"

namespace svod {

struct LegalizeOptions {
  Numerics numerics = Numerics::Contract;
  bool fma = true;                 // Mulacc of floats is one instruction; else it is only kept where the input has it
  bool nativeF16 = false;          // keep casts between f16 and f32; f16 appears only between them and a bitcast
  bool nativeBf16 = false;         // keep dot products of bf16; it appears only between them and a bitcast
  bool nativeScaleb = false;       // Scaleb is an instruction
  bool keepsSums = false;          // no compiler behind this one takes (x + c) - c for x
  bool correctsQuotients = false;  // products and a step that corrects are faster than a division
  bool nativeRound = true;         // Trunc, Floor, Ceil and Round are instructions
  bool narrowIndex = false;        // Index becomes i32 where its interval fits, else i64
  GpuFamily gpuFamily = GpuFamily::Cuda;
  int gpuGeneration = 0;  // instructions of lanes in gpu_ops.def are those of it; 0: there are none
};

/// Lowered-stage graph in, Lowered-stage graph out. Cannot fail: every op has a lowering.
UOp legalize(Graph& graph, UOp root, const LegalizeOptions& options);

namespace detail {
UOp legalizeStorage(Graph&, UOp root, const LegalizeOptions&);
UOp legalizeIndex(Graph&, UOp root, const LegalizeOptions&);
UOp legalizeOps(Graph&, UOp root, const LegalizeOptions&);
UOp legalizeMulacc(Graph&, UOp root, const LegalizeOptions&);
}  // namespace detail

}  // namespace svod
