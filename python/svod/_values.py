"""Values of a graph that is being built: what operators, indices and functions of numpy record."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ._errors import SvodError
from ._optable import ATTRIBUTES
from ._text import Dim, Size, dim_text, dtype_text

if TYPE_CHECKING:
    from ._graph import Block, Call, Graph


_MASKS = ("lt", "le", "gt", "ge", "eq", "ne", "isnan", "isinf", "isfinite", "any", "all")


class Value:
    """A tensor of a graph. Operators and indices are those of numpy and record ops; svod.ops has all ops as functions."""
    __array_priority__ = 1000.0

    def __init__(self, graph: Graph, name: str, block: Block, dtype: str | None = None, shape: tuple[Any, ...] | None = None,
                 kind: str = "value", made_by: Call | None = None) -> None:
        self.graph, self.name, self._block, self._dtype, self._shape, self._kind, self._made_by = graph, name, block, dtype, shape, kind, made_by

    def named(self, name: str) -> Value:
        """Gives the value a name, which kernels and profiles have too."""
        self.graph._rename(self, name)
        return self

    def _op(self, op: str, *operands: Any, **attributes: Any) -> Value:
        value: Value = self.graph._record(op, operands, attributes)[0]
        return value

    # --- Operators

    def __add__(self, other: Any) -> Value: return self._op("add", self, other)
    def __radd__(self, other: Any) -> Value: return self._op("add", other, self)
    def __sub__(self, other: Any) -> Value: return self._op("sub", self, other)
    def __rsub__(self, other: Any) -> Value: return self._op("sub", other, self)
    def __mul__(self, other: Any) -> Value: return self._op("mul", self, other)
    def __rmul__(self, other: Any) -> Value: return self._op("mul", other, self)
    def __truediv__(self, other: Any) -> Value: return self._op("div", self, other)
    def __rtruediv__(self, other: Any) -> Value: return self._op("div", other, self)
    def __floordiv__(self, other: Any) -> Value: return self._op("floordiv", self, other)
    def __rfloordiv__(self, other: Any) -> Value: return self._op("floordiv", other, self)
    def __mod__(self, other: Any) -> Value: return self._op("floormod", self, other)
    def __rmod__(self, other: Any) -> Value: return self._op("floormod", other, self)
    def __pow__(self, other: Any) -> Value: return self._op("pow", self, other)
    def __rpow__(self, other: Any) -> Value: return self._op("pow", other, self)
    def __matmul__(self, other: Any) -> Value: return self._op("matmul", self, other)
    def __rmatmul__(self, other: Any) -> Value: return self._op("matmul", other, self)
    def __and__(self, other: Any) -> Value: return self._op("and", self, other)
    def __rand__(self, other: Any) -> Value: return self._op("and", other, self)
    def __or__(self, other: Any) -> Value: return self._op("or", self, other)
    def __ror__(self, other: Any) -> Value: return self._op("or", other, self)
    def __xor__(self, other: Any) -> Value: return self._op("xor", self, other)
    def __rxor__(self, other: Any) -> Value: return self._op("xor", other, self)
    def __lshift__(self, other: Any) -> Value: return self._op("shl", self, other)
    def __rlshift__(self, other: Any) -> Value: return self._op("shl", other, self)
    def __rshift__(self, other: Any) -> Value: return self._op("shr", self, other)
    def __rrshift__(self, other: Any) -> Value: return self._op("shr", other, self)
    def __lt__(self, other: Any) -> Value: return self._op("lt", self, other)
    def __le__(self, other: Any) -> Value: return self._op("le", self, other)
    def __gt__(self, other: Any) -> Value: return self._op("gt", self, other)
    def __ge__(self, other: Any) -> Value: return self._op("ge", self, other)
    def __eq__(self, other: Any) -> Value: return self._op("eq", self, other)  # type: ignore[override]
    def __ne__(self, other: Any) -> Value: return self._op("ne", self, other)  # type: ignore[override]
    def __neg__(self) -> Value: return self._op("neg", self)
    def __pos__(self) -> Value: return self
    def __invert__(self) -> Value: return self._op("not", self)
    def __abs__(self) -> Value: return self._op("abs", self)
    __hash__ = object.__hash__

    # --- Parts

    def __getitem__(self, key: Any) -> Value:
        """A part, as in numpy: numbers, slices, `...`, None for a new axis, and one tensor of positions, which is `gather`."""
        if isinstance(key, Value) and key._is_mask():
            raise SvodError("a mask leaves as many elements as only a run can tell", "usage", "keep the shape: ops.where(mask, x, 0)", 2)
        if isinstance(key, Value) or isinstance(key, (list, numpy.ndarray)):
            return self._op("gather", self, numpy.asarray(key) if isinstance(key, list) else key, axis=0)
        keys = key if isinstance(key, tuple) else (key,)
        entries = [each for each in keys if each is not None]
        part = self if all(each is Ellipsis for each in entries) else self.graph._part(self, [_entry(each) for each in entries])
        added = _new_axes(keys)
        return part._op("unsqueeze", part, axes=added) if added else part

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assigns a part of a state or a temp."""
        self.graph.assign(self[key], value)

    def _is_mask(self) -> bool:
        return self._dtype == "bool" or (self._made_by is not None and self._made_by.op in _MASKS)

    def size(self, axis: int = 0) -> Size:
        """How long an axis is, also where only a run can tell. In shapes and slices it stands like a number."""
        if self._shape is not None and not isinstance(self._shape[axis], str):
            found = self._shape[axis]
            return found if isinstance(found, Size) else Size(str(found))
        return Size(str(int(axis)), self)

    @property
    def dtype(self) -> str:
        """The element type, of what was declared."""
        if self._dtype is None:
            raise _unknown("dtype", "ops.cast gives it another one")
        return self._dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape, of what was declared."""
        if self._shape is None:
            raise _unknown("shape", "value.size(axis) is one of its sizes, for shapes and slices")
        return self._shape

    @property
    def T(self) -> Value:
        """A matrix transposed."""
        if self._shape is not None and len(self._shape) != 2:
            raise SvodError(f"T is for matrices, and {self.name} has {len(self._shape)} axes", "usage", "use mT, or transpose with an order", 2)
        return self.mT

    @property
    def mT(self) -> Value:
        return self._op("transpose", self)

    # --- Methods of arrays

    def astype(self, dtype: Any) -> Value: return self._op("cast", self, dtype=dtype_text(dtype))
    def reshape(self, *shape: Any) -> Value: return self._op("reshape", self, shape=_flat(shape))
    def flatten(self) -> Value: return self.reshape(-1)
    def ravel(self) -> Value: return self.reshape(-1)
    def copy(self) -> Value: return self
    def dot(self, other: Any) -> Value: return self._op("matmul", self, other)
    def transpose(self, *order: Any) -> Value: return self._op("permute", self, order=_flat(order)) if order else self.T
    def swapaxes(self, axis1: int, axis2: int) -> Value: return self._op("transpose", self, axis0=axis1, axis1=axis2)
    def squeeze(self, axis: Any = None) -> Value: return self._op("squeeze", self, axes=axis)
    def clip(self, min: Any = None, max: Any = None) -> Value: return self._op("clip", self, min=min, max=max)
    def sum(self, axis: Any = None, keepdims: bool = False) -> Value: return self._fold("sum", axis, keepdims)
    def prod(self, axis: Any = None, keepdims: bool = False) -> Value: return self._fold("prod", axis, keepdims)
    def max(self, axis: Any = None, keepdims: bool = False) -> Value: return self._fold("reduce_max", axis, keepdims)
    def min(self, axis: Any = None, keepdims: bool = False) -> Value: return self._fold("reduce_min", axis, keepdims)
    def mean(self, axis: Any = None, keepdims: bool = False) -> Value: return self._fold("mean", axis, keepdims)
    def any(self, axis: Any = None, keepdims: bool = False) -> Value: return self._fold("any", axis, keepdims)
    def all(self, axis: Any = None, keepdims: bool = False) -> Value: return self._fold("all", axis, keepdims)

    def var(self, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Value:
        return self._op("var", self, axes=axis, keepdims=keepdims or None, correction=ddof or None)

    def std(self, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Value:
        return self._op("std", self, axes=axis, keepdims=keepdims or None, correction=ddof or None)

    def argmax(self, axis: int, keepdims: bool = False) -> Value: return self._op("argmax", self, axis=axis, keepdims=keepdims or None)
    def argmin(self, axis: int, keepdims: bool = False) -> Value: return self._op("argmin", self, axis=axis, keepdims=keepdims or None)
    def cumsum(self, axis: int) -> Value: return self._op("cumsum", self, axis=axis)

    def _fold(self, op: str, axis: Any, keepdims: bool) -> Value:
        return self._op(op, self, axes=axis, keepdims=keepdims or None)

    # --- What a value cannot be

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        from ._numpy import recorded_ufunc
        return recorded_ufunc(ufunc, method, inputs, named)

    def __array_function__(self, function: Any, types: Any, inputs: Any, named: Any) -> Any:
        from ._numpy import recorded_function
        return recorded_function(function, inputs, named)

    def __bool__(self) -> bool:
        raise _no_number("whether it is true", "use ops.where for elements, graph.branch and graph.loop for statements")

    def __float__(self) -> float: raise _no_number("its number", "compute with the value itself")
    def __int__(self) -> int: raise _no_number("its number", "compute with the value itself")
    def __index__(self) -> int: raise _no_number("its number", "rows by a tensor are x[positions], or ops.gather")
    def __len__(self) -> int: raise _no_number("its length", "value.size(0) is that, for shapes and slices")
    def __iter__(self) -> Any: raise _no_number("its elements", "ops.split cuts it into values, graph.loop goes over an axis")
    def __array__(self, *_: Any, **__: Any) -> Any: raise _no_number("its elements", "use functions of svod.ops, or those of numpy that record")

    if not TYPE_CHECKING:  # which knows the names there are
        def __getattr__(self, name: str) -> Any:
            help = f": svod.ops.{name}(value) does that" if name in ATTRIBUTES else "; svod.ops has functions for all ops" if name[0] != "_" else ""
            raise AttributeError(f"a value of a graph has no '{name}'{help}")

    def __repr__(self) -> str:
        typed = f": {self._dtype}{list(self._shape)}" if self._dtype and self._shape is not None else ""
        return f"<svod.Value {self.name}{typed}>"


def _unknown(what: str, help: str) -> SvodError:
    return SvodError(f"the {what} of a computed value is known to svodc, not to Python", "usage", help, 2)


def _no_number(what: str, help: str) -> SvodError:
    return SvodError(f"a value of a graph is known when a plan runs, and Python asks for {what}", "usage", help, 2)


def _flat(words: tuple[Any, ...]) -> Any:
    return words[0] if len(words) == 1 and isinstance(words[0], (tuple, list)) else list(words)


def _entry(key: Any) -> Any:
    """Of an index, as text that is made when the names are known."""
    if key is Ellipsis:
        return lambda: "..."
    if isinstance(key, slice):
        def text(part: Dim | None) -> str:
            return "" if part is None else dim_text(part)
        step = key.step
        if step is not None and (isinstance(step, bool) or not isinstance(step, (int, numpy.integer)) or step == 0):
            raise SvodError(f"a step of {step!r}", "usage", "steps of slices are integers other than 0", 2)
        return lambda: f"{text(key.start)}:{text(key.stop)}" + ("" if step is None else f":{step}")
    if isinstance(key, (bool, numpy.bool_, Value, numpy.ndarray, list)):
        raise SvodError("a tensor among other indices", "usage",
                        "a mask is ops.where(mask, x, 0); several tensors of positions are ops.gather_at", 2)
    dim_text(key)  # which refuses what is no size
    return lambda: dim_text(key)


def _new_axes(keys: tuple[Any, ...]) -> list[int]:
    """Which axes of the result None adds; behind an ellipsis they count from the end."""
    kept = [each for each in keys if each is None or each is Ellipsis or isinstance(each, slice)]
    dots = kept.index(Ellipsis) if any(each is Ellipsis for each in kept) else len(kept)
    return [place if place < dots else place - len(kept) for place, each in enumerate(kept) if each is None]
