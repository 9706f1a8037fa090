"""custom(x, source="median.c", function=median): functions of C files as kernels of a plan."""
import json
import os
import statistics
import struct
import subprocess

from svodc import ToolTest, clean_environment, contents, main, npy, run

MEDIAN = """#include <stdint.h>
#include "order.h"

void median(float *result, const float *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    float row[9];
    for (int k = 0; k < 9; k++) row[k] = x[i * 9 + k];
    order(row, 9);
    result[i] = row[4];
  }
}
"""
ORDER = """static void order(float *x, int n) {
  for (int i = 1; i < n; i++)
    for (int k = i; k > 0 && x[k] < x[k - 1]; k--) {
      const float y = x[k];
      x[k] = x[k - 1], x[k - 1] = y;
    }
}
"""
GRAPH = """svod 1
var n in [1, 64]
input x: f32[n, 9]
y = custom(x * 2, source="median.c", function=median, shape=[n], values=[n], pure=true)
output z = y + 1
"""


class CFunctions(ToolTest):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "median.c"
        self.source.write_text(MEDIAN)
        (self.folder / "order.h").write_text(ORDER)
        self.plan = self.folder / "p"

    def compile(self, graph=GRAPH, *words, **options):
        self.svodc("compile", self.graph(graph), "-o", self.plan, *words, **options)
        return json.loads((self.plan / "plan.json").read_text())

    def one(self, text, call="custom(x, source=\"f.c\", function=f, shape=[4])", inputs="input x: f32[4]\n"):
        (self.folder / "f.c").write_text(text)
        return self.graph(f"svod 1\n{inputs}output y = {call}\n")

    def refused(self, code, text, *says, call="custom(x, source=\"f.c\", function=f, shape=[4])", words=(), inputs="input x: f32[4]\n"):
        done = self.fails(code, "compile", self.one(text, call, inputs), "-o", self.plan, *words, says=says)
        self.assertFalse(self.plan.exists())
        return done.stderr

    def test_it_runs_as_a_kernel_without_registration(self):
        rows = [[(i * 7 + k * k * 5) % 23 - 9.0 for k in range(9)] for i in range(5)]
        given = npy(self.folder / "x.npy", "<f4", (5, 9), struct.pack("<45f", *sum(rows, [])))
        wanted = [2 * statistics.median(row) + 1 for row in rows]
        for words in ([], ["-O0"], ["--target", "c"], ["--cpu", "x86-64"], ["--numerics", "strict"], ["--memory", "off"]):
            with self.subTest(words):
                plan = self.compile(GRAPH, "--verify", "--allow-c", *words, env={"PATH": str(self.folder)})
                self.assertTrue(any(k["name"].startswith("median_") for k in plan["kernels"]))
                self.assertTrue(all("launch" in step for step in plan["steps"]))
                done = run("svod-run", self.plan, "--input", f"x={given}", "--output-dir", self.folder / "out", "--profile")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("median_", done.stdout)
                got = struct.unpack("<5f", (self.folder / "out/z.npy").read_bytes()[-20:])
                self.assertEqual(list(got), wanted)

    def test_every_dtype_and_several_functions(self):
        types = {"bool": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "u8": "uint8_t", "u16": "uint16_t",
                 "u32": "uint32_t", "u64": "uint64_t", "f32": "float", "f64": "double", "f16": "_Float16", "bf16": "uint16_t", "f8e4m3": "uint8_t"}
        text = "#include <stdbool.h>\n#include <stdint.h>\n" + "".join(
            f"void copy_{d}({c} *restrict to, {c} const *from, int64_t a, int64_t n) {{ for (int64_t i = 0; i < n; i++) to[i] = from[i + a - a]; }}\n"
            for d, c in types.items())
        (self.folder / "f.c").write_text(text)
        graph = "svod 1\nvar n in [1, 6]\n" + "".join(
            f"input x_{d}: {d}[n, 3]\noutput y_{d} = custom(x_{d}, source=\"f.c\", function=copy_{d}, shape=[n, 3], dtype={d}, values=[7, n * 3])\n" for d in types)
        for words in ([], ["--target", "c", "-O0"]):
            self.compile(graph, "--verify", "--allow-c", *words)

    def test_calls_are_kept_in_loops_and_where_nothing_reads_them(self):
        (self.folder / "f.c").write_text("void add(int *to, const int *from, const int *more) { *to = *from + *more; }\n")
        plan = self.compile("svod 1\ninput x: i32[1]\ntemp t: i32[1] = x\nloop i < 5 {\n  assign t = custom(t, x, source=\"f.c\", function=add, shape=[1], dtype=i32)\n"
                            "}\n_ = custom(x, x, source=\"f.c\", function=add, shape=[1], dtype=i32)\noutput y = t\n", "--verify", "--allow-c")
        launched = [plan["kernels"][step["launch"]["kernel"]]["name"] for step in plan["steps"] if "launch" in step]
        self.assertEqual(sum(name.startswith("add_") for name in launched), 2)

    def test_files_are_in_the_depfile_and_decide_what_is_rebuilt(self):
        self.compile(GRAPH, "-MD")
        for name in ("median.c", "order.h", "graph.svod"):
            self.assertIn(str(self.folder / name), (self.folder / "p.d").read_text())
        before = contents(self.plan)
        (self.folder / "order.h").write_text(ORDER.replace("x[k] < x[k - 1]", "x[k] > x[k - 1] + 1"))
        self.compile()
        self.assertNotEqual(contents(self.plan), before)

    def test_the_cache_keeps_objects_and_knows_what_they_come_from(self):
        env = {"SVOD_NO_CACHE": "", "SVOD_CACHE_DIR": str(self.folder / "cache")}
        env = {k: v for k, v in env.items() if v}
        plans = {}
        for name, text in (("one", ORDER), ("other", ORDER.replace("<", ">", 2))):
            (self.folder / "order.h").write_text(text)
            self.compile()
            plans[name] = contents(self.plan)
            for _ in range(2):
                done = subprocess.run([os.environ["SVOD_BIN_DIR"] + "/svodc", "compile", self.folder / "graph.svod", "-o", self.plan],
                                      env={k: v for k, v in clean_environment(env).items() if k != "SVOD_NO_CACHE"}, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(contents(self.plan), plans[name])
        self.assertNotEqual(plans["one"], plans["other"])

    def test_other_processors_and_objects(self):
        self.compile(GRAPH, "--triple", "aarch64-unknown-linux-gnu", "--cpu", "neoverse-n1")
        self.assertEqual((self.plan / "kernels.so").read_bytes()[18], 0xb7)
        plan = self.compile(GRAPH, "--emit", f"obj={self.folder}/k.o", "--emit", f"obj-dir={self.folder}/objects")
        names = subprocess.run(["nm", self.folder / "k.o"], capture_output=True, text=True, check=True).stdout
        for kernel in plan["kernels"]:
            self.assertIn(f" T {kernel['symbol']}\n", names)
        self.assertIn("median.o", contents(self.folder / "objects"))

    def test_mistakes_point_at_the_call_or_into_the_c(self):
        graph = self.folder / "graph.svod"
        self.refused(74, "", f"{graph}:3:12: error: ", "none.c", call='custom(x, source="none.c", function=f, shape=[4])')
        for text, *says in (("void g(float *y, const float *x) {}\n", "has no function 'f'", "declare it so: void f(float* result, const float* x0)"),
                            ("void f(double *y, const float *x) {}\n", "f.c:1 takes other parameters: void f(double *, const float *)"),
                            ("void f(float *y, float *x) {}\n", "takes other parameters"), ("void f(float *y) {}\n", "takes other parameters"),
                            ("float f(float *y, const float *x) { return *y = *x; }\n", "takes other parameters"),
                            ("void f(float *y, const float *x);\n", "has no body")):
            said = self.refused(1, text, *says)
            self.assertIn(f"{graph}:3:12: error: ", said)
            self.assertIn("[bad-attribute]", said)
            self.assertIn(said.splitlines()[0], self.fails(1, "check", graph).stderr)
        self.refused(1, "", "no function of a C file", call='custom(x, source="f.h", function=f, shape=[4])')
        said = self.refused(1, "void f(float *y, const float *x) {\n  *y = *z;\n}\n", f"{self.folder}/f.c:2:9: error: use of undeclared identifier 'z' [compile-failed]",
                            "  2 |   *y = *z;\n    |         ^\n", f"called at {graph}:3")
        self.refused(1, "#include <stdio.h>\n", "'stdio.h' file not found")
        self.refused(1, "float expf(float);\nvoid f(float *y, const float *x) { *y = expf(*x); }\n", "undefined symbol: expf")
        for words in (["--cc", "cc", "--target", "c"], ["--cc", "none", "--target", "c"], ["--target", "emulated"]):
            self.refused(3, "void f(float *y, const float *x) { *y = *x; }\n", "functions of C files", words=words)

    def test_a_crash_is_an_error_of_verify(self):
        for body, says in (("y[4] = x[0];", "Segmentation fault"), ("y[0] = x[4];", "Segmentation fault"), ("__builtin_trap();", "crashed: Illegal instruction")):
            self.refused(6, f"void f(float *y, const float *x) {{ {body} (void)y, (void)x; }}\n", "while verifying: the function 'f' of ", says, words=["--verify", "--allow-c"])

    def test_what_a_stranger_brings_is_compiled_and_not_run(self):
        graph = self.one("void f(float *y, const float *x) { for (int i = 0; i < 4; i++) y[i] = x[i]; }\n")
        self.svodc("compile", graph, "-o", self.plan), self.svodc("check", graph), self.svodc("inspect", graph, "--kernels")
        # A constructor would run as soon as the code is loaded.
        mark = self.folder / "mark"
        graph = self.one("__attribute__((constructor)) static void g(void) { __builtin_trap(); }\n"
                         "void f(float *y, const float *x) { for (int i = 0; i < 4; i++) y[i] = x[i]; }\n")
        for words in (("compile", graph, "-o", mark, "--verify"), ("tune", graph, "--tuning-log", mark, "--budget", "1s")):
            self.fails(2, *words, says=("f.c'", "native code", "--allow-c"))
        self.fails(2, "compile", graph, "-o", mark, env={"SVOD_VERIFY": "1"}, says="--allow-c")
        self.assertFalse(mark.exists())
        graph = self.graph(GRAPH, "good.svod")
        self.svodc("compile", graph, "-o", self.plan, "--verify", env={"SVOD_ALLOW_C": "1"})
        work = self.folder / "work"
        self.svodc("tune", "plan", graph, "-o", work, "--budget", "1s")
        self.fails(2, "tune", "run", work, "--unit", 0, says="--allow-c")

    def test_only_regular_files_of_the_folder_are_read(self):
        inside, outside = self.folder / "in", self.folder / "out"
        inside.mkdir(), outside.mkdir()
        body = "void f(float *y, const float *x) { for (int i = 0; i < 4; i++) y[i] = x[i]; }\n"
        for folder in (inside, outside):
            (folder / "f.c").write_text(body)
        os.mkfifo(inside / "pipe.c")
        (inside / "link.c").symlink_to("../out/f.c")
        (inside / "deep").mkdir()
        (inside / "deep/f.c").write_text('#include "../own.h"\n' + body)
        (inside / "own.h").write_text("typedef int own;\n")
        def graph(source):
            path = inside / "g.svod"
            path.write_text(f'svod 1\ninput x: f32[4]\noutput y = custom(x, source="{source}", function=f, shape=[4])\n')
            return path
        for source, code, says in (("../out/f.c", 1, "outside the folder"), (outside / "f.c", 1, "outside the folder"), ("link.c", 1, "outside the folder"),
                                   ("pipe.c", 74, "not a regular file")):
            self.fails(code, "compile", graph(source), "-o", self.plan, says=says)
        for source in ("f.c", "deep/f.c", "./deep/../f.c"):
            self.svodc("compile", graph(source), "-o", self.plan)
        (inside / "there.c").symlink_to("f.c")
        self.svodc("compile", graph("there.c"), "-o", self.plan)
        (outside / "g.svod").symlink_to("../in/g.svod")  # as a cache of models has it
        (outside / "there.c").symlink_to("../in/f.c")
        self.svodc("compile", outside / "g.svod", "-o", self.plan)

    def test_what_c_includes_are_regular_files_of_the_folder(self):
        secret = self.folder.parent / f"{self.folder.name}.h"
        secret.write_text("typedef int secret;\n")
        self.addCleanup(secret.unlink)
        os.mkfifo(self.folder / "pipe.h")
        (self.folder / "link.h").symlink_to(secret)
        (self.folder / "zero.h").symlink_to("/dev/zero")
        body = "void f(float *y, const float *x) { for (int i = 0; i < 4; i++) y[i] = x[i]; }\n"
        for name in (secret, f"../{secret.name}", "link.h", "pipe.h", "zero.h", "/etc/passwd", "/proc/self/environ"):
            with self.subTest(name=name):
                self.refused(1, f'#include "{name}"\n{body}', "file not found", "is not read", "in the folder of the graph or below it")
        self.refused(1, f'#if __has_include("/etc/passwd")\n#error it is seen\n#endif\nint f;\n{body}', "[compile-failed]")
        for text in ('__asm__(".incbin \\"/etc/passwd\\"");\n', 'static void g(void) { __asm__ volatile(".include \\"/etc/passwd\\""); }\n'):
            self.refused(1, text + body, "inline assembly")
        # A linker would read a library that is named so.
        os.mkfifo(self.folder / "pipe.a")
        self.one(f'#pragma comment(lib, "{self.folder}/pipe.a")\n' + body)
        self.svodc("compile", self.folder / "graph.svod", "-o", self.plan)

    def test_results_that_differ_between_calls_are_found(self):
        self.refused(4, "static float kept;\nvoid f(float *y, const float *x) { for (int i = 0; i < 4; i++) y[i] = x[i] + kept; kept += 1; }\n",
                     "[mismatch]", words=["--verify", "--allow-c", "--repro-dir", "none"])


main()
