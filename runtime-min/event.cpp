#include "runtime-min/event.h"

#include <new>
#include <utility>

namespace svod {

Event::Waiter* Event::takeReached() {
  Waiter* taken = nullptr;
  Waiter** last = &taken;
  for (Waiter** at = &first_; *at != nullptr;) {
    if (!isFailed_ && (*at)->count_ > count_) {
      at = &(*at)->next_;
      continue;
    }
    *last = std::exchange(*at, (*at)->next_);
    last = &(*last)->next_;
    *last = nullptr;
  }
  return taken;
}

void Event::adopt() const {
  const auto renew = [](void* self) {
    auto& event = *static_cast<Event*>(self);
    new (&event.mutex_) std::mutex;
    event.changed_ = PTHREAD_COND_INITIALIZER;
    event.first_ = nullptr;
  };
  owner_.adopt(renew, const_cast<Event*>(this));
}

void Event::change(uint64_t count, bool isFailed) {
  Waiter* taken = nullptr;
  {
    // Notified under the lock: who waits may free the event at once.
    adopt();
    const std::lock_guard lock(mutex_);
    if (__builtin_add_overflow(count_, count, &count_)) count_ = UINT64_MAX;
    isFailed_ = isFailed = isFailed_ || isFailed;
    taken = takeReached();
    ::pthread_cond_broadcast(&changed_);
  }
  // Who was called back may be gone, or wait for something else.
  while (taken != nullptr) std::exchange(taken, taken->next_)->reached(isFailed);
}

void Event::reset() {
  adopt();
  const std::lock_guard lock(mutex_);
  count_ = 0;
  isFailed_ = false;
}

uint64_t Event::count() const {
  adopt();
  const std::lock_guard lock(mutex_);
  return count_;
}

bool Event::wait(uint64_t count) {
  adopt();
  const std::lock_guard lock(mutex_);
  while (!isFailed_ && count_ < count) ::pthread_cond_wait(&changed_, mutex_.native_handle());
  return !isFailed_;
}

Event::Held Event::hold(Waiter& waiter, uint64_t count) {
  adopt();
  const std::lock_guard lock(mutex_);
  if (isFailed_) return Held::Failed;
  if (count_ >= count) return Held::No;
  waiter.count_ = count;
  waiter.next_ = nullptr;
  Waiter** last = &first_;
  while (*last != nullptr) last = &(*last)->next_;
  *last = &waiter;
  return Held::Yes;
}

bool Event::withdraw(Waiter& waiter) {
  adopt();
  const std::lock_guard lock(mutex_);
  for (Waiter** at = &first_; *at != nullptr; at = &(*at)->next_) {
    if (*at != &waiter) continue;
    *at = waiter.next_;
    return true;
  }
  return false;
}

}  // namespace svod
