"""A fault in a pass is named by `svodc compile --verify`, whichever pass of whichever table it is."""
import json
import shlex
import struct
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
from svodc import ToolTest, main, npy, run  # noqa: E402

GRAPH = "svod 1\ninput x: f32[5, 7]\noutput y = softmax(x) * x\n"
# Rows that opts make vectors of, and sums that the threads of a workgroup share.
LARGE = "svod 1\ninput x: f32[24, 64]\noutput y = x + sum(x * x, axes=1, keepdims=true)\n"
# Nine statements, of which two or three are enough.
LONG = """svod 1
var n in [1, 40]
input x: f32[n, 8]
input z: f32[n, 8]
weight w: f32[8] = "w.npy"
a = exp(x) + w
b = tanh(a) * z
c = sum(b, axes=1)
output y = softmax(b)
output s = c * 2
"""
NEED_DEVICES = ("cuda", "opencl", "webgpu")  # targets whose plans another device runs
# Arithmetic that contract fuses and strict does not.
PLAIN = "svod 1\ninput x: f32[24, 64]\ninput z: f32[24, 64]\noutput y = x * z + x\n"


def passes_of(target):
    rows = json.loads(run("svodc", "--list-passes", "--json").stdout)
    return [row for row in rows if target in row["targets"]]


def tables():
    """Each table of passes once: a target whose plans run here, and its passes in order."""
    found = {}
    for row in json.loads(run("svodc", "--list-targets", "--json").stdout):
        found.setdefault(tuple(p["name"] for p in passes_of(row["name"])), []).append(row["name"])
    here = [next(name for name in names if name not in NEED_DEVICES) for names in found.values()]
    return [(target, passes_of(target)) for target in here]


class Faults(ToolTest):
    def said(self, name, where, target, text, *words):
        graph = self.graph(text, f"{name}-{where}-{target}.svod")
        done = run("../tests/svodc-with-fault", name, where, "compile", graph, "-o", graph.with_suffix(".plan"),
                   "--target", target, "--verify", "--repro-dir", "none", *words)
        return done.returncode, done.stderr

    def named(self, cases):
        """Each case: the row of a pass, and the arguments of said()."""
        with ThreadPoolExecutor(2) as pool:
            answers = pool.map(lambda case: self.said(*case[1]), cases)
        for (row, arguments), (code, text) in zip(cases, answers):
            with self.subTest(row=row["name"], arguments=arguments[:3]):
                self.assertEqual(code, 4, text)
                self.assertIn(f"pass {row['name']} does it", text)
                self.assertIn(f"--print-after {row['name']}", text)
                self.assertFalse((self.folder / f"{'-'.join(arguments[:3])}.plan").exists())
                yield row, text

    def test_a_fault_in_any_row_of_any_table_is_named(self):
        cases = [(row, (row["name"], "all", target, GRAPH)) for target, rows in tables() for row in rows]
        self.assertGreater(len(cases), 35)
        self.assertTrue({"share-group-reduces", "grid-indices"} < {row["name"] for row, _ in cases})
        for row, text in self.named(cases):
            self.assertEqual("wrong as well" not in text, row["optional"], text)

    def behind_opts(self, target, where):
        """Passes over what apply-opts leaves: a fault in them shows only where that made vectors, or threads."""
        names = [row["name"] for row in passes_of(target)]
        rows = passes_of(target)[names.index("apply-opts") + 1:]
        cases = [(row, (row["name"], where, target, LARGE)) for row in rows]
        if where == "vectors":  # scalars become vectors in expand
            cases = [case for case in cases if case[0]["out"] == "lowered"]
        seen = list(self.named(cases))
        self.assertGreater(len(seen), 4)
        for _, text in seen:
            self.assertNotIn("wrong as well", text)

    def test_a_fault_that_only_vectors_have_is_not_laid_to_the_opts_that_make_them(self):
        self.behind_opts("cpu", "vectors")

    def test_a_fault_that_only_workgroups_have_is_not_laid_to_the_opts_that_make_them(self):
        self.behind_opts("emulated", "threads")

    def test_a_wrong_last_bit_is_refused_where_there_is_one_legal_result(self):
        code, text = self.said("legalize", "last-bit", "cpu", PLAIN, "--numerics", "strict")
        self.assertEqual(code, 4, text)
        self.assertIn("the interpreter says", text)
        self.assertFalse((self.folder / "legalize-last-bit-cpu.plan").exists())
        self.assertEqual(self.said("legalize", "last-bit", "cpu", PLAIN, "--numerics", "contract")[0], 0)

    def test_a_wrong_plan_leaves_what_repeats_it_and_a_smaller_graph(self):
        graph = self.graph(LONG)
        npy(self.folder / "w.npy", "<f4", (8,), struct.pack("<8f", *range(8)))
        fault = ["legalize", "all"]
        for seconds, names in ((20, {"graph.svod", "smaller.svod", "report.txt"}), (0, {"graph.svod", "report.txt"})):
            done = run("../tests/svodc-with-fault", *fault, "compile", graph, "-o", self.folder / "plan", "--verify", "--repro-dir", self.folder / "repro",
                       "--repro-seconds", seconds)
            self.assertEqual(done.returncode, 4, done.stderr)
            left = {p.name for p in (self.folder / "repro").iterdir()}
            self.assertEqual({name for name in left if not name.endswith(".npy")}, names)
            self.assertTrue({"input-0.npy", "input-1.npy", "expected-0.npy", "plan-0.npy", "expected-1.npy"} <= left, left)
            self.assertIn("the graph, its inputs, both values", done.stderr)
            if seconds:
                self.check_again(done, fault)

    def check_again(self, done, fault):
        report = (self.folder / "repro/report.txt").read_text()
        lines = dict(line.split(": ", 1) for line in report.splitlines() if ": " in line)
        self.assertIn("the interpreter says", report)
        self.assertRegex(lines["inputs"], r"random, of seed \d+, with n=\d+")
        self.assertNotEqual((self.folder / "repro/expected-0.npy").read_bytes(), (self.folder / "repro/plan-0.npy").read_bytes())
        for kind in ("again", "smaller"):
            words = shlex.split(lines[kind])
            self.assertEqual(words[0], "svodc")
            again = run("../tests/svodc-with-fault", *fault, *words[1:], "--repro-dir", "none")
            self.assertEqual(again.returncode, 4, again.stderr)
            self.assertEqual(run("svodc", *words[1:], "--repro-dir", "none").returncode, 0)  # right without the fault
        smaller = (self.folder / "repro/smaller.svod").read_text()
        self.assertLess(len([line for line in smaller.splitlines() if line and line[0] != "#"]), 5, smaller)
        self.assertRegex(done.stderr, r"a smaller graph of \d statements in place of 9")

    def test_what_is_no_repro_stays(self):
        folder = self.folder / "mine"
        folder.mkdir()
        (folder / "notes.txt").write_text("keep")
        done = run("../tests/svodc-with-fault", "legalize", "all", "compile", self.graph(GRAPH), "-o", self.folder / "plan", "--verify", "--repro-dir", folder)
        self.assertEqual(done.returncode, 4)
        self.assertIn("nothing was left in --repro-dir", done.stderr)
        self.assertEqual([p.name for p in folder.iterdir()], ["notes.txt"])

    def test_without_a_fault_there_is_a_plan(self):
        for target, _ in tables():
            code, text = self.said("none", "all", target, GRAPH, *([] if target != "c" else ["--cc", "cc"]))
            self.assertEqual(code, 0, text)


if __name__ == "__main__":
    main()
