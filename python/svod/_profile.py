"""Times of the steps of a plan, as a list that shows itself as a table."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import List

from ._html import counted, html_table, plain_table, timed

_HEAD = ("step", "kind", "calls", "time", "share", "flop/s", "B/s")


@dataclass(frozen=True)
class ProfileRecord:
    """Times of one step, since the instance was made or Instance.reset_profile()."""
    name: str
    kind: str
    step: int
    calls: int
    busy_ns: int
    wall_ns: int
    bytes: int
    flops: int


class Profile(List[ProfileRecord]):
    """A record per step. Shown it is a table: the time of a call, its share of all, and how much was computed and moved in a second."""

    def __init__(self, records: Iterable[ProfileRecord] = (), plan: str = "") -> None:
        super().__init__(records)
        self.plan = plan

    @property
    def wall_ns(self) -> int:
        """The time of all steps."""
        return sum(each.wall_ns for each in self)

    def _rows(self) -> list[tuple[str, ...]]:
        return [(each.name, each.kind, str(each.calls), timed(each.wall_ns / max(1, each.calls)), f"{100 * self._share(each):.1f}%",
                 counted(each.flops / each.wall_ns * 1e9) if each.wall_ns else "", counted(each.bytes / each.wall_ns * 1e9) if each.wall_ns else "")
                for each in self._sorted()]

    def _sorted(self) -> list[ProfileRecord]:
        return sorted(self, key=lambda each: -each.wall_ns)

    def _share(self, each: ProfileRecord) -> float:
        return each.wall_ns / max(1, self.wall_ns)

    def _head(self) -> str:
        calls = max((each.calls for each in self), default=0)
        return f"{self.plan}: {len(self)} steps, {timed(self.wall_ns / max(1, calls))} in each of {calls} runs"

    def __str__(self) -> str:
        return self._head() + "\n" + plain_table(_HEAD, self._rows(), 2)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._head())}</p>" + html_table((*_HEAD, ""), self._rows(), 2, [self._share(each) for each in self._sorted()])
