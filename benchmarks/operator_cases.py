"""Single operators as ONNX models of opset 17, at the sizes networks have them. A case is a class, a name and a model."""
from dataclasses import dataclass, field

import numpy as np

MICROSOFT = "com.microsoft"


@dataclass(frozen=True)
class Case:
    """`inputs` are arrays that a run gets, `constants` those of the model; `nodes` are (op, operands, attributes, domain).
    Results may differ by `tolerance`, as a share of the largest one."""
    kind: str
    name: str
    nodes: tuple
    inputs: dict
    constants: dict = field(default_factory=dict)
    outputs: tuple = ("y",)
    tolerance: float = 1e-3

    def model(self):
        from onnx import helper, numpy_helper
        infos = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
                 for k, v in self.inputs.items()]
        results = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        nodes = []
        for i, (op, operands, attributes, domain) in enumerate(self.nodes):
            made = list(self.outputs) if i == len(self.nodes) - 1 else [f"t{i}"]
            nodes.append(helper.make_node(op, operands.split(","), made, domain=domain, **attributes))
        graph = helper.make_graph(nodes, "case", infos, results,
                                  [numpy_helper.from_array(np.ascontiguousarray(v), k) for k, v in self.constants.items()])
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17),
                                                                     helper.make_opsetid(MICROSOFT, 1)])


class Cases:
    """Collects cases; random arrays are the same in every run."""

    def __init__(self):
        self.all, self.draw = [], np.random.default_rng(0)

    def floats(self, *shape):
        return self.draw.standard_normal(shape).astype(np.float32)

    def ints(self, low, high, *shape, dtype=np.int64):
        return self.draw.integers(low, high, shape).astype(dtype)

    def add(self, kind, name, op, operands, inputs, constants=None, domain="", outputs=("y",),
            tolerance=1e-3, **attributes):
        self.all.append(Case(kind, name, ((op, operands, attributes, domain),), inputs, constants or {}, outputs, tolerance))

    def conv(self, name, channels, size, filters, kernel, stride=1, pad=0, groups=1, dilation=1):
        self.add("convolutions", name, "Conv", "x,w,b", {"x": self.floats(1, channels, size, size)},
                 {"w": self.floats(filters, channels // groups, kernel, kernel) * np.float32(0.1), "b": self.floats(filters)},
                 kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, group=groups, dilations=[dilation] * 2)

    def qconv(self, name, channels, size, filters, kernel, stride=1, pad=0, groups=1, signed=False):
        byte, zero = (np.int8, 3) if signed else (np.uint8, 128)
        low = np.iinfo(byte).min
        self.add("quantized", name, "QLinearConv", "x,xs,xz,w,ws,wz,ys,yz,b",
                 {"x": self.ints(low, low + 256, 1, channels, size, size, dtype=byte)},
                 {"xs": np.float32(0.02), "xz": byte(zero), "w": self.ints(-127, 128, filters, channels // groups, kernel, kernel,
                                                                           dtype=np.int8),
                  "ws": np.full(filters, 0.002, np.float32), "wz": np.zeros(filters, np.int8), "ys": np.float32(0.05),
                  "yz": byte(zero), "b": self.ints(-2000, 2000, filters, dtype=np.int32)},
                 kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, group=groups)

    def nbits(self, name, rows, terms, columns, bits, level):
        block = 32
        self.add("packed weights", name, "MatMulNBits", "x,w,s", {"x": self.floats(rows, terms)},
                 {"w": self.ints(0, 256, columns, terms // block, block * bits // 8, dtype=np.uint8),
                  "s": (self.draw.random(columns * (terms // block)) * 0.01).astype(np.float32)},
                 domain=MICROSOFT, tolerance=0.05 if level == 4 else 1e-3, K=terms, N=columns, bits=bits, block_size=block,
                 accuracy_level=level)


def convolutions(c):
    for channels, size in ((64, 56), (128, 28), (256, 14), (512, 7), (512, 28)):
        c.conv(f"3x3 {channels}@{size}", channels, size, channels, 3, pad=1)
    c.conv("3x3 128@56 stride 2", 128, 56, 128, 3, 2, 1)
    c.conv("5x5 64@28", 64, 28, 64, 5, pad=2)
    c.conv("1x1 256@14 to 1024", 256, 14, 1024, 1)
    c.conv("3x3 256@28 dilation 12", 256, 28, 256, 3, pad=12, dilation=12)
    c.conv("depthwise 3x3 144@56", 144, 56, 144, 3, pad=1, groups=144)
    c.conv("depthwise 7x7 192@28", 192, 28, 192, 7, pad=3, groups=192)
    c.conv("stem 3x3 stride 2", 3, 224, 32, 3, 2, 1)
    c.conv("stem 7x7 stride 2", 3, 224, 64, 7, 2, 3)
    c.qconv("3x3 64@56 u8", 64, 56, 64, 3, pad=1)
    c.qconv("3x3 64@56 i8", 64, 56, 64, 3, pad=1, signed=True)
    c.qconv("3x3 512@7 u8", 512, 7, 512, 3, pad=1)
    c.qconv("3x3 64@56 stride 2 u8", 64, 56, 128, 3, 2, 1)
    c.qconv("1x1 64@56 to 256 u8", 64, 56, 256, 1)
    c.qconv("1x1 16@112 to 64 u8", 16, 112, 64, 1)
    c.qconv("depthwise 3x3 64@56 u8", 64, 56, 64, 3, pad=1, groups=64)
    c.qconv("stem 7x7 stride 2 u8", 3, 224, 64, 7, 2, 3)


def products(c):
    f = c.floats
    c.add("products", "f32 128x768x768 transposed", "Gemm", "x,w,b", {"x": f(128, 768)}, {"w": f(768, 768), "b": f(768)}, transB=1)
    c.add("products", "f32 1x2048x2048", "MatMul", "x,w", {"x": f(1, 2048)}, {"w": f(2048, 2048)})
    c.add("products", "f64 256x256x256", "MatMul", "x,w", {"x": f(256, 256).astype(np.float64)},
          {"w": f(256, 256).astype(np.float64)})
    c.add("products", "12 x 128x64x128", "MatMul", "x,z", {"x": f(12, 128, 64), "z": f(12, 64, 128)})
    c.nbits("4 bits, 1x4096x4096", 1, 4096, 4096, 4, 4)
    c.nbits("4 bits, 8x2048x2048", 8, 2048, 2048, 4, 4)
    c.nbits("4 bits, 128x2048x2048", 128, 2048, 2048, 4, 4)
    c.nbits("4 bits in f32, 1x2048x2048", 1, 2048, 2048, 4, 0)
    c.nbits("8 bits, 1x2048x2048", 1, 2048, 2048, 8, 4)


def rows(c):
    f = c.floats
    for shape in ((12, 197, 197), (64, 1000), (192, 49, 49), (12, 128, 128)):
        c.add("rows", "softmax " + "x".join(map(str, shape)), "Softmax", "x", {"x": f(*shape)}, axis=-1)
    c.add("rows", "layer norm 197x768", "LayerNormalization", "x,s,b", {"x": f(1, 197, 768)}, {"s": f(768), "b": f(768)}, axis=-1)
    c.add("rows", "group norm 32x8192", "InstanceNormalization", "x,s,b", {"x": f(1, 32, 8192)}, {"s": f(32), "b": f(32)})
    c.add("rows", "argmax 64x32000", "ArgMax", "x", {"x": f(64, 32000)}, axis=-1)
    c.add("rows", "mean of 512 across", "ReduceMean", "x", {"x": f(64, 512, 49)}, axes=[1])
    c.add("sorts, scans", "top 10 of 8400", "TopK", "x,k", {"x": f(1, 8400)}, {"k": np.array([10])}, outputs=("y", "i"))
    c.add("sorts, scans", "top 50 of 128256", "TopK", "x,k", {"x": f(1, 128256)}, {"k": np.array([50])}, outputs=("y", "i"))
    c.add("sorts, scans", "cumsum of rows 256x1024", "CumSum", "x,a", {"x": f(256, 1024)}, {"a": np.array(1)})
    c.add("sorts, scans", "cumsum of columns 1024x256", "CumSum", "x,a", {"x": f(1024, 256)}, {"a": np.array(0)})
    c.add("spectra", "DFT of 4096", "DFT", "x", {"x": f(1, 4096, 2)}, axis=1)
    c.add("recurrent", "LSTM 64 steps of 256", "LSTM", "x,w,r,b", {"x": f(64, 1, 128)},
          {"w": f(1, 1024, 128) * np.float32(.05), "r": f(1, 1024, 256) * np.float32(.05), "b": f(1, 2048)}, hidden_size=256)
    c.add("recurrent", "GRU 64 steps of 256", "GRU", "x,w,r,b", {"x": f(64, 1, 128)},
          {"w": f(1, 768, 128) * np.float32(.05), "r": f(1, 768, 256) * np.float32(.05), "b": f(1, 1536)}, hidden_size=256)


def moves(c):
    f = c.floats
    c.add("moves", "ScatterND of rows", "ScatterND", "x,i,u", {"x": f(4096, 64), "u": f(1024, 64)},
          {"i": c.draw.permutation(4096)[:1024].reshape(-1, 1).astype(np.int64)})
    c.add("moves", "ScatterND of points", "ScatterND", "x,i,u", {"x": f(256, 256), "i": c.ints(0, 256, 4096, 2), "u": f(4096)})
    c.add("moves", "ScatterElements", "ScatterElements", "x,i,u", {"x": f(256, 512), "u": f(256, 128)},
          {"i": np.argsort(c.draw.random((256, 512)))[:, :128]}, axis=1)
    c.add("moves", "concat of short rows", "Concat", "x,z", {"x": f(64, 128, 8), "z": f(64, 128, 4)}, axis=-1)
    c.add("moves", "concat of channels", "Concat", "x,z", {"x": f(1, 128, 28, 28), "z": f(1, 64, 28, 28)}, axis=1)
    for mode in ("reflect", "edge"):
        c.add("moves", f"{mode} padding", "Pad", "x,p", {"x": f(1, 64, 56, 56)}, {"p": np.array([0, 0, 3, 3] * 2)}, mode=mode)
    for mode in ("nearest", "linear", "cubic"):
        c.add("moves", f"{mode} resize to twice", "Resize", "x,,s", {"x": f(1, 32, 56, 56)},
              {"s": np.array([1, 1, 2, 2], np.float32)}, mode=mode)
    c.add("moves", "expand", "Expand", "x,s", {"x": f(1, 8, 1, 64, 64)}, {"s": np.array([1, 8, 4, 64, 64])})
    c.add("moves", "grid sample", "GridSample", "x,g", {"x": f(1, 32, 64, 64), "g": f(1, 64, 64, 2)}, mode="bilinear")
    c.add("moves", "gather of rows", "Gather", "x,i", {"x": f(30000, 128), "i": c.ints(0, 30000, 512)})
    c.add("moves", "transpose 8x512x384", "Transpose", "x", {"x": f(8, 512, 384)}, perm=[0, 2, 1])
    c.add("moves", "heads of attention", "Transpose", "x", {"x": f(1, 197, 12, 64)}, perm=[0, 2, 1, 3])
    c.add("pools", "max 3x3 stride 2", "MaxPool", "x", {"x": f(1, 64, 112, 112)}, kernel_shape=[3, 3], strides=[2, 2],
          pads=[1] * 4)
    c.add("pools", "average 3x3", "AveragePool", "x", {"x": f(1, 64, 56, 56)}, kernel_shape=[3, 3], pads=[1] * 4)
    c.add("elementwise", "gelu 197x3072", "Gelu", "x", {"x": f(197, 3072)}, domain=MICROSOFT)
    c.add("elementwise", "erf 197x3072", "Erf", "x", {"x": f(197, 3072)})


def all_cases():
    cases = Cases()
    for part in (convolutions, products, rows, moves):
        part(cases)
    return cases.all
