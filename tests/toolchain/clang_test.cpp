// C compiled in process: without headers of the system, for the named processor, with errors that have a place.
#include <catch2/catch.hpp>
#include <cmath>

#include "shared_library.h"
#include "toolchain/clang.h"
#include "toolchain/linker.h"
#include "toolchain/temp_dir.h"

using namespace svod;

namespace {

Linker& linker() {
  static Linker instance("/tmp");
  return instance;
}

CpuTarget cpu(std::string_view name) { return makeCpuTarget("x86_64-unknown-linux-gnu", name).value(); }

SharedLibrary library(const std::string& text, const CpuTarget& target, OptLevel level = OptLevel::O1) {
  const Result<std::string> object = compileC({"k.c", text}, target, level);
  INFO((object ? "" : toText(object.error())));
  REQUIRE(object.has_value());
  return SharedLibrary(linker().linkShared(std::vector{*object, compileMemoryFunctions(target).value()}).value());
}

Error errorOf(const std::string& text) {
  const Result<std::string> object = compileC({"k.c", text}, cpu("x86-64"), OptLevel::O1);
  REQUIRE_FALSE(object.has_value());
  return object.error();
}

constexpr const char* kRounding = R"(#include <math.h>
void all(double x, double *y) {
  y[0] = floor(x), y[1] = ceil(x), y[2] = trunc(x), y[3] = nearbyint(x), y[4] = round(x);
  y[5] = floorf((float)x), y[6] = ceilf((float)x), y[7] = truncf((float)x), y[8] = nearbyintf((float)x);
  y[9] = roundf((float)x), y[10] = fmax(x, 1), y[11] = fmin(x, 1);
}
)";

}  // namespace

TEST_CASE("math.h rounds as the C library does, with and without instructions for it") {
  for (const char* name : {"x86-64", "x86-64-v2"}) {
    const SharedLibrary code = library(kRounding, cpu(name));
    const auto all = code.function<void(double, double*)>("all");
    for (double x : {0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 1e300, -1e300, 0x1p52 + 1, 8388609.0,
                     -3.7, 4.2, double(INFINITY), double(NAN)}) {
      INFO(name << " " << x);
      const float f = static_cast<float>(x);
      const double wanted[12] = {std::floor(x),     std::ceil(x),  std::trunc(x),   std::nearbyint(x),
                                 std::round(x),     std::floor(f), std::ceil(f),    std::trunc(f),
                                 std::nearbyint(f), std::round(f), std::fmax(x, 1), std::fmin(x, 1)};
      double got[12];
      all(x, got);
      for (int i = 0; i < 12; ++i) {
        INFO(i);
        CHECK((std::isnan(wanted[i]) ? std::isnan(got[i])
                                     : got[i] == wanted[i] && std::signbit(got[i]) == std::signbit(wanted[i])));
      }
    }
  }
}

TEST_CASE("code may copy memory, and links without a library") {
  const SharedLibrary code = library(
      "#include <stdint.h>\n#include <string.h>\n#include <limits.h>\n"
      "struct large { int64_t x[100]; };\n"
      "void copy(const struct large *from, struct large *to) { *to = *from; }\n"
      "int same(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }\n",
      cpu("x86-64"), OptLevel::O0);
  std::vector<int64_t> from(100, 7), to(100);
  code.function<void(const void*, void*)>("copy")(from.data(), to.data());
  CHECK(from == to);
  CHECK(code.function<int(const void*, const void*, size_t)>("same")("abd", "abc", 3) == 1);
}

TEST_CASE("a library function that is missing is an error of the link") {
  const std::string text = "float expf(float);\nfloat f(float x) { return expf(x); }\n";
  const std::string object = compileC({"k.c", text}, cpu("x86-64"), OptLevel::O1).value();
  const Result<std::string> linked = linker().linkShared({&object, 1});
  REQUIRE_FALSE(linked.has_value());
  CHECK(linked.error()->message.find("expf") != std::string::npos);
}

TEST_CASE("objects are the same each time, and of the triple's architecture") {
  const CFile file{"k.c", kRounding};
  CHECK(compileC(file, cpu("znver4"), OptLevel::O1).value() == compileC(file, cpu("znver4"), OptLevel::O1).value());
  CHECK(compileC(file, cpu("znver4"), OptLevel::O1).value() != compileC(file, cpu("x86-64"), OptLevel::O1).value());
  const CpuTarget arm = makeCpuTarget("aarch64-unknown-linux-gnu", "neoverse-n1").value();
  CHECK(compileC(file, arm, OptLevel::O1).value()[18] == '\xb7');  // EM_AARCH64
}

TEST_CASE("every processor can be compiled for") {
  for (Arch arch : architectures())
    for (std::string_view name : cpuNames(arch)) {
      const Result<CpuTarget> target = makeCpuTarget(tripleOf(arch), name);
      const Result<std::string> object = compileC({"k.c", kRounding}, *target, OptLevel::O1);
      INFO(name << ": " << (object ? "" : toText(object.error())));
      CHECK(object.has_value());
    }
}

TEST_CASE("an error points into the text") {
  const Error error = errorOf("#include <stdint.h>\nint32_t twice(int32_t x) {\n  return 2 * y;\n}\nint z = ;\n");
  CHECK(toText(error) ==
        "k.c:3:14: error: use of undeclared identifier 'y' [compile-failed]\n"
        "  3 |   return 2 * y;\n"
        "    |              ^\n"
        "  note: k.c:5:9: error: expected expression");
  CHECK(errorOf("#include <stdio.h>\n")->message == "'stdio.h' file not found");
  CHECK(errorOf("#include \"/etc/hostname\"\n")->message == "'/etc/hostname' file not found");
  CHECK(errorOf("#error \"not yet\"\n")->loc.line == 1);
}

TEST_CASE("functions are found with their parameters") {
  const CFile file{"k.c",
                   "#include <stdint.h>\nstatic int a(void) { return 0; }\n"
                   "void median(const float *x, uint8_t *y, int64_t n) {\n}\nint later(double);\n"};
  const CFunction median = findFunction(file, "median", cpu("x86-64")).value().value();
  REQUIRE(median.parameters.size() == 3);
  CHECK((median.parameters[0].isPointer && median.parameters[0].isConst));
  CHECK((median.parameters[0].kind == CType::Kind::Float && median.parameters[0].bits == 32));
  CHECK((median.parameters[1].isPointer && !median.parameters[1].isConst));
  CHECK((median.parameters[1].kind == CType::Kind::Unsigned && median.parameters[1].bits == 8));
  CHECK((median.parameters[2].kind == CType::Kind::Signed && median.parameters[2].bits == 64));
  CHECK((median.result.kind == CType::Kind::Void && median.isDefined && median.place.line == 3));
  CHECK(findFunction(file, "a", cpu("x86-64")).value()->isStatic);
  CHECK_FALSE(findFunction(file, "later", cpu("x86-64")).value()->isDefined);
  CHECK_FALSE(findFunction(file, "mean", cpu("x86-64")).value().has_value());
}
