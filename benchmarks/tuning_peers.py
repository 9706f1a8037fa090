#!/usr/bin/env python3
"""What svodc tune finds for ten kernels, beside other tuners on the same machine: BEAM of tinygrad, MetaSchedule of TVM.

usage: benchmarks/tuning_peers.py [--bin FOLDER] [--seconds N] [--only TEXT] [--tools svod,tinygrad,tvm] [--beam N] [--json FILE]

The peers are packages of PyPI: pip install tinygrad apache-tvm numpy xgboost. Every tool tunes each kernel for so many seconds of one
processor (BEAM of tinygrad has no such limit: the seconds that it took are printed), in a process of its own. Printed are
microseconds of one run of the kernels that it ended with, on one thread, with warm caches, the median of many. Timings want a quiet machine.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# name -> (kind, numbers); f32 all of them
SHAPES = {
    "gemm 48x40x56 relu": ("gemm", (48, 40, 56, True)),
    "gemm 97x61x113": ("gemm", (97, 61, 113, False)),
    "gemm 7x13x1009": ("gemm", (7, 13, 1009, False)),
    "gemm 197x768x77": ("gemm", (197, 768, 77, False)),
    "gemv 1x512x512": ("gemm", (1, 512, 512, False)),
    "softmax 64x100": ("softmax", (64, 100)),
    "conv 3x3 16-24@28": ("conv", (16, 24, 28, 3)),
    "sum 1000x37 columns": ("columns", (1000, 37)),
    "sum 250000": ("sum", (250000,)),
    "transpose 300x500": ("transpose", (300, 500)),
}


def svod_graph(kind, n):
    if kind == "gemm":
        product = "relu(matmul(a, b))" if n[3] else "matmul(a, b)"
        return f"input a: f32[{n[0]}, {n[1]}]\ninput b: f32[{n[1]}, {n[2]}]\noutput y = {product}"
    if kind == "conv":
        return (f"input x: f32[1, {n[0]}, {n[2]}, {n[2]}]\ninput w: f32[{n[1]}, {n[0]}, {n[3]}, {n[3]}]\n"
                f"output y = conv2d(x, w, stride=1, padding={n[3] // 2})")
    what = {"softmax": "softmax(x)", "columns": "sum(x, axes=0)", "sum": "sum(x)", "transpose": "transpose(x)"}[kind]
    return f"input x: f32[{', '.join(map(str, n))}]\noutput y = {what}"


def svod(name, options):
    """Nanoseconds of all kernels of the graph."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "kernel.svod"
        model.write_text("svod 1\n" + svod_graph(*SHAPES[name]) + "\n")
        words = [options.bin / "svodc", "tune", model, "--tuning-log", Path(folder) / "log", "--budget", f"{options.seconds}s", "--json"]
        report = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        return sum(k["ns"] * k["launches"] * k["ratio"] for k in report["kernels"])


def tinygrad(name, options):
    from tinygrad import Tensor, GlobalCounters
    kind, n = SHAPES[name]
    Tensor.manual_seed(1)
    if kind == "gemm":
        a, b = Tensor.rand(n[0], n[1]).realize(), Tensor.rand(n[1], n[2]).realize()
        compute = lambda: (a @ b).relu() if n[3] else a @ b
    elif kind == "conv":
        x, w = Tensor.rand(1, n[0], n[2], n[2]).realize(), Tensor.rand(n[1], n[0], n[3], n[3]).realize()
        compute = lambda: x.conv2d(w, padding=n[3] // 2)
    else:
        x = Tensor.rand(*n).realize()
        compute = {"softmax": lambda: x.softmax(), "columns": lambda: x.sum(axis=0), "sum": lambda: x.sum(),
                   "transpose": lambda: x.T.contiguous()}[kind]
    times = []
    for _ in range(options.repeats):
        GlobalCounters.reset()
        compute().realize()
        times.append(GlobalCounters.time_sum_s * 1e9)
    return statistics.median(times[len(times) // 4:])


def tvm_function(kind, n):
    from tvm import te, topi
    if kind == "gemm":
        a, b = te.placeholder((n[0], n[1]), name="a"), te.placeholder((n[1], n[2]), name="b")
        k = te.reduce_axis((0, n[1]), name="k")
        c = te.compute((n[0], n[2]), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
        return te.create_prim_func([a, b, topi.nn.relu(c) if n[3] else c])
    if kind == "conv":
        x, w = te.placeholder((1, n[0], n[2], n[2]), name="x"), te.placeholder((n[1], n[0], n[3], n[3]), name="w")
        return te.create_prim_func([x, w, topi.nn.conv2d_nchw(x, w, 1, n[3] // 2, 1)])
    x = te.placeholder(n, name="x")
    y = {"softmax": lambda: topi.nn.softmax(x), "columns": lambda: topi.sum(x, axis=0), "sum": lambda: topi.sum(x, keepdims=True),
         "transpose": lambda: topi.transpose(x)}[kind]()
    return te.create_prim_func([x, y])


def tvm_shapes(kind, n):
    """Of operands and result."""
    if kind == "gemm":
        return (n[0], n[1]), (n[1], n[2]), (n[0], n[2])
    if kind == "conv":
        return (1, n[0], n[2], n[2]), (n[1], n[0], n[3], n[3]), (1, n[1], n[2], n[2])
    return n, {"softmax": n, "columns": n[1:], "sum": (1,), "transpose": n[::-1]}[kind]


def tvm_target(tvm):
    return tvm.target.Target({"kind": "llvm", "mcpu": host_cpu(), "num-cores": 1})


def host_cpu():
    said = subprocess.run(["clang", "-march=native", "-###", "-x", "c", "-c", "/dev/null"], capture_output=True, text=True).stderr
    words = said.replace('"', "").split()
    return words[words.index("-target-cpu") + 1]


def tvm_tune(name, options):
    """Runs until it is stopped; what it finds stands in the folder."""
    import tvm
    from tvm.s_tir import meta_schedule as ms
    module = tvm.IRModule({"main": tvm_function(*SHAPES[name]).with_attr("global_symbol", "main")})
    ms.tune_tir(mod=module, target=tvm_target(tvm), work_dir=options.work, max_trials_global=100000, num_trials_per_iter=32,
                num_tuning_cores=1)


def tvm_time(name, options):
    import numpy as np
    import tvm
    from tvm.s_tir import meta_schedule as ms
    kind, n = SHAPES[name]
    module = tvm.IRModule({"main": tvm_function(kind, n).with_attr("global_symbol", "main")})
    database = ms.database.JSONDatabase(work_dir=options.work)
    schedule = ms.tir_integration.compile_tir(database, module["main"], tvm_target(tvm))
    best = schedule.mod if schedule is not None else module
    built = tvm.compile(best, target=tvm_target(tvm))
    device = tvm.cpu()
    arguments = [tvm.runtime.tensor(np.asarray(np.random.rand(*shape), dtype="float32"), device) for shape in tvm_shapes(kind, n)]
    timer = built.jit().time_evaluator("main", device, number=20, repeat=30, min_repeat_ms=2)
    return statistics.median(timer(*arguments).results) * 1e9


def child(what, name, options, environment, seconds=None):
    """What a process of its own says, and the seconds that it took. After `seconds` it is stopped, with all that it started."""
    words = [sys.executable, __file__, "--child", what, "--only", name, "--seconds", str(options.seconds), "--work", options.work]
    begun = time.monotonic()
    process = subprocess.Popen(words, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        said = process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said = process.communicate()[1]
    answer = [line for line in said.splitlines() if line.startswith("ANSWER ")]
    if not answer and seconds is None:
        print(said[-2000:], file=sys.stderr)
    return (float(answer[0].split()[1]) if answer else float("nan")), time.monotonic() - begun


def measured(tool, name, options):
    """Nanoseconds, and seconds of tuning."""
    if tool == "svod":
        begun = time.monotonic()
        return svod(name, options), time.monotonic() - begun
    with tempfile.TemporaryDirectory() as options.work:
        if tool == "tinygrad":
            environment = {"DEV": "CPU", "THREADS": "0", "DEBUG": "2", "BEAM": str(options.beam), "PARALLEL": "0",
                           "CACHEDB": options.work + "/cache.db", "IGNORE_BEAM_CACHE": "0"}
            _, seconds = child("tinygrad", name, options, environment)  # searches, and keeps what it found
            return child("tinygrad", name, options, environment)[0], seconds
        _, seconds = child("tvm-tune", name, options, {"TVM_NUM_THREADS": "1"}, options.seconds)
        return child("tvm-time", name, options, {"TVM_NUM_THREADS": "1"})[0], seconds


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"), help="folder of svodc")
    parser.add_argument("--seconds", type=int, default=30, help="of tuning, for each kernel")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument("--tools", default="svod,tinygrad,tvm", help="separated by commas")
    parser.add_argument("--beam", type=int, default=4, help="the width of the search of tinygrad")
    parser.add_argument("--json", type=Path, help="write all of it to a file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--work", default="", help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=200, help="runs of a kernel of tinygrad")
    return parser.parse_args()


def main():
    options = arguments()
    if options.child:
        run = {"tinygrad": tinygrad, "tvm-tune": tvm_tune, "tvm-time": tvm_time}[options.child]
        print("ANSWER", run(options.only, options), file=sys.stderr)
        return
    tools = options.tools.split(",")
    results = {}
    print(f"{'kernel':22} " + " ".join(f"{tool + ' us':>14} {'seconds':>8}" for tool in tools))
    for name in SHAPES:
        if options.only not in name:
            continue
        results[name] = {tool: measured(tool, name, options) for tool in tools}
        print(f"{name:22} " + " ".join(f"{results[name][t][0] / 1e3:14.2f} {results[name][t][1]:8.1f}" for t in tools), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
