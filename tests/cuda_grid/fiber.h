// Threads of a workgroup as fibers: each has a stack of its own, and goes on when somebody switches to it.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>

namespace svod {

class Fiber {
 public:
  /// Runs `body` from the first resume() on. What is on the stack of a fiber that is not resumed to its end is lost
  /// without destructors.
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(Fiber&&) noexcept;

  /// Goes on with the body until it suspends or ends; to be called from outside.
  void resume();
  /// Back to the caller of resume(); to be called from the body.
  void suspend();
  bool isDone() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace svod
