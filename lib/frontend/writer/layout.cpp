#include "frontend/writer/layout.h"

#include <algorithm>

namespace svod {

using Kind = BuildLog::Kind;

Layout::Layout(const BuildLog& log, Definitions& definitions, const Model& model)
    : log_(log), definitions_(definitions), model_(model) {
  for (const BuildLog::Step& step : log_.steps)
    if ((step.kind != Kind::Call && step.kind != Kind::Note) || isKeptCall(step)) steps_.push_back(&step);
  for (const ModelPort& p : model_.ports) hasStorage_ |= p.kind == PortKind::State || p.kind == PortKind::Temporary;
}

Status Layout::make() {
  findScopes();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const BuildLog::Step& step = *steps_[i];
    if (isKeptCall(step)) {
      SVOD_CHECK(need(step.results[0], i));
      continue;
    }
    for (const BuildLog::Operand& o : step.operands) {
      bool isTarget = step.kind == Kind::Assign && &o == &step.operands[0];
      if (isTarget || step.kind == Kind::Loop) {
        SVOD_CHECK(needInPlace(o.node, i));
      } else {
        SVOD_CHECK(need(o.node, i));
      }
    }
  }
  SVOD_CHECK(settle());
  SVOD_CHECK(needLabelled());
  SVOD_CHECK(settle());
  place();
  return {};
}

void Layout::findScopes() {
  int scope = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    scopeBefore_.push_back(scope);
    Kind kind = steps_[i]->kind;
    const Scope closed = scopes_[static_cast<size_t>(scope)];
    if (kind == Kind::Otherwise || kind == Kind::End) scope = closed.outer;
    if (kind == Kind::Loop || kind == Kind::Branch || kind == Kind::Otherwise) {
      scopes_.push_back({scope, kind == Kind::Otherwise ? closed.begin : i});
      scope = static_cast<int>(scopes_.size()) - 1;
    }
    scopeBehind_.push_back(scope);
  }
}

int Layout::scopeAt(uint32_t id) const {
  auto next = std::upper_bound(steps_.begin(), steps_.end(), id,
                               [](uint32_t a, const BuildLog::Step* step) { return a < step->at; });
  return next == steps_.begin() ? 0 : scopeBehind_[static_cast<size_t>(next - steps_.begin()) - 1];
}

int Layout::common(int a, int b) const {
  while (a != b) (a > b ? a : b) = scopes_[static_cast<size_t>(std::max(a, b))].outer;
  return a;
}

// --- What is needed

Item* Layout::itemOf(UOp node) const {
  Result<const Definition*> d = definitions_.of(node);
  auto found = d ? items_.find(*d) : items_.end();
  return found == items_.end() ? nullptr : found->second.get();
}

Status Layout::need(UOp node, size_t step) {
  if (isLeaf(node)) {
    for (; node.op() == Op::After; node = node.src(0)) {
    }
    if (node.op() == Op::Buffer) slots_.insert(node.argAs<SlotArg>().slot);
    return {};
  }
  SVOD_TRY(const Definition* d, definitions_.of(node));
  auto& item = items_[d];
  if (!item) {
    item = std::make_unique<Item>();
    item->definition = d;
    pending_.push_back(item.get());
  }
  item->at = std::min(item->at, log_.placeOf(node));
  if (std::ranges::find(item->wanted, node) == item->wanted.end()) item->wanted.push_back(node);
  if (step < steps_.size()) item->roots.push_back(step);
  return {};
}

// The condition of a loop is computed before every iteration, so what it reads from storage stands in it. Targets of
// assignments stand where they are assigned.
Status Layout::needInPlace(UOp node, size_t step) {
  if (isLeaf(node) || !readsStorage(node)) return need(node, step);
  SVOD_TRY(const Definition* d, definitions_.of(node));
  for (const BuildLog::Operand& o : d->operands) SVOD_CHECK(needInPlace(o.node, step));
  return {};
}

bool Layout::readsStorage(UOp root) {
  if (!hasStorage_) return false;
  for (UOp n : toposort(root)) {
    bool reads = n.op() == Op::After;
    if (n.op() == Op::Buffer) {
      PortKind kind = model_.ports[n.argAs<SlotArg>().slot].kind;
      reads = kind == PortKind::State || kind == PortKind::Temporary;
    }
    for (UOp s : n.src()) reads |= readsStorage_[s.id()];
    readsStorage_[n.id()] = reads;
  }
  return readsStorage_[root.id()];
}

// Labels name kernels, so values inside of other definitions that have one are written out too.
Status Layout::needLabelled() {
  std::vector<UOp> roots;
  for (const BuildLog::Step* step : steps_)
    for (const BuildLog::Operand& o : step->operands) roots.push_back(o.node);
  for (UOp n : toposort(roots))
    if (model_.labels.contains(n.id())) SVOD_CHECK(need(n, steps_.size()));
  return {};
}

Status Layout::settle() {
  while (!pending_.empty()) {
    Item* item = pending_.back();
    pending_.pop_back();
    for (const BuildLog::Operand& o : item->definition->operands) {
      SVOD_CHECK(need(o.node, steps_.size()));
      if (!isLeaf(o.node)) itemOf(o.node)->users.push_back(item);
    }
  }
  return {};
}

// --- Where it stands

void Layout::place() {
  for (const auto& [definition, item] : items_) order_.push_back(item.get());
  std::ranges::sort(order_, {}, &Item::at);
  for (size_t i = order_.size(); i-- > 0;) {
    Item& item = *order_[i];
    int built = scopeAt(item.at);
    item.scope = built;
    for (const Item* user : item.users) item.scope = common(item.scope, user->scope);
    for (size_t step : item.roots) item.scope = common(item.scope, scopeBefore_[step]);
    if (item.scope == built) {
      auto next = std::upper_bound(steps_.begin(), steps_.end(), item.at,
                                   [](uint32_t at, const BuildLog::Step* step) { return at < step->at; });
      item.before = static_cast<size_t>(next - steps_.begin());
      continue;
    }
    while (scopes_[static_cast<size_t>(built)].outer != item.scope) built = scopes_[static_cast<size_t>(built)].outer;
    item.before = scopes_[static_cast<size_t>(built)].begin;
  }
  std::ranges::stable_sort(order_, {}, &Item::before);
}

std::vector<Item*> Layout::itemsBefore(size_t i) const {
  auto [first, last] = std::ranges::equal_range(order_, i, {}, &Item::before);
  return {first, last};
}

}  // namespace svod
