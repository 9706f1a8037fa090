"""svodc tune: what it measures stays, whatever ends it, and compiling from it needs no more than the log."""
import fcntl
import json
import os
import pty
import random
import signal
import struct
import subprocess
import termios
import time

from svodc import BIN, ToolTest, clean_environment, contents, main, winner

GRAPH = "svod 1\ninput x: f32[48, 40]\ninput y: f32[40, 56]\noutput z = relu(matmul(x, y))\noutput s = softmax(x)\n"


def resize(terminal, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


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
        report = self.tune("--budget", "12s", "--search", "kernels")  # it ends by itself
        self.assertEqual(len(report["kernels"]), 2)
        self.assertGreater(report["candidates"], 0)
        self.assertLessEqual(report["expected"], 1)
        outcomes = {r["outcome"] for r in self.records() if r["record"] == "candidate"}
        self.assertIn("timed", outcomes)
        self.assertEqual({r["record"] for r in self.records()} - {"plan", "gain"}, {"kernel", "candidate", "graph"})
        usual = self.opts_of("usual", "--verify")
        for kernel, opts in self.winners().items():
            with self.log.open("a") as file:
                file.write(winner(kernel, "", opts, **{key: self.candidates()[0][key] for key in ("target", "machine", "compiler")},
                                  ratio=0.01))
        self.svodc("compile", self.model, "-o", self.folder / "a", "--tuning-log", self.log, "--verify")
        merged = self.folder / "merged"
        self.svodc("log", "merge", self.log, "-o", merged)
        self.svodc("compile", self.model, "-o", self.folder / "b", "--tuning-log", merged)
        self.assertEqual(contents(self.folder / "a"), contents(self.folder / "b"))
        best = {w["name"]: w["opts"] for w in json.loads(self.svodc("log", "best", self.log, "--json").stdout)["winners"]}
        self.assertEqual(set(best.values()), set(self.winners().values()))
        plan = self.opts_of("a", "--tuning-log", self.log)
        self.assertEqual(plan, best)
        self.assertTrue(all(plan[name] != usual[name] for name in plan))
        untuned = self.opts_of("untuned", "-O0", "--verify")
        self.assertEqual((set(untuned), set(untuned.values())), (set(plan), {""}))

    def opts_of(self, name, *words):
        self.svodc("compile", self.model, "-o", self.folder / name, *words)
        return {k["name"]: k["opts"] for k in json.loads((self.folder / name / "plan.json").read_text())["kernels"]}

    def winners(self):
        """For each kernel of the log a list that no strategy makes."""
        return {r["kernel"]: "upcast(n0,3) vector(n1,4)" if r["name"].startswith("z") else "upcast(n0,3)"
                for r in self.records() if r["record"] == "kernel"}

    def test_running_again_goes_on(self):
        first = self.start("--budget", "10m")
        self.wait_for(first, lambda all: sum(r["outcome"] != "started" for r in all) >= 6)
        self.interrupt(first)
        before = self.candidates()
        timed = {(r["kernel"], r["opts"]) for r in before if r["outcome"] == "started"}
        second = self.start("--budget", "10m")
        self.wait_for(second, lambda all: len(all) >= len(before) + 4)
        self.interrupt(second)
        again = {(r["kernel"], r["opts"]) for r in self.candidates()[len(before):] if r["outcome"] == "started"}
        self.assertEqual(timed & again, set())

    def test_a_budget_that_is_spent_at_once_measures_nothing(self):
        begun = time.monotonic()
        report = self.tune("--budget", "0.001s")
        self.assertLess(time.monotonic() - begun, 60)
        self.assertEqual(report["candidates"], 0)
        self.assertEqual(report["gained"], 0)
        self.assertEqual({r["record"] for r in self.records()} - {"kernel", "graph"}, set())
        self.assertEqual(report["untried"], 2)
        text = self.svodc("tune", self.model, "--tuning-log", self.log, "--budget", "0.001s").stdout
        for name in ("z", "s"):
            self.assertRegex(text, rf"(?m)^  {name}\w* +1 +- +- +0  (no time was left|its time was too short)$")
        self.assertIn("2 of 2; the same command again goes on", text)
        self.assertNotIn("0 ns", text)

    def test_what_the_log_knows_of_a_kernel_without_a_turn_is_told(self):
        first = self.tune("--budget", "8s", "--search", "kernels")
        self.assertEqual(first["untried"], 0)
        again = self.tune("--budget", "0.001s", "--search", "kernels")
        self.assertEqual((again["candidates"], again["untried"]), (0, 0))
        self.assertGreater(again["known"], 0)

    def test_beam(self):
        process = self.start("--budget", "10m", "--beam", "2")
        self.wait_for(process, lambda all: any(r["origin"] == "beam 1" for r in all))
        self.interrupt(process)

    def start(self, *words, env=None):
        return subprocess.Popen([BIN / "svodc", "tune", self.model, "--tuning-log", self.log, *words], env=clean_environment(env),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def candidates(self):
        """What stands in whole lines of the log."""
        text = self.log.read_text() if self.log.exists() else ""
        return [r for r in map(json.loads, text[:text.rfind("\n") + 1].splitlines()) if r["record"] == "candidate"]

    def wait_for(self, process, enough):
        """Until `enough` of the candidates says so, however slow the machine is."""
        deadline = time.monotonic() + 240
        while not enough(self.candidates()):
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                self.fail(f"it ended with {process.returncode}, or took too long: {process.communicate()[1]}")
            time.sleep(0.02)

    def tune_until(self, enough, *words, env=None):
        process = self.start("--budget", "10m", "--search", "kernels", *words, env=env)
        self.wait_for(process, enough)
        self.interrupt(process)

    def interrupt(self, process, number=signal.SIGINT):
        process.send_signal(number)
        _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 75, said)
        self.assertIn("the tuning log has all that was measured", said)

    def test_progress_for_programs(self):
        process = self.start("--budget", "10m", "--progress", "json")
        self.wait_for(process, lambda all: sum(r["outcome"] != "started" for r in all) >= 6)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=120)[1].splitlines()
        events = [json.loads(line) for line in said if line.startswith("{")]
        self.assertEqual([e["progress"] for e in events[:2]], ["begin", "turn"])
        self.assertEqual(events[-1]["kernels"], 2)
        self.assertEqual({len(e["hash"]) for e in events}, {32})
        for key, up in (("candidates", True), ("kernelsDone", True), ("secondsLeft", False)):
            values = [e[key] for e in events]
            self.assertEqual(values, sorted(values, reverse=not up))
        self.assertGreater(events[-1]["candidates"], 0)
        self.assertTrue(any(0 < e["nsBest"] <= e["nsUsual"] for e in events))
        self.assertTrue(all(0 < e["expected"] <= 1 for e in events))
        self.fails(2, "tune", self.model, "--tuning-log", self.log, "--progress", "xml", says="xml")

    def test_kernels_that_had_their_turn_are_done_at_the_end(self):
        done = self.svodc("tune", self.model, "--tuning-log", self.log, "--budget", "8s", "--json", "--progress", "json")
        events = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
        tried = [k for k in json.loads(done.stdout)["kernels"] if k["candidates"] > 0]
        self.assertEqual(events[-1]["progress"], "end")
        self.assertEqual((events[-1]["kernelsDone"], {e["kernels"] for e in events}), (len(tried), {2}))
        self.assertGreater(len(tried), 0)
        self.assertEqual({"decisions", "checks"} - {e["progress"] for e in events}, set())

    def test_progress_for_people(self):
        """A line as wide as the window, also where that changes: the kernel's name gives way."""
        name = "features_of_a_network_with_names_that_are_long"
        self.model = self.graph(GRAPH.replace("output z", f"output {name}"))
        ours, theirs = pty.openpty()
        resize(ours, 160)
        process = subprocess.Popen([BIN / "svodc", "tune", self.model, "--tuning-log", self.log, "--budget", "10m"],
                                   env=clean_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        numbers = r"^[01]/2 kernels, \d+ tried, \d+/s, [\d.]+ % of -O1, \d+:\d\d left; "
        times = r"[\d.]+ -> [\d.]+ us$"
        self.assertRegex(self.line_of(ours, lambda line: " us" in line), numbers + name[:32] + r"\w+: " + times)
        resize(ours, 90)
        self.assertRegex(self.line_of(ours, lambda line: ".." in line), numbers + r"fea\w+\.\.\w+: " + times)
        for columns in (80, 40):
            resize(ours, columns)
            self.line_of(ours, lambda line: len(line) < columns)
            for _ in range(5):
                self.assertLess(len(self.line_of(ours, lambda line: True)), columns)
        process.send_signal(signal.SIGINT)
        process.wait(120)
        os.close(ours)

    def line_of(self, terminal, wanted):
        """The next line of progress that is whole and wanted."""
        deadline, shown = time.monotonic() + 120, ""
        while time.monotonic() < deadline:
            shown += os.read(terminal, 4096).decode()
            lines = shown.split("\r\x1b[K")
            for line in lines[1:-1]:
                if wanted(line):
                    return line
            shown = "\r\x1b[K" + lines[-1]
        return self.fail("no such line was shown")

    def test_interrupts_leave_the_log(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            before = len(self.candidates())
            process = self.start("--budget", "10m")
            self.wait_for(process, lambda all: len(all) >= before + 4)
            self.interrupt(process, number)

    def test_kill_at_random_moments(self):
        moments = random.Random(1)
        for _ in range(5):
            process = self.start("--budget", "10m")
            more = len(self.candidates()) + moments.randrange(1, 8)
            self.wait_for(process, lambda all: len(all) >= more)
            time.sleep(moments.random() / 20)
            process.kill()
            process.communicate()
            candidates = self.candidates()
            ended = {(r["kernel"], r["opts"]) for r in candidates if r["outcome"] != "started"}
            open_ones = {(r["kernel"], r["opts"]) for r in candidates if r["outcome"] == "started"} - ended
            self.assertLessEqual(len(open_ones), 5)  # one for each kill
        starts = [(r["kernel"], r["opts"]) for r in candidates if r["outcome"] == "started"]
        self.assertEqual(len(starts), len(set(starts)))  # none was tried twice
        self.svodc("compile", self.model, "-o", self.folder / "p", "--tuning-log", self.log, "--verify")

    def origins(self):
        return {r["origin"].split()[0] for r in self.candidates()}

    def test_the_search_by_environment(self):
        """A variable is what its flag is, and the flag wins."""
        self.tune_until(lambda all: any(r["origin"].startswith("beam") for r in all), env={"SVOD_BEAM": "2"})
        self.assertLessEqual(self.origins(), {"-O1", "no", "beam"})
        self.log.unlink()
        self.tune_until(lambda all: any(r["origin"] == "mutation" for r in all), "--beam", "0", env={"SVOD_BEAM": "2"})
        self.log.unlink()
        self.tune_until(lambda all: any(r["outcome"] == "too-large" for r in all), env={"SVOD_MOST_INSTRUCTIONS": "30"})
        self.assertIn("and may have 30: ", next(r["reason"] for r in self.candidates() if r["outcome"] == "too-large"))
        for name, value in (("SVOD_BEAM", "-1"), ("SVOD_STOP_ABOVE", "0"), ("SVOD_COMPILE_SECONDS", "0"), ("SVOD_LEAST_GAIN", "100"),
                            ("SVOD_MOST_OF_LEAST", "0"), ("SVOD_TUNE_THREADS", "-1"), ("SVOD_CACHES", "hot"),
                            ("SVOD_SAME_CODE", "maybe"), ("SVOD_VARIABLES_AT", "101")):
            self.fails(2, "tune", self.model, "--tuning-log", self.log, env={name: value}, says=(name, value))

    def test_conditions_of_measuring_are_a_machine_of_their_own(self):
        for count, words in ((1, ()), (2, ("--caches", "cold")), (3, ("--threads", "2", "--whole-grids")), (4, ("--variables-at", "10"))):
            self.tune_until(lambda all, count=count: len({r["machine"] for r in all}) == count, *words)
        machines = {r["machine"] for r in self.candidates()}
        tried = len(self.candidates())
        for seconds in (1, 4, 16, 64):
            self.tune("--budget", f"{seconds}s", "--search", "kernels", processors={min(os.sched_getaffinity(0))})
            if len(self.candidates()) > tried:
                break
        self.assertGreater(len(self.candidates()), tried)
        self.assertEqual({r["machine"] for r in self.candidates()}, machines)  # which processors it may use is none
        usual = min(machines, key=len)
        self.assertIn(f", {os.cpu_count()} processor", usual)
        self.assertEqual(machines, {usual, usual + ", cold caches", usual + ", 2 threads", usual + ", variables at 10 %"})

    def test_the_number_of_threads_is_left_to_the_search(self):
        many = len(os.sched_getaffinity(0))
        self.tune_until(bool, "--threads", "0")
        self.assertEqual({r["machine"].endswith(f", {many} threads") for r in self.candidates()}, {many > 1})
        self.log.unlink()
        self.tune_until(lambda all: {"2 threads", "3 threads"} <= {r["origin"] for r in all}, "--threads", "3")

    def test_what_cannot_be(self):
        self.fails(2, "tune", self.model, says="--tuning-log")
        self.fails(2, "tune", self.model, "--tuning-log", self.log, "--budget", "soon", says="soon")
        self.fails(2, "tune", self.model, "--tuning-log", self.log, "--opts", "z=", says="--opts")
        self.fails(2, "tune", self.model, "--tuning-log", self.log, "-O0", says="no flag '-O0'")
        self.fails(2, "tune", self.model, "--tuning-log", self.log, "--caches", "hot", env={"SVOD_CACHES": "cold"}, says="--caches")
        self.fails(3, "tune", self.model, "--tuning-log", self.log, "--target", "c", says=("target c", "leave --target out"))
        self.fails(3, "tune", self.model, "--tuning-log", self.log, env={"SVOD_TARGET": "c"}, says="leave SVOD_TARGET out")
        self.fails(3, "tune", self.model, "--tuning-log", self.log, "--cpu", "neoverse-n1", "--triple", "aarch64-unknown-linux-gnu")
        self.fails(74, "tune", self.model, "--tuning-log", self.folder / "no/log", "--budget", 1)
        self.assertFalse(self.log.exists())


if __name__ == "__main__":
    main()
