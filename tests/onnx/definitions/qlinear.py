"""Quantized ops of com.microsoft, and weights of a few bits. Roundings of two float formulas may differ by one step."""
import numpy as np
from one_node import case

rng = np.random.default_rng(11)
MS = "com.microsoft::"
RANGE = {np.uint8: (0, 255), np.int8: (-128, 127)}


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def ints(kind, *shape):
    return rng.integers(*RANGE[kind], shape, endpoint=True).astype(kind)


def real(x, scale, zero):
    return (x.astype(np.float64) - float(zero)) * float(scale)


def step(x, scale, zero, kind):
    return np.clip(np.rint(x / float(scale)) + float(zero), *RANGE[kind]).astype(kind)


one = np.float32
for kind in (np.uint8, np.int8):
    name = np.dtype(kind).name
    za, zb, zy = kind(7), kind(100), kind(33)
    sa, sb, sy = one(0.03), one(0.011), one(0.05)
    a, b = ints(kind, 3, 1, 7), ints(kind, 4, 1)
    ra, rb = real(a, sa, za), real(b, sb, zb)
    case(f"contrib qadd {name}", MS + "QLinearAdd", 1, [a, sa, za, b, sb, zb, sy, zy], [step(ra + rb, sy, zy, kind)], atol=1)
    case(f"contrib qmul {name}", MS + "QLinearMul", 1, [a, sa, za, b, sb, zb, sy, zy], [step(ra * rb, sy, zy, kind)], atol=1)
    case(f"contrib qadd plain {name}", MS + "QLinearAdd", 1, [a, sa, None, b, sb, None, sy],
         [step(real(a, sa, 0) + real(b, sb, 0), sy, 0, kind)], atol=1)
    case(f"contrib qsigmoid {name}", MS + "QLinearSigmoid", 1, [a, sa, za, one(1 / 256), zy],
         [step(1 / (1 + np.exp(-ra)), one(1 / 256), zy, kind)], atol=1)
    case(f"contrib qleaky {name}", MS + "QLinearLeakyRelu", 1, [a, sa, za, sy, zy],
         [step(np.where(ra < 0, 0.2 * ra, ra), sy, zy, kind)], dict(alpha=0.2), atol=1)
    for opset in (11, 13):
        x = ints(kind, 2, 3, 5)
        rx = real(x, sa, za)
        if opset < 13:
            rx = rx.reshape(2, 15)
        e = np.exp(rx - rx.max(-1, keepdims=True))
        case(f"contrib qsoftmax {opset} {name}", MS + "QLinearSoftmax", 1, [x, sa, za, one(1 / 256), zy],
             [step((e / e.sum(-1, keepdims=True)).reshape(x.shape), one(1 / 256), zy, kind)],
             dict(opset=opset, axis=-1 if opset > 12 else 1), atol=1)
    x = ints(kind, 2, 3, 5, 7)
    rx = real(x, sa, za)
    last = lambda t: np.ascontiguousarray(np.moveaxis(t, 1, -1))
    mean = step(rx.mean((2, 3), keepdims=True), sy, zy, kind)
    case(f"contrib qglobal {name}", MS + "QLinearGlobalAveragePool", 1, [x, sa, za, sy, zy], [mean], atol=1)
    case(f"contrib qglobal last {name}", MS + "QLinearGlobalAveragePool", 1, [last(x), sa, za, sy, zy], [last(mean)],
         dict(channels_last=1), atol=1)
    pooled = np.stack([[rx[:, :, 2 * i:2 * i + 3, j:j + 2].mean((2, 3)) for j in range(6)] for i in range(2)])
    pooled = step(pooled.transpose(2, 3, 0, 1), sy, zy, kind)
    where = dict(kernel_shape=[3, 2], strides=[2, 1])
    case(f"contrib qaverage {name}", MS + "QLinearAveragePool", 1, [x, sa, za, sy, zy], [pooled], where, atol=1)
    case(f"contrib qaverage last {name}", MS + "QLinearAveragePool", 1, [last(x), sa, za, sy, zy], [last(pooled)],
         dict(where, channels_last=1), atol=1)
    for keep in (0, 1):
        case(f"contrib qmean {keep} {name}", MS + "QLinearReduceMean", 1, [x, sa, za, sy, zy],
             [step(rx.mean((1, 3), keepdims=bool(keep)), sy, zy, kind)], dict(axes=[1, -1], keepdims=keep), atol=1)
    b = ints(kind, 2, 4, 5, 7)
    joined = np.concatenate([step(rx, sy, zy, kind), step(real(b, sb, zb), sy, zy, kind)], 1)
    case(f"contrib qconcat {name}", MS + "QLinearConcat", 1, [sy, zy, x, sa, za, b, sb, zb], [joined], dict(axis=1), atol=1)
    choice, b = rng.random((5, 7)) < 0.5, ints(kind, 3, 5, 7)
    case(f"contrib qwhere {name}", MS + "QLinearWhere", 1, [choice, x, sa, za, b, sb, zb, sy, zy],
         [step(np.where(choice, rx, real(b, sb, zb)), sy, zy, kind)], atol=1)
    case(f"contrib nhwcmaxpool {name}", MS + "NhwcMaxPool", 1, [last(x)],
         [last(np.stack([[x[:, :, i:i + 2, 2 * j:2 * j + 3].max((2, 3)) for j in range(3)] for i in range(4)]).transpose(2, 3, 0, 1))],
         dict(kernel_shape=[2, 3], strides=[1, 2]))

# --- Convolution with channels last
x, w = ints(np.uint8, 1, 5, 6, 3), ints(np.int8, 4, 3, 2, 2)
ws = np.float32([0.01, 0.02, 0.005, 0.03])
rx = np.moveaxis(real(x, 0.02, 120), -1, 1)
rw = w.astype(np.float64) * ws.reshape(-1, 1, 1, 1)
y = np.stack([[np.einsum("nchw,mchw->nm", rx[:, :, i:i + 2, j:j + 2], rw) for j in range(5)] for i in range(4)]).transpose(2, 0, 1, 3)
case("contrib qconv last", MS + "QLinearConv", 1,
     [x, one(0.02), np.uint8(120), w, ws, np.int8([0, 0, 0, 0]), one(0.1), np.uint8(128)], [step(y, 0.1, 128, np.uint8)],
     dict(channels_last=1), atol=1, const=(3, 4, 5))

# --- Products
a, b = ints(np.uint8, 3, 6), ints(np.int8, 6, 5)
bs, bz = np.float32([0.01, 0.02, 0.03, 0.005, 0.015]), np.int8([3, -4, 0, 9, 1])
c = rng.integers(-4000, 4000, (1, 5)).astype(np.int32)
for per_column in (0, 1):
    s, z = (bs, bz) if per_column else (one(0.02), np.int8(3))
    scale = 0.04 * s.astype(np.float64)
    for trans in range(4):
        ta, tb = trans & 1, trans >> 1
        left, right = (a.T if ta else a).copy(), (b.T if tb else b).copy()
        total = (a.astype(np.int64) - 9) @ (b.astype(np.int64) - z)
        for alpha in (1.0, 0.5):
            name = f"{per_column}{ta}{tb} {alpha}"
            how = dict(transA=ta, transB=tb, alpha=alpha)
            operands = [left, one(0.04), np.uint8(9), right, s, z]
            case(f"contrib qgemm {name}", MS + "QGemm", 1, operands + [c, one(0.5), np.uint8(90)],
                 [step((total + c) * scale * alpha, 0.5, 90, np.uint8)], how, atol=1)
            case(f"contrib qgemm float {name}", MS + "QGemm", 1, operands, [(total * scale * alpha).astype(np.float32)], how)
    total = (a.astype(np.int64)[None] - 9) @ (b.astype(np.int64) - z)
    bias = floats(5)
    case(f"contrib integertofloat {per_column}", MS + "MatMulIntegerToFloat", 1,
         [a[None], b, one(0.04), s, np.uint8(9), z, bias], [(total * scale + bias).astype(np.float32)])
    case(f"contrib integertofloat bare {per_column}", MS + "MatMulIntegerToFloat", 1, [a, b, one(0.04), s],
         [(a.astype(np.int64) @ b.astype(np.int64) * scale).astype(np.float32)])
    x = floats(2, 3, 6)
    low, high = min(x.min(), 0), max(x.max(), 0)
    xs = one((high - low) / 255)
    xz = np.rint(-low / xs)
    quantized = np.clip(np.rint(x / xs) + xz, 0, 255)
    product = (quantized - xz) @ (b.astype(np.float64) - z) * float(xs) * s.astype(np.float64)
    case(f"contrib dynamicmatmul {per_column}", MS + "DynamicQuantizeMatMul", 1, [x, b, s, z, bias],
         [(product + bias).astype(np.float32)], const=(1, 3))
    case(f"contrib dynamicmatmul bare {per_column}", MS + "DynamicQuantizeMatMul", 1, [x, b, s],
         [((quantized - xz) @ b.astype(np.float64) * float(xs) * s.astype(np.float64)).astype(np.float32)], const=(1,))
case("contrib mulinteger", MS + "MulInteger", 1, [a, np.uint8(9), a[:1], np.uint8(3)],
     [(a.astype(np.int32) - 9) * (a[:1].astype(np.int32) - 3)])



# --- A recurrent layer whose weights are of 8 bits; inputs and states are quantized by their own range
def by_range(x):
    """x in steps from its zero point, and the step."""
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = (high - low) / 255 if high > low else 1.0
    zero = np.rint(-low / scale)
    return np.clip(np.rint(x / scale) + zero, 0, 255) - zero, scale


def product(x, w, scale, zero):
    steps, size = by_range(x)
    return steps @ (w.astype(np.float64) - zero) * size * scale


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def quantized_lstm(x, weights, states, b, isReverse):
    (w, *of_w), (r, *of_r) = weights, states
    hidden = len(r)
    h = c = np.zeros((x.shape[1], hidden))
    y = np.zeros((*x.shape[:2], hidden))
    inputs = product(x, w, *of_w) + b[:4 * hidden] + b[4 * hidden:]
    for t in reversed(range(len(x))) if isReverse else range(len(x)):
        i, o, f, g = np.split(inputs[t] + product(h, r, *of_r), 4, axis=-1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        y[t] = h = sigmoid(o) * np.tanh(c)
    return y, h, c


for steps, kind in ((4, np.uint8), (40, np.int8)):
    for per_column in (False, True):
        size, hidden, directions = 6, 5, 2
        x, b = floats(steps, 3, size), floats(directions, 8 * hidden)
        w, r = ints(kind, directions, size, 4 * hidden), ints(kind, directions, hidden, 4 * hidden)
        columns = (4 * hidden, ) if per_column else ()
        sw, sr = (rng.uniform(0.002, 0.006, (directions, *columns)).astype(np.float32) for _ in range(2))
        zw, zr = (rng.integers(0, 9, (directions, *columns)).astype(kind) for _ in range(2))
        both = [quantized_lstm(x.astype(np.float64), (w[d], sw[d], zw[d]), (r[d], sr[d], zr[d]), b[d], d == 1) for d in (0, 1)]
        wanted = [np.stack(part, 1 if k == 0 else 0).astype(np.float32) for k, part in enumerate(zip(*both))]
        case(f"contrib dynamic lstm {steps} {np.dtype(kind).name} {per_column}", MS + "DynamicQuantizeLSTM", 1,
             [x, w, r, b, None, None, None, None, sw, zw, sr, zr], wanted, {"hidden_size": hidden, "direction": "bidirectional"},
             const=(1, 2, 8, 9, 10, 11))

# --- Sixteen bits
for kind, (low, high) in {np.uint16: (0, 65535), np.int16: (-32768, 32767)}.items():
    x, s, z = floats(3, 4), np.float32([1e-4, 2e-4, 5e-5, 1e-3]), np.array([7, 0, 100, 3], kind)
    q = np.clip(np.rint(x / s) + z, low, high).astype(kind)
    name = np.dtype(kind).name
    case(f"contrib quantize {name}", MS + "QuantizeLinear", 1, [x, s, z], [q], dict(axis=1))
    case(f"contrib dequantize {name}", MS + "DequantizeLinear", 1, [q, s, z],
         [((q.astype(np.int64) - z) * s.astype(np.float64)).astype(np.float32)], dict(axis=1))
    case(f"contrib quantize scalar {name}", MS + "QuantizeLinear", 1, [x, s[0], z[0]],
         [np.clip(np.rint(x / s[0]) + z[0], low, high).astype(kind)])

# --- Weights of a few bits


def packed(values, bits):
    """Values along the last axis into bytes, the lowest bits first; elements may run over the ends of bytes."""
    stream = (np.asarray(values)[..., None] >> np.arange(bits) & 1).reshape(*values.shape[:-1], -1).astype(np.uint8)
    return np.packbits(stream, -1, "little")


for bits in (2, 3, 4, 5, 6, 7, 8):
    for k, n, block in ((32, 5, 16), (40, 7, 32), (96, 3, 32), (70, 4, 64)):
        blocks = -(-k // block)
        q = rng.integers(0, 1 << bits, (n, blocks, block))
        q[:, -1, k - (blocks - 1) * block:] = 0
        scales = (rng.random((n, blocks)) + 0.1).astype(np.float32) / (1 << bits)
        zeros = rng.integers(0, 1 << bits, (n, blocks))
        a, bias = floats(2, 3, k), floats(n)
        for zero in ("none", "packed", "float"):
            shift = (1 << (bits - 1)) if zero == "none" else (zeros if zero == "packed" else zeros + 0.5)[:, :, None]
            weights = ((q - shift) * scales[:, :, None]).reshape(n, -1)[:, :k]
            operands = [a, packed(q, bits), scales]
            if zero != "none":
                operands.append(packed(zeros, bits) if zero == "packed" else (zeros + 0.5).astype(np.float32))
            if (zero == "float" and bits != 4) or (bits in (3, 5, 6, 7) and k in (40, 70) and zero == "none"):
                continue
            for has_bias in (0, 1):
                more = [None] * (5 - len(operands)) + [bias] if has_bias else []
                case(f"contrib nbits {bits} {k} {n} {block} {zero} {has_bias}", MS + "MatMulNBits", 1, operands + more,
                     [(a @ weights.T + has_bias * bias).astype(np.float32)], dict(K=k, N=n, bits=bits, block_size=block),
                     rtol=1e-3, atol=1e-3, const=(1, 2, 3))
# At accuracy level 4 each block of a is rounded to 127 steps; level 0 with a block for each row of b.
for bits in (2, 4, 8):
    for k, n, block, m in ((32, 5, 16, 1), (40, 37, 32, 1), (70, 33, 16, 9), (256, 16, 64, 3)):
        blocks = -(-k // block)
        q, zeros = rng.integers(0, 1 << bits, (n, blocks, block)), rng.integers(0, 1 << bits, (n, blocks))
        scales = (rng.random((n, blocks)) + 0.1).astype(np.float32) / (1 << bits)
        a = floats(m, k)
        a[0, :16] = 0
        padded = np.pad(a, ((0, 0), (0, blocks * block - k))).reshape(m, blocks, block)
        most = np.abs(padded).max(-1, keepdims=True)
        steps = np.rint(padded * np.where(most > 0, np.float32(127) / np.where(most > 0, most, 1), 0).astype(np.float32))
        for has_zeros in (0, 1):
            shift = zeros[:, :, None] if has_zeros else 1 << (bits - 1)
            y = np.einsum("mbk,nbk->mn", steps.astype(np.float64) * most / 127, (q - shift) * scales[:, :, None])
            case(f"contrib nbits level 4 {bits} {k} {n} {block} {has_zeros}", MS + "MatMulNBits", 1,
                 [a, packed(q, bits), scales] + ([packed(zeros, bits)] if has_zeros else []), [y.astype(np.float32)],
                 dict(K=k, N=n, bits=bits, block_size=block, accuracy_level=4), rtol=1e-3, atol=1e-3, const=(1, 2, 3))
        of_row = rng.integers(0, blocks, k).astype(np.int32)
        weights = (q.reshape(n, -1)[:, :k] - zeros[:, of_row]) * scales[:, of_row]
        case(f"contrib nbits blocks of rows {bits} {k} {n} {block}", MS + "MatMulNBits", 1,
             [a, packed(q, bits), scales, packed(zeros, bits), of_row], [(a @ weights.T).astype(np.float32)],
             dict(K=k, N=n, bits=bits, block_size=block), rtol=1e-3, atol=1e-3, const=(1, 2, 3, 4))
rows = rng.integers(0, 9, (2, 4))
for bits in (4, 8):
    q, scales = rng.integers(0, 1 << bits, (9, 64)), (rng.random((9, 4)) + 0.1).astype(np.float32)
    zeros = rng.integers(0, 1 << bits, (9, 4))
    for has_zeros in (0, 1):
        shift = np.repeat(zeros, 16, 1) if has_zeros else 1 << (bits - 1)
        table = ((q - shift) * np.repeat(scales, 16, 1)).astype(np.float32)
        case(f"contrib gatherblock {bits} {has_zeros}", MS + "GatherBlockQuantized", 1,
             [packed(q, bits), rows, scales] + ([packed(zeros, bits)] if has_zeros else []), [table[rows]],
             dict(bits=bits, block_size=16, gather_axis=0, quantize_axis=1), const=(0, 2, 3))
