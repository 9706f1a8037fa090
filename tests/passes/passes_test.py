"""Passes on graphs in text form: tests/passes/*.uop, through svod-opt.

A file holds `; run: ARGUMENTS` of svod-opt, a graph, and behind a line `; gives` what is printed. SVOD_UPDATE=1 writes
the latter anew.
"""
import os
import re
import shlex
import subprocess
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
BIN = Path(os.environ["SVOD_BIN_DIR"])
GIVES = "; gives\n"
ELEMENTWISE = ("%0 = param 4 {0} : f32[4]\n%1 = range 4 {0, loop} : index\n%2 = index %0, %1 : f32\n%3 = load %2 : f32\n"
               "%4 = exp %3 : f32\n%5 = store %2, %4\n%6 = end %5, %1\n%7 = sink %6\n")


def svod_opt(words, graph=""):
    return subprocess.run([BIN / "svod-opt", *words], input=graph, capture_output=True, text=True, timeout=120)


def case(name):
    graph, _, expected = (HERE / f"{name}.uop").read_text().partition(GIVES)
    arguments = next(line for line in graph.splitlines() if line.startswith("; run: "))[7:]
    return graph, shlex.split(arguments), expected


class Files(unittest.TestCase):
    def test_every_file_gives_what_it_says(self):
        files = sorted(HERE.glob("*.uop"))
        self.assertGreater(len(files), 15)
        for file in files:
            with self.subTest(file.name):
                graph, words, expected = case(file.stem)
                done = svod_opt([*words, "-"], graph)
                self.assertEqual(done.returncode, 0, done.stderr)
                if os.environ.get("SVOD_UPDATE"):
                    file.write_text(graph + GIVES + done.stdout)
                else:
                    self.assertEqual(done.stdout, expected)

    def test_every_pass_has_a_file(self):
        listed = {line.split()[0] for target in ("cpu", "cuda")
                  for line in svod_opt(["--list", "--target", target]).stdout.splitlines()}
        self.assertIn("grid-indices", listed)
        named = {word for file in HERE.glob("*.uop") for word in case(file.stem)[1]}
        self.assertEqual(listed - named, set())

    def test_what_is_printed_reads_back(self):
        for name in ("apply-opts-matmul", "expand-sum", "legalize-floordiv"):
            _, _, expected = case(name)
            self.assertEqual(svod_opt(["-"], expected).stdout, expected)


class Proposals(unittest.TestCase):
    def test_every_line_is_an_opt_that_applies_or_says_why_not(self):
        graph, _, _ = case("apply-opts-matmul")
        cpu = ["--triple", "x86_64-unknown-linux-gnu", "--cpu", "skylake-avx512"]
        done = svod_opt(["--propose", "--opts", "tile(n1,16)", *cpu, "-"], graph)
        self.assertEqual(done.returncode, 0, done.stderr)
        legal = [line for line in done.stdout.splitlines() if ";" not in line]
        for opt in ("upcast(n0,4)", "vector(n1.i,16)", "order(n1.o,n0)", "pack(2,k0,n1.i)", "thread(n1.o,1)"):
            self.assertIn(opt, legal)
        for opt in legal[::10]:
            applied = svod_opt(["--propose", "--opts", "tile(n1,16) " + opt, *cpu, "-"], graph)
            self.assertEqual(applied.returncode, 0, f"{opt}: {applied.stderr}")


class Errors(unittest.TestCase):
    def refused(self, code, part, words, graph=""):
        done = svod_opt(words, graph)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(part, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_usage(self):
        self.refused(2, "did you mean 'symbolic'?", ["symbolik", "-"], "%0 = sink\n")
        self.refused(2, "legalize leaves stage lowered", ["legalize", "symbolic", "-"], "%0 = sink\n")
        self.refused(2, "no graph to read", ["symbolic"])
        self.refused(2, "two files", ["a.uop", "b.uop"])
        self.refused(2, "--emit", ["--emit", "ptx", "-"])
        self.refused(74, "no-such.uop", ["no-such.uop"])

    def test_a_graph_that_cannot_be_read_is_named_with_its_line(self):
        self.refused(1, "-:2:6", ["-"], "%0 = param 4 {0} : f32[4]\n%1 = nothing %0\n")

    def test_an_illegal_graph_is_refused_before_the_pass(self):
        outside = ("%0 = param 4 {0} : f32[4]\n%1 = index %0, 9 : f32\n%2 = store %1, 1.0:f32\n"
                   "%3 = sink %2\n")
        self.refused(1, "in pass symbolic of stdin", ["symbolic", "-"], outside)

    def test_a_graph_of_another_stage_is_refused(self):
        graph, _, _ = case("expand-sum")
        expanded = svod_opt(["symbolic", "expand", "-"], case("apply-opts-matmul")[0]).stdout
        for words in (["legalize"], ["strided-loads"], ["symbolic", "--emit", "c"], ["symbolic", "--emit", "llvm"]):
            self.refused(2, "stage lowered is needed", [*words, "-"], graph)
        self.refused(2, "stage kernel is needed", ["apply-opts", "-"], expanded)
        self.refused(1, "a second graph begins here", ["symbolic", "-"], graph + graph)
        for form in ("c", "llvm"):  # nothing in it but index arithmetic tells that it is not legalized
            self.refused(2, "name legalize behind the passes", ["symbolic", "--emit", form, "-"], ELEMENTWISE)

    def test_passes_over_a_graph_of_tensors_know_their_order(self):
        graph, _, _ = case("fuse-add")
        self.refused(2, "name make-kernels before it", ["join-siblings", "-"], graph)
        self.refused(2, "make-kernels leaves a schedule", ["make-kernels", "fuse", "-"], graph)
        self.refused(2, "'symbolic' is no pass over a graph of tensors", ["fuse", "symbolic", "-"], graph)
        self.refused(2, "about a kernel", ["fuse", "--emit", "c", "-"], graph)
        self.refused(2, "no decision 'keep:z'", ["fuse", "--decide", "keep:z=keep", "-"], graph)
        self.refused(1, "-:1:1: error: '; port x' describes no port", ["fuse", "-"], "; port x\n" + graph)
        self.refused(1, "does not belong to this stage", ["fuse", "-"], ELEMENTWISE)

    def test_a_decision_can_be_asked_for(self):
        graph, _, printed = case("fuse-softmax")
        made = re.search(r"^; (keep:\S+)=(\w+) \| fuse \d+, keep \d+", printed, re.M)
        other = {"fuse": "keep", "keep": "fuse"}[made[2]]
        done = svod_opt(["fuse", "--decide", f"{made[1]}={other}", "--check", "-"], graph)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"; {made[1]}={other} ", done.stdout)
        self.assertIn("requested in place of " + made[2], done.stdout)

    def test_checks_take_inputs_that_are_not_what_the_graph_expects(self):
        graph = ('; port 2 expectation "k"\n%0 = buffer 9 {0} : f32[9]\n%1 = buffer 64 {1} : i64[64]\n'
                 "%2 = buffer 64 {3} : f32[64]\n%3 = scatter %0, %1, %2 {add, 0} : f32[9]\n"
                 "%4 = buffer 2, 64 {2} : i64[2,64]\n%5 = reshape %1, 1, 64 : i64[1,64]\n"
                 "%6 = pad %5, 9:i64, 0, 0, 1, 0 : i64[2,64]\n%7 = store %4, %6\n"
                 "%8 = buffer 9 {4} : f32[9]\n%9 = store %8, %3\n%10 = sink %7, %9\n")
        done = svod_opt(["fuse", "--check", "-"], graph)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_list_of_opts_that_does_not_apply_says_why(self):
        graph, _, _ = case("apply-opts-matmul")
        self.refused(1, "upcast", ["apply-opts", "--opts", "upcast(9,2)", "-"], graph)


class Reduce(unittest.TestCase):
    def test_a_failing_graph_becomes_small(self):
        graph, _, _ = case("symbolic-softmax")
        words = ["apply-opts", "--opts", "acc(0,2)"]  # no axis of a reduction
        first = svod_opt([*words, "-"], graph)
        small = svod_opt([*words, "--reduce", "-"], graph)
        self.assertEqual(small.returncode, 0, small.stderr)
        self.assertLess(small.stdout.count("\n"), graph.count("\n") // 2)
        again = svod_opt([*words, "-"], small.stdout)
        self.assertEqual(again.returncode, first.returncode)
        self.assertNotEqual(first.returncode, 0)

    def test_what_does_not_fail_is_not_reduced(self):
        graph, _, _ = case("expand-sum")
        done = svod_opt(["expand", "--reduce", "-"], graph)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing to reduce", done.stderr)


if __name__ == "__main__":
    unittest.main()
