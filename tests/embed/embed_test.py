"""svodc compile --emit c, static-lib and header: a plan as a function of another program, which needs nothing of svod."""
import struct
import subprocess
import unittest

from embedded import CC, ROOT, WARNINGS, Model, ToolTest, build, check, needs, program

DIGITS = ROOT / "examples/digits/digits.svod"
AVERAGE = ROOT / "examples/graphs/moving_average.svod"
LOOP = """svod 1
var n in [1, 9]
var steps in [0, 12]
input x: f32[n, 4]
input w: f32[4, 4]
state count: i64 = 5
assign count = count + 1
temp h: f32[n, 4] = x
loop t < steps while any(gt(h, 0)) {
  assign h = tanh(matmul(h, w)) * 1.5
}
output y = h * 1
output z = concat(x, h, axis=0)
output count
"""
MISUSE = """
#include "digits.h"
static _Alignas(64) unsigned char arena[DIGITS_ARENA_BYTES];
static float image[DIGITS_IMAGE_BYTES / 4], probability[DIGITS_PROBABILITY_BYTES / 4];
static int32_t digit[DIGITS_DIGIT_DIM0];
int main(void) {
  if (digits_run(0, image, probability, digit, arena, 0) != SVOD_MODEL_BAD_VARIABLE) return 1;
  if (digits_run(DIGITS_N_MAX + 1, image, probability, digit, arena, 0) != SVOD_MODEL_BAD_VARIABLE) return 2;
  if (digits_run(1, image, probability, digit, arena + 1, 0) != SVOD_MODEL_BAD_MEMORY) return 3;
  if (digits_run(1, image, probability, digit, 0, 0) != SVOD_MODEL_BAD_MEMORY) return 4;
  return digits_run(1, image, probability, digit, arena, 0);
}
"""


class Embed(ToolTest):
    def test_models_in_one_program_give_the_bytes_of_their_plans(self):
        models = [Model(self, DIGITS, "digits", variables={"n": 37}), Model(self, DIGITS, "digits_fast", words=["--numerics", "fast"]),
                  Model(self, AVERAGE, "average", repeat=3),
                  Model(self, self.graph(LOOP), "loop", variables={"n": 7, "steps": 3}, repeat=2)]
        check(self, program(self, models), models)

    def test_static_libraries_in_one_program_give_the_bytes_of_their_plans(self):
        kinds = ("static-lib", "header")
        models = [Model(self, DIGITS, "digits", emit=kinds, variables={"n": 37}), Model(self, DIGITS, "again", emit=kinds),
                  Model(self, AVERAGE, "average", emit=kinds, repeat=3),
                  Model(self, self.graph(LOOP), "loop", emit=kinds, variables={"n": 7, "steps": 3}, repeat=2)]
        check(self, program(self, models), models)
        for model in models:
            symbols = {line.split()[-1] for line in build(self, ["nm", "-g", model.files["static-lib"]]).splitlines() if " T " in line or " U " in line}
            functions = {f"{model.prefix}_run"} | ({f"{model.prefix}_reset"} if f"{model.prefix}_reset(" in model.files["header"].read_text() else set())
            self.assertEqual(symbols - {"memmove", "memcpy", "memset", "_GLOBAL_OFFSET_TABLE_"}, functions)

    def test_static_libraries_hold_functions_of_c_files(self):
        (self.folder / "f.c").write_text("#include <stdint.h>\n#include <string.h>\nstatic float last[64];\n"
                                         "void flip(float *y, const float *x, int64_t n) {\n  memcpy(last, x, n * sizeof(float));\n"
                                         "  for (int64_t i = 0; i < n; i++) y[i] = last[n - 1 - i];\n}\n")
        graph = self.graph('svod 1\nvar n in [1, 64]\ninput x: f32[n]\noutput y = custom(x * 2, source="f.c", function=flip, shape=[n], values=[n]) + 1\n')
        model = Model(self, graph, "flipped", emit=("static-lib", "header"), variables={"n": 37}, repeat=2)
        check(self, program(self, [model]), [model])
        symbols = {line.split()[-1] for line in build(self, ["nm", "-g", model.files["static-lib"]]).splitlines() if " T " in line}
        self.assertEqual(symbols, {"flipped_run"})
        self.fails(3, "compile", graph, "-o", self.folder / "p", "--target", "c", "--emit", "c", says="does not hold functions of C files")

    def test_static_library_for_another_processor(self):
        needs(self, "aarch64-linux-gnu-gcc", "qemu-aarch64-static")
        model = Model(self, DIGITS, "digits", emit=("static-lib", "header"), variables={"n": 9},
                      words=["--triple", "aarch64-unknown-linux-gnu", "--cpu", "cortex-a72", "--numerics", "strict"])
        path = program(self, [model], cc=["aarch64-linux-gnu-gcc", "-static", "-std=c11", *WARNINGS])
        done = subprocess.run(["qemu-aarch64-static", path, "digits"], input=model.given(), capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        host = Model(self, DIGITS, "digits", emit=("static-lib", "header"), variables={"n": 9}, words=["--numerics", "strict"])
        probability, digit = (data for data in (done.stdout[:9 * 40], done.stdout[9 * 40:]))
        expected = host.expected()
        self.assertEqual(digit, expected[9 * 40:])
        for a, b in zip(struct.iter_unpack("<f", probability), struct.iter_unpack("<f", expected[:9 * 40])):
            self.assertAlmostEqual(a[0], b[0], delta=1e-5)

    def test_threads_of_the_caller_change_no_byte(self):
        for kind in ("c", "static-lib"):
            with self.subTest(kind):
                self.check_threads(kind)

    def check_threads(self, kind):
        models = [Model(self, DIGITS, "digits", emit=(kind, "header"), variables={"n": 360})]
        path = program(self, models, threads=True)
        check(self, path, models)
        source = (self.folder / "program.c").read_text().replace("call_digits();", "call_digits() + (cuts == 0);")
        (self.folder / "program.c").write_text(source)
        build(self, [*CC, self.folder / "program.c", models[0].files[kind], "-o", path])
        check(self, path, models)

    def test_mistakes_of_the_caller_are_codes(self):
        Model(self, DIGITS, "digits")
        main = self.graph(MISUSE, "misuse.c")
        build(self, [*CC, main, self.folder / "digits.c", "-o", self.folder / "misuse"])
        self.assertEqual(subprocess.run([self.folder / "misuse"]).returncode, 0)

    def test_two_builds_are_the_same_bytes(self):
        files = []
        for jobs, locale in ((1, "C"), (2, "C.UTF-8")):
            for target, kind in (("c", "c"), ("c", "header"), ("cpu", "static-lib")):
                self.svodc("compile", DIGITS, "-o", self.folder / f"p{jobs}", "--target", target, "-j", jobs,
                           "--emit", f"{kind}={self.folder}/{kind}{jobs}", env={"LC_ALL": locale})
            files.append([(self.folder / f"{kind}{jobs}").read_bytes() for kind in ("c", "header", "static-lib")])
        self.assertEqual(files[0], files[1])
        self.assertFalse(any(str(self.folder).encode() in data for data in files[0]))

    def test_only_the_functions_of_the_header_are_seen(self):
        Model(self, AVERAGE, "average")
        build(self, ["gcc", "-std=c11", "-c", self.folder / "average.c", "-o", self.folder / "a.o"])
        symbols = {line.split()[-1] for line in build(self, ["nm", "-g", self.folder / "a.o"]).splitlines()}
        self.assertEqual(symbols - {"_GLOBAL_OFFSET_TABLE_"}, {"average_run", "average_reset"})

    def test_compilers_of_other_processors_have_no_warning(self):
        needs(self, "clang-19")
        Model(self, DIGITS, "digits")
        Model(self, AVERAGE, "average")
        for triple in ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "thumbv7em-none-eabi", "armv7-unknown-linux-gnueabihf",
                       "riscv64-unknown-linux-gnu", "wasm32-unknown-unknown"):
            for name in ("digits", "average"):
                build(self, ["clang-19", "-std=c11", "-ffreestanding", f"--target={triple}", *WARNINGS, "-c", self.folder / f"{name}.c",
                             "-o", self.folder / "o.o"])

    def test_lines_of_the_header_fit_a_page(self):
        for graph in (DIGITS, AVERAGE, self.graph(LOOP, "loop.svod")):
            model = Model(self, graph, graph.stem)
            self.assertLessEqual(max(map(len, model.files["header"].read_text().splitlines())), 120)

    def test_the_header_is_for_cpp(self):
        Model(self, AVERAGE, "average")
        main = self.graph('#include "average.h"\nint main() { return average_run(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == SVOD_MODEL_BAD_MEMORY ? 0 : 1; }\n', "m.cpp")
        build(self, ["gcc", "-std=c11", "-c", self.folder / "average.c", "-o", self.folder / "a.o"])
        build(self, ["g++", "-std=c++11", *WARNINGS, main, self.folder / "a.o", "-o", self.folder / "cpp"])
        self.assertEqual(subprocess.run([self.folder / "cpp"]).returncode, 0)

    def test_names_that_c_or_a_header_has_taken(self):
        names = """_Bool _Complex __x _ alignas and asm bool class concept constexpr co_await decltype delete double dynamic_cast int long namespace new not
            noexcept nullptr operator or register requires restrict short static_assert template this thread_local typeid typeof union using void
            wchar_t xor linux unix NULL EOF errno I complex INFINITY M_PI stdin size_t int64_t uintptr_t memcpy memset main arena arena_ states weights
            threads buffers values tiles task base x x_bytes x_rank x_dim0 svod_weights names_run a.b a_b ärger 9lives INT8_MAX SIZE_MAX BUFSIZ RAND_MAX
            CHAR_BIT FLT_MAX EDOM""".split()
        graph = self.graph("svod 1\n" + "".join(f"input `{n}`: f32[3]\noutput o{i} = `{n}` * {i + 2}\n" for i, n in enumerate(names)), "names.svod")
        model = Model(self, graph, "names")
        includes = "#include <complex.h>\n#include <errno.h>\n#include <float.h>\n#include <limits.h>\n#include <stdlib.h>\n#include <math.h>\n#include <stdio.h>\n"
        for name, compiler, headers in (("c", CC, includes), ("gnu.c", ["gcc", "-std=gnu17"], includes), ("cpp", ["g++", "-std=c++20", *WARNINGS], "#include <cmath>\n#include <cstdio>\n")):
            build(self, [*compiler, "-c", self.graph(headers + '#include "names.h"\n', f"m.{name}"), "-o", self.folder / "m.o"])
        check(self, program(self, [model]), [model])

    def test_weights_in_a_section_or_a_file(self):
        Model(self, DIGITS, "digits", words=["--weights", "section=.flash"])
        build(self, ["gcc", "-std=c11", "-c", *WARNINGS, self.folder / "digits.c", "-o", self.folder / "a.o"])
        self.assertIn(".flash", build(self, ["objdump", "-h", self.folder / "a.o"]))
        model = Model(self, DIGITS, "digits", words=["--weights", "file"])
        self.assertIn("const void* weights", model.files["header"].read_text())
        size = (model.plan / "weights.bin").stat().st_size
        self.assertIn(f"DIGITS_WEIGHTS_BYTES {size}\n", model.files["header"].read_text())
        self.assertLess(model.files["c"].stat().st_size, size * 20)
        self.assertNotIn("svod_weights", model.files["c"].read_text())

    def test_mistakes(self):
        words = ["compile", DIGITS, "-o", self.folder / "p"]
        self.fails(2, *words, "--emit", "c", says="--target c")
        self.fails(2, *words, "--emit", "header", "--prefix", "a-b", says="identifier")
        self.fails(2, *words, "--emit", "header", "--prefix", "while", says="identifier")
        self.fails(2, *words, "--emit", "header", "--weights", "flash", says="section=NAME")
        host = self.graph("svod 1\ninput x: f32[2]\noutput y = custom(x, function=f, shape=[2])\n", "host.svod")
        self.fails(3, "compile", host, "-o", self.folder / "p", "--emit", "header", says="host function 'f'")


if __name__ == "__main__":
    unittest.main()
