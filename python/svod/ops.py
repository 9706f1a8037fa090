"""Every op of graph files as a function; docs/graph-format.md has the same list. Written by tests/python/make_tables.py.

    y = ops.softmax(ops.matmul(x, w), axis=-1)

Operands are values of an svod.Graph, arrays, sizes and numbers. Ops without a value among them are recorded in the graph of `with graph:`.
Ops whose names are words of Python have an underscore behind them.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ._graph import record, spread
from ._text import Dim
from ._values import Value

__all__ = ["add", "sub", "mul", "div", "fdiv", "max", "min", "pow", "cdiv", "cmod", "floordiv", "floormod", "mulacc", "neg", "abs",
           "sign", "recip", "square", "sqrt", "rsqrt", "trunc", "floor", "ceil", "round", "clip", "exp", "exp2", "expm1", "log",
           "log2", "log1p", "log10", "sin", "cos", "tan", "tanh", "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh",
           "erf", "and_", "or_", "xor", "not_", "shl", "shr", "lt", "le", "gt", "ge", "eq", "ne", "isnan", "isinf", "isfinite",
           "where", "cast", "bitcast", "sigmoid", "relu", "relu6", "leaky_relu", "prelu", "elu", "celu", "selu", "gelu",
           "quick_gelu", "silu", "mish", "softplus", "softsign", "hard_sigmoid", "hard_swish", "threshold", "full", "zeros", "ones",
           "arange", "eye", "size", "iota", "index", "vector", "threefry", "rand", "randn", "reshape", "flatten", "squeeze",
           "unsqueeze", "expand", "permute", "transpose", "pad", "shrink", "slice", "at", "flip", "stride", "roll", "repeat",
           "concat", "stack", "split", "sum", "prod", "reduce_max", "reduce_min", "fold", "any", "all", "mean", "var", "std",
           "logsumexp", "argmax", "argmin", "matmul", "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
           "conv_transpose2d", "conv_transpose3d", "max_pool", "max_pool_positions", "sum_pool", "avg_pool", "global_max_pool",
           "global_avg_pool", "softmax", "log_softmax", "layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm",
           "normalize", "attention", "embedding", "gather", "gather_elements", "gather_nd", "scatter_elements", "scatter_nd",
           "gather_at", "scatter_at", "one_hot", "triu", "tril", "cumsum", "cumprod", "cummax", "cummin", "sort", "argsort", "topk",
           "resize", "pixel_shuffle", "pixel_unshuffle", "fft", "rfft", "irfft", "stft", "contiguous", "held", "equal_sizes",
           "expect", "copy", "distribute", "shard", "replicate", "unshard", "all_reduce", "custom"]


def add(a: Any, b: Any, /) -> Value:
    """a + b; logical or of bools"""
    return record("add", (a, b), {})[0]


def sub(a: Any, b: Any, /) -> Value:
    """a - b"""
    return record("sub", (a, b), {})[0]


def mul(a: Any, b: Any, /) -> Value:
    """a * b; logical and of bools"""
    return record("mul", (a, b), {})[0]


def div(a: Any, b: Any, /) -> Value:
    """a / b of floats; integers become f32"""
    return record("div", (a, b), {})[0]


def fdiv(a: Any, b: Any, /) -> Value:
    """div"""
    return record("fdiv", (a, b), {})[0]


def max(a: Any, b: Any, /) -> Value:
    """the larger; NaN wins"""
    return record("max", (a, b), {})[0]


def min(a: Any, b: Any, /) -> Value:
    """the smaller; NaN wins"""
    return record("min", (a, b), {})[0]


def pow(a: Any, b: Any, /) -> Value:
    """a to the power b; integers multiply exactly, and negative powers of them round toward zero"""
    return record("pow", (a, b), {})[0]


def cdiv(a: Any, b: Any, /) -> Value:
    """quotient rounded toward zero; x/0 is all ones"""
    return record("cdiv", (a, b), {})[0]


def cmod(a: Any, b: Any, /) -> Value:
    """remainder with the sign of a; x%0 is x"""
    return record("cmod", (a, b), {})[0]


def floordiv(a: Any, b: Any, /) -> Value:
    """quotient rounded toward -infinity; also //"""
    return record("floordiv", (a, b), {})[0]


def floormod(a: Any, b: Any, /) -> Value:
    """remainder with the sign of b; also %"""
    return record("floormod", (a, b), {})[0]


def mulacc(a: Any, b: Any, c: Any, /) -> Value:
    """a * b + c"""
    return record("mulacc", (a, b, c), {})[0]


def neg(x: Any, /) -> Value:
    """-x"""
    return record("neg", (x,), {})[0]


def abs(x: Any, /) -> Value:
    """absolute value; the smallest integer stays itself"""
    return record("abs", (x,), {})[0]


def sign(x: Any, /) -> Value:
    """-1, 0 or 1; NaN stays NaN"""
    return record("sign", (x,), {})[0]


def recip(x: Any, /) -> Value:
    """1 / x"""
    return record("recip", (x,), {})[0]


def square(x: Any, /) -> Value:
    """x * x"""
    return record("square", (x,), {})[0]


def sqrt(x: Any, /) -> Value:
    """square root, correctly rounded"""
    return record("sqrt", (x,), {})[0]


def rsqrt(x: Any, /) -> Value:
    """1 / sqrt(x)"""
    return record("rsqrt", (x,), {})[0]


def trunc(x: Any, /) -> Value:
    """rounds toward zero; integers stay"""
    return record("trunc", (x,), {})[0]


def floor(x: Any, /) -> Value:
    """rounds toward -infinity; integers stay"""
    return record("floor", (x,), {})[0]


def ceil(x: Any, /) -> Value:
    """rounds toward +infinity; integers stay"""
    return record("ceil", (x,), {})[0]


def round(x: Any, /) -> Value:
    """rounds to nearest, ties to even; integers stay"""
    return record("round", (x,), {})[0]


def clip(x: Any, /, min: float | None = None, max: float | None = None) -> Value:
    """x limited to [min, max]; NaN stays NaN"""
    return record("clip", (x,), {"min": min, "max": max})[0]


def exp(x: Any, /) -> Value:
    """e to the power x"""
    return record("exp", (x,), {})[0]


def exp2(x: Any, /) -> Value:
    """2 to the power x"""
    return record("exp2", (x,), {})[0]


def expm1(x: Any, /) -> Value:
    """e to the power x, minus 1; exact to its last digits near 0"""
    return record("expm1", (x,), {})[0]


def log(x: Any, /) -> Value:
    """natural logarithm"""
    return record("log", (x,), {})[0]


def log2(x: Any, /) -> Value:
    """logarithm to base 2"""
    return record("log2", (x,), {})[0]


def log1p(x: Any, /) -> Value:
    """natural logarithm of 1 + x; exact to its last digits near 0"""
    return record("log1p", (x,), {})[0]


def log10(x: Any, /) -> Value:
    """logarithm to base 10"""
    return record("log10", (x,), {})[0]


def sin(x: Any, /) -> Value:
    """sine of radians"""
    return record("sin", (x,), {})[0]


def cos(x: Any, /) -> Value:
    """cosine of radians"""
    return record("cos", (x,), {})[0]


def tan(x: Any, /) -> Value:
    """tangent of radians"""
    return record("tan", (x,), {})[0]


def tanh(x: Any, /) -> Value:
    """hyperbolic tangent"""
    return record("tanh", (x,), {})[0]


def sinh(x: Any, /) -> Value:
    """hyperbolic sine"""
    return record("sinh", (x,), {})[0]


def cosh(x: Any, /) -> Value:
    """hyperbolic cosine"""
    return record("cosh", (x,), {})[0]


def asin(x: Any, /) -> Value:
    """angle with this sine, in [-pi/2, pi/2]"""
    return record("asin", (x,), {})[0]


def acos(x: Any, /) -> Value:
    """angle with this cosine, in [0, pi]"""
    return record("acos", (x,), {})[0]


def atan(x: Any, /) -> Value:
    """angle with this tangent, in [-pi/2, pi/2]"""
    return record("atan", (x,), {})[0]


def asinh(x: Any, /) -> Value:
    """inverse hyperbolic sine"""
    return record("asinh", (x,), {})[0]


def acosh(x: Any, /) -> Value:
    """inverse hyperbolic cosine"""
    return record("acosh", (x,), {})[0]


def atanh(x: Any, /) -> Value:
    """inverse hyperbolic tangent"""
    return record("atanh", (x,), {})[0]


def erf(x: Any, /) -> Value:
    """error function"""
    return record("erf", (x,), {})[0]


def and_(a: Any, b: Any, /) -> Value:
    """bitwise, or logical for bool"""
    return record("and", (a, b), {})[0]


def or_(a: Any, b: Any, /) -> Value:
    """bitwise, or logical for bool"""
    return record("or", (a, b), {})[0]


def xor(a: Any, b: Any, /) -> Value:
    """bitwise, or logical for bool"""
    return record("xor", (a, b), {})[0]


def not_(x: Any, /) -> Value:
    """complement of the bits, or of a bool"""
    return record("not", (x,), {})[0]


def shl(a: Any, b: Any, /) -> Value:
    """a << b in the dtype of a; a count of the width or more gives 0"""
    return record("shl", (a, b), {})[0]


def shr(a: Any, b: Any, /) -> Value:
    """a >> b in the dtype of a, arithmetic for signed"""
    return record("shr", (a, b), {})[0]


def lt(a: Any, b: Any, /) -> Value:
    """a < b"""
    return record("lt", (a, b), {})[0]


def le(a: Any, b: Any, /) -> Value:
    """a <= b"""
    return record("le", (a, b), {})[0]


def gt(a: Any, b: Any, /) -> Value:
    """a > b"""
    return record("gt", (a, b), {})[0]


def ge(a: Any, b: Any, /) -> Value:
    """a >= b"""
    return record("ge", (a, b), {})[0]


def eq(a: Any, b: Any, /) -> Value:
    """a == b"""
    return record("eq", (a, b), {})[0]


def ne(a: Any, b: Any, /) -> Value:
    """a != b"""
    return record("ne", (a, b), {})[0]


def isnan(x: Any, /) -> Value:
    """true where x is NaN"""
    return record("isnan", (x,), {})[0]


def isinf(x: Any, /) -> Value:
    """true where x is an infinity"""
    return record("isinf", (x,), {})[0]


def isfinite(x: Any, /) -> Value:
    """true where x is neither NaN nor an infinity"""
    return record("isfinite", (x,), {})[0]


def where(condition: Any, a: Any, b: Any, /) -> Value:
    """a where the condition is not zero, else b"""
    return record("where", (condition, a, b), {})[0]


def cast(x: Any, /, dtype: Any) -> Value:
    """converts; floats to integers saturate, to bool is x != 0"""
    return record("cast", (x,), {"dtype": dtype})[0]


def bitcast(x: Any, /, dtype: Any) -> Value:
    """same bytes, little endian; another size scales the last dim"""
    return record("bitcast", (x,), {"dtype": dtype})[0]


def sigmoid(x: Any, /) -> Value:
    """1 / (1 + exp(-x))"""
    return record("sigmoid", (x,), {})[0]


def relu(x: Any, /) -> Value:
    """max(x, 0)"""
    return record("relu", (x,), {})[0]


def relu6(x: Any, /) -> Value:
    """x limited to [0, 6]"""
    return record("relu6", (x,), {})[0]


def leaky_relu(x: Any, /, alpha: float = 0.01) -> Value:
    """x, or alpha * x where negative"""
    return record("leaky_relu", (x,), {"alpha": alpha})[0]


def prelu(x: Any, slope: Any, /) -> Value:
    """x, or slope * x where negative"""
    return record("prelu", (x, slope), {})[0]


def elu(x: Any, /, alpha: float = 1) -> Value:
    """x, or alpha * (exp(x) - 1) where negative"""
    return record("elu", (x,), {"alpha": alpha})[0]


def celu(x: Any, /, alpha: float = 1) -> Value:
    """x, or alpha * (exp(x / alpha) - 1) where negative"""
    return record("celu", (x,), {"alpha": alpha})[0]


def selu(x: Any, /) -> Value:
    """scaled elu with its fixed constants"""
    return record("selu", (x,), {})[0]


def gelu(x: Any, /, approximate: Literal["none", "tanh"] = "none") -> Value:
    """x times the normal distribution function"""
    return record("gelu", (x,), {"approximate": approximate})[0]


def quick_gelu(x: Any, /, alpha: float = 1.702) -> Value:
    """x * sigmoid(alpha * x)"""
    return record("quick_gelu", (x,), {"alpha": alpha})[0]


def silu(x: Any, /) -> Value:
    """x * sigmoid(x), also called swish"""
    return record("silu", (x,), {})[0]


def mish(x: Any, /) -> Value:
    """x * tanh(softplus(x))"""
    return record("mish", (x,), {})[0]


def softplus(x: Any, /) -> Value:
    """log(1 + exp(x)) without overflow"""
    return record("softplus", (x,), {})[0]


def softsign(x: Any, /) -> Value:
    """x / (1 + |x|)"""
    return record("softsign", (x,), {})[0]


def hard_sigmoid(x: Any, /, alpha: float = 0.16666666666666666, beta: float = 0.5) -> Value:
    """alpha * x + beta limited to [0, 1]"""
    return record("hard_sigmoid", (x,), {"alpha": alpha, "beta": beta})[0]


def hard_swish(x: Any, /) -> Value:
    """x * hard_sigmoid(x)"""
    return record("hard_swish", (x,), {})[0]


def threshold(x: Any, /, alpha: float = 1) -> Value:
    """x where x > alpha, else 0"""
    return record("threshold", (x,), {"alpha": alpha})[0]


def full(value: Any, /, shape: Dim | Sequence[Dim], dtype: Any | None = None) -> Value:
    """the scalar in every element"""
    return record("full", (value,), {"shape": shape, "dtype": dtype})[0]


def zeros(shape: Dim | Sequence[Dim], dtype: Any = "f32") -> Value:
    """zeros"""
    return record("zeros", (), {"shape": shape, "dtype": dtype})[0]


def ones(shape: Dim | Sequence[Dim], dtype: Any = "f32") -> Value:
    """ones"""
    return record("ones", (), {"shape": shape, "dtype": dtype})[0]


def arange(*, start: Dim = 0, stop: Dim, step: int = 1, dtype: Any = "i32") -> Value:
    """start, start + step, .. below stop (above it for a negative step)"""
    return record("arange", (), {"start": start, "stop": stop, "step": step, "dtype": dtype})[0]


def eye(n: Dim, m: Dim | None = None, k: int = 0, dtype: Any = "f32") -> Value:
    """ones on diagonal k of n rows and m columns"""
    return record("eye", (), {"n": n, "m": m, "k": k, "dtype": dtype})[0]


def size(x: Any, /, axis: int) -> Value:
    """a dim of x as an i64 scalar"""
    return record("size", (x,), {"axis": axis})[0]


def iota(size: Dim) -> Value:
    """0, 1, .. size - 1, of dtype index"""
    return record("iota", (), {"size": size})[0]


def index(of: Dim) -> Value:
    """a size as a scalar of dtype index"""
    return record("index", (), {"of": of})[0]


def vector(*x: Any) -> Value:
    """scalars as the elements of a vector"""
    return record("vector", spread(x), {})[0]


def threefry(counter: Any, key: Any, /) -> Value:
    """threefry2x32 of u64 counters and keys: random bits"""
    return record("threefry", (counter, key), {})[0]


def rand(key: Any, /, shape: Dim | Sequence[Dim], dtype: Any = "f32") -> Value:
    """uniform in [0, 1) from a u64 key; equal keys give equal numbers"""
    return record("rand", (key,), {"shape": shape, "dtype": dtype})[0]


def randn(key: Any, /, shape: Dim | Sequence[Dim], dtype: Any = "f32") -> Value:
    """normal distribution from a u64 key"""
    return record("randn", (key,), {"shape": shape, "dtype": dtype})[0]


def reshape(x: Any, /, shape: Dim | Sequence[Dim]) -> Value:
    """same elements in row-major order; one dim may be -1"""
    return record("reshape", (x,), {"shape": shape})[0]


def flatten(x: Any, /, axis: int = 1) -> Value:
    """two dims: those before axis and the others"""
    return record("flatten", (x,), {"axis": axis})[0]


def squeeze(x: Any, /, axes: int | Sequence[int] | None = None) -> Value:
    """drops dims of 1, all of them by default"""
    return record("squeeze", (x,), {"axes": axes})[0]


def unsqueeze(x: Any, /, axes: int | Sequence[int]) -> Value:
    """adds dims of 1 at these axes of the result"""
    return record("unsqueeze", (x,), {"axes": axes})[0]


def expand(x: Any, /, shape: Dim | Sequence[Dim]) -> Value:
    """broadcasts to a shape; -1 keeps a dim"""
    return record("expand", (x,), {"shape": shape})[0]


def permute(x: Any, /, order: int | Sequence[int]) -> Value:
    """result axis i is axis order[i]"""
    return record("permute", (x,), {"order": order})[0]


def transpose(x: Any, /, axis0: int = -2, axis1: int = -1) -> Value:
    """swaps two axes"""
    return record("transpose", (x,), {"axis0": axis0, "axis1": axis1})[0]


def pad(x: Any, fill: Any = None, *, before: Dim | Sequence[Dim], after: Dim | Sequence[Dim], value: float = 0,
        mode: Literal["constant", "reflect", "edge", "wrap"] = "constant") -> Value:
    """adds elements around x: the scalar fill, or value; constant dims below 0 cut"""
    return record("pad", (x, fill), {"before": before, "after": after, "value": value, "mode": mode})[0]


def shrink(x: Any, /, offset: Dim | Sequence[Dim], size: Dim | Sequence[Dim]) -> Value:
    """the box of this size at this offset"""
    return record("shrink", (x,), {"offset": offset, "size": size})[0]


def slice(x: Any, /, starts: Dim | Sequence[Dim], ends: Dim | Sequence[Dim] | None = None, steps: int | Sequence[int] = 1,
          axes: int | Sequence[int] | None = None) -> Value:
    """x[start:end:step] per axis with Python's rules"""
    return record("slice", (x,), {"starts": starts, "ends": ends, "steps": steps, "axes": axes})[0]


def at(x: Any, /, positions: Dim | Sequence[Dim], axes: int | Sequence[int] | None = None) -> Value:
    """x at one position of each of these axes, which go away; negative ones count from the end; also x[0, 2:n, ..., -1]"""
    return record("at", (x,), {"positions": positions, "axes": axes})[0]


def flip(x: Any, /, axes: int | Sequence[int]) -> Value:
    """reverses axes"""
    return record("flip", (x,), {"axes": axes})[0]


def stride(x: Any, /, steps: int | Sequence[int]) -> Value:
    """every step-th element per axis; a negative step from the end"""
    return record("stride", (x,), {"steps": steps})[0]


def roll(x: Any, /, shifts: int | Sequence[int], axes: int | Sequence[int]) -> Value:
    """moves elements along axes, around the end"""
    return record("roll", (x,), {"shifts": shifts, "axes": axes})[0]


def repeat(x: Any, /, counts: Dim | Sequence[Dim]) -> Value:
    """the whole of x, counts[i] times along axis i"""
    return record("repeat", (x,), {"counts": counts})[0]


def concat(*x: Any, axis: int = 0) -> Value:
    """joins along an axis"""
    return record("concat", spread(x), {"axis": axis})[0]


def stack(*x: Any, axis: int = 0) -> Value:
    """joins along a new axis"""
    return record("stack", spread(x), {"axis": axis})[0]


def split(x: Any, /, sizes: Dim | Sequence[Dim] | None = None, parts: int | None = None, axis: int = 0) -> tuple[Value, ...]:
    """cuts along an axis; one result per size, or equal parts"""
    return record("split", (x,), {"sizes": sizes, "parts": parts, "axis": axis})


def sum(x: Any, /, axes: int | Sequence[int] | None = None, keepdims: bool = False) -> Value:
    """sum; floats accumulate in f32 at least, bool gives i32"""
    return record("sum", (x,), {"axes": axes, "keepdims": keepdims})[0]


def prod(x: Any, /, axes: int | Sequence[int] | None = None, keepdims: bool = False) -> Value:
    """product; floats accumulate in f32 at least, bool gives i32"""
    return record("prod", (x,), {"axes": axes, "keepdims": keepdims})[0]


def reduce_max(x: Any, /, axes: int | Sequence[int] | None = None, keepdims: bool = False) -> Value:
    """largest; NaN wins"""
    return record("reduce_max", (x,), {"axes": axes, "keepdims": keepdims})[0]


def reduce_min(x: Any, /, axes: int | Sequence[int] | None = None, keepdims: bool = False) -> Value:
    """smallest; NaN wins"""
    return record("reduce_min", (x,), {"axes": axes, "keepdims": keepdims})[0]


def fold(x: Any, /, with_: Literal["add", "mul", "max", "min"] = "add", axes: int | Sequence[int] | None = None,
         keepdims: bool = False) -> Value:
    """sum, product, largest or smallest, in the dtype of x all the way"""
    return record("fold", (x,), {"with": with_, "axes": axes, "keepdims": keepdims})[0]


def any(x: Any, /, axes: int | Sequence[int] | None = None, keepdims: bool = False) -> Value:
    """true if some element is not zero"""
    return record("any", (x,), {"axes": axes, "keepdims": keepdims})[0]


def all(x: Any, /, axes: int | Sequence[int] | None = None, keepdims: bool = False) -> Value:
    """true if no element is zero"""
    return record("all", (x,), {"axes": axes, "keepdims": keepdims})[0]


def mean(x: Any, /, axes: int | Sequence[int] | None = None, keepdims: bool = False) -> Value:
    """arithmetic mean"""
    return record("mean", (x,), {"axes": axes, "keepdims": keepdims})[0]


def var(x: Any, /, axes: int | Sequence[int] | None = None, keepdims: bool = False, correction: float = 0) -> Value:
    """mean square distance from the mean, over count - correction"""
    return record("var", (x,), {"axes": axes, "keepdims": keepdims, "correction": correction})[0]


def std(x: Any, /, axes: int | Sequence[int] | None = None, keepdims: bool = False, correction: float = 0) -> Value:
    """sqrt(var)"""
    return record("std", (x,), {"axes": axes, "keepdims": keepdims, "correction": correction})[0]


def logsumexp(x: Any, /, axes: int | Sequence[int] | None = None, keepdims: bool = False) -> Value:
    """log(sum(exp(x))) without overflow"""
    return record("logsumexp", (x,), {"axes": axes, "keepdims": keepdims})[0]


def argmax(x: Any, /, axis: int = -1, keepdims: bool = False, last: bool = False, dtype: Any = "i64") -> Value:
    """position of the largest element, the first one of equals; NaN is largest"""
    return record("argmax", (x,), {"axis": axis, "keepdims": keepdims, "last": last, "dtype": dtype})[0]


def argmin(x: Any, /, axis: int = -1, keepdims: bool = False, last: bool = False, dtype: Any = "i64") -> Value:
    """position of the smallest element; NaN is smallest"""
    return record("argmin", (x,), {"axis": axis, "keepdims": keepdims, "last": last, "dtype": dtype})[0]


def matmul(a: Any, b: Any, /, dtype: Any | None = None) -> Value:
    """matrix product over the last two dims, the others broadcast; a vector is a row of a or a column of b"""
    return record("matmul", (a, b), {"dtype": dtype})[0]


def linear(x: Any, w: Any, bias: Any = None, /) -> Value:
    """x times w transposed, plus bias; w is [out, in]"""
    return record("linear", (x, w, bias), {})[0]


def conv1d(x: Any, w: Any, bias: Any = None, *, stride: int | Sequence[int] = 1, padding: Dim | Sequence[Dim] = 0,
           dilation: int | Sequence[int] = 1, groups: int = 1) -> Value:
    """x [n, c, l] with w [m, c/groups, k]"""
    return record("conv1d", (x, w, bias), {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups})[0]


def conv2d(x: Any, w: Any, bias: Any = None, *, stride: int | Sequence[int] = 1, padding: Dim | Sequence[Dim] = 0,
           dilation: int | Sequence[int] = 1, groups: int = 1) -> Value:
    """x [n, c, h, w] with w [m, c/groups, kh, kw]"""
    return record("conv2d", (x, w, bias), {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups})[0]


def conv3d(x: Any, w: Any, bias: Any = None, *, stride: int | Sequence[int] = 1, padding: Dim | Sequence[Dim] = 0,
           dilation: int | Sequence[int] = 1, groups: int = 1) -> Value:
    """x [n, c, d, h, w] with w [m, c/groups, kd, kh, kw]"""
    return record("conv3d", (x, w, bias), {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups})[0]


def conv_transpose1d(x: Any, w: Any, bias: Any = None, *, stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                     dilation: int | Sequence[int] = 1, groups: int = 1, output_padding: int | Sequence[int] = 0) -> Value:
    """x [n, c, l] with w [c, m/groups, k]"""
    return record("conv_transpose1d", (x, w, bias), {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups,
                                                     "output_padding": output_padding})[0]


def conv_transpose2d(x: Any, w: Any, bias: Any = None, *, stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                     dilation: int | Sequence[int] = 1, groups: int = 1, output_padding: int | Sequence[int] = 0) -> Value:
    """x [n, c, h, w] with w [c, m/groups, kh, kw]"""
    return record("conv_transpose2d", (x, w, bias), {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups,
                                                     "output_padding": output_padding})[0]


def conv_transpose3d(x: Any, w: Any, bias: Any = None, *, stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                     dilation: int | Sequence[int] = 1, groups: int = 1, output_padding: int | Sequence[int] = 0) -> Value:
    """x [n, c, d, h, w] with w [c, m/groups, kd, kh, kw]"""
    return record("conv_transpose3d", (x, w, bias), {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups,
                                                     "output_padding": output_padding})[0]


def max_pool(x: Any, /, kernel: Dim | Sequence[Dim], stride: int | Sequence[int] = 0, padding: Dim | Sequence[Dim] = 0,
             dilation: int | Sequence[int] = 1, ceil: bool = False, toward_zero: bool = False) -> Value:
    """largest of each window over the last axes, one kernel entry per axis; stride 0 is the kernel. ceil adds windows that hang over the end. toward_zero adds one where an axis lacks less than a stride"""
    return record("max_pool", (x,), {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation, "ceil": ceil,
                                     "toward_zero": toward_zero})[0]


def max_pool_positions(x: Any, /, kernel: Dim | Sequence[Dim], stride: int | Sequence[int] = 0, padding: Dim | Sequence[Dim] = 0,
                       dilation: int | Sequence[int] = 1, ceil: bool = False, toward_zero: bool = False) -> Value:
    """where max_pool found the first largest element: its row-major i64 position along the pooled axes"""
    return record("max_pool_positions", (x,), {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation, "ceil": ceil,
                                               "toward_zero": toward_zero})[0]


def sum_pool(x: Any, /, kernel: Dim | Sequence[Dim], stride: int | Sequence[int] = 0, padding: Dim | Sequence[Dim] = 0,
             dilation: int | Sequence[int] = 1, ceil: bool = False, toward_zero: bool = False) -> Value:
    """sum of each window; floats accumulate in f32 at least"""
    return record("sum_pool", (x,), {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation, "ceil": ceil,
                                     "toward_zero": toward_zero})[0]


def avg_pool(x: Any, /, kernel: Dim | Sequence[Dim], stride: int | Sequence[int] = 0, padding: Dim | Sequence[Dim] = 0,
             dilation: int | Sequence[int] = 1, ceil: bool = False, toward_zero: bool = False, count_include_pad: bool = True) -> Value:
    """mean of each window; padding counts as zeros unless told otherwise"""
    return record("avg_pool", (x,), {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation, "ceil": ceil,
                                     "toward_zero": toward_zero, "count_include_pad": count_include_pad})[0]


def global_max_pool(x: Any, /) -> Value:
    """largest over all axes but the first two, which stay as dims of 1"""
    return record("global_max_pool", (x,), {})[0]


def global_avg_pool(x: Any, /) -> Value:
    """mean over all axes but the first two, which stay as dims of 1"""
    return record("global_avg_pool", (x,), {})[0]


def softmax(x: Any, /, axis: int = -1) -> Value:
    """exp(x - max) / sum along an axis"""
    return record("softmax", (x,), {"axis": axis})[0]


def log_softmax(x: Any, /, axis: int = -1) -> Value:
    """log(softmax(x)) without underflow"""
    return record("log_softmax", (x,), {"axis": axis})[0]


def layer_norm(x: Any, scale: Any = None, bias: Any = None, *, axis: int = -1, eps: float = 1e-5) -> Value:
    """zero mean and unit variance over the axes from axis on, times scale plus bias"""
    return record("layer_norm", (x, scale, bias), {"axis": axis, "eps": eps})[0]


def rms_norm(x: Any, scale: Any = None, *, axis: int = -1, eps: float = 1e-5) -> Value:
    """x over its root mean square over the axes from axis on, times scale"""
    return record("rms_norm", (x, scale), {"axis": axis, "eps": eps})[0]


def group_norm(x: Any, scale: Any = None, bias: Any = None, *, groups: Dim, eps: float = 1e-5) -> Value:
    """zero mean and unit variance over groups of channels of x [n, channels, ..]"""
    return record("group_norm", (x, scale, bias), {"groups": groups, "eps": eps})[0]


def instance_norm(x: Any, scale: Any = None, bias: Any = None, *, groups: Dim | None = None, eps: float = 1e-5) -> Value:
    """group_norm with one channel per group"""
    return record("instance_norm", (x, scale, bias), {"groups": groups, "eps": eps})[0]


def batch_norm(x: Any, scale: Any, bias: Any, mean: Any, var: Any, /, axis: int = 1, eps: float = 1e-5) -> Value:
    """(x - mean) / sqrt(var + eps) * scale + bias per channel"""
    return record("batch_norm", (x, scale, bias, mean, var), {"axis": axis, "eps": eps})[0]


def normalize(x: Any, /, axis: int = -1, p: int = 2, eps: float = 1e-12) -> Value:
    """x over its p-norm along an axis, p 1 or 2"""
    return record("normalize", (x,), {"axis": axis, "p": p, "eps": eps})[0]


def attention(q: Any, k: Any, v: Any, mask: Any = None, *, causal: bool = False, scale: float | None = None, offset: Dim = 0) -> Value:
    """softmax(q k^T * scale) v; mask is bool (false hides) or added; causal hides keys behind query + offset; scale is 1/sqrt(d); with all keys hidden NaN; weights are rounded to f16 or bf16 with v"""
    return record("attention", (q, k, v, mask), {"causal": causal, "scale": scale, "offset": offset})[0]


def embedding(table: Any, ids: Any, /) -> Value:
    """rows of the table; negative ids count from the end, rows out of range are 0"""
    return record("embedding", (table, ids), {})[0]


def gather(x: Any, positions: Any, /, axis: int = 0) -> Value:
    """x at positions along an axis, whose place the dims of positions take; out of range gives 0"""
    return record("gather", (x, positions), {"axis": axis})[0]


def gather_elements(x: Any, positions: Any, /, axis: int = 0) -> Value:
    """result[.., i, ..] = x[.., positions[.., i, ..], ..]"""
    return record("gather_elements", (x, positions), {"axis": axis})[0]


def gather_nd(x: Any, positions: Any, /, batch_dims: int = 0) -> Value:
    """positions [.., m] name the first m axes of x"""
    return record("gather_nd", (x, positions), {"batch_dims": batch_dims})[0]


def scatter_elements(x: Any, positions: Any, updates: Any, /, axis: int = 0, mode: Literal["set", "add", "mul", "min", "max"] = "set",
                     distinct: bool = False) -> Value:
    """x with updates at positions along an axis, in row-major order; out of range is left out; distinct says that no two go to one place, so threads make them in any order"""
    return record("scatter_elements", (x, positions, updates), {"axis": axis, "mode": mode, "distinct": distinct})[0]


def scatter_nd(x: Any, positions: Any, updates: Any, /, mode: Literal["set", "add", "mul", "min", "max"] = "set",
               distinct: bool = False) -> Value:
    """x with updates where positions [.., m] name the first m axes"""
    return record("scatter_nd", (x, positions, updates), {"mode": mode, "distinct": distinct})[0]


def gather_at(x: Any, *positions: Any) -> Value:
    """x at one position per axis, which broadcast together; negative ones are out of range too"""
    return record("gather_at", (x, *positions), {})[0]


def scatter_at(x: Any, *others: Any, mode: Literal["set", "add", "mul", "min", "max"] = "set", distinct: bool = False) -> Value:
    """x with updates at one position per axis, which broadcast together; negative ones are out of range too"""
    return record("scatter_at", (x, *others), {"mode": mode, "distinct": distinct})[0]


def one_hot(ids: Any, /, depth: Dim, axis: int = -1, on: float = 1, off: float = 0, dtype: Any = "f32") -> Value:
    """on where the new axis equals the id, else off"""
    return record("one_hot", (ids,), {"depth": depth, "axis": axis, "on": on, "off": off, "dtype": dtype})[0]


def triu(x: Any, /, k: int = 0) -> Value:
    """x on and above diagonal k, else 0"""
    return record("triu", (x,), {"k": k})[0]


def tril(x: Any, /, k: int = 0) -> Value:
    """x on and below diagonal k, else 0"""
    return record("tril", (x,), {"k": k})[0]


def cumsum(x: Any, /, axis: int = -1, exclusive: bool = False, reverse: bool = False) -> Value:
    """running sum"""
    return record("cumsum", (x,), {"axis": axis, "exclusive": exclusive, "reverse": reverse})[0]


def cumprod(x: Any, /, axis: int = -1, exclusive: bool = False, reverse: bool = False) -> Value:
    """running product"""
    return record("cumprod", (x,), {"axis": axis, "exclusive": exclusive, "reverse": reverse})[0]


def cummax(x: Any, /, axis: int = -1, exclusive: bool = False, reverse: bool = False) -> Value:
    """running maximum"""
    return record("cummax", (x,), {"axis": axis, "exclusive": exclusive, "reverse": reverse})[0]


def cummin(x: Any, /, axis: int = -1, exclusive: bool = False, reverse: bool = False) -> Value:
    """running minimum"""
    return record("cummin", (x,), {"axis": axis, "exclusive": exclusive, "reverse": reverse})[0]


def sort(x: Any, /, axis: int = -1, descending: bool = False) -> tuple[Value, ...]:
    """sorted values and their i64 positions; equal ones keep their order, NaN is largest"""
    return record("sort", (x,), {"axis": axis, "descending": descending})


def argsort(x: Any, /, axis: int = -1, descending: bool = False) -> Value:
    """the positions of sort alone"""
    return record("argsort", (x,), {"axis": axis, "descending": descending})[0]


def topk(x: Any, /, k: Dim, axis: int = -1, largest: bool = True) -> tuple[Value, ...]:
    """the first k values of a descending (or ascending) sort and their positions"""
    return record("topk", (x,), {"k": k, "axis": axis, "largest": largest})


def resize(x: Any, /, size: Dim | Sequence[Dim] | None = None, scale: float | Sequence[float] | None = None,
           axes: int | Sequence[int] | None = None, mode: Literal["nearest", "linear"] = "nearest",
           coordinates: Literal["half_pixel", "asymmetric", "align_corners"] = "half_pixel",
           rounding: Literal["prefer_floor", "prefer_ceil", "floor", "ceil"] = "prefer_floor") -> Value:
    """x with other sizes of the axes, all but the first two by default"""
    return record("resize", (x,), {"size": size, "scale": scale, "axes": axes, "mode": mode, "coordinates": coordinates,
                                   "rounding": rounding})[0]


def pixel_shuffle(x: Any, /, factor: int) -> Value:
    """[.., c*r*r, h, w] to [.., c, h*r, w*r]"""
    return record("pixel_shuffle", (x,), {"factor": factor})[0]


def pixel_unshuffle(x: Any, /, factor: int) -> Value:
    """[.., c, h*r, w*r] to [.., c*r*r, h, w]"""
    return record("pixel_unshuffle", (x,), {"factor": factor})[0]


def fft(x: Any, /, axis: int = -2, inverse: bool = False) -> Value:
    """the discrete Fourier transform along an axis of complex numbers, whose real and imaginary part the last axis holds; inverse divides by the length"""
    return record("fft", (x,), {"axis": axis, "inverse": inverse})[0]


def rfft(x: Any, /, axis: int = -1) -> Value:
    """the first length // 2 + 1 terms of the transform of real numbers; the others mirror them"""
    return record("rfft", (x,), {"axis": axis})[0]


def irfft(x: Any, /, axis: int = -2, length: Dim | None = None) -> Value:
    """the real numbers whose rfft is x, as many as length says, or 2 * (terms - 1)"""
    return record("irfft", (x,), {"axis": axis, "length": length})[0]


def stft(x: Any, window: Any = None, *, length: Dim, step: int) -> Value:
    """rfft of each frame of that length, step samples apart, times the window: [.., samples] to [.., frames, length // 2 + 1, 2]"""
    return record("stft", (x, window), {"length": length, "step": step})[0]


def contiguous(x: Any, /) -> Value:
    """x whole in a buffer, or in a part of one that nothing writes to afterwards"""
    return record("contiguous", (x,), {})[0]


def held(x: Any, /) -> Value:
    """what a state or temp holds here, whatever is assigned later"""
    return record("held", (x,), {})[0]


def equal_sizes(a: Dim, b: Dim, text: str) -> Value:
    """the size a, as an i64; a run fails where b is another one, and ops below take them as equal"""
    return record("equal_sizes", (), {"a": a, "b": b, "text": text})[0]


def expect(given: Any, wanted: Any, /, text: str, kind: Literal["agrees", "valid", "supported"] = "agrees") -> Value:
    """given; a run fails where its integers are not those of wanted; text says what they are, and kind how it fails"""
    return record("expect", (given, wanted), {"text": text, "kind": kind})[0]


def copy(x: Any, /, device: str) -> Value:
    """x in the memory of a device: `cpu` is the host, `--device NAME` adds others; kernels run where their operands are"""
    return record("copy", (x,), {"device": device})[0]


def distribute(x: Any, /, devices: str, axis: int | None = None) -> Value:
    """x with a part on each of the devices, cut along an axis, or whole on each; what is computed from it is computed in such parts, and joined where it is stored or copied"""
    return record("distribute", (x,), {"devices": devices, "axis": axis})[0]


def shard(x: Any, /, devices: str, axis: int = 0) -> tuple[Value, ...]:
    """x cut along an axis into a part on each of the devices, as in "a, b"; where it cannot be cut evenly, parts differ by one"""
    return record("shard", (x,), {"devices": devices, "axis": axis})


def replicate(x: Any, /, devices: str) -> tuple[Value, ...]:
    """x on each of the devices"""
    return record("replicate", (x,), {"devices": devices})


def unshard(*part: Any, axis: int = 0, device: str = "cpu") -> Value:
    """the parts joined along an axis on one device"""
    return record("unshard", spread(part), {"axis": axis, "device": device})[0]


def all_reduce(*part: Any, devices: str, op: Literal["sum", "max", "min", "prod"] = "sum") -> tuple[Value, ...]:
    """the parts added up, or the like; one result on each of the devices, bit for bit the same"""
    return record("all_reduce", spread(part), {"devices": devices, "op": op})


def custom(*x: Any, function: str, shape: Dim | Sequence[Dim], dtype: Any = "f32", values: Dim | Sequence[Dim] | None = None,
           pure: bool = False, source: str | None = None) -> Value:
    """a function of a C file, source, or one that the program that runs the plan provides; values are sizes it gets as numbers"""
    return record("custom", spread(x), {"function": function, "shape": shape, "dtype": dtype, "values": values, "pure": pure,
                                        "source": source})[0]
