#include "runtime-min/pool.h"

#include <sched.h>

#include <new>

namespace svod {

namespace {
// About a tenth of a millisecond: runs that follow each other closely find the threads awake. Waking one takes that
// long where the system has put its processor to sleep, and a virtual machine longer.
constexpr int kSpins = 2000;
}  // namespace

Pool::Pool(size_t threads) : threads_(threads - 1) { start(); }

void Pool::start() {
  const auto enter = [](void* self) -> void* {
    const auto& member = *static_cast<const Member*>(self);
    member.pool->threadMain(member.worker);
    return nullptr;
  };
  for (started_ = 0; started_ < threads_.size(); started_++) {
    Member& member = threads_[started_];
    member = {this, static_cast<uint32_t>(started_ + 1), {}};
    if (::pthread_create(&member.thread, nullptr, enter, &member) != 0) return;
  }
}

void Pool::adopt() {
  const auto renew = [](void* self) {
    auto& pool = *static_cast<Pool*>(self);
    new (&pool.mutex_) std::mutex;
    pool.first_.store(nullptr);
    pool.job_.store(nullptr);
    pool.inside_.store(0);
    pool.busy_.store(false);
    pool.start();
  };
  owner_.adopt(renew, this);
}

Pool::~Pool() {
  if (!owner_.isHere()) return;
  {
    const std::lock_guard lock(mutex_);  // who submitted the last task is out of submit()
    closing_ = true;
  }
  epoch_.fetch_add(1);
  epoch_.notify_all();
  for (size_t i = 0; i < started_; i++) ::pthread_join(threads_[i].thread, nullptr);
}

bool Pool::run(Job& job) {
  adopt();
  if (busy_.exchange(true, std::memory_order_acquire)) return false;
  job_.store(&job, std::memory_order_seq_cst);
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  epoch_.notify_all();
  job.work(0);
  // A thread announces itself before it looks at job_, so after this either it sees no job or we see the
  // thread.
  job_.store(nullptr, std::memory_order_seq_cst);
  for (int spin = 0; inside_.load(std::memory_order_seq_cst) != 0; spin++)
    spin < kSpins ? pauseBriefly() : void(::sched_yield());
  busy_.store(false, std::memory_order_release);
  return true;
}

void Pool::submit(Task& task) {
  adopt();
  const std::lock_guard lock(mutex_);
  task.next_ = nullptr;
  Task* last = first_.load(std::memory_order_relaxed);
  while (last != nullptr && last->next_ != nullptr) last = last->next_;
  if (last != nullptr)
    last->next_ = &task;
  else
    first_.store(&task, std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  epoch_.notify_one();
}

bool Pool::withdraw(Task& task) {
  adopt();
  const std::lock_guard lock(mutex_);
  Task* before = nullptr;
  for (Task* at = first_.load(std::memory_order_relaxed); at != nullptr; before = at, at = at->next_) {
    if (at != &task) continue;
    if (before != nullptr)
      before->next_ = task.next_;
    else
      first_.store(task.next_, std::memory_order_relaxed);
    return true;
  }
  return false;
}

Task* Pool::take() {
  if (first_.load(std::memory_order_relaxed) == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  Task* task = first_.load(std::memory_order_relaxed);
  if (task != nullptr) first_.store(task->next_, std::memory_order_relaxed);
  return task;
}

void Pool::threadMain(uint32_t worker) {
  uint32_t seen = 0;
  for (;;) {
    for (int spin = 0; spin < kSpins && epoch_.load(std::memory_order_relaxed) == seen; spin++) pauseBriefly();
    epoch_.wait(seen);
    seen = epoch_.load(std::memory_order_seq_cst);
    if (closing_) return;
    while (Task* task = take()) task->perform();
    inside_.fetch_add(1, std::memory_order_seq_cst);
    if (Job* job = job_.load(std::memory_order_seq_cst)) job->work(worker);
    inside_.fetch_sub(1, std::memory_order_seq_cst);
  }
}

}  // namespace svod
