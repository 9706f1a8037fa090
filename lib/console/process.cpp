#include "console/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

namespace svod {

namespace {

constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int kStopWatching = SIGUSR1;  // from the guard to its thread

/// A signal that is ignored stays so: sigwait would receive it all the same.
bool isIgnored(int signal) {
  struct sigaction action = {};
  return ::sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
         action.sa_handler == SIG_IGN;
}

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : kInterrupts)
    if (!isIgnored(signal)) sigaddset(&set, signal);
  return set;
}

sigset_t withStop(sigset_t set) {
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
  Console* console = nullptr;  // null: signals are left alone
  std::string folder{};
  std::mutex busy{};
  bool inPlace = false;  // guarded by busy, as the next three
  std::function<void()> work{};
  std::string message = "interrupted; nothing was written", help = "run it again";
  std::atomic<bool> ending = false;
  sigset_t signals{}, before{};
  std::thread watcher{};

  void watch() {
    const sigset_t set = withStop(signals);
    int signal = 0;
    if (sigwait(&set, &signal) != 0 || signal == kStopWatching || ending) return;
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // the next one takes the default action: the end
    endProcess();
    sigset_t stop;
    sigemptyset(&stop);
    stop = withStop(stop);
    sigwait(&stop, &signal);
  }
  /// Returns when there are results: the process ends as it would have without an interrupt.
  void endProcess() {
    std::unique_lock<std::mutex> lock(busy);
    if (inPlace) return;
    clearAway();
    console->report({Diag::Interrupted, message, help});
    _exit(info(Diag::Interrupted).exitCode);
  }
  void clearAway() {
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
    if (work) work();
  }
  void stopWatching() {
    pthread_kill(watcher.native_handle(), kStopWatching);
    watcher.join();
  }
};

InterruptGuard::InterruptGuard(Console& console) : state_(new State{&console}) {
  state_->signals = interrupts();
  const sigset_t set = withStop(state_->signals);
  pthread_sigmask(SIG_BLOCK, &set, &state_->before);
  try {
    state_->watcher = std::thread([state = state_] { state->watch(); });
  } catch (const std::system_error&) {  // no thread to be had: interrupts end the process as they do without a guard
    pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
  }
}

InterruptGuard::InterruptGuard() : state_(new State) {}

InterruptGuard::~InterruptGuard() {
  state_->ending = true;
  if (state_->watcher.joinable()) state_->stopWatching();
  if (state_->console != nullptr && state_->inPlace)  // one that is pending would end the process by the signal
    for (int signal : kInterrupts)
      if (sigismember(&state_->signals, signal) == 1) std::signal(signal, SIG_IGN);
  if (state_->console != nullptr) pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
  delete state_;
}

void InterruptGuard::beforeError() {
  if (state_->watcher.joinable()) state_->stopWatching();  // does not return when the thread ends the process
  if (state_->console == nullptr) return;
  sigset_t pending;
  sigpending(&pending);
  for (int signal : kInterrupts)
    if (sigismember(&state_->signals, signal) == 1 && sigismember(&pending, signal) == 1) state_->endProcess();
}

Status InterruptGuard::place(const std::function<Status()>& write) {
  std::unique_lock<std::mutex> lock(state_->busy);
  SVOD_CHECK(write());
  state_->inPlace = true;
  return {};
}

void InterruptGuard::clearAway() {
  const std::unique_lock<std::mutex> lock(state_->busy, std::try_to_lock);  // the thread that ends may hold it
  state_->clearAway();
}

void InterruptGuard::removesFolder(std::string path) {
  std::unique_lock<std::mutex> lock(state_->busy);
  state_->folder = std::move(path);
}

void InterruptGuard::alsoDoes(std::function<void()> work) {
  std::unique_lock<std::mutex> lock(state_->busy);
  state_->work = std::move(work);
}

void InterruptGuard::says(std::string message, std::string help) {
  std::unique_lock<std::mutex> lock(state_->busy);
  state_->message = std::move(message), state_->help = std::move(help);
}

}  // namespace svod
