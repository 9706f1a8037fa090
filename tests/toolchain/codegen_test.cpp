// A module becomes a loadable library, with the same bytes every time and no library calls.
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/TargetParser/Host.h>

#include <catch2/catch.hpp>
#include <thread>

#include "toolchain/bitcode.h"
#include "toolchain/clang.h"
#include "toolchain/code_features.h"
#include "toolchain/linker.h"
#include "toolchain/object.h"
#include "toolchain/shared_library.h"

using namespace svod;

namespace {

// Scales 16 floats; the accumulator lives in memory, as the emitter writes it.
constexpr const char* kScale = R"(
define void @scale(ptr %x, float %by) {
entry:
  %sum = alloca <16 x float>, align 64
  store <16 x float> zeroinitializer, ptr %sum
  %v = load <16 x float>, ptr %x, align 4
  %one = insertelement <16 x float> poison, float %by, i64 0
  %all = shufflevector <16 x float> %one, <16 x float> poison, <16 x i32> zeroinitializer
  %product = fmul <16 x float> %v, %all
  %before = load <16 x float>, ptr %sum
  %after = fadd <16 x float> %before, %product
  store <16 x float> %after, ptr %sum
  %done = load <16 x float>, ptr %sum
  store <16 x float> %done, ptr %x, align 4
  ret void
})";

// Clears memory in a loop that LLVM would turn into a call of memset.
constexpr const char* kClear = R"(
define void @clear(ptr %x, i64 %n) #0 {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i8, ptr %x, i64 %i
  store i8 0, ptr %at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
attributes #0 = { nounwind "no-builtins" })";

Result<std::string> compile(const char* text, const CpuTarget& cpu, CodeKind kind = CodeKind::Object) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  REQUIRE(module != nullptr);
  module->setSourceFileName("kernels");
  return emitObject(*module, cpu, OptLevel::O1, kind);
}

CpuTarget native() { return makeCpuTarget("", "native").value(); }

}  // namespace

TEST_CASE("a module becomes a library that runs") {
  Linker linker("/tmp");
  const std::string objects[] = {compile(kScale, native()).value(), compile(kClear, native()).value()};
  const std::string bytes = linker.linkShared(objects).value();
  CHECK(bytes.size() < 16384);
  const SharedLibrary library(bytes);
  REQUIRE(library.error().empty());
  float x[16];
  for (int i = 0; i < 16; ++i) x[i] = static_cast<float>(i);
  library.function<void(float*, float)>("scale")(x, 3.0f);
  for (int i = 0; i < 16; ++i) CHECK(x[i] == 3.0f * static_cast<float>(i));
  library.function<void(float*, int64_t)>("clear")(x, sizeof x);
  CHECK(x[15] == 0.0f);
}

TEST_CASE("the bytes are the same in every run, thread and temporary directory") {
  Linker first("/tmp"), second("/var/tmp");
  const std::string object = compile(kScale, native()).value();
  std::string other;
  std::thread([&] { other = compile(kScale, native()).value(); }).join();
  CHECK(object == other);
  const std::string objects[] = {object};
  const std::string library = first.linkShared(objects).value();
  CHECK(library == second.linkShared(objects).value());
  CHECK(library.find("/tmp") == std::string::npos);
}

TEST_CASE("what a thread compiled before, also for other processors, does not show in the bytes") {
  const auto object = [](const char* text, const char* cpu) {
    return compile(text, makeCpuTarget("x86_64-unknown-linux-gnu", cpu).value()).value();
  };
  for (const char* cpu : {"haswell", "skylake-avx512", "x86-64", "haswell"})
    for (const char* text : {kScale, kClear, kScale}) {
      std::string fresh;
      std::thread([&] { fresh = object(text, cpu); }).join();
      CHECK(object(text, cpu) == fresh);
    }
}

TEST_CASE("memory used as an accumulator becomes a register, and vectors keep their width") {
  const std::string text =
      compile(kScale, makeCpuTarget("x86_64-unknown-linux-gnu", "skylake-avx512").value(), CodeKind::Assembly).value();
  CHECK(text.find("zmm") != std::string::npos);
  CHECK(text.find("rsp") == std::string::npos);
}

TEST_CASE("only the features of the record are used") {
  const auto assembly = [](const char* cpu) {
    return compile(kScale, makeCpuTarget("x86_64-unknown-linux-gnu", cpu).value(), CodeKind::Assembly).value();
  };
  CHECK(assembly("haswell").find("ymm") != std::string::npos);
  CHECK(assembly("haswell").find("zmm") == std::string::npos);
  CHECK(assembly("x86-64").find("ymm") == std::string::npos);
}

TEST_CASE("conditions of lanes are joined as wide as what they choose, where there are no registers for them") {
  constexpr const char* kText = R"(
define void @kernel(ptr %x, ptr %y, <8 x i32> %i, <8 x i32> %n, i1 %inside) {
  %low = icmp sge <8 x i32> %i, zeroinitializer
  %high = icmp slt <8 x i32> %i, %n
  %one = insertelement <8 x i1> poison, i1 %inside, i32 0
  %row = shufflevector <8 x i1> %one, <8 x i1> poison, <8 x i32> zeroinitializer
  %column = and <8 x i1> %low, %high
  %both = and <8 x i1> %column, %row
  %v = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %x, i32 4, <8 x i1> %both, <8 x float> zeroinitializer)
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v, ptr %y, i32 4, <8 x i1> %both)
  ret void
}
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
)";
  const auto assembly = [&](const char* cpu) {
    return compile(kText, makeCpuTarget("x86_64-unknown-linux-gnu", cpu).value(), CodeKind::Assembly).value();
  };
  CHECK(assembly("haswell").find("vmaskmovps") != std::string::npos);
  CHECK(assembly("haswell").find("vpack") == std::string::npos);  // to lanes of 16 bits
  CHECK(assembly("skylake-avx512").find("vmaskmovps") == std::string::npos);
}

TEST_CASE("other architectures are compiled and linked from here") {
  Linker linker("/tmp");
  const CpuTarget cpu = makeCpuTarget("aarch64-unknown-linux-gnu", "neoverse-n1").value();
  const std::string objects[] = {compile(kScale, cpu).value(), compile(kClear, cpu).value()};
  const std::string library = linker.linkShared(objects).value();
  constexpr unsigned char kElfMachineArm64 = 183;
  CHECK(static_cast<unsigned char>(library[18]) == kElfMachineArm64);
}

TEST_CASE("ARMv7 divides without calls of its ABI, and has conversions of 64 bits beside the kernels") {
  constexpr const char* kText = R"(
define void @divide(ptr %x, i64 %a, i32 %b, <2 x i64> %c) {
  %q = sdiv i64 %a, 10
  %r = urem i64 %a, %q
  %s = sdiv i64 %r, -8
  %d = udiv <2 x i64> %c, <i64 3, i64 4>
  %e = srem i32 %b, 7
  %f = udiv i32 %b, %e
  store i64 %s, ptr %x
  store <2 x i64> %d, ptr %x
  store i32 %f, ptr %x
  ret void
}
define i64 @convert(i64 %x) {
  %f = sitofp i64 %x to float
  %d = uitofp i64 %x to double
  %w = fpext float %f to double
  %s = fadd double %w, %d
  %t = fptosi double %s to i64
  %u = fptoui float %f to i64
  %v = add i64 %t, %u
  ret i64 %v
})";
  for (const char* name : {"armv7-a", "cortex-a7"}) {
    const CpuTarget cpu = makeCpuTarget(tripleOf(Arch::Arm), name).value();
    std::vector<std::string> objects = {compile(kText, cpu).value()};
    Linker linker("/tmp");
    const auto alone = linker.linkShared(objects);
    REQUIRE_FALSE(alone.has_value());
    CHECK(alone.error()->message.find("__aeabi_l2f") != std::string::npos);
    CHECK(alone.error()->message.find("div") == std::string::npos);
    const std::vector<std::string> arithmetic = compileArithmetic(cpu).value();
    objects.insert(objects.end(), arithmetic.begin(), arithmetic.end());
    CHECK(linker.linkShared(objects).has_value());
  }
}

TEST_CASE("modules as bitcode become one object of an architecture without a linker here") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::vector<std::string> modules;
  for (const char* text : {kScale, kClear})
    modules.push_back(irBitcode(*llvm::parseAssemblyString(text, error, context)));
  const CpuTarget cpu = makeCpuTarget(tripleOf(Arch::Wasm32), "simd128").value();
  const std::string object = objectOfBitcode(modules, cpu, OptLevel::O1).value();
  CHECK(object.starts_with(std::string("\0asm", 4)));
  for (const char* name : {"scale", "clear"}) CHECK(object.find(name) != std::string::npos);
  modules.push_back(modules[0]);
  CHECK_FALSE(objectOfBitcode(modules, cpu, OptLevel::O1).has_value());
}

TEST_CASE("a kernel that needs a library function does not link") {
  Linker linker("/tmp");
  const std::string objects[] = {compile(R"(
declare float @sinf(float)
define float @f(float %x) {
  %y = call float @sinf(float %x)
  ret float %y
})",
                                         native())
                                     .value()};
  const auto library = linker.linkShared(objects);
  REQUIRE_FALSE(library.has_value());
  CHECK(library.error()->diag == Diag::CompileFailed);
  CHECK(library.error()->message.find("sinf") != std::string::npos);
  // The linker works again after an error.
  const std::string good[] = {compile(kScale, native()).value()};
  CHECK(linker.linkShared(good).has_value());
}

TEST_CASE("LLVM knows every CPU of the table, with at least the features we use") {
  for (const Arch arch : architectures()) {
    const std::string triple(tripleOf(arch));
    for (const std::string_view row : cpuNames(arch)) {
      INFO(triple << " " << row);
      const bool isLevel = row.starts_with("armv");  // as all rows of the other architectures are
      const bool isLlvms = (arch == Arch::X86_64 || arch == Arch::AArch64) && !isLevel;
      const std::string name = isLlvms ? std::string(row) : tuningName(makeCpuTarget(triple, row).value());
      const CpuTarget cpu = makeCpuTarget(triple, row).value();
      REQUIRE(compile(kClear, cpu).has_value());
      std::string message;
      const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
      const std::unique_ptr<llvm::MCSubtargetInfo> theirs(target->createMCSubtargetInfo(triple, name, ""));
      REQUIRE(theirs->isCPUStringValid(name));
      for (const std::string& feature : cpu.features) {
        INFO(feature);
        if (isLlvms) CHECK(theirs->checkFeatures("+" + feature));
      }
      std::string given;
      for (const std::string& feature : codeFeatures(cpu)) given += (given.empty() ? "" : ",") + feature;
      const std::unique_ptr<llvm::MCSubtargetInfo> ours(
          target->createMCSubtargetInfo(triple, std::string(baselineName(arch)), given));
      for (const std::string& feature : codeFeatures(cpu)) {
        INFO(feature);
        if (feature[0] == '+') CHECK(ours->checkFeatures(feature));
      }
    }
  }
}

#if defined(__x86_64__)
TEST_CASE("our reading of CPUID agrees with LLVM's") {
  const llvm::StringMap<bool> theirs = llvm::sys::getHostCPUFeatures();
  const CpuTarget cpu = native();
  for (const std::string& feature : cpu.features) {
    INFO(feature);
    CHECK(theirs.lookup(feature));
  }
  for (const char* feature : {"avx2", "fma", "avx512f", "avx512vl", "f16c", "bmi2", "avx512bf16"})
    CHECK(cpu.has(feature) == theirs.lookup(feature));
}
#endif
