"""The package as pip installs it, for the tests beside this file: `svod`, `BIN`, and a folder of their own."""
import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

try:
    import numpy  # noqa: F401
except ImportError:
    print("skipped: numpy is not installed (python3-numpy)")
    sys.exit(77)

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = (ROOT / os.environ["SVOD_BIN_DIR"]).resolve()
WHEELS = BIN.parent / "python"
FOLDER = Path(tempfile.mkdtemp())
OWNER = os.getpid()


def _remove():
    if os.getpid() == OWNER:  # not a process that was forked
        shutil.rmtree(FOLDER, ignore_errors=True)


atexit.register(_remove)
# Where pip is there it installs the folder, building the wheel; a wheel is a zip file otherwise.
PIP = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", "--root-user-action=ignore",
       "--target", FOLDER, WHEELS]
if subprocess.run(PIP, capture_output=True).returncode != 0:
    zipfile.ZipFile(next(WHEELS.glob("*.whl"))).extractall(FOLDER)
sys.path.insert(0, str(FOLDER))
import svod  # noqa: E402


def compiled(graph, name="plan", **flags):
    return svod.compile(graph, FOLDER / name, svodc=BIN / "svodc", no_cache=True, **flags)


class Case(unittest.TestCase):
    def refused(self, says, call, *words, **named):
        with self.assertRaises(svod.SvodError) as caught:
            call(*words, **named)
        self.assertIn(says, str(caught.exception))
        self.assertTrue(caught.exception.help)
        return caught.exception


def each_case(rows):
    """Makes every row of a table a test of its own, which the method `check` of the class does."""
    def add(owner):
        for key, row in rows.items():
            name = "test_" + re.sub(r"\W+", "_", key).strip("_")
            while hasattr(owner, name):
                name += "_"
            setattr(owner, name, lambda self, key=key, row=row: self.check(key, row))
        return owner
    return add
