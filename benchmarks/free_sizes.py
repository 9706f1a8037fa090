#!/usr/bin/env python3
"""Networks with free sizes beside the same networks with fixed ones, and beside ONNX Runtime with free sizes.

usage: benchmarks/free_sizes.py --work FOLDER [--only NAME,..] [--bin FOLDER] [--rounds N] [--export-only] [--json FILE]
                                [--markdown FILE] [--threads N]

A network is compiled from one file with free sizes and no flags. It runs at the sizes of the fixed export and, if it has a
length, at batch 1 and lengths of 1, 7, 64 and 333; there the fixed plan is the same file with --var. All run in turns, on one
thread in processor time, on several in elapsed time. A ratio of times above 1 means that free sizes are slower than fixed ones, or that ONNX Runtime is
slower than svod. Needs torch, torchvision, transformers, onnx and onnxruntime. Exits with 1 when results differ.
"""
import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import free_networks
import machine
import measure
import pages
import svod_runtime

LENGTHS = (1, 7, 64, 333)
TOLERANCE = 1e-3
BEGIN, END = "<!-- benchmarks/free_sizes.py writes what follows -->", "<!-- free sizes end here -->"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder of exported networks")
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"), help="folder of svodc")
    parser.add_argument("--only", default=",".join(free_networks.NETWORKS), help="names, with commas")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1, help="of svod and of ONNX Runtime")
    parser.add_argument("--export-only", action="store_true", help="write the networks to --work and stop")
    parser.add_argument("--no-lengths", action="store_true", help="only the sizes of the export")
    parser.add_argument("--flags", default="", help="flags of svodc for the free plans, as one text")
    parser.add_argument("--json", type=Path, help="write all figures to a file")
    parser.add_argument("--markdown", type=Path, help="write the table into the place for it in a file")
    parser.add_argument("--resident", nargs=2, metavar=("PLAN", "ARRAYS"), help=argparse.SUPPRESS)
    return parser.parse_args()


def runtime_of(options):
    return svod_runtime.Runtime(options.bin.resolve().parent / "runtime-min/libsvod-runtime.so")


def points(row, options):
    """The sizes at which a network runs, the ones of the export first."""
    yield "export", row.sizes
    if row.lengths and not options.no_lengths:
        for length in LENGTHS:
            yield f"{row.lengths}={length}", row.sizes | {row.lengths: length}


def compiled(options, model, plan, flags=()):
    """Processor seconds, the size of the code in bytes and what was wrong, if anything was."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([options.bin / "svodc", "compile", model, "-o", plan, "-j1", "--no-cache", *flags],
                          capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return None, None, done.stderr.strip()
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, (plan / "kernels.so").stat().st_size, ""


def lend(plan, arrays, shape):
    """Binds inputs and the output of a loaded plan."""
    for name, array in arrays.items():
        plan.bind_input(name, array)
    result = svod_runtime.aligned(np.zeros(shape, np.float32))
    plan.bind_output("y", result)
    return result


def resident(options):
    """Bytes of memory that one run adds to a process that has nothing but its arrays."""
    folder, arrays = options.resident
    kept = dict(np.load(arrays))
    shape = kept.pop("shape")
    held = {name: svod_runtime.aligned(a) for name, a in kept.items()}

    def now():
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    before = now()
    plan = runtime_of(options).load(folder, 1)
    lend(plan, held, tuple(shape))
    plan.run()
    return now() - before


def resident_of(options, plan, arrays, shape):
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "arrays.npz"
        np.savez(kept, shape=np.array(shape), **arrays)
        done = subprocess.run([sys.executable, __file__, "--work", folder, "--bin", options.bin, "--resident", plan, kept],
                              capture_output=True, text=True, check=True)
    return int(done.stdout)


def peer_of(model, arrays, shape, threads):
    """ONNX Runtime with bound arrays: a function that runs it, and its result."""
    import onnxruntime as ort
    flags = ort.SessionOptions()
    flags.intra_op_num_threads, flags.inter_op_num_threads = threads, 1
    session = ort.InferenceSession(model, flags, providers=["CPUExecutionProvider"])
    result = svod_runtime.aligned(np.zeros(shape, np.float32))
    binding = session.io_binding()
    names = {i.name for i in session.get_inputs()}
    for name, array in arrays.items():
        if name in names:
            binding.bind_cpu_input(name, array)
    binding.bind_output("y", "cpu", 0, np.float32, shape, result.ctypes.data)
    return (lambda: session.run_with_iobinding(binding)), result


def expected_shape(model, arrays):
    import onnxruntime as ort
    return ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, arrays)[0].shape


def at_sizes(name, label, sizes, free, fixed_form, options):
    """The figures of one network at some sizes."""
    import torch
    torch.manual_seed(1)
    row = free_networks.NETWORKS[name]
    arrays = {k: svod_runtime.aligned(v.numpy()) for k, v in row.inputs(**sizes).items()}
    model = options.work / f"{name}.free.onnx"
    shape = expected_shape(model, arrays)
    fixed = options.plans / f"{name}.{label}.plan"
    flags = () if fixed_form else [f for k, v in sizes.items() for f in ("--var", f"{k}={v}")]
    source = options.work / f"{name}.fixed.onnx" if fixed_form else model
    seconds, code, error = compiled(options, source, fixed, flags)
    if error:
        return {"network": name, "sizes": label, "error": error}
    figures = {"network": name, "sizes": label, "fixed_compile": seconds, "fixed_code": code}
    if fixed_form:
        figures |= {"fixed_resident": resident_of(options, fixed, arrays, shape),
                    "free_resident": resident_of(options, free, arrays, shape)}
    runtime = runtime_of(options)
    plans = [runtime.load(str(folder), options.threads) for folder in (free, fixed)]
    results = [lend(plan, arrays, shape) for plan in plans]
    peer, theirs = peer_of(model, arrays, shape, options.threads)
    for run in (*(plan.run for plan in plans), peer):
        run()
    scale = max(float(np.abs(theirs).max()), 1e-30)
    figures["difference"] = max(float(np.abs(r - theirs).max()) / scale for r in results)
    times = measure.interleave({"free": plans[0].run, "fixed": plans[1].run, "peer": peer}, options.rounds,
                               time.process_time if options.threads == 1 else time.perf_counter)
    for plan in plans:
        plan.close()
    return figures | {k: v.rounds for k, v in times.items()} | {
        "free_over_fixed": measure.ratio(times["fixed"], times["free"])[0],
        "peer_over_free": measure.ratio(times["free"], times["peer"])[0]}


def measured(name, options):
    """All rows of one network."""
    row = free_networks.NETWORKS[name]
    free = options.plans / f"{name}.free.plan"
    seconds, code, error = compiled(options, options.work / f"{name}.free.onnx", free, options.flags.split())
    if error:
        yield {"network": name, "sizes": "export", "error": error}
        return
    for label, sizes in points(row, options):
        found = at_sizes(name, label, sizes, free, label == "export", options)
        yield found | {"free_compile": seconds, "free_code": code}


def cells(row):
    if "error" in row:
        return [row["network"], row["sizes"], "not compiled: " + row["error"].splitlines()[0]]
    best = {k: f"{min(row[k]) * 1e3:.2f}" for k in ("free", "fixed", "peer")}
    shares = [f"{row['free_' + k] / row['fixed_' + k]:.2f}" if "fixed_resident" in row else ""
              for k in ("resident", "code", "compile")]
    return [row["network"], row["sizes"], best["free"], best["fixed"], f"{row['free_over_fixed']:.2f}",
            f"{row['peer_over_free']:.2f}", *shares]


TITLES = ["network", "sizes", "free ms", "fixed ms", "free / fixed", "ONNX Runtime / free", "memory", "code", "compile"]


def summary(rows):
    good = [r for r in rows if "error" not in r]
    if not good:
        return "Nothing was measured."

    def mean(key):
        return math.exp(sum(math.log(r[key]) for r in good) / len(good))

    worst = max(good, key=lambda r: r["free_over_fixed"])
    return (f"Geometric means of {len(good)} rows: free / fixed {mean('free_over_fixed'):.2f} (greatest "
            f"{worst['free_over_fixed']:.2f}, {worst['network']} at {worst['sizes']}), ONNX Runtime / free "
            f"{mean('peer_over_free'):.2f}.")


def table(rows):
    return pages.table(TITLES, [cells(r) for r in rows])


def write(rows, path, threads):
    count = "one thread" if threads == 1 else f"{threads} threads"
    pages.write_between(path, BEGIN, END, [f"{machine.processor()}, {count}. {summary(rows)}", "", *table(rows)])


def main():
    options = arguments()
    if options.resident:
        print(resident(options))
        return 0
    names = options.only.split(",")
    for name in names:
        free_networks.export(options.work, name)
    if options.export_only:
        return 0
    rows = []
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        options.plans = Path(folder)
        print("\n".join(table([])))
        for name in names:
            for row in measured(name, options):
                rows.append(row)
                print("| " + " | ".join(cells(row)) + " |", flush=True)
            for plan in options.plans.iterdir():
                subprocess.run(["rm", "-r", plan], check=True)
    print("\n" + summary(rows))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    if options.markdown:
        write(rows, options.markdown, options.threads)
    return any("error" in r or not r["difference"] <= TOLERANCE for r in rows)


if __name__ == "__main__":
    sys.exit(main())
