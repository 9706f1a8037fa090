// NVRTC: what its log says is read; where the library is there, kernels become machine code and errors say why not.
#include <catch2/catch.hpp>

#include "target/cuda/nvrtc.h"

using namespace svod;

namespace {

constexpr const char* kKernel =
    "extern \"C\" __global__ void k(float* p, float x, float y) { p[threadIdx.x] += x * y; }\n";

/// Nothing where this machine has none.
std::optional<Nvrtc> nvrtcHere() {
  auto nvrtc = Nvrtc::open("", {"/usr/local/cuda/lib64", "/usr/local/cuda/lib"});
  if (nvrtc) return *nvrtc;
  WARN("skipped: NVRTC is not on this machine: " << toText(nvrtc.error()));
  return std::nullopt;
}

}  // namespace

TEST_CASE("registers, spills, shared memory and warnings are read from the log of ptxas") {
  GpuCode code;
  readPtxasLog(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized
ptxas info    : Function properties for k
ptxas         .     1088 bytes stack frame, 1324 bytes spill stores, 1336 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 2048 bytes smem, 400 bytes cmem[0]
)",
               code);
  CHECK(code.registers == 168);
  CHECK(code.spillBytes == 2660);
  CHECK(code.stackBytes == 1088);
  CHECK(code.sharedBytes == 2048);
  REQUIRE(code.warnings.size() == 1);
  CHECK(code.warnings[0].find("C7510") != std::string::npos);
  GpuCode none;
  readPtxasLog("", none);
  CHECK(none.registers == 0);
}

TEST_CASE("a library that is none, and a missing one, say how to get NVRTC") {
  for (const char* path : {"/nonexistent/libnvrtc.so", "libc.so.6", "/"}) {
    const auto nvrtc = Nvrtc::open(path, {});
    REQUIRE(!nvrtc);
    CHECK(nvrtc.error()->diag == Diag::CompileFailed);
    CHECK(nvrtc.error()->help.find("pip install nvidia-cuda-nvrtc") != std::string::npos);
  }
}

TEST_CASE("kernels become machine code for each architecture, the same every time") {
  const std::optional<Nvrtc> nvrtc = nvrtcHere();
  if (!nvrtc) return;
  CHECK(nvrtc->major() >= 11);
  for (const std::string& arch : nvrtc->archs()) {
    const auto code = nvrtc->compile("k", kKernel, arch), again = nvrtc->compile("k", kKernel, arch);
    if (!code) FAIL(toText(code.error()));
    CHECK(
        code->bytes.starts_with("\x7f"
                                "ELF"));
    CHECK(code->bytes == again->bytes);
    CHECK(code->registers > 0);
    CHECK(code->spillBytes == 0);
  }
  const auto ptx = nvrtc->compile("k", kKernel, "compute_80");
  REQUIRE(ptx);
  CHECK(ptx->bytes.find(".entry k") != std::string::npos);
  CHECK(ptx->bytes.find("mul.rn.f32") != std::string::npos);  // floats are contracted nowhere
  CHECK(ptx->bytes.find("fma.rn.f32") == std::string::npos);
  CHECK(ptx->bytes.back() != '\0');
}

TEST_CASE("what NVRTC cannot compile is said with its words") {
  const std::optional<Nvrtc> nvrtc = nvrtcHere();
  if (!nvrtc) return;
  const auto unknown = nvrtc->compile("k", kKernel, "sm_10");
  REQUIRE(!unknown);
  CHECK(unknown.error()->diag == Diag::Usage);
  CHECK(unknown.error()->help.find("sm_90") != std::string::npos);
  const auto wrong = nvrtc->compile("k", "extern \"C\" __global__ void k() { nothing(); }\n", "sm_90");
  REQUIRE(!wrong);
  CHECK(wrong.error()->diag == Diag::CompileFailed);
  REQUIRE(!wrong.error()->notes.empty());
  CHECK(wrong.error()->notes[0].find("nothing") != std::string::npos);
}
