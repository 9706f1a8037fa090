"""Pooling and convolutions by their sums over windows."""

import math

import numpy as np
from one_node import case

rng = np.random.default_rng(0)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


# ---- windows
def geom(x, k, s, d, pads, ceil=False):
    r = len(k)
    out = []
    for i in range(r):
        room = x.shape[2 + i] + pads[i] + pads[r + i] - d[i] * (k[i] - 1) - 1
        c = (-(-room // s[i]) if ceil else room // s[i]) + 1
        if ceil and (c - 1) * s[i] >= x.shape[2 + i] + pads[i]:
            c -= 1
        out.append(c)
    return out


def pool(x, k, s=None, d=None, pads=None, ceil=False, mode="max", include=False, p=2, order=0):
    r = len(k)
    s = s or [1] * r
    d = d or [1] * r
    pads = pads or [0] * 2 * r
    o = geom(x, k, s, d, pads, ceil)
    y = np.zeros(x.shape[:2] + tuple(o))
    I = np.zeros(y.shape, np.int64)
    sp = x.shape[2:]
    for n, c in np.ndindex(*x.shape[:2]):
        for at in np.ndindex(*o):
            vals = []
            idx = []
            cnt = 0
            for t in np.ndindex(*k):
                q = [at[i] * s[i] + t[i] * d[i] - pads[i] for i in range(r)]
                ins = all(0 <= q[i] < sp[i] for i in range(r))
                pad = all(q[i] < sp[i] + pads[r + i] for i in range(r))
                if ins:
                    vals.append(x[(n, c) + tuple(q)])
                    idx.append(q)
                cnt += pad if include else ins
            if mode == "max":
                b = int(np.argmax(vals))
                y[(n, c) + at] = vals[b]
                q = idx[b]
                lin = np.ravel_multi_index(q, sp) if order == 0 else np.ravel_multi_index(q, sp, order="F")
                I[(n, c) + at] = (n * x.shape[1] + c) * int(np.prod(sp)) + lin
            elif mode == "avg":
                y[(n, c) + at] = sum(map(float, vals)) / cnt
            else:
                y[(n, c) + at] = sum(abs(float(v)) ** p for v in vals) ** (1 / p)
    return (y.astype(x.dtype), I) if mode == "max" else y.astype(x.dtype)


x = floats(2, 3, 9, 8)


def same(size, k, s, d, upper):
    o = -(-size // s)
    t = max(0, (o - 1) * s + (k - 1) * d + 1 - size)
    return (t // 2, t - t // 2) if upper else (t - t // 2, t // 2)


def samepads(x, k, s, d, up):
    a = [same(x.shape[2 + i], k[i], s[i], d[i], up) for i in range(len(k))]
    return [p[0] for p in a] + [p[1] for p in a]


for nm, k, kw in [
    ("plain", [3, 2], {}),
    ("str", [3, 3], dict(s=[2, 3])),
    ("dil", [2, 3], dict(d=[2, 2], s=[2, 1])),
    ("pad", [3, 3], dict(pads=[1, 0, 2, 1], s=[2, 2])),
    ("ceil", [3, 3], dict(s=[2, 2], ceil=True)),
    ("ceilpad", [3, 3], dict(s=[2, 3], pads=[1, 1, 1, 1], ceil=True)),
    ("ceild", [2, 2], dict(s=[3, 3], d=[2, 3], ceil=True, pads=[0, 1, 1, 0])),
]:
    a = {"kernel_shape": k}
    if "s" in kw:
        a["strides"] = kw["s"]
    if "d" in kw:
        a["dilations"] = kw["d"]
    if "pads" in kw:
        a["pads"] = kw["pads"]
    if kw.get("ceil"):
        a["ceil_mode"] = 1
    y, I = pool(x, k, **kw)
    case("max_" + nm, "MaxPool", 12, [x], [y, I], a)
    y, I = pool(x, k, order=1, **kw)
    case("maxcol_" + nm, "MaxPool", 12, [x], [y, I], dict(a, storage_order=1))
    for inc in (0, 1):
        case(
            f"avg_{nm}_{inc}",
            "AveragePool",
            19,
            [x],
            [pool(x, k, mode="avg", include=inc, **kw)],
            dict(a, count_include_pad=inc),
        )
    for p in (1, 2, 3):
        case(f"lp_{nm}_{p}", "LpPool", 18, [x], [pool(x, k, mode="lp", p=p, **kw)], dict(a, p=p))
for up in (0, 1):
    for k, s, d in [([3, 2], [2, 3], [1, 1]), ([2, 2], [1, 1], [1, 1]), ([3, 3], [2, 2], [2, 1])]:
        pads = samepads(x, k, s, d, up)
        m = "SAME_UPPER" if up else "SAME_LOWER"
        a = dict(kernel_shape=k, strides=s, auto_pad=m, dilations=d)
        case(f"max_{m}{k}{s}{d}", "MaxPool", 12, [x], [*pool(x, k, s, d, pads)], a)
        case(f"avg_{m}{k}{s}{d}", "AveragePool", 19, [x], [pool(x, k, s, d, pads, mode="avg")], a)
        w = floats(4, 3, *k)
x3 = floats(1, 2, 5, 6, 4)
case(
    "max3d",
    "MaxPool",
    12,
    [x3],
    [*pool(x3, [2, 3, 2], [2, 1, 2], [1, 2, 1])],
    dict(kernel_shape=[2, 3, 2], strides=[2, 1, 2], dilations=[1, 2, 1]),
)
case(
    "avg3d",
    "AveragePool",
    19,
    [x3],
    [pool(x3, [2, 3, 2], [2, 1, 2], [2, 2, 1], [1, 0, 1, 0, 1, 0], True, "avg", True)],
    dict(
        kernel_shape=[2, 3, 2],
        strides=[2, 1, 2],
        dilations=[2, 2, 1],
        pads=[1, 0, 1, 0, 1, 0],
        ceil_mode=1,
        count_include_pad=1,
    ),
)
u = rng.integers(0, 255, (1, 1, 5, 5)).astype(np.uint8)
case(
    "maxu8",
    "MaxPool",
    12,
    [u],
    [*pool(u, [3, 3], None, None, [1] * 4)],
    dict(kernel_shape=[3, 3], pads=[1] * 4),
)
u = np.full((1, 1, 4, 4), -128, np.int8)
case(
    "maxi8tie",
    "MaxPool",
    12,
    [u],
    [*pool(u, [3, 3], None, None, [1] * 4)],
    dict(kernel_shape=[3, 3], pads=[1] * 4),
)
case(
    "glp",
    "GlobalLpPool",
    2,
    [x],
    [(np.abs(x.astype(np.float64)) ** 3).sum((2, 3), keepdims=True).__pow__(1 / 3).astype(np.float32)],
    dict(p=3),
)


# ---- conv
def conv(x, w, b=None, s=None, d=None, pads=None, g=1):
    r = w.ndim - 2
    k = w.shape[2:]
    s = s or [1] * r
    d = d or [1] * r
    pads = pads or [0] * 2 * r
    o = geom(x, k, s, d, pads)
    xp = np.pad(x.astype(np.float64), [(0, 0), (0, 0)] + [(pads[i], pads[r + i]) for i in range(r)])
    M = w.shape[0]
    y = np.zeros((x.shape[0], M) + tuple(o))
    cg = w.shape[1]
    mg = M // g
    for m in range(M):
        gi = m // mg
        for at in np.ndindex(*o):
            sl = tuple(slice(at[i] * s[i], at[i] * s[i] + (k[i] - 1) * d[i] + 1, d[i]) for i in range(r))
            y[(slice(None), m) + at] = (
                (xp[(slice(None), slice(gi * cg, (gi + 1) * cg)) + sl] * w[m]).reshape(x.shape[0], -1).sum(1)
            )
    if b is not None:
        y += b.reshape((1, -1) + (1,) * r)
    return y


x4 = floats(2, 4, 7, 8)
for nm, ws, kw in [
    ("a", (6, 4, 3, 2), {}),
    ("g2", (6, 2, 3, 3), dict(g=2, pads=[1, 1, 1, 1])),
    ("dw", (4, 1, 3, 3), dict(g=4, s=[2, 2])),
    ("dil", (3, 4, 2, 3), dict(d=[2, 3], pads=[2, 0, 1, 3])),
]:
    w = floats(*ws)
    b = floats(ws[0])
    a = {}
    if "s" in kw:
        a["strides"] = kw["s"]
    if "d" in kw:
        a["dilations"] = kw["d"]
    if "pads" in kw:
        a["pads"] = kw["pads"]
    if "g" in kw:
        a["group"] = kw["g"]
    case("conv_" + nm, "Conv", 11, [x4, w, b], [conv(x4, w, b, **kw).astype(np.float32)], a)
    for up in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        k = list(ws[2:])
        s = kw.get("s", [1, 1])
        d = kw.get("d", [1, 1])
        p = [0] * 4 if up == "VALID" else samepads(x4, k, s, d, up == "SAME_UPPER")
        case(
            f"conv_{nm}_{up}",
            "Conv",
            1,
            [x4, w],
            [conv(x4, w, None, s, d, p, kw.get("g", 1)).astype(np.float32)],
            dict({q: v for q, v in a.items() if q != "pads"}, auto_pad=up),
        )
    xi = rng.integers(0, 255, x4.shape).astype(np.uint8)
    wi = rng.integers(0, 255, ws).astype(np.uint8)
    case(
        "convint_" + nm,
        "ConvInteger",
        10,
        [xi, wi, np.uint8(7)],
        [conv(xi.astype(int) - 7, wi.astype(int), None, **kw).astype(np.int32)],
        a,
    )
    wz = rng.integers(-3, 3, ws[0]).astype(np.int8)
    wi8 = rng.integers(-127, 127, ws).astype(np.int8)
    case(
        "convint2_" + nm,
        "ConvInteger",
        10,
        [xi, wi8, np.array([3], np.uint8), wz],
        [
            conv(
                xi.astype(int) - 3, wi8.astype(int) - wz.reshape(-1, 1, 1, 1).astype(int), None, **kw
            ).astype(np.int32)
        ],
        a,
    )
    sw = np.abs(floats(ws[0])) * 0.01
    bi = rng.integers(-99, 99, ws[0]).astype(np.int32)
    acc = conv(xi.astype(int) - 3, wi8.astype(int) - wz.reshape(-1, 1, 1, 1).astype(int), bi, **kw)
    ql = np.clip(
        np.rint(
            acc * (np.float32(0.02) * sw / np.float32(0.5)).reshape(1, -1, 1, 1).astype(np.float32)
        ).astype(int)
        + 100,
        0,
        255,
    ).astype(np.uint8)
    case(
        "qlconv_" + nm,
        "QLinearConv",
        10,
        [xi, np.float32(0.02), np.uint8(3), wi8, sw, wz, np.float32(0.5), np.uint8(100), bi],
        [ql],
        a,
    )
x1 = floats(1, 2, 9)
w1 = floats(3, 2, 4)
case("conv1d", "Conv", 11, [x1, w1], [conv(x1, w1, None, [2]).astype(np.float32)], dict(strides=[2]))
w3 = floats(3, 2, 2, 3, 2)
case(
    "conv3d",
    "Conv",
    11,
    [x3, w3],
    [conv(x3, w3, None, [2, 1, 2]).astype(np.float32)],
    dict(strides=[2, 1, 2]),
)


def convt(x, w, b=None, s=None, d=None, pads=None, g=1, op=None):
    r = w.ndim - 2
    k = w.shape[2:]
    s = s or [1] * r
    d = d or [1] * r
    pads = pads or [0] * 2 * r
    op = op or [0] * r
    full = [(x.shape[2 + i] - 1) * s[i] + (k[i] - 1) * d[i] + 1 + op[i] for i in range(r)]
    M = w.shape[1] * g
    y = np.zeros((x.shape[0], M) + tuple(full))
    cg = x.shape[1] // g
    mg = w.shape[1]
    for c in range(x.shape[1]):
        gi = c // cg
        for at in np.ndindex(*x.shape[2:]):
            for t in np.ndindex(*k):
                q = tuple(at[i] * s[i] + t[i] * d[i] for i in range(r))
                y[(slice(None), slice(gi * mg, (gi + 1) * mg)) + q] += np.outer(
                    x[(slice(None), c) + at], w[(c, slice(None)) + t]
                )
    y = y[(slice(None), slice(None)) + tuple(slice(pads[i], full[i] - pads[r + i]) for i in range(r))]
    if b is not None:
        y = y + b.reshape((1, -1) + (1,) * r)
    return y


xt = floats(1, 4, 3, 4)
for nm, ws, kw in [
    ("a", (4, 2, 3, 3), {}),
    ("s", (4, 2, 3, 2), dict(s=[2, 3])),
    ("p", (4, 3, 3, 3), dict(s=[3, 2], pads=[1, 2, 1, 2])),
    ("d", (4, 1, 2, 2), dict(d=[2, 2])),
    ("g", (4, 3, 3, 3), dict(g=2, s=[2, 2], op=[1, 1])),
]:
    w = floats(*ws)
    a = {}
    for kk, an in (
        ("s", "strides"),
        ("d", "dilations"),
        ("pads", "pads"),
        ("g", "group"),
        ("op", "output_padding"),
    ):
        if kk in kw:
            a[an] = kw[kk]
    b = floats(ws[1] * kw.get("g", 1))
    case("convt_" + nm, "ConvTranspose", 11, [xt, w, b], [convt(xt, w, b, **kw).astype(np.float32)], a)
for nm, size, ws, kw in [  # phases with more and with fewer taps, phases without any, blocks before the first result
    ("even", (3, 4), (4, 2, 4, 4), dict(s=[2, 2], pads=[1, 1, 1, 1])),
    ("short", (3, 4), (4, 2, 2, 1), dict(s=[3, 3], g=2, op=[1, 2])),
    ("long", (5, 3), (4, 3, 5, 7), dict(s=[2, 3], pads=[3, 4, 2, 5])),
    ("line", (9,), (4, 2, 5), dict(s=[3], pads=[2, 1], op=[1])),
    ("solid", (2, 3, 2), (4, 2, 2, 3, 1), dict(s=[2, 2, 1], pads=[0, 1, 0, 1, 0, 0])),
]:
    x, w, b = floats(2, 4, *size), floats(*ws), floats(ws[1] * kw.get("g", 1))
    names = {"s": "strides", "pads": "pads", "g": "group", "op": "output_padding"}
    case("convt_" + nm, "ConvTranspose", 11, [x, w, b], [convt(x, w, b, **kw).astype(np.float32)],
         {names[k]: v for k, v in kw.items()}, const=(1,))
w = floats(4, 2, 3, 3)
for os_, ap in (
    ([10, 8], None),
    ([10, 8], "SAME_UPPER"),
    ([6, 8], "SAME_LOWER"),
    (None, "SAME_UPPER"),
    (None, "SAME_LOWER"),
):
    s = [3, 2]
    tgt = os_ or [9, 8]
    tot = [s[i] * (xt.shape[2 + i] - 1) + 3 - tgt[i] for i in range(2)]
    op = [max(0, -t) for t in tot]
    tot = [max(0, t) for t in tot]
    bg = [t // 2 if ap == "SAME_UPPER" else t - t // 2 for t in tot]
    en = [t - q for t, q in zip(tot, bg)]
    a = dict(strides=s)
    if os_:
        a["output_shape"] = os_
    if ap:
        a["auto_pad"] = ap
    case(
        f"convt_os{os_}{ap}",
        "ConvTranspose",
        11,
        [xt, w],
        [convt(xt, w, None, s, None, bg + en, 1, op).astype(np.float32)],
        a,
    )


# deform: zero offsets equals conv; integral offsets equals shifted; random offsets via direct
def bil(im, y, x):
    H, W = im.shape
    y0 = math.floor(y)
    x0 = math.floor(x)
    v = 0
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        yy, xx = y0 + a, x0 + b
        if 0 <= yy < H and 0 <= xx < W:
            v += im[yy, xx] * (1 - abs(y - yy)) * (1 - abs(x - xx))
    return v


def deform(x, w, off, b, mask, s, d, p, g, og):
    N, C, H, W = x.shape
    M, cg, kh, kw = w.shape
    oh = (H + p[0] + p[2] - d[0] * (kh - 1) - 1) // s[0] + 1
    ow = (W + p[1] + p[3] - d[1] * (kw - 1) - 1) // s[1] + 1
    y = np.zeros((N, M, oh, ow))
    off = off.reshape(N, og, kh, kw, 2, oh, ow)
    mask = None if mask is None else mask.reshape(N, og, kh, kw, oh, ow)
    for n, m, i, j in np.ndindex(N, M, oh, ow):
        gi = m // (M // g)
        for cc, a, bb in np.ndindex(cg, kh, kw):
            c = gi * cg + cc
            o = c // (C // og)
            v = bil(
                x[n, c],
                i * s[0] - p[0] + a * d[0] + off[n, o, a, bb, 0, i, j],
                j * s[1] - p[1] + bb * d[1] + off[n, o, a, bb, 1, i, j],
            )
            if mask is not None:
                v *= mask[n, o, a, bb, i, j]
            y[n, m, i, j] += v * w[m, cc, a, bb]
    return y + (0 if b is None else b.reshape(1, -1, 1, 1))


xd = floats(1, 4, 5, 6)
wd = floats(4, 2, 3, 2)
oh, ow = (5 + 2 - 2 - 1) // 2 + 1, (6 + 1 - 2 - 1) // 1 + 1
off = floats(1, 2 * 3 * 2 * 2, oh, ow)
mk = floats(1, 2 * 3 * 2, oh, ow)
bd = floats(4)
case(
    "deform",
    "DeformConv",
    19,
    [xd, wd, off, bd, mk],
    [deform(xd, wd, off, bd, mk, [2, 1], [1, 2], [1, 0, 1, 1], 2, 2).astype(np.float32)],
    dict(strides=[2, 1], dilations=[1, 2], pads=[1, 0, 1, 1], group=2, offset_group=2),
)
case(
    "deform_nobias_mask",
    "DeformConv",
    22,
    [xd, wd, off, None, mk],
    [deform(xd, wd, off, None, mk, [2, 1], [1, 2], [1, 0, 1, 1], 2, 2).astype(np.float32)],
    dict(strides=[2, 1], dilations=[1, 2], pads=[1, 0, 1, 1], group=2, offset_group=2, kernel_shape=[3, 2]),
)
# unpool
yx = floats(1, 2, 2, 2)
ii = np.array([[[[5, 7], [13, 15]], [[16 + 0, 16 + 3], [16 + 9, 16 + 10]]]], np.int64)
full = np.zeros(32, np.float32)
full[ii.ravel()] = yx.ravel()
full = full.reshape(1, 2, 4, 4)
case("unpool", "MaxUnpool", 11, [yx, ii], [full], dict(kernel_shape=[2, 2], strides=[2, 2]))
f5 = np.zeros((1, 2, 5, 6), np.float32)
f5[:, :, :4, :4] = full
case(
    "unpool_os",
    "MaxUnpool",
    9,
    [yx, ii, np.array([1, 2, 5, 6])],
    [f5],
    dict(kernel_shape=[2, 2], strides=[2, 2]),
    const=(2,),
)


# col2im
def col2im(x, im, bl, s, d, p):
    r = len(im)
    N = x.shape[0]
    C = x.shape[1] // int(np.prod(bl))
    L = [(im[i] + p[i] + p[r + i] - d[i] * (bl[i] - 1) - 1) // s[i] + 1 for i in range(r)]
    x = x.reshape((N, C) + tuple(bl) + tuple(L))
    y = np.zeros((N, C) + tuple(im))
    for t in np.ndindex(*bl):
        for l in np.ndindex(*L):
            q = [l[i] * s[i] + t[i] * d[i] - p[i] for i in range(r)]
            if all(0 <= q[i] < im[i] for i in range(r)):
                y[(slice(None), slice(None)) + tuple(q)] += x[(slice(None), slice(None)) + t + l]
    return y.astype(np.float32)


for im, bl, s, d, p in (
    ([5, 6], [2, 3], [1, 2], [2, 1], [1, 0, 1, 2]),
    ([4, 5, 3], [1, 2, 3], [1, 1, 1], [1, 1, 1], [0] * 6),
    ([6], [2], [2], [1], [0, 0]),
):
    r = len(im)
    L = [(im[i] + p[i] + p[r + i] - d[i] * (bl[i] - 1) - 1) // s[i] + 1 for i in range(r)]
    xc = floats(2, 3 * int(np.prod(bl)), int(np.prod(L)))
    case(
        f"col2im{im}",
        "Col2Im",
        18,
        [xc, np.array(im), np.array(bl)],
        [col2im(xc, im, bl, s, d, p)],
        dict(strides=s, dilations=d, pads=p),
        const=(1, 2),
    )
# depth
xx = floats(2, 8, 3, 4)
dcr = xx.reshape(2, 2, 2, 2, 3, 4).transpose(0, 3, 4, 1, 5, 2).reshape(2, 2, 6, 8)
crd = xx.reshape(2, 2, 2, 2, 3, 4).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 6, 8)
case("d2s", "DepthToSpace", 1, [xx], [dcr], dict(blocksize=2))
case("d2s_crd", "DepthToSpace", 13, [xx], [crd], dict(blocksize=2, mode="CRD"))
xs = floats(1, 2, 4, 6)
case(
    "s2d",
    "SpaceToDepth",
    13,
    [xs],
    [xs.reshape(1, 2, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 8, 2, 3)],
    dict(blocksize=2),
)
# causal conv
for act in ("none", "silu", "swish"):
    for past in (0, 1):
        X = floats(2, 3, 5)
        W = floats(3, 1, 4)
        B = floats(3)
        P = floats(2, 3, 3) if past else None
        line = np.concatenate([P if past else np.zeros((2, 3, 3), np.float32), X], 2)
        y = conv(line, W, B, g=3)
        y = y if act == "none" else y / (1 + np.exp(-y))
        case(
            f"causal_{act}{past}",
            "CausalConvWithState",
            27,
            [X, W, B, P],
            [y.astype(np.float32), line[:, :, -3:]],
            dict(activation=act),
        )
        if past == 0:
            case(
                "causal_nb",
                "CausalConvWithState",
                27,
                [X, W],
                [conv(line, W, None, g=3).astype(np.float32), line[:, :, -3:]],
            )
