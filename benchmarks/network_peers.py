#!/usr/bin/env python3
"""Networks of full_size.py beside ONNX Runtime and, where it is installed, OpenVINO: one image, in turns, bound arrays.

usage: benchmarks/network_peers.py --work FOLDER [--bin FOLDER] [--threads N ..] [--only PATTERN] [--rounds N] [--json FILE]
                                   [--markdown FILE]

--work keeps the exports. Times of one thread are processor time; those of more are wall time, for which the machine has to be
idle. A ratio is how many times as fast as the best peer svod is: the median over the rounds. Needs torch, torchvision, timm,
onnx and onnxruntime. Exits with 1 when results differ.
"""
import argparse
import fnmatch
import json
import math
import sys
import time
from pathlib import Path

import numpy as np

import full_size
import machine
import measure
import onnx_peers
import pages
import svod_runtime

BEGIN, END = "<!-- benchmarks/network_peers.py writes what follows -->", "<!-- network peers end here -->"
TOLERANCE = 1e-3  # of the largest result
COLUMNS = ("svod", "onnxruntime", "openvino")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder of the exports and plans")
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"), help="folder of svodc")
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--only", default="*", help="pattern of names")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write all figures to a file")
    parser.add_argument("--markdown", type=Path, help="write the table into the place for it in a file")
    return parser.parse_args()


def timed(path, plan, inputs, threads, options):
    """Seconds of each contender by round, the ratio, and whether results differ."""
    peer, expected = onnx_peers.onnx_runtime(str(path), inputs, threads)
    instance, results = onnx_peers.loaded(options.bin, plan, inputs, expected, ("y",), threads)
    contenders = {"svod": instance.run, "onnxruntime": peer}
    if other := onnx_peers.open_vino(str(path), inputs, threads):
        contenders["openvino"] = other
    times = measure.interleave(contenders, options.rounds, time.process_time if threads == 1 else time.perf_counter)
    largest = float(np.abs(expected[0]).max())
    differs = not np.abs(results[0] - expected[0]).max() <= TOLERANCE * largest
    instance.close()
    ratio = min(measure.ratio(times["svod"], t)[0] for name, t in times.items() if name != "svod")
    return {"times": {name: t.rounds for name, t in times.items()}, "ratio": ratio, "differs": bool(differs)}


def measured(name, options):
    path, plan = options.work / f"{name}.onnx", options.work / f"{name}.plan"
    if error := onnx_peers.compiled(options.bin, str(path), plan):
        return {"name": name, "error": error}
    image = np.random.default_rng(0).standard_normal((1, 3, full_size.SIZE, full_size.SIZE)).astype(np.float32)
    inputs = {"x": svod_runtime.aligned(image)}
    return {"name": name, "threads": {str(n): timed(path, plan, inputs, n, options) for n in options.threads}}


def cells(row):
    if "error" in row:
        return [row["name"], "not compiled: " + row["error"]]
    made = [row["name"]]
    for one in row["threads"].values():
        made += [f"{min(one['times'][k]) * 1e3:.2f}" if k in one["times"] else "" for k in COLUMNS]
        made.append(f"{one['ratio']:.2f}" + (" differs" if one["differs"] else ""))
    return made


def sentence(rows, threads):
    ratios = {r["name"]: r["threads"][str(threads)]["ratio"] for r in rows if "threads" in r}
    mean, worst = math.exp(sum(map(math.log, ratios.values())) / len(ratios)), min(ratios, key=ratios.get)
    words = "1 thread" if threads == 1 else f"{threads} threads"
    return f"With {words} the geometric mean of {len(ratios)} ratios is {mean:.2f}, the least {ratios[worst]:.2f} ({worst})."


def lines_of(rows, options):
    titles = ["network"]
    for n in options.threads:
        titles += [f"svod ms, {n}", "ONNX Runtime", "OpenVINO", "best peer / svod"]
    summary = " ".join([f"On {machine.processor()}, {options.rounds} rounds.", *(sentence(rows, n) for n in options.threads)])
    return [summary, "", *pages.table(titles, [cells(r) for r in rows])]


def main():
    options = arguments()
    names = [n for n in (*full_size.CALIBRATED, *full_size.HELD_OUT, *full_size.OTHERS) if fnmatch.fnmatch(n, options.only)]
    if not names:
        sys.exit(f"no network is called '{options.only}'; full_size.py has the names")
    options.work.mkdir(parents=True, exist_ok=True)
    full_size.export(options.work, names)
    rows = []
    for name in names:
        rows.append(measured(name, options))
        print("  ".join(cells(rows[-1])), file=sys.stderr, flush=True)
    lines = lines_of(rows, options)
    if options.markdown:
        pages.write_between(options.markdown, BEGIN, END, lines)
    else:
        print("\n".join(lines))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return any(one["differs"] for r in rows for one in r.get("threads", {}).values())


if __name__ == "__main__":
    sys.exit(main())
