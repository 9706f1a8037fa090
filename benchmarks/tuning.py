#!/usr/bin/env python3
"""What svodc tune finds for single kernels, and how many candidates it tries.

usage: benchmarks/tuning.py [--bin FOLDER] [--budget TIME] [--only TEXT] [--beam N] [--verify-each 0|1] [--json FILE]

Every graph is tuned with a log of its own. What is printed for each: the time of -O1, the time of the winner as a part of it in
interleaved runs, candidates (tried, and failed), and candidates per second of processor time, the time of all processes that
svodc starts included. Timings want a quiet machine.
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
    parser.add_argument("--beam", type=int, default=0, help="as of svodc tune")
    parser.add_argument("--verify-each", default="0", help="whether the graph is checked after every pass")
    parser.add_argument("--json", type=Path, help="write all of it to a file")
    return parser.parse_args()


def tuned(name, graph, options, folder):
    model, log = folder / "kernel.svod", folder / "tuning.log"
    model.write_text("svod 1\n" + graph + "\n")
    log.unlink(missing_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([options.bin / "svodc", "tune", model, "--tuning-log", log, "--budget", options.budget, "--beam",
                           str(options.beam), "--json"], check=True, capture_output=True, text=True,
                          env=os.environ | {"SVOD_VERIFY_EACH": options.verify_each})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    report = json.loads(done.stdout)
    kernel = max(report["kernels"], key=lambda k: k["ns"])
    return {"name": name, "ns": kernel["ns"], "ratio": report["expected"], "candidates": report["candidates"],
            "dropped": sum(k["dropped"] for k in report["kernels"]), "seconds": seconds,
            "rate": report["candidates"] / seconds, "opts": kernel["opts"]}


def main():
    options = arguments()
    results = []
    print(f"{'kernel':22} {'-O1 us':>9} {'% of it':>8} {'tried':>6} {'failed':>6} {'a CPU s':>8}  opts")
    with tempfile.TemporaryDirectory() as folder:
        for name, graph in KERNELS.items():
            if options.only not in name:
                continue
            r = tuned(name, graph, options, Path(folder))
            results.append(r)
            print(f"{name:22} {r['ns'] / 1e3:9.2f} {100 * r['ratio']:8.1f} {r['candidates']:6} {r['dropped']:6} {r['rate']:8.1f}  "
                  f"{r['opts']}", flush=True)
    if results:
        mean = math.exp(sum(math.log(r["ratio"]) for r in results) / len(results))
        rate = sum(r["candidates"] for r in results) / sum(r["seconds"] for r in results)
        print(f"geometric mean {100 * mean:.1f} % of -O1; {rate:.1f} candidates a second of processor time")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
