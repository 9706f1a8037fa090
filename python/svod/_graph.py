"""svod.Graph: a graph file built by a program."""
from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy

from ._arrays import from_numbers
from ._errors import SvodError
from ._optable import ATTRIBUTES
from ._text import Size, attribute_text, dim_text, dtype_text, name_text, number_text, shape_text, string_text
from ._values import Value
from ._weights import Weight, array_of, write_safetensors

_SHOWN = 16  # elements of a weight that stand in the text
_HERE = os.path.dirname(os.path.abspath(__file__))
_building = threading.local()  # graphs of `with graph:`, the innermost last


@dataclass
class Line:
    """A statement, as text that is made when all names are known, and where the program made it."""
    text: Callable[[], str]
    origin: str
    body: Block | None = None


@dataclass
class Block:
    """Statements of the graph, or of the body of a loop or branch within `outer`."""
    outer: Block | None = None
    lines: list[Line] = field(default_factory=list)

    def sees(self, other: Block) -> bool:
        return other is self or (self.outer is not None and self.outer.sees(other))


@dataclass(frozen=True)
class Call:
    """An op with operands and attributes."""
    op: str
    operands: tuple[Any, ...]
    attributes: dict[str, Any]

    def text(self, within: Block | None = None) -> str:
        """Operands that were recorded in `within` stand as what they are made of, all others by name."""
        words = [_operand_text(each, within) for each in self.operands]
        kinds = ATTRIBUTES[self.op]
        words += [f"{name}={attribute_text(value, kinds[name][0])}" for name, value in self.attributes.items()]
        return f"{self.op}({', '.join(words)})"


class Graph:
    """A graph that a program builds: declarations, ops of svod.ops, and outputs. `str(graph)` is its text, as svodc reads it.

        graph = svod.Graph("affine")
        n = graph.var("n", 1, 64)
        x = graph.input("x", "f32", (n, 4))
        w = graph.weight("w", numpy.ones((4, 3), numpy.float32))
        graph.output("y", svod.ops.relu(x @ w + 1))
        plan = svod.compile(graph)
    """

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self._block = Block()
        self._names: set[str] = set()
        self._outputs: set[str] = set()
        self._weights: dict[str, Weight] = {}
        self._constants: dict[int, tuple[Any, Value]] = {}
        self._made = 0

    # --- Declarations

    def var(self, name: str, min: int, max: int, *, likely: int | None = None, value: int | None = None) -> Size:
        """A size that a run gives, from `min` to `max`. Kernels are chosen for `likely`; `value` binds it."""
        self._take(name)
        text = f"var {name_text(name)} in [{dim_text(min)}, {dim_text(max)}]"
        text += ("" if likely is None else f" ~ {dim_text(likely)}") + ("" if value is None else f" = {dim_text(value)}")
        self._top("var").lines.append(Line(lambda: text, _origin()))
        return Size(name)

    def input(self, name: str, dtype: Any, shape: Any = ()) -> Value:
        """What every run is given."""
        return self._declared("input", name, dtype_text(dtype), shape, "")

    def weight(self, name: str, data: Any, dtype: Any = None, shape: Any = None) -> Value:
        """Constant data: an array, or numbers with a dtype. One number fills a shape. A text is a file: "file.npy", "file.safetensors:name",
        which needs dtype and shape."""
        if isinstance(data, (str, os.PathLike)):
            if dtype is None or shape is None:
                raise SvodError(f"the weight '{name}' lies in a file", "usage", "add its dtype and shape, which svodc checks", 2)
            return self._declared("weight", name, dtype_text(dtype), shape, f" = {string_text(os.fspath(data))}")
        if shape is not None and numpy.ndim(data) == 0:
            if dtype is None:
                raise SvodError(f"the weight '{name}' is a number without a dtype", "usage", 'add dtype="f32"', 2)
            return self._declared("weight", name, dtype_text(dtype), shape, f" = {number_text(data)}")
        found, array = array_of(data, name, None if dtype is None else dtype_text(dtype))
        if shape is not None and tuple(shape) != array.shape:
            raise SvodError(f"the weight '{name}' has the shape {array.shape}, not {tuple(shape)}", "shape-mismatch",
                            "leave shape= out, or reshape the array")
        value = self._declared("weight", name, found, array.shape, Weight(found, array))
        return value

    def state(self, name: str, dtype: Any, shape: Any = (), data: Any = None) -> Value:
        """What survives between runs: zeros, or `data` before the first. graph.assign gives it another value."""
        return self._with_data("state", name, dtype, shape, data)

    def temp(self, name: str, dtype: Any, shape: Any = (), data: Any = 0) -> Value:
        """What lives for one run and can be assigned, as in loops; it starts as `data`, a number or a value."""
        if isinstance(data, Value):
            self._check(data)
            return self._declared("temp", name, dtype_text(dtype), shape, lambda: f" = {name_text(data.name)}")
        return self._with_data("temp", name, dtype, shape, data)

    def output(self, name: str, value: Any) -> None:
        """Exports a value."""
        if name in self._outputs:
            raise SvodError(f"the output '{name}' is given twice", "duplicate-name", "give it another name")
        value = self._value(value, f"the output '{name}'")
        self._outputs.add(name)
        if value.name.startswith("_") and value._made_by is not None and name not in self._names:
            self._rename(value, name)  # kernels are called after it
        line = Line(lambda: f"output {name_text(name)}" + ("" if name == value.name else f" = {name_text(value.name)}"), _origin())
        self._top("output").lines.append(line)

    def assign(self, target: Value, value: Any) -> None:
        """Writes a state or a temp, or a part of one: graph.assign(cache[0:n], rows). What is recorded before reads what it had."""
        if not isinstance(target, Value) or _root(target)._kind not in ("state", "temp"):
            raise SvodError(f"{target!r} cannot be assigned", "usage", "give a state or a temp, or a part of one", 2)
        self._check(target)
        if isinstance(value, Value):
            self._check(value)
        elif not isinstance(value, (bool, int, float, Size, numpy.generic)):
            value = self._constant(value)
        self._block.lines.append(Line(lambda: f"assign {name_text(target.name)} = {_operand_text(value, None)}", _origin()))

    # --- Loops and branches

    @contextmanager
    def loop(self, counter: str, count: Any, *, while_: Callable[[], Value] | None = None, unroll: bool = False) -> Iterator[Size]:
        """Runs its body for counter = 0, 1, .. below count: `with graph.loop("t", n) as t:`. Values of the body end with it; temps and states carry
        what it leaves. `while_` is a function that records the condition, which every iteration computes before it begins."""
        self._take(counter)
        scratch, outer = Block(self._block), self._block
        condition: Value | None = None
        if while_ is not None:
            self._block = scratch
            try:
                condition = self._value(while_(), "the condition of a loop")
            finally:
                self._block = outer

        def head() -> str:
            asked = "" if condition is None else f" while {_operand_text(condition, scratch)}"
            return f"loop {name_text(counter)} < {dim_text(count)}{asked}" + (", unroll=true" if unroll else "") + " {"

        with self._body(head):
            yield Size(counter)
        self._names.discard(counter)

    @contextmanager
    def branch(self, condition: Value) -> Iterator[None]:
        """Runs its body where a bool scalar is true: `with graph.branch(x.sum() > 0):`, and behind it perhaps `with graph.otherwise():`."""
        value = self._value(condition, "the condition of a branch")
        with self._body(lambda: f"if {name_text(value.name)} {{"):
            yield

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """The other body of the branch just before."""
        lines = self._block.lines
        if not lines or lines[-1].body is None or not lines[-1].text().startswith("if "):
            raise SvodError("graph.otherwise() follows no branch", "usage", "it stands directly behind `with graph.branch(condition):`", 2)
        with self._body(lambda: "else {"):
            yield

    @contextmanager
    def _body(self, head: Callable[[], str]) -> Iterator[None]:
        outer, inner = self._block, Block(self._block)
        outer.lines.append(Line(head, _origin(), inner))
        self._block = inner
        try:
            yield
        finally:
            self._block = outer

    # --- The whole

    def save(self, path: str | os.PathLike[str]) -> list[str]:
        """Writes the text to a file, and larger weights to a .safetensors file beside it. The result says for every line where the program
        made it."""
        path = Path(path)
        weights = path.with_suffix(".safetensors")
        text, origins = self._text(weights.name)
        path.write_text(text, encoding="utf-8")
        large = {name: weight for name, weight in self._weights.items() if not weight.is_shown(_SHOWN)}
        if large:
            write_safetensors(weights, large)
        return origins

    def __str__(self) -> str:
        return self._text(f"{self.name}.safetensors")[0]

    def __repr__(self) -> str:
        return f"<svod.Graph {self.name}: {len(self._block.lines)} statements, outputs {', '.join(sorted(self._outputs)) or 'none'}>"

    def _repr_pretty_(self, printer: Any, is_cycle: bool) -> None:
        printer.text(str(self))

    def _text(self, weights: str) -> tuple[str, list[str]]:
        """The text, whose larger weights lie in the file `weights`, and for every line where the program made it."""
        self._weight_file = weights
        lines, origins = ["svod 1"], [""]

        def write(block: Block, indent: str) -> None:
            for line in block.lines:
                text = line.text()
                if text == "else {":
                    lines[-1] += " " + text
                else:
                    lines.append(indent + text)
                    origins.append(line.origin)
                if line.body is not None:
                    write(line.body, indent + "  ")
                    lines.append(indent + "}")
                    origins.append(line.origin)

        write(self._block, "")
        return "\n".join(lines) + "\n", origins

    def __enter__(self) -> Graph:
        _building.__dict__.setdefault("graphs", []).append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _building.graphs.pop()

    # --- Recording

    def _record(self, op: str, operands: Sequence[Any], attributes: dict[str, Any]) -> tuple[Value, ...]:
        """Adds a line with an op, and returns its results."""
        given = {name: value for name, value in attributes.items() if value is not None and not _is_default(value, ATTRIBUTES[op][name][1])}
        call = Call(op, tuple(self._operand(each, op) for each in _given(op, operands)), given)
        call.text()  # attributes of a wrong type are told where they are given
        return self._made_of(call, _results(op, attributes))

    def _made_of(self, call: Call, count: int, text: Callable[[], str] | None = None) -> tuple[Value, ...]:
        values = tuple(Value(self, self._new_name(), self._block, made_by=call) for _ in range(count))
        made = text or call.text
        self._block.lines.append(Line(lambda: f"{', '.join(name_text(each.name) for each in values)} = {made()}", _origin()))
        return values

    def _part(self, value: Value, entries: list[Callable[[], str]]) -> Value:
        self._check(value)
        call = Call("at", (value,), {})
        return self._made_of(call, 1, lambda: f"{name_text(value.name)}[{', '.join(each() for each in entries)}]")[0]

    def _operand(self, each: Any, op: str) -> Any:
        if isinstance(each, Value):
            self._check(each)
            return each
        if isinstance(each, (bool, int, float, Size)) or (isinstance(each, numpy.generic) and each.dtype.kind in "biuf"):
            return each
        if each is None or isinstance(each, (str, bytes, complex)):
            raise SvodError(f"ops.{op} gets {each!r} as an operand", "usage",
                            "operands are values, arrays and numbers; attributes are given by name", 2)
        return self._constant(each)

    def _constant(self, data: Any) -> Value:
        """A weight of an array that an op is given; the same array is one weight."""
        if id(data) not in self._constants:
            block, self._block = self._block, self._outermost()
            name = self._new_name("weight_")
            dtype, array = array_of(data, "an operand", None)
            line_count = len(self._block.lines)
            value = self._declared("weight", name, dtype, array.shape, Weight(dtype, array))
            self._block.lines.insert(0, self._block.lines.pop(line_count))  # above the loop that may use it
            self._block = block
            self._constants[id(data)] = data, value
        return self._constants[id(data)][1]

    def _value(self, each: Any, what: str) -> Value:
        if isinstance(each, Value):
            self._check(each)
            return each
        if isinstance(each, (bool, int, float, numpy.generic, Size)) or each is None or isinstance(each, str):
            raise SvodError(f"{what} is {each!r}, which no op computed", "usage",
                            "give a value of the graph; svod.ops.full makes one of a number", 2)
        return self._constant(each)

    def _check(self, value: Value) -> None:
        if value.graph is not self:
            raise SvodError(f"the value '{value.name}' belongs to another graph, '{value.graph.name}'", "usage",
                            "build each graph from its own values", 2)
        if not self._block.sees(value._block):
            raise SvodError(f"the value '{value.name}' ended with the loop or branch that computed it", "unknown-name",
                            "assign it to a graph.temp that is declared above, and read that")

    def _with_data(self, kind: str, name: str, dtype: Any, shape: Any, data: Any) -> Value:
        dtype = dtype_text(dtype)
        if data is None or isinstance(data, (bool, int, float)) or numpy.ndim(data) == 0:
            return self._declared(kind, name, dtype, shape, "" if data is None else f" = {number_text(data)}")
        array = from_numbers(data, dtype, name)
        if kind == "temp":
            start = self._constant(data)
            return self._declared(kind, name, dtype, shape, lambda: f" = {name_text(start.name)}")
        return self._declared(kind, name, dtype, shape, f" = {_nested(array)}")

    def _declared(self, kind: str, name: str, dtype: str, shape: Any, data: Any) -> Value:
        """`data` is the text behind the type, a function that makes it, or a weight."""
        shape = (shape,) if isinstance(shape, (int, Size, str, numpy.integer)) else tuple(shape)
        if any(isinstance(each, (int, numpy.integer)) and each < 0 for each in shape):
            raise SvodError(f"'{name}' has the shape {shape}", "too-large", 'a size that a run gives is a variable: n = graph.var("n", 1, 64)')
        typed = dtype + shape_text(shape)
        self._take(name)
        block = self._block if kind == "temp" else self._top(kind)
        value = Value(self, name, block, dtype, shape, kind)
        if isinstance(data, Weight):
            weight = data
            self._weights[name] = weight
            data = lambda: f" = {_nested(weight.array)}" if weight.is_shown(_SHOWN) else f" = {string_text(f'{self._weight_file}:{value.name}')}"
        text = data if callable(data) else lambda: data
        block.lines.append(Line(lambda: f"{kind} {name_text(value.name)}: {typed}{text()}", _origin()))
        return value

    def _outermost(self) -> Block:
        block = self._block
        while block.outer is not None:
            block = block.outer
        return block

    def _top(self, kind: str) -> Block:
        if self._block.outer is not None:
            raise SvodError(f"graph.{kind} within a loop or a branch", "usage", "declarations and outputs stand outside of bodies", 2)
        return self._block

    def _take(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise SvodError(f"{name!r} is no name", "usage", "the name is a text and comes first", 2)
        if name in self._names:
            raise SvodError(f"the name '{name}' is defined twice", "duplicate-name", "give it another name")
        self._names.add(name)

    def _rename(self, value: Value, name: str) -> None:
        if name != value.name:
            self._take(name)
            self._names.discard(value.name)
            if value.name in self._weights:
                self._weights[name] = self._weights.pop(value.name)
            value.name = name

    def _new_name(self, start: str = "_") -> str:
        while True:
            self._made += 1
            name = f"{start}{self._made}"
            if name not in self._names:
                self._names.add(name)
                if start != "_":
                    self._names.discard(name)  # which the declaration takes
                return name


def current_graph() -> Graph | None:
    graphs = getattr(_building, "graphs", [])
    return graphs[-1] if graphs else None


def spread(operands: tuple[Any, ...]) -> Sequence[Any]:
    """For ops of any number of operands: ops.concat([a, b]) is ops.concat(a, b)."""
    return operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands


def record(op: str, operands: Sequence[Any], attributes: dict[str, Any]) -> tuple[Value, ...]:
    """For svod.ops: in the graph of the operands, or that of `with graph:`."""
    graph = next((each.graph for each in operands if isinstance(each, Value)), None) or current_graph()
    if graph is None:
        raise SvodError(f"ops.{op} has no graph to be recorded in", "usage", "give it a value of a graph, or call it within `with graph:`", 2)
    return graph._record(op, operands, attributes)


def _given(op: str, operands: Sequence[Any]) -> Sequence[Any]:
    """Without those left out at the end."""
    while len(operands) > 0 and operands[-1] is None:
        operands = operands[:-1]
    if any(each is None for each in operands):
        raise SvodError(f"ops.{op} lacks an operand before the last one", "arity", "operands can be left out from the end only")
    return operands


def _is_default(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _results(op: str, attributes: dict[str, Any]) -> int:
    if op in ("sort", "topk"):
        return 2
    if op == "split":
        sizes = attributes.get("sizes")
        return int(attributes.get("parts") or 1) if sizes is None else len(sizes) if hasattr(sizes, "__len__") else 1
    return len(str(attributes["devices"]).split(",")) if op in ("shard", "replicate", "all_reduce") else 1


def _root(value: Value) -> Value:
    """What a part is a part of."""
    while value._made_by is not None and value._made_by.op in ("at", "shrink", "slice", "reshape", "permute", "flip") and value._kind == "value":
        value = value._made_by.operands[0]
    return value


def _operand_text(each: Any, within: Block | None) -> str:
    if isinstance(each, Value):
        return each._made_by.text(within) if within is not None and each._block is within and each._made_by else name_text(each.name)
    return str(each) if isinstance(each, Size) else number_text(each)


def _nested(array: numpy.ndarray) -> str:
    return number_text(array[()]) if array.ndim == 0 else f"[{', '.join(_nested(each) for each in array)}]"


def _origin() -> str:
    """Where the program is that builds a graph: the first frame outside of this package."""
    frame: Any = sys._getframe(1)
    while frame is not None and (os.path.dirname(frame.f_code.co_filename) == _HERE or frame.f_code.co_filename.endswith("contextlib.py")):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""
