#include "schedule/order.h"

#include <algorithm>
#include <map>

#include "schedule/elements.h"
#include "tensor/nodes.h"

namespace svod {

namespace {

/// The stores of every buffer in order. They form a chain, as the target of each holds the content it follows, so the
/// stores that a content contains are the first few of them.
class Writers {
 public:
  Writers(const std::vector<Producer>& producers, const LoopTree& loops) {
    for (size_t i = 0; i < producers.size(); ++i) {
      UOp store = producers[i].node;
      if (store.op() != Op::Store) continue;
      const uint32_t buffer = bufferBelow(store.src(0)).id();
      std::vector<size_t>& all = writers_[buffer];
      for (int loop = loops.of(store); loop >= 0; loop = loops.loops()[loop].parent)
        behindLast_[{buffer, loop}] = all.size() + 1;
      all.push_back(i);
      behind_[store.id()] = all.size();
    }
  }

  /// The producers that store to the buffer of a content.
  std::span<const size_t> of(UOp content) const {
    auto found = writers_.find(bufferBelow(content).id());
    return found == writers_.end() ? std::span<const size_t>() : found->second;
  }
  /// How many of them the content contains.
  size_t before(UOp content) {
    while (content.op() == Op::After) {
      UOp effect = lastEffect(content);
      if (!effect) return 0;
      if (effect.op() == Op::End) return beforeEnd(effect, bufferBelow(content));
      if (auto found = behind_.find(effect.id()); found != behind_.end()) return found->second;
      content = belowMovement(effect.src(0));  // a store of nothing
    }
    return 0;
  }
  /// How many of them there are up to the last one in a loop; 0 when none is.
  size_t behindLastIn(UOp content, int loop) const {
    auto found = behindLast_.find({bufferBelow(content).id(), loop});
    return found == behindLast_.end() ? 0 : found->second;
  }

 private:
  /// Counters of loops stand behind the effects before the loop.
  static UOp lastEffect(UOp content) {
    for (size_t i = content.srcCount(); i-- > 1;)
      if (content.src(i).op() != Op::Range) return content.src(i);
    return {};
  }

  size_t beforeEnd(UOp end, UOp buffer) {
    auto [known, isNew] = ends_.try_emplace(end.id());
    if (isNew) {
      std::map<uint32_t, size_t> most;  // by Buffer id
      std::vector<UOp> pending{end};
      while (!pending.empty()) {
        UOp n = pending.back();
        pending.pop_back();
        if (n.op() == Op::End) pending.push_back(n.src(0));
        if (n.op() == Op::Group) pending.insert(pending.end(), n.src().begin(), n.src().end());
        if (n.op() != Op::Store) continue;
        auto found = behind_.find(n.id());
        size_t& count = most[bufferBelow(n.src(0)).id()];
        count = std::max(count, found != behind_.end() ? found->second : before(belowMovement(n.src(0))));
      }
      known = ends_.insert_or_assign(end.id(), std::move(most)).first;
    }
    auto count = known->second.find(buffer.id());
    return count == known->second.end() ? 0 : count->second;
  }

  std::map<uint32_t, std::vector<size_t>> writers_;        // by Buffer id
  std::map<uint32_t, size_t> behind_;                      // by Store id: its position, from 1
  std::map<std::pair<uint32_t, int>, size_t> behindLast_;  // by Buffer id and loop
  std::map<uint32_t, std::map<uint32_t, size_t>> ends_;    // by End id, then by Buffer id
};

/// Adds the orders that reading `content` of a buffer asks for. A content from before a loop that is read inside of it,
/// where the loop overwrites it, needs a snapshot.
class ReadOrder {
 public:
  ReadOrder(const std::vector<Producer>& producers, const LoopTree& loops, Elements& elements)
      : producers_(producers), loops_(loops), elements_(elements), writers_(producers, loops) {}

  /// `reader`: a producer, or a loop whose condition it is. False: a snapshot is needed. Stores are in order among
  /// themselves, so the last one before and the first one behind the read say it all.
  bool add(UOp content, size_t reader) {
    const std::span<const size_t> writers = writers_.of(content);
    if (writers.empty()) return true;
    const size_t contained = writers_.before(content);
    if (contained > 0) elements_.add(writers[contained - 1], reader);
    const int outermost = outermostWithout(content, elements_.parent(reader));
    if (outermost >= 0 && writers_.behindLastIn(content, outermost) > contained) return false;
    if (auto writer = overwriter(content, contained, reader)) elements_.add(reader, *writer);
    return true;
  }

  /// The content is kept in a snapshot: what overwrites it need not wait for its reader.
  void removeOverwrite(UOp content, size_t reader) {
    if (auto writer = overwriter(content, writers_.before(content), reader)) elements_.remove(reader, *writer);
  }

  bool isWritten(UOp content) const { return !writers_.of(content).empty(); }

  /// A store comes after the stores its target contains.
  void addStore(size_t store) {
    UOp prior = belowMovement(producers_[store].node.src(0));
    const size_t contained = writers_.before(prior);
    if (contained > 0 && writers_.of(prior)[contained - 1] != store)
      elements_.add(writers_.of(prior)[contained - 1], store);
  }

 private:
  /// The first producer that overwrites what a reader of the content reads.
  std::optional<size_t> overwriter(UOp content, size_t contained, size_t reader) const {
    const std::span<const size_t> writers = writers_.of(content);
    size_t next = contained;
    if (next < writers.size() && writers[next] == reader) ++next;
    if (elements_.isLoop(reader)) next = std::max(next, writers_.behindLastIn(content, elements_.loopOf(reader)));
    return next < writers.size() ? std::optional(writers[next]) : std::nullopt;
  }

  /// The outermost loop around a reader in `loop` that begins after the content; -1 when there is none.
  int outermostWithout(UOp content, int loop) const {
    const int contentLoop = loops_.of(content);
    int outermost = -1;
    for (; loop >= 0 && !loops_.contains(loop, contentLoop); loop = loops_.loops()[loop].parent) outermost = loop;
    return outermost;
  }

  const std::vector<Producer>& producers_;
  const LoopTree& loops_;
  Elements& elements_;
  Writers writers_;
};

class Ordering {
 public:
  Ordering(const Model& model, const LoopTree& loops, std::vector<Producer>& producers, Counters& counters,
           Schedule& schedule, std::set<uint32_t>& snapshots)
      : model_(model), loops_(loops), producers_(producers), counters_(counters), schedule_(schedule),
        snapshots_(snapshots) {}
  Result<std::vector<ScheduleItem>> run();

 private:
  /// What must come before what. False after adding to snapshots_.
  bool constrain(Elements& elements, ReadOrder& reads);
  bool keepContents(int stuckIn, Elements& elements, ReadOrder& reads);
  /// The items of a body (-1: outside of loops), or the body that has no order.
  std::optional<int> appendBody(int loop, Elements& elements, std::vector<ScheduleItem>& items);
  ScheduleItem loopItem(int loop);

  const Model& model_;
  const LoopTree& loops_;
  std::vector<Producer>& producers_;
  Counters& counters_;
  Schedule& schedule_;
  std::set<uint32_t>& snapshots_;
};

bool Ordering::constrain(Elements& elements, ReadOrder& reads) {
  std::map<uint32_t, size_t> producerOf;  // by node id
  for (size_t i = 0; i < producers_.size(); ++i) producerOf[producers_[i].node.id()] = i;
  bool isComplete = true;
  for (size_t i = 0; i < producers_.size(); ++i) {
    for (UOp read : producers_[i].reads) {
      auto from = producerOf.find(read.id());
      if (from != producerOf.end() && from->second != i) {
        elements.add(from->second, i);  // a value, or the snapshot of a state
      } else if (isStorage(read) && !reads.add(read, i)) {
        isComplete &= !snapshots_.insert(read.id()).second;
      }
    }
    if (producers_[i].node.op() == Op::Store) reads.addStore(i);
  }
  for (size_t l = 0; l < loops_.loops().size(); ++l) {
    UOp range = loops_.loops()[l].range;
    if (range.srcCount() > 1) reads.add(range.src(1), elements.ofLoop(static_cast<int>(l)));
  }
  return isComplete;
}

std::optional<int> Ordering::appendBody(int loop, Elements& elements, std::vector<ScheduleItem>& items) {
  std::vector<size_t> sequence = elements.sorted(loop);
  if (sequence.size() < elements.members(loop).size()) return loop;
  for (size_t e : sequence) {
    if (!elements.isLoop(e)) {
      for (ScheduleItem& item : producers_[e].items) items.push_back(std::move(item));
      continue;
    }
    size_t head = items.size();
    items.push_back(loopItem(elements.loopOf(e)));
    if (auto stuck = appendBody(elements.loopOf(e), elements, items)) return stuck;
    items[head].length = items.size() - head - 1;
    if (items[head].length == 0) items.pop_back(), schedule_.loops.pop_back();
  }
  return std::nullopt;
}

/// Values that read a state both before and after it is overwritten make a body wait for itself: snapshots keep the old
/// contents, as few as end that. False where none does.
bool Ordering::keepContents(int stuckIn, Elements& elements, ReadOrder& reads) {
  std::map<uint32_t, std::vector<size_t>> readersOf;  // by id of a content
  for (size_t i = 0; i < producers_.size(); ++i)
    for (UOp read : producers_[i].reads)
      if (isStorage(read) && !snapshots_.contains(read.id())) readersOf[read.id()].push_back(i);
  bool isKept = false;
  for (size_t i = 0; i < producers_.size(); ++i) {
    if (!loops_.contains(stuckIn, elements.parent(i))) continue;
    size_t member = i;
    while (elements.parent(member) != stuckIn) member = elements.ofLoop(elements.parent(member));
    for (UOp read : producers_[i].reads) {
      if (!elements.isStuck(member)) break;
      if (!isStorage(read) || !reads.isWritten(read) || !snapshots_.insert(read.id()).second) continue;
      isKept = true;
      for (size_t reader : readersOf[read.id()]) reads.removeOverwrite(read, reader);
    }
  }
  return isKept;
}

Result<std::vector<ScheduleItem>> Ordering::run() {
  Elements elements(producers_, loops_);
  ReadOrder reads(producers_, loops_, elements);
  if (!constrain(elements, reads)) return std::vector<ScheduleItem>();
  std::vector<ScheduleItem> items;
  std::optional<int> stuckIn = appendBody(-1, elements, items);
  if (!stuckIn) return items;

  if (keepContents(*stuckIn, elements, reads)) return std::vector<ScheduleItem>();
  return fail(Diag::Cycle, "the graph's assignments depend on each other in a circle",
              "read the states into values before assigning them");
}

ScheduleItem Ordering::loopItem(int loop) {
  UOp range = loops_.loops()[loop].range;
  ScheduleLoop made{model_.loops[range.argAs<AxisArg>().id], counters_.asVariables(range.src(0))};
  if (range.srcCount() > 1) made.condition = static_cast<int>(bufferBelow(range.src(1)).argAs<SlotArg>().slot);
  ScheduleItem item{ItemKind::Loop, static_cast<int>(schedule_.loops.size()), {}, {}, {}, {}, made.counter};
  schedule_.loops.push_back(std::move(made));
  return item;
}

}  // namespace

Result<std::vector<ScheduleItem>> orderItems(const Model& model, const LoopTree& loops,
                                             std::vector<Producer>& producers, Counters& counters, Schedule& schedule,
                                             std::set<uint32_t>& snapshots) {
  return Ordering(model, loops, producers, counters, schedule, snapshots).run();
}

}  // namespace svod
