#include "console/memory_end.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <string>

namespace svod {

namespace {

constexpr size_t kReserved = size_t{4} << 20;  // address space for what is done at the end

}  // namespace

struct MemoryEnd::State {
  InterruptGuard& interrupts;
  std::string message;
  pid_t process = ::getpid();
  void* reserve = ::mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

namespace {

std::atomic<void*> theState = nullptr;
std::atomic<pid_t> endingThread = 0;

}  // namespace

void MemoryEnd::reached() {
  auto* const state = static_cast<State*>(theState.load());
  if (state == nullptr || state->process != ::getpid()) {
    std::set_new_handler(nullptr);  // the next failure is std::bad_alloc
    return;
  }
  pid_t none = 0;
  const pid_t self = ::gettid();
  const int code = info(Diag::DeviceFailure).exitCode;
  if (!endingThread.compare_exchange_strong(none, self)) {
    if (none == self) ::_exit(code);  // there is not even memory for the end
    for (;;) ::pause();
  }
  if (state->reserve != MAP_FAILED) ::munmap(state->reserve, kReserved);
  (void)!::write(STDERR_FILENO, state->message.data(), state->message.size());
  state->interrupts.clearAway();
  ::_exit(code);
}

MemoryEnd::MemoryEnd(Console& console, InterruptGuard& interrupts, const std::string& help) {
  theState = new State{interrupts, console.textOf({Diag::DeviceFailure, "out of memory", help})};
  std::set_new_handler(reached);
}

MemoryEnd::~MemoryEnd() {
  std::set_new_handler(nullptr);
  auto* const state = static_cast<State*>(theState.exchange(nullptr));
  if (state->reserve != MAP_FAILED) ::munmap(state->reserve, kReserved);
  delete state;
}

}  // namespace svod
