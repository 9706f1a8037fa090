// Memory and streams of the mock: what was given is done when somebody waits for it, or a little at a time.
#include <cstring>

#include "cuda/mock.h"

namespace mock {

namespace {

void join(Clock& to, const Clock& from) {
  for (const auto& [stream, place] : from) {
    uint64_t& known = to[stream];
    known = std::max(known, place);
  }
}

}  // namespace

Code Mock::launch(StreamObject* stream, std::function<Code()> work) {
  join(stream->before, host);
  stream->queue.push_back({std::move(work), nullptr, 0, stream->number, ++stream->given, stream->before});
  stream->before[stream->number] = stream->given;
  return config.isEager ? drain(stream, stream->given) : kSuccess;
}

StreamObject* Mock::newStream(ContextObject* context) {
  auto made = std::make_unique<StreamObject>();
  made->context = context, made->number = ++streamNumbers;
  StreamObject* const stream = made.get();
  streams[stream] = std::move(made);
  return stream;
}

StreamObject* Mock::streamOf(StreamObject* handle, ContextObject* context) {
  if (const auto number = reinterpret_cast<uintptr_t>(handle); number <= 2) {
    StreamObject*& known = defaults[{context, number == 1 ? 0 : number}];  // 0 and 1 are the legacy one
    if (known == nullptr) known = newStream(context), known->isDefault = true;
    return known;
  }
  if (!streams.contains(handle)) return wrong("a stream that is none"), nullptr;
  return handle->context == context ? handle : (wrong("a stream of another context"), nullptr);
}

void Mock::hostWaited(StreamObject* stream, uint64_t count, const Clock& before) {
  join(host, before);
  uint64_t& seen = host[stream->number];
  seen = std::max(seen, count);
}

void Mock::touch(Address address, size_t bytes, bool isWrite) {
  Allocation* const block = find(address, 1);
  if (block == nullptr || running == nullptr || bytes == 0) return;
  char* const begin = reinterpret_cast<char*>(address);
  char* const end = std::min(begin + bytes, block->address + block->bytes);
  std::vector<Access>& all = accesses[block->address];
  const auto isBefore = [](const Access& access, const Clock& clock) {
    const auto at = clock.find(access.stream);
    return at != clock.end() && at->second >= access.place;
  };
  // What comes before all that is still to be done is of no more use.
  const auto isBeforeAll = [&](const Access& access) {
    if (!isBefore(access, host) || !isBefore(access, running->before)) return false;
    return std::ranges::all_of(streams, [&](const auto& entry) {
      return std::ranges::all_of(entry.second->queue,
                                 [&](const Piece& piece) { return !piece.work || isBefore(access, piece.before); });
    });
  };
  if (all.size() > 64) std::erase_if(all, isBeforeAll);
  for (const Access& access : all)
    if (access.stream != running->stream && access.begin < end && begin < access.end && (access.isWrite || isWrite) &&
        !isBefore(access, running->before))
      return wrong("two streams use the same memory, and neither waits for the other");
  all.push_back({begin, end, isWrite, running->stream, running->place});
}

/// Does what was given until `count` is done. The first error ends the context.
Code Mock::drain(StreamObject* stream, uint64_t count) {
  while (stream->done < count) {
    if (stream->context->poison != 0) return stream->context->poison;
    Piece piece = std::move(stream->queue.front());
    stream->queue.pop_front();
    stream->done++;
    if (piece.after != nullptr && streams.contains(piece.after)) (void)drain(piece.after, piece.count);
    if (!piece.work) continue;
    clock += 0.25f;
    running = &piece;
    const Code code = piece.work();
    running = nullptr;
    if (code != kSuccess) return poison(stream->context, code);
  }
  return stream->context->poison;
}

/// Now and then some work happens by itself.
void Mock::runSome() {
  if (streams.empty() || random() % 4 != 0) return;
  auto stream = streams.begin();
  std::advance(stream, static_cast<std::ptrdiff_t>(random() % streams.size()));
  if (stream->second->done < stream->second->given) (void)drain(stream->first, stream->second->done + 1);
}

Code Mock::poison(ContextObject* context, Code code) {
  if (context->poison == 0) context->poison = code;
  return code;
}

Allocation* Mock::find(Address address, size_t bytes) {
  char* const at = reinterpret_cast<char*>(address);
  auto after = memory.upper_bound(at);
  if (after == memory.begin()) return nullptr;
  Allocation& block = std::prev(after)->second;
  return at + bytes <= block.address + block.bytes ? &block : nullptr;
}

bool Mock::isPinned(const void* host) const {
  const char* const at = static_cast<const char*>(host);
  auto after = pinned.upper_bound(const_cast<char*>(at));
  return after != pinned.begin() && at < std::prev(after)->first + std::prev(after)->second;
}

char* Mock::real(Address address, size_t bytes, const ContextObject* context, const char* what) {
  const Allocation* const block = find(address, bytes);
  if (block == nullptr) {
    wrong(std::string(what) + ": no memory of a device is there");
    return nullptr;
  }
  ContextObject* const owner = contexts.contains(block->device) ? contexts.at(block->device).get() : nullptr;
  if (owner != context && !peers.contains({const_cast<ContextObject*>(context), owner})) {
    wrong(std::string(what) + ": memory of another device");
    return nullptr;
  }
  return block->real + (reinterpret_cast<char*>(address) - block->address);
}

std::optional<std::function<Code()>> Mock::kernelWork(FunctionObject* function, const unsigned* groups,
                                                      const unsigned* threads, unsigned sharedBytes, void** parameters,
                                                      ContextObject* context) {
  const uint64_t all = uint64_t{threads[0]} * threads[1] * threads[2];
  if (function->context != context) return wrong("a kernel of another context"), std::nullopt;
  const bool isTooMuch =
      static_cast<int>(sharedBytes) > function->dynamicBytes || all > static_cast<uint64_t>(function->mostThreads);
  if (all == 0 || isTooMuch || groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return std::nullopt;
  Launched launched{{}, {}, {groups[0], groups[1], groups[2]}, {threads[0], threads[1], threads[2]}, sharedBytes, {}};
  std::vector<Address> addresses;
  for (unsigned i = 0; i < function->args.size(); i++) {
    Address address = 0;
    std::memcpy(&address, parameters[i], sizeof address);
    if (function->maps.contains(i)) {
      const auto& map = *static_cast<const TensorMapObject*>(parameters[i]);
      address = map.words[1];
      std::memcpy(&launched.maps[i], map.words + 2, sizeof(SvodMap));
    }
    addresses.push_back(address);
  }
  for (size_t i = 0; i < function->values.size(); i++)
    std::memcpy(&launched.values.emplace_back(), parameters[function->args.size() + i], sizeof(int64_t));
  return [this, function, launched, addresses, context]() mutable -> Code {
    if (!functions.contains(function)) return wrong("a kernel runs after its module was unloaded"), kIllegalAddress;
    if (function->name == config.faultKernel) return config.faultCode;
    launched.buffers.clear();
    for (size_t i = 0; i < addresses.size(); i++) {
      // The most that it touches at any sizes: memory of a caller is as large as it is.
      const Allocation* const block = find(addresses[i], 1);
      const size_t room =
          block == nullptr ? 1 : block->bytes - (reinterpret_cast<char*>(addresses[i]) - block->address);
      const size_t bytes = std::min(function->args[i].bytes, room);
      void* const memory = real(addresses[i], bytes, context, "an argument of a kernel");
      if (memory == nullptr) return kIllegalAddress;
      touch(addresses[i], bytes, function->args[i].isWritten);
      if (const auto map = launched.maps.find(i); map != launched.maps.end()) map->second.address = memory;
      launched.buffers.push_back(memory);
    }
    function->run(launched);
    return kSuccess;
  };
}

/// `isLate`: memory of the host is read when the copy happens, also where it is not pinned.
std::optional<std::function<Code()>> Mock::copyWork(const CopyNode& node, ContextObject* context, bool isLate) {
  if (node.height != 1 || node.depth != 1 || node.width == 0) return std::nullopt;
  for (const CopySide* side : {&node.from, &node.to})
    if (isLate && (side->pitch < node.width || side->pitch > INT32_MAX || side->height < 1)) return std::nullopt;
  for (const CopySide* side : {&node.from, &node.to})
    if (side->type == kHost && find(reinterpret_cast<Address>(side->host), 1) != nullptr)
      return wrong("memory of a device where that of the host is wanted"), std::nullopt;
  if (node.from.type == kDevice && real(node.from.device, node.width, context, "the source of a copy") == nullptr)
    return std::nullopt;
  if (node.to.type == kDevice && real(node.to.device, node.width, context, "the target of a copy") == nullptr)
    return std::nullopt;
  std::shared_ptr<std::vector<char>> taken;
  if (node.from.type == kHost && !isLate && !isPinned(node.from.host)) {
    const auto* const bytes = static_cast<const char*>(node.from.host);
    taken = std::make_shared<std::vector<char>>(bytes, bytes + node.width);
  }
  return [this, node, context, taken]() -> Code {
    const char* from = taken ? taken->data() : static_cast<const char*>(node.from.host);
    char* to = static_cast<char*>(node.to.host);
    if (node.from.type == kDevice)
      from = real(node.from.device, node.width, context, "the source of a copy, when it happens");
    if (node.to.type == kDevice)
      to = real(node.to.device, node.width, context, "the target of a copy, when it happens");
    if (from == nullptr || to == nullptr) return kIllegalAddress;
    if (node.from.type == kDevice) touch(node.from.device, node.width, false);
    if (node.to.type == kDevice) touch(node.to.device, node.width, true);
    std::memmove(to, from, node.width);
    return kSuccess;
  };
}

}  // namespace mock
