"""Threads that share plans and instances: every call has the arrays it asked for."""
import os
import threading
import unittest

from package import compiled, svod  # first: it skips where numpy is not there
import numpy

GRAPH = """svod 1
var n in [1, 64]
input x: f32[n, 4]
input w: f32[4, 3]
output y = matmul(x, w)
output z = x * 2
"""
COUNTER = "svod 1\ninput x: i64\nstate total: i64 = 0\nassign total = total + x\noutput now = total * 1\n"
THREADS, CALLS = 16, int(os.environ.get("SVOD_PYTHON_CALLS", "1000"))


def together(work):
    """`work` on all threads; what they raised."""
    raised = []

    def run(number):
        try:
            work(number)
        except BaseException as error:
            raised.append(repr(error))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


class Threads(unittest.TestCase):
    def test_calls_of_a_plan_and_of_an_instance_have_their_own_results(self):
        plan = compiled(GRAPH)
        shared = plan.instance(svod.Pool(2))
        w = numpy.ones((4, 3), numpy.float32)
        wrong = []

        def work(t):
            for k in range(CALLS):
                n, value = 1 + (k + t) % 5, t * 10_000 + k % 1000
                x, run = numpy.full((n, 4), value, numpy.float32), (plan, shared)[k % 2]
                out = {"z": numpy.empty((n, 4), numpy.float32)} if k % 3 == 0 else {}
                result = run(x=x, w=w, out=out) if k % 7 else run(x, w, out=out)
                if result["y"].tolist() != [[4 * value] * 3] * n or result["z"].tolist() != [[2 * value] * 4] * n:
                    wrong.append((t, k))
                if out and result["z"] is not out["z"]:
                    wrong.append((t, k, "out"))

        self.assertEqual(together(work), [])
        self.assertEqual(wrong, [])
        self.assertLessEqual(len(plan._idle), THREADS)

    def test_inputs_that_are_left_out_are_those_of_the_same_thread(self):
        plan = compiled(GRAPH)
        first = threading.Barrier(THREADS)

        def work(t):
            x = numpy.ones((2, 4), numpy.float32)
            with self.assertRaisesRegex(svod.SvodError, "'w' is not bound|'w'"):
                plan(x=x)
            first.wait()
            plan(x=x, w=numpy.full((4, 3), t, numpy.float32))
            for _ in range(200):
                self.assertEqual(plan(x=x)["y"].tolist(), [[4 * t] * 3] * 2)
            plan(w=numpy.full((4, 3), t + 1, numpy.float32))
            self.assertEqual(plan()["y"].tolist(), [[4 * t + 4] * 3] * 2)

        self.assertEqual(together(work), [])

    def test_errors_of_one_thread_are_nobody_elses(self):
        plan = compiled(GRAPH)
        shared, w = plan.instance(), numpy.ones((4, 3), numpy.float32)

        def work(t):
            for k in range(300):
                run = (plan, shared)[k % 2]
                if (t + k) % 3 == 0:
                    for bad in (numpy.ones((2, 4)), numpy.ones((2, 5), numpy.float32), numpy.ones((65, 4), numpy.float32)):
                        with self.assertRaises(svod.SvodError):
                            run(x=bad, w=w)
                    with self.assertRaisesRegex(svod.SvodError, "cannot lie in"):
                        run(x=numpy.ones((2, 4), numpy.float32), w=w, out={"y": numpy.empty((3, 3), numpy.float32)})
                else:
                    self.assertEqual(run(x=numpy.full((2, 4), t, numpy.float32), w=w)["y"].tolist(), [[4 * t] * 3] * 2)

        self.assertEqual(together(work), [])

    def test_states_are_one_for_all_threads(self):
        plan = compiled(COUNTER)
        shared = plan.instance()
        seen = []

        def work(t):
            for _ in range(100):
                seen.append(int(plan(x=1)["now"]))
                shared(x=2)

        self.assertEqual(together(work), [])
        self.assertEqual(sorted(seen), list(range(1, THREADS * 100 + 1)))
        self.assertEqual(int(shared(x=0)["now"]), THREADS * 200)

    def test_a_submitted_run_refuses_other_threads_and_keeps_its_results(self):
        plan = compiled(GRAPH)
        run, w = plan.instance(svod.Pool(2)), numpy.ones((4, 3), numpy.float32)
        run.submit(x=numpy.ones((2, 4), numpy.float32), w=w)

        def work(t):
            for call in (lambda: run(x=numpy.ones((3, 4), numpy.float32)), run, lambda: run.submit(w=w), lambda: run.bind(w=w)):
                with self.assertRaisesRegex(svod.SvodError, "submitted run"):
                    call()

        self.assertEqual(together(work), [])
        self.assertEqual(run.wait()["y"].tolist(), [[4] * 3] * 2)
        with self.assertRaisesRegex(svod.SvodError, "no submitted run"):
            run.wait()

    def test_a_function_cannot_use_the_instance_that_calls_it(self):
        plan = compiled("svod 1\ninput x: f32[2]\noutput y = custom(x, function=again, shape=[2])\n")
        for pool in (None, svod.Pool(2)):
            def again(result, x):
                run(x=[1.0, 2.0])

            run = plan.instance(pool, functions={"again": again})
            with self.assertRaisesRegex(svod.SvodError, "uses the instance that calls it"):
                run(x=[1.0, 2.0])


if __name__ == "__main__":
    unittest.main()
