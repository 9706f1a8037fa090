"""svodc with an ONNX model: what it notes; convert: text, weights beside it, and the plan they give."""
import json
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))
from svodc import ROOT, ToolTest, contents, main, npy, run  # noqa: E402


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, dims, data):
    """f32"""
    return b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name) + field(9, data)


def value(name, dims, kind=1):
    """f32, or another kind of element."""
    shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def node(op, inputs, output):
    return b"".join(field(1, i) for i in inputs) + field(2, output) + field(4, op)


def file(graph):
    """A model of opset 17."""
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


def reshaping():
    """y = reshape(x, s), where s comes from the run and y is declared."""
    graph = field(1, node("Reshape", ["x", "s"], "y")) + field(2, "net")
    graph += field(11, value("x", [6])) + field(11, value("s", [2], 7)) + field(12, value("y", [2, 3]))
    return file(graph)


def model(weights):
    """y = relu(x w + b), of opset 17."""
    graph = field(1, node("MatMul", ["x", "w"], "/fc/MatMul_0")) + field(1, node("Add", ["/fc/MatMul_0", "b"], "sum"))
    graph += field(1, node("Relu", ["sum"], "y")) + field(2, "net")
    graph += field(5, tensor("w", [8, 5], weights)) + field(5, tensor("b", [5], weights[:20]))
    graph += field(11, value("x", ["n", 8])) + field(12, value("y", ["n", 5]))
    return file(graph)


class ModelTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "net.onnx"
        self.model.write_bytes(model(bytes(range(160))))


class Notes(ModelTest):
    def test_free_dims(self):
        plan = self.folder / "plan"
        for words in (["compile", self.model, "-o", plan], ["check", self.model], ["inspect", self.model, "--kernels"]):
            said = self.svodc(*words).stderr
            self.assertIn("net.onnx: note: the size of 'n' may be 1 to 1048576 in a run", said)
            self.assertIn("--var n=LO:HI", said)
            self.assertIn("--shape x=", said)
        said = self.svodc("convert", self.model, "-o", self.folder / "net.svod").stderr
        self.assertIn("net.onnx: note: the size of 'n' may be 1 to 1048576 in a run", said)
        for given in ("--var=n=1:512", "--var=n=4", "--shape=x=4x8"):
            self.assertEqual(self.svodc("compile", self.model, "-o", plan, given).stderr, "")

    def test_notes_for_programs(self):
        done = self.svodc("check", self.model, "--json", "--diagnostics", "json")
        self.assertTrue(json.loads(done.stdout)["ok"])
        self.assertEqual(json.loads(done.stderr)["severity"], "note")


class Stretched(ToolTest):
    """y = x + z over rows that a plan takes to be as many, where a run has one row of z."""

    def runs_with(self, plan, code, rows, says):
        for name, count in rows.items():
            npy(self.folder / f"{name}.npy", "<f4", [count, 3], bytes(12 * count))
        inputs = [f"--input={name}={self.folder / (name + '.npy')}" for name in rows]
        done = run("svod-run", plan, *inputs)
        self.assertEqual(done.returncode, code, done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)

    def test_the_flag_that_stretches_is_named(self):
        model, plan = self.folder / "net.onnx", self.folder / "plan"
        graph = field(1, node("Add", ["x", "z"], "y")) + field(2, "net") + field(12, value("y", ["r", 3]))
        model.write_bytes(file(graph + field(11, value("x", ["n", 3])) + field(11, value("z", ["m", 3]))))
        self.svodc("compile", model, "-o", plan)
        self.runs_with(plan, 1, {"x": 4, "z": 1}, ["[bind-mismatch]", "compile it with --shape z=1x3"])
        self.runs_with(plan, 1, {"x": 1, "z": 4}, ["compile it with --shape x=1x3"])
        self.svodc("compile", model, "-o", plan, "--shape", "z=1x3")
        self.runs_with(plan, 0, {"x": 4, "z": 1}, [])


class Names(ModelTest):
    def test_models_are_told_by_their_names(self):
        shouted = self.folder / "NET.ONNX"
        shouted.write_bytes(self.model.read_bytes())
        self.svodc("check", shouted)
        self.svodc("convert", shouted, "-o", self.folder / "net.svod")
        other = self.folder / "net.pb"
        other.write_bytes(self.model.read_bytes())
        for command in ("check", "compile", "inspect"):
            words = [command, other] + (["-o", self.folder / "plan"] if command == "compile" else [])
            self.fails(1, *words, says=["net.pb:1:1: error: this is binary data", "ends in .onnx"])
        self.fails(1, "convert", other, "-o", self.folder / "net.json", says="this is binary data")
        with open(other, "r+b") as large:
            large.truncate(65 << 20)
        self.fails(1, "check", other, says=["a graph file at most 2^26 [too-large]", "ends in .onnx"])
        self.fails(1, "check", "-", says=["stdin:1:1: error: this is binary data", "ends in .onnx"], stdin="\x08\x08\x3a")

    def test_empty_files(self):
        for name in ("empty.onnx", "empty.svod"):
            path = self.folder / name
            path.write_bytes(b"")
            self.fails(1, "check", path, says="is empty")


class Sizes(ToolTest):
    """Sizes that no flag bounds: a plan takes what its ops ask for, and the images and sounds that are in use."""

    def run_of(self, op, dims, weight_dims, weights, shape, data):
        graph = field(1, node(op, ["x", "w"], "y")) + field(2, "net") + field(5, tensor("w", weight_dims, weights))
        graph += field(11, value("x", dims)) + field(12, value("y", [f"y.{axis}" for axis in range(len(shape))]))
        (self.folder / "m.onnx").write_bytes(file(graph))
        self.svodc("compile", self.folder / "m.onnx", "-o", self.folder / "plan")
        npy(self.folder / "x.npy", "<f4", shape, struct.pack(f"<{len(data)}f", *data))
        done = run("svod-run", "plan", "-i", "x=x.npy", "-o", "y=y.npy", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        out = (self.folder / "y.npy").read_bytes()
        out = out[10 + int.from_bytes(out[8:10], "little"):]
        return list(struct.unpack(f"<{len(out) // 4}f", out))

    def test_a_product_of_600_terms(self):
        x, w = [j % 7 for j in range(2 * 600)], [j % 5 for j in range(600 * 3)]
        y = self.run_of("MatMul", ["n", "k"], [600, 3], struct.pack("<1800f", *w), (2, 600), x)
        self.assertEqual(y, [sum(x[600 * n + k] * w[3 * k + m] for k in range(600)) for n in range(2) for m in range(3)])

    def test_an_image_of_736_by_480(self):
        x = [(7 * r + 3 * c) % 11 for r in range(736) for c in range(480)]
        y = self.run_of("Conv", ["n", 1, "h", "w"], [1, 1, 3, 3], struct.pack("<9f", *[1] * 9), (1, 1, 736, 480), x)
        lines = [[sum(x[480 * r + c:480 * r + c + 3]) for c in range(478)] for r in range(736)]
        self.assertEqual(y, [lines[r][c] + lines[r + 1][c] + lines[r + 2][c] for r in range(734) for c in range(478)])

    def test_a_second_of_sound_at_16_khz(self):
        x = [j * j % 13 for j in range(16000)]
        y = self.run_of("Conv", ["n", 1, "t"], [1, 1, 400], struct.pack("<400f", *[1] * 400), (1, 1, 16000), x)
        self.assertEqual(y, [sum(x[t:t + 400]) for t in range(16000 - 399)])


class References(ToolTest):
    """A size that only the run knows: NonZero of [[1, 0, 2], [0, 3, 0]] has three columns of at most six."""

    def setUp(self):
        super().setUp()
        graph = field(1, node("NonZero", ["x"], "at")) + field(11, value("x", [2, 3]))
        graph += field(12, field(1, "at") + field(2, field(1, field(1, 7))))
        (self.folder / "m.onnx").write_bytes(file(graph))
        self.svodc("compile", self.folder / "m.onnx", "-o", self.folder / "plan")
        npy(self.folder / "x.npy", "<f4", (2, 3), struct.pack("<6f", 1, 0, 2, 0, 3, 0))
        (self.folder / "ref").mkdir()

    def compare(self, code, columns, *words):
        flat = [column[axis] for axis in range(2) for column in columns]
        npy(self.folder / "ref/at.npy", "<i8", (2, len(columns)), struct.pack(f"<{len(flat)}q", *flat))
        done = run("svod-run", "plan", "-i", "x=x.npy", "--reference", "ref", *words, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_the_length_is_that_of_the_reference(self):
        good = [(0, 0), (0, 2), (1, 1)]
        self.assertRegex(self.compare(0, good, "--output-dir", "out").stdout,
                         r"^output +elements +abs error +rel error\nat +6 +0 +0\nat\.length +2 +0 +0\n$")
        outputs = json.loads(self.compare(0, good, "--json").stdout)["outputs"]
        self.assertEqual([o["reference"]["elements"] for o in outputs], [6, 2])
        self.assertIn("i64 (2, 3), the reference 'ref/at.npy' is i64 (2, 2)", self.compare(4, good[:2]).stderr)
        self.assertIn("at [1, 2]: got 1, reference 2", self.compare(4, good[:2] + [(1, 2)]).stderr)

    def test_a_length_in_a_file_counts(self):
        npy(self.folder / "ref/at.length.npy", "<i8", (2,), struct.pack("<2q", 2, 4))
        self.assertIn("output 'at.length' differs from 'ref/at.length.npy' at [1]: got 3, reference 4",
                      self.compare(4, [(0, 0), (0, 2), (1, 1)]).stderr)
class ShapesOfTheRun(ToolTest):
    def test_a_run_that_contradicts_the_plan(self):
        model, plan, out = self.folder / "net.onnx", self.folder / "plan", self.folder / "y.npy"
        model.write_bytes(reshaping())
        self.svodc("compile", model, "-o", plan, "--verify")
        x = npy(self.folder / "x.npy", "<f4", (6,), struct.pack("<6f", *range(6)))
        for given, code in (([2, 3], 0), ([-1, 3], 0), ([3, 2], 1), ([-1, -1], 1)):
            s = npy(self.folder / "s.npy", "<i8", (2,), struct.pack("<2q", *given))
            done = run("svod-run", plan, "-i", f"x={x}", "-i", f"s={s}", "-o", f"y={out}", "--threads", "2")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(out.exists(), code == 0)
            out.unlink(missing_ok=True)
        for part in ("Reshape", "operand 1 (shape) from 's'", "of 'y'", "the run gives [-1, -1]", "the plan is for [2, 3]",
                     "[input-mismatch]", "--const"):
            self.assertIn(part, done.stderr)
        text = self.folder / "net.svod"
        self.svodc("convert", model, "-o", text)
        self.assertIn("expect(", text.read_text())
        for graph in (text, self.folder / "net.json"):
            self.svodc("convert", text, "-o", self.folder / "net.json")
            self.svodc("compile", graph, "-o", self.folder / "again")
            self.assertEqual(contents(plan), contents(self.folder / "again"))


class Convert(ModelTest):
    def test_text_weights_and_plan(self):
        text = self.folder / "net.svod"
        self.svodc("convert", self.model, "-o", text)
        self.assertTrue(text.read_text().endswith(
            'weight w: f32[8, 5] = "net.safetensors:w"\n'
            'weight b: f32[5] = [3.8204714e-37, 1.0082514e-34, 2.6584628e-32, 7.003653e-30, 1.8436203e-27]\n'
            "fc.MatMul_0 = matmul(x, w)\nsum = fc.MatMul_0 + b\noutput y = relu(sum)\n"), text.read_text())
        self.assertTrue((self.folder / "net.safetensors").exists())
        self.svodc("convert", text, "-o", self.folder / "net.json")
        plans = []
        for graph in (self.model, text, self.folder / "net.json"):
            self.svodc("compile", graph, "-o", self.folder / "plan")
            plans.append(contents(self.folder / "plan"))
        self.assertEqual(plans[0], plans[1])
        self.assertEqual(plans[0], plans[2])

    def test_the_same_bytes_every_time(self):
        self.svodc("convert", self.model, "-o", self.folder / "net.svod")
        first = contents(self.folder)
        self.svodc("convert", self.model, "-o", self.folder / "net.svod")
        self.assertEqual(first, contents(self.folder))
        self.svodc("convert", "net.onnx", "-o", "net.json", cwd=self.folder)
        again = contents(self.folder)
        self.assertEqual(first["net.safetensors"], again["net.safetensors"])

    def test_options_of_models(self):
        text = self.folder / "net.svod"
        self.svodc("convert", self.model, "-o", text, "--var", "n=4")
        self.assertIn("input x: f32[4, 8]\n", text.read_text())
        self.svodc("convert", self.model, "-o", text, "--shape", "x=3x8")
        self.assertIn("input x: f32[3, 8]\n", text.read_text())
        self.fails(1, "convert", self.model, "-o", text, "--var", "m=4", says="m")

    def refused(self, code, *words, says):
        before = contents(self.folder)
        self.fails(code, "convert", *words, says=says)
        self.assertEqual(before, contents(self.folder))

    def test_both_files_or_none(self):
        other = self.folder / "mine.safetensors"
        other.write_bytes(b"not to be lost")
        self.refused(74, self.model, "-o", self.folder / "mine.svod", says="mine.safetensors")
        (self.folder / "taken.svod").mkdir()
        self.refused(74, self.model, "-o", self.folder / "taken.svod", says="taken.svod")
        (self.folder / "half.safetensors").mkdir()
        self.refused(74, self.model, "-o", self.folder / "half.svod", says="half.safetensors")
        self.refused(74, self.model, "-o", self.folder / "no/such.svod", says="no/such")
        self.refused(2, self.model, "-o", "-", says="beside the graph")
        self.refused(2, self.model, "-o", self.folder / "net.txt", says=".svod for text")
        self.refused(74, self.folder / "absent.onnx", "-o", self.folder / "absent.svod", says="absent.onnx")
        broken = self.folder / "broken.onnx"
        broken.write_bytes(self.model.read_bytes()[:-60])
        self.refused(1, broken, "-o", self.folder / "broken.svod", says="broken.onnx")

    def test_the_corpus(self):
        models = sorted((ROOT / "tests/onnx/corpus/onnx").glob("*.onnx"))
        self.assertTrue(models)
        for path in models:
            with self.subTest(model=path.name):
                text = self.folder / (path.stem + ".svod")
                self.svodc("convert", path, "-o", text)
                self.svodc("compile", path, "-o", self.folder / "direct")
                self.svodc("compile", text, "-o", self.folder / "plan")
                self.assertEqual(contents(self.folder / "direct"), contents(self.folder / "plan"))


if __name__ == "__main__":
    main()
