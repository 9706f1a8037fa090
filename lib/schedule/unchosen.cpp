#include "schedule/unchosen.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "schedule/add_kernel.h"
#include "schedule/kernel_size.h"
#include "schedule/sides.h"
#include "tensor/node_names.h"
#include "tensor/work.h"

namespace svod {

namespace {

constexpr size_t kNone = SIZE_MAX;

/// An item outside of loops, or a loop with its body.
struct Unit {
  size_t first, count = 1;      // items
  std::set<int> reads, writes;  // owners of buffers
  Side side = Side::none();     // the runs that need it
};

/// What a unit reads, and when it needs that where every run needs the unit.
struct Read {
  int buffer;
  Side side;
};

/// Units of one side that wait for their place.
struct Group {
  Side side;
  std::vector<size_t> units;
};

bool meet(const std::set<int>& a, const std::set<int>& b) {
  return std::ranges::any_of(a, [&](int x) { return b.contains(x); });
}

class Unchosen {
 public:
  Unchosen(const Model& model, Schedule& schedule, Decisions& decisions)
      : model_(model), s_(schedule), decisions_(decisions) {
    for (size_t k = 0; k < s_.kernels.size(); ++k) kernelOf_.emplace(s_.kernels[k].sink.hash(), static_cast<int>(k));
  }
  void run();

 private:
  void findUnits();
  void addItem(Unit& unit, std::vector<Read>& reads, const ScheduleItem& item);
  UOp conditionOf(UOp condition, const ScheduleItem& item);
  void findSides();
  void keepWorthwhile();
  double costOf(const Unit& unit) const;
  bool mustPrecede(const Group& group, const Unit& unit) const;
  void close(Group& group);
  void emit(const Unit& unit);
  void emitFlags(size_t unit);
  std::optional<size_t> knownBehind(UOp condition) const;
  int addFlag(UOp condition, bool holds);
  std::string counterName() const;

  const Model& model_;
  Schedule& s_;
  Decisions& decisions_;
  Graph conditions_;  // over parameters whose slots are buffers
  std::map<Hash128, int> kernelOf_;
  std::vector<Unit> units_;
  std::vector<std::vector<Read>> reads_;                       // by unit
  std::vector<ScheduleItem> items_;                            // in their new order
  std::map<std::pair<uint32_t, bool>, int> flags_;             // by condition and side: the buffer
  std::map<size_t, std::set<std::pair<uint32_t, bool>>> due_;  // flags by the unit behind which they are known
  std::map<uint32_t, UOp> conditionOf_;                        // by id
};

/// The condition as one of all kernels.
UOp Unchosen::conditionOf(UOp condition, const ScheduleItem& item) {
  const UOp clone = conditions_.clone(condition);
  std::vector<UOp> from, to;
  for (UOp n : toposort(clone)) {
    if (n.op() != Op::Param) continue;
    const auto buffer = static_cast<uint32_t>(item.args[n.argAs<SlotArg>().slot]);
    from.push_back(n), to.push_back(conditions_.make(Op::Param, n.dtype(), n.src(), SlotArg{buffer}));
  }
  const UOp known = substitute(conditions_, clone, from, to);
  conditionOf_.emplace(known.id(), known);
  return known;
}

void Unchosen::addItem(Unit& unit, std::vector<Read>& reads, const ScheduleItem& item) {
  if (item.kind == ItemKind::Loop) {
    const int condition = s_.loops[static_cast<size_t>(item.kernel)].condition;
    if (condition >= 0)
      unit.reads.insert(ownerOf(s_, condition)), reads.push_back({ownerOf(s_, condition), Side::always()});
    return;
  }
  const bool isLaunch = item.kind == ItemKind::Launch;
  if (!isLaunch) unit.side = Side::always();
  const std::vector<Side> sides =
      isLaunch ? sidesOf(s_.kernels[static_cast<size_t>(item.kernel)].sink, item.args.size()) : std::vector<Side>();
  for (size_t slot = 0; slot < item.args.size(); ++slot) {
    const int owner = ownerOf(s_, item.args[slot]);
    if (item.writes[slot]) unit.writes.insert(owner);
    if (!item.reads[slot]) continue;
    Side side = isLaunch && unit.count == 1 ? sides[slot] : Side::always();
    if (side.isOne()) side = Side::where(conditionOf(side.condition(), item), side.holds());
    unit.reads.insert(owner);
    reads.push_back({owner, side});
  }
}

void Unchosen::findUnits() {
  for (size_t i = 0; i < s_.items.size(); i += units_.back().count) {
    Unit& unit = units_.emplace_back(Unit{i, 1 + s_.items[i].length, {}, {}});
    reads_.emplace_back();
    for (size_t at = i; at < i + unit.count; ++at) addItem(unit, reads_.back(), s_.items[at]);
  }
}

/// From the results of the model backwards, until nothing changes.
void Unchosen::findSides() {
  std::vector<Side> needed(s_.buffers.size(), Side::none());  // by owner
  for (size_t b = 0; b < s_.buffers.size(); ++b)
    if (s_.buffers[b].port >= 0) needed[static_cast<size_t>(ownerOf(s_, static_cast<int>(b)))] = Side::always();
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (size_t u = units_.size(); u-- > 0;) {
      Side side = units_[u].side;
      for (int buffer : units_[u].writes) side = side.either(needed[static_cast<size_t>(buffer)]);
      isChanged |= !(side == units_[u].side);
      units_[u].side = side;
      for (const Read& read : reads_[u]) {
        Side& all = needed[static_cast<size_t>(read.buffer)];
        const Side both = all.either(side.within(read.side));
        isChanged |= !(both == all);
        all = both;
      }
    }
  }
}

double Unchosen::costOf(const Unit& unit) const {
  double sum = 0;
  for (size_t i = unit.first; i < unit.first + unit.count; ++i)
    if (s_.items[i].kind == ItemKind::Launch)
      sum += launchCost(s_.kernels[static_cast<size_t>(s_.items[i].kernel)].sink);
  return sum;
}

/// The unit behind which a condition is known: kNone where inputs alone decide it. Nothing where no one place is behind
/// all that it reads and before what overwrites it.
std::optional<size_t> Unchosen::knownBehind(UOp condition) const {
  size_t last = kNone;
  for (UOp n : toposort(condition)) {
    if (n.op() != Op::Param) continue;
    const int owner = ownerOf(s_, static_cast<int>(n.argAs<SlotArg>().slot));
    size_t writers = 0;
    for (size_t u = 0; u < units_.size(); ++u) {
      if (!units_[u].writes.contains(owner)) continue;
      if (++writers > 1 || units_[u].count > 1 || units_[u].side.isOne()) return std::nullopt;
      if (last == kNone || u > last) last = u;
    }
  }
  return last;
}

/// Units whose side is not worth a condition, or whose condition has no place, run always.
void Unchosen::keepWorthwhile() {
  std::map<std::pair<uint32_t, bool>, double> costs;
  std::map<std::pair<uint32_t, bool>, std::string> names;
  for (const Unit& unit : units_) {
    if (!unit.side.isOne()) continue;
    const std::pair key(unit.side.condition().id(), unit.side.holds());
    costs[key] += costOf(unit);
    names.try_emplace(key, s_.items[unit.first].label);
  }
  for (const auto& [key, cost] : costs) {
    const std::optional<size_t> behind = knownBehind(conditionOf_.at(key.first));
    bool isSkipped = behind && cost >= parameters::kWorthCondition;
    if (isSkipped) {
      const Decision decision{"skip:" + plainLabel(names[key]),
                              {{"skip", cost / 2 + 2 * kLaunch}, {"run", cost}},
                              0,
                              "one side of a choice needs it"};
      isSkipped = decisions_.decide(decision) == 0;
    }
    if (isSkipped) due_[*behind].insert(key);
    for (Unit& unit : units_)
      if (!isSkipped && unit.side.isOne() && std::pair(unit.side.condition().id(), unit.side.holds()) == key)
        unit.side = Side::always();
  }
}

std::string Unchosen::counterName() const {
  std::string name = "side";
  const auto isTaken = [&] {
    const auto isNamed = [&](const ModelPort& port) { return port.name == name; };
    return std::ranges::any_of(model_.variables, [&](UOp v) { return v.argAs<VarArg>().name == name; }) ||
           std::ranges::any_of(model_.ports, isNamed) || std::ranges::find(model_.loops, name) != model_.loops.end();
  };
  while (isTaken()) name += "_";
  return name;
}

/// A launch that stores whether a run takes the side, and its buffer.
int Unchosen::addFlag(UOp condition, bool holds) {
  const auto flag = static_cast<int>(s_.buffers.size());
  s_.buffers.push_back({DType::Bool, 1, -1, "side", -1, 0, model_.graph->index(1)});
  auto graph = std::make_unique<Graph>();
  const UOp clone = graph->clone(condition);
  ScheduleItem item{ItemKind::Launch, 0, {}, {flag}, {}, {}, "side"};
  std::vector<UOp> from, to;
  for (UOp n : toposort(clone)) {
    if (n.op() != Op::Param) continue;
    from.push_back(n);
    to.push_back(graph->make(Op::Param, n.dtype(), n.src(), SlotArg{static_cast<uint32_t>(item.args.size())}));
    item.args.push_back(static_cast<int>(n.argAs<SlotArg>().slot));
  }
  const auto known = [&](bool value) { return graph->constant(Scalar::ofInt(DType::Bool, value ? 1 : 0)); };
  UOp value = substitute(*graph, clone, from, to);
  if (!holds) value = graph->where(value, known(false), known(true));
  const UOp result = graph->make(Op::Param, DType::Bool, {graph->index(1)}, SlotArg{0});
  const UOp at = graph->indexInto(result, std::vector<UOp>{graph->index(0)});
  const UOp end = graph->make(Op::End, DType::Void, {graph->make(Op::Store, DType::Void, {at, value})});
  const UOp sink = graph->make(Op::Sink, DType::Void, {end});
  markAccesses(item, sink);
  item.kernel = addKernel(s_, kernelOf_, std::move(graph), sink, item.label);
  items_.push_back(std::move(item));
  return flag;
}

void Unchosen::emit(const Unit& unit) {
  for (size_t i = unit.first; i < unit.first + unit.count; ++i) items_.push_back(std::move(s_.items[i]));
}

void Unchosen::emitFlags(size_t unit) {
  if (const auto due = due_.find(unit); due != due_.end())
    for (const auto& [condition, holds] : due->second)
      flags_[{condition, holds}] = addFlag(conditionOf_.at(condition), holds);
}

/// What waits in a group becomes a loop of one trip; without one where the condition is not known yet.
void Unchosen::close(Group& group) {
  const size_t head = items_.size();
  const auto flag = flags_.find({group.side.condition().id(), group.side.holds()});
  if (flag != flags_.end()) {
    const std::string counter = counterName();
    items_.push_back({ItemKind::Loop, static_cast<int>(s_.loops.size()), {}, {}, {}, {}, counter});
    s_.loops.push_back({counter, model_.graph->index(1), flag->second});
  }
  for (size_t u : group.units) emit(units_[u]);
  if (flag != flags_.end()) items_[head].length = items_.size() - head - 1;
  group.units.clear();
}

bool Unchosen::mustPrecede(const Group& group, const Unit& unit) const {
  return std::ranges::any_of(group.units, [&](size_t u) {
    const Unit& other = units_[u];
    return meet(other.writes, unit.reads) || meet(other.writes, unit.writes) || meet(other.reads, unit.writes);
  });
}

void Unchosen::run() {
  findUnits();
  findSides();
  keepWorthwhile();
  if (due_.empty()) return;
  std::vector<Group> groups;
  emitFlags(kNone);
  for (size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    Group* own = nullptr;
    for (Group& group : groups) {
      if (unit.side.isOne() && group.side == unit.side)
        own = &group;
      else if (mustPrecede(group, unit))
        close(group);
    }
    if (!unit.side.isOne())
      emit(unit), emitFlags(u);
    else if (own)
      own->units.push_back(u);
    else
      groups.push_back({unit.side, {u}});
  }
  for (Group& group : groups)
    if (!group.units.empty()) close(group);
  s_.items = std::move(items_);
}

}  // namespace

void skipUnchosen(const Model& model, Schedule& schedule, Decisions& decisions) {
  Unchosen(model, schedule, decisions).run();
}

}  // namespace svod
