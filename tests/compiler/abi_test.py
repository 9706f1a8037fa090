"""What programs that are linked with libsvod-compiler.so rely on. `abi_test.py --update` records the present state in abi.txt."""
import difflib
import os
import platform
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/runtime"))
from interface import Interface, output  # noqa: E402

BUILD = (ROOT / os.environ.get("SVOD_BIN_DIR", "build/test/bin")).resolve().parent
INCLUDES = [ROOT / "tools/svod-compiler/include", ROOT / "runtime-min/include"]
INTERFACE = Interface("svod/compiler.h", INCLUDES, BUILD / "tools/svod-compiler/libsvod-compiler.so")
RECORD = Path(__file__).parent / "abi.txt"


def present():
    return INTERFACE.present("tests/compiler/abi_test.py", ['printf("SVOD_COMPILER_ABI %d\\n", SVOD_COMPILER_ABI);'])


class Abi(unittest.TestCase):
    maxDiff = None

    @unittest.skipUnless(platform.machine() == "x86_64", "the record is of x86-64")
    def test_the_interface_is_the_recorded_one(self):
        difference = difflib.unified_diff(RECORD.read_text().splitlines(), present().splitlines(), "recorded", "present", lineterm="", n=1)
        self.assertEqual("\n".join(difference), "", "\nWhere programs that are linked already keep working (docs/compatibility.md), "
                         "record it: python3 tests/compiler/abi_test.py --update")

    def test_the_library_shows_the_functions_of_its_header_only(self):
        self.assertEqual(INTERFACE.exported(), INTERFACE.functions())

    def test_the_headers_are_c99_and_c_plus_plus_20_without_warnings(self):
        strict = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-fsyntax-only", *(f"-I{folder}" for folder in INCLUDES))
        output("cc", "-std=c99", *strict, "-x", "c", INCLUDES[0] / "svod/compiler.h")
        output("c++", "-std=c++20", "-fno-exceptions", *strict, ROOT / "examples/compile_at_start/compile_at_start.cpp")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        RECORD.write_text(present())
    else:
        unittest.main()
