#!/usr/bin/env python3
"""One-thread f32 matrix products beside OpenBLAS, interleaved in one run.

usage: benchmarks/gemm.py [BIN FOLDER] [SIZE ...]     (default: build/release/bin 512 1024 2048)
Needs numpy and OpenBLAS (Debian: python3-numpy libopenblas0-pthread). Prints GFLOP/s of both, best of the runs, and
their ratio. svod's kernel is made from the opts list of docs/opts.md, or by the default with --default.
"""
import ctypes
import ctypes.util
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

OPTS = "tile(1,32) order(1,0,2) pack(2,3,2) upcast(1,8) vector(2,16) upcast(2,0) vector(5,16) upcast(5,0) thread(0,1)"
ROUNDS, REPEATS = 5, 4


def open_blas():
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for name in ("libopenblas.so.0", ctypes.util.find_library("openblas")):
        try:
            return ctypes.CDLL(name)
        except (OSError, TypeError):
            continue
    sys.exit("OpenBLAS is not installed: apt-get install libopenblas0-pthread")


def sgemm_seconds(blas, a, b, c, n):
    pointer = ctypes.POINTER(ctypes.c_float)
    arguments = (101, 111, 111, n, n, n, ctypes.c_float(1), a.ctypes.data_as(pointer), n, b.ctypes.data_as(pointer), n,
                 ctypes.c_float(0), c.ctypes.data_as(pointer), n)
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        blas.cblas_sgemm(*arguments)
        best = min(best, time.perf_counter() - start)
    return best


def plan_seconds(bin_folder, plan, folder, n):
    command = [f"{bin_folder}/svod-run", plan, "--input", f"a={folder}/a.npy", "--input", f"b={folder}/b.npy",
               "--output-dir", folder, "--threads", "1", "--repeat", "1", "--profile", "--json"]
    best = float("inf")
    for _ in range(REPEATS):
        record = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        best = min(best, min(k["wallNs"] / max(k["calls"], 1) for k in record["profile"]) * 1e-9)
    return best


def measure(bin_folder, n, opts, blas):
    with tempfile.TemporaryDirectory() as folder:
        graph, plan = f"{folder}/g.svod", f"{folder}/g.plan"
        with open(graph, "w") as f:
            f.write(f"svod 1\ninput a: f32[{n}, {n}]\ninput b: f32[{n}, {n}]\noutput c = matmul(a, b)\n")
        extra = ["--opts", f"c={opts}"] if opts else []
        subprocess.run([f"{bin_folder}/svodc", "compile", graph, "-o", plan, *extra], check=True, capture_output=True)
        random = np.random.default_rng(0)
        a, b = (random.standard_normal((n, n), dtype=np.float32) for _ in range(2))
        np.save(f"{folder}/a.npy", a)
        np.save(f"{folder}/b.npy", b)
        c, ours, theirs = np.zeros((n, n), np.float32), float("inf"), float("inf")
        for _ in range(ROUNDS):
            ours = min(ours, plan_seconds(bin_folder, plan, folder, n))
            theirs = min(theirs, sgemm_seconds(blas, a, b, c, n))
        error = np.abs(np.load(f"{folder}/c.npy") - c).max() / np.abs(c).max()
        gflop = 2 * n**3 * 1e-9
        print(f"{n:5}  svod {gflop / ours:6.1f}  OpenBLAS {gflop / theirs:6.1f} GFLOP/s  ratio {theirs / ours:.2f}"
              f"  (largest difference {error:.1e})")


def main():
    words = [w for w in sys.argv[1:] if w != "--default"]
    opts = None if "--default" in sys.argv else OPTS
    bin_folder = words[0] if words and not words[0].isdigit() else "build/release/bin"
    sizes = [int(w) for w in words if w.isdigit()] or [512, 1024, 2048]
    blas = open_blas()
    for n in sizes:
        measure(bin_folder, n, opts, blas)


main()
