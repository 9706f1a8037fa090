"""svod.compile: the installed svodc."""
from __future__ import annotations

import os
import subprocess
from typing import Any, Literal, overload

from . import _svodc
from ._plan import Plan
from ._svodc import Path


@overload
def compile(graph: Path, output: Path, *, svodc: Path = ..., load: Literal[True] = True, **flags: Any) -> Plan: ...
@overload
def compile(graph: Path, output: Path, *, svodc: Path = ..., load: Literal[False], **flags: Any) -> None: ...


def compile(graph: Path, output: Path, *, svodc: Path = "svodc", load: bool = True, **flags: Any) -> Plan | None:
    """Compiles a graph file or an ONNX model to the folder `output`, and loads the plan unless load=False. With emit="pack=FILE"
    it is written as one file as well.

    `graph` is a path, or the text of a graph file, which begins with "svod". `flags` are those of `svodc compile`
    (docs/cli.md) with _ for -: verify=True, cpu="x86-64-v3", opt_level=0, shape={"x": "2x3"}, disable_pass=["layout"].
    `svodc` is a program in PATH, or its path. Its errors are raised, with code, place and help; its warnings and notes go to
    `warnings`, as SvodWarning and SvodNote."""
    is_text = isinstance(graph, str) and graph.lstrip().startswith("svod ") and "\n" in graph
    words = [_svodc.found(svodc), "compile", "-" if is_text else os.fspath(graph), "--output", os.fspath(output), "--diagnostics", "json"]
    done = subprocess.run(words + _svodc.words(flags), input=str(graph) if is_text else None,
                          stdin=None if is_text else subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise _svodc.error(done.returncode, done.stderr)
    _svodc.warn(done.stderr, stacklevel=2)
    return Plan(output) if load else None
