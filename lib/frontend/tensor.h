// Values of a graph under construction, and every primitive on them.
//
// A Tensor belongs to one GraphBuilder, which records the first error. An op that cannot be built returns a
// null Tensor, an op on a null Tensor returns null without a second error, so formulas need no checks in
// between:
//
//   Tensor gelu = x * 0.5 * (erf(x * 0.70710678) + 1.0);
//   if (auto error = builder.takeError()) ...
//
// Operands broadcast as in numpy: shapes align at the right, a dim of exactly 1 stretches. A symbolic dim is
// never taken for 1. Operands of different dtypes meet at promote(a, b) of ir/dtype.h; a C++ number takes the
// dtype of the tensor it meets, except that a fraction turns integers and bools into f32, and an integer
// turns bools into i32.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir/graph.h"

namespace svod {

class GraphBuilder;

/// A size or offset: an integer, or integer arithmetic over the graph's variables. Equal polynomials compare
/// equal. Arithmetic on a null Dim is null.
class Dim {
 public:
  Dim() = default;
  Dim(Graph& graph, UOp value) : graph_(&graph), value_(value) {}
  explicit operator bool() const { return static_cast<bool>(value_); }
  UOp node() const { return value_; }
  bool isConst() const { return value_ && value_.isConst(); }
  bool is(int64_t number) const { return value_ && value_.isConst(number); }
  int64_t constant() const { return value_.constInt(); }  // only if isConst()
  /// Bounds over all values of the variables; 0 for null.
  int64_t min() const { return value_ ? value_.bounds().min : 0; }
  int64_t max() const { return value_ ? value_.bounds().max : 0; }
  bool operator==(const Dim&) const = default;

  friend Dim operator+(Dim a, Dim b);
  friend Dim operator-(Dim a, Dim b);
  friend Dim operator*(Dim a, Dim b);
  friend Dim operator+(Dim a, int64_t b);
  friend Dim operator-(Dim a, int64_t b);
  friend Dim operator*(Dim a, int64_t b);
  friend Dim floordiv(Dim a, Dim b);  // rounded toward -infinity; b must not be 0
  friend Dim floordiv(Dim a, int64_t b);
  friend Dim floormod(Dim a, Dim b);
  friend Dim smaller(Dim a, Dim b);
  friend Dim larger(Dim a, Dim b);

 private:
  Graph* graph_ = nullptr;
  UOp value_;
};

/// Which of two sizes that should be equal may be 1 instead.
enum class Stretch : uint8_t { None, Left, Any };

/// Dims of a tensor. Indexing is checked: negative counts from the end, a missing axis gives a null Dim.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<Dim> dims) : dims_(dims) {}
  explicit Dims(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  int rank() const { return static_cast<int>(dims_.size()); }
  Dim operator[](int axis) const;
  void set(int axis, Dim dim);
  void add(Dim dim) { dims_.push_back(dim); }
  void insert(int axis, Dim dim);  // before `axis`
  void erase(int axis);
  Dims slice(int begin, int end) const;  // axes begin..end-1
  Dims operator+(const Dims& more) const;
  std::vector<Dim>::const_iterator begin() const { return dims_.begin(); }
  std::vector<Dim>::const_iterator end() const { return dims_.end(); }
  bool operator==(const Dims&) const = default;

 private:
  std::vector<Dim> dims_;
};

/// Handle to a value; cheap to copy, valid as long as its builder lives.
class Tensor {
 public:
  Tensor() = default;
  explicit operator bool() const { return static_cast<bool>(node_); }
  GraphBuilder* builder() const { return builder_; }
  /// The value as it is read now: for a state or temporary that was assigned, the new value.
  UOp node() const;
  DType dtype() const { return node_ ? node_.dtype() : DType::Void; }
  int rank() const { return node_ ? static_cast<int>(node_.rank()) : 0; }
  Dim dim(int axis) const { return dims()[axis]; }
  Dims dims() const;
  /// A number without a dtype of its own yet.
  bool isLiteral() const { return literal_; }

 private:
  friend class GraphBuilder;
  Tensor(GraphBuilder* builder, UOp node, bool literal) : builder_(builder), node_(node), literal_(literal) {}
  GraphBuilder* builder_ = nullptr;
  UOp node_;
  bool literal_ = false;
  bool isHeld_ = false;  // node_ is what is read, whatever was assigned since
};

/// A Tensor or a C++ number.
class Operand {
 public:
  Operand(Tensor tensor) : tensor_(tensor) {}
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Operand(Number number)
      : kind_(std::is_same_v<Number, bool> ? Kind::Bool
              : std::is_integral_v<Number> ? Kind::Int
                                           : Kind::Float),
        integer_(std::is_integral_v<Number> ? static_cast<int64_t>(number) : 0), real_(static_cast<double>(number)) {}
  GraphBuilder* builder() const { return tensor_.builder(); }
  Tensor in(GraphBuilder& builder) const;

 private:
  enum class Kind : uint8_t { Tensor, Bool, Int, Float };
  Kind kind_ = Kind::Tensor;
  Tensor tensor_;
  int64_t integer_ = 0;
  double real_ = 0;
};

/// "f32[n, 784]", for messages; "nothing" for null.
std::string describe(const Tensor& x);
std::string describe(const Dims& dims);
std::string describe(Dim dim);

// --- Elementwise. Ops on floats only (sqrt, exp, ...) take integers as f32.
Tensor elementwise(Op op, std::initializer_list<Operand> operands);
Tensor elementwise(Op op, std::span<const Tensor> operands);
Tensor operator+(Operand a, Operand b);  // logical or for bool
Tensor operator-(Operand a, Operand b);
Tensor operator*(Operand a, Operand b);  // logical and for bool
Tensor operator/(Operand a, Operand b);  // of floats; integers become f32
Tensor operator-(Tensor a);
Tensor max(Operand a, Operand b);  // NaN wins
Tensor min(Operand a, Operand b);
Tensor pow(Operand a, Operand b);
Tensor floordiv(Operand a, Operand b);
Tensor floormod(Operand a, Operand b);
Tensor lt(Operand a, Operand b);
Tensor le(Operand a, Operand b);
Tensor gt(Operand a, Operand b);
Tensor ge(Operand a, Operand b);
Tensor eq(Operand a, Operand b);
Tensor ne(Operand a, Operand b);
Tensor both(Operand a, Operand b);    // bitwise or logical and
Tensor either(Operand a, Operand b);  // bitwise or logical or
Tensor exclusive(Operand a, Operand b);
Tensor negated(Tensor a);  // logical or bitwise complement
Tensor where(Tensor condition, Operand a, Operand b);
Tensor abs(Tensor x);
Tensor sqrt(Tensor x);
Tensor recip(Tensor x);
Tensor exp(Tensor x);
Tensor log(Tensor x);
Tensor sin(Tensor x);
Tensor cos(Tensor x);
Tensor tanh(Tensor x);
Tensor erf(Tensor x);
Tensor floor(Tensor x);
Tensor ceil(Tensor x);
Tensor isNan(Tensor x);  // all false for integers
Tensor cast(Tensor x, DType to);
/// Same bits, another dtype of equal size.
Tensor bitcast(Tensor x, DType to);
/// The dtype operands meet at; Void when none is given.
DType commonDType(std::span<const Tensor> operands);

// --- Movement. Axes may be negative; `dims` have one entry per axis of the result.
Tensor reshape(Tensor x, const Dims& dims);
/// Broadcasts to `dims` by numpy's rule.
Tensor expand(Tensor x, const Dims& dims);
Tensor permute(Tensor x, std::span<const int> order);
Tensor permute(Tensor x, std::initializer_list<int> order);
Tensor pad(Tensor x, const Dims& before, const Dims& after, Operand fill);
Tensor shrink(Tensor x, const Dims& offsets, const Dims& sizes);
/// shrink along one axis.
Tensor narrow(Tensor x, int axis, Dim offset, Dim size);
Tensor flip(Tensor x, std::span<const int> axes);
Tensor unsqueeze(Tensor x, int axis);  // a dim of 1 before `axis`; -1 appends
Tensor squeeze(Tensor x, int axis);    // drops a dim of 1
/// The dims of all tensors broadcast together.
Dims broadcastDims(std::span<const Tensor> tensors);

// --- Reductions over `axes` (all axes when empty and `x` has some).
/// Folds with Add, Mul, Max or Min in the dtype of x.
Tensor reduce(Op op, Tensor x, std::span<const int> axes, bool keepDims);
/// Sums and products in sumDType(x.dtype()), then casts back (bool: stays i32).
Tensor accumulate(Op op, Tensor x, std::span<const int> axes, bool keepDims);
inline Tensor sum(Tensor x, int axis, bool keep = false) { return accumulate(Op::Add, x, {{axis}}, keep); }
inline Tensor maximum(Tensor x, int axis, bool keep = false) { return reduce(Op::Max, x, {{axis}}, keep); }

// --- Indexing
/// result[p] = x[index0[p], index1[p], ...]; indices broadcast together; reads out of range give 0.
Tensor gather(Tensor x, std::span<const Tensor> indices);
/// gather along one axis: the dims of `positions` take the place of that axis.
Tensor take(Tensor x, int axis, Tensor positions);
/// base with base[index..[p]] = op(base[..], updates[p]) for every p in row-major order; Op::Store replaces.
/// Positions out of range are left out. `areDistinct`: no two updates go to one place, so that any order will do.
Tensor scatter(Op op, Tensor base, std::span<const Tensor> indices, Tensor updates, bool areDistinct = false);
/// Adds `size` to negative positions.
Tensor wrapNegative(Tensor positions, Dim size);

// --- Others
Tensor contiguous(Tensor x);
/// Devices: "cpu". Errors: BadAttribute for another.
Tensor copyTo(Tensor x, std::string_view device);
/// Kept: the function is called as often as this is, in this order, whoever reads the result. Pure: the result depends
/// on the inputs only, so equal calls are made once, and those that nothing reads never.
enum class CallKind : uint8_t { Kept, Pure };
/// Host function `name` of the inputs. It sees them as dense arrays and fills a dense result.
Tensor custom(GraphBuilder& builder, std::string_view name, std::span<const Tensor> inputs, DType dtype,
              const Dims& dims, CallKind kind = CallKind::Kept);

}  // namespace svod
