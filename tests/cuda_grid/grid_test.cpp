// The emulated grid: kernels written by hand compute what they should, and every planted fault is found in every mode.
#include <catch2/catch.hpp>
#include <cstring>

#include "cuda_grid/on_grid.h"

using namespace svod;

namespace {

struct Kernel {
  std::string text;  // behind the parameters, `const float* a, float* b, int64_t n`
  uint64_t threads = 64, sharedBytes = 256;
  int64_t groups = 2;
};

constexpr size_t kElements = 128;

/// "" or the fault; `b` is what the kernel left.
std::string run(const Kernel& kernel, GridOptions options, std::vector<float>& b) {
  std::vector<float> a(kElements);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
  b.assign(kElements, -1);
  const std::string text = "SVOD_KERNEL(64) k(const float* a, float* b, int64_t n) {\n" + kernel.text + "}\n";
  auto code = HostKernel::load(text, "k", *compileOptions({}).linker);
  if (!code) FAIL(toText(code.error()));
  EmulatedGrid grid(options);
  code->use(grid.calls());
  GridLaunch launch;
  launch.function = code->function();
  launch.buffers = {{a.data(), a.size() * 4, false}, {b.data(), b.size() * 4, true}};
  launch.values = {static_cast<int64_t>(kElements)};
  launch.groups = {kernel.groups, 1, 1}, launch.threads = {kernel.threads, 1, 1},
  launch.sharedBytes = kernel.sharedBytes;
  return grid.run(launch);
}

void checkFault(const char* fault, const Kernel& kernel) {
  for (Delay delay : kDelays) {
    std::vector<float> b;
    const std::string found = run(kernel, {delay, 3}, b);
    INFO("delay " << static_cast<int>(delay) << ": " << found << "\n" << kernel.text);
    CHECK(found.starts_with(fault));
  }
}

constexpr const char* kReverse = R"(
  SVOD_SHARED(256);
  float* s = (float*)svod_shared;
  const int i = svod_lidx0(), g = svod_gidx0() * 64;
  svod_shared_store_f32(s + i, svod_load_f32(a + g + i));
  svod_barrier();
  const float x = svod_shared_load_f32(s + 63 - i);
  svod_store_f32(b + g + i, x);
)";

std::string without(std::string text, const std::string& part) {
  const size_t at = text.find(part);
  REQUIRE(at != text.npos);
  return text.erase(at, part.size());
}

}  // namespace

TEST_CASE("threads of a workgroup exchange values through shared memory") {
  for (Delay delay : kDelays) {
    std::vector<float> b;
    REQUIRE(run({kReverse}, {delay, 1}, b) == "");
    for (size_t i = 0; i < kElements; ++i) CHECK(b[i] == static_cast<float>(i / 64 * 64 + 63 - i % 64));
  }
}

TEST_CASE("accesses that nothing orders are races, whatever the order of the threads was") {
  checkFault("RACE", {R"(
  SVOD_SHARED(256);
  float* s = (float*)svod_shared;
  const int i = svod_lidx0();
  svod_shared_store_f32(s + i, 1);
  svod_barrier();
  svod_shared_store_f32(s + i, svod_shared_load_f32(s + 63 - i));
)"});
  checkFault("RACE", {"svod_store_f32(b + svod_lidx0(), svod_gidx0());"});             // both workgroups
  checkFault("RACE", {"svod_store_f32(b + svod_gidx0(), svod_lidx0());", 2, 256, 1});  // both threads
  checkFault("RACE",
             {"svod_store_f32x2(b + svod_lidx0() / 2 * 2, svod_load_f32x2(a + svod_lidx0() % 2 * 2));", 64, 256, 1});
}

TEST_CASE("a read of shared memory before its write is found in every mode") {
  std::vector<float> b;
  for (Delay delay : kDelays) {
    const std::string found = run({without(kReverse, "svod_barrier();")}, {delay, 1}, b);
    CHECK((found.starts_with("RACE") || found.starts_with("UNINITIALIZED")));
  }
  checkFault("UNINITIALIZED", {"SVOD_SHARED(256); svod_store_f32(b + svod_gidx0() * 64 + svod_lidx0(), "
                               "svod_shared_load_f32((float*)svod_shared));"});
}

TEST_CASE("accesses outside of arguments and of shared memory are found, and stores to what is only read") {
  checkFault("OUTSIDE", {"svod_store_f32(b + n, 1);"});
  checkFault("OUTSIDE", {"svod_store_f32(b + svod_lidx0(), svod_load_f32(a - 1));"});
  checkFault("OUTSIDE", {"svod_store_f32((float*)a, 1);"});
  checkFault("OUTSIDE", {"SVOD_SHARED(256); svod_shared_store_f32((float*)svod_shared + 64, 1);"});
  checkFault("OUTSIDE", {"SVOD_SHARED(260); svod_shared_store_f32((float*)svod_shared, 1);"});
  checkFault("ALIGNMENT", {"svod_store_f32(b, svod_load_f32x4(a + 2).v[0]);", 1, 0, 1});
  checkFault("ALIGNMENT", {"SVOD_SHARED(256); svod_shared_store_f32((float*)(svod_shared + 2), 1);", 1, 256, 1});
}

TEST_CASE("threads that do not meet are found") {
  checkFault("DEADLOCK", {"if (svod_lidx0() < 32) svod_barrier();"});
  checkFault("DIVERGENCE",
             {"svod_u32x4 x = {{0, 0, 0, 0}}; svod_u32x2 y = {{0, 0}}; svod_f32x4 z = {{0, 0, 0, 0}};"
              "if (svod_lidx0() % 2) svod_m16n8k16_f16_f32(x, y, z); else svod_m16n8k16_bf16_f32(x, y, z);"});
  checkFault("DIVERGENCE", {"svod_u32x4 x = {{0, 0, 0, 0}}; svod_u32x2 y = {{0, 0}}; svod_f32x4 z = {{0, 0, 0, 0}};"
                            "svod_m16n8k16_f16_f32(x, y, z);",
                            40});
}

namespace {

/// Rows of 64 elements through a ring of two stages, each element by the thread on the other side: 64 threads, of which
/// 16 copy. Every step is one `;` that a fault may leave out.
constexpr const char* kRing = R"(
  SVOD_SHARED(512);
  float* s = (float*)svod_shared;
  const int i = svod_lidx0();
  float sum = 0;
  if (i < 16) svod_cp_async16(s + i * 4, a + i * 4, true);
  svod_cp_commit();
  for (int k = 0; k < 8; ++k) {
    svod_cp_wait(0);
    svod_barrier();
    if (i < 16) svod_cp_async16(s + (k + 1) % 2 * 64 + i * 4, a + (k + 1) % 2 * 64 + i * 4, k < 7);
    svod_cp_commit();
    sum += svod_shared_load_f32(s + k % 2 * 64 + 63 - i);
  }
  svod_store_f32(b + svod_gidx0() * 64 + i, sum);
)";

/// Every place of `what` in `text`, replaced in turn; there is one.
std::vector<std::string> variants(const std::string& text, const std::string& what, const std::string& by) {
  std::vector<std::string> all;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1))
    all.push_back(std::string(text).replace(at, what.size(), by));
  REQUIRE(!all.empty());
  return all;
}

}  // namespace

TEST_CASE("copies through a ring of stages arrive, in every mode") {
  for (Delay delay : kDelays) {
    std::vector<float> b;
    REQUIRE(run({kRing, 64, 512}, {delay, 5}, b) == "");
    for (size_t i = 0; i < kElements; ++i) CHECK(b[i] == static_cast<float>(4 * (63 - i % 64) + 4 * (127 - i % 64)));
  }
}

TEST_CASE("every synchronisation of a ring of stages that is left out is found, in every mode") {
  const std::pair<const char*, const char*> faults[] = {
      {"svod_cp_wait(0);", ""},
      {"svod_cp_wait(0);", "svod_cp_wait(1);"},
      {"svod_cp_commit();", ""},
      {"svod_barrier();", ""},
      {"    svod_barrier();", "if (i < 32) svod_barrier();"},
      {"(k + 1) % 2 * 64 + i * 4, a", "k % 2 * 64 + i * 4, a"},  // into the stage that is read
  };
  for (const auto& [what, by] : faults)
    for (const std::string& text : variants(kRing, what, by))
      for (Delay delay : kDelays) {
        std::vector<float> b;
        const std::string found = run({text, 64, 512}, {delay, 5}, b);
        INFO("delay " << static_cast<int>(delay) << ": '" << what << "' became '" << by << "'");
        CHECK(found != "");
      }
}

TEST_CASE("lanes of a warp exchange values") {
  for (Delay delay : kDelays) {
    std::vector<float> b;
    REQUIRE(run({"const int i = svod_gidx0() * 64 + svod_lidx0(); svod_store_f32(b + i, "
                 "svod_shuffle_xor_f32(svod_load_f32(a + i), 5, ~0u));"},
                {delay, 2}, b) == "");
    for (size_t i = 0; i < kElements; ++i) CHECK(b[i] == static_cast<float>(i ^ 5));
  }
  checkFault("DEADLOCK", {"if (svod_lidx0() % 32 != 3) svod_store_f32(b + svod_gidx0() * 64 + svod_lidx0(), "
                          "svod_shuffle_xor_f32(1, 1, ~0u));"});
}

TEST_CASE("matrices are loaded as the tensor cores take them") {
  const char* text = R"(
  SVOD_SHARED(512);
  const int lane = svod_lidx0();
  for (int j = 0; j < 8; ++j)
    svod_shared_store_u16((uint16_t*)svod_shared + lane * 8 + j, lane / 8 * 64 + lane % 8 * 8 + j);
  svod_barrier();
  const svod_u32x4 m = svod_ldmatrix_x4(svod_shared + lane * 16), t = svod_ldmatrix_x4_trans(svod_shared + lane * 16);
  for (int j = 0; j < 4; ++j) {
    const int low = m.v[j] & 0xffff, high = m.v[j] >> 16, row = lane / 4, column = lane % 4 * 2;
    const bool isPlain = low == j * 64 + row * 8 + column && high == low + 1;
    const int tlow = t.v[j] & 0xffff, thigh = t.v[j] >> 16;
    const bool isTurned = tlow == j * 64 + column * 8 + row && thigh == tlow + 8;
    svod_store_f32(b + lane * 4 + j, isPlain && isTurned ? 1 : 0);
  }
)";
  for (Delay delay : kDelays) {
    std::vector<float> b;
    REQUIRE(run({text, 32, 512, 1}, {delay, 2}, b) == "");
    for (float x : b) CHECK(x == 1);
  }
  const std::string crossed =
      variants(text, "svod_ldmatrix_x4(svod_shared + lane", "svod_ldmatrix_x4(svod_shared + (lane ^ 8)")[0];
  checkFault("RACE", {without(crossed, "svod_barrier();"), 32, 512, 1});
}
