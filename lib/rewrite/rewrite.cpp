#include "rewrite/rewrite.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

namespace svod {

namespace {
// No sensible rule set replaces one node this often; more means that rules undo each other.
constexpr uint32_t kMaxReplacements = 512;
}  // namespace

// The final form when it is already known, else null. A node that is under way below itself counts as final.
UOp Rewriter::settled(UOp n) const {
  if (n.srcCount() == 0 && !matcher_.hasRulesFor(n.op())) return n;
  if (keep_ != KeepNodes::None && n.op() == Op::Range) return n;
  if (keep_ == KeepNodes::RangesAndLoads && n.op() == Op::Load) return n;
  const NodeMemo::Entry* e = memo_.find(n);
  return e ? e->value : UOp();
}

void Rewriter::giveUp(const Frame& frame, RewriteStats* stats) {
  std::string text = "rules keep replacing one node of op ";
  text += toText(frame.key.op());
  text += "; the last ones were";
  for (size_t i = firedCount_ - std::min(firedCount_, recent_.size()); i < firedCount_; ++i) {
    text += ' ';
    text += recent_[i % recent_.size()]->name;
  }
#ifndef NDEBUG
  std::fprintf(stderr, "internal error: %s\n", text.c_str());
  assert(false && "rule set does not terminate");
#endif
  if (stats && stats->trouble.empty()) stats->trouble = std::move(text);
}

// Advances the frame on top of the stack by one visit, rebuild or rule; true when its result is final.
bool Rewriter::step(Frame& frame, RewriteStats* stats) {
  while (frame.next < frame.current.srcCount()) {
    UOp source = frame.current.src(frame.next++);
    if (settled(source)) continue;
    memo_.set(source, source, true);
    stack_.push_back({source, source});  // invalidates `frame`
    return false;
  }
  src_.clear();
  bool changed = false;
  for (UOp s : frame.current.src()) {
    src_.push_back(settled(s));
    changed |= src_.back() != s;
  }
  if (changed) {
    frame.current = graph_.withSrc(frame.current, src_);
    const NodeMemo::Entry* e = memo_.find(frame.current);
    if (e && !e->open) return frame.current = e->value, true;
  }
  size_t fired = 0;
  UOp by =
      matcher_.apply(graph_, frame.current, context_, fired, stats ? std::span(stats->counts) : std::span<RuleCount>());
  if (!by) return true;
  recent_[firedCount_++ % recent_.size()] = matcher_.rules()[fired];
  if (stats) ++stats->rewritten;
  const NodeMemo::Entry* known = memo_.find(by);
  if (++frame.replaced > kMaxReplacements || (known && known->open)) {
    giveUp(frame, stats);
    return true;
  }
  frame.current = by;
  frame.next = 0;
  if (UOp done = settled(by)) return frame.current = done, true;
  return false;
}

UOp Rewriter::run(UOp root, RewriteStats* stats) {
  if (stats) stats->counts.resize(matcher_.rules().size());
  if (UOp done = settled(root)) return done;
  size_t base = stack_.size();
  memo_.set(root, root, true);
  stack_.push_back({root, root});
  while (stack_.size() > base) {
    size_t top = stack_.size() - 1;
    if (!step(stack_[top], stats)) continue;
    Frame frame = stack_[top];
    stack_.pop_back();
    memo_.set(frame.key, frame.current, false);
    memo_.set(frame.current, frame.current, false);
    if (stats) ++stats->visited;
  }
  return memo_.find(root)->value;
}

UOp rewrite(Graph& graph, UOp root, const Matcher& rules, RewriteStats* stats, void* context) {
  return Rewriter(graph, rules, context).run(root, stats);
}

UOp rewrite(Graph& graph, UOp root, const RuleSet& rules, RewriteStats* stats, void* context) {
  Matcher matcher(rules);
  return rewrite(graph, root, matcher, stats, context);
}

}  // namespace svod
