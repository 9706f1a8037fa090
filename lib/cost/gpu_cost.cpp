#include "cost/gpu_cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "cost/ops.h"
#include "cost/parameters.h"
#include "cost/warp_touches.h"
#include "facts/local_buffers.h"
#include "ir/evaluate.h"
#include "ir/gpu_op.h"
#include "ir/workgroup.h"
#include "machine/occupancy.h"

namespace svod {

namespace {

using namespace parameters;

constexpr int64_t kSectorBytes = 32;  // by definition (docs/glossary.md)

double extent(UOp r) { return static_cast<double>(std::max<int64_t>(0, maxExtent(r))); }

class Pricing {
 public:
  Pricing(const KernelFacts& kernel, const Caps& caps) : kernel_(kernel), gpu_(caps.gpu) {
    threads_ = static_cast<double>(workgroupThreads(kernel.sink));
    for (UOp n : kernel.nodes)
      if (n.op() == Op::Range && axisType(n) == AxisType::Global) groups_ *= std::max(1.0, extent(n));
    for (const ThreadDim& dim : threadDimsOf(kernel.sink)) dims_.push_back(dim);
    for (UOp n : kernel.nodes)
      if (n.op() == Op::Range && axisType(n) == AxisType::Warp) lanes_.push_back(n);
    for (UOp n : kernel.reduces)
      if (n.argAs<ReduceArg>().op == Op::Add && n.src(0).op() == Op::Mul) fused_.insert(n.src(0).id());
    std::ranges::sort(lanes_, {}, [](UOp r) { return r.argAs<AxisArg>().id; });
    isOfWarpgroup_ = multipliersOf(kernel) == Multipliers::Warpgroups;
    for (UOp fill : kernel.fills)
      if (isFilledInBulk(kernel.sink, fill, static_cast<int64_t>(threads_), gpu_))
        inBulk_.insert({fill.src(0).id(), fill.src(0).src(1).id()});
  }

  GpuCost cost() {
    double instructions = 0, products = 0, sectors = 0;
    for (UOp n : kernel_.nodes) {
      const double runs = runsOf(n);
      if (closesCore(n)) {
        products += runsOf(n.src(0)) * threads_ * groups_;
      } else if (!inBulk_.contains(n.id())) {
        instructions += runs * slotsOf(n);
      }
    }
    for (const Access& a : kernel_.accesses)
      if (a.slot && inBulk_.contains(a.node.id()))
        sectors += runsOf(a.node) * groups_ * byteSize(a.node.dtype()) / kSectorBytes;
      else if (a.slot)
        sectors += runsOf(a.node) * std::ceil(threads_ / kWarpLanes) * groups_ * sectorsOfWarp(a);
    return finished(instructions, products, sectors);
  }

 private:
  /// How often one thread executes a node; a vector counts as one where it is a single access.
  double runsOf(UOp n) const {
    double runs = 1;
    for (UOp r : kernel_.loops()[n]) {
      const AxisType type = axisType(r);
      if (type == AxisType::Global || isThreadOfGroup(axisType(r)) || (isExpanded(type) && !n.dependsOn(r))) continue;
      if (type == AxisType::Spread) {
        runs *= std::ceil(extent(r) / threads_);
      } else if (type != AxisType::Vector || !has(n.op(), Memory)) {
        runs *= extent(r);
      }
    }
    return runs;
  }

  static bool closesCore(UOp n) {
    return n.op() == Op::Reduce &&
           std::ranges::any_of(n.src().subspan(1), [](UOp r) { return axisType(r) == AxisType::Core; });
  }

  double slotsOf(UOp n) const {
    if (n.dtype() == DType::Index || n.dtype() == DType::Bool) return 0;
    if (n.op() == Op::Load && isOfWarpgroup_ && isUnderCore(n) && storageOf(n.src(0)).op() != Op::Param)
      return 0;  // a warpgroup finds its factors in memory
    if (n.op() == Op::Load || n.op() == Op::Store) return 1;
    if (n.op() == Op::Reduce) {
      double steps = 1;
      for (UOp r : n.src().subspan(1))
        steps *= isThreadOfGroup(axisType(r)) ? 2 * std::log2(std::max(2.0, extent(r))) : extent(r);
      return steps;
    }
    if (!isElementwise(n.op()) || isUnderCore(n) || fused_.contains(n.id())) return 0;
    return gpuInstructionsOf(n);
  }
  static bool isUnderCore(UOp n) {
    return std::ranges::any_of(n.ranges(), [](UOp r) { return axisType(r) == AxisType::Core; });
  }

  std::optional<int64_t> addressOf(const Access& a, int64_t lane) const {
    std::map<uint32_t, int64_t> at;
    int64_t left = lane;
    for (size_t i = lanes_.size(); i-- > 0;)
      at[lanes_[i].id()] = left % maxExtent(lanes_[i]), left /= maxExtent(lanes_[i]);
    for (size_t i = dims_.size(); i-- > 0;) {
      const int64_t size = std::max<int64_t>(1, maxExtent(dims_[i].range()));
      for (UOp r : dims_[i].ranges) at[r.id()] = left % size;
      left /= size;
    }
    const auto valueOf = [&](UOp leaf) -> std::optional<Scalar> {
      if (leaf.op() == Op::Var) return Scalar::ofInt(leaf.dtype(), leaf.bounds().max);
      if (leaf.op() != Op::Range) return std::nullopt;
      if (axisType(leaf) == AxisType::Spread) return Scalar::ofInt(leaf.dtype(), std::min(lane, maxExtent(leaf) - 1));
      const auto found = at.find(leaf.id());
      return Scalar::ofInt(leaf.dtype(), found == at.end() ? 0 : found->second);
    };
    std::optional<Scalar> value = evaluate(a.address, valueOf);
    return value ? std::optional(value->asInt() * byteSize(a.node.src(0).dtype())) : std::nullopt;
  }

  double sectorsOfWarp(const Access& a) const {
    int64_t bytes = byteSize(a.node.src(0).dtype());
    for (UOp r : a.address.ranges())
      if (axisType(r) == AxisType::Vector && strideOf(a, r) == 1) bytes *= maxExtent(r);
    std::vector<int64_t> addresses;
    for (int64_t lane = 0; lane < std::min<int64_t>(kWarpLanes, static_cast<int64_t>(threads_)); ++lane) {
      const std::optional<int64_t> at = addressOf(a, lane);
      if (!at) return static_cast<double>(kWarpLanes);  // anywhere
      addresses.push_back(*at);
    }
    return sectorsOf(addresses, bytes);
  }

  /// Copies under way beside the products: bytes of one workgroup, and how often its slowest ring goes on. Nothing
  /// where a copy of a parameter has no ring: all threads wait for that.
  struct Ahead {
    double bytes = 0, steps = 0;
    bool isThere() const { return bytes > 0; }
  };
  Ahead ahead() const {
    Ahead found;
    for (UOp fill : kernel_.fills) {
      const double others = bufferOf(fill).argAs<SlotArg>().ring - 1.0;
      if (others < 1 && bareCopyOf(fill)) return {};
      if (others < 1) continue;
      double steps = 1;
      for (UOp r : kernel_.loops()[fill])
        if (axisType(r) == AxisType::Reduce || axisType(r) == AxisType::Loop) steps *= std::max(1.0, extent(r));
      found.bytes += others * static_cast<double>(fillBytes(fill));
      found.steps = std::max(found.steps, steps / others);
    }
    return found;
  }

  int64_t sharedBytes() const {
    int64_t bytes = 0;
    for (UOp fill : kernel_.fills) bytes += bytesInMemory(fill, static_cast<int64_t>(threads_));
    return bytes;
  }

  /// Each parameter once; again for every access where a wave of workgroups touches more of it than L2 holds.
  double bytesOfMemory(double groupsOfWave) const {
    std::map<std::pair<uint32_t, bool>, double> once;
    double again = 0;
    for (const Access& a : kernel_.accesses) {
      if (!a.slot) continue;
      const UOp storage = storageOf(a.node.src(0));
      const double bytes =
          std::min(bytesRead(a), static_cast<double>(storage.maxNumel()) * byteSize(a.node.src(0).dtype()));
      double& most = once[{storage.id(), a.isStore}];
      if (most > 0 &&
          bytes / groups_ * std::min(groups_, groupsOfWave) > static_cast<double>(gpu_.l2Bytes) * kGpuKeptOfL2)
        again += std::min(most, bytes);
      most = std::max(most, bytes);
    }
    for (const auto& [_, bytes] : once) again += bytes;
    return again;
  }

  GpuCost finished(double instructions, double products, double sectors) const {
    GpuCost cost;
    const auto threads = static_cast<int64_t>(std::min(threads_, 1024.0));
    const double resident =
        static_cast<double>(std::max<int64_t>(1, occupancyOf(gpu_, {kGpuRegisters, sharedBytes(), threads}).groups));
    const double warps = std::ceil(threads_ / kWarpLanes), units = gpu_.units,
                 each = std::min(resident, std::ceil(groups_ / units));
    const double waves = std::ceil(groups_ / (units * each)), perNanosecond = gpu_.clockMHz / 1000.0;
    cost.busy = std::max(1e-6, groups_ / (units * each * waves));
    const Ahead ahead = this->ahead();
    const double wanted = ahead.isThere() ? kGpuWarpsToHide : kWarpsWanted,
                 hidden = std::min(1.0, warps * each / wanted);
    const double issued = instructions * warps * groups_ * kWarpLanes / (gpu_.lanes * units * perNanosecond);
    const double lanes = isOfWarpgroup_ ? gpu_.warpgroupLanes * kGpuWarpgroupShare : gpu_.coreLanes;
    const double multiplied = lanes > 0 ? products / (lanes * units * perNanosecond) : 0;
    const double hiddenOrIdle = std::max(0.25, hidden);  // products of a warpgroup need no other warps beside them
    cost.computing = std::max(issued / hiddenOrIdle, multiplied / (isOfWarpgroup_ ? 1 : hiddenOrIdle)) / cost.busy;
    // By Little's law: bytes under way are those of a bandwidth times its latency, at most.
    const auto shareOf = [&](double bytesPerNs) {
      const double underWay = ahead.bytes * each * std::min(units, groups_);
      return ahead.isThere() ? std::min(1.0, underWay / (bytesPerNs * kGpuLatencyNs)) : 0;
    };
    const double l2 = gpu_.l2MBs / 1000.0, memory = gpu_.memoryMBs / 1000.0;
    cost.cache = sectors * kSectorBytes / l2 / cost.busy / (ahead.isThere() ? shareOf(l2) : hidden);
    const double byWarps = std::max(0.1, std::min(1.0, groups_ * warps / (units * kWarpsWanted / 2)));
    cost.memory = bytesOfMemory(units * each) / memory / (ahead.isThere() ? shareOf(memory) : byWarps);
    const double waiting = waves * ahead.steps * kGpuLatencyNs;
    cost.total = kGpuLaunchNs + std::max({cost.computing, cost.cache, cost.memory, waiting});
    return cost;
  }

  const KernelFacts& kernel_;
  const GpuTarget& gpu_;
  double threads_ = 1, groups_ = 1;
  std::vector<ThreadDim> dims_;
  std::vector<UOp> lanes_;
  bool isOfWarpgroup_ = false;
  std::set<uint32_t> fused_;   // products that one instruction adds up
  std::set<uint32_t> inBulk_;  // loads and stores that no thread executes
};

}  // namespace

Multipliers multipliersOf(const KernelFacts& kernel) {
  int64_t lanes = 1;
  for (UOp n : kernel.nodes)
    if (n.op() == Op::Range && axisType(n) == AxisType::Warp) lanes *= maxExtent(n);
  return lanes == 1 ? Multipliers::Lanes : lanes == kWarpLanes ? Multipliers::Warps : Multipliers::Warpgroups;
}

GpuCost gpuCostOf(const KernelFacts& kernel, const Caps& caps) { return Pricing(kernel, caps).cost(); }

}  // namespace svod
