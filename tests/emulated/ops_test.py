"""Every op of graph files, compiled as workgroups of threads and run on an emulated device, from file to file."""
import json
import random
import struct
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
from svodc import ToolTest, main, npy, run  # noqa: E402

GRAPHS = sorted((ROOT / "tests/e2e/ops").glob("*.svod"))
# Of a dtype: what .npy calls it, and how struct packs an item.
ITEMS = {"f32": ("<f4", "f"), "f64": ("<f8", "d"), "f16": ("<f2", "e"), "bool": ("|b1", "?"), "i8": ("|i1", "b"),
         "u8": ("|u1", "B"), "i16": ("<i2", "h"), "u16": ("<u2", "H"), "i32": ("<i4", "i"), "u32": ("<u4", "I"),
         "i64": ("<i8", "q"), "u64": ("<u8", "Q")}


class Ops(ToolTest):
    def inputs(self, plan):
        """--input NAME=FILE for every input: random, of the greatest sizes, with some values equal."""
        draw = random.Random(7)
        words = []
        described = json.loads(run("svodc", "inspect", plan, "--memory", "--json").stdout)
        buffers = {b["name"]: b for b in described["memory"]["buffers"] if b["place"] == "input"}
        for name, buffer in buffers.items():
            dtype, _, dims = buffer["type"].rstrip("]").partition("[")
            shape = [int(d) for d in dims.split(",") if d]
            count = 1
            for d in shape:
                count *= d
            if dtype not in ITEMS:  # an item for each element, whatever memory packs
                descr, size = ("<u2", 2) if dtype == "bf16" else ("|i1" if dtype[0] == "i" else "|u1", 1)
                words += ["--input", f"{name}={npy(self.folder / f'{name}.npy', descr, shape, bytes(count * size))}"]
                continue
            descr, code = ITEMS[dtype]
            if dtype[0] == "f":
                values = [draw.randint(-128, 128) / 64 for _ in range(count)]
            else:
                values = [draw.randint(0, 1 if dtype == "bool" else 3) for _ in range(count)]
            data = struct.pack(f"<{count}{code}", *values)
            words += ["--input", f"{name}={npy(self.folder / f'{name}.npy', descr, shape, data)}"]
        return words

    def compiled(self, graph, target, *words):
        plan = self.folder / f"{graph.stem}.{target}"
        self.svodc("compile", graph, "-o", plan, "--target", target, *words)
        return plan

    def check(self, graph, level):
        expected = self.compiled(graph, "cpu", f"-O{level}")
        plan = self.compiled(graph, "emulated", f"-O{level}")
        words = self.inputs(expected)
        done = run("svod-run", expected, *words, "--output-dir", self.folder / "expected")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run("../tests/svod-run-emulated", plan, *words, "--reference", self.folder / "expected",
                   "--rtol", "1e-3", "--atol", "1e-3", "--threads", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_op_of_graph_files(self):
        self.assertGreater(len(GRAPHS), 7)
        for graph in GRAPHS:
            for level in (0, 1):
                with self.subTest(graph=graph.name, level=level):
                    self.check(graph, level)

    def test_the_host_is_no_such_device(self):
        plan = self.compiled(self.graph(), "emulated")
        x = npy(self.folder / "x.npy", "<f4", [4, 8], bytes(128))
        y = npy(self.folder / "y.npy", "<f4", [8, 5], bytes(160))
        done = run("svod-run", plan, "-i", f"x={x}", "-i", f"y={y}")
        self.assertEqual(done.returncode, 77)
        self.assertIn("kind 'emulated'", done.stderr)
        done = run("../tests/svod-run-emulated", plan, "-i", f"x={x}", "-i", f"y={y}")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_one_plan_for_a_processor_and_such_a_device(self):
        text = "svod 1\ninput x: f32[6, 8]\nfar = softmax(copy(x, device=far), axis=1)\noutput y = relu(x) + copy(far, device=cpu)\n"
        graph = self.graph(text)
        plan, alone = self.folder / "both", self.folder / "alone"
        self.svodc("compile", graph, "-o", plan, "--device", "far=emulated:small")
        self.svodc("compile", graph, "-o", alone, "--device", "far")
        self.assertLess({"plan.json", "kernels.so"}, {f.name for f in plan.iterdir()})
        self.assertTrue(all(f.suffix == ".uop" for f in plan.iterdir() if f.name not in ("plan.json", "kernels.so")))
        self.assertIn("emulated:small", run("svodc", "inspect", plan).stdout)
        words = self.inputs(plan)
        done = run("svod-run", plan, *words)
        self.assertEqual(done.returncode, 77, done.stderr)
        done = run("svod-run", alone, *words, "--output-dir", self.folder / "expected")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run("../tests/svod-run-emulated", plan, *words, "--reference", self.folder / "expected", "--rtol", "1e-4")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.fails(2, "compile", graph, "-o", alone, "--device", "far=emulated:vast", says="vast")
        self.fails(2, "compile", graph, "-o", alone, "--device", "far=c", says=["of kind cpu", "one target for each kind of device"])

    def test_functions_of_c_files_run_on_the_host(self):
        (self.folder / "f.c").write_text("void twice(float *y, const float *x) { for (int i = 0; i < 8; i++) y[i] = 2 * x[i]; }\n")
        call = 'custom({}, source="f.c", function=twice, shape=[8])'
        x = npy(self.folder / "x.npy", "<f4", [8], struct.pack("<8f", *range(8)))
        plan = self.folder / "plan"
        for name, text in (
                ("without a kernel on the host", "y = " + call.format("copy(x, device=far) + 1") + "\nback = copy(y, device=far) * 3\noutput z = copy(back, device=cpu)\n"),
                ("with one", "y = " + call.format("copy(x, device=far) + 1") + "\noutput z = y * 3\n")):
            for words in (["--device", "far=emulated"], ["--target", "emulated", "--device", "far", "--device", "near=cpu"]):
                with self.subTest(name, words=words):
                    self.svodc("compile", self.graph("svod 1\ninput x: f32[8]\n" + text), "-o", plan, *words)
                    self.assertEqual({f.name if f.suffix != ".uop" else "uop" for f in plan.iterdir()}, {"plan.json", "kernels.so", "uop"})
                    done = run("../tests/svod-run-emulated", plan, "-i", f"x={x}", "--output-dir", self.folder / "out", "--threads", "2")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    got = struct.unpack("<8f", (self.folder / "out/z.npy").read_bytes()[-32:])
                    self.assertEqual(list(got), [6.0 * (i + 1) for i in range(8)])
        self.fails(3, "compile", self.graph("svod 1\ninput x: f32[8]\noutput y = " + call.format("x") + "\n"), "-o", plan, "--target", "emulated",
                   says="functions of C files are for processors")

    def test_inspect_shows_grids_and_images(self):
        plan = self.compiled(self.graph(), "emulated")
        seen = json.loads(run("svodc", "inspect", plan, "--kernels", "--json").stdout)
        kernel = seen["kernels"]["details"][0]
        self.assertIn("groups", kernel)
        self.assertEqual(kernel["images"][0]["path"], kernel["name"] + ".uop")
        seen = json.loads(run("svodc", "inspect", plan, "--json").stdout)
        self.assertEqual((seen["architectures"][0]["arch"], seen["architectures"][0]["driver"]), ("emulated:small", 1))


if __name__ == "__main__":
    main()
