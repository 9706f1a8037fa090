"""Modules of torch, as ONNX."""
from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

from ._errors import SvodError, SvodWarning

# Modules that compute something else while they are trained.
_TRAINED = re.compile(r"Dropout|BatchNorm|RReLU|InstanceNorm")
_LARGEST_SIZE = 1 << 31


@dataclass(frozen=True)
class Export:
    """How a module is exported, as torch.onnx.export has it."""
    args: Any = None
    kwargs: Mapping[str, Any] | None = None
    dynamic_shapes: Any = None
    input_names: Sequence[str] | None = None
    output_names: Sequence[str] | None = None

    def given(self) -> str:
        """The first that is not what it is by default."""
        return next((each.name for each in fields(self) if getattr(self, each.name) is not None), "")


def exported_model(model: Any, export: Export) -> tuple[Any, str, dict[str, Any]]:
    """The ONNXProgram of a Module or an ExportedProgram, its name, and flags for svodc: the bounds of its free sizes."""
    import torch
    _check_exporter()
    named = {key: list(names) for key in ("input_names", "output_names") if (names := getattr(export, key)) is not None}
    if isinstance(model, torch.export.ExportedProgram):
        given = Export(export.args, export.kwargs, export.dynamic_shapes).given()
        if given:
            raise SvodError(f"{given}= has no use for an ExportedProgram", "usage", f"it was exported with its own: leave {given}= out", 2)
        program = _exported(torch, model, {"verbose": False, **named})
        return program, "model", _flags(program, _bounds_of(model.range_constraints))
    if export.args is None and export.kwargs is None:
        raise SvodError("a module needs example inputs, which say what shapes and dtypes it takes", "usage",
                        "add args=(x,), with a tensor for each", 2)
    args = export.args if isinstance(export.args, tuple) else () if export.args is None else (export.args,)
    words = {"args": args, "kwargs": dict(export.kwargs or {}), "dynamic_shapes": export.dynamic_shapes, "verbose": False, **named}
    with _as_evaluated(model):
        program = _exported(torch, model, words)
    return program, type(model).__name__, _flags(program, _bounds(export.dynamic_shapes))


def _check_exporter() -> None:
    for needed in ("onnx", "onnxscript"):
        try:
            __import__(needed)
        except ImportError as error:
            raise SvodError(f"torch exports modules with the package {needed}, which is not installed", "unsupported",
                            "pip install onnx onnxscript", 3) from error


def _exported(torch: Any, model: Any, words: dict[str, Any]) -> Any:
    args = words.pop("args", ())
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.onnx.export(model, args, dynamo=True, **words)
    except Exception as error:  # of whatever the module's code does
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        first = str(cause).strip().split("\n\n")[0]
        raise SvodError(f"torch cannot export {type(model).__name__}: {type(cause).__name__}: {first}", "unsupported",
                        "call the module with the same args to see whether it runs; torch.export.export(module, args) shows where it stops",
                        3) from error


@contextmanager
def _as_evaluated(model: Any) -> Iterator[None]:
    """A plan is for inference: the module is exported as after eval(), and is afterwards what it was."""
    trained = [each for each in model.modules() if each.training]
    odd = sorted({type(each).__name__ for each in trained if _TRAINED.search(type(each).__name__)})
    if odd:
        warnings.warn(f"the module is in training mode and has {', '.join(odd)}: it is compiled as model.eval() computes it\n"
                      "help: call model.eval() first", SvodWarning, stacklevel=8)
    for each in trained:
        each.training = False
    try:
        yield
    finally:
        for each in trained:
            each.training = True


def _flags(program: Any, bounds: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    """--var for every size of an input that has bounds."""
    sizes = {dim.dim_param for each in program.model_proto.graph.input for dim in each.type.tensor_type.shape.dim}
    found: dict[str, str] = {}
    for name, (least, most) in bounds.items():
        try:
            low, high = max(int(least), 0), int(most)
        except (TypeError, ValueError, OverflowError, AttributeError):  # none
            continue
        if name in sizes and high < _LARGEST_SIZE:
            found[name] = f"{low}:{high}"
    return {"var": found} if found else {}


def _bounds(shapes: Any) -> dict[str, tuple[Any, Any]]:
    """Of every torch.export.Dim among dynamic_shapes."""
    if isinstance(shapes, (Mapping, list, tuple)):
        inner = shapes.values() if isinstance(shapes, Mapping) else shapes
        return {name: bounds for each in inner for name, bounds in _bounds(each).items()}
    is_dim = hasattr(shapes, "min") and hasattr(shapes, "max") and hasattr(shapes, "__name__")
    return {shapes.__name__: (shapes.min, shapes.max)} if is_dim else {}


def _bounds_of(constraints: Mapping[Any, Any]) -> dict[str, tuple[Any, Any]]:
    return {str(symbol): (bounds.lower, bounds.upper) for symbol, bounds in constraints.items()}
