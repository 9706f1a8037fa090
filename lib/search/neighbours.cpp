#include "search/neighbours.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "facts/kernel_facts.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "search/moves.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

constexpr size_t kKernels = 4;         // so many neighbours,
constexpr size_t kListsOfEach = 3;     // so many lists of each to begin with,
constexpr size_t kSamplesOfEach = 48;  // so many times of each to learn from

/// What has to be equal, and the extents, whose distance counts.
struct Likeness {
  Pattern pattern;
  std::vector<Nest> nests;
  std::vector<DType> operands;
  std::vector<double> extents;  // log2

  explicit Likeness(UOp sink) {
    const KernelFacts facts(sink);
    pattern = facts.pattern();
    for (const Axis& axis : facts.axes) {
      nests.push_back(axis.nest);
      extents.push_back(std::log2(static_cast<double>(std::max<int64_t>(maxExtent(axis.range), 1))));
    }
    std::map<uint32_t, DType> bySlot;
    for (UOp n : facts.nodes)
      if (n.op() == Op::Param) bySlot.emplace(n.argAs<SlotArg>().slot, n.dtype());
    for (const auto& [slot, dtype] : bySlot) operands.push_back(dtype);
  }
  bool isAlike(const Likeness& o) const { return pattern == o.pattern && nests == o.nests && operands == o.operands; }
  double distanceTo(const Likeness& o) const {
    double sum = 0;
    for (size_t i = 0; i < extents.size(); ++i) sum += std::fabs(extents[i] - o.extents[i]);
    return sum;
  }
};

struct Neighbour {
  double distance;
  const KernelRecord* record;
  auto rank() const { return std::tie(distance, record->kernel); }
};

std::vector<Neighbour> nearest(const TunedKernel& kernel, const Caps& caps, const TuningLog& log) {
  const Likeness wanted(kernel.sink);
  std::map<std::string, Neighbour> found;  // a kernel may have records under several names
  for (const KernelRecord& record : log.kernels) {
    if (record.kernel == kernel.hash || found.contains(record.kernel)) continue;
    Graph graph;
    const Result<UOp> sink = parseUop(graph, record.text);
    if (!sink || !verify(*sink, Stage::Kernel)) continue;  // anyone may have written it
    const Likeness other(simplifyKernel(graph, *sink, caps.numerics));
    if (wanted.isAlike(other)) found.emplace(record.kernel, Neighbour{wanted.distanceTo(other), &record});
  }
  std::vector<Neighbour> all;
  for (const auto& [hash, neighbour] : found) all.push_back(neighbour);
  std::ranges::sort(all, {}, &Neighbour::rank);
  all.resize(std::min(all.size(), kKernels));
  return all;
}

bool isRight(const CandidateRecord& r) {
  return r.nanoseconds > 0 &&
         (r.outcome == Outcome::Wins || r.outcome == Outcome::Timed || r.outcome == Outcome::Loses);
}

/// Winners first, then by time.
auto rankOf(const CandidateRecord* r) {
  return std::tuple(r->outcome != Outcome::Wins, r->nanoseconds, std::string_view(r->opts));
}

}  // namespace

Neighbours neighboursOf(const TunedKernel& kernel, const Caps& caps, const TuningLog& log) {
  Neighbours result;
  for (const Neighbour& neighbour : nearest(kernel, caps, log)) {
    const KernelRecord& record = *neighbour.record;
    std::vector<const CandidateRecord*> lists;
    for (const CandidateRecord& r : log.candidates)
      if (r.kernel == record.kernel && r.target == kernel.target && isRight(r)) lists.push_back(&r);
    std::ranges::sort(lists, {}, rankOf);
    Graph graph;
    const Result<UOp> sink = parseUop(graph, record.text);
    Moves moves(graph, simplifyKernel(graph, *sink, caps.numerics), caps);
    size_t hints = 0, samples = 0;
    for (const CandidateRecord* r : lists) {
      const Result<std::vector<OptOp>> opts = parseOpts(r->opts);
      if (!opts) continue;
      if (hints++ < kListsOfEach) result.hints.push_back({*opts, "nearest " + record.name});
      if (r->machine != kernel.machine || samples++ >= kSamplesOfEach) continue;
      if (const std::optional<Candidate> made = moves.candidate(*opts, ""); made && made->text == r->opts)
        result.correction.add(record.kernel, *made, r->nanoseconds);
    }
  }
  result.correction.fit();
  return result;
}

}  // namespace svod
