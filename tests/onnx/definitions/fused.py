"""Ops of com.microsoft that optimizers make of several: products, convolutions and normalizations with what surrounds them."""
import math

import numpy as np
from one_node import case

rng = np.random.default_rng(7)
MS = "com.microsoft::"


def floats(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def fast_gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def same(name, op, operands, result, attributes=None, **how):
    result = result if isinstance(result, list) else [result]
    dtype = operands[0].dtype if operands[0].dtype.kind == "f" else np.float32
    case(name, op if op[0] == "S" and "Simplified" in op and "Skip" not in op else MS + op, 1, operands,
         [None if r is None else np.asarray(r).astype(dtype) if np.asarray(r).dtype.kind == "f" else r for r in result],
         attributes, **how)


# --- activations
for dtype in (np.float32, np.float16):
    how = dict(rtol=2e-3, atol=2e-3) if dtype == np.float16 else {}
    x, bias = floats(3, 5, 7, dtype=dtype) * 2, floats(7, dtype=dtype)
    w, wb = x.astype(np.float64), (x.astype(np.float64) + bias.astype(np.float64))
    kind = np.dtype(dtype).name
    same(f"contrib gelu {kind}", "Gelu", [x], gelu(w), **how)
    same(f"contrib fastgelu {kind}", "FastGelu", [x], fast_gelu(w), **how)
    same(f"contrib fastgelu bias {kind}", "FastGelu", [x, bias], fast_gelu(wb), **how)
    if dtype == np.float32:
        same("contrib biasgelu", "BiasGelu", [x, bias], gelu(wb))
        for alpha in (1.702, 1.0, -0.5):
            same(f"contrib quickgelu {alpha}", "QuickGelu", [x], w * sigmoid(alpha * w), dict(alpha=alpha))
x, bias = floats(2, 3, 10), floats(10)
half = np.split((x + bias).astype(np.float64), 2, -1)
same("contrib biassplitgelu", "BiasSplitGelu", [x, bias], half[0] * gelu(half[1]))
skip = floats(2, 3, 10)
same("contrib biasadd", "BiasAdd", [x, bias, skip], x + bias + skip)

# --- products


def turned(x, trans, batch):
    if batch:
        x = np.moveaxis(x, 0, -2)
    return np.swapaxes(x, -1, -2) if trans else x


for trans_a in (0, 1):
    for trans_b in (0, 1):
        for batch in (0, 1, 2, 3):
            a_dims = [4, 3, 5] if not trans_a else [4, 5, 3]
            b_dims = [4, 5, 7] if not trans_b else [4, 7, 5]
            batch_a, batch_b = batch & 1, batch >> 1
            a, b = floats(*a_dims), floats(*b_dims)
            if batch_a:
                a = np.ascontiguousarray(np.moveaxis(a, -2, 0))
            if batch_b:
                b = np.ascontiguousarray(np.moveaxis(b, -2, 0))
            alpha = [1.0, 0.37, -2.0, 1.0][batch]
            want = alpha * (turned(a, trans_a, batch_a).astype(np.float64) @ turned(b, trans_b, batch_b))
            same(f"contrib fusedmatmul {trans_a}{trans_b}{batch}", "FusedMatMul", [a, b], want,
                 dict(alpha=alpha, transA=trans_a, transB=trans_b, transBatchA=batch_a, transBatchB=batch_b))
same("contrib fusedmatmul vector", "FusedMatMul", [floats(5) * 0 + 1, floats(5, 3) * 0 + 2], np.full(3, 5.0), dict(alpha=0.5))
a, b = floats(2, 5, 3), floats(5, 4)
same("contrib transposematmul", "TransposeMatMul", [a, b], np.swapaxes(a, 1, 2) @ b, dict(transA=1))
ACTIVATIONS = {
    "Relu": ([], lambda x: np.maximum(x, 0)),
    "Tanh": ([], np.tanh),
    "Sigmoid": ([], sigmoid),
    "LeakyRelu": ([0.3], lambda x: np.where(x < 0, 0.3 * x, x)),
    "HardSigmoid": ([0.4, 0.3], lambda x: np.clip(0.4 * x + 0.3, 0, 1)),
    "Clip": ([-0.4, 0.7], lambda x: np.clip(x, -0.4, 0.7)),
    "Elu": ([0.8], lambda x: np.where(x < 0, 0.8 * np.expm1(x), x)),
}
a, b, c = floats(3, 5), floats(7, 5), floats(1, 7)
for name, (parameters, function) in ACTIVATIONS.items():
    attributes = dict(alpha=0.5, beta=0.7, transB=1, activation=name)
    attributes.update(zip(("activation_alpha", "activation_beta"), parameters))
    if name != "Clip":
        same(f"contrib fusedgemm {name}", "FusedGemm", [a, b, c], function(0.5 * a @ b.T + 0.7 * c), attributes)

# --- convolutions


def convolved(x, w, b, stride, pads, group=1):
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    rows, columns = ((x.shape[2 + i] - w.shape[2 + i]) // stride[i] + 1 for i in range(2))
    per, y = w.shape[1], np.zeros((x.shape[0], w.shape[0], rows, columns))
    for m in range(w.shape[0]):
        first = m // (w.shape[0] // group) * per
        for i in range(rows):
            for j in range(columns):
                part = x[:, first:first + per, i * stride[0]:i * stride[0] + w.shape[2], j * stride[1]:j * stride[1] + w.shape[3]]
                y[:, m, i, j] = np.sum(part * w[m], (1, 2, 3))
    return y + (0 if b is None else b.reshape(1, -1, 1, 1))


x, w, b = floats(2, 4, 7, 6), floats(6, 2, 3, 2), floats(6)
plain = convolved(x, w, b, (2, 1), (1, 0, 1, 1), 2)
z = floats(*plain.shape)
where = dict(strides=[2, 1], pads=[1, 0, 1, 1], group=2)
for name, (parameters, function) in ACTIVATIONS.items():
    if name == "Elu":
        continue
    attributes = dict(where, activation=name)
    if parameters:
        attributes["activation_params"] = parameters
    same(f"contrib fusedconv {name}", "FusedConv", [x, w, b], function(plain), attributes)
    same(f"contrib fusedconv sum {name}", "FusedConv", [x, w, b, z], function(plain + z), attributes)
same("contrib fusedconv none", "FusedConv", [x, w], convolved(x, w, None, (2, 1), (1, 0, 1, 1), 2), where)
last = lambda t: np.ascontiguousarray(np.moveaxis(t, 1, -1))
same("contrib nhwcfusedconv", "NhwcFusedConv", [last(x), w, b, last(z)], last(np.maximum(plain + z, 0)),
     dict(where, activation="Relu"))

# --- normalizations


def norm(x, gamma, beta, eps, centered=True):
    x = x.astype(np.float64)
    mean = x.mean(-1, keepdims=True) if centered else 0
    inverse = 1 / np.sqrt(np.mean((x - mean)**2, -1, keepdims=True) + eps)
    return (x - mean) * inverse * gamma + (0 if beta is None else beta), mean, inverse


for dtype in (np.float32, np.float16):
    how = dict(rtol=4e-3, atol=4e-3) if dtype == np.float16 else {}
    x, skip, gamma, beta, bias = (floats(*s, dtype=dtype) for s in ((2, 3, 9), (2, 3, 9), (9,), (9,), (9,)))
    kind = np.dtype(dtype).name
    for eps in (1e-12, 0.5):
        for operands, total in (([x, skip, gamma], x + skip), ([x, skip, gamma, beta], x + skip),
                                ([x, skip, gamma, beta, bias], x + skip + bias), ([x, skip, gamma, None, bias], x + skip + bias)):
            shift = operands[3] if len(operands) > 3 else None
            name = f"contrib skipnorm {kind} {eps} {''.join('x' if o is not None else '-' for o in operands)}"
            same(name, "SkipLayerNormalization", operands, [norm(total, gamma, shift, eps)[0], None, None, total],
                 dict(epsilon=eps), **how)
        same(f"contrib skip simplified {kind} {eps}", "SkipSimplifiedLayerNormalization", [x, skip, gamma, bias],
             [norm(x + skip + bias, gamma, None, eps, False)[0], None, None, x + skip + bias], dict(epsilon=eps), **how)
        same(f"contrib simplified {kind} {eps}", "SimplifiedLayerNormalization", [x, gamma],
             norm(x, gamma, None, eps, False)[0], dict(epsilon=eps, axis=-1, stash_type=1), **how)
x, skip, gamma = floats(3, 4, 6), floats(4, 6), floats(6)
same("contrib skipnorm shared", "SkipLayerNormalization", [x, skip, gamma], norm(x + skip, gamma, None, 1e-12)[0])
same("contrib skipnorm one", "SkipLayerNormalization", [x, skip[None], gamma], norm(x + skip, gamma, None, 1e-12)[0])
made = norm(x, gamma, None, 1e-5, False)
same("contrib simplified statistics", "SimplifiedLayerNormalization", [x, gamma], [made[0], made[2]], dict(epsilon=1e-5))
flat = norm(x.reshape(3, 24), 1, None, 1e-5, False)[0].reshape(3, 4, 6) * floats(4, 6)
scale = floats(4, 6)
same("contrib simplified axis 1", "SimplifiedLayerNormalization", [x, scale],
     norm(x.reshape(3, 24), 1, None, 1e-5, False)[0].reshape(3, 4, 6) * scale, dict(axis=1))

ids, segments = rng.integers(0, 11, (2, 5)).astype(np.int32), rng.integers(0, 2, (2, 5)).astype(np.int32)
words, places, kinds, gamma, beta = floats(11, 6), floats(9, 6), floats(2, 6), floats(6), floats(6)
mask = np.int32([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
order = rng.integers(0, 9, (2, 5)).astype(np.int32)
for name, operands, total, kept in (
        ("all", [ids, segments, words, places, kinds, gamma, beta, mask], words[ids] + places[:5] + kinds[segments], [3, 5]),
        ("positions", [ids, segments, words, places, kinds, gamma, beta, mask, order],
         words[ids] + places[order] + kinds[segments], [3, 5]),
        ("bare", [ids, None, words, places, None, gamma, beta], words[ids] + places[:5], [0, 0])):
    same(f"contrib embed {name}", "EmbedLayerNormalization", operands,
         [norm(total, gamma, beta, 1e-12)[0], np.int32(kept)], dict(epsilon=1e-12))
    same(f"contrib embed sum {name}", "EmbedLayerNormalization", operands,
         [norm(total, gamma, beta, 1e-12)[0], np.int32(kept), total], dict(epsilon=1e-12))

# Groups of channels: no kernel of ONNX Runtime for CPUs.
x, skip, gamma, beta, bias = floats(2, 3, 5, 8), floats(2, 3, 5, 8), floats(8), floats(8), floats(8)


def grouped(x, groups, eps, silu):
    parts = x.astype(np.float64).reshape(2, 15, groups, -1)
    mean = parts.mean((1, 3), keepdims=True)
    y = (parts - mean) / np.sqrt(np.mean((parts - mean)**2, (1, 3), keepdims=True) + eps)
    y = y.reshape(x.shape) * gamma + beta
    return y * sigmoid(y) if silu else y


first = lambda t: np.ascontiguousarray(np.moveaxis(t, -1, 1))
for silu in (0, 1):
    same(f"contrib groupnorm last {silu}", "GroupNorm", [x, gamma, beta], grouped(x, 4, 1e-3, silu),
         dict(activation=silu, groups=4, epsilon=1e-3))
    same(f"contrib groupnorm first {silu}", "GroupNorm", [first(x), gamma, beta], first(grouped(x, 2, 1e-5, silu)),
         dict(activation=silu, groups=2, channels_last=0))
    for form in (skip, skip[:, :1, :1], skip[:, 0, 0]):
        total = x + (form[:, None, None] if form.ndim == 2 else form) + bias
        same(f"contrib skipgroupnorm {form.shape} {silu}", "SkipGroupNorm", [x, gamma, beta, form, bias],
             [grouped(total, 4, 1e-3, silu), total], dict(activation=silu, groups=4, epsilon=1e-3))
