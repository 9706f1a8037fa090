"""Arrays that a graph has as weights, and their file."""
from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from ._arrays import PACKED, from_any, from_numbers
from ._dlpack import exported
from ._errors import SvodError
from ._text import dtype_text

_ALIGNED = 64
_NAMES = {"bool": "BOOL", "bf16": "BF16", "f8e4m3": "F8_E4M3", "f8e5m2": "F8_E5M2", "f8e8m0": "F8_E8M0"}


@dataclass(frozen=True)
class Weight:
    """Elements as the runtime has them: bits, where numpy lacks the type."""
    dtype: str
    array: numpy.ndarray

    def is_shown(self, most: int) -> bool:
        """Whether its elements stand in the text, where numbers have values and not bits."""
        return self.array.size <= most and self.dtype in ("bool", "f32", "f64", "f16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")


def array_of(data: Any, name: str, dtype: str | None) -> tuple[str, numpy.ndarray]:
    """The element type and a copy of the elements of an array, a tensor, or numbers; `dtype` is what they become."""
    if isinstance(data, (list, tuple, int, float)):
        plain = numpy.asarray(data)
        if dtype is None and plain.dtype.kind == "f":
            plain = plain.astype(numpy.float32)  # as numbers of a graph file
        data = plain
    if hasattr(data, "detach"):  # a parameter of torch
        data = data.detach()
    found = dtype_of_array(data, name)
    if dtype is None or dtype == found:
        return found, from_any(data, found, name).copy()
    return dtype, from_numbers(data if isinstance(data, numpy.ndarray) else from_any(data, found, name), dtype, name).copy()


def dtype_of_array(data: Any, name: str) -> str:
    if not isinstance(data, (numpy.ndarray, numpy.generic)) and hasattr(data, "__dlpack__"):
        return exported(data, name).dtype
    dtype = numpy.asarray(data).dtype
    if dtype.kind not in "biufV":
        raise SvodError(f"'{name}' is an array of {dtype}", "unknown-dtype", "give an array of numbers")
    return dtype_text(dtype)


def write_safetensors(path: Path, weights: dict[str, Weight]) -> None:
    """The file format of Hugging Face: a table as JSON, and the elements in its order."""
    table, parts, at = {}, [], 0
    for name, weight in weights.items():
        if weight.dtype not in _NAMES and weight.dtype[0] == "f" and weight.dtype not in ("f16", "f32", "f64") or weight.dtype in PACKED:
            raise SvodError(f"the weight '{name}' is {weight.dtype}, which files of weights lack", "unsupported",
                            "give its bits as u8, and bitcast them", 3)
        data = weight.array.tobytes()
        table[name] = {"dtype": _NAMES.get(weight.dtype, weight.dtype.upper()), "shape": list(weight.array.shape),
                       "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    head = json.dumps(table).encode()
    head += b" " * (-(len(head) + 8) % _ALIGNED)
    with open(path, "wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        file.writelines(parts)
