"""Small networks with weights, for programs of other machines that an emulator runs."""
import random
import struct

from embedded import ROOT, npy

MLP = """svod 1
input x: f32[5, 12]
weight w1: f32[12, 23] = "w1.npy"
weight b1: f32[23] = "b1.npy"
weight w2: f32[23, 7] = "w2.npy"
weight b2: f32[7] = "b2.npy"
output y = matmul(relu(matmul(x, w1) + b1), w2) + b2
"""
CONVNET = """svod 1
input image: f32[1, 3, 11, 9]
weight c1: f32[6, 3, 3, 3] = "c1.npy"
weight c2: f32[5, 6, 3, 3] = "c2.npy"
weight scale: f32[1, 6, 1, 1] = "scale.npy"
a = relu(conv2d(image, c1, padding=1) * scale)
b = max_pool(a, kernel=[2, 2])
output features = conv2d(b, c2, stride=[2, 1])
output mean = mean(b, axes=[2, 3])
"""
ATTENTION = """svod 1
input x: f32[9, 16]
weight wq: f32[16, 16] = "wq.npy"
weight wk: f32[16, 16] = "wk.npy"
weight wv: f32[16, 16] = "wv.npy"
q = reshape(matmul(x, wq), shape=[1, 9, 2, 8])
k = reshape(matmul(x, wk), shape=[1, 9, 2, 8])
v = reshape(matmul(x, wv), shape=[1, 9, 2, 8])
h = attention(permute(q, order=[0, 2, 1, 3]), permute(k, order=[0, 2, 1, 3]), permute(v, order=[0, 2, 1, 3]), causal=true)
output y = layer_norm(x + reshape(permute(h, order=[0, 2, 1, 3]), shape=[9, 16]), axis=-1)
"""
VARIABLE = """svod 1
var n in [1, 40]
input x: f32[n, 7]
input m: i8[n, 5]
weight w: i8[5, 6] = "w.npy"
state count: i64 = 3
assign count = count + 1
output near = argmin(sum(abs(reshape(x, shape=[n, 1, 7]) - reshape(x, shape=[1, n, 7])), axes=2) + where(eye(n=n, dtype=bool), 1000.0, 0.0), axis=1, dtype=i32)
output tanh = tanh(x) * cast(count, dtype=f32)
output sums = cumsum(x, axis=0)
output whole = matmul(m, w)
output count
"""
CONVERSIONS = """svod 1
input f: f32[23]
input d: f64[19]
input i: i64[21]
input u: u64[21]
input h: f16[17]
output a = cast(f * 1e12, dtype=i64)
output b = cast(abs(f) * 1e12, dtype=u64)
output c = cast(d * 1e15, dtype=i64)
output e = cast(abs(d) * 1e15, dtype=u64)
wide = i * 912345678901234567 + 77
output g = cast(wide, dtype=f32)
output j = cast(wide, dtype=f64)
output k = cast(u * 1234567890123456789 + 5, dtype=f32)
output l = cast(u * 1234567890123456789 + 5, dtype=f64)
output o = wide // (i + 3)
output p = wide % 1000003
output q = exp(h) * 2
output r = floor(f * 3) + round(f * 5) + trunc(f * 7)
"""
# The network, variables, and how often it runs.
NETWORKS = {"mlp": (MLP, {}, 1), "convnet": (CONVNET, {}, 1), "attention": (ATTENTION, {}, 1), "variable": (VARIABLE, {"n": 13}, 2),
            "conversions": (CONVERSIONS, {}, 1), "digits": (ROOT / "examples/digits/digits.svod", {"n": 3}, 1)}


def write_graph(test, name):
    """The graph file of a network, with its weights beside it."""
    text = NETWORKS[name][0]
    if not isinstance(text, str):
        return text
    folder = test.folder / f"graph_{name}"
    folder.mkdir(exist_ok=True)
    draw = random.Random(name)
    for line in text.splitlines():
        if line.startswith("weight "):
            dtype, dims = line.split(":")[1].split("=")[0].strip().rstrip("]").split("[")
            shape = [int(dim) for dim in dims.split(",")]
            count = 1
            for dim in shape:
                count *= dim
            descr, code = {"f32": ("<f4", "f"), "i8": ("|i1", "b")}[dtype]
            values = [draw.randint(-64, 64) / 128 if code == "f" else draw.randint(-128, 127) for _ in range(count)]
            npy(folder / line.split('"')[1], descr, shape, struct.pack(f"<{count}{code}", *values))
    path = folder / f"{name}.svod"
    path.write_text(text)
    return path
