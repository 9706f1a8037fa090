#include "cuda_grid/grid.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "cuda_grid/lane_math.h"
#include "cuda_grid/meet.h"
#include "support/packed.h"

namespace svod {

namespace {

constexpr size_t kMostArguments = 32;
constexpr uint64_t kAlignment = 1024;  // of the memory of a workgroup

/// The integer class of arguments has one convention for any number of them: a function ignores those behind its own.
void callWith(void (*function)(), const std::array<uint64_t, kMostArguments>& a) {
  using W = uint64_t;
  using Callee =
      void (*)(W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W);
  reinterpret_cast<Callee>(function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12],
                                     a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23], a[24],
                                     a[25], a[26], a[27], a[28], a[29], a[30], a[31]);
}

EmulatedGrid& self(void* grid) { return *static_cast<EmulatedGrid*>(grid); }

}  // namespace

EmulatedGrid::EmulatedGrid(GridOptions options) : options_(options), random_(options.seed), calls_(makeCalls()) {}

std::string EmulatedGrid::mode() const {
  constexpr const char* kNames[] = {"eager", "lazy", "random"};
  return std::string(kNames[static_cast<size_t>(options_.delay)]) + " " + std::to_string(options_.seed);
}

SvodCalls EmulatedGrid::makeCalls() {
  SvodCalls calls{};
  calls.grid = this;
  calls.place = [](void* g, int axis) {
    const auto i = static_cast<size_t>(axis);
    return i < 3 ? self(g).group_[i] : self(g).current_->at[i - 3];
  };
  calls.global = [](void* g, const void* at, uint32_t bytes, const void* stored) { self(g).global(at, bytes, stored); };
  calls.shared = [](void* g, const void* at, uint32_t bytes, const void* stored) { self(g).shared(at, bytes, stored); };
  calls.memory = [](void* g, uint32_t bytes) {
    if (bytes > self(g).launch_->sharedBytes)
      self(g).fault("OUTSIDE: the launch gives less shared memory than the kernel uses");
    return self(g).sharedBase_;
  };
  calls.barrier = [](void* g) { self(g).barrier(); };
  calls.mma = [](void* g, const char* core, const void* a, const void* b, const void* c, void* out) {
    self(g).mma(core, a, b, c, out);
  };
  calls.shuffle = [](void* g, uint32_t mask, uint32_t lanes, const void* value, uint32_t bytes, void* out) {
    self(g).shuffle(mask, lanes, value, bytes, out);
  };
  calls.matrices = [](void* g, int count, int isTransposed, const void* row, uint32_t* out) {
    self(g).matrices(count, isTransposed != 0, row, out);
  };
  calls.copy = [](void* g, void* to, const void* from, uint32_t bytes, int isReal) {
    self(g).copy(to, from, bytes, isReal != 0);
  };
  calls.commit = [](void* g) { self(g).commit(); };
  calls.wait = [](void* g, int groups) { self(g).wait(groups); };
  calls.address = [](void* g, const void* shared) {
    return static_cast<uint32_t>(static_cast<const unsigned char*>(shared) - self(g).sharedBase_);
  };
  calls.fence = [](void* g) { self(g).fence(); };
  calls.fenceSums = [](void* g) { self(g).fenceSums(); };
  calls.product = [](void* g, const char* core, float* sums, uint64_t a, uint64_t b, int turned) {
    self(g).product(core, sums, a, b, turned);
  };
  calls.commitProducts = [](void* g) { self(g).commitProducts(); };
  calls.waitProducts = [](void* g, float* sums, int groups) { self(g).waitProducts(sums, groups); };
  calls.elect = [](void* g) { return self(g).elect() ? 1 : 0; };
  calls.makeMbarrier = [](void* g, uint64_t* bar, int arrivals) { self(g).makeMbarrier(bar, arrivals); };
  calls.expect = [](void* g, uint64_t* bar, int bytes) { self(g).expect(bar, bytes); };
  calls.waitPhase = [](void* g, uint64_t* bar, int parity) { self(g).waitPhase(bar, parity); };
  calls.bulkLoad = [](void* g, void* to, const SvodMap* map, uint64_t* bar, int dims, const int* at) {
    self(g).bulkLoad(to, map, bar, dims, at);
  };
  calls.math = mathOf;
  return calls;
}

std::string EmulatedGrid::run(const GridLaunch& launch) {
  launch_ = &launch;
  fault_.clear(), moment_ = 1, copyGroups_ = 0, firstThread_ = 0;
  globalShadows_.clear();
  for (const GridBuffer& buffer : launch.buffers) globalShadows_.emplace_back(buffer.bytes, false);
  sharedShadow_.emplace(launch.sharedBytes, true);
  if (launch.buffers.size() + launch.values.size() > kMostArguments) return "OUTSIDE: too many arguments for this grid";
  std::array<uint32_t, 3> at{};
  for (at[2] = 0; at[2] < launch.groups[2] && fault_.empty(); ++at[2])
    for (at[1] = 0; at[1] < launch.groups[1] && fault_.empty(); ++at[1])
      for (at[0] = 0; at[0] < launch.groups[0] && fault_.empty(); ++at[0]) runGroup(at);
  threads_.clear();
  return std::exchange(fault_, {});
}

void EmulatedGrid::callKernel() {
  std::array<uint64_t, kMostArguments> arguments{};
  size_t next = 0;
  for (const GridBuffer& buffer : launch_->buffers) {
    const auto map = launch_->maps.find(next);
    arguments[next++] = map == launch_->maps.end() ? reinterpret_cast<uintptr_t>(buffer.address)
                                                   : reinterpret_cast<uintptr_t>(&map->second);
  }
  for (int64_t value : launch_->values) arguments[next++] = static_cast<uint64_t>(value);
  callWith(launch_->function, arguments);
}

void EmulatedGrid::runGroup(const std::array<uint32_t, 3>& group) {
  const std::array<uint64_t, 3>& size = launch_->threads;
  const auto count = static_cast<size_t>(size[0] * size[1] * size[2]);
  group_ = group;
  memory_.assign(launch_->sharedBytes + kAlignment, 0xff);
  sharedBase_ = memory_.data() + (kAlignment - reinterpret_cast<uintptr_t>(memory_.data()) % kAlignment) % kAlignment;
  sharedShadow_->forget();
  all_ = {};
  warps_.assign((count + 31) / 32, {});
  warpgroups_.assign((count + 127) / 128, {});
  mbarriers_.clear(), bulk_.clear(), isStuck_ = false;
  threads_.clear();
  threads_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    Thread& thread = threads_.emplace_back([this] { callKernel(); });
    thread.number = static_cast<uint32_t>(i);
    thread.at = {static_cast<uint32_t>(i % size[0]), static_cast<uint32_t>(i / size[0] % size[1]),
                 static_cast<uint32_t>(i / size[0] / size[1])};
  }
  std::vector<size_t> alive = order();
  while (!alive.empty() && fault_.empty()) {
    moved_ = false;
    if (options_.delay == Delay::Random) std::ranges::shuffle(alive, random_);
    for (size_t i : alive) {
      current_ = &threads_[i];
      current_->fiber.resume();
      if (!fault_.empty()) return;
    }
    moved_ |= std::erase_if(alive, [&](size_t i) { return threads_[i].fiber.isDone(); }) > 0;
    // Who waits for copies under way has them done in the next round, if nobody else can go on.
    if (!moved_ && (bulk_.empty() || isStuck_)) fault_ = "DEADLOCK: " + waiting();
    isStuck_ = !moved_;
  }
  const auto isAdding = [](const Warpgroup& w) { return !w.sums.empty(); };
  if (fault_.empty() && std::ranges::any_of(warpgroups_, isAdding))
    fault_ = "UNFINISHED: products of a warpgroup that nobody waited for";
  const auto isOpen = [](const auto& each) { return each.second.bytes != 0; };
  if (fault_.empty() && (!bulk_.empty() || std::ranges::any_of(mbarriers_, isOpen)))
    fault_ = "UNFINISHED: bulk copies that nobody waited for";
  finishCopies();
  firstThread_ += static_cast<uint32_t>(count);
}

std::vector<size_t> EmulatedGrid::order() {
  std::vector<size_t> order(threads_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (options_.delay == Delay::Lazy) std::ranges::reverse(order);
  return order;
}

std::string EmulatedGrid::waiting() const {
  std::map<std::string, int> counts;
  for (const Thread& thread : threads_) {
    std::string what = thread.fiber.isDone() ? "have ended" : std::string("wait at ") + thread.waitsAt;
    if (!thread.fiber.isDone() && thread.waitsFor != nullptr)
      what += " at byte " + std::to_string(static_cast<const unsigned char*>(thread.waitsFor) - sharedBase_) +
              " for parity " + std::to_string(thread.parity);
    ++counts[what];
  }
  std::string text;
  for (const auto& [what, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " threads " + what;
  return text;
}

void EmulatedGrid::fault(const std::string& what) {
  if (fault_.empty()) fault_ = what;
  for (;;) current_->fiber.suspend();
}

Access EmulatedGrid::accessOf(const Thread& thread) const {
  return {Agent::thread(firstThread_ + thread.number), moment_, &thread.knows, {}, firstThread_,
          static_cast<uint32_t>(threads_.size())};
}

void EmulatedGrid::touchGlobal(const void* at, uint32_t bytes, const void* stored, Access access, const char* what) {
  const auto place = reinterpret_cast<uintptr_t>(at);
  const bool writes = stored != nullptr;
  for (size_t i = 0; i < launch_->buffers.size(); ++i) {
    const GridBuffer& buffer = launch_->buffers[i];
    const auto begin = reinterpret_cast<uintptr_t>(buffer.address);
    if (place < begin || place + bytes > begin + buffer.bytes || (writes && !buffer.isWritten)) continue;
    if (place % bytes != 0)
      fault("ALIGNMENT: " + std::string(what) + " of " + std::to_string(bytes) + " bytes at byte " +
            std::to_string(place - begin) + " of argument " + std::to_string(i));
    // Threads may store what is there already: the result is the same in any order.
    access.changesNothing = writes && std::memcmp(at, stored, bytes) == 0;
    if (const std::string* wrong = globalShadows_[i].touch(place - begin, bytes, writes, access, what))
      fault(*wrong + ", of argument " + std::to_string(i));
    return;
  }
  fault("OUTSIDE: " + std::string(what) + (writes ? " writes" : " reads") + " memory that is of no argument");
}

void EmulatedGrid::touchShared(const void* at, uint32_t bytes, bool writes, const Access& access, const char* what) {
  const auto offset = static_cast<const unsigned char*>(at) - sharedBase_;
  if (offset < 0 || static_cast<uint64_t>(offset) + bytes > launch_->sharedBytes)
    fault("OUTSIDE: " + std::string(what) + " beyond the memory of the workgroup");
  if (static_cast<uint64_t>(offset) % bytes != 0)
    fault("ALIGNMENT: " + std::string(what) + " of " + std::to_string(bytes) + " bytes at byte " +
          std::to_string(offset) + " of shared memory");
  if (const std::string* wrong = sharedShadow_->touch(static_cast<uint64_t>(offset), bytes, writes, access, what))
    fault(*wrong + ", of shared memory");
}

void EmulatedGrid::global(const void* at, uint32_t bytes, const void* stored) {
  touchGlobal(at, bytes, stored, accessOf(*current_), stored != nullptr ? "a store" : "a load");
}
void EmulatedGrid::shared(const void* at, uint32_t bytes, const void* stored) {
  touchShared(at, bytes, stored != nullptr, accessOf(*current_), stored != nullptr ? "a store" : "a load");
}

void EmulatedGrid::barrier() {
  meet(all_, threads_.size(), "the barrier", {current_, nullptr, nullptr, nullptr, nullptr},
       [&](std::span<const Part>) {
         Knowledge together;
         for (const Thread& thread : threads_) together.join(thread.knows);
         std::vector<uint32_t> fenced;
         for (const Thread& thread : threads_) fenced.push_back(thread.fencedAt);
         together.fenced = std::make_shared<const std::vector<uint32_t>>(std::move(fenced));
         together.all = moment_++;
         for (Thread& thread : threads_) thread.knows = together;
       });
}

}  // namespace svod
