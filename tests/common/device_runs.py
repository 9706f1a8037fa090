"""What plans for a device do from file to file, whatever its kind: a part of the tests of each target."""
import json
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
from svodc import SYMBOLIC, ToolTest, npy, run  # noqa: E402

DIGITS = ROOT / "examples/digits/digits.svod"
SAMPLES = ROOT / "examples/digits/samples.npy"


class DeviceRuns:
    """Beside ToolTest. `kind` is that of the target and of its devices, `limits` those of the usual plan and of another one."""
    kind, limits, others, environment, listed = "", ("", ""), (), None, None

    def plans(self, graph, *words):
        for target in ("cpu", self.kind):
            self.svodc("compile", graph, "-o", self.folder / target, "--target", target, *words)
        return self.folder / "cpu", self.folder / self.kind

    def execute(self, *words, code=0):
        done = run("svod-run", *words, env=self.environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def floats(self, name, count):
        """The last elements of a result."""
        return list(struct.unpack(f"<{count}f", (self.folder / "out" / f"{name}.npy").read_bytes()[-4 * count:]))

    def numbers(self, *dims):
        count = 1
        for dim in dims:
            count *= dim
        return f"x={npy(self.folder / 'x.npy', '<f4', list(dims), struct.pack(f'<{count}f', *range(count)))}"

    def test_digits_are_read(self):
        cpu, plan = self.plans(DIGITS)
        self.execute(cpu, "-i", f"image={SAMPLES}", "--output-dir", self.folder / "out")
        done = self.execute(plan, "-i", f"image={SAMPLES}", "--reference", self.folder / "out", "--profile", "--repeat", "3")
        self.assertIn("kernel", done.stdout)
        explained = self.execute(plan, "--explain").stdout
        self.assertIn(f"{self.kind}:0", explained)
        self.assertRegex(explained, rf"runs \d+ kernels for {self.limits[0]}")

    def test_sizes_change_from_run_to_run(self):
        _, plan = self.plans(self.graph(SYMBOLIC))
        for n in (1, 3, 64):
            self.execute(plan, "-i", self.numbers(n, 8), "--output-dir", self.folder / "out")
            self.assertEqual(self.floats("z", 8 * n), [2.0 * i for i in range(8 * n)])

    def test_states_stay_on_the_device(self):
        graph = self.graph("svod 1\ninput x: f32[8]\nstate s: f32[8]\nnext = s + copy(x, device=gpu)\nassign s = next\noutput y = copy(next, device=cpu)\n")
        plan = self.folder / "plan"
        self.svodc("compile", graph, "-o", plan, "--device", f"gpu={self.kind}:{self.limits[1]}")
        self.execute(plan, "-i", self.numbers(8), "--repeat", "3", "--output-dir", self.folder / "out")
        self.assertEqual(self.floats("y", 8), [3.0 * i for i in range(8)])

    def test_two_devices_of_a_plan_may_be_one_of_the_machine(self):
        graph = self.graph("svod 1\ninput x: f32[8]\na = copy(x, device=one) * 3\nb = copy(a, device=two) + 1\noutput y = copy(b, device=cpu) * 2\n")
        plan = self.folder / "plan"
        self.svodc("compile", graph, "-o", plan, "--device", f"one={self.kind}", "--device", f"two={self.kind}")
        self.execute(plan, "-i", self.numbers(8), "--device", "one=0", "--device", "two=0", "--repeat", "3", "--output-dir", self.folder / "out")
        self.assertEqual(self.floats("y", 8), [6.0 * i + 2 for i in range(8)])

    def test_devices_are_listed(self):
        self.assertTrue(self.listed.stdout.startswith(f"{self.kind}:0, "), self.listed.stdout)
        self.assertIn("KiB", self.listed.stdout)
        self.assertIn(f"{self.kind}:0, ", self.execute("--list-devices").stdout)

    def test_a_number_that_is_not_there_is_an_error(self):
        _, plan = self.plans(self.graph(SYMBOLIC))
        name = json.loads((plan / "plan.json").read_text())["devices"][1]["name"]
        done = self.execute(plan, "-i", self.numbers(2, 8), "--device", f"{name}=99", code=77)
        self.assertIn(f"there is no device {self.kind}:99", done.stderr)
        done = self.execute(plan, "-i", self.numbers(2, 8), "--device", f"{name}=no", code=2)
        self.assertIn("--list-devices", done.stderr)

    def test_switches_of_other_kinds_are_passed_over(self):
        _, plan = self.plans(self.graph(SYMBOLIC))
        libraries = [word for flag in self.others for word in (flag, "libnone-such.so")]
        self.execute(plan, "-i", self.numbers(2, 8), "--no-jit", "--no-graphs", "--sync-steps", *libraries)
