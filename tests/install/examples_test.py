"""The examples as a new user builds them, from a fresh prefix alone: by CMake with Ninja, by make, and by their scripts."""
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from installed import BIN, InstallTest

SIX = "   .#      #.     #.     #.    .##oo.  .##.oo   #oo#o    o#o  "
PLANS = {"moving_average", "attention", "nearest", "transformer_block", "digits", "photo", "scene"}
OF_DIGITS = {"digits", "c", "code"}  # whose weights are in digits.safetensors


class Examples(InstallTest):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.prefix = Path(holder.name) / "prefix"
        subprocess.run(["cmake", "--install", BIN.parent, "--prefix", cls.prefix, "--strip"], check=True, stdout=subprocess.DEVNULL)

    def setUp(self):
        super().setUp()
        self.examples = shutil.copytree(self.prefix / "share/svod/examples", self.folder / "examples")
        self.build = self.folder / "build"
        self.build.mkdir()

    def compiled(self, *words):
        """What svodc was run for; and whether something was compiled or linked besides."""
        said = self.command(*words, cwd=self.build)
        graphs = set()
        for line in said.splitlines():
            if found := re.search(r"svodc compile \S*?(\w+)\.svod (.*)", line):
                graphs.add("c" if "--emit c=" in found[2] else "code" if "--emit static-lib=" in found[2] else found[1])
        return graphs, bool(re.search(r" -o (\S*/)?(read_digit|read_many|image_filter) ", said + " "))

    def check(self, *words):
        self.assertEqual(self.compiled(*words), (PLANS | {"c", "code"}, True))
        self.assertEqual(self.compiled(*words), (set(), False))
        self.assertRegex(self.command(self.build / "read_digit", SIX), r"^\d with \d+ %\n$")
        self.assertIn("the same bytes on two threads", self.command(self.build / "read_many"))
        self.command(self.build / "image_filter", "scene.plan", "-", "drawn", cwd=self.build)
        self.command(self.build / "image_filter", "photo.plan", "drawn-image.png", "out", cwd=self.build)
        self.assertTrue((self.build / "out-sharpened.png").exists())
        self.touch(self.examples, "digits/digits.safetensors")
        self.assertEqual(self.compiled(*words), (OF_DIGITS, False))
        self.assertEqual(self.compiled(*words), (set(), False))
        self.touch(self.examples, "graphs/nearest.svod")
        self.assertEqual(self.compiled(*words), ({"nearest"}, False))

    @unittest.skipUnless(shutil.which("ninja"), "needs ninja")
    def test_cmake(self):
        self.command("cmake", "-S", self.examples, "-B", self.build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Release")
        self.check("ninja", "-v")

    @unittest.skipUnless(shutil.which("make") and shutil.which("pkg-config"), "needs make and pkg-config")
    def test_make(self):
        self.check("make", "-f", self.examples / "Makefile", f"PREFIX={self.prefix}")

    def test_scripts(self):
        environment = {"SVOD_PREFIX": str(self.prefix), "TMPDIR": str(self.folder)}
        self.assertRegex(self.command(self.examples / "embedded/run.sh", "c", SIX, **environment), r"^\d with \d+ %\n$")
        self.command(self.examples / "embedded/run.sh", "cpp", **environment)
        self.command(self.examples / "image_filter/run.sh", "", "out", cwd=self.build, **environment)
        self.assertTrue((self.build / "out-sharpened.png").exists())
        plan, out = self.build / "digits.plan", self.build / "out"
        self.command(self.prefix / "bin/svodc", "compile", self.examples / "digits/digits.svod", "-o", plan)
        self.command(self.prefix / "bin/svod-run", plan, "--input", f"image={self.examples}/digits/samples.npy", "--output-dir", out)
        self.assertIn("of 360 images read correctly", self.command("python3", self.examples / "digits/show.py", out))
        if shutil.which("wasm-ld-19") or shutil.which("wasm-ld"):
            self.command(self.examples / "web/run.sh", self.build / "site", **environment)
            self.assertTrue((self.build / "site/digits.wasm").exists())


if __name__ == "__main__":
    unittest.main()
