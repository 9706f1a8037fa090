// How many processors the control groups of a process pay for, by folders as the system has them.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "common/temp_folder.h"
#include "runtime-min/processors.h"

using namespace svod;

namespace {

struct Groups {
  TempFolder folder;

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  size_t processors() { return quotaProcessors((folder / "self").c_str(), (folder / "mount").c_str()); }
};

}  // namespace

TEST_CASE("a control group of version 2 pays for its quota in its period, rounded up") {
  for (const auto& [text, want] : std::initializer_list<std::pair<const char*, size_t>>{
           {"max 100000\n", 0},
           {"200000 100000\n", 2},
           {"250000 100000\n", 3},
           {"1000 100000\n", 1},
           {"50000\n", 0},
           {"", 0},
           {"0 0\n", 0},
           {"-1 100000\n", 0},
           {"9223372036854775807 1\n", size_t{9223372036854775807}}}) {
    INFO(text);
    Groups g;
    g.write("self", "0::/shop/job\n");
    g.write("mount/shop/job/cpu.max", text);
    CHECK(g.processors() == want);
  }
}

TEST_CASE("of a group and those above it the least counts, also where a container sees the path of its host") {
  Groups g;
  g.write("self", "0::/shop/job\n");
  g.write("mount/shop/job/cpu.max", "400000 100000\n");
  g.write("mount/shop/cpu.max", "300000 100000\n");
  CHECK(g.processors() == 3);
  g.write("mount/cpu.max", "100000 100000\n");
  CHECK(g.processors() == 1);
  Groups inside;
  inside.write("self", "0::/docker/0123456789\n");
  inside.write("mount/cpu.max", "200000 100000\n");
  CHECK(inside.processors() == 2);
  inside.write("self", "0::/\n");
  CHECK(inside.processors() == 2);
}

TEST_CASE("a control group of version 1 has its quota and its period in two files, -1 for none") {
  Groups g;
  g.write("self", "12:memory:/job\n5:cpuset:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/job\n0::/job\n");
  g.write("mount/cpu/job/cpu.cfs_quota_us", "-1\n");
  g.write("mount/cpu/job/cpu.cfs_period_us", "100000\n");
  CHECK(g.processors() == 0);
  g.write("mount/cpu/job/cpu.cfs_quota_us", "150000\n");
  CHECK(g.processors() == 2);
}

TEST_CASE("a system without control groups, or without /proc, sets no bound") {
  Groups g;
  CHECK(g.processors() == 0);
  g.write("self", "no colons here\n\n7:\n::\n0:cpu\n");
  CHECK(g.processors() == 0);
  CHECK(usableProcessors() > 0);
}
