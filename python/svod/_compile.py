"""svod.compile: runs svodc, and loads the plan."""
from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _cache, _svodc
from ._errors import SvodError, SvodWarning
from ._plan import Plan
from ._sources import Source, opened
from ._svodc import Path
from ._torch import Export

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._flags import CompileFlags

# Flags that write something besides the plan, or none: where there is no output, nothing would tell where.
_WRITE = ("emit", "dependencies", "depfile", "depfile_target", "depfile_phony", "stop_after", "output")
_DAMAGED = ("io", "bad-plan", "plan-version", "plan-checksum", "plan-path")


@overload
def compile(model: Any, output: Path | None = None, *, args: Any = ..., kwargs: Mapping[str, Any] | None = ..., dynamic_shapes: Any = ...,
            input_names: Sequence[str] | None = ..., output_names: Sequence[str] | None = ..., svodc: Path | None = ...,
            load: Literal[True] = True, **flags: Unpack[CompileFlags]) -> Plan: ...
@overload
def compile(model: Any, output: Path, *, args: Any = ..., kwargs: Mapping[str, Any] | None = ..., dynamic_shapes: Any = ...,
            input_names: Sequence[str] | None = ..., output_names: Sequence[str] | None = ..., svodc: Path | None = ...,
            load: Literal[False], **flags: Unpack[CompileFlags]) -> None: ...


def compile(model: Any, output: Path | None = None, *, args: Any = None, kwargs: Mapping[str, Any] | None = None, dynamic_shapes: Any = None,
            input_names: Sequence[str] | None = None, output_names: Sequence[str] | None = None, svodc: Path | None = None, load: bool = True,
            **flags: Unpack[CompileFlags]) -> Plan | None:
    """Compiles a model, and loads the plan.

    `model` is one of these:
    - the path of a graph file or of an ONNX model, or the text of a graph file, which begins with "svod 1";
    - an ONNX model as bytes, as a file opened for reading, or as a ModelProto;
    - a torch.nn.Module with example inputs in `args`, and `kwargs`, `dynamic_shapes` and names as torch.onnx.export takes them; it is
      compiled as after eval();
    - a torch.export.ExportedProgram, or what torch.onnx.export returned.

    Without `output` the plan is kept in the cache: the same model with the same flags is not compiled again, by any process. With `output` it
    is written to that folder; emit="pack=FILE" writes it as one file as well, and load=False loads nothing.

    `flags` are those of `svodc compile` (docs/cli.md) with _ for -: verify=True, cpu="x86-64-v3", opt_level=0, shape={"x": "2x3"},
    disable_pass=["layout"]. `svodc` is a program in PATH, or its path; by default it is the one of the
    wheel, or the one in PATH. Its errors are raised as SvodError, with code, place and help; its
    warnings and notes go to `warnings`, as SvodWarning and SvodNote."""
    program = _svodc.found(svodc)
    if output is None:
        _check_kept(flags, load)
    with opened(model, Export(args, kwargs, dynamic_shapes, input_names, output_names)) as source:
        words = _svodc.words(_merged(source.flags, flags))
        if output is None:
            plan, said = _kept(program, source, words, flags)
        else:
            said = _svodc.compiled(program, source, output, words)
    _svodc.warn(said, stacklevel=2)
    return plan if output is None else Plan(output) if load else None


def _check_kept(flags: Mapping[str, Any], load: bool) -> None:
    writes = next((name for name in _WRITE if flags.get(name)), None)
    if writes or not load:
        what = f"{writes}= writes files of its own" if writes else "load=False leaves the plan in its folder"
        raise SvodError(f"{what}, and no output is given", "usage", 'add the path of the plan: svod.compile(model, "model.plan", ..)', 2)


def _merged(model: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Flags that the model asks for, and those of the call, which win."""
    merged = dict(given)
    for name, values in model.items():
        own = given.get(name, {})
        if isinstance(own, Mapping):
            merged[name] = {**values, **own}
    return merged


def _kept(program: str, source: Source, words: list[str], flags: Mapping[str, Any]) -> tuple[Plan, str]:
    """A plan of the cache. One that is damaged, or was removed since it was found, is made again."""
    if not (flags.get("no_cache") or os.environ.get("SVOD_NO_CACHE")):
        for _ in range(2):
            try:
                made = _cache.kept(program, source, words, _cache.root(flags.get("cache_dir")))
            except (OSError, RuntimeError) as error:  # no home, or a folder that cannot be written
                warnings.warn(f"plans cannot be kept: {error}\nhelp: let XDG_CACHE_HOME name a folder that can be written", SvodWarning, stacklevel=3)
                break
            with contextlib.nullcontext() if not made.was_there else _removed_if_damaged(made.path):
                return Plan(made.path), made.said
    temporary, plan = _cache.temporary(program, source, words, Plan)
    return plan, temporary.said


@contextlib.contextmanager
def _removed_if_damaged(path: Any) -> Any:
    try:
        yield
    except SvodError as error:
        if error.code not in _DAMAGED:
            raise
        _cache.discard(path.parent)
