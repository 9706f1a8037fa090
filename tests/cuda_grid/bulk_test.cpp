// Bulk copies on the emulated grid: boxes of tensors arrive clipped and swizzled, rings of stages turn by mbarriers,
// and every planted fault is found in every mode.
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>

#include "cuda_grid/on_grid.h"

using namespace svod;

namespace {

constexpr uint32_t kThreads = 64;

struct Setup {
  std::vector<uint32_t> extents, strides, box;  // innermost first; strides in elements, the first is 1
  uint8_t elementBytes = 2, swizzle = 0;
  uint64_t sharedBytes = 8192;
};

SvodMap mapOf(const Setup& s, const void* address) {
  SvodMap map{};
  map.address = address;
  map.dims = static_cast<uint8_t>(s.extents.size()), map.elementBytes = s.elementBytes, map.swizzle = s.swizzle;
  for (size_t d = 0; d < s.extents.size(); ++d) {
    map.extents[d] = s.extents[d], map.box[d] = static_cast<uint16_t>(s.box[d]);
    if (d > 0) map.strides[d - 1] = uint64_t{s.strides[d]} * s.elementBytes;
  }
  return map;
}

/// `from` holds elements 1, 2, ..; `b` is what the kernel stored.
std::string run(const std::string& body, Setup s, Delay delay, std::vector<uint16_t>& b, uint64_t threads = kThreads) {
  alignas(16) static uint16_t from[4096];
  std::iota(std::begin(from), std::end(from), static_cast<uint16_t>(1));
  b.assign(s.sharedBytes / 2, 0xffff);
  const std::string text = "SVOD_KERNEL(64) k(const uint16_t* a, uint16_t* b, SVOD_MAP m) {\n  SVOD_SHARED(" +
                           std::to_string(s.sharedBytes) + ");\n  uint64_t* bars = (uint64_t*)(svod_shared + " +
                           std::to_string(s.sharedBytes - 64) +
                           ");\n  const int i = svod_lidx0();\n  const bool one = svod_elect();\n" + body + "}\n";
  auto code = HostKernel::load(text, "k", *compileOptions({}).linker);
  if (!code) FAIL(toText(code.error()));
  EmulatedGrid grid({delay, 11});
  code->use(grid.calls());
  GridLaunch launch;
  launch.function = code->function();
  launch.buffers = {{from, sizeof from, false}, {b.data(), b.size() * 2, true}, {from, sizeof from, false}};
  launch.maps = {{2, mapOf(s, from)}};
  launch.threads = {threads, 1, 1}, launch.sharedBytes = s.sharedBytes;
  return grid.run(launch);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  INFO(what);
  REQUIRE(at != text.npos);
  return text.replace(at, what.size(), by);
}

const std::string kMake =
    "  if (one) svod_mbar_init(bars, 1);\n  if (one) svod_mbar_init(bars + 1, 1);\n  svod_fence_async();\n"
    "  svod_barrier();\n";

/// One box of `bytes` bytes at the coordinates, then all of it to b.
std::string boxText(const Setup& s, const std::string& at) {
  uint32_t count = 1;
  for (uint32_t extent : s.box) count *= extent;
  std::string coordinates = at;
  for (size_t d = s.box.size(); d < 5; ++d) coordinates += ", 0";
  return kMake + "  if (one) svod_mbar_expect(bars, " + std::to_string(count * s.elementBytes) +
         ");\n  if (one) svod_bulk_load(svod_shared, SVOD_MAP_OF(m), bars, " + std::to_string(s.box.size()) + ", " +
         coordinates + ");\n  svod_mbar_wait(bars, 0);\n  for (int j = i; j < " +
         std::to_string(count * s.elementBytes / 2) +
         "; j += 64) svod_store_u16(b + j, svod_shared_load_u16((uint16_t*)svod_shared + j));\n";
}

/// What the box holds, by elements of 16 bits in memory.
std::vector<uint16_t> boxOf(const Setup& s, const std::vector<int>& at) {
  size_t count = 1;
  for (uint32_t extent : s.box) count *= extent;
  const size_t words = s.elementBytes / 2U;
  std::vector<uint16_t> content(count * words);
  for (size_t i = 0; i < count; ++i) {
    size_t left = i, place = 0;
    bool exists = true;
    for (size_t d = 0; d < s.box.size(); ++d) {
      const int64_t x = at[d] + static_cast<int64_t>(left % s.box[d]);
      left /= s.box[d];
      exists &= x >= 0 && x < s.extents[d];
      place += static_cast<size_t>(x) * s.strides[d];
    }
    // A piece of 16 bytes in row r of 128 bytes lies at piece p xor r, as far as the swizzle goes.
    const size_t byte = i * s.elementBytes, piece = byte / 16 % 8, line = byte / 128;
    const size_t turned = s.swizzle == 0 ? piece : piece ^ line % (s.swizzle / 16U);
    for (size_t w = 0; w < words; ++w)
      content[(line * 128 + turned * 16 + byte % 16) / 2 + w] =
          exists ? static_cast<uint16_t>(place * words + w + 1) : uint16_t{0};
  }
  return content;
}

/// Eight boxes of 8 rows of 64 elements through a ring of two stages; each thread adds up a column.
const std::string kRing = kMake + R"(
  if (one) svod_mbar_expect(bars, 1024);
  if (one) svod_bulk_load(svod_shared, SVOD_MAP_OF(m), bars, 2, 0, 0, 0, 0, 0);
  int sum = 0;
  for (int k = 0; k < 8; ++k) {
    svod_mbar_wait(bars + k % 2, k / 2 % 2);
    svod_barrier();
    if (one && k < 7) svod_mbar_expect(bars + (k + 1) % 2, 1024);
    if (one && k < 7)
      svod_bulk_load(svod_shared + (k + 1) % 2 * 1024, SVOD_MAP_OF(m), bars + (k + 1) % 2, 2, 0, 8 * (k + 1), 0, 0, 0);
    for (int r = 0; r < 8; ++r) sum += svod_shared_load_u16((uint16_t*)svod_shared + k % 2 * 512 + r * 64 + i);
  }
  svod_store_u16(b + i, sum);
)";
const Setup kRows{{64, 64}, {1, 64}, {64, 8}};

void checkFault(const char* fault, const std::string& body, const Setup& s = kRows, uint64_t threads = kThreads) {
  for (Delay delay : kDelays) {
    std::vector<uint16_t> b;
    const std::string found = run(body, s, delay, b, threads);
    INFO("delay " << static_cast<int>(delay) << ": " << found << "\n" << body);
    CHECK(found.starts_with(fault));
  }
}

}  // namespace

TEST_CASE("a box arrives with zeros beyond the tensor, its pieces where the swizzle puts them") {
  const std::pair<Setup, std::vector<int>> cases[] = {
      {{{64, 64}, {1, 64}, {64, 8}}, {0, 8}},
      {{{60, 61}, {1, 64}, {64, 16}, 2, 128}, {0, 48}},
      {{{60, 61}, {1, 64}, {32, 16}, 2, 64}, {32, 56}},
      {{{64, 64}, {1, 64}, {16, 24}, 2, 32}, {-3, -5}},
      {{{20, 64}, {1, 32}, {16, 8}, 4, 64}, {8, 60}},
      {{{12, 10, 9}, {1, 16, 160}, {8, 4, 3}, 2, 0}, {8, 8, 7}},
      {{{8, 3, 2, 3, 2}, {1, 8, 24, 48, 144}, {8, 2, 2, 2, 2}, 2, 0}, {0, 2, 1, 2, -1}},
  };
  for (const auto& [setup, at] : cases)
    for (Delay delay : kDelays) {
      std::string coordinates;
      for (int x : at) coordinates += (coordinates.empty() ? "" : ", ") + std::to_string(x);
      INFO("at " << coordinates);
      std::vector<uint16_t> b;
      REQUIRE(run(boxText(setup, coordinates), setup, delay, b) == "");
      const std::vector<uint16_t> expected = boxOf(setup, at);
      b.resize(expected.size());
      CHECK(b == expected);
    }
}

TEST_CASE("boxes through a ring of stages arrive, in every mode") {
  for (Delay delay : kDelays) {
    std::vector<uint16_t> b;
    REQUIRE(run(kRing, kRows, delay, b) == "");
    for (size_t i = 0; i < kThreads; ++i) CHECK(b[i] == static_cast<uint16_t>(64 * (i + 1) + 64 * 64 * 63 / 2));
  }
}

TEST_CASE("every synchronisation of bulk copies that is left out is found, in every mode") {
  const std::tuple<const char*, const char*, const char*> faults[] = {
      {"PROXY", "svod_fence_async();", ""},
      {"RACE", "(k + 1) % 2 * 1024, SVOD", "k % 2 * 1024, SVOD"},  // into the stage that is read
      {"DEADLOCK: 64 threads wait at an mbarrier at byte 8128 for parity 0", "bars, 1024", "bars, 1008"},
      {"DEADLOCK: 64 threads wait at an mbarrier at byte 8128 for parity 0", "bars, 1024", "bars, 1040"},
      {"DEADLOCK", "svod_mbar_init(bars, 1)", "svod_mbar_init(bars, 2)"},
      {"DEADLOCK", "  if (one && k < 7) svod_mbar_expect(bars + (k + 1) % 2, 1024);", ""},
      {"DEADLOCK", "if (one) svod_bulk_load", "if (one && n) svod_bulk_load"},
      {"MBARRIER", "if (one) svod_mbar_expect", "svod_mbar_expect"},
      {"MBARRIER", "  if (one) svod_mbar_init(bars + 1, 1);", ""},
      {"UNFINISHED", "k < 7)\n", "k < 8)\n"},
      {"ALIGNMENT", "svod_bulk_load(svod_shared,", "svod_bulk_load(svod_shared + 64,"},
      {"ALIGNMENT", "bars, 2, 0, 0, 0", "bars, 3, 0, 0, 0"},
  };
  for (const auto& [fault, what, by] : faults) {
    std::string text = replaced(kRing, what, by);
    if (std::strstr(by, "&& n")) text = "  const int n = 0;\n" + text;
    checkFault(fault, text);
  }
  checkFault("DIVERGENCE", kRing, kRows, 48);
}

TEST_CASE("a meeting or a wait that is left out, and a wait for the phase before, are found in every mode") {
  const std::pair<const char*, const char*> faults[] = {
      {"svod_mbar_wait(bars + k % 2, k / 2 % 2);", ""},
      {"svod_mbar_wait(bars + k % 2, k / 2 % 2);", "svod_mbar_wait(bars + k % 2, 1 - k / 2 % 2);"},
      {"  svod_fence_async();\n  svod_barrier();", "  svod_fence_async();"},
      {"    svod_barrier();", ""},  // a race, or a phase that is over twice before a thread looks
  };
  for (const auto& [what, by] : faults)
    for (Delay delay : kDelays) {
      std::vector<uint16_t> b;
      const std::string found = run(replaced(kRing, what, by), kRows, delay, b);
      INFO("delay " << static_cast<int>(delay) << ": " << found);
      CHECK(found != "");
    }
}

TEST_CASE("maps that no driver encodes, and what a box covers, are checked") {
  const Setup wide{{64, 64}, {1, 64}, {64, 8}, 2, 64}, odd{{60, 64}, {1, 60}, {64, 8}},
      beyond{{64, 66}, {1, 64}, {64, 8}};
  checkFault("ALIGNMENT", boxText(wide, "0, 0"), wide);
  checkFault("ALIGNMENT", boxText(odd, "0, 0"), odd);
  checkFault("OUTSIDE", boxText(beyond, "0, 60"), beyond);
  checkFault("PROXY",
             replaced(boxText(kRows, "0, 0"), "  if (one) svod_mbar_expect",
                      "  if (one) svod_shared_store_u16((uint16_t*)svod_shared, 1);\n  if (one) svod_mbar_expect"));
  checkFault("RACE", replaced(boxText(kRows, "0, 0"), "  svod_mbar_wait",
                              "  svod_shared_store_u16((uint16_t*)svod_shared + i, 1);\n  svod_mbar_wait"));
}
