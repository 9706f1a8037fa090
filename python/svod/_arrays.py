"""Between arrays of Python and the memory of ports."""
from __future__ import annotations

from typing import Any, Sequence

import numpy

from ._errors import SvodError

# Elements that numpy has no type for are their bits, unless ml_dtypes is there; those of 2 and 4 bits have a byte each.
NUMPY = {"bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
         "f16": "f2", "f32": "f4", "f64": "f8", "bf16": "u2", "f8e4m3": "u1", "f8e4m3fnuz": "u1", "f8e5m2": "u1",
         "f8e5m2fnuz": "u1", "f8e8m0": "u1", "i2": "i1", "u2": "u1", "i4": "i1", "u4": "u1", "f4e2m1": "u1"}
ML = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2": "float8_e5m2",
      "f8e5m2fnuz": "float8_e5m2fnuz", "f8e8m0": "float8_e8m0fnu"}
LINE = 64
PACKED = {"i2": 2, "u2": 2, "i4": 4, "u4": 4, "f4e2m1": 4}  # bits


def dtype_of(name: str) -> numpy.dtype:
    """The numpy dtype of an element type of svod."""
    return numpy.dtype(NUMPY[name])


def aligned_empty(shape: Sequence[int], kind: Any) -> numpy.ndarray:
    """numpy.empty where a cache line begins: kernels that write past the caches do so where their vectors are aligned."""
    kind = numpy.dtype(kind)
    size = int(numpy.prod(shape, dtype=numpy.int64)) * kind.itemsize
    memory = numpy.empty(size + LINE, numpy.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start:start + size].view(kind).reshape(shape)


def from_any(value: Any, name: str, port: str) -> numpy.ndarray:
    """An array in the memory order of svod; shares the memory of `value` where that has it."""
    if isinstance(value, numpy.ndarray) or numpy.isscalar(value) or isinstance(value, (list, tuple)):
        array = numpy.asarray(value)
    elif hasattr(value, "__dlpack__"):
        try:
            array = numpy.from_dlpack(value)
        except (TypeError, RuntimeError, BufferError) as error:
            raise SvodError(f"'{port}' gets an array that numpy cannot take by DLPack: {error}", "input-mismatch",
                            "give it on the CPU, without a gradient, in a dtype that numpy has") from error
    else:
        array = numpy.asarray(value)
    wanted = dtype_of(name)
    if array.dtype.name == ML.get(name):
        array = array.view(wanted)
    if array.dtype != wanted and not isinstance(value, (list, tuple)) and not numpy.isscalar(value):
        raise SvodError(f"'{port}' is {name} and gets an array of {array.dtype}", "input-mismatch",
                        f"give it elements of {wanted.name}" + (", which are the bits of the values" if name in ML else ""))
    array = numpy.ascontiguousarray(array, wanted).reshape(array.shape)
    return array if array.flags.aligned else array.copy()


def pack(array: numpy.ndarray, bits: int) -> numpy.ndarray:
    """Elements share bytes, the first in the low bits."""
    codes = array.reshape(-1).view(numpy.uint8) & ((1 << bits) - 1)
    each = 8 // bits
    codes = numpy.concatenate([codes, numpy.zeros(-len(codes) % each, numpy.uint8)]).reshape(-1, each)
    return numpy.bitwise_or.reduce(codes << (numpy.arange(each, dtype=numpy.uint8) * bits), axis=1).astype(numpy.uint8)


def unpack(memory: numpy.ndarray, name: str, shape: Sequence[int]) -> numpy.ndarray:
    bits = PACKED[name]
    codes = (memory[:, None] >> (numpy.arange(8 // bits, dtype=numpy.uint8) * bits)) & ((1 << bits) - 1)
    codes = codes.reshape(-1)[:int(numpy.prod(shape, dtype=numpy.int64))].reshape(shape)
    if not name.startswith("i"):
        return codes
    half = 1 << (bits - 1)
    return (codes.astype(numpy.int8) ^ half) - half
