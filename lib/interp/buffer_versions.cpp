#include "interp/buffer_versions.h"

#include <algorithm>
#include <set>

#include "interp/port_content.h"
#include "ir/text.h"

namespace svod {

UOp baseOf(UOp target) {
  auto passes = [](Op op) { return op == Op::After || (isMovement(op) && op != Op::Pad && op != Op::Expand); };
  while (passes(target.op())) target = target.src(0);
  return target;
}

BufferVersions::BufferVersions(const Model& model, const ModelBindings& bindings)
    : model_(model), bindings_(bindings), versions_(model.ports.size()) {}

Status BufferVersions::open(UOp buffer, const SizeValues& sizes) {
  const size_t slot = slotOf(buffer);
  if (slot >= model_.ports.size())
    return fail(Diag::UnknownPort, "no port for " + toLineText(buffer), "give every buffer a port");
  if (!versions_[slot].empty()) return {};
  const HostTensor* bound = slot < bindings_.ports.size() ? &bindings_.ports[slot] : nullptr;
  SVOD_TRY(std::vector<int64_t> dims, sizes.numbers(buffer.shape()));
  SVOD_TRY(HostTensor content, portContent(buffer.dtype(), std::move(dims), model_.ports[slot], bound));
  versions_[slot].push_back(View::of(std::move(content)));
  return {};
}

const View& BufferVersions::seenBy(UOp node, UOp buffer) const {
  uint32_t version = 0;
  std::vector<UOp> pending{node};
  std::set<uint32_t> seen;
  while (!pending.empty()) {
    UOp n = pending.back();
    pending.pop_back();
    if (!seen.insert(n.id()).second) continue;
    if (n.op() == Op::Store && baseOf(n.src(0)) == buffer) {
      version = std::max(version, storeIndex_.at(n.id()));  // those before it made older versions
    } else if (n.op() == Op::End || n.op() == Op::Range) {
      version = std::max(version, versionAt_.at(n.id())[slotOf(buffer)]);
    } else {
      pending.insert(pending.end(), n.src().begin(), n.src().end());
    }
  }
  return versions_[slotOf(buffer)][version];
}

void BufferVersions::add(UOp store, View content) {
  std::vector<View>& versions = versions_[slotOf(baseOf(store.src(0)))];
  storeIndex_[store.id()] = static_cast<uint32_t>(versions.size());
  versions.push_back(std::move(content));
}

void BufferVersions::noteAt(UOp node) {
  std::vector<uint32_t>& at = versionAt_[node.id()];
  at.clear();
  for (const std::vector<View>& versions : versions_)
    at.push_back(static_cast<uint32_t>(std::max<size_t>(1, versions.size()) - 1));
}

std::vector<size_t> BufferVersions::counts() const {
  std::vector<size_t> out;
  for (const std::vector<View>& versions : versions_) out.push_back(std::max<size_t>(1, versions.size()));
  return out;
}

void BufferVersions::forgetSince(std::span<const size_t> counts) {
  for (size_t slot = 0; slot < versions_.size(); ++slot)
    if (std::vector<View>& versions = versions_[slot]; versions.size() > counts[slot] + 1)
      versions.erase(versions.begin() + static_cast<std::ptrdiff_t>(counts[slot]), versions.end() - 1);
}

}  // namespace svod
