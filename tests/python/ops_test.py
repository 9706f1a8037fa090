"""Every op of svod.ops computes what numpy computes: one graph has all cases as its outputs, and each case is a test."""
import math
import os
import unittest
from functools import reduce

from package import BIN, Case, each_case, svod  # first: it skips where numpy is not there
import numpy
from numpy import fft  # noqa: F401
from numpy.lib.stride_tricks import sliding_window_view

from svod import ops

os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
rng = numpy.random.default_rng(5)
f32 = numpy.float32


def floats(*shape):
    return rng.standard_normal(shape).astype(f32)


ARRAYS = {
    "x": floats(3, 4), "y": floats(3, 4), "p": rng.uniform(0.5, 3, (3, 4)).astype(f32), "u": rng.uniform(-0.9, 0.9, (3, 4)).astype(f32),
    "i": rng.integers(1, 9, (3, 4)).astype(numpy.int32), "k": rng.integers(-9, 9, (3, 4)).astype(numpy.int32), "b": floats(3, 4) > 0, "c": floats(3, 4) > 0,
    "z": numpy.array([numpy.nan, numpy.inf, -numpy.inf, 1], f32), "cube": floats(2, 3, 4), "m": floats(4, 5), "v": floats(4), "s": floats(3), "row": floats(1, 4),
    "rows": numpy.array([2, 0, 2], numpy.int64), "line": floats(2, 4, 9), "w1": floats(6, 4, 3), "w1g": floats(6, 2, 3), "image": floats(1, 4, 6, 7),
    "w2": floats(3, 4, 3, 2), "box": floats(1, 2, 3, 4, 5), "w3": floats(2, 2, 2, 2, 2), "t1": floats(4, 3, 3), "t2": floats(4, 2, 2, 3), "t3": floats(2, 2, 2, 2, 2),
    "bias": floats(6), "key": numpy.array(7, numpy.uint64), "grid": numpy.array([[0, 1], [2, 3]], numpy.int64), "wave": floats(12), "pairs": floats(4, 6, 2),
    "q": floats(2, 3, 4), "keys": floats(2, 5, 4), "values": floats(2, 5, 4)}
SOME_OPS = {  # op of svod.ops: what numpy, and the functions below, make of the same arrays
    # Of elements.
    "add(x, y)": "x + y", "add(b, c)": "b | c", "sub(x, row)": "x - row", "mul(k, i)": "k * i", "mul(b, c)": "b & c", "div(x, p)": "x / p",
    "div(i, 2)": "f32(i / 2)", "fdiv(x, 4)": "x / 4", "max(x, y)": "maximum(x, y)", "min(k, i)": "minimum(k, i)", "max(z, 0.0)": "maximum(z, 0)",
    "pow(p, y)": "p ** y", "pow(i, 3)": "i ** 3", "cdiv(k, 4)": "trunc(k / 4).astype('i4')", "cmod(k, 4)": "fmod(k, 4)", "floordiv(k, 4)": "k // 4",
    "floormod(k, 4)": "k % 4", "floordiv(k, -3)": "k // -3", "floormod(k, -3)": "k % -3", "mulacc(x, y, p)": "x * y + p", "neg(x)": "-x", "abs(k)": "abs(k)", "sign(k)": "sign(k)", "sign(x)": "sign(x)", "recip(p)": "1 / p",
    "square(x)": "x * x", "sqrt(p)": "sqrt(p)", "rsqrt(p)": "1 / sqrt(p)", "trunc(x * 3)": "trunc(x * 3)", "floor(x * 3)": "floor(x * 3)",
    "ceil(x * 3)": "ceil(x * 3)", "round(x * 3)": "rint(x * 3)", "round(k * 0.5)": "rint(k * f32(0.5))", "clip(x, min=-0.5, max=0.5)": "clip(x, -0.5, 0.5)",
    "clip(x, max=0.25)": "minimum(x, 0.25)", "exp(x)": "exp(x)", "exp2(x)": "exp2(x)", "expm1(u)": "expm1(u)", "log(p)": "log(p)", "log2(p)": "log2(p)",
    "log1p(u)": "log1p(u)", "log10(p)": "log10(p)", "sin(x)": "sin(x)", "cos(x)": "cos(x)", "tan(u)": "tan(u)", "tanh(x)": "tanh(x)", "sinh(x)": "sinh(x)",
    "cosh(x)": "cosh(x)", "asin(u)": "arcsin(u)", "acos(u)": "arccos(u)", "atan(x)": "arctan(x)", "asinh(x)": "arcsinh(x)", "acosh(p + 1)": "arccosh(p + 1)",
    "atanh(u)": "arctanh(u)", "erf(x)": "erf(x)", "and_(i, k)": "i & k", "and_(b, c)": "b & c", "or_(i, k)": "i | k", "xor(i, k)": "i ^ k", "xor(b, c)": "b ^ c",
    "not_(k)": "~k", "not_(b)": "~b", "shl(i, 3)": "i << 3", "shr(k, 1)": "k >> 1", "shl(i, 32)": "i * 0", "lt(x, y)": "x < y", "le(k, i)": "k <= i", "gt(x, y)": "x > y",
    "ge(k, i)": "k >= i", "eq(i, k)": "i == k", "ne(i, k)": "i != k", "lt(z, 2.0)": "z < 2", "isnan(z)": "isnan(z)", "isinf(z)": "isinf(z)",
    "isfinite(z)": "isfinite(z)", "where(b, x, y)": "where(b, x, y)", "where(k, x, 0)": "where(k != 0, x, 0)", "cast(x * 5, dtype='i32')": "trunc(x * 5).astype('i4')",
    "cast(x * 200, dtype='u8')": "clip(trunc(x * 200), 0, 255).astype('u1')", "cast(k, dtype='f32')": "f32(k)", "cast(x, dtype='bool')": "x != 0", "cast(x, dtype='f16')": "x.astype('f2')",
    "bitcast(x, dtype='i32')": "x.view('i4')", "bitcast(x, dtype='u8')": "x.view('u1')", "sigmoid(x)": "1 / (1 + exp(-x))", "relu(x)": "maximum(x, 0)", "relu6(x * 9)": "clip(x * 9, 0, 6)",
    "leaky_relu(x, alpha=0.1)": "where(x < 0, f32(0.1) * x, x)", "prelu(x, v)": "where(x < 0, v * x, x)", "elu(x)": "where(x < 0, expm1(x), x)",
    "celu(x, alpha=2)": "where(x < 0, 2 * expm1(x / 2), x)", "selu(x)": "f32(1.05070098735548) * where(x < 0, f32(1.67326324235438) * expm1(x), x)",
    "gelu(x)": "x / 2 * (1 + erf(x / sqrt(f32(2))))", "gelu(x, approximate='tanh')": "x / 2 * (1 + tanh(f32(0.79788456) * (x + f32(0.044715) * x ** 3)))",
    "quick_gelu(x)": "x / (1 + exp(f32(-1.702) * x))", "silu(x)": "x / (1 + exp(-x))", "mish(x)": "x * tanh(log1p(exp(x)))", "softplus(x)": "log1p(exp(x))",
    "softsign(x)": "x / (1 + abs(x))", "hard_sigmoid(x * 3)": "clip(x * 3 / 6 + f32(0.5), 0, 1)", "hard_swish(x * 3)": "x * 3 * clip(x * 3 / 6 + f32(0.5), 0, 1)",
    "threshold(x, alpha=0.3)": "where(x > f32(0.3), x, 0)",
    # Made, and moved.
    "full(2.5, shape=[2, 3])": "full((2, 3), 2.5, 'f4')", "zeros(shape=[2], dtype='i32')": "zeros(2, 'i4')", "ones(shape=[2, 2])": "ones((2, 2), 'f4')",
    "arange(stop=9, start=1, step=2)": "arange(1, 9, 2, dtype='i4')", "arange(start=5, stop=0, step=-2)": "arange(5, 0, -2, dtype='i4')", "eye(n=3, m=4, k=1)": "eye(3, 4, 1, dtype='f4')",
    "size(x, axis=1)": "array(4)", "cast(iota(size=5), dtype='i64')": "arange(5)", "cast(index(of=6), dtype='i64')": "array(6)", "vector(cube[0, 0, 0], 2.0)": "array([cube[0, 0, 0], 2], 'f4')",
    "reshape(x, shape=[2, -1])": "x.reshape(2, -1)", "flatten(cube, axis=2)": "cube.reshape(6, 4)", "squeeze(row)": "row[0]", "squeeze(row, axes=0)": "row[0]",
    "unsqueeze(x, axes=[0, 2])": "x[None, :, None]", "expand(row, shape=[3, -1])": "broadcast_to(row, (3, 4))", "permute(cube, order=[2, 0, 1])": "cube.transpose(2, 0, 1)",
    "transpose(cube)": "cube.swapaxes(1, 2)", "transpose(cube, axis0=0, axis1=2)": "cube.swapaxes(0, 2)", "pad(x, before=[1, 0], after=[0, 2], value=3)": "pad(x, ((1, 0), (0, 2)), constant_values=3)",
    "pad(x, before=[1, 2], after=[1, 0], mode='reflect')": "pad(x, ((1, 1), (2, 0)), 'reflect')", "pad(x, before=[1, 2], after=[1, 0], mode='edge')": "pad(x, ((1, 1), (2, 0)), 'edge')",
    "pad(x, before=[1, 2], after=[1, 0], mode='wrap')": "pad(x, ((1, 1), (2, 0)), 'wrap')", "pad(x, before=[-1, 0], after=[0, -1])": "x[1:, :-1]", "shrink(x, offset=[1, 0], size=[2, 3])": "x[1:3, 0:3]",
    "slice(x, starts=[1], ends=[4], axes=[1])": "x[:, 1:4]", "slice(x, starts=[0, 3], ends=[3, 0], steps=[2, -1])": "x[0:3:2, 3:0:-1]", "at(cube, positions=[1, -1])": "cube[1, -1]",
    "at(cube, positions=[2], axes=[1])": "cube[:, 2]", "flip(cube, axes=[0, 2])": "cube[::-1, :, ::-1]", "stride(cube, steps=[1, 2, -1])": "cube[:, ::2, ::-1]",
    "roll(x, shifts=[1, -2], axes=[0, 1])": "roll(x, (1, -2), (0, 1))", "repeat(x, counts=[2, 1])": "tile(x, (2, 1))", "concat(x, y, axis=1)": "concatenate([x, y], 1)",
    "concat(x, row, y)": "concatenate([x, row, y])", "stack(x, y, axis=-1)": "stack([x, y], -1)", "split(m, sizes=[1, 3])[1]": "m[1:]", "split(x, parts=2, axis=1)[1]": "x[:, 2:]",
    "contiguous(transpose(x))": "x.T", "held(x)": "x", "copy(x, device='cpu')": "x",
    # Reduced.
    "sum(x)": "x.sum()", "sum(cube, axes=[0, 2])": "cube.sum((0, 2))", "sum(b, axes=0)": "b.sum(0)", "sum(k, axes=1, keepdims=True)": "k.sum(1, keepdims=True)", "prod(x, axes=1)": "x.prod(1)",
    "reduce_max(cube, axes=1)": "cube.max(1)", "reduce_max(z)": "array(nan, 'f4')", "reduce_min(k, axes=0)": "k.min(0)", "fold(i, axes=0)": "i.sum(0, dtype='i4')",
    "fold(x, with_='max', axes=1)": "x.max(1)", "any(k, axes=0)": "any(k, 0)", "all(k, axes=1)": "all(k, 1)", "mean(cube, axes=-1)": "cube.mean(-1)", "var(x, axes=0)": "x.var(0)",
    "var(x, axes=1, correction=1)": "x.var(1, ddof=1)", "std(x, keepdims=True)": "x.std(keepdims=True)", "logsumexp(x, axes=1)": "log(exp(x).sum(1))", "argmax(x)": "x.argmax(-1)",
    "argmax(z, dtype='i32')": "array(0, 'i4')", "argmax(k // 9, axis=1, last=True)": "3 - (k // 9)[:, ::-1].argmax(1)", "argmin(x, axis=0, keepdims=True)": "x.argmin(0, keepdims=True)",
    # Products, filters and norms.
    "matmul(x, m)": "x @ m", "matmul(cube, m)": "cube @ m", "matmul(v, m)": "v @ m", "matmul(x, v)": "x @ v", "matmul(i, transpose(k))": "i @ k.T", "linear(x, transpose(m), bias[:5])": "x @ m + bias[:5]",
    "conv1d(line, w1, bias)": "conv(line, w1, bias)", "conv1d(line, w1g, groups=2, stride=2)": "conv(line, w1g, groups=2, stride=2)", "conv2d(image, w2, padding=[1, 1, 0, 0])": "conv(image, w2, padding=[1, 1, 0, 0])",
    "conv2d(image, w2, stride=2, dilation=2)": "conv(image, w2, stride=2, dilation=2)", "conv3d(box, w3)": "conv(box, w3)", "conv_transpose1d(line, t1, stride=2)": "spread(line, t1, 2)",
    "conv_transpose2d(image, t2)": "spread(image, t2)", "conv_transpose3d(box, t3, stride=2)": "spread(box, t3, 2)", "max_pool(line, kernel=3)": "windows(line, 3, stride=3).max(-1)", "max_pool(image, kernel=[2, 3], stride=2)": "windows(image, 2, 3, stride=2).max((-2, -1))",
    "max_pool_positions(line, kernel=3, stride=3)": "windows(line, 3, stride=3).argmax(-1) + arange(0, 9, 3)", "sum_pool(image, kernel=[2, 2])": "windows(image, 2, 2, stride=2).sum((-2, -1))",
    "avg_pool(image, kernel=[3, 2], stride=1)": "windows(image, 3, 2).mean((-2, -1))", "global_max_pool(image)": "image.max((2, 3), keepdims=True)", "global_avg_pool(image)": "image.mean((2, 3), keepdims=True)",
    "softmax(x)": "softmax(x, 1)", "softmax(cube, axis=1)": "softmax(cube, 1)", "log_softmax(x)": "log(softmax(x, 1))", "layer_norm(x, v, row[0])": "standard(x, 1) * v + row[0]", "layer_norm(cube, axis=1)": "standard(cube, (1, 2))",
    "rms_norm(x, v)": "x / sqrt((x * x).mean(1, keepdims=True) + f32(1e-5)) * v", "group_norm(line, groups=2)": "standard(line.reshape(2, 2, -1), 2).reshape(line.shape)",
    "instance_norm(line)": "standard(line, 2)", "batch_norm(line, v, v + 1, v * 2, square(v))": "(line - 2 * v[:, None]) / sqrt(v * v + f32(1e-5))[:, None] * v[:, None] + v[:, None] + 1",
    "normalize(x)": "x / sqrt((x * x).sum(1, keepdims=True))", "normalize(x, p=1, axis=0)": "x / abs(x).sum(0)", "attention(q, keys, values)": "softmax(q @ keys.swapaxes(1, 2) / 2, 2) @ values",
    "attention(q, q, q, causal=True, scale=1)": "softmax(where(tri(3, dtype=bool), q @ q.swapaxes(1, 2), -inf), 2) @ q",
    # Found by positions, and in order.
    "embedding(m, rows)": "m[rows]", "embedding(m, rows - 3)": "m[rows + 1]", "gather(m, rows)": "m[rows]", "gather(cube, grid[0], axis=2)": "cube[:, :, :2]", "gather_elements(x, grid)": "array([[x[0, 0], x[1, 1]], [x[2, 0], 0]], 'f4')", "gather_nd(m, grid)": "m[[0, 2], [1, 3]]",
    "gather_at(m, rows, 1)": "m[rows, 1]", "scatter_elements(x, grid[:1], ones(shape=[1, 2]), mode='add')": "put(x, ([0, 1], [0, 1]), 1, 'add')", "scatter_nd(m, grid, ones(shape=[2]))": "put(m, ([0, 2], [1, 3]), 1)",
    "scatter_at(m, rows, 1, 5.0, mode='add')": "put(m, ([2, 0, 2], [1, 1, 1]), 5, 'add')", "one_hot(rows, depth=4)": "eye(4, dtype='f4')[rows]", "one_hot(rows, depth=3, axis=0, on=5, off=-1)": "eye(3, dtype='f4')[rows].T * 6 - 1", "triu(x)": "triu(x)", "triu(x, k=1)": "triu(x, 1)",
    "tril(x, k=-1)": "tril(x, -1)", "cumsum(x)": "x.cumsum(1)", "cumsum(k, axis=0, exclusive=True)": "k.cumsum(0) - k", "cumsum(x, reverse=True)": "x[:, ::-1].cumsum(1)[:, ::-1]", "cumprod(x)": "x.cumprod(1)",
    "cummax(k)": "maximum.accumulate(k, 1)", "cummin(x, axis=0)": "minimum.accumulate(x, 0)", "sort(x)[0]": "sort(x, 1)", "sort(x, axis=0, descending=True)[1]": "argsort(-x, 0)", "sort(z)[1]": "array([2, 3, 1, 0])", "argsort(x, axis=0)": "argsort(x, 0)",
    "topk(x, k=2)[0]": "-sort(-x, 1)[:, :2]", "topk(x, k=2, largest=False)[1]": "argsort(x, 1)[:, :2]",
    "resize(line, size=18)": "line.repeat(2, 2)", "resize(image, scale=[2, 2], mode='nearest', coordinates='asymmetric', rounding='floor')": "image.repeat(2, 2).repeat(2, 3)", "resize(line, size=17, mode='linear', coordinates='align_corners')": "between(line)",
    "pixel_shuffle(image, factor=2)": "image.reshape(1, 1, 2, 2, 6, 7).transpose(0, 1, 4, 2, 5, 3).reshape(1, 1, 12, 14)", "pixel_unshuffle(pixel_shuffle(image, factor=2), factor=2)": "image",
    "fft(pairs)": "parts(fft.fft(pairs @ [1, 1j], axis=1))", "fft(pairs, inverse=True)": "parts(fft.ifft(pairs @ [1, 1j], axis=1))", "rfft(wave)": "parts(fft.rfft(wave))", "irfft(rfft(wave), length=12)": "wave", "stft(wave, length=4, step=2)": "parts(fft.rfft(sliding_window_view(wave, 4)[::2]))",
    # Of numbers drawn by a key there is what they are in the mean; the bits are in tests/frontend/values/random.svod.
    "mean(rand(key, shape=[64, 64]))": "full((), 0.5, 'f4')", "std(randn(key, shape=[64, 64]))": "ones((), 'f4')", "sum(rand(key, shape=[9]) == rand(key, shape=[9]))": "array(9, 'i4')"}
LOOSE = ("rand", "randn")
# Of several devices, of checks that fail a run, and of functions in C: tests/cuda, tests/emulated and python_test.py have them.
ELSEWHERE = {"distribute", "shard", "replicate", "unshard", "all_reduce", "custom", "expect", "equal_sizes", "threefry"}


# --- What numpy lacks

erf = numpy.vectorize(math.erf, otypes=[f32])


def softmax(x, axis):
    e = numpy.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def standard(x, axis):
    return (x - x.mean(axis, keepdims=True)) / numpy.sqrt(x.var(axis, keepdims=True) + f32(1e-5))


def windows(x, *kernel, stride=1):
    """Those over the last axes, which they get as axes of their own."""
    axes = tuple(range(x.ndim - len(kernel), x.ndim))
    found = sliding_window_view(x, kernel, axes)
    return found[(slice(None),) * axes[0] + (slice(None, None, stride),) * len(kernel)]


def conv(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
    rank = w.ndim - 2
    before, after = (padding[:rank], padding[rank:]) if isinstance(padding, list) else ([padding] * rank,) * 2
    x = numpy.pad(x, [(0, 0), (0, 0), *zip(before, after)])
    seen = windows(x, *[(size - 1) * dilation + 1 for size in w.shape[2:]], stride=stride)[(Ellipsis, *[slice(None, None, dilation)] * rank)]
    parts = [numpy.tensordot(a, b, ([1, *range(2 + rank, 2 + 2 * rank)], [1, *range(2, 2 + rank)])) for a, b in zip(numpy.split(seen, groups, 1), numpy.split(w, groups))]
    result = numpy.moveaxis(numpy.concatenate(parts, -1), -1, 1)
    return result if bias is None else result + bias.reshape(-1, *[1] * rank)


def spread(x, w, stride=1):
    """A transposed convolution: each element of x adds its multiple of w."""
    result = numpy.zeros((x.shape[0], w.shape[1], *[(n - 1) * stride + k for n, k in zip(x.shape[2:], w.shape[2:])]), f32)
    for place in numpy.ndindex(*x.shape[2:]):
        box = tuple(slice(p * stride, p * stride + k) for p, k in zip(place, w.shape[2:]))
        result[(slice(None), slice(None), *box)] += numpy.tensordot(x[(slice(None), slice(None), *place)], w, 1)
    return result


def put(x, places, value, mode="set"):
    result = x.copy()
    if mode == "add":
        numpy.add.at(result, places, value)
    else:
        result[places] = value
    return result


def between(x):
    """Each element, and the mean of neighbours between them."""
    result = x.repeat(2, 2)[..., :-1]
    result[..., 1::2] = (x[..., 1:] + x[..., :-1]) / 2
    return result


def parts(x):
    return numpy.stack([x.real, x.imag], -1).astype(f32)


@each_case(SOME_OPS)
class Ops(Case):
    @classmethod
    def setUpClass(cls):
        graph = svod.Graph("ops")
        names = {name: graph.input(name, array.dtype, array.shape) for name, array in ARRAYS.items()}
        with graph:
            for place, text in enumerate(SOME_OPS):
                graph.output(f"o{place}", eval(text, {**vars(ops), **names}))
        cls.result = dict(zip(SOME_OPS, svod.compile(graph, opt_level=0, no_cache=True)(**ARRAYS).values()))

    def check(self, text, expected):
        with numpy.errstate(all="ignore"):
            want = numpy.asarray(eval(expected, {**vars(numpy), **globals(), **ARRAYS}))
        got = self.result[text]
        self.assertEqual((got.shape, got.dtype.kind), (want.shape, want.dtype.kind))
        close = 0.03 if any(f"{name}(" in text for name in LOOSE) else 2e-5
        numpy.testing.assert_allclose(got, want, rtol=close, atol=close)


class All(unittest.TestCase):
    def test_every_op_has_a_case(self):
        called = reduce(set.union, ({name for name in ops.__all__ if f"{name}(" in text} for text in SOME_OPS))
        self.assertEqual({*ops.__all__} - called, ELSEWHERE)


if __name__ == "__main__":
    unittest.main()
