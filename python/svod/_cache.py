"""Compiled plans by content: of the model and the files it names, the flags, the environment, svodc and this machine."""
from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import tempfile
import time
import uuid
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _svodc
from ._errors import SvodError
from ._sources import Source

_LIMIT_MIB = 4096
_DAY = 86400.0
_SETTLED = 2.0  # seconds
_OF_CACHES = ("SVOD_CACHE_DIR", "SVOD_CACHE_LIMIT", "SVOD_NO_CACHE", "SVOD_PLAN_CACHE_LIMIT")  # they change no plan
_FILES, _LOCK, _NEW = ".files", ".lock", ".new-"
_BUILD_ID = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"  # the note of 20 bytes in the first page of a program
_digests: dict[tuple[str, int, int], str] = {}  # of files that did not change since, by path, size and time
_machines: dict[str, str] = {}  # what svodc says it is, and of this machine, by its digest


@dataclass(frozen=True)
class Kept:
    """A plan that is kept, what svodc said of it, and whether it was there before."""
    path: Path
    said: str
    was_there: bool


def kept(program: str, source: Source, words: list[str], root: Path) -> Kept:
    """The plan of a source, compiled unless it is there. Threads and processes that want the same one wait for the first of them."""
    root.mkdir(parents=True, exist_ok=True)
    key = _key(program, source, words)
    with _alone(root / (key + _LOCK)):
        files = root / (key + _FILES)
        with contextlib.suppress(OSError, ValueError):
            place = root / _place(key, json.loads(files.read_text()))
            os.utime(place)  # it was used
            return Kept(place / "plan", (place / "said").read_text(), True)
        made = _made(program, source, words, root, key)
    _make_room(root, made.path.parent)
    return made


def temporary(program: str, source: Source, words: list[str], owner_of: Any) -> tuple[Kept, Any]:
    """A plan that is removed with what `owner_of` makes of it, and with the process that compiled it."""
    folder = Path(tempfile.mkdtemp(prefix="svod-plan-"))
    try:
        made = Kept(folder / "plan", _svodc.compiled(program, source, folder / "plan", words), False)
        owner = owner_of(made.path)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(owner, _remove, folder, os.getpid())
    return made, owner


def root(cache_dir: Any) -> Path:
    """Where plans are kept, beside the kernels that svodc keeps."""
    given = cache_dir or os.environ.get("SVOD_CACHE_DIR")
    if given:
        return Path(given).absolute() / "plans"
    home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(home) if os.path.isabs(home) else Path.home() / ".cache") / "svod" / "plans"


def _made(program: str, source: Source, words: list[str], root: Path, key: str) -> Kept:
    """Compiles beside the others, and gives the result its name when it is whole."""
    began, folder = time.time(), Path(tempfile.mkdtemp(prefix=_NEW, dir=root))
    try:
        said = _svodc.compiled(program, source, folder / "plan", [*words, "--depfile", str(folder / "depfile")])
        (folder / "said").write_text(said)
        files = [path for path in _depended(folder / "depfile") if not (source.folder and path.startswith(source.folder + os.sep))]
        # What was written while svodc read it is of unknown content: that plan serves this call alone.
        is_known = all(os.stat(path).st_mtime < began for path in files)
        place = root / (_place(key, files) if is_known else uuid.uuid4().hex)
        with contextlib.suppress(OSError):  # another machine that shares the folder was first
            folder.rename(place)
        if is_known:
            _write(root / (key + _FILES), json.dumps(files))
        return Kept(place / "plan", said, False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _key(program: str, source: Source, words: list[str]) -> str:
    """Of all that is known before svodc runs. Paths in a model count from its folder, or from here in a text."""
    names_files = source.text is None or '"' in source.text
    where = os.path.abspath(os.path.dirname(source.path or "") if not source.folder else ".") if names_files else ""
    environment = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith("SVOD_") and name not in _OF_CACHES)
    return _digest([_machine(program), where, *_content(source), *environment, *words, *_files_of(words)])


def _content(source: Source) -> list[str]:
    """The model: its text, or its name and content, with those of weights that were written beside it for svodc."""
    if source.text is not None:
        return [source.text]
    path = str(source.path)
    try:
        files = sorted(os.path.join(source.folder, name) for name in os.listdir(source.folder)) if source.folder else [path]
        return [os.path.basename(path), *(text for each in files for text in (os.path.basename(each), _digest_of(each)))]
    except OSError as error:
        raise SvodError(f"cannot read {path}: {error.strerror}", "io", "give the path of a graph file or an ONNX model", 74) from error


def _place(key: str, files: list[str]) -> str:
    return _digest([key, *files, *(_digest_of(path) for path in files)])


def _machine(program: str) -> str:
    """What decides code besides the model: svodc, and the processor as it sees it."""
    digest = _identity(program)
    if digest not in _machines:
        version, _ = _svodc.run([program, "--version"])
        native, _ = _svodc.run([program, "targets", "--cpu", "native", "--json"])
        cpu = json.loads(native).get("cpu", {})
        _machines[digest] = " ".join([version.strip(), digest, platform.machine(), *(str(cpu.get(part)) for part in ("cpu", "triple", "features"))])
    return _machines[digest]


def _files_of(words: list[str]) -> Iterator[str]:
    """The contents of files that flags name, as --const x=file.npy and --tuning-log file do."""
    for word in words:
        value = word.partition("=")[2]
        for path in {value, value.partition("=")[2]}:
            if path and os.path.isfile(path):
                yield _digest_of(path)
            elif path and word.startswith("--decide-from=") and os.path.isfile(os.path.join(path, "plan.json")):
                yield _digest_of(os.path.join(path, "plan.json"))


def _identity(program: str) -> str:
    """The build id that the linker gave it, or the digest of a program without one, such as a script."""
    with open(program, "rb") as file:
        head = file.read(4096)
    note = head.find(_BUILD_ID) if head.startswith(b"\x7fELF") else -1
    return head[note + len(_BUILD_ID):][:20].hex() if note >= 0 else _digest_of(program)


def _digest(texts: Iterable[str]) -> str:
    return hashlib.blake2b(json.dumps(list(texts)).encode(), digest_size=20).hexdigest()


def _digest_of(path: str) -> str:
    status = os.stat(path)
    known = (os.path.abspath(path), status.st_size, status.st_mtime_ns)
    if known not in _digests:
        state = hashlib.blake2b(digest_size=20)
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                state.update(block)
        if status.st_mtime > time.time() - _SETTLED:  # it may be written again at the same tick of the clock
            return state.hexdigest()
        _digests[known] = state.hexdigest()
    return _digests[known]


def _depended(depfile: Path) -> list[str]:
    """The files that a rule of make names, in full."""
    rule = depfile.read_text().replace("\\\n", " ")
    names = re.findall(r"(?:\\.|[^\s\\])+", rule.partition(": ")[2])
    return [os.path.abspath(re.sub(r"\\(.)", r"\1", name).replace("$$", "$")) for name in names]


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Holds a lock of the system, which ends with the process. A folder of a network may have none: then work is done twice at worst."""
    import fcntl
    with open(path, "w") as file:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:  # also where a process that was forked meanwhile has the file open
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)


def _write(path: Path, text: str) -> None:
    beside = path.with_name(f"{_NEW}{uuid.uuid4().hex}")
    beside.write_text(text)
    beside.replace(path)


def _make_room(root: Path, spared: Path) -> None:
    """Removes plans that were not used for the longest time, and what processes left that were killed."""
    limit = float(os.environ.get("SVOD_PLAN_CACHE_LIMIT", _LIMIT_MIB)) * (1 << 20)
    plans = []
    for each in root.iterdir():
        with contextlib.suppress(OSError):
            used = each.stat().st_mtime
            if each.name.startswith(_NEW) or each.suffix in (_FILES, _LOCK):
                if used < time.time() - (_DAY if each.name.startswith(_NEW) else 100 * _DAY):
                    _discard(each)
            else:
                plans.append((used, sum(file.stat().st_size for file in each.rglob("*") if file.is_file()), each))
    size = sum(bytes for _, bytes, _ in plans)
    for _, bytes, each in sorted(plans, key=lambda row: row[0]):
        if size > limit and each != spared:
            discard(each)
            size -= bytes


def discard(folder: Path) -> None:
    """Removes a plan at once for all who look for it; who has it loaded keeps it."""
    away = folder.with_name(f"{_NEW}{uuid.uuid4().hex}")
    with contextlib.suppress(OSError):
        folder.rename(away)
        shutil.rmtree(away, ignore_errors=True)


def _discard(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # not a process that was forked
        shutil.rmtree(folder, ignore_errors=True)
