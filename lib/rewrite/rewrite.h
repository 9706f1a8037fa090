// The rewrite engine: bottom-up, every node once, replacements rewritten until no rule applies.
#pragma once
#include <string>
#include <vector>

#include "rewrite/matcher.h"

namespace svod {

/// What a run did. `counts[i]` belongs to matcher.rules()[i].
struct RewriteStats {
  std::vector<RuleCount> counts;
  uint64_t visited = 0;    // distinct nodes
  uint64_t rewritten = 0;  // rule applications
  std::string trouble;     // not empty: some node was left as it was because rules kept replacing it; names the rules
};

/// Results by node id: open addressing, so that a small expression in a big graph costs nothing for the rest of it.
class NodeMemo {
 public:
  struct Entry {
    uint32_t key = 0;   // node id + 1
    bool open = false;  // under way; `value` is the node itself
    UOp value;
  };
  NodeMemo() : table_(kStart) {}

  /// The entry of `n`, or null.
  const Entry* find(UOp n) const {
    for (size_t i = slotOf(n);; i = (i + 1) & (table_.size() - 1)) {
      if (table_[i].key == n.id() + 1) return &table_[i];
      if (table_[i].key == 0) return nullptr;
    }
  }
  void set(UOp n, UOp value, bool open) {
    if ((used_ + 1) * 2 > table_.size()) grow();
    put({n.id() + 1, open, value});
  }

 private:
  static constexpr size_t kStart = 64;  // a power of two
  size_t slotOf(UOp n) const { return (n.id() * uint64_t{0x9E3779B97F4A7C15} >> 20) & (table_.size() - 1); }
  void put(const Entry& e) {
    size_t i = ((e.key - 1) * uint64_t{0x9E3779B97F4A7C15} >> 20) & (table_.size() - 1);
    while (table_[i].key != 0 && table_[i].key != e.key) i = (i + 1) & (table_.size() - 1);
    used_ += table_[i].key == 0;
    table_[i] = e;
  }
  void grow() {
    std::vector<Entry> old = std::move(table_);
    table_.assign(old.size() * 4, Entry());
    used_ = 0;
    for (const Entry& e : old)
      if (e.key != 0) put(e);
  }

  std::vector<Entry> table_;
  size_t used_ = 0;
};

/// Nodes a rewriter leaves as they are, with everything below them.
enum class KeepNodes : uint8_t {
  None,
  Ranges,          // an expression keeps speaking of its caller's ranges
  RangesAndLoads,  // what is read, and under which gate, does not change either
};

/// Rewrites expressions of one Graph with one Matcher and one context, and remembers results between calls.
/// Not thread-safe; must not outlive the Graph or the Matcher.
class Rewriter {
 public:
  Rewriter(Graph& graph, const Matcher& matcher, void* context = nullptr, KeepNodes keep = KeepNodes::None)
      : graph_(graph), matcher_(matcher), context_(context), keep_(keep) {}

  UOp run(UOp root, RewriteStats* stats = nullptr);

 private:
  struct Frame {
    UOp key, current;
    uint32_t next = 0;      // source of `current` to visit
    uint32_t replaced = 0;  // rule applications since `key`
  };
  UOp settled(UOp n) const;
  bool step(Frame& frame, RewriteStats* stats);
  void giveUp(const Frame& frame, RewriteStats* stats);

  Graph& graph_;
  const Matcher& matcher_;
  void* context_;
  KeepNodes keep_;
  NodeMemo memo_;
  std::vector<Frame> stack_;
  std::vector<UOp> src_;
  std::array<const Rule*, 16> recent_{};
  size_t firedCount_ = 0;
};

/// One whole-graph run. `context` is handed to guards and native rules.
UOp rewrite(Graph& graph, UOp root, const RuleSet& rules, RewriteStats* stats = nullptr, void* context = nullptr);
UOp rewrite(Graph& graph, UOp root, const Matcher& rules, RewriteStats* stats = nullptr, void* context = nullptr);

/// A table of rules with at least one attempt, most hits first.
std::string toText(const RewriteStats& stats, const Matcher& matcher);

}  // namespace svod
