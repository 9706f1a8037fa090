"""What pack.py has scripts/onnx_conformance.sh call in place of svodc and svod-run, to keep a published ONNX case for a device.

  onnx_case.py compile TOOLS ARCH NVRTC MODEL PLAN           a plan for this machine, and beside it PLAN.cuda
  onnx_case.py keep TOOLS FOLDER PLAN [--input NAME=FILE].. --output-dir DIR
                                                            runs the former, and makes a case of the latter with these results"""
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Of the result, relative and absolute: sums of a device have another order.
TOLERANCE = {"f64": (1e-6, 1e-9), "f32": (1e-3, 1e-5), "f16": (1e-2, 1e-3), "bf16": (4e-2, 1e-2)}


def compile_both(tools, arch, nvrtc, model, plan):
    own = [f"{tools}/svodc", "compile", model, "-o"]
    target = ["--target", "cuda", "--cuda-arch", arch, *(["--nvrtc", nvrtc] if nvrtc != "-" else [])]
    return subprocess.run([*own, plan]).returncode or subprocess.run([*own, plan + ".cuda", *target]).returncode


def decoded(array, dtype):
    import numpy
    return (array.astype(numpy.uint32) << 16).view(numpy.float32) if dtype == "bf16" else array


def keep(tools, folder, plan, words):
    import numpy
    out = Path(words[words.index("--output-dir") + 1])
    code = subprocess.run([f"{tools}/svod-run", plan, *words]).returncode
    if code != 0:
        return code
    case = Path(folder) / hashlib.sha256(f"{plan} {words}".encode()).hexdigest()[:12]
    about = json.loads((Path(plan) / "plan.json").read_text())
    dtypes = {port["name"]: about["buffers"][port["buffer"]]["dtype"] for port in about["inputs"] + about["outputs"]}
    given = dict(word.split("=", 1) for before, word in zip(words, words[1:]) if before == "--input")
    for part in ("in", "want", "bound"):
        (case / part).mkdir(parents=True, exist_ok=True)
    ports = {}
    for number, (name, dtype) in enumerate(dtypes.items()):
        ports[name] = {"number": number, "dtype": dtype}
        if name in given:
            shutil.copy(given[name], case / f"in/{number}.npy")
        result = out / (re.sub(r"[^A-Za-z0-9._-]", "_", name) + ".npy")
        if name in given or not result.exists():
            continue
        shutil.copy(result, case / f"want/{number}.npy")
        if dtype in TOLERANCE:
            relative, absolute = TOLERANCE[dtype]
            value = decoded(numpy.load(result), dtype).astype(numpy.float64)
            numpy.save(case / f"bound/{number}.npy", numpy.nan_to_num(numpy.abs(value)) * relative + absolute)
    shutil.copytree(plan + ".cuda", case / "plan", dirs_exist_ok=True)
    (case / "case.json").write_text(json.dumps({"ports": ports, "variables": {}}))
    return 0


if __name__ == "__main__":
    what, tools, *rest = sys.argv[1:]
    sys.exit(compile_both(tools, *rest) if what == "compile" else keep(tools, rest[0], rest[1], rest[2:]))
