"""Attention and rotary embeddings of com.microsoft: projections, masks, pasts and caches."""
import math

import numpy as np
from one_node import case

rng = np.random.default_rng(9)
MS = "com.microsoft::"


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def heads(x, count):
    """[batch, length, count * size] by heads."""
    return x.reshape(*x.shape[:2], count, -1).transpose(0, 2, 1, 3)


def flat(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def softmax(x, sink=None):
    x = x.astype(np.float64)
    if sink is not None:
        x = np.concatenate([x, np.broadcast_to(sink.reshape(1, -1, 1, 1), (*x.shape[:3], 1))], -1)
    e = np.exp(x - x.max(-1, keepdims=True))
    share = e / e.sum(-1, keepdims=True)
    return share if sink is None else share[..., :-1]


def attention(q, k, v, scale=0, added=0, hidden=None, cap=0, sink=None):
    """By heads; `hidden` where a key is not seen. Heads of k and v serve several of q."""
    k, v = (np.repeat(t, q.shape[1] // t.shape[1], 1) for t in (k, v))
    scores = q.astype(np.float64) @ k.swapaxes(2, 3) * (scale or 1 / math.sqrt(q.shape[3]))
    scores = (np.tanh(scores / cap) * cap if cap else scores) + added
    if hidden is not None:
        scores = np.where(hidden, -3.4e38, scores)
    share = softmax(scores, sink)
    return share @ v, share


def f32(*arrays):
    return [None if a is None else np.asarray(a).astype(np.float32) for a in arrays]


def future(queries, keys, past):
    return np.arange(keys)[None] > np.arange(queries)[:, None] + past


# --- Attention: one product for q, k and v
B, S, N, D, WIDE = 2, 5, 2, 4, 6
H = N * D
x, w, b = floats(B, S, WIDE), floats(WIDE, 3 * H), floats(3 * H)
lengths = np.int32([3, 5])
ends = np.int32([4, 5, 1, 0])
keys2 = np.int32([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]])
keys3 = (rng.random((B, S, S)) < 0.7).astype(np.int32)
keys3[:, :, 0] = 1
at = np.arange(S)
MASKS = {"none": (None, 0), "lengths": (lengths, at < lengths[:, None, None, None]),
         "ends": (ends, (at < ends[:2, None, None, None]) & (at >= ends[2:, None, None, None])),
         "keys": (keys2, keys2[:, None, None] > 0), "queries": (keys3, keys3[:, None] > 0)}
bias4 = floats(B, N, S, S)


def project(x, w, b, wide=H):
    parts = np.split(x.astype(np.float64) @ w + b, [wide, 2 * wide], -1)
    return [heads(p, N) for p in parts]


for name, (mask, seen) in MASKS.items():
    for causal in (0, 1):
        for scale in (0.0, 0.7):
            if scale and name != "keys":
                continue
            q, k, v = project(x, w, b)
            added = 0 if mask is None else np.where(seen, 0, -10000.0)
            y = attention(q, k, v, scale, added, future(S, S, 0) if causal else None)[0]
            attributes = dict(num_heads=N, unidirectional=causal, **(dict(scale=scale) if scale else {}))
            case(f"contrib attention {name} {causal} {scale}", MS + "Attention", 1, [x, w, b, mask], f32(flat(y)), attributes)
q, k, v = project(x, w, b)
case("contrib attention bias", MS + "Attention", 1, [x, w, b, None, None, bias4], f32(flat(attention(q, k, v, 0, bias4)[0])),
     dict(num_heads=N))
added = np.where(keys2[:, None, None] > 0, 0, -500.0)
case("contrib attention filter bias", MS + "Attention", 1, [x, w, b, keys2, None, bias4[:1, :1]],
     f32(flat(attention(q, k, v, 0, added + bias4[:1, :1])[0])), dict(num_heads=N, mask_filter_value=-500.0))
wv = floats(WIDE, 2 * H + 6)
q, k, v = (heads(p, N) for p in np.split(x.astype(np.float64) @ wv, [H, 2 * H], -1))
case("contrib attention sizes", MS + "Attention", 1, [x, wv], f32(flat(attention(q, k, v)[0])),
     dict(num_heads=N, qkv_hidden_sizes=[H, H, 6]))
for P in (0, 3):
    past = floats(2, B, N, P, D)
    keys = (rng.random((B, P + S)) < 0.8).astype(np.int32)
    keys[:, -1] = 1
    for causal, mask in ((0, None), (1, None), (1, keys)):
        q, k, v = project(x, w, b)
        k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
        added = 0 if mask is None else np.where(mask[:, None, None] > 0, 0, -10000.0)
        y = attention(q, k, v, 0, added, future(S, P + S, P) if causal else None)[0]
        case(f"contrib attention past {P} {causal} {mask is not None}", MS + "Attention", 1, [x, w, b, mask, past],
             f32(flat(y), np.stack([k, v])), dict(num_heads=N, unidirectional=causal))

# --- QAttention: the product is one of integers
xq = rng.integers(0, 255, x.shape).astype(np.uint8)
for kind in (np.int8, np.uint8):
    wq = rng.integers(0, 120, w.shape).astype(kind)
    for per_column in (0, 1):
        zero = rng.integers(40, 60, 3 * H if per_column else ()).astype(kind)
        scale = (rng.random(3 * H if per_column else ()) * 1e-2 + 1e-3).astype(np.float32)
        real = ((xq.astype(np.int64) - 128) * np.float32(0.02)).astype(np.float64)
        q, k, v = project(real, (wq.astype(np.int64) - zero) * scale.astype(np.float64), b)
        case(f"contrib qattention {np.dtype(kind).name} {per_column}", MS + "QAttention", 1,
             [xq, wq, b, np.float32(0.02), scale, lengths, np.uint8(128), zero],
             f32(flat(attention(q, k, v, 0, np.where(MASKS["lengths"][1], 0, -10000.0))[0])), dict(num_heads=N), const=(1, 7))

# --- MultiHeadAttention
L = 7
q3, k3, v3, bias = floats(B, S, H), floats(B, L, H), floats(B, L, N * 3), floats(2 * H + N * 3)
q, k, v = heads(q3, N), heads(k3, N), heads(v3, N)
qb, kb, vb = heads(q3 + bias[:H], N), heads(k3 + bias[H:2 * H], N), heads(v3 + bias[2 * H:], N)
keys = (rng.random((B, L)) < 0.6).astype(np.int32)
keys[:, 2] = 1
FORMS = {"plain": ([q3, k3, v3], (q, k, v), 0), "bias": ([q3, k3, v3, bias], (qb, kb, vb), 0),
         "keys": ([q3, k3, v3, bias, keys], (qb, kb, vb), np.where(keys[:, None, None] > 0, 0, -10000.0)),
         "lengths": ([q3, k3, v3, None, np.int32([4, 7])], (q, k, v),
                     np.where(np.arange(L) < np.int32([4, 7])[:, None, None, None], 0, -10000.0))}
extra = floats(1, N, S, L)
FORMS["added"] = ([q3, k3, v3, None, None, extra], (q, k, v), extra)
for name, (operands, parts, added) in FORMS.items():
    case(f"contrib multihead {name}", MS + "MultiHeadAttention", 1, operands, f32(flat(attention(*parts, 0, added)[0])),
         dict(num_heads=N))
case("contrib multihead by heads", MS + "MultiHeadAttention", 1, [q3, np.ascontiguousarray(k), np.ascontiguousarray(v)],
     f32(flat(attention(q, k, v, 0.4)[0])), dict(num_heads=N, scale=0.4))
packed = floats(B, S, N, 3, D)
parts = [packed[:, :, :, i].transpose(0, 2, 1, 3) for i in range(3)]
case("contrib multihead packed", MS + "MultiHeadAttention", 1, [packed], f32(flat(attention(*parts)[0])), dict(num_heads=N))
pair = floats(B, L, N, 2, D)
parts = [q] + [pair[:, :, :, i].transpose(0, 2, 1, 3) for i in range(2)]
case("contrib multihead pair", MS + "MultiHeadAttention", 1, [q3, pair], f32(flat(attention(*parts)[0])), dict(num_heads=N))
k3, v3 = floats(B, S, H), floats(B, S, H)
for P in (0, 4):
    for causal in (0, 1):
        pk, pv = floats(B, N, P, D), floats(B, N, P, D)
        k, v = np.concatenate([pk, heads(k3, N)], 2), np.concatenate([pv, heads(v3, N)], 2)
        y = attention(q, k, v, 0, 0, future(S, P + S, P) if causal else None)[0]
        scores = q.astype(np.float64) @ k.swapaxes(2, 3) / math.sqrt(D)
        case(f"contrib multihead past {P} {causal}", MS + "MultiHeadAttention", 1,
             [q3, k3, v3, None, None, None, pk, pv], f32(flat(y), k, v), dict(num_heads=N, unidirectional=causal))
        case(f"contrib multihead scores {P} {causal}", MS + "MultiHeadAttention", 1,
             [q3, k3, v3, None, None, None, pk, pv], f32(flat(y), k, v, np.where(future(S, P + S, P), -3.4028234663852886e38, scores) if causal else scores), dict(num_heads=N, unidirectional=causal))

# --- RotaryEmbedding


def turn(x, cos, sin, positions, interleaved=0):
    """x by heads."""
    half = cos.shape[1]
    c, s = cos[positions][:, None], sin[positions][:, None]
    y, part = x.astype(np.float64).copy(), x[..., :2 * half].astype(np.float64)
    a, b = (part[..., ::2], part[..., 1::2]) if interleaved else (part[..., :half], part[..., half:])
    y[..., :2 * half] = (np.stack([a * c - b * s, b * c + a * s], -1).reshape(part.shape) if interleaved else
                         np.concatenate([a * c - b * s, b * c + a * s], -1))
    return y


cos, sin = np.cos(floats(16, 4)), np.sin(floats(16, 4))
x4, x3 = floats(2, 3, 5, 8), floats(2, 5, 24)
places = rng.integers(0, 16, (2, 5))
for interleaved in (0, 1):
    for name, positions, rows in (("offset", np.int64([6]), np.arange(6, 11)[None]), ("rows", places, places)):
        case(f"contrib rotary {interleaved} {name}", MS + "RotaryEmbedding", 1, [x4, positions, cos, sin],
             f32(turn(x4, cos, sin, rows, interleaved)), dict(interleaved=interleaved))
        case(f"contrib rotary flat {interleaved} {name}", MS + "RotaryEmbedding", 1, [x3, positions, cos, sin],
             f32(flat(turn(heads(x3, 3), cos, sin, rows, interleaved))), dict(interleaved=interleaved))
    cos4, sin4 = cos[:, :2].copy(), sin[:, :2].copy()
    case(f"contrib rotary part {interleaved}", MS + "RotaryEmbedding", 1, [x3, places, cos4, sin4],
         f32(flat(turn(heads(x3, 3), cos4, sin4, places, interleaved))),
         dict(interleaved=interleaved, num_heads=3, rotary_embedding_dim=4))

# --- GroupQueryAttention: sequences of a batch stand at places of their own in the cache


def group_query(q, k, v, pk, pv, last, total, window=-1, tables=None, interleaved=0, **how):
    """Results of the op; q, k, v by heads, a past or None, last = seqlens_k."""
    batch, S = q.shape[0], q.shape[2]
    P = 0 if pk is None else pk.shape[2]
    room = max(P, total)
    start = np.where(S == total, 0, last + 1 - S)
    if tables:
        rows = start[:, None] + np.arange(S)
        q, k = turn(q, *tables, rows, interleaved), turn(k, *tables, rows, interleaved)
    caches = []
    for past, new in ((pk, k), (pv, v)):
        cache = np.zeros((batch, new.shape[1], room, new.shape[3]))
        if past is not None:
            cache[:, :, :P] = past
        for i in range(batch):
            cache[i, :, start[i]:start[i] + S] = new[i]
        caches.append(cache)
    key, query = np.arange(room), start[:, None] + np.arange(S)
    hidden = key > query[:, None, :, None]
    if window >= 0:
        hidden |= key <= query[:, None, :, None] - window
    if "added" in how:
        how["added"] = np.pad(how["added"], [(0, 0)] * 3 + [(0, room - how["added"].shape[3])])
    return f32(flat(attention(q, *caches, hidden=hidden, **how)[0]), *caches)


N, KV, D = 4, 2, 16
cos, sin = np.cos(floats(32, 8)), np.sin(floats(32, 8))
for S, P, total, last in ((5, 0, 5, [4, 4]), (1, 6, 7, [6, 6]), (3, 4, 7, [6]), (1, 12, 8, [7, 5]), (1, 6, 7, [6, 3]), (2, 9, 6, [5])):
    B = len(last)
    q3, k3, v3 = floats(B, S, N * D), floats(B, S, KV * D), floats(B, S, KV * D)
    pk, pv = floats(B, KV, P, D), floats(B, KV, P, D)
    last = np.int32(last)
    for i in range(B if P else 0):  # what lies behind the keys of a sequence is nobody's: ONNX Runtime gives zeros there
        pk[i, :, last[i] + 1 - S:] = 0
        pv[i, :, last[i] + 1 - S:] = 0
    past = [pk, pv] if P else [None, None]
    base = [q3, k3, v3, *past, last, np.int32(total)]
    q, k, v = heads(q3, N), heads(k3, KV), heads(v3, KV)
    name = f"contrib gqa {S} {P} {total} {last[-1]}"
    FORMS = {"plain": ([], {}, {}), "scale": ([], dict(scale=0.3), dict(scale=0.3)),
             "cap": ([], dict(softcap=2.5), dict(cap=2.5)), "window": ([], dict(local_window_size=3), dict(window=3)),
             "rotary": ([cos, sin], dict(do_rotary=1), dict(tables=(cos, sin))),
             "interleaved": ([cos, sin], dict(do_rotary=1, rotary_interleaved=1), dict(tables=(cos, sin), interleaved=1))}
    extra, sink = floats(1, N, S, total), floats(N)
    FORMS["added"] = ([None, None, None, extra], {}, dict(added=extra))
    FORMS["sink"] = ([None, None, None, None, sink], {}, dict(sink=sink))
    FORMS["smooth"] = ([], dict(smooth_softmax=1), dict(sink=np.zeros(N)))
    for form, (more, attributes, how) in FORMS.items():
        case(f"{name} {form}", MS + "GroupQueryAttention", 1, base + more,
             group_query(q, k, v, pk if P else None, pv if P else None, last, total, **how),
             dict(attributes, num_heads=N, kv_num_heads=KV), const=(6,))
    packed = np.concatenate([q3, k3, v3], -1)
    case(f"{name} packed", MS + "GroupQueryAttention", 1, [packed, None, None, *past, last, np.int32(total), cos, sin],
         group_query(q, k, v, pk if P else None, pv if P else None, last, total, tables=(cos, sin)),
         dict(num_heads=N, kv_num_heads=KV, do_rotary=1), const=(6,))
    if P + S == total:
        case(f"{name} at run", MS + "GroupQueryAttention", 1, base,
             group_query(q, k, v, pk if P else None, pv if P else None, last, total), dict(num_heads=N, kv_num_heads=KV))
