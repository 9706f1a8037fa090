"""A tune that is killed again and again: nothing that was measured is lost, and what the log says does not depend on it."""
import json
import random
import subprocess
import time

from svodc import BIN, ToolTest, clean_environment, contents, main

GRAPH = ("svod 1\ninput x: f32[48, 40]\ninput y: f32[40, 56]\noutput z = relu(matmul(x, y))\noutput s = softmax(x)\n"
         "output c = cumsum(x, axis=1)\noutput t = exp(transpose(x)) * 2\n")
KILLS, PROCESSES = 20, 8


class Kill(ToolTest):
    def setUp(self):
        super().setUp()
        self.model, self.log = self.graph(GRAPH), self.folder / "tuning.log"

    def start(self, *words):
        return subprocess.Popen([BIN / "svodc", "tune", self.model, "--tuning-log", self.log, *words], env=clean_environment(),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def records(self):
        text = self.log.read_text() if self.log.exists() else ""
        self.assertTrue(text.endswith("\n") or not text)
        return [r for r in map(json.loads, text.splitlines()) if r["record"] == "candidate"]

    def wait_for_lines(self, process, count):
        deadline = time.monotonic() + 240
        while (self.log.read_bytes().count(b"\n") if self.log.exists() else 0) < count:
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                self.fail(f"{process.returncode}: {process.communicate()[1]}")
            time.sleep(0.005)

    def test_twenty_kills(self):
        """Each resume loses at most the candidate that ran, and a log that was cut twenty times gives the plan of one that
        was not."""
        moments = random.Random(17)
        before, never_ended = [], set()
        for kill in range(KILLS):
            process = self.start("--budget", "10m")
            lines = self.log.read_bytes().count(b"\n") if self.log.exists() else 0
            self.wait_for_lines(process, lines + moments.randrange(1, 12))
            time.sleep(moments.random() / 10)
            process.kill()
            process.communicate()
            after = self.records()
            self.assertEqual(after[:len(before)], before)  # nothing that stood there is gone
            ended = {(r["kernel"], r["opts"]) for r in after if r["outcome"] != "started"}
            open_ones = {(r["kernel"], r["opts"]) for r in after if r["outcome"] == "started"} - ended
            self.assertLessEqual(len(open_ones - never_ended), 1, f"kill {kill}")
            never_ended |= open_ones
            before = after
        starts = [(r["kernel"], r["opts"]) for r in before if r["outcome"] == "started"]
        self.assertEqual(len(starts), len(set(starts)))
        # As a run that nobody disturbed writes it: no candidates that only began, each record once and in order.
        known = [json.dumps(r) for r in map(json.loads, self.log.read_text().splitlines())
                 if r.get("outcome") != "started"]
        undisturbed = self.folder / "undisturbed.log"
        undisturbed.write_text("".join(line + "\n" for line in dict.fromkeys(known)))
        for name, log in (("a", self.log), ("b", undisturbed)):
            self.svodc("compile", self.model, "-o", self.folder / name, "--tuning-log", log)
        self.assertEqual(contents(self.folder / "a"), contents(self.folder / "b"))

    def test_eight_processes_on_one_log(self):
        """Every record of every process stands in the log as a line of its own, and merging it is the same in any order."""
        processes = [self.start("--budget", "8s", "--progress", "json") for _ in range(PROCESSES)]
        tried = []
        for process in processes:
            _, said = process.communicate(timeout=280)
            self.assertEqual(process.returncode, 0, said)
            tried.append(max(json.loads(line)["candidates"] for line in said.splitlines() if line.startswith("{")))
        lines = self.log.read_text().splitlines()
        records = [json.loads(line) for line in lines]  # none is torn
        verdicts = [r for r in records if r["record"] == "candidate" and r["outcome"] != "started" and r.get("ratio", 0) == 0]
        self.assertGreaterEqual(len(verdicts), sum(tried))
        parts = [self.folder / f"part-{i}" for i in range(PROCESSES)]
        for i, part in enumerate(parts):
            part.write_text("".join(line + "\n" for line in lines[i::PROCESSES]))
        merged = self.svodc("log", "merge", self.log).stdout
        for order in (parts, parts[::-1], parts[3:] + parts[:3] + parts, [self.log, *parts, self.log]):
            self.assertEqual(self.svodc("log", "merge", *order).stdout, merged)
        again = self.folder / "again"
        again.write_text(merged)
        self.assertEqual(self.svodc("log", "merge", again, again).stdout, merged)
        self.assertEqual(self.svodc("log", "stats", self.log).stderr, "")


if __name__ == "__main__":
    main()
