#!/usr/bin/env python3
"""Writes ops.py, _optable.py and _flags.py of python/svod from the lists of ops and flags that svodc prints.

usage: make_tables.py SVODC
"""
import json
import keyword
import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python/svod"
TYPES = {"int": "int", "float": "float", "bool": "bool", "dtype": "Any", "dim": "Dim", "word": "str", "ints": "int | Sequence[int]",
         "floats": "float | Sequence[float]", "dims": "Dim | Sequence[Dim]"}
NOT_IN = {"compile": ("output", "json"), "inspect": ("html", "json"), "tune": ("output", "json", "budget", "progress", "tuning_log")}
SEVERAL = ("sort", "topk", "split", "shard", "replicate", "all_reduce")  # they return a tuple of results
OPS = '''"""Every op of graph files as a function; docs/graph-format.md has the same list. Written by tests/python/make_tables.py.

    y = ops.softmax(ops.matmul(x, w), axis=-1)

Operands are values of an svod.Graph, arrays, sizes and numbers. Ops without a value among them are recorded in the graph of `with graph:`.
Ops whose names are words of Python have an underscore behind them.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ._graph import record, spread
from ._text import Dim
from ._values import Value

__all__ = [{names}]

'''
FLAGS = '''"""The flags of commands of svodc, as keywords of Python. Written by tests/python/make_tables.py."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Union

from ._svodc import Path

Words = Union[str, Sequence[str]]
Assigned = Union[str, Sequence[str], Mapping[str, Any]]  # {"x": "2x3"} is x=2x3
'''
TABLE = '''"""The attributes of every op, with their types and what they are where they are left out. Written by tests/python/make_tables.py."""
from __future__ import annotations

from typing import Any

ATTRIBUTES: dict[str, dict[str, tuple[str, Any]]] = {
'''


def python_name(name):
    return name + "_" if keyword.iskeyword(name) else name


def attributes_of(op):
    """(name, type, default or None where one is required)"""
    for each in filter(None, op["attributes"].split(", ")):
        name, kind, default = re.fullmatch(r"(\w+):([\w|]+)(?:=(.*))?", each).groups()
        yield name, kind, default


def literal(kind, default):
    if default == "none" and "|" not in kind:
        return "None"
    if kind == "bool":
        return default.capitalize()
    return f'"{default}"' if "|" in kind or kind in ("dtype", "word") else default


def typed(kind, default):
    text = "Literal[" + ", ".join(f'"{word}"' for word in kind.split("|")) + "]" if "|" in kind else TYPES[kind]
    return text + " | None" if default == "none" and "|" not in kind else text


def function(op):
    operands = [each for each in op["operands"].split(", ") if each]
    attributes = list(attributes_of(op))
    several = any(each.endswith("..") for each in operands)
    optional = any(each.startswith("[") for each in operands)
    if several:
        name = operands[-1].rstrip(".") if len(operands) < 3 else "others"
        first = [each for each in operands[:-1] if not each.endswith("..")]
        parameters = [f"{each}: Any" for each in first] + [f"*{name}: Any"]
        given = f"({', '.join(first)}, *{name})" if first else f"spread({name})"
    else:
        parameters = [each[1:-1] + ": Any = None" if each.startswith("[") else f"{each}: Any" for each in operands]
        given = "(" + ", ".join(each.strip("[]") for each in operands) + (",)" if len(operands) == 1 else ")")
    required = [default is None for _, _, default in attributes]
    by_name = several or optional or required != sorted(required, reverse=True)
    if attributes and by_name and not several:
        parameters.append("*")
    elif operands and not several:
        parameters.insert(len(operands), "/")
    parameters += [f"{python_name(name)}: {typed(kind, default)}" + ("" if default is None else f" = {literal(kind, default)}")
                   for name, kind, default in attributes]
    words = [f'"{name}": {python_name(name)}' for name, _, _ in attributes]
    result, one = ("tuple[Value, ...]", "") if op["name"] in SEVERAL else ("Value", "[0]")
    what = op["what"].replace("\\", "\\\\")
    name = python_name(op["name"])
    return (f"{wrapped(f'def {name}(', parameters, f') -> {result}:')}\n    \"\"\"{what}\"\"\"\n"
            + wrapped(f"    return record(\"{op['name']}\", {given}, {{", words, f"}}){one}") + "\n")


def wrapped(start, parts, end):
    """Parts behind each other, on lines of at most 140 columns."""
    lines = [start]
    for number, part in enumerate(parts):
        text = part + (end if number == len(parts) - 1 else ",")
        if len(lines[-1]) + len(text) > 139:
            lines.append(" " * len(start))
        lines[-1] += ("" if lines[-1].endswith(("(", "{")) or not lines[-1].strip() else " ") + text
    return "\n".join(lines) if parts else start + end


def row(op):
    return [f'"{name}": ("{kind}", {"None" if default is None else literal(kind, default)})' for name, kind, default in attributes_of(op)]


def flag_type(value):
    """What a flag takes, by what --help calls its value."""
    if value == "":
        return "bool"
    if value in ("N", "MIB"):
        return "int"
    if value == "PERCENT":
        return "float"
    if value == "0|1":
        return "Literal[0, 1]"
    if value in ("FILE", "DIR", "PATH", "PROGRAM"):
        return "Path"
    return "Assigned" if "=" in value else "Words"


def command_flags(flags, command):
    """The class with the flags of a command, but for those that the package gives or that print something else."""
    rows = ""
    for flag in sorted(flags, key=lambda flag: flag["name"]):
        name = flag["name"][2:].replace("-", "_")
        if command in flag["commands"].split() and name not in NOT_IN[command]:
            rows += f"    {name}: {flag_type(flag['value'])} | None\n"
    return f"\n\nclass {command.capitalize()}Flags(TypedDict, total=False):\n    \"\"\"Of svodc {command}; docs/cli.md says what they do.\"\"\"\n{rows}"


def listed_by(svodc, what):
    return json.loads(subprocess.run([svodc, f"--list-{what}", "--json"], check=True, capture_output=True, text=True).stdout)


def written(svodc):
    """The text of every file."""
    listed, flags = listed_by(svodc, "ops"), listed_by(svodc, "flags")
    names = [f'"{python_name(op["name"])}"' for op in listed]
    rows, line = [], ""
    for name in names:
        if len(line) + len(name) > 120:
            rows.append(line)
            line = ""
        line += name + ", "
    listing = "\n           ".join(row.rstrip() for row in [*rows, line.rstrip(", ")])
    ops = OPS.replace("{names}", listing)
    table = TABLE + "".join(wrapped(f'    "{op["name"]}": {{', row(op), "},") + "\n" for op in listed) + "}\n"
    return {"ops.py": ops + "\n\n".join(["\n" + function(listed[0]), *map(function, listed[1:])]), "_optable.py": table,
            "_flags.py": FLAGS + "".join(command_flags(flags, command) for command in NOT_IN)}


if __name__ == "__main__":
    for name, text in written(sys.argv[1]).items():
        (PACKAGE / name).write_text(text)
