"""Places that are no ordinary files or folders: pipes, file systems without the right to execute, a system without /proc."""
import json
import os
import shutil
import subprocess
import threading
import unittest

from svodc import BIN, SYMBOLIC, ToolTest, clean_environment, main, npy, run


def in_own_mounts(script):
    """A shell that may mount for itself alone."""
    return subprocess.run(["unshare", "-m", "sh", "-ec", script], capture_output=True, text=True, env=clean_environment(), timeout=120)


can_mount = bool(shutil.which("unshare")) and in_own_mounts("mount -t tmpfs none /mnt").returncode == 0


class Pipes(ToolTest):
    def setUp(self):
        super().setUp()
        self.plan, self.x = self.folder / "p", self.folder / "x.npy"
        self.model = self.graph(SYMBOLIC)
        self.assertEqual(run("svodc", "compile", self.model, "-o", self.plan).returncode, 0)
        npy(self.x, "<f4", (2, 8), bytes(64))

    def execute(self, *words, **named):
        done = run("svod-run", self.plan, "-i", f"x={self.x}", *words, **named)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_trace_goes_through_a_pipe(self):
        said = self.execute("--trace", "/dev/stdout")
        self.assertTrue(json.JSONDecoder().raw_decode(said)[0]["traceEvents"])
        pipe, got = self.folder / "pipe", []
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
        reader.start()
        for _ in range(50):  # until the reader has opened it
            done = run("svod-run", self.plan, "-i", f"x={self.x}", "--trace", pipe)
            if done.returncode == 0:
                break
        reader.join(60)
        self.assertTrue(json.loads(got[0])["traceEvents"])

    def test_a_profile_comes_through_a_pipe(self):
        profile = self.execute("--json")
        want = run("svodc", "inspect", self.model, "--kernels", "--profile", self.saved(profile)).stdout
        self.assertIn("measured", want)
        for name in ("-", "/dev/stdin"):
            done = run("svodc", "inspect", self.model, "--kernels", "--profile", name, stdin=profile)
            self.assertEqual((done.returncode, done.stdout), (0, want), done.stderr)
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: pipe.write_text(profile))
        writer.start()
        done = run("svodc", "inspect", self.model, "--kernels", "--profile", pipe)
        writer.join(60)
        self.assertEqual((done.returncode, done.stdout), (0, want), done.stderr)

    def saved(self, text):
        path = self.folder / "profile.json"
        path.write_text(text)
        return path


@unittest.skipUnless(can_mount, "nothing can be mounted here")
class Mounts(ToolTest):
    def setUp(self):
        super().setUp()
        done = run("svodc", "compile", self.graph(), "-o", self.folder / "p", "--emit", f"pack={self.folder}/p.pack")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_code_on_a_file_system_without_the_right_to_execute(self):
        there = self.folder / "there"
        there.mkdir()
        mount = f"mount -t tmpfs -o noexec none {there}; cp -r {self.folder}/p {self.folder}/p.pack {there}; "
        done = in_own_mounts(f"{mount}{BIN}/svod-run {there}/p --explain")
        self.assertEqual(done.returncode, 74, done.stderr)
        self.assertIn("its file system is mounted noexec [io]", done.stderr)
        self.assertIn("--emit pack=FILE", done.stderr)
        done = in_own_mounts(f"{mount}{BIN}/svod-run {there}/p.pack --explain")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_system_without_proc(self):
        done = in_own_mounts(f"umount -l /proc; {BIN}/svod-run {self.folder}/p.pack --explain")
        self.assertEqual(done.returncode, 74, done.stderr)
        self.assertIn("/proc is not mounted [io]", done.stderr)
        self.assertIn("load the plan as a folder", done.stderr)
        done = in_own_mounts(f"umount -l /proc; {BIN}/svod-run {self.folder}/p --explain --threads 0")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()
