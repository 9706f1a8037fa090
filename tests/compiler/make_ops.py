#!/usr/bin/env python3
"""Writes svod/compiler_ops.hpp, every op of graph files as a function of C++, from the list of ops that svodc prints.

usage: make_ops.py SVODC
"""
import json
import re
import subprocess
import sys
from pathlib import Path

HEADER = Path(__file__).resolve().parents[2] / "tools/svod-compiler/include/svod/compiler_ops.hpp"
TYPES = {"int": "std::int64_t", "float": "double", "bool": "bool", "dtype": "std::string", "dim": "Size", "word": "std::string",
         "ints": "Integers", "floats": "Numbers", "dims": "Sizes"}
KEYWORDS = {"and", "or", "xor", "not", "default", "switch", "case", "for", "while"}
SEVERAL = {"sort", "topk", "split", "shard", "replicate", "all_reduce"}  # they return all of their results
WITH_GRAPH = {"custom"}  # which may have no operands
BY_VALUE = {"int", "float", "bool", "dim"}
START = """// Every op of graph files as a function; docs/graph-format.md has the same list. Written by tests/compiler/make_ops.py.
// Attributes that have to be given are parameters, others stand in a struct: softmax(x, {.axis = 0}). Names that are
// words of C++ have an underscore behind them. Included by svod/compiler.hpp.
#ifndef SVOD_COMPILER_OPS_HPP
#define SVOD_COMPILER_OPS_HPP

#include <svod/compiler.hpp>

namespace svod::compiler::ops {
"""
END = """
}  // namespace svod::compiler::ops

#endif
"""


def cpp_name(name):
    return name + "_" if name in KEYWORDS else name


def attributes_of(op):
    """(name, type, default or None where one is required)"""
    for each in filter(None, op["attributes"].split(", ")):
        name, kind, default = re.fullmatch(r"(\w+):([\w|]+)(?:=(.*))?", each).groups()
        yield name, "word" if "|" in kind else kind, "none" if default == "none" and "|" not in kind else default


def member(name, kind, default):
    kind_text = TYPES[kind]
    if default == "none":
        return f"  std::optional<{kind_text}> {cpp_name(name)} = {{}};"
    value = f'"{default}"' if kind in ("word", "dtype") else default
    return f"  {kind_text} {cpp_name(name)} = {value};"


def parameter(text, is_optional):
    """Of an operand: [x] is optional, x.. any number."""
    name = cpp_name(text.strip("[].") if "[" in text else text.rstrip("."))
    return f"const std::vector<Operand>& {name}" if text.endswith("..") else f"Operand {name}" + (" = {}" if is_optional else "")


def operands_text(operands):
    """The operands of a call, in order."""
    if not any(each.endswith("..") for each in operands):
        return "", "std::vector<Operand>{" + ", ".join(cpp_name(each.strip("[]")) for each in operands) + "}"
    lines = "  std::vector<Operand> operands;\n"
    for each in operands:
        name = cpp_name(each.strip("[].") if "[" in each else each.rstrip("."))
        lines += f"  operands.insert(operands.end(), {name}.begin(), {name}.end());\n" if each.endswith("..") else f"  operands.push_back({name});\n"
    return lines, "operands"


def function(op):
    operands = [each for each in op["operands"].split(", ") if each]
    attributes = list(attributes_of(op))
    defaults = [row for row in attributes if row[2] is not None]
    required = [row for row in attributes if row[2] is None]
    text, struct = "", "".join(part.capitalize() for part in op["name"].split("_")) + "Options"
    if defaults:
        text += f"struct {struct} {{\n" + "\n".join(member(*row) for row in defaults) + "\n};\n"
    has_graph = not operands or op["name"] in WITH_GRAPH
    parameters = ["Graph& graph"] if has_graph else []
    parameters += [parameter(each, each.startswith("[") and not required) for each in operands]
    parameters += [(f"{TYPES[kind]} " if kind in BY_VALUE else f"const {TYPES[kind]}& ") + cpp_name(name) for name, kind, _ in required]
    if defaults:
        parameters.append(f"const {struct}& options = {{}}")
    collected, given = operands_text(operands)
    body = collected + f'  detail::Call call({"graph.state()" if has_graph else "nullptr"}, "{op["name"]}", {given});\n'
    for name, _, default in attributes:
        body += f'  call("{name}", {cpp_name(name) if default is None else "options." + cpp_name(name)});\n'
    result, end = ("std::vector<Value>", "all") if op["name"] in SEVERAL else ("Value", "one")
    return f"{text}/// {op['what']}\ninline {result} {cpp_name(op['name'])}({', '.join(parameters)}) {{\n{body}  return call.{end}();\n}}\n"


def written(svodc):
    """The text of the header, as clang-format lays it out."""
    listed = json.loads(subprocess.run([svodc, "--list-ops", "--json"], check=True, capture_output=True, text=True).stdout)
    text = START + "".join("\n" + function(op) for op in listed) + END
    return subprocess.run(["clang-format-19", "--assume-filename", HEADER], input=text, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    HEADER.write_text(written(sys.argv[1]))
