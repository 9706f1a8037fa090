"""What is timed on a device beside torch: a graph, the same in torch, and the work that it is.

A graph's operands are its inputs, so that a plan is small. `peer` computes the same from torch tensors, by the names of the inputs. FLOP and
bytes are of the least work: what a roofline counts. `bar` is the ratio of peer's time to ours that is asked for; None: shown alone."""
import re
from dataclasses import dataclass, replace
from typing import Any, Callable


@dataclass(frozen=True)
class Timed:
    name: str
    graph: str
    peer: Callable[..., Any]
    flop: float = 0
    bytes: float = 0
    bar: float | None = None
    tolerance: float = 1e-2  # of the norm of the difference to f64, by the norm of the result


def product(m, n, k, dtype, tail="y = p", more="", peer=None, name="", bar=None, a="a", b="b", shapes=None):
    shape_a, shape_b = shapes or (f"{m}, {k}", f"{k}, {n}")
    size = {"f32": 4}.get(dtype, 2)
    graph = f"input a: {dtype}[{shape_a}]\ninput b: {dtype}[{shape_b}]\n{more}p = matmul({a}, {b})\noutput {tail}\n"
    return Timed(name or f"gemm_{dtype}_{m}x{n}x{k}", graph, peer or (lambda a, b: a @ b), 2 * m * n * k, size * (m * k + k * n + m * n), bar,
                 1e-5 if dtype == "f32" else 1e-2)


def functional():
    import torch.nn.functional
    return torch.nn.functional


def swiglu_peer(a, b, g):
    return functional().silu(a @ g) * (a @ b)


def products():
    yield product(4096, 4096, 4096, "bf16", bar=0.85)
    yield product(8192, 8192, 8192, "bf16", bar=0.85)
    yield product(4096, 4096, 4096, "f16", bar=0.85)
    yield product(4096, 4096, 4096, "f32", bar=0.85)
    yield product(1024, 1024, 1024, "bf16")
    yield product(2048, 2048, 2048, "bf16")
    yield product(512, 4096, 4096, "bf16")
    yield product(16, 4096, 4096, "bf16")
    yield product(1, 4096, 4096, "bf16")
    yield product(197, 768, 768, "bf16")
    yield product(1000, 2000, 1004, "bf16")
    yield product(256, 256, 65536, "bf16", name="gemm_bf16_long_k")
    yield product(4096, 4096, 4096, "bf16", name="gemm_bf16_nt", b="transpose(b)", shapes=("4096, 4096", "4096, 4096"), peer=lambda a, b: a @ b.T)
    yield product(4096, 4096, 4096, "bf16", name="gemm_bf16_tn", a="transpose(a)", shapes=("4096, 4096", "4096, 4096"), peer=lambda a, b: a.T @ b)
    yield product(4096, 4096, 4096, "bf16", "y = gelu(p + c)", "input c: bf16[4096]\n", lambda a, b, c: functional().gelu(a @ b + c), "gemm_gelu")
    yield product(4096, 4096, 4096, "bf16", "y = p + c", "input c: bf16[4096, 4096]\n", lambda a, b, c: a @ b + c, "gemm_residual")
    yield product(4096, 4096, 4096, "bf16", "y = silu(q) * p", "input g: bf16[4096, 4096]\nq = matmul(a, g)\n", swiglu_peer, "gemm_swiglu")
    many = "input a: bf16[32, 512, 512]\ninput b: bf16[32, 512, 512]\noutput y = matmul(a, b)\n"
    yield Timed("gemm_batch32_512", many, lambda a, b: a @ b, 2 * 32 * 512**3, 3 * 32 * 512 * 512 * 2)


def rows_and_streams():
    def bulk(dtype, name, expression, peer, streams=2, rows=8192, columns=8192, more="", bar=0.85, tolerance=1e-2):
        size = {"f32": 4, "i32": 4}.get(dtype, 2)
        graph = f"input x: {dtype}[{rows}, {columns}]\n{more}output y = {expression}\n"
        return Timed(name, graph, peer, 0, streams * rows * columns * size, bar, tolerance)
    second = "input g: bf16[8192, 8192]\n"
    yield bulk("f32", "copy_f32", "x + 1", lambda x: x + 1)
    yield bulk("bf16", "relu_bf16", "relu(x)", lambda x: functional().relu(x))
    yield bulk("bf16", "silu_mul", "silu(g) * x", lambda x, g: functional().silu(g) * x, 3, more=second)
    yield bulk("bf16", "gelu_bf16", "gelu(x)", lambda x: functional().gelu(x))
    yield bulk("f32", "exp_f32", "exp(x)", lambda x: x.exp(), tolerance=1e-6)
    yield bulk("f32", "softmax_f32_4096", "softmax(x, axis=1)", lambda x: functional().softmax(x, 1), rows=16384, columns=4096, tolerance=1e-6)
    yield bulk("bf16", "softmax_bf16_4096", "softmax(x, axis=1)", lambda x: functional().softmax(x, 1), rows=16384, columns=4096)
    yield bulk("f32", "softmax_f32_131072", "softmax(x, axis=1)", lambda x: functional().softmax(x, 1), rows=512, columns=131072, tolerance=1e-6)
    yield bulk("bf16", "layer_norm", "layer_norm(x)", lambda x: functional().layer_norm(x, (x.shape[-1],)), rows=16384, columns=4096)
    yield bulk("bf16", "rms_norm", "rms_norm(x, s)", lambda x, s: functional().rms_norm(x, (x.shape[-1],), s, 1e-5), rows=16384, columns=4096,
               more="input s: bf16[4096]\n")
    yield bulk("f32", "sum_all", "sum(x)", lambda x: x.sum(), 1, tolerance=1e-2)
    yield bulk("f32", "sum_rows", "sum(x, axes=1)", lambda x: x.sum(1), 1, tolerance=1e-4)
    yield bulk("f32", "sum_columns", "sum(x, axes=0)", lambda x: x.sum(0), 1, tolerance=1e-4)
    yield bulk("f32", "transpose_f32", "contiguous(transpose(x))", lambda x: x.T.contiguous())
    yield bulk("bf16", "transpose_bf16", "contiguous(transpose(x))", lambda x: x.T.contiguous())
    yield bulk("f32", "cumsum", "cumsum(x, axis=1)", lambda x: x.cumsum(1), rows=4096, columns=16384, bar=None, tolerance=1e-4)
    yield bulk("f32", "argmax", "argmax(x, axis=1)", lambda x: x.argmax(1), 1, rows=4096, columns=16384, bar=None)


def networks():
    def attention(name, batch, heads, queries, keys, size, causal=False, dtype="bf16", bar=None):
        q, k = f"{batch}, {heads}, {queries}, {size}", f"{batch}, {heads}, {keys}, {size}"
        graph = f"input q: {dtype}[{q}]\ninput k: {dtype}[{k}]\ninput v: {dtype}[{k}]\noutput y = attention(q, k, v, causal={str(causal).lower()})\n"
        work = 4 * batch * heads * queries * keys * size / (2 if causal else 1)
        moved = 2 * batch * heads * size * (2 * queries + 2 * keys)
        return Timed(name, graph, lambda q, k, v: functional().scaled_dot_product_attention(q, k, v, is_causal=causal), work, moved, bar)
    yield attention("attention_1024", 8, 32, 1024, 1024, 128)
    yield attention("attention_causal_2048", 4, 16, 2048, 2048, 64, True)
    yield attention("attention_decode_4096", 8, 32, 1, 4096, 128)
    conv = "input x: f16[32, 256, 14, 14]\ninput w: f16[256, 256, 3, 3]\noutput y = conv2d(x, w, padding=[1, 1])\n"
    yield Timed("conv3x3_256_14", conv, lambda x, w: functional().conv2d(x, w, padding=1), 2 * 32 * 256 * 256 * 9 * 196)
    stem = "input x: f16[32, 3, 224, 224]\ninput w: f16[64, 3, 7, 7]\noutput y = conv2d(x, w, padding=[3, 3], stride=2)\n"
    yield Timed("conv7x7_stem", stem, lambda x, w: functional().conv2d(x, w, padding=3, stride=2), 2 * 32 * 64 * 3 * 49 * 112 * 112)
    deep = "input x: f16[32, 96, 56, 56]\ninput w: f16[96, 1, 7, 7]\noutput y = conv2d(x, w, padding=[3, 3], groups=96)\n"
    yield Timed("conv_depthwise_7x7", deep, lambda x, w: functional().conv2d(x, w, padding=3, groups=96), 0, 2 * 2 * 32 * 96 * 56 * 56)
    yield Timed("llama_block", LLAMA, llama_peer, 2 * 512 * (4 * 2048 * 2048 + 3 * 2048 * 5632) + 4 * 512 * 512 * 2048, 0)


LLAMA = """input x: bf16[512, 2048]
input n1: bf16[2048]
input n2: bf16[2048]
input wq: bf16[2048, 2048]
input wk: bf16[2048, 2048]
input wv: bf16[2048, 2048]
input wo: bf16[2048, 2048]
input wg: bf16[2048, 5632]
input wu: bf16[2048, 5632]
input wd: bf16[5632, 2048]
h = rms_norm(x, n1)
q = permute(reshape(matmul(h, wq), shape=[512, 16, 128]), order=[1, 0, 2])
k = permute(reshape(matmul(h, wk), shape=[512, 16, 128]), order=[1, 0, 2])
v = permute(reshape(matmul(h, wv), shape=[512, 16, 128]), order=[1, 0, 2])
a = attention(q, k, v, causal=true)
r = x + matmul(reshape(permute(a, order=[1, 0, 2]), shape=[512, 2048]), wo) * 0.0625
m = rms_norm(r, n2)
output y = r + matmul(silu(matmul(m, wg) * 0.0625) * (matmul(m, wu) * 0.0625), wd) * 0.0625
"""


def llama_peer(x, n1, n2, wq, wk, wv, wo, wg, wu, wd):
    f = functional()
    h = f.rms_norm(x, (2048,), n1, 1e-5)
    q, k, v = ((h @ w).view(512, 16, 128).transpose(0, 1)[None] for w in (wq, wk, wv))
    a = f.scaled_dot_product_attention(q, k, v, is_causal=True)[0].transpose(0, 1).reshape(512, 2048)
    r = x + a @ wo * 0.0625
    m = f.rms_norm(r, (2048,), n2, 1e-5)
    return r + (f.silu(m @ wg * 0.0625) * (m @ wu * 0.0625)) @ wd * 0.0625


GROUPS = {"products": products, "streams": rows_and_streams, "networks": networks}


def all_timed(scale=1):
    """With `scale` all sizes from 128 on are divided by it, and those from 30 on are 8: for machines on which a grid is emulated."""
    def small(found):
        number = int(found.group())
        return str(max(1, number // scale) if number >= 128 else min(number, 8) if number >= 30 and scale > 1 else number)
    return [replace(case, graph=re.sub(r"(?<![a-z0-9.])\d+(?![.\d])", small, case.graph)) for make in GROUPS.values() for case in make()]
