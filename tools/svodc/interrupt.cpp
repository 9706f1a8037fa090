#include "interrupt.h"

#include <csignal>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace svod {

namespace {

// A signal handler sees nothing but globals: it writes one byte here, and a thread does the rest.
int signalPipe = -1;

void onSignal(int) {
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = write(signalPipe, &byte, 1);
}

constexpr int kSignals[] = {SIGINT, SIGTERM};

}  // namespace

struct InterruptGuard::State {
  std::string directory;
  std::mutex busy;
  int ends[2] = {-1, -1};
  std::thread watcher;

  void watch() {
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1 || byte == 0) return;
    std::unique_lock<std::mutex> lock(busy);
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
    const std::string_view message = "\rinterrupted; nothing was written, run again to resume\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
    _exit(info(Diag::Interrupted).exitCode);
  }
};

InterruptGuard::InterruptGuard(std::string directory) : state_(new State) {
  state_->directory = std::move(directory);
  if (pipe(state_->ends) != 0) return;
  signalPipe = state_->ends[1];
  state_->watcher = std::thread([state = state_] { state->watch(); });
  for (int number : kSignals) std::signal(number, onSignal);
}

InterruptGuard::~InterruptGuard() {
  for (int number : kSignals) std::signal(number, SIG_DFL);
  if (state_->watcher.joinable()) {
    const char stop = 0;
    [[maybe_unused]] const ssize_t written = write(state_->ends[1], &stop, 1);
    state_->watcher.join();
    close(state_->ends[0]);
    close(state_->ends[1]);
  }
  delete state_;
}

std::unique_lock<std::mutex> InterruptGuard::hold() { return std::unique_lock<std::mutex>(state_->busy); }

}  // namespace svod
