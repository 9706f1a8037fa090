// The harness itself: kernels that touch what is not theirs, and a plan with a wrong extent, are caught and
// named.
#include <catch2/catch.hpp>
#include <thread>

#include "common/graphs.h"
#include "common/sanitizers.h"
#include "common/temp_folder.h"
#include "e2e/child.h"
#include "e2e/harness.h"
#include "toolchain/c_compiler.h"

using namespace svod;

namespace {

CompileOptions targetC() {
  RunOptions options;
  options.target = "c";
  return compileOptions(options);
}

/// y = (x + 1) * reversed(x + 1), with one temporary between two kernels.
struct Sample {
  GraphMaker m;
  PlanImage image;
  ModelBindings bindings;

  Sample() {
    UOp x = m.input("x", {37});
    UOp sum = m.g.make(Op::Contiguous, DType::F32, {m.g.alu(Op::Add, {x, m.f32(1)})});
    m.output("y", m.g.alu(Op::Mul, {sum, m.g.flip(sum, std::array<int32_t, 1>{0})}));
    bindings.ports = {HostTensor::zeros(DType::F32, {37}), {}};
    auto compilation = compile(m.model, targetC());
    REQUIRE(compilation);
    image = planImage(**compilation);
    REQUIRE(image.plan.kernels.size() == 2);
  }

  /// Gives the first kernel (buffers[0] is the temporary, buffers[1] is x) or the second one (y, the
  /// temporary) a body.
  void replaceKernel(KernelId kernel, const std::string& body) {
    std::string source = "#include <stdint.h>\n";
    for (KernelId i = 0; i < 2; ++i)
      source += "void " + image.plan.kernels[i].symbol +
                "(void* const* b, const int64_t* v, int64_t t0, int64_t t1, void* s) {\n"
                "  volatile float *out = b[0], *in = b[1]; (void)v; (void)t0; (void)t1; (void)s; (void)out; "
                "(void)in;\n" +
                (i == kernel ? body : "") + "\n}\n";
    TempFolder folder;
    writeText(folder / "k.c", source);
    Status built = compileShared(cCompiler({}), folder / "k.c", folder / "k.so");
    if (!built) FAIL(toText(built.error()));
    for (FileId i = 0; i < image.contents.size(); ++i)
      if (image.plan.files[i].kind == FileKind::Code) image.contents[i] = readText(folder / "k.so");
    describeContents(image);
  }

  std::string run(Watch watch, bool separate = true) {
    ExecuteOptions options;
    options.watch = watch, options.separate = separate;
    auto results = executePlan(image, m.model, bindings, options);
    return results ? "no error" : results.error()->message;
  }
};

}  // namespace

TEST_CASE("the sample runs in every kind of memory") {
  Sample sample;
  for (Watch watch : {Watch::End, Watch::Start, Watch::Heap})
    for (bool separate : {true, false}) CHECK(sample.run(watch, separate) == "no error");
}

TEST_CASE("sanitizers see wrong accesses and undefined operations", "[c][.sanitized]") {
  Sample sample;
  CHECK(sample.run(Watch::Heap) == "no error");
  sample.replaceKernel(0, "  out[37] = 1;");
  CHECK_THAT(sample.run(Watch::Heap), Catch::Contains("heap-buffer-overflow"));
  sample.replaceKernel(1, "  (void)in[-1];");
  CHECK_THAT(sample.run(Watch::Heap), Catch::Contains("heap-buffer-overflow"));
  sample.replaceKernel(0, "  volatile int bits = 32; out[0] = (float)(1 << bits);");
  CHECK_THAT(sample.run(Watch::Heap), Catch::Contains("shift exponent 32"));
  sample.replaceKernel(0, "  volatile float big = 3e9f; out[0] = (float)(int32_t)big;");
  CHECK_THAT(sample.run(Watch::Heap), Catch::Contains("outside the range of representable values"));
  sample.replaceKernel(0, "  out[0] = *(float*)((char*)in + 1);");
  CHECK_THAT(sample.run(Watch::Heap), Catch::Contains("misaligned address"));
}

TEST_CASE("an access behind or before a buffer is named with the kernel") {
  Sample sample;
  const KernelId which(GENERATE(0, 1));
  std::string symbol = sample.image.plan.kernels[which].symbol;
  sample.replaceKernel(which, "  out[37] = 1;");
  CHECK_THAT(sample.run(Watch::End), Catch::Contains("in " + symbol) && Catch::Contains("0 bytes behind '"));
  sample.replaceKernel(which, "  out[-2] = 1;");
  CHECK_THAT(sample.run(Watch::Start), Catch::Contains("in " + symbol) && Catch::Contains("8 bytes before '"));
  sample.replaceKernel(which, "  (void)in[37];");
  CHECK_THAT(sample.run(Watch::End), Catch::Contains("0 bytes behind '"));
  sample.replaceKernel(which, "  (void)in[-1];");
  CHECK_THAT(sample.run(Watch::Start), Catch::Contains("4 bytes before '"));
}

TEST_CASE("a write into an input is named") {
  Sample sample;
  sample.replaceKernel(0, "  in[3] = 1;");
  CHECK_THAT(sample.run(Watch::End), Catch::Contains("at byte 12 of read-only 'x' (148 bytes)"));
}

TEST_CASE("bytes that alignment leaves over are checked after the run") {
  Sample sample;
  sample.replaceKernel(1, "  out[-1] = 1;");  // in the page of y, which ends at the page's end
  CHECK_THAT(sample.run(Watch::End), Catch::Contains("bytes beside 'y' (148 bytes) were overwritten"));
  sample.replaceKernel(0, "  out[37] = 1;");  // the arena's end is aligned to 64 bytes, which the temporary's is not
  CHECK(sample.run(Watch::End, false) == "no error");
}

TEST_CASE("a build with ThreadSanitizer reports the races of a child") {
  if (!kThreadSanitizer) return;
  auto race = [] {
    int shared = 0;
    std::thread other([&] { shared++; });
    shared++;
    other.join();
    return std::to_string(shared);
  };
  Result<std::string> result = inChild(race, [](uintptr_t) { return ""; });
  REQUIRE_FALSE(result);
  CHECK_THAT(result.error()->message, Catch::Contains("data race"));
}

TEST_CASE("other ways to die are errors, too") {
  Sample sample;
  sample.replaceKernel(0, "  __builtin_trap();");
  CHECK_THAT(sample.run(Watch::End), Catch::Contains("Illegal instruction in " + sample.image.plan.kernels[0].symbol));
  sample.replaceKernel(0, "  extern void _exit(int); _exit(7);");
  CHECK_THAT(sample.run(Watch::End), Catch::Contains("it ended with status 7"));
}

TEST_CASE("an extent one too large is caught") {
  GraphMaker m;
  UOp n = m.g.variable("n", 1, 100);
  m.model.variables.push_back(n);
  auto port = [&](PortKind kind, const char* name) {
    UOp buffer = m.g.buffer(DType::F32, std::array{n}, SlotArg{static_cast<uint32_t>(m.model.ports.size())});
    m.model.ports.push_back({kind, name, buffer, {}});
    return buffer;
  };
  UOp x = port(PortKind::Input, "x"), y = port(PortKind::Output, "y");
  m.model.sink = m.g.make(Op::Sink, DType::Void, {m.g.make(Op::Store, DType::Void, {y, m.g.alu(Op::Neg, {x})})});
  ModelBindings bindings;
  bindings.variables["n"] = 21;
  bindings.ports = {HostTensor::zeros(DType::F32, {21}), {}};
  for (int level : {0, 1}) {
    RunOptions options;
    options.optLevel = level;
    auto compilation = compile(m.model, compileOptions(options));
    REQUIRE(compilation);
    PlanImage image = planImage(**compilation);
    CHECK(executePlan(image, m.model, bindings, {}));
    auto& launch = std::get<Launch>(image.plan.steps.at(0).action);
    REQUIRE(launch.values.size() == 1);
    launch.values[0] = Expr(22);
    auto results = executePlan(image, m.model, bindings, {});
    REQUIRE_FALSE(results);
    CHECK_THAT(results.error()->message, Catch::Contains("0 bytes behind '"));
  }
}
