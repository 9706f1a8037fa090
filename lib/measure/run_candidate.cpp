#include "measure/run_candidate.h"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "measure/child.h"
#include "measure/guarded_buffer.h"
#include "measure/test_data.h"

namespace svod {

namespace {

using Json = nlohmann::json;

constexpr int kWrittenOutside = 90, kNoMemory = 91, kNoCode = 92;  // exit codes of a child
constexpr double kSampleNs = 2e5;

/// Memory of one call: operands, results and scratch, each between guard pages.
struct Memory {
  std::vector<GuardedBuffer> buffers;  // the last one is the scratch
  std::vector<void*> pointers;

  bool add(uint64_t bytes) {
    std::optional<GuardedBuffer> made = GuardedBuffer::make(bytes);
    if (!made) return false;
    pointers.push_back(made->bytes().data());
    buffers.push_back(std::move(*made));
    return true;
  }
  bool isUntouchedAround() const { return std::ranges::all_of(buffers, &GuardedBuffer::isUntouchedAround); }
};

/// A signal handler is given nothing else to know by whose memory it was; set in children only.
const Memory* memoryOfHandler = nullptr;

void onFault(int signal, siginfo_t* about, void*) {
  for (const GuardedBuffer& buffer : memoryOfHandler->buffers)
    if (buffer.guards(about->si_addr)) ::_exit(kWrittenOutside);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void watchFaults(const Memory& memory) {
  memoryOfHandler = &memory;
  static char stack[1 << 16];
  stack_t alternate = {};
  alternate.ss_sp = stack, alternate.ss_size = sizeof stack;
  ::sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
  for (int signal : {SIGSEGV, SIGBUS}) ::sigaction(signal, &action, nullptr);
}

/// On one processor from here on: the last of those there are.
void pin() {
  cpu_set_t allowed, one;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_ZERO(&one);
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && CPU_COUNT(&one) == 0; --cpu)
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

/// A candidate in this process, ready to be called. Ends the process where that cannot be.
class Loaded {
 public:
  Loaded(const CandidateCode& code, const KernelData& data) : code_(code) {
    for (size_t slot = 0; slot < code.args.size(); ++slot) {
      const auto layout = std::ranges::find(code.layouts, slot, &ConstantLayout::slot);
      const auto& operand = data.operands[slot];
      if (layout == code.layouts.end()) {
        put(operand);
      } else {
        put(laidOut(*layout, operand, byteSize(code.args[slot].dtype)));
      }
    }
    if (!memory_.add(code.scratchBytes)) ::_exit(kNoMemory);
    void* const library = ::dlopen(code.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) ::_exit(kNoCode);
    function_ = reinterpret_cast<KernelFunction>(::dlsym(library, kCandidateName));
    if (function_ == nullptr) ::_exit(kNoCode);
  }

  void run() const {
    if (code_.tiles > 0)
      function_(memory_.pointers.data(), code_.values.data(), 0, code_.tiles, memory_.pointers.back());
  }
  double nanosecondsOf(int64_t runs) const {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    for (int64_t i = 0; i < runs; ++i) run();
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(runs);
  }
  const Memory& memory() const { return memory_; }
  std::span<const std::byte> bytes(size_t slot) const { return memory_.buffers[slot].bytes(); }

 private:
  void put(std::span<const std::byte> bytes) {
    if (!memory_.add(bytes.size())) ::_exit(kNoMemory);
    std::memcpy(memory_.pointers.back(), bytes.data(), bytes.size());
  }

  const CandidateCode& code_;
  Memory memory_;
  KernelFunction function_ = nullptr;
};

/// The first run: nothing may be touched besides its buffers, and what it writes must be right.
std::optional<Json> wrongValues(const Loaded& loaded, const CandidateCode& code, const KernelData& data) {
  watchFaults(loaded.memory());
  loaded.run();
  if (!loaded.memory().isUntouchedAround()) ::_exit(kWrittenOutside);
  for (size_t slot = 0; slot < data.wanted.size(); ++slot) {
    if (data.wanted[slot].empty() || !writes(code.args[slot].mode)) continue;
    if (const auto difference = firstDifference(loaded.bytes(slot), data.wanted[slot], data.types[slot]))
      return Json{{"outcome", static_cast<int>(Outcome::Wrong)},
                  {"reason", "argument " + std::to_string(slot) + ": " + *difference}};
  }
  return std::nullopt;
}

double quantile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
}

int64_t runsOfSample(double nanoseconds) {
  return std::clamp<int64_t>(static_cast<int64_t>(std::ceil(kSampleNs / std::max(nanoseconds, 1.0))), 1, 100000);
}

Json timesOf(const Loaded& loaded, double stopAbove) {
  const double first = loaded.nanosecondsOf(1);
  if (stopAbove > 0 && first > stopAbove)
    return {{"outcome", static_cast<int>(Outcome::Slow)}, {"reason", ""}, {"ns", first}, {"runs", 1}};
  const int64_t runs = runsOfSample(first);
  std::vector<double> samples;
  for (int i = 0, most = first > 5e7 ? 3 : 7; i < most; ++i) samples.push_back(loaded.nanosecondsOf(runs));
  const double median = quantile(samples, 0.5);
  return {{"outcome", static_cast<int>(Outcome::Timed)},
          {"reason", ""},
          {"ns", median},
          {"noise", (quantile(samples, 0.75) - quantile(samples, 0.25)) / 2 / median},
          {"runs", runs * static_cast<int64_t>(samples.size())}};
}

Json comparisonOf(const Loaded& candidate, const Loaded& usual) {
  constexpr double kGain = 0.98, kUnder = 0.5, kOver = 0.8, kError = 0.01;
  constexpr int kMostPairs = 60;
  const double decided = std::log((1 - kError) / kError);
  const int64_t runs = runsOfSample(std::max(candidate.nanosecondsOf(1), usual.nanosecondsOf(1)));
  std::vector<double> ratios, times;
  double evidence = 0;
  for (int pair = 0; pair < kMostPairs && std::fabs(evidence) < decided; ++pair) {
    double own, other;
    if (pair % 2 == 0)
      own = candidate.nanosecondsOf(runs), other = usual.nanosecondsOf(runs);
    else
      other = usual.nanosecondsOf(runs), own = candidate.nanosecondsOf(runs);
    ratios.push_back(own / other), times.push_back(own);
    evidence += own <= kGain * other ? std::log(kOver / kUnder) : std::log((1 - kOver) / (1 - kUnder));
  }
  const double ratio = quantile(ratios, 0.5);
  const bool wins = evidence >= decided && ratio < 1;
  return {{"outcome", static_cast<int>(wins ? Outcome::Wins : Outcome::Loses)},
          {"reason", ""},
          {"ns", quantile(times, 0.5)},
          {"noise", (quantile(ratios, 0.75) - quantile(ratios, 0.25)) / 2 / ratio},
          {"ratio", ratio},
          {"runs", runs * static_cast<int64_t>(ratios.size())}};
}

uint64_t bytesOf(const KernelData& data) {
  uint64_t bytes = 0;
  for (const auto& operand : data.operands) bytes += operand.size();
  return bytes;
}

/// What a child that wrote nothing came to.
TrialResult failureOf(const ChildEnd& end, const RunLimits& limits) {
  if (!end.wasForked) return {Outcome::Crashed, "the system grants no process"};
  if (end.timedOut)
    return {Outcome::Hung, "it did not end in " + std::to_string(static_cast<int>(limits.seconds)) + " s"};
  if (end.exitCode == kWrittenOutside) return {Outcome::OutOfBounds, "it touched memory beside a buffer"};
  if (end.exitCode == kNoMemory || end.exitCode == 2 || end.signal == SIGKILL)
    return {Outcome::Memory, "it needs more memory than there is"};
  if (end.exitCode == kNoCode) return {Outcome::CompileFailed, "its code cannot be loaded"};
  return {Outcome::Crashed, end.signal != 0 ? strsignal(end.signal) : "it ended the process"};
}

/// Runs `work` in a child, which ends with the JSON that it returns.
TrialResult inChild(const KernelData& data, const RunLimits& limits, const std::function<Json()>& work) {
  const ChildEnd end =
      runInChild({limits.seconds, limits.moreBytes + 4 * bytesOf(data)}, [&](const ChildOutput& output) {
        pin();
        output.write(work().dump(-1, ' ', false, Json::error_handler_t::replace));
      });
  const Json json = Json::parse(end.text, nullptr, false);
  if (!json.is_object()) return failureOf(end, limits);
  TrialResult verdict{static_cast<Outcome>(json["outcome"].get<int>()), json["reason"]};
  verdict.nanoseconds = json.value("ns", 0.0), verdict.noise = json.value("noise", 0.0);
  verdict.ratio = json.value("ratio", 0.0), verdict.runs = json.value("runs", int64_t{0});
  return verdict;
}

bool fits(const CandidateCode& code, const RunLimits& limits) { return code.scratchBytes <= limits.moreBytes / 2; }
TrialResult tooMuchScratch() {
  return {Outcome::Memory, "it needs more memory for intermediate values than it may have"};
}

}  // namespace

TrialResult runReference(const CandidateCode& code, KernelData& data, const RunLimits& limits) {
  if (!fits(code, limits)) return tooMuchScratch();
  const ChildLimits most{limits.seconds, limits.moreBytes + 4 * bytesOf(data)};
  const ChildEnd end = runInChild(most, [&](const ChildOutput& output) {
    const Loaded loaded(code, data);
    watchFaults(loaded.memory());
    loaded.run();
    if (!loaded.memory().isUntouchedAround()) ::_exit(kWrittenOutside);
    for (size_t slot = 0; slot < code.args.size(); ++slot)
      if (writes(code.args[slot].mode))
        output.write(std::string(reinterpret_cast<const char*>(loaded.bytes(slot).data()), loaded.bytes(slot).size()));
  });
  if (end.timedOut || end.signal != 0 || end.exitCode != 0 || !end.wasForked) return failureOf(end, limits);
  data.wanted.assign(code.args.size(), {});
  size_t at = 0;
  for (size_t slot = 0; slot < code.args.size(); ++slot) {
    if (!writes(code.args[slot].mode)) continue;
    const auto bytes = std::as_bytes(std::span(end.text)).subspan(at, data.operands[slot].size());
    data.wanted[slot].assign(bytes.begin(), bytes.end());
    at += bytes.size();
  }
  return {};
}

TrialResult timeCandidate(const CandidateCode& code, const KernelData& data, double stopAbove,
                          const RunLimits& limits) {
  if (!fits(code, limits)) return tooMuchScratch();
  return inChild(data, limits, [&] {
    const Loaded loaded(code, data);
    if (std::optional<Json> wrong = wrongValues(loaded, code, data)) return *wrong;
    return timesOf(loaded, stopAbove);
  });
}

TrialResult compareCandidates(const CandidateCode& code, const CandidateCode& usual, const KernelData& data,
                              const RunLimits& limits) {
  if (!fits(code, limits) || !fits(usual, limits)) return tooMuchScratch();
  return inChild(data, limits, [&] {
    const Loaded other(usual, data), loaded(code, data);
    other.run();
    if (std::optional<Json> wrong = wrongValues(loaded, code, data)) return *wrong;
    return comparisonOf(loaded, other);
  });
}

}  // namespace svod
