#!/usr/bin/env python3
"""Speed of networks against ONNX Runtime as a picture, from the table of docs/performance.md.

usage: benchmarks/networks_picture.py [--check]    writes docs/networks.svg; --check fails where it is not that of the table

One SVG file without scripts, fonts or links. Equal tables give equal bytes.
"""
import re
import sys
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
PAGE, PICTURE = ROOT / "docs/performance.md", ROOT / "docs/networks.svg"
HEAD = "| network | svod, 1 thread | ONNX Runtime, 1 thread | svod, 2 threads | ONNX Runtime, 2 threads |"
WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 760, 120, 560, 62, 46, 15
STYLE = """
:root{color-scheme:light dark}
text{font:13px system-ui,sans-serif;fill:#222}.title{font-size:16px}.weak{fill:#666;font-size:12px}
.page{fill:#fff}.peer{stroke:#222;stroke-width:1.5}.one{fill:#4e79a7}.two{fill:#a0bfe0}
@media(prefers-color-scheme:dark){
text{fill:#e6e6e6}.weak{fill:#a0a4aa}.page{fill:#16181c}.peer{stroke:#e6e6e6}.two{fill:#33506f}}
"""


def rows_of(page):
    """(network, svod ms, peer ms, svod ms of two threads, peer ms of two threads), fastest against its peer first."""
    found = re.search(re.escape(HEAD) + r"\n\|[-|]+\|\n((?:\|[^\n]*\n)+)", page)
    if not found:
        raise RuntimeError(f"no table begins with '{HEAD}'")
    rows = []
    for line in found.group(1).splitlines():
        name, *times = [cell.strip() for cell in line.strip("|").split("|")]
        rows.append((name, *(float(time.removesuffix(" ms")) for time in times)))
    return sorted(rows, key=lambda row: (row[1] / row[2], row[0]))


def picture(rows):
    most = max(max(row[2] / row[1], row[4] / row[3], 1.0) for row in rows)
    height = TOP + ROW * len(rows) + 44
    scale = (RIGHT - LEFT) / most
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">',
             f"<title>Speed of networks against ONNX Runtime</title><style>{STYLE}</style>",
             f'<rect class="page" width="{WIDTH}" height="{height}"/>',
             '<text class="title" x="16" y="26">Speed against ONNX Runtime, one inference, f32</text>',
             '<text class="weak" x="16" y="46">longer is faster; the line is ONNX Runtime on the same threads</text>']
    for i, (name, one, peer, two, peer_two) in enumerate(rows):
        y = TOP + ROW * i
        parts.append(f'<text x="{LEFT - 8}" y="{y + 20}" text-anchor="end">{escape(name)}</text>')
        for j, (kind, mine, other) in enumerate((("one", one, peer), ("two", two, peer_two))):
            width = other / mine * scale
            parts.append(f'<rect class="{kind}" x="{LEFT}" y="{y + j * (BAR + 2)}" width="{width:.1f}" height="{BAR}"/>')
            parts.append(f'<text class="weak" x="{max(LEFT + width, LEFT + scale) + 6:.1f}" y="{y + j * (BAR + 2) + 12}">'
                         f"{other / mine:.2f}: {mine:g} ms, {other:g} ms</text>")
    bottom = TOP + ROW * len(rows)
    parts.append(f'<line class="peer" x1="{LEFT + scale:.1f}" y1="{TOP - 4}" x2="{LEFT + scale:.1f}" y2="{bottom - 6}"/>')
    for x, kind, words in ((LEFT, "one", "1 thread"), (LEFT + 110, "two", "2 threads")):
        parts.append(f'<rect class="{kind}" x="{x}" y="{bottom + 8}" width="14" height="14"/>'
                     f'<text class="weak" x="{x + 20}" y="{bottom + 20}">{words}</text>')
    return "\n".join(parts) + "\n</svg>\n"


def main():
    drawn = picture(rows_of(PAGE.read_text()))
    if sys.argv[1:] == ["--check"]:
        if not PICTURE.exists() or PICTURE.read_text() != drawn:
            print("docs/networks.svg is not that of docs/performance.md: run benchmarks/networks_picture.py", file=sys.stderr)
            return 1
    elif len(sys.argv) == 1:
        PICTURE.write_text(drawn)
    else:
        print("usage: benchmarks/networks_picture.py [--check]", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
