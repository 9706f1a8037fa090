"""Edges of the definitions: windows that tile an axis but for its end, bounds before an axis, nothing at all."""
import numpy as np
from one_node import case
from windows import pool

rng = np.random.default_rng(5)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


# --- Windows as wide as their step, of which the last hangs over the end
x = floats(1, 2, 5, 7)
for kernel in ([2, 2], [1, 2], [3, 3], [2, 1]):
    attributes = {"kernel_shape": kernel, "strides": kernel, "ceil_mode": 1}
    tiles = {"k": kernel, "s": kernel, "ceil": True}
    case(f"max_tiles{kernel}", "MaxPool", 12, [x], [*pool(x, **tiles)], attributes)
    case(f"avg_tiles{kernel}", "AveragePool", 19, [x], [pool(x, mode="avg", **tiles)], attributes)
    case(f"lp_tiles{kernel}", "LpPool", 18, [x], [pool(x, mode="lp", **tiles)], attributes)

# --- Trilu keeps every type
for array in (rng.integers(0, 2, (2, 3, 4)).astype(bool), rng.integers(0, 9, (3, 3)).astype(np.uint8)):
    for upper, cut in ((0, np.tril), (1, np.triu)):
        case(f"trilu_{array.dtype}_{upper}", "Trilu", 14, [array, np.int64(-1)], [cut(array, -1)], {"upper": upper})

# --- Slice backwards: a start before the axis is its first element
y = floats(3, 4)
lowest = np.iinfo(np.int64).min
for start, end, want in ((-9, -99, y[:, :1]), (-9, 1, y[:, :0]), (9, -99, y[:, ::-1]), (-4, lowest, y[:, :1])):
    bounds = [np.array([v]) for v in (start, end, 1, -1)]
    case(f"slice_back{start}", "Slice", 13, [y, *bounds], [want], const=(1, 2, 3, 4))

# --- Nothing
empty = np.zeros((0, 3), np.float32)
none = np.zeros(0, np.int64)
case("hardmax_empty", "Hardmax", 13, [empty], [empty], {"axis": 0})
case("unique_empty", "Unique", 11, [empty], [empty, none, none, none], {"axis": 0})


# --- RoiAlign with a number of samples for every region
def roi_align(image, regions, batches, size, largest):
    """One output row and column per bin; samples weigh the four elements around them."""
    result = np.zeros((len(regions), image.shape[1], *size), np.float32)
    height, width = image.shape[2:]

    def terms(channel, y, x):
        if y < -1 or y > height or x < -1 or x > width:
            return [0.0]
        y, x = (min(max(v, 0.0), last - 1) for v, last in ((y, height), (x, width)))
        rows, columns = ([int(v), min(int(v) + 1, last - 1)] for v, last in ((y, height), (x, width)))
        parts = [(1 - y % 1, 1 - x % 1), (1 - y % 1, x % 1), (y % 1, 1 - x % 1), (y % 1, x % 1)]
        return [channel[rows[i // 2], columns[i % 2]] * a * b for i, (a, b) in enumerate(parts)]

    for r, (x1, y1, x2, y2) in enumerate(regions):
        bins = (y2 - y1) / size[0], (x2 - x1) / size[1]
        counts = [int(np.ceil(b)) for b in bins]
        for c, i, j in np.ndindex(result.shape[1:]):
            samples = [terms(image[batches[r], c], y1 - 0.5 + (i + (u + 0.5) / counts[0]) * bins[0],
                             x1 - 0.5 + (j + (v + 0.5) / counts[1]) * bins[1])
                       for u, v in np.ndindex(*counts)]
            result[r, c, i, j] = max(map(max, samples)) if largest else np.mean([sum(s) for s in samples])
    return result


image, batches = floats(2, 2, 6, 7), np.array([1, 0, 1])
regions = np.array([[0, 0, 6, 5], [1.5, 2, 3.1, 5.9], [-3, -2, 2.2, 8]], np.float32)
for mode in ("avg", "max"):
    case(f"roi_own_samples_{mode}", "RoiAlign", 16, [image, regions, batches],
         [roi_align(image, regions, batches, (2, 3), mode == "max")],
         {"mode": mode, "output_height": 2, "output_width": 3}, const=(1,))


# --- Mod of floats: exact for quotients of any size
mod_rng = np.random.default_rng(31)


def mod_operands(dtype, count):
    """Every exponent, subnormal numbers, zeros, infinities and NaN."""
    bits = {np.float16: np.uint16, np.float32: np.uint32, np.float64: np.uint64}[dtype]
    drawn = mod_rng.integers(0, np.iinfo(bits).max, count, bits, endpoint=True).view(dtype)
    info = np.finfo(dtype)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 7, 0.1, info.max, info.tiny, info.smallest_subnormal,
                        -3 * info.smallest_subnormal, 5.5, -7.5, 3], dtype)
    return np.concatenate([special, drawn])


with np.errstate(all="ignore"):
    for dtype in (np.float16, np.float32, np.float64):
        left, right = mod_operands(dtype, 200)[:, None], mod_operands(dtype, 200)
        case(f"fmod {np.dtype(dtype).name}", "Mod", 13, [left, right], [np.fmod(left, right)], dict(fmod=1), 0, 0)
        for divisor in (7, 0.1, 1, 8, 0.5, 0, np.inf, np.nan, -3):
            by = np.array(divisor, dtype)
            case(f"fmod {np.dtype(dtype).name} by {divisor}", "Mod", 13, [left, by], [np.fmod(left, by)], dict(fmod=1),
                 0, 0, const=(1,))
    far = np.array([1e20, 1e7, 1e5], np.float32)
    by = np.array([7, 7, 0.1], np.float32)
    case("fmod far", "Mod", 13, [far, by], [np.fmod(far, by)], dict(fmod=1), 0, 0, const=(1,))

# --- QuantizeLinear of NaN: the least integer, whatever the zero point, as in ONNX Runtime
for dtype in (np.int8, np.uint8, np.int16, np.uint16):
    for of in (np.float32, np.float16):
        x = np.resize(np.array([np.nan, 1, -np.inf, np.inf], of), 37)
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        case(f"quantize nan {np.dtype(dtype).name} {np.dtype(of).name}", "QuantizeLinear", 21,
             [x, of(1), dtype(3)], [np.resize(np.array([low, 4, low, high], dtype), 37)], const=(1, 2))
