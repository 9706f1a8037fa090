// Products of bytes: every sign, zero points, extremes, and sizes that are no multiples of what an
// instruction sums up.
#include <catch2/catch.hpp>

#include <algorithm>

#include "e2e/graph_text.h"
#include "machine/cpu.h"

using namespace svod;

namespace {

struct Case {
  const char *a, *b;  // element types
  int64_t m, n, k;
  bool rowZero = false, columnZeros = false;
  bool weight = false;      // b is a constant
  bool transposed = false;  // b has rows of k
};

std::string literal(DType d, int64_t rows, int64_t columns) {
  std::string text = "[";
  for (int64_t i = 0; i < rows; ++i) {
    text += i ? ", [" : "[";
    for (int64_t j = 0; j < columns; ++j)
      text += (j ? ", " : "") + std::to_string(minInt(d) + (i * columns + j) * 85 % 256);
    text += "]";
  }
  return text + "]";
}

std::string textOf(const Case& c) {
  auto dims = [](int64_t x, int64_t y) { return "[" + std::to_string(x) + ", " + std::to_string(y) + "]"; };
  const int64_t rows = c.transposed ? c.n : c.k, columns = c.transposed ? c.k : c.n;
  std::string text = "input a: " + std::string(c.a) + dims(c.m, c.k) + "\n";
  text += std::string(c.weight ? "weight" : "input") + " b: " + c.b + dims(rows, columns);
  text += c.weight ? " = " + literal(c.b[0] == 'u' ? DType::U8 : DType::I8, rows, columns) + "\n" : "\n";
  if (c.rowZero) text += "input p: " + std::string(c.a) + "[1, 1]\n";
  if (c.columnZeros) text += "input q: " + std::string(c.b) + dims(1, c.n) + "\n";
  std::string left = "cast(a, dtype=i32)",
              right = std::string(c.transposed ? "cast(transpose(b), dtype=i32)" : "cast(b, dtype=i32)");
  if (c.rowZero) left += " - cast(p, dtype=i32)";
  if (c.columnZeros) right += " - cast(q, dtype=i32)";
  return text + "output y = matmul(" + left + ", " + right + ")\n";
}

// Bytes of all values, or of the two ends of their range.
void fill(const Model& model, ModelBindings& bindings, bool extremes) {
  for (size_t i = 0; i < model.ports.size(); ++i) {
    if (model.ports[i].kind != PortKind::Input) continue;
    HostTensor& t = bindings.ports[i];
    for (int64_t at = 0; at < t.numel(); ++at) {
      int64_t value = extremes ? (at * at / 3 % 4 == 1 ? 255 : 0) : (at * 89 + at * at) % 256;
      t.set(at, Scalar::ofInt(t.dtype, minInt(t.dtype) + value));
    }
  }
}

/// Whether this machine has all that the processor has.
bool runsHere(const char* cpu) {
  const Result<CpuTarget> here = makeCpuTarget("", "native"), asked = makeCpuTarget("", cpu);
  return here && asked && std::ranges::includes(here->features, asked->features);
}

void check(const Case& c, RunOptions options) {
  options.quickC = true;
  const std::string text = textOf(c);
  INFO(text << options.target << " " << options.cpu);
  Model model = modelOf(text);
  ModelBindings bindings = bindingsOf(model, 0);
  for (bool extremes : {false, true}) {
    fill(model, bindings, extremes);
    auto expected = interpret(model, bindings);
    if (!expected) FAIL(toText(expected.error()));
    auto actual = runPlan(model, bindings, options);
    if (!actual) FAIL(toText(actual.error()));
    checkEqual(model, *expected, *actual);
  }
}

// Opts and source of all kernels, compiled for `cpu`.
std::pair<std::string, std::string> compiledFor(const Case& c, const char* triple, const char* cpu) {
  Model model = modelOf(textOf(c));
  CompileOptions options = compileOptions({});
  auto target = makeCpuTarget(triple, cpu);
  REQUIRE(target);
  options.machine = *target, options.keepSource = true;
  auto compilation = compile(model, options);
  if (!compilation) FAIL(toText(compilation.error()));
  std::string opts, source;
  for (const CompiledKernel& k : (*compilation)->kernels) opts += k.desc.opts + "\n", source += k.source;
  return {opts, source};
}

}  // namespace

TEST_CASE("products of bytes equal the interpreter, whatever their signs") {
  for (const char* target : testTargets())
    for (const char* a : {"u8", "i8"})
      for (const char* b : {"u8", "i8"})
        for (const Case& size :
             {Case{a, b, 17, 33, 31}, Case{a, b, 24, 64, 32}, Case{a, b, 9, 70, 7}, Case{a, b, 33, 5, 66}})
          for (int zeros : {0, 1, 3}) {
            Case c = size;
            c.rowZero = zeros & 1, c.columnZeros = zeros & 2;
            RunOptions options;
            options.target = target;
            check(c, options);
          }
}

TEST_CASE("products with constant and with transposed bytes equal the interpreter") {
  for (const char* target : testTargets())
    for (const char* a : {"u8", "i8"})
      for (bool weight : {false, true})
        for (bool transposed : {false, true})
          for (int64_t k : {32, 35, 3})
            for (int64_t m : {1, 20}) {
              RunOptions options;
              options.target = target;
              check({a, "i8", m, 40, k, true, false, weight, transposed}, options);
            }
}

TEST_CASE("matrix products of bytes use the dot products of the processor") {
  const struct {
    const char *arch, *cpu, *a, *b, *instruction;
  } kCpus[] = {{"x86_64", "cascadelake", "u8", "i8", "x86.avx512.vpdpbusd.512"},
               {"x86_64", "cascadelake", "i8", "i8", "x86.avx512.vpdpbusd.512"},
               {"x86_64", "alderlake", "u8", "u8", "x86.avx512.vpdpbusd.256"},
               {"x86_64", "skylake-avx512", "i8", "i8", "x86.avx512.pmaddw.d.512"},
               {"x86_64", "haswell", "u8", "u8", "x86.avx2.pmadd.wd"},
               {"x86_64", "x86-64", "u8", "i8", "x86.sse2.pmadd.wd"},
               {"aarch64", "neoverse-n1", "i8", "i8", "aarch64.neon.sdot"},
               {"aarch64", "neoverse-n1", "u8", "u8", "aarch64.neon.udot"},
               {"aarch64", "neoverse-n1", "u8", "i8", "aarch64.neon.udot"},
               {"aarch64", "neoverse-v1", "u8", "i8", "aarch64.neon.usdot"}};
  for (const auto& row : kCpus) {
    INFO(row.cpu << " " << row.a << " " << row.b);
    auto [opts, source] =
        compiledFor({row.a, row.b, 64, 64, 64}, (std::string(row.arch) + "-unknown-linux-gnu").c_str(), row.cpu);
    CHECK_THAT(opts, Catch::Contains("dot(k0,4)"));
    CHECK_THAT(source, Catch::Contains(row.instruction));
  }
  CHECK_THAT(compiledFor({"u8", "i8", 64, 64, 64}, "aarch64-unknown-linux-gnu", "cortex-a72").first,
             !Catch::Contains("dot("));
}

TEST_CASE("products of bytes equal the interpreter in the instructions of older processors") {
  for (const char* cpu : {"x86-64", "haswell", "skylake-avx512"}) {
    if (!runsHere(cpu)) continue;
    for (const char* a : {"u8", "i8"})
      for (const char* b : {"u8", "i8"}) {
        RunOptions options;
        options.cpu = cpu;
        check({a, b, 18, 34, 31, true, true}, options);
      }
  }
}

TEST_CASE("sums of products and of differences of bytes in lanes have all of them") {
  const std::string bytes =
      "var n in [1, 64] ~ 8\n"
      "input a: u8[n, 3, 16]\n"
      "input b: i8[16, 3]\n"
      "aa = cast(unsqueeze(a, axes=[3]), dtype=i32)\n";
  const std::string product = bytes + "output y = sum(aa * cast(unsqueeze(b, axes=[0, 1]), dtype=i32), axes=[2])\n";
  const std::string distance = bytes +
                               "bb = cast(cast(unsqueeze(b, axes=[0, 1]), dtype=u8), dtype=i32)\n"
                               "output y = sum(abs(aa - bb), axes=[2])\n";
  RunOptions options;
  options.opts = "merge(n1,n2) vector(k0,16)";
  for (const std::string& text : {product, distance})
    for (const char* cpu : {"native", "x86-64-v2", "x86-64-v3"}) {
      options.cpu = cpu;
      checkBetweenGuards(text, 5, options);
    }
}

// With lanes along a line that is shorter than them, the end of a channel lies where the next channel begins.
TEST_CASE("convolutions of padded bytes have their padding where lanes pass the end of a line") {
  for (const char* opts : {"", "dot(k0,4) vector(n2,8) unroll(k1,2)", "dot(k0,4) upcast(n1,8) vector(n2,8)"}) {
    RunOptions options;
    options.opts = opts;
    checkBetweenGuards(
        "var b in [1, 8] ~ 1\n"
        "input x: u8[b, 4, 8]\n"
        "input w: i8[8, 4, 2]\n"
        "xx = cast(pad(x, 128, before=[0, 0, 1], after=[0, 0, 1]), dtype=i32)\n"
        "output y = conv1d(xx, cast(w, dtype=i32), stride=[2])\n",
        3, options);
  }
}

// The tile is one of columns, whose number decides alone what is left of it; parts of the rows are threads.
TEST_CASE("the rest of a tile of columns has loops of its own in each part of the rows") {
  RunOptions options;
  options.execute.threads = 2;
  for (int64_t n : {1, 7, 17})
    checkBetweenGuards(
        "var n in [1, 64]\n"
        "input a: u8[n, 8, n, 32]\n"
        "input b: i8[32, n]\n"
        "output y = matmul(cast(a, dtype=i32), cast(b, dtype=i32))\n",
        n, options);
}
