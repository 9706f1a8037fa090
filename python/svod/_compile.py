"""svod.compile: the installed svodc."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from typing import Any, Literal, Union, overload

from ._errors import SvodError, SvodNote, SvodWarning, told
from ._plan import Plan

_Path = Union[str, "os.PathLike[str]"]


@overload
def compile(graph: _Path, output: _Path, *, svodc: _Path = ..., load: Literal[True] = True, **flags: Any) -> Plan: ...
@overload
def compile(graph: _Path, output: _Path, *, svodc: _Path = ..., load: Literal[False], **flags: Any) -> None: ...


def compile(graph: _Path, output: _Path, *, svodc: _Path = "svodc", load: bool = True, **flags: Any) -> Plan | None:
    """Compiles a graph file or an ONNX model to the folder `output`, and loads the plan unless load=False. With emit="pack=FILE"
    it is written as one file as well.

    `graph` is a path, or the text of a graph file, which begins with "svod". `flags` are those of `svodc compile`
    (docs/cli.md) with _ for -: verify=True, cpu="x86-64-v3", opt_level=0, shape={"x": "2x3"}, disable_pass=["layout"].
    `svodc` is a program in PATH, or its path. Its errors are raised, with code, place and help; its warnings and notes go to
    `warnings`, as SvodWarning and SvodNote."""
    program = shutil.which(svodc)
    if program is None:
        raise SvodError(f"there is no program '{os.fspath(svodc)}'", "io", "install svod, or give svodc=PATH", 74)
    is_text = isinstance(graph, str) and graph.lstrip().startswith("svod ") and "\n" in graph
    words = [program, "compile", "-" if is_text else os.fspath(graph), "--output", os.fspath(output), "--diagnostics", "json"]
    for name, value in flags.items():
        words += _words("--" + name.replace("_", "-"), value)
    done = subprocess.run(words, input=str(graph) if is_text else None, stdin=None if is_text else subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise _error(done)
    for said in _said(done.stderr):
        if "severity" in said:
            kind = SvodNote if said["severity"] == "note" else SvodWarning
            warnings.warn(told(*_parts(said)), kind, stacklevel=2)
    return Plan(output) if load else None


def _words(flag: str, value: Any) -> list[str]:
    if value is False or value is None:
        return []
    if value is True:
        return [flag]
    if isinstance(value, dict):
        value = [f"{name}={each}" for name, each in value.items()]
    values = value if isinstance(value, (list, tuple)) else [value]
    return [f"{flag}={os.fspath(each) if isinstance(each, os.PathLike) else each}" for each in values]


def _said(text: str) -> Iterator[dict[str, Any]]:
    """The errors, warnings and notes of what svodc printed; its other lines are for people."""
    for line in text.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict) and "code" in said:
            yield said


def _parts(said: dict[str, Any]) -> tuple[str, str, str, str, list[str], str]:
    """Message, code, help, place, notes and excerpt."""
    place = ":".join(str(said[key]) for key in ("file", "line", "column") if said.get(key))
    excerpt = ""
    if "before" in said:
        number, before, behind = str(said["line"]), said["before"].replace("\t", " "), said["behind"].replace("\t", " ")
        excerpt = f"  {number} | {before}{behind}\n  {' ' * len(number)} | {' ' * len(before)}^"
    return said.get("message", ""), said["code"], said.get("help", ""), place, said.get("notes", []), excerpt


def _error(done: subprocess.CompletedProcess[str]) -> SvodError:
    for said in _said(done.stderr):
        if "severity" not in said:  # else a warning or a note
            message, code, help, place, notes, excerpt = _parts(said)
            return SvodError(message, code, help, done.returncode, place, notes, excerpt)
    # A mistake in the flags is told before it is known that JSON is wanted.
    plain = re.search(r"error: (.*) \[([a-z-]+)\](?:\n *help: (.*))?", done.stderr)
    if plain:
        return SvodError(plain[1], plain[2], plain[3] or "", done.returncode)
    return SvodError(f"svodc ended with {done.returncode}: {done.stderr.strip()}", "failed", "", done.returncode)
