"""Man pages and completions: every flag is in each, and shells read them."""
import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from svodc import BIN, ROOT, ToolTest, main

MANUALS = BIN.parent / "manuals"
PROGRAMS = ("svodc", "svod-run", "svod-opt")


class Manuals(ToolTest):
    def said(self, *words, **options):
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_every_flag_is_everywhere(self):
        flags = {flag["name"] for flag in json.loads(self.svodc("--list-flags", "--json").stdout)}
        for place in ("bash-completion/completions/svodc", "zsh/site-functions/_svodc", "fish/vendor_completions.d/svodc.fish", "man/man1/svodc.1"):
            text = (MANUALS / place).read_text().replace("\\-", "-")
            with self.subTest(place):
                self.assertEqual({flag for flag in flags if flag not in text and f"-l {flag[2:]} " not in text}, set())

    def test_the_page_of_graph_files_has_every_op(self):
        page = (MANUALS / "man/man5/svod-graph.5").read_text()
        for op in json.loads(self.svodc("--list-ops", "--json").stdout):
            self.assertIn(f"\\fB{op['name']}\\fR(", page)
        for heading in re.findall(r"^## (.*)", (ROOT / "docs/graph-format.md").read_text(), re.M):
            self.assertIn(f".SH {heading[:10]}", page)

    def complete(self, program, *words):
        script = MANUALS / "bash-completion/completions" / program
        listed = " ".join(f"'{word}'" for word in (program, *words))
        return self.said("bash", "-c", f"source '{script}'; COMP_WORDS=({listed}); COMP_CWORD={len(words)}; _{program.replace('-', '_')}; "
                         "echo \"${COMPREPLY[@]}\"", cwd=self.folder).split()

    def test_bash_completes(self):
        (self.folder / "graph.svod").write_text("svod 1\n")
        self.assertEqual(self.complete("svodc", "ins"), ["inspect"])
        self.assertEqual(self.complete("svodc", "compile", "--max"), ["--max-arena"])
        self.assertEqual(self.complete("svodc", "check", "--max"), [])
        self.assertEqual(self.complete("svodc", "compile", "gr"), ["graph.svod"])
        self.assertEqual(self.complete("svodc", "compile", "graph.svod", "-o", "gr"), ["graph.svod"])
        self.assertEqual(self.complete("svodc", "compile", "--cpu", ""), [])
        self.assertEqual(self.complete("svod-run", "--tra"), ["--trace"])
        self.assertIn("svodc", self.said("bash", "-c", f"source '{MANUALS}/bash-completion/completions/svodc'; complete -p svodc"))

    def test_other_shells_read_theirs(self):
        for program in PROGRAMS:
            for shell, path in (("zsh", f"zsh/site-functions/_{program}"), ("fish", f"fish/vendor_completions.d/{program}.fish")):
                if shutil.which(shell):
                    self.said(shell, "-n", MANUALS / path)

    @unittest.skipUnless(shutil.which("fish"), "needs fish")
    def test_fish_completes(self):
        script = MANUALS / "fish/vendor_completions.d/svodc.fish"
        said = self.said("fish", "-c", f"source '{script}'; complete -C 'svodc compile --max'; complete -C 'svodc ins'",
                         env=os.environ | {"HOME": str(self.folder)})
        self.assertEqual([line.split("\t")[0] for line in said.splitlines()], ["--max-arena", "inspect"])

    @unittest.skipUnless(shutil.which("groff"), "needs groff")
    def test_man_pages_are_pages(self):
        for page in [*(MANUALS / f"man/man1/{program}.1" for program in PROGRAMS), MANUALS / "man/man5/svod-graph.5"]:
            program = page.stem
            self.assertIn(program, self.said("groff", "-man", "-Tascii", page))
            self.assertTrue(Path(page).read_text().startswith(".TH"))


main()
