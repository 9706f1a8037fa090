#include "search/moves.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "choose/choose.h"
#include "choose/thread_tiles.h"
#include "cost/kernel_cost.h"
#include "facts/instructions.h"
#include "opts/propose.h"
#include "opts/replay.h"

namespace svod {

namespace {

constexpr auto kAmounts = std::to_array<int64_t>({0, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256});
constexpr size_t kMostOpts = 40;

bool isThread(const OptOp& opt) { return opt.kind == OptKind::Thread; }

template <class T>
const T& pick(const std::vector<T>& from, std::mt19937_64& random) {
  return from[random() % from.size()];
}

/// Mostly one of those next to it, else any.
int64_t otherAmount(int64_t amount, std::mt19937_64& random) {
  if (random() % 3 == 0) return kAmounts[random() % kAmounts.size()];
  const auto at = std::ranges::lower_bound(kAmounts, amount) - kAmounts.begin();
  const int64_t steps[] = {-2, -1, 1, 2};
  return kAmounts[static_cast<size_t>(std::clamp<int64_t>(at + steps[random() % 4], 0, std::ssize(kAmounts) - 1))];
}

/// Of the time of one thread, what the one of several takes that has most tiles.
double partOfSlowest(const KernelFacts& kernel, int threads) {
  double tiles = 1;
  for (UOp n : kernel.nodes)
    if (n.op() == Op::Range && axisType(n) == AxisType::Thread) tiles *= static_cast<double>(maxExtent(n));
  return tiles < 1 ? 1 : std::ceil(tiles / threads) / tiles;
}

}  // namespace

/// Tables by node id grow with the graph, and most of its nodes belong to lists that nobody asks for again.
bool Moves::startAnewWhenLarge() {
  if (graph_->size() <= mostNodes_) return false;
  path_.clear();
  facts_ = std::make_unique<FactsCache>();
  auto fresh = std::make_unique<Graph>();
  sink_ = fresh->clone(given_);
  own_ = std::move(fresh), graph_ = own_.get();
  return true;
}

Chooser Moves::replayed(std::span<const OptOp> opts) {
  const bool isAnew = startAnewWhenLarge();
  const auto known = std::ranges::mismatch(path_, opts, {}, &Step::opt).in1;
  while (path_.end() != known) path_.pop_back();
  Chooser chooser = path_.empty() ? Chooser(*graph_, sink_, LoopNames(sink_), caps_, *facts_) : path_.back().after;
  for (const OptOp& opt : opts.subspan(path_.size())) {
    if (chooser.opts.size() < kMostOpts) chooser.apply(opt.kind, opt.args, {});
    path_.push_back({opt, chooser});
  }
  if (isAnew) mostNodes_ = graph_->size() + kMoreNodes;  // whatever the first list took
  return chooser;
}

std::optional<Candidate> Moves::candidate(std::span<const OptOp> opts, std::string origin) {
  Chooser chooser = replayed(opts);
  const auto isCut = [](const ChosenOpt& chosen) { return isThread(chosen.opt); };
  if (caps_.threads && threads_ == 1 && std::ranges::none_of(chooser.opts, isCut)) splitForThreads(chooser);
  Candidate made;
  for (ChosenOpt& chosen : chooser.opts) made.opts.push_back(std::move(chosen.opt));
  const UOp end = endOfOpts(*graph_, chooser.sink, caps_);
  if (!checkEffects(end, made.opts)) return std::nullopt;
  made.text = toText(made.opts), made.origin = std::move(origin);
  const KernelFacts& facts = facts_->of(end);
  const KernelCost cost = costOf(facts, caps_);
  made.predicted = cost.total * partOfSlowest(facts, threads_), made.features = featuresOf(facts, cost);
  made.instructions = instructionsOf(facts);
  return made;
}

std::vector<Candidate> Moves::seeds() {
  std::vector<Candidate> all;
  const auto add = [&](std::span<const OptOp> opts, std::string origin) {
    std::optional<Candidate> made = candidate(opts, std::move(origin));
    if (made && std::ranges::find(all, made->text, &Candidate::text) == all.end()) all.push_back(std::move(*made));
  };
  add(chooseOpts(*graph_, sink_, caps_), "-O1");
  for (const PricedSeed& seed : seedsOf(*graph_, sink_, caps_))
    add(optsOf(seed.choice), "strategy " + std::string(seed.choice.strategy) +
                                 (seed.choice.branch.empty() ? "" : ", other " + std::string(seed.choice.branch)));
  return all;
}

std::vector<int> Moves::threadCounts() const {
  std::vector<int> counts;
  for (int count = 1; count < threads_; count *= 2) counts.push_back(count);
  counts.push_back(threads_);
  return counts;
}

std::optional<Candidate> Moves::shared(const Candidate& of, int count) {
  std::vector<OptOp> opts = of.opts;
  std::erase_if(opts, isThread);
  Chooser chooser = replayed(opts);
  const auto isLeft = [](const Axis& a) {
    return a.nest == Nest::Output && axisType(a.range) == AxisType::Loop && maxExtent(a.range) > 1;
  };
  for (int64_t wanted = count; wanted > 1;) {  // the outermost loop, and the next one where that is too short
    const std::vector<Axis>& axes = chooser.facts().axes;
    const auto outermost = std::ranges::find_if(axes, isLeft);
    if (outermost == axes.end()) return std::nullopt;
    const int64_t extent = maxExtent(outermost->range), iterations = ceilDiv(extent, wanted);
    if (!chooser.apply(OptKind::Thread, idOf(outermost->range), iterations, {})) return std::nullopt;
    wanted = ceilDiv(wanted, extent);
  }
  opts.clear();
  for (const ChosenOpt& chosen : chooser.opts) opts.push_back(chosen.opt);
  return candidate(opts, std::to_string(count) + (count == 1 ? " thread" : " threads"));
}

bool Moves::isFixed(const OptOp& opt) const { return threads_ == 1 && isThread(opt); }

std::vector<OptOp> Moves::withoutFixed(std::vector<OptOp> opts) const {
  std::erase_if(opts, [&](const OptOp& opt) { return isFixed(opt); });
  return opts;
}

std::vector<OptOp> Moves::proposals(const Chooser& at) {
  std::vector<OptOp> all = proposeOpts(at.facts(), at.names, caps_);
  std::erase_if(all, [&](const OptOp& opt) { return isFixed(opt); });
  return all;
}

std::vector<Candidate> Moves::successors(const Candidate& of) {
  const std::vector<OptOp> opts = withoutFixed(of.opts);
  std::vector<Candidate> all;
  for (OptOp& next : proposals(replayed(opts))) {
    std::vector<OptOp> longer = opts;
    longer.push_back(std::move(next));
    std::optional<Candidate> made = candidate(longer, "beam " + std::to_string(longer.size()));
    if (made && made->opts.size() > opts.size()) all.push_back(std::move(*made));
  }
  return all;
}

std::vector<Candidate> Moves::additions(const Candidate& of) {
  std::vector<Candidate> all = successors(of);
  for (Candidate& made : all) made.origin = "one more, last";
  const std::vector<OptOp> opts = withoutFixed(of.opts);
  for (const OptOp& first : proposals(replayed({}))) {
    std::vector<OptOp> longer = {first};
    longer.insert(longer.end(), opts.begin(), opts.end());
    if (std::optional<Candidate> made = candidate(longer, "one more, first")) all.push_back(std::move(*made));
  }
  return all;
}

std::vector<OptOp> Moves::macro(const std::vector<OptOp>& opts, std::mt19937_64& random) {
  Chooser at = replayed({});
  for (OptKind kind : {OptKind::Tile, OptKind::Order, OptKind::Pack}) {
    std::vector<OptOp> fitting = proposals(at);
    std::erase_if(fitting, [&](const OptOp& opt) { return opt.kind != kind; });
    if (fitting.empty()) continue;
    const OptOp& chosen = pick(fitting, random);
    at.apply(chosen.kind, chosen.args, {});
  }
  std::vector<OptOp> all;
  for (const ChosenOpt& chosen : at.opts) all.push_back(chosen.opt);
  all.insert(all.end(), opts.begin(), opts.end());
  return all;
}

void Moves::reshape(std::vector<OptOp>& opts, std::mt19937_64& random) {
  std::vector<AxisAmount*> copies;
  for (OptOp& opt : opts)
    if (opt.kind == OptKind::Upcast) copies.push_back(&std::get<AxisAmount>(opt.args));
  if (copies.size() < 2) return;
  AxisAmount *more = pick(copies, random), *less = pick(copies, random);
  if (more == less || more->amount == 0 || less->amount < 2) return;
  const auto next = std::ranges::upper_bound(kAmounts, more->amount);
  if (next == kAmounts.end()) return;
  less->amount = std::max<int64_t>(1, less->amount * more->amount / *next);
  more->amount = *next;
}

std::vector<OptOp> Moves::changed(const std::vector<OptOp>& opts, std::mt19937_64& random) {
  std::vector<OptOp> other = opts;
  const size_t at = other.empty() ? 0 : random() % other.size();
  switch (other.empty() ? 0 : random() % 8) {
    case 0: {  // one more, before what comes last
      const Chooser before = replayed(std::span(other).first(at));
      const std::vector<OptOp> fitting = proposals(before);
      if (!fitting.empty()) other.insert(other.begin() + static_cast<int64_t>(at), pick(fitting, random));
      return other;
    }
    case 1:
      if (!isFixed(other[at])) other.erase(other.begin() + static_cast<int64_t>(at));
      return other;
    case 2:
      if (at + 1 < other.size()) std::swap(other[at], other[at + 1]);
      return other;
    case 3: return macro(other, random);
    case 4: reshape(other, random); return other;
    default:  // another amount
      if (isFixed(other[at])) return other;
      forEachArg(
          other[at].args, [](uint32_t&) {}, [](AxisRef&) {},
          [&](int64_t& amount) { amount = otherAmount(amount, random); });
      return other;
  }
}

std::optional<Candidate> Moves::mutant(std::span<const Candidate> parents, std::mt19937_64& random, int changes) {
  const Candidate& parent = parents[random() % parents.size()];
  if (threads_ > 1 && random() % 8 == 0)
    return shared(parent, 1 + static_cast<int>(random() % static_cast<uint64_t>(threads_)));
  if (random() % 8 == 0) {
    const Candidate& second = parents[random() % parents.size()];
    std::vector<OptOp> opts(parent.opts.begin(),
                            parent.opts.begin() + static_cast<int64_t>(random() % (parent.opts.size() + 1)));
    const size_t from = random() % (second.opts.size() + 1);
    opts.insert(opts.end(), second.opts.begin() + static_cast<int64_t>(from), second.opts.end());
    return candidate(opts, "crossover");
  }
  std::vector<OptOp> opts = changed(parent.opts, random);
  for (int more = 1; more < changes && random() % 2 == 0; ++more) opts = changed(opts, random);
  return candidate(opts, "mutation");
}

}  // namespace svod
