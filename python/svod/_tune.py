"""svod.tune: the installed svodc."""
from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from typing import Any, Union

from . import _svodc
from ._svodc import Path


def tune(graphs: Union[Path, Iterable[Path]], log: Path, *, budget: Union[str, float] = "10m",
         progress: Callable[[dict[str, Any]], object] | None = None, svodc: Path = "svodc", **flags: Any) -> dict[str, Any]:
    """Looks for faster opts and decisions for one graph file or ONNX model, or several, by running them here for `budget`: seconds,
    or a text such as "90s", "10m", "1.5h". What is measured is appended to the file `log` at once, so that whatever ends it, all of it
    stays, and the same call goes on. `svod.compile(graph, output, tuning_log=log)` uses it.

    `progress` is called with a dictionary for each step, whose keys docs/tuning.md lists; what it raises ends the tuning. The result is
    the report, as `svodc tune --json` prints it: "expected" is the time of all kernels as a part of what it was, "kernels" has a row for each,
    and "graphs" and "plans" say what decisions and whole plans came to. `flags` are those of `svodc tune`
    with _ for -, as in svod.compile. Errors and warnings are those of svod.compile."""
    paths = [graphs] if isinstance(graphs, (str, os.PathLike)) else list(graphs)
    words = [_svodc.found(svodc), "tune", *(os.fspath(path) for path in paths), "--tuning-log", os.fspath(log),
             "--budget", str(budget), "--json", "--diagnostics", "json"]
    words += (["--progress", "json"] if progress else []) + _svodc.words(flags)
    with tempfile.TemporaryFile("w+") as report:
        running = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=report, stderr=subprocess.PIPE, text=True)
        try:
            said = [line for line in running.stderr or () if not _is_told(line, progress)]
        except BaseException:  # of `progress`, or Ctrl-C
            running.terminate()
            raise
        finally:
            running.communicate()
        if running.returncode != 0:
            raise _svodc.error(running.returncode, "".join(said))
        _svodc.warn("".join(said), stacklevel=2)
        report.seek(0)
        result: dict[str, Any] = json.load(report)
    return result


def _is_told(line: str, progress: Callable[[dict[str, Any]], object] | None) -> bool:
    """Whether the line is an event, which `progress` gets."""
    if progress is None or not line.startswith('{"progress"'):
        return False
    progress(json.loads(line))
    return True
