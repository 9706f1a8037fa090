"""Arrays that are on a device already, by DLPack."""
from __future__ import annotations

from typing import Any, Mapping

from . import _abi
from ._dlpack import Exported, exported
from ._errors import SvodError

_CUDA = 2  # kDLCUDA
_DEFAULT_STREAM = 1  # what the runtime waits for


def is_on_device(value: Any) -> bool:
    return hasattr(value, "__dlpack_device__") and int(value.__dlpack_device__()[0]) == _CUDA


def from_device(value: Any, port: str) -> Exported:
    """The memory of `value`, without a copy: what was given to the default stream until a run begins is done before it."""
    array = exported(value, port, stream=_DEFAULT_STREAM)
    if not array.is_dense:
        raise SvodError(f"'{port}' gets an array of a device that is not dense in C order", "input-mismatch", "make it contiguous first")
    return array


def options_array(devices: Mapping[str | None, Mapping[str, Any]] | None) -> Any:
    """{"gpu": {"number": 1}, None: {"jit": "off"}} for the runtime: None is every device."""
    rows = [(name.encode() if name else None, option.encode(), str(value).encode())
            for name, options in (devices or {}).items() for option, value in options.items()]
    return (_abi.DeviceOption * len(rows))(*[_abi.DeviceOption(*row) for row in rows])
