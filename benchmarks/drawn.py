"""Kernels that nobody chose: of every class in turn, with sizes drawn from a seed, as text of graph files."""
import math
import random

MOST_FLOPS, MOST_ELEMENTS = 1 << 28, 1 << 22  # of one kernel, so that a minute holds some hundred runs of each candidate


def sizes(draw, count, least=1, most=4096):
    """Sizes whose logarithms are uniform, so that small ones come as often as large ones."""
    return [round(math.exp(draw.uniform(math.log(least), math.log(most + 1)) - 1e-9)) for _ in range(count)]


def inputs(**shapes):
    return "".join(f"input {name}: f32{list(shape)}\n" for name, shape in shapes.items())


def product(draw):
    m, k, n = sizes(draw, 3)
    return 2 * m * k * n, inputs(a=(m, k), b=(k, n)) + "output y = matmul(a, b)"


def turned_product(draw):
    m, k, n = sizes(draw, 3)
    return 2 * m * k * n, inputs(a=(m, k), b=(n, k), c=(n,)) + "output y = relu(matmul(a, transpose(b)) + c)"


def batched_product(draw):
    (b,), (m, k, n) = sizes(draw, 1, 2, 64), sizes(draw, 3, 4, 512)
    return 2 * b * m * k * n, inputs(a=(b, m, k), b=(b, k, n)) + "output y = matmul(a, b)"


def convolution(draw):
    (c, f), (size,), taps, stride = sizes(draw, 2, 3, 512), sizes(draw, 1, 7, 112), draw.choice([1, 3, 5]), draw.choice([1, 1, 2])
    text = inputs(x=(1, c, size, size), w=(f, c, taps, taps), b=(f,))
    flops = 2 * c * f * taps * taps * (size // stride) ** 2
    return flops, text + f"output y = relu(conv2d(x, w, b, stride={stride}, padding={taps // 2}))"


def depthwise(draw):
    (c,), (size,), taps = sizes(draw, 1, 16, 512), sizes(draw, 1, 7, 112), draw.choice([3, 5])
    text = inputs(x=(1, c, size, size), w=(c, 1, taps, taps))
    return 2 * c * taps * taps * size * size, text + f"output y = conv2d(x, w, padding={taps // 2}, groups={c})"


def pooling(draw):
    (c,), (size,) = sizes(draw, 1, 16, 512), sizes(draw, 1, 8, 112)
    op = draw.choice(["max_pool(x, kernel=[3, 3], stride=2, padding=1)", "avg_pool(x, kernel=[2, 2])", "global_avg_pool(x)"])
    return 9 * c * size * size, inputs(x=(1, c, size, size)) + f"output y = {op}"


def rows(draw):
    n, width = sizes(draw, 2, 2, 8192)
    op = draw.choice(["softmax(x)", "layer_norm(x)", "log_softmax(x)", "sum(x, axes=1)", "argmax(x)", "mean(x * x, axes=1)"])
    return 8 * n * width, inputs(x=(n, width)) + f"output y = {op}"


def columns(draw):
    n, width = sizes(draw, 2, 2, 8192)
    op = draw.choice(["sum(x, axes=0)", "softmax(x, axis=0)", "reduce_max(x, axes=0)", "cumsum(x, axis=0)"])
    return 8 * n * width, inputs(x=(n, width)) + f"output y = {op}"


def moved(draw):
    a, b, c = sizes(draw, 3, 2, 512)
    order = draw.choice([[2, 1, 0], [1, 0, 2], [0, 2, 1], [1, 2, 0], [2, 0, 1]])
    return a * b * c, inputs(x=(a, b, c)) + f"output y = contiguous(permute(x, order={order}))"


def elementwise(draw):
    n, width = sizes(draw, 2, 2, 4096)
    op = draw.choice(["gelu(x + c)", "sigmoid(x) * x", "relu(x * c + x)", "exp(x - c)", "tanh(x)"])
    return 16 * n * width, inputs(x=(n, width), c=(width,)) + f"output y = {op}"


def lookup(draw):
    n, width, count = sizes(draw, 3, 2, 4096)
    return count * width, inputs(x=(n, width)) + f"input p: i64[{count}]\noutput y = gather(x, p)"


def attention(draw):
    (heads,), (length,), width = sizes(draw, 1, 1, 16), sizes(draw, 1, 16, 512), draw.choice([32, 64, 128])
    shape = (heads, length, width)
    return 4 * heads * length * length * width, inputs(q=shape, k=shape, v=shape) + "output y = attention(q, k, v)"


CLASSES = (product, convolution, rows, turned_product, columns, elementwise, batched_product, depthwise, moved, attention, pooling, lookup)


def drawn(count, seed):
    """Name and graph of `count` kernels, of each class in turn, none of which takes longer than MOST_FLOPS or MOST_ELEMENTS say."""
    draw, found = random.Random(seed), {}
    while len(found) < count:
        make = CLASSES[len(found) % len(CLASSES)]
        flops, graph = make(draw)
        shapes = [[int(n) for n in line.split("[")[1].rstrip("]").split(", ")] for line in graph.split("\n") if line.startswith("input")]
        if flops <= MOST_FLOPS and max(map(math.prod, shapes)) <= MOST_ELEMENTS:
            found[f"{make.__name__} {' '.join('x'.join(map(str, s)) for s in shapes)}"] = graph
    return found
