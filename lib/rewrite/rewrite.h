// The rewrite engine: bottom-up, every node once, replacements rewritten until no rule applies.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "rewrite/matcher.h"

namespace svod {

/// What a run did. `counts[i]` belongs to matcher.rules()[i].
struct RewriteStats {
  std::vector<RuleCount> counts;
  uint64_t visited = 0;     // distinct nodes
  uint64_t rewritten = 0;   // rule applications
  std::string trouble;      // not empty: some node was left as it was because rules kept replacing it; names the rules
};

/// Results by node id in pages that are made on first use: an empty memo costs size/64 bytes, so that a small
/// expression in a big graph is cheap.
class NodeMemo {
 public:
  UOp get(UOp n) const {
    size_t page = n.id() / kPage;
    return page < pages_.size() && pages_[page] ? (*pages_[page])[n.id() % kPage] : UOp();
  }
  void set(UOp n, UOp value) {
    size_t page = n.id() / kPage;
    if (page >= pages_.size()) pages_.resize(page + page / 2 + 8);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    (*pages_[page])[n.id() % kPage] = value;
  }

 private:
  static constexpr size_t kPage = 64;
  using Page = std::array<UOp, kPage>;
  std::vector<std::unique_ptr<Page>> pages_;
};

/// Rewrites expressions of one Graph with one Matcher and one context, and remembers results between calls.
/// Not thread-safe; must not outlive the Graph or the Matcher.
class Rewriter {
 public:
  /// `enterRanges` false: Range nodes stay as they are, so that an expression keeps speaking of its caller's ranges.
  Rewriter(Graph& graph, const Matcher& matcher, void* context = nullptr, bool enterRanges = true)
      : graph_(graph), matcher_(matcher), context_(context), enterRanges_(enterRanges) {}

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
  bool enterRanges_;
  NodeMemo memo_;
  NodeMemo open_;  // nodes under way: themselves
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
