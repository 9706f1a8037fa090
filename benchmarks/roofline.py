#!/usr/bin/env python3
"""The results of bench.py as a picture: rate over arithmetic intensity, beneath the roofs of the machine.

usage: benchmarks/roofline.py RESULTS.json PICTURE.svg

One SVG file without scripts, fonts or links. Every row of the results is a disc (svod) and a ring (its peer) at the same
intensity; pointing at them shows the figures. Equal results give equal bytes.
"""
import json
import math
import re
import sys
from xml.sax.saxutils import escape

from labels import Labels

WIDTH, HEIGHT = 1120, 700
LEFT, RIGHT, TOP, BOTTOM = 70, 1090, 96, 640  # of the plot
COLORS = ("#4e79a7", "#e8833a", "#3aa79f", "#e15759", "#59a14f", "#b07aa1", "#c9a227", "#9c755f", "#d37295")
STYLE = """
:root{color-scheme:light dark}
text{font:12px system-ui,sans-serif;fill:#222}.title{font-size:16px}.name{font-size:11px}.weak{fill:#666}
.page{fill:#fff}.grid{stroke:#e4e4e4}.lead{stroke:#999;stroke-width:.5}.roof{stroke:#222;stroke-width:1.5}
.pair{stroke:#888;stroke-width:.8}.peer{stroke-width:1.5;fill:#fff}
@media(prefers-color-scheme:dark){
text{fill:#e6e6e6}.weak{fill:#a0a4aa}.page{fill:#16181c}.grid{stroke:#2c3035}.roof{stroke:#e6e6e6}.peer{fill:#16181c}}
"""


def intensity_and_scale(row):
    """Flops per byte, and flops of one run. What only moves elements is drawn as one flop for 8 bytes."""
    flops = row["flops"] or row["bytes"] / 8
    return flops / row["bytes"], flops


class Axes:
    """Both logarithmic, wide enough for all points, the roofs and names beneath the points."""

    def __init__(self, points, highest):
        xs, ys = [p["x"] for p in points], [y for p in points for y in (p["svod"], p["peer"]) if y]
        self.x = (min(xs, default=0.1) / 1.6, max(xs, default=100) * 1.6)
        self.y = (min(ys, default=1) / 4, max([*ys, highest]) * 1.6)

    @staticmethod
    def along(value, ends):
        return math.log(value / ends[0]) / math.log(ends[1] / ends[0])

    def place(self, x, y):
        return LEFT + self.along(x, self.x) * (RIGHT - LEFT), BOTTOM - self.along(y, self.y) * (BOTTOM - TOP)

    @staticmethod
    def ticks(ends):
        decades = range(math.floor(math.log10(ends[0])), math.ceil(math.log10(ends[1])) + 1)
        return [t for d in decades for t in (10.0 ** d, 2 * 10.0 ** d, 5 * 10.0 ** d) if ends[0] <= t <= ends[1]]


def attributes(named):
    return "".join(f' {k.rstrip("_").replace("_", "-")}="{f"{v:.1f}" if isinstance(v, float) else escape(str(v))}"'
                   for k, v in named.items())


def element(name, content="", **named):
    return f"<{name}{attributes(named)}>{content}</{name}>" if content else f"<{name}{attributes(named)}/>"


def line(start, end, kind):
    return element("line", x1=start[0], y1=start[1], x2=end[0], y2=end[1], class_=kind)


def text(at, words, kind="", anchor="start", angle=0.0):
    turned = {"transform": f"rotate({angle:.1f} {at[0]:.1f} {at[1]:.1f})"} if angle else {}
    return element("text", escape(words), x=at[0], y=at[1], class_=kind, text_anchor=anchor, **turned)


def points_of(rows):
    """Rates are in GFLOP/s, of the fastest round; `peer` is None where there is none."""
    points = []
    for row in rows:
        x, flops = intensity_and_scale(row)
        rate = {who: flops / min(seconds) * 1e-9 for who, seconds in row["seconds"].items()}
        points.append({"x": x, "svod": rate["svod"], "peer": rate.get(row["peer"]), "row": row})
    return points


def figures(point, who):
    row = point["row"]
    rate = point["svod"] if who == "svod" else point["peer"]
    milliseconds = min(row["seconds"][who]) * 1e3
    speed = f"{rate:.1f} GFLOP/s, " if row["flops"] else ""
    return f"{row['case']}: {who} {milliseconds:.3f} ms, {speed}{row['bytes'] / milliseconds * 1e-6:.1f} GB/s"


def grid(axes):
    for tick in axes.ticks(axes.x):
        x, _ = axes.place(tick, axes.y[0])
        yield line((x, TOP), (x, BOTTOM), "grid")
        yield text((x, BOTTOM + 18.0), f"{tick:g}", "weak", "middle")
    for tick in axes.ticks(axes.y):
        _, y = axes.place(axes.x[0], tick)
        yield line((LEFT, y), (RIGHT, y), "grid")
        yield text((LEFT - 8.0, y + 4), f"{tick:g}", "weak", "end")
    title = "arithmetic intensity, flops per byte of operands and results"
    yield text(((LEFT + RIGHT) / 2, HEIGHT - 16.0), title, anchor="middle")
    yield text((20.0, (TOP + BOTTOM) / 2), "rate, GFLOP/s", anchor="middle", angle=-90.0)


def memory_roof(axes, name, rate, highest, is_lowest):
    """From the left or the lower edge up to the highest roof of arithmetic. The name of the lowest stands beneath it."""
    begin = max(axes.x[0], axes.y[0] / rate)
    end = min(axes.x[1], highest / rate)
    start, stop = axes.place(begin, begin * rate), axes.place(end, end * rate)
    turn = math.atan2(stop[1] - start[1], stop[0] - start[0])
    at = (start[0] + 8 * math.cos(turn), start[1] + 8 * math.sin(turn) + (16 if is_lowest else -6))
    return line(start, stop, "roof") + text(at, f"{name} {rate:.1f} GB/s", "weak name", angle=math.degrees(turn))


def roofs_of(axes, roofs, highest):
    memory = {name: rate * 1e-9 for name, rate in roofs["memory"].items()}
    for name, rate in memory.items():
        yield memory_roof(axes, name, rate, highest, rate == min(memory.values()))
    for name, rate in roofs["compute"].items():
        start = axes.place(max(axes.x[0], rate * 1e-9 / max(memory.values())), rate * 1e-9)
        yield line(start, axes.place(axes.x[1], rate * 1e-9), "roof")
        yield text((start[0] + 12, start[1] - 5), f"{name} {rate * 1e-9:.0f} GFLOP/s", "weak name")


def mark(at, radius, kind, color, moves, title):
    """A disc or a ring; a square for what has no flops."""
    paint = {"fill": color} if kind == "svod" else {"stroke": color}
    shape = element("title", escape(title))
    if moves:
        corner = {"x": at[0] - radius, "y": at[1] - radius}
        return element("rect", shape, **corner, width=2 * radius, height=2 * radius, class_=kind, **paint)
    return element("circle", shape, cx=at[0], cy=at[1], r=radius, class_=kind, **paint)


def pair(axes, point, color):
    moves, ours = not point["row"]["flops"], axes.place(point["x"], point["svod"])
    parts = []
    if point["peer"]:
        theirs = axes.place(point["x"], point["peer"])
        parts = [line(ours, theirs, "pair"), mark(theirs, 4.0, "peer", color, moves, figures(point, point["row"]["peer"]))]
    parts.append(mark(ours, 4.5, "svod", color, moves, figures(point, "svod")))
    return element("g", "".join(parts), class_="row")


def short_name(case):
    """Variants of one product share a label; equal sizes are named once."""
    return re.sub(r"(\d+)x\1x\1", r"\1", re.sub(r" (weight|--opts|fast)$", "", case))


def names_of(axes, points):
    """Names run down to the right, where nothing stands beneath a roof; of a name's points the lowest has it."""
    lowest = {}
    for point in points:
        name = short_name(point["row"]["case"])
        rate = min(r for r in (point["svod"], point["peer"]) if r)
        lowest[name] = max(lowest.get(name, (0.0, 0.0)), axes.place(point["x"], rate), key=lambda at: at[1])
    marks = [axes.place(p["x"], rate) for p in points for rate in (p["svod"], p["peer"]) if rate]
    for name, begin, at in Labels(marks, (LEFT, RIGHT, TOP, BOTTOM)).place(lowest):
        yield line(begin, at, "lead")
        yield text(at, name, "name", angle=float(Labels.ANGLE))


def legend(colors):
    x = float(LEFT)
    for group, color in colors.items():
        yield mark((x + 5, 60.0), 4.5, "svod", color, False, group) + text((x + 14, 64.0), group)
        x += 34 + 7 * len(group)
    explained = ("filled: svod; ring: its fastest peer, or the machine's bandwidth; square: elements only move, drawn as "
                 "one flop for 8 bytes; variants share a name")
    yield text((float(LEFT), 84.0), explained, "weak")


def picture(results):
    points = points_of(results["results"])
    highest = max(results["roofs"]["compute"].values()) * 1e-9
    axes = Axes(points, highest)
    groups = dict.fromkeys(p["row"]["group"] for p in points)
    colors = {group: COLORS[i % len(COLORS)] for i, group in enumerate(groups)}
    threads = results["threads"]
    title = f"{results['machine']}, {threads} thread{'s' if threads > 1 else ''}"
    parts = [element("style", STYLE), element("rect", width=WIDTH, height=HEIGHT, class_="page"),
             text((float(LEFT), 32.0), title, "title"), *legend(colors), *grid(axes),
             *roofs_of(axes, results["roofs"], highest), *names_of(axes, points),
             *(pair(axes, p, colors[p["row"]["group"]]) for p in points)]
    box = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {WIDTH} {HEIGHT}"}
    return element("svg", "\n".join(parts) + "\n", **box) + "\n"


def write(results, path):
    with open(path, "w") as f:
        f.write(picture(results))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    with open(sys.argv[1]) as f:
        write(json.load(f), sys.argv[2])
