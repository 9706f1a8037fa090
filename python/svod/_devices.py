"""Arrays that are on a device already, by DLPack."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, Mapping

from . import _abi
from ._errors import SvodError

_CUDA = 2  # kDLCUDA
_DEFAULT_STREAM = 1  # what the runtime waits for
_KINDS = {0: "i", 1: "u", 2: "f", 4: "bf"}
_BOOL = 6


class _Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8),
                ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]


@dataclass(frozen=True)
class DeviceArray:
    """Memory of a CUDA device. `keeps` keeps it there."""
    data: int
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    keeps: Any


def is_on_device(value: Any) -> bool:
    return hasattr(value, "__dlpack_device__") and int(value.__dlpack_device__()[0]) == _CUDA


def from_device(value: Any, port: str) -> DeviceArray:
    """The memory of `value`, without a copy: what was given to the default stream until a run begins is done before it."""
    capsule = value.__dlpack__(stream=_DEFAULT_STREAM)
    # The capsule stays what it is, so whoever made it frees the tensor when this lets go of it.
    tensor = ctypes.cast(_pointer_of(capsule, b"dltensor"), POINTER(_Tensor)).contents
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    dense, count = True, 1
    for axis in reversed(range(tensor.ndim)):
        dense = dense and (not tensor.strides or shape[axis] == 1 or tensor.strides[axis] == count)
        count *= shape[axis]
    if not dense or tensor.lanes != 1:
        raise SvodError(f"'{port}' gets an array of a device that is not dense in C order", "input-mismatch", "make it contiguous first")
    dtype = "bool" if tensor.code == _BOOL else f"{_KINDS.get(tensor.code, '?')}{tensor.bits}"
    return DeviceArray((tensor.data or 0) + tensor.byte_offset, dtype, shape, count * tensor.bits // 8, (capsule, value))


def options_array(devices: Mapping[str | None, Mapping[str, Any]] | None) -> Any:
    """{"gpu": {"number": 1}, None: {"jit": "off"}} for the runtime: None is every device."""
    rows = [(name.encode() if name else None, option.encode(), str(value).encode())
            for name, options in (devices or {}).items() for option, value in options.items()]
    return (_abi.DeviceOption * len(rows))(*[_abi.DeviceOption(*row) for row in rows])
