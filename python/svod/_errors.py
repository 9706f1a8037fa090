"""The one exception."""
from __future__ import annotations

from typing import Sequence


class SvodError(Exception):
    """What svodc or the runtime refused, or could not do.

    `code` is a stable name such as "input-mismatch" (docs/plan.md lists them), `help` says what to do next and may be
    empty, `exit_code` is what a tool would end with, and `place` is where in a file, as "file:line:column", or empty.
    """

    def __init__(self, message: str, code: str, help: str = "", exit_code: int = 1, place: str = "",
                 notes: Sequence[str] = ()) -> None:
        self.message, self.code, self.help, self.exit_code, self.place = message, code, help, exit_code, place
        self.notes = tuple(notes)
        super().__init__(message, code)

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        lines = [f"{place}{self.message} [{self.code}]", *(f"note: {note}" for note in self.notes)]
        return "\n".join(lines + ([f"help: {self.help}"] if self.help else []))
