#include "runtime-min/submission.h"

#include <sched.h>

#include "runtime-min/handles.h"

namespace svod {

void Submission::submit(std::span<const svod_event_point> after, Event* done, uint64_t seed) {
  after_ = after;
  next_ = 0;
  isRefused_ = false;
  done_ = done;
  seed_ = seed;
  process_ = thisProcess();
  phase_.store(kHeld);
  if (instance_.run().isStopped()) stop();
  advance();
}

/// Waits for the next event that is not reached, or for nothing more.
void Submission::advance() {
  for (; next_ < after_.size() && !isRefused_; next_++) {
    const svod_event_point& point = after_[next_];
    const Event::Held held = point.event->event.hold(*this, point.count);
    if (held == Event::Held::Yes) return;  // and whoever counts goes on from here: nothing is ours now
    isRefused_ = held == Event::Held::Failed;
  }
  queue();
}

void Submission::reached(bool isFailed) {
  isRefused_ = isFailed;
  next_++;
  advance();
}

/// From here on somebody else may do it, return from wait() and free the instance: only the address is used.
void Submission::queue() {
  Pool* const pool = pool_;
  phase_.store(kQueued);
  phase_.notify_all();
  if (pool != nullptr) pool->submit(*this);
}

void Submission::perform() {
  phase_.store(kRunning);
  if (isRefused_) return end(fail(Diag::Interrupted, "the run did not begin: an event that it waits for failed"));
  end(instance_.runPrepared(seed_));
}

void Submission::end(Status result) {
  result_ = std::move(result);
  if (done_ != nullptr) result_ ? done_->add(1) : done_->fail();
  phase_.store(kDone);
  phase_.notify_all();  // uses the address only, as in queue()
}

void Submission::stop() {
  uint32_t held = kHeld;
  if (phase_.compare_exchange_strong(held, kStopped)) phase_.notify_all();
}

bool Submission::withdrawFromEvents() {
  for (const svod_event_point& point : after_)
    if (point.event->event.withdraw(*this)) return true;
  return false;
}

Status Submission::wait() {
  for (;;) {
    uint32_t phase = phase_.load();
    if (phase != kIdle && phase != kDone && isElsewhere()) {
      phase_.store(kIdle);
      instance_.run().clearStop();
      return fail(Diag::Interrupted, "the run was submitted before the process was forked, and goes on in the parent",
                  "submit it again in the child");
    }
    if (phase == kIdle || phase == kTaken) return fail(Diag::Usage, kNoRun, kNoRunHelp);
    if (phase == kDone) {
      if (!phase_.compare_exchange_strong(phase, kTaken)) continue;
      Status result = std::exchange(result_, Status());
      phase_.store(kIdle);
      return result;
    }
    if (phase == kQueued &&
        (pool_ == nullptr ? phase_.compare_exchange_strong(phase, kRunning) : pool_->withdraw(*this))) {
      perform();
    } else if (phase == kStopped && withdrawFromEvents()) {
      instance_.run().clearStop();
      end(fail(Diag::Interrupted, "the run was stopped"));
    } else if (phase == kQueued || phase == kStopped) {
      ::sched_yield();  // somebody is about to begin it, or to put it into the next list
    } else {
      phase_.wait(phase);
    }
  }
}

}  // namespace svod
