"""Between arrays of Python and the memory of ports."""
from __future__ import annotations

from typing import Any, Sequence

import numpy

from ._dlpack import Exported, as_numpy, exported
from ._errors import SvodError

# Elements that numpy has no type for are their bits, unless ml_dtypes is there; those of 2 and 4 bits have a byte each.
NUMPY = {"bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
         "f16": "f2", "f32": "f4", "f64": "f8", "bf16": "u2", "f8e4m3": "u1", "f8e4m3fnuz": "u1", "f8e5m2": "u1",
         "f8e5m2fnuz": "u1", "f8e8m0": "u1", "i2": "i1", "u2": "u1", "i4": "i1", "u4": "u1", "f4e2m1": "u1"}
ML = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2": "float8_e5m2",
      "f8e5m2fnuz": "float8_e5m2fnuz", "f8e8m0": "float8_e8m0fnu"}
LINE = 64
PACKED = {"i2": 2, "u2": 2, "i4": 4, "u4": 4, "f4e2m1": 4}  # bits


def dtype_of(name: str) -> numpy.dtype[Any]:
    """The numpy dtype of an element type of svod."""
    return numpy.dtype(NUMPY[name])


def aligned_empty(shape: Sequence[int], kind: Any) -> numpy.ndarray:
    """numpy.empty where a cache line begins: kernels that write past the caches do so where their vectors are aligned."""
    kind = numpy.dtype(kind)
    size = int(numpy.prod(shape, dtype=numpy.int64)) * kind.itemsize
    memory = numpy.empty(size + LINE, numpy.uint8)
    start = -memory.ctypes.data % LINE
    array: numpy.ndarray = memory[start:start + size].view(kind).reshape(shape)
    return array


def from_any(value: Any, name: str, port: str) -> numpy.ndarray:
    """An array in the memory order of svod; shares the memory of `value` where that has it."""
    if isinstance(value, (list, tuple)) or numpy.isscalar(value):
        numbers = from_numbers(value, name, port)
        return numpy.ascontiguousarray(numbers).reshape(numbers.shape)
    wanted = dtype_of(name)
    if isinstance(value, numpy.ndarray) or not hasattr(value, "__dlpack__"):
        array = numpy.asarray(value)
        if array.dtype.name == ML.get(name):
            array = array.view(wanted)
        if array.dtype != wanted:
            raise _mismatch(name, port, str(array.dtype))
    else:
        other = exported(value, port)
        if not _are(other, name):
            raise _mismatch(name, port, other.dtype)
        array = as_numpy(other, wanted)
    array = numpy.ascontiguousarray(array).reshape(array.shape)
    return array if array.flags.aligned else array.copy()


def _are(array: Exported, name: str) -> bool:
    """Elements of that type, or their bits where numpy has no such type."""
    kind = dtype_of(name)
    return array.dtype == name or ((name in ML or name in PACKED) and array.dtype == f"{kind.kind}{8 * kind.itemsize}")


def _mismatch(name: str, port: str, got: str) -> SvodError:
    wanted = dtype_of(name).name
    if name in ML:
        return SvodError(f"'{port}' is {name} and gets an array of {got}", "input-mismatch",
                         f"give it as {ML[name]} of ml_dtypes or torch, or the bits of the values as {wanted}")
    return SvodError(f"'{port}' is {name} and gets an array of {got}", "input-mismatch", f"give it elements of {wanted}")


def from_numbers(value: Any, name: str, port: str) -> numpy.ndarray:
    """Numbers of Python, or an array of any dtype, as elements that hold them. Floats are rounded, nothing else is changed."""
    wanted = dtype_of(name)
    try:
        plain = numpy.asarray(value)
        if plain.dtype.name == ML.get(name):
            return plain.view(wanted)
        if name in ML and plain.dtype.kind == "f":
            return _bits_of(plain, name)
        with numpy.errstate(invalid="ignore"):
            array = plain.astype(wanted)
        is_held = wanted.kind == "f" and plain.dtype.kind in "fiub" or plain.size == 0 or bool((array == plain).all())
    except (TypeError, ValueError, OverflowError) as error:
        raise SvodError(f"'{port}' is {name} and gets {value!r:.60}: {error}", "input-mismatch", "give it numbers") from error
    if not is_held:
        raise SvodError(f"'{port}' is {name}, which cannot hold all of {value!r:.60}", "input-mismatch",
                        "give it numbers in the range of the element type, whole ones where it has no fractions")
    return array


def _bits_of(values: numpy.ndarray, name: str) -> numpy.ndarray:
    """Floats rounded to the nearest, ties to even."""
    if name == "bf16":
        bits = values.astype(numpy.float32).view(numpy.uint32)
        rounded = (bits + (0x7fff + ((bits >> 16) & 1)).astype(numpy.uint32)) >> 16
        return numpy.where(numpy.isnan(values), (bits >> 16) | 0x40, rounded).astype(numpy.uint16)
    try:
        import ml_dtypes
    except ImportError as error:
        raise SvodError(f"numpy has no {name} to round floats to", "input-mismatch",
                        "install ml_dtypes, or give whole numbers: the bits of the values") from error
    return values.astype(getattr(ml_dtypes, ML[name])).view(dtype_of(name))


def for_output(value: Any, name: str, shape: tuple[int, ...], port: str) -> numpy.ndarray:
    """The memory of an array that a result is to lie in."""
    def refused(got: str) -> SvodError:
        return SvodError(f"output '{port}' is {name}{list(shape)}, and cannot lie in {got}", "input-mismatch",
                         "give a writable C-contiguous array of this shape and element type, or none")
    if name in PACKED:
        raise SvodError(f"output '{port}' is {name}, whose elements share bytes, and cannot lie in an array", "input-mismatch",
                        "leave it out of out=")
    if isinstance(value, numpy.ndarray):
        is_good = value.flags.c_contiguous and value.flags.writeable and value.flags.aligned
        is_good = is_good and (value.dtype == dtype_of(name) or value.dtype.name == ML.get(name))
        if not is_good or value.shape != shape:
            raise refused(f"{value.dtype}{list(value.shape)}" + ("" if value.flags.writeable else ", which is read-only"))
        return value
    if not hasattr(value, "__dlpack__"):
        raise refused(f"a {type(value).__name__}")
    other = exported(value, port)
    if not _are(other, name) or other.shape != shape or not other.is_dense or other.is_read_only:
        raise refused(f"{other.dtype}{list(other.shape)}" + (", which is read-only" if other.is_read_only else ""))
    return as_numpy(other, dtype_of(name))


def pack(array: numpy.ndarray, name: str, port: str) -> numpy.ndarray:
    """Elements share bytes, the first in the low bits."""
    bits = PACKED[name]
    least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if name.startswith("i") else (0, (1 << bits) - 1)
    if array.size > 0 and not least <= int(array.min()) <= int(array.max()) <= most:
        raise SvodError(f"'{port}' is {name}, which has {least} to {most}, and gets {int(array.min())} to {int(array.max())}", "input-mismatch",
                        "give it elements in this range")
    codes = array.reshape(-1).view(numpy.uint8) & ((1 << bits) - 1)
    each = 8 // bits
    codes = numpy.concatenate([codes, numpy.zeros(-len(codes) % each, numpy.uint8)]).reshape(-1, each)
    packed: numpy.ndarray = numpy.bitwise_or.reduce(codes << (numpy.arange(each, dtype=numpy.uint8) * bits), axis=1)
    return packed.astype(numpy.uint8)


def unpack(memory: numpy.ndarray, name: str, shape: Sequence[int]) -> numpy.ndarray:
    bits = PACKED[name]
    codes = (memory[:, None] >> (numpy.arange(8 // bits, dtype=numpy.uint8) * bits)) & ((1 << bits) - 1)
    codes = codes.reshape(-1)[:int(numpy.prod(shape, dtype=numpy.int64))].reshape(shape)
    if not name.startswith("i"):
        return codes
    half = 1 << (bits - 1)
    return (codes.astype(numpy.int8) ^ half) - half
