"""svodc compile --emit c, static-lib and header: a plan as a function of another program, which needs nothing of svod."""
import json
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
  if (digits_run(1, 0, probability, digit, arena, 0) != SVOD_MODEL_BAD_MEMORY) return 5;
  if (digits_run(1, image, 0, digit, arena, 0) != SVOD_MODEL_BAD_MEMORY) return 6;
  if (digits_run(1, image, probability, 0, arena, 0) != SVOD_MODEL_BAD_MEMORY) return 7;
  const svod_model_threads none = {0, 2, 0}, one = {0, 1, 0};
  if (digits_run(1, image, probability, digit, arena, &none) != SVOD_MODEL_BAD_MEMORY) return 8;
  if (digits_run(1, image, probability, digit, arena, &one) != SVOD_MODEL_OK) return 9;
  return digits_run(1, image, probability, digit, arena, 0);
}
"""
SOME = """
#include "some.h"
static _Alignas(64) unsigned char arena[SOME_ARENA_BYTES];
static float x[SOME_X_ELEMENTS], y[SOME_Y_ELEMENTS];
int main(void) {
  if (some_run(0, 0, 0, 0, 0, arena, 0) != SVOD_MODEL_OK) return 1;
  if (some_run(1, 0, 0, y, 0, arena, 0) != SVOD_MODEL_BAD_MEMORY) return 2;
  if (some_run(1, x, 0, 0, 0, arena, 0) != SVOD_MODEL_BAD_MEMORY) return 3;
  if (some_run(10, 0, 0, 0, 0, arena, 0) != SVOD_MODEL_BAD_VARIABLE) return 4;
  return some_run(9, x, 0, y, 0, arena, 0) == SVOD_MODEL_OK && y[0] == 1 && y[35] == 1 ? 0 : 5;
}
"""
SIZED = """
#include "sized.h"
int main(void) {
  if (sized_x_elements(9, 5) != SIZED_X_ELEMENTS || SIZED_X_ELEMENTS != 180) return 1;
  if (sized_x_elements(2, 3) != 24 || sized_x_elements(0, 1) != 0) return 2;
  if (sized_y_elements(3, 5) != 40 || sized_y_elements(9, 1) != 20 || sized_y_elements(0, 5) != 0) return 3;
  if (sized_x_elements(10, 1) != -1 || sized_x_elements(1, 0) != -1 || sized_arena_bytes(-1, 1) != -1) return 4;
  if (sized_arena_bytes(9, 5) < 1 || sized_arena_bytes(9, 5) > SIZED_ARENA_BYTES || sized_arena_bytes(0, 1) > sized_arena_bytes(9, 5)) return 5;
  return SIZED_Z_ELEMENTS == 1 ? 0 : 6;
}
"""
MOVES = """
#include "moves.h"
#include <stdlib.h>
#include <string.h>
static int run(int64_t n, int64_t m) {
  const int64_t bytes = moves_arena_bytes(n, m);
  unsigned char* arena = aligned_alloc(64, (size_t)bytes + 64);
  float *x = malloc((size_t)(n * m) * 4), *y = malloc((size_t)m * 4), *z = malloc((size_t)n * 4);
  if (bytes < 64 || bytes > MOVES_ARENA_BYTES || arena == 0) return 1;
  memset(arena + bytes, 0xA5, 64);
  for (int64_t i = 0; i < n * m; ++i) x[i] = (float)(i % 7);
  if (moves_run(n, m, x, y, z, arena, 0) != SVOD_MODEL_OK) return 2;
  for (int64_t i = 0; i < 64; ++i)
    if (arena[bytes + i] != 0xA5) return 3;
  for (int64_t j = 0; j < m; ++j) {
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[i * m + j] + 1;
    if (y[j] != sum) return 4;
  }
  for (int64_t i = 0; i < n; ++i) {
    float most = 0;
    for (int64_t j = 0; j < m; ++j) most = x[i * m + j] + 1 > most ? x[i * m + j] + 1 : most;
    if (z[i] != most) return 5;
  }
  free(arena), free(x), free(y), free(z);
  return 0;
}
int main(void) {
  const int64_t sizes[][2] = {{1, 1}, {3, 500}, {200, 1}, {17, 33}, {200, 500}};
  for (int i = 0; i < 5; ++i)
    if (run(sizes[i][0], sizes[i][1]) != 0) return 10 * i + run(sizes[i][0], sizes[i][1]);
  return moves_arena_bytes(1, 1) < 1000 ? 0 : 99;
}
"""
MOVES_GRAPH = """svod 1
var n in [1, 200]
var m in [1, 500]
input x: f32[n, m]
a = contiguous(x + 1)
output y = sum(a, axes=0)
output z = reduce_max(a, axes=1)
"""
CALLER = """#include "{header}"
static _Alignas(64) unsigned char arena[MODEL_ARENA_BYTES];
float {name}(float x);
float {name}(float x) {{
  const float all[4] = {{x}};
  float y[4];
  return model_run(all, y, arena, 0) == SVOD_MODEL_OK ? y[0] : -1;
}}
"""
CALLS = """float call2(float x);
float call3(float x);
int main(void) { return call2(1) == 2 && call3(1) == 3 ? 0 : 1; }
"""


class Embed(ToolTest):
    def test_models_in_one_program_give_the_bytes_of_their_plans(self):
        models = [Model(self, DIGITS, "digits", variables={"n": 37}), Model(self, DIGITS, "digits_fast", words=["--numerics", "fast"]),
                  Model(self, AVERAGE, "average", repeat=3),
                  *(Model(self, DIGITS, f"digits_{n}", words=["--specialize", "n=1,37"], variables={"n": n}) for n in (1, 37, 38)),
                  Model(self, self.graph(LOOP), "loop", variables={"n": 7, "steps": 3}, repeat=2)]
        check(self, program(self, models), models)

    def test_static_libraries_in_one_program_give_the_bytes_of_their_plans(self):
        kinds = ("static-lib", "header")
        models = [Model(self, DIGITS, "digits", emit=kinds, variables={"n": 37}), Model(self, DIGITS, "again", emit=kinds),
                  Model(self, AVERAGE, "average", emit=kinds, repeat=3),
                  *(Model(self, DIGITS, f"digits_{n}", emit=kinds, words=["--specialize", "n=1,37"], variables={"n": n}) for n in (1, 37, 38)),
                  Model(self, self.graph(LOOP), "loop", emit=kinds, variables={"n": 7, "steps": 3}, repeat=2)]
        check(self, program(self, models), models)
        for model in models:
            symbols = {line.split()[-1] for line in build(self, ["nm", "-g", model.files["static-lib"]]).splitlines() if " T " in line or " U " in line}
            self.assertEqual(symbols - {"memmove", "memcpy", "memset", "_GLOBAL_OFFSET_TABLE_"}, model.functions())
            self.assertIn(f"{model.prefix}_run", symbols)

    def test_static_libraries_hold_functions_of_c_files(self):
        (self.folder / "f.c").write_text("#include <stdint.h>\n#include <string.h>\nstatic float last[64];\n"
                                         "void flip(float *y, const float *x, int64_t n) {\n  memcpy(last, x, n * sizeof(float));\n"
                                         "  for (int64_t i = 0; i < n; i++) y[i] = last[n - 1 - i];\n}\n")
        graph = self.graph('svod 1\nvar n in [1, 64]\ninput x: f32[n]\noutput y = custom(x * 2, source="f.c", function=flip, shape=[n], values=[n]) + 1\n')
        model = Model(self, graph, "flipped", emit=("static-lib", "header"), variables={"n": 37}, repeat=2)
        check(self, program(self, [model]), [model])
        symbols = {line.split()[-1] for line in build(self, ["nm", "-g", model.files["static-lib"]]).splitlines() if " T " in line}
        self.assertEqual(symbols, model.functions())
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
        for kind in ("c", "static-lib"):
            with self.subTest(kind):
                model = Model(self, DIGITS, "digits", emit=(kind, "header"))
                self.codes(MISUSE, model)

    def codes(self, text, model):
        """The program checks the codes itself, and returns which one was another."""
        main = self.graph(text, "misuse.c")
        build(self, [*CC, main, next(model.files[k] for k in ("c", "static-lib") if k in model.files), "-o", self.folder / "misuse"])
        self.assertEqual(subprocess.run([self.folder / "misuse"]).returncode, 0)

    def test_tensors_without_elements_may_be_null(self):
        for kind in ("c", "static-lib"):
            with self.subTest(kind):
                graph = self.graph("svod 1\nvar n in [0, 9]\ninput x: f32[n, 4]\ninput none: f32[0]\noutput y = x + 1\noutput z = none * 2\n", "some.svod")
                self.codes(SOME, Model(self, graph, "some", emit=(kind, "header")))

    def test_a_plan_that_needs_no_arena_has_one_that_can_be_declared(self):
        for kind in ("c", "static-lib"):
            model = Model(self, self.graph("svod 1\ninput x: f32[4]\noutput y = x + 1\n", "small.svod"), "small", emit=(kind, "header"))
            self.assertRegex(model.files["header"].read_text(), r"SMALL_ARENA_BYTES [1-9]")
            check(self, program(self, [model]), [model])

    def test_sizes_are_functions_of_the_variables(self):
        for kind in ("c", "static-lib"):
            with self.subTest(kind):
                graph = self.graph("svod 1\nvar n in [0, 9]\nvar m in [1, 5]\ninput x: f32[n, m, 4]\noutput y = x[::2] + 1\noutput z = sum(x)\n", "sized.svod")
                self.codes(SIZED, Model(self, graph, "sized", emit=(kind, "header")))

    def test_a_run_touches_no_more_of_the_arena_than_its_sizes_need(self):
        for kind in ("c", "static-lib"):
            for words in ([], ["--specialize", "n=1,17", "--specialize", "m=1,500"]):
                with self.subTest(kind, words=words):
                    self.codes(MOVES, Model(self, self.graph(MOVES_GRAPH, "moves.svod"), "moves", emit=(kind, "header"), words=words))

    def test_models_with_one_prefix_are_told_apart(self):
        """Each file calls the model of its own header, or the linker says that two have one name."""
        scaled = [self.graph(f"svod 1\ninput x: f32[4]\noutput y = x * {k}\n", f"scaled{k}.svod") for k in (2, 3)]
        for kind in ("c", "static-lib", "shared-lib"):
            with self.subTest(kind):
                libraries, sources = [], []
                for k, graph in zip((2, 3), scaled):
                    folder = self.folder / f"{kind}{k}"
                    folder.mkdir()
                    target = ["--target", "c", "--cc", "none"] if kind == "c" else []
                    made = folder / {"c": "model.c", "static-lib": "libmodel.a", "shared-lib": f"libmodel{k}.so"}[kind]
                    self.svodc("compile", graph, *target, "--prefix", "model", "--emit", f"{kind}={made}", "--emit", f"header={folder}/model.h")
                    if kind == "c":  # as a static library takes it
                        build(self, [*CC, "-c", made, "-o", folder / "model.o"])
                        made = folder / "libmodel.a"
                        build(self, ["ar", "rcs", made, folder / "model.o"])
                    libraries.append(made)
                    sources.append(self.graph(CALLER.format(name=f"call{k}", header=f"{folder}/model.h"), f"call{k}.c"))
                main = self.graph(CALLS, "calls.c")
                words = [*map(str, (*CC, main, *sources, *libraries, f"-Wl,-rpath,{libraries[0].parent}:{libraries[1].parent}", "-o", self.folder / "calls"))]
                done = subprocess.run(words, capture_output=True, text=True)
                if kind == "shared-lib":
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(subprocess.run([self.folder / "calls"]).returncode, 0)
                else:
                    self.assertRegex(done.stderr, "multiple definition of .model_run'")

    def test_headers_of_two_models_with_one_prefix_are_an_error(self):
        for k in (2, 3):
            self.svodc("compile", self.graph(f"svod 1\ninput x: f32[4]\noutput y = x * {k}\n"), "--prefix", "model", "--emit", f"header={self.folder}/m{k}.h")
        for twice, said in (("m2.h", ""), ("m3.h", "another model has the prefix model")):
            main = self.graph(f'#include "m2.h"\n#include "{twice}"\nint main(void) {{ return 0; }}\n', "twice.c")
            done = subprocess.run([*CC, "-c", main, "-o", self.folder / "o.o"], capture_output=True, text=True)
            self.assertEqual(done.returncode != 0, said != "")
            self.assertIn(said, done.stderr)

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
        model = Model(self, AVERAGE, "average")
        build(self, ["gcc", "-std=c11", "-c", self.folder / "average.c", "-o", self.folder / "a.o"])
        symbols = {line.split()[-1] for line in build(self, ["nm", "-g", self.folder / "a.o"]).splitlines()}
        self.assertEqual(symbols - {"_GLOBAL_OFFSET_TABLE_"}, model.functions())
        self.assertLess({"average_run", "average_reset", "average_arena_bytes"}, symbols)

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

    def test_c_beside_other_kinds(self):
        """One command writes what two would: the plan and code of this machine, and C with its header."""
        graph = self.graph("svod 1\ninput x: f32[37]\noutput y = x * 2 + 1\n", "both.svod")
        alone, beside = self.folder / "alone", self.folder / "beside"
        for folder in (alone, beside):
            folder.mkdir()
        c = ["--emit", "c={}/m.c", "--emit", "header={}/m.h"]
        self.svodc("compile", graph, "--cpu", "x86-64", "--target", "c", "--cc", "none", *[w.format(alone) for w in c])
        self.svodc("compile", graph, "--cpu", "x86-64", "-o", alone / "plan", "--emit", f"obj={alone}/m.o")
        said = json.loads(self.svodc("compile", graph, "--cpu", "x86-64", "-o", beside / "plan", "--emit", f"obj={beside}/m.o", *[w.format(beside) for w in c],
                                     "--verify", "--json", "-MF", self.folder / "d").stdout)
        self.assertEqual(set(said["filesWritten"]), {f"{beside}/m.c", f"{beside}/m.h", f"{beside}/m.o", f"{self.folder}/d",
                                                     *(f"{beside}/plan/{f.name}" for f in (beside / "plan").iterdir())})
        for path in (p for p in alone.rglob("*") if p.is_file() and p.suffix != ".h" and p.name != "m.c"):
            self.assertEqual(path.read_bytes(), (beside / path.relative_to(alone)).read_bytes(), path)
        self.svodc("compile", graph, "--cpu", "x86-64", "-o", beside / "plan", *[w.format(beside) for w in c])
        for name in ("m.c", "m.h"):
            self.assertEqual((alone / name).read_bytes(), (beside / name).read_bytes(), name)
        self.svodc("compile", graph, "--cpu", "x86-64", *[w.format(beside) for w in c])
        self.assertEqual((alone / "m.c").read_bytes(), (beside / "m.c").read_bytes())
        self.svodc("compile", graph, "--cpu", "x86-64", "--target", "c", "-o", self.folder / "p", "--emit", f"obj={beside}/m.o")
        self.assertEqual((alone / "m.o").read_bytes(), (beside / "m.o").read_bytes())

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
        self.fails(2, *words, "--emit", "functions", says="--target c")
        self.fails(2, *words, "--emit", "c", "--emit", "static-lib", "--emit", "header", says="there are two")
        self.fails(2, *words, "--emit", "header", "--prefix", "a-b", says="identifier")
        self.fails(2, *words, "--emit", "header", "--prefix", "while", says="identifier")
        self.fails(2, *words, "--emit", "header", "--weights", "flash", says="section=NAME")
        host = self.graph("svod 1\ninput x: f32[2]\noutput y = custom(x, function=f, shape=[2])\n", "host.svod")
        self.fails(3, "compile", host, "-o", self.folder / "p", "--emit", "header", says="host function 'f'")


if __name__ == "__main__":
    unittest.main()
