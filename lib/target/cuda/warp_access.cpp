#include "target/cuda/warp_access.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/evaluate.h"
#include "target/cuda/lane_text.h"
#include "target/cuda/vector_access.h"

namespace svod {

namespace {

constexpr int kWarp = 32, kSector = 32, kBank = 4, kBanks = 32;

/// An integer in thread `thread` of the first workgroup, in the first iteration of every loop; nothing where it depends
/// on memory.
std::optional<int64_t> valueIn(const std::array<uint64_t, 3>& threads, int64_t thread, UOp value) {
  const auto x = static_cast<int64_t>(threads[0]), y = static_cast<int64_t>(threads[1]);
  const std::array<int64_t, 3> at = {thread % x, thread / x % y, thread / x / y};
  const LeafValue leaf = [&](UOp node) -> std::optional<Scalar> {
    if (node.op() == Op::Range) return Scalar::ofInt(node.dtype(), 0);
    if (node.op() == Op::Var) return Scalar::ofInt(node.dtype(), node.argAs<VarArg>().max);
    if (node.op() != Op::Special) return std::nullopt;
    const std::string_view name = node.argAs<VarArg>().name;
    return Scalar::ofInt(node.dtype(), name.starts_with("lidx") ? at[static_cast<size_t>(name.back() - '0')] : 0);
  };
  const std::optional<Scalar> found = evaluate(value, leaf);
  return found ? std::optional(found->asInt()) : std::nullopt;
}

/// The first element of an access, as a scalar: of a vector's lanes the first.
UOp firstOf(UOp index) {
  index = behindAliases(index);
  if (index.op() == Op::Ramp) return index.src(0);
  return index.op() == Op::Stack ? index.src(0) : index;
}

}  // namespace

int sectorsOf(const std::vector<int64_t>& addresses, int bytes) {
  std::set<int64_t> sectors;
  for (int64_t a : addresses)
    for (int64_t s = a / kSector; s <= (a + bytes - 1) / kSector; ++s) sectors.insert(s);
  return static_cast<int>(sectors.size());
}

int wavefrontsOf(const std::vector<int64_t>& addresses, int bytes) {
  const size_t lanes = static_cast<size_t>(kWarp * kBank / std::max(bytes, kBank));  // that are served at a time
  int rounds = 0;
  for (size_t first = 0; first < addresses.size(); first += lanes) {
    std::map<int64_t, std::set<int64_t>> words;  // by bank
    for (size_t i = first; i < std::min(first + lanes, addresses.size()); ++i)
      for (int64_t w = addresses[i] / kBank; w <= (addresses[i] + bytes - 1) / kBank; ++w) words[w % kBanks].insert(w);
    size_t most = 0;
    for (const auto& [bank, distinct] : words) most = std::max(most, distinct.size());
    rounds += static_cast<int>(most);
  }
  return rounds;
}

std::vector<WarpAccess> warpAccessesOf(const LinearKernel& kernel, const std::array<uint64_t, 3>& threads) {
  const auto count = static_cast<int64_t>(threads[0] * threads[1] * threads[2]);
  const LaneText names(kernel);
  std::vector<WarpAccess> all;
  for (UOp n : kernel.ops) {
    if (n.op() != Op::Load && n.op() != Op::Store) continue;
    const UOp index = behindAliases(n.src(0)), storage = storageOf(index);
    if (storage.op() == Op::Buffer && storage.argAs<SlotArg>().space != Space::Local) continue;
    const int width =
        VectorAccess(n.src(0), std::max(n.src(0).lanes(), n.op() == Op::Load ? n.lanes() : n.src(1).lanes()), names)
            .width();
    WarpAccess access{n.op() == Op::Store, storage.op() == Op::Buffer, storage.argAs<SlotArg>().slot,
                      width * byteSize(storage.dtype())};
    std::vector<int64_t> addresses;
    bool isKnown = true;
    for (int64_t lane = 0; lane < std::min<int64_t>(kWarp, count); ++lane) {
      const UOp gate = n.srcCount() == 3 ? n.src(2) : UOp();
      if (gate && gate.rank() == 0 && valueIn(threads, lane, gate) == 0) continue;
      const std::optional<int64_t> at = valueIn(threads, lane, firstOf(index.src(1)));
      isKnown = isKnown && at;
      if (at) addresses.push_back(*at * byteSize(storage.dtype()));
    }
    if (!isKnown || addresses.empty()) continue;
    const std::set<int64_t> distinct(addresses.begin(), addresses.end());
    const auto wanted = static_cast<int>(distinct.size()) * access.bytes;
    access.lanes = static_cast<int>(addresses.size()), access.count = 1;
    access.transfers = access.isShared ? wavefrontsOf(addresses, access.bytes) : sectorsOf(addresses, access.bytes);
    access.least = access.isShared ? std::max((wanted + kBank * kBanks - 1) / (kBank * kBanks), 1)
                                   : (wanted + kSector - 1) / kSector;
    const auto alike = [&](const WarpAccess& other) {
      return other.isStore == access.isStore && other.isShared == access.isShared && other.slot == access.slot &&
             other.bytes == access.bytes && other.lanes == access.lanes && other.transfers == access.transfers &&
             other.least == access.least;
    };
    if (auto known = std::ranges::find_if(all, alike); known != all.end())
      known->count++;
    else
      all.push_back(access);
  }
  return all;
}

}  // namespace svod
