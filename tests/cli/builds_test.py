"""svodc as a step of other people's builds: depfiles, results that keep their time, response files, Ninja and make."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import unittest

from svodc import BIN, ROOT, SMALL, ToolTest, clean_environment, contents, main, npy

sys.path.insert(0, str(ROOT / "tests/onnx"))
from cli_test import field, file, node, value  # noqa: E402

WEIGHTED = 'svod 1\ninput x: f32[4]\nweight w: f32[4] = "{}"\noutput y = x * w\n'
LONG_AGO = 10**18


def words_of(depfile):
    """Targets and prerequisites of the first rule, as make reads them."""
    text = depfile.read_text().split("\n\n")[0].replace("\\\n", " ").replace("\\:", "\0")
    targets, files = (side.replace("\0", ":") for side in re.split(r":(?:\s|$)", text, maxsplit=1))
    split = lambda side: [w.replace("\\ ", " ").replace("\\#", "#").replace("$$", "$") for w in re.findall(r"(?:\\.|\S)+", side)]
    return split(targets), split(files)


def times(folder):
    return {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*")) if path.is_file()}


class BuildTest(ToolTest):
    def floats(self, name, *values):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        return npy(self.folder / name, "<f4", (len(values),), struct.pack(f"<{len(values)}f", *values))

    def weighted(self, name="graph.svod", weights="w.npy", values=(1, 2, 3, 4)):
        self.floats(weights, *values)
        return self.graph(WEIGHTED.format(weights), name)

    def age(self, *folders):
        """Everything in them was last written long ago."""
        for folder in folders:
            for path in folder.rglob("*"):
                os.utime(path, ns=(LONG_AGO, LONG_AGO))


class Depfiles(BuildTest):
    def test_every_file_that_is_read_is_listed(self):
        self.floats("data/a.npy", 1, 2, 3, 4)
        self.floats("c.npy", 5, 6, 7, 8)
        tensors = json.dumps({"t": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
        (self.folder / "b.safetensors").write_bytes(struct.pack("<Q", len(tensors)) + tensors + bytes(16))
        self.graph('svod 1\ninput x: f32[4]\ninput k: f32[4]\nweight a: f32[4] = "data/a.npy"\nweight b: f32[4] = "b.safetensors:t"\n'
                   'weight c: f32[1] = [1]\nstate s: f32[4] = "data/a.npy"\noutput y = exp(x * a + b + c + s + k) * 2\n')
        (self.folder / "decided").write_text("keep:y.exp=keep\n")
        self.svodc("compile", "graph.svod", "-o", "m.plan", "-MD", "--const", "k=c.npy", "--decide-from", "decided", cwd=self.folder)
        self.assertEqual(words_of(self.folder / "m.plan.d"),
                         (["m.plan/plan.json"], ["b.safetensors", "c.npy", "data/a.npy", "decided", "graph.svod"]))
        self.svodc("compile", "graph.svod", "-o", "n.plan", "-MF", "n.d", "--const", "k=c.npy", "--decide-from", "m.plan", cwd=self.folder)
        self.assertIn("m.plan/plan.json", words_of(self.folder / "n.d")[1])
        self.svodc("compile", self.folder / "graph.svod", "-o", "o.plan", "-MF", "o.d", "--const", "k=c.npy", cwd=self.folder)
        self.assertEqual(words_of(self.folder / "o.d")[1], sorted([str(self.folder / n) for n in ("b.safetensors", "data/a.npy", "graph.svod")] + ["c.npy"]))
        self.svodc("compile", "-", "-o", "p.plan", "-MF", "p.d", cwd=self.folder, stdin=SMALL)
        self.assertEqual(words_of(self.folder / "p.d")[1], [])

    def test_external_data_of_a_model(self):
        (self.folder / "in").mkdir()
        weight = (field(1, 4) + field(2, 1) + field(8, "w") + field(13, field(1, "location") + field(2, "w.bin")) + field(14, 1))
        graph = field(1, node("Add", ["x", "w"], "y")) + field(2, "net") + field(5, weight)
        (self.folder / "in/m.onnx").write_bytes(file(graph + field(11, value("x", [4])) + field(12, value("y", [4]))))
        (self.folder / "in/w.bin").write_bytes(bytes(16))
        self.svodc("compile", "in/m.onnx", "-o", "m.plan", "-MD", cwd=self.folder)
        self.assertEqual(words_of(self.folder / "m.plan.d")[1], ["in/m.onnx", "in/w.bin"])
        self.svodc("convert", "in/m.onnx", "-o", "m.svod", "-MD", cwd=self.folder)
        self.assertEqual(words_of(self.folder / "m.svod.d")[1], ["in/m.onnx", "in/w.bin"])

    def test_targets_and_rules_without_commands(self):
        graph = self.weighted()
        depfile = self.folder / "d"
        self.svodc("compile", graph, "-o", self.folder / "p", "-MD", "-MF", depfile, "-MT", "one", "-MT", "a b", "-MP")
        self.assertEqual(words_of(depfile)[0], ["one", "a b"])
        self.assertTrue(depfile.read_text().endswith(f"\n{self.folder}/w.npy:\n"), depfile.read_text())
        self.assertNotIn("graph.svod:", depfile.read_text())
        self.svodc("convert", graph, "-o", self.folder / "g.json", "--depfile", depfile)
        self.assertEqual(words_of(depfile), ([str(self.folder / "g.json")], [str(graph)]))

    def test_depfiles_that_cannot_be(self):
        graph = self.weighted()
        plan = self.folder / "p"
        for words, code, says in ((["-MF", graph], 2, "--depfile"), (["-MF", plan], 2, "--depfile"), (["-MF", plan / "d"], 2, "of the plan"),
                                  (["-MF", "-"], 2, "stdout"), (["-MT", "x"], 2, "-MD"), (["-MF"], 2, "--depfile needs FILE"),
                                  (["-MF", self.folder / "no/d"], 74, "no/d"), (["-MD", "-MT", "a\nb"], 2, "depfile")):
            with self.subTest(words=words):
                self.fails(code, "compile", graph, "-o", plan, *words, says=says)
        self.fails(2, "convert", graph, "-o", "-", "-MD", says="stdout")

    def test_json_lists_files(self):
        graph = self.weighted()
        self.floats("c.npy", 1, 1, 1, 1)
        plan = self.folder / "p"
        done = json.loads(self.svodc("compile", graph, "-o", plan, "-MD", "--const", f"x={self.folder}/c.npy", "--json").stdout)
        self.assertEqual(done["filesRead"], sorted(f"{self.folder}/{name}" for name in ("c.npy", "graph.svod", "w.npy")))
        self.assertEqual(sorted(done["filesWritten"]), sorted([*map(str, times(plan)), f"{plan}.d"]))


class Results(BuildTest):
    def test_a_plan_with_the_same_bytes_is_left_alone(self):
        graph, plan = self.weighted(), self.folder / "p"
        self.svodc("compile", graph, "-o", plan)
        self.age(plan)
        before, folder = times(plan), plan.stat().st_ino
        self.svodc("compile", graph, "-o", plan)
        self.assertEqual((times(plan), plan.stat().st_ino), (before, folder))

    def test_files_that_stay_keep_their_time(self):
        graph, plan = self.weighted(), self.folder / "p"
        self.svodc("compile", graph, "-o", plan)
        self.age(plan)
        graph.write_text(graph.read_text().replace("x * w", "x + w"))
        self.svodc("compile", graph, "-o", plan)
        self.assertEqual({path.name for path, time in times(plan).items() if time == LONG_AGO}, {"weights.bin"})
        self.age(plan)
        self.floats("w.npy", 1, 2, 3, 5)
        self.svodc("compile", graph, "-o", plan)
        self.assertNotIn(LONG_AGO, times(plan).values())

    def test_a_link_in_a_plan_is_replaced(self):
        graph, plan = self.weighted(), self.folder / "p"
        self.svodc("compile", graph, "-o", plan)
        (plan / "weights.bin").rename(self.folder / "elsewhere")
        (plan / "weights.bin").symlink_to(self.folder / "elsewhere")
        self.svodc("compile", graph, "-o", plan)
        self.assertFalse((plan / "weights.bin").is_symlink())

    def test_converted_graphs_and_pages_keep_their_time(self):
        graph = self.weighted()
        for words, name in ((["convert", graph, "-o"], "g.json"), (["inspect", graph, "--html"], "page.html")):
            self.svodc(*words, self.folder / name)
            os.utime(self.folder / name, ns=(LONG_AGO, LONG_AGO))
            self.svodc(*words, self.folder / name)
            self.assertEqual((self.folder / name).stat().st_mtime_ns, LONG_AGO)

    def test_an_empty_folder_is_filled(self):
        plan = self.folder / "p"
        plan.mkdir()
        self.svodc("compile", self.graph(), "-o", plan)
        self.assertIn("plan.json", contents(plan))
        hidden = self.folder / "q"
        hidden.mkdir()
        (hidden / ".keep").write_text("")
        self.fails(74, "compile", self.graph(), "-o", hidden, says="no file of a plan")

    def test_where_nothing_can_be_written_no_work_begins(self):
        """The graph has a mistake, of which nothing is said."""
        bad = ROOT / "tests/cli/bad.svod"
        (self.folder / "file").write_text("")
        for words in (["compile", bad, "-o", self.folder / "no/p"], ["compile", bad, "-o", self.folder / "file/p"],
                      ["compile", bad, "-o", self.folder / "p", "-MF", self.folder / "no/d"],
                      ["inspect", bad, "--html", self.folder / "no/page.html"], ["convert", bad, "-o", self.folder / "no/g.json"]):
            with self.subTest(words=words):
                done = self.fails(74, *words, says="cannot create")
                self.assertNotIn("bad.svod", done.stderr)
        self.assertIn("make the folder", self.fails(74, "compile", bad, "-o", self.folder / "no/p").stderr)


class ResponseFiles(BuildTest):
    def write(self, name, text):
        (self.folder / name).write_text(text)
        return f"@{self.folder / name}"

    def test_words_come_from_files(self):
        graph, plan = self.graph(), self.folder / "a plan"
        inner = self.write("inner", f"-o '{plan}'\n--numerics \"str\"ict\t-O0 --opts ''z=")
        self.svodc("compile", self.write("outer", f"{graph} {inner}\r\n"))
        record = json.loads((plan / "plan.json").read_text())
        self.assertEqual(record["target"]["numerics"], "strict")
        spaced = str(plan).replace(" ", "\\ ")
        self.svodc(self.write("whole", f'compile "{graph}" -o {spaced} --numerics "fa\\st"'))
        self.assertEqual(json.loads((plan / "plan.json").read_text())["target"]["numerics"], "fast")

    def test_mistakes(self):
        self.fails(74, "compile", "@" + str(self.folder / "none"), says="none")
        self.fails(2, "compile", self.write("open", "'graph"), says="ends inside")
        self.fails(2, "compile", self.write("loop", f"@{self.folder / 'loop'}"), says="name each other")
        self.fails(74, "check", "@", says="@")  # a name, not a file of words


class Builds(BuildTest):
    """Two plans from three graphs and weight files; names with characters that these tools treat specially."""
    NAMES = {"w one": "a$.svod", "w#two": "b.svod"}
    MARK = "svodc compile"

    def setUp(self):
        super().setUp()
        for (stem, graph), k in zip(self.NAMES.items(), (1, 2)):
            self.weighted(graph, f"{stem}.npy", (k, 2, 3, 4))

    def build(self, *command):
        """The graphs that were compiled."""
        done = subprocess.run([*command], cwd=self.folder, env=clean_environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return sorted({m for line in done.stdout.splitlines() if self.MARK in line for m in re.findall(r"[ab]\$?\.svod", line)})

    def touch(self, name):
        time.sleep(0.02)  # the clock of a file system ticks more slowly
        os.utime(self.folder / name)
        time.sleep(0.02)

    def check_rebuilds(self, *command):
        self.assertEqual(self.build(*command), ["a$.svod", "b.svod"])
        self.assertEqual(self.build(*command), [])
        first = contents(self.folder / "b.plan")
        for name, graph in (("w one.npy", "a$.svod"), ("w#two.npy", "b.svod"), ("b.svod", "b.svod")):
            with self.subTest(touched=name):
                self.touch(name)
                self.assertEqual(self.build(*command), [graph])
                self.assertEqual(self.build(*command), [])
        self.floats("w#two.npy", 7, 7, 7, 7)
        self.touch("w#two.npy")
        self.assertEqual(self.build(*command), ["b.svod"])
        self.assertNotEqual(contents(self.folder / "b.plan"), first)
        self.assertEqual(self.build(*command), [])

    @unittest.skipUnless(shutil.which("ninja"), "needs ninja")
    def test_ninja(self):
        (self.folder / "build.ninja").write_text(f"""
rule plan
  command = {BIN}/svodc compile '$in' -o $plan -MD -MF $plan.d && echo $plan >> made
  depfile = $plan.d
  deps = gcc
  restat = 1
rule list
  command = ls -d $in >> listed && touch $out
build a.plan/plan.json | a.plan/kernels.so a.plan/weights.bin: plan a$$.svod
  plan = a.plan
build b.plan/plan.json | b.plan/kernels.so b.plan/weights.bin: plan b.svod
  plan = b.plan
build used: list b.plan/weights.bin
""")
        self.check_rebuilds("ninja", "-v")
        self.assertEqual((self.folder / "listed").read_text().split(), ["b.plan/weights.bin"] * 2)  # at first, and with new bytes

    @unittest.skipUnless(shutil.which("make"), "needs make")
    def test_make(self):
        (self.folder / "Makefile").write_text(f"""
all: a.stamp b.stamp
a.stamp: a$$.svod
\t{BIN}/svodc compile '$<' -o a.plan -MF a.d -MT $@ -MP && touch $@
b.stamp: b.svod
\t{BIN}/svodc compile '$<' -o b.plan -MF b.d -MT $@ -MP && touch $@
-include a.d b.d
""")
        self.check_rebuilds("make")
        (self.folder / "w#two.npy").unlink()
        self.floats("new.npy", 1, 1, 1, 1)
        (self.folder / "b.svod").write_text(WEIGHTED.format("new.npy"))
        self.touch("b.svod")
        self.assertEqual(self.build("make"), ["b.svod"])  # the file that is gone stops nothing


if __name__ == "__main__":
    main()
