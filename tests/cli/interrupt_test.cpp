// An interrupt that also breaks what the process is doing is reported as an interrupt, not as its consequence.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "common/temp_folder.h"
#include "console/process.h"

using namespace svod;

namespace {

/// Exit status of a process that reports an error after `interrupt`.
int failAfter(const std::string& folder, void (*interrupt)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    Console console(ConsoleOptions{});
    InterruptGuard interrupts(console);
    interrupts.removesFolder(folder);
    interrupt();
    interrupts.beforeError();
    ::_exit(console.finish({Diag::CompileFailed, "the compiler was killed", "", {}, {}}));
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("an error caused by an interrupt is an interrupt") {
  for (int round = 0; round < 20; round++) {
    TempFolder folder;
    std::filesystem::create_directory(folder / "work");
    for (int i = 0; i < 200; i++) std::ofstream(folder / ("work/" + std::to_string(i)));  // removing them takes a while
    CHECK(failAfter(folder / "work", [] { ::kill(::getpid(), SIGINT); }) == info(Diag::Interrupted).exitCode);
    CHECK_FALSE(std::filesystem::exists(folder / "work"));
  }
}

TEST_CASE("an error without an interrupt keeps its exit code") {
  TempFolder folder;
  CHECK(failAfter(folder / "none", [] {}) == info(Diag::CompileFailed).exitCode);
}
