#include "frontend/writer/contents.h"

namespace svod {

using Kind = BuildLog::Kind;

uint32_t slotBelow(UOp node) {
  while (node.op() != Op::Buffer) node = node.src(0);
  return node.argAs<SlotArg>().slot;
}

void Contents::close(UOp end) {
  Scope closed = std::move(scopes_.back());
  scopes_.pop_back();
  for (const auto& [slot, effect] : closed.effects) scopes_.back().effects[slot] = end;
}

void Contents::pass(const BuildLog::Step& step) {
  if (step.kind == Kind::Assign) scopes_.back().effects[slotBelow(step.operands[0].node)] = step.effect;
  if (step.kind == Kind::Temporary) scopes_.back().effects[slotBelow(step.results[0])] = step.effect;
  if (step.kind == Kind::Otherwise || step.kind == Kind::End) close(step.effect);
  if (step.kind == Kind::Loop || step.kind == Kind::Branch || step.kind == Kind::Otherwise)
    scopes_.push_back({step.results.at(0), {}});
}

bool Contents::isCurrent(UOp content) const {
  UOp effect = content.op() == Op::After ? content.src().back() : UOp();
  const Scope& scope = scopes_.back();
  auto newest = scope.effects.find(slotBelow(content));
  return effect == (newest == scope.effects.end() ? scope.range : newest->second);
}

}  // namespace svod
