"""svodc tune: what it measures stays, whatever ends it, and compiling from it needs no more than the log."""
import json
import random
import signal
import subprocess
import time

from svodc import BIN, ToolTest, clean_environment, contents, main

GRAPH = "svod 1\ninput x: f32[48, 40]\ninput y: f32[40, 56]\noutput z = relu(matmul(x, y))\noutput s = softmax(x)\n"


class Tune(ToolTest):
    def setUp(self):
        super().setUp()
        self.model = self.graph(GRAPH)
        self.log = self.folder / "tuning.log"

    def tune(self, *words, **options):
        done = self.svodc("tune", self.model, "--tuning-log", self.log, "--json", *words, **options)
        return json.loads(done.stdout)

    def records(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def test_a_tuned_plan_is_right_and_the_same_anywhere(self):
        report = self.tune("--budget", "12s")
        self.assertEqual(len(report["kernels"]), 2)
        self.assertGreater(report["candidates"], 0)
        self.assertLessEqual(report["expected"], 1)
        outcomes = {r["outcome"] for r in self.records() if r["record"] == "candidate"}
        self.assertIn("timed", outcomes)
        self.assertEqual({r["record"] for r in self.records()}, {"kernel", "candidate"})
        self.svodc("compile", self.model, "-o", self.folder / "a", "--tuning-log", self.log, "--verify")
        merged = self.folder / "merged"
        self.svodc("log", "merge", self.log, "-o", merged)
        self.svodc("compile", self.model, "-o", self.folder / "b", "--tuning-log", merged)
        self.assertEqual(contents(self.folder / "a"), contents(self.folder / "b"))
        best = {w["name"]: w["opts"] for w in json.loads(self.svodc("log", "best", self.log, "--json").stdout)["winners"]}
        plan = {k["name"]: k["opts"] for k in json.loads((self.folder / "a/plan.json").read_text())["kernels"]}
        for name, opts in best.items():
            self.assertEqual(plan[name], opts)

    def test_running_again_goes_on(self):
        self.tune("--budget", "8s")
        timed = {(r["kernel"], r["opts"]) for r in self.records() if r.get("outcome") == "started"}
        before = len(self.records())
        report = self.tune("--budget", "8s")
        self.assertGreater(sum(k["known"] for k in report["kernels"]), 0)
        again = {(r["kernel"], r["opts"]) for r in self.records()[before:] if r.get("outcome") == "started"}
        self.assertEqual(timed & again, set())

    def test_beam(self):
        self.tune("--budget", "6s", "--beam", 2)
        self.assertIn("beam 1", {r.get("origin") for r in self.records()})

    def start(self, *words):
        return subprocess.Popen([BIN / "svodc", "tune", self.model, "--tuning-log", self.log, *words], env=clean_environment(),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for_lines(self, count):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if self.log.exists() and len(self.log.read_text().splitlines()) >= count:
                return
            time.sleep(0.02)
        self.fail("nothing was recorded")

    def test_interrupts_leave_the_log(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            lines = len(self.log.read_text().splitlines()) if self.log.exists() else 0
            process = self.start("--budget", "10m")
            self.wait_for_lines(lines + 4)
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 75, said)
            self.assertIn("the tuning log has all that was measured", said)

    def test_kill_at_random_moments(self):
        moments = random.Random(1)
        for _ in range(5):
            process = self.start("--budget", "10m")
            lines = len(self.log.read_text().splitlines()) if self.log.exists() else 0
            self.wait_for_lines(lines + moments.randrange(1, 8))
            time.sleep(moments.random() / 20)
            process.kill()
            process.communicate()
            candidates = [r for r in map(json.loads, self.log.read_text().splitlines()) if r["record"] == "candidate"]
            ended = {(r["kernel"], r["opts"]) for r in candidates if r["outcome"] != "started"}
            open_ones = {(r["kernel"], r["opts"]) for r in candidates if r["outcome"] == "started"} - ended
            self.assertLessEqual(len(open_ones), 5)  # one for each kill
        starts = [(r["kernel"], r["opts"]) for r in candidates if r["outcome"] == "started"]
        self.assertEqual(len(starts), len(set(starts)))  # none was tried twice
        self.svodc("compile", self.model, "-o", self.folder / "p", "--tuning-log", self.log, "--verify")

    def test_what_cannot_be(self):
        self.fails(2, "tune", self.model, says="--tuning-log")
        self.fails(2, "tune", self.model, "--tuning-log", self.log, "--budget", "soon", says="soon")
        self.fails(2, "tune", self.model, "--tuning-log", self.log, "--opts", "z=", says="--opts")
        self.fails(2, "tune", self.model, "--tuning-log", self.log, "-O0")
        self.fails(3, "tune", self.model, "--tuning-log", self.log, "--target", "c", says="target c")
        self.fails(3, "tune", self.model, "--tuning-log", self.log, "--cpu", "neoverse-n1", "--triple", "aarch64-unknown-linux-gnu")
        self.fails(74, "tune", self.model, "--tuning-log", self.folder / "no/log", "--budget", 1)
        self.assertFalse(self.log.exists())


if __name__ == "__main__":
    main()
