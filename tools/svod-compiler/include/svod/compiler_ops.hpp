// Every op of graph files as a function; docs/graph-format.md has the same list. Written by tests/compiler/make_ops.py.
// Attributes that have to be given are parameters, others stand in a struct: softmax(x, {.axis = 0}). Names that are
// words of C++ have an underscore behind them. Included by svod/compiler.hpp.
#ifndef SVOD_COMPILER_OPS_HPP
#define SVOD_COMPILER_OPS_HPP

#include <svod/compiler.hpp>

namespace svod::compiler::ops {

/// a + b; logical or of bools
inline Value add(Operand a, Operand b) {
  detail::Call call(nullptr, "add", std::vector<Operand>{a, b});
  return call.one();
}

/// a - b
inline Value sub(Operand a, Operand b) {
  detail::Call call(nullptr, "sub", std::vector<Operand>{a, b});
  return call.one();
}

/// a * b; logical and of bools
inline Value mul(Operand a, Operand b) {
  detail::Call call(nullptr, "mul", std::vector<Operand>{a, b});
  return call.one();
}

/// a / b of floats; integers become f32
inline Value div(Operand a, Operand b) {
  detail::Call call(nullptr, "div", std::vector<Operand>{a, b});
  return call.one();
}

/// div
inline Value fdiv(Operand a, Operand b) {
  detail::Call call(nullptr, "fdiv", std::vector<Operand>{a, b});
  return call.one();
}

/// the larger; NaN wins
inline Value max(Operand a, Operand b) {
  detail::Call call(nullptr, "max", std::vector<Operand>{a, b});
  return call.one();
}

/// the smaller; NaN wins
inline Value min(Operand a, Operand b) {
  detail::Call call(nullptr, "min", std::vector<Operand>{a, b});
  return call.one();
}

/// a to the power b; integers multiply exactly, and negative powers of them round toward zero
inline Value pow(Operand a, Operand b) {
  detail::Call call(nullptr, "pow", std::vector<Operand>{a, b});
  return call.one();
}

/// quotient rounded toward zero; x/0 is all ones
inline Value cdiv(Operand a, Operand b) {
  detail::Call call(nullptr, "cdiv", std::vector<Operand>{a, b});
  return call.one();
}

/// remainder with the sign of a; x%0 is x
inline Value cmod(Operand a, Operand b) {
  detail::Call call(nullptr, "cmod", std::vector<Operand>{a, b});
  return call.one();
}

/// quotient rounded toward -infinity; also //
inline Value floordiv(Operand a, Operand b) {
  detail::Call call(nullptr, "floordiv", std::vector<Operand>{a, b});
  return call.one();
}

/// remainder with the sign of b; also %
inline Value floormod(Operand a, Operand b) {
  detail::Call call(nullptr, "floormod", std::vector<Operand>{a, b});
  return call.one();
}

/// a * b + c
inline Value mulacc(Operand a, Operand b, Operand c) {
  detail::Call call(nullptr, "mulacc", std::vector<Operand>{a, b, c});
  return call.one();
}

/// -x
inline Value neg(Operand x) {
  detail::Call call(nullptr, "neg", std::vector<Operand>{x});
  return call.one();
}

/// absolute value; the smallest integer stays itself
inline Value abs(Operand x) {
  detail::Call call(nullptr, "abs", std::vector<Operand>{x});
  return call.one();
}

/// -1, 0 or 1; NaN stays NaN
inline Value sign(Operand x) {
  detail::Call call(nullptr, "sign", std::vector<Operand>{x});
  return call.one();
}

/// 1 / x
inline Value recip(Operand x) {
  detail::Call call(nullptr, "recip", std::vector<Operand>{x});
  return call.one();
}

/// x * x
inline Value square(Operand x) {
  detail::Call call(nullptr, "square", std::vector<Operand>{x});
  return call.one();
}

/// square root, correctly rounded
inline Value sqrt(Operand x) {
  detail::Call call(nullptr, "sqrt", std::vector<Operand>{x});
  return call.one();
}

/// 1 / sqrt(x)
inline Value rsqrt(Operand x) {
  detail::Call call(nullptr, "rsqrt", std::vector<Operand>{x});
  return call.one();
}

/// rounds toward zero; integers stay
inline Value trunc(Operand x) {
  detail::Call call(nullptr, "trunc", std::vector<Operand>{x});
  return call.one();
}

/// rounds toward -infinity; integers stay
inline Value floor(Operand x) {
  detail::Call call(nullptr, "floor", std::vector<Operand>{x});
  return call.one();
}

/// rounds toward +infinity; integers stay
inline Value ceil(Operand x) {
  detail::Call call(nullptr, "ceil", std::vector<Operand>{x});
  return call.one();
}

/// rounds to nearest, ties to even; integers stay
inline Value round(Operand x) {
  detail::Call call(nullptr, "round", std::vector<Operand>{x});
  return call.one();
}

struct ClipOptions {
  std::optional<double> min = {};
  std::optional<double> max = {};
};
/// x limited to [min, max]; NaN stays NaN
inline Value clip(Operand x, const ClipOptions& options = {}) {
  detail::Call call(nullptr, "clip", std::vector<Operand>{x});
  call("min", options.min);
  call("max", options.max);
  return call.one();
}

/// e to the power x
inline Value exp(Operand x) {
  detail::Call call(nullptr, "exp", std::vector<Operand>{x});
  return call.one();
}

/// 2 to the power x
inline Value exp2(Operand x) {
  detail::Call call(nullptr, "exp2", std::vector<Operand>{x});
  return call.one();
}

/// e to the power x, minus 1; exact to its last digits near 0
inline Value expm1(Operand x) {
  detail::Call call(nullptr, "expm1", std::vector<Operand>{x});
  return call.one();
}

/// natural logarithm
inline Value log(Operand x) {
  detail::Call call(nullptr, "log", std::vector<Operand>{x});
  return call.one();
}

/// logarithm to base 2
inline Value log2(Operand x) {
  detail::Call call(nullptr, "log2", std::vector<Operand>{x});
  return call.one();
}

/// natural logarithm of 1 + x; exact to its last digits near 0
inline Value log1p(Operand x) {
  detail::Call call(nullptr, "log1p", std::vector<Operand>{x});
  return call.one();
}

/// logarithm to base 10
inline Value log10(Operand x) {
  detail::Call call(nullptr, "log10", std::vector<Operand>{x});
  return call.one();
}

/// sine of radians
inline Value sin(Operand x) {
  detail::Call call(nullptr, "sin", std::vector<Operand>{x});
  return call.one();
}

/// cosine of radians
inline Value cos(Operand x) {
  detail::Call call(nullptr, "cos", std::vector<Operand>{x});
  return call.one();
}

/// tangent of radians
inline Value tan(Operand x) {
  detail::Call call(nullptr, "tan", std::vector<Operand>{x});
  return call.one();
}

/// hyperbolic tangent
inline Value tanh(Operand x) {
  detail::Call call(nullptr, "tanh", std::vector<Operand>{x});
  return call.one();
}

/// hyperbolic sine
inline Value sinh(Operand x) {
  detail::Call call(nullptr, "sinh", std::vector<Operand>{x});
  return call.one();
}

/// hyperbolic cosine
inline Value cosh(Operand x) {
  detail::Call call(nullptr, "cosh", std::vector<Operand>{x});
  return call.one();
}

/// angle with this sine, in [-pi/2, pi/2]
inline Value asin(Operand x) {
  detail::Call call(nullptr, "asin", std::vector<Operand>{x});
  return call.one();
}

/// angle with this cosine, in [0, pi]
inline Value acos(Operand x) {
  detail::Call call(nullptr, "acos", std::vector<Operand>{x});
  return call.one();
}

/// angle with this tangent, in [-pi/2, pi/2]
inline Value atan(Operand x) {
  detail::Call call(nullptr, "atan", std::vector<Operand>{x});
  return call.one();
}

/// inverse hyperbolic sine
inline Value asinh(Operand x) {
  detail::Call call(nullptr, "asinh", std::vector<Operand>{x});
  return call.one();
}

/// inverse hyperbolic cosine
inline Value acosh(Operand x) {
  detail::Call call(nullptr, "acosh", std::vector<Operand>{x});
  return call.one();
}

/// inverse hyperbolic tangent
inline Value atanh(Operand x) {
  detail::Call call(nullptr, "atanh", std::vector<Operand>{x});
  return call.one();
}

/// error function
inline Value erf(Operand x) {
  detail::Call call(nullptr, "erf", std::vector<Operand>{x});
  return call.one();
}

/// bitwise, or logical for bool
inline Value and_(Operand a, Operand b) {
  detail::Call call(nullptr, "and", std::vector<Operand>{a, b});
  return call.one();
}

/// bitwise, or logical for bool
inline Value or_(Operand a, Operand b) {
  detail::Call call(nullptr, "or", std::vector<Operand>{a, b});
  return call.one();
}

/// bitwise, or logical for bool
inline Value xor_(Operand a, Operand b) {
  detail::Call call(nullptr, "xor", std::vector<Operand>{a, b});
  return call.one();
}

/// complement of the bits, or of a bool
inline Value not_(Operand x) {
  detail::Call call(nullptr, "not", std::vector<Operand>{x});
  return call.one();
}

/// a << b in the dtype of a; a count of the width or more gives 0
inline Value shl(Operand a, Operand b) {
  detail::Call call(nullptr, "shl", std::vector<Operand>{a, b});
  return call.one();
}

/// a >> b in the dtype of a, arithmetic for signed
inline Value shr(Operand a, Operand b) {
  detail::Call call(nullptr, "shr", std::vector<Operand>{a, b});
  return call.one();
}

/// a < b
inline Value lt(Operand a, Operand b) {
  detail::Call call(nullptr, "lt", std::vector<Operand>{a, b});
  return call.one();
}

/// a <= b
inline Value le(Operand a, Operand b) {
  detail::Call call(nullptr, "le", std::vector<Operand>{a, b});
  return call.one();
}

/// a > b
inline Value gt(Operand a, Operand b) {
  detail::Call call(nullptr, "gt", std::vector<Operand>{a, b});
  return call.one();
}

/// a >= b
inline Value ge(Operand a, Operand b) {
  detail::Call call(nullptr, "ge", std::vector<Operand>{a, b});
  return call.one();
}

/// a == b
inline Value eq(Operand a, Operand b) {
  detail::Call call(nullptr, "eq", std::vector<Operand>{a, b});
  return call.one();
}

/// a != b
inline Value ne(Operand a, Operand b) {
  detail::Call call(nullptr, "ne", std::vector<Operand>{a, b});
  return call.one();
}

/// true where x is NaN
inline Value isnan(Operand x) {
  detail::Call call(nullptr, "isnan", std::vector<Operand>{x});
  return call.one();
}

/// true where x is an infinity
inline Value isinf(Operand x) {
  detail::Call call(nullptr, "isinf", std::vector<Operand>{x});
  return call.one();
}

/// true where x is neither NaN nor an infinity
inline Value isfinite(Operand x) {
  detail::Call call(nullptr, "isfinite", std::vector<Operand>{x});
  return call.one();
}

/// a where the condition is not zero, else b
inline Value where(Operand condition, Operand a, Operand b) {
  detail::Call call(nullptr, "where", std::vector<Operand>{condition, a, b});
  return call.one();
}

/// converts; floats to integers saturate, to bool is x != 0
inline Value cast(Operand x, const std::string& dtype) {
  detail::Call call(nullptr, "cast", std::vector<Operand>{x});
  call("dtype", dtype);
  return call.one();
}

/// same bytes, little endian; another size scales the last dim
inline Value bitcast(Operand x, const std::string& dtype) {
  detail::Call call(nullptr, "bitcast", std::vector<Operand>{x});
  call("dtype", dtype);
  return call.one();
}

/// 1 / (1 + exp(-x))
inline Value sigmoid(Operand x) {
  detail::Call call(nullptr, "sigmoid", std::vector<Operand>{x});
  return call.one();
}

/// max(x, 0)
inline Value relu(Operand x) {
  detail::Call call(nullptr, "relu", std::vector<Operand>{x});
  return call.one();
}

/// x limited to [0, 6]
inline Value relu6(Operand x) {
  detail::Call call(nullptr, "relu6", std::vector<Operand>{x});
  return call.one();
}

struct LeakyReluOptions {
  double alpha = 0.01;
};
/// x, or alpha * x where negative
inline Value leaky_relu(Operand x, const LeakyReluOptions& options = {}) {
  detail::Call call(nullptr, "leaky_relu", std::vector<Operand>{x});
  call("alpha", options.alpha);
  return call.one();
}

/// x, or slope * x where negative
inline Value prelu(Operand x, Operand slope) {
  detail::Call call(nullptr, "prelu", std::vector<Operand>{x, slope});
  return call.one();
}

struct EluOptions {
  double alpha = 1;
};
/// x, or alpha * (exp(x) - 1) where negative
inline Value elu(Operand x, const EluOptions& options = {}) {
  detail::Call call(nullptr, "elu", std::vector<Operand>{x});
  call("alpha", options.alpha);
  return call.one();
}

struct CeluOptions {
  double alpha = 1;
};
/// x, or alpha * (exp(x / alpha) - 1) where negative
inline Value celu(Operand x, const CeluOptions& options = {}) {
  detail::Call call(nullptr, "celu", std::vector<Operand>{x});
  call("alpha", options.alpha);
  return call.one();
}

/// scaled elu with its fixed constants
inline Value selu(Operand x) {
  detail::Call call(nullptr, "selu", std::vector<Operand>{x});
  return call.one();
}

struct GeluOptions {
  std::optional<std::string> approximate = {};
};
/// x times the normal distribution function
inline Value gelu(Operand x, const GeluOptions& options = {}) {
  detail::Call call(nullptr, "gelu", std::vector<Operand>{x});
  call("approximate", options.approximate);
  return call.one();
}

struct QuickGeluOptions {
  double alpha = 1.702;
};
/// x * sigmoid(alpha * x)
inline Value quick_gelu(Operand x, const QuickGeluOptions& options = {}) {
  detail::Call call(nullptr, "quick_gelu", std::vector<Operand>{x});
  call("alpha", options.alpha);
  return call.one();
}

/// x * sigmoid(x), also called swish
inline Value silu(Operand x) {
  detail::Call call(nullptr, "silu", std::vector<Operand>{x});
  return call.one();
}

/// x * tanh(softplus(x))
inline Value mish(Operand x) {
  detail::Call call(nullptr, "mish", std::vector<Operand>{x});
  return call.one();
}

/// log(1 + exp(x)) without overflow
inline Value softplus(Operand x) {
  detail::Call call(nullptr, "softplus", std::vector<Operand>{x});
  return call.one();
}

/// x / (1 + |x|)
inline Value softsign(Operand x) {
  detail::Call call(nullptr, "softsign", std::vector<Operand>{x});
  return call.one();
}

struct HardSigmoidOptions {
  double alpha = 0.16666666666666666;
  double beta = 0.5;
};
/// alpha * x + beta limited to [0, 1]
inline Value hard_sigmoid(Operand x, const HardSigmoidOptions& options = {}) {
  detail::Call call(nullptr, "hard_sigmoid", std::vector<Operand>{x});
  call("alpha", options.alpha);
  call("beta", options.beta);
  return call.one();
}

/// x * hard_sigmoid(x)
inline Value hard_swish(Operand x) {
  detail::Call call(nullptr, "hard_swish", std::vector<Operand>{x});
  return call.one();
}

struct ThresholdOptions {
  double alpha = 1;
};
/// x where x > alpha, else 0
inline Value threshold(Operand x, const ThresholdOptions& options = {}) {
  detail::Call call(nullptr, "threshold", std::vector<Operand>{x});
  call("alpha", options.alpha);
  return call.one();
}

struct FullOptions {
  std::optional<std::string> dtype = {};
};
/// the scalar in every element
inline Value full(Operand value, const Sizes& shape, const FullOptions& options = {}) {
  detail::Call call(nullptr, "full", std::vector<Operand>{value});
  call("shape", shape);
  call("dtype", options.dtype);
  return call.one();
}

struct ZerosOptions {
  std::string dtype = "f32";
};
/// zeros
inline Value zeros(Graph& graph, const Sizes& shape, const ZerosOptions& options = {}) {
  detail::Call call(graph.state(), "zeros", std::vector<Operand>{});
  call("shape", shape);
  call("dtype", options.dtype);
  return call.one();
}

struct OnesOptions {
  std::string dtype = "f32";
};
/// ones
inline Value ones(Graph& graph, const Sizes& shape, const OnesOptions& options = {}) {
  detail::Call call(graph.state(), "ones", std::vector<Operand>{});
  call("shape", shape);
  call("dtype", options.dtype);
  return call.one();
}

struct ArangeOptions {
  Size start = 0;
  std::int64_t step = 1;
  std::string dtype = "i32";
};
/// start, start + step, .. below stop (above it for a negative step)
inline Value arange(Graph& graph, Size stop, const ArangeOptions& options = {}) {
  detail::Call call(graph.state(), "arange", std::vector<Operand>{});
  call("start", options.start);
  call("stop", stop);
  call("step", options.step);
  call("dtype", options.dtype);
  return call.one();
}

struct EyeOptions {
  std::optional<Size> m = {};
  std::int64_t k = 0;
  std::string dtype = "f32";
};
/// ones on diagonal k of n rows and m columns
inline Value eye(Graph& graph, Size n, const EyeOptions& options = {}) {
  detail::Call call(graph.state(), "eye", std::vector<Operand>{});
  call("n", n);
  call("m", options.m);
  call("k", options.k);
  call("dtype", options.dtype);
  return call.one();
}

/// a dim of x as an i64 scalar
inline Value size(Operand x, std::int64_t axis) {
  detail::Call call(nullptr, "size", std::vector<Operand>{x});
  call("axis", axis);
  return call.one();
}

/// 0, 1, .. size - 1, of dtype index
inline Value iota(Graph& graph, Size size) {
  detail::Call call(graph.state(), "iota", std::vector<Operand>{});
  call("size", size);
  return call.one();
}

/// a size as a scalar of dtype index
inline Value index(Graph& graph, Size of) {
  detail::Call call(graph.state(), "index", std::vector<Operand>{});
  call("of", of);
  return call.one();
}

/// scalars as the elements of a vector
inline Value vector(const std::vector<Operand>& x) {
  std::vector<Operand> operands;
  operands.insert(operands.end(), x.begin(), x.end());
  detail::Call call(nullptr, "vector", operands);
  return call.one();
}

/// threefry2x32 of u64 counters and keys: random bits
inline Value threefry(Operand counter, Operand key) {
  detail::Call call(nullptr, "threefry", std::vector<Operand>{counter, key});
  return call.one();
}

struct RandOptions {
  std::string dtype = "f32";
};
/// uniform in [0, 1) from a u64 key; equal keys give equal numbers
inline Value rand(Operand key, const Sizes& shape, const RandOptions& options = {}) {
  detail::Call call(nullptr, "rand", std::vector<Operand>{key});
  call("shape", shape);
  call("dtype", options.dtype);
  return call.one();
}

struct RandnOptions {
  std::string dtype = "f32";
};
/// normal distribution from a u64 key
inline Value randn(Operand key, const Sizes& shape, const RandnOptions& options = {}) {
  detail::Call call(nullptr, "randn", std::vector<Operand>{key});
  call("shape", shape);
  call("dtype", options.dtype);
  return call.one();
}

/// same elements in row-major order; one dim may be -1
inline Value reshape(Operand x, const Sizes& shape) {
  detail::Call call(nullptr, "reshape", std::vector<Operand>{x});
  call("shape", shape);
  return call.one();
}

struct FlattenOptions {
  std::int64_t axis = 1;
};
/// two dims: those before axis and the others
inline Value flatten(Operand x, const FlattenOptions& options = {}) {
  detail::Call call(nullptr, "flatten", std::vector<Operand>{x});
  call("axis", options.axis);
  return call.one();
}

struct SqueezeOptions {
  std::optional<Integers> axes = {};
};
/// drops dims of 1, all of them by default
inline Value squeeze(Operand x, const SqueezeOptions& options = {}) {
  detail::Call call(nullptr, "squeeze", std::vector<Operand>{x});
  call("axes", options.axes);
  return call.one();
}

/// adds dims of 1 at these axes of the result
inline Value unsqueeze(Operand x, const Integers& axes) {
  detail::Call call(nullptr, "unsqueeze", std::vector<Operand>{x});
  call("axes", axes);
  return call.one();
}

/// broadcasts to a shape; -1 keeps a dim
inline Value expand(Operand x, const Sizes& shape) {
  detail::Call call(nullptr, "expand", std::vector<Operand>{x});
  call("shape", shape);
  return call.one();
}

/// result axis i is axis order[i]
inline Value permute(Operand x, const Integers& order) {
  detail::Call call(nullptr, "permute", std::vector<Operand>{x});
  call("order", order);
  return call.one();
}

struct TransposeOptions {
  std::int64_t axis0 = -2;
  std::int64_t axis1 = -1;
};
/// swaps two axes
inline Value transpose(Operand x, const TransposeOptions& options = {}) {
  detail::Call call(nullptr, "transpose", std::vector<Operand>{x});
  call("axis0", options.axis0);
  call("axis1", options.axis1);
  return call.one();
}

struct PadOptions {
  double value = 0;
  std::string mode = "constant";
};
/// adds elements around x: the scalar fill, or value; constant dims below 0 cut
inline Value pad(Operand x, Operand fill, const Sizes& before, const Sizes& after, const PadOptions& options = {}) {
  detail::Call call(nullptr, "pad", std::vector<Operand>{x, fill});
  call("before", before);
  call("after", after);
  call("value", options.value);
  call("mode", options.mode);
  return call.one();
}

/// the box of this size at this offset
inline Value shrink(Operand x, const Sizes& offset, const Sizes& size) {
  detail::Call call(nullptr, "shrink", std::vector<Operand>{x});
  call("offset", offset);
  call("size", size);
  return call.one();
}

struct SliceOptions {
  std::optional<Sizes> ends = {};
  Integers steps = 1;
  std::optional<Integers> axes = {};
};
/// x[start:end:step] per axis with Python's rules
inline Value slice(Operand x, const Sizes& starts, const SliceOptions& options = {}) {
  detail::Call call(nullptr, "slice", std::vector<Operand>{x});
  call("starts", starts);
  call("ends", options.ends);
  call("steps", options.steps);
  call("axes", options.axes);
  return call.one();
}

struct AtOptions {
  std::optional<Integers> axes = {};
};
/// x at one position of each of these axes, which go away; negative ones count from the end; also x[0, 2:n, ..., -1]
inline Value at(Operand x, const Sizes& positions, const AtOptions& options = {}) {
  detail::Call call(nullptr, "at", std::vector<Operand>{x});
  call("positions", positions);
  call("axes", options.axes);
  return call.one();
}

/// reverses axes
inline Value flip(Operand x, const Integers& axes) {
  detail::Call call(nullptr, "flip", std::vector<Operand>{x});
  call("axes", axes);
  return call.one();
}

/// every step-th element per axis; a negative step from the end
inline Value stride(Operand x, const Integers& steps) {
  detail::Call call(nullptr, "stride", std::vector<Operand>{x});
  call("steps", steps);
  return call.one();
}

/// moves elements along axes, around the end
inline Value roll(Operand x, const Integers& shifts, const Integers& axes) {
  detail::Call call(nullptr, "roll", std::vector<Operand>{x});
  call("shifts", shifts);
  call("axes", axes);
  return call.one();
}

/// the whole of x, counts[i] times along axis i
inline Value repeat(Operand x, const Sizes& counts) {
  detail::Call call(nullptr, "repeat", std::vector<Operand>{x});
  call("counts", counts);
  return call.one();
}

struct ConcatOptions {
  std::int64_t axis = 0;
};
/// joins along an axis
inline Value concat(const std::vector<Operand>& x, const ConcatOptions& options = {}) {
  std::vector<Operand> operands;
  operands.insert(operands.end(), x.begin(), x.end());
  detail::Call call(nullptr, "concat", operands);
  call("axis", options.axis);
  return call.one();
}

struct StackOptions {
  std::int64_t axis = 0;
};
/// joins along a new axis
inline Value stack(const std::vector<Operand>& x, const StackOptions& options = {}) {
  std::vector<Operand> operands;
  operands.insert(operands.end(), x.begin(), x.end());
  detail::Call call(nullptr, "stack", operands);
  call("axis", options.axis);
  return call.one();
}

struct SplitOptions {
  std::optional<Sizes> sizes = {};
  std::optional<std::int64_t> parts = {};
  std::int64_t axis = 0;
};
/// cuts along an axis; one result per size, or equal parts
inline std::vector<Value> split(Operand x, const SplitOptions& options = {}) {
  detail::Call call(nullptr, "split", std::vector<Operand>{x});
  call("sizes", options.sizes);
  call("parts", options.parts);
  call("axis", options.axis);
  return call.all();
}

struct SumOptions {
  std::optional<Integers> axes = {};
  bool keepdims = false;
};
/// sum; floats accumulate in f32 at least, bool gives i32
inline Value sum(Operand x, const SumOptions& options = {}) {
  detail::Call call(nullptr, "sum", std::vector<Operand>{x});
  call("axes", options.axes);
  call("keepdims", options.keepdims);
  return call.one();
}

struct ProdOptions {
  std::optional<Integers> axes = {};
  bool keepdims = false;
};
/// product; floats accumulate in f32 at least, bool gives i32
inline Value prod(Operand x, const ProdOptions& options = {}) {
  detail::Call call(nullptr, "prod", std::vector<Operand>{x});
  call("axes", options.axes);
  call("keepdims", options.keepdims);
  return call.one();
}

struct ReduceMaxOptions {
  std::optional<Integers> axes = {};
  bool keepdims = false;
};
/// largest; NaN wins
inline Value reduce_max(Operand x, const ReduceMaxOptions& options = {}) {
  detail::Call call(nullptr, "reduce_max", std::vector<Operand>{x});
  call("axes", options.axes);
  call("keepdims", options.keepdims);
  return call.one();
}

struct ReduceMinOptions {
  std::optional<Integers> axes = {};
  bool keepdims = false;
};
/// smallest; NaN wins
inline Value reduce_min(Operand x, const ReduceMinOptions& options = {}) {
  detail::Call call(nullptr, "reduce_min", std::vector<Operand>{x});
  call("axes", options.axes);
  call("keepdims", options.keepdims);
  return call.one();
}

struct FoldOptions {
  std::string with = "add";
  std::optional<Integers> axes = {};
  bool keepdims = false;
};
/// sum, product, largest or smallest, in the dtype of x all the way
inline Value fold(Operand x, const FoldOptions& options = {}) {
  detail::Call call(nullptr, "fold", std::vector<Operand>{x});
  call("with", options.with);
  call("axes", options.axes);
  call("keepdims", options.keepdims);
  return call.one();
}

struct AnyOptions {
  std::optional<Integers> axes = {};
  bool keepdims = false;
};
/// true if some element is not zero
inline Value any(Operand x, const AnyOptions& options = {}) {
  detail::Call call(nullptr, "any", std::vector<Operand>{x});
  call("axes", options.axes);
  call("keepdims", options.keepdims);
  return call.one();
}

struct AllOptions {
  std::optional<Integers> axes = {};
  bool keepdims = false;
};
/// true if no element is zero
inline Value all(Operand x, const AllOptions& options = {}) {
  detail::Call call(nullptr, "all", std::vector<Operand>{x});
  call("axes", options.axes);
  call("keepdims", options.keepdims);
  return call.one();
}

struct MeanOptions {
  std::optional<Integers> axes = {};
  bool keepdims = false;
};
/// arithmetic mean
inline Value mean(Operand x, const MeanOptions& options = {}) {
  detail::Call call(nullptr, "mean", std::vector<Operand>{x});
  call("axes", options.axes);
  call("keepdims", options.keepdims);
  return call.one();
}

struct VarOptions {
  std::optional<Integers> axes = {};
  bool keepdims = false;
  double correction = 0;
};
/// mean square distance from the mean, over count - correction
inline Value var(Operand x, const VarOptions& options = {}) {
  detail::Call call(nullptr, "var", std::vector<Operand>{x});
  call("axes", options.axes);
  call("keepdims", options.keepdims);
  call("correction", options.correction);
  return call.one();
}

struct StdOptions {
  std::optional<Integers> axes = {};
  bool keepdims = false;
  double correction = 0;
};
/// sqrt(var)
inline Value std(Operand x, const StdOptions& options = {}) {
  detail::Call call(nullptr, "std", std::vector<Operand>{x});
  call("axes", options.axes);
  call("keepdims", options.keepdims);
  call("correction", options.correction);
  return call.one();
}

struct LogsumexpOptions {
  std::optional<Integers> axes = {};
  bool keepdims = false;
};
/// log(sum(exp(x))) without overflow
inline Value logsumexp(Operand x, const LogsumexpOptions& options = {}) {
  detail::Call call(nullptr, "logsumexp", std::vector<Operand>{x});
  call("axes", options.axes);
  call("keepdims", options.keepdims);
  return call.one();
}

struct ArgmaxOptions {
  std::int64_t axis = -1;
  bool keepdims = false;
  bool last = false;
  std::string dtype = "i64";
};
/// position of the largest element, the first one of equals; NaN is largest
inline Value argmax(Operand x, const ArgmaxOptions& options = {}) {
  detail::Call call(nullptr, "argmax", std::vector<Operand>{x});
  call("axis", options.axis);
  call("keepdims", options.keepdims);
  call("last", options.last);
  call("dtype", options.dtype);
  return call.one();
}

struct ArgminOptions {
  std::int64_t axis = -1;
  bool keepdims = false;
  bool last = false;
  std::string dtype = "i64";
};
/// position of the smallest element; NaN is smallest
inline Value argmin(Operand x, const ArgminOptions& options = {}) {
  detail::Call call(nullptr, "argmin", std::vector<Operand>{x});
  call("axis", options.axis);
  call("keepdims", options.keepdims);
  call("last", options.last);
  call("dtype", options.dtype);
  return call.one();
}

struct MatmulOptions {
  std::optional<std::string> dtype = {};
};
/// matrix product over the last two dims, the others broadcast; a vector is a row of a or a column of b
inline Value matmul(Operand a, Operand b, const MatmulOptions& options = {}) {
  detail::Call call(nullptr, "matmul", std::vector<Operand>{a, b});
  call("dtype", options.dtype);
  return call.one();
}

/// x times w transposed, plus bias; w is [out, in]
inline Value linear(Operand x, Operand w, Operand bias = {}) {
  detail::Call call(nullptr, "linear", std::vector<Operand>{x, w, bias});
  return call.one();
}

struct Conv1dOptions {
  Integers stride = 1;
  Sizes padding = 0;
  Integers dilation = 1;
  std::int64_t groups = 1;
};
/// x [n, c, l] with w [m, c/groups, k]
inline Value conv1d(Operand x, Operand w, Operand bias = {}, const Conv1dOptions& options = {}) {
  detail::Call call(nullptr, "conv1d", std::vector<Operand>{x, w, bias});
  call("stride", options.stride);
  call("padding", options.padding);
  call("dilation", options.dilation);
  call("groups", options.groups);
  return call.one();
}

struct Conv2dOptions {
  Integers stride = 1;
  Sizes padding = 0;
  Integers dilation = 1;
  std::int64_t groups = 1;
};
/// x [n, c, h, w] with w [m, c/groups, kh, kw]
inline Value conv2d(Operand x, Operand w, Operand bias = {}, const Conv2dOptions& options = {}) {
  detail::Call call(nullptr, "conv2d", std::vector<Operand>{x, w, bias});
  call("stride", options.stride);
  call("padding", options.padding);
  call("dilation", options.dilation);
  call("groups", options.groups);
  return call.one();
}

struct Conv3dOptions {
  Integers stride = 1;
  Sizes padding = 0;
  Integers dilation = 1;
  std::int64_t groups = 1;
};
/// x [n, c, d, h, w] with w [m, c/groups, kd, kh, kw]
inline Value conv3d(Operand x, Operand w, Operand bias = {}, const Conv3dOptions& options = {}) {
  detail::Call call(nullptr, "conv3d", std::vector<Operand>{x, w, bias});
  call("stride", options.stride);
  call("padding", options.padding);
  call("dilation", options.dilation);
  call("groups", options.groups);
  return call.one();
}

struct ConvTranspose1dOptions {
  Integers stride = 1;
  Integers padding = 0;
  Integers dilation = 1;
  std::int64_t groups = 1;
  Integers output_padding = 0;
};
/// x [n, c, l] with w [c, m/groups, k]
inline Value conv_transpose1d(Operand x, Operand w, Operand bias = {}, const ConvTranspose1dOptions& options = {}) {
  detail::Call call(nullptr, "conv_transpose1d", std::vector<Operand>{x, w, bias});
  call("stride", options.stride);
  call("padding", options.padding);
  call("dilation", options.dilation);
  call("groups", options.groups);
  call("output_padding", options.output_padding);
  return call.one();
}

struct ConvTranspose2dOptions {
  Integers stride = 1;
  Integers padding = 0;
  Integers dilation = 1;
  std::int64_t groups = 1;
  Integers output_padding = 0;
};
/// x [n, c, h, w] with w [c, m/groups, kh, kw]
inline Value conv_transpose2d(Operand x, Operand w, Operand bias = {}, const ConvTranspose2dOptions& options = {}) {
  detail::Call call(nullptr, "conv_transpose2d", std::vector<Operand>{x, w, bias});
  call("stride", options.stride);
  call("padding", options.padding);
  call("dilation", options.dilation);
  call("groups", options.groups);
  call("output_padding", options.output_padding);
  return call.one();
}

struct ConvTranspose3dOptions {
  Integers stride = 1;
  Integers padding = 0;
  Integers dilation = 1;
  std::int64_t groups = 1;
  Integers output_padding = 0;
};
/// x [n, c, d, h, w] with w [c, m/groups, kd, kh, kw]
inline Value conv_transpose3d(Operand x, Operand w, Operand bias = {}, const ConvTranspose3dOptions& options = {}) {
  detail::Call call(nullptr, "conv_transpose3d", std::vector<Operand>{x, w, bias});
  call("stride", options.stride);
  call("padding", options.padding);
  call("dilation", options.dilation);
  call("groups", options.groups);
  call("output_padding", options.output_padding);
  return call.one();
}

struct MaxPoolOptions {
  Integers stride = 0;
  Sizes padding = 0;
  Integers dilation = 1;
  bool ceil = false;
  bool toward_zero = false;
};
/// largest of each window over the last axes, one kernel entry per axis; stride 0 is the kernel. ceil adds windows that
/// hang over the end. toward_zero adds one where an axis lacks less than a stride
inline Value max_pool(Operand x, const Sizes& kernel, const MaxPoolOptions& options = {}) {
  detail::Call call(nullptr, "max_pool", std::vector<Operand>{x});
  call("kernel", kernel);
  call("stride", options.stride);
  call("padding", options.padding);
  call("dilation", options.dilation);
  call("ceil", options.ceil);
  call("toward_zero", options.toward_zero);
  return call.one();
}

struct MaxPoolPositionsOptions {
  Integers stride = 0;
  Sizes padding = 0;
  Integers dilation = 1;
  bool ceil = false;
  bool toward_zero = false;
};
/// where max_pool found the first largest element: its row-major i64 position along the pooled axes
inline Value max_pool_positions(Operand x, const Sizes& kernel, const MaxPoolPositionsOptions& options = {}) {
  detail::Call call(nullptr, "max_pool_positions", std::vector<Operand>{x});
  call("kernel", kernel);
  call("stride", options.stride);
  call("padding", options.padding);
  call("dilation", options.dilation);
  call("ceil", options.ceil);
  call("toward_zero", options.toward_zero);
  return call.one();
}

struct SumPoolOptions {
  Integers stride = 0;
  Sizes padding = 0;
  Integers dilation = 1;
  bool ceil = false;
  bool toward_zero = false;
};
/// sum of each window; floats accumulate in f32 at least
inline Value sum_pool(Operand x, const Sizes& kernel, const SumPoolOptions& options = {}) {
  detail::Call call(nullptr, "sum_pool", std::vector<Operand>{x});
  call("kernel", kernel);
  call("stride", options.stride);
  call("padding", options.padding);
  call("dilation", options.dilation);
  call("ceil", options.ceil);
  call("toward_zero", options.toward_zero);
  return call.one();
}

struct AvgPoolOptions {
  Integers stride = 0;
  Sizes padding = 0;
  Integers dilation = 1;
  bool ceil = false;
  bool toward_zero = false;
  bool count_include_pad = true;
};
/// mean of each window; padding counts as zeros unless told otherwise
inline Value avg_pool(Operand x, const Sizes& kernel, const AvgPoolOptions& options = {}) {
  detail::Call call(nullptr, "avg_pool", std::vector<Operand>{x});
  call("kernel", kernel);
  call("stride", options.stride);
  call("padding", options.padding);
  call("dilation", options.dilation);
  call("ceil", options.ceil);
  call("toward_zero", options.toward_zero);
  call("count_include_pad", options.count_include_pad);
  return call.one();
}

/// largest over all axes but the first two, which stay as dims of 1
inline Value global_max_pool(Operand x) {
  detail::Call call(nullptr, "global_max_pool", std::vector<Operand>{x});
  return call.one();
}

/// mean over all axes but the first two, which stay as dims of 1
inline Value global_avg_pool(Operand x) {
  detail::Call call(nullptr, "global_avg_pool", std::vector<Operand>{x});
  return call.one();
}

struct SoftmaxOptions {
  std::int64_t axis = -1;
};
/// exp(x - max) / sum along an axis
inline Value softmax(Operand x, const SoftmaxOptions& options = {}) {
  detail::Call call(nullptr, "softmax", std::vector<Operand>{x});
  call("axis", options.axis);
  return call.one();
}

struct LogSoftmaxOptions {
  std::int64_t axis = -1;
};
/// log(softmax(x)) without underflow
inline Value log_softmax(Operand x, const LogSoftmaxOptions& options = {}) {
  detail::Call call(nullptr, "log_softmax", std::vector<Operand>{x});
  call("axis", options.axis);
  return call.one();
}

struct LayerNormOptions {
  std::int64_t axis = -1;
  double eps = 1e-5;
};
/// zero mean and unit variance over the axes from axis on, times scale plus bias
inline Value layer_norm(Operand x, Operand scale = {}, Operand bias = {}, const LayerNormOptions& options = {}) {
  detail::Call call(nullptr, "layer_norm", std::vector<Operand>{x, scale, bias});
  call("axis", options.axis);
  call("eps", options.eps);
  return call.one();
}

struct RmsNormOptions {
  std::int64_t axis = -1;
  double eps = 1e-5;
};
/// x over its root mean square over the axes from axis on, times scale
inline Value rms_norm(Operand x, Operand scale = {}, const RmsNormOptions& options = {}) {
  detail::Call call(nullptr, "rms_norm", std::vector<Operand>{x, scale});
  call("axis", options.axis);
  call("eps", options.eps);
  return call.one();
}

struct GroupNormOptions {
  double eps = 1e-5;
};
/// zero mean and unit variance over groups of channels of x [n, channels, ..]
inline Value group_norm(Operand x, Operand scale, Operand bias, Size groups, const GroupNormOptions& options = {}) {
  detail::Call call(nullptr, "group_norm", std::vector<Operand>{x, scale, bias});
  call("groups", groups);
  call("eps", options.eps);
  return call.one();
}

struct InstanceNormOptions {
  std::optional<Size> groups = {};
  double eps = 1e-5;
};
/// group_norm with one channel per group
inline Value instance_norm(Operand x, Operand scale = {}, Operand bias = {}, const InstanceNormOptions& options = {}) {
  detail::Call call(nullptr, "instance_norm", std::vector<Operand>{x, scale, bias});
  call("groups", options.groups);
  call("eps", options.eps);
  return call.one();
}

struct BatchNormOptions {
  std::int64_t axis = 1;
  double eps = 1e-5;
};
/// (x - mean) / sqrt(var + eps) * scale + bias per channel
inline Value batch_norm(Operand x, Operand scale, Operand bias, Operand mean, Operand var,
                        const BatchNormOptions& options = {}) {
  detail::Call call(nullptr, "batch_norm", std::vector<Operand>{x, scale, bias, mean, var});
  call("axis", options.axis);
  call("eps", options.eps);
  return call.one();
}

struct NormalizeOptions {
  std::int64_t axis = -1;
  std::int64_t p = 2;
  double eps = 1e-12;
};
/// x over its p-norm along an axis, p 1 or 2
inline Value normalize(Operand x, const NormalizeOptions& options = {}) {
  detail::Call call(nullptr, "normalize", std::vector<Operand>{x});
  call("axis", options.axis);
  call("p", options.p);
  call("eps", options.eps);
  return call.one();
}

struct AttentionOptions {
  bool causal = false;
  std::optional<double> scale = {};
  Size offset = 0;
};
/// softmax(q k^T * scale) v; mask is bool (false hides) or added; causal hides keys behind query + offset; scale is
/// 1/sqrt(d); with all keys hidden NaN; weights are rounded to f16 or bf16 with v
inline Value attention(Operand q, Operand k, Operand v, Operand mask = {}, const AttentionOptions& options = {}) {
  detail::Call call(nullptr, "attention", std::vector<Operand>{q, k, v, mask});
  call("causal", options.causal);
  call("scale", options.scale);
  call("offset", options.offset);
  return call.one();
}

/// rows of the table; negative ids count from the end, rows out of range are 0
inline Value embedding(Operand table, Operand ids) {
  detail::Call call(nullptr, "embedding", std::vector<Operand>{table, ids});
  return call.one();
}

struct GatherOptions {
  std::int64_t axis = 0;
};
/// x at positions along an axis, whose place the dims of positions take; out of range gives 0
inline Value gather(Operand x, Operand positions, const GatherOptions& options = {}) {
  detail::Call call(nullptr, "gather", std::vector<Operand>{x, positions});
  call("axis", options.axis);
  return call.one();
}

struct GatherElementsOptions {
  std::int64_t axis = 0;
};
/// result[.., i, ..] = x[.., positions[.., i, ..], ..]
inline Value gather_elements(Operand x, Operand positions, const GatherElementsOptions& options = {}) {
  detail::Call call(nullptr, "gather_elements", std::vector<Operand>{x, positions});
  call("axis", options.axis);
  return call.one();
}

struct GatherNdOptions {
  std::int64_t batch_dims = 0;
};
/// positions [.., m] name the first m axes of x
inline Value gather_nd(Operand x, Operand positions, const GatherNdOptions& options = {}) {
  detail::Call call(nullptr, "gather_nd", std::vector<Operand>{x, positions});
  call("batch_dims", options.batch_dims);
  return call.one();
}

struct ScatterElementsOptions {
  std::int64_t axis = 0;
  std::string mode = "set";
  bool distinct = false;
};
/// x with updates at positions along an axis, in row-major order; out of range is left out; distinct says that no two
/// go to one place, so threads make them in any order
inline Value scatter_elements(Operand x, Operand positions, Operand updates,
                              const ScatterElementsOptions& options = {}) {
  detail::Call call(nullptr, "scatter_elements", std::vector<Operand>{x, positions, updates});
  call("axis", options.axis);
  call("mode", options.mode);
  call("distinct", options.distinct);
  return call.one();
}

struct ScatterNdOptions {
  std::string mode = "set";
  bool distinct = false;
};
/// x with updates where positions [.., m] name the first m axes
inline Value scatter_nd(Operand x, Operand positions, Operand updates, const ScatterNdOptions& options = {}) {
  detail::Call call(nullptr, "scatter_nd", std::vector<Operand>{x, positions, updates});
  call("mode", options.mode);
  call("distinct", options.distinct);
  return call.one();
}

/// x at one position per axis, which broadcast together; negative ones are out of range too
inline Value gather_at(Operand x, const std::vector<Operand>& positions) {
  std::vector<Operand> operands;
  operands.push_back(x);
  operands.insert(operands.end(), positions.begin(), positions.end());
  detail::Call call(nullptr, "gather_at", operands);
  return call.one();
}

struct ScatterAtOptions {
  std::string mode = "set";
  bool distinct = false;
};
/// x with updates at one position per axis, which broadcast together; negative ones are out of range too
inline Value scatter_at(Operand x, const std::vector<Operand>& positions, Operand updates,
                        const ScatterAtOptions& options = {}) {
  std::vector<Operand> operands;
  operands.push_back(x);
  operands.insert(operands.end(), positions.begin(), positions.end());
  operands.push_back(updates);
  detail::Call call(nullptr, "scatter_at", operands);
  call("mode", options.mode);
  call("distinct", options.distinct);
  return call.one();
}

struct OneHotOptions {
  std::int64_t axis = -1;
  double on = 1;
  double off = 0;
  std::string dtype = "f32";
};
/// on where the new axis equals the id, else off
inline Value one_hot(Operand ids, Size depth, const OneHotOptions& options = {}) {
  detail::Call call(nullptr, "one_hot", std::vector<Operand>{ids});
  call("depth", depth);
  call("axis", options.axis);
  call("on", options.on);
  call("off", options.off);
  call("dtype", options.dtype);
  return call.one();
}

struct TriuOptions {
  std::int64_t k = 0;
};
/// x on and above diagonal k, else 0
inline Value triu(Operand x, const TriuOptions& options = {}) {
  detail::Call call(nullptr, "triu", std::vector<Operand>{x});
  call("k", options.k);
  return call.one();
}

struct TrilOptions {
  std::int64_t k = 0;
};
/// x on and below diagonal k, else 0
inline Value tril(Operand x, const TrilOptions& options = {}) {
  detail::Call call(nullptr, "tril", std::vector<Operand>{x});
  call("k", options.k);
  return call.one();
}

struct CumsumOptions {
  std::int64_t axis = -1;
  bool exclusive = false;
  bool reverse = false;
};
/// running sum
inline Value cumsum(Operand x, const CumsumOptions& options = {}) {
  detail::Call call(nullptr, "cumsum", std::vector<Operand>{x});
  call("axis", options.axis);
  call("exclusive", options.exclusive);
  call("reverse", options.reverse);
  return call.one();
}

struct CumprodOptions {
  std::int64_t axis = -1;
  bool exclusive = false;
  bool reverse = false;
};
/// running product
inline Value cumprod(Operand x, const CumprodOptions& options = {}) {
  detail::Call call(nullptr, "cumprod", std::vector<Operand>{x});
  call("axis", options.axis);
  call("exclusive", options.exclusive);
  call("reverse", options.reverse);
  return call.one();
}

struct CummaxOptions {
  std::int64_t axis = -1;
  bool exclusive = false;
  bool reverse = false;
};
/// running maximum
inline Value cummax(Operand x, const CummaxOptions& options = {}) {
  detail::Call call(nullptr, "cummax", std::vector<Operand>{x});
  call("axis", options.axis);
  call("exclusive", options.exclusive);
  call("reverse", options.reverse);
  return call.one();
}

struct CumminOptions {
  std::int64_t axis = -1;
  bool exclusive = false;
  bool reverse = false;
};
/// running minimum
inline Value cummin(Operand x, const CumminOptions& options = {}) {
  detail::Call call(nullptr, "cummin", std::vector<Operand>{x});
  call("axis", options.axis);
  call("exclusive", options.exclusive);
  call("reverse", options.reverse);
  return call.one();
}

struct SortOptions {
  std::int64_t axis = -1;
  bool descending = false;
};
/// sorted values and their i64 positions; equal ones keep their order, NaN is largest
inline std::vector<Value> sort(Operand x, const SortOptions& options = {}) {
  detail::Call call(nullptr, "sort", std::vector<Operand>{x});
  call("axis", options.axis);
  call("descending", options.descending);
  return call.all();
}

struct ArgsortOptions {
  std::int64_t axis = -1;
  bool descending = false;
};
/// the positions of sort alone
inline Value argsort(Operand x, const ArgsortOptions& options = {}) {
  detail::Call call(nullptr, "argsort", std::vector<Operand>{x});
  call("axis", options.axis);
  call("descending", options.descending);
  return call.one();
}

struct TopkOptions {
  std::int64_t axis = -1;
  bool largest = true;
};
/// the first k values of a descending (or ascending) sort and their positions
inline std::vector<Value> topk(Operand x, Size k, const TopkOptions& options = {}) {
  detail::Call call(nullptr, "topk", std::vector<Operand>{x});
  call("k", k);
  call("axis", options.axis);
  call("largest", options.largest);
  return call.all();
}

struct ResizeOptions {
  std::optional<Sizes> size = {};
  std::optional<Numbers> scale = {};
  std::optional<Integers> axes = {};
  std::string mode = "nearest";
  std::string coordinates = "half_pixel";
  std::string rounding = "prefer_floor";
};
/// x with other sizes of the axes, all but the first two by default
inline Value resize(Operand x, const ResizeOptions& options = {}) {
  detail::Call call(nullptr, "resize", std::vector<Operand>{x});
  call("size", options.size);
  call("scale", options.scale);
  call("axes", options.axes);
  call("mode", options.mode);
  call("coordinates", options.coordinates);
  call("rounding", options.rounding);
  return call.one();
}

/// [.., c*r*r, h, w] to [.., c, h*r, w*r]
inline Value pixel_shuffle(Operand x, std::int64_t factor) {
  detail::Call call(nullptr, "pixel_shuffle", std::vector<Operand>{x});
  call("factor", factor);
  return call.one();
}

/// [.., c, h*r, w*r] to [.., c*r*r, h, w]
inline Value pixel_unshuffle(Operand x, std::int64_t factor) {
  detail::Call call(nullptr, "pixel_unshuffle", std::vector<Operand>{x});
  call("factor", factor);
  return call.one();
}

struct FftOptions {
  std::int64_t axis = -2;
  bool inverse = false;
};
/// the discrete Fourier transform along an axis of complex numbers, whose real and imaginary part the last axis holds;
/// inverse divides by the length
inline Value fft(Operand x, const FftOptions& options = {}) {
  detail::Call call(nullptr, "fft", std::vector<Operand>{x});
  call("axis", options.axis);
  call("inverse", options.inverse);
  return call.one();
}

struct RfftOptions {
  std::int64_t axis = -1;
};
/// the first length // 2 + 1 terms of the transform of real numbers; the others mirror them
inline Value rfft(Operand x, const RfftOptions& options = {}) {
  detail::Call call(nullptr, "rfft", std::vector<Operand>{x});
  call("axis", options.axis);
  return call.one();
}

struct IrfftOptions {
  std::int64_t axis = -2;
  std::optional<Size> length = {};
};
/// the real numbers whose rfft is x, as many as length says, or 2 * (terms - 1)
inline Value irfft(Operand x, const IrfftOptions& options = {}) {
  detail::Call call(nullptr, "irfft", std::vector<Operand>{x});
  call("axis", options.axis);
  call("length", options.length);
  return call.one();
}

/// rfft of each frame of that length, step samples apart, times the window: [.., samples] to [.., frames, length // 2 +
/// 1, 2]
inline Value stft(Operand x, Operand window, Size length, std::int64_t step) {
  detail::Call call(nullptr, "stft", std::vector<Operand>{x, window});
  call("length", length);
  call("step", step);
  return call.one();
}

/// x whole in a buffer, or in a part of one that nothing writes to afterwards
inline Value contiguous(Operand x) {
  detail::Call call(nullptr, "contiguous", std::vector<Operand>{x});
  return call.one();
}

/// what a state or temp holds here, whatever is assigned later
inline Value held(Operand x) {
  detail::Call call(nullptr, "held", std::vector<Operand>{x});
  return call.one();
}

/// the size a, as an i64; a run fails where b is another one, and ops below take them as equal
inline Value equal_sizes(Graph& graph, Size a, Size b, const std::string& text) {
  detail::Call call(graph.state(), "equal_sizes", std::vector<Operand>{});
  call("a", a);
  call("b", b);
  call("text", text);
  return call.one();
}

struct ExpectOptions {
  std::string kind = "agrees";
};
/// given; a run fails where its integers are not those of wanted; text says what they are, and kind how it fails
inline Value expect(Operand given, Operand wanted, const std::string& text, const ExpectOptions& options = {}) {
  detail::Call call(nullptr, "expect", std::vector<Operand>{given, wanted});
  call("text", text);
  call("kind", options.kind);
  return call.one();
}

/// x in the memory of a device: `cpu` is the host, `--device NAME` adds others; kernels run where their operands are
inline Value copy(Operand x, const std::string& device) {
  detail::Call call(nullptr, "copy", std::vector<Operand>{x});
  call("device", device);
  return call.one();
}

struct DistributeOptions {
  std::optional<std::int64_t> axis = {};
};
/// x with a part on each of the devices, cut along an axis, or whole on each; what is computed from it is computed in
/// such parts, and joined where it is stored or copied
inline Value distribute(Operand x, const std::string& devices, const DistributeOptions& options = {}) {
  detail::Call call(nullptr, "distribute", std::vector<Operand>{x});
  call("devices", devices);
  call("axis", options.axis);
  return call.one();
}

struct ShardOptions {
  std::int64_t axis = 0;
};
/// x cut along an axis into a part on each of the devices, as in "a, b"; where it cannot be cut evenly, parts differ by
/// one
inline std::vector<Value> shard(Operand x, const std::string& devices, const ShardOptions& options = {}) {
  detail::Call call(nullptr, "shard", std::vector<Operand>{x});
  call("devices", devices);
  call("axis", options.axis);
  return call.all();
}

/// x on each of the devices
inline std::vector<Value> replicate(Operand x, const std::string& devices) {
  detail::Call call(nullptr, "replicate", std::vector<Operand>{x});
  call("devices", devices);
  return call.all();
}

struct UnshardOptions {
  std::int64_t axis = 0;
  std::string device = "cpu";
};
/// the parts joined along an axis on one device
inline Value unshard(const std::vector<Operand>& part, const UnshardOptions& options = {}) {
  std::vector<Operand> operands;
  operands.insert(operands.end(), part.begin(), part.end());
  detail::Call call(nullptr, "unshard", operands);
  call("axis", options.axis);
  call("device", options.device);
  return call.one();
}

struct AllReduceOptions {
  std::string op = "sum";
};
/// the parts added up, or the like; one result on each of the devices, bit for bit the same
inline std::vector<Value> all_reduce(const std::vector<Operand>& part, const std::string& devices,
                                     const AllReduceOptions& options = {}) {
  std::vector<Operand> operands;
  operands.insert(operands.end(), part.begin(), part.end());
  detail::Call call(nullptr, "all_reduce", operands);
  call("devices", devices);
  call("op", options.op);
  return call.all();
}

struct CustomOptions {
  std::string dtype = "f32";
  std::optional<Sizes> values = {};
  bool pure = false;
  std::optional<std::string> source = {};
};
/// a function of a C file, source, or one that the program that runs the plan provides; values are sizes it gets as
/// numbers
inline Value custom(Graph& graph, const std::vector<Operand>& x, const std::string& function, const Sizes& shape,
                    const CustomOptions& options = {}) {
  std::vector<Operand> operands;
  operands.insert(operands.end(), x.begin(), x.end());
  detail::Call call(graph.state(), "custom", operands);
  call("function", function);
  call("shape", shape);
  call("dtype", options.dtype);
  call("values", options.values);
  call("pure", options.pure);
  call("source", options.source);
  return call.one();
}

}  // namespace svod::compiler::ops

#endif
