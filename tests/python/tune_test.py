"""svod.tune: tunes with svodc, tells of every step, and what ends it loses nothing."""
import json
import unittest

from package import BIN, FOLDER, svod  # first: it skips where numpy is not there
import numpy

GRAPH = "svod 1\ninput x: f32[48, 40]\ninput y: f32[40, 56]\noutput z = relu(matmul(x, y))\n"


class Tune(unittest.TestCase):
    def setUp(self):
        self.graph, self.log = FOLDER / "product.svod", FOLDER / f"{self.id()}.log"
        self.graph.write_text(GRAPH)

    def records(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def test_a_compile_takes_what_was_found(self):
        events = []
        report = svod.tune(self.graph, self.log, budget=3, progress=events.append, svodc=BIN / "svodc", search="kernels")
        self.assertEqual((len(report["kernels"]), report["log"]), (1, str(self.log)))
        self.assertGreater(report["candidates"], 0)
        self.assertEqual((events[0]["progress"], events[-1]["progress"]), ("begin", "end"))
        self.assertEqual(events[-1]["kernelsDone"], 1)
        self.assertIn("candidate", {r["record"] for r in self.records()})
        plan = svod.compile(self.graph, FOLDER / "tuned", svodc=BIN / "svodc", no_cache=True, tuning_log=self.log, verify=True)
        self.assertEqual(plan.kernels, 1)
        again = svod.tune([self.graph], self.log, budget="1s", svodc=BIN / "svodc", search="kernels")
        self.assertGreater(again["known"], 0)

    def test_graphs_from_code(self):
        graph = svod.Graph("built")
        x = graph.input("x", "f32", (32, 40))
        graph.output("y", svod.ops.relu(x @ numpy.ones((40, 24), numpy.float32)))
        report = svod.tune([graph, self.graph], self.log, budget=2, svodc=BIN / "svodc", search="kernels")
        self.assertEqual(len(report["kernels"]), 2)
        self.assertEqual(svod.compile(graph, svodc=BIN / "svodc", no_cache=True, tuning_log=self.log).name, "built")
        for model, says in ((GRAPH, "write it to a file"), ([self.graph, 7], "cannot take a int")):
            with self.assertRaisesRegex(svod.SvodError, says):
                svod.tune(model, self.log, svodc=BIN / "svodc")

    def test_what_a_callback_raises_ends_it(self):
        def stop(event):
            if event["candidates"] > 0:
                raise KeyError("enough")

        with self.assertRaises(KeyError):
            svod.tune(self.graph, self.log, budget="10m", progress=stop, svodc=BIN / "svodc")
        self.assertIn("candidate", {r["record"] for r in self.records()})

    def test_errors(self):
        for words, code, says in ((dict(budget="long"), "usage", "no time to spend"), (dict(caches="hot"), "usage", "hot"),
                                  (dict(svodc="no-such-svodc"), "io", "no-such-svodc")):
            with self.assertRaises(svod.SvodError) as caught:
                svod.tune(self.graph, self.log, **{"svodc": BIN / "svodc", **words})
            self.assertEqual(caught.exception.code, code)
            self.assertIn(says, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
