"""What svodc expects of the kernels of timed.py's cases, beside what a device took for them (benchmarks/gpu).

  predictions.py [--tools FOLDER] [--least SHARE]

A kernel stands beside the step with the same name, whatever its opts are now. Exit code 1: fewer than SHARE of them are within 1.5."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import page
import timed

EVENT_NS = 1500  # that the two events around a step add to it
WITHIN = 1.5


def shape_of(name):
    """A kernel's name without what tells kernels of one shape apart."""
    return name.rsplit("_", 1)[0]


def expected(tools, case, arch, folder):
    """Nanoseconds by shape."""
    graph = Path(folder) / "graph.svod"
    graph.write_text("svod 1\n" + case.graph)
    done = subprocess.run([tools / "svodc", "inspect", graph, "--kernels", "--json", "--target", "cuda", "--cuda-arch", arch, "--nvrtc", "none"],
                          capture_output=True, text=True, check=True)
    kernels = json.loads(done.stdout)["kernels"]["details"]
    return {shape_of(kernel["name"]): (kernel["strategy"], kernel["predictedNs"]) for kernel in kernels}


def compare(tools, report):
    with tempfile.TemporaryDirectory() as folder:
        for case in timed.all_timed():
            steps = report["times"].get(case.name, {}).get("steps", {})
            took = {shape_of(words.split()[-1]): ms * 1e6 - EVENT_NS for words, ms in steps.items() if " kernel " in words}
            for shape, (strategy, ns) in expected(tools, case, report["architecture"], folder).items() if took else ():
                if shape in took:
                    yield case.name, strategy, ns, took[shape]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", type=Path, default=page.ROOT / os.environ.get("SVOD_BIN_DIR", "build/test/bin"))
    parser.add_argument("--least", type=float, default=0)
    flags = parser.parse_args()
    is_good = True
    for device, (report, _) in sorted(page.newest().items()):
        rows = list(compare(flags.tools.resolve(), report))
        print(f"{device}\n  {'case':26} {'strategy':14} {'expected us':>11} {'took us':>9} {'ratio':>6}")
        near = 0
        for case, strategy, ns, took in rows:
            ratio = ns / took
            near += 1 / WITHIN <= ratio <= WITHIN
            print(f"{' ' if 1 / WITHIN <= ratio <= WITHIN else '!'} {case:26} {strategy:14} {ns / 1e3:11.1f} {took / 1e3:9.1f} {ratio:6.2f}")
        print(f"{near} of {len(rows)} kernels within {WITHIN}")
        is_good = is_good and len(rows) > 0 and near >= flags.least * len(rows)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
