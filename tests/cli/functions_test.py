"""svodc compile --emit functions: kernels of a plan as functions of a program, for svod_plan_load_static."""
import subprocess
import unittest

from svodc import BIN, ROOT, SANITIZERS, ToolTest, main

GRAPH = "svod 1\nvar n in [1, 9]\ninput x: f32[n]\nh = x * 2 + 1\noutput y = h\noutput z = sum(h, axes=0)\n"
LIBRARY = BIN.parent / "runtime-min"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <svod/runtime.h>

extern const svod_function_table first_functions, second_functions;
static svod_error error;
static void check(int code) {
  if (code == 0) return;
  printf("%s [%s]\\n", error.message, error.code);
  exit(code);
}

int main(int argc, char** argv) {
  static float x[3] = {1, 2, 3}, y[3], z;
  const uint64_t shape[] = {3};
  svod_plan* plan;
  svod_instance* instance;
  const svod_function_table* tables[] = {&first_functions, &second_functions, NULL};
  (void)argc;
  check(svod_plan_load_static(argv[1], tables[atoi(argv[2])], NULL, &plan, &error));
  check(svod_instance_create(plan, NULL, &instance, &error));
  check(svod_bind_input(instance, 0, "f32", shape, 1, x, &error));
  check(svod_bind_output(instance, 0, y, sizeof y, &error));
  check(svod_bind_output(instance, 1, &z, sizeof z, &error));
  check(svod_execute(instance, NULL, &error));
  printf("%g %g %g, %g\\n", (double)y[0], (double)y[1], (double)y[2], (double)z);
  svod_instance_free(instance);
  svod_plan_free(plan);
  return 0;
}
"""


@unittest.skipIf(SANITIZERS, "the program would have to be built with the same sanitizer")
class Functions(ToolTest):
    def build(self, *words):
        done = subprocess.run([*map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def program(self):
        """A program with the functions of two plans, whose kernels are partly the same; the first one has no code."""
        for name, graph, words in (("first", GRAPH, ("--cc", "none", "--triple", "aarch64-unknown-linux-gnu")), ("second", GRAPH.replace("* 2", "* 3"), ())):
            self.svodc("compile", self.graph(graph, f"{name}.svod"), "-o", self.folder / name, "--target", "c", *words, "--emit", "pack",
                       "--emit", f"functions={self.folder}/{name}.c")
        (self.folder / "main.c").write_text(PROGRAM)
        self.build("cc", "-std=c11", "-O2", *WARNINGS, "-I", ROOT / "runtime-min/include", *(self.folder / f"{name}.c" for name in ("main", "first", "second")),
                   "-o", self.folder / "program", "-L", LIBRARY, "-lsvod-runtime", f"-Wl,-rpath,{LIBRARY}")

    def says(self, code, *words):
        done = subprocess.run([self.folder / "program", *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_a_program_brings_the_kernels_of_its_plans(self):
        self.program()
        for path in ("first", "first.pack"):
            self.assertEqual(self.says(0, self.folder / path, 0), "3 5 7, 15\n")
        for path in ("second", "second.pack"):
            self.assertEqual(self.says(0, self.folder / path, 1), "4 7 10, 21\n")
            self.assertIn("made with another plan [plan-checksum]", self.says(5, self.folder / path, 0))
        self.assertIn("[usage]", self.says(2, self.folder / "first", 2))
        with open(self.folder / "first.pack", "r+b") as pack:
            pack.truncate(5000)
        self.assertIn("[bad-plan]", self.says(5, self.folder / "first.pack", 0))

    def test_mistakes(self):
        self.fails(2, "compile", self.graph(GRAPH), "-o", self.folder / "p", "--emit", "functions", says="--target c")
        self.fails(2, "compile", self.graph(GRAPH), "-o", self.folder / "p", "--target", "c", "--emit", "functions", "--prefix", "1", says="--prefix")


if __name__ == "__main__":
    main()
