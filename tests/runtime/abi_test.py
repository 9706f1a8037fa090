"""What programs that are linked with the runtime rely on: exported functions with their parameters, layouts of structs, the name of
the shared library, and what else has to be there. `abi_test.py --update` records the present state in abi.txt."""
import difflib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from interface import Interface, output

ROOT = Path(__file__).resolve().parent.parent.parent
LIBRARIES = (ROOT / os.environ.get("SVOD_BIN_DIR", "build/test/bin")).resolve().parent / "runtime-min"
SHARED, STATIC = LIBRARIES / "libsvod-runtime.so", LIBRARIES / "libsvod-runtime.a"
INCLUDE = ROOT / "runtime-min/include"
INTERFACE = Interface("svod/runtime.h", [INCLUDE], SHARED)
RECORD = Path(__file__).parent / "abi.txt"


def present():
    return INTERFACE.present("tests/runtime/abi_test.py", ['printf("SVOD_NONE %llx\\n", (unsigned long long)SVOD_NONE);'])


@unittest.skipIf(os.environ.get("SVOD_SANITIZE"), "sanitizers add to the libraries")
class Abi(unittest.TestCase):
    maxDiff = None

    @unittest.skipUnless(platform.machine() == "x86_64", "the record is of x86-64")
    def test_the_interface_is_the_recorded_one(self):
        difference = difflib.unified_diff(RECORD.read_text().splitlines(), present().splitlines(), "recorded", "present", lineterm="", n=1)
        self.assertEqual("\n".join(difference), "", "\nWhere programs that are linked already keep working (docs/compatibility.md), "
                         "record it: python3 tests/runtime/abi_test.py --update")

    def test_the_shared_library_shows_the_functions_and_needs_libc_alone(self):
        self.assertEqual(INTERFACE.exported(), INTERFACE.functions())
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", SHARED)))
        self.assertLessEqual({name.split(".so")[0] for name in needed}, {"libc", "libm", "libpthread", "libdl", "ld-linux-x86-64"}, needed)

    def test_the_static_library_shows_the_functions_and_links_alone(self):
        names = [line.split()[-1] for line in output("nm", "-g", "--defined-only", STATIC).splitlines() if len(line.split()) == 3]
        self.assertEqual(sorted(names), INTERFACE.functions())
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "example"
            output("cc", "-std=c99", "-I", INCLUDE, ROOT / "tests/runtime/example.c", STATIC, "-o", program)
            self.assertNotIn("libstdc++", output("readelf", "-d", program))
            done = subprocess.run([program, f"{folder}/none"], capture_output=True, text=True)
            self.assertEqual((done.returncode, "[io]" in done.stderr), (74, True), done.stderr)

    @unittest.skipUnless(shutil.which("musl-gcc"), "needs musl-gcc (Debian: musl-tools)")
    def test_the_static_library_links_with_another_libc(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "example"
            output("musl-gcc", "-std=c99", "-I", INCLUDE, ROOT / "tests/runtime/example.c", STATIC, "-o", program)
            self.assertIn("ld-musl", output("readelf", "-l", program))
            done = subprocess.run([program, f"{folder}/none"], capture_output=True, text=True)
            self.assertEqual((done.returncode, "[io]" in done.stderr), (74, True), done.stderr)

    def test_a_program_of_c_plus_plus_links_the_static_library_beside_its_own_library(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder) / "program.cpp", Path(folder) / "program"
            source.write_text("#include <cstdio>\n#include <stdexcept>\n#include <string>\n#include <svod/runtime.hpp>\nint main() {\n"
                              "  const auto plan = svod::runtime::Plan::load(std::string(300, 'x'));\n"
                              "  if (plan || plan.error().exit_code != 74) return 1;\n"
                              "  try { throw std::runtime_error(plan.error().code); }\n"
                              "  catch (const std::exception& error) { return std::puts(error.what()) < 0; }\n}\n")
            output("c++", "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-fno-rtti", "-I", INCLUDE, source,
                   STATIC, "-o", program)
            self.assertEqual(output(program), "io\n")

    def test_sizes(self):
        """Stripped; the figure stands in docs/build-systems.md."""
        with tempfile.TemporaryDirectory() as folder:
            output("strip", SHARED, "-o", Path(folder) / "library")
            self.assertLess((Path(folder) / "library").stat().st_size, 265_000)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        RECORD.write_text(present())
    else:
        unittest.main()
