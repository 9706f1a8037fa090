"""svodc tune run: an attempt at a unit that ends early, and what the next one makes of it."""
import json
import os
import signal
import socket
import subprocess
import time

from svodc import BIN, clean_environment, main
from tune_work import WorkTest


class Attempts(WorkTest):
    def quick_unit(self):
        """Of one kernel whose search comes to its end."""
        self.model.write_text("svod 1\ninput x: f32[8]\noutput y = exp(x)\n")
        self.plan("--budget", "10m", "--search", "kernels", "--beam", "1")
        return json.loads(self.svodc("tune", "run", self.work, "--unit", 0, "--json").stdout)

    def test_a_unit_whose_log_is_lost_or_damaged_is_not_done(self):
        self.assertGreater(self.quick_unit()["candidates"], 0)
        log, = self.work.glob("units/*/attempt-1.log")
        text, done = log.read_text(), (log.parent / "done").read_text()
        for damaged in (None, text + "what\n", text[:len(text) // 2], "\0" * len(text)):
            for each in self.work.glob("units/*/attempt-*.log"):
                each.unlink()
            (log.parent / "done").write_text(done)
            if damaged:
                log.write_text(damaged)
            said = self.svodc("tune", "status", self.work, "--json")
            unit, = json.loads(said.stdout)["units"]
            self.assertEqual((unit["state"], json.loads(said.stdout)["damaged"]), ("damaged", 1))
            self.assertIn("--unit 0 does it again", said.stderr)
            self.assertEqual("is no record" in said.stderr, damaged is not None and "what" in damaged)
            self.svodc("tune", "run", self.work, "--unit", 0)
            self.assertEqual(self.status()["done"], 1)

    def test_an_attempt_goes_on_from_those_before_it_so_all_are_needed(self):
        self.quick_unit()
        log, = self.work.glob("units/*/attempt-1.log")
        (log.parent / "done").unlink()
        report = json.loads(self.svodc("tune", "run", self.work, "--unit", 0, "--json").stdout)
        self.assertEqual(report["candidates"], 0)  # all was known: that is an end, too
        unit, = self.status()["units"]
        self.assertEqual((unit["state"], unit["attempts"]), ("done", 2))
        self.assertEqual(unit["host"], socket.gethostname())
        self.assertLess(unit["age"], 600)
        hour = time.time() - 7300
        os.utime(log.parent / "attempt-2.log", (hour, hour))
        self.assertIn("2 h", self.svodc("tune", "status", self.work).stdout)
        log.unlink()
        unit, = self.status()["units"]
        self.assertEqual((unit["state"], unit["attempts"]), ("damaged", 1))

    def test_a_unit_without_the_time_to_measure_is_not_done(self):
        self.plan("--budget", "0.01s", "--units", "1")
        self.fails(75, "tune", "run", self.work, "--unit", "0", says=["before anything was measured", "greater --budget"])
        unit, = self.status()["units"]
        self.assertEqual((unit["state"], unit["attempts"], unit["candidates"]), ("started", 1, 0))

    def start(self, unit, *words):
        return subprocess.Popen([BIN / "svodc", "tune", "run", self.work, "--unit", str(unit), *words], env=clean_environment(),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for(self, process, pattern, count):
        deadline = time.monotonic() + 240
        while len(self.records(pattern)) < count:
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                self.fail(process.communicate()[1])
            time.sleep(0.05)

    def test_attempts(self):
        self.plan("--budget", "10m", "--units", "1")
        first = self.start(0)
        self.wait_for(first, "attempt-1.log", 5)
        first.kill()
        first.communicate()
        (unit,) = self.status()["units"]
        self.assertEqual((unit["state"], unit["attempts"]), ("started", 1))
        second = self.start(0)
        self.wait_for(second, "attempt-2.log", 4)
        second.send_signal(signal.SIGTERM)
        said = second.communicate(timeout=120)[1]
        self.assertEqual(second.returncode, 75, said)
        self.assertIn("the log of this attempt has all that was measured", said)
        starts = [(r["kernel"], r["opts"]) for r in self.records() if r["outcome"] == "started"]
        self.assertEqual(len(starts), len(set(starts)))
        self.assertEqual(self.status()["units"][0]["attempts"], 2)

    def test_attempts_at_once_have_logs_of_their_own(self):
        self.plan("--budget", "10m", "--units", "1")
        processes = [self.start(0) for _ in range(3)]
        for number in (1, 2, 3):
            self.wait_for(processes[0], f"attempt-{number}.log", 2)
        for process in processes:
            process.kill()
            process.communicate()
        self.assertEqual(len(list(self.work.glob("units/*/*.log"))), 3)


if __name__ == "__main__":
    main()
