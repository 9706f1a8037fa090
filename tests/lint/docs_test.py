"""The pages: docs/coverage.md names tests there are, and every command and program that the pages show works."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests/lint")]

import lint_docs  # noqa: E402
import page_commands  # noqa: E402

BIN = os.environ.get("SVOD_BIN_DIR")
ROW = re.compile(r"\| (F\d{3}|M\d{2}) \| [^|]+ \| (shown|replaced|open) \| ([^|]*) \|")


def block(language):
    return re.search(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)


class Coverage(unittest.TestCase):
    def test_rows_are_complete_and_name_real_tests(self):
        lines = (ROOT / "docs/coverage.md").read_text().splitlines()
        rows = [ROW.fullmatch(line) for line in lines if re.match(r"\| [FM]\d", line)]
        self.assertNotIn(None, rows)
        self.assertEqual([row[1] for row in rows], [f"F{i:03}" for i in range(1, 153)] + [f"M{i:02}" for i in range(1, sum(line.startswith("| M") for line in lines) + 1)])
        for row in rows:
            for path, name in re.findall(r'`([\w/]+\.(?:cpp|py))` "([^"]+)"', row[3]):
                with self.subTest(row=row[1], path=path, name=name):
                    names = re.findall(r'TEST_CASE\("(.*?)"|def (test_\w+)', (ROOT / "tests" / path).read_text())
                    self.assertTrue(any(name in either for pair in names for either in pair if either))
            if row[2] == "shown":
                self.assertIn("`", row[3])


@unittest.skipUnless(BIN and Path(BIN, "svodc").exists(), "needs the tools")
class Strategies(unittest.TestCase):
    """The table in docs/opts.md is that of the compiler."""
    PAGE = ROOT / "docs/opts.md"
    PLACE = re.compile(r"(<!-- svodc --list-strategies;[^\n]*-->\n)(.*?)(<!-- end -->)", re.S)

    @staticmethod
    def table():
        listed = json.loads(subprocess.run([Path(BIN) / "svodc", "--list-strategies", "--json"], check=True, capture_output=True).stdout)
        rows = [f"| {row['phase']} | `{row['name']}` | {row['what']} |\n" for row in listed]
        return "| for | strategy | what it does |\n|---|---|---|\n" + "".join(rows)

    @classmethod
    def update(cls):
        cls.PAGE.write_text(cls.PLACE.sub(lambda m: m[1] + cls.table() + m[3], cls.PAGE.read_text()))

    def test_table_is_that_of_the_compiler(self):
        self.assertEqual(self.PLACE.search(self.PAGE.read_text())[2], self.table(), "run: python3 tests/lint/docs_test.py --update")


@unittest.skipUnless(BIN and Path(BIN, "svodc").exists(), "needs the tools")
class Commands(unittest.TestCase):
    """Every line of svodc, svod-run and svod-opt that a page shows is run, in order, in a folder of the page's own."""

    def test_commands_run(self):
        for page in lint_docs.pages(ROOT):
            blocks = list(page_commands.blocks(page.read_text()))
            if any(block.runs for block in blocks):
                with tempfile.TemporaryDirectory() as folder:
                    page_commands.prepare(ROOT, Path(BIN), Path(folder))
                    for block in blocks:
                        self.run_block(page, block, folder)

    def run_block(self, page, block, folder):
        for command in block.commands if block.runs else ():
            with self.subTest(page=page.name, command=command):
                done = page_commands.run(command, Path(BIN), folder)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_flags_of_commands_that_need_another_machine_exist(self):
        for page in lint_docs.pages(ROOT):
            for block in page_commands.blocks(page.read_text()):
                for command in block.commands if not block.runs else ():
                    with self.subTest(page=page.name, command=command):
                        self.assertEqual(page_commands.unknown_flags(command, Path(BIN)), [])


class Readme(unittest.TestCase):
    def test_lines_of_c_compile(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "program.c"
            source.write_text("#include <svod/runtime.h>\nint main(void) {\n  static float x[4][8], y[4][8];\n"
                              "  const uint64_t shape[] = {4, 8};\n  svod_plan* plan;\n  svod_instance* instance;\n  svod_error error;\n"
                              + block("c") + "  return 0;\n}\n")
            subprocess.run(["cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-c", source, "-o", source.with_suffix(".o"),
                            "-I", ROOT / "runtime-min/include"], check=True)

    @unittest.skipUnless(BIN and Path(BIN, "svodc").exists(), "needs the tools")
    def test_graph_compiles_and_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            graph, plan = Path(folder) / "alike.svod", Path(folder) / "alike.plan"
            graph.write_text(block("svod"))
            subprocess.run([Path(BIN) / "svodc", "compile", graph, "-o", plan], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([Path(BIN) / "svod-run", plan, "--input", f"image={ROOT / 'examples/digits/samples.npy'}",
                            "--output-dir", folder], check=True, stdout=subprocess.DEVNULL)
            self.assertTrue((Path(folder) / "nearest.npy").exists())
            mistake = graph.read_text().replace("transpose(unit)", "unit")
            done = subprocess.run([Path(BIN) / "svodc", "check", "-"], input=mistake, text=True, capture_output=True)
            shown = re.search(r"```\nalike\.svod(:.*?)\n```", (ROOT / "README.md").read_text(), re.S).group(1)
            self.assertIn(shown, done.stderr)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        Strategies.update()
    else:
        unittest.main()
