"""Fills a folder with what scripts/check_on_gpu.sh runs on a device: tools, plans, inputs and expected values."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import timed

ROOT = Path(__file__).resolve().parent.parent.parent
# Groups of tests/gpu_check/cases.h, and how many of them; on the grid, which is slow, a few.
GROUPS = ["units", "products:100", "ops", "random:100"]
ON_GRID = ["units", "products:12", "ops", "random:12"]
COPIES = {
    "line": "var n in [1, 8]\ninput x: f32[n]\noutput y = x * 2 + 1\n",
    "block": "var n in [1, 4096]\ninput x: f32[n, 256]\noutput y = x * 2 + 1\n",
    "state": "state s: f32[1000, 33]\ninput x: f32[1000, 33]\nassign s = s + x\noutput y = s * 2\n",
}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with code {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def instructions_of(arch):
    """Those of gpu_ops.def and tensor_cores.def that kernels for `arch` can have."""
    generation = int(re.search(r"\d+", arch).group())
    rows = re.findall(r'^GPU_OP\("(\w+)", +(\d+), +\d+, +(\w+)', (ROOT / "lib/ir/gpu_ops.def").read_text(), re.M)
    # A tensor map is an argument of the kernels that copy in bulk: the text has no call of it.
    return {name for name, since, who in rows if int(since) <= generation and (who != "Warpgroup" or arch == "sm_90a")} - {"tensor_map"}


class Pack:
    def __init__(self, flags):
        self.out, self.tools, self.grid, self.jobs = flags.out.resolve(), flags.tools.resolve(), flags.grid, flags.jobs
        self.tests = self.tools.parent / "tests"
        self.plans = self.out / "plans"
        self.onnx = flags.onnx
        self.nvrtc = "none" if flags.grid else flags.nvrtc
        self.seen = defaultdict(set)  # instructions that cases have, by architecture

    def fill(self, archs):
        shutil.rmtree(self.out, ignore_errors=True)
        self.plans.mkdir(parents=True)
        self.bring_tools()
        with ThreadPoolExecutor(self.jobs) as threads:
            list(threads.map(lambda job: job(), [job for arch in archs for job in self.jobs_of(arch)]))
        for arch in archs:
            if missing := instructions_of(arch) - self.seen[arch]:
                raise SystemExit(f"no case for {arch} has {', '.join(sorted(missing))}")
        if self.onnx:
            for arch in archs:
                self.bring_onnx(arch)
        if self.grid:
            self.put_on_grid()
        commit = run("git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12").strip()
        (self.out / "pack.json").write_text(json.dumps({"archs": archs, "commit": commit, "grid": self.grid}))
        with tarfile.open(self.out / "plans.tar.xz", "w:xz", preset=3) as tar:
            tar.add(self.plans, "plans")
        shutil.rmtree(self.plans)

    def bring_tools(self):
        (self.out / "bin").mkdir()
        run("strip", "-o", self.out / "bin/svod-run", self.tools / "svod-run")
        shutil.copy(self.tools.parent / "lib/libsvod-cuda.so.0", self.out / "bin")
        zipfile.ZipFile(next((self.tools.parent / "python").glob("*.whl"))).extractall(self.out / "python")
        if self.grid:
            shutil.copy(self.tests / "libcuda_mock.so", self.out / "bin")

    def jobs_of(self, arch):
        def cases(shard):
            groups = ON_GRID if self.grid else GROUPS
            lines = run(self.tests / "gpu_cases", self.plans / arch / "cases", arch, self.nvrtc or "-", f"{shard}/{self.jobs}", *groups)
            self.seen[arch].update(lines.split())
        for shard in range(self.jobs):
            yield lambda shard=shard: cases(shard)
        for name, graph in COPIES.items():
            yield lambda name=name, graph=graph: self.compile(arch, f"copies/{name}", graph)
        for case in timed.all_timed(64 if self.grid else 1):
            yield lambda case=case: self.compile(arch, f"timed/{case.name}", case.graph)

    def bring_onnx(self, arch):
        """The published cases of tier 1, where their archive is there: a plan for this machine says what comes out of each."""
        words = f"{sys.executable} {ROOT / 'scripts/gpu_check/onnx_case.py'}"
        command = [ROOT / "scripts/onnx_conformance.sh", "--tier", "1", "--bake-inputs", "shape", f"-j{self.jobs}",
                   "--svodc", f"{words} compile {self.tools} {arch} {self.nvrtc or '-'} {{model}} {{plan}}",
                   "--svod-run", f"{words} keep {self.tools} {self.plans / arch / 'cases/onnx'} {{plan}} {{inputs}} --output-dir {{outdir}}"]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"SVOD_BIN_DIR": str(self.tools)})
        print(done.stdout.strip().split("\n")[-1])

    def compile(self, arch, name, graph):
        plan = self.plans / arch / name
        plan.parent.mkdir(parents=True, exist_ok=True)
        source = plan.with_suffix(".svod")
        source.write_text("svod 1\n" + graph)
        run(self.tools / "svodc", "compile", source, "-o", plan, "--target", "cuda", "--cuda-arch", arch, *(["--nvrtc", self.nvrtc] if self.nvrtc else []))

    def put_on_grid(self):
        """Text becomes images of the driver of the tests."""
        for manifest in list(self.plans.rglob("plan.json")):
            plan = manifest.parent
            run(self.tests / "as_cuda", plan, plan.with_name("grid"), "sm_90a")
            shutil.rmtree(plan)
            plan.with_name("grid").rename(plan)


def main():
    parser = argparse.ArgumentParser(prog="check_on_gpu.sh --pack", description=__doc__)
    parser.add_argument("--pack", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--grid", action="store_true", help="for the driver and grid of the tests, in build/gpu-pack-grid")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="build/gpu-pack")
    parser.add_argument("--tools", type=Path, default=ROOT / "build/test/bin", metavar="FOLDER", help="where svodc and svod-run are (build/test/bin)")
    parser.add_argument("--onnx", action="store_true", help="with the published ONNX cases, where their archive is there")
    parser.add_argument("--archs", default="sm_90a,sm_80", metavar="LIST")
    parser.add_argument("--nvrtc", default="", metavar="FILE", help="the library, where svodc does not find it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    flags = parser.parse_args()
    flags.out = flags.out or ROOT / ("build/gpu-pack-grid" if flags.grid else "build/gpu-pack")
    archs = ["sm_90a"] if flags.grid else flags.archs.split(",")
    Pack(flags).fill(archs)
    size = sum(file.stat().st_size for file in flags.out.rglob("*") if file.is_file())
    print(f"{flags.out}: {size / 1e6:.1f} MB for {', '.join(archs)}; scripts/check_on_gpu.sh{' --grid' if flags.grid else ''} runs it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
