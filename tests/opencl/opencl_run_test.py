"""Target opencl from file to file: plans are made anywhere, and run where there is an OpenCL device."""
import json
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))
from device_runs import DIGITS, SAMPLES, DeviceRuns, ToolTest, run  # noqa: E402
from svodc import main  # noqa: E402

CACHE = {"POCL_CACHE_DIR": os.environ.get("POCL_CACHE_DIR", "/tmp/svod-pocl")}
LISTED = run("svod-run", "--list-devices", "--opencl-loader", "libOpenCL.so.1", env=CACHE)
needs_device = unittest.skipIf(LISTED.returncode != 0, "this machine has no OpenCL device; pocl-opencl-icd brings one")


class Compile(ToolTest):
    def test_a_plan_needs_no_device(self):
        plan = self.folder / "plan"
        self.svodc("compile", DIGITS, "-o", plan, "--target", "opencl")
        self.assertGreater(len(list(plan.glob("*.portable.cl"))), 4)
        for file in plan.glob("*.cl"):
            text = file.read_text()
            self.assertRegex(text, r"__kernel __attribute__\(\(reqd_work_group_size\(\d+, \d+, \d+\)\)\) void " + file.name.split(".")[0])
            self.assertNotIn("double", text)
        seen = json.loads(run("svodc", "inspect", plan, "--json").stdout)
        self.assertEqual((seen["architectures"][0]["arch"], seen["architectures"][0]["driver"]), ("opencl:portable", 120))

    def test_limits_are_kept(self):
        for limits, threads, shared in (("portable", 256, 32 << 10), ("small", 64, 16 << 10)):
            graph = self.graph("svod 1\ninput a: f32[256, 512]\ninput b: f32[512, 256]\nc = matmul(a, b)\noutput s = softmax(c, axis=1)\n")
            plan = self.folder / limits
            self.svodc("compile", graph, "-o", plan, "--target", "opencl", "--cpu", limits)
            kernels = json.loads((plan / "plan.json").read_text())["kernels"]
            self.assertTrue(kernels)
            for kernel in kernels:
                x, y, z = kernel["grid"]["threads"]
                self.assertLessEqual(x * y * z, threads)
                self.assertLessEqual(kernel["grid"].get("sharedBytes", 0), shared)
        self.fails(2, "compile", DIGITS, "-o", self.folder / "p", "--target", "opencl", "--cpu", "smal", says=["'smal'", "small"])

    def test_what_a_kernel_asks_for_is_in_the_plan(self):
        graph = self.graph("svod 1\ninput x: f64[64]\ninput y: f32[64]\noutput a = x * 2\noutput b = y / (y + 3)\n")
        for numerics, value in (("contract", 1), ("strict", 2)):
            plan = self.folder / numerics
            self.svodc("compile", graph, "-o", plan, "--target", "opencl", "--numerics", numerics)
            needs = [{a["name"]: a["value"] for a in k["grid"]["attributes"]} for k in json.loads((plan / "plan.json").read_text())["kernels"]]
            self.assertTrue(any(n.get("fp64") == 1 for n in needs), needs)
            self.assertTrue(any(n.get("rounded-division") == value for n in needs), needs)
            self.assertEqual(any("subnormals" in n for n in needs), numerics == "strict", needs)
        self.assertTrue(any("cl_khr_fp64 : enable" in f.read_text() for f in plan.glob("*.cl")))

    def test_kernels_are_written_as_files(self):
        files = self.folder / "kernels"
        self.svodc("compile", DIGITS, "--target", "opencl", "--emit", f"opencl-c={files}")
        self.assertGreater(len(list(files.glob("*.portable.cl"))), 4)

    def test_an_unknown_loader_is_an_error(self):
        plan = self.folder / "plan"
        self.svodc("compile", DIGITS, "-o", plan, "--target", "opencl")
        done = run("svod-run", plan, "-i", f"image={SAMPLES}", "--opencl-loader", "libnone-such.so")
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("there is no OpenCL: libnone-such.so", done.stderr)
        done = run("svod-run", "--list-devices", "--opencl-loader", "libnone-such.so")
        self.assertEqual(done.returncode, 77, done.stderr)


@needs_device
class Run(DeviceRuns, ToolTest):
    kind, limits, environment, listed = "opencl", ("portable", "small"), CACHE, LISTED
    others = ("--cuda-driver", "--webgpu-library")


if __name__ == "__main__":
    main()
