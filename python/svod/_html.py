"""Tables for terminals and notebooks."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_UNITS = ("", " k", " M", " G", " T", " P")


def counted(number: float) -> str:
    """With three digits and a unit: 13.8 k."""
    unit = 0
    while number >= 999.5 and unit < len(_UNITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{number:.3g}{_UNITS[unit]}"


def timed(nanoseconds: float) -> str:
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def sized(bytes: int) -> str:
    for size, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if bytes >= size:
            return f"{bytes / size:.3g} {unit}"
    return f"{bytes} B"


def plain_table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int) -> str:
    """Columns under their heads; the first `left` of them begin at the left, the others end at the right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    return "\n".join("  ".join(cell.ljust(widths[place]) if place < left else cell.rjust(widths[place]) for place, cell in enumerate(line)).rstrip()
                     for line in lines)


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int, bars: Sequence[float] = ()) -> str:
    """`bars` are parts of 1, which the last cell of each row shows as a bar."""
    def cell(tag: str, place: int, inner: str) -> str:
        return f'<{tag} style="text-align:{"left" if place < left else "right"}">{inner}</{tag}>'

    lines = ["<tr>" + "".join(cell("th", place, escape(each)) for place, each in enumerate(head)) + "</tr>"]
    for number, row in enumerate(rows):
        cells = "".join(cell("td", place, escape(each)) for place, each in enumerate(row))
        if bars:
            width = round(100 * bars[number])
            cells += f'<td style="text-align:left"><div style="width:{width}px;height:0.8em;background:currentColor;opacity:0.5"></div></td>'
        lines.append(f"<tr>{cells}</tr>")
    return "<table>" + "".join(lines) + "</table>"
