#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/temp_folder.h"
#include "data/file_cache.h"
#include "data/sha256.h"

using namespace svod;

namespace {

namespace fs = std::filesystem;

std::string keyOf(int number) { return sha256Hex(std::to_string(number)); }

fs::path entryOf(const FileCache& cache, int number) { return fs::path(cache.folder()) / (keyOf(number) + ".svod"); }

void usedBefore(const FileCache& cache, int number, std::chrono::minutes ago) {
  fs::last_write_time(entryOf(cache, number), fs::file_time_type::clock::now() - ago);
}

}  // namespace

TEST_CASE("A cache gives back what was put") {
  const TempFolder folder;
  FileCache cache(folder / "deep/cache");
  CHECK(!cache.get(keyOf(1)));
  CHECK(cache.usage()->entries == 0);  // the folder does not exist yet
  const std::string value("with\0zero", 9);
  REQUIRE(cache.put(keyOf(1), value));
  REQUIRE(cache.put(keyOf(2), ""));
  CHECK(cache.get(keyOf(1)) == value);
  CHECK(cache.get(keyOf(2)) == "");
  CHECK(!cache.get(keyOf(3)));
  REQUIRE(cache.put(keyOf(1), "other"));
  CHECK(cache.get(keyOf(1)) == "other");
  CHECK(cache.usage()->entries == 2);
  CHECK(cache.usage()->bytes == 2 * 4096);
  struct stat status{};
  REQUIRE(::stat(cache.folder().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("Damaged values of a cache are not there") {
  const TempFolder folder;
  FileCache cache(folder.path());
  REQUIRE(cache.put(keyOf(1), "some value"));
  const uint64_t size = fs::file_size(entryOf(cache, 1));
  for (uint64_t at : {uint64_t{0}, uint64_t{63}, uint64_t{64}, size - 1}) {
    REQUIRE(cache.put(keyOf(1), "some value"));
    {
      std::fstream file(entryOf(cache, 1), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(at));
      file.put('~');
    }
    INFO(at);
    CHECK(!cache.get(keyOf(1)));
  }
  for (uint64_t length : {uint64_t{0}, uint64_t{10}, uint64_t{64}, size - 1}) {
    REQUIRE(cache.put(keyOf(1), "some value"));
    CHECK(cache.get(keyOf(1)));
    fs::resize_file(entryOf(cache, 1), length);
    CHECK(!cache.get(keyOf(1)));
  }
  REQUIRE(cache.put(keyOf(1), "some value"));
  fs::rename(entryOf(cache, 1), entryOf(cache, 2));  // whole, but of another key
  CHECK(!cache.get(keyOf(2)));
}

TEST_CASE("A cache is bounded, and what was used last stays") {
  const TempFolder folder;
  FileCache cache(folder.path());
  const std::string value(5000, 'x');  // two blocks
  for (int i = 0; i < 6; ++i) {
    REQUIRE(cache.put(keyOf(i), value));
    usedBefore(cache, i, std::chrono::minutes(100 - i));
  }
  REQUIRE(cache.get(keyOf(0)));  // used now
  const auto removed = cache.trim(3 * 8192);
  REQUIRE(removed);
  CHECK(removed->entries == 3);
  CHECK(removed->bytes == 3 * 8192);
  for (int i : {0, 4, 5}) CHECK(cache.get(keyOf(i)));
  for (int i : {1, 2, 3}) CHECK(!cache.get(keyOf(i)));
  CHECK(cache.trim(3 * 8192)->entries == 0);

  const fs::path mine = folder / "letter.txt", young = folder / (keyOf(9) + ".svod.tmp-1-0"),
                 old = folder / (keyOf(9) + ".svod.tmp-2-0");
  for (const fs::path& path : {mine, young, old}) std::ofstream(path) << "text";
  for (const fs::path& path : {mine, old})
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
  CHECK(cache.trim(0)->entries == 3);
  CHECK(cache.usage()->entries == 0);
  CHECK(fs::exists(mine));
  CHECK(fs::exists(young));
  CHECK(!fs::exists(old));
}

TEST_CASE("A cache that cannot be written still gives what it has") {
  if (::geteuid() == 0) return;  // root may write anywhere; cli/cache_test.py shows it as another user
  const TempFolder folder;
  FileCache cache(folder.path());
  REQUIRE(cache.put(keyOf(1), "value"));
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  CHECK(cache.get(keyOf(1)) == "value");
  const Status written = cache.put(keyOf(2), "value");
  REQUIRE(!written);
  CHECK(written.error()->diag == Diag::Io);
}

TEST_CASE("Threads share a cache") {
  const TempFolder folder;
  FileCache cache(folder.path());
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0, failed = 0, found = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const std::string value(static_cast<size_t>(i % 7) * 3000, static_cast<char>('a' + i % 7));
        if (!cache.put(keyOf(i % 7), value)) ++failed;
        if (auto got = cache.get(keyOf(i % 7))) ++(*got == value ? found : wrong);
        if (i % 50 == 0 && !cache.trim(20'000)) ++failed;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(failed == 0);
  CHECK(found > 400);  // trimming takes some away
  for (const auto& entry : fs::directory_iterator(folder.path()))
    CHECK(entry.path().string().find(".tmp-") == std::string::npos);
}
