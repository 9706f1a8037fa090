"""The published cases that may end with "not supported": those with inputs that decide shapes and are known in a run only,
and tier 2. Nothing but a right result or that status is allowed, and no fewer right results than stand here.

python3 tests/onnx/limits_test.py [OPTION OF onnx_conformance.py ...]
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DECIDING = ("CumSum CumProd ReduceSum ReduceL1 ReduceL2 ReduceMean ReduceMax ReduceMin ReduceProd ReduceSumSquare Split "
            "Resize CenterCropPad Col2Im DFT STFT AffineGrid HannWindow HammingWindow BlackmanWindow OneHot Pad TopK Tile").split()
RUNS = [
    ("inputs that decide shapes", ["--tier", "1", "--suite", "node", *(f"--op={op}" for op in DECIDING)], "none", 222),
    ("tier 2", ["--tier", "2"], "shape", 97),
]


def endedUnsupported(result):
    """What the format of a picture is, and whether it is one that plans decode, is known in a run only."""
    return result["status"] == "run_error" and result["message"].startswith("rc=3 ")


def run(options, bake):
    """The statuses of the cases, or None where there are no cases."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [ROOT / "scripts/onnx_conformance.sh", *options, "--bake-inputs", bake, "-j2", "-q", "--json",
                   report.name, *sys.argv[1:]]
        status = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
        return None if status == 77 else json.loads(Path(report.name).read_text())["results"]


failures = 0
for name, options, bake, least in RUNS:
    results = run(options, bake)
    if results is None:
        print("skipped: no onnx-tests.tar.xz (set SVOD_ONNX_TESTS)")
        sys.exit(77)
    passed = sum(r["status"] == "pass" for r in results)
    refused = [r for r in results if r["status"] == "unsupported" or endedUnsupported(r)]
    wrong = [r for r in results if r["status"] != "pass" and r not in refused]
    print(f"{name}: {passed} of {len(results)} pass")
    for r in wrong:
        print(f"  {r['status']}: {r['name']}: {r['message']}")
    if passed < least:
        print(f"  expected at least {least}")
    failures += len(wrong) + (passed < least)
sys.exit(failures > 0)
