"""What svod.compile takes as a model, as something that svodc reads: a file, or the text of a graph."""
from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._errors import SvodError
from ._graph import Graph
from ._torch import Export, exported_model

_LARGEST_MESSAGE = 2_000_000_000  # bytes of a protobuf, whose limit is 2 GiB
_TAKES = "give a path, the text of a graph file, ONNX as bytes or ModelProto, an svod.Graph, or a torch.nn.Module or ExportedProgram"
_OF_A_MODULE = "make the module that these weights belong to, and give it with args="
_OTHER_FILES = {
    ".pt2": "program = torch.export.load(path), and give that", ".tflite": "convert it to ONNX with tf2onnx", ".pb": "convert it to ONNX with tf2onnx",
    ".keras": "export it to ONNX", ".h5": "export it to ONNX", ".safetensors": _OF_A_MODULE, ".gguf": _OF_A_MODULE}
_CHECKPOINT = "these are weights: make the module, load_state_dict(torch.load(path)), and give it with args="


@dataclass(frozen=True)
class Source:
    """`path` of a file, or `text` for stdin. `folder` is where the file was made for svodc; errors name it without that. `flags` are
    those that the model itself asks for."""
    path: str | None = None
    text: str | None = None
    folder: str = ""
    flags: Mapping[str, Any] = field(default_factory=dict)
    origins: Sequence[str] = ()  # for each line of a graph that a program built, where the program did it


@contextmanager
def opened(model: Any, export: Export) -> Iterator[Source]:
    """The source of a model, for as long as svodc reads it."""
    if isinstance(model, type):
        raise SvodError(f"{model.__name__} is a class", "usage", f"give an instance of it: svod.compile({model.__name__}(..), args=..)", 2)
    if not _is_of_torch(model) and (given := export.given()):
        raise SvodError(f"{given}= is for modules of torch, and this is a {type(model).__name__}", "usage", f"leave {given}= out", 2)
    if isinstance(model, (str, os.PathLike)) and not hasattr(model, "read"):
        yield _of_text(model)
        return
    with tempfile.TemporaryDirectory(prefix="svod-") as folder:
        if isinstance(model, Graph):
            path = Path(folder) / f"{''.join(c if c.isalnum() else '_' for c in model.name)}.svod"
            yield Source(str(path), None, folder, {}, model.save(path))
            return
        path, flags = _written(model, export, Path(folder))
        yield Source(str(path), None, folder, flags)


def _of_text(model: str | os.PathLike[str]) -> Source:
    text = os.fspath(model)
    if isinstance(model, str) and "\n" in text:
        first = next((line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
        if first.split()[:1] == ["svod"] or first.startswith("{"):
            return Source(text=text)
        raise SvodError(f"a text that begins with {first[:40]!r} is no graph", "usage", "a graph begins with the line: svod 1", 2)
    suffix = Path(text).suffix.lower()
    wanted = _CHECKPOINT if suffix in (".pt", ".pth", ".ckpt") else _OTHER_FILES.get(suffix)
    if wanted:
        raise SvodError(f"{text} is neither a graph file nor an ONNX model", "unsupported", wanted, 3)
    return Source(text)


def _is_of_torch(model: Any) -> bool:
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(model, (torch.nn.Module, torch.export.ExportedProgram))


def _written(model: Any, export: Export, folder: Path) -> tuple[Path, dict[str, Any]]:
    """The file made of a model, and the flags that go with it."""
    if hasattr(model, "read"):
        model = model.read()
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _of_bytes(bytes(model), folder), {}
    if _is_of_torch(model):
        program, name, flags = exported_model(model, export)
        path = folder / f"{name}.onnx"
        program.save(path)
        return path, flags
    if hasattr(model, "SerializeToString") and hasattr(model, "graph"):
        return _of_proto(model, folder), {}
    if hasattr(model, "model_proto") and hasattr(model, "save"):  # what torch.onnx.export returns
        path = folder / "model.onnx"
        model.save(path)
        return path, {}
    help = "a function over arrays is for svod.trace, which compiles it when it is called" if callable(model) else _TAKES
    raise SvodError(f"svod.compile cannot take a {type(model).__name__}", "usage", help, 2)


def _of_bytes(data: bytes, folder: Path) -> Path:
    start = data[:200].lstrip()
    if not start:
        raise SvodError("the model is empty", "usage", _TAKES, 2)
    kind = "svod" if start.startswith((b"svod ", b"#")) else "json" if start.startswith(b"{") else "onnx"
    path = folder / f"model.{kind}"
    path.write_bytes(data)
    return path


def _of_proto(model: Any, folder: Path) -> Path:
    if any(each.data_location == 1 for each in model.graph.initializer):
        raise SvodError("the weights of this ModelProto lie in files beside the one it was read from", "usage",
                        "give the path of the model, or onnx.load it with load_external_data=True", 2)
    name = "".join(c if c.isalnum() else "_" for c in model.graph.name) or "model"
    path = folder / f"{name}.onnx"
    if model.ByteSize() < _LARGEST_MESSAGE:
        path.write_bytes(model.SerializeToString())
        return path
    import onnx
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    onnx.save_model(copy, str(path), save_as_external_data=True, location="weights")
    return path
