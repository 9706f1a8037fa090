#!/usr/bin/env python3
"""Writes tests/frontend/values/*.svod: graphs with their expected results, computed here by numpy from the definitions.

Run it after adding a case, and look at the difference: python3 tests/frontend/make_values.py
Each file is a graph whose comments hold what values_test.cpp needs:
  # expect weight NAME: TYPE = DATA   the value of output NAME
  # feed weight NAME: TYPE = DATA     the value of input NAME
  # var NAME = VALUE                  the value of a variable
  # tolerance T                       relative error allowed for floats, 2e-5 by default
"""
import itertools
from pathlib import Path

import numpy as np

OUT = Path(__file__).parent / "values"
TYPES = {np.dtype(k): v for k, v in {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64"}.items()}
rng = np.random.default_rng(7)


def floats(*shape, scale=2.0):
    return np.round(rng.standard_normal(shape) * scale, 2).astype(np.float32)


def ints(low, high, *shape, dtype=np.int64):
    return rng.integers(low, high, shape).astype(dtype)


def number(v):
    if isinstance(v, (bool, np.bool_)):
        return "true" if v else "false"
    if isinstance(v, (float, np.floating)):
        if np.isnan(v):
            return "nan"
        if np.isinf(v):
            return "inf" if v > 0 else "-inf"
        text = repr(float(np.float32(v))) if isinstance(v, (np.float32, np.float16)) else repr(float(v))
        return f"{float(v):.9g}" if "." in f"{float(v):.9g}" or "e" in f"{float(v):.9g}" else f"{float(v):.9g}.0"
    return str(int(v))


def nested(a):
    return number(a[()]) if a.ndim == 0 else "[" + ", ".join(nested(x) for x in a) + "]"


def declare(name, a):
    a = np.asarray(a)
    shape = "[" + ", ".join(map(str, a.shape)) + "]" if a.ndim else ""
    return f"weight {name}: {TYPES[a.dtype]}{shape} = {nested(a)}"


class Case:
    def __init__(self, name, what):
        self.name, self.lines, self.notes = name, ["svod 1", f"# {what}"], []

    def weight(self, name, a):
        self.lines.append(declare(name, a))
        return a

    def feed(self, name, declared, a):
        self.lines.append(f"input {name}: {declared}")
        self.notes.append("# feed " + declare(name, a))
        return a

    def variable(self, name, bounds, value):
        self.lines.append(f"var {name} in [{bounds[0]}, {bounds[1]}]")
        self.notes.append(f"# var {name} = {value}")

    def line(self, text):
        self.lines.append(text)

    def output(self, name, expression, expected):
        self.lines.append(f"output {name} = {expression}" if expression else f"output {name}")
        self.notes.append("# expect " + declare(name, expected))

    def tolerance(self, t):
        self.notes.append(f"# tolerance {t}")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if error[0] is None:
            (OUT / (self.name + ".svod")).write_text("\n".join(self.lines + self.notes) + "\n")


# --- references, written from the definitions

def windows(x, kernel, stride, before, after, dilation, fill, extra=None):
    """[lead.., counts.., taps..] over the last len(kernel) axes."""
    r = len(kernel)
    lead = x.ndim - r
    pads = [(0, 0)] * lead + [(b, a + (extra[i] if extra else 0)) for i, (b, a) in enumerate(zip(before, after))]
    x = np.pad(x, pads, constant_values=fill)
    counts = [(x.shape[lead + i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(r)]
    out = np.zeros(x.shape[:lead] + tuple(counts) + tuple(kernel), x.dtype)
    for o in itertools.product(*map(range, counts)):
        for k in itertools.product(*map(range, kernel)):
            at = tuple(o[i] * stride[i] + k[i] * dilation[i] for i in range(r))
            out[(Ellipsis,) + o + k] = x[(Ellipsis,) + at]
    return out


def conv(x, w, bias=None, stride=None, padding=None, dilation=None, groups=1):
    r = x.ndim - 2
    stride, dilation = stride or [1] * r, dilation or [1] * r
    padding = padding or [0] * r
    before, after = (padding, padding) if len(padding) == r else (padding[:r], padding[r:])
    win = windows(x.astype(np.float64), w.shape[2:], stride, before, after, dilation, 0)
    n, m, c = x.shape[0], w.shape[0], w.shape[1]
    out = np.zeros((n, m) + win.shape[2:2 + r])
    for g in range(groups):
        xs = win[:, g * c:(g + 1) * c]
        ws = w[g * m // groups:(g + 1) * m // groups].astype(np.float64)
        xs = xs.reshape(n, c, -1, int(np.prod(w.shape[2:])))
        out[:, g * m // groups:(g + 1) * m // groups] = np.einsum(
            "ncok,mck->nmo", xs, ws.reshape(ws.shape[0], c, -1)).reshape((n, m // groups) + win.shape[2:2 + r])
    if bias is not None:
        out += bias.reshape((1, -1) + (1,) * r)
    return out.astype(np.float32)


def conv_transpose(x, w, bias=None, stride=None, padding=None, dilation=None, groups=1, output_padding=None):
    r = x.ndim - 2
    stride, dilation = stride or [1] * r, dilation or [1] * r
    padding, extra = padding or [0] * r, output_padding or [0] * r
    n, c, mg = x.shape[0], x.shape[1], w.shape[1]
    full = [(x.shape[2 + i] - 1) * stride[i] + dilation[i] * (w.shape[2 + i] - 1) + 1 + extra[i] for i in range(r)]
    out = np.zeros([n, mg * groups] + full)
    for i in itertools.product(*map(range, x.shape[2:])):
        for k in itertools.product(*map(range, w.shape[2:])):
            at = tuple(i[j] * stride[j] + k[j] * dilation[j] for j in range(r))
            for ch in range(c):
                g = ch // (c // groups)
                for m in range(mg):
                    out[(slice(None), g * mg + m) + at] += x[(slice(None), ch) + i].astype(np.float64) * w[(ch, m) + k]
    cut = tuple(slice(padding[i], full[i] - padding[i]) for i in range(r))
    out = out[(slice(None), slice(None)) + cut]
    if bias is not None:
        out = out + bias.reshape((1, -1) + (1,) * r)
    return out.astype(np.float32)


def pool(x, kernel, stride=None, padding=None, dilation=None, ceil=False, mode="max", include=True):
    r = len(kernel)
    stride, dilation, padding = stride or kernel, dilation or [1] * r, padding or [0] * r
    before, after = (padding, padding) if len(padding) == r else (padding[:r], padding[r:])
    lead = x.ndim - r
    counts = []
    for i in range(r):
        size = x.shape[lead + i]
        room = size + before[i] + after[i] - dilation[i] * (kernel[i] - 1) - 1
        count = (-(-room // stride[i]) if ceil else room // stride[i]) + 1
        if ceil and (count - 1) * stride[i] >= size + before[i]:
            count -= 1
        counts.append(count)
    out = np.zeros(x.shape[:lead] + tuple(counts))
    for lead_at in itertools.product(*map(range, x.shape[:lead])):
        for o in itertools.product(*map(range, counts)):
            taps, divisor = [], 0
            for k in itertools.product(*map(range, kernel)):
                at = [o[i] * stride[i] + k[i] * dilation[i] - before[i] for i in range(r)]
                inside = all(0 <= at[i] < x.shape[lead + i] for i in range(r))
                padded = all(at[i] < x.shape[lead + i] + after[i] for i in range(r))
                if inside:
                    taps.append(x[lead_at + tuple(at)])
                divisor += 1 if (padded if include else inside) else 0
            out[lead_at + o] = max(taps) if mode == "max" else sum(map(float, taps)) / divisor
    return out.astype(np.float32)


# The largest of 2d windows of x [1, c, h, w], as row-major positions in its image.
def pool_positions(x, kernel, stride, padding):
    best = pool(x, kernel, stride, padding)
    out = np.zeros(best.shape, np.int64)
    for _, c, i, j in itertools.product(*map(range, best.shape)):
        taps = itertools.product(range(kernel[0]), range(kernel[1]))
        for y, z in ((i * stride[0] + a - padding[0], j * stride[1] + b - padding[1]) for a, b in taps):
            if 0 <= y < x.shape[2] and 0 <= z < x.shape[3] and x[0, c, y, z] == best[0, c, i, j]:
                out[0, c, i, j] = y * x.shape[3] + z
                break
    return out


def softmax(x, axis=-1):
    e = np.exp(x.astype(np.float64) - x.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).astype(np.float32)


def standardize(x, axes, eps):
    x = x.astype(np.float64)
    return (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + eps)


def f32(x):
    return np.asarray(x).astype(np.float32)


erf = np.vectorize(__import__("math").erf)

# --- cases

with Case("elementwise_float", "unary and binary ops on f32") as c:
    x = c.weight("x", f32([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]))
    y = c.weight("y", f32([1, 2, 3, -4, 5, -6]))
    for op, value in {
            "abs(x)": abs(x), "neg(x)": -x, "-x": -x, "sign(x)": np.sign(x), "floor(x)": np.floor(x), "ceil(x)": np.ceil(x),
            "round(x)": np.round(x), "trunc(x)": np.trunc(x), "square(x)": x * x, "recip(y)": 1 / y,
            "sqrt(abs(x))": np.sqrt(abs(x)), "rsqrt(abs(x))": 1 / np.sqrt(abs(x)), "exp(x)": np.exp(x), "exp2(x)": np.exp2(x),
            "log(abs(x))": np.log(abs(x)), "log2(abs(x))": np.log2(abs(x)), "log10(abs(x))": np.log10(abs(x)),
            "sin(x)": np.sin(x), "cos(x)": np.cos(x), "tan(x)": np.tan(x), "tanh(x)": np.tanh(x), "sinh(x)": np.sinh(x),
            "cosh(x)": np.cosh(x), "erf(x)": erf(x), "x + y": x + y, "x - y": x - y, "x * y": x * y, "x / y": x / y,
            "x // y": np.floor(x / y), "x % y": x - y * np.floor(x / y), "cdiv(x, y)": np.trunc(x / y), "cmod(x, y)": np.fmod(x, y),
            "max(x, y)": np.maximum(x, y), "min(x, y)": np.minimum(x, y), "pow(abs(x), y)": abs(x) ** y, "pow(x, 2)": x * x,
            "mulacc(x, y, x)": x * y + x, "clip(x, min=-1, max=1)": np.clip(x, -1, 1), "x * 2 + 1": x * 2 + 1, "1 - x": 1 - x,
            "x / 2": x / 2, "atan(x)": np.arctan(x), "asin(x * 0.4)": np.arcsin(f32(x * f32(0.4)).astype(np.float64)),
            "acos(x * 0.4)": np.arccos(f32(x * f32(0.4)).astype(np.float64)), "asinh(x)": np.arcsinh(x),
            "acosh(abs(y))": np.arccosh(abs(y)), "atanh(x * 0.4)": np.arctanh(f32(x * f32(0.4)).astype(np.float64))}.items():
        with np.errstate(all="ignore"):
            c.output("o%d" % len(c.notes), op, f32(value))
    for op, value in {"lt(x, y)": x < y, "le(x, y)": x <= y, "gt(x, y)": x > y, "ge(x, y)": x >= y, "eq(x, x)": x == x,
                      "ne(x, y)": x != y, "isnan(x / x)": np.isnan(x / x)}.items():
        c.output("o%d" % len(c.notes), op, value)

with Case("elementwise_special", "NaN, infinities and signed zeros") as c:
    x = c.weight("x", f32([np.nan, np.inf, -np.inf, 0.0, -0.0, 3.0]))
    y = c.weight("y", f32([1, 2, 3, 4, 5, np.nan]))
    with np.errstate(all="ignore"):
        for op, value in {"max(x, y)": np.maximum(x, y), "min(x, y)": np.minimum(x, y), "sign(x)": np.sign(x),
                          "relu(x)": np.maximum(x, 0), "clip(x, min=-1, max=1)": np.clip(x, -1, 1)}.items():
            c.output("o%d" % len(c.notes), op, f32(value))
        for op, value in {"isnan(x)": np.isnan(x), "isinf(x)": np.isinf(x), "isfinite(x)": np.isfinite(x), "lt(x, y)": x < y,
                          "ne(x, x)": x != x}.items():
            c.output("o%d" % len(c.notes), op, value)
    c.output("saturated", "cast(x, dtype=i32)", np.array([0, 2**31 - 1, -2**31, 0, 0, 3], np.int32))
    c.output("truth", "cast(x, dtype=bool)", np.array([True, True, True, False, False, True]))

with Case("elementwise_int", "integers wrap; division states its rounding and never traps") as c:
    x = c.weight("x", np.array([7, -7, 7, -7, 0, -2**31, 5], np.int32))
    y = c.weight("y", np.array([2, 2, -2, -2, 3, -1, 0], np.int32))
    c.output("cdiv", "cdiv(x, y)", np.array([3, -3, -3, 3, 0, -2**31, -1], np.int32))
    c.output("cmod", "cmod(x, y)", np.array([1, -1, 1, -1, 0, 0, 5], np.int32))
    c.output("floordiv", "x // y", np.array([3, -4, -4, 3, 0, -2**31, -1], np.int32))
    c.output("floormod", "x % y", np.array([1, 1, -1, -1, 0, 0, 5], np.int32))
    c.output("cube", "pow(x, 3)", np.array([343, -343, 343, -343, 0, 0, 125], np.int32))
    p = c.weight("p", np.array([2, -3, 1, -1, 3, 7, -2], np.int32))
    q = c.weight("q", np.array([31, 3, -4, -5, -2, 40, 0], np.int32))
    c.output("power", "pow(p, q)", np.array([-2**31, -27, 1, -1, 0, int(np.array(7**40 % 2**32, np.uint32).view(np.int32)), 1], np.int32))
    c.output("division", "x / y", f32([3.5, -3.5, -3.5, 3.5, 0, 2147483648, np.inf]))
    u = c.weight("u", np.array([1, 255, 128, 3], np.uint8))
    n = c.weight("n", np.array([1, 7, 8, 200], np.uint8))
    c.output("shl", "shl(u, n)", np.array([2, 128, 0, 0], np.uint8))
    c.output("shr", "shr(u, n)", np.array([0, 1, 0, 0], np.uint8))
    c.output("bits", "xor(or(u, 2), and(u, 6))", (u | 2) ^ (u & 6))
    c.output("complement", "not(u)", ~u)
    c.output("wrapped", "u + 1", u + np.uint8(1))
    c.output("widened", "cast(u, dtype=i16) + 300", u.astype(np.int16) + np.int16(300))
    c.output("fraction", "u * 0.5", f32(u * 0.5))
    c.output("truth", "not(gt(u, 100))", ~(u > 100))

with Case("activations", "activation functions") as c:
    x = c.weight("x", f32([-3, -1, -0.25, 0, 0.5, 2, 7]))
    d = x.astype(np.float64)
    sig, sp = 1 / (1 + np.exp(-d)), np.log1p(np.exp(d))
    for op, value in {
            "sigmoid(x)": sig, "relu(x)": np.maximum(d, 0), "relu6(x)": np.clip(d, 0, 6), "leaky_relu(x, alpha=0.2)": np.where(d < 0, d * 0.2, d),
            "elu(x)": np.where(d > 0, d, np.expm1(d)), "celu(x, alpha=2)": np.where(d > 0, d, 2 * np.expm1(d / 2)),
            "selu(x)": 1.0507009873554805 * np.where(d > 0, d, 1.6732632423543772 * np.expm1(d)),
            "gelu(x)": d * 0.5 * (1 + erf(d / 2 ** 0.5)),
            "gelu(x, approximate=tanh)": d * 0.5 * (1 + np.tanh((2 / np.pi) ** 0.5 * (d + 0.044715 * d ** 3))),
            "quick_gelu(x)": d / (1 + np.exp(-1.702 * d)), "silu(x)": d * sig, "mish(x)": d * np.tanh(sp), "softplus(x)": sp,
            "softsign(x)": d / (1 + abs(d)), "hard_sigmoid(x)": np.clip(d / 6 + 0.5, 0, 1),
            "hard_swish(x)": d * np.clip(d / 6 + 0.5, 0, 1), "threshold(x, alpha=0.3)": np.where(d > 0.3, d, 0)}.items():
        c.output("o%d" % len(c.notes), op, f32(value))
    s = c.weight("s", f32([0.5]))
    c.output("prelu", "prelu(x, s)", f32(np.where(d < 0, d * 0.5, d)))

with Case("creation", "values from sizes") as c:
    c.output("full", "full(7, shape=[2, 3])", np.full((2, 3), 7, np.int32))
    c.output("fraction", "full(0.5, shape=[2])", np.full((2,), 0.5, np.float32))
    c.output("zeros", "zeros(shape=[3], dtype=u8)", np.zeros(3, np.uint8))
    c.output("ones", "ones(shape=[2, 1])", np.ones((2, 1), np.float32))
    c.output("up", "arange(start=2, stop=11, step=3)", np.arange(2, 11, 3, dtype=np.int32))
    c.output("down", "arange(start=5, stop=-2, step=-2, dtype=i64)", np.arange(5, -2, -2, dtype=np.int64))
    c.output("empty", "arange(start=5, stop=2)", np.zeros(0, np.int32))
    c.output("eye", "eye(n=3, m=4, k=1)", np.eye(3, 4, 1, dtype=np.float32))
    x = c.weight("x", floats(2, 5))
    c.output("size", "size(x, axis=-1)", np.array(5, np.int64))

with Case("casts", "casts and bitcasts between sizes") as c:
    x = c.weight("x", f32([1.5, -2.25, 300.7, 1e10]))
    c.output("i8", "cast(x, dtype=i8)", np.array([1, -2, 127, 127], np.int8))
    c.output("u8", "cast(x, dtype=u8)", np.array([1, 0, 255, 255], np.uint8))
    c.output("f16", "cast(x, dtype=f16)", np.array([1.5, -2.25, 300.75, np.inf], np.float16))
    c.output("bf16", "cast(cast(x, dtype=bf16), dtype=f32)", f32([1.5, -2.25, 300, 9999220736]))
    c.output("bits", "bitcast(x, dtype=i32)", x.view(np.int32))
    w = c.weight("w", np.array([[0x01020304, 0xFFEEDDCC]], np.uint32))
    c.output("bytes", "bitcast(w, dtype=u8)", w.view(np.uint8))
    c.output("halves", "bitcast(w, dtype=i16)", w.view(np.int16))
    c.output("joined", "bitcast(w, dtype=u64)", w.view(np.uint64))
    b = c.weight("b", np.array([0, 0, 128, 63, 0, 0, 0, 192], np.uint8))
    c.output("floats", "bitcast(b, dtype=f32)", b.view(np.float32))

with Case("movement", "reshape, permute, pad, slice and kin") as c:
    x = c.weight("x", np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    for op, value in {
            "reshape(x, shape=[4, -1])": x.reshape(4, -1), "flatten(x)": x.reshape(2, 12), "flatten(x, axis=2)": x.reshape(6, 4),
            "permute(x, order=[2, 0, 1])": x.transpose(2, 0, 1), "transpose(x)": x.swapaxes(-1, -2),
            "transpose(x, axis0=0, axis1=2)": x.swapaxes(0, 2), "flip(x, axes=[0, -1])": x[::-1, :, ::-1],
            "unsqueeze(x, axes=[0, -1])": x[None, ..., None], "squeeze(reshape(x, shape=[1, 24, 1]))": x.reshape(24),
            "expand(reshape(x, shape=[2, 1, 12]), shape=[-1, 3, -1])": np.broadcast_to(x.reshape(2, 1, 12), (2, 3, 12)),
            "pad(x, before=[0, 1, 0], after=[1, 0, 2], value=9)": np.pad(x, [(0, 1), (1, 0), (0, 2)], constant_values=9),
            "pad(x, before=[0, -1, 1], after=[0, 0, -2])": np.pad(x[:, 1:, :2], [(0, 0), (0, 0), (1, 0)]),
            "pad(x, before=[0, 2, 3], after=[0, 2, 1], mode=reflect)": np.pad(x, [(0, 0), (2, 2), (3, 1)], mode="reflect"),
            "pad(x, before=[0, 2, 5], after=[1, 0, 1], mode=edge)": np.pad(x, [(0, 1), (2, 0), (5, 1)], mode="edge"),
            "pad(x, before=[0, 0, 5], after=[1, 0, 1], mode=wrap)": np.pad(x, [(0, 1), (0, 0), (5, 1)], mode="wrap"),
            "shrink(x, offset=[0, 1, 1], size=[2, 2, 3])": x[:, 1:3, 1:4],
            "slice(x, starts=[0, -2], ends=[1, 100])": x[0:1, -2:100],
            "slice(x, starts=[1, 3], ends=[3, 0], steps=[1, -1], axes=[1, 2])": x[:, 1:3, 3:0:-1],
            "slice(x, starts=[-1], ends=[-100], steps=[-3], axes=[2])": x[:, :, ::-3],
            "slice(x, starts=[1], axes=[2], steps=2)": x[:, :, 1::2], "slice(x, starts=[2], ends=[1])": x[2:1],
            "stride(x, steps=[1, 2, -3])": x[:, ::2, ::-3], "roll(x, shifts=[1, -5], axes=[0, 2])": np.roll(x, (1, -5), (0, 2)),
            "repeat(x, counts=[1, 2, 2])": np.tile(x, (1, 2, 2)),
            "concat(x, x * 2, x, axis=1)": np.concatenate([x, x * 2, x], 1), "stack(x, -x, axis=2)": np.stack([x, -x], 2),
            "stack(x, -x, axis=-1)": np.stack([x, -x], -1)}.items():
        c.output("o%d" % len(c.notes), op, f32(value))
    c.line("a, _, b = split(x, sizes=[1, 2, 1], axis=-1)")
    c.output("a", "", x[..., :1])
    c.output("b", "", x[..., 3:])
    c.line("p, q, r = split(x, parts=3, axis=1)")
    c.output("r", "", x[:, 2:])

with Case("reductions", "folds over axes") as c:
    x = c.weight("x", floats(3, 4, 2))
    d = x.astype(np.float64)
    lse = np.log(np.exp(d).sum((0, 1)))
    for op, value in {
            "sum(x)": d.sum(), "sum(x, axes=1)": d.sum(1), "sum(x, axes=[0, -1], keepdims=true)": d.sum((0, 2), keepdims=True),
            "prod(x, axes=0)": d.prod(0), "reduce_max(x, axes=[1, 2])": d.max((1, 2)), "reduce_min(x)": d.min(),
            "mean(x, axes=[1])": d.mean(1), "var(x, axes=[1, 2])": d.var((1, 2)), "var(x, axes=1, correction=1)": d.var(1, ddof=1),
            "std(x, axes=0, keepdims=true)": d.std(0, keepdims=True), "logsumexp(x, axes=[0, 1])": lse,
            "logsumexp(x * 100, axes=[0], keepdims=true)": (d * 100).max(0, keepdims=True)}.items():
        c.output("o%d" % len(c.notes), op, f32(value))
    c.tolerance(1e-4)
    c.output("argmax", "argmax(x, axis=1)", d.argmax(1))
    c.output("argmin", "argmin(x, axis=0, keepdims=true, dtype=i32)", d.argmin(0)[None].astype(np.int32))
    t = c.weight("t", f32([1, 3, 3, 2, np.nan, 3]))
    c.output("nan", "argmax(t)", np.array(4))
    c.output("first", "argmax(shrink(t, offset=[0], size=[4]))", np.array(1))
    c.output("last", "argmax(shrink(t, offset=[0], size=[4]), last=true)", np.array(2))
    b = c.weight("b", np.array([[True, False], [True, True]]))
    c.output("any", "any(b, axes=0)", b.any(0))
    c.output("all", "all(b, axes=1)", b.all(1))
    c.output("count", "sum(b)", np.array(3, np.int32))
    s = c.weight("s", np.array([200, 100, 50], np.uint8))
    c.output("wrap", "sum(s)", np.array(94, np.uint8))
    c.output("empty", "sum(zeros(shape=[0, 2]), axes=0)", np.zeros(2, np.float32))
    c.output("lowest", "reduce_max(zeros(shape=[0, 2]), axes=0)", np.full(2, -np.inf, np.float32))

with Case("matmul", "vectors, matrices, batches and narrow dtypes") as c:
    a, b = c.weight("a", floats(2, 3, 4)), c.weight("b", floats(4, 5))
    v, w = c.weight("v", floats(4)), c.weight("w", floats(2, 1, 5, 4))
    c.output("ab", "matmul(a, b)", a @ b)
    c.output("va", "matmul(v, b)", v @ b)
    c.output("av", "matmul(a, v)", a @ v)
    c.output("vv", "matmul(v, v)", v @ v)
    c.output("batched", "matmul(w, matmul(b, zeros(shape=[5, 2]) + 1))", w @ (b @ np.ones((5, 2), np.float32)))
    c.output("linear", "linear(a, transpose(b))", a @ b)
    i, j = c.weight("i", ints(-100, 100, 2, 3, dtype=np.int8)), c.weight("j", ints(-100, 100, 3, 2, dtype=np.int8))
    c.output("i8", "matmul(i, j)", (i.astype(np.int32) @ j.astype(np.int32)).astype(np.int8))
    c.output("i32", "matmul(i, j, dtype=i32)", i.astype(np.int32) @ j.astype(np.int32))
    h = c.weight("h", floats(3, 3).astype(np.float16))
    c.output("f16", "matmul(h, h)", (h.astype(np.float32) @ h.astype(np.float32)).astype(np.float16))

with Case("conv", "convolutions of one to three spatial axes") as c:
    x, w, b = c.weight("x", floats(2, 4, 7, 6)), c.weight("w", floats(6, 4, 3, 2)), c.weight("b", floats(6))
    g = c.weight("g", floats(6, 2, 3, 3))
    d = c.weight("d", floats(4, 1, 2, 2))
    p = c.weight("p", floats(3, 4, 1, 1))
    c.output("plain", "conv2d(x, w)", conv(x, w))
    c.output("padded", "conv2d(x, w, b, padding=1, stride=[2, 1])", conv(x, w, b, [2, 1], [1, 1]))
    c.output("sided", "conv2d(x, w, padding=[0, 1, 2, 0], dilation=[2, 1])", conv(x, w, None, None, [0, 1, 2, 0], [2, 1]))
    c.output("grouped", "conv2d(x, g, b, groups=2, padding=1)", conv(x, g, b, None, [1, 1], None, 2))
    c.output("depthwise", "conv2d(x, d, groups=4, stride=2)", conv(x, d, None, [2, 2], None, None, 4))
    c.output("pointwise", "conv2d(x, p)", conv(x, p))
    c.output("far", "conv2d(x, w, b, padding=[4, 3], dilation=[4, 3])", conv(x, w, b, None, [4, 3], [4, 3]))
    c.output("beyond", "conv2d(x, g, b, groups=2, padding=9, stride=2, dilation=8)",
             conv(x, g, b, [2, 2], [9, 9], [8, 8], 2))
    s, t = c.weight("s", floats(1, 2, 9)), c.weight("t", floats(3, 2, 4))
    c.output("one", "conv1d(s, t, padding=2, stride=3)", conv(s, t, None, [3], [2]))
    y, z = c.weight("y", floats(1, 2, 3, 4, 3)), c.weight("z", floats(2, 2, 2, 2, 2))
    c.output("three", "conv3d(y, z, padding=[0, 1, 0])", conv(y, z, None, None, [0, 1, 0]))
    c.tolerance(1e-4)

with Case("conv_transpose", "transposed convolutions") as c:
    x, w, b = c.weight("x", floats(2, 4, 3, 4)), c.weight("w", floats(4, 3, 3, 2)), c.weight("b", floats(3))
    g = c.weight("g", floats(4, 2, 2, 3))
    c.output("plain", "conv_transpose2d(x, w, b)", conv_transpose(x, w, b))
    c.output("strided", "conv_transpose2d(x, w, stride=[2, 3], padding=1, output_padding=[1, 0])",
             conv_transpose(x, w, None, [2, 3], [1, 1], None, 1, [1, 0]))
    c.output("grouped", "conv_transpose2d(x, g, groups=2, dilation=[1, 2], stride=2)",
             conv_transpose(x, g, None, [2, 2], None, [1, 2], 2))
    s, t = c.weight("s", floats(1, 2, 5)), c.weight("t", floats(2, 3, 4))
    c.output("one", "conv_transpose1d(s, t, stride=3)", conv_transpose(s, t, None, [3]))
    c.tolerance(1e-4)

with Case("pool", "pooling windows") as c:
    x = c.weight("x", floats(1, 2, 7, 6))
    c.output("max", "max_pool(x, kernel=[2, 2])", pool(x, [2, 2]))
    c.output("overlap", "max_pool(x, kernel=[3, 2], stride=[2, 1], padding=[1, 1])", pool(x, [3, 2], [2, 1], [1, 1]))
    c.output("dilated", "max_pool(x, kernel=[2, 3], stride=1, dilation=[3, 2])", pool(x, [2, 3], [1, 1], None, [3, 2]))
    c.output("ceil", "max_pool(x, kernel=[3, 4], stride=[3, 3], ceil=true)", pool(x, [3, 4], [3, 3], None, None, True))
    c.output("where", "max_pool_positions(x, kernel=[3, 2], stride=[2, 1], padding=[1, 1])",
             pool_positions(x, [3, 2], [2, 1], [1, 1]))
    c.output("sums", "sum_pool(x, kernel=[3, 3], stride=2, padding=1)",
             9 * pool(x, [3, 3], [2, 2], [1, 1], mode="avg"))
    c.output("avg", "avg_pool(x, kernel=[2, 3])", pool(x, [2, 3], mode="avg"))
    c.output("included", "avg_pool(x, kernel=[3, 3], stride=2, padding=1)", pool(x, [3, 3], [2, 2], [1, 1], mode="avg"))
    c.output("excluded", "avg_pool(x, kernel=[3, 3], stride=2, padding=1, count_include_pad=false)",
             pool(x, [3, 3], [2, 2], [1, 1], mode="avg", include=False))
    c.output("hanging", "avg_pool(x, kernel=[3, 4], stride=[3, 3], padding=[1, 1], ceil=true)",
             pool(x, [3, 4], [3, 3], [1, 1], None, True, "avg"))
    c.output("spread", "avg_pool(x, kernel=[2, 2], stride=2, padding=[1, 0, 0, 1], dilation=[2, 3], ceil=true, count_include_pad=false)",
             pool(x, [2, 2], [2, 2], [1, 0, 0, 1], [2, 3], True, "avg", False))
    c.output("global", "global_avg_pool(x)", x.mean((2, 3), keepdims=True))
    c.output("largest", "global_max_pool(x)", x.max((2, 3), keepdims=True))
    i = c.weight("i", ints(-9, 9, 1, 1, 4, dtype=np.int8))
    c.output("ints", "max_pool(i, kernel=[3], stride=1, padding=1)", pool(i, [3], [1], [1]).astype(np.int8))

with Case("norm", "normalizations") as c:
    x = c.weight("x", floats(2, 4, 3))
    s, b = c.weight("s", floats(4, 3)), c.weight("b", floats(4, 3))
    ch, cb = c.weight("ch", floats(4)), c.weight("cb", floats(4))
    m, v = c.weight("m", floats(4)), c.weight("v", abs(floats(4)) + f32(0.5))
    row = c.weight("row", floats(3))
    d = x.astype(np.float64)
    per = lambda a: a.reshape(1, 4, 1)
    c.output("softmax", "softmax(x)", softmax(x))
    c.output("softmax1", "softmax(x * 50, axis=1)", softmax(x * 50, 1))
    c.output("logsoftmax", "log_softmax(x * 50, axis=0)", f32(d * 50 - (d * 50).max(0) - np.log(np.exp(d * 50 - (d * 50).max(0)).sum(0))))
    c.output("layer", "layer_norm(x)", f32(standardize(x, (2,), 1e-5)))
    c.output("layer2", "layer_norm(x, s, b, axis=1, eps=0.001)", f32(standardize(x, (1, 2), 1e-3) * s + b))
    c.output("rms", "rms_norm(x, row)", f32(d / np.sqrt((d * d).mean(2, keepdims=True) + 1e-5) * row))
    grouped = standardize(x.reshape(2, 2, 6), (2,), 1e-5).reshape(2, 4, 3)
    c.output("group", "group_norm(x, ch, cb, groups=2)", f32(grouped * per(ch) + per(cb)))
    c.output("instance", "instance_norm(x)", f32(standardize(x, (2,), 1e-5)))
    c.output("batch", "batch_norm(x, ch, cb, m, v)", f32((d - per(m)) / np.sqrt(per(v) + 1e-5) * per(ch) + per(cb)))
    c.output("unit", "normalize(x, axis=1)", f32(d / np.sqrt((d * d).sum(1, keepdims=True))))
    c.output("unit1", "normalize(x, p=1)", f32(d / abs(d).sum(2, keepdims=True)))
    c.tolerance(1e-4)

with Case("attention", "scaled dot-product attention") as c:
    q, k, v = c.weight("q", floats(1, 4, 3, 8)), c.weight("k", floats(1, 2, 5, 8)), c.weight("v", floats(1, 2, 5, 6))
    mask = c.weight("mask", np.array([[1, 0, 1, 1, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.bool_))
    bias = c.weight("bias", floats(3, 5))

    def attend(scale, add=0.0):
        scores = q.astype(np.float64) @ np.repeat(k, 2, 1).swapaxes(-1, -2) * scale + add
        return f32(softmax(scores).astype(np.float64) @ np.repeat(v, 2, 1))

    hidden = np.where(mask, 0, -np.inf)
    order = np.where(np.arange(5)[None] <= np.arange(3)[:, None], 0, -np.inf)
    later = np.where(np.arange(5)[None] <= np.arange(3)[:, None] + 2, 0, -np.inf)
    c.output("plain", "attention(q, k, v)", attend(8 ** -0.5))
    c.output("scaled", "attention(q, k, v, bias, scale=0.1)", attend(0.1, bias))
    c.output("masked", "attention(q, k, v, mask)", attend(8 ** -0.5, hidden))
    c.output("causal", "attention(q, k, v, causal=true)", attend(8 ** -0.5, order))
    c.output("cached", "attention(q, k, v, causal=true, offset=2)", attend(8 ** -0.5, later))
    table, ids = c.weight("table", floats(5, 3)), c.weight("ids", np.array([[0, 4], [-1, 2]]))
    c.output("embedding", "embedding(table, ids)", table[ids])
    c.tolerance(1e-4)

with Case("indexing", "gathers and scatters") as c:
    x = c.weight("x", floats(3, 4, 2))
    i = c.weight("i", np.array([[0, -1], [2, 1]]))
    c.output("gather0", "gather(x, i)", x[i])
    c.output("gather1", "gather(x, i, axis=1)", x[:, i])
    c.output("scalar", "gather(x, 1, axis=2)", x[:, :, 1])
    c.output("outside", "gather(x, cast(i, dtype=i32) + 3, axis=0)", np.where(((i + 3) < 3)[..., None, None], x[(i + 3) % 3], 0))
    e = c.weight("e", ints(0, 4, 3, 2, 2))
    c.output("elements", "gather_elements(x, e, axis=1)", np.take_along_axis(x, e, 1))
    n = c.weight("n", np.array([[0, 1], [2, -1]]))
    c.output("nd", "gather_nd(x, n)", x[n[:, 0], n[:, 1]])
    full = c.weight("full", np.array([[0, 1, 1], [2, 3, 0]]))
    c.output("points", "gather_nd(x, full)", x[full[:, 0], full[:, 1], full[:, 2]])
    bn = c.weight("bn", np.array([[[1], [0]], [[3], [3]], [[2], [1]]]))
    c.output("batch", "gather_nd(x, bn, batch_dims=1)", np.stack([x[b][bn[b, :, 0]] for b in range(3)]))
    t = c.weight("t", np.zeros((3, 4), np.float32))
    ti, tu = c.weight("ti", np.array([[0, 1, 1], [2, -1, 9]])), c.weight("tu", floats(2, 3))

    def scattered(op):
        out = np.ones((3, 4))
        for r in range(2):
            for col in range(3):
                at = ti[r, col] if ti[r, col] >= 0 else ti[r, col] + 4
                if at < 4:
                    out[r, at] = op(out[r, at], tu[r, col])
        return f32(out)

    ops = {"set": lambda a, b: b, "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "min": min, "max": max}
    for mode, op in ops.items():
        c.output("s_" + mode, f"scatter_elements(t + 1, ti, tu, axis=1, mode={mode})", scattered(op))
    nd = np.ones((3, 4), np.float32)
    nd[2], nd[0] = [1, 2, 3, 4], [5, 6, 7, 8]
    c.weight("rows", np.array([[2], [0]]))
    c.weight("new", f32([[1, 2, 3, 4], [5, 6, 7, 8]]))
    c.output("scatter_nd", "scatter_nd(t + 1, rows, new)", nd)
    c.output("onehot", "one_hot(i, depth=3)", np.eye(3, dtype=np.float32)[i])
    c.output("onehot0", "one_hot(i, depth=3, axis=0, on=5, off=-1, dtype=i8)",
             np.where(np.eye(3)[i].transpose(2, 0, 1) > 0, 5, -1).astype(np.int8))
    c.output("triu", "triu(x, k=1)", np.triu(x, 1))
    c.output("tril", "tril(x, k=-1)", np.tril(x, -1))

with Case("scan", "running folds, short and in blocks") as c:
    x = c.weight("x", floats(2, 5))
    c.output("sum", "cumsum(x)", np.cumsum(x, 1))
    c.output("down", "cumsum(x, axis=0)", np.cumsum(x, 0))
    c.output("reverse", "cumsum(x, reverse=true)", np.cumsum(x[:, ::-1], 1)[:, ::-1])
    c.output("exclusive", "cumsum(x, exclusive=true)", np.concatenate([np.zeros((2, 1)), np.cumsum(x, 1)[:, :-1]], 1).astype(np.float32))
    c.output("before", "cumsum(x, exclusive=true, reverse=true)",
             np.concatenate([np.cumsum(x[:, ::-1], 1)[:, ::-1][:, 1:], np.zeros((2, 1))], 1).astype(np.float32))
    c.output("prod", "cumprod(x)", np.cumprod(x, 1))
    c.output("max", "cummax(x)", np.maximum.accumulate(x, 1))
    c.output("min", "cummin(x, axis=0)", np.minimum.accumulate(x, 0))
    long = c.weight("long", ints(-9, 9, 2, 150, dtype=np.int32))
    c.output("blocks", "cumsum(long)", np.cumsum(long, 1).astype(np.int32))
    c.output("blocks0", "cumsum(transpose(long), axis=0)", np.cumsum(long.T, 0).astype(np.int32))
    c.output("blockmax", "cummax(long, exclusive=true, reverse=true)",
             np.concatenate([np.maximum.accumulate(long[:, ::-1], 1)[:, ::-1][:, 1:], np.full((2, 1), -2**31)], 1).astype(np.int32))
    c.output("levels", "reduce_max(cumsum(arange(stop=2200) * 0 + 1), axes=0)", np.array(2200, np.int32))
    c.tolerance(1e-4)

with Case("sort", "stable sorts, NaN last") as c:
    x = c.weight("x", f32([[3, 1, np.nan, 1, -2], [0, -0.0, np.inf, -np.inf, 0]]))
    c.line("v, i = sort(x)")
    c.output("v", "", np.sort(x, 1))
    c.output("i", "", np.argsort(x, 1, kind="stable"))
    c.line("dv, di = sort(x, descending=true)")
    c.output("di", "", np.array([[2, 0, 1, 3, 4], [2, 0, 1, 4, 3]]))
    c.output("dv", "", np.take_along_axis(x, np.array([[2, 0, 1, 3, 4], [2, 0, 1, 4, 3]]), 1))
    c.line("tv, ti = topk(x, k=2, axis=0, largest=false)")
    c.output("tv", "", np.sort(x, 0))
    c.output("ti", "", np.argsort(x, 0, kind="stable"))
    y = c.weight("y", ints(0, 40, 600, dtype=np.int16))
    c.output("merged", "argsort(y)", np.argsort(y, kind="stable"))
    c.output("mergedDown", "argsort(y, descending=true)", np.argsort(-y, kind="stable"))
    c.line("kv, ki = topk(y, k=7)")
    c.output("kv", "", -np.sort(-y)[:7])

with Case("image", "resizing and pixel shuffles") as c:
    x = c.weight("x", floats(1, 2, 3, 4))

    def source(o, n_in, n_out, rule):
        return {"half_pixel": (o + 0.5) * n_in / n_out - 0.5, "asymmetric": o * n_in / n_out,
                "align_corners": o * (n_in - 1) / max(n_out - 1, 1)}[rule]

    def nearest(x, axis, n_out, rule, rounding):
        n = x.shape[axis]
        at = []
        for o in range(n_out):
            s = source(o, n, n_out, rule)
            at.append({"floor": np.floor(s + 1e-9), "ceil": np.ceil(s - 1e-9), "prefer_floor": np.ceil(s - 0.5 - 1e-9),
                       "prefer_ceil": np.floor(s + 0.5 + 1e-9)}[rounding])
        return np.take(x, np.clip(np.array(at).astype(int), 0, n - 1), axis)

    def linear(x, axis, n_out, rule):
        n = x.shape[axis]
        s = np.array([source(o, n, n_out, rule) for o in range(n_out)])
        left = np.floor(s + 1e-9)
        shape = [1] * x.ndim
        shape[axis] = n_out
        f = (s - left).reshape(shape)
        a = np.take(x, np.clip(left, 0, n - 1).astype(int), axis)
        b = np.take(x, np.clip(left + 1, 0, n - 1).astype(int), axis)
        return a * (1 - f) + b * f

    for rule in ["half_pixel", "asymmetric", "align_corners"]:
        for rounding in ["prefer_floor", "prefer_ceil", "floor", "ceil"]:
            c.output(f"n_{rule}_{rounding}", f"resize(x, size=[5, 2], coordinates={rule}, rounding={rounding})",
                     nearest(nearest(x, 2, 5, rule, rounding), 3, 2, rule, rounding))
        c.output("l_" + rule, f"resize(x, size=[7, 3], mode=linear, coordinates={rule})",
                 f32(linear(linear(x, 2, 7, rule), 3, 3, rule)))
    c.output("scaled", "resize(x, scale=[2, 1.5])", nearest(nearest(x, 2, 6, "half_pixel", "prefer_floor"), 3, 6, "half_pixel", "prefer_floor"))
    c.output("one", "resize(x, size=[2], axes=[1], mode=linear)", x)
    y = c.weight("y", floats(2, 8, 2, 3))
    shuffled = y.reshape(2, 2, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 4, 6)
    c.output("shuffle", "pixel_shuffle(y, factor=2)", shuffled)
    c.output("unshuffle", "pixel_unshuffle(pixel_shuffle(y, factor=2), factor=2)", y)

with Case("symbolic", "variables as sizes and values") as c:
    c.variable("n", (1, 64), 5)
    c.variable("m", (2, 8), 3)
    x = c.feed("x", "f32[n, 4]", floats(5, 4))
    y = c.feed("y", "f32[n, m]", floats(5, 3))
    c.output("cat", "concat(x, y, axis=1)", np.concatenate([x, y], 1))
    c.output("mm", "matmul(transpose(x), y)", x.T @ y)
    c.output("flat", "reshape(y, shape=[-1])", y.reshape(-1))
    c.output("grown", "reshape(concat(x, x, axis=1), shape=[2 * n, 4])", np.concatenate([x, x], 1).reshape(10, 4))
    c.output("mean", "mean(x, axes=0)", x.mean(0))
    c.output("scaled", "x * n + m", x * 5 + 3)
    c.output("rows", "arange(stop=n * m + 1)", np.arange(16, dtype=np.int32))
    c.output("sliced", "slice(y, starts=[1], steps=2)", y[1::2])
    c.output("last", "slice(x, starts=[-1])", x[-1:])
    c.output("up", "resize(reshape(x, shape=[1, 1, n, 4]), scale=2)", np.repeat(np.repeat(x, 2, 0), 2, 1)[None, None])
    c.output("sum", "cumsum(x, axis=0)", np.cumsum(x, 0))
    c.output("best", "argmax(x, axis=0)", x.argmax(0))
    k = c.weight("k", floats(1, 1, 2, 2))
    c.output("conv", "conv2d(reshape(x, shape=[1, 1, n, 4]), k, padding=1)", conv(x[None, None], k, None, None, [1, 1]))
    c.output("eye", "eye(n=m)", np.eye(3, dtype=np.float32))
    c.tolerance(1e-4)

with Case("state", "reads see the last assignment before them") as c:
    c.line("state s: f32[3] = [1, 2, 3]")
    c.line("before = s * 10")
    c.line("assign s = s + 1")
    c.line("between = s * 10")
    c.line("assign slice(s, starts=[1], ends=[2]) = 100.0")
    c.output("before", "", f32([10, 20, 30]))
    c.output("between", "", f32([20, 30, 40]))
    c.output("after", "s", f32([2, 100, 4]))

with Case("random", "threefry and what is made of it") as c:
    c.line("key = cast(42, dtype=u64)")
    c.output("vector", "threefry(cast(0, dtype=u64), cast(0, dtype=u64))", np.array(0x99BA4EFE6B200159, np.uint64))
    c.line("r = rand(key, shape=[40, 50])")
    c.output("inside", "and(ge(reduce_min(r), 0), lt(reduce_max(r), 1))", np.array(True))
    c.output("centered", "lt(abs(mean(r) - 0.5), 0.03)", np.array(True))
    c.output("repeats", "all(eq(r, rand(key, shape=[40, 50])))", np.array(True))
    c.output("differs", "any(ne(r, rand(cast(43, dtype=u64), shape=[40, 50])))", np.array(True))
    c.line("g = randn(key, shape=[2000])")
    c.output("normal", "and(lt(abs(mean(g)), 0.1), lt(abs(std(g) - 1), 0.1))", np.array(True))

with Case("conv_phases", "transposed convolutions that skip elements of x, or have phases no tap reaches") as c:
    s, t = c.weight("s", floats(1, 2, 5)), c.weight("t", floats(2, 3, 4))
    x, w = c.weight("x", floats(1, 2, 3, 4)), c.weight("w", floats(2, 1, 2, 3))
    p, q = c.weight("p", floats(1, 1, 2, 3, 2)), c.weight("q", floats(1, 2, 2, 1, 3))
    c.output("inside", "conv_transpose1d(s, t, stride=2, padding=[5, 2])", conv_transpose(s, t, None, [2])[:, :, 5:-2])
    c.output("apart", "conv_transpose2d(x, w, stride=[3, 1], dilation=[1, 2], padding=[1, 2])",
             conv_transpose(x, w, None, [3, 1], [1, 2], [1, 2]))
    c.output("deep", "conv_transpose3d(p, q, stride=[3, 2, 2], padding=[1, 1, 0], output_padding=[1, 1, 0])",
             conv_transpose(p, q, None, [3, 2, 2], [1, 1, 0], None, 1, [1, 1, 0]))
    c.tolerance(1e-4)

with Case("subscripts", "parts of a tensor by positions, ranges and ...") as c:
    x = c.weight("x", np.arange(60, dtype=np.float32).reshape(3, 4, 5))
    texts = ["x[0]", "x[-1]", "x[..., 0]", "x[1, ..., -2]", "x[2, 3, 4]", "x[:]", "x[...]", "x[:, :]", "x[::-1, 1:-1, ::2]",
             "x[1:][0]", "x[...][..., 1:3]", "x[:, 2:2]", "x[::-2, ..., 3::-1]", "x[-2:, :-1, 4]", "(x + 1)[0] - x[1]", "-x[0, 1] * 2"]
    bounds = ["", "0", "1", "3", "-1", "-2", "9", "-9"]
    draws = np.random.default_rng(11)
    for _ in range(60):
        parts = [f"{draws.choice(bounds)}:{draws.choice(bounds)}:{draws.choice(['', '1', '2', '-1', '-3'])}"
                 if draws.integers(3) else str(draws.integers(-3, 3)) for _ in range(draws.integers(1, 4))]
        if draws.integers(3) == 0:
            parts.insert(draws.integers(len(parts) + 1), "...")
        texts.append(f"x[{', '.join(parts)}]")
    for text in texts:
        c.output("o%d" % len(c.notes), text, f32(eval(text)))
    c.output("of_call", "matmul(x, x[0, 0])[1, 2]", f32((x @ x[0, 0])[1, 2]))
    c.line("state s: f32[4, 2] = 1")
    c.line("assign s[1:3, 0] = 5")
    c.line("assign s[-1] = x[1, 0, 1:3]")
    c.output("s", "", f32([[1, 1], [5, 1], [5, 1], [21, 22]]))
    c.line("temp t: f32[4, 5] = 0")
    c.line("loop i < 3 {")
    c.line("  assign t[i + 1] = x[i, i]")
    c.line("}")
    c.output("t", "", f32(np.stack([x[0, 0] * 0, x[0, 0], x[1, 1], x[2, 2]])))

with Case("functions", "functions, and statements that are read several times") as c:
    x, w = c.weight("x", floats(3, 4)), c.weight("w", floats(3, 4, 4, scale=0.5))
    c.line("weight shift: f32[4] = 0.5")
    c.line("def relu_of(x, scale) {  # x and scale are the function's own")
    c.line("  y = max(x * scale + shift, 0)")
    c.line("  return y, -y")
    c.line("}")
    c.line("def parts(x, count, axis) {")
    c.line("  y = reshape(x, shape=[count, size(x, axis=0) * 4 // count])")
    c.line("  return sum(y, axes=axis) + count")
    c.line("}")
    c.line("a, b = relu_of(x[0], 2)")
    c.line("p, _ = relu_of(x, 0.25)")
    c.output("a", "", np.maximum(x[0] * 2 + f32(0.5), 0))
    c.output("b", "", -np.maximum(x[0] * 2 + f32(0.5), 0))
    c.output("p", "", np.maximum(x * f32(0.25) + f32(0.5), 0))
    c.output("parts", "parts(x, 6, 1) * 2", (x.reshape(6, 2).sum(1) + 6) * 2)
    c.line("h = x")
    c.line("total = 0.0")
    c.line("repeat i < 3 {")
    c.line("  y, _ = relu_of(h @ w[i], 1)")
    c.line("  repeat j < i {")
    c.line("    total = total + i * 10 + j")
    c.line("  }")
    c.line("  h = h + y * (i + 1)")
    c.line("  output y")
    c.line("}")
    h = x
    for i in range(3):
        y = np.maximum(h @ w[i] + f32(0.5), 0)
        h = h + y * (i + 1)
        c.notes.append("# expect " + declare(f"`y.{i}`", f32(y)))
    c.output("h", "", f32(h))
    c.output("total", "", f32(10 + 20 + 21))
    c.line("temp t: f32 = 0")
    c.line("loop k < 5 {")
    c.line("  _, n = relu_of(t + k, 1)")
    c.line("  assign t = sum(n[:1])")
    c.line("}")
    t = f32(0)
    for k in range(5):
        t = -max(t + k + f32(0.5), f32(0))
    c.output("t", "", f32(t))
    c.tolerance(1e-5)

with Case("remainders", "of floats, exact for quotients of any size") as c:
    x = c.weight("x", f32([1e20, 1e7, -1e5, -6, 6, 3e38, 1e-40, -7.5]))
    y = c.weight("y", f32([7, 7, 0.1, 3, -3, 1.1e-38, 3e-42, 0.3]))
    c.output("of_first", "cmod(x, y)", np.fmod(x, y))
    c.output("of_second", "x % y", f32(np.mod(x, y)))
    c.output("by_one", "cmod(x, 1)", np.fmod(x, f32(1)))
    c.output("by_seven", "cmod(x, 7.0)", np.fmod(x, f32(7)))
    c.tolerance(0)
