#!/usr/bin/env python3
"""svod beside the libraries people use, interleaved in one run, on the same arrays and threads.

usage: benchmarks/bench.py [--bin FOLDER] [--threads N] [--only TEXT] [--rounds N] [--json FILE]
                           [--markdown FILE [--beside RESULTS]] [--picture FILE]

Prints time, rate and the ratio to the fastest peer (above 1: svod is faster) with the quartiles of the rounds.
Needs numpy; peers are what is installed of OpenBLAS, BLIS and oneDNN (Debian: libopenblas0-pthread libblis4-pthread
libdnnl-dev). Results are compared with the first peer's before anything is timed; what has no peer is only timed.
Exits with 1 when a case fails or differs.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import cases
import measure
import results
import roofline
import svod_runtime
from machine import BANDWIDTH, PEAK, Machine, processor
from peers import Peers


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default="build/release/bin", help="folder of svodc")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help="cases or groups whose name contains this")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", help="write the results to a file")
    parser.add_argument("--markdown", help="write the table to a file, into its place where the file is docs/performance.md")
    parser.add_argument("--beside", help="results (--json) with other threads, as more columns of the table")
    parser.add_argument("--picture", help="draw the roofline to a file")
    return parser.parse_args()


def compile_case(case, graph, inputs, folder, svodc):
    """The manifest of the plan in `folder`."""
    lines = ["svod 1"]
    for name, shape in case.shapes.items():
        kind, data = ("weight", f' = "{name}.npy"') if name in case.weights else ("input", "")
        if data:
            np.save(f"{folder}/{name}.npy", inputs[name])
        lines.append(f"{kind} {name}: {case.types.get(name, 'f32')}[{', '.join(map(str, shape))}]{data}")
    with open(f"{folder}/case.svod", "w") as f:
        f.write("\n".join([*lines, graph, ""]))
    extra = ["--numerics", case.numerics] + (["--opts", f"y={case.opts}"] if case.opts else [])
    done = subprocess.run([svodc, "compile", f"{folder}/case.svod", "-o", f"{folder}/case.plan", *extra],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    with open(f"{folder}/case.plan/plan.json") as f:
        return json.load(f)


def result_shape(plan):
    return tuple(int(d) for d in plan["outputs"][0]["shape"])


def difference(expected, got):
    expected, got = (x.ravel().astype(np.float64) for x in (expected, got))
    return float(np.abs(expected - got).max() / max(np.abs(expected).max(), 1e-30))


def load_case(case, graph, inputs, result, options, runtime):
    """A plan of `graph` that reads `inputs` and writes `result(shape)`, and its manifest."""
    with tempfile.TemporaryDirectory() as folder:
        manifest = compile_case(case, graph, inputs, folder, f"{options.bin}/svodc")
        plan = runtime.load(f"{folder}/case.plan", options.threads)
    for name in case.shapes.keys() - set(case.weights):
        plan.bind_input(name, inputs[name])
    plan.bind_output("y", result(result_shape(manifest)))
    return plan, manifest


def measure_case(case, options, runtime, peers):
    inputs = cases.inputs_of(case, svod_runtime.aligned)

    def result(shape):
        return svod_runtime.aligned(np.zeros(shape, cases.NUMPY[case.result]))
    plan, manifest = load_case(case, case.graph, inputs, result, options, runtime)
    ours, theirs = plan.arrays["y"], result(plan.arrays["y"].shape)
    contenders = {"svod": plan.run} | case.peers(peers, inputs, theirs)
    plans = [plan]
    if case.unfused:
        plans.append(load_case(case, case.unfused, inputs, lambda shape: theirs, options, runtime)[0])
        contenders["unfused"] = plans[1].run
    plan.run()
    wrong = check(contenders, ours, theirs)
    timings = measure.interleave(contenders, options.rounds)
    for loaded in plans:
        loaded.close()
    return {"case": case.name, "group": case.group, "flops": case.flops, "bytes": case.bytes,
            "kernels": len(manifest["kernels"]), "opts": [k.get("opts", "") for k in manifest["kernels"]],
            "difference": wrong, "seconds": {name: t.rounds for name, t in timings.items()}} | compared(case, timings)


def check(contenders, ours, theirs):
    """The largest difference to the first peer that computes the same, relative to the largest value."""
    for name, run in contenders.items():
        if name in ("svod", BANDWIDTH, PEAK):
            continue
        theirs[...] = 0
        run()
        expected = run.result(theirs) if hasattr(run, "result") else theirs
        return difference(expected, ours)
    return None


def agrees(row):
    """False for NaN, too."""
    return row["difference"] is None or row["difference"] <= 1e-3


def compared(case, timings):
    others = {name: t for name, t in timings.items() if name != "svod"}
    if not others:
        return {"peer": None}
    best = BANDWIDTH if BANDWIDTH in others else min(others, key=lambda name: others[name].best)
    middle, low, high = measure.ratio(timings["svod"], others[best])
    return {"peer": best, "ratio": middle, "low": low, "high": high}


def rate(case, seconds):
    return f"{case.bytes / seconds * 1e-9:8.1f} GB/s   " if case.in_bytes else f"{case.flops / seconds * 1e-9:8.1f} GFLOP/s"


def show(case, row):
    best = min(row["seconds"]["svod"])
    others = "  ".join(f"{name} {min(s) * 1e3:.3f}" for name, s in row["seconds"].items() if name != "svod")
    ratio = f"{row['ratio']:5.2f} ({row['low']:.2f}-{row['high']:.2f}) of {row['peer']}" if row["peer"] else ""
    warning = "" if agrees(row) else f"  DIFFERS by {row['difference']:.1e}"
    print(f"{case.name:28} {best * 1e3:9.3f} ms {rate(case, best)}  {ratio:34} {others}{warning}", flush=True)


def measure_all(options, runtime, peers):
    """The rows, and whether all agree with their peers."""
    rows, good = [], True
    for case in cases.CASES:
        if options.only not in case.name and options.only != case.group:
            continue
        try:
            rows.append(measure_case(case, options, runtime, peers))
            show(case, rows[-1])
            good &= agrees(rows[-1])
        except RuntimeError as error:
            good = False
            print(f"{case.name}: {error}", file=sys.stderr)
    return rows, good


def write(found, options):
    if options.json:
        with open(options.json, "w") as f:
            json.dump(found, f, indent=1)
    if options.markdown:
        beside = None
        if options.beside:
            with open(options.beside) as f:
                beside = json.load(f)
        results.write(found, beside, options.markdown)
    if options.picture:
        roofline.write(found, options.picture)


def main():
    options = arguments()
    runtime_path = os.path.join(os.path.dirname(options.bin.rstrip("/")), "runtime-min", "libsvod-runtime.so")
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(folder, options.threads)
        peers = Peers(folder, machine)
        roofs = machine.roofs(options.rounds)
        for name, rate in (roofs["compute"] | roofs["memory"]).items():
            print(f"{name:28} {rate * 1e-9:8.1f} {'GFLOP/s' if name in roofs['compute'] else 'GB/s'}", flush=True)
        rows, good = measure_all(options, svod_runtime.Runtime(runtime_path), peers)
        write({"machine": processor(), "threads": options.threads, "versions": peers.versions(), "roofs": roofs,
               "results": rows}, options)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
