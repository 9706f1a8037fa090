"""svodc and svod-run as files that need libc alone: they run anywhere, and make the plans that the others make."""
import re
import shutil
import subprocess
import unittest

from installed import BIN, ROOT, InstallTest

FROM = BIN.parent / "relocatable" if (BIN.parent / "relocatable").exists() else BIN  # the preset package has no others
DIGITS = ROOT / "examples/digits"
MOST = {"svodc": 150_000_000, "svod-run": 3_000_000}  # bytes, stripped; the figures stand in docs/build-systems.md


class Relocatable(InstallTest):
    def setUp(self):
        super().setUp()
        self.place = self.folder / "elsewhere"
        self.place.mkdir()
        for name in MOST:
            shutil.copy(FROM / name, self.place / name)

    def run_here(self, name, *words):
        """Without anything of the caller's environment."""
        done = subprocess.run([self.place / name, *map(str, words)], env={"SVOD_NO_CACHE": "1"}, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_what_they_need(self):
        for name, most in MOST.items():
            with self.subTest(name):
                needed = set(re.findall(r"NEEDED.*\[(.*)\]", self.command("readelf", "-d", self.place / name)))
                self.assertLessEqual({part.split(".so")[0] for part in needed}, {"libc", "libm", "ld-linux-x86-64"})
                self.command("strip", self.place / name)
                self.assertLess((self.place / name).stat().st_size, most)
                self.assertIn("0.1.0", self.run_here(name, "--version"))

    def test_plans_are_the_same(self):
        for words in (("--cpu", "x86-64-v3"), ("--cpu", "x86-64-v3", "--target", "c"), ("--triple", "aarch64-unknown-linux-gnu", "--cpu", "generic")):
            with self.subTest(words):
                self.run_here("svodc", "compile", DIGITS / "digits.svod", "-o", "p", *words)
                self.svodc("compile", DIGITS / "digits.svod", "-o", self.folder / "q", *words)
                for file in ("plan.json", "kernels.so", "weights.bin"):
                    self.assertEqual((self.folder / "p" / file).read_bytes(), (self.folder / "q" / file).read_bytes(), file)
        self.run_here("svodc", "compile", DIGITS / "digits.svod", "-o", "r")
        self.run_here("svod-run", "r", "--input", f"image={DIGITS}/samples.npy", "--output-dir", "out")
        self.assertTrue((self.folder / "out/digit.npy").exists())


if __name__ == "__main__":
    unittest.main()
