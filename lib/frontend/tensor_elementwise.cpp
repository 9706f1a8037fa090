// Elementwise ops: operands meet at a common dtype and shape, then become one node.
#include <algorithm>
#include <cmath>

#include "frontend/builder.h"

namespace svod {

Tensor Operand::in(GraphBuilder& b) const {
  switch (kind_) {
    case Kind::Bool: return b.literal(integer_ != 0);
    case Kind::Int: return b.literal(integer_);
    case Kind::Float: return b.literal(real_);
    default: return tensor_;
  }
}

DType commonDType(std::span<const Tensor> operands) {
  DType common = DType::Void;
  bool hasInt = false, hasFloat = false, hasBool = false;
  for (const Tensor& t : operands) {
    if (!t) continue;
    if (!t.isLiteral()) common = promote(common, t.dtype());
    hasInt |= t.isLiteral() && isInt(t.dtype());
    hasFloat |= t.isLiteral() && isFloat(t.dtype());
    hasBool |= t.isLiteral() && t.dtype() == DType::Bool;
  }
  if (hasFloat && !isFloat(common)) return DType::F32;
  if (hasInt && (common == DType::Void || common == DType::Bool)) return DType::I32;
  return common == DType::Void && hasBool ? DType::Bool : common;
}

namespace {

Tensor fitLiteral(GraphBuilder& b, Tensor x, DType to) {
  Scalar value = x.node().constant();
  if (isFloat(to)) return b.constant(Scalar::ofFloat(to, isFloat(x.dtype()) ? value.asFloat() : double(value.asInt())));
  if (isFloat(x.dtype())) {
    Scalar operands[] = {value};
    return b.constant(evalScalar(Op::Cast, to, operands));
  }
  int64_t number = value.asInt();
  bool fits = to == DType::Bool || to == DType::U64 || (number >= minInt(to) && number <= maxInt(to));
  if (fits) return b.constant(Scalar::ofInt(to, to == DType::Bool ? number != 0 : number));
  return b.fail(Diag::DTypeMismatch, std::to_string(number) + " does not fit " + std::string(toText(to)),
                "cast the other operand to a wider dtype first");
}

bool wantsFloat(Op op) { return has(op, FloatOnly); }

bool keepsIntegers(Op op) {
  return op == Op::Trunc || op == Op::Floor || op == Op::Ceil || op == Op::Round || op == Op::Pow;
}

// The dtype the value operands of `op` are cast to; Void and an error if the op does not take them.
DType operandDType(GraphBuilder& b, Op op, std::span<const Tensor> operands) {
  DType common = commonDType(operands);
  if (has(op, IntOnly) && isFloat(common)) {
    std::string got = describe(operands[0]);
    for (size_t i = 1; i < operands.size(); ++i) got += " and " + describe(operands[i]);
    b.fail(Diag::DTypeMismatch, "needs integers or bools, got " + got,
           "cast the operands to one integer dtype (i64 with u64 meets at f32)");
    return DType::Void;
  }
  if (common == DType::Bool && (op == Op::Neg || op == Op::Sub || op == Op::Abs)) {
    b.fail(Diag::DTypeMismatch, "needs numbers, got " + describe(operands[0]),
           "cast it to an integer, or use not or xor");
    return DType::Void;
  }
  bool chooses = has(op, Comparison) || op == Op::Max || op == Op::Min || op == Op::Where;
  if (!chooses && !isComputedIn(common)) {
    b.fail(Diag::DTypeMismatch, std::string(toText(common)) + " only holds values, got " + describe(operands[0]),
           "cast the operands to f32 first");
    return DType::Void;
  }
  return wantsFloat(op) && !isFloat(common) ? DType::F32 : common;
}

// Brings operands to the common shape. Scalars stay scalars: the IR broadcasts them.
bool broadcastAll(std::vector<Tensor>& operands) {
  Dims dims = broadcastDims(operands);
  for (Tensor& t : operands) {
    if (t.rank() > 0) t = expand(t, dims);
    if (!t) return false;
  }
  return true;
}

Tensor build(GraphBuilder& b, Op op, std::vector<Tensor> operands) {
  for (const Tensor& t : operands)
    if (!t) return {};
  if (keepsIntegers(op) && !isFloat(commonDType(operands)) && operands.size() == 1) return operands[0];
  size_t firstValue = op == Op::Where ? 1 : 0;
  DType dtype = operandDType(b, op, std::span(operands).subspan(firstValue));
  if (dtype == DType::Void) return {};
  if (firstValue == 1) operands[0] = cast(operands[0], DType::Bool);
  for (size_t i = firstValue; i < operands.size(); ++i) operands[i] = cast(operands[i], dtype);
  if (!broadcastAll(operands)) return {};
  std::vector<UOp> src;
  for (const Tensor& t : operands) src.push_back(t.node());
  return b.wrap(b.graph().alu(op, src));
}

GraphBuilder* builderOf(std::initializer_list<Operand> operands) {
  for (const Operand& o : operands)
    if (o.builder()) return o.builder();
  return nullptr;
}

}  // namespace

Tensor elementwise(Op op, std::initializer_list<Operand> operands) {
  GraphBuilder* b = builderOf(operands);
  if (!b) return {};
  std::vector<Tensor> tensors;
  for (const Operand& o : operands) tensors.push_back(o.in(*b));
  return build(*b, op, std::move(tensors));
}

Tensor elementwise(Op op, std::span<const Tensor> operands) {
  for (const Tensor& t : operands)
    if (t.builder()) return build(*t.builder(), op, {operands.begin(), operands.end()});
  return {};
}

Tensor operator+(Operand a, Operand b) { return elementwise(Op::Add, {a, b}); }
Tensor operator-(Operand a, Operand b) { return elementwise(Op::Sub, {a, b}); }
Tensor operator*(Operand a, Operand b) { return elementwise(Op::Mul, {a, b}); }
Tensor operator/(Operand a, Operand b) { return elementwise(Op::Fdiv, {a, b}); }
Tensor operator-(Tensor a) { return elementwise(Op::Neg, {a}); }
Tensor max(Operand a, Operand b) { return elementwise(Op::Max, {a, b}); }
Tensor min(Operand a, Operand b) { return elementwise(Op::Min, {a, b}); }
Tensor pow(Operand a, Operand b) { return elementwise(Op::Pow, {a, b}); }
Tensor floordiv(Operand a, Operand b) { return elementwise(Op::Floordiv, {a, b}); }
Tensor floormod(Operand a, Operand b) { return elementwise(Op::Floormod, {a, b}); }
Tensor lt(Operand a, Operand b) { return elementwise(Op::Lt, {a, b}); }
Tensor le(Operand a, Operand b) { return elementwise(Op::Le, {a, b}); }
Tensor gt(Operand a, Operand b) { return elementwise(Op::Lt, {b, a}); }
Tensor ge(Operand a, Operand b) { return elementwise(Op::Le, {b, a}); }
Tensor eq(Operand a, Operand b) { return elementwise(Op::Eq, {a, b}); }
Tensor ne(Operand a, Operand b) { return elementwise(Op::Ne, {a, b}); }
Tensor both(Operand a, Operand b) { return elementwise(Op::And, {a, b}); }
Tensor either(Operand a, Operand b) { return elementwise(Op::Or, {a, b}); }
Tensor exclusive(Operand a, Operand b) { return elementwise(Op::Xor, {a, b}); }
Tensor negated(Tensor a) { return elementwise(Op::Not, {a}); }
Tensor where(Tensor condition, Operand a, Operand b) { return elementwise(Op::Where, {condition, a, b}); }
Tensor abs(Tensor x) { return elementwise(Op::Abs, {x}); }
Tensor sqrt(Tensor x) { return elementwise(Op::Sqrt, {x}); }
Tensor recip(Tensor x) { return elementwise(Op::Recip, {x}); }
Tensor exp(Tensor x) { return elementwise(Op::Exp, {x}); }
Tensor log(Tensor x) { return elementwise(Op::Log, {x}); }
Tensor sin(Tensor x) { return elementwise(Op::Sin, {x}); }
Tensor cos(Tensor x) { return elementwise(Op::Cos, {x}); }
Tensor tanh(Tensor x) { return elementwise(Op::Tanh, {x}); }
Tensor erf(Tensor x) { return elementwise(Op::Erf, {x}); }
Tensor floor(Tensor x) { return elementwise(Op::Floor, {x}); }
Tensor ceil(Tensor x) { return elementwise(Op::Ceil, {x}); }
Tensor isNan(Tensor x) { return ne(x, x); }

Tensor cast(Tensor x, DType to) {
  if (!x) return {};
  GraphBuilder& b = *x.builder();
  if (to == DType::Void) return b.fail(Diag::UnknownDType, "nothing can be cast to void", "name a dtype such as f32");
  if (x.isLiteral()) return fitLiteral(b, x, to);
  return x.dtype() == to ? x : b.wrap(b.graph().cast(x.node(), to));
}

Tensor bitcast(Tensor x, DType to) {
  if (!x) return {};
  GraphBuilder& b = *x.builder();
  if (x.isLiteral()) x = cast(x, commonDType({&x, 1}));
  if (memoryBits(x.dtype()) != memoryBits(to) || to == DType::Bool || x.dtype() == DType::Bool || to == DType::Index ||
      x.dtype() == DType::Index)
    return b.fail(Diag::DTypeMismatch, "cannot view the bits of " + describe(x) + " as " + std::string(toText(to)),
                  "bitcast between dtypes of the same size");
  return x.dtype() == to ? x : b.wrap(b.graph().bitcast(x.node(), to));
}

}  // namespace svod
