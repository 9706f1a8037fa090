"""scripts/check_on_gpu.sh from its pack to its table, on the driver and grid of the tests; what it says of results that are wrong."""
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

try:
    import numpy
except ImportError:
    print("skipped: numpy is not installed (python3-numpy)")
    sys.exit(77)

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = (ROOT / os.environ["SVOD_BIN_DIR"]).resolve()
HOLDER = tempfile.TemporaryDirectory()
unittest.addModuleCleanup(HOLDER.cleanup)
PACK = Path(HOLDER.name) / "pack"


def script(*words):
    return subprocess.run([ROOT / "scripts/check_on_gpu.sh", *map(str, words)], capture_output=True, text=True,
                          env=os.environ | {"SVOD_PYTHON": sys.executable})


def check(out, *words):
    done = script("--grid", "--pack-folder", PACK, "--out", out, *words)
    return done, json.loads(out.read_text()) if out.exists() else {}


class CheckOnGpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = script("--pack", "--grid", "--tools", BIN, "--out", PACK)
        assert done.returncode == 0, done.stdout + done.stderr

    def test_all_steps_run_and_everything_is_right(self):
        done, report = check(Path(HOLDER.name) / "report.json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        steps = {name: step["status"] for name, step in report["steps"].items()}
        self.assertEqual({name: steps[name] for name in ("devices", "copies", "values", "times")},
                         {"devices": "right", "copies": "right", "values": "right", "times": "right"}, done.stdout)
        self.assertEqual(report["architecture"], "sm_90a")
        self.assertGreater(report["values"]["cases"], 50)
        self.assertEqual(report["values"]["wrong"], {})
        self.assertGreater(len(report["times"]), 30)
        self.assertTrue(all(row["ms"] > 0 for row in report["times"].values()))

    def test_a_wrong_value_is_told_with_its_place(self):
        broken = Path(HOLDER.name) / "broken"
        with tarfile.open(PACK / "plans.tar.xz") as tar:
            tar.extractall(broken)
        cases = broken / "plans/sm_90a/cases"
        folder = cases / "units/m16n8k16-f16-f32"
        number = json.loads((folder / "case.json").read_text())["ports"]["y"]["number"]
        want = numpy.load(folder / f"want/{number}.npy")
        want[3, 5] += 1
        numpy.save(folder / f"want/{number}.npy", want)
        report = broken / "report.json"
        done = subprocess.run([sys.executable, ROOT / "scripts/gpu_check/values.py", cases, report, "--driver", PACK / "bin/libcuda_mock.so",
                               "--here", "units/m16n8k16-f16-f32", "units/m16n8k16-bf16-f32"], capture_output=True, text=True,
                              env=os.environ | {"PYTHONPATH": str(PACK / "python"), "LD_LIBRARY_PATH": str(PACK / "bin")})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"units/m16n8k16-f16-f32: y: 1 of \d+ elements, first \[3, 5\]: .* within ")
        self.assertEqual(list(json.loads(report.read_text())["wrong"]), ["units/m16n8k16-f16-f32"])

    def test_without_a_device_or_a_pack_it_says_so(self):
        done = script("--pack-folder", PACK, "--out", Path(HOLDER.name) / "none.json")
        if "NVIDIA" not in done.stdout:
            self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
            self.assertIn("no device for plans of sm_90a", done.stderr)
        done = script("--pack-folder", Path(HOLDER.name) / "nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("scripts/check_on_gpu.sh --pack makes it", done.stderr)


if __name__ == "__main__":
    unittest.main()
