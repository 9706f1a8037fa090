"""Running the tools from tests."""
import json
import os
import resource
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = (ROOT / os.environ.get("SVOD_BIN_DIR", "build/dev/bin")).resolve()

SANITIZERS = os.environ.get("SVOD_SANITIZE", "")  # that the tools were built with
skip_without_file_limit = unittest.skipIf("thread" in SANITIZERS, "ThreadSanitizer keeps memory in a temporary file")

SMALL = "svod 1\ninput x: f32[4, 8]\ninput y: f32[8, 5]\noutput z = relu(matmul(x, y))\n"
SYMBOLIC = "svod 1\nvar n in [1, 64]\ninput x: f32[n, 8]\noutput y = sum(exp(x), axes=1)\noutput z = x * 2\n"


def clean_environment(extra=None):
    """No variable of the caller changes what the tools do, no kernel is kept in its home, and no wrong plan in its folder."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SVOD_") and k not in ("NO_COLOR", "MAKEFLAGS")}
    return kept | {"SVOD_NO_CACHE": "1", "SVOD_REPRO_DIR": "none"} | (extra or {})


def run(tool, *words, stdin=None, env=None, cwd=None, stdout=subprocess.PIPE, limits=None, closed=(), user=None,
        processors=None):
    """`limits` are of resource.setrlimit; the file descriptors `closed` are not there for the tool,
    which runs as `user` (a number) and on `processors` (a set) if those are given."""

    def prepare():
        for kind, most in (limits or {}).items():
            resource.setrlimit(kind, (most, most))
        for descriptor in closed:
            os.close(descriptor)
        if processors:
            os.sched_setaffinity(0, processors)

    return subprocess.run([BIN / tool, *map(str, words)], input=stdin, env=clean_environment(env), cwd=cwd, stdout=stdout,
                          stderr=subprocess.PIPE, text=True, timeout=300, preexec_fn=prepare if limits or closed or processors else None, user=user)


class ToolTest(unittest.TestCase):
    """A test with a folder of its own, and checks that show what the tool said."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    if not hasattr(unittest.TestCase, "enterContext"):

        def enterContext(self, manager):
            value = manager.__enter__()
            self.addCleanup(manager.__exit__, None, None, None)
            return value

    def graph(self, text=SMALL, name="graph.svod"):
        path = self.folder / name
        path.write_text(text)
        return path

    def svodc(self, *words, code=0, **options):
        done = run("svodc", *words, **options)
        self.assertEqual(done.returncode, code, f"svodc {' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}")
        return done

    def fails(self, code, *words, says=(), **options):
        """It ends with this code and one clear message, and writes nothing to stdout."""
        done = self.svodc(*words, code=code, **options)
        self.assertIn("error: ", done.stderr)
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, done.stderr)
        return done


def winner(kernel, cpu, opts, **more):
    """A line of a tuning log: these opts won."""
    return json.dumps({"svod-tuning": 1, "kernel": kernel, "record": "candidate", "machine": "here", "compiler": "",
                       "target": f"cpu x86_64-unknown-linux-gnu {cpu} contract", "opts": opts, "origin": "test",
                       "outcome": "wins", "ratio": 0.5} | more) + "\n"


def npy(path, descr, shape, data):
    """A .npy file with these bytes behind its header."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({''.join(f'{d}, ' for d in shape)}), }}"
    header = header.ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + data)
    return path


def contents(folder):
    """Every file below a folder with its bytes."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(Path(folder).rglob("*")) if p.is_file()}


main = unittest.main
