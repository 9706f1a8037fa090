"""Runs the steps of scripts/check_on_gpu.sh, each with a limit of its own, so that what hangs costs one step."""
import argparse
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NO_GPU = 77


@dataclass(frozen=True)
class Step:
    name: str
    limit: int  # seconds
    command: Callable[["Run"], list[str]]  # empty: this machine lacks what it needs
    lacks: str = ""
    lines: int = 3  # of its output that the table has


class Run:
    def __init__(self, flags, pack, work):
        self.flags, self.pack, self.work = flags, pack, work
        self.driver = str(pack / "bin/libcuda_mock.so") if flags.grid else ""
        self.on_driver = ["--driver", self.driver] if flags.grid else []
        about = json.loads((pack / "pack.json").read_text())
        self.commit, self.archs = about["commit"], about["archs"]
        self.arch = self.archs[0]
        self.report = {"commit": self.commit, "steps": {}}

    def environment(self):
        return os.environ | {"PYTHONPATH": f"{self.pack / 'python'}:{HERE}", "LD_LIBRARY_PATH": str(self.pack / "bin")}

    @property
    def plans(self):
        return self.work / "plans" / self.arch

    def python(self, script, *words):
        return [sys.executable, str(HERE / script), *map(str, words)]

    def sanitizer(self, tool):
        program = shutil.which("compute-sanitizer", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
        return [program, "--tool", tool, "--error-exitcode", "9", "--print-limit", "20",
                *self.python("values.py", self.plans / "cases", self.work / f"{tool}.json", "--here", "units/", "products/1")] if program else []

    def counters(self):
        program = shutil.which("ncu", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
        return self.python("counters.py", program, self.plans / "timed", self.work / "counters.json") if program else []


def devices(run):
    return [str(run.pack / "bin/svod-run"), "--list-devices", *(["--cuda-driver", run.driver] if run.driver else [])]


STEPS = [
    Step("devices", 30, devices),
    Step("copies", 40, lambda run: run.python("copies.py", run.plans / "copies", *run.on_driver)),
    Step("values", 150, lambda run: run.python("values.py", run.plans / "cases", run.work / "values.json", *run.on_driver), lines=20),
    *(Step(tool, 45, lambda run, tool=tool: run.sanitizer(tool), "compute-sanitizer") for tool in ("memcheck", "racecheck", "synccheck")),
    Step("times", 170, lambda run: run.python("times.py", run.plans / "timed", run.work / "times.json", *run.on_driver), lines=60),
    Step("counters", 75, lambda run: run.counters(), "ncu", lines=12),
]


def perform(run, step):
    command = step.command(run)
    if not command:
        return {"status": "skipped", "seconds": 0, "output": f"{step.lacks} is not on this machine"}
    begin = time.monotonic()
    log = run.work / f"{step.name}.log"
    with open(log, "w") as out:
        try:
            code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, timeout=step.limit, env=run.environment()).returncode
            status = "right" if code == 0 else f"wrong ({code})"
        except subprocess.TimeoutExpired:
            status = f"took more than {step.limit} s"
    text = re.sub(r", GPU-[0-9a-f-]+", "", log.read_text(errors="replace")).rstrip()
    return {"status": status, "seconds": round(time.monotonic() - begin, 1), "output": text[-6000:]}


def choose_architecture(run, devices_text):
    """Of the pack's, that of the first device; the least one for a device of the same generation."""
    found = re.search(r"compute capability (\d+)\.(\d+)", devices_text)
    if not found:
        return False
    exact, family = f"sm_{found[1]}{found[2]}a", f"sm_{found[1]}0"
    fits = [arch for arch in run.archs if arch in (exact, family)]
    if fits:
        run.arch = fits[0]
    return bool(fits)


def show(name, result, lines):
    print(f"{name:12} {result['status']:22} {result['seconds']:6.1f} s")
    for line in result["output"].split("\n")[-lines:]:
        print(f"  {line[:170]}", flush=True)


def finish(run, device):
    name = re.sub(r"[^A-Za-z0-9]+", "-", device.split(",")[1].strip()) if device.count(",") else "none"
    for part in ("values", "times", "counters"):
        file = run.work / f"{part}.json"
        if file.exists():
            run.report[part] = json.loads(file.read_text())
    run.report |= {"device": device, "architecture": run.arch, "date": datetime.date.today().isoformat()}
    out = run.flags.out or ROOT / "benchmarks/gpu" / f"{name}-{run.report['date']}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(run.report, indent=1) + "\n")
    print(f"\n{'step':12} {'result':22} seconds")
    for step, result in run.report["steps"].items():
        print(f"{step:12} {result['status']:22} {result['seconds']:7.1f}")
    print(f"written to {out}")


def main():
    parser = argparse.ArgumentParser(prog="check_on_gpu.sh", description=__doc__)
    parser.add_argument("--grid", action="store_true", help="on the driver and grid of the tests, with build/gpu-pack-grid")
    parser.add_argument("--pack-folder", type=Path, metavar="FOLDER", help="build/gpu-pack")
    parser.add_argument("--only", default="", metavar="STEP,..", help="some steps: " + ", ".join(step.name for step in STEPS))
    parser.add_argument("--out", type=Path, metavar="FILE", help="benchmarks/gpu/DEVICE-DATE.json")
    flags = parser.parse_args()
    pack = (flags.pack_folder or ROOT / ("build/gpu-pack-grid" if flags.grid else "build/gpu-pack")).resolve()
    if not (pack / "pack.json").exists():
        print(f"there is no {pack}: scripts/check_on_gpu.sh --pack{' --grid' if flags.grid else ''} makes it, on a machine that can build svod",
              file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        run = Run(flags, pack, Path(folder))
        with tarfile.open(pack / "plans.tar.xz") as tar:
            tar.extractall(folder)
        wanted = [step for step in STEPS if step.name == "devices" or not flags.only or step.name in flags.only.split(",")]
        for step in wanted:
            result = run.report["steps"][step.name] = perform(run, step)
            show(step.name, result, step.lines)
            if step.name == "devices" and not choose_architecture(run, result["output"]):
                print(f"no device for plans of {', '.join(run.archs)}", file=sys.stderr)
                return NO_GPU
        finish(run, run.report["steps"]["devices"]["output"].split("\n")[0])
    return 1 if any(result["status"] not in ("right", "skipped") for result in run.report["steps"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
