"""svodc tune --search priced: the cost model alone, for a device that is not here."""
import json
import signal
import subprocess
import time

from svodc import BIN, ToolTest, clean_environment, main

GRAPH = """svod 1
input a: f16[512, 256]
input b: f16[256, 384]
input r: f16[512, 384]
output y = softmax(matmul(a, b) + r)
output t = transpose(a)
"""
CUDA = ("--target", "cuda", "--cuda-arch", "sm_90a", "--nvrtc", "none")


class Priced(ToolTest):
    def setUp(self):
        super().setUp()
        self.model, self.log = self.graph(GRAPH), self.folder / "tuning.log"

    def tune(self, *words):
        return json.loads(self.svodc("tune", self.model, "--tuning-log", self.log, "--search", "priced", "--json", *words).stdout)

    def records(self, kind):
        return [r for r in map(json.loads, self.log.read_text().splitlines()) if r["record"] == kind]

    def test_a_gpu_that_is_not_here(self):
        report = self.tune("--budget", "6s", *CUDA)
        self.assertGreater(report["candidates"], 0)
        self.assertLessEqual(report["expected"], 1)
        self.assertNotIn("plans", report)
        self.assertEqual({r["machine"] for r in self.records("candidate") + self.records("plan")}, {"the cost model"})
        self.assertTrue(all("cuda" in r["target"] for r in self.records("candidate")))
        winners = {w["name"]: w["opts"] for w in json.loads(self.svodc("log", "best", self.log, "--json").stdout)["winners"]}
        self.svodc("compile", self.model, "-o", self.folder / "p", "--tuning-log", self.log, *CUDA)
        kernels = {k["name"]: k["opts"] for k in json.loads((self.folder / "p/plan.json").read_text())["kernels"]}
        for name in winners.keys() & kernels.keys():
            self.assertEqual(kernels[name], winners[name])

    def test_killed_it_goes_on(self):
        words = [BIN / "svodc", "tune", self.model, "--tuning-log", self.log, "--search", "priced", "--budget", "10m", *CUDA]
        running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment())
        end = time.monotonic() + 120
        while time.monotonic() < end and running.poll() is None and not (self.log.exists() and len(self.log.read_text().splitlines()) > 40):
            time.sleep(0.05)
        running.send_signal(signal.SIGKILL)
        running.wait()
        before = {(r["kernel"], r["opts"]) for r in self.records("candidate") if r["outcome"] != "started"}
        count = len(self.records("candidate"))
        report = self.tune("--budget", "3s", "--search", "priced", *CUDA)
        self.assertGreater(report["known"], 0)
        again = [(r["kernel"], r["opts"]) for r in self.records("candidate")[count:] if r["outcome"] == "timed"]
        self.assertEqual(before & set(again), set())

    def test_what_was_measured_says_more(self):
        self.tune("--budget", "10s")
        priced, = [r for r in self.records("candidate") if r["outcome"] != "started"][:1]
        wins = {**priced, "outcome": "wins", "ratio": 0.1, "opts": "unroll(n0,2)"}
        measured = {**wins, "machine": "here", "ratio": 0.9, "opts": "unroll(n0,4)"}
        self.log.write_text("".join(json.dumps(r) + "\n" for r in (wins, measured)))
        best, = json.loads(self.svodc("log", "best", self.log, "--json").stdout)["winners"]
        self.assertEqual(best["opts"], "unroll(n0,4)")

    def test_what_cannot_be(self):
        self.fails(2, "tune", "plan", self.model, "-o", self.folder / "w", "--search", "priced", says="no unit of it measures")
        self.fails(2, "tune", self.model, "--tuning-log", self.log, "--search", "priced", "--target", "cuda", "--cuda-arch", "sm_80,sm_90a",
                   "--nvrtc", "none", says="tune for each")
        self.fails(3, "tune", self.model, "--tuning-log", self.log, *CUDA, says="--search priced")


if __name__ == "__main__":
    main()
