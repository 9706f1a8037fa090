#include "cuda_grid/fiber.h"

#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace svod {

namespace {

constexpr size_t kStackBytes = 256 << 10;

#if defined(__x86_64__)
// Registers that a function has to leave as they are lie on the stack that is left.
extern "C" void svod_switch_stack(void** save, void* load);
asm(R"(.text
.globl svod_switch_stack
svod_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
constexpr size_t kSavedWords = 6;
#endif

/// Stacks are used again: there are thousands of fibers, and few at a time.
std::vector<std::unique_ptr<char[]>>& freeStacks() {
  thread_local std::vector<std::unique_ptr<char[]>> stacks;
  return stacks;
}

std::unique_ptr<char[]> takeStack() {
  auto& stacks = freeStacks();
  if (stacks.empty()) return std::make_unique_for_overwrite<char[]>(kStackBytes);
  auto stack = std::move(stacks.back());
  stacks.pop_back();
  return stack;
}

}  // namespace

struct Fiber::State {
  std::function<void()> body;
  std::unique_ptr<char[]> stack = takeStack();
  bool isDone = false;
#if defined(__x86_64__)
  void *inside = nullptr, *outside = nullptr;

  static State*& starting() {
    thread_local State* state = nullptr;
    return state;
  }
  static void enter() {
    State* self = starting();
    self->body();
    self->isDone = true;
    svod_switch_stack(&self->inside, self->outside);
    __builtin_unreachable();
  }
  void prepare() {
    auto top = (reinterpret_cast<uintptr_t>(stack.get()) + kStackBytes) & ~uintptr_t{15};
    auto* words = reinterpret_cast<void**>(top);
    *--words = nullptr;  // a return address that nobody uses
    *--words = reinterpret_cast<void*>(&State::enter);
    words -= kSavedWords;
    std::memset(words, 0, kSavedWords * sizeof(void*));
    inside = words;
  }
  void goIn() {
    starting() = this;
    svod_switch_stack(&outside, inside);
  }
  void goOut() { svod_switch_stack(&inside, outside); }
#else
  ucontext_t inside{}, outside{};

  static void enter(unsigned high, unsigned low) {
    auto* self = reinterpret_cast<State*>(static_cast<uintptr_t>(uint64_t{high} << 32 | low));
    self->body();
    self->isDone = true;
    self->goOut();
  }
  void prepare() {
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack.get(), inside.uc_stack.ss_size = kStackBytes;
    const auto self = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(this));
    makecontext(&inside, reinterpret_cast<void (*)()>(&State::enter), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
  }
  void goIn() { swapcontext(&outside, &inside); }
  void goOut() { swapcontext(&inside, &outside); }
#endif
  ~State() { freeStacks().push_back(std::move(stack)); }
};

Fiber::Fiber(std::function<void()> body) : state_(std::make_unique<State>()) {
  state_->body = std::move(body);
  state_->prepare();
}
Fiber::~Fiber() = default;
Fiber::Fiber(Fiber&&) noexcept = default;

void Fiber::resume() { state_->goIn(); }
void Fiber::suspend() { state_->goOut(); }
bool Fiber::isDone() const { return state_->isDone; }

}  // namespace svod
