#!/usr/bin/env python3
"""One build of svod against another, interleaved in one run: kernel times of the cases of bench.py and of the light networks,
and the time to compile the networks.

usage: benchmarks/against.py --before FOLDER [--bin FOLDER] [--threads N] [--only TEXT] [--rounds N] [--all]

A ratio above 1 means that the build in --bin is faster than the one in --before. Where both make the same code, nothing is
timed and the ratio is 1, unless --all. Ends with the geometric mean and the least ratio. Exits with 1 when results differ.
"""
import argparse
import math
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import bench
import cases
import measure
import networks
import svod_runtime

TOLERANCE = 1e-3
BUILDS = ("before", "now")


@dataclass
class Build:
    """The programs of one build and its runtime library."""
    bin: str

    def __post_init__(self):
        self.runtime = svod_runtime.Runtime(Path(self.bin).resolve().parent / "runtime-min/libsvod-runtime.so")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--before", required=True, help="folder of the svodc to compare with")
    parser.add_argument("--bin", default="build/release/bin", help="folder of svodc")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help="cases and networks whose name contains this")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--all", action="store_true", help="also time plans with the same code")
    return parser.parse_args()


def code(folder):
    """The library of a plan, without the record of its manifest at the end."""
    return re.sub(rb"\n(?://)?svod plan [0-9a-f]{64}\n\Z", b"", (Path(folder) / "kernels.so").read_bytes())


def same_code(folders):
    return code(folders[0]) == code(folders[1])


def timed(name, folders, builds, bind, options):
    """The row of one graph that both builds compiled into `folders`; `bind(plan)` lends it arrays and returns the result."""
    if not options.all and same_code(folders):
        return {"name": name, "ratio": 1.0, "note": "same code"}
    plans = [b.runtime.load(str(f), options.threads) for b, f in zip(builds, folders)]
    results = []
    for plan in plans:
        result = bind(plan)
        plan.run()
        results.append(result.copy())
    timings = measure.interleave(dict(zip(BUILDS, (p.run for p in plans))), options.rounds)
    middle, low, high = measure.ratio(timings["now"], timings["before"])
    wrong = bench.difference(results[0], results[1])
    for plan in plans:
        plan.close()
    note = f"{low:.2f}-{high:.2f}, {timings['before'].best * 1e3:.3f} -> {timings['now'].best * 1e3:.3f} ms"
    return {"name": name, "ratio": middle, "note": note + ("" if wrong <= TOLERANCE else f"  DIFFERS by {wrong:.1e}"),
            "wrong": not wrong <= TOLERANCE}


def case_row(case, builds, options):
    inputs = cases.inputs_of(case, svod_runtime.aligned)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        folders = [first, second]
        manifests = [bench.compile_case(case, case.graph, inputs, f, f"{b.bin}/svodc") for b, f in zip(builds, folders)]

        def bind(plan):
            for name in case.shapes.keys() - set(case.weights):
                plan.bind_input(name, inputs[name])
            result = svod_runtime.aligned(np.zeros(bench.result_shape(manifests[0]), cases.NUMPY[case.result]))
            plan.bind_output("y", result)
            return result
        return timed(case.name, [f"{f}/case.plan" for f in folders], builds, bind, options)


def network_rows(name, builds, archive, folder, options):
    """A row for the run and one for compiling."""
    model, image, expected = networks.seeded(archive, name, folder)
    folders = [folder / f"{name}.{b}.plan" for b in BUILDS]
    costs = [[], []]
    for _ in range(3):
        for i, build in enumerate(builds):
            costs[i].append(networks.compile_once(f"{build.bin}/svodc", model, folders[i])[0])
    names = networks.port_names(folders[1])

    def bind(plan):
        result = svod_runtime.aligned(np.zeros(expected.shape, np.float32))
        plan.bind_input(names["inputs"], image)
        plan.bind_output(names["outputs"], result)
        return result
    before, now = min(costs[0]), min(costs[1])
    yield timed(name, folders, builds, bind, options)
    yield {"name": f"compile {name}", "ratio": before / now, "note": f"{before:.2f} -> {now:.2f} CPU s"}


def rows(builds, options):
    for case in cases.CASES:
        if options.only in case.name:
            yield case_row(case, builds, options)
    archive = networks.published_cases()
    with tempfile.TemporaryDirectory() as folder:
        for name in networks.NETWORKS:
            if options.only in name:
                yield from network_rows(name, builds, archive, Path(folder), options)


def main():
    options = arguments()
    builds = [Build(options.before), Build(options.bin)]
    ratios, good = [], True
    for row in rows(builds, options):
        print(f"{row['name']:32} {row['ratio']:6.3f}  {row['note']}", flush=True)
        good &= not row.get("wrong", False)
        if not row["name"].startswith("compile"):
            ratios.append((row["ratio"], row["name"]))
    if ratios:
        mean = math.exp(sum(math.log(r) for r, _ in ratios) / len(ratios))
        print(f"{'geometric mean':32} {mean:6.3f}  least {min(ratios)[0]:.3f}: {min(ratios)[1]}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
