#!/usr/bin/env python3
"""What svodc tune finds for single kernels and for networks, and how many candidates it tries.

usage: benchmarks/tuning.py [--bin FOLDER] [--budget TIME] [--cases | --drawn N | --models FILE..] [--only TEXT] [--beam N]
                            [--against-beam N] [--verify-each 0|1] [--json FILE]

Every graph is tuned with a log of its own. What is printed for each: the time of -O1, the time of the winners as a part of it in
interleaved runs, candidates (tried, and failed), and candidates per second of processor time, the time of all processes that
svodc starts included. With --models: the whole plan, run in turns with that of -O1, with warm and with cold caches. --cases: the
benchmark list (cases.py). --drawn N: kernels of random sizes (drawn.py). --against-beam N: the same seconds also for the search that BEAM of width N
does. Timings want a quiet machine.
"""
import argparse
import json
import math
import os
import resource
import subprocess
import tempfile
from pathlib import Path


def matmul(m, k, n, after="{}"):
    return f"input a: f32[{m}, {k}]\ninput b: f32[{k}, {n}]\noutput y = " + after.format("matmul(a, b)")


def rows(expression, *shape):
    return f"input x: f32[{', '.join(map(str, shape))}]\noutput y = {expression}"


def conv(channels, filters, size, taps, stride=1):
    return (f"input x: f32[1, {channels}, {size}, {size}]\ninput w: f32[{filters}, {channels}, {taps}, {taps}]\n"
            f"output y = conv2d(x, w, stride={stride}, padding={taps // 2})")


KERNELS = {
    "gemm 48x40x56 relu": matmul(48, 40, 56, "relu({})"),
    "gemm 97x61x113": matmul(97, 61, 113),
    "gemm 7x13x1009": matmul(7, 13, 1009),
    "gemm 197x768x77": matmul(197, 768, 77),
    "gemv 1x512x512": matmul(1, 512, 512),
    "softmax 64x100": rows("softmax(x)", 64, 100),
    "layernorm 128x384": rows("layer_norm(x)", 128, 384),
    "conv 3x3 16-24@28": conv(16, 24, 28, 3),
    "conv 7x7 3-16@56 s2": conv(3, 16, 56, 7, 2),
    "sum 1000x37 columns": rows("sum(x, axes=0)", 1000, 37),
    "sum 250000": rows("sum(x)", 250000),
    "transpose 300x500": rows("transpose(x)", 300, 500),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"), help="folder of svodc")
    parser.add_argument("--budget", default="15s", help="for each kernel")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument("--cases", action="store_true", help="the kernels of the benchmark list in place of the twelve")
    parser.add_argument("--drawn", type=int, default=0, help="this many kernels with sizes drawn from --seed in place of the twelve")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=Path, nargs="+", default=[], help="models in place of kernels")
    parser.add_argument("--search", default="all", help="as of svodc tune")
    parser.add_argument("--against-beam", type=int, default=0, help="the same again with --beam N")
    parser.add_argument("--beam", type=int, default=0, help="as of svodc tune")
    parser.add_argument("--verify-each", default="0", help="whether the graph is checked after every pass")
    parser.add_argument("--json", type=Path, help="write all of it to a file")
    return parser.parse_args()


def graphs(options):
    """Name, and a graph as text or a file."""
    if options.models:
        return [(path.stem, path) for path in options.models]
    if options.drawn:
        import drawn
        return list(drawn.drawn(options.drawn, options.seed).items())
    if not options.cases:
        return list(KERNELS.items())
    import cases
    found = {}
    for case in cases.CASES:
        inputs = "".join(f"input {name}: {case.types.get(name, 'f32')}[{', '.join(map(str, dims))}]\n"
                         for name, dims in case.shapes.items())
        if case.numerics == "contract" and not case.opts:
            weights = {name: (case.types.get(name, "f32"), case.shapes[name]) for name in case.weights}
            found[case.name] = Constants(inputs + case.graph, weights)
    return list(found.items())


class Constants(str):
    """The text of a graph some of whose inputs are constants: element type and shape by name."""

    def __new__(cls, text, constants):
        graph = super().__new__(cls, text)
        graph.constants = constants
        return graph

    def words(self, folder):
        """What gives svodc random ones."""
        import numpy as np
        words, random = [], np.random.default_rng(1)
        for name, (dtype, shape) in self.constants.items():
            values = random.standard_normal(shape) if dtype == "f32" else random.integers(0, 100, shape)
            np.save(folder / f"{name}.npy", values.astype({"f32": "f4", "u8": "u1", "i8": "i1"}[dtype]))
            words += ["--const", f"{name}={folder / name}.npy"]
        return words


def tuned(graph, options, folder, beam):
    log = folder / "tuning.log"
    log.unlink(missing_ok=True)
    model = graph
    if isinstance(graph, str):
        model = folder / "kernel.svod"
        model.write_text("svod 1\n" + graph + "\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = ["--tuning-log", log, "--budget", options.budget, "--beam", str(beam), "--search", options.search, "--json"]
    if isinstance(graph, Constants):
        words += graph.words(folder)
    done = subprocess.run([options.bin / "svodc", "tune", model, *words], check=True, capture_output=True, text=True,
                          env=os.environ | {"SVOD_VERIFY_EACH": options.verify_each})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    report = json.loads(done.stdout)
    kernel = max(report["kernels"], key=lambda k: k["ns"] * k["launches"])
    plan = (report.get("plans") or [{"warm": 1, "cold": 1}])[0]
    return {"ns": sum(k["ns"] * k["launches"] for k in report["kernels"]), "ratio": report["expected"],
            "candidates": report["candidates"], "kernels": len(report["kernels"]), "gained": report["gained"],
            "dropped": sum(k["dropped"] for k in report["kernels"]), "seconds": seconds, "rate": report["candidates"] / seconds,
            "warm": plan["warm"], "cold": plan["cold"], "graphs": report.get("graphs", []), "bytes": log.stat().st_size,
            "opts": kernel["opts"]}


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def show(name, r, options):
    text = f"{name:26} {r['ns'] / 1e3:10.2f} {100 * r['ratio']:8.1f} {r['candidates']:6} {r['dropped']:6} {r['rate']:8.1f}"
    if options.against_beam:
        text += f" {100 * r['beam']['ratio']:8.1f} {r['beam']['candidates']:6}"
    if options.models:
        text += f" {r['gained']:4}/{r['kernels']:<4} {100 * r['warm']:7.1f} {100 * r['cold']:7.1f} {r['bytes'] / 1e6:6.2f}  "
        text += "; ".join(g["decisions"] for g in r["graphs"])
    else:
        text += f"  {r['opts']}"
    print(text, flush=True)


def main():
    options = arguments()
    results = {}
    head = f"{'graph':26} {'-O1 us':>10} {'% of it':>8} {'tried':>6} {'failed':>6} {'a CPU s':>8}"
    head += f" {'BEAM %':>8} {'tried':>6}" if options.against_beam else ""
    print(head + (f" {'gained':>9} {'warm %':>7} {'cold %':>7} {'log MB':>6}  decisions" if options.models else "  opts"))
    with tempfile.TemporaryDirectory() as folder:
        for name, graph in graphs(options):
            if options.only not in name:
                continue
            r = results[name] = tuned(graph, options, Path(folder), options.beam)
            if options.against_beam:
                r["beam"] = tuned(graph, options, Path(folder), options.against_beam)
            show(name, r, options)
    if results:
        found = list(results.values())
        rate = sum(r["candidates"] for r in found) / sum(r["seconds"] for r in found)
        print(f"geometric mean {100 * mean([r['ratio'] for r in found]):.1f} % of -O1; {rate:.1f} candidates a second of processor time")
        if options.models:
            print(f"whole plans: geometric mean {100 * mean([r['warm'] for r in found]):.1f} % of -O1 with warm caches, "
                  f"{100 * mean([r['cold'] for r in found]):.1f} % with cold ones")
        if options.against_beam:
            print(f"BEAM of width {options.against_beam}: geometric mean {100 * mean([r['beam']['ratio'] for r in found]):.1f} % of -O1")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
