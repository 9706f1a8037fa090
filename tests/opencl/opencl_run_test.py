"""Target opencl from file to file: plans are made anywhere, and run where there is an OpenCL device."""
import json
import os
import struct
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
from svodc import SYMBOLIC, ToolTest, main, npy, run  # noqa: E402

DIGITS = ROOT / "examples/digits/digits.svod"
SAMPLES = ROOT / "examples/digits/samples.npy"
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
class Run(ToolTest):
    def plans(self, graph, *words):
        for target in ("cpu", "opencl"):
            self.svodc("compile", graph, "-o", self.folder / target, "--target", target, *words)
        return self.folder / "cpu", self.folder / "opencl"

    def execute(self, *words, code=0):
        done = run("svod-run", *words, env=CACHE)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_digits_are_read(self):
        cpu, plan = self.plans(DIGITS)
        self.execute(cpu, "-i", f"image={SAMPLES}", "--output-dir", self.folder / "out")
        done = self.execute(plan, "-i", f"image={SAMPLES}", "--reference", self.folder / "out", "--profile", "--repeat", "3")
        self.assertIn("kernel", done.stdout)
        explained = self.execute(plan, "--explain").stdout
        self.assertIn("opencl:0", explained)
        self.assertRegex(explained, r"runs \d+ kernels for portable")

    def test_sizes_change_from_run_to_run(self):
        _, plan = self.plans(self.graph(SYMBOLIC))
        for n in (1, 3, 64):
            x = npy(self.folder / "x.npy", "<f4", [n, 8], struct.pack(f"<{8 * n}f", *range(8 * n)))
            self.execute(plan, "-i", f"x={x}", "--output-dir", self.folder / "out")
            got = struct.unpack(f"<{8 * n}f", (self.folder / "out/z.npy").read_bytes()[-32 * n:])
            self.assertEqual(list(got), [2.0 * i for i in range(8 * n)])

    def test_states_stay_on_the_device(self):
        graph = self.graph("svod 1\ninput x: f32[8]\nstate s: f32[8]\nnext = s + copy(x, device=gpu)\nassign s = next\noutput y = copy(next, device=cpu)\n")
        plan = self.folder / "plan"
        self.svodc("compile", graph, "-o", plan, "--device", "gpu=opencl:small")
        x = npy(self.folder / "x.npy", "<f4", [8], struct.pack("<8f", *range(8)))
        self.execute(plan, "-i", f"x={x}", "--repeat", "3", "--output-dir", self.folder / "out")
        got = struct.unpack("<8f", (self.folder / "out/y.npy").read_bytes()[-32:])
        self.assertEqual(list(got), [3.0 * i for i in range(8)])

    def test_two_devices_of_a_plan_may_be_one_of_the_machine(self):
        graph = self.graph("svod 1\ninput x: f32[8]\na = copy(x, device=one) * 3\nb = copy(a, device=two) + 1\noutput y = copy(b, device=cpu) * 2\n")
        plan = self.folder / "plan"
        self.svodc("compile", graph, "-o", plan, "--device", "one=opencl", "--device", "two=opencl")
        x = npy(self.folder / "x.npy", "<f4", [8], struct.pack("<8f", *range(8)))
        self.execute(plan, "-i", f"x={x}", "--device", "one=0", "--device", "two=0", "--repeat", "3", "--output-dir", self.folder / "out")
        got = struct.unpack("<8f", (self.folder / "out/y.npy").read_bytes()[-32:])
        self.assertEqual(list(got), [6.0 * i + 2 for i in range(8)])

    def test_devices_are_listed(self):
        self.assertTrue(LISTED.stdout.startswith("opencl:0, "), LISTED.stdout)
        self.assertIn("KiB", LISTED.stdout)
        self.assertIn("opencl:0, ", self.execute("--list-devices").stdout)

    def test_a_number_that_is_not_there_is_an_error(self):
        _, plan = self.plans(self.graph(SYMBOLIC))
        x = npy(self.folder / "x.npy", "<f4", [2, 8], bytes(64))
        name = json.loads((plan / "plan.json").read_text())["devices"][1]["name"]
        done = self.execute(plan, "-i", f"x={x}", "--device", f"{name}=99", code=77)
        self.assertIn("there is no device opencl:99", done.stderr)
        done = self.execute(plan, "-i", f"x={x}", "--device", f"{name}=no", code=2)
        self.assertIn("--list-devices", done.stderr)

    def test_switches_of_cuda_are_passed_over(self):
        _, plan = self.plans(self.graph(SYMBOLIC))
        x = npy(self.folder / "x.npy", "<f4", [2, 8], bytes(64))
        self.execute(plan, "-i", f"x={x}", "--no-jit", "--no-graphs", "--sync-steps", "--cuda-driver", "libnone-such.so")


if __name__ == "__main__":
    main()
