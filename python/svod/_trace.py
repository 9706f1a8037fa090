"""@svod.trace: a function over arrays, recorded as a graph and run as a plan."""
from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy

from ._compile import compile
from ._errors import SvodError
from ._graph import Graph
from ._plan import Plan
from ._svodc import Path
from ._text import Size
from ._values import Value
from ._weights import dtype_of_array

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._flags import CompileFlags


@dataclass(frozen=True)
class _Leaf:
    """An array among the arguments, or a value among the results: its name in the graph."""
    name: str
    dtype: str = ""
    shape: tuple[Any, ...] = ()


class Traced:
    """A function that runs as a plan. The first call with other element types, shapes or constants records and compiles it. `graph(..)` and
    `plan(..)` take the same arguments, and return what a call with them runs."""

    def __init__(self, function: Callable[..., Any], shapes: Mapping[str, Sequence[Any]], sizes: Mapping[str, tuple[int, int]], svodc: Path | None,
                 flags: Mapping[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self._function, self._shapes, self._sizes, self._svodc, self._flags = function, shapes, sizes, svodc, flags
        self._signature = inspect.signature(function)
        self._plans: dict[Any, tuple[Plan, Any]] = {}
        unknown = [name for name in shapes if name.split(".")[0] not in self._signature.parameters]
        if unknown:
            raise SvodError(f"{self._name} has no argument '{unknown[0]}'", "usage", f"shapes= is for {', '.join(self._signature.parameters)}", 2)

    @property
    def _name(self) -> str:
        return getattr(self._function, "__name__", "traced")

    def __call__(self, /, *words: Any, **named: Any) -> Any:
        arguments, arrays = self._arguments(words, named)
        plan, results = self._compiled(arguments)
        return _filled(results, plan(**arrays))

    def graph(self, /, *words: Any, **named: Any) -> Graph:
        """What a call with these arguments records."""
        return self._recorded(self._arguments(words, named)[0])[0]

    def plan(self, /, *words: Any, **named: Any) -> Plan:
        """What a call with these arguments runs. Its inputs and outputs have names: of the arguments, and `result` or what a dictionary has."""
        return self._compiled(self._arguments(words, named)[0])[0]

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else types.MethodType(self, owner)

    def _arguments(self, words: tuple[Any, ...], named: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arguments with a leaf for each array, and the arrays by name."""
        bound = self._signature.bind(*words, **named)
        bound.apply_defaults()
        arrays: dict[str, Any] = {}
        return {name: self._leaves(value, name, arrays) for name, value in bound.arguments.items()}, arrays

    def _leaves(self, value: Any, name: str, arrays: dict[str, Any]) -> Any:
        if isinstance(value, Mapping):
            return {key: self._leaves(each, f"{name}.{key}", arrays) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            inner = [self._leaves(each, f"{name}.{place}", arrays) for place, each in enumerate(value)]
            return type(value)(*inner) if hasattr(value, "_fields") else type(value)(inner)
        if not (isinstance(value, (numpy.ndarray, numpy.generic)) or hasattr(value, "__dlpack__")):
            return value
        arrays[name] = value
        return _Leaf(name, dtype_of_array(value, name), self._shape_of(name, tuple(value.shape)))

    def _shape_of(self, name: str, shape: tuple[int, ...]) -> tuple[Any, ...]:
        given = self._shapes.get(name)
        if given is None:
            return shape
        if len(given) != len(shape) or any(isinstance(want, int) and want != have for want, have in zip(given, shape)):
            raise SvodError(f"'{name}' has the shape {shape}, and shapes= says {tuple(given)}", "input-mismatch",
                            "give an array that fits, or other shapes=")
        return tuple(given)

    def _compiled(self, arguments: dict[str, Any]) -> tuple[Plan, Any]:
        key = _key(arguments)
        if key not in self._plans:
            graph, results = self._recorded(arguments)
            self._plans[key] = compile(graph, svodc=self._svodc, **self._flags), results
        return self._plans[key]

    def _recorded(self, arguments: dict[str, Any]) -> tuple[Graph, Any]:
        graph = Graph(self._name)
        sizes = {name: graph.var(name, *bounds) for name, bounds in self._sizes.items()}
        values = {name: _declared(graph, value, sizes) for name, value in arguments.items()}
        with graph:
            result = self._function(*self._words(values), **self._keywords(values))
        return graph, _outputs(graph, result, "result")

    def _words(self, values: dict[str, Any]) -> list[Any]:
        words: list[Any] = []
        for name, parameter in self._signature.parameters.items():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                words.append(values[name])
            elif parameter.kind == parameter.VAR_POSITIONAL:
                words += values[name]
        return words

    def _keywords(self, values: dict[str, Any]) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for name, parameter in self._signature.parameters.items():
            if parameter.kind == parameter.KEYWORD_ONLY:
                named[name] = values[name]
            elif parameter.kind == parameter.VAR_KEYWORD:
                named |= values[name]
        return named


def _key(value: Any) -> Any:
    """What decides about the graph: types and shapes of arrays, and all other arguments as they are."""
    if isinstance(value, Mapping):
        return tuple((key, _key(each)) for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_key(each) for each in value)
    try:
        hash(value)
    except TypeError as error:
        raise SvodError(f"an argument is a {type(value).__name__}, which is neither an array nor a constant", "usage",
                        "give arrays, numbers, texts, and lists and dictionaries of them", 2) from error
    return type(value), value


def _declared(graph: Graph, value: Any, sizes: Mapping[str, Size]) -> Any:
    """The arguments with an input for each leaf."""
    if isinstance(value, _Leaf):
        return graph.input(value.name, value.dtype, tuple(sizes.get(each, each) if isinstance(each, str) else each for each in value.shape))
    if isinstance(value, Mapping):
        return {key: _declared(graph, each, sizes) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        inner = [_declared(graph, each, sizes) for each in value]
        return type(value)(*inner) if hasattr(value, "_fields") else type(value)(inner)
    return value


def _outputs(graph: Graph, result: Any, name: str) -> Any:
    """The results with a leaf for each value, which becomes an output."""
    if isinstance(result, Mapping):
        return {key: _outputs(graph, each, str(key) if name == "result" else f"{name}.{key}") for key, each in result.items()}
    if isinstance(result, (list, tuple)):
        inner = [_outputs(graph, each, f"{name}.{place}") for place, each in enumerate(result)]
        return type(result)(*inner) if hasattr(result, "_fields") else type(result)(inner)
    if result is None:
        return None
    if isinstance(result, (bool, int, float)):
        result = graph._record("full", (result,), {"shape": []})[0]
    elif not isinstance(result, (Value, numpy.ndarray, numpy.generic)):
        raise SvodError(f"the function returns a {type(result).__name__}", "usage", "return values, and lists, tuples and dictionaries of them", 2)
    graph.output(name, result)
    return _Leaf(name)


def _filled(results: Any, outputs: Mapping[str, Any]) -> Any:
    if isinstance(results, _Leaf):
        return outputs[results.name]
    if isinstance(results, Mapping):
        return {key: _filled(each, outputs) for key, each in results.items()}
    if isinstance(results, (list, tuple)):
        inner = [_filled(each, outputs) for each in results]
        return type(results)(*inner) if hasattr(results, "_fields") else type(results)(inner)
    return results


@overload
def trace(function: Callable[..., Any], /, *, shapes: Mapping[str, Sequence[Any]] | None = ..., sizes: Mapping[str, tuple[int, int]] | None = ...,
          svodc: Path | None = ..., **flags: Unpack[CompileFlags]) -> Traced: ...
@overload
def trace(*, shapes: Mapping[str, Sequence[Any]] | None = ..., sizes: Mapping[str, tuple[int, int]] | None = ..., svodc: Path | None = ...,
          **flags: Unpack[CompileFlags]) -> Callable[[Callable[..., Any]], Traced]: ...


def trace(function: Callable[..., Any] | None = None, /, *, shapes: Mapping[str, Sequence[Any]] | None = None,
          sizes: Mapping[str, tuple[int, int]] | None = None, svodc: Path | None = None, **flags: Unpack[CompileFlags]) -> Any:
    """Makes a function over arrays run as a plan:

        @svod.trace(shapes={"x": ("n", 784)}, sizes={"n": (1, 64)})
        def classify(x, weights):
            hidden = numpy.maximum(x @ weights["first"], 0)
            return svod.ops.softmax(hidden @ weights["last"])

    While it is recorded, its arrays are values of a graph: operators, indices, functions of numpy and those of svod.ops record. Arrays of the
    arguments, also in lists and dictionaries, become inputs; all other arguments are constants. Arrays that the function finds elsewhere become
    weights, as they are at that time. `shapes` says which sizes of an input a run decides, and `sizes` between which bounds. The flags are those of
    svod.compile."""
    if function is None:
        return lambda each: Traced(each, shapes or {}, sizes or {}, svodc, flags)
    if not callable(function):
        raise SvodError(f"svod.trace takes a function, not a {type(function).__name__}", "usage", "svod.compile takes models", 2)
    return Traced(function, shapes or {}, sizes or {}, svodc, flags)
