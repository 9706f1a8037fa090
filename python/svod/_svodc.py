"""svodc as a process: its words, and what it says."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union

from ._errors import SvodError, SvodNote, SvodWarning, told

if TYPE_CHECKING:
    from ._sources import Source

Path = Union[str, "os.PathLike[str]"]


_OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "svodc")


def found(svodc: Path | None) -> str:
    """The program that is given by name or path, or that of this package, or the one in PATH."""
    if svodc is None and os.path.exists(_OWN):
        return _OWN
    program = shutil.which(svodc or "svodc")
    if program is None:
        raise SvodError(f"there is no program '{os.fspath(svodc or 'svodc')}'", "io", "install svod, or give svodc=PATH", 74)
    return program


def run(words: list[str], text: str | None = None) -> tuple[str, str]:
    """What svodc prints and says, with `text` as its stdin. Its errors are raised."""
    done = subprocess.run(words, input=text, stdin=subprocess.DEVNULL if text is None else None, capture_output=True, encoding="utf-8",
                          errors="replace")
    if done.returncode != 0:
        raise error(done.returncode, done.stderr)
    return done.stdout, done.stderr


def compiled(program: str, source: Source, output: Path, words: list[str]) -> str:
    """Compiles to the folder `output`; what svodc says."""
    return asked(program, "compile", source, ["--output", os.fspath(output), *words])[1]


def asked(program: str, command: str, source: Source, words: list[str]) -> tuple[str, str]:
    """What a command prints and says of a model, without the folder where that was written for it."""
    graph = "-" if source.text is not None else str(source.path)
    made = source.folder + os.sep if source.folder else ""
    try:
        printed, said = run([program, command, graph, "--diagnostics", "json", *words], source.text)
    except SvodError as wrong:
        if not made:
            raise
        raise wrong.of_source(made, source.origins) from None
    return printed, said.replace(json.dumps(made)[1:-1], "") if made else said


def words(flags: Mapping[str, Any]) -> list[str]:
    return [word for name, value in flags.items() for word in _words("--" + name.replace("_", "-"), value)]


def warn(stderr: str, stacklevel: int) -> None:
    """Of what svodc warns of, and notes."""
    for said in _said(stderr):
        if "severity" in said:
            kind = SvodNote if said["severity"] == "note" else SvodWarning
            warnings.warn(told(*_parts(said)), kind, stacklevel=stacklevel + 1)


def _words(flag: str, value: Any) -> list[str]:
    if value is False or value is None:
        return []
    if value is True:
        return [flag]
    if isinstance(value, dict):
        value = [f"{name}={_listed(flag, each)}" for name, each in value.items()]
    values = value if isinstance(value, (list, tuple)) else [value]
    return [f"{flag}={os.fspath(each) if isinstance(each, os.PathLike) else each}" for each in values]


def _listed(flag: str, value: Any) -> str:
    """Sizes in a tuple as the flag has them: shape={"x": (2, 3)}, var={"n": (1, 64)}."""
    if not isinstance(value, (tuple, list)):
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    sizes = [str(each) for each in value]
    return ":".join(sizes) if flag == "--var" else ("," if any("x" in each for each in sizes) else "x").join(sizes)


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


def error(exit_code: int, stderr: str) -> SvodError:
    for said in _said(stderr):
        if "severity" not in said:  # else a warning or a note
            message, code, help, place, notes, excerpt = _parts(said)
            return SvodError(message, code, help, exit_code, place, notes, excerpt)
    # A mistake in the flags is told before it is known that JSON is wanted.
    plain = re.search(r"error: (.*) \[([a-z-]+)\](?:\n *help: (.*))?", stderr)
    if plain:
        return SvodError(plain[1], plain[2], plain[3] or "", exit_code)
    return SvodError(f"svodc ended with {exit_code}: {stderr.strip()}", "failed", "", exit_code)
