#include "data/inside_folder.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "common/temp_folder.h"

using namespace svod;
namespace fs = std::filesystem;

TEST_CASE("a file may name what lies in its folder or below, wherever links lead") {
  const TempFolder temp;
  const fs::path root = fs::canonical(temp.path());
  fs::create_directories(root / "in/deep"), fs::create_directories(root / "out"),
      fs::create_directories(root / "inner");
  for (const char* name : {"in/g", "in/a", "in/deep/a", "out/a", "inner/a"}) std::ofstream(root / name) << "x";
  fs::create_symlink("../out/a", root / "in/link"), fs::create_symlink("a", root / "in/own");
  fs::create_symlink("../out", root / "in/folder");
  const std::vector<std::string> folders = foldersOf((root / "in/g").string());
  REQUIRE(folders == std::vector{(root / "in").string()});
  const auto inside = [&](const std::string& path) { return pathInside(folders, (root / path).string()).has_value(); };
  for (const char* path : {"in/a", "in/deep/a", "in/own", "in/deep/../a", "out/../in/a", "in/none", "in/deep/none"}) {
    INFO(path);
    CHECK(inside(path));
  }
  for (const char* path : {"out/a", "in/../out/a", "in/link", "in/folder/a", "inner/a", "in", "in/..", ""}) {
    INFO(path);
    CHECK_FALSE(inside(path));
  }
  CHECK_FALSE(pathInside(folders, (root / "in/a").string() + std::string("\0b", 2)));
  CHECK_FALSE(pathInside(folders, "/etc/passwd"));
}

TEST_CASE("a link to a file has the folder of that file as well") {
  const TempFolder temp;
  const fs::path root = fs::canonical(temp.path());
  fs::create_directories(root / "blobs"), fs::create_directories(root / "snapshot");
  for (const char* name : {"blobs/1", "blobs/2", "other"}) std::ofstream(root / name) << "x";
  fs::create_symlink("../blobs/1", root / "snapshot/model"), fs::create_symlink("../blobs/2", root / "snapshot/data");
  fs::create_symlink("../other", root / "snapshot/other");
  const std::vector<std::string> folders = foldersOf((root / "snapshot/model").string());
  CHECK(folders.size() == 2);
  CHECK(pathInside(folders, (root / "snapshot/data").string()) == (root / "blobs/2").string());
  CHECK_FALSE(pathInside(folders, (root / "snapshot/other").string()));
}
