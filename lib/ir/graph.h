// Graph: the owner and factory of UOps. Not thread-safe; kernels are cloned into graphs of their own to be compiled in
// parallel, and dropping a Graph frees everything in it. Handles are valid as long as their Graph lives.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ir/uop.h"
#include "support/arena.h"

namespace svod {

class Graph {
 public:
  Graph();
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  /// The interned node. Arity, arg kind and shapes must fit the op (verify() reports what does not; make() aborts on
  /// what would make the node meaningless). Names and axes in `arg` are copied.
  UOp make(Op op, DType dtype, std::span<const UOp> src, const Arg& arg = {});
  UOp make(Op op, DType dtype, std::initializer_list<UOp> src, const Arg& arg = {}) {
    return make(op, dtype, std::span(src.begin(), src.size()), arg);
  }

  // Constants and leaves
  UOp constant(Scalar value);
  UOp index(int64_t value) { return constant(Scalar::ofInt(DType::Index, value)); }
  UOp boolean(bool value) { return constant(Scalar::ofInt(DType::Bool, value)); }
  /// With usualSize() as its likely value, or with another one.
  UOp variable(std::string_view name, int64_t min, int64_t max);
  UOp variable(std::string_view name, Interval bounds, int64_t likely);
  UOp range(UOp end, uint32_t id, AxisType type);
  UOp buffer(DType dtype, std::span<const UOp> dims, SlotArg slot) { return make(Op::Buffer, dtype, dims, slot); }

  // Elementwise: the result dtype follows from the operands (src0, or src1 of Where; Bool for comparisons).
  UOp alu(Op op, std::span<const UOp> src);
  UOp alu(Op op, std::initializer_list<UOp> src) { return alu(op, std::span(src.begin(), src.size())); }
  UOp cast(UOp x, DType to) { return x.dtype() == to ? x : make(Op::Cast, to, {x}); }
  UOp bitcast(UOp x, DType to) { return x.dtype() == to ? x : make(Op::Bitcast, to, {x}); }
  UOp where(UOp condition, UOp a, UOp b) { return alu(Op::Where, {condition, a, b}); }

  // Movement (tensor stage). Dims, offsets and sizes are Index values, one per axis.
  UOp reshape(UOp x, std::span<const UOp> dims);
  UOp expand(UOp x, std::span<const UOp> dims);
  UOp permute(UOp x, std::span<const int32_t> order);
  UOp pad(UOp x, UOp fill, std::span<const UOp> before, std::span<const UOp> after);
  UOp shrink(UOp x, std::span<const UOp> offsets, std::span<const UOp> sizes);
  UOp flip(UOp x, std::span<const int32_t> axes);
  UOp reduce(Op op, UOp x, std::span<const int32_t> axes);      // tensor stage
  UOp reduceRanges(Op op, UOp x, std::span<const UOp> ranges);  // kernel stage

  // Kernel stage
  UOp load(UOp address) { return make(Op::Load, address.dtype(), {address}); }
  UOp load(UOp address, UOp alt, UOp gate) { return make(Op::Load, address.dtype(), {address, alt, gate}); }
  UOp indexInto(UOp storage, std::span<const UOp> indices);
  /// `value` for all iterations of `ranges`, kept in a flat Local buffer: row-major by their largest extents.
  UOp fill(UOp value, std::span<const UOp> ranges, uint32_t slot);
  /// Such a buffer whose elements fold `value` with `op` over all iterations of `over`, the outermost loops.
  UOp accumulator(Op op, UOp value, std::span<const UOp> over, std::span<const UOp> ranges, uint32_t slot);
  /// The address in such a buffer of the element at counters `at`, one per range.
  UOp indexRowMajor(UOp storage, std::span<const UOp> ranges, std::span<const UOp> at);

  /// The node with other sources (dtype kept unless given).
  UOp withSrc(UOp node, std::span<const UOp> src) { return make(node.op(), node.dtype(), src, node.arg()); }
  /// Copies the DAG below `root` of another graph into this one.
  UOp clone(UOp root);

  size_t size() const { return nodes_.size(); }  // ids are 0..size()-1
  UOp node(uint32_t id) const { return UOp(nodes_[id]); }

 private:
  UOp find(const Node& key) const;
  void insert(const Node* node);

  Arena arena_;
  std::vector<const Node*> nodes_;  // by id
  std::vector<uint32_t> table_;     // open addressing over ids + 1
};

/// Nodes reachable from `root`, sources before users, each once, in an order that depends on structure only.
std::vector<UOp> toposort(UOp root);
std::vector<UOp> toposort(std::span<const UOp> roots);

/// `node` without the effects (After) and hints (Prefetch) around it.
UOp behindAliases(UOp node);

/// The Buffer, Param or Fill that an address (Index) or a storage after some effects (After) belongs to.
UOp storageOf(UOp address);

/// Rebuilds the DAG below `root` with `map(node, newSources)` applied once to every node, sources first.
/// `map` returns the replacement; it may call graph.withSrc for "unchanged". One sweep, no fixpoint.
UOp transform(Graph& graph, UOp root, const std::function<UOp(UOp node, std::span<const UOp> newSrc)>& map);

/// Replaces every `from[i]` by `to[i]` at once; replacements are not entered.
UOp substitute(Graph& graph, UOp root, std::span<const UOp> from, std::span<const UOp> to);

}  // namespace svod
