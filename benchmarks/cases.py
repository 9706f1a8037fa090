"""What is measured: a graph, random inputs, and what each peer does with the same arrays."""
from dataclasses import dataclass, field
from typing import Callable

import numpy as np

MILLION = 1 << 20


@dataclass
class Case:
    name: str
    group: str
    graph: str          # statements of a graph file; the output is y
    shapes: dict        # inputs by name
    flops: float        # of one run: every op of the formula counts once, a function too; 0: elements only move
    bytes: float        # least traffic of one run: operands and results once
    peers: Callable     # (peers, inputs, result) -> name -> function
    weights: tuple = () # inputs that are constants of the plan
    opts: str = ""      # "" for the default
    numerics: str = "contract"
    types: dict = field(default_factory=dict)  # element types of inputs that are not f32
    result: str = "f32"
    unfused: str = ""   # the same as a graph whose intermediate values are all stored: a peer

    @property
    def in_bytes(self):
        """Whether its rate is one of bytes."""
        return self.group in ("stream", "rows")


def gemm(m, k, n, weight=False, opts="", group="gemm"):
    def peers(p, x, result):
        numbers = (m, n, k, 4, int(weight))
        return p.gemm(x["a"], x["b"], result) | p.primitive("peer_matmul", numbers, (x["a"], x["b"], result))
    suffix = (" weight" if weight else "") + (" --opts" if opts else "")
    return Case(f"gemm {m}x{k}x{n}{suffix}", group, "output y = matmul(a, b)", {"a": (m, k), "b": (k, n)},
                2 * m * k * n, 4 * (m * k + k * n + m * n), peers, ("b",) if weight else (), opts)


def narrow_gemm(size, a, b, weight=False):
    """Products of narrow numbers, summed in f32 or i32."""
    wide, kind = ("f32", 2) if a == "bf16" else ("i32", 1 if a == "i8" else 0)
    return Case(f"gemm {size}x{size}x{size} {a if a == b else a + ' ' + b}" + (" weight" if weight else ""), "narrow",
                f"output y = matmul(cast(a, dtype={wide}), cast(b, dtype={wide}))", {"a": (size, size), "b": (size, size)},
                2 * size ** 3, size * size * (4 + (4 if a == "bf16" else 2)),
                lambda p, x, result: p.primitive("peer_matmul", (size, size, size, kind, int(weight)),
                                                 (x["a"], x["b"], result)),
                ("b",) if weight else (), types={"a": a, "b": b}, result=wide)


def conv(channels, filters, size, kernel, stride=1, pad=0, groups=1, numerics="contract"):
    out = (size + 2 * pad - kernel) // stride + 1
    shapes = {"x": (1, channels, size, size), "w": (filters, channels // groups, kernel, kernel)}
    graph = f"output y = conv2d(x, w, stride={stride}, padding={pad}, groups={groups})"
    numbers = (channels, filters, size, kernel, stride, pad, groups)
    flops = 2 * filters * out * out * channels // groups * kernel * kernel
    label = f"conv {kernel}x{kernel} {channels}-{filters}@{size}" + (f" s{stride}" if stride > 1 else "")
    label += " fast" if numerics == "fast" else ""
    return Case(label if groups == 1 else f"depthwise {kernel}x{kernel} {channels}@{size}", "conv", graph, shapes, flops,
                4 * (channels * size * size + filters * out * out + filters * channels // groups * kernel * kernel),
                lambda p, x, result: p.primitive("peer_conv", numbers, (x["x"], x["w"])), ("w",), numerics=numerics)


def rows(name, maker, graph, count, columns, ops):
    size = count * columns
    return Case(f"{name} {count}x{columns}", "rows", graph, {"x": (count, columns)}, ops * size, 8 * size,
                lambda p, x, result: p.primitive(maker, (count, columns), (x["x"], result)))


def streams():
    n = 16 * MILLION
    names = ("a", "b", "c", "d")
    yield Case("relu(a*b+c)*d 16M", "stream", "output y = relu(a * b + c) * d", {k: (n,) for k in names}, 4 * n, 20 * n,
               lambda p, x, result: p.machine.stream([x[k] for k in names], result))
    yield Case("gelu 16M", "stream", "output y = gelu(x)", {"x": (n,)}, 5 * n, 8 * n,
               lambda p, x, result: p.machine.stream([x["x"]], result) | p.primitive("peer_gelu", (n,), (x["x"], result)))
    yield Case("sum 16M", "stream", "output y = sum(x)", {"x": (n,)}, n, 4 * n,
               lambda p, x, result: p.machine.read(x["x"]))


# One column panel packed for all rows; 6 x 64 results in registers. docs/opts.md explains such lists.
LEARNED = ("tile(1,64) order(1,0,2) pack(2,3,2) upcast(1,6) vector(2,16) upcast(2,0) vector(5,16) upcast(5,0) "
           "thread(0,1)")


def attention(heads, length, width):
    shape = (heads, length, width)
    flops = 4 * heads * length * length * width
    steps = (f"s = contiguous(matmul(q, transpose(k)) * {width ** -0.5})", "e = contiguous(softmax(s))", "output y = matmul(e, v)")

    def case(name, peers, unfused=""):
        return Case(f"attention {heads}x{length}x{width}{name}", "attention", "output y = attention(q, k, v)",
                    {"q": shape, "k": shape, "v": shape}, flops, 16 * heads * length * width, peers, unfused=unfused)
    yield case("", lambda p, x, result: p.machine.multiply_adds(flops))
    yield case(" unfused", lambda p, x, result: {}, "\n".join(steps))


CASES = [
    *(gemm(n, n, n) for n in (64, 128, 256, 512, 1024, 2048)), gemm(197, 768, 768), gemm(128, 3072, 768),
    *(gemm(n, n, n, weight=True) for n in (256, 512, 1024, 2048)),
    gemm(197, 768, 768, weight=True), gemm(128, 3072, 768, weight=True),
    *(gemm(n, n, n, opts=LEARNED, group="opts") for n in (512, 1024, 2048)),
    gemm(1, 4096, 4096, group="gemv"), gemm(8, 4096, 4096, group="gemv"),
    gemm(509, 509, 509, group="odd"), gemm(1021, 1021, 1021, group="odd"), gemm(7, 13, 1009, group="odd"),
    gemm(1, 1, 4096, group="odd"),
    narrow_gemm(1024, "bf16", "bf16"), narrow_gemm(1024, "u8", "i8"), narrow_gemm(1024, "i8", "i8"),
    narrow_gemm(1024, "u8", "i8", weight=True), narrow_gemm(1021, "u8", "i8"),
    conv(3, 64, 224, 7, 2, 3), conv(64, 256, 56, 1), conv(64, 64, 56, 3, 1, 1), conv(128, 128, 28, 3, 1, 1),
    conv(256, 256, 14, 3, 1, 1), conv(512, 512, 7, 3, 1, 1), conv(96, 96, 112, 3, 1, 1, 96),
    *(conv(c, c, size, 3, 1, 1, numerics="fast") for c, size in ((64, 56), (128, 28), (256, 14))),
    *streams(),
    rows("softmax", "peer_softmax", "output y = softmax(x)", 4096, 1024, 5),
    rows("layernorm", "peer_layernorm", "output y = layer_norm(x)", 4096, 1024, 5),
    rows("transpose", "peer_transpose", "output y = transpose(x)", 4096, 4096, 0),
    *attention(8, 512, 64), *attention(8, 2048, 64),
]


NUMPY = {"f32": np.float32, "i32": np.int32, "i8": np.int8, "u8": np.uint8}


def random_array(random, shape, dtype):
    """Normally distributed floats (bf16 as its bits), any bytes."""
    if dtype in ("i8", "u8"):
        return random.integers(0, 256, shape, dtype=np.uint8).view(NUMPY[dtype])
    values = random.standard_normal(shape, dtype=np.float32)
    return values if dtype == "f32" else (values.view(np.uint32) >> 16).astype(np.uint16)


def inputs_of(case, aligned):
    random = np.random.default_rng(0)
    return {name: aligned(random_array(random, shape, case.types.get(name, "f32"))) for name, shape in case.shapes.items()}
