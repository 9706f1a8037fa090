"""Ops of com.microsoft that are like others, small ones, and mixtures of experts."""
import math

import numpy as np
from one_node import case
from qlinear import packed

rng = np.random.default_rng(41)
MS = "com.microsoft::"
f32 = np.float32


def floats(*shape):
    return rng.standard_normal(shape).astype(f32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


x = floats(2, 4, 5)
case("contrib trilu", MS + "Trilu", 1, [x, np.int64(1)], [np.triu(x, 1)], const=(1,))
case("contrib tril", MS + "Trilu", 1, [x], [np.tril(x)], {"upper": 0})
case("contrib expanddims", MS + "ExpandDims", 1, [x, np.int32(-1)], [x[..., None]], const=(1,))
case("contrib expanddims 1", MS + "ExpandDims", 1, [x, np.int32(1)], [x[:, None]], const=(1,))
case("contrib range", MS + "Range", 1, [np.int64(3), np.int64(9)], [np.arange(3, 9)], const=(0, 1))
case("contrib range step", MS + "Range", 1, [f32(3), f32(1), f32(-0.5)], [np.arange(3, 1, -0.5, dtype=f32)], const=(0, 1, 2))
case("contrib pad", MS + "Pad", 1, [x[0], np.int64([1, 0, 0, 2]), f32(7)], [np.pad(x[0], ((1, 0), (0, 2)), constant_values=7)], const=(1,))
case("contrib pad edge", MS + "Pad", 1, [x[0], np.int64([1, 0, 0, 2])], [np.pad(x[0], ((1, 0), (0, 2)), "edge")], {"mode": "edge"}, const=(1,))
numbers = f32([3, 1, 3, 2, 1, 1, 9])
case("contrib unique", MS + "Unique", 1, [numbers], [f32([3, 1, 2, 9]), np.int64([0, 1, 0, 2, 1, 1, 3]), np.int64([2, 3, 1, 1])])
image = floats(1, 2, 4, 4)
rows, columns = np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-1, 1, 4), indexing="ij")
turned = np.stack([rows, -columns], -1)[None].astype(f32)  # the point (x, y) is (row, -column)
case("contrib gridsample", MS + "GridSample", 1, [image, turned], [np.rot90(image, -1, (2, 3))], {"align_corners": 1})
a, b = floats(5, 3), floats(4, 3)
squares = ((a[:, None].astype(np.float64) - b[None])**2).sum(-1)
case("contrib cdist", MS + "CDist", 1, [a, b], [squares.astype(f32)])
case("contrib cdist euclidean", MS + "CDist", 1, [a, b], [np.sqrt(squares).astype(f32)], {"metric": "euclidean"})
for shape in ((1, 1), (2, 2), (3, 5, 5), (20, 20)):
    x = floats(*shape) + 0.1
    if shape[-1] == 5:
        x[0, 0, 0] = x[1, :2, :2] = 0  # pivots lie elsewhere
        x[1, 0, 1] = x[1, 1, 0] = 0
    case(f"contrib inverse {shape}", MS + "Inverse", 1, [x], [np.linalg.inv(x.astype(np.float64)).astype(f32)], rtol=2e-3, atol=2e-3)
    case(f"contrib inverse double {shape}", MS + "Inverse", 1, [x.astype(np.float64)], [np.linalg.inv(x.astype(np.float64))])
x = floats(3, 10)
spectrum = np.fft.rfft(x.astype(np.float64))
pairs = np.stack([spectrum.real, spectrum.imag], -1).astype(f32)
case("contrib rfft", MS + "Rfft", 1, [x], [pairs], {"signal_ndim": 1})
case("contrib irfft", MS + "Irfft", 1, [pairs], [x], {"signal_ndim": 1})

# --- Experts


def mixture(x, router, first, second, k, act, normalize=False, third=None):
    """Layers are (weights [experts, out, in], bias or None)."""
    through = lambda layer, e, v: layer[0][e].astype(np.float64) @ v + (0 if layer[1] is None else layer[1][e])
    y = np.zeros_like(x, np.float64)
    for t, row in enumerate(x.astype(np.float64)):
        shares = np.exp(router[t].astype(np.float64))
        shares /= shares.sum()
        best = np.argsort(-shares, kind="stable")[:k]
        weights = shares[best] / (shares[best].sum() if normalize else 1)
        for e, weight in zip(best, weights):
            inner = act(through(first, e, row)) if third is None else act(through(first, e, row), through(third, e, row))
            y[t] += weight * through(second, e, inner)
    return y.astype(f32)


R, H, I, E = 5, 32, 16, 4
x, router = floats(R, H), floats(R, E)
first, second = (floats(E, I, H), floats(E, I)), (floats(E, H, I), floats(E, H))
FUNCTIONS = {"relu": lambda v: np.maximum(v, 0), "silu": lambda v: v * sigmoid(v), "identity": lambda v: v,
             "gelu": lambda v: 0.5 * v * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))}
for k, (name, act) in enumerate(FUNCTIONS.items(), 1):
    for normalize in (0, 1):
        case(f"contrib moe {name} {normalize}", MS + "MoE", 1, [x, router, *first, *second],
             [mixture(x, router, first, second, k, act, normalize)],
             {"k": k, "activation_type": name, "normalize_routing_weights": normalize}, rtol=1e-3, atol=1e-3)
case("contrib moe sequences", MS + "MoE", 1, [x[None], router, first[0], None, second[0]],
     [mixture(x, router, (first[0], None), (second[0], None), 1, FUNCTIONS["relu"])[None]], rtol=1e-3, atol=1e-3)


def gate(limit, alpha, beta):
    return lambda g, l: np.minimum(g, limit) * sigmoid(alpha * np.minimum(g, limit)) * (np.clip(l, -limit, limit) + beta)


wide = (floats(E, 2 * I, H), floats(E, 2 * I))
for limit, alpha, beta in ((math.inf, 1.0, 0.0), (7.0, 1.702, 1.0)):
    more = {"k": 2, "activation_type": "swiglu", "activation_alpha": alpha, "activation_beta": beta}
    more |= {} if math.isinf(limit) else {"swiglu_limit": limit}
    for fusion, halves in ((1, lambda v: (v[0::2], v[1::2])), (2, lambda v: (v[:I], v[I:]))):
        case(f"contrib moe swiglu {fusion} {alpha}", MS + "MoE", 1, [x, router, *wide, *second],
             [mixture(x, router, wide, second, 2, lambda v: gate(limit, alpha, beta)(*halves(v)))], more | {"swiglu_fusion": fusion},
             rtol=1e-3, atol=1e-3)
    third = (floats(E, I, H), floats(E, I))
    case(f"contrib moe swiglu apart {alpha}", MS + "MoE", 1, [x, router, *first, *second, *third],
         [mixture(x, router, first, second, 2, gate(limit, alpha, beta), third=third)], more, rtol=1e-3, atol=1e-3)
for bits in (2, 3, 4, 8):
    for block in (0, 16):
        for has_zeros in (False, True):
            layers, operands = [], []
            for out, size in ((I, H), (H, I)):
                blocks = size // block if block else 1
                q, zeros = rng.integers(0, 1 << bits, (E, out, size)), rng.integers(0, 1 << bits, (E, out, blocks))
                scales = (rng.random((E, out, blocks)) + 0.1).astype(f32) / (1 << bits)
                shift = zeros if has_zeros else np.full((E, out, blocks), 1 << (bits - 1))
                spread = lambda v: np.repeat(v, size // blocks, -1)
                layers.append((((q - spread(shift)) * spread(scales)).astype(f32), floats(E, out)))
                operands.append((packed(q, bits), scales if block else scales[..., 0], layers[-1][1],
                                 packed(zeros if block else zeros[..., 0], bits) if has_zeros else None))
            (w1, s1, b1, z1), (w2, s2, b2, z2) = operands
            case(f"contrib qmoe {bits} {block} {has_zeros}", MS + "QMoE", 1,
                 [x, router, w1, s1, b1, w2, s2, b2] + ([None, None, None, z1, z2] if has_zeros else []),
                 [mixture(x, router, *layers, 2, FUNCTIONS["silu"], True)],
                 {"k": 2, "activation_type": "silu", "normalize_routing_weights": 1, "expert_weight_bits": bits, "block_size": block},
                 rtol=1e-3, atol=1e-3, const=(2, 3, 5, 6, 11, 12))
