"""Resizing, and reading images between their elements."""

import math

import numpy as np
from one_node import case

rng = np.random.default_rng(2)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def coord(mode, xr, scale, n, out, length, roi):
    if mode == "align_corners":
        return 0 if length == 1 else xr * (n - 1) / (length - 1)
    if mode == "asymmetric":
        return xr / scale
    if mode == "tf_half_pixel_for_nn":
        return (xr + 0.5) / scale
    if mode == "tf_crop_and_resize":
        return (
            roi[0] * (n - 1) + xr * (roi[1] - roi[0]) * (n - 1) / (length - 1)
            if length > 1
            else 0.5 * (roi[0] + roi[1]) * (n - 1)
        )
    if mode == "pytorch_half_pixel":
        return (xr + 0.5) / scale - 0.5 if length > 1 else 0
    off = 0
    if mode == "half_pixel_symmetric":
        adj = out / length
        off = n / 2 * (1 - adj)
    return off + (xr + 0.5) / scale - 0.5


def near(m, v):
    return {
        "round_prefer_floor": math.ceil(v - 0.5),
        "round_prefer_ceil": math.floor(v + 0.5),
        "floor": math.floor(v),
        "ceil": math.ceil(v),
    }[m]


def rs1(
    x,
    axis,
    scale,
    out,
    length,
    mode="nearest",
    cm="half_pixel",
    nm="round_prefer_floor",
    A=-0.75,
    ex=False,
    aa=False,
    roi=(0, 1),
    extra=0.0,
):
    n = x.shape[axis]
    x = np.moveaxis(x, axis, -1).astype(np.float64)
    y = np.zeros(x.shape[:-1] + (out,))
    for o in range(out):
        p = coord(cm, o, scale, n, out, length, roi)
        if cm == "tf_crop_and_resize" and (p < 0 or p > n - 1):
            y[..., o] = np.nan
            continue
        if mode == "nearest":
            y[..., o] = x[..., min(max(near(nm, p), 0), n - 1)]
            continue
        st = min(scale, 1) if aa else 1

        def w(t):
            t = abs(t * st)
            if mode == "linear":
                return max(0, 1 - t)
            return (
                (A + 2) * t**3 - (A + 3) * t**2 + 1
                if t <= 1
                else A * t**3 - 5 * A * t * t + 8 * A * t - 4 * A if t < 2 else 0
            )

        r = math.ceil((1 if mode == "linear" else 2) / st) + 1
        ix = range(math.floor(p) - r, math.floor(p) + r + 1)
        ws = np.array([w(i - p) for i in ix], float)
        if ex:
            ws = np.array([a if 0 <= i < n else 0 for a, i in zip(ws, ix)], float)
        ws /= ws.sum()
        y[..., o] = sum(a * x[..., min(max(i, 0), n - 1)] for a, i in zip(ws, ix))
    return np.moveaxis(y, -1, axis)


def rs(x, scales=None, sizes=None, roi=None, extra=0.0, axes=None, pol=None, **kw):
    axes = list(range(x.ndim)) if axes is None else axes
    y = x.astype(np.float64)
    if pol:
        s = (min if pol == "not_larger" else max)(sizes[i] / x.shape[a] for i, a in enumerate(axes))
        scales = [s] * len(axes)
        sizes = [math.floor(s * x.shape[a] + 0.5) for a in axes]
    for i, a in enumerate(axes):
        n = x.shape[a]
        sc = scales[i] if scales is not None else sizes[i] / n
        rr = (0, 1) if roi is None else (roi[i], roi[i + len(axes)])
        out = sizes[i] if sizes is not None else math.floor(n * sc)  # the region decides no size
        L = n * sc if scales is not None else out
        y = rs1(y, a, sc, out, L, roi=rr, **kw)
    return np.where(np.isnan(y), extra, y).astype(x.dtype)


x = floats(1, 2, 5, 6)
CM = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]
for mode in ("nearest", "linear", "cubic"):
    for cm in CM:
        for tag, kw in (
            ("up", dict(scales=[1, 1, 2.0, 3.0])),
            ("fr", dict(scales=[1, 1, 1.6, 0.7])),
            ("sz", dict(sizes=[1, 2, 8, 4])),
            ("dn", dict(sizes=[1, 2, 1, 2])),
        ):
            for nm in (
                ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
                if mode == "nearest" and tag in ("up", "sz")
                else ["round_prefer_floor"]
            ):
                sc = np.array(kw["scales"], np.float32) if "scales" in kw else None
                sz = np.array(kw["sizes"]) if "sizes" in kw else None
                if sc is not None:
                    kw = dict(scales=[float(v) for v in sc])
                a = dict(mode=mode, coordinate_transformation_mode=cm, nearest_mode=nm)
                case(
                    f"rs_{mode}_{cm}_{tag}_{nm}",
                    "Resize",
                    19,
                    [x, None, sc, sz],
                    [rs(x, mode=mode, cm=cm, nm=nm, **kw)],
                    a,
                    const=(2, 3),
                )
for mode in ("linear", "cubic"):
    for ex in (0, 1):
        for tag, kw in (
            ("aa1", dict(scales=[1, 1, 0.5, 0.4])),
            ("aa2", dict(sizes=[1, 2, 3, 2])),
            ("aaup", dict(sizes=[1, 2, 7, 9])),
        ):
            sc = np.array(kw["scales"], np.float32) if "scales" in kw else None
            sz = np.array(kw["sizes"]) if "sizes" in kw else None
            if sc is not None:
                kw = dict(scales=[float(v) for v in sc])
            for aa in (0, 1):
                case(
                    f"rs_{mode}{ex}{tag}{aa}",
                    "Resize",
                    18,
                    [x, None, sc, sz],
                    [rs(x, mode=mode, ex=ex, aa=aa, A=-0.5, **kw)],
                    dict(mode=mode, antialias=aa, exclude_outside=ex, cubic_coeff_a=-0.5),
                    const=(2, 3),
                )
roi = np.array([0, 0, 0.2, -0.1, 1, 1, 0.7, 1.2], np.float32)
for mode in ("nearest", "linear", "cubic"):
    for con in ((1, 3), (3,)):
        case(
            f"rs_crop{mode}{con}",
            "Resize",
            13,
            [x, roi, None, np.array([1, 2, 4, 7])],
            [
                rs(
                    x,
                    sizes=[1, 2, 4, 7],
                    roi=[float(v) for v in roi],
                    mode=mode,
                    cm="tf_crop_and_resize",
                    extra=10.0,
                )
            ],
            dict(mode=mode, coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=10.0),
            const=con,
        )
    case(
        f"rs_crop_scales{mode}",
        "Resize",
        13,
        [x, roi, np.array([1, 1, 1.5, 0.5], np.float32)],
        [
            rs(
                x,
                scales=[1, 1, 1.5, 0.5],
                roi=[float(v) for v in roi],
                mode=mode,
                cm="tf_crop_and_resize",
                extra=10.0,
            )
        ],
        dict(mode=mode, coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=10.0),
        const=(1, 2),
    )
    case(
        f"rs_axes{mode}",
        "Resize",
        19,
        [x, None, None, np.array([3, 7])],
        [rs(x, sizes=[3, 7], axes=[3, 2], mode=mode)],
        dict(mode=mode, axes=[3, 2]),
        const=(3,),
    )
    for pol in ("not_larger", "not_smaller"):
        case(
            f"rs_{pol}{mode}",
            "Resize",
            19,
            [x, None, None, np.array([7, 7])],
            [rs(x, sizes=[7, 7], axes=[2, 3], pol=pol, mode=mode)],
            dict(mode=mode, axes=[2, 3], keep_aspect_ratio_policy=pol),
            const=(3,),
        )
case(
    "rs11nn",
    "Resize",
    11,
    [x, np.zeros(0, np.float32), np.zeros(0, np.float32), np.array([1, 2, 7, 9])],
    [rs(x, sizes=[1, 2, 7, 9], cm="tf_half_pixel_for_nn", nm="floor")],
    dict(coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="floor"),
    const=(1, 2, 3),
)
case("up9", "Upsample", 9, [x, np.array([1, 1, 2, 3], np.float32)], [x.repeat(2, 2).repeat(3, 3)], const=(1,))
case("up7", "Upsample", 7, [x], [x.repeat(2, 2).repeat(3, 3)], dict(scales=[1.0, 1.0, 2.0, 3.0]))
case(
    "up9lin",
    "Upsample",
    9,
    [x, np.array([1, 1, 2, 2], np.float32)],
    [rs(x, scales=[1, 1, 2, 2], mode="linear", cm="asymmetric")],
    dict(mode="linear"),
    const=(1,),
)
case(
    "rs10",
    "Resize",
    10,
    [x, np.array([1, 1, 0.5, 0.8], np.float32)],
    [rs(x, scales=[1, 1, 0.5, float(np.float32(0.8))], cm="asymmetric", nm="floor")],
    const=(1,),
)
u = rng.integers(0, 255, (1, 1, 3, 4)).astype(np.uint8)
case(
    "rsu8",
    "Resize",
    19,
    [u, None, np.array([1, 1, 2, 2], np.float32)],
    [u.repeat(2, 2).repeat(2, 3)],
    const=(2,),
)


# --- GridSample
def refl(v, lo, hi):
    rg = hi - lo
    if v < lo:
        dx = lo - v
        n = int(dx / rg)
        r = dx - n * rg
        return lo + r if n % 2 == 0 else hi - r
    if v > hi:
        dx = v - hi
        n = int(dx / rg)
        r = dx - n * rg
        return hi - r if n % 2 == 0 else lo + r
    return v


def gs(X, G, mode, pm, ac):
    r = X.ndim - 2
    sp = X.shape[2:]
    out = np.zeros(X.shape[:2] + G.shape[1:-1])
    lo = [0 if ac else -0.5] * r
    hi = [s - 1 if ac else s - 0.5 for s in sp]

    def pix(im, q):
        q = list(q)
        for i in range(r):
            if pm == "border":
                q[i] = min(max(q[i], 0), sp[i] - 1)
            elif pm == "reflection":
                q[i] = int(refl(q[i], lo[i], hi[i]))
            elif not 0 <= q[i] < sp[i]:
                return 0.0
        return im[tuple(q)]

    A = -0.75

    def cw(t):
        return [
            ((A * (t + 1) - 5 * A) * (t + 1) + 8 * A) * (t + 1) - 4 * A,
            ((A + 2) * t - (A + 3)) * t * t + 1,
            ((A + 2) * (1 - t) - (A + 3)) * (1 - t) ** 2 + 1,
            ((A * (2 - t) - 5 * A) * (2 - t) + 8 * A) * (2 - t) - 4 * A,
        ]

    for n in range(X.shape[0]):
        for at in np.ndindex(*G.shape[1:-1]):
            g = G[(n,) + at][::-1]
            p = [(float(v) + 1) / 2 * (s - 1) if ac else ((float(v) + 1) * s - 1) / 2 for v, s in zip(g, sp)]
            if mode == "nearest":
                p = [float(np.rint(v)) for v in p]
            for i in range(r):
                if p[i] < lo[i] or p[i] > hi[i]:
                    if pm == "border" and mode != "cubic":  # there each of the four elements stops by itself
                        p[i] = min(max(p[i], 0), sp[i] - 1)
                    elif pm == "reflection":
                        p[i] = refl(p[i], lo[i], hi[i])
            for c in range(X.shape[1]):
                im = X[n, c]
                if mode == "nearest":
                    v = pix(im, [int(q) for q in p])
                else:
                    k, o = (2, 0) if mode == "linear" else (4, 1)
                    fl = [math.floor(q) for q in p]
                    v = 0
                    W = [[1 - (q - a), q - a] if mode == "linear" else cw(q - a) for q, a in zip(p, fl)]
                    for t in np.ndindex(*[k] * r):
                        v += np.prod([W[i][t[i]] for i in range(r)]) * pix(
                            im, [fl[i] + t[i] - o for i in range(r)]
                        )
                out[(n, c) + at] = v
    return out.astype(np.float32)


X = floats(2, 2, 4, 5)
G = (rng.random((2, 3, 6, 2)) * 3.6 - 1.8).astype(np.float32)
G[1, 2] *= 40
X3 = floats(1, 2, 3, 4, 3)
G3 = (rng.random((1, 2, 3, 2, 3)) * 3.6 - 1.8).astype(np.float32)
for pm in ("zeros", "border", "reflection"):
    for ac in (0, 1):
        for mode in ("linear", "nearest", "cubic"):
            case(
                f"gs_{mode}_{pm}_{ac}",
                "GridSample",
                20,
                [X, G],
                [gs(X, G, mode, pm, ac)],
                dict(mode=mode, padding_mode=pm, align_corners=ac),
                atol=1e-4,
            )
            if mode != "cubic":
                case(
                    f"gs3_{mode}_{pm}_{ac}",
                    "GridSample",
                    22,
                    [X3, G3],
                    [gs(X3, G3, mode, pm, ac)],
                    dict(mode=mode, padding_mode=pm, align_corners=ac),
                    atol=1e-4,
                )
        case(
            f"gs16_{pm}_{ac}",
            "GridSample",
            16,
            [X, G],
            [gs(X, G, "linear", pm, ac)],
            dict(padding_mode=pm, align_corners=ac),
            atol=1e-4,
        )
        case(
            f"gs16c_{pm}_{ac}",
            "GridSample",
            16,
            [X, G],
            [gs(X, G, "cubic", pm, ac)],
            dict(mode="bicubic", padding_mode=pm, align_corners=ac),
            atol=1e-4,
        )


# --- AffineGrid
def ag(th, size, ac):
    sp = size[2:]
    ax = [np.linspace(-1, 1, s) if ac and s > 1 else (np.arange(s) * 2 + 1) / s - 1 for s in sp]
    g = np.stack(list(np.meshgrid(*ax, indexing="ij"))[::-1] + [np.ones(sp)], -1)
    return np.einsum("nij,...j->n...i", th, g).astype(np.float32)


for ac in (0, 1):
    t = floats(2, 2, 3)
    case(
        f"ag2{ac}",
        "AffineGrid",
        20,
        [t, np.array([2, 3, 4, 5])],
        [ag(t, [2, 3, 4, 5], ac)],
        dict(align_corners=ac),
        const=(1,),
    )
    t = floats(2, 2, 3)
    for size in ([2, 3, 1, 3], [2, 1, 1, 1]):
        case(f"ag2{ac}{size}", "AffineGrid", 20, [t, np.array(size)], [ag(t, size, ac)], dict(align_corners=ac), const=(1,))
    t = floats(1, 3, 4)
    case(
        f"ag3{ac}",
        "AffineGrid",
        20,
        [t, np.array([1, 1, 2, 3, 4])],
        [ag(t, [1, 1, 2, 3, 4], ac)],
        dict(align_corners=ac),
        const=(1,),
    )


# --- RoiAlign
def ra(X, rois, bi, oh, ow, sr, ss, half, mode):
    H, W = X.shape[2:]
    out = np.zeros((len(rois), X.shape[1], oh, ow))
    o = 0.5 if half else 0
    for k, (x1, y1, x2, y2) in enumerate(rois.astype(float)):
        x1, y1, x2, y2 = [v * ss - o for v in (x1, y1, x2, y2)]
        rw, rh = x2 - x1, y2 - y1
        if not half:
            rw, rh = max(rw, 1), max(rh, 1)
        bh, bw = rh / oh, rw / ow
        gh = sr if sr > 0 else math.ceil(rh / oh)
        gw = sr if sr > 0 else math.ceil(rw / ow)
        for c, i, j in np.ndindex(X.shape[1], oh, ow):
            vals = []
            for a, b in np.ndindex(gh, gw):
                y = y1 + i * bh + (a + 0.5) * bh / gh
                x = x1 + j * bw + (b + 0.5) * bw / gw
                if y < -1 or y > H or x < -1 or x > W:
                    vals.append(0)
                    continue
                y = max(y, 0)
                x = max(x, 0)
                yl, xl = int(y), int(x)
                if yl >= H - 1:
                    yh = yl = H - 1
                    y = yl
                else:
                    yh = yl + 1
                if xl >= W - 1:
                    xh = xl = W - 1
                    x = xl
                else:
                    xh = xl + 1
                ly, lx = y - yl, x - xl
                im = X[bi[k], c]
                tt = [
                    (1 - ly) * (1 - lx) * im[yl, xl],
                    (1 - ly) * lx * im[yl, xh],
                    ly * (1 - lx) * im[yh, xl],
                    ly * lx * im[yh, xh],
                ]
                vals.append(sum(tt) if mode == "avg" else max(tt))
            out[k, c, i, j] = sum(vals) / max(gh * gw, 1) if mode == "avg" else max(vals)
    return out.astype(np.float32)


X = floats(2, 2, 6, 7)
rois = np.array([[0, 0, 5, 4], [1.5, 2, 6.5, 5.5], [-2, -3, 9, 8], [3, 3, 3.2, 3.1]], np.float32)
bi = np.array([0, 1, 1, 0])
far = np.array([[-70, -3, 90, 8], [1, -60, 3, 4], [60, 60, 90, 90], [0, 0, 5, 4]], np.float32)  # samples beside x
for half in (0, 1):
    for sr in (1, 2, 3, 0):
        for mode in ("avg", "max"):
            for where, regions in (("", rois), (" far", far)):
                for const in ((), (1,)) if sr == 0 else ((),):
                    case(
                        f"roi{half}{sr}{mode}{where}{const}",
                        "RoiAlign",
                        16,
                        [X, regions, bi],
                        [ra(X, regions, bi, 3, 2, sr, 0.75, half, mode)],
                        dict(
                            output_height=3,
                            output_width=2,
                            sampling_ratio=sr,
                            spatial_scale=0.75,
                            mode=mode,
                            coordinate_transformation_mode="half_pixel" if half else "output_half_pixel",
                        ),
                        const=const,
                        atol=1e-4,
                    )
case(
    "roi10",
    "RoiAlign",
    10,
    [X, rois, bi],
    [ra(X, rois, bi, 3, 2, 2, 1.0, 0, "avg")],
    dict(output_height=3, output_width=2, sampling_ratio=2),
    atol=1e-4,
)


# --- MaxRoiPool
def max_roi_pool(x, regions, size, scale):
    away = lambda v: np.sign(v) * np.floor(np.abs(v) + 0.5)  # noqa: E731: halves away from 0
    out = np.zeros((len(regions), x.shape[1], *size), x.dtype)
    for r, region in enumerate(regions):
        corners = away(region[1:].astype(np.float64) * scale)
        spans = []
        for low, high, bins, last in ((corners[1], corners[3], size[0], x.shape[2]),
                                      (corners[0], corners[2], size[1], x.shape[3])):
            bin_size = np.float32(max(high - low + 1, 1)) / np.float32(bins)
            ends = [(np.floor(i * bin_size) + low, np.ceil((i + 1) * bin_size) + low) for i in range(bins)]
            spans.append([tuple(int(min(max(v, 0), last)) for v in ends[i]) for i in range(bins)])
        for i, j in np.ndindex(*size):
            part = x[int(region[0]), :, slice(*spans[0][i]), slice(*spans[1][j])]
            out[r, :, i, j] = part.max((1, 2)) if part.size else 0
    return out


pooled_rois = np.array([[0, 0, 0, 5, 4], [1, 1.5, 2.5, 6.5, 5.5], [1, -2, -3, 9, 8], [0, 3, 3, 3, 3], [0, 40, 40, 50, 50],
                        [0, 5, 4, 1, 1]], np.float32)
for dtype in (np.float32, np.float16, np.float64):
    for scale in (1.0, 0.5):
        case(f"maxroipool {np.dtype(dtype).name} {scale}", "MaxRoiPool", 9, [X.astype(dtype), pooled_rois.astype(dtype)],
             [max_roi_pool(X.astype(dtype), pooled_rois, (3, 2), scale)],
             dict(pooled_shape=[3, 2], spatial_scale=scale), 0, 0)
