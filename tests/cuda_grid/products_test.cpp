// Products of warpgroups on the emulated grid: kernels written by hand, with descriptors as bits, compute what they
// should, and every planted fault is found in every mode.
#include <catch2/catch.hpp>

#include "cuda_grid/on_grid.h"

using namespace svod;

namespace {

/// 64 x 64 elements of both factors to shared memory, row by row, the 16-byte pieces of a row in other places.
const std::string kStage = R"(
  for (int j = 0; j < 4; ++j) {
    const int piece = i + 128 * j, row = piece / 8, p = piece % 8, at = row * 128 + (p ^ row % 8) * 16;
    svod_shared_store_u16x8((uint16_t*)(svod_shared + at), svod_load_u16x8(a + row * 64 + p * 8));
    svod_shared_store_u16x8((uint16_t*)(svod_shared + 8192 + at), svod_load_u16x8(c + row * 64 + p * 8));
  }
)";
/// Start of A: byte 0; of B: byte 8192, 512 times 16; 1024 bytes between groups of 8 rows; mode 1: swizzles of 128
/// bytes.
const std::string kProduct = kStage + R"(
  svod_fence_async();
  svod_barrier();
  svod_wgmma_fence(sums, 32);
  for (int t = 0; t < 4; ++t)
    svod_m64n64k16_bf16_f32(sums, UINT64_C(0x4000004000000000) + ADVANCE_A * t,
                            UINT64_C(0x4000004000000200) + ADVANCE_B * t, TURNED);
  svod_wgmma_commit();
  svod_wgmma_wait(sums, 32, 0);
)";
const std::string kHead =
    "SVOD_KERNEL(128) k(const uint16_t* a, const uint16_t* c, float* b) {\n  SVOD_SHARED(16384);\n"
    "  const int i = svod_lidx0();\n  float sums[32];\n  for (int j = 0; j < 32; ++j) sums[j] = 1;\n";
const std::string kTail = "  for (int j = 0; j < 32; ++j) svod_store_f32(b + i * 32 + j, sums[j]);\n}\n";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  INFO(what);
  REQUIRE(at != text.npos);
  return text.replace(at, what.size(), by);
}
/// How far 16 terms are in a factor, in 16 bytes: within its rows, or 16 rows of them.
std::string productText(int turned) {
  const std::string text = replaced(kProduct, "ADVANCE_A", turned & 1 ? "128" : "2");
  return replaced(replaced(text, "ADVANCE_B", turned & 2 ? "128" : "2"), "TURNED", std::to_string(turned));
}

float valueAt(int64_t factor, int64_t i) { return static_cast<float>((i * 7 + factor * 3 + i / 64 * 5) % 11 - 5); }

std::string run(const std::string& body, Delay delay, std::vector<float>& b, uint64_t threads = 128) {
  alignas(16) static uint16_t factors[2][64 * 64];
  for (int64_t f = 0; f < 2; ++f)
    for (int64_t i = 0; i < 64 * 64; ++i)
      factors[f][i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(valueAt(f, i)) >> 16);
  b.assign(128 * 32, -1);
  auto code = HostKernel::load(kHead + body + kTail, "k", *compileOptions({}).linker);
  if (!code) FAIL(toText(code.error()));
  EmulatedGrid grid({delay, 7});
  code->use(grid.calls());
  GridLaunch launch;
  launch.function = code->function();
  launch.buffers = {
      {factors[0], sizeof factors[0], false}, {factors[1], sizeof factors[1], false}, {b.data(), b.size() * 4, true}};
  launch.threads = {threads, 1, 1}, launch.sharedBytes = 16384;
  return grid.run(launch);
}

void checkFault(const char* fault, const std::string& body, uint64_t threads = 128) {
  for (Delay delay : kDelays) {
    std::vector<float> b;
    const std::string found = run(body, delay, b, threads);
    INFO("delay " << static_cast<int>(delay) << ": " << found << "\n" << body);
    CHECK(found.starts_with(fault));
  }
}

}  // namespace

TEST_CASE("products of factors in shared memory add up in the registers of a warpgroup") {
  for (int turned = 0; turned < 4; ++turned)
    for (Delay delay : kDelays) {
      std::vector<float> b;
      REQUIRE(run(productText(turned), delay, b) == "");
      for (int lane = 0; lane < 128; ++lane)
        for (int j = 0; j < 32; ++j) {
          const int m = lane / 32 * 16 + lane % 32 / 4 + j / 2 % 2 * 8, n = j / 4 * 8 + lane % 4 * 2 + j % 2;
          float sum = 1;
          for (int k = 0; k < 64; ++k)
            sum += valueAt(0, turned & 1 ? k * 64 + m : m * 64 + k) * valueAt(1, turned & 2 ? k * 64 + n : n * 64 + k);
          REQUIRE(b[static_cast<size_t>(lane * 32 + j)] == sum);
        }
    }
}

TEST_CASE("descriptors say where a factor starts and how far its parts are") {
  for (const auto& [call, bits] : std::initializer_list<std::pair<const char*, const char*>>{
           {"svod_factor((const uint16_t*)(svod_shared + 8192), 0, 0, 0)", "0x4000004000000200"},
           {"svod_factor((const uint16_t*)svod_shared, 512, 16, 8192)", "0x4000004002000042"}}) {
    std::vector<float> b;
    REQUIRE(run(std::string("  sums[0] = ") + call + " == UINT64_C(" + bits + ");\n", Delay::Eager, b) == "");
    CHECK(b[0] == 1);
    CHECK(b[32] == 1);
  }
}

TEST_CASE("every synchronisation of a product that is left out is found, in every mode") {
  const std::string good = productText(2);
  const std::tuple<const char*, const char*, const char*> faults[] = {
      {"PROXY", "svod_fence_async();", ""},
      {"RACE", "svod_barrier();", ""},
      {"PROXY", "  svod_fence_async();\n  svod_barrier();", "  svod_barrier();\n  svod_fence_async();"},
      {"FENCE", "svod_wgmma_fence(sums, 32);", ""},
      {"UNFINISHED", "svod_wgmma_commit();", ""},
      {"UNFINISHED", "svod_wgmma_wait(sums, 32, 0);", ""},
      {"UNFINISHED", "svod_wgmma_wait(sums, 32, 0);", "svod_wgmma_wait(sums, 32, 1);"},
      {"RACE", "  svod_wgmma_wait(", "  svod_shared_store_u16((uint16_t*)svod_shared + i, 1);\n  svod_wgmma_wait("},
      {"RACE", "svod_wgmma_wait(sums, 32, 0);",
       "svod_wgmma_wait(sums, 32, 0); if (i == 0) svod_shared_store_u16((uint16_t*)svod_shared + 64, 1); "
       "svod_wgmma_fence(sums, 32); svod_m64n64k16_bf16_f32(sums, UINT64_C(0x4000004000000000), "
       "UINT64_C(0x4000004000000200), 2); "
       "svod_wgmma_commit(); svod_wgmma_wait(sums, 32, 0);"},
      {"ALIGNMENT", "0x4000004000000000", "0x4000004000000008"},
      {"ALIGNMENT", "0x4000004000000000", "0x8000004000000000"},
      {"OUTSIDE", "0x4000004000000200", "0x4000004000000400"},
      {"UNINITIALIZED", "j < 4", "j < 3"},
      {"DIVERGENCE", "0x4000004000000000)", "0x4000004000000000) + 64 * (i / 32)"},
      {"DIVERGENCE", "svod_wgmma_commit();", "if (i < 32) svod_wgmma_commit(); else svod_wgmma_fence(sums, 32);"},
      {"DEADLOCK", "  svod_wgmma_wait(sums, 32, 0);", "  if (i < 96) svod_wgmma_wait(sums, 32, 0);"},
  };
  for (const auto& [fault, what, by] : faults) checkFault(fault, replaced(good, what, by));
  checkFault("DIVERGENCE", good, 96);
}
