// The order of producers: every value after what it reads, every overwrite after the readers of the old state.
#include <algorithm>

#include "schedule/fuse.h"
#include "schedule/scheduler.h"

namespace svod {

namespace {

UOp storageBelow(UOp target) {
  while (isMovement(target.op())) target = target.src(0);
  return target;
}

struct Edges {
  std::vector<std::vector<size_t>> after;  // after[i]: producers that must wait for i
  std::vector<size_t> waiting;             // number of edges into each

  explicit Edges(size_t n) : after(n), waiting(n) {}
  void add(size_t from, size_t to) {
    if (from == to) return;
    after[from].push_back(to);
    ++waiting[to];
  }
};

}  // namespace

Result<std::vector<size_t>> Scheduler::order() {
  std::map<uint32_t, size_t> producerOf;  // by node id
  for (size_t i = 0; i < producers_.size(); ++i) producerOf[producers_[i].node.id()] = i;
  // A value written directly into an output counts as its Store.
  auto find = [&](UOp n) -> std::optional<size_t> {
    auto it = producerOf.find(n.id());
    return it == producerOf.end() ? std::nullopt : std::optional(it->second);
  };

  Edges edges(producers_.size());
  std::map<uint32_t, std::vector<size_t>> readersOf;  // by state node id
  for (size_t i = 0; i < producers_.size(); ++i) {
    for (UOp read : producers_[i].reads) {
      if (auto from = find(read); from && *from != i) {
        edges.add(*from, i);  // a value, or the snapshot of a state
        continue;
      }
      if (read.op() == Op::After)
        for (UOp dep : read.src().subspan(1))
          if (auto from = find(dep)) edges.add(*from, i);
      if (isStorage(read)) readersOf[read.id()].push_back(i);
    }
  }
  for (size_t i = 0; i < producers_.size(); ++i) {
    UOp store = producers_[i].node;
    if (store.op() != Op::Store) continue;
    UOp prior = storageBelow(store.src(0));
    for (size_t reader : readersOf[prior.id()]) edges.add(reader, i);
    if (prior.op() == Op::After)
      for (UOp dep : prior.src().subspan(1))
        if (auto from = find(dep)) edges.add(*from, i);
  }

  std::vector<size_t> sequence;
  std::set<size_t> ready;
  for (size_t i = 0; i < producers_.size(); ++i)
    if (edges.waiting[i] == 0) ready.insert(i);
  while (!ready.empty()) {
    size_t i = *ready.begin();
    ready.erase(ready.begin());
    sequence.push_back(i);
    for (size_t j : edges.after[i])
      if (--edges.waiting[j] == 0) ready.insert(j);
  }
  if (sequence.size() == producers_.size()) return sequence;

  // Some value reads a state both before and after it is overwritten: keep the old content in a snapshot.
  auto mayChange = [&](UOp read) {
    UOp buffer = read;
    while (buffer.op() == Op::After) buffer = buffer.src(0);
    return isStorage(read) && model_.ports[buffer.argAs<SlotArg>().slot].kind == PortKind::State;
  };
  for (size_t i = 0; i < producers_.size(); ++i) {
    if (edges.waiting[i] == 0) continue;
    for (UOp read : producers_[i].reads)
      if (mayChange(read) && snapshots_.insert(read.id()).second) return sequence;
  }
  return fail(Diag::Cycle, "the graph's assignments depend on each other in a circle",
              "read the states into values before assigning them");
}

}  // namespace svod
