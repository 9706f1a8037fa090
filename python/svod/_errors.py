"""The one exception, and the warnings."""
from __future__ import annotations

import re
from typing import Sequence


class SvodError(Exception):
    """What svodc or the runtime refused, or could not do.

    `code` is a stable name such as "input-mismatch" (docs/plan.md lists them), `help` says what to do next and may be
    empty, `exit_code` is what a tool would end with, `place` is where in a file, as "file:line:column", or empty, and
    `excerpt` shows the line of that place with a mark below it. `file`, `line` and `column` are the parts of `place`, or None.
    """

    def __init__(self, message: str, code: str, help: str = "", exit_code: int = 1, place: str = "",
                 notes: Sequence[str] = (), excerpt: str = "") -> None:
        self.message, self.code, self.help, self.exit_code, self.place = message, code, help, exit_code, place
        self.notes, self.excerpt = tuple(notes), excerpt
        super().__init__(message, code)

    @property
    def file(self) -> str | None:
        return self._parts()[0]

    @property
    def line(self) -> int | None:
        return self._number(1)

    @property
    def column(self) -> int | None:
        return self._number(2)

    def _parts(self) -> tuple[str | None, ...]:
        match = re.fullmatch(r"(.+?)(?::(\d+))?(?::(\d+))?", self.place)
        return match.groups() if match else (None, None, None)

    def _number(self, part: int) -> int | None:
        text = self._parts()[part]
        return None if text is None else int(text)

    def of_source(self, folder: str, origins: Sequence[str]) -> SvodError:
        """The same error of a file made in `folder`, which nothing names: with a note that says where the program made the line."""
        message, help, place = (each.replace(folder, "") for each in (self.message, self.help, self.place))
        notes = [note.replace(folder, "") for note in self.notes]
        number = self.line or 0
        if 0 < number <= len(origins) and origins[number - 1]:
            notes.insert(0, f"recorded at {origins[number - 1]}")
        return SvodError(message, self.code, help, self.exit_code, place, notes, self.excerpt)

    def __str__(self) -> str:
        return told(self.message, self.code, self.help, self.place, self.notes, self.excerpt)


class SvodWarning(UserWarning):
    """What svodc warns of: the graph was compiled, and may not be what was meant."""


class SvodNote(SvodWarning):
    """What svodc notes: something to know of a graph that was compiled."""


def told(message: str, code: str, help: str, place: str, notes: Sequence[str], excerpt: str) -> str:
    """As svodc prints it."""
    lines = [f"{place}: {message} [{code}]" if place else f"{message} [{code}]"]
    lines += [excerpt] if excerpt else []
    lines += [f"note: {note}" for note in notes]
    return "\n".join(lines + ([f"help: {help}"] if help else []))
