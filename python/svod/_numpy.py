"""Functions of numpy on values of a graph: they record the op that computes the same."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ._errors import SvodError
from ._graph import record
from ._values import Value

_UFUNCS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "floor_divide": "floordiv", "remainder": "floormod",
    "fmod": "cmod", "power": "pow", "float_power": "pow", "matmul": "matmul", "negative": "neg", "absolute": "abs", "fabs": "abs", "sign": "sign",
    "reciprocal": "recip", "square": "square", "sqrt": "sqrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2",
    "log1p": "log1p", "log10": "log10", "sin": "sin", "cos": "cos", "tan": "tan", "tanh": "tanh", "sinh": "sinh", "cosh": "cosh",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "floor": "floor",
    "ceil": "ceil", "trunc": "trunc", "rint": "round", "maximum": "max", "minimum": "min", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "equal": "eq", "not_equal": "ne", "logical_and": "and", "logical_or": "or", "logical_xor": "xor", "logical_not": "not",
    "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "invert": "not", "left_shift": "shl", "right_shift": "shr", "isnan": "isnan",
    "isinf": "isinf", "isfinite": "isfinite"}
_FOLDS = {"sum": "sum", "prod": "prod", "max": "reduce_max", "amax": "reduce_max", "min": "reduce_min", "amin": "reduce_min", "mean": "mean",
          "any": "any", "all": "all"}
_OF_BOOLS = ("logical_and", "logical_or", "logical_xor", "logical_not")


def recorded_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], named: dict[str, Any]) -> Value:
    """numpy.exp(x), x + array and the like."""
    op, dtype = _UFUNCS.get(ufunc.__name__), named.pop("dtype", None)
    if op is None or method != "__call__" or named:
        how = ufunc.__name__ + ("" if method == "__call__" else f".{method}") + (f" with {', '.join(named)}" if named else "")
        raise _unknown(how)
    if ufunc.__name__ in _OF_BOOLS:
        inputs = tuple(record("ne", (each, 0), {})[0] if isinstance(each, Value) else each for each in inputs)
    value = record(op, inputs, {})[0]
    return value if dtype is None else value.astype(dtype)


def recorded_function(function: Any, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """numpy.sum(x, axis=0) and the like."""
    name = function.__name__.rstrip("_")
    if name in _FOLDS:
        return _fold(_FOLDS[name], *inputs, **named)
    if name not in _FUNCTIONS:
        raise _unknown(f"{getattr(function, '__module__', 'numpy')}.{name}".partition(".")[2])
    try:
        return _FUNCTIONS[name](*inputs, **named)
    except TypeError as error:
        raise SvodError(f"numpy.{name} of a value of a graph: {error}", "usage", "a function of svod.ops may do it", 2) from error


def _unknown(how: str) -> SvodError:
    return SvodError(f"numpy.{how} cannot be recorded in a graph", "unsupported", "use a function of svod.ops, or write it by others", 3)


def _one(op: str, *operands: Any, **attributes: Any) -> Value:
    return record(op, operands, attributes)[0]


def _fold(op: str, x: Any, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Value:
    return _one(op, x if dtype is None else x.astype(dtype), axes=axis, keepdims=keepdims)


def _spread(op: str, x: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Value:
    return _one(op, x, axes=axis, keepdims=keepdims, correction=ddof)


def _stacked(op: str) -> Callable[..., Value]:
    return lambda arrays, axis=0: record(op, tuple(arrays), {"axis": axis})[0]


def _pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: float = 0) -> Value:
    widths = numpy.asarray(pad_width)
    if widths.ndim != 2:
        raise TypeError("give a pair (before, after) for each axis")
    if mode not in ("constant", "reflect", "edge", "wrap"):
        raise TypeError(f"no mode {mode!r}")
    return _one("pad", x, before=[int(low) for low, _ in widths], after=[int(high) for _, high in widths], mode=mode, value=constant_values)


def _take(x: Any, indices: Any, axis: int) -> Value:
    return _one("gather", x, indices, axis=axis)


def _split(x: Any, parts: Any, axis: int = 0) -> tuple[Value, ...]:
    if not isinstance(parts, int):
        raise TypeError("give the number of parts; ops.split takes sizes")
    return record("split", (x,), {"parts": parts, "axis": axis})


def _like(x: Value, number: float, dtype: Any = None) -> Value:
    return _one("full", number, shape=list(x.shape), dtype=x.dtype if dtype is None else dtype)


def _einsum(subscripts: str, *operands: Any) -> Value:
    """A product over all axes that the letters name, summed over those that the result lacks."""
    terms, arrow, result = subscripts.replace(" ", "").partition("->")
    inputs = terms.split(",")
    letters = "".join(inputs)
    result = result if arrow else "".join(sorted(each for each in set(letters) if letters.count(each) == 1))
    summed = "".join(dict.fromkeys(each for each in letters if each not in result))
    if not (letters + result).isalpha() or any(len(set(each)) != len(each) for each in (*inputs, result)) or not set(result) <= set(letters):
        raise TypeError(f"'{subscripts}' is more than letters, each once in an operand")
    if len(inputs) != len(operands):
        raise TypeError(f"'{subscripts}' has {len(inputs)} operands, and {len(operands)} are given")
    product: Any = None
    for term, operand in zip(inputs, operands):
        kept = [each for each in result + summed if each in term]
        order, added = [term.index(each) for each in kept], [place for place, each in enumerate(result + summed) if each not in term]
        laid = operand if order == sorted(order) else _one("permute", operand, order=order)
        laid = _one("unsqueeze", laid, axes=added) if added else laid
        product = laid if product is None else _one("mul", product, laid)
    return _one("sum", product, axes=list(range(len(result), len(result + summed)))) if summed else product


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "einsum": _einsum, "zeros_like": lambda x, dtype=None: _like(x, 0, dtype), "ones_like": lambda x, dtype=None: _like(x, 1, dtype),
    "full_like": lambda x, fill_value, dtype=None: _like(x, fill_value, dtype), "ravel": lambda x: x.ravel(),
    "where": lambda condition, a, b: _one("where", condition, a, b),
    "clip": lambda x, a_min=None, a_max=None, min=None, max=None: x.clip(min if a_min is None else a_min, max if a_max is None else a_max),
    "concatenate": _stacked("concat"), "stack": _stacked("stack"), "pad": _pad, "take": _take, "split": _split,
    "reshape": lambda x, shape: x.reshape(shape), "transpose": lambda x, axes=None: x.transpose(*([] if axes is None else [axes])),
    "swapaxes": lambda x, axis1, axis2: x.swapaxes(axis1, axis2), "squeeze": lambda x, axis=None: x.squeeze(axis),
    "expand_dims": lambda x, axis: _one("unsqueeze", x, axes=axis), "broadcast_to": lambda x, shape: _one("expand", x, shape=shape),
    "flip": lambda x, axis: _one("flip", x, axes=axis), "roll": lambda x, shift, axis: _one("roll", x, shifts=shift, axes=axis),
    "tile": lambda x, reps: _one("repeat", x, counts=reps), "dot": lambda a, b: _one("matmul", a, b), "outer": lambda a, b: a[:, None] * b[None, :],
    "var": lambda *words, **named: _spread("var", *words, **named), "std": lambda *words, **named: _spread("std", *words, **named),
    "argmax": lambda x, axis, keepdims=False: _one("argmax", x, axis=axis, keepdims=keepdims),
    "argmin": lambda x, axis, keepdims=False: _one("argmin", x, axis=axis, keepdims=keepdims),
    "cumsum": lambda x, axis: _one("cumsum", x, axis=axis), "cumprod": lambda x, axis: _one("cumprod", x, axis=axis),
    "sort": lambda x, axis=-1: record("sort", (x,), {"axis": axis})[0], "argsort": lambda x, axis=-1: _one("argsort", x, axis=axis),
    "triu": lambda x, k=0: _one("triu", x, k=k), "tril": lambda x, k=0: _one("tril", x, k=k), "round": lambda x: _one("round", x),
    "take_along_axis": lambda x, indices, axis: _one("gather_elements", x, indices, axis=axis)}
