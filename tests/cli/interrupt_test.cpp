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

/// Exit status of a process with an interrupt guard, -1 when a signal ended it.
int statusOf(void (*body)(InterruptGuard&, Console&)) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);  // the test framework has handlers
    std::signal(SIGINT, SIG_DFL);
    Console console(ConsoleOptions{});
    {
      InterruptGuard interrupts(console);
      body(interrupts, console);
    }
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void interruptAndWait(int signal) {
  ::kill(::getpid(), signal);
  ::usleep(20'000);  // time for the thread of the guard
}

/// Exit status of a process that reports an error after `interrupt`.
int failAfter(const std::string& folder, void (*interrupt)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    Console console(ConsoleOptions{});
    InterruptGuard interrupts(console);
    interrupts.removesFolder(folder);
    interrupt();
    interrupts.beforeError();
    ::_exit(console.finish({Diag::CompileFailed, "the compiler was killed"}));
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

TEST_CASE("an interrupt ends the process, unless results are in place") {
  const int interrupted = info(Diag::Interrupted).exitCode;
  CHECK(statusOf([](InterruptGuard&, Console&) { interruptAndWait(SIGTERM); }) == interrupted);
  CHECK(statusOf([](InterruptGuard&, Console&) { interruptAndWait(SIGHUP); }) == interrupted);
  for (int round = 0; round < 20; round++) {
    CHECK(statusOf([](InterruptGuard& interrupts, Console&) {
            (void)interrupts.place([]() -> Status { return ::kill(::getpid(), SIGTERM), Status(); });
          }) == 0);
    CHECK(statusOf([](InterruptGuard& interrupts, Console&) {
            (void)interrupts.place([]() -> Status { return {}; });
            ::kill(::getpid(), SIGHUP);
          }) == 0);
  }
  CHECK(statusOf([](InterruptGuard& interrupts, Console&) {
          (void)interrupts.place([]() -> Status { return interruptAndWait(SIGINT), fail(Diag::Io, "full", ""); });
          ::pause();
        }) == interrupted);
}

TEST_CASE("after an interrupt that came too late the next one ends the process") {
  CHECK(statusOf([](InterruptGuard& interrupts, Console&) {
          (void)interrupts.place([]() -> Status { return {}; });
          interruptAndWait(SIGTERM);
          for (int i = 0; i < 500; i++) interruptAndWait(SIGTERM);
        }) == -1);
}

TEST_CASE("a signal that is ignored, as by nohup, stays ignored") {
  std::signal(SIGHUP, SIG_IGN);
  CHECK(statusOf([](InterruptGuard&, Console&) { interruptAndWait(SIGHUP); }) == 0);
  std::signal(SIGHUP, SIG_DFL);
}

TEST_CASE("an error without an interrupt keeps its exit code") {
  TempFolder folder;
  CHECK(failAfter(folder / "none", [] {}) == info(Diag::CompileFailed).exitCode);
}
