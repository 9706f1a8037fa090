#!/usr/bin/env python3
"""Single operators beside ONNX Runtime and, where it is installed, OpenVINO: processor time on one thread, in turns.

usage: benchmarks/operators.py [--bin FOLDER] [--only TEXT] [--rounds N] [--json FILE] [--markdown FILE]

Cases are rows of operator_cases.py. All contenders get the same ONNX file and bound arrays. A ratio is how many times as fast
as the best peer svod is: the median over the rounds. Needs onnx and onnxruntime. Exits with 1 when results differ.
"""
import argparse
import json
import math
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import machine
import measure
import onnx_peers
import operator_cases
import pages
import svod_runtime

BEGIN, END = "<!-- benchmarks/operators.py writes what follows -->", "<!-- operators end here -->"
TITLES = ["class", "operator", "svod us", "ONNX Runtime us", "OpenVINO us", "best peer / svod"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"), help="folder of svodc")
    parser.add_argument("--only", default="", help="cases whose class or name has this text")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write all figures to a file")
    parser.add_argument("--markdown", type=Path, help="write the table into the place for it in a file")
    return parser.parse_args()


def differs(ours, theirs, tolerance):
    """Integers may be one step apart where a float was rounded."""
    if np.issubdtype(theirs.dtype, np.integer):
        return np.abs(ours.astype(np.int64) - theirs).max() > 1
    return not np.abs(ours - theirs).max() <= tolerance * max(1e-30, float(np.abs(theirs).max()))


def measured(case, options):
    import onnx
    row = {"kind": case.kind, "name": case.name}
    inputs = {k: svod_runtime.aligned(v) for k, v in case.inputs.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "case.onnx")
        onnx.save(case.model(), path)
        peer, expected = onnx_peers.onnx_runtime(path, inputs)
        if error := onnx_peers.compiled(options.bin, path, Path(folder) / "case.plan"):
            return row | {"error": error}
        plan, results = onnx_peers.loaded(options.bin, Path(folder) / "case.plan", inputs, expected, case.outputs)
        contenders = {"svod": plan.run, "onnxruntime": peer}
        if other := onnx_peers.open_vino(path, inputs):
            contenders["openvino"] = other
        times = measure.interleave(contenders, options.rounds, time.process_time)
        wrong = any(differs(ours, theirs, case.tolerance) for ours, theirs in zip(results, expected))
        plan.close()
    ratio = min(measure.ratio(times["svod"], t)[0] for name, t in times.items() if name != "svod")
    return row | {name: t.rounds for name, t in times.items()} | {"ratio": ratio, "differs": bool(wrong)}


def cells(row):
    if "error" in row:
        return [row["kind"], row["name"], "not compiled: " + row["error"], "", "", ""]
    best = [f"{min(row[k]) * 1e6:.1f}" if k in row else "" for k in ("svod", "onnxruntime", "openvino")]
    return [row["kind"], row["name"], *best, f"{row['ratio']:.2f}" + (" differs" if row["differs"] else "")]


def mean(rows):
    return math.exp(sum(math.log(r["ratio"]) for r in rows) / len(rows))


def lines_of(rows, rounds):
    good = [r for r in rows if "ratio" in r]
    if not good:
        return ["Nothing was measured."]
    kinds = list(dict.fromkeys(r["kind"] for r in good))
    shares = ", ".join(f"{k} {mean([r for r in good if r['kind'] == k]):.2f}" for k in kinds)
    worst = min(good, key=lambda r: r["ratio"])
    lines = [f"On {machine.processor()}, one thread, {rounds} rounds. The geometric mean of {len(good)} ratios is "
             f"{mean(good):.2f}, the least {worst['ratio']:.2f} ({worst['name']}). By class: {shares}.", ""]
    return lines + pages.table(TITLES, [cells(r) for r in rows])


def main():
    options = arguments()
    rows = []
    for case in operator_cases.all_cases():
        if options.only not in f"{case.kind} {case.name}":
            continue
        rows.append(measured(case, options))
        print("  ".join(cells(rows[-1])), file=sys.stderr, flush=True)
    lines = lines_of(rows, options.rounds)
    if options.markdown:
        pages.write_between(options.markdown, BEGIN, END, lines)
    else:
        print("\n".join(lines))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return any(r.get("differs") for r in rows)


if __name__ == "__main__":
    sys.exit(main())
