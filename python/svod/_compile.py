"""svod.compile: the installed svodc."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import Any

from ._errors import SvodError
from ._plan import Plan


def compile(graph: str | os.PathLike[str], output: str | os.PathLike[str], *, svodc: str | os.PathLike[str] = "svodc",
            load: bool = True, **flags: Any) -> Plan | None:
    """Compiles a graph file or an ONNX model to the folder `output`, and loads the plan unless load=False. With emit="pack=FILE"
    it is written as one file as well.

    `graph` is a path, or the text of a graph file, which begins with "svod". `flags` are those of `svodc compile`
    (docs/cli.md) with _ for -: verify=True, cpu="x86-64-v3", opt_level=0, shape={"x": "2x3"}, disable_pass=["layout"].
    `svodc` is a program in PATH, or its path. Its errors are raised, with code, place and help."""
    program = shutil.which(svodc)
    if program is None:
        raise SvodError(f"there is no program '{os.fspath(svodc)}'", "io", "install svod, or give svodc=PATH", 74)
    is_text = isinstance(graph, str) and graph.lstrip().startswith("svod ") and "\n" in graph
    words = [program, "compile", "-" if is_text else os.fspath(graph), "--output", os.fspath(output), "--diagnostics", "json"]
    for name, value in flags.items():
        words += _words("--" + name.replace("_", "-"), value)
    done = subprocess.run(words, input=graph if is_text else None, stdin=None if is_text else subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise _error(done)
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


def _error(done: subprocess.CompletedProcess[str]) -> SvodError:
    for line in done.stderr.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict) and "code" in said and "severity" not in said:  # else a warning or a note
            place = ":".join(str(said[key]) for key in ("file", "line", "column") if said.get(key))
            return SvodError(said.get("message", ""), said.get("code", ""), said.get("help", ""), done.returncode, place, said.get("notes", ()))
    # A mistake in the flags is told before it is known that JSON is wanted.
    said = re.search(r"error: (.*) \[([a-z-]+)\](?:\n *help: (.*))?", done.stderr)
    if said:
        return SvodError(said[1], said[2], said[3] or "", done.returncode)
    return SvodError(f"svodc ended with {done.returncode}: {done.stderr.strip()}", "failed", "", done.returncode)
