"""Arrays that are on a device already, by DLPack."""
from __future__ import annotations

import ctypes
from typing import Any, Mapping

from . import _abi
from ._dlpack import Exported, exported
from ._errors import SvodError

_CUDA = 2  # kDLCUDA
DEFAULT_STREAM = 1  # what the runtime waits for; as DLPack counts, where 0 is ambiguous
OWN_STREAM = 2 ** (8 * ctypes.sizeof(ctypes.c_void_p)) - 1  # SVOD_OWN_STREAM


def is_on_device(value: Any) -> bool:
    return hasattr(value, "__dlpack_device__") and int(value.__dlpack_device__()[0]) == _CUDA


def from_device(value: Any, port: str, stream: int | None = None) -> Exported:
    """The memory of `value`, without a copy. What fills it comes before what is given to `stream` from here on, a handle of CUDA, or
    before runs in the stream of an instance, which wait for the default stream."""
    array = exported(value, port, stream=stream or DEFAULT_STREAM)
    if not array.is_dense:
        raise SvodError(f"'{port}' gets an array of a device that is not dense in C order", "input-mismatch", "make it contiguous first")
    return array


def options_array(devices: Mapping[str | None, Mapping[str, Any]] | None) -> Any:
    """{"gpu": {"number": 1}, None: {"jit": "off"}} for the runtime: None is every device."""
    rows = [(name.encode() if name else None, option.encode(), str(value).encode())
            for name, options in (devices or {}).items() for option, value in options.items()]
    return (_abi.DeviceOption * len(rows))(*[_abi.DeviceOption(*row) for row in rows])
