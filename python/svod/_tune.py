"""svod.tune: runs svodc tune."""
from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Union

from . import _svodc
from ._errors import SvodError
from ._sources import opened
from ._svodc import Path
from ._torch import Export

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._flags import TuneFlags


def tune(graphs: Any, log: Path, *, budget: Union[str, float] = "10m",
         progress: Callable[[dict[str, Any]], object] | None = None, svodc: Path | None = None, **flags: Unpack[TuneFlags]) -> dict[str, Any]:
    """Looks for faster opts and decisions for one model, or for several in a list, by running them here for `budget`: seconds, or a text such
    as "90s", "10m", "1.5h". A model is the path of a graph file or of an ONNX model, an svod.Graph, an ExportedProgram, or ONNX as bytes or
    ModelProto. What is measured is appended to the file `log` at once, so that whatever ends it, all of it stays, and the same call goes on.
    `svod.compile(model, tuning_log=log)` uses it.

    `progress` is called with a dictionary for each step, whose keys docs/tuning.md lists; what it raises ends the tuning. The result is
    the report, as `svodc tune --json` prints it: "expected" is the time of all kernels as a part of what it was, "kernels" has a row for each,
    and "graphs" and "plans" say what decisions and whole plans came to. `flags` are those of `svodc tune`
    with _ for -, as in svod.compile. Errors and warnings are those of svod.compile."""
    with contextlib.ExitStack() as kept:
        sources = [kept.enter_context(opened(model, Export())) for model in (graphs if _are_several(graphs) else [graphs])]
        for source in sources:
            if source.path is None:
                raise SvodError("svod.tune takes files, and this is the text of a graph", "usage", "write it to a file, and give the path", 2)
        words = [_svodc.found(svodc), "tune", *(str(source.path) for source in sources), "--tuning-log", os.fspath(log),
                 "--budget", str(budget), "--json", "--diagnostics", "json"]
        words += (["--progress", "json"] if progress else []) + _svodc.words(flags)
        return _report(words, progress)


def _are_several(graphs: Any) -> bool:
    return isinstance(graphs, Iterable) and not isinstance(graphs, (str, bytes, bytearray, memoryview)) and not hasattr(graphs, "read")


def _report(words: list[str], progress: Callable[[dict[str, Any]], object] | None) -> dict[str, Any]:
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
        _svodc.warn("".join(said), stacklevel=3)
        report.seek(0)
        result: dict[str, Any] = json.load(report)
    return result


def _is_told(line: str, progress: Callable[[dict[str, Any]], object] | None) -> bool:
    """Whether the line is an event, which `progress` gets."""
    if progress is None or not line.startswith('{"progress"'):
        return False
    progress(json.loads(line))
    return True
