// Ops that no target emits, written as expressions of ops that every target emits. One table row per decomposition.
#pragma once
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "ir/graph.h"
#include "lower/legalize.h"

namespace svod {

class Emitter;

/// The node to be replaced. Its sources are legal already.
struct Call {
  Op op;
  DType dtype;
  std::span<const UOp> src;
  const Arg& arg;
};

/// `run` may return null: this call needs no decomposition.
struct Decomposition {
  std::string_view name, what;
  Op op;
  bool (*applies)(DType operand);  // dtype of the first source
  UOp (*run)(Emitter&, const Call&);
};
std::span<const Decomposition> decompositions();

/// Makes legal nodes: folds constants, applies the decompositions table, else interns the node as it is.
class Emitter {
 public:
  Emitter(Graph& graph, const LegalizeOptions& options) : graph(graph), options(options) {}
  UOp make(Op op, DType dtype, std::span<const UOp> src, const Arg& arg = {});
  UOp make(Op op, DType dtype, std::initializer_list<UOp> src, const Arg& arg = {}) {
    return make(op, dtype, std::span(src.begin(), src.size()), arg);
  }
  UOp cast(UOp x, DType to) { return x.dtype() == to ? x : make(Op::Cast, to, {x}); }

  /// Whether the target has an instruction of lanes of gpu_ops.def, and whether one that is no exact function may be
  /// used.
  bool has(std::string_view instruction) const;
  bool mayApproximate(std::string_view instruction) const {
    return options.numerics != Numerics::Strict && has(instruction);
  }

  /// What is known of a float that is no NaN.
  struct FloatRange {
    double least, most;
  };
  void noteRange(UOp x, FloatRange range) { ranges_.insert_or_assign(x.id(), range); }
  FloatRange rangeOf(UOp x) const;

  Graph& graph;
  const LegalizeOptions options;

 private:
  void noteSum(UOp x);

  std::unordered_map<uint32_t, FloatRange> ranges_;  // by id of the node
};

/// Folds the lanes of `x` by halving, with one vector op per step; `step` combines two vectors of equal width.
UOp foldLanes(Graph& graph, UOp x, const std::function<UOp(UOp, UOp)>& step);

namespace detail {
// The functions of the table, by theme.
UOp decomposeCdiv(Emitter&, const Call&);  // decompose_int.cpp
UOp decomposeFloordiv(Emitter&, const Call&);
UOp decomposeShift(Emitter&, const Call&);
UOp decomposeIntAbs(Emitter&, const Call&);
UOp decomposeThreefry(Emitter&, const Call&);
UOp decomposeBool(Emitter&, const Call&);
UOp decomposeIntMulacc(Emitter&, const Call&);
UOp decomposeCast(Emitter&, const Call&);  // decompose_float.cpp
UOp decomposeFloatMaxMin(Emitter&, const Call&);
UOp decomposeRecip(Emitter&, const Call&);
UOp decomposeFdiv(Emitter&, const Call&);  // decompose_approximate.cpp
UOp decomposeRounding(Emitter&, const Call&);
UOp decomposeReduce(Emitter&, const Call&);
UOp decomposeFmod(Emitter&, const Call&);  // decompose_fmod.cpp
UOp decomposeExp(Emitter&, const Call&);   // decompose_exp.cpp
UOp decomposeScaleb(Emitter&, const Call&);
UOp decomposeTanh(Emitter&, const Call&);
UOp decomposeErf(Emitter&, const Call&);
UOp decomposeLog(Emitter&, const Call&);  // decompose_log.cpp
UOp decomposePow(Emitter&, const Call&);
UOp decomposeTrig(Emitter&, const Call&);  // decompose_trig.cpp
}  // namespace detail

}  // namespace svod
