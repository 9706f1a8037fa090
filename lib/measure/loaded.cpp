#include "measure/loaded.h"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>

#include "measure/cold_caches.h"
#include "measure/test_data.h"

namespace svod {

namespace {

/// A signal handler is given nothing else to know by whose memory it was; set in children only.
std::vector<const GuardedBuffer*> watched;

void onFault(int signal, siginfo_t* about, void*) {
  for (const GuardedBuffer* buffer : watched) {
    if (buffer->guards(about->si_addr)) ::_exit(kWrittenOutside);
    if (buffer->holds(about->si_addr)) ::_exit(kWrittenOperand);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

GuardedBuffer bufferOf(uint64_t bytes) {
  std::optional<GuardedBuffer> made = GuardedBuffer::make(bytes);
  if (!made) ::_exit(kNoMemory);
  return std::move(*made);
}

void watchFaults(std::vector<const GuardedBuffer*> buffers) {
  watched = std::move(buffers);
  static char stack[1 << 16];
  stack_t alternate = {};
  alternate.ss_sp = stack, alternate.ss_size = sizeof stack;
  ::sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
  for (int signal : {SIGSEGV, SIGBUS}) ::sigaction(signal, &action, nullptr);
}

}  // namespace

Workspace::Workspace(const KernelData& data, const std::vector<KernelArg>& args, const RunConditions& conditions)
    : data_(data), conditions_(conditions), threads_(conditions.threads) {
  for (size_t slot = 0; slot < args.size(); ++slot) {
    const auto& operand = data.operands[slot];
    GuardedBuffer made = bufferOf(operand.size());
    if (!operand.empty()) std::memcpy(made.bytes().data(), operand.data(), operand.size());
    isWritten_.push_back(writes(args[slot].mode));
    if (!isWritten_.back()) made.makeReadOnly();
    buffers_.push_back(std::move(made));
  }
}

void Workspace::reset() {
  for (size_t slot = 0; slot < buffers_.size(); ++slot)
    if (isWritten_[slot] && !data_.operands[slot].empty())
      std::memcpy(buffers_[slot].bytes().data(), data_.operands[slot].data(), data_.operands[slot].size());
}

KernelFunction Workspace::function(const std::string& library, const std::string& name) {
  void*& handle = libraries_[library];
  if (handle == nullptr) handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle == nullptr ? nullptr : reinterpret_cast<KernelFunction>(::dlsym(handle, name.c_str()));
}

std::shared_ptr<const GuardedBuffer> Workspace::inOrder(const ConstantLayout& layout, size_t elementBytes) {
  constexpr size_t kKept = 2;
  const auto found = std::ranges::find(ordered_, layout, &Ordered::layout);
  if (found != ordered_.end()) {
    std::rotate(ordered_.begin(), found, found + 1);
    return ordered_[0].buffer;
  }
  const LargeBytes bytes = laidOut(layout, data_.operands[layout.slot], elementBytes);
  auto made = std::make_shared<GuardedBuffer>(bufferOf(bytes.size()));
  if (!bytes.empty()) std::memcpy(made->bytes().data(), bytes.data(), bytes.size());
  made->makeReadOnly();
  ordered_.push_front({layout, made});
  if (ordered_.size() > kKept) ordered_.pop_back();
  return made;
}

Loaded::Loaded(const CandidateCode& code, Workspace& workspace) : code_(code), workspace_(workspace) {
  for (size_t slot = 0; slot < code.args.size(); ++slot) {
    const auto layout = std::ranges::find(code.layouts, slot, &ConstantLayout::slot);
    if (layout == code.layouts.end()) {
      pointers_.push_back(workspace.buffers()[slot].bytes().data());
      continue;
    }
    own_.push_back(workspace.inOrder(*layout, byteSize(code.args[slot].dtype)));
    pointers_.push_back(own_.back()->bytes().data());
  }
  for (int i = 0; i < workspace.threads().count(); ++i) {
    own_.push_back(std::make_shared<GuardedBuffer>(bufferOf(code.scratchBytes)));
    scratch_.push_back(own_.back()->bytes().data());
  }
  function_ = workspace.function(code.library, code.function);
  if (function_ == nullptr) ::_exit(kNoCode);
}

std::vector<const GuardedBuffer*> Loaded::touched() const {
  std::vector<const GuardedBuffer*> all;
  for (const GuardedBuffer& buffer : workspace_.buffers()) all.push_back(&buffer);
  for (const auto& buffer : own_) all.push_back(buffer.get());
  return all;
}

void Loaded::run(int64_t tiles) const {
  if (tiles <= 0) return;
  if (workspace_.threads().count() > 1)
    workspace_.threads().run({function_, pointers_.data(), code_.values.data(), tiles, scratch_.data()});
  else
    function_(pointers_.data(), code_.values.data(), 0, tiles, scratch_[0]);
}

void Loaded::coolDown() const {
  for (const GuardedBuffer* buffer : touched()) coolCaches(buffer->bytes());
}

double Loaded::nanosecondsOf(int64_t runs, int64_t tiles) const {
  using Clock = std::chrono::steady_clock;
  Clock::duration all{};
  const int64_t together = conditions().coldCaches ? 1 : runs;
  for (int64_t done = 0; done < runs; done += together) {
    if (conditions().coldCaches) coolDown();
    const auto start = Clock::now();
    for (int64_t i = 0; i < together; ++i) run(tiles);
    all += Clock::now() - start;
  }
  const double each = std::chrono::duration<double, std::nano>(all).count() / static_cast<double>(runs);
  return tiles > 0 ? each * static_cast<double>(code_.tiles) / static_cast<double>(tiles) : each;
}

double Loaded::runWatched(int64_t tiles) const {
  watchFaults(touched());
  workspace_.reset();
  const double nanoseconds = nanosecondsOf(1, tiles);
  if (!std::ranges::all_of(watched, &GuardedBuffer::isUntouchedAround)) ::_exit(kWrittenOutside);
  return nanoseconds;
}

std::optional<std::string> Loaded::wrongValues() const {
  const KernelData& data = workspace_.data();
  for (size_t slot = 0; slot < data.wanted.size(); ++slot) {
    if (data.wanted[slot].empty() || !writes(code_.args[slot].mode)) continue;
    if (const auto difference = firstDifference(bytes(slot), data.wanted[slot], data.types[slot]))
      return "argument " + std::to_string(slot) + ": " + *difference;
  }
  return std::nullopt;
}

double Loaded::error() const {
  const KernelData& data = workspace_.data();
  double worst = 0;
  for (size_t slot = 0; slot < data.wanted.size(); ++slot)
    if (!data.wanted[slot].empty() && writes(code_.args[slot].mode))
      worst = std::max(worst, worstUnits(bytes(slot), data.wanted[slot], data.types[slot]));
  return worst;
}

void pin() {
  cpu_set_t allowed, one;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_ZERO(&one);
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && CPU_COUNT(&one) == 0; --cpu)
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

}  // namespace svod
