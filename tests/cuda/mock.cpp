// What the mock knows, how it is set up, and what it reports.
#include "cuda/mock.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "runtime-cuda/driver.h"

namespace mock {

thread_local std::vector<ContextObject*> stack;

namespace {

struct Ending {
  ~Ending() {
    const std::string text = Mock::get().report();
    if (text.empty()) return;
    std::fprintf(stderr, "%s", text.c_str());
    std::fflush(stderr);
    ::_exit(99);
  }
};

template <class Number>
void read(std::string_view text, Number& to) {
  std::from_chars(text.data(), text.data() + text.size(), to);
}

}  // namespace

Mock& Mock::get() {
  static Mock* const mock = [] {  // alive when other things of the process end
    auto* made = new Mock;
    if (const char* text = std::getenv("SVOD_MOCK_CUDA")) made->configure(text);
    return made;
  }();
  static const Ending ending;
  return *mock;
}

/// "devices=1 cc=8.0 fail=3:700"
void Mock::configure(std::string_view text) {
  const std::lock_guard lock(mutex);
  config = {};
  calls = 0, clock = 0;
  counts.clear();
  random.seed(7);
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size()), equals = text.find('=');
    const std::string_view name = text.substr(0, equals), value = text.substr(equals + 1, end - equals - 1);
    const size_t colon = value.find(':');
    const std::string_view first = value.substr(0, colon), second = colon == value.npos ? "" : value.substr(colon + 1);
    if (name == "devices") read(value, config.devices);
    if (name == "version") read(value, config.version);
    if (name == "cc") read(value, config.major), read(value.substr(value.find('.') + 1), config.minor);
    if (name == "memory") read(value, config.memoryBytes);
    if (name == "shared") read(value, config.sharedBytes);
    if (name == "fail") read(first, config.failAt), read(second, config.failCode);
    if (name == "call") config.failCall = value;
    if (name == "fault") config.faultKernel = first, read(second, config.faultCode);
    if (name == "init") read(value, config.initCode);
    if (name == "peer") config.canAccessPeer = value == "yes";
    if (name == "eager") config.isEager = value == "yes";
    if (name == "seed") {
      unsigned seed = 0;
      read(value, seed);
      random.seed(seed);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string Mock::report() {
  const std::lock_guard lock(mutex);
  std::string text;
  for (const std::string& fault : faults) text += "mock: wrong: " + fault + "\n";
  const auto left = [&](const char* what, const ContextObject* context) {
    if (context == nullptr || context->poison == 0) text += std::string("mock: left behind: ") + what + "\n";
  };
  if (!stack.empty()) text += "mock: wrong: a context is current on this thread still\n";
  const auto contextOf = [&](int device) { return contexts.contains(device) ? contexts.at(device).get() : nullptr; };
  for (const auto& [address, block] : memory) left("memory of a device", contextOf(block.device));
  bool isLost = false;
  for (const auto& [device, context] : contexts) isLost = isLost || context->poison != 0;
  if (!isLost && !pinned.empty()) left("pinned memory", nullptr);
  for (const auto& [key, stream] : streams)
    if (!stream->isDefault) left("a stream", stream->context);
  for (const auto& [key, event] : events) left("an event", event->context);
  for (const auto& [key, module] : modules) left("a module", module->context);
  for (const auto& [key, exec] : execs) left("an executable graph", exec->context);
  if (!isLost && !graphs.empty()) left("a graph", nullptr);
  for (const auto& [device, context] : contexts)
    if (context->references != 0) left("a retained context", context.get());
  for (const auto& [address, bytes] : pinned) std::free(address);
  faults.clear(), memory.clear(), pinned.clear(), streams.clear(), events.clear(), modules.clear(), execs.clear();
  functions.clear();
  graphs.clear(), contexts.clear(), peers.clear(), stack.clear(), defaults.clear(), host.clear(), accesses.clear();
  std::fill(std::begin(used), std::end(used), 0);
  return text;
}

void Mock::wrong(const std::string& what) { faults.push_back(what); }

ContextObject* Mock::current() const { return stack.empty() ? nullptr : stack.back(); }

std::optional<Code> Mock::enter(const char* name, bool needsContext) {
  const std::string_view called = name;
  calls++;
  const uint64_t count = ++counts[name];
  const auto contains = [&](const char* part) { return called.find(part) != called.npos; };
  // What gives something back has done so, whatever it says.
  const bool givesBack = contains("Free") || contains("Destroy") || contains("Unload") || contains("Release");
  const bool isTold =
      config.failCall.empty() ? config.failAt == calls : config.failCall == called && config.failAt == count;
  if (isTold && !givesBack) {
    if (endsContext(config.failCode) && current() != nullptr) current()->poison = config.failCode;
    return config.failCode;
  }
  if (!isStarted && called != "cuInit") {
    wrong(std::string(called) + " before cuInit");
    return 3;
  }
  if (!needsContext) return std::nullopt;
  if (current() == nullptr) {
    wrong(std::string(called) + " without a current context");
    return 201;
  }
  if (const Code poison = current()->poison) {
    if (givesBack) wrong(std::string(called) + " in a context that is lost");
    return poison;
  }
  runSome();
  return std::nullopt;
}

}  // namespace mock

extern "C" {

void svod_mock_configure(const char* text) { mock::Mock::get().configure(text); }
void svod_mock_report(char* text, size_t room) { std::snprintf(text, room, "%s", mock::Mock::get().report().c_str()); }
uint64_t svod_mock_count(const char* name) {
  mock::Mock& m = mock::Mock::get();
  const std::lock_guard lock(m.mutex);
  return *name == '\0' ? m.calls : m.counts[name];
}

}  // extern "C"
