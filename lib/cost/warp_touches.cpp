#include "cost/warp_touches.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/evaluate.h"
#include "ir/gpu_op.h"
#include "ir/workgroup.h"

namespace svod {

namespace {

constexpr int64_t kSector = 32, kBanks = 32, kWord = 4;  // by definition: of every GPU that there is a record of

// Lanes whose words the banks serve in one turn where nothing conflicts.
size_t lanesOfTurn(int64_t bytes) {
  return static_cast<size_t>(kBanks * kWord / std::clamp<int64_t>(bytes, kWord, kAccessBytes));
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
      if (isThreadIndex(n)) {
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

/// The first element of an access: of a vector's lanes the first.
UOp firstOf(UOp at) {
  at = behindAliases(at);
  return at.op() == Op::Ramp || at.op() == Op::Stack ? at.src(0) : at;
}

/// Where each lane starts that a gate, if there is one, lets through; nothing where that is loaded.
std::vector<int64_t> addressesOf(const Lanes& lanes, UOp index, UOp gate, int64_t count) {
  std::vector<int64_t> addresses;
  for (int64_t lane = 0; lane < count; ++lane) {
    if (gate && gate.isScalar() && lanes.valueOf(gate, lane) == 0) continue;
    const UOp first = firstOf(index.src(1));
    const std::optional<int64_t> element = first.isScalar() ? lanes.valueOf(first, lane) : std::nullopt;
    if (!element) return {};
    addresses.push_back(*element * byteSize(storageOf(index).dtype()));
  }
  return addresses;
}

void add(std::vector<WarpTouch>& found, const Lanes& lanes, WarpTouch access, UOp gate) {
  UOp storage = storageOf(access.address);
  access.isShared = isShared(storage);
  if (!access.isShared && storage.op() != Op::Param) return;
  const bool isPair = access.node.op() == Op::Gpu && gpuOpOf(access.node).result == GpuResult::Words2;
  const std::vector<int64_t> at =
      addressesOf(lanes, access.address, gate, isPair ? std::min<int64_t>(lanes.count(), 16) : lanes.count());
  if (at.empty()) return;
  access.lanes = static_cast<int>(at.size());
  access.count = access.isShared ? wavefrontsOf(at, access.bytes) : sectorsOf(at, access.bytes);
  access.least = leastOf(at, access.bytes, access.isShared);
  found.push_back(access);
}

void addAccess(std::vector<WarpTouch>& found, const Lanes& lanes, UOp n) {
  const UOp address = behindAliases(n.src(0));
  const int all = std::max(n.src(0).lanes(), n.op() == Op::Load ? n.lanes() : n.src(1).lanes());
  const int width = lanesAtOnce(address, all);
  const WarpTouch access{n,          address, false, n.op() == Op::Store, width * byteSize(storageOf(address).dtype()),
                         all / width};
  add(found, lanes, access, n.srcCount() == 3 ? n.src(2) : UOp());
}

/// An instruction that copies writes zeros where its gate is closed, and reads nothing.
void addInstruction(std::vector<WarpTouch>& found, const Lanes& lanes, UOp n) {
  const GpuOpInfo& row = gpuOpOf(n);
  const std::span<const UOp> operands = operandsOf(n);
  const UOp gate = !operands.empty() && operands.back().dtype() == DType::Bool ? operands.back() : UOp();
  for (UOp operand : operands) {
    const UOp address = behindAliases(operand);
    if (address.op() != Op::Index) continue;
    const bool isIn = isShared(storageOf(address));
    add(found, lanes,
        {n, address, false, row.does(WritesShared) && isIn, row.does(Issues) ? bytesCopied(row) : kMatrixRowBytes},
        isIn ? UOp() : gate);
  }
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
    if (n.op() == Op::Load || n.op() == Op::Store) addAccess(found, lanes, n);
    const bool isOfLanes = n.op() == Op::Gpu && !gpuOpOf(n).does(Multiplies) && !gpuOpOf(n).does(Bulk);
    if (isOfLanes) addInstruction(found, lanes, n);
  }
  return found;
}

}  // namespace svod
