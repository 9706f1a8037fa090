"""svod.inspect: what a plan holds, or what compiling a model would make."""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path as Folder
from typing import TYPE_CHECKING, Any

from . import _svodc
from ._plan import Plan
from ._sources import Source, opened
from ._svodc import Path
from ._torch import Export

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._flags import InspectFlags


class Inspection:
    """What svodc tells of a plan: as text, as `data`, which is the JSON of `svodc inspect --json`, and as a page, which notebooks show."""

    def __init__(self, text: str, data: dict[str, Any], page: str) -> None:
        self.text, self.data, self.page = text, data, page

    def save(self, path: Path) -> None:
        """Writes the page, which needs no other file."""
        Folder(path).write_text(self.page, encoding="utf-8")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.page)}" sandbox="allow-scripts" style="width:100%;height:36em;border:0"></iframe>'


def inspect(model: Any, *, args: Any = None, kwargs: Mapping[str, Any] | None = None, dynamic_shapes: Any = None,
            input_names: Sequence[str] | None = None, output_names: Sequence[str] | None = None, svodc: Path | None = None,
            **flags: Unpack[InspectFlags]) -> Inspection:
    """What a plan holds, or what compiling a model would make: its ports, kernels, memory, steps and decisions.

    `model` is an svod.Plan, the folder of one, or what svod.compile takes. `flags` are those of `svodc inspect`: kernels=True, steps=True,
    source=True choose parts of the text; cpu=, shape= and others are for models."""
    program = _svodc.found(svodc)
    with _opened(model, Export(args, kwargs, dynamic_shapes, input_names, output_names)) as source, tempfile.TemporaryDirectory() as folder:
        page, words = os.path.join(folder, "page.html"), _svodc.words({**source.flags, **flags})
        text, said = _svodc.asked(program, "inspect", source, words)
        data, _ = _svodc.asked(program, "inspect", source, [*words, "--json", "--html", page])
        inspection = Inspection(text, json.loads(data), Folder(page).read_text(encoding="utf-8"))
    _svodc.warn(said, stacklevel=2)
    return inspection


@contextmanager
def _opened(model: Any, export: Export) -> Iterator[Source]:
    if isinstance(model, Plan):
        yield Source(model.path)
        return
    with opened(model, export) as source:
        yield source
