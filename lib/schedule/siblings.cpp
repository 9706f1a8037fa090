#include "schedule/siblings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "schedule/add_kernel.h"
#include "schedule/kernel_size.h"
#include "schedule/same_loops.h"
#include "tensor/node_names.h"
#include "tensor/parameters.h"
#include "tensor/work.h"

namespace svod {

namespace {

/// The only loop nest of a kernel without storage of its own.
std::optional<UOp> onlyNest(UOp sink) {
  if (sink.srcCount() != 1 || sink.src(0).op() != Op::End) return std::nullopt;
  for (UOp n : toposort(sink))
    if (n.op() == Op::After || n.op() == Op::Fill) return std::nullopt;
  for (UOp r : sink.src(0).src().subspan(1))
    if (r.argAs<AxisArg>().type != AxisType::Loop) return std::nullopt;
  return sink.src(0);
}

struct ById {
  bool operator()(UOp a, UOp b) const { return a.id() < b.id(); }
};
using Loads = std::set<UOp, ById>;

Loads loadsBelow(std::span<const UOp> roots) {
  Loads loads;
  for (UOp root : roots)
    for (UOp n : toposort(root))
      if (n.op() == Op::Load) loads.insert(n);
  return loads;
}

/// Loads of the kernel that reductions repeat.
Loads repeatedLoads(UOp sink) { return loadsBelow(reducedIn(sink)); }

/// Both load an element that is new in each iteration, and reductions of one repeat no loads but those of the other.
bool isWorthOneKernel(std::span<const UOp> first, std::span<const UOp> second, UOp sink) {
  const Loads a = loadsBelow(first), b = loadsBelow(second);
  const auto isShared = [&](UOp load) { return a.contains(load) && b.contains(load); };
  std::span<const UOp> ranges = sink.src(0).src().subspan(1);
  const auto isNewEachTime = [&](UOp load) {
    return std::ranges::all_of(ranges, [&](UOp r) { return load.dependsOn(r); });
  };
  const Loads repeated = repeatedLoads(sink);
  return std::ranges::any_of(a, [&](UOp load) { return isShared(load) && isNewEachTime(load); }) &&
         std::ranges::all_of(repeated, isShared);
}

/// Whether the load always happens and gives the value of the store, if that is to the same address.
bool givesStored(UOp load, UOp store) {
  const bool isUngated = load.srcCount() == 1 || (load.srcCount() == 3 && load.src(2).isConst(1));
  const bool isRounded = isFloat(load.dtype()) && info(load.dtype()).bits < 32;  // by the store
  return isUngated && store.srcCount() == 2 && load.dtype() == store.src(1).dtype() && !isRounded;
}

/// What the nest of a later kernel computes where it loads what `stores` of an earlier one, over the same loops, have
/// stored in this iteration; null where it loads other elements of theirs.
UOp fedFrom(Graph& graph, UOp nest, std::span<const UOp> stores) {
  std::vector<UOp> from, to;
  for (UOp n : toposort(nest)) {
    if (n.op() != Op::Load) continue;
    const auto isThere = [&](UOp store) { return storageOf(n.src(0)) == storageOf(store.src(0)); };
    if (std::ranges::none_of(stores, isThere)) continue;
    const auto same = std::ranges::find(stores, n.src(0), [](UOp store) { return store.src(0); });
    if (same == stores.end() || !givesStored(n, *same)) return {};
    from.push_back(n), to.push_back(same->src(1));
  }
  return substitute(graph, nest, from, to);
}

/// Which reduce loops of a nest get ids of their own beside another one: all of them, or those whose id is that of
/// another loop there. The same loop in both is one.
enum class OwnIds : uint8_t { All, Clashing };
UOp withOwnReduces(Graph& graph, UOp nest, UOp beside, OwnIds own) {
  uint32_t id = 0;
  std::map<uint32_t, UOp> others;
  auto isOwn = [&](UOp range) {
    const auto other = others.find(range.argAs<AxisArg>().id);
    return own == OwnIds::All || (other != others.end() && other->second != range);
  };
  for (UOp n : toposort(beside))
    if (n.op() == Op::Range) others.emplace(n.argAs<AxisArg>().id, n);
  std::vector<UOp> from, to;
  for (UOp n : toposort(nest)) {
    if (n.op() != Op::Range) continue;
    const AxisArg& axis = n.argAs<AxisArg>();
    id = std::max(id, axis.id + 1);
    if (axis.type == AxisType::Reduce && isOwn(n)) from.push_back(n);
  }
  if (!others.empty()) id = std::max(id, others.rbegin()->first + 1);
  for (UOp n : from) to.push_back(graph.range(n.src(0), id++, AxisType::Reduce));
  return substitute(graph, nest, from, to);
}

/// Whether what the nest stores is little work for each element and repeats nothing, so that it may do without lanes.
bool isCheap(UOp nest) {
  double sum = 0;
  for (UOp n : toposort(nest)) sum += isElementwise(n.op()) && n.dtype() != DType::Index ? work(n) : 0;
  return sum <= parameters::kUnrolledWork * static_cast<double>(storesOf(nest).size()) && repeatedLoads(nest).empty();
}

/// How many buffers the stores write to.
size_t resultsOf(std::span<const UOp> stores) {
  std::set<uint32_t> ids;
  for (UOp store : stores) ids.insert(storageOf(store.src(0)).id());
  return ids.size();
}

/// On which device each item runs, by its operands, and where its results are wanted; empty texts are the host.
struct Placement {
  std::string home, results;
  bool operator==(const Placement&) const = default;
};

std::vector<Placement> placementsOf(const Schedule& schedule) {
  std::vector<Placement> placements;
  std::vector<std::string> places(schedule.buffers.size());  // by buffer
  const auto placeOf = [&](int buffer) -> std::string& {
    return places[static_cast<size_t>(ownerOf(schedule, buffer))];
  };
  for (const ScheduleItem& item : schedule.items) {
    Placement& at = placements.emplace_back();
    if (item.kind == ItemKind::Loop) continue;
    for (int buffer : item.args)
      if (at.home.empty() && item.kind != ItemKind::HostCall) at.home = placeOf(buffer);
    at.results = item.device.empty() ? at.home : item.device == "cpu" ? "" : item.device;
    for (size_t i = 0; i < item.args.size(); ++i)
      if (item.kind == ItemKind::Copy ? i == 0 : item.writes[i]) placeOf(item.args[i]) = at.results;
  }
  return placements;
}

class Siblings {
 public:
  Siblings(Schedule& schedule, Decisions& decisions)
      : s_(schedule), decisions_(decisions), placements_(placementsOf(schedule)) {
    for (size_t k = 0; k < s_.kernels.size(); ++k) kernelOf_.emplace(s_.kernels[k].sink.hash(), static_cast<int>(k));
  }

  void run() {
    std::vector<size_t> body;  // launches and calls since the last edge of a loop
    std::set<size_t> edges;    // items at which a body ends
    std::vector<ScheduleItem>& items = s_.items;
    for (size_t i = 0; i < items.size(); ++i) {
      if (edges.contains(i) || items[i].kind == ItemKind::Loop) body.clear();
      if (items[i].kind == ItemKind::Loop)
        edges.insert(i + 1 + items[i].length);
      else if (!joinsOneOf(body, i))
        body.push_back(i);
    }
    removeItems(s_, joined_);
  }

 private:
  bool joinsOneOf(const std::vector<size_t>& body, size_t at) {
    const ScheduleItem& item = s_.items[at];
    if (item.kind != ItemKind::Launch) return false;
    for (size_t back = 0; back < std::min(body.size(), parameters::kSiblingReach); ++back) {
      const size_t other = body[body.size() - 1 - back];
      const bool isThere = placements_[other] == placements_[at];
      if (isThere && s_.items[other].kind == ItemKind::Launch && mayJoin(s_.items[other], item) && join(other, at))
        return true;
      if (conflict(s_.items[other], item)) return false;
    }
    return false;
  }

  template <typename Predicate>
  bool anyShared(const ScheduleItem& a, const ScheduleItem& b, Predicate&& predicate) const {
    for (size_t i = 0; i < a.args.size(); ++i)
      for (size_t j = 0; j < b.args.size(); ++j)
        if (ownerOf(s_, a.args[i]) == ownerOf(s_, b.args[j]) && predicate(i, j)) return true;
    return false;
  }
  /// Whether the order of the two matters.
  bool conflict(const ScheduleItem& a, const ScheduleItem& b) const {
    return anyShared(a, b, [&](size_t i, size_t j) { return a.writes[i] || b.writes[j]; });
  }
  /// Both read some memory, or b reads what a writes, and b writes none of a's. What it reads of a's results it knows
  /// by the same buffer.
  bool mayJoin(const ScheduleItem& a, const ScheduleItem& b) const {
    const auto isInTheWay = [&](size_t i, size_t j) { return b.writes[j] || (a.writes[i] && a.args[i] != b.args[j]); };
    return !anyShared(a, b, isInTheWay) && anyShared(a, b, [&](size_t, size_t j) { return b.reads[j]; });
  }

  bool readSame(const ScheduleItem& a, const ScheduleItem& b) const {
    return anyShared(a, b, [&](size_t i, size_t j) { return a.reads[i] && b.reads[j]; });
  }
  /// Whether b reads a temporary that a writes. The results of b may have its place (schedule/in_place.h), which takes
  /// less memory than one kernel with both.
  bool readsTemporary(const ScheduleItem& a, const ScheduleItem& b) const {
    return anyShared(a, b, [&](size_t i, size_t j) {
      return a.writes[i] && b.reads[j] && s_.buffers[static_cast<size_t>(ownerOf(s_, b.args[j]))].port < 0;
    });
  }

  bool join(size_t into, size_t at) {
    ScheduleItem& first = s_.items[into];
    const ScheduleItem& second = s_.items[at];
    const std::optional<UOp> a = onlyNest(kernel(first).sink), b = onlyNest(kernel(second).sink);
    if (!a || !b || !fitsLoopsOf(*a, *b)) return false;
    auto graph = std::make_unique<Graph>();
    ScheduleItem joined = first;
    const UOp nest = graph->clone(*a);
    const UOp apart = withOwnReduces(*graph, withArgs(*graph, *b, second, joined), nest, OwnIds::Clashing);
    const UOp loading = overLoopsOf(*graph, nest, apart);
    const std::vector<UOp> stores = storesOf(nest);
    const UOp other = fedFrom(*graph, loading, stores);
    if (!other) return false;
    const bool isFed = other != loading;
    if (loading != apart && (!isFed || !isCheap(loading))) return false;
    const bool isChain = isFed && !repeatedLoads(other).empty();
    const size_t most = isChain ? parameters::kChainedResults : parameters::kSiblingResults;
    if (resultsOf(stores) + resultsOf(storesOf(other)) > most) return false;
    UOp sink = bothNests(*graph, nest, other);
    if (!isSmallEnough(sink)) return false;
    // Beside a reduction, whose lanes run along its terms, elements of the second would be computed one at a time.
    if (loading == apart && !readSame(first, second)) {
      if (!repeatedLoads(sink).empty() || readsTemporary(first, second)) return false;
    } else if (!isWorthOneKernel(stores, storesOf(other), sink)) {
      return false;
    }
    const std::string name = "join:" + plainLabel(first.label) + "+" + plainLabel(second.label);
    const double separate = launchCost(kernel(first).sink) + launchCost(kernel(second).sink);
    const char* reason =
        isFed ? "the later one uses what the earlier one stores" : "both read the same memory in equal loops";
    const Decision decision{name, {{"join", launchCost(sink)}, {"apart", separate}}, 0, reason};
    if (decisions_.decide(decision) == 1) return false;
    if (isFed)
      sink = bothNests(*graph, nest, fedFrom(*graph, withOwnReduces(*graph, loading, nest, OwnIds::All), stores));
    markAccesses(joined, sink);
    joined.label += "_" + second.label;
    joined.kernel = addKernel(s_, kernelOf_, std::move(graph), sink, joined.label);
    first = std::move(joined);
    joined_.insert(at);
    return true;
  }

  /// A kernel with the results of both, whose loops are the same.
  static UOp bothNests(Graph& graph, UOp first, UOp second) {
    std::vector<UOp> stores = storesOf(first);
    for (UOp store : storesOf(second)) stores.push_back(store);
    return graph.make(Op::Sink, DType::Void, {withStores(graph, first, stores)});
  }

  const Kernel& kernel(const ScheduleItem& item) const { return s_.kernels[static_cast<size_t>(item.kernel)]; }

  /// `nest` of `item` in `graph`, over the arguments of `joined`, which gets those it lacks.
  static UOp withArgs(Graph& graph, UOp nest, const ScheduleItem& item, ScheduleItem& joined) {
    UOp clone = graph.clone(nest);
    std::vector<UOp> from, to;
    for (UOp n : toposort(clone)) {
      if (n.op() != Op::Param) continue;
      const size_t slot = n.argAs<SlotArg>().slot;
      const auto place = static_cast<size_t>(std::ranges::find(joined.args, item.args[slot]) - joined.args.begin());
      if (place == joined.args.size()) joined.args.push_back(item.args[slot]);
      from.push_back(n);
      to.push_back(graph.make(Op::Param, n.dtype(), n.src(), SlotArg{static_cast<uint32_t>(place)}));
    }
    return substitute(graph, clone, from, to);
  }

  Schedule& s_;
  Decisions& decisions_;
  std::vector<Placement> placements_;  // by item
  std::map<Hash128, int> kernelOf_;
  std::set<size_t> joined_;  // items whose work another one does
};

}  // namespace

void joinSiblings(Schedule& schedule, Decisions& decisions) { Siblings(schedule, decisions).run(); }

}  // namespace svod
