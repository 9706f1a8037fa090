"""Compiles an exported model with svodc, runs the plan with svod-run and compares with what is kept beside it."""
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from .model import file_name
from .variation import answers


def limited(command, seconds, memory):
    """(exit status, stderr, seconds of processor, MiB), with limits of time and of memory; status None: out of time."""
    with tempfile.NamedTemporaryFile() as report:
        launcher = [
            sys.executable, "-I", "-S",
            Path(__file__).parent / "measured.py", report.name, seconds, memory, *command
        ]
        done = subprocess.run([str(c) for c in launcher], capture_output=True, text=True)
        used = json.load(report)
    return None if used["seconds"] >= seconds else used["status"], done.stderr, used["seconds"], used["mib"]


def message(text, folder, status):
    """The first error of a program, without the place of the file."""
    text = text.replace(f"{folder}/", "")
    ended = "killed: it held more memory than it may" if status == -signal.SIGKILL else "no message"
    lines = [line for line in text.splitlines() if "error" in line] or text.splitlines() or [ended]
    return lines[0].split("error: ", 1)[-1][:400]


def difference(expected, got):
    """The largest difference, relative to the largest expected magnitude; inf where shapes or what is finite differ."""
    if expected.shape != got.shape:
        return np.inf
    if expected.dtype == np.bool_ or np.issubdtype(expected.dtype, np.integer):
        return 0.0 if np.array_equal(expected, got) else np.inf
    expected, got = expected.astype(np.float64), got.astype(np.float64)
    finite = np.isfinite(expected)
    if not np.array_equal(np.where(finite, 0, expected), np.where(np.isfinite(got), 0, got), equal_nan=True):
        return np.inf
    if not finite.any():
        return 0.0
    return float(np.abs(expected - got)[finite].max() / max(np.abs(expected)[finite].max(), 1e-30))


def shaped(error):
    return "the shape or an integer differs" if error == np.inf else f"differs by {error:.1e}"


def compared(wanted, got, tolerance):
    """(the greatest difference of outputs by name, what is said of the first beyond the tolerance, or None)."""
    greatest, wrong = 0.0, None
    for name, expected in wanted.items():
        error = difference(expected, got[name])
        greatest = max(greatest, error)
        if not error <= tolerance and wrong is None:
            shapes = f"{list(expected.shape)} wanted, {list(got[name].shape)} got: "
            wrong = f"{name}: {shapes if expected.shape != got[name].shape else ''}{shaped(error)}"
    return greatest, wrong


def bits_to_float(array, like):
    """bf16 results as the floats they are."""
    return (array.astype(np.uint32) << 16).view(
        np.float32) if array.dtype == np.uint16 and like.dtype != np.uint16 else array


class Checker:
    """Where the programs are, and what they may use."""

    def __init__(self, svodc, svod_run, seconds, memory, cache):
        self.svodc, self.svod_run, self.seconds, self.memory, self.cache = svodc, svod_run, seconds, memory, cache

    def check(self, folder, tolerance, flags):
        """A result: {} with `error` (relative) where all is right, else `failed` (stage) and `message`."""
        plan = folder / "model.plan"
        shutil.rmtree(plan, ignore_errors=True)
        cache = ["--cache-dir", self.cache] if self.cache else ["--no-cache"]
        command = [self.svodc, "compile", folder / "model.onnx", "-o", plan, "-j1", *cache, *flags]
        status, text, used, mib = limited(command, self.seconds, self.memory)
        result = {"seconds": round(used, 2), "mib": round(mib)}
        if status != 0:
            failed = f"no plan within {self.seconds} s" if status is None else message(text, folder, status)
            return result | {"failed": "svodc", "status": status, "message": failed}
        result["kernels"] = len(json.loads((plan / "plan.json").read_text())["kernels"])
        result["error"] = 0.0
        cases = sorted((folder / "cases").iterdir())
        for case in cases:
            wrong = self.run(folder, case, tolerance, result)
            if wrong:
                return result | {"case": case.name} | wrong
        shutil.rmtree(plan)
        return result

    def run(self, folder, case, tolerance, result):
        """None, or what is wrong; the error goes into `result`."""
        plan, out = folder / "model.plan", case / "svod"
        shutil.rmtree(out, ignore_errors=True)
        names = {
            file_name(p["name"]): p["name"] for p in json.loads((plan / "plan.json").read_text())["inputs"]
        }
        inputs = [x for stem, name in names.items() for x in ("-i", f"{name}={case / 'in' / stem}.npy")]
        command = [self.svod_run, plan, "-t", "1", *inputs, "--output-dir", out]
        status, text, _, _ = limited(command, self.seconds, self.memory)
        if status != 0:
            failed = f"no result within {self.seconds} s" if status is None else message(text, folder, status)
            return {"failed": "svod-run", "status": status, "message": failed}
        wanted = {path.stem: np.load(path) for path in sorted((case / "out").iterdir())}
        got = {stem: bits_to_float(np.load(out / f"{stem}.npy"), array) for stem, array in wanted.items()}
        error, wrong = compared(wanted, got, tolerance)
        if wrong:
            error, own, wrong = self.varied(folder, case, wanted, got, tolerance, error, wrong)
            result["own"] = max(result.get("own", 0.0), own)
        result["error"] = max(result["error"], error)
        if wrong:
            return {"failed": "value", "message": wrong}
        shutil.rmtree(out)
        return None

    def varied(self, folder, case, wanted, got, tolerance, error, wrong):
        """(error, own, what is wrong): against the nearest of the answers that ONNX Runtime has for this model, where the
        farthest of them from its first is `own` (inf where shapes, integers or what is finite differ)."""
        fed = {path.stem: np.load(path) for path in (case / "in").iterdir()}
        own = 0.0
        for other in answers(folder / "model.onnx", fed):
            own = max(own, compared(wanted, other, tolerance)[0])
            found, message = compared(other, got, tolerance)
            if found < error:
                error, wrong = found, message
        if error <= own < np.inf:
            wrong = None
        return error, own, wrong
