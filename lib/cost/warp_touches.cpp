#include "cost/warp_touches.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/evaluate.h"
#include "ir/gpu_op.h"

namespace svod {

namespace {

constexpr int64_t kSector = 32, kBanks = 32, kWord = 4, kWidest = 16;

// Lanes whose words the banks serve in one turn where nothing conflicts.
size_t lanesOfTurn(int64_t bytes) {
  return static_cast<size_t>(kBanks * kWord / std::clamp<int64_t>(bytes, kWord, kWidest));
}

std::set<int64_t> wordsOf(std::span<const int64_t> addresses, int64_t bytes) {
  std::set<int64_t> words;
  for (int64_t at : addresses)
    for (int64_t b = 0; b < bytes; b += std::min(bytes, kWord)) words.insert((at + b) / kWord);
  return words;
}

int leastOf(std::span<const int64_t> addresses, int64_t bytes, bool isShared) {
  if (!isShared) {
    std::set<int64_t> touched(addresses.begin(), addresses.end());
    return static_cast<int>((static_cast<int64_t>(touched.size()) * bytes + kSector - 1) / kSector);
  }
  int turns = 0;
  for (size_t first = 0; first < addresses.size(); first += lanesOfTurn(bytes)) {
    const auto lanes = addresses.subspan(first, std::min(lanesOfTurn(bytes), addresses.size() - first));
    turns += static_cast<int>((static_cast<int64_t>(wordsOf(lanes, bytes).size()) + kBanks - 1) / kBanks);
  }
  return turns;
}

/// Threads of the first workgroup, by what the hardware calls their indices.
class Lanes {
 public:
  explicit Lanes(std::span<const UOp> ops) {
    for (UOp n : ops)
      if (n.op() == Op::Special && n.argAs<VarArg>().name.starts_with("lidx")) {
        extents_[std::string(n.argAs<VarArg>().name)] = n.src(0).bounds().max;
        threads_ *= n.src(0).bounds().max;
      }
  }
  int64_t count() const { return std::min<int64_t>(threads_, kWarpLanes); }

  std::optional<int64_t> valueOf(UOp index, int64_t lane) const {
    std::map<std::string, int64_t> at;
    int64_t left = lane;
    for (const auto& [name, extent] : extents_) at[name] = left % extent, left /= extent;
    std::optional<Scalar> value = evaluate(index, [&](UOp leaf) -> std::optional<Scalar> {
      if (leaf.op() == Op::Range) return Scalar::ofInt(leaf.dtype(), 0);
      if (leaf.op() == Op::Var) return Scalar::ofInt(leaf.dtype(), leaf.bounds().max);
      if (leaf.op() != Op::Special) return std::nullopt;
      const auto found = at.find(std::string(leaf.argAs<VarArg>().name));
      return Scalar::ofInt(leaf.dtype(), found == at.end() ? 0 : found->second);
    });
    return value ? std::optional(value->asInt()) : std::nullopt;
  }

 private:
  std::map<std::string, int64_t> extents_;  // x first
  int64_t threads_ = 1;
};

bool isShared(UOp storage) { return storage.op() == Op::Buffer && storage.argAs<SlotArg>().space == Space::Local; }

// Where each lane starts; none where that is loaded, or where lanes of a vector are no neighbours.
std::vector<int64_t> addressesOf(const Lanes& lanes, UOp index, int64_t count) {
  std::vector<int64_t> addresses;
  UOp at = index.src(1);
  if (!at.isScalar() && at.op() != Op::Ramp) return {};
  for (int64_t lane = 0; lane < count; ++lane) {
    const std::optional<int64_t> element = lanes.valueOf(at.isScalar() ? at : at.src(0), lane);
    if (!element) return {};
    addresses.push_back(*element * byteSize(index.dtype()));
  }
  return addresses;
}

void add(std::vector<WarpTouch>& found, const Lanes& lanes, WarpTouch access) {
  UOp storage = storageOf(access.address);
  access.isShared = isShared(storage);
  if (!access.isShared && storage.op() != Op::Param) return;
  const bool isPair = access.node.op() == Op::Gpu && gpuOpOf(access.node).result == GpuResult::Words2;
  const std::vector<int64_t> at =
      addressesOf(lanes, access.address, isPair ? std::min<int64_t>(lanes.count(), 16) : lanes.count());
  if (at.empty()) return;
  access.count = access.isShared ? wavefrontsOf(at, access.bytes) : sectorsOf(at, access.bytes);
  access.least = leastOf(at, access.bytes, access.isShared);
  found.push_back(access);
}

}  // namespace

int wavefrontsOf(std::span<const int64_t> addresses, int64_t bytes) {
  int turns = 0;
  for (size_t first = 0; first < addresses.size(); first += lanesOfTurn(bytes)) {
    const auto lanes = addresses.subspan(first, std::min(lanesOfTurn(bytes), addresses.size() - first));
    std::map<int64_t, int> wordsOfBank;
    int most = 0;
    for (int64_t word : wordsOf(lanes, bytes)) most = std::max(most, ++wordsOfBank[word % kBanks]);
    turns += most;
  }
  return turns;
}

int sectorsOf(std::span<const int64_t> addresses, int64_t bytes) {
  std::set<int64_t> sectors;
  for (int64_t at : addresses)
    for (int64_t b = 0; b < bytes; ++b) sectors.insert((at + b) / kSector);
  return static_cast<int>(sectors.size());
}

std::vector<WarpTouch> warpTouches(std::span<const UOp> ops) {
  const Lanes lanes(ops);
  std::vector<WarpTouch> found;
  for (UOp n : ops) {
    if (n.op() == Op::Load || n.op() == Op::Store)
      add(found, lanes, {n, n.src(0), false, n.op() == Op::Store, n.src(0).lanes() * byteSize(n.src(0).dtype())});
    if (n.op() != Op::Gpu) continue;
    const GpuOpInfo& row = gpuOpOf(n);
    for (UOp operand : operandsOf(n))
      if (operand.op() == Op::Index)
        add(found, lanes,
            {n, operand, false, row.does(WritesShared) && isShared(storageOf(operand)),
             row.does(Issues) ? bytesCopied(row) : kMatrixRowBytes});
  }
  return found;
}

}  // namespace svod
