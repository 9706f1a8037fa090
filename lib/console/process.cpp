#include "console/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
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
    const sigset_t set = interrupts();
    int signal = 0;
    if (sigwait(&set, &signal) != 0 || ending) return;
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);  // the next one takes the default action: the end
    std::unique_lock<std::mutex> lock(busy);
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
    console.report({Diag::Interrupted, "interrupted; nothing was written", "run it again", {}, {}});
    _exit(info(Diag::Interrupted).exitCode);
  }
};

InterruptGuard::InterruptGuard(Console& console) : state_(new State{console}) {
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_BLOCK, &set, &state_->before);
  state_->watcher = std::thread([state = state_] { state->watch(); });
}

InterruptGuard::~InterruptGuard() {
  state_->ending = true;
  pthread_kill(state_->watcher.native_handle(), SIGINT);
  state_->watcher.join();
  pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
  delete state_;
}

std::unique_lock<std::mutex> InterruptGuard::hold() { return std::unique_lock<std::mutex>(state_->busy); }

void InterruptGuard::removesFolder(std::string path) {
  auto lock = hold();
  state_->folder = std::move(path);
}

}  // namespace svod
