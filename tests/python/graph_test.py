"""svod.Graph and svod.trace: graphs that a program builds are those of files, and compute what numpy computes."""
import importlib.util
import inspect
import json
import os
import re
import subprocess
import unittest

from package import BIN, FOLDER, ROOT, Case, each_case, svod  # first: it skips where numpy is not there
import numpy

from svod import ops

import make_tables

os.environ.update(SVOD_CACHE_DIR=str(FOLDER / "cache"), PATH=f"{BIN}:{os.environ['PATH']}")
VALUES = ROOT / "tests/frontend/values"
BY_HAND = ("functions.svod", "state.svod", "subscripts.svod")  # of statements and indices, which tests below build
OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floordiv", "%": "floormod", "@": "matmul"}
rng = numpy.random.default_rng(3)


def floats(*shape):
    return rng.standard_normal(shape).astype(numpy.float32)


class File:
    """A graph file, built again by functions of svod.ops."""

    def __init__(self, path):
        self.graph, self.named = svod.Graph(path.stem), {}
        self.seen = set()
        with self.graph:
            for statement in statements_of(path):
                self.add(statement)

    def add(self, statement):
        name = statement.get("var") or statement.get("input") or statement.get("weight")
        if "var" in statement:
            self.named[name] = self.graph.var(name, statement["min"], statement["max"])
        elif name is not None:
            shape = [self.named.get(each, each) for each in statement["shape"]]
            self.named[name] = self.graph.input(name, statement["dtype"], shape)  # the data has no say here
        else:
            kind = "let" if "let" in statement else "output"
            names = statement[kind] if isinstance(statement[kind], list) else [statement[kind]]
            value = self.named[names[0]] if "op" not in statement and "value" not in statement else self.value(statement)
            if kind == "output":
                self.graph.output(names[0], value)
                return
            for name, each in zip(names, value if isinstance(value, tuple) else (value,)):
                self.named[name] = each

    def value(self, each):
        if isinstance(each, dict) and "float" in each:
            return float(each["float"])
        if isinstance(each, dict) and "string" in each:
            return each["string"]
        if isinstance(each, list):
            return [self.value(inner) for inner in each]
        if isinstance(each, str):
            return self.named.get(each, each)
        if not isinstance(each, dict):
            return each
        if "value" in each:
            return self.value(each["value"])
        operands, named = [self.value(inner) for inner in each.get("args", [])], {make_tables.python_name(key): self.value(inner)
                                                                                 for key, inner in each.get("attrs", {}).items()}
        if isinstance(each["op"], list) or (each["op"] in OPERATORS and all(isinstance(o, (int, svod.Size)) for o in operands)):
            signs, result = each["op"] if isinstance(each["op"], list) else [each["op"]] * (len(operands) - 1), operands[0]
            for sign, operand in zip(signs, operands[1:]):
                result = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
                          "//": lambda a, b: a // b, "%": lambda a, b: a % b}[sign](result, operand)
            return result
        name = "neg" if each["op"] == "-" and len(operands) == 1 else OPERATORS.get(each["op"], each["op"])
        self.seen.add(name)
        return getattr(ops, make_tables.python_name(name))(*operands, **named)


def statements_of(path):
    target = FOLDER / "converted.json"
    subprocess.run([BIN / "svodc", "convert", path, "-o", target], check=True, stdout=subprocess.DEVNULL)
    return json.loads(target.read_text())["statements"]


def written_out(path):
    """Outputs as trees of ops, without the names of values between."""
    named, outputs = {}, []

    def tree(each):
        if isinstance(each, str):
            return named.get(each, each)
        if isinstance(each, list):
            return [tree(inner) for inner in each]
        if not isinstance(each, dict) or "op" not in each:
            return tree(each["value"]) if isinstance(each, dict) and "value" in each else each
        operands = [tree(inner) for inner in each.get("args", [])]
        signs = each["op"] if isinstance(each["op"], list) else [each["op"]] * max(1, len(operands) - 1 if each["op"] in OPERATORS else 1)
        if signs == ["-"] and len(operands) == 1:
            return ["neg", operands, {}]
        if signs[0] in OPERATORS:
            result = operands[0]
            for sign, operand in zip(signs, operands[1:]):
                result = [OPERATORS[sign], [result, operand], {}]
            return result
        defaults = svod._optable.ATTRIBUTES[each["op"]]
        given = {name: tree(inner) if defaults[name][0] in ("dim", "dims") else inner for name, inner in each.get("attrs", {}).items()}
        return [each["op"], operands, {name: value for name, value in given.items() if value != defaults[name][1]}]

    for statement in statements_of(path):
        if "let" in statement:
            names = statement["let"] if isinstance(statement["let"], list) else [statement["let"]]
            for place, name in enumerate(names):
                named[name] = [place, tree(statement)] if len(names) > 1 else tree(statement)
        elif "output" in statement:
            outputs.append([statement["output"], tree(statement) if "op" in statement or "value" in statement else tree(statement["output"])])
    return outputs


class Ops(Case):
    def test_the_functions_are_those_of_the_compiler(self):
        for name, text in make_tables.written(BIN / "svodc").items():
            self.assertEqual((ROOT / "python/svod" / name).read_text(), text, "run: python3 tests/python/make_tables.py PATH-OF-SVODC")
        for name in ops.__all__:
            self.assertTrue(inspect.getdoc(getattr(ops, name)), name)

    def test_every_op_is_written_as_files_have_it(self):
        seen = set()
        for path in sorted(VALUES.glob("*.svod")):
            if path.name not in BY_HAND:
                with self.subTest(path.name):
                    file, again = File(path), FOLDER / path.name
                    file.graph.save(again)
                    self.assertEqual(written_out(again), written_out(path))
                    seen |= file.seen
        rest = {name.rstrip("_") for name in ops.__all__} - seen
        self.assertEqual(rest - self.called_below(), set())

    def called_below(self):
        return set(re.findall(r"ops\.(\w+?)_?\(", inspect.getsource(type(self).test_ops_that_no_file_of_values_has)))

    def test_ops_that_no_file_of_values_has(self):
        with svod.Graph() as graph:
            x, i, n = graph.input("x", "f32", (4, 2)), graph.input("i", "i32", (3,)), graph.var("n", 1, 8)
            parts = ops.shard(x, "a, b", axis=1)
            values = [
                ops.where(x > 0, x, 0), ops.expm1(x) + ops.log1p(x), ops.fold(x, "max", axes=0), ops.fold(x, with_="mul"), ops.index(n), ops.contiguous(x), ops.fft(x),
                ops.rfft(x), ops.irfft(x, length=n), ops.stft(x.reshape(8), length=4, step=2), ops.vector(x[0, 0], 1), ops.gather_at(x, i, 0), ops.iota(n), ops.fdiv(x, 2),
                ops.scatter_at(x, i, 1, 5.0, mode="add"), ops.at(x, positions=[1], axes=[0]), ops.custom(x, x, function="f", shape=[n, 2], values=[n], pure=True),
                ops.unshard(ops.replicate(x, devices="a, b"), device="cpu"), ops.unshard([ops.all_reduce(parts, devices="a, b")[0]]),
                ops.copy(ops.held(ops.copy(x, "a")), "cpu"), ops.unshard(ops.distribute(x, "a, b", axis=0)), ops.equal_sizes(n, 4, text="n is 4"),
                ops.expect(i[0], 3, "three")]
            for place, value in enumerate(values):
                graph.output(f"o{place}", value)
        self.assertIn('_1, _2 = shard(x, devices="a, b", axis=1)\n', str(graph))
        path = FOLDER / "rest.svod"
        graph.save(path)
        subprocess.run([BIN / "svodc", "check", path, "--device", "a", "--device", "b"], check=True, stdout=subprocess.DEVNULL)


class Graphs(Case):
    def test_declarations_and_outputs(self):
        graph = svod.Graph("affine")
        n = graph.var("n", 1, 64, likely=8)
        x = graph.input("x", numpy.float32, (n, 4))
        w = graph.weight("w", numpy.eye(4, dtype=numpy.float32) * 2)
        big = graph.weight("big", floats(4, 30))
        calls = graph.state("calls", "i32")
        graph.assign(calls, calls + 1)
        h = ops.relu(x @ w + 1).named("h")
        graph.output("y", h @ big)
        graph.output("scaled", h * graph.weight("half", 0.5, "f32", (4,)))
        graph.output("calls", calls)
        self.assertEqual(str(graph), """svod 1
var n in [1, 64] ~ 8
input x: f32[n, 4]
weight w: f32[4, 4] = [[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.0, 2.0]]
weight big: f32[4, 30] = "affine.safetensors:big"
state calls: i32
_1 = add(calls, 1)
assign calls = _1
_2 = matmul(x, w)
_3 = add(_2, 1)
h = relu(_3)
y = matmul(h, big)
output y
weight half: f32[4] = 0.5
scaled = mul(h, half)
output scaled
output calls
""")
        plan, given = svod.compile(graph), floats(3, 4)
        want = numpy.maximum(given * 2 + 1, 0)
        for count in (1, 2):
            result = plan(given)
            numpy.testing.assert_allclose(result["y"], want @ graph._weights["big"].array, rtol=1e-4, atol=1e-5)
            numpy.testing.assert_allclose(result["scaled"], want / 2, rtol=1e-5)
            self.assertEqual(int(result["calls"]), count)
        self.assertEqual(plan.name, "affine")

    def test_names_of_all_kinds(self):
        graph = svod.Graph("odd name/1")
        x = graph.input("layer/1:0", "f32", (2,))
        graph.output("a `b`\n", (x + 1).named("input"))
        graph.output("input", x)
        self.assertEqual(svod.compile(graph)(**{"layer/1:0": [1, 2]})["input"].tolist(), [1, 2])
        self.assertEqual(svod.compile(graph)([1, 2])["a `b`\n"].tolist(), [2, 3])

    def test_a_graph_with_other_weights_is_another_one(self):
        for factor in (1, 2, 1):
            graph, large = svod.Graph("large"), numpy.full((40,), factor, numpy.float32)
            graph.output("y", graph.input("x", "f32", (40,)) * graph.weight("w", large))
            self.assertEqual(svod.compile(graph)(numpy.ones(40, numpy.float32))["y"].tolist(), [factor] * 40)

    def test_lists_are_operands(self):
        graph = svod.Graph()
        x = graph.input("x", "f32", (3,))
        graph.output("sum", x + [1, 2, 3])
        graph.output("joined", ops.concat([x, [4.0, 5.0]]))
        with graph:
            graph.output("relu", ops.relu([-1.0, 2.0]))
        result = svod.compile(graph)([1, 1, 1])
        self.assertEqual([result[name].tolist() for name in ("sum", "joined", "relu")], [[2, 3, 4], [1, 1, 1, 4, 5], [0, 2]])

    def test_weights_of_every_element_type(self):
        graph = svod.Graph()
        for dtype in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"):
            array = numpy.arange(40).astype(dtype)
            graph.output(array.dtype.name, graph.weight("w" + array.dtype.name, array)[1:])
        result = svod.compile(graph)()
        for name, got in result.items():
            self.assertEqual(got.tolist(), numpy.arange(40).astype(name)[1:].tolist(), name)

    @unittest.skipUnless(importlib.util.find_spec("ml_dtypes"), "ml_dtypes is not installed")
    def test_weights_of_small_floats(self):
        import ml_dtypes
        for kind, count in ((ml_dtypes.bfloat16, 40), (ml_dtypes.float8_e4m3fn, 3), (ml_dtypes.float8_e5m2, 40)):
            graph, array = svod.Graph(), numpy.arange(count).astype(kind)
            graph.output("y", graph.weight("w", array).astype("f32"))
            self.assertEqual(svod.compile(graph)()["y"].tolist(), array.astype(numpy.float32).tolist())
            again = svod.Graph()
            again.output("y", again.weight("w", array.astype(numpy.float32), kind).astype("f32"))
            self.assertEqual(svod.compile(again)()["y"].tolist(), array.astype(numpy.float32).tolist())

    def test_parts(self):
        x = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
        keys = (0, -1, (1, 2), slice(1, None), (slice(None), slice(None, None, -1)), (..., 1), (0, ..., slice(1, 3)), None, (None, ..., None),
                (0, None), (slice(None), None, 1), (..., None, slice(None, 2)), numpy.array([1, 0, 1]), [0, 0], Ellipsis)
        graph = svod.Graph()
        value = graph.input("x", "f32", x.shape)
        for place, key in enumerate(keys):
            graph.output(f"o{place}", value[key])
        result = svod.compile(graph)(x)
        for place, key in enumerate(keys):
            numpy.testing.assert_array_equal(result[f"o{place}"], x[key], str(key))
        self.refused("a mask is", value.__getitem__, (0, value > 0))
        self.refused("a step of 0", value.__getitem__, slice(None, None, 0))

    def test_sizes(self):
        graph = svod.Graph()
        n, m = graph.var("n", 1, 8), graph.var("m", 1, 8)
        x, y = graph.input("x", "f32", (n, 3)), graph.input("y", "f32", (m,))
        joined = ops.concat([x.reshape(3 * n), y])
        graph.output("joined", joined)
        graph.output("half", joined[: joined.size(0) // 2])
        graph.output("last", x[n - 1])
        graph.output("sum", y.sum() * n + m)
        self.assertIs(x.size(0), n)
        result = svod.compile(graph)(numpy.ones((3, 3), numpy.float32), [1, 2, 3])
        self.assertEqual([list(result[name].shape) for name in ("joined", "half", "last")], [[12], [6], [3]])
        self.assertEqual(float(result["sum"]), 21)
        self.refused("known when a plan runs", range, n)
        self.refused("known when a plan runs", bool, n)

    def test_loops_and_branches(self):
        graph = svod.Graph()
        n, x = graph.var("n", 0, 20), graph.input("x", "f32", (20, 4))
        h, count = graph.temp("h", "f32", (4,)), graph.temp("count", "i32")
        rows = graph.temp("rows", "f32", (20, 4), x * 0)
        with graph.loop("t", n, while_=lambda: (h < 3).any()) as t:
            graph.assign(h, h + x[t])
            graph.assign(count, count + 1)
            with graph.branch(h.sum() > 4):
                rows[t] = h
            with graph.otherwise():
                graph.assign(rows[t], h * 0 - 1)
                inner = h + 1
        graph.output("h", h)
        graph.output("count", count)
        graph.output("rows", rows)
        self.refused("ended with the loop or branch", graph.output, "inner", inner)
        self.refused("follows no branch", graph.otherwise().__enter__)
        given, want, steps, kept = numpy.ones((20, 4), numpy.float32), numpy.zeros(4, numpy.float32), 0, numpy.zeros((20, 4))
        while steps < 10 and (want < 3).any():
            want = want + given[steps]
            kept[steps] = want if want.sum() > 4 else -1
            steps += 1
        run = svod.compile(graph).instance()
        run.variables["n"] = 10
        result = run(given)
        self.assertEqual((result["h"].tolist(), int(result["count"])), (want.tolist(), steps))
        numpy.testing.assert_array_equal(result["rows"], kept)

    def test_states_keep_what_was_read_before(self):
        graph = svod.Graph()
        x = graph.input("x", "f32", (2,))
        s = graph.state("s", "f32", (4,), [1, 2, 3, 4])
        before = s + 0
        s[1:3] = x
        graph.output("before", before)
        graph.output("after", s + 0)
        result = svod.compile(graph)([8, 9])
        self.assertEqual([result["before"].tolist(), result["after"].tolist()], [[1, 2, 3, 4], [1, 8, 9, 4]])
        self.refused("cannot be assigned", graph.assign, before, x)
        self.refused("cannot be assigned", graph.assign, x[0:1], x)

    def test_errors_say_where_the_program_is(self):
        graph = svod.Graph()
        x = graph.input("x", "f32", (2, 3))
        line = inspect.currentframe().f_lineno + 1
        graph.output("y", x @ x)
        error = self.refused("[shape-mismatch]", svod.compile, graph)
        self.assertIn(f"recorded at {__file__}:{line}", error.notes[0])
        self.assertEqual((error.file, error.line), ("graph.svod", 3))

    def test_words_that_ops_and_values_have_not(self):
        x = svod.Graph().input("x", "f32", (2, 3))
        with self.assertRaises(TypeError):
            ops.softmax(x, axes=1)
        with self.assertRaisesRegex(AttributeError, r"svod\.ops\.softmax\(value\) does that"):
            x.softmax(axis=1)
        self.assertFalse(hasattr(x, "tolist"))
        graph = svod.Graph()
        with graph.loop("t", 3), self.assertRaisesRegex(svod.SvodError, "outside of bodies"):
            graph.input("late", "f32", ())


MISTAKES = {  # what a program says, and what the error says
    "x + z": "belongs to another graph, 'other'",
    "graph.input('x', 'f32', ())": "defined twice",
    "graph.input('w', (2, 3), 'f32')": "the element type comes before the shape",
    "x.astype('float31')": "is no element type",
    "bool(x > 0)": "graph.branch",
    "len(x)": "value.size(0)",
    "iter(x)": "ops.split",
    "ops.zeros((2, 3))": "no graph to be recorded in",
    "ops.relu(numpy.ones(3))": "no graph to be recorded in",
    "x + 'a'": "'a' as an operand",
    "ops.concat(x, 'a')": "attributes are given by name",
    "ops.softmax(x, axis=1.5)": "is no int",
    "ops.sum(x, axes='0')": "give a list of ints",
    "x.reshape(2.5)": "is no size",
    "ops.elu(x, alpha='1')": "is no float",
    "(x + 1).shape": "the shape of a computed value",
    "numpy.add.reduce(x)": "cannot be recorded",
    "numpy.gcd(x, x)": "cannot be recorded",
    "graph.input('cube', 'f32', (1, 2, 3)).T": "T is for matrices",
    "[graph.output('y', x), graph.output('y', x)]": "given twice",
    "graph.output('k', 3)": "which no op computed",
    "graph.weight('w', 'w.npy')": "lies in a file",
    "graph.weight('w2', numpy.ones(2, 'f4'), shape=(3,))": "not (3,)",
    "x[x > 0]": "ops.where(mask, x, 0)",
    "numpy.einsum('ii->i', x)": "each once in an operand",
    "numpy.einsum('ij,jk->ik', x)": "2 operands, and 1 are",
    "numpy.linalg.norm(x)": "numpy.linalg.norm cannot be recorded",
    "graph.input('free', 'f32', (-1, 3))": "is a variable",
    "x + numpy.array([None, 1, 2], object)": "array of object",
    "ops.layer_norm(x, None, x)": "operand before the last",
}


@each_case(MISTAKES)
class Mistakes(Case):
    def check(self, text, says):
        graph, other = svod.Graph(), svod.Graph("other")
        x, z = graph.input("x", "f32", (2, 3)), other.input("z", "f32", (2, 3))
        names = {"graph": graph, "x": x, "z": z, "ops": ops, "numpy": numpy}
        self.refused(says, eval, text, names)


EXPRESSIONS = (
    "x + y * 2 - 1", "x / p", "p ** 2", "2 - x", "1 / p", "-x", "abs(x)", "i // 5 + i % 5", "i << 2", "(i >> 1) & 3 | 8", "~i ^ 5",
    "x @ y.T", "np.where(x > y, x, y)", "np.where((x <= 0) & ~b, 1, x)", "np.maximum(x, 0)", "np.minimum(np.sqrt(p), 1)",
    "np.exp(x) + np.log(p) + np.log1p(p)", "np.sin(x) * np.cos(y) + np.tanh(x)", "np.clip(x, -0.5, 0.5)", "x.clip(-1, 1)",
    "np.sum(x, axis=0)", "x.sum()", "x.mean(axis=1, keepdims=True)", "np.max(x, axis=-1)", "x.min(axis=(0, 1))", "np.prod(x, axis=0)",
    "x.var(axis=0)", "np.std(x, axis=1, ddof=1)", "x.argmax(axis=1)", "np.argmin(x, axis=0)", "np.cumsum(x, axis=1)", "(x > 0).any(axis=0)",
    "np.all(b, axis=1)", "np.concatenate([x, y], axis=1)", "np.stack((x, y))", "np.pad(x, ((1, 0), (0, 2)), constant_values=3)", "np.pad(x, ((1, 1), (0, 2)), mode='edge')",
    "x.reshape(4, -1)", "np.reshape(x, (2, 6))", "np.transpose(x)", "np.transpose(x, (1, 0))", "np.swapaxes(x, 0, 1)", "x[None].squeeze(0)",
    "np.expand_dims(x, 1)", "np.broadcast_to(x, (2, 3, 4))", "np.flip(x, axis=1)", "np.roll(x, 1, axis=0)", "np.tile(x, (2, 1))", "np.dot(x, y.T)",
    "np.outer(x[0], y[0])", "np.take(x, [2, 0], axis=0)", "np.split(i, 2, axis=1)[1]", "np.sort(x, axis=0)", "np.argsort(x, axis=1)", "np.triu(x)", "np.tril(x, -1)",
    "np.floor(x * 3) + np.ceil(x) + np.rint(x) + np.trunc(x)", "np.logical_and(x > 0, b)", "np.logical_not(i)", "np.isnan(x / 0 * 0)", "x.astype(np.int32)", "x.astype('f8') * 2",
    "np.round(x)", "np.square(x) + np.reciprocal(p) + np.sign(x)", "np.take_along_axis(x, i % 3, axis=0)", "x + np.float32(2) + np.ones(4, np.float32)", "y - np.arange(4, dtype=np.float32)",
    "np.einsum('ij,kj->ik', x, y)", "np.einsum('ij,jk', x, y.T)", "np.einsum('ij->ji', x)", "np.einsum('ij,ij->', x, y)", "np.einsum('i,j,ij->j', x[:, 0], y[0], x)",
    "np.zeros_like(x) + np.ones_like(i) + np.full_like(x, 2)", "x.ravel() + x.flatten() - x.copy().reshape(12)", "x.dot(y.T)", "x == y", "x != x", "np.exp(x.max(axis=1, keepdims=True) - x) * b")


@each_case({text: text for text in EXPRESSIONS})
class Numpy(Case):
    """Functions and operators of numpy in a traced function compute what they compute of arrays."""
    @classmethod
    def setUpClass(cls):
        x, y, b = floats(3, 4), floats(3, 4), floats(3, 4) > 0
        p, i = numpy.abs(x) + numpy.float32(0.5), numpy.arange(12, dtype=numpy.int32).reshape(3, 4)
        functions = {text: eval(f"lambda x, y, p, b, i: {text}", {"np": numpy}) for text in EXPRESSIONS}

        def everything(x, y, p, b, i):
            return {text: function(x, y, p, b, i) for text, function in functions.items()}

        with numpy.errstate(all="ignore"):
            cls.want, cls.got = everything(x, y, p, b, i), svod.trace(everything)(x, y, p, b, i)

    def check(self, text, _):
        got, want = self.got[text], self.want[text]
        self.assertEqual((got.shape, got.dtype.kind), (want.shape, want.dtype.kind))
        numpy.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)


class Tracing(Case):
    def test_arguments_and_results_of_all_kinds(self):
        calls = []

        @svod.trace
        def network(x, layers, *rest, scale=2, bias=None, **more):
            calls.append(scale)
            for layer in layers:
                x = numpy.maximum(x @ layer["w"] + layer["b"], 0)
            x = x * scale + sum(rest) if bias is None else x * scale + bias
            return {"y": x, "parts": [x[0], (x[1], more["k"])], "none": None, "number": 3}

        x, layers = floats(2, 4), [{"w": floats(4, 4), "b": floats(4)} for _ in range(2)]
        want = x
        for layer in layers:
            want = numpy.maximum(want @ layer["w"] + layer["b"], 0)
        result = network(x, layers, numpy.float32(1), k=x)
        numpy.testing.assert_allclose(result["y"], want * 2 + 1, rtol=1e-5)
        numpy.testing.assert_allclose(result["parts"][1][0], result["y"][1])
        self.assertEqual((result["parts"][1][1].tolist(), result["none"], int(result["number"])), (x.tolist(), None, 3))
        network(x + 1, layers, numpy.float32(2), k=x)
        self.assertEqual(calls, [2])
        network(x, layers, bias=numpy.ones(4, numpy.float32), scale=3, k=x)
        self.assertEqual(calls, [2, 3])
        self.assertEqual(list(network.plan(x, layers, k=x).inputs), ["x", "layers.0.w", "layers.0.b", "layers.1.w", "layers.1.b", "more.k"])
        self.assertIn("matmul(x, layers.0.w)", str(network.graph(x, layers, k=x)))
        self.assertEqual(network.__name__, "network")

    def test_free_sizes_are_compiled_once(self):
        weight, calls = floats(4, 3), []

        @svod.trace(shapes={"x": ("n", 4)}, sizes={"n": (1, 32)}, opt_level=0)
        def rows(x):
            calls.append(x.shape)
            return ops.softmax(x @ weight).reshape(x.shape[0] * 3)

        for n in (1, 7, 32):
            x = floats(n, 4)
            e = numpy.exp(x @ weight - (x @ weight).max(axis=1, keepdims=True))
            numpy.testing.assert_allclose(rows(x), (e / e.sum(axis=1, keepdims=True)).reshape(-1), rtol=1e-4, atol=1e-6)
        self.assertEqual(len(calls), 1)
        self.assertEqual(rows.plan(x).variables["n"].max, 32)
        with self.assertRaisesRegex(svod.SvodError, "33"):
            rows(floats(33, 4))
        self.refused("shapes= says", rows, floats(3, 5))
        self.refused("no argument 'z'", svod.trace, lambda x: x, shapes={"z": (1,)})

    def test_methods(self):
        class Model:
            def __init__(self, w):
                self.w = w

            @svod.trace
            def run(self, x):
                return x @ self.w

        first, second, x = Model(floats(4, 2)), Model(floats(4, 2)), floats(3, 4)
        for each in (first, second, first):
            numpy.testing.assert_allclose(each.run(x), x @ each.w, rtol=1e-4, atol=1e-6)

    def test_mistakes(self):
        self.refused("takes a function", svod.trace, 3)
        self.refused("returns a str", svod.trace(lambda x: "no"), floats(2))
        self.refused("neither an array nor a constant", svod.trace(lambda x, s: x), floats(2), {1, 2})
        self.refused("graph.branch", svod.trace(lambda x: x if x.sum() > 0 else -x), floats(2))
        with self.assertRaises(TypeError):
            svod.trace(lambda x: x)()
        with self.assertRaises(ZeroDivisionError):
            svod.trace(lambda x: 1 // 0)(floats(2))


class Page(unittest.TestCase):
    def test_programs_of_the_page_run(self):
        text = (ROOT / "docs/python.md").read_text()
        section = text[text.index("## Graphs from code"):text.index("## Tuning")]
        names = {"numpy": numpy, "svod": svod, "images": floats(3, 784), "first": floats(784, 16), "last": floats(16, 10)}
        blocks = re.findall(r"```python\n(.*?)```", section, re.S)
        self.assertEqual(len(blocks), 3)
        for block in blocks:
            exec(block, names)
        self.assertEqual(names["plan"](names["images"])["p"].shape, (3, 10))
        names["graph"].output("h", names["h"])
        svod.compile(names["graph"])
        numpy.testing.assert_allclose(names["p"].sum(axis=1), numpy.ones(3), rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
