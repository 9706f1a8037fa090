"""What a run returns, and where a caller says that it is to lie."""
from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Dict

import numpy

from ._arrays import ML, NUMPY
from ._errors import SvodError

if TYPE_CHECKING:
    from ._plan import Plan

_OF_TORCH = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
             "bool": "bool", "f16": "float16", "f32": "float32", "f64": "float64", **ML}


def is_of_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def as_tensor(torch: Any, value: numpy.ndarray, dtype: str) -> Any:
    """A tensor of torch over the memory of `value`, whose elements are of svod's `dtype`."""
    kind = getattr(torch, _OF_TORCH.get(dtype, NUMPY[dtype]), None)
    bits = torch.from_numpy(value.view(f"i{value.dtype.itemsize}"))  # which every torch takes
    return bits if kind is None else bits.view(kind)


class Outputs(Dict[str, Any]):
    """Outputs by name: those that `out` gave, tensors of torch where it or an input has one, and else numpy arrays. Elements that numpy has no
    type for are their bits there; torch() and ml_dtypes() have the values."""

    def __init__(self, values: Mapping[str, Any], dtypes: Mapping[str, str]) -> None:
        super().__init__(values)
        self.dtypes = dict(dtypes)

    def torch(self) -> dict[str, Any]:
        """Tensors of torch over the same memory."""
        try:
            import torch
        except ImportError as error:
            raise SvodError("torch is not installed", "unsupported", "pip install torch, or use the arrays of numpy", 3) from error
        tensors: dict[str, Any] = {}
        for name, value in self.items():
            is_plain = isinstance(value, numpy.ndarray) and value.dtype.kind != "V"
            tensors[name] = as_tensor(torch, value, self.dtypes[name]) if is_plain else value
        return tensors

    def ml_dtypes(self) -> dict[str, Any]:
        """Arrays whose elements have the types of ml_dtypes where numpy has none, over the same memory."""
        try:
            import ml_dtypes
        except ImportError as error:
            raise SvodError("ml_dtypes is not installed", "unsupported", "pip install ml_dtypes, or use the bits", 3) from error
        return {name: value.view(getattr(ml_dtypes, ML[self.dtypes[name]])) if self.dtypes[name] in ML and isinstance(value, numpy.ndarray) else value
                for name, value in self.items()}


def named_outputs(plan: Plan, out: Any) -> dict[str, Any]:
    """What `out` says, by name: a mapping, arrays in the order of the outputs, or the array of the only output."""
    names = list(plan.outputs)
    if out is None:
        return {}
    if isinstance(out, Mapping):
        return {name: each for name, each in out.items() if each is not None}
    if isinstance(out, (tuple, list)):
        if len(out) > len(names):
            raise SvodError(f"the plan has {len(names)} outputs, and out= has {len(out)}", "unknown-port", f"it has {', '.join(names) or 'none'}")
        return {name: each for name, each in zip(names, out) if each is not None}
    if len(names) != 1:
        raise SvodError(f"the plan has {len(names)} outputs, and out= is one array", "usage",
                        f'say which: out={{"{(names or ["y"])[0]}": array}}', 2)
    return {names[0]: out}
