#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>

#include "common/temp_folder.h"
#include "data/atomic_write.h"
#include "data/mapped_file.h"
#include "data/sha256.h"

using namespace svod;
namespace fs = std::filesystem;

namespace {
const auto kAlways = [](const std::string&) { return true; };
const auto kNever = [](const std::string&) { return false; };
std::vector<FileContent> oneFile(const std::string& name, const std::string& text) {
  return {{name, {std::as_bytes(std::span(text))}}};
}
}  // namespace

TEST_CASE("SHA-256 of known texts") {
  CHECK(sha256Hex(std::string_view("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256Hex(std::string_view("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256Hex(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 does not depend on how the bytes arrive") {
  std::string text;
  for (int i = 0; i < 20000; i++) text += static_cast<char>(i * 31 + i / 7);
  for (size_t length : {0u, 1u, 55u, 56u, 63u, 64u, 65u, 119u, 128u, 5000u, 20000u}) {
    const std::string_view part = std::string_view(text).substr(0, length);
    Sha256 pieces;
    for (size_t at = 0, step = 1; at < length; at += step, step = step * 2 % 97 + 1)
      pieces.update(part.substr(at, step));
    CHECK(pieces.finish() == sha256Hex(part));
  }
}

TEST_CASE("mapping: contents, empty files, errors with path and reason") {
  TempFolder folder;
  writeText(folder / "a", "hello");
  writeText(folder / "empty", "");
  auto mapped = MappedFile::open(folder / "a");
  REQUIRE(mapped);
  CHECK(std::string(reinterpret_cast<const char*>(mapped->data()), mapped->size()) == "hello");
  CHECK(MappedFile::open(folder / "empty")->size() == 0);
  auto missing = MappedFile::open(folder / "none");
  REQUIRE(!missing);
  CHECK(missing.error()->diag == Diag::Io);
  CHECK(missing.error()->message.find(folder / "none") != std::string::npos);
  CHECK(missing.error()->message.find("No such file") != std::string::npos);
  CHECK(!MappedFile::open(folder.path()));
  CHECK(*readWholeFile(folder / "a") == "hello");
  CHECK(!readWholeFile(folder / "a", 4));
}

TEST_CASE("a written file replaces the old one and leaves nothing beside it") {
  TempFolder folder;
  REQUIRE(writeFileAtomic(folder / "a", "one"));
  REQUIRE(writeFileAtomic(folder / "a", "two"));
  CHECK(readText(folder / "a") == "two");
  fs::create_symlink("a", folder / "link");
  REQUIRE(writeFileAtomic(folder / "link", "three"));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(readText(folder / "a") == "three");
  CHECK(entriesIn(folder.path()) == 2);
}

TEST_CASE("a written file has the mode of the one that it replaces") {
  TempFolder folder;
  const std::string first = folder / "a", second = folder / "b";
  const auto modeOf = [](const std::string& path) { return static_cast<unsigned>(fs::status(path).permissions()); };
  for (const unsigned mode : {0600u, 0640u, 0666u, 0755u}) {
    for (const std::string& path : {first, second}) {
      writeText(path, "old");
      fs::permissions(path, fs::perms(mode));
    }
    REQUIRE(writeFileAtomic(first, "new"));
    const std::string text = "new";
    const NewFile files[] = {{second, {std::as_bytes(std::span(text))}}};
    REQUIRE(writeFilesAtomic(files));
    CHECK((modeOf(first) == mode && modeOf(second) == mode));
    CHECK((*readWholeFile(first) == "new" && *readWholeFile(second) == "new"));
  }
}

TEST_CASE("a full disk and a missing folder are Io errors that leave nothing") {
  TempFolder folder;
  auto full = writeFileAtomic("/dev/full", "text");
  REQUIRE(!full);
  CHECK(full.error()->diag == Diag::Io);
  CHECK(full.error()->message.find("No space left") != std::string::npos);
  CHECK(writeFileAtomic("/dev/null", "text"));
  CHECK(!writeFileAtomic(folder / "none/a", "text"));
  fs::create_directory(folder / "dir");
  CHECK(!writeFileAtomic(folder / "dir", "text"));
  CHECK(entriesIn(folder.path()) == 1);
}

TEST_CASE("a pipe takes what is written while somebody reads it, and is an error otherwise") {
  TempFolder folder;
  const std::string path = folder / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const Status unread = writeFileAtomic(path, "text");
  REQUIRE(!unread);
  CHECK(unread.error()->help.find("reads from it") != std::string::npos);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  REQUIRE(writeFileAtomic(path, "text"));
  char text[8];
  CHECK(::read(reader, text, sizeof text) == 4);
  ::close(reader);
}

TEST_CASE("a directory appears whole, replaces only what it may, and cleans up") {
  TempFolder folder;
  REQUIRE(writeDirectoryAtomic(folder / "d", oneFile("x", "1"), kNever));
  CHECK(readText(folder / "d/x") == "1");
  CHECK(!writeDirectoryAtomic(folder / "d", oneFile("y", "2"), kNever));
  CHECK(readText(folder / "d/x") == "1");
  REQUIRE(writeDirectoryAtomic(folder / "d/", oneFile("y", "2"), kAlways));
  CHECK(readText(folder / "d/y") == "2");
  CHECK(!fs::exists(folder / "d/x"));
  CHECK(!writeDirectoryAtomic(folder / "d", oneFile("no/such", "3"), kAlways));
  CHECK(readText(folder / "d/y") == "2");
  writeText(folder / "file", "kept");
  CHECK(!writeDirectoryAtomic(folder / "file", oneFile("x", "1"), kAlways));
  CHECK(readText(folder / "file") == "kept");
  CHECK(!writeDirectoryAtomic(folder / "none/d", oneFile("x", "1"), kAlways));
  CHECK(entriesIn(folder.path()) == 2);
}

namespace {

/// Runs `body` in processes of their own at about the same time; how many of them ended with 0.
template <class Body>
int succeeding(int count, Body body) {
  int start[2];
  REQUIRE(::pipe(start) == 0);
  for (int i = 0; i < count; i++) {
    if (::fork() != 0) continue;
    char go = 0;
    ::close(start[1]);
    (void)!::read(start[0], &go, 1);  // all return when the other end is closed
    ::_exit(body(i) ? 0 : 1);
  }
  ::close(start[0]);
  ::close(start[1]);
  int good = 0, status = 0;
  for (int i = 0; i < count; i++) {
    REQUIRE(::wait(&status) > 0);
    good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return good;
}

/// Writes the folder in a process that is killed when it has written everything but not yet put it in place.
void writeAndBeKilled(const std::string& path) {
  const auto kill = [](const std::string&) { return ::kill(::getpid(), SIGKILL) == 0; };
  CHECK(succeeding(1, [&](int) { return bool(writeDirectoryAtomic(path, oneFile("x", "lost"), kill)); }) == 0);
}

}  // namespace

TEST_CASE("several processes create one directory, or replace it: all succeed and nothing is left beside it") {
  for (int round = 0; round < 60; round++) {
    TempFolder folder;
    for (const bool exists : {false, true}) {
      INFO(exists);
      const auto write = [&](int i) {
        return bool(writeDirectoryAtomic(folder / "d", oneFile("x", std::to_string(i)), kAlways));
      };
      CHECK(succeeding(4, write) == 4);
      CHECK(readText(folder / "d/x").size() == 1);
      CHECK(entriesIn(folder.path()) == 1);
      const auto writeText = [&](int i) { return bool(writeFileAtomic(folder / "f", std::to_string(i))); };
      CHECK(succeeding(4, writeText) == 4);
      CHECK(entriesIn(folder.path()) == 2);
      fs::remove(folder / "f");
    }
  }
}

TEST_CASE("what a killed process left is removed by the next that writes there, and nothing else is") {
  TempFolder folder;
  REQUIRE(writeDirectoryAtomic(folder / "d", oneFile("x", "1"), kAlways));
  writeAndBeKilled(folder / "d");
  writeAndBeKilled(folder / "d");
  CHECK(entriesIn(folder.path()) == 3);
  writeText(folder / "d.tmp-12-0", "a file of the same kind");
  for (const char* name : {"d.tmp-12", "d.tmp-a-0", "d.tmp-1-0.bak", "e.tmp-1-0", "d.tmp-1-"})
    writeText(folder / name, "user's");
  fs::create_directories(folder / "d.tmp-13-0/inner");
  REQUIRE(writeDirectoryAtomic(folder / "e", oneFile("x", "2"), kAlways));
  CHECK(entriesIn(folder.path()) == 10);  // without e.tmp-1-0, which has the name of one of e
  REQUIRE(writeDirectoryAtomic(folder / "d", oneFile("x", "2"), kAlways));
  CHECK(entriesIn(folder.path()) == 7);
  CHECK(fs::exists(folder / "d.tmp-13-0/inner"));
}

TEST_CASE("what a living process writes is not removed") {
  TempFolder folder;
  REQUIRE(writeDirectoryAtomic(folder / "d", oneFile("x", "1"), kAlways));
  int written[2], go[2];
  REQUIRE(::pipe(written) == 0);
  REQUIRE(::pipe(go) == 0);
  const auto waiting = [&](const std::string&) {
    char byte = 1;
    return ::write(written[1], &byte, 1) == 1 && ::read(go[0], &byte, 1) == 1;
  };
  const pid_t child = ::fork();
  if (child == 0) ::_exit(writeDirectoryAtomic(folder / "d", oneFile("x", "late"), waiting) ? 0 : 1);
  char byte = 0;
  REQUIRE(::read(written[0], &byte, 1) == 1);
  REQUIRE(writeDirectoryAtomic(folder / "d", oneFile("x", "2"), kAlways));
  CHECK(entriesIn(folder.path()) == 2);
  REQUIRE(::write(go[1], &byte, 1) == 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK(readText(folder / "d/x") == "late");
  CHECK(entriesIn(folder.path()) == 1);
  for (int fd : {written[0], written[1], go[0], go[1]}) ::close(fd);
}

TEST_CASE("several files are replaced together or not at all") {
  TempFolder folder;
  auto files = [&](const std::string& second, std::string_view text) {
    std::vector<std::span<const std::byte>> chunks{std::as_bytes(std::span(text.data(), text.size()))};
    return std::vector<NewFile>{{folder / "a", chunks}, {second, chunks}};
  };
  REQUIRE(writeFilesAtomic(files(folder / "b", "one")));
  REQUIRE(writeFilesAtomic(files(folder / "b", "two")));
  CHECK(readText(folder / "a") == "two");
  CHECK(readText(folder / "b") == "two");
  CHECK(entriesIn(folder.path()) == 2);
  fs::create_directory(folder / "dir");
  for (const std::string& bad : {folder / "none/b", folder / "dir", std::string("/dev/full")}) {
    INFO(bad);
    Status written = writeFilesAtomic(files(bad, "three"));
    REQUIRE_FALSE(written);
    CHECK(written.error()->diag == Diag::Io);
    CHECK(readText(folder / "a") == "two");
    CHECK(entriesIn(folder.path()) == 3);
  }
}

TEST_CASE(
    "what has the same bytes already is left alone, and files that stay keep their time in a folder that changes") {
  TempFolder folder;
  const auto times = [&](const std::string& name) { return fs::last_write_time(folder / name); };
  const auto inodeOf = [&](const std::string& name) {
    struct stat status{};
    return ::stat((folder / name).c_str(), &status) == 0 ? status.st_ino : 0;
  };
  const fs::file_time_type old = fs::file_time_type::clock::now() - std::chrono::hours(30);
  const auto textFile = [](const std::string& name, std::string_view text) {
    return FileContent{name, {std::as_bytes(std::span(text))}};
  };
  std::vector<FileContent> files = {textFile("a", "one")};
  files.push_back({"b", {std::as_bytes(std::span("two", 3)), {}, std::as_bytes(std::span("!", 1))}});
  REQUIRE(writeDirectoryAtomic(folder / "d", files, kAlways));
  CHECK(readText(folder / "d/b") == "two!");
  for (const char* name : {"d/a", "d/b"}) fs::last_write_time(folder / name, old);
  const ino_t first = inodeOf("d");

  REQUIRE(writeDirectoryAtomic(folder / "d", files, kAlways));
  CHECK(inodeOf("d") == first);
  CHECK(times("d/a") == old);

  files[0] = textFile("a", "six");
  REQUIRE(writeDirectoryAtomic(folder / "d", files, kAlways));
  CHECK(inodeOf("d") != first);
  CHECK(times("d/a") != old);
  CHECK(times("d/b") == old);
  CHECK(readText(folder / "d/a") == "six");

  REQUIRE(writeDirectoryAtomic(folder / "d", oneFile("a", "six"), kAlways));  // b goes
  CHECK(!fs::exists(folder / "d/b"));
  CHECK(!writeDirectoryAtomic(folder / "d", oneFile("a", "six"), kNever));
}

TEST_CASE("chunks are compared with all of a file, and with nothing but files") {
  TempFolder folder;
  writeText(folder / "f", "abc");
  const auto holds = [&](const std::string& name, std::string_view text) {
    const std::span<const std::byte> chunks[] = {std::as_bytes(std::span(text)).first(text.size() / 2),
                                                 std::as_bytes(std::span(text)).subspan(text.size() / 2)};
    return holdsChunks(folder / name, chunks);
  };
  CHECK(holds("f", "abc"));
  for (const char* other : {"", "ab", "abd", "abcd"}) CHECK(!holds("f", other));
  CHECK(!holds("none", ""));
  CHECK(!holds(".", ""));
}

TEST_CASE("folders are checked before something is written into them") {
  TempFolder folder;
  writeText(folder / "file", "");
  CHECK(checkFolderOf(folder / "new"));
  CHECK(checkFolderOf(folder / "new/"));
  CHECK(checkFolderOf("/dev/null"));
  CHECK(checkFolderOf("relative"));
  const Status missing = checkFolderOf(folder / "none/new"), inside = checkFolderOf(folder / "file/new");
  REQUIRE(!missing);
  CHECK(missing.error()->diag == Diag::Io);
  CHECK(missing.error()->help == "make the folder '" + folder / "none" + "'");
  REQUIRE(!inside);
  CHECK(inside.error()->message.find("Not a directory") != std::string::npos);
}
