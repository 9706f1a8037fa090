"""Results as large as the values of the operands say, and recurrent layers with many steps."""
import numpy as np
from one_node import case

rng = np.random.default_rng(3)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


# ---- NonZero and Compress
sparse = (rng.integers(-1, 2, (4, 5, 3)) * rng.integers(0, 2, (4, 5, 3))).astype(np.int32)
case("nonzero 3d", "NonZero", 13, [sparse], [np.array(np.nonzero(sparse), np.int64)])
case("nonzero none", "NonZero", 13, [np.zeros((3, 2), np.float32)], [np.zeros((2, 0), np.int64)])
case("nonzero all", "NonZero", 9, [np.ones(7, bool)], [np.arange(7)[None]])
case("nonzero scalar", "NonZero", 13, [np.float32(3)], [np.zeros((0, 1), np.int64)])
case("nonzero constant", "NonZero", 13, [sparse], [np.array(np.nonzero(sparse), np.int64)], const=(0,))
x = floats(4, 6, 2)
chosen = np.array([0, 1, 1, 0, 1], bool)
case("compress axis", "Compress", 11, [x, chosen], [x[:, [1, 2, 4]]], {"axis": 1})
case("compress negative axis", "Compress", 11, [x, np.array([0, 1], bool)], [x[..., 1:]], {"axis": -1})
case("compress flat", "Compress", 9, [x, chosen], [x.reshape(-1)[[1, 2, 4]]])
case("compress known", "Compress", 9, [x, chosen], [x.reshape(-1)[[1, 2, 4]]], const=(1,))
case("compress none", "Compress", 11, [x, np.zeros(4, bool)], [x[:0]], {"axis": 0})


# ---- Unique
def unique(name, x, axis=None, isSorted=1):
    flat = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    rows = [tuple(np.atleast_1d(r).reshape(-1).tolist()) for r in flat]
    first = {}
    for i, r in enumerate(rows):
        first.setdefault(r, i)
    kinds = sorted(first) if isSorted else list(first)
    at = [first[k] for k in kinds]
    inverse = [kinds.index(r) for r in rows]
    y = flat[at] if axis is None else np.moveaxis(flat[at], 0, axis)
    counts = [inverse.count(i) for i in range(len(kinds))]
    attributes = {"sorted": isSorted} if axis is None else {"sorted": isSorted, "axis": axis}
    case(name, "Unique", 11, [x], [y, *(np.array(v, np.int64) for v in (at, inverse, counts))], attributes)


repeated = rng.integers(-2, 3, (5, 4, 2)).astype(np.float32)
for isSorted in (0, 1):
    unique(f"unique flat sorted={isSorted}", repeated, None, isSorted)
    unique(f"unique rows sorted={isSorted}", rng.integers(0, 2, (9, 3)).astype(np.int64), 0, isSorted)
    unique(f"unique columns sorted={isSorted}", rng.integers(0, 2, (2, 7, 2)).astype(np.uint8), -2, isSorted)
unique("unique bools", rng.integers(0, 2, 6).astype(bool))


# ---- NonMaxSuppression
def suppressed(boxes, scores, most, overlap, least, isCenter):
    def corners(b):
        if isCenter:
            return b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2
        return min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])

    def iou(a, b):
        h, w = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
        if h <= 0 or w <= 0:
            return 0
        return h * w / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - h * w)

    found = []
    for batch, kind in np.ndindex(*scores.shape[:2]):
        kept = []
        for i in np.argsort(-scores[batch, kind], kind="stable"):
            if scores[batch, kind, i] <= least or len(kept) >= most:
                continue
            box = corners(boxes[batch, i])
            if all(iou(box, corners(boxes[batch, k])) <= overlap for k in kept):
                kept.append(i)
        found += [(batch, kind, k) for k in kept]
    return np.array(found, np.int64).reshape(-1, 3)


boxes = rng.uniform(0, 1, (2, 12, 4)).astype(np.float32)
scores = rng.uniform(0, 1, (2, 3, 12)).astype(np.float32)
for isCenter in (0, 1):
    for most, const in ((4, (2,)), (4, ()), (100, ())):
        operands = [boxes, scores, np.array([most]), np.array([0.2], np.float32), np.array([0.3], np.float32)]
        want = suppressed(boxes, scores, most, 0.2, 0.3, isCenter)
        case(f"suppression center={isCenter} most={most} const={const}", "NonMaxSuppression", 11, operands, [want],
             {"center_point_box": isCenter}, const=const)
case("suppression without limit", "NonMaxSuppression", 11, [boxes, scores], [np.zeros((0, 3), np.int64)])


# ---- Recurrent layers: more steps than are laid out
def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, w, r, b, lengths, isReverse):
    steps, batch, _ = x.shape
    hidden = r.shape[-1]
    h, c, y = np.zeros((batch, hidden)), np.zeros((batch, hidden)), np.zeros((steps, batch, hidden))
    for t in reversed(range(steps)) if isReverse else range(steps):
        gates = x[t] @ w.T + h @ r.T + b[:4 * hidden] + b[4 * hidden:]
        i, o, f, g = (gates[:, k * hidden:(k + 1) * hidden] for k in range(4))
        nextC = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        nextH = sigmoid(o) * np.tanh(nextC)
        inside = (t < lengths)[:, None]
        y[t], h, c = nextH * inside, np.where(inside, nextH, h), np.where(inside, nextC, c)
    return y, h, c


x, w, r, b = floats(40, 3, 5), floats(2, 16, 5) / 3, floats(2, 16, 4) / 3, floats(2, 32) / 3
lengths = np.array([40, 17, 1], np.int32)
both = [lstm(x.astype(np.float64), w[d], r[d], b[d], lengths, d == 1) for d in range(2)]
wanted = [np.stack(part, 1 if k == 0 else 0).astype(np.float32) for k, part in enumerate(zip(*both))]
case("lstm 40 steps both ways", "LSTM", 14, [x, w, r, b, lengths], wanted, {"hidden_size": 4, "direction": "bidirectional"})
whole = lstm(x.astype(np.float64), w[0], r[0], b[0], np.array([40] * 3), True)
wanted = [whole[0][:, None], whole[1][None], whole[2][None]]
case("lstm 40 steps backward", "LSTM", 7, [x, w[:1], r[:1], b[:1]], [a.astype(np.float32) for a in wanted],
     {"hidden_size": 4, "direction": "reverse"})


def gru(x, w, r):
    steps, batch, _ = x.shape
    hidden = r.shape[-1]
    h, y = np.zeros((batch, hidden)), []
    for t in range(steps):
        gx, n = x[t] @ w.T, hidden
        zr = sigmoid(gx[:, :2 * n] + h @ r[:2 * n].T)
        candidate = np.tanh(gx[:, 2 * n:] + (zr[:, n:] * h) @ r[2 * n:].T)
        h = (1 - zr[:, :n]) * candidate + zr[:, :n] * h
        y.append(h)
    return np.stack(y)[:, None].astype(np.float32), h[None].astype(np.float32)


w, r = floats(1, 12, 5) / 3, floats(1, 12, 4) / 3
case("gru 40 steps", "GRU", 7, [x, w, r], gru(x.astype(np.float64), w[0], r[0]), {"hidden_size": 4})
