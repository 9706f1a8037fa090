"""Bad input to the real programs. Every case ends with the exit code that the table of diagnostics gives its code,
says so in exactly one message and leaves nothing behind; every row of the table has a case."""
import hashlib
import json
import os
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from svodc import (BIN, ROOT, SANITIZERS, SMALL, SYMBOLIC, ToolTest, clean_environment, contents, main,  # noqa: E402
                   npy, run, skip_without_file_limit)

CORPUS = Path(__file__).resolve().parent / "graph"
# Rows that nothing can show yet, and why. A row that the sources use does not belong here.
NOT_SHOWN = {"verify": "it says that svodc itself is broken: tests/pass and tests/ir show it with passes and graphs made for that"}

TABLE = {row["code"]: row["exitCode"] for row in json.loads(run("svodc", "--list-diagnostics", "--json").stdout)}
ERROR = re.compile(r"^(?:\S.*?: )?error: (.*) \[([a-z-]+)\]$", re.M)
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # that a terminal obeys
shown = set()


def seal(text):
    """plan.json with the checksum that belongs to it, as if it had been written so."""
    at = text.index('"checksum": "') + len('"checksum": "')
    text = text[:at] + "0" * 64 + text[at + 64:]
    return text[:at] + hashlib.sha256(text.encode()).hexdigest() + text[at + 64:]


class Case(ToolTest):
    """Every test starts in a folder with x.npy and graph.svod, and `plan` compiled from it on demand."""

    def setUp(self):
        super().setUp()
        self.graph(SYMBOLIC)
        npy(self.folder / "x.npy", "<f4", (3, 8), struct.pack("<24f", *range(24)))

    def plan(self, text=SYMBOLIC, *words):
        self.svodc("compile", self.graph(text), "-o", self.folder / "plan", *words)
        return self.folder / "plan"

    def edit(self, before, after):
        manifest = self.folder / "plan/plan.json"
        text = manifest.read_text()
        self.assertIn(before, text)
        manifest.write_text(text.replace(before, after, 1))

    def refused(self, code, tool, *words, says="", **options):
        before = contents(self.folder)
        done = run(tool, *words, cwd=self.folder, **options)
        self.check(code, done, says)
        self.assertEqual(contents(self.folder), before, "something was left behind")

    def check(self, code, done, says="", printed=""):
        self.assertEqual(done.returncode, TABLE[code], f"{done.args}\n{done.stderr}")
        found = ERROR.findall(done.stderr)
        self.assertEqual([c for _, c in found], [code], done.stderr)
        self.assertIn("\n  help: ", done.stderr, f"no help: {done.args}\n{done.stderr}")
        self.assertNotRegex(done.stderr, CONTROLS)
        self.assertIn(says, done.stderr)
        self.assertRegex(done.stdout or "", rf"\A{printed}\Z")
        shown.add(code)

    def graph_refused(self, code, body, says=""):
        self.graph(f"svod 1\ninput x: f32[2, 3]\n{body}\n")
        self.refused(code, "svodc", "compile", "graph.svod", "-o", "new", says=says)


class Graphs(Case):
    def test_every_file_of_the_corpus(self):
        for graph in sorted(CORPUS.glob("*.svod")) + sorted(CORPUS.glob("*.json")):
            expected = (CORPUS / (graph.name + ".expect")).read_text()
            codes = re.findall(r"error: .* \[([a-z-]+)\]$", expected, re.M)
            words = re.search(r"# options:(.*)", graph.read_text(errors="replace"))
            name = graph.relative_to(ROOT)
            done = run("svodc", "check", name, *(words[1].split() if words else []), cwd=ROOT)
            with self.subTest(graph=graph.name):
                self.assertEqual(done.stderr, expected)
                self.assertEqual(done.returncode, TABLE[codes[0]])
                self.assertEqual(done.stdout, "")
                shown.update(codes)

    def test_loops_too_long_to_be_unrolled(self):
        loop = "loop i < 40000, unroll=true {\n  assign s = s + 1\n}\n"
        self.graph_refused("too-large", "state s: i64\n" + 2 * loop, says="too long to be unrolled")

    def test_mistakes_in_text(self):
        for code, body, says in (
            ("syntax", "output y = (x", "graph.svod:"),
            ("syntax", 'output y = "x', "graph.svod:3:"),
            ("unknown-op", "output y = sofmax(x)", "did you mean 'softmax'?"),
            ("unknown-dtype", "output y = cast(x, dtype=float32)", "it is called 'f32' here"),
            ("unknown-dtype", "weight w: f33[2] = 0\noutput y = w", "did you mean 'f32'?"),
            ("unknown-name", "output y = z", "'z'"),
            ("arity", "output y = exp(x, x)", "exp"),
            ("shape-mismatch", "output y = matmul(x, x)", "f32[2, 3], f32[2, 3]"),
            ("dtype-mismatch", "output y = and(x, x)", "f32"),
            ("cycle", "a = b + 1\nb = a + 1\noutput y = b", "a"),
            ("duplicate-name", "x = exp(x)\noutput y = x", "'x'"),
            ("bad-attribute", "output y = sum(x, axis=0)", "axes"),
            ("no-outputs", "y = exp(x)", "output"),
            ("variable-bounds", "var n in [5, 2]\noutput y = x", "5"),
            ("too-large", "output y = expand(reshape(x, shape=[2, 3, 1]), shape=[2, 3, 4000000000000000000])", ""),
            ("syntax", "output y = x + " + "(" * 100000, "nest"),
        ):
            with self.subTest(body=body[:80]):
                self.graph_refused(code, body, says)

    def test_json(self):
        for text, says in (("{", "graph.json:1:"), ("", "graph.json"), ("[" * 100000, "graph.json:1:"), ('{"svod": 1e999}', "graph.json"),
                           ("\x00\xff", "graph.json")):
            (self.folder / "graph.json").write_text(text, encoding="latin-1")
            self.refused("syntax", "svodc", "check", "graph.json", says=says)

    def test_flags_say_what_to_do_next(self):
        self.plan(SYMBOLIC, "--var", "n=4:16")
        (self.folder / "decided").write_text("# a comment\n\nkeep:y\n")
        wide = npy(self.folder / "wide.npy", "<f4", (20, 8), bytes(20 * 8 * 4))
        for code, words, says in (
            ("usage", ["svodc", "inspect", "graph.svod", "--decide-from", "decided"], "decided:3:1: error: 'keep:y' is no decision"),
            ("usage", ["svodc", "inspect", "graph.svod", "--decide", "keep:y=keep"], "help: "),
            ("usage", ["svodc", "inspect", "graph.svod", "--opts", "=vector(n0,8)"], "--opts needs KERNEL=LIST"),
            ("bad-opt", ["svodc", "inspect", "graph.svod", "--opts", "y=vectr(n0,8)"], "in --opts for kernel 'y'"),
            ("variable-bounds", ["svodc", "check", "graph.svod", "--var", "n=65"], "give it other bounds: --var n="),
            ("unknown-port", ["svodc", "check", "graph.svod", "--var", "n=k"], "--var k=MIN:MAX"),
            ("shape-mismatch", ["svodc", "check", "graph.svod", "--shape", "x=5"], "it is declared as [n, 8]"),
            ("usage", ["svod-run", "plan", "-i", "x=x.npy", "--repeat", "0"], "leave it out to run once"),
            ("variable-bounds", ["svod-run", "plan", "-i", f"x={wide}"], "svodc inspect PLAN shows"),
        ):
            with self.subTest(words=words):
                self.refused(code, *words, says=says)

    def test_flags_about_values(self):
        for code, words in (("variable-bounds", ["--var", "n=65"]), ("unknown-port", ["--var", "m=1"]), ("bad-npy", ["--const", "x=junk.npy"]),
                            ("io", ["--const", "x=none.npy"]), ("bind-mismatch", ["--var", "n=4", "--shape", "x=5x8"]),
                            ("shape-mismatch", ["--shape", "x=3x9"])):
            (self.folder / "junk.npy").write_text("junk")
            with self.subTest(words=words):
                self.refused(code, "svodc", "compile", "graph.svod", "-o", "new", *words)

    def test_weight_files(self):
        good = npy(self.folder / "w.npy", "<f4", (2, 3), bytes(24)).read_bytes()
        weight = 'weight w: f32[2, 3] = "w.npy"\noutput y = x + w'
        for code, change in (("bad-npy", good[:-1]), ("bad-npy", good + b"x"), ("bad-npy", b""), ("bad-npy", good[:40]),
                             ("bad-weights", good.replace(b"<f4", b"<i4")), ("bad-weights", good.replace(b"(2, 3, )", b"(3, 2, )")),
                             ("bad-npy", good.replace(b"(2, 3, )", b"(1 << 62, )")), ("bad-npy", good.replace(b"<f4", b">f4")),
                             ("bad-npy", good.replace(b"(2, 3, )", b"(4294967296, 4294967296, 4294967296, )"))):
            (self.folder / "w.npy").write_bytes(change)
            with self.subTest(code=code, file=change[:128]):
                self.graph_refused(code, weight, "w.npy")
        (self.folder / "w.npy").unlink()
        self.graph_refused("io", weight, "w.npy")
        header = b'{"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}'
        good = struct.pack("<Q", len(header)) + header + bytes(24)
        weight = 'weight w: f32[2, 3] = "w.safetensors:w"\noutput y = x + w'
        for change in (good[:-1], good[:20], b"", struct.pack("<Q", 1 << 63) + good[8:], good.replace(b"0, 24", b"8, 32"),
                       good.replace(b"[2, 3]", b"[2, 9]")):
            (self.folder / "w.safetensors").write_bytes(change)
            with self.subTest(file=change[:80]):
                self.graph_refused("bad-safetensors", weight, "w.safetensors")
        for change in (good.replace(b"F32", b"F99"), good.replace(b"F32", b"I32"), good.replace(b'"w"', b'"v"')):
            (self.folder / "w.safetensors").write_bytes(change)
            with self.subTest(file=change[:80]):
                self.graph_refused("bad-weights", weight, "w.safetensors")

    def test_odd_files(self):
        os.mkfifo(self.folder / "pipe.npy")
        (self.folder / "folder.npy").mkdir()
        (self.folder / "zero.npy").symlink_to("/dev/zero")
        for name in ("pipe.npy", "folder.npy", "zero.npy"):
            with self.subTest(name=name):
                self.graph_refused("io", f'weight w: f32[2, 3] = "{name}"\noutput y = x + w', name)
        self.graph_refused("bad-weights", 'weight w: f32[2, 3] = "letter.txt"\noutput y = x + w', "letter.txt")
        self.refused("io", "svodc", "check", "folder.npy")


class Compiling(Case):
    def compile(self, code, *words, says="", **options):
        self.refused(code, "svodc", "compile", "graph.svod", "-o", "new", *words, says=says, **options)

    def test_usage(self):
        for words, says in ((["--numeric", "fast"], "did you mean '--numerics'?"), (["-j"], "-j, --jobs N"), (["-j", "x"], "not 'x'"), (["-j", ""], "not ''"),
                            (["-j", "0x10"], "not '0x10'"), (["-j", "9" * 20], "not '99999"),
                            (["--disable-rule", "add-zerro"], "--disable-rule"), (["--target", "gpu"], "cpu, c, cuda"), (["again"], "'again'")):
            with self.subTest(words=words):
                self.compile("usage", *words, says=says)
        self.refused("usage", "svodc", "targets", "again", says="'again'")
        self.compile("usage", env={"SVOD_JOBS": "many"}, says="SVOD_JOBS")

    def test_opts(self):
        self.compile("bad-opt", "--opts", "y=upcast(7,2)", says="upcast(7,2)")
        self.compile("bad-opt", "--opts", "y=tilt(0,2)")

    def test_code_generation(self):
        self.compile("compile-failed", "--target", "c", "--cc", "false")
        self.compile("compile-failed", "--target", "c", "--cc", "no-such-compiler", says="no-such-compiler")

    def test_unsupported(self):
        self.compile("unsupported", "--cpu", "z80", says="z80")
        self.compile("unsupported", "--triple", "pdp11-dec-ultrix", says="pdp11")

    def test_results_that_differ(self):
        # The interpreter has functions compiled without optimizations.
        (self.folder / "f.c").write_text("void f(float *y, const float *x) {\n  y[0] = x[0];\n#ifdef __OPTIMIZE__\n  y[0] = 99;\n#endif\n}\n")
        self.graph('svod 1\ninput x: f32[1]\noutput y = custom(x, source="f.c", function=f, shape=[1])\n')
        self.compile("mismatch", "--verify", "--allow-c", "--repro-dir", "none", says="y[0]")

    def test_outputs_that_cannot_be_written(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine/letter.txt").write_text("keep me")
        for path in ("mine", "graph.svod", "no/such/plan", "/dev/null", ".", "/", "/proc/plan", "graph.svod/plan", "x" * 300):
            with self.subTest(path=path):
                self.refused("io", "svodc", "compile", "graph.svod", "-o", path)
        plan = self.plan()
        (plan / "letter.txt").write_text("keep me")
        self.refused("io", "svodc", "compile", "graph.svod", "-o", "plan", says="letter.txt")
        self.refused("io", "svodc", "convert", "graph.svod", "-o", "no/such.json")
        self.refused("io", "svodc", "inspect", "graph.svod", "--html", "/dev/full", says="No space left")
        self.refused("io", "svodc", "inspect", "graph.svod", "--html", "mine", says="mine")

    def test_missing_permissions(self):
        self.plan()
        for path in (self.folder, self.folder / "plan"):
            path.chmod(0o555)
        nobody = 65534 if os.geteuid() == 0 else None
        try:
            run("svodc", "--version", user=nobody, cwd=self.folder)
        except PermissionError:
            self.skipTest("the programs lie in a folder of root's")
        for words in (["svodc", "compile", "graph.svod", "-o", "new"], ["svodc", "convert", "graph.svod", "-o", "new.json"],
                      ["svodc", "compile", "graph.svod", "-o", "plan"], ["svod-run", "plan", "-i", "x=x.npy", "-o", "y=y.npy"],
                      ["svod-run", "plan", "-i", "x=x.npy", "--output-dir", "new"]):
            with self.subTest(words=words):
                self.refused("io", *words, user=nobody, says="Permission denied")
        (self.folder / "x.npy").chmod(0)
        (self.folder / "graph.svod").chmod(0)
        self.refused_unread("svod-run", "plan", "-i", "x=x.npy", user=nobody)
        self.refused_unread("svodc", "check", "graph.svod", user=nobody)
        self.folder.chmod(0o755)

    def refused_unread(self, *words, **options):
        self.check("io", run(*words, cwd=self.folder, **options), "Permission denied")

    def test_a_link_is_followed_and_a_loop_of_links_refused(self):
        (self.folder / "loop").symlink_to("loop")
        self.refused("io", "svodc", "compile", "graph.svod", "-o", "loop")
        self.refused("io", "svodc", "check", "loop")
        (self.folder / "link").symlink_to("plan")
        self.plan()
        self.svodc("compile", "graph.svod", "-o", "link", cwd=self.folder)
        self.assertTrue((self.folder / "link").is_symlink())

    @skip_without_file_limit
    def test_a_full_disk(self):
        with FullDisk(self) as disk:
            self.compile("io", env={"TMPDIR": str(disk)}, says="No space left")
            self.refused("io", "svodc", "compile", "graph.svod", "-o", disk / "plan", says="No space left")
            self.refused("io", "svodc", "convert", "graph.svod", "-o", disk / "graph.json", says="No space left")
            self.assertEqual([p.name for p in disk.iterdir()], ["filler"])

    @skip_without_file_limit
    def test_a_disk_that_fills_up(self):
        """Whichever file is the first that has no room."""
        with FullDisk(self) as disk:
            (disk / "filler").unlink()
            codes = set()
            for kib in range(4, 68, 4):
                subprocess.run(["mount", "-o", f"remount,size={kib}k", disk], check=True)
                done = run("svodc", "compile", "graph.svod", "-o", self.folder / "room", cwd=self.folder, env={"TMPDIR": str(disk)})
                self.assertIn(done.returncode, (0, 74), f"{kib} KiB: {done.stderr}")
                if done.returncode == 74:
                    self.assertRegex(done.stderr, rf"'{disk}[^']*': (.*: )?No space left on device \[io\]\n  help: free some space")
                codes.add(done.returncode)
                self.assertEqual(list(disk.iterdir()), [])
            self.assertEqual(codes, {0, 74})

    @unittest.skipIf(SANITIZERS, "they reserve more than any limit")
    def test_memory_that_ends_in_any_thread(self):
        self.graph("svod 1\ninput x: f32[64, 64]\nv0 = x\n" + "".join(f"v{i + 1} = matmul(v{i}, softmax(x + {i}))\n" for i in range(60)) + "output y = v60\n")
        codes = set()
        for mib in (*range(60, 400, 20), 4000):
            done = run("svodc", "compile", "graph.svod", "-o", self.folder / "room", "-j", 2, cwd=self.folder, limits={resource.RLIMIT_AS: mib << 20})
            codes.add(done.returncode)
            self.assertIn(done.returncode, (0, 6, 127), f"{mib} MiB: {done.returncode} {done.stderr[-300:]}")
            if done.returncode == 6:
                self.assertIn("out of memory", done.stderr)
        self.assertTrue({0, 6} <= codes, codes)

    @skip_without_file_limit
    def test_a_limit_on_file_sizes(self):
        (self.folder / "temp").mkdir()
        for bytes_ in (0, 512, 1024):
            with self.subTest(bytes=bytes_):
                self.refused("io", "svodc", "compile", "graph.svod", "-o", "new", env={"TMPDIR": str(self.folder / "temp")},
                             limits={resource.RLIMIT_FSIZE: bytes_}, says="File too large")
        self.assertEqual(list((self.folder / "temp").iterdir()), [])


class Standard(Case):
    """Standard streams that are full or closed. Nothing that is printed may end in a file."""

    def test_stdout(self):
        plan = self.plan()
        for words in (["svodc", "--help"], ["svodc", "--list-rules"], ["svodc", "check", "graph.svod"], ["svodc", "inspect", plan], ["svodc", "targets"],
                      ["svodc", "convert", "graph.svod", "-o", "-"], ["svod-run", "--help"], ["svod-run", plan, "-i", "x=x.npy"],
                      ["svod-run", plan, "-i", "x=x.npy", "--json"], ["svod-run", plan, "-i", "x=x.npy", "-o", "y=-"]):
            with self.subTest(words=words), open("/dev/full", "w") as full:
                self.refused("io", *words, stdout=full)
            with self.subTest(words=words, closed=True):
                self.refused("io", *words, closed=[1])

    def test_all_closed(self):
        plan = self.plan()
        before = contents(self.folder)
        for words in (["svodc", "compile", "graph.svod", "-o", "plan"], ["svod-run", plan, "-i", "x=x.npy"]):
            done = run(*words, cwd=self.folder, closed=[0, 1, 2])
            self.assertEqual(done.returncode, TABLE["io"])
            self.assertEqual(contents(self.folder), before)

    def test_stdin(self):
        self.refused("syntax", "svodc", "check", "-", stdin="")
        self.refused("io", "svodc", "check", "-", closed=[0])
        self.plan()
        self.refused("bad-npy", "svod-run", "plan", "--input", "x=-", stdin="junk")

    def test_colors_and_progress_are_for_terminals(self):
        def on_terminal(*words, env=None):
            leader, follower = pty.openpty()
            process = subprocess.Popen([BIN / words[0], *words[1:]], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=follower,
                                       env=clean_environment(env))
            os.close(follower)
            text = b""
            while True:
                try:
                    block = os.read(leader, 4096)
                except OSError:
                    break
                text += block
            process.wait()
            os.close(leader)
            return text.decode()

        for words in (("svodc", "check", "none.svod"), ("svod-run", "none")):
            self.assertIn("\x1b[", on_terminal(*words))
            self.assertNotIn("\x1b[", on_terminal(*words, env={"NO_COLOR": "1"}))
            self.assertNotIn("\x1b[", run(*words).stderr)
        self.assertRegex(on_terminal("svodc", "compile", "graph.svod", "-o", "plan"), "kernel [12] of 2")
        self.assertEqual(self.svodc("compile", "graph.svod", "-o", "plan", cwd=self.folder).stderr, "")


class Plans(Case):
    def refuse(self, code, *words, says="", inspect=True):
        self.refused(code, "svod-run", "plan", "-i", "x=x.npy", *words, says=says)
        if inspect:
            self.refused(code, "svodc", "inspect", "plan", says=says)

    def resealed(self, before, after):
        self.edit(before, after)
        manifest = self.folder / "plan/plan.json"
        manifest.write_text(seal(manifest.read_text()))

    def test_changed_bytes_of_every_file(self):
        self.plan(SYMBOLIC.replace("output y", "weight w: f32[8] = [1, 2, 3, 4, 5, 6, 7, 8]\noutput y").replace("x * 2", "x * w"))
        for file in sorted((self.folder / "plan").iterdir()):
            good = file.read_bytes()
            for at in range(0, len(good), max(1, len(good) // 12)):
                file.write_bytes(good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1:])
                with self.subTest(file=file.name, byte=at):
                    done = run("svod-run", "plan", "-i", "x=x.npy", "--verify-weights", cwd=self.folder)
                    self.assertEqual(done.returncode, 5, done.stderr)
                    self.assertEqual(len(ERROR.findall(done.stderr)), 1)
                    seen = run("svodc", "inspect", "plan", cwd=self.folder)
                    self.assertEqual(seen.returncode, 5, seen.stderr)
            for cut in (b"", good[:-1], good + b"x"):
                file.write_bytes(cut)
                self.assertEqual(run("svod-run", "plan", "-i", "x=x.npy", cwd=self.folder).returncode, 5)
                self.assertEqual(run("svodc", "inspect", "plan", cwd=self.folder).returncode, 5)
            file.unlink()
            self.refused("bad-plan", "svod-run", "plan", "-i", "x=x.npy", says=file.name)
            file.write_bytes(good)
        self.svod_run("plan", "-i", "x=x.npy")

    def svod_run(self, *words, code=0):
        done = run("svod-run", *words, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_manifest(self):
        self.plan()
        self.edit('"name": "graph"', '"name": "hraph"')
        self.refuse("plan-checksum", says="plan.json")
        self.plan()
        self.resealed('"version": 10', '"version": 1')
        self.refuse("plan-version", says="version 1, this reader accepts versions 9 to 10")
        self.plan("svod 1\ninput x: f32[8]\noutput y = x\n", "--device", "far")  # without code, which knows its manifest
        self.resealed('"name": "far", "kind": "cpu", "arenaBytes": 0',
                      '"name": "far", "kind": "gpu", "arenaBytes": 0, "sharedBytes": 0')
        self.refused("no-device", "svod-run", "plan", "-i", "x=x.npy", says="kind 'gpu', which it calls 'far'")

    def test_lost_device(self):
        self.plan("svod 1\ninput x: f32[3, 8]\noutput y = exp(x)\n", "--target", "emulated")
        self.refused("device-lost", "../tests/svod-run-emulated", "plan", "-i", "x=x.npy", env={"SVOD_TEST_LOSE": "1"},
                     says="step 1, kernel 'y_")

    def test_busy_device(self):
        self.plan("svod 1\ninput x: f32[3, 8]\noutput y = exp(x)\n", "--target", "emulated")
        subprocess.run([BIN.parent / "tests/as_cuda", self.folder / "plan", self.folder / "busy", "sm_90a"], check=True)
        self.refused("device-busy", "svod-run", "busy", "-i", "x=x.npy", "--cuda-driver", BIN.parent / "tests/libcuda_mock.so",
                     env={"SVOD_MOCK_CUDA": "memory=10"}, says="CUDA_ERROR_OUT_OF_MEMORY")
        self.plan()
        self.resealed('"name": "graph"', '"title": "graph"')
        self.refuse("bad-plan", says="name")
        self.plan()
        self.resealed('"place": "input"', '"place": "output"')
        self.refuse("bad-plan")
        for number in ("99", "-1", "1e3", "18446744073709551616", "null"):
            self.plan()
            self.resealed('"kernel": 0', f'"kernel": {number}')
            with self.subTest(number=number):
                self.refuse("bad-plan")

    def test_paths(self):
        for path in ("../kernels.so", "/etc/hostname", "a/b", "..", ".", ""):
            plan = self.plan()
            shutil.copy(plan / "kernels.so", self.folder / "kernels.so")
            self.resealed('"path": "kernels.so"', f'"path": "{path}"')
            with self.subTest(path=path):
                self.refuse("plan-path")
        plan = self.plan()
        (plan / "kernels.so").unlink()
        (plan / "kernels.so").symlink_to("../kernels.so")
        self.refuse("plan-path", says="link")
        (plan / "kernels.so").unlink()
        shutil.copy(self.folder / "kernels.so", plan / "other")
        (plan / "kernels.so").symlink_to("other")
        self.svod_run("plan", "-i", "x=x.npy")

    def test_other_machines(self):
        self.plan(SYMBOLIC, "--triple", "aarch64-unknown-linux-gnu", "--cpu", "neoverse-n1")
        self.refuse("cpu-features", says="aarch64", inspect=False)
        self.plan()
        features = re.search(r'"features": \[[^\]]*\]', (self.folder / "plan/plan.json").read_text())[0]
        self.resealed(features, '"features": ["sse2", "amx-of-tomorrow"]')
        self.refuse("cpu-features", says="amx-of-tomorrow", inspect=False)
        self.plan(SYMBOLIC, "--target", "c", "--cc", "none")
        self.refuse("unsupported", says="source", inspect=False)

    def test_things_that_are_no_plans(self):
        (self.folder / "folder").mkdir()
        for name, code in (("none", "io"), ("folder", "bad-plan"), ("graph.svod", "bad-plan"), ("x.npy", "bad-plan")):
            self.refused(code, "svod-run", name, "-i", "x=x.npy", says=name)


class Running(Case):
    def setUp(self):
        super().setUp()
        self.plan()

    def refuse(self, code, *words, says="", **options):
        self.refused(code, "svod-run", "plan", *words, says=says, **options)

    def test_usage(self):
        for words, says in ((["--profle"], "did you mean '--profile'?"), (["-i", "x.npy"], "NAME=FILE"), (["--threads", "-1"], "0 to"),
                            (["--threads", "many"], "SVOD_THREADS"), (["--repeat", "0"], "at least 1"), (["--var", "n=x"], "whole number"),
                            (["-i", "x=x.npy", "-i", "x=x.npy"], "twice"), (["-o", "y=-", "-o", "z=-"], "pipe"), (["again"], "'again'"),
                            (["--diagnostics", "xml"], "text or json"), (["--atol", "-1"], "at least 0")):
            with self.subTest(words=words):
                self.refuse("usage", *words, says=says)
        self.refused("usage", "svod-run", says="PLAN")

    def test_names(self):
        self.refuse("missing-input", says="--input x=FILE.npy")
        self.refuse("unknown-port", "-i", "X=x.npy", says="did you mean 'x'?")
        self.refuse("unknown-port", "-i", "x=x.npy", "-o", "yy=o.npy", says="did you mean 'y'?")
        self.refuse("unknown-port", "-i", "x=x.npy", "--var", "m=2", says="did you mean 'n'?")

    def test_arrays(self):
        for code, descr, shape, data in (("input-mismatch", "<f8", (3, 8), bytes(192)), ("input-mismatch", "<f4", (8, 3), bytes(96)),
                                         ("input-mismatch", "<f4", (24,), bytes(96)), ("variable-bounds", "<f4", (65, 8), bytes(65 * 32)),
                                         ("variable-bounds", "<f4", (0, 8), b""), ("bad-npy", "<f4", (3, 8), bytes(95)),
                                         ("bad-npy", "<c8", (3, 8), bytes(192)), ("bad-npy", "<f4", (1 << 40, 1 << 40), b"")):
            npy(self.folder / "bad.npy", descr, shape, data)
            with self.subTest(descr=descr, shape=shape):
                self.refuse(code, "-i", "x=bad.npy", says="'x'" if code == "variable-bounds" else "bad.npy")
        self.refuse("bind-mismatch", "-i", "x=x.npy", "--var", "n=4", says="4")
        self.refuse("variable-bounds", "-i", "x=x.npy", "--var", "n=70", says="64")
        self.refuse("io", "-i", "x=none.npy", says="none.npy")

    def test_outputs(self):
        (self.folder / "folder").mkdir()
        for path in ("no/such.npy", "folder", "/dev/full", "x.npy/y.npy"):
            with self.subTest(path=path):
                self.refuse("io", "-i", "x=x.npy", "-o", f"y={path}", says=path)
        self.refuse("io", "-i", "x=x.npy", "--output-dir", "x.npy")
        self.refuse("io", "-i", "x=x.npy", "--trace", "no/such.json")
        with FullDisk(self) as disk:
            self.refuse("io", "-i", "x=x.npy", "--output-dir", disk, says="No space left")
            self.assertEqual([p.name for p in disk.iterdir()], ["filler"])

    @skip_without_file_limit
    def test_an_output_beyond_the_limit_on_file_sizes(self):
        self.refuse("io", "-i", "x=x.npy", "-o", "y=o.npy", limits={resource.RLIMIT_FSIZE: 100}, says="File too large")

    def test_references(self):
        (self.folder / "ref").mkdir()
        npy(self.folder / "ref/y.npy", "<f4", (3,), bytes(12))
        done = run("svod-run", "plan", "-i", "x=x.npy", "-o", "y=o.npy", "--reference", "ref", cwd=self.folder)
        self.check("mismatch", done, "y", printed=r"output .*differ\ny +3 .* 3\nz .*-\n")

    def test_memory(self):
        self.plan("svod 1\ninput x: f32[3, 8]\ns = sum(x)\nh = arange(stop=2000000000000, dtype=f32) * s\n"
                  "output y = sum(cumsum(h, axis=0) * h)\n")
        limit = {"limits": {resource.RLIMIT_AS: 4 << 30}}
        if SANITIZERS:  # they reserve more than any limit, and have one of their own
            limit = {"env": {name: "allocator_may_return_null=1" for name in ("ASAN_OPTIONS", "TSAN_OPTIONS")}}
        self.refuse("device-failure", "-i", "x=x.npy", says="bytes", **limit)
        self.graph("svod 1\noutput v = zeros(shape=[20000, 100000])\n")
        self.refused("device-failure", "svodc", "compile", "graph.svod", "-o", "q", "--verify", says="out of memory", **limit)


    def test_results_in_one_file(self):
        self.graph("svod 1\ninput x: f32[3, 8]\nstate s: f32[3] = 0\nassign s = s + sum(x, axes=1)\noutput y = x * 2\noutput z = x + 1\n")
        self.svodc("compile", "graph.svod", "-o", "plan", cwd=self.folder)
        (self.folder / "here").mkdir()
        (self.folder / "there").symlink_to("here")
        (self.folder / "here/b.npy").write_text("before")
        (self.folder / "link.npy").symlink_to("here/b.npy")
        for one, other in (("o.npy", "o.npy"), ("o.npy", "here/../o.npy"), ("here/b.npy", "there/b.npy"), ("here/b.npy", "link.npy")):
            with self.subTest(one=one, other=other):
                self.refuse("usage", "-i", "x=x.npy", "-o", f"y={one}", "-o", f"z={other}", says="output 'y' and output 'z'")
        self.refuse("usage", "-i", "x=x.npy", "-o", "y=o", "--trace", "o", says="--trace")
        self.refuse("usage", "-i", "x=x.npy", "--save-state", "o", "--trace", "o", says="--trace")
        self.refuse("usage", "-i", "x=x.npy", "--output-dir", "here", "--trace", "there/z.npy", says="--trace")
        done = run("svod-run", "plan", "-i", "x=x.npy", "-o", "y=/dev/null", "-o", "z=/dev/null", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("graph.svod", "here/../graph.svod"):
            self.refused("usage", "svodc", "inspect", "graph.svod", "--html", name, says="--html and the graph")
        self.refused("usage", "svodc", "inspect", "graph.svod", "--html", "-", "--json", says="stdout")

    def test_flags_without_what_they_are_for(self):
        self.refuse("usage", "-i", "x=x.npy", "--rtol", "0.1", says="--reference")
        self.refuse("usage", "-i", "x=x.npy", "--atol", "0", says="--reference")
        self.refuse("usage", "-i", "x=x.npy", "--save-state", "s.safetensors", says="states")
        self.refuse("usage", "-i", "x=x.npy", "--load-state", "s.safetensors", says="states")


class Strangers(Case):
    """Files and names that somebody made who wishes us no good."""
    NAME = "\x1b]0;owned\x07\r\n\u202eerror: fake [io]\u2066\u009b31m"

    def test_names_do_not_reach_the_terminal(self):
        name = "".join(f"\\x{b:02x}" for b in self.NAME.encode())
        self.graph(f"svod 1\nvar `n{name}` in [1, 4]\ninput `x{name}`: f32[`n{name}`, 8]\n"
                   f"output `y{name}` = exp(`x{name}`)\noutput `z{name}` = sum(exp(`x{name}`), axes=1)\n")
        for words in (["check", "graph.svod"], ["compile", "graph.svod", "-o", "plan", "--print-after", "all"],
                      ["inspect", "graph.svod", "--kernels", "--memory", "--steps", "--source", "--graph", "--decisions"], ["inspect", "plan"],
                      ["inspect", "graph.svod", "--html", "-"], ["convert", "graph.svod", "-o", "-"]):
            with self.subTest(words=words):
                done = self.svodc(*words, cwd=self.folder)
                self.assertNotRegex(done.stdout if words[0] != "convert" else "", CONTROLS)
                self.assertNotRegex(done.stderr, CONTROLS)
                self.assertFalse(re.search(r"^\W*error: fake", done.stdout, re.M), "a name begins a line")
        seen = json.loads(self.svodc("inspect", "plan", "--json", cwd=self.folder).stdout)
        self.assertIn("x" + self.NAME, list(self.strings(seen)))
        ran = run("svod-run", "plan", "-i", f"x{self.NAME}=x.npy", "--profile", cwd=self.folder)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertNotRegex(ran.stdout, CONTROLS)
        self.refused("missing-input", "svod-run", "plan")
        self.refused("unknown-port", "svod-run", "plan", "-i", f"q{self.NAME}=x.npy")
        self.graph(f"svod 1\ninput x: f32[2]\noutput y = matmul(x, `x{name}`)\n")
        self.refused("unknown-name", "svodc", "check", "graph.svod")
        evil = self.folder / (self.NAME.replace("\n", "") + ".svod")
        evil.write_text("svod 1\n")
        self.refused("no-outputs", "svodc", "check", evil)

    def strings(self, value):
        if isinstance(value, str):
            yield value
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from self.strings(inner)

    def test_files_that_are_no_regular_files(self):
        plan = self.plan()
        os.mkfifo(self.folder / "pipe")
        for name in ("pipe", "/dev/zero", "/dev/null", "/"):
            for words in (["check", name], ["inspect", "graph.svod", "--decide-from", name], ["inspect", plan, "--profile", name],
                          ["compile", name, "-o", "new"], ["convert", name, "-o", "new.svod"]):
                if name == "/" and words[0] == "inspect" and words[2] == "--decide-from":
                    continue  # a folder is a plan there
                with self.subTest(words=words):
                    self.refused("io", "svodc", *words)
        for name in ("pipe.onnx", "pipe.json", "pipe.svod"):
            os.mkfifo(self.folder / name)
            self.refused("io", "svodc", "check", name, says="not a regular file")
        for file in sorted(p.name for p in plan.iterdir()):
            good = (plan / file).read_bytes()
            (plan / file).unlink()
            os.mkfifo(plan / file)
            with self.subTest(file=file):
                for words in (["svodc", "inspect", "plan"], ["svod-run", "plan", "-i", "x=x.npy"]):
                    self.check("io", run(*words, cwd=self.folder), file)
            (plan / file).unlink()
            (plan / file).mkdir()
            with self.subTest(folder=file):
                for words in (["svodc", "inspect", "plan"], ["svod-run", "plan", "-i", "x=x.npy"]):
                    self.check("io", run(*words, cwd=self.folder), file)
            (plan / file).rmdir()
            (plan / file).write_bytes(good)
        self.refused("io", "svod-run", "plan", "-i", "x=pipe", says="not a regular file")

    def test_decisions(self):
        (self.folder / "twice").write_text("keep:a=keep\n# a comment\nkeep:a=fuse\n")
        (self.folder / "unknown").write_text("\ufeff# a comment\n\nkeep:nothing=keep\n")
        for words, says in ((["--decide", "X=a", "--decide", "X=b"], "'X' is asked for twice"),
                            (["--decide-from", "twice"], "twice:3:1: error: decision 'keep:a' is asked for twice"),
                            (["--decide-from", "unknown"], "unknown:3:1: error: there is no decision 'keep:nothing'")):
            with self.subTest(words=words):
                self.refused("usage", "svodc", "inspect", "graph.svod", *words, says=says)

    def test_byte_order_marks(self):
        (self.folder / "mark.svod").write_text("\ufeff" + SYMBOLIC)
        self.svodc("check", "mark.svod", cwd=self.folder)
        self.svodc("convert", "graph.svod", "-o", "graph.json", cwd=self.folder)
        (self.folder / "mark.json").write_text("\ufeff" + (self.folder / "graph.json").read_text())
        self.svodc("check", "mark.json", cwd=self.folder)
        plan = self.plan()
        profile = run("svod-run", plan, "-i", "x=x.npy", "--json", cwd=self.folder).stdout
        (self.folder / "profile").write_text("\ufeff" + profile)
        self.svodc("inspect", plan, "--profile", "profile", cwd=self.folder)

    def test_numbers_of_flags(self):
        for words, says in ((["-j", "-1"], "at least 0"), (["--fold-limit", "-1"], "from 0"), (["--cache-limit", "-4"], "from 0"),
                            (["--bisect-limit", "x"], "whole number"), (["--var", "n"], "NAME=8"),
                            (["--shape", "n"], "NAME=1x3"), (["--const", "n"], "NAME=FILE"), (["-O", "7"], "-O7")):
            with self.subTest(words=words):
                self.refused("usage", "svodc", "compile", "graph.svod", "-o", "new", *words, says=says)
        done = run("svodc", "check", "graph.svod", "--var", "n=-5", cwd=self.folder)
        self.check("variable-bounds", done)
        self.assertNotIn("-5:", done.stderr)

    def test_outputs_in_odd_places(self):
        plan = self.plan()
        for path, says in (("graph.svod/y", "Not a directory"), ("y" * 300, "File name too long")):
            self.refused("io", "svod-run", plan, "-i", "x=x.npy", "-o", f"y={path}", says=says)
            self.refused("io", "svodc", "convert", "graph.svod", "-o", path + ".json", says=says)
            self.refused("io", "svodc", "inspect", "graph.svod", "--html", path, says=says)

    def test_verify_ends(self):
        for body in ("temp a: i32 = 0\nloop i < 1000000000000 {\n  assign a = a + 1\n}\noutput v = a\n",
                     "output v = zeros(shape=[1000000, 1000000])\n", "state s: f32[1000000, 1000000]\nassign s = s + 1\n",
                     "input x: f32[1000000, 1000000]\noutput v = sum(x)\n"):
            self.graph("svod 1\n" + body)
            with self.subTest(body=body):
                self.refused("unsupported", "svodc", "compile", "graph.svod", "-o", "new", "--verify", says="an hour or more")


class Interrupts(Case):
    SLOW = "".join(f"v{i + 1} = sum(matmul(exp(v{i}), w) + {i}.5, axes=1, keepdims=true) + x\n" for i in range(400))

    def interrupt(self, ready, *words, sig=signal.SIGINT, closed_by_guard=True):
        before = contents(self.folder)
        process = subprocess.Popen([BIN / words[0], *map(str, words[1:])], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=clean_environment({"TMPDIR": str(self.folder / "temp")}))
        while process.poll() is None and not ready():
            time.sleep(0.01)
        time.sleep(0.2)
        process.send_signal(sig)
        done = subprocess.CompletedProcess(words, 0, *process.communicate(timeout=60))
        done.returncode = process.returncode
        self.check("interrupted", done, "nothing was written")
        self.assertEqual(contents(self.folder), before)

    def test_while_compiling(self):
        temp = self.folder / "temp"
        temp.mkdir()
        self.graph(f"svod 1\ninput x: f32[64, 64]\ninput w: f32[64, 64]\nv0 = x + w\n{self.SLOW}output y = v400\n", "slow.svod")
        for sig in (signal.SIGINT, signal.SIGTERM):
            self.interrupt(lambda: list(temp.iterdir()), "svodc", "compile", "slow.svod", "-o", "new", sig=sig)
            self.assertEqual(list(temp.iterdir()), [])

    def test_while_running(self):
        self.plan()
        started = time.time()
        self.interrupt(lambda: time.time() > started + 0.3, "svod-run", "plan", "-i", "x=x.npy", "--repeat", 1 << 40, "-o", "y=o.npy")


class FullDisk:
    """A file system without a free block: a small tmpfs in a mount namespace of its own is root's; others get the size limit of files, which
    fails at the same calls with another reason."""

    def __init__(self, test):
        self.test = test
        self.path = test.folder.parent / (test.folder.name + "-disk")

    def __enter__(self):
        self.path.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", self.path], capture_output=True).returncode == 0
        if not mounted:
            self.path.rmdir()
            self.test.skipTest("mounting a small disk needs privileges; the limit on file sizes is tested")
        self.mounted = True
        try:
            with open(self.path / "filler", "wb") as filler:
                while True:
                    filler.write(bytes(4096))
                    filler.flush()
        except OSError:
            pass
        return self.path

    def __exit__(self, *unused):
        subprocess.run(["umount", self.path])
        self.path.rmdir()


class ZTable(unittest.TestCase):
    """Runs last: the other classes filled `shown`."""

    def test_every_row_is_shown(self):
        self.assertEqual(set(TABLE) - shown, set(NOT_SHOWN))

    def test_rows_not_shown_are_used_nowhere(self):
        names = dict(re.findall(r'DIAG\((\w+),\s*"([a-z-]+)"', (ROOT / "lib/support/diagnostics.def").read_text()))
        sources = "".join(p.read_text() for folder in ("lib", "runtime-min", "runtime-cuda", "runtime-opencl", "runtime-webgpu", "tools") for p in (ROOT / folder).rglob("*.cpp"))
        for name, code in names.items():
            if name != "enumerator":
                self.assertIn(f"Diag::{name}", sources)

    def test_documented_exit_codes(self):
        page = (ROOT / "docs/cli.md").read_text()
        for code in set(TABLE.values()) - {TABLE[name] for name in NOT_SHOWN}:
            self.assertIn(f"\n| {code} | ", page)


if __name__ == "__main__":
    main()
