#include "plan/hazards.h"

#include <algorithm>

#include "support/heap_sort.h"
#include "support/says.h"

namespace svod {

namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;
constexpr uint32_t kNobody = UINT32_MAX;

/// Bytes [begin, end) of a storage that were last written, and since then read, by the same steps.
struct Piece {
  uint64_t begin = 0, end = 0;
  uint32_t writer = kNobody;
  std::vector<uint32_t> readers;
  uint32_t tenant = 0;                // the last one; `readers` are its users
  std::vector<uint32_t> before = {};  // users of the tenant before that
};

/// One storage as disjoint pieces, in the order of their bytes.
class History {
 public:
  void read(uint64_t begin, uint64_t end, uint32_t step, Pairs& pairs) {
    for (size_t at = cut(begin, end); at < pieces_.size() && pieces_[at].begin < end; at++) {
      Piece& piece = pieces_[at];
      order(piece.writer, step, pairs);
      if (piece.readers.empty() || piece.readers.back() != step) piece.readers.push_back(step);
    }
  }
  void write(uint64_t begin, uint64_t end, uint32_t step, Pairs& pairs) {
    if (begin >= end) return;
    const size_t first = cut(begin, end);
    size_t behind = first;
    for (; behind < pieces_.size() && pieces_[behind].begin < end; behind++) {
      order(pieces_[behind].writer, step, pairs);
      for (uint32_t reader : pieces_[behind].readers) order(reader, step, pairs);
    }
    pieces_[first] = {begin, end, step, {}};
    pieces_.erase(at(first + 1), at(behind));
  }

  void use(const BufferAccess& access, uint32_t step, Pairs& pairs) {
    for (size_t at = cut(access.begin, access.end); at < pieces_.size() && pieces_[at].begin < access.end; at++) {
      Piece& piece = pieces_[at];
      if (piece.tenant != access.tenant) piece.before.swap(piece.readers), piece.readers.clear();
      piece.tenant = access.tenant;
      for (uint32_t user : piece.before) order(user, step, pairs);
      if (piece.readers.empty() || piece.readers.back() != step) piece.readers.push_back(step);
    }
  }

 private:
  static void order(uint32_t first, uint32_t then, Pairs& pairs) {
    if (first != kNobody && first != then) pairs.emplace_back(first, then);
  }
  std::vector<Piece>::iterator at(size_t index) { return pieces_.begin() + static_cast<ptrdiff_t>(index); }
  /// The first piece that ends behind the byte.
  size_t find(uint64_t byte) const {
    size_t from = 0, to = pieces_.size();
    while (from < to) {
      const size_t middle = (from + to) / 2;
      if (pieces_[middle].end <= byte)
        from = middle + 1;
      else
        to = middle;
    }
    return from;
  }
  /// Makes pieces begin at the byte where it is inside of one.
  void splitAt(uint64_t byte) {
    const size_t index = find(byte);
    if (index == pieces_.size() || pieces_[index].begin >= byte) return;
    Piece first = pieces_[index];
    first.end = pieces_[index].begin = byte;
    pieces_.insert(at(index), std::move(first));
  }
  /// Makes [begin, end) a run of whole pieces, filling gaps nobody has touched, and returns its first one.
  size_t cut(uint64_t begin, uint64_t end) {
    splitAt(begin);
    splitAt(end);
    const size_t first = find(begin);
    for (size_t index = first; begin < end; index++) {
      const bool isLast = index == pieces_.size();
      const uint64_t gapEnd = isLast ? end : std::min(end, pieces_[index].begin);
      if (begin < gapEnd) pieces_.insert(at(index), Piece{begin, gapEnd, kNobody, {}});
      begin = pieces_[index].end;
    }
    return first;
  }

  std::vector<Piece> pieces_;
};

/// A number for each arena, as others have that are no arenas.
uint32_t arenaOf(const Plan& plan, const BufferDesc& buffer) {
  if (buffer.device == 0) return 0;
  const auto first = static_cast<uint32_t>(plan.buffers.size() + 1);
  return first + 2 * buffer.device + (buffer.space == MemorySpace::Shared ? 1 : 0);
}

/// Adds the access through a buffer, or through the buffer its view looks into.
void addAccess(const Plan& plan, BufferId id, Mode mode, uint64_t bytes, StorageView view,
               std::vector<BufferAccess>& out) {
  const BufferDesc* buffer = &plan.buffers[id];
  uint64_t offset = 0;
  if (buffer->place == Place::View) {
    offset = buffer->offset;
    id = buffer->base;
    buffer = &plan.buffers[id];
  }
  const bool isPlaced = buffer->place == Place::Arena && view == StorageView::Placed;
  if (isPlaced && buffer->run)
    out.push_back({arenaOf(plan, *buffer), buffer->run->begin, buffer->run->end, mode, 1 + id});
  else if (isPlaced)
    return out.push_back({arenaOf(plan, *buffer), buffer->offset + offset, buffer->offset + offset + bytes, mode});
  out.push_back({1 + id, offset, offset + bytes, mode});
}

void collect(const Plan& plan, StepId step, StorageView view, std::vector<BufferAccess>& out) {
  auto add = [&](BufferId buffer, Mode mode, uint64_t bytes) {
    const BufferDesc& desc = plan.buffers[buffer];
    const Place place = desc.place == Place::View ? plan.buffers[desc.base].place : desc.place;
    if (place != Place::Constant && bytes > 0) addAccess(plan, buffer, mode, bytes, view, out);
  };
  const auto& action = plan.steps[step].action;
  if (const auto* launch = std::get_if<Launch>(&action)) {
    const KernelDesc& kernel = plan.kernels[launch->kernel];
    for (size_t i = 0; i < launch->buffers.size(); i++)
      add(launch->buffers[i], kernel.args[i].mode, kernel.args[i].bytes);
  } else if (const auto* copy = std::get_if<Copy>(&action)) {
    const uint64_t most = std::min(plan.buffers[copy->dst].bytes, plan.buffers[copy->src].bytes);
    const auto exact = copy->bytes.constant();
    const uint64_t bytes = exact ? std::min(most, static_cast<uint64_t>(*exact)) : most;
    add(copy->src, Mode::Read, bytes);
    add(copy->dst, Mode::Write, bytes);
  } else if (const auto* call = std::get_if<HostCall>(&action)) {
    for (const HostArg& arg : call->args) add(arg.buffer, arg.mode, plan.buffers[arg.buffer].bytes);
  } else if (const auto* loop = std::get_if<Loop>(&action)) {
    if (loop->condition) add(*loop->condition, Mode::Read, 1);
    for (StepId inner = step + 1; inner <= step + loop->length; inner++) {
      const auto* nested = std::get_if<Loop>(&plan.steps[inner].action);
      if (nested == nullptr) collect(plan, inner, view, out);
      if (nested != nullptr && nested->condition) add(*nested->condition, Mode::Read, 1);
    }
  }
}

std::vector<std::vector<BufferAccess>> accessesOf(const Plan& plan, const Scope& scope, StorageView view) {
  std::vector<std::vector<BufferAccess>> all;
  for (StepId step : scope.steps) all.push_back(accessesOf(plan, step, view));
  return all;
}

/// Calls of host functions have effects that no buffer shows: each comes after the one before it.
void orderCalls(const Plan& plan, Scope& scope) {
  uint32_t last = kNobody;
  for (uint32_t i = 0; i < scope.steps.size(); i++) {
    const StepId step = scope.steps[i];
    const auto* loop = std::get_if<Loop>(&plan.steps[step].action);
    const auto begin = plan.steps.begin() + step, end = begin + 1 + (loop != nullptr ? loop->length : 0);
    if (std::none_of(begin, end, [](const Step& s) { return std::holds_alternative<HostCall>(s.action); })) continue;
    if (last != kNobody) scope.deps[i].push_back(last);
    last = i;
  }
}

}  // namespace

Pairs hazardPairs(std::span<const std::vector<BufferAccess>> steps) {
  uint32_t storages = 0;
  for (const std::vector<BufferAccess>& step : steps)
    for (const BufferAccess& access : step) storages = std::max(storages, access.storage + 1);
  std::vector<History> histories(storages);
  Pairs pairs;
  for (uint32_t step = 0; step < steps.size(); step++) {
    for (const BufferAccess& access : steps[step])
      if (access.tenant != 0)
        histories[access.storage].use(access, step, pairs);
      else if (reads(access.mode))
        histories[access.storage].read(access.begin, access.end, step, pairs);
    for (const BufferAccess& access : steps[step])
      if (access.tenant == 0 && writes(access.mode))
        histories[access.storage].write(access.begin, access.end, step, pairs);
  }
  heapSort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

std::vector<BufferAccess> accessesOf(const Plan& plan, StepId step, StorageView view) {
  std::vector<BufferAccess> out;
  collect(plan, step, view, out);
  return out;
}

std::vector<Scope> scopesOf(const Plan& plan) {
  std::vector<std::pair<StepId, StepId>> ranges = {{0, static_cast<StepId>(plan.steps.size())}};
  for (StepId step = 0; step < plan.steps.size(); step++)
    if (const auto* loop = std::get_if<Loop>(&plan.steps[step].action))
      ranges.emplace_back(step + 1, step + 1 + loop->length);
  std::vector<Scope> scopes;
  std::vector<uint32_t> position(plan.steps.size(), 0);
  for (auto [begin, end] : ranges) {
    Scope& scope = scopes.emplace_back();
    for (StepId step = begin; step < end; step++) {
      position[step] = static_cast<uint32_t>(scope.steps.size());
      scope.steps.push_back(step);
      std::vector<uint32_t>& deps = scope.deps.emplace_back();
      for (StepId dep : plan.steps[step].deps) deps.push_back(position[dep]);
      if (const auto* loop = std::get_if<Loop>(&plan.steps[step].action)) step += loop->length;
    }
  }
  return scopes;
}

void addHazardEdges(Plan& plan, StorageView view) {
  for (Scope& scope : scopesOf(plan)) {
    orderCalls(plan, scope);
    for (auto [first, then] : hazardPairs(accessesOf(plan, scope, view))) scope.deps[then].push_back(first);
    transitiveReduction(scope.deps);
    for (size_t i = 0; i < scope.steps.size(); i++) {
      std::vector<StepId>& deps = plan.steps[scope.steps[i]].deps;
      deps.clear();
      for (uint32_t dep : scope.deps[i]) deps.push_back(scope.steps[dep]);
    }
  }
}

Status checkHazards(const Plan& plan) {
  for (const Scope& scope : scopesOf(plan)) {
    Pairs pairs = hazardPairs(accessesOf(plan, scope, StorageView::Placed));
    if (const auto* open = findUnordered(scope.deps, pairs))
      return fail(Diag::BadPlan,
                  says({"steps ", scope.steps[open->first], " and ", scope.steps[open->second],
                        " touch the same bytes, but no dependency orders them"}),
                  "compile the graph again");
  }
  return {};
}

}  // namespace svod
