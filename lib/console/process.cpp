#include "console/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <thread>

namespace svod {

namespace {

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

constexpr int kStopWatching = SIGUSR1;  // from the guard to its thread

sigset_t watched() {
  sigset_t set = interrupts();
  sigaddset(&set, kStopWatching);
  return set;
}

}  // namespace

void prepareProcess() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  std::signal(SIGXFSZ, SIG_IGN);
}

struct InterruptGuard::State {
  Console& console;
  std::string folder{};
  std::mutex busy{};
  std::atomic<bool> ending = false;
  sigset_t before{};
  std::thread watcher{};

  void watch() {
    const sigset_t set = watched();
    int signal = 0;
    if (sigwait(&set, &signal) != 0 || signal == kStopWatching || ending) return;
    const sigset_t next = interrupts();  // the next one takes the default action: the end
    pthread_sigmask(SIG_UNBLOCK, &next, nullptr);
    endProcess();
  }
  [[noreturn]] void endProcess() {
    std::unique_lock<std::mutex> lock(busy);
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
    console.report({Diag::Interrupted, "interrupted; nothing was written", "run it again", {}, {}});
    _exit(info(Diag::Interrupted).exitCode);
  }
  void stopWatching() {
    pthread_kill(watcher.native_handle(), kStopWatching);
    watcher.join();
  }
};

InterruptGuard::InterruptGuard(Console& console) : state_(new State{console}) {
  const sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, &state_->before);
  try {
    state_->watcher = std::thread([state = state_] { state->watch(); });
  } catch (const std::system_error&) {  // no thread to be had: interrupts end the process as they do without a guard
    pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  state_->ending = true;
  if (state_->watcher.joinable()) state_->stopWatching();
  pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
  delete state_;
}

void InterruptGuard::beforeError() {
  state_->stopWatching();  // does not return when the thread has an interrupt in hand
  sigset_t pending;
  sigpending(&pending);
  if (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1) state_->endProcess();
}

std::unique_lock<std::mutex> InterruptGuard::hold() { return std::unique_lock<std::mutex>(state_->busy); }

void InterruptGuard::removesFolder(std::string path) {
  auto lock = hold();
  state_->folder = std::move(path);
}

}  // namespace svod
