#include "schedule/fuse_rules.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "ir/likely.h"
#include "tensor/dot_operands.h"
#include "tensor/nodes.h"
#include "tensor/parameters.h"
#include "tensor/softmax.h"
#include "tensor/work.h"

namespace svod {

namespace {

// How computing the reduction for `use` reads what is in memory: each value once for every index.
std::vector<Use> readsOf(FusionState& s, UOp reduce, const Use& use) {
  std::vector<std::pair<UOp, Use>> open{{reduce, use}};
  std::vector<Use> reads;
  std::set<std::pair<uint32_t, std::vector<TokenId>>> seen;
  auto visitOperand = [&](UOp n, Use read) {
    if (s.isIndexMath[n.id()] || !seen.emplace(n.id(), read.index).second) return;
    bool leaf = isStorage(n) || s.isCut[n.id()] || hasOwnKernel(n.op()) || n.op() == Op::Reduce;
    if (leaf)
      reads.push_back(std::move(read));
    else
      open.emplace_back(n, std::move(read));
  };
  while (!open.empty()) {
    auto [n, read] = std::move(open.back());
    open.pop_back();
    passToOperands(n, read, s.uses.tokens(), visitOperand);
  }
  return reads;
}

// Whether some of what a reduction reads is read for other results along `axes`, too, as by products and convolutions.
bool readsAgain(const TokenTable& tokens, std::span<const Use> reads, const std::vector<int>& axes) {
  return std::ranges::any_of(reads, [&](const Use& read) { return !std::ranges::includes(tokens.axesOf(read), axes); });
}

// The numbers of the reduce axes that a use runs over, ascending.
std::vector<int> reducesOf(const TokenTable& tokens, const Use& use) {
  std::vector<int> over;
  for (TokenId id : use.index) over = unite(over, tokens[id].reduces);
  return over;
}

// Whether all elements of a row read the same terms of some operand, as those of a matrix product do. Those of a
// convolution with a filter for each channel share none: a block of such rows would be computed one by one.
bool sharesOperand(const TokenTable& tokens, std::span<const Use> reads, const Use& use, const RowPlan& plan) {
  std::vector<int> row;
  for (int axis : plan.axes) row = unite(row, tokens[use.index[static_cast<size_t>(axis)]].reduces);
  return std::ranges::any_of(reads, [&](const Use& read) {
    const std::vector<int> over = reducesOf(tokens, read);
    return !over.empty() && std::ranges::find_first_of(over, row) == over.end();
  });
}

// A product for every element of a kernel that has another such: in one loop nest neither gets the tile, panel and
// order that suit it. The first that asks is none.
bool isSecondProduct(FusionState& s, UOp n) {
  const Use& use = s.uses.of(n)[0];
  const TokenTable& tokens = s.uses.tokens();
  bool everyElement = s.uses.elementsRead(use) >= static_cast<double>(likelyNumel(s.uses.rootShape(use)));
  double steps = static_cast<double>(likelyNumel(n.src(0))) / static_cast<double>(likelyNumel(n));
  if (!everyElement || steps < parameters::kLongProduct || !readsAgain(tokens, readsOf(s, n, use), tokens.axesOf(use)))
    return false;
  return !s.productOf.insert(use.root).second;
}

// How a product that several reductions of one kernel read, or what is computed from it, is held there row by row.
std::optional<RowPlan> planRowsOf(FusionState& s, UOp n) {
  const std::span<const Use> uses = s.uses.of(n);
  const uint32_t root = uses[0].root, owner = s.uses.owner(uses[0]).id();
  const bool isProduct = n.op() == Op::Reduce;
  if (uses.size() > parameters::kMaxUses || s.noRows.contains(owner) || s.rowProducts.contains(owner))
    return std::nullopt;
  if (isProduct && uses.size() < 2) return std::nullopt;
  if (!std::ranges::all_of(uses, [&](const Use& use) { return use.root == root && use.inReduce; })) return std::nullopt;
  std::optional<RowPlan> plan = planRows(n, uses, s.uses.rootShape(uses[0]), s.uses.tokens(), s.machine.heldBytes);
  if (!plan || s.uses.repetitions(n, uses[0]) > 1) return std::nullopt;
  if (!isProduct) return plan;
  if (!isRowProduct(n, *plan)) return std::nullopt;
  const TokenTable& tokens = s.uses.tokens();
  const std::vector<Use> reads = readsOf(s, n, uses[0]);
  const auto repeats = [&](int axis) { return readsAgain(tokens, reads, {axis}); };
  if (std::ranges::none_of(plan->over, repeats) || !sharesOperand(tokens, reads, uses[0], *plan)) return std::nullopt;
  return plan;
}

// By node id: the device whose copies a value is computed from, as numbers in order of appearance.
std::vector<int> devicesOf(const std::vector<UOp>& order, size_t ids) {
  std::vector<int> found(ids, kNoDevice);
  std::map<std::string_view, int> numbers;
  for (UOp n : order) {
    int& device = found[n.id()];
    if (n.op() == Op::Copy) {
      device = numbers.try_emplace(n.argAs<NameArg>().name, static_cast<int>(numbers.size())).first->second;
      continue;
    }
    for (UOp s : n.src())
      if (const int other = found[s.id()]; other != kNoDevice)
        device = device == kNoDevice || device == other ? other : kManyDevices;
  }
  return found;
}

bool isDear(UOp n) {
  return n.op() == Op::Reduce && static_cast<double>(likelyNumel(n.src(0))) >= parameters::kWorthCondition;
}

// Ids of reductions to one element that the conditions are computed from, by which runs leave out dear reductions.
std::set<uint32_t> decidingSums(const std::vector<UOp>& order, const std::vector<Side>& sideOf) {
  std::vector<UOp> open;
  for (UOp n : order)
    if (isDear(n) && sideOf[n.id()].isOne()) open.push_back(sideOf[n.id()].condition());
  std::set<uint32_t> sums, seen;
  while (!open.empty()) {
    const UOp n = open.back();
    open.pop_back();
    if (n.maxNumel() != 1 || isStorage(n) || !seen.insert(n.id()).second) continue;
    if (n.op() == Op::Reduce)
      sums.insert(n.id());
    else
      open.insert(open.end(), n.src().begin(), n.src().end());
  }
  return sums;
}

// A reduction of copies on one device, for a kernel that reads those of others: there the work would change its place.
bool isOnAnotherDevice(FusionState& s, UOp n, Verdict&) {
  if (n.op() != Op::Reduce || s.deviceOf[n.id()] < 0) return false;
  return std::ranges::any_of(s.uses.of(n),
                             [&](const Use& use) { return s.deviceOf[s.uses.owner(use).id()] != s.deviceOf[n.id()]; });
}

// A long reduction on one side of a choice that its kernel makes: runs that take the other side leave its own out.
bool isOnOneSide(FusionState& s, UOp n, Verdict&) {
  const Side& side = s.sideOf[n.id()];
  if (s.machine.gpu.threads > 0 || !side.isOne() || !isDear(n)) return false;
  return std::ranges::any_of(s.uses.of(n), [&](const Use& use) { return !(s.sideOf[s.uses.owner(use).id()] == side); });
}
bool isDeciding(FusionState& s, UOp n, Verdict&) { return s.machine.gpu.threads == 0 && s.deciding.contains(n.id()); }

bool isReduce(FusionState&, UOp n, Verdict&) { return n.op() == Op::Reduce; }
bool isReadWhole(FusionState& s, UOp n, Verdict&) { return hasOwnKernel(n.op()) || s.isOperand.contains(n.id()); }
bool isTarget(FusionState& s, UOp n, Verdict&) {
  return s.uses.of(n).size() == 1 && s.uses.isRootUse(n, s.uses.of(n)[0]);
}
bool isTooLarge(FusionState& s, UOp n, Verdict&) { return s.isCut[n.id()]; }
bool isIndex(FusionState& s, UOp n, Verdict&) { return s.isIndexMath[n.id()]; }
bool isHoisted(FusionState& s, UOp n, Verdict&) { return n.op() == Op::Reduce && s.uses.canHoist(n); }
bool isOnlyProduct(FusionState& s, UOp n, Verdict& v) { return isHoisted(s, n, v) && !isSecondProduct(s, n); }
bool hasRows(FusionState& s, UOp n, Verdict& v) {
  v.rows = planRowsOf(s, n);
  return v.rows.has_value();
}
bool hasProductRows(FusionState& s, UOp n, Verdict& v) { return n.op() == Op::Reduce && hasRows(s, n, v); }
bool isFasterInMemory(FusionState& s, UOp n, Verdict& v) {
  if (!s.inMemory.contains(n.id())) {
    if (s.machine.gpu.threads == 0 || !hasProductRows(s, n, v)) return false;
    const RowTimes times = timesOfRows(n, s.uses.rootShape(s.uses.of(n)[0]), s.machine);
    if (times.held <= times.kept) return false;
    s.inMemory.insert({n.id(), {*v.rows, times}});
  }
  const PricedRows& known = s.inMemory.at(n.id());
  v.rows = known.plan, v.times = known.times;
  return true;
}
// Part of a longer sum, which is scaled before it is added up, as by the scale of a block of bytes: one result reads
// it, and no other part shares its operands, as the pixels of a pool share filters.
bool isPartOfSum(FusionState& s, UOp n, Verdict&) {
  if (s.machine.gpu.threads > 0 || !sumsByteProducts(n) || s.uses.of(n).size() != 1) return false;
  const Use& use = s.uses.of(n)[0];
  const TokenTable& tokens = s.uses.tokens();
  const std::vector<int> axes = tokens.axesOf(use), parts = reducesOf(tokens, use);
  const auto isOfOnePart = [&](const Use& read) { return std::ranges::includes(reducesOf(tokens, read), parts); };
  return use.inReduce && unite(axes, use.outer) == axes && s.uses.repetitions(n, use) <= 1 &&
         s.uses.elementsRead(use) <= static_cast<double>(likelyNumel(n)) &&
         std::ranges::all_of(readsOf(s, n, use), isOfOnePart);
}

// From here on reductions have a fate.
bool hasNoWork(FusionState&, UOp n, Verdict&) { return isMovement(n.op()) || work(n) == 0; }
bool isLateWithSum(FusionState& s, UOp n, Verdict&) { return isNormalizedLate(n) && s.uses.canHoist(n); }
bool isLate(FusionState&, UOp n, Verdict&) { return isNormalizedLate(n); }
bool isByteOperand(FusionState& s, UOp n, Verdict&) {
  return isByteDistance(n) && std::ranges::all_of(s.uses.of(n), &Use::inReduce);
}
bool isBitsOperand(FusionState& s, UOp n, Verdict&) {
  return isPartOfByte(n) && std::ranges::all_of(s.uses.of(n), &Use::inReduce);
}
bool isDotOperand(FusionState& s, UOp n, Verdict&) { return s.dotOperands.contains(n.id()); }
bool isNarrowFactor(FusionState& s, UOp n, Verdict&) {
  return s.machine.narrowProducts && widensNarrow(n) && std::ranges::all_of(s.uses.of(n), &Use::inReduce);
}
bool hasDearRows(FusionState& s, UOp n, Verdict& v) {
  const bool isSweptAgain = s.uses.of(n).size() > 1 && s.costs.ofElement(n) >= kTranscendentalCost;
  return isSweptAgain && hasRows(s, n, v);
}
bool isReadOnce(FusionState& s, UOp n, Verdict& v) {
  v.isUnpriced = FusionCosts::isPlainlyOnce(n, s.uses);
  if (v.isUnpriced) return true;
  v.cost = s.costs.weigh(n, s.uses);
  return s.uses.of(n).size() <= parameters::kMaxUses && v.cost->isOnce;
}
bool isReadInCache(FusionState& s, UOp n, Verdict& v) {
  return s.uses.of(n).size() <= parameters::kMaxUses && v.cost->isCached;
}
bool isCheaperFused(FusionState& s, UOp n, Verdict& v) {
  return s.uses.of(n).size() <= parameters::kMaxUses && !v.cost->isKeepCheaper;
}
bool isCheaperKept(FusionState&, UOp, Verdict& v) { return v.cost->isKeepCheaper; }
bool isAny(FusionState&, UOp, Verdict&) { return true; }

using enum Fate;
constexpr std::string_view kNoChoice = {};
constexpr FusionRule kFusionRules[] = {
    {Keep, kNoChoice, isReadWhole},
    {Fuse, kNoChoice, isTarget},  // the value of a store: its buffer is the target
    {Keep, "its kernel would be too large", isTooLarge},
    {Fuse, kNoChoice, isIndex},
    {Keep, "its kernel reads values of other devices", isOnAnotherDevice},
    {Keep, "runs choose by it what they leave out", isDeciding},
    {Keep, "one side of the choice that its kernel makes needs it", isOnOneSide},
    {Fuse, "no element of it is computed twice", isOnlyProduct},
    {Keep, "products with tiles of their own take less time than its rows in one kernel", isFasterInMemory},
    {Rows, "reductions of its kernel sweep over its rows", hasProductRows},
    {Keep, "its kernel computes another product", isHoisted},
    {Fuse, "the sum it is scaled for reads each element once", isPartOfSum},
    {Keep, "it would be computed more than once", isReduce},
    {Fuse, kNoChoice, hasNoWork},
    {Fuse, "it stays with its sum", isLateWithSum},
    {Keep, "its sum would be computed more than once", isLate},
    {Fuse, "dot products take bytes", isByteOperand},
    {Fuse, "loads take elements out of bytes", isBitsOperand},
    {Fuse, "dot products take bf16", isDotOperand},
    {Fuse, "tensor cores take it before it is widened", isNarrowFactor},
    {Rows, "reductions sweep over it again", hasDearRows},
    {Fuse, "each element is computed once", isReadOnce},
    {Fuse, "its kernel computes it again a few times, from operands in cache", isReadInCache},
    {Fuse, "computing it where it is read costs less", isCheaperFused},
    {Rows, "reductions sweep over it again", hasRows},
    {Keep, "computing it again costs more", isCheaperKept},
    {Keep, "it is read in too many ways", isAny},
};

}  // namespace

std::string_view toText(Fate fate) {
  constexpr std::string_view kFates[] = {"fuse", "keep", "rows"};
  return kFates[static_cast<size_t>(fate)];
}

FusionState::FusionState(UOp sink, const GraphMachine& machine)
    : machine(machine), order(toposort(sink)), isIndexMath(indexMath(order, idsBelow(order))),
      isCut(isIndexMath.size()), deviceOf(devicesOf(order, isIndexMath.size())), sideOf(sidesOf(order)),
      deciding(decidingSums(order, sideOf)), uses(isIndexMath.size()), dag(isIndexMath.size(), isIndexMath),
      costs(order, dag, isIndexMath, isCut) {}

void FusionState::beginWalk() {
  uses.clear();
  isOperand.clear(), productOf.clear(), rowProducts.clear();
}

std::span<const FusionRule> fusionRules() { return kFusionRules; }

Verdict judge(FusionState& state, UOp n) {
  Verdict verdict;
  const auto rule =
      std::ranges::find_if(kFusionRules, [&](const FusionRule& row) { return row.fits(state, n, verdict); });
  verdict.fate = rule->fate, verdict.reason = rule->reason;
  verdict.mayFuse = !state.isCut[n.id()] && state.uses.of(n).size() <= parameters::kMaxUses;
  verdict.mayKeep = n.op() == Op::Reduce || state.isCut[n.id()] || n.dtype() != DType::Index;
  return verdict;
}

}  // namespace svod
