"""The text form of graph files: names, element types, sizes and attributes."""
from __future__ import annotations

import math
import re
from typing import Any, Union

import numpy

from ._arrays import ML, NUMPY
from ._errors import SvodError

_PLAIN = re.compile(r"[^\W\d][\w.]*")
_WORDS = {"true", "false", "inf", "nan", "var", "input", "weight", "state", "temp", "assign", "output", "loop", "if", "else", "repeat", "def",
          "return"}
_OF_NUMPY = {numpy.dtype(code).name: name for name, code in NUMPY.items() if name not in ML and name[1:] not in ("2", "4") and name != "f4e2m1"}
_OF_ML = {name: dtype for dtype, name in ML.items()}


class Size:
    """A size that a run gives, or an expression over such: graph.var("n", 1, 64), 2 * n + 1, x.size(0)."""

    def __init__(self, text: str, of: Any = None) -> None:
        self.text, self.of = text, of  # `of` is the value whose size it is, which has no name until the text is written

    def _with(self, sign: str, left: Dim, right: Dim) -> Size:
        for each in (left, right):
            if isinstance(each, bool) or not isinstance(each, (int, numpy.integer, Size)):
                return NotImplemented  # type: ignore[no-any-return]
        return _Made(sign, left, right)

    def __add__(self, other: Dim) -> Size: return self._with("+", self, other)
    def __radd__(self, other: Dim) -> Size: return self._with("+", other, self)
    def __sub__(self, other: Dim) -> Size: return self._with("-", self, other)
    def __rsub__(self, other: Dim) -> Size: return self._with("-", other, self)
    def __mul__(self, other: Dim) -> Size: return self._with("*", self, other)
    def __rmul__(self, other: Dim) -> Size: return self._with("*", other, self)
    def __floordiv__(self, other: Dim) -> Size: return self._with("//", self, other)
    def __mod__(self, other: Dim) -> Size: return self._with("%", self, other)
    def __neg__(self) -> Size: return self._with("-", 0, self)

    def __str__(self) -> str:
        return f"size({name_text(self.of.name)}, axis={self.text})" if self.of is not None else name_text(self.text)

    def __repr__(self) -> str:
        return f"<svod.Size {self}>"

    def __bool__(self) -> bool:
        raise SvodError(f"the size {self} is known when a plan runs, and Python asks for it", "usage",
                        "compute with it in graphs: graph.branch, graph.loop, ops.where", 2)

    def __index__(self) -> int:
        raise SvodError(f"the size {self} is known when a plan runs, and Python asks for its number", "usage",
                        "give it as it is, or bind it: svod.compile(graph, var={..})", 2)


class _Made(Size):
    def __init__(self, sign: str, left: Dim, right: Dim) -> None:
        super().__init__(sign)
        self.sides = (left, right)

    def __str__(self) -> str:
        left, right = (f"({each})" if isinstance(each, _Made) else str(each) for each in self.sides)
        return f"{left} {self.text} {right}"


Dim = Union[int, Size]


def name_text(name: str) -> str:
    if _PLAIN.fullmatch(name) and name not in _WORDS:
        return name
    return "`" + _escaped(name).replace("`", "\\`") + "`"


def string_text(text: str) -> str:
    return '"' + _escaped(text).replace('"', '\\"') + '"'


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    return re.sub(r"[\x00-\x1f\x7f]", lambda m: f"\\x{ord(m[0]):02x}", text)


def number_text(value: Any) -> str:
    value = value.item() if isinstance(value, numpy.generic) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(value) if math.isfinite(value) else "nan" if value != value else "inf" if value > 0 else "-inf"
    return str(value)


def dtype_text(dtype: Any) -> str:
    """Of an element type by its name, or of one of numpy, ml_dtypes or torch."""
    if isinstance(dtype, str) and dtype in NUMPY:
        return dtype
    if isinstance(dtype, (tuple, list)):
        raise SvodError(f"{dtype!r} is no element type", "unknown-dtype",
                        'the element type comes before the shape: graph.input("x", "f32", (2, 3))')
    name = str(dtype)[6:] if str(dtype).startswith("torch.") else ""
    if not name:
        try:
            name = numpy.dtype(dtype).name
        except TypeError:
            name = str(dtype)
    found = _OF_NUMPY.get(name) or _OF_ML.get(name)
    if found is None:
        raise SvodError(f"{dtype!r} is no element type", "unknown-dtype", f"there are {', '.join(NUMPY)}")
    return found


def shape_text(shape: Any) -> str:
    if isinstance(shape, (int, Size, str, numpy.integer)):
        shape = (shape,)
    return f"[{', '.join(dim_text(each) for each in shape)}]" if len(shape) > 0 else ""


def dim_text(dim: Any) -> str:
    if isinstance(dim, bool) or not isinstance(dim, (int, numpy.integer, Size, str)):
        raise SvodError(f"{dim!r} is no size", "bad-attribute", "give an integer, or a size of graph.var or value.size")
    return str(dim)


def attribute_text(value: Any, kind: str) -> str:
    """`kind` is the type in the table of ops: int, float, bool, dtype, dim, word, ints, floats, dims, or a choice of words."""
    if kind == "dtype":
        return dtype_text(value)
    if kind in ("ints", "floats", "dims") and isinstance(value, (list, tuple, numpy.ndarray)):
        return f"[{', '.join(attribute_text(each, kind[:-1]) for each in value)}]"
    if kind in ("dim", "dims"):
        return dim_text(value)
    if kind == "word":
        return string_text(str(value))
    if "|" in kind:
        return str(value) if _PLAIN.fullmatch(str(value)) else string_text(str(value))
    wanted: Any = {"int": (int, numpy.integer), "ints": (int, numpy.integer), "bool": (bool, numpy.bool_)}.get(kind, (int, float, numpy.number))
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind != "bool"):
        one = "a list of" if kind[-1] == "s" else "an" if kind == "int" else "a"
        raise SvodError(f"{value!r} is no {kind.rstrip('s')}", "bad-attribute", f"give {one} {kind}")
    return number_text(value)
