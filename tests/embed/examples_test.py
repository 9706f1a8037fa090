"""The programs of examples/embedded build with a new user's commands and do what they say."""
import re
import shutil
import subprocess
import unittest

from embedded import ROOT, ToolTest
from svodc import BIN, clean_environment

SIX = ["   .#   ", "   #.   ", "  #.    ", "  #.    ", " .##oo. ", " .##.oo ", "  #oo#o ", "   o#o  "]


class Examples(ToolTest):
    def run_example(self, *words):
        return subprocess.run([ROOT / "examples/embedded/run.sh", *words], capture_output=True, text=True,
                              env=clean_environment({"SVOD_PREFIX": str(BIN.parent)}))

    def test_c_program(self):
        done = self.run_example("c", "".join(SIX))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^6 with \d+ %\n$")

    def test_cpp_program(self):
        done = self.run_example("cpp")
        self.assertEqual((done.returncode, done.stdout), (0, "512 images, the same bytes on two threads\n"), done.stderr)

    @unittest.skipUnless(shutil.which("clang-19") and shutil.which("ld.lld-19"), "needs clang-19 and lld-19")
    def test_firmware(self):
        done = self.run_example("firmware")
        self.assertIn(done.returncode, (0, 77), done.stdout + done.stderr)
        sizes = {name: int(size) for name, size in re.findall(r"^\.(\w+) +(\d+)", done.stdout, re.M)}
        self.assertLess(sizes["text"], 20_000)
        self.assertLess(sizes["weights"], 9802 * 4 + 1024)
        self.assertLess(sizes["bss"], 12_000)
        if done.returncode == 77:
            self.skipTest("needs qemu-system-arm to run it (Debian: qemu-system-arm)")
        self.assertIn("digit 6\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
