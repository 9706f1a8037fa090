"""Pre-forked servers: a process loads and warms up, its children run."""
import multiprocessing
import os
import signal
import threading
import unittest

from package import FOLDER, compiled, svod  # first: it skips where numpy is not there
import numpy

GRAPH = """svod 1
var n in [1, 300]
input x: f32[n, 300]
input w: f32[300, 300]
output y = matmul(x, w)
"""
FORKS = 200


def spawned(path, queue):
    queue.put(svod.load(path)(x=[[1.0] * 300], w=[[1.0] * 300] * 300)["y"].tolist() == [[300.0] * 300])


class Forks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plan = compiled(GRAPH, "served")
        cls.x, cls.w = numpy.ones((300, 300), numpy.float32), numpy.ones((300, 300), numpy.float32)
        cls.want = numpy.full((300, 300), 300, numpy.float32)

    def is_right(self, run, x=None):
        x = self.x if x is None else x
        return numpy.array_equal(run(x=x, w=self.w)["y"], self.want[:len(x)])

    def child(self, body):
        """The status of a child that runs `body`; it leaves as a program does that frees what it has."""
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.alarm(60)
                status = 0 if body() else 2
            finally:
                os._exit(status)
        return os.waitpid(child, 0)[1]

    def test_children_run_what_the_parent_warmed_up(self):
        pool = svod.Pool(4)
        run = self.plan.instance(pool)
        self.assertTrue(self.is_right(run) and self.is_right(self.plan))

        def serves():
            mine = self.plan.instance(pool)
            good = all(self.is_right(each) for each in (run, self.plan, mine))
            mine.submit(x=self.x[:5], w=self.w)
            good = good and numpy.array_equal(mine.wait()["y"], self.want[:5])
            other = svod.Pool(2)
            good = good and self.is_right(self.plan.instance(other))
            svod._abi.lib.svod_pool_free(svod._abi.lib.svod_pool_create(3))
            return good

        self.assertEqual([status for status in (self.child(serves) for _ in range(FORKS)) if status], [])
        self.assertTrue(self.is_right(run))

    def test_children_of_a_process_whose_threads_are_running(self):
        run, over = self.plan.instance(svod.Pool(2)), threading.Event()

        def work():
            while not over.is_set():
                run(x=self.x, w=self.w)
                self.plan(x=self.x, w=self.w)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        bad = [status for status in (self.child(lambda: self.is_right(run) and self.is_right(self.plan)) for _ in range(50)) if status]
        over.set()
        for thread in threads:
            thread.join()
        self.assertEqual(bad, [])

    def test_a_child_that_ends_frees_what_it_inherited(self):
        pool = svod.Pool(3)
        run = self.plan.instance(pool)
        self.assertTrue(self.is_right(run))
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            try:
                import atexit
                import weakref
                weakref.finalize._exitfunc()  # what an interpreter does at its end: all handles are freed
                atexit.unregister(weakref.finalize._exitfunc)
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(self.is_right(run))

    def test_multiprocessing_forks_and_spawns(self):
        for way in ("fork", "spawn"):
            with self.subTest(way):
                context = multiprocessing.get_context(way)
                queue = context.Queue()
                workers = [context.Process(target=spawned, args=(str(FOLDER / "served"), queue)) for _ in range(3)]
                for worker in workers:
                    worker.start()
                self.assertEqual([queue.get(timeout=120) for _ in workers], [True] * 3)
                for worker in workers:
                    worker.join()
                self.assertEqual([worker.exitcode for worker in workers], [0] * 3)

    def test_a_pool_of_processes_that_share_a_plan_by_forking(self):
        global _shared
        _shared = (self.plan.instance(svod.Pool(2)), self.plan, self.w)
        with multiprocessing.get_context("fork").Pool(4) as workers:
            self.assertEqual(workers.map(_served, range(1, 41)), [float(300 * k) for k in range(1, 41)])


def _served(k):
    run, plan, w = _shared
    x = numpy.full((2, 300), k, numpy.float32)
    first, second = run(x=x, w=w)["y"], plan(x=x, w=w)["y"]
    return float(first[0, 0]) if numpy.array_equal(first, second) else None


if __name__ == "__main__":
    unittest.main()
