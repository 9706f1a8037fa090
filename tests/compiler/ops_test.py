"""svod/compiler_ops.hpp has the functions that the table of ops asks for."""
import os
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import make_ops  # noqa: E402


@unittest.skipIf(shutil.which("clang-format-19") is None, "needs clang-format-19")
class Ops(unittest.TestCase):
    def test_header_is_what_the_table_says(self):
        svodc = Path(os.environ["SVOD_BIN_DIR"]) / "svodc"
        self.assertEqual(make_ops.HEADER.read_text(), make_ops.written(svodc), f"run tests/compiler/make_ops.py {svodc}")


if __name__ == "__main__":
    unittest.main()
