"""The Python package as pip installs it: arrays in and out, variables, states, functions, profile, errors, compile()."""
import gc
import threading
import unittest
import weakref

from package import FOLDER, compiled, svod  # first: it skips where numpy is not there
import numpy

GRAPH = """svod 1
var n in [1, 64]
input x: f32[n, 4]
input w: f32[4, 3]
output y = matmul(x, w)
output twice = cast(x * 2, dtype=i32)
"""
COUNTER = "svod 1\ninput x: i64[2]\nstate total: i64[2] = [10, 20]\nassign total = total + x\noutput now = total * 2\n"


class Python(unittest.TestCase):
    def error(self, code, says, call, *words, **named):
        with self.assertRaises(svod.SvodError) as caught:
            call(*words, **named)
        self.assertEqual(caught.exception.code, code)
        self.assertIn(says, str(caught.exception))
        return caught.exception

    def test_a_pack_is_loaded_like_a_folder(self):
        pack = FOLDER / "one.pack"
        plan = compiled(GRAPH, "packed", emit=f"pack={pack}")
        x, w = numpy.arange(8, dtype=numpy.float32).reshape(2, 4), numpy.ones((4, 3), numpy.float32)
        numpy.testing.assert_array_equal(svod.load(pack)(x=x, w=w)["y"], plan(x=x, w=w)["y"])
        pack.write_bytes(pack.read_bytes()[:-1])
        self.error("bad-plan", "is damaged", svod.load, pack)

    def test_a_plan_describes_itself(self):
        plan = compiled(GRAPH, verify=True, opt_level=0)
        self.assertEqual(plan.inputs["x"], svod.Port("x", "f32", ("n", 4), (64, 4)))
        self.assertEqual(list(plan.outputs), ["y", "twice"])
        self.assertEqual(plan.variables, {"n": svod.Variable("n", 1, 64, False)})
        self.assertEqual(repr(plan), "<svod.Plan stdin(x: f32[n, 4], w: f32[4, 3]) -> y: f32[n, 3], twice: i32[n, 4]>")
        self.assertGreater(plan.kernels, 1)
        self.assertGreaterEqual(plan.instance_bytes(), plan.arena_bytes)

    def test_arrays_go_in_and_out(self):
        plan = compiled(GRAPH)
        w = numpy.arange(12, dtype=numpy.float32).reshape(4, 3)
        for n in (1, 5, 64):
            x = numpy.random.default_rng(n).standard_normal((n, 4)).astype(numpy.float32)
            for given in (x, numpy.asfortranarray(x), x[::1], memoryview(x)):
                got = plan(x=given, w=w)
                numpy.testing.assert_allclose(got["y"], x @ w, rtol=1e-5, atol=1e-5)
                numpy.testing.assert_array_equal(got["twice"], (x * 2).astype(numpy.int32))
                self.assertEqual([a.ctypes.data % 64 for a in got.values()], [0, 0])
            numpy.testing.assert_allclose(plan(x=x)["y"], x @ w, rtol=1e-5, atol=1e-5)  # w stays bound
        y = numpy.empty((64, 3), numpy.float32)
        self.assertIs(plan(out={"y": y})["y"], y)
        numpy.testing.assert_allclose(y, x @ w, rtol=1e-5, atol=1e-5)

    def test_lists_and_other_owners_of_arrays(self):
        class Owner:  # as tensors of other libraries are
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **named):
                return self.array.__dlpack__(**named)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        plan = compiled(GRAPH)
        result = plan(x=Owner(numpy.ones((2, 4), numpy.float32)), w=[[1, 2, 3]] * 4)["y"]
        numpy.testing.assert_array_equal(numpy.from_dlpack(result), [[4, 8, 12]] * 2)

    def test_memory_of_inputs_is_used_in_place(self):
        plan = compiled(GRAPH)
        run, x = plan.instance(), numpy.ones((2, 4), numpy.float32)
        run(x=x, w=numpy.ones((4, 3), numpy.float32))
        x[:] = 3
        numpy.testing.assert_array_equal(run()["y"], numpy.full((2, 3), 12))

    def test_variables(self):
        plan = compiled("svod 1\nvar n in [1, 8]\ninput x: f32[2]\noutput y = expand(sum(x), shape=[n])\n")
        run = plan.instance()
        run.variables["n"] = 3
        self.assertEqual(run(x=numpy.ones(2, numpy.float32))["y"].tolist(), [2, 2, 2])
        self.assertEqual((run.variables["n"], run.shape("y"), dict(run.variables)), (3, (3,), {"n": 3}))
        del run.variables["n"]
        self.error("missing-input", "n", run)
        with self.assertRaises(KeyError):
            run.variables["m"] = 1
        self.error("variable-bounds", "1 to 8", run.variables.__setitem__, "n", 9)

    def test_states_are_memory(self):
        plan = compiled(COUNTER)
        run, other = plan.instance(), plan.instance()
        x = numpy.array([1, 2])
        self.assertEqual([run(x=x)["now"].tolist() for _ in range(2)], [[22, 44], [24, 48]])
        run.states["total"][:] = 0
        self.assertEqual(run()["now"].tolist(), [2, 4])
        run.states["total"] = 7
        self.assertEqual(run.states["total"].tolist(), [7, 7])
        run.states["total"] = numpy.array([0.0, 1.0])
        self.assertEqual(run()["now"].tolist(), [2, 6])
        with self.assertRaises(KeyError):
            run.states["totals"] = 1
        self.assertEqual(other(x=x)["now"].tolist(), [22, 44])
        run.reset_states()
        state, seen = run.states["total"], weakref.ref(run)
        del run
        gc.collect()
        self.assertEqual(state.tolist(), [10, 20])  # keeps its instance
        del state
        gc.collect()
        self.assertIsNone(seen())

    def test_a_plan_that_was_called_goes_with_its_last_user(self):
        plan = compiled(COUNTER)
        plan(x=[1, 2])
        run, seen = plan.instance(), weakref.ref(plan)
        del plan
        gc.collect()
        self.assertEqual(run(x=[1, 2])["now"].tolist(), [22, 44])
        del run
        gc.collect()
        self.assertIsNone(seen())

    def test_functions_of_the_program(self):
        plan = compiled("svod 1\nvar n in [1, 8]\ninput x: f32[n]\noutput y = custom(x, function=add, shape=[n], values=[n]) * 2\n")
        self.assertEqual(plan.functions, ("add",))

        def add(result, x, n):
            result[:] = x + n

        self.assertEqual(plan.instance(functions={"add": add})(x=[1.0, 2.0])["y"].tolist(), [6, 8])
        self.error("missing-input", "add", plan.instance)

        def fails(result, x, n):
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            plan.instance(functions={"add": fails})(x=[1.0])

    def test_profile(self):
        run = compiled(GRAPH).instance(profile=True)
        for _ in range(3):
            run(x=numpy.ones((4, 4), numpy.float32), w=numpy.ones((4, 3), numpy.float32))
        records = run.profile()
        self.assertEqual({r.calls for r in records}, {3})
        self.assertEqual({r.kind for r in records}, {"kernel"})
        run.reset_profile()
        self.assertEqual(sum(r.calls for r in run.profile()), 0)

    def test_pools_and_threads(self):
        plan, pool = compiled(GRAPH), svod.Pool(2)
        self.assertEqual(pool.threads, 2)
        w, failed = numpy.ones((4, 3), numpy.float32), []

        def work(seed):
            run = plan.instance(pool)
            for k in range(50):
                x = numpy.full((seed + 1, 4), k, numpy.float32)
                if run(x=x, w=w)["y"].tolist() != [[4 * k] * 3] * (seed + 1):
                    failed.append(seed)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        run = plan.instance(pool)
        run.submit(x=numpy.ones((2, 4), numpy.float32), w=w)
        self.assertEqual(run.wait()["y"].tolist(), [[4] * 3] * 2)
        self.assertTrue(run.is_done)

    def test_errors(self):
        plan = compiled(GRAPH)
        w = numpy.ones((4, 3), numpy.float32)
        self.error("input-mismatch", "'x' is f32", plan, x=numpy.ones((2, 4)), w=w)
        self.error("input-mismatch", "5", plan, x=numpy.ones((2, 5), numpy.float32), w=w)
        self.error("unknown-port", "it has x, w", plan, z=w)
        self.error("input-mismatch", "f32[2, 3]", plan, x=numpy.ones((2, 4), numpy.float32), out={"y": numpy.empty((2, 4), numpy.float32)}, w=w)
        self.error("missing-input", "w", plan.instance(), x=numpy.ones((2, 4), numpy.float32))
        self.error("bad-plan", "plan.json", svod.load, FOLDER)
        self.assertEqual(self.error("io", "nowhere", svod.load, "/nowhere").exit_code, 74)

    def test_errors_of_compiling(self):
        error = self.error("shape-mismatch", "stdin:4:12:", compiled, "svod 1\ninput x: f32[2, 3]\n\noutput y = matmul(x, x)\n")
        self.assertEqual((error.exit_code, error.place), (1, "stdin:4:12"))
        self.assertIn("--numerics", self.error("usage", "--numeric", compiled, GRAPH, numeric="fast").help)
        self.error("io", "no program", svod.compile, GRAPH, "p", svodc="no-such-svodc")

    def test_flags(self):
        graph = FOLDER / "g.svod"
        graph.write_text(GRAPH)
        plan = compiled(graph, numerics="strict", shape={"x": "8x4"}, disable_pass=["lay-out"], verify=False, target="c")
        self.assertEqual((plan.numerics, plan.name, plan.outputs["y"].shape), ("strict", "g", (8, 3)))
        self.assertIsNone(compiled(graph, load=False))


if __name__ == "__main__":
    unittest.main()
