"""The lint must fail on what it forbids: each case is a small tree with one mistake and a word of its message."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent.parent / "scripts"
LAYERS = "support:\nir: support\npass: ir\ntools/svodc: pass\n"
USES = {"lib/ir/ir.h": '#pragma once\n#include "support/result.h"\n', "lib/pass/pass.h": '#pragma once\n#include "ir/ir.h"\n',
        "tools/svodc/uses.h": '#pragma once\n#include "pass/pass.h"\n'}  # what the layers allow


def run(script, files):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in {"lib/layers.txt": LAYERS, **USES, **files}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, SCRIPTS / script, root], capture_output=True, text=True)
        return done.returncode, done.stderr


class Lint(unittest.TestCase):
    def passes(self, script, files):
        code, errors = run(script, files)
        self.assertEqual((code, errors), (0, ""))

    def fails(self, script, files, *words):
        code, errors = run(script, files)
        self.assertEqual(code, 1)
        for word in words:
            self.assertIn(word, errors)

    def test_downward_includes_pass(self):
        self.passes("lint_layers.py", {"lib/ir/uop.h": '#include "support/result.h"\n#include <llvm/IR/Core.h>\n',
                                       "tools/svodc/main.cpp": '#include "pass/pass.h"\n',
                                       "lib/ir/CMakeLists.txt": "svod_library(ir SOURCES DEPS support)\n"})

    def test_own_files_are_included_with_quotes(self):
        self.fails("lint_layers.py", {"lib/ir/x.h": "#include <pass/pass.h>\n"}, "lib/ir/x.h:1:", "with quotes", "may not include 'pass'")
        self.passes("lint_layers.py", {"lib/ir/x.h": "#include <sys/mman.h>\n#include <svod/runtime.h>\n"})

    def test_layers_allow_what_is_used(self):
        self.fails("lint_layers.py", {"lib/layers.txt": LAYERS.replace("pass: ir", "pass: support ir")}, "'pass' includes nothing of 'support'")
        self.fails("lint_layers.py", {"lib/pass/CMakeLists.txt": "svod_library(pass SOURCES)\n"}, "'pass' includes 'ir', which its DEPS")
        self.fails("lint_layers.py", {"lib/layers.txt": LAYERS.replace("pass: ir", "pass: support ir"),
                                      "lib/pass/CMakeLists.txt": "svod_library(pass SOURCES DEPS ir support)\n"}, "DEPS of 'pass' name 'support'")

    def test_linked_rooms_are_checked(self):
        for call in ("target_link_libraries(svod_ir PRIVATE svod_pass)", "svod_library(ir SOURCES DEPS support LIBS svod_pass_parts)"):
            self.fails("lint_layers.py", {"lib/ir/CMakeLists.txt": call + "\n"}, "lib/ir/CMakeLists.txt:1:", "does not list 'pass'")
        self.passes("lint_layers.py", {"lib/ir/CMakeLists.txt": "svod_library(ir SOURCES DEPS support)\n"
                                                                "target_link_libraries(svod_ir PRIVATE svod_support svod_ir_parts fmt)\n"})

    def test_targets_are_rows(self):
        row = {"lib/layers.txt": LAYERS + "target:\n", "lib/target/vulkan/target.cpp": "", "lib/target/cpu/target.cpp": "DeviceKind::Cpu"}
        self.fails("lint_layers.py", {**row, "lib/ir/x.cpp": '\nint a = f("Vulkan");\n'}, "lib/ir/x.cpp:2:", "'Vulkan' is a target")
        self.fails("lint_layers.py", {**row, "cmake/a.cmake": "add_subdirectory(runtime-vulkan)\n"}, "cmake/a.cmake:1:")
        self.passes("lint_layers.py", {**row, "lib/ir/x.cpp": "// as vulkan\nint vulkanic, cpu;\n", "lib/target/targets.cpp": "vulkan"})

    def test_upward_include_fails(self):
        self.fails("lint_layers.py", {"lib/ir/uop.h": '\n#include "pass/pass.h"\n'}, "lib/ir/uop.h:2:", "may not include 'pass'")

    def test_unknown_room_fails(self):
        self.fails("lint_layers.py", {"lib/attic/x.h": ""}, "lib/attic/x.h:1:", "no room")
        self.fails("lint_layers.py", {"lib/ir/x.h": '#include "llvm/IR/Core.h"\n'}, "names no room")
        self.fails("lint_layers.py", {"lib/ir/x.h": '#include "lib/ir/y.h"\n'}, "room/file.h")

    def test_layers_point_down(self):
        self.fails("lint_layers.py", {"lib/layers.txt": "ir: support\nsupport:\n"}, "no line above")

    def test_deps_and_sources_are_checked(self):
        self.fails("lint_layers.py", {"lib/ir/CMakeLists.txt": "svod_library(ir SOURCES a.cpp DEPS pass)\n"}, "DEPS pass")
        self.fails("lint_layers.py", {"lib/ir/CMakeLists.txt": "svod_library(ir SOURCES aa.cpp)\n", "lib/ir/a.cpp": ""}, "not built")

    def test_one_type_has_one_room(self):
        self.fails("lint_layers.py", {"lib/ir/a.h": "#pragma once\nstruct Lanes {\n", "lib/pass/b.h": "class Lanes\n"},
                   "lib/pass/b.h:1:", "'Lanes' is also a type of 'ir'")
        self.passes("lint_layers.py", {"lib/ir/a.h": "struct Lanes;\n", "lib/pass/b.h": "class Lanes\n"})

    def test_environment_is_for_tools(self):
        self.passes("lint_code.py", {"tools/svodc/main.cpp": "int main(int, char** argv);\n", "lib/ir/a.cpp": "// argv\n"})
        self.fails("lint_code.py", {"lib/ir/a.cpp": 'auto x = std::getenv("X");\n'}, "lib/ir/a.cpp:1:", "only tools/")

    def test_machine_paths_fail(self):
        self.fails("lint_code.py", {"docs/a.md": "see /home" + "/somebody\n"}, "docs/a.md:1:")

    def test_leftovers_fail(self):
        self.fails("lint_code.py", {"lib/ir/a.cpp": "// TO" + "DO later\n"}, "lib/ir/a.cpp:1:")

    def test_header_guard(self):
        self.fails("lint_code.py", {"lib/ir/a.h": "int a();\n"}, "pragma once")

    def test_long_functions_fail_unless_allowed(self):
        body = "int f(int x) {\n" + "  x++;\n" * 160 + "  return x;\n}\n"
        self.passes("lint_code.py", {"lib/ir/a.cpp": "int f() { return 1; }\n"})
        self.fails("lint_code.py", {"lib/ir/a.cpp": "\nnamespace svod {\n" + body + "}\n"}, "lib/ir/a.cpp:3:", "'f' has 163 lines")
        allow = "function-length lib/ir/a.cpp:f one case per op\n"
        self.passes("lint_code.py", {"lib/ir/a.cpp": body, "scripts/lint_allow.txt": allow})
        self.fails("lint_code.py", {"scripts/lint_allow.txt": allow}, "nothing left to allow")
        self.fails("lint_code.py", {"scripts/lint_allow.txt": "function-length lib/ir/a.cpp:f\n"}, "reason")

    def test_long_classes_fail(self):
        inside = "  int a;\n" * 120
        two = f"struct A {{\n{inside}}};\nenum class C {{\n{inside}}};\nclass B {{\n{inside}}};\n"
        self.passes("lint_code.py", {"lib/ir/a.cpp": two})
        for head in ("class A {", "template <class T>\nstruct A final : B::C<T> {", "namespace x {\nunion A {"):
            text = f"int b;\n{head}\n{inside} private:\n{inside}}};\n" + ("}\n" if "namespace" in head else "")
            self.fails("lint_code.py", {"lib/ir/a.cpp": text}, "lib/ir/a.cpp:", "'A' has 24", "at most 200", "becomes a class")
            self.passes("lint_code.py", {"tests/ir/a.cpp": text})
        around = f"class A {{\n{inside}  struct B {{\n{inside}  }};\n}};\n"
        self.fails("lint_code.py", {"tools/x/a.h": "#pragma once\n" + around}, "tools/x/a.h:2:", "'A' has 244 lines")

    def test_long_files_fail(self):
        self.fails("lint_code.py", {"lib/ir/a.cpp": "int a;\n" * 801}, "801 lines")

    def test_long_lines_fail_outside_of_tables(self):
        line = "int " + "a" * 121 + ";\n"
        self.fails("lint_code.py", {"lib/ir/a.cpp": "int a;\n" + line}, "lib/ir/a.cpp:2:", "126 columns")
        self.passes("lint_code.py", {"lib/ir/a.def": line})

    def test_long_sentences_fail(self):
        short, long = "Seven words stand in this short sentence. ", "word " * 30 + "ends. "
        self.passes("lint_docs.py", {"docs/a.md": short * 10, "README.md": "A heading\n\n" + short + "`" + "x " * 50 + "`.\n"})
        self.passes("lint_docs.py", {"docs/a.md": short * 19 + long, "docs/b.md": "```\n" + long + "\n```\n"})
        self.fails("lint_docs.py", {"docs/a.md": short * 9 + "\n\n- " + long + long}, "docs/a.md:3:", "one sentence in ten has 31 words")
        self.fails("lint_docs.py", {"docs/a.md": ("word " * 20 + "ends. ") * 5}, "21.0 words per sentence")

    def test_full_cells_fail(self):
        self.passes("lint_docs.py", {"docs/a.md": "| a | b |\n|---|---|\n| `x|y` | " + "word " * 40 + "|\n"})
        self.passes("lint_docs.py", {"docs/a.md": "| a |\n|---|\n| `t.cpp` " + ", ".join(['"' + "word " * 20 + '"'] * 4) + " |\n"})
        self.fails("lint_docs.py", {"docs/a.md": "| a | b |\n|---|---|\n| x | " + "word " * 41 + "|\n"}, "docs/a.md:3:", "a cell of 41 words")

    def test_links_lead_to_headings(self):
        page = "# One\n\n## What `it` does\n\n## The same\n"
        self.passes("lint_docs.py", {"docs/a.md": page, "README.md": "[x](docs/a.md#what-it-does) [y](#z) `[n](#o)`\n\n# Z\n"})
        self.fails("lint_docs.py", {"README.md": "see\n[x](docs/b.md)\n"}, "README.md:2:", "'docs/b.md' does not exist")
        self.fails("lint_docs.py", {"docs/a.md": page, "README.md": "[x](docs/a.md#else)\n"}, "no heading 'else'")
        self.fails("lint_docs.py", {"docs/a.md": "`lib/no/such.h`\n"}, "docs/a.md:1:", "does not exist")

    def test_lines_that_stand_twice_fail(self):
        self.fails("lint_docs.py", {"docs/a.md": "## Use\n\n## Use\n"}, "docs/a.md:3:", "the same line as 1")


if __name__ == "__main__":
    unittest.main()
