// Damaged packs: one clear error each, with the exit code of damaged plans, and nothing runs.
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "data/sha256.h"
#include "plan/json.h"
#include "plan/pack.h"
#include "runtime/changed_numbers.h"
#include "runtime/varied_plan.h"

using namespace svod;

namespace {

constexpr size_t kHeadBytes = 32;
constexpr int kDamaged = 5;

struct Fixture {
  int file = ::memfd_create("p.pack", 0);  // thousands of files on a disk would take minutes
  std::string path = "/proc/self/fd/" + std::to_string(file);
  std::string pack;

  Fixture() {
    TempFolder folder;
    PlanBuilder b;
    addVariedSteps(b);
    addVariants(b);
    b.writePackFile(folder / "p.pack");
    pack = readText(folder / "p.pack");
    fill(pack);
    loadPlan(path);
  }
  ~Fixture() { ::close(file); }
  void fill(const std::string& bytes) const {
    REQUIRE(::ftruncate(file, static_cast<off_t>(bytes.size())) == 0);
    REQUIRE(::pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  }
  uint64_t manifestBytes() const {
    uint64_t bytes = 0;
    std::memcpy(&bytes, pack.data() + 16, sizeof bytes);
    return bytes;
  }
  std::string manifest() const { return pack.substr(kHeadBytes, manifestBytes()); }
  /// The pack with another manifest, whose checksum, and all that the head says of it, is repaired.
  std::string with(const std::string& text) const {
    const auto aligned = [](size_t offset) { return (offset + kPackAlignment - 1) / kPackAlignment * kPackAlignment; };
    std::string changed = pack.substr(0, kHeadBytes) + withChecksum(text);
    changed.resize(aligned(changed.size()), '\0');
    changed += pack.substr(aligned(kHeadBytes + manifestBytes()));
    const uint64_t sizes[] = {text.size(), changed.size()};
    std::memcpy(changed.data() + 16, sizes, sizeof sizes);
    return changed;
  }
  svod_error refused(const std::string& bytes) {
    fill(bytes);
    const svod_error error = loadError(path);
    if (error.exit_code != kDamaged) FAIL(error.exit_code << ": " << error.message);
    return error;
  }
};

}  // namespace

TEST_CASE("every number of a pack's manifest is changed, 10,000 times in all, with repaired checksums: none loads") {
  constexpr size_t kCases = 10'000;
  Fixture f;
  const std::string manifest = f.manifest();
  const std::vector<NumberAt> numbers = numbersOf(manifest);
  REQUIRE(numbers.size() > 85);
  size_t tried = 0;
  for (const NumberAt& number : numbers)
    for (int64_t other : othersFor(number.value)) tried++, f.refused(f.with(number.changedTo(manifest, other)));
  CHECK(tried > 550);
  std::mt19937_64 random(7);
  for (size_t i = 0; tried < kCases; i++) {
    const NumberAt& number = numbers[i % numbers.size()];
    const auto other = static_cast<int64_t>(random() >> (1 + random() % 63));
    if (other == number.value) continue;
    tried++, f.refused(f.with(number.changedTo(manifest, other)));
  }
  f.fill(f.with(manifest));
  loadPlan(f.path);  // what is repaired is all there is to repair
}

TEST_CASE("every changed byte of a pack is noticed: head, manifest, code, weights and what is between them") {
  Fixture f;
  const size_t dense = kHeadBytes + f.manifestBytes();
  for (size_t at = 0; at < f.pack.size(); at += at < kHeadBytes ? 1 : at < dense ? 7 : 101) {
    std::string changed = f.pack;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
    f.refused(changed);
  }
  for (size_t at = 0; at < kHeadBytes; at++)
    for (int value = 0; value < 256; value += 5) {
      std::string changed = f.pack;
      if (changed[at] == static_cast<char>(value)) continue;
      changed[at] = static_cast<char>(value);
      f.refused(changed);
    }
}

TEST_CASE("a pack that is cut anywhere, or longer than it was, is refused") {
  Fixture f;
  for (size_t bytes = 0; bytes < f.pack.size(); bytes += bytes < kHeadBytes + 64 ? 1 : 61) {
    f.refused(f.pack.substr(0, bytes));
    std::string cut = f.pack.substr(0, bytes);
    const uint64_t size = bytes;
    if (bytes >= kHeadBytes) std::memcpy(cut.data() + 24, &size, sizeof size);
    f.refused(cut);  // and a head that agrees with it
  }
  for (size_t more : {size_t{1}, size_t{64}, size_t{4096}}) {
    std::string longer = f.pack + std::string(more, '\0');
    f.refused(longer);
    const uint64_t size = longer.size();
    std::memcpy(longer.data() + 24, &size, sizeof size);
    f.refused(longer);
  }
}

TEST_CASE("random bytes are no pack, behind a right head either") {
  Fixture f;
  std::mt19937_64 random(11);
  for (int i = 0; i < 1000; i++) {
    std::string bytes(random() % 5000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    f.refused(bytes);
    std::string changed = f.pack;
    const size_t at = random() % changed.size(), many = std::min<size_t>(bytes.size() + 1, changed.size() - at);
    for (size_t k = 0; k < many; k++) changed[at + k] = static_cast<char>(random());
    if (changed != f.pack) f.refused(changed);
  }
}

TEST_CASE("messages about packs say what is wrong") {
  Fixture f;
  const auto changed = [&](size_t at, uint32_t number) {
    std::string bytes = f.pack;
    std::memcpy(bytes.data() + at, &number, sizeof number);
    return std::string(f.refused(bytes).message);
  };
  CHECK_THAT(changed(0, 0), Catch::Contains("is not a plan"));
  CHECK_THAT(changed(8, 0x04030201), Catch::Contains("the other order of bytes"));
  CHECK_THAT(changed(12, 2), Catch::Contains("has pack version 2, this reader accepts version 1"));
  CHECK_THAT(changed(24, 100), Catch::Contains("its head says 100"));
  std::string weights = f.pack;
  weights[weights.size() - 1] ^= 1;
  CHECK_THAT(std::string(f.refused(weights).message), Catch::Contains(":weights.bin' was changed"));
}

TEST_CASE("code in a pack says which manifest it belongs to") {
  Fixture f;
  const size_t record = f.pack.rfind("\n//svod plan ");
  REQUIRE(record != std::string::npos);
  std::string manifest = f.manifest(), bytes = f.pack;
  bytes[record] = 'x';
  const size_t begin = bytes.find("\177ELF"), end = record + std::string_view("\n//svod plan ").size() + 65;
  const std::string was = sha256Hex(f.pack.substr(begin, end - begin));
  REQUIRE(manifest.find(was) != std::string::npos);
  manifest.replace(manifest.find(was), was.size(), sha256Hex(bytes.substr(begin, end - begin)));
  f.pack = bytes;
  CHECK_THAT(std::string(f.refused(f.with(manifest)).message), Catch::Contains("does not say which manifest"));
}
