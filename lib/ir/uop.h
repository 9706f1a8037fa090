// The node of the IR. UOps are immutable, interned per Graph and owned by its arena: same structure in one Graph means
// same handle, so identity is equality. Everything derived from structure alone (shape, bounds, open ranges, content
// hash) is computed once, when the node is made.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "ir/dtype.h"
#include "ir/op.h"
#include "ir/scalar.h"

namespace svod {

/// What a loop range is for. Loop is sequential or not yet decided; Serial must run in order (its iterations depend
/// on each other through memory); Thread is split into tiles for the workers of a CPU; Global, Local and Group are GPU
/// grid, workgroup and workgroup-reduction axes; Upcast, Unroll and Vector are expanded into values; Dot is what one
/// instruction sums up in a lane. Warp is the lanes of a warp that work on one tile of a tensor core, Core what each of
/// them has of it: elements of the result, and the terms that one instruction sums up. Spread is dealt to all threads
/// of a workgroup, whatever their number.
enum class AxisType : uint8_t {
  Loop,
  Serial,
  Thread,
  Global,
  Local,
  Group,
  Upcast,
  Vector,
  Reduce,
  Unroll,
  Dot,
  Warp,
  Core,
  Spread
};
/// Where storage lies. Stream is global memory that is written past the caches, where the CPU can.
enum class Space : uint8_t { Global, Local, Reg, Stream };
std::string_view toText(AxisType type);
std::string_view toText(Space space);

/// Inclusive interval of an integer or bool value. Values of other dtypes have the whole i64 range.
struct Interval {
  int64_t min = INT64_MIN, max = INT64_MAX;
  bool isConst() const { return min == max; }
  bool operator==(const Interval&) const = default;
};

/// The likely size where nobody says one: that of a sentence, a row of pixels or a block of samples, as far as the
/// bounds allow it.
constexpr int64_t usualSize(Interval bounds) {
  constexpr int64_t kUsual = 64;
  return kUsual < bounds.min ? bounds.min : kUsual > bounds.max ? bounds.max : kUsual;
}

/// Args are a closed set of named structs. Spans and strings point into the graph's arena.
struct SlotArg {
  uint32_t slot = 0;
  Space space = Space::Global;
  uint8_t swizzle = 0;  // of a Local buffer whose pieces of 16 bytes change places: log2 of the bytes of a row
  uint8_t ring = 0;     // of a Local buffer: stages, which copies under way fill in turn
  bool operator==(const SlotArg&) const = default;
};
struct VarArg {
  std::string_view name;
  int64_t min = 0, max = 0;  // inclusive
  int64_t likely = 0;        // the value that choices are made for first
  VarArg() = default;
  VarArg(std::string_view name, int64_t min, int64_t max) : VarArg(name, min, max, usualSize({min, max})) {}
  VarArg(std::string_view name, int64_t min, int64_t max, int64_t likely)
      : name(name), min(min), max(max), likely(likely) {}
  bool operator==(const VarArg&) const = default;
};
struct AxisArg {
  uint32_t id = 0;
  AxisType type = AxisType::Loop;
  bool operator==(const AxisArg&) const = default;
};
struct AxesArg {
  std::span<const int32_t> axes;
  bool operator==(const AxesArg& other) const;
};
struct ReduceArg {
  Op op = Op::Add;  // Add, Mul, Max, Min; Scatter and Fill also Store
  std::span<const int32_t> axes;
  bool operator==(const ReduceArg& other) const;
};
struct NameArg {
  std::string_view name;
  bool operator==(const NameArg&) const = default;
};
struct CustomArg {
  std::string_view name;
  int32_t inputs = 0;
  bool operator==(const CustomArg&) const = default;
};
using Arg = std::variant<std::monostate, Scalar, SlotArg, VarArg, AxisArg, AxesArg, ReduceArg, NameArg, CustomArg>;

/// Content hash: depends on op names, dtypes, args and sources only, never on ids, addresses or creation order.
struct Hash128 {
  uint64_t hi = 0, lo = 0;
  auto operator<=>(const Hash128&) const = default;
};

class UOp;

struct Node {
  Op op;
  DType dtype;
  uint32_t id;
  uint64_t childOps;  // bit (op % 64) set for each source op
  Hash128 hash;
  std::span<const UOp> src;
  std::span<const UOp> shape;   // dims, each an Index value of shape ()
  std::span<const UOp> ranges;  // open Range nodes, sorted by (axis id, hash)
  Interval bounds;
  Arg arg;
};

class UOp {
 public:
  UOp() = default;
  explicit UOp(const Node* node) : node_(node) {}

  Op op() const { return node_->op; }
  DType dtype() const { return node_->dtype; }
  std::span<const UOp> src() const;
  UOp src(size_t i) const;
  size_t srcCount() const;
  const Arg& arg() const { return node_->arg; }
  template <class T>
  const T& argAs() const {
    return std::get<T>(node_->arg);
  }
  uint32_t id() const { return node_->id; }  // dense per Graph, sources before users; index for side tables
  const Hash128& hash() const { return node_->hash; }
  uint64_t childOps() const { return node_->childOps; }

  std::span<const UOp> shape() const;
  size_t rank() const;
  bool isScalar() const { return rank() == 0; }
  /// Dim `axis` as a number; -1 when it is symbolic.
  int64_t dim(size_t axis) const;
  /// Number of elements with every symbolic dim at its maximum.
  int64_t maxNumel() const;
  bool hasSymbolicShape() const;
  /// Lanes of a lowered value: 1 for shape (), w for (w).
  int lanes() const { return isScalar() ? 1 : static_cast<int>(dim(0)); }

  const Interval& bounds() const { return node_->bounds; }
  std::span<const UOp> ranges() const;
  bool dependsOn(UOp range) const;

  bool isConst() const { return op() == Op::Const; }
  bool isConst(int64_t value) const;  // integer, Index or bool constant of that value
  Scalar constant() const { return argAs<Scalar>(); }
  int64_t constInt() const { return constant().asInt(); }

  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(const UOp&) const = default;

 private:
  const Node* node_ = nullptr;
};

/// Structural order: the same in every run, whatever the creation order.
inline bool structuralLess(UOp a, UOp b) { return a.hash() < b.hash(); }

inline std::span<const UOp> UOp::src() const { return node_->src; }
inline UOp UOp::src(size_t i) const { return node_->src[i]; }
inline size_t UOp::srcCount() const { return node_->src.size(); }
inline std::span<const UOp> UOp::shape() const { return node_->shape; }
inline size_t UOp::rank() const { return node_->shape.size(); }
inline std::span<const UOp> UOp::ranges() const { return node_->ranges; }

}  // namespace svod
