"""What goes in and out: by position, of every element type, tensors of other libraries; and what svodc says of a graph."""
import importlib.util
import math
import os
import subprocess
import sys
import unittest
import warnings

from package import BIN, FOLDER, Case, compiled, each_case, svod  # first: it skips where numpy is not there
import numpy

TWO = "svod 1\nvar n in [1, 64]\ninput x: f32[n, 4]\ninput w: f32[4, 3]\noutput y = matmul(x, w)\n"


def has(module):
    return importlib.util.find_spec(module) is not None


def flip(dtype, count=3):
    return compiled(f"svod 1\ninput x: {dtype}[{count}]\noutput y = flip(x, axes=0)\n", f"flip-{dtype}")


class Exporter:
    """A tensor of another library, which numpy cannot make: it gives what __dlpack__ of `array` gives, as another element type."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **named):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device


class Arrays(Case):
    def test_inputs_by_position(self):
        plan = compiled(TWO)
        x, w = numpy.ones((2, 4), numpy.float32), numpy.ones((4, 3), numpy.float32)
        run = plan.instance()
        for result in (plan(x, w), plan(x, w=w), run(x, w), run(x)):
            self.assertEqual(result["y"].tolist(), [[4] * 3] * 2)
        run.bind(x * 2)
        self.assertEqual(run()["y"].tolist(), [[8] * 3] * 2)
        y = numpy.empty((2, 3), numpy.float32)
        self.assertIs(plan(x, w, out={"y": y})["y"], y)
        self.refused("given twice", plan, x, x=x)
        self.refused("2 inputs, and 3 are given", plan, x, w, w)

    def test_an_input_may_have_any_name(self):
        plan = compiled("svod 1\ninput out: f32[2]\ninput self: f32[2]\noutput y = out - self\n")
        self.assertEqual(plan([3.0, 4.0], [1.0, 1.0])["y"].tolist(), [2, 3])
        self.assertEqual(plan([3.0, 4.0], self=[1.0, 2.0])["y"].tolist(), [2, 2])

    def test_scalars(self):
        plan = compiled("svod 1\ninput x: f32\noutput y = x * 2\n")
        for value in (3, 3.0, numpy.float32(3), numpy.array(3, numpy.float32)):
            self.assertEqual(plan(value)["y"].tolist(), 6)

    def test_numbers_that_an_element_type_cannot_hold_are_refused(self):
        for dtype, good, bad in (("i8", [-128, 127, 0], [128, 0, 0]), ("u8", [255, 0, 1], [-1, 0, 0]), ("i32", [1.0, 2.0, -3.0], [1.5, 0, 0]),
                                 ("i32", [1, 2, 3], [math.nan, 0, 0]), ("i32", [1, 2, 3], [1 << 31, 0, 0]), ("u64", [1, 2, 1 << 63], [-1, 0, 0]),
                                 ("bool", [True, False, 1], [2, 0, 0]), ("i4", [-8, 7, 0], [8, 0, 0]), ("u4", [15, 0, 1], [16, 0, 0]),
                                 ("i64", [1, 2, 3], [1 << 70, 0, 0]), ("f32", [1, 2.5, True], ["one", 0, 0])):
            with self.subTest(dtype, bad=bad):
                plan = flip(dtype)
                self.assertEqual(plan(good)["y"].tolist(), good[::-1])
                self.refused("'x' is " + dtype, plan, bad)
        self.refused("'x' is i4", flip("i4"), numpy.array([9, 0, 0], numpy.int8))

    def test_floats_for_an_element_type_that_numpy_lacks_are_rounded_and_whole_numbers_its_bits(self):
        plan = flip("bf16", 6)
        bits = [0x3f80, 0xc000, 0x7f80, 0, 0x3f81, 0x4049]
        self.assertEqual(plan(bits)["y"].tolist(), bits[::-1])
        values = [1.0, -2.0, math.inf, 0.0, 1.0 + 2**-7 + 2**-9, math.pi]
        self.assertEqual(plan(values)["y"].tolist(), bits[::-1])
        halfway = [1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, 3.4e38, -0.0, math.nan]
        self.assertEqual(plan(halfway)["y"].tolist()[::-1][:5], [0x3f80, 0x3f82, 0x3f81, 0x7f80, 0x8000])
        self.assertGreater(int(plan(halfway)["y"][0]) & 0x7fff, 0x7f80)
        error = self.refused("'x' is bf16 and gets an array of float32", plan, numpy.ones(6, numpy.float32))
        self.assertIn("bfloat16", error.help)
        if not has("ml_dtypes"):
            self.refused("install ml_dtypes", flip("f8e4m3"), [1.0, 2.0, 3.0])

    def test_states_take_values(self):
        plan = compiled("svod 1\ninput x: bf16[2]\nstate s: bf16[2] = [0, 0]\noutput y = s + x\nassign s = x\n")
        run = plan.instance()
        run.states["s"] = [1.0, 2.0]
        self.assertEqual(run.states["s"].tolist(), [0x3f80, 0x4000])
        with self.assertRaisesRegex(svod.SvodError, "cannot hold"):
            run.states["s"] = -1

    @unittest.skipUnless(has("ml_dtypes"), "ml_dtypes is not installed")
    def test_ml_dtypes(self):
        import ml_dtypes
        for dtype, name in (("bf16", "bfloat16"), ("f8e4m3", "float8_e4m3fn"), ("f8e5m2", "float8_e5m2")):
            plan, kind = flip(dtype), getattr(ml_dtypes, name)
            x, y = numpy.array([1, 2, 3], kind), numpy.empty(3, kind)
            self.assertEqual(plan(x)["y"].view(kind).tolist(), [3, 2, 1])
            self.assertIs(plan(x, out={"y": y})["y"], y)
            self.assertEqual(y.tolist(), [3, 2, 1])
            self.assertEqual(plan([1.0, 2.0, 3.0])["y"].view(kind).tolist(), [3, 2, 1])
            self.assertEqual(plan([1.0, 2.0, 3.0]).ml_dtypes()["y"].tolist(), [3, 2, 1])

    def test_exporters(self):
        plan = flip("f32")
        x = numpy.arange(6, dtype=numpy.float32)
        self.assertEqual(plan(Exporter(x[:3]))["y"].tolist(), [2, 1, 0])
        self.assertEqual(plan(Exporter(x[::2]))["y"].tolist(), [4, 2, 0])
        self.refused("f64", plan, Exporter(numpy.ones(3)))
        y = numpy.empty(3, numpy.float32)
        out = Exporter(y)
        self.assertIs(plan(x[:3], out={"y": out})["y"], out)
        self.assertEqual(y.tolist(), [2, 1, 0])
        self.refused("cannot lie in", plan, x[:3], out={"y": Exporter(x[::2])})
        self.refused("cannot lie in", plan, x[:3], out={"y": Exporter(numpy.ones(3))})
        self.refused("cannot lie in a list", plan, x[:3], out={"y": [1, 2, 3]})
        y.flags.writeable = False
        self.refused("read-only", plan, x[:3], out={"y": y})
        self.refused("share bytes", flip("i4"), [1, 2, 3], out={"y": numpy.empty(3, numpy.int8)})

    def test_out_is_one_array_or_several_or_a_mapping(self):
        one = flip("f32")
        y = numpy.empty(3, numpy.float32)
        for out in (y, (y,), [y], {"y": y}):
            y[:] = 0
            self.assertIs(one([1, 2, 3], out=out)["y"], y)
            self.assertEqual(y.tolist(), [3, 2, 1])
            self.assertIs(one.instance()([1, 2, 3], out=out)["y"], y)
        run = one.instance(svod.Pool(1))
        run.submit([4, 5, 6], out=y)
        self.assertIs(run.wait()["y"], y)
        run.enqueue([7, 8, 9], out=y)
        self.assertEqual((run.wait()["y"] is y, y.tolist()), (True, [9, 8, 7]))
        two = compiled("svod 1\ninput x: f32[3]\noutput a = x + 1\noutput b = x + 2\n", "two")
        result = two([1, 2, 3], out=(None, y))
        self.assertEqual((result["a"].tolist(), y.tolist()), ([2, 3, 4], [3, 4, 5]))
        self.assertIsNot(two([1, 2, 3], out={"a": None})["a"], None)
        self.refused('out={"a": array}', two, [1, 2, 3], out=y)
        self.refused("2 outputs, and out= has 3", two, [1, 2, 3], out=(y, y, y))
        self.refused("no output 'c'", two, [1, 2, 3], out={"c": y})

    @unittest.skipUnless(has("torch"), "torch is not installed")
    def test_results_as_tensors_of_torch(self):
        import torch
        for dtype, kind in (("bf16", torch.bfloat16), ("f32", torch.float32), ("f16", torch.float16), ("f64", torch.float64), ("i64", torch.int64),
                            ("bool", torch.bool), ("u8", torch.uint8), ("i8", torch.int8), ("f8e4m3", torch.float8_e4m3fn), ("i4", torch.int8)):
            with self.subTest(dtype):
                x = torch.tensor([1, 0, 1]).to(kind)
                result = flip(dtype)([1, 0, 1] if dtype == "i4" else x)
                y = result.torch()["y"]
                self.assertEqual(y.dtype, kind)
                self.assertTrue(torch.equal(y.to(torch.float32), torch.tensor([1.0, 0.0, 1.0])))
                if dtype == "f32":
                    self.assertEqual(y.data_ptr(), result["y"].data_ptr())
                    plain = flip(dtype)([1.0, 0.0, 1.0])
                    self.assertEqual(plain.torch()["y"].data_ptr(), plain["y"].ctypes.data)
        given = torch.empty(3)
        self.assertIs(flip("f32")([1, 2, 3], out=given).torch()["y"], given)
        self.assertEqual(compiled("svod 1\ninput x: f32[]\noutput y = x + 1\n".replace("[]", ""))(1.0).torch()["y"].item(), 2)

    @unittest.skipUnless(has("torch"), "torch is not installed")
    def test_tensors_of_torch(self):
        import torch
        for dtype, kind in (("bf16", torch.bfloat16), ("f32", torch.float32), ("f16", torch.float16), ("i64", torch.int64), ("bool", torch.bool),
                            ("u8", torch.uint8)):
            with self.subTest(dtype):
                plan = flip(dtype)
                x, y = torch.tensor([1, 0, 1], dtype=kind), torch.empty(3, dtype=kind)
                x = torch.tensor([1, 1, 0, 1, 1, 1], dtype=kind)[::2] if dtype == "f32" else x
                result = plan(x, out={"y": y})
                self.assertIs(result["y"], y)
                self.assertTrue(torch.equal(y, torch.flip(x, [0])))
                self.assertTrue(torch.equal(plan.instance()(x=x, out={"y": y})["y"], torch.flip(x, [0])))
                plain = plan(x)["y"]
                self.assertEqual(plain.dtype, kind)
                self.assertTrue(torch.equal(plain, y))
        self.refused("gradient", flip("f32"), torch.ones(3, requires_grad=True))
        self.check_kinds_of_results(torch)

    def check_kinds_of_results(self, torch):
        """Tensors in, tensors out: by calls of plans and instances, submitted and enqueued runs, also where an input stays bound."""
        plan = compiled("svod 1\ninput x: bf16[3]\ninput w: bf16[3]\ninput q: i4[3]\noutput y = x * w\noutput z = q\noutput e = x > w\n", "kinds")
        run = plan.instance(svod.Pool(1))
        x, w, q = torch.tensor([1, 2, 3], dtype=torch.bfloat16), numpy.array([0x4000] * 3, numpy.uint16), [-8, 7, 1]

        def check(result, is_tensor=True):
            self.assertEqual([type(each) for each in result.values()], [torch.Tensor if is_tensor else numpy.ndarray] * 3)
            kinds = [torch.bfloat16, torch.int8, torch.bool] if is_tensor else [numpy.uint16, numpy.int8, numpy.bool_]
            self.assertEqual([each.dtype for each in result.values()], kinds)
            self.assertEqual(result["z"].tolist(), q)
            self.assertEqual(result["y"].tolist(), [2.0, 4.0, 6.0] if is_tensor else [0x4000, 0x4080, 0x40c0])

        for call in (plan, run):
            check(call(x, w, q))
            check(call(w=w))  # x is still there
            check(call(x=x.view(torch.int16).numpy().view(numpy.uint16), w=w), is_tensor=False)
            check(call(out={"e": torch.empty(3, dtype=torch.bool)}))
        run.submit(x=x)
        check(run.wait())
        run.enqueue(w=w)
        run.enqueue()
        check(run.wait())
        given = numpy.empty(3, numpy.uint16)
        self.assertIs(run(x, out={"y": given})["y"], given)
        self.refused("'x' is f32 and gets an array of f64", flip("f32"), torch.ones(3, dtype=torch.float64))
        self.refused("cannot lie in", flip("f32"), torch.ones(3), out={"y": torch.empty(4)})


ELEMENTS = {"bool": [True, False, False], "i8": [-3, 4, 5], "u8": [250, 1, 2], "i16": [-300, 1, 2], "u16": [60000, 1, 2], "i32": [1, -2, 3],
            "u32": [1, 2, 4000000000], "i64": [1, -2, 1 << 40], "u64": [1, 2, 1 << 63], "f16": [1.5, 2, 3], "f32": [1, 2, 3.25], "f64": [1, 2, 1e300],
            "bf16": [0x3f80, 0x4000, 0], "f8e4m3": [1, 2, 3], "f8e5m2": [1, 2, 60], "i4": [-8, 7, 3], "u4": [15, 2, 0], "i2": [-2, 1, 0], "u2": [3, 0, 2],
            "f4e2m1": [15, 8, 1]}
PACKED = ("i4", "u4", "i2", "u2", "f4e2m1")
WAYS = ("list", "array", "part", "exporter", "out", "state")


@each_case({f"{dtype} {way}": (dtype, way) for dtype in ELEMENTS for way in WAYS})
class Types(Case):
    """Every element type, given in every way, of one plan with an input and a state of each."""
    @classmethod
    def setUpClass(cls):
        lines = [f"input x_{each}: {each}[3]\nstate s_{each}: {each}[3] = 0\noutput y_{each} = flip(x_{each}, axes=0)\noutput t_{each} = flip(s_{each}, axes=0)"
                 for each in ELEMENTS]
        cls.run_all = compiled("\n".join(["svod 1", *lines, ""]), "types", opt_level=0).instance()
        cls.zeros = {f"x_{each}": numpy.zeros(3, cls.dtype(each)) for each in ELEMENTS}

    @staticmethod
    def dtype(name):
        """Of arrays: bits where numpy has no such type."""
        if name == "bool" or name[1:] in ("8", "16", "32", "64"):
            return {"i": "int", "u": "uint", "f": "float", "b": "bool"}[name[0]] + name[1:] * (name != "bool")
        return {"bf16": "uint16", "i4": "int8", "i2": "int8"}.get(name, "uint8")

    def check(self, _, row):
        name, way = row
        values = ELEMENTS[name]
        array, out = numpy.array(values, self.dtype(name)), numpy.empty(3, self.dtype(name))
        if way == "state":
            codes = numpy.array(values) & (3 if name == "i2" else 15) if name in ("i2", "i4") else values  # a byte each, of the bits
            self.run_all.states[f"s_{name}"] = codes
            self.assertEqual(self.run_all(**self.zeros)[f"t_{name}"].tolist(), values[::-1])
        elif way == "out" and name in PACKED:
            self.refused("share bytes", self.run_all, **self.zeros, out={f"y_{name}": out})
        elif way == "out":
            self.run_all(**{**self.zeros, f"x_{name}": array}, out={f"y_{name}": out})
            self.assertEqual(out.tolist(), values[::-1])
        elif way == "exporter" and name == "bool":
            self.skipTest("numpy exports no bools")
        else:
            given = {"list": values, "array": array, "part": array.repeat(2)[::2], "exporter": Exporter(array)}[way]
            got = self.run_all(**{**self.zeros, f"x_{name}": given})[f"y_{name}"]
            self.assertEqual((got.dtype, got.tolist()), (array.dtype, values[::-1]))


class Compiling(unittest.TestCase):
    def test_errors_show_the_line(self):
        text = "svod 1\ninput x: f32[2, 3]\n\toutput y = matmul(x, x)\n"
        with self.assertRaises(svod.SvodError) as caught:
            compiled(text)
        error = caught.exception
        self.assertEqual(error.place, "stdin:3:13")
        self.assertEqual(error.excerpt, "  3 |  output y = matmul(x, x)\n    |             ^")
        self.assertIn(error.excerpt, str(error))
        printed = subprocess.run([BIN / "svodc", "check", "-"], input=text, capture_output=True, text=True).stderr
        self.assertIn(error.excerpt, printed)  # as svodc itself has it
        graph = FOLDER / "wrong.svod"
        graph.write_text(text)
        with self.assertRaises(svod.SvodError) as caught:
            compiled(graph)
        self.assertIn("matmul(x, x)\n    |             ^", str(caught.exception))

    def test_notes_and_warnings_are_warnings_of_python(self):
        # The interpreter does not run up to 512 x 512 x 512 multiplications, which --verify notes.
        text = "svod 1\nvar n in [2, 512]\ninput x: f32[n, 512]\na = matmul(x, transpose(x))\noutput y = matmul(a, a)\n"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled(text, verify=True)
        self.assertEqual([each.category for each in caught], [svod.SvodNote])
        self.assertIn("[variable-bounds]", str(caught[0].message))
        self.assertIn("help: ", str(caught[0].message))
        self.assertTrue(issubclass(svod.SvodNote, svod.SvodWarning) and issubclass(svod.SvodWarning, UserWarning))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled(TWO)
        self.assertEqual(caught, [])

    @unittest.skipUnless(has("mypy"), "mypy is not installed")
    def test_types(self):
        program = FOLDER / "typed.py"
        program.write_text("import svod\nplan = svod.compile('g', 'p')\nreveal_type(plan)\nplan.instance()\n"
                           "reveal_type(svod.compile('g', 'p', load=False, cpu='x'))\nsvod.compile(b'g').path\nreveal_type(plan.instance()(1)['y'])\n")
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--python-executable", sys.executable, "--cache-dir", FOLDER / "mypy",
                               program, FOLDER / "svod"], capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(FOLDER)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        program.write_text("import svod\nsvod.compile('g', opt_level=2)\nsvod.compile('g', opt_levle=1)\nsvod.inspect('g', kernels=True, cpu='x')\n")
        wrong = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--python-executable", sys.executable, "--cache-dir", FOLDER / "mypy", program],
                               capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(FOLDER)}).stdout
        self.assertIn("typed.py:2: error", wrong)
        self.assertIn("typed.py:3: error", wrong)
        self.assertNotIn("typed.py:4: error", wrong)
        self.assertIn('Revealed type is "svod._plan.Plan"', done.stdout)
        self.assertIn('Revealed type is "None"', done.stdout)


if __name__ == "__main__":
    unittest.main()
