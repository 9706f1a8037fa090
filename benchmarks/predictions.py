#!/usr/bin/env python3
"""Predicted against measured times of kernels: of networks, and of one kernel under random lists of opts.

usage: benchmarks/predictions.py --networks FOLDER [--export] [--bin FOLDER] [--only TEXT] [--rounds N] [--worst N] [--json FILE]
       benchmarks/predictions.py --networks FOLDER --seeds [--bin FOLDER] [--only TEXT] [--rounds N] [--json FILE]
       benchmarks/predictions.py --rank [--tests FOLDER] [--only TEXT] [--lists N] [--json FILE]

With --networks every ONNX model in FOLDER (--export makes those of full_size.py there) is compiled and runs with one thread;
kernels that take over 50 us are compared with what `svodc inspect --kernels` expects of them: percentiles of measured over
predicted, apart for networks the cost model was calibrated on and for the others, and the kernels that are furthest off. A
kernel's time is the least of the runs. Subnormal numbers, which networks with masks of -100 make in every softmax, take many
times as long as others and depend on the data, so they are flushed to zero unless --subnormals says otherwise.

With --seeds the networks run with every list of opts that the strategies make of a kernel, not only the chosen one. What is
printed is how often a list that is expected to be so many times as fast as the preferred one is faster, and by how much: the
margin of lib/choose comes from there.

With --rank each kernel of tests/cost/rank_test.cpp is compiled with N random lists of opts and timed in one process; what is
printed is Spearman's rank correlation of prediction and time. Timings want a quiet core: chrt -f 50 taskset -c 1.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import full_size

LEAST_NS = 50_000  # shorter kernels are measured badly
PERCENTILES = (0, 5, 25, 50, 75, 95, 100)
TYPES = {"f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--networks", type=Path, help="folder of .onnx files without variables")
    parser.add_argument("--export", action="store_true", help="first make those of full_size.py that are not there")
    parser.add_argument("--seeds", action="store_true", help="every list that the strategies make")
    parser.add_argument("--rank", action="store_true", help="random lists of opts in place of networks")
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"), help="folder of svodc and svod-run")
    parser.add_argument("--tests", type=Path, default=Path("build/test/tests"), help="folder of cost_rank")
    parser.add_argument("--only", default="", help="networks or kernels whose name contains this")
    parser.add_argument("--rounds", type=int, default=10, help="runs of a network")
    parser.add_argument("--lists", type=int, default=300, help="random lists for each kernel")
    parser.add_argument("--subnormals", action="store_true", help="compute with subnormal numbers")
    parser.add_argument("--worst", type=int, default=20, help="kernels to show")
    parser.add_argument("--json", type=Path, help="write every kernel to a file")
    return parser.parse_args()


# Loaded before svod-run: flush results and operands to zero (bits 15 and 6 of MXCSR). One thread runs all kernels.
FLUSHING = """#include <immintrin.h>
__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
"""


def flushing(folder):
    """The environment of a run that flushes subnormal numbers to zero."""
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-xc", "-", "-o", folder / "flush.so"], input=FLUSHING, text=True,
                   check=True)
    return os.environ | {"LD_PRELOAD": str(folder / "flush.so")}


def run(*words, **more):
    ran = subprocess.run([str(w) for w in words], capture_output=True, text=True, **more)
    if ran.returncode != 0:
        raise RuntimeError(f"{Path(words[0]).name} ended with {ran.returncode}: {ran.stderr.strip()[-300:]}")
    return ran.stdout


def inputs_of(plan, folder):
    """Words that give every input of a plan random elements."""
    random = np.random.default_rng(0)
    manifest = json.loads((plan / "plan.json").read_text())
    for number, port in enumerate(manifest["inputs"]):
        dtype = manifest["buffers"][port["buffer"]]["dtype"]
        array = random.standard_normal(port["shape"]).astype(TYPES[dtype])
        np.save(folder / f"{number}.npy", array)
        yield from ("-i", f"{port['name']}={folder}/{number}.npy")


def profile_of(plan, folder, options):
    return json.loads(run(options.bin / "svod-run", plan, *inputs_of(plan, folder), "--threads", 1, "--repeat", options.rounds,
                          "--json", "--output-dir", folder / "out", env=None if options.subnormals else flushing(folder)))


def times_of(report):
    """Nanoseconds of one call of every kernel, the least of all runs."""
    return {row["name"]: row["run"]["bestNs"] * report["runs"] / row["calls"] for row in report["profile"]
            if row["kind"] == "kernel" and row["calls"]}


def seeds_of(model, options):
    """A row for every kernel of a network with several seeds: what was predicted of each, and its time."""
    kernels = json.loads(run(options.bin / "svodc", "inspect", model, "--kernels", "--json"))["kernels"]["details"]
    rows = {k["name"]: {"network": model.stem, "kernel": k["name"], "class": k["class"], "seeds": k["seeds"]}
            for k in kernels if len(k.get("seeds", ())) > 1}
    for place in range(max((len(r["seeds"]) for r in rows.values()), default=0)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            words = [w for r in rows.values() if place < len(r["seeds"])
                     for w in ("--opts", f"{r['kernel']}={r['seeds'][place]['opts']}")]
            run(options.bin / "svodc", "compile", model, "-o", folder / "model.plan", *words)
            best = times_of(profile_of(folder / "model.plan", folder, options))
        for r in rows.values():
            if place < len(r["seeds"]) and r["kernel"] in best:
                r["seeds"][place]["measured"] = best[r["kernel"]]
    return [r for r in rows.values() if all("measured" in s for s in r["seeds"])]


def kernels_of(model, options):
    """A row for every kernel of a network: nanoseconds of one call, the least of all runs, and what was predicted."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = folder / "model.plan"
        run(options.bin / "svodc", "compile", model, "-o", plan)
        report = profile_of(plan, folder, options)
        (folder / "profile.json").write_text(json.dumps(report))
        text = run(options.bin / "svodc", "inspect", model, "--kernels", "--profile", folder / "profile.json", "--json")
        best = times_of(report)
        for kernel in json.loads(text)["kernels"]["kernels"]:
            if kernel["name"] in best:
                kernel.pop("args", None)
                yield {"network": model.stem, "measured": best[kernel["name"]], "predicted": kernel["predictedNs"],
                       "launches": kernel["launches"], **kernel}


def ratio(row):
    return row["measured"] / max(row["predicted"], 1)


def percentiles(rows):
    values = np.percentile([ratio(r) for r in rows], PERCENTILES)
    return "  ".join(f"{p}% {v:.2f}" for p, v in zip(PERCENTILES, values))


def beyond(rows):
    """The share of all time that no prediction expected."""
    total = sum(r["measured"] * r["launches"] for r in rows)
    return sum(max(0, r["measured"] - r["predicted"]) * r["launches"] for r in rows) / total


def report_networks(rows, options):
    groups = {"calibrated": [r for r in rows if r["network"] in full_size.CALIBRATED],
              "held out": [r for r in rows if r["network"] not in full_size.CALIBRATED], "all": rows}
    for name, group in groups.items():
        if group:
            print(f"{name}: {len(group)} kernels, measured / predicted: {percentiles(group)}; "
                  f"{100 * beyond(group):.0f} % of the time is beyond its prediction")
    for row in sorted(rows, key=lambda r: -abs(np.log(ratio(r))))[:options.worst]:
        print(f"{ratio(row):6.2f}  {row['measured'] / 1e3:9.1f} us of {row['predicted'] / 1e3:9.1f} ({row['limit']})  "
              f"{row['network']}  {row['class']}  {row['name']}\n        {row['opts']}")


def report_seeds(rows, options):
    pairs = []  # how many times as fast another seed than the preferred one is expected to be, and is
    for row in rows:
        first, *others = row["seeds"]
        if first["measured"] >= LEAST_NS:
            pairs += [(first["predictedNs"] / s["predictedNs"], first["measured"] / s["measured"], row, s) for s in others]
    for least, most in ((0, 0.67), (0.67, 0.9), (0.9, 1), (1, 1.1), (1.1, 1.25), (1.25, 1.5), (1.5, 2), (2, 1e9)):
        gains = [measured for expected, measured, _, _ in pairs if least <= expected < most]
        if gains:
            print(f"expected {least} to {most} times as fast: {len(gains)}, {100 * np.mean(np.array(gains) > 1):.0f} % are faster, "
                  f"5 % {np.percentile(gains, 5):.2f}  median {np.median(gains):.2f}  95 % {np.percentile(gains, 95):.2f}")
    for expected, measured, row, seed in sorted(pairs, key=lambda p: -p[1])[:options.worst]:
        print(f"{measured:6.2f}, expected {expected:.2f}  {row['network']}  {row['seeds'][0]['measured'] / 1e3:.1f} us  "
              f"{row['kernel']}\n        {row['seeds'][0]['seed']}: {row['seeds'][0]['opts']}\n        {seed['seed']}: {seed['opts']}")


def seeds(options):
    rows = []
    for model in sorted(options.networks.glob("*.onnx")):
        if options.only in model.stem:
            rows += seeds_of(model, options)
            print(f"{model.stem}: {len(rows)} kernels so far", file=sys.stderr)
    report_seeds(rows, options)
    return rows


def networks(options):
    if options.export:
        options.networks.mkdir(parents=True, exist_ok=True)
        full_size.export(options.networks)
    rows = []
    for model in sorted(options.networks.glob("*.onnx")):
        if options.only in model.stem:
            found = list(kernels_of(model, options))
            rows += found
            total = sum(r["measured"] * r["launches"] for r in found) / 1e6
            print(f"{model.stem}: {len(found)} kernels, {total:.2f} ms", file=sys.stderr)
    rows = [r for r in rows if r["measured"] >= LEAST_NS]
    report_networks(rows, options)
    return rows


def ranks(values):
    """The place of each in order; equal ones share the middle of theirs."""
    values = np.asarray(values)
    order = np.sort(values)
    return (np.searchsorted(order, values, "left") + np.searchsorted(order, values, "right")) / 2


def spearman(rows):
    a, b = (ranks([r[key] for r in rows]) for key in ("predicted", "measured"))
    return float(np.corrcoef(a, b)[0, 1])


def rank(options):
    environment = os.environ | {"SVOD_RANK_LISTS": str(options.lists), "SVOD_RANK_ONLY": options.only}
    text = run(options.tests / "cost_rank", "[.measure]", env=environment)
    rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    found = []
    for name in dict.fromkeys(r["kernel"] for r in rows):
        of = [r for r in rows if r["kernel"] == name]
        ratios = np.percentile([ratio(r) for r in of], (5, 50, 95))
        found.append(spearman(of))
        print(f"{found[-1]:6.2f}  {name}: {len(of)} lists, measured / predicted: 5% {ratios[0]:.2f}  50% {ratios[1]:.2f}  "
              f"95% {ratios[2]:.2f}")
    print(f"{len(found)} kernels, rank correlation: median {statistics.median(found):.2f}, least {min(found):.2f}")
    return rows


def main():
    options = arguments()
    if not options.rank and not options.networks:
        sys.exit("predictions.py: name --networks FOLDER, or --rank")
    rows = rank(options) if options.rank else seeds(options) if options.seeds else networks(options)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
