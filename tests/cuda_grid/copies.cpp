// Copies that are under way from where they are started to the wait that covers their group.
#include <cstring>

#include "cuda_grid/grid.h"

namespace svod {

bool EmulatedGrid::isNow() {
  return options_.delay == Delay::Eager || (options_.delay == Delay::Random && random_() % 2 == 0);
}

void EmulatedGrid::perform(const Thread& thread, const CopyGroup& group, const Copy& copy) {
  const Access access{Agent::copies(group.number),
                      copy.moment,
                      &copy.knows,
                      Agent::thread(firstThread_ + thread.number),
                      firstThread_,
                      static_cast<uint32_t>(threads_.size())};
  touchShared(copy.to, copy.bytes, true, access, "a copy");
  if (copy.isReal) {
    touchGlobal(copy.from, copy.bytes, nullptr, access, "a copy");
    std::memcpy(copy.to, copy.from, copy.bytes);
  } else {
    std::memset(copy.to, 0, copy.bytes);
  }
}

void EmulatedGrid::copy(void* to, const void* from, uint32_t bytes, bool isReal) {
  Thread& thread = *current_;
  if (thread.open.number == 0) thread.open.number = ++copyGroups_;
  const Copy copy{
      static_cast<unsigned char*>(to), static_cast<const unsigned char*>(from), bytes, isReal, thread.knows, moment_++};
  if (isNow())
    perform(thread, thread.open, copy);
  else
    thread.open.left.push_back(copy);
}

void EmulatedGrid::commit() {
  Thread& thread = *current_;
  if (thread.open.number == 0) thread.open.number = ++copyGroups_;
  thread.groups.push_back(std::exchange(thread.open, {}));
}

void EmulatedGrid::wait(int groups) {
  Thread& thread = *current_;
  while (thread.groups.size() > static_cast<size_t>(groups)) {
    const CopyGroup group = std::move(thread.groups.front());
    thread.groups.pop_front();
    for (const Copy& copy : group.left) perform(thread, group, copy);
    if (thread.knows.copies.size() <= group.number) thread.knows.copies.resize(group.number + 1);
    thread.knows.copies[group.number] = true;
    thread.waited.push_back(group.number);
  }
  ++moment_;
}

/// What nobody waited for happens in the end.
void EmulatedGrid::finishCopies() {
  for (Thread& thread : threads_) {
    thread.groups.push_back(std::exchange(thread.open, {}));
    for (const CopyGroup& group : thread.groups)
      for (const Copy& copy : group.left) std::memcpy(copy.to, copy.from, copy.isReal ? copy.bytes : 0);
  }
}

}  // namespace svod
