"""Ops as the first opsets define them: broadcasting by attributes, inputs that are attributes, other defaults."""
import numpy as np
from one_node import case

rng = np.random.default_rng(11)
x = rng.standard_normal((2, 3, 4, 5)).astype(np.float32)
middle = rng.uniform(0.5, 2, (3, 4)).astype(np.float32)
last = rng.uniform(0.5, 2, 5).astype(np.float32)
ones = np.ones((2, 2), np.float32)

# --- b lies at `axis` of a, or at its end
for op, of in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide)):
    for axis in (1, -3):
        case(f"legacy_{op}{axis}", op, 6, [x, middle], [of(x, middle[..., None])], {"broadcast": 1, "axis": axis})
    case(f"legacy_{op}_end", op, 6, [x, last], [of(x, last)], {"broadcast": 1})
    case(f"legacy_{op}_scalar", op, 6, [x, np.float32(2)], [of(x, np.float32(2))], {"broadcast": 1})
    case(f"legacy_{op}_same", op, 1, [x, x + 9], [of(x, x + 9)], {"consumed_inputs": [0, 0]})
case("legacy_pow", "Pow", 1, [abs(x), middle], [abs(x) ** middle[..., None]], {"broadcast": 1, "axis": 1})

# --- consumed_inputs says nothing about the result
unary = {"Relu": lambda v: np.maximum(v, 0), "Exp": np.exp, "Abs": np.abs, "Neg": np.negative, "Floor": np.floor,
         "Ceil": np.ceil, "Reciprocal": lambda v: 1 / v, "Tanh": np.tanh, "Sigmoid": lambda v: 1 / (1 + np.exp(-v)),
         "Selu": lambda v: 1.0507 * np.where(v <= 0, 1.6732 * np.expm1(v), v), "Dropout": lambda v: v}
for op, of in unary.items():
    attributes = {"consumed_inputs": [0]} | ({"is_test": 1} if op == "Dropout" else {})
    case(f"legacy_{op}", op, 1, [x], [of(x).astype(np.float32)], attributes)
for op, of in (("Max", np.maximum), ("Min", np.minimum), ("Sum", np.add)):
    case(f"legacy_{op}", op, 1, [x, x[::-1]], [of(x, x[::-1])], {"consumed_inputs": [0, 0]})

# --- Attributes that became operands, and defaults that changed
case("legacy_cast", "Cast", 1, [x * 9], [(x * 9).astype(np.int32)], {"to": "INT32"})
case("legacy_concat", "Concat", 1, [x, x], [np.concatenate([x, x], 1)])
case("legacy_reshape", "Reshape", 1, [x], [x.reshape(2, 12, 5)], {"shape": [0, -1, 5]})
case("legacy_split", "Split", 1, [x], [x[:, :1], x[:, 1:]], {"axis": 1, "split": [1, 2]})
case("legacy_pad", "Pad", 1, [ones], [np.pad(ones, ((1, 0), (0, 1)), constant_values=3)],
     {"paddings": [1, 0, 0, 1], "value": 3.0})
case("legacy_tile", "Tile", 1, [ones, np.float32(2), np.float32(1)], [np.ones((2, 4), np.float32)], const=(1, 2))
case("legacy_upsample", "Upsample", 1, [x], [x.repeat(2, 2).repeat(3, 3)], {"height_scale": 2.0, "width_scale": 3.0})
case("legacy_gemm", "Gemm", 6, [middle.T, middle, last[:4]], [middle.T @ middle * 0.5 + last[:4]],
     {"broadcast": 1, "alpha": 0.5})
case("legacy_prelu", "PRelu", 6, [x, last[:3]], [np.where(x < 0, x * last[:3, None, None], x)])
case("legacy_prelu_one", "PRelu", 1, [x, last[:1]], [np.where(x < 0, x * last[0], x)], {"consumed_inputs": [0, 0]})
images = np.ones((3, 4, 5), np.float32)
case("legacy_norm_spatial", "BatchNormalization", 6, [x, images, images, images, images],
     [((x - 1) / np.sqrt(np.float32(1.25)) + 1)], {"is_test": 1, "spatial": 0, "epsilon": 0.25})
matrix = x.reshape(2, -1)
soft = np.exp(matrix) / np.exp(matrix).sum(1, keepdims=True)
case("legacy_softmax", "Softmax", 1, [x], [soft.reshape(x.shape)])
