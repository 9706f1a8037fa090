#!/usr/bin/env python3
"""The light ONNX networks with seeded weights: compiled, checked and timed, beside ONNX Runtime where it is installed.

usage: benchmarks/networks.py [--bin FOLDER] [--only TEXT] [--compiles N] [--rounds N] [--markdown FILE]

The networks are made from the published ONNX cases (../shared/onnx-tests.tar.xz, or what SVOD_ONNX_TESTS names) by the
script light_seeded.py beside them. Compilation is `svodc compile -j1 --no-cache` with the weights in the file cache; its time is that
of the processor. Runs have 1 and 2 threads and take turns with ONNX Runtime (`pip install onnxruntime`) with as many. Exits
with 1 when a result differs by more than 1e-3, relative to the largest.
"""
import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

import measure
import svod_runtime

ROOT = Path(__file__).resolve().parent.parent
NETWORKS = "bvlc_alexnet inception_v2 resnet50 shufflenet squeezenet".split()
TOLERANCE = 1e-3


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default="build/release/bin", help="folder of svodc")
    parser.add_argument("--only", default="", help="networks whose name contains this")
    parser.add_argument("--compiles", type=int, default=5, help="the shortest of so many compilations counts")
    parser.add_argument("--rounds", type=int, default=10, help="0 times no runs")
    parser.add_argument("--markdown", help="write the tables to a file")
    return parser.parse_args()


def published_cases():
    """The archive of cases."""
    found = subprocess.run([ROOT / "scripts/onnx_archive.sh"], capture_output=True, text=True)
    if found.returncode != 0:
        sys.exit("networks.py: " + found.stderr.strip())
    return Path(found.stdout.strip())


def seeded(archive, name, folder):
    """The folder of a network with weights, its input and its published answer."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, [m for m in tar.getmembers() if m.name.startswith(f"light/light_{name}/")])
    case, tools = folder / name, archive.parent / "tools"
    expected = archive.parent / f"light-seeded/light_{name}.npy"
    subprocess.run([sys.executable, tools / "light_seeded.py", folder / f"light/light_{name}", case, "--expected",
                    expected], check=True, stdout=subprocess.DEVNULL)
    sys.path.insert(0, str(tools))
    import onnx_conformance
    image = onnx_conformance.parse_tensor((case / "test_data_set_0/input_0.pb").read_bytes())
    return case / "model.onnx", svod_runtime.aligned(image.array), np.load(expected)


def compile_once(svodc, model, plan):
    """CPU seconds and the peak of memory in MiB."""
    process = subprocess.Popen([svodc, "compile", model, "-o", plan, "-j1", "--no-cache"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"svodc ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def session_of(model, threads):
    """ONNX Runtime on the model, or None."""
    try:
        import onnxruntime
    except ImportError:
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def port_names(plan):
    """The name of the one input and of the one output of a plan."""
    manifest = json.loads((plan / "plan.json").read_text())
    return {kind: manifest[kind][0]["name"] for kind in ("inputs", "outputs")}


def run_times(runtime, plan, model, image, result, options):
    """Best seconds by contender and threads, and the result in `result`."""
    names = port_names(plan)
    best = {}
    for threads in (1, 2):
        loaded = runtime.load(str(plan), threads)
        loaded.bind_input(names["inputs"], image)
        loaded.bind_output(names["outputs"], result)
        loaded.run()
        contenders, session = {"svod": loaded.run}, session_of(model, threads) if options.rounds else None
        if session:
            contenders["ONNX Runtime"] = lambda: session.run(None, {names["inputs"]: image})  # noqa: B023
        if options.rounds:
            for name, timing in measure.interleave(contenders, options.rounds).items():
                best[name, threads] = timing.best
        loaded.close()
    return best


def compiled(archive, name, folder, options):
    model, image, expected = seeded(archive, name, folder)
    plan = folder / f"{name}.plan"
    costs = [compile_once(f"{options.bin}/svodc", model, plan) for _ in range(options.compiles)]
    manifest = json.loads((plan / "plan.json").read_text())
    size = sum(f.stat().st_size for f in plan.iterdir())
    return {"network": name, "model": model, "plan": plan, "image": image, "expected": expected,
            "kernels": len(manifest["kernels"]), "steps": len(manifest["steps"]), "size": size / 2**20,
            "seconds": min(c[0] for c in costs), "slowest": max(c[0] for c in costs),
            "memory": max(c[1] for c in costs), "code": (plan / "kernels.so").stat().st_size / 1024}


def run(runtime, row, options):
    result = svod_runtime.aligned(np.zeros(row["expected"].shape, np.float32))
    row["best"] = run_times(runtime, row["plan"], row["model"], row["image"], result, options)
    row["error"] = float(np.abs(result / row["expected"] - 1).max())


def compile_table(rows):
    yield "| network | kernels | steps | CPU seconds | peak memory | plan | code | error |"
    yield "|---|---|---|---|---|---|---|---|"
    for r in rows:
        yield (f"| {r['network']} | {r['kernels']} | {r['steps']} | {r['seconds']:.2f} to {r['slowest']:.2f} "
               f"| {r['memory']:.0f} MiB | {r['size']:.1f} MiB | {r['code']:.0f} KiB | {r['error']:.1e} |")


def run_table(rows):
    columns = list(rows[0]["best"])
    yield "| network | " + " | ".join(f"{name}, {threads} thread{'s' * (threads > 1)}" for name, threads in columns) + " |"
    yield "|---|" + "---|" * len(columns)
    for r in rows:
        yield f"| {r['network']} | " + " | ".join(f"{r['best'][c] * 1e3:.1f} ms" for c in columns) + " |"


def main():
    options = arguments()
    runtime = svod_runtime.Runtime(Path(options.bin).resolve().parent / "runtime-min/libsvod-runtime.so")
    archive = published_cases()
    with tempfile.TemporaryDirectory() as folder:
        # Compiled before anything is loaded: what a process that starts another one holds counts for both.
        rows = [compiled(archive, name, Path(folder), options) for name in NETWORKS if options.only in name]
        for row in rows:
            run(runtime, row, options)
    lines = [*compile_table(rows), *(["", *run_table(rows)] if options.rounds else [])]
    print("\n".join(lines))
    if options.markdown:
        Path(options.markdown).write_text("\n".join(lines) + "\n")
    return any(not r["error"] <= TOLERANCE for r in rows)


if __name__ == "__main__":
    sys.exit(main())
