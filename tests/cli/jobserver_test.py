"""How many kernels svodc compiles at once: as many as a GNU make that runs it gives jobs for, or its control group pays for."""
import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import termios
import time
import unittest
from pathlib import Path

from svodc import BIN, ROOT, ToolTest, clean_environment, contents, main

GRAPH = "svod 1\ninput x: f32[64, 64]\n" + "".join(f"v{i} = matmul({f'v{i - 1}' if i else 'x'} + {i}.5, x)\n" for i in range(24)) + "output y = v23\n"
TOKENS = b"abcde"


class JobServer(ToolTest):
    def setUp(self):
        super().setUp()
        self.fifo = self.folder / "jobs"
        os.mkfifo(self.fifo)
        self.end = os.open(self.fifo, os.O_RDWR)
        os.write(self.end, TOKENS)
        self.addCleanup(os.close, self.end)

    def left(self):
        count = bytearray(4)
        fcntl.ioctl(self.end, termios.FIONREAD, count)
        return int.from_bytes(count, "little")

    def start(self, *words, flags, fds=()):
        environment = clean_environment({"MAKEFLAGS": flags, "SVOD_NO_CACHE": "1"})
        return subprocess.Popen([BIN / "svodc", *map(str, words)], env=environment, pass_fds=fds, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def watch(self, process):
        """The least number of tokens that were left."""
        least = len(TOKENS)
        while process.poll() is None:
            least = min(least, self.left())
        return least

    def finish(self, process, code=0):
        said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, code, said)
        self.assertEqual(sorted(os.read(self.end, 100)), sorted(TOKENS))
        os.write(self.end, TOKENS)
        return said

    def test_both_forms(self):
        graph = self.graph(GRAPH)
        self.svodc("compile", graph, "-o", self.folder / "alone", "-j1")
        read, write = os.open(self.fifo, os.O_RDONLY), os.open(self.fifo, os.O_WRONLY)
        forms = ((f" -j6 --jobserver-auth=9,9 --jobserver-auth=fifo:{self.fifo}", ()), (f"w -j6 --jobserver-auth={read},{write} -- X=1", (read, write)),
                 (f" -j6 --jobserver-fds={read},{write}", (read, write)))
        for i, (flags, fds) in enumerate(forms):
            with self.subTest(flags):
                process = self.start("compile", graph, "-o", self.folder / f"p{i}", flags=flags, fds=fds)
                self.assertLess(self.watch(process), len(TOKENS))
                self.assertEqual(self.finish(process), "")
                self.assertEqual(contents(self.folder / f"p{i}"), contents(self.folder / "alone"))
        os.close(read), os.close(write)

    def test_given_back_after_an_error(self):
        graph, flags = self.graph(GRAPH), f" -j6 --jobserver-auth=fifo:{self.fifo}"
        process = self.start("compile", graph, "-o", self.folder / "p", "--opts", "v23=vector(n9,7)", flags=flags)
        self.watch(process)
        self.assertIn("bad-opt", self.finish(process, code=1))

    def test_given_back_after_an_interrupt(self):
        text = subprocess.run(["python3", ROOT / "scripts/make_graph.py", "3000"], capture_output=True, text=True, check=True).stdout
        process = self.start("compile", self.graph(text), "-o", self.folder / "p", flags=f" -j6 --jobserver-auth=fifo:{self.fifo}")
        until = time.monotonic() + 60
        while self.left() == len(TOKENS) and time.monotonic() < until:
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        self.finish(process, code=75)

    def test_own_jobs_are_not_asked_for(self):
        process = self.start("compile", self.graph(GRAPH), "-o", self.folder / "p", "-j2", flags=f" -j6 --jobserver-auth=fifo:{self.fifo}")
        self.assertEqual(self.watch(process), len(TOKENS))
        self.finish(process)

    def test_out_of_reach(self):
        (self.folder / "file").write_text("jobs")
        for auth in ("-2,-2", "91,92", "1", "fifo:/nowhere", f"fifo:{self.folder}/file"):
            with self.subTest(auth):
                process = self.start("compile", self.graph(GRAPH), "-o", self.folder / "p", flags=f" -j6 --jobserver-auth={auth}")
                self.assertIn("one by one", self.finish(process))

    @unittest.skipUnless(shutil.which("make"), "needs make")
    def test_make(self):
        self.graph(GRAPH)
        (self.folder / "Makefile").write_text("all: a b c\na b c:\n\t+" f"{BIN}/svodc compile graph.svod -o $@\n")
        done = subprocess.run(["make", "-j3"], cwd=self.folder, env=clean_environment({"SVOD_NO_CACHE": "1"}), capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(contents(self.folder / "a"), contents(self.folder / "c"))


class ControlGroup(ToolTest):
    """Version 1 of control groups, where this process may make one."""

    def most_threads(self, group=None):
        def enter():
            if group:
                (group / "cgroup.procs").write_text(str(os.getpid()))

        process = subprocess.Popen([BIN / "svodc", "compile", self.graph(GRAPH), "-o", self.folder / "p"], env=clean_environment({"SVOD_NO_CACHE": "1"}),
                                   preexec_fn=enter, stdout=subprocess.DEVNULL)
        most = 0
        while process.poll() is None:
            with contextlib.suppress(OSError):
                most = max(most, len(os.listdir(f"/proc/{process.pid}/task")))
        self.assertEqual(process.returncode, 0)
        return most

    def test_quota(self):
        group = Path(f"/sys/fs/cgroup/cpu/svod-test-{os.getpid()}")
        try:
            group.mkdir()
        except OSError:
            self.skipTest("needs the right to make a control group")
        self.addCleanup(group.rmdir)
        (group / "cpu.cfs_period_us").write_text("100000")
        (group / "cpu.cfs_quota_us").write_text("100000")
        free = self.most_threads()
        if free < 3:
            self.skipTest("needs two processors")
        self.assertLess(self.most_threads(group), free)


if __name__ == "__main__":
    main()
