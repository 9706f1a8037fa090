// The part of a run that many workers do together: ready steps, shared tiles, loops and waiting.
#include <sched.h>

#include "runtime-min/run.h"

namespace svod {

/// On all workers, or in a drawn order.
Status Run::runShared(Pool* pool, uint64_t seed) {
  seed_ = seed;
  for (size_t i = 0; i < workers_.size(); i++) {
    workers_[i].deque.clear();
    workers_[i].shared.store(kNone, std::memory_order_relaxed);
    workers_[i].random = (seed + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
  }
  failed_.store(false, std::memory_order_relaxed);
  finished_.store(program_.steps.empty(), std::memory_order_relaxed);
  if (!program_.steps.empty()) startScope(0, 0);
  if (pool == nullptr || workers_.size() == 1 || !pool->run(*this)) work(0);
  return failed_.load() ? Status(svod::fail(std::move(*error_))) : Status();
}

void Run::work(uint32_t id) {
  if (id >= workers_.size()) return;
  Worker& worker = workers_[id];
  StepId next = kNone;
  unsigned idle = 0;
  while (!finished_.load(std::memory_order_acquire)) {
    // With one worker nobody steals, and a drawn order can pick among all ready steps.
    if (seed_ != 0 && workers_.size() == 1) worker.deque.shuffle(draw(worker));
    StepId step = next != kNone ? next : worker.deque.pop();
    next = kNone;
    bool joined = false;
    if (step == kNone) next = joinOther(id, joined);
    if (joined) {
      idle = 0;
      continue;
    }
    if (step == kNone) step = stealFrom(id);
    if (step == kNone) {
      rest(idle);
      continue;
    }
    idle = 0;
    next = runStep(step, id);
  }
}

/// Does the step, or its first share of it, and returns a step that became ready by it.
StepId Run::runStep(StepId id, uint32_t worker) {
  if (stop_.load(std::memory_order_relaxed)) {
    fail(Error(Diag::Interrupted, "the run was stopped", ""));
    return kNone;
  }
  const ProgramStep& step = program_.steps[id];
  if (devices_.any())
    if (Status status = awaitDevices(id); !status) {
      fail(std::move(status).error());
      return kNone;
    }
  if (step.segment != kNoSegment) {
    if (Status status = runSegment(program_.segments[step.segment], worker); status)
      return finish(id, worker);
    else
      fail(std::move(status).error());
    return kNone;
  }
  if (step.kind == StepKind::Loop) return startLoop(id, worker);
  const Work& work = work_[id];
  if (profile_.on()) profile_.begin(id, Profile::now());
  if (work.tasks <= 1) {
    if (work.tiles > 0)
      if (Status status = call(id, worker, 0, work.tiles); !status) {
        fail(std::move(status).error());
        return kNone;
      }
    return finish(id, worker);
  }
  done_[id].store(0, std::memory_order_relaxed);
  shareOut(id);
  workers_[worker].shared.store(id, std::memory_order_seq_cst);
  wakeOthers();
  StepId next = kNone;
  while (const std::optional<uint32_t> task = claim(id, worker))
    if (runTask(id, worker, *task)) next = finish(id, worker);
  workers_[worker].shared.store(kNone, std::memory_order_relaxed);
  return next;
}

/// A range of the tasks for each worker. In the next step a worker has the tiles at the same place, which it often
/// finds in its own cache.
void Run::shareOut(StepId id) {
  const uint64_t tasks = work_[id].tasks, workers = workers_.size();
  for (uint64_t i = 0; i < workers; i++)
    sharesOf(id)[i].store(tasks * (i + 1) / workers << 32 | tasks * i / workers, std::memory_order_release);
}

/// A task of the worker's own range, then of those of others. A step may be over when it is looked at: begin and end of
/// a range are one word, which is set anew only when the step is ready again. What a failed run leaves is set anew
/// before the step is shown to others.
std::optional<uint32_t> Run::claim(StepId id, uint32_t worker) {
  for (size_t i = 0; i < workers_.size(); i++) {
    std::atomic<uint64_t>& share = sharesOf(id)[(worker + i) % workers_.size()];
    if (!isOpen(share.load(std::memory_order_relaxed)) || finished_.load(std::memory_order_relaxed)) continue;
    const uint64_t taken = share.fetch_add(1, std::memory_order_acq_rel);
    if (isOpen(taken)) return static_cast<uint32_t>(taken);
  }
  return std::nullopt;
}

/// Does the tiles of a task that was claimed; true for the one that finishes last.
bool Run::runTask(StepId id, uint32_t worker, int64_t task) {
  const int64_t tasks = work_[id].tasks, tiles = work_[id].tiles;
  const auto firstOf = [&](int64_t t) { return tiles / tasks * t + tiles % tasks * t / tasks; };
  if (Status status = call(id, worker, firstOf(task), firstOf(task + 1)); !status) {
    fail(std::move(status).error());
    return false;
  }
  return done_[id].fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<uint32_t>(tasks);
}

/// Takes tasks of a step that another worker published.
StepId Run::joinOther(uint32_t worker, bool& joined) {
  for (size_t i = 1; i < workers_.size(); i++) {
    const StepId id = workers_[(worker + i) % workers_.size()].shared.load(std::memory_order_acquire);
    if (id == kNone) continue;
    while (const std::optional<uint32_t> task = claim(id, worker)) {
      joined = true;
      if (runTask(id, worker, *task)) return finish(id, worker);
    }
    if (joined) return kNone;
  }
  return kNone;
}

StepId Run::stealFrom(uint32_t worker) {
  const auto start = static_cast<size_t>(draw(workers_[worker]) % workers_.size());
  for (size_t i = 0; i < workers_.size(); i++) {
    const size_t victim = (start + i) % workers_.size();
    if (victim == worker) continue;
    if (const StepId step = workers_[victim].deque.steal(); step != kNone) return step;
  }
  return kNone;
}

/// Makes the scope's steps wait for their dependencies and the first ones ready.
void Run::startScope(uint32_t id, uint32_t worker) {
  const ProgramScope& scope = program_.scopes[id];
  scopes_[id].left.store(static_cast<uint32_t>(scope.steps.size()), std::memory_order_relaxed);
  for (StepId step : scope.steps) pending_[step].store(program_.steps[step].depCount, std::memory_order_relaxed);
  for (StepId step : scope.roots) makeReady(step, worker);
}

StepId Run::startLoop(StepId step, uint32_t worker) {
  const uint32_t body = program_.steps[step].body;
  if (alone_[body] != nullptr) {
    if (Status status = runLoop(step, worker); status)
      return finish(step, worker);
    else
      fail(std::move(status).error());
    return kNone;
  }
  Result<int64_t> trips = tripsOf(step);
  if (!trips) {
    fail(std::move(trips).error());
    return kNone;
  }
  if (*trips <= 0 || !goesOn(step) || program_.scopes[body].steps.empty()) return finish(step, worker);
  scopes_[body].trip = 0;
  scopes_[body].trips = *trips;
  if (Status status = beginIteration(body, 0); !status)
    fail(std::move(status).error());
  else
    startScope(body, worker);
  return kNone;
}

/// Tells the successors, and at the end of a scope starts its next iteration or goes on with the loop's step.
/// Returns the most urgent step that became ready.
StepId Run::finish(StepId id, uint32_t worker) {
  for (;;) {
    const ProgramStep& step = program_.steps[id];
    if (profile_.on() && step.kind != StepKind::Loop && step.segment == kNoSegment)
      profile_.end(id, Profile::now(), work_[id].flops, work_[id].bytes);
    StepId next = kNone;
    for (uint32_t i = step.successors.begin; i < step.successors.end; i++) {
      const StepId after = program_.successors[i];
      if (pending_[after].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      if (next != kNone) makeReady(next, worker);
      next = after;
    }
    if (seed_ != 0 && next != kNone) {
      makeReady(next, worker);
      next = kNone;
    }
    ScopeState& scope = scopes_[step.scope];
    if (scope.left.fetch_sub(1, std::memory_order_acq_rel) != 1) return next;
    if (step.scope == 0) {
      endRun();
      return kNone;
    }
    if (devices_.any())
      if (Status status = devices_.settle(); !status) {
        fail(std::move(status).error());
        return kNone;
      }
    if (++scope.trip < scope.trips && goesOn(program_.scopes[step.scope].loop)) {
      if (Status status = beginIteration(step.scope, scope.trip); !status)
        fail(std::move(status).error());
      else
        startScope(step.scope, worker);
      return kNone;
    }
    id = program_.scopes[step.scope].loop;
  }
}

void Run::makeReady(StepId step, uint32_t worker) {
  workers_[worker].deque.push(step);
  wakeOthers();
}

// ---- Waiting ----

bool Run::anythingToDo() {
  for (Worker& worker : workers_) {
    if (!worker.deque.seemsEmpty()) return true;
    const StepId step = worker.shared.load(std::memory_order_seq_cst);
    if (step == kNone) continue;
    for (size_t i = 0; i < workers_.size(); i++)
      if (isOpen(sharesOf(step)[i].load(std::memory_order_seq_cst))) return true;
  }
  return finished_.load(std::memory_order_seq_cst);
}

/// Waits a little, longer each time, and at last sleeps until there is something to do. The pauses outlast the last
/// tile of most kernels: who sleeps then misses the beginning of the next one.
void Run::rest(unsigned& idle) {
  constexpr unsigned kPauses = 3000, kYields = 3010;
  if (++idle < kPauses) return pauseBriefly();
  if (idle < kYields) return void(::sched_yield());
  // Whoever publishes work looks for sleepers afterwards, and we look for work after we count as one.
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  const uint32_t seen = signal_.load(std::memory_order_seq_cst);
  if (!anythingToDo()) signal_.wait(seen, std::memory_order_seq_cst);
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  idle = 0;
}

void Run::wakeOthers() {
  if (workers_.size() == 1 || sleepers_.fetch_add(0, std::memory_order_seq_cst) == 0) return;
  signal_.fetch_add(1, std::memory_order_seq_cst);
  signal_.notify_all();
}

void Run::endRun() {
  finished_.store(true, std::memory_order_seq_cst);
  wakeOthers();
}

/// The first error wins; others finish the task they are in.
void Run::fail(Error error) {
  if (!failed_.exchange(true)) error_ = std::move(error);
  endRun();
}

uint64_t Run::draw(Worker& worker) {
  worker.random ^= worker.random << 13;
  worker.random ^= worker.random >> 7;
  worker.random ^= worker.random << 17;
  return worker.random;
}

}  // namespace svod
