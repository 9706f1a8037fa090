"""Memory of arrays of other libraries, by DLPack: also of element types that numpy does not have."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy

from ._errors import SvodError

_KINDS = {0: "i{}", 1: "u{}", 2: "f{}", 4: "bf{}", 6: "bool", 10: "f8e4m3", 11: "f8e4m3fnuz", 12: "f8e5m2", 13: "f8e5m2fnuz", 14: "f8e8m0"}
_READ_ONLY = 1


class _Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8),
                ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class _Versioned(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", c_void_p), ("flags", c_uint64), ("tensor", _Tensor)]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]


@dataclass(frozen=True)
class Exported:
    """Memory of an array. `keeps` keeps it there; `strides` count elements."""
    data: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    bits: int
    is_read_only: bool
    keeps: Any

    @property
    def is_dense(self) -> bool:
        return 0 in self.shape or all(size == 1 or have == want for size, have, want in zip(self.shape, self.strides, dense(self.shape)))


def dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in C order."""
    strides, count = [], 1
    for size in reversed(shape):
        strides.append(count)
        count *= size
    return tuple(reversed(strides))


def _capsule_of(value: Any, port: str, named: dict[str, Any]) -> Any:
    try:
        try:
            return value.__dlpack__(max_version=(1, 0), **named)
        except TypeError:  # an exporter that knows no versions
            return value.__dlpack__(**named)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise SvodError(f"'{port}' gets an array that cannot be taken by DLPack: {error}", "input-mismatch",
                        "give it on the CPU or a device of the plan, dense and without a gradient") from error


def exported(value: Any, port: str, **named: Any) -> Exported:
    """The memory of `value`, without a copy. The capsule stays what it is, so whoever made it frees the tensor when it goes."""
    capsule = _capsule_of(value, port, named)
    flags = 0
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = ctypes.cast(_pointer_of(capsule, b"dltensor_versioned"), POINTER(_Versioned)).contents
        tensor, flags = versioned.tensor, versioned.flags
    else:
        tensor = ctypes.cast(_pointer_of(capsule, b"dltensor"), POINTER(_Tensor)).contents
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else dense(shape)
    kind = _KINDS.get(tensor.code, "an element type unknown here, of {} bits").format(tensor.bits)
    if tensor.lanes != 1:
        kind = f"vectors of {tensor.lanes} {kind}"
    return Exported((tensor.data or 0) + tensor.byte_offset, kind, shape, strides, tensor.bits, bool(flags & _READ_ONLY), (capsule, value))


def as_numpy(array: Exported, kind: numpy.dtype[Any]) -> numpy.ndarray:
    """Memory of the host as elements of `kind`, which are as large; the numpy array keeps it."""
    if 0 in array.shape:
        return numpy.empty(array.shape, kind)
    reach = [(size - 1) * stride for size, stride in zip(array.shape, array.strides)]
    first, last = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    memory: Any = (ctypes.c_char * ((last - first + 1) * kind.itemsize)).from_address(array.data + first * kind.itemsize)
    memory.keeps = array.keeps
    return numpy.ndarray(array.shape, kind, memory, -first * kind.itemsize, tuple(stride * kind.itemsize for stride in array.strides))
