"""Normalization, quantization, losses, determinants and Fourier transforms."""

import math

import numpy as np
from one_node import case

rng = np.random.default_rng(1)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


# --- norms
x = floats(2, 4, 3, 5)
s, b, m = floats(4), floats(4), floats(4)
v = np.abs(floats(4)) + 0.1
c = lambda a: a.reshape(1, -1, 1, 1)
bn = lambda x, m, v, e: (c(s) * (x - c(m)) / np.sqrt(c(v) + e) + c(b)).astype(np.float32)
case("bn", "BatchNormalization", 15, [x, s, b, m, v], [bn(x, m, v, 1e-5)])
case("bn9", "BatchNormalization", 9, [x, s, b, m, v], [bn(x, m, v, 0.01)], dict(epsilon=0.01))
case("bn7sp", "BatchNormalization", 7, [x, s, b, m, v], [bn(x, m, v, 0.01)], dict(epsilon=0.01, spatial=1))
S4 = [floats(4, 3, 5) for _ in range(3)] + [np.abs(floats(4, 3, 5)) + 0.1]
case(
    "bn7nosp",
    "BatchNormalization",
    7,
    [x, *S4],
    [(S4[0] * (x - S4[2]) / np.sqrt(S4[3] + 1e-5) + S4[1]).astype(np.float32)],
    dict(spatial=0),
)
case("bn6", "BatchNormalization", 6, [x, s, b, m, v], [bn(x, m, v, 1e-5)], dict(is_test=1))
case(
    "bn2d",
    "BatchNormalization",
    14,
    [x[:, :, 0, 0], s, b, m, v],
    [(s * (x[:, :, 0, 0] - m) / np.sqrt(v + np.float32(1e-5)) + b).astype(np.float32)],
)
mu = x.mean((0, 2, 3))
va = x.var((0, 2, 3))
case(
    "bntrain",
    "BatchNormalization",
    15,
    [x, s, b, m, v],
    [bn(x, mu, va, 1e-5), (m * 0.9 + mu * 0.1).astype(np.float32), (v * 0.9 + va * 0.1).astype(np.float32)],
    dict(training_mode=1),
)
case(
    "bntrain2",
    "BatchNormalization",
    14,
    [x, s, b, m, v],
    [bn(x, mu, va, 1e-2), (m * 0.6 + mu * 0.4).astype(np.float32), (v * 0.6 + va * 0.4).astype(np.float32)],
    dict(training_mode=1, epsilon=0.01, momentum=0.6),
)


def gn(x, g, e):
    y = x.reshape(x.shape[0], g, -1).astype(np.float64)
    return ((y - y.mean(2, keepdims=True)) / np.sqrt(y.var(2, keepdims=True) + e)).reshape(x.shape)


case(
    "in",
    "InstanceNormalization",
    6,
    [x, s, b],
    [(gn(x, 4, 1e-2) * c(s) + c(b)).astype(np.float32)],
    dict(epsilon=0.01),
)
case(
    "gn21",
    "GroupNormalization",
    21,
    [x, s, b],
    [(gn(x, 2, 1e-5) * c(s) + c(b)).astype(np.float32)],
    dict(num_groups=2),
)
s2, b2 = floats(2), floats(2)
case(
    "gn18",
    "GroupNormalization",
    18,
    [x, s2, b2],
    [(gn(x, 2, 1e-5) * c(np.repeat(s2, 2)) + c(np.repeat(b2, 2))).astype(np.float32)],
    dict(num_groups=2),
)
for ax in (-1, 1, 2, 0, -3):
    a = ax % 4
    axes = tuple(range(a, 4))
    X = x.astype(np.float64)
    mu = X.mean(axes, keepdims=True)
    iv = 1 / np.sqrt(X.var(axes, keepdims=True) + 1e-5)
    w, bb = floats(*x.shape[a:]), floats(*x.shape[a:])
    case(
        f"ln{ax}",
        "LayerNormalization",
        17,
        [x, w, bb],
        [((X - mu) * iv * w + bb).astype(np.float32), mu.astype(np.float32), iv.astype(np.float32)],
        dict(axis=ax),
    )
    case(
        f"ln_nb{ax}",
        "LayerNormalization",
        17,
        [x, w],
        [((X - mu) * iv * w).astype(np.float32)],
        dict(axis=ax),
    )
    case(
        f"rms{ax}",
        "RMSNormalization",
        23,
        [x, w],
        [(X / np.sqrt((X * X).mean(axes, keepdims=True) + 1e-5) * w).astype(np.float32)],
        dict(axis=ax),
    )
h = x.astype(np.float16)
wh = floats(5).astype(np.float16)
X = h.astype(np.float64)
mu = X.mean(-1, keepdims=True)
iv = 1 / np.sqrt(X.var(-1, keepdims=True) + 1e-5)
case(
    "ln16",
    "LayerNormalization",
    17,
    [h, wh],
    [((X - mu) * iv * wh).astype(np.float16), mu.astype(np.float32), iv.astype(np.float32)],
    rtol=1e-2,
    atol=2e-3,
)


def lrn(x, n, al, be, bi):
    y = np.zeros(x.shape)
    C = x.shape[1]
    for k in range(C):
        lo = max(0, k - (n - 1) // 2)
        hi = min(C - 1, k + math.ceil((n - 1) / 2))
        y[:, k] = x[:, k] / (bi + al / n * (x[:, lo : hi + 1].astype(np.float64) ** 2).sum(1)) ** be
    return y.astype(np.float32)


for n in (1, 2, 3, 4, 5):
    case(f"lrn{n}", "LRN", 13, [x], [lrn(x, n, 0.2, 0.6, 2.0)], dict(size=n, alpha=0.2, beta=0.6, bias=2.0))
case("lrnd", "LRN", 1, [x], [lrn(x, 3, 1e-4, 0.75, 1.0)], dict(size=3))
z = x.copy()
z[0, :, 0, 0] = 0
for p in (1, 2):
    nr = np.abs(z).sum(1, keepdims=True) if p == 1 else np.sqrt((z * z).sum(1, keepdims=True))
    case(
        f"lpn{p}",
        "LpNormalization",
        22,
        [z],
        [np.where(nr == 0, 0, z / np.where(nr == 0, 1, nr)).astype(np.float32)],
        dict(axis=1, p=p),
    )
X = x.astype(np.float64)
for ax in (None, [1], [0, 2, 3], [-1]):
    t = tuple(ax or [0, 2, 3])
    case(
        f"mvn{ax}",
        "MeanVarianceNormalization",
        13,
        [x],
        [((X - X.mean(t, keepdims=True)) / (X.std(t, keepdims=True) + 1e-9)).astype(np.float32)],
        dict(axes=ax) if ax else {},
    )


def sm(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


for ax in (0, 1, 2, 3):
    fl = x.reshape(int(np.prod(x.shape[:ax])), -1).astype(np.float64)
    case(f"sm11_{ax}", "Softmax", 11, [x], [sm(fl).reshape(x.shape).astype(np.float32)], dict(axis=ax))
    case(
        f"lsm11_{ax}",
        "LogSoftmax",
        1,
        [x],
        [np.log(sm(fl)).reshape(x.shape).astype(np.float32)],
        dict(axis=ax),
    )
# --- quant
qx = floats(3, 4, 6) * 20


def q(x, s, z, t):
    i = np.iinfo(t)
    return np.clip(
        np.rint(x / s) + z.astype(np.float64) if hasattr(z, "astype") else np.rint(x / s) + z, i.min, i.max
    ).astype(t)


for t in (np.uint8, np.int8, np.uint16, np.int16):
    z = np.array(5, t)
    case(f"q_{t.__name__}", "QuantizeLinear", 21, [qx, np.float32(0.3), z], [q(qx, np.float32(0.3), z, t)])
    sv = np.abs(floats(4)) + 0.1
    zv = rng.integers(0, 9, 4).astype(t)
    case(
        f"qax_{t.__name__}",
        "QuantizeLinear",
        21,
        [qx, sv, zv],
        [q(qx, sv.reshape(1, 4, 1), zv.reshape(1, 4, 1), t)],
    )
    case(
        f"qaxm_{t.__name__}",
        "QuantizeLinear",
        21,
        [qx, sv[[0, 1, 2]], zv[:3]],
        [q(qx, sv[:3].reshape(3, 1, 1), zv[:3].reshape(3, 1, 1), t)],
        dict(axis=-3),
    )
    qi = rng.integers(np.iinfo(t).min, np.iinfo(t).max, (3, 4, 6)).astype(t)
    case(
        f"dq_{t.__name__}",
        "DequantizeLinear",
        21,
        [qi, np.float32(0.3), z],
        [((qi.astype(np.int64) - 5) * np.float32(0.3)).astype(np.float32)],
        rtol=1e-5,
    )
    case(
        f"dqax_{t.__name__}",
        "DequantizeLinear",
        21,
        [qi, sv, zv],
        [((qi.astype(np.int64) - zv.reshape(1, 4, 1)) * sv.reshape(1, 4, 1)).astype(np.float32)],
        rtol=1e-5,
    )
    bs = np.abs(floats(3, 4, 3)) + 0.1
    bz = rng.integers(0, 9, (3, 4, 3)).astype(t)
    rp = lambda a: np.repeat(a, 2, 2)
    case(
        f"qbl_{t.__name__}",
        "QuantizeLinear",
        21,
        [qx, bs, bz],
        [q(qx, rp(bs), rp(bz), t)],
        dict(axis=2, block_size=2),
    )
    case(
        f"dqbl_{t.__name__}",
        "DequantizeLinear",
        21,
        [qi, bs, bz],
        [((qi.astype(np.int64) - rp(bz)) * rp(bs)).astype(np.float32)],
        dict(axis=2, block_size=2),
        rtol=1e-5,
    )
bs = np.abs(floats(3, 4, 2)) + 0.1
case(
    "qbl_uneven",
    "QuantizeLinear",
    21,
    [qx[:, :, :5], bs],
    [q(qx[:, :, :5], np.repeat(bs, 3, 2)[:, :, :5], 0, np.int8)],
    dict(axis=2, block_size=3, output_dtype=3),
)
case("q_nozp", "QuantizeLinear", 10, [qx, np.float32(0.5)], [q(qx, np.float32(0.5), 0, np.uint8)])
case(
    "q_i32",
    "QuantizeLinear",
    13,
    [np.arange(-9, 9, dtype=np.int32), np.float32(2.0)],
    [q(np.arange(-9, 9), 2.0, 0, np.uint8)],
)
qi32 = rng.integers(-1000, 1000, (2, 3)).astype(np.int32)
case("dq_i32", "DequantizeLinear", 13, [qi32, np.float32(0.1)], [(qi32 * np.float32(0.1)).astype(np.float32)])
qi8 = rng.integers(-100, 100, (2, 3)).astype(np.int8)
case(
    "dq_f16",
    "DequantizeLinear",
    19,
    [qi8, np.float16(0.1)],
    [(qi8 * np.float16(0.1)).astype(np.float16)],
    rtol=1e-2,
)
case(
    "dq_out",
    "DequantizeLinear",
    23,
    [qi8, np.float16(0.1)],
    [(qi8 * np.float32(np.float16(0.1))).astype(np.float32)],
    dict(output_dtype=1),
)
for nm, a in (
    ("mix", floats(3, 4)),
    ("pos", np.abs(floats(3, 4)) + 1),
    ("neg", -np.abs(floats(3, 4)) - 1),
    ("zero", np.zeros((2, 2), np.float32)),
):
    hi = max(0, a.max())
    lo = min(0, a.min())
    sc = np.float32((np.float32(hi) - np.float32(lo)) / np.float32(255))
    zp = np.clip(np.rint(-lo / sc), 0, 255) if sc else 0
    case(
        "dyn_" + nm,
        "DynamicQuantizeLinear",
        11,
        [a],
        [
            np.clip(np.rint(a / sc) + zp, 0, 255).astype(np.uint8) if sc else np.zeros((2, 2), np.uint8),
            sc,
            np.uint8(zp),
        ],
    )
A = rng.integers(0, 255, (2, 3, 4)).astype(np.uint8)
B = rng.integers(-127, 127, (2, 4, 5)).astype(np.int8)
az = rng.integers(0, 9, 3).astype(np.uint8)
bz = rng.integers(-9, 9, 5).astype(np.int8)
mm = lambda A, B, az, bz: (A.astype(np.int64) - az) @ (B.astype(np.int64) - bz)
case("mmi", "MatMulInteger", 10, [A, B], [mm(A, B, 0, 0).astype(np.int32)])
case("mmi_z", "MatMulInteger", 10, [A, B, np.uint8(3), np.int8(-2)], [mm(A, B, 3, -2).astype(np.int32)])
case(
    "mmi_rc",
    "MatMulInteger",
    10,
    [A[0], B[0], az, bz],
    [mm(A[0], B[0], az.reshape(3, 1).astype(int), bz.astype(int)).astype(np.int32)],
)
case("mmi_b", "MatMulInteger", 10, [A, B, None, bz], [mm(A, B, 0, bz.astype(int)).astype(np.int32)])
(
    case("mmi_nd", "MatMulInteger", 10, [A, B, rng.integers(0, 9, (2, 3, 1)).astype(np.uint8)], [None])
    if 0
    else None
)
sc = np.float32(np.float32(0.01) * np.float32(0.02) / np.float32(0.03))
case(
    "qlmm",
    "QLinearMatMul",
    10,
    [A, np.float32(0.01), np.uint8(3), B, np.float32(0.02), np.int8(1), np.float32(0.03), np.uint8(99)],
    [np.clip(np.rint(mm(A, B, 3, 1) * sc) + 99, 0, 255).astype(np.uint8)],
)
# --- losses
xl = floats(3, 5, 2, 4)
t = rng.integers(0, 5, (3, 2, 4))
w = np.abs(floats(5)) + 0.1


def nll(x, t, w=None, ig=None, red="mean"):
    n = np.take_along_axis(x, np.where(t == ig, 0, t)[:, None], 1)[:, 0]
    sh = np.ones(t.shape) if w is None else w[np.where(t == ig, 0, t)]
    sh = np.where(t == ig, 0, sh) if ig is not None else sh
    L = -n * sh
    return (L if red == "none" else L.sum() if red == "sum" else L.sum() / sh.sum()).astype(np.float32)


t2 = t.copy()
t2[0, 0, :] = -100
t3 = t.astype(np.int32)
for red in ("none", "sum", "mean"):
    for W in (None, w):
        for T, ig in ((t, None), (t2, -100), (t, 2), (t3, 1)):
            a = dict(reduction=red)
            if ig is not None:
                a["ignore_index"] = ig
            case(
                f"nll{red}{W is None}{ig}",
                "NegativeLogLikelihoodLoss",
                13,
                [xl, T, W],
                [nll(xl, T, W, ig, red)],
                a,
            )
            lp = xl - np.log(np.exp(xl).sum(1, keepdims=True))
            case(
                f"sce{red}{W is None}{ig}",
                "SoftmaxCrossEntropyLoss",
                13,
                [xl, T, W],
                [nll(lp, T, W, ig, red), lp],
                a,
            )
case("nll2", "NegativeLogLikelihoodLoss", 12, [xl[:, :, 0, 0], t[:, 0, 0]], [nll(xl[:, :, 0, 0], t[:, 0, 0])])
# --- Det
for sh in ((2, 2), (3, 3), (1, 1), (2, 3, 4, 4), (5, 6, 6)):
    d = floats(*sh)
    case(
        f"det{sh}",
        "Det",
        11,
        [d],
        [np.asarray(np.linalg.det(d.astype(np.float64)), np.float32)],
        rtol=1e-3,
        atol=1e-4,
    )
sg = np.array([[0, 1, 2], [1, 0, 3], [4, -3, 8]], np.float32)
case("detp", "Det", 22, [sg], [np.asarray(np.linalg.det(sg), np.float32)], rtol=1e-3, atol=1e-3)
sg = np.array([[1, 2, 3], [2, 4, 6], [1, 1, 1]], np.float32)
case("dets", "Det", 22, [sg], [np.asarray(0, np.float32)], atol=1e-4)
# --- signal
xr = floats(2, 7, 3, 1)
cx = lambda z: np.stack([z.real, z.imag], -1).astype(np.float32)
for ax in (0, 1, 2):
    case(f"dft17_{ax}", "DFT", 17, [xr], [cx(np.fft.fft(xr[..., 0], axis=ax))], dict(axis=ax), atol=1e-4)
    case(
        f"dft20_{ax}",
        "DFT",
        20,
        [xr, None, np.array(ax)],
        [cx(np.fft.fft(xr[..., 0], axis=ax))],
        const=(2,),
        atol=1e-4,
    )
    case(
        f"rfft_{ax}",
        "DFT",
        20,
        [xr, None, np.array(ax - 4)],
        [cx(np.fft.rfft(xr[..., 0], axis=ax))],
        dict(onesided=1),
        const=(2,),
        atol=1e-4,
    )
    xc = floats(2, 7, 3, 2)
    zc = xc[..., 0] + 1j * xc[..., 1]
    case(
        f"cfft_{ax}",
        "DFT",
        20,
        [xc, None, np.array(ax)],
        [cx(np.fft.fft(zc, axis=ax))],
        const=(2,),
        atol=1e-4,
    )
    case(f"ifft_{ax}", "DFT", 17, [xc], [cx(np.fft.ifft(zc, axis=ax))], dict(axis=ax, inverse=1), atol=1e-4)
    for n in (4, 9):
        case(
            f"fftn_{ax}{n}",
            "DFT",
            20,
            [xc, np.array(n), np.array(ax)],
            [cx(np.fft.fft(zc, n, axis=ax))],
            const=(1, 2),
            atol=1e-4,
        )
        case(
            f"irfft_{ax}{n}",
            "DFT",
            20,
            [xc, np.array(n), np.array(ax)],
            [np.fft.irfft(zc, n, axis=ax)[..., None].astype(np.float32)],
            dict(onesided=1, inverse=1),
            const=(1, 2),
            atol=1e-4,
        )
    if ax:
        case(
            f"irfft_{ax}",
            "DFT",
            20,
            [xc, None, np.array(ax)],
            [np.fft.irfft(zc, axis=ax)[..., None].astype(np.float32)],
            dict(onesided=1, inverse=1),
            const=(2,),
            atol=1e-4,
        )
case("dftdefault", "DFT", 20, [xr], [cx(np.fft.fft(xr[..., 0], axis=2))], atol=1e-4)
sgn = floats(2, 40, 1)
wn = np.hanning(16).astype(np.float32)


def stft(s, step, L, w, one):
    fr = [(s[:, i : i + L] * (1 if w is None else w)) for i in range(0, s.shape[1] - L + 1, step)]
    z = np.stack([np.fft.rfft(g, axis=1) if one else np.fft.fft(g, axis=1) for g in fr], 1)
    return cx(z)


for one in (0, 1):
    case(
        f"stft{one}",
        "STFT",
        17,
        [sgn, np.array(6), wn],
        [stft(sgn[..., 0], 6, 16, wn, one)],
        dict(onesided=one),
        const=(1,),
        atol=1e-4,
    )
    case(
        f"stftf{one}",
        "STFT",
        17,
        [sgn, np.array(7), None, np.array(12)],
        [stft(sgn[..., 0], 7, 12, None, one)],
        dict(onesided=one),
        const=(1, 3),
        atol=1e-4,
    )
sc2 = floats(2, 40, 2)
case(
    "stftc",
    "STFT",
    17,
    [sc2, np.array(8), wn, np.array(16)],
    [stft(sc2[..., 0] + 1j * sc2[..., 1], 8, 16, wn, 0)],
    dict(onesided=0),
    const=(1, 3),
    atol=1e-4,
)
for per in (0, 1):
    n = np.arange(10)
    N = 10 if per else 9
    for nm, a, b_, c_ in (
        ("Hann", 0.5, 0.5, 0),
        ("Hamming", 25 / 46, 21 / 46, 0),
        ("Blackman", 0.42, 0.5, 0.08),
    ):
        y = a - b_ * np.cos(2 * np.pi * n / N) + c_ * np.cos(4 * np.pi * n / N)
        case(
            f"{nm}{per}",
            nm + "Window",
            17,
            [np.array(10, np.int32)],
            [y.astype(np.float32)],
            dict(periodic=per),
            const=(0,),
        )
        case(
            f"{nm}{per}d",
            nm + "Window",
            17,
            [np.array(10)],
            [y],
            dict(periodic=per, output_datatype=11),
            const=(0,),
        )
