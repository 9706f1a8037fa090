"""A fault in a pass is named by `svodc compile --verify`, whichever pass of whichever table it is."""
import json
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
from svodc import ToolTest, main, run  # noqa: E402

GRAPH = "svod 1\ninput x: f32[5, 7]\noutput y = softmax(x) * x\n"
# Rows that opts make vectors of, and sums that the threads of a workgroup share.
LARGE = "svod 1\ninput x: f32[24, 64]\noutput y = x + sum(x * x, axes=1, keepdims=true)\n"
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
    here = [next(name for name in names if name != "cuda") for names in found.values()]
    return [(target, passes_of(target)) for target in here]


class Faults(ToolTest):
    def said(self, name, where, target, text, *words):
        graph = self.graph(text, f"{name}-{where}-{target}.svod")
        done = run("../tests/svodc-with-fault", name, where, "compile", graph, "-o", graph.with_suffix(".plan"),
                   "--target", target, "--verify", *words)
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

    def test_without_a_fault_there_is_a_plan(self):
        for target, _ in tables():
            code, text = self.said("none", "all", target, GRAPH, *([] if target != "c" else ["--cc", "cc"]))
            self.assertEqual(code, 0, text)


if __name__ == "__main__":
    main()
