"""Target webgpu from file to file: plans are made anywhere, and run where there is an adapter and wgpu-native."""
import json
import random
import re
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))
from device_runs import DIGITS, ROOT, SAMPLES, DeviceRuns, ToolTest, npy, run  # noqa: E402
from svodc import main  # noqa: E402

LISTED = run("svod-run", "--list-devices", "--webgpu-library", "libwgpu_native.so")
needs_adapter = unittest.skipIf(LISTED.returncode != 0, "this machine has no adapter of WebGPU; docs/webgpu.md says what brings one")
DOUBLES = """svod 1
input a: f64[64]
input b: f64[64]
input i: i64[64]
output add = a + b
output sub = a - b
output mul = a * b
output least = min(a, b)
output less = lt(a, b)
output same = eq(a, b)
output float = cast(a, dtype=f32)
output half = cast(b, dtype=f16)
output int = cast(clip(b, min=-1e9, max=1e9), dtype=i32)
output long = cast(i, dtype=f64)
output back = cast(cast(a, dtype=f32), dtype=f64)
output total = sum(a)
"""
INTEGERS = """svod 1
input a: DTYPE[64]
input b: DTYPE[64]
input f: f32[64]
output add = a + b
output sub = a - b
output mul = a * b
output div = floordiv(a, b)
output rest = floormod(a, b)
output less = lt(a, b)
output most = max(a, b)
output same = eq(a, b)
output bits = xor(a, and(a, b))
output left = shl(a, cast(abs(f), dtype=DTYPE))
output right = shr(a, cast(abs(f), dtype=DTYPE))
output float = cast(a, dtype=f32)
output int = cast(f * 1e6, dtype=DTYPE)
output total = sum(a)
"""


class Compile(ToolTest):
    def test_a_plan_needs_no_adapter(self):
        plan = self.folder / "plan"
        self.svodc("compile", DIGITS, "-o", plan, "--target", "webgpu")
        self.assertGreater(len(list(plan.glob("*.default.wgsl"))), 4)
        for file in plan.glob("*.wgsl"):
            self.assertRegex(file.read_text(), r"@compute @workgroup_size\(\d+, \d+, \d+\)\nfn main\(")
        seen = json.loads(run("svodc", "inspect", plan, "--json").stdout)
        self.assertEqual((seen["architectures"][0]["arch"], seen["architectures"][0]["driver"]), ("webgpu:default", 1))

    def test_limits_are_kept(self):
        for limits, threads, shared in (("default", 256, 16 << 10), ("large", 1024, 32 << 10)):
            for dtype in ("f32", "f16", "i8"):
                graph = self.graph(f"svod 1\ninput a: {dtype}[256, 512]\ninput b: {dtype}[512, 256]\nc = matmul(a, b)\noutput s = softmax(cast(c, dtype=f32), axis=1)\n")
                plan = self.folder / (limits + dtype)
                self.svodc("compile", graph, "-o", plan, "--target", "webgpu", "--cpu", limits)
                kernels = json.loads((plan / "plan.json").read_text())["kernels"]
                self.assertTrue(kernels)
                for kernel in kernels:
                    x, y, z = kernel["grid"]["threads"]
                    self.assertLessEqual(x * y * z, threads)
                    self.assertLessEqual(kernel["grid"].get("sharedBytes", 0), shared)
        self.fails(2, "compile", DIGITS, "-o", self.folder / "p", "--target", "webgpu", "--cpu", "larg", says=["'larg'", "large"])

    def test_what_wgsl_lacks_is_refused(self):
        for op, value in (("fdiv", "x / (x + 3)"), ("sqrt", "sqrt(x)"), ("mulacc", "x * x + x"), ("mulacc", "sin(x)")):
            doubles = self.graph(f"svod 1\ninput x: f64[64]\noutput a = {value}\n")
            self.fails(3, "compile", doubles, "-o", self.folder / "p", "--target", "webgpu", says=[f"computes {op} of f64, which WGSL does not have"])
        self.fails(3, "compile", DIGITS, "-o", self.folder / "p", "--target", "webgpu", "--numerics", "strict", says=["is strict, and WGSL promises neither"])

    def test_many_workgroups_are_folded(self):
        for elements, folds in ((1 << 20, False), (1 << 27, True)):
            plan = self.folder / str(elements)
            self.svodc("compile", self.graph(f"svod 1\ninput x: u8[{elements}]\noutput y = x + 1\n"), "-o", plan, "--target", "webgpu", "--opts", "y=local(n0,64) global(n0)")
            kernel, = json.loads((plan / "plan.json").read_text())["kernels"]
            text = next(plan.glob("*.wgsl")).read_text()
            self.assertEqual("folded" in [a["name"] for a in kernel["grid"]["attributes"]], folds, kernel)
            self.assertEqual("svod_x >=" in text, folds)

    def test_kernels_are_written_as_files(self):
        files = self.folder / "kernels"
        self.svodc("compile", DIGITS, "--target", "webgpu", "--emit", f"wgsl={files}")
        self.assertGreater(len(list(files.glob("*.default.wgsl"))), 4)

    def test_an_unknown_library_is_an_error(self):
        plan = self.folder / "plan"
        self.svodc("compile", DIGITS, "-o", plan, "--target", "webgpu")
        done = run("svod-run", plan, "-i", f"image={SAMPLES}", "--webgpu-library", "libnone-such.so")
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("there is no WebGPU: libnone-such.so", done.stderr)
        self.assertIn("--webgpu-library", done.stderr)
        done = run("svod-run", "--list-devices", "--webgpu-library", "libnone-such.so")
        self.assertEqual(done.returncode, 77, done.stderr)
        done = run("svod-run", "--list-devices", "--webgpu-library", "libm.so.6")
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("no function wgpuGetVersion", done.stderr)


@needs_adapter
class Run(DeviceRuns, ToolTest):
    kind, limits, listed = "webgpu", ("default", "large"), LISTED
    others = ("--cuda-driver", "--opencl-loader")

    def test_integers_of_64_bits_are_exact(self):
        draw = random.Random(3)
        edges = [0, 1, -1, 2, -2, 7, 255, 65536, 2**31 - 1, -2**31, 2**32, -2**32 - 1, 2**53 + 1, 2**62, 2**63 - 1, -2**63]
        numbers = edges + [draw.getrandbits(64) - 2**63 for _ in range(16)] + [draw.randrange(-99999, 99999) for _ in range(32)]
        others = numbers[:]
        draw.shuffle(others)
        for dtype, code, wrap in (("i64", "q", 0), ("u64", "Q", 2**64)):
            a, b = ([x % wrap if wrap else x for x in row] for row in (numbers, others))
            inputs = [npy(self.folder / f"{name}.npy", f"<{'u' if wrap else 'i'}8", [64], struct.pack(f"<64{code}", *row)) for name, row in (("a", a), ("b", b))]
            f = npy(self.folder / "f.npy", "<f4", [64], struct.pack("<64f", *range(64)))
            words = [w for name, path in (("a", inputs[0]), ("b", inputs[1]), ("f", f)) for w in ("-i", f"{name}={path}")]
            cpu, plan = self.plans(self.graph(INTEGERS.replace("DTYPE", dtype)))
            out = self.folder / f"out{dtype}"
            self.execute(cpu, *words, "--output-dir", out)
            self.execute(plan, *words, "--reference", out, "--rtol", "0", "--atol", "0")

    def test_doubles_are_rounded_once(self):
        draw = random.Random(5)
        edges = [0.0, -0.0, 1.0, -1.0, 1.5, 2.0**53 + 1, 1e308, -1e308, 1e-300, 2.0**-149, 3e38, -3.5e38, 65504.0, 0.1, float("inf"), float("nan")]
        numbers = edges + [draw.uniform(-1, 1) * 2.0**draw.randrange(-60, 60) for _ in range(48)]
        others = edges[::-1] + [x + draw.choice((0.0, x * 2.0**-52, -x, x / 3)) for x in numbers[16:]]
        longs = [draw.getrandbits(64) - 2**63 for _ in range(64)]
        rows = {"a": ("<f8", "<64d", numbers), "b": ("<f8", "<64d", others), "i": ("<i8", "<64q", longs)}
        words = [w for name, (dtype, code, row) in rows.items() for w in ("-i", f"{name}={npy(self.folder / f'{name}.npy', dtype, [64], struct.pack(code, *row))}")]
        cpu, plan = self.plans(self.graph(DOUBLES))
        self.execute(cpu, *words, "--output-dir", self.folder / "out")
        self.execute(plan, *words, "--reference", self.folder / "out", "--rtol", "1e-15", "--atol", "0")

    def test_fourier_transforms(self):
        text = (ROOT / "tests/e2e/ops/fourier.svod").read_text()
        cpu, plan = self.plans(self.graph(re.sub(r"\bf64\b", "f32", text)))
        self.execute(cpu, "--random", "--output-dir", self.folder / "out")
        self.execute(plan, "--random", "--reference", self.folder / "out", "--atol", "1e-5")

    def test_folded_workgroups_reach_every_element(self):
        count = 65535 * 2 + 77
        graph = self.graph(f"svod 1\nvar n in [1, {count}]\ninput x: i32[n]\noutput y = x * 3\n")
        plan = self.folder / "plan"
        self.svodc("compile", graph, "-o", plan, "--target", "webgpu", "--opts", "y=global(n0)")
        for n in (5, 65535, 65536, count):
            x = npy(self.folder / "x.npy", "<i4", [n], struct.pack(f"<{n}i", *range(n)))
            self.execute(plan, "-i", f"x={x}", "--output-dir", self.folder / "out")
            got = struct.unpack(f"<{n}i", (self.folder / "out/y.npy").read_bytes()[-4 * n:])
            self.assertEqual(got[:9] + got[-9:], tuple(3 * i for i in (*range(n)[:9], *range(n)[-9:])))
            self.assertEqual(sum(got), 3 * n * (n - 1) // 2)


if __name__ == "__main__":
    main()
