"""Types of 8 bits and fewer: every code, every pair of types, and the ops that move, quantize and dequantize them.

Conversions are defined by tables of all values: the nearest one is looked for among the neighbours of a number.
"""
import numpy as np
from one_node import CODED_TYPES, case, coded

INTEGERS = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}
# Exponent bits, fraction bits, bias.
FLOATS = {"float8e4m3fn": (4, 3, 7), "float8e4m3fnuz": (4, 3, 8), "float8e5m2": (5, 2, 15),
          "float8e5m2fnuz": (5, 2, 16), "float4e2m1": (2, 1, 1), "float8e8m0": (8, 0, 127)}
KINDS = [*FLOATS, *INTEGERS]
rng = np.random.default_rng(4)


def float_value(kind, code):
    if kind == "float8e8m0":
        return np.nan if code == 255 else 2.0 ** (code - 127)
    exponent_bits, fraction_bits, bias = FLOATS[kind]
    sign = -1.0 if code >> (exponent_bits + fraction_bits) else 1.0
    exponent = code >> fraction_bits & (1 << exponent_bits) - 1
    fraction = (code & (1 << fraction_bits) - 1) / (1 << fraction_bits)
    if kind.endswith("fnuz") and code == 0x80 or kind == "float8e4m3fn" and code & 0x7F == 0x7F:
        return np.nan
    if kind == "float8e5m2" and exponent == 31:
        return np.nan if fraction else sign * np.inf
    return sign * (fraction * 2.0 ** (1 - bias) if exponent == 0 else (1 + fraction) * 2.0 ** (exponent - bias))


TABLES = {kind: np.array([float_value(kind, c) for c in range(1 << CODED_TYPES[kind][1])]) for kind in FLOATS}
NAN = {"float8e4m3fn": 0x7F, "float8e4m3fnuz": 0x80, "float8e5m2": 0x7E, "float8e5m2fnuz": 0x80, "float4e2m1": 0}


def values(array):
    """The values of coded elements, as float64."""
    return TABLES[array.kind][np.asarray(array)] if array.kind in FLOATS else np.asarray(array).astype(np.float64)


def to_float(kind, x, saturate=1):
    """Nearest, ties to the even code. Four bits always saturate."""
    x = np.asarray(x, np.float64)
    sign_bit = 1 << CODED_TYPES[kind][1] - 1
    table = TABLES[kind][:sign_bit]
    table = table[np.isfinite(table)]  # from 0 up, one code after the other
    largest = table.size - 1
    table = np.append(table, 2 * table[-1] - table[-2])  # where the next one would be
    magnitude = np.abs(x)
    low = np.clip(np.searchsorted(table, magnitude, "right") - 1, 0, largest)
    middle = (table[low] + table[low + 1]) / 2
    code = low + ((magnitude > middle) | (magnitude == middle) & (low % 2 == 1))
    is_beyond, is_nan = code > largest, np.isnan(x)
    code = np.minimum(code, largest)
    if not saturate and kind == "float8e5m2":
        code = np.where(is_beyond, 0x7C, code)
    elif not saturate and kind != "float4e2m1":
        is_nan = is_nan | is_beyond
    has_sign = np.signbit(x) & ((code > 0) | (not kind.endswith("fnuz")))
    return coded(kind, np.where(is_nan, NAN[kind], np.where(has_sign, code | sign_bit, code)))


def to_power(x, mode="up", saturate=1):
    magnitude = np.abs(np.asarray(x, np.float32).astype(np.float64))
    powers = np.append(TABLES["float8e8m0"][:255], 2.0**128)
    low = np.clip(np.searchsorted(powers, magnitude, "right") - 1, 0, 254)
    high = np.where(magnitude <= powers[low], low, low + 1)
    near = np.where(magnitude * 2 >= powers[low] * 3, low + 1, low)
    code = {"up": high, "down": low, "nearest": near}[mode]
    code = np.minimum(code, 254 if saturate else 255)
    return coded("float8e8m0", np.where(np.isfinite(x), code, 255))


def to_integer(kind, x):
    """Wraps, also floats behind the 32-bit integer they are cut to."""
    bits = CODED_TYPES[kind][1]
    whole = np.trunc(np.clip(np.nan_to_num(np.asarray(x, np.float64)), -(2.0**31), 2.0**31 - 1)).astype(np.int64)
    low = whole & (1 << bits) - 1
    return coded(kind, np.where(low >= 1 << bits - 1, low - (1 << bits), low) if kind.startswith("int") else low)


def convert(kind, x, **how):
    if kind in INTEGERS:
        return to_integer(kind, x)
    return to_power(x, how.get("mode", "up"), how.get("saturate", 1)) if kind == "float8e8m0" else to_float(
        kind, x, **how)


def all_of(kind):
    if kind in INTEGERS:
        low, high = INTEGERS[kind]
        return coded(kind, np.arange(low, high + 1))
    return coded(kind, np.arange(1 << CODED_TYPES[kind][1]))


def number(kind):
    return CODED_TYPES[kind][0]


# --- Cast: every code of every type, every float16, and both ways to overflow
halves = np.arange(65536, dtype=np.uint16).view(np.float16)
with np.errstate(over="ignore", invalid="ignore"):
    for kind in KINDS:
        codes = all_of(kind)
        case(f"to float32 {kind}", "Cast", 25, [codes], [values(codes).astype(np.float32)], dict(to=1), 0, 0)
        case(f"to float16 {kind}", "Cast", 25, [codes], [values(codes).astype(np.float16)], dict(to=10), 0, 0)
        case(f"from float16 {kind}", "Cast", 25, [halves], [convert(kind, halves)], dict(to=number(kind)))
        bytes_ = np.arange(-128, 128, dtype=np.int8)
        case(f"from int8 {kind}", "Cast", 25, [bytes_], [convert(kind, bytes_)], dict(to=number(kind)))
        for other in KINDS:
            if other != kind:
                case(f"{kind} to {other}", "Cast", 25, [codes], [convert(other, values(codes))], dict(to=number(other)))
    for kind in FLOATS:
        if kind != "float8e8m0":
            case(f"unsaturated {kind}", "Cast", 25, [halves], [convert(kind, halves, saturate=0)],
                 dict(to=number(kind), saturate=0))
            case(f"castlike {kind}", "CastLike", 25, [halves, coded(kind, [])], [convert(kind, halves)])
    # Around every power of two, its neighbours and what lies halfway.
    powers = np.ldexp(1.0, np.arange(-149, 128)).astype(np.float32)
    near = np.concatenate([powers, powers * np.float32(1.5), np.nextafter(powers, 0, dtype=np.float32),
                           np.nextafter(powers * np.float32(1.5), 0, dtype=np.float32),
                           np.nextafter(powers, np.inf, dtype=np.float32)])
    near = np.concatenate([near, -near, np.float32([0, -0.0, np.inf, -np.inf, np.nan, 3.4e38])])
    for mode in ("up", "down", "nearest"):
        for saturate in (0, 1):
            case(f"e8m0 {mode} {saturate}", "Cast", 25, [near], [to_power(near, mode, saturate)],
                 dict(to=24, round_mode=mode, saturate=saturate))

# --- Movement of packed elements, with rows that fill whole bytes and rows that do not
for kind in KINDS:
    everything = all_of(kind)
    for shape in ((3, 5, 7), (2, 3, 8)):
        count = int(np.prod(shape))
        x = coded(kind, np.asarray(everything)[rng.integers(0, everything.size, count)].reshape(shape))
        turned = coded(kind, np.asarray(x).transpose(2, 0, 1))
        case(f"transpose {kind} {shape}", "Transpose", 24, [x], [turned], dict(perm=[2, 0, 1]))
        case(f"constant {kind} {shape}", "Transpose", 24, [x], [turned], dict(perm=[2, 0, 1]), const=(0,))
        case(f"reshape {kind} {shape}", "Reshape", 24, [x, np.int64([-1])], [coded(kind, np.asarray(x).ravel())],
             const=(1,))
        case(f"identity {kind} {shape}", "Identity", 24, [x], [x])
        case(f"to f32 {kind} {shape}", "Cast", 25, [x], [values(x).astype(np.float32)], dict(to=1), 0, 0, (0,))

# --- Quantization per tensor, axis and block
x = (rng.standard_normal((4, 6, 5)) * 8).astype(np.float32)
scales = np.float32([0.5, 1, 2, 4])
for kind in KINDS:
    if kind == "float8e8m0":
        continue
    by_axis = scales.reshape(4, 1, 1)
    blocks = scales[rng.integers(0, 4, (4, 3, 5))]
    by_block = np.repeat(blocks, 2, 1)
    zeros = coded(kind, rng.integers(0, 2, 4)) if kind in INTEGERS else None
    shift = 0 if zeros is None else np.asarray(zeros).reshape(4, 1, 1)

    def quantize(x, scale, shift, kind=kind):
        if kind in FLOATS:
            return to_float(kind, x / scale)
        return coded(kind, np.clip(np.rint(x / scale) + shift, *INTEGERS[kind]))

    case(f"quantize axis {kind}", "QuantizeLinear", 25, [x, scales, zeros], [quantize(x, by_axis, shift)],
         dict(axis=0, output_dtype=number(kind)))
    case(f"quantize block {kind}", "QuantizeLinear", 25, [x, blocks, None], [quantize(x, by_block, 0)],
         dict(axis=1, block_size=2, output_dtype=number(kind)))
    q = quantize(x, by_axis, shift)
    with np.errstate(invalid="ignore"):
        case(f"dequantize axis {kind}", "DequantizeLinear", 25, [q, scales, zeros],
             [((values(q) - shift) * by_axis).astype(np.float32)], dict(axis=0))
        case(f"dequantize block {kind}", "DequantizeLinear", 25, [q, blocks, None],
             [(values(q) * by_block).astype(np.float32)], dict(axis=1, block_size=2), const=(0,))
