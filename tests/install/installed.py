"""A user's project outside of the source tree, which finds svod in a prefix and nothing else of this repository."""
import os
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from svodc import BIN, ROOT, ToolTest, clean_environment, npy  # noqa: E402, F401

PROJECT = ROOT / "tests/install/project"


class InstallTest(ToolTest):
    def command(self, *words, cwd=None, code=0, **environment):
        done = subprocess.run([*map(str, words)], cwd=cwd or self.folder, env=clean_environment(environment), capture_output=True, text=True)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def project(self):
        """A copy, with a weight file."""
        copy = self.folder / "project"
        shutil.copytree(PROJECT, copy)
        self.weights(copy, 2)
        return copy

    def weights(self, project, factor):
        npy(project / "w.npy", "<f4", (3,), struct.pack("<3f", factor, factor, factor))

    def touch(self, *path):
        time.sleep(0.02)
        os.utime(self.folder.joinpath(*path))
        time.sleep(0.02)
