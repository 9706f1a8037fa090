#include "measure/compile_candidates.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "driver/kernel_batch.h"
#include "measure/child.h"
#include "toolchain/linker.h"
#include "toolchain/temp_dir.h"

namespace svod {

namespace {

using Json = nlohmann::json;

constexpr size_t kLeastOfProcess = 4;  // candidates; for fewer another process is not worth its start
// Of kernels in one module: so few that none takes the code generator much longer than a candidate alone may.
constexpr size_t kModuleInstructions = 6000;

/// The steps that a child announces. What it says before it ends is what ended it.
enum class Step : int { Lower, Emit, Link };

std::string howItEnded(const ChildEnd& end, const CompileLimits& limits) {
  if (end.timedOut) return "the compiler took more than " + std::to_string(static_cast<int>(limits.seconds)) + " s";
  if (end.signal != 0) return std::string("the compiler ended by a signal: ") + strsignal(end.signal);
  return "the compiler ran out of memory";
}

/// What a child does: some candidates to one library.
class Batch {
 public:
  Batch(const CompiledKernel& kernel, std::span<const std::vector<OptOp>> lists, const CompileOptions& options,
        int variablesAt, const KnownCode& known, const ChildOutput& output)
      : kernel_(kernel), lists_(lists), options_(options), variablesAt_(variablesAt), known_(known), output_(output) {}

  void run(std::span<const size_t> members, const std::string& library) {
    for (size_t i : members) lower(i, library);
    for (size_t first = 0; first < fresh_.size();) first = emitFrom(first);
    if (objects_.empty()) return;
    say({{"step", Step::Link}, {"members", indices_}});
    const Result<std::string> linked = options_.linker->linkShared(objects_);
    if (!linked) return fail(indices_, linked.error());
    if (Status written = writeWholeFile(library, *linked); !written) return fail(indices_, written.error());
    say({{"linked", true}});
  }

 private:
  void lower(size_t i, const std::string& library) {
    say({{"step", Step::Lower}, {"members", {i}}});
    CompiledKernel copy = copyOf(kernel_, "candidate_" + std::to_string(i));
    if (Status lowered = lowerWith(copy, lists_[i], options_); !lowered) return fail({i}, lowered.error());
    CandidateCode code = describeCode(copy, variablesAt_);
    code.library = library;
    const auto twin = known_.find(code.hash);
    if (twin != known_.end()) {
      code.library = twin->second.library, code.function = twin->second.function;
    } else if (const auto [mine, isFirst] = functions_.emplace(code.hash, code.function); isFirst) {
      fresh_.push_back(std::move(copy)), indices_.push_back(i);
    } else {
      code.function = mine->second;
    }
    say({{"candidate", i}, {"code", toText(code)}});
  }

  /// The next ones that are small enough to be one module. Alone where together they cannot be compiled.
  size_t emitFrom(size_t first) {
    size_t end = first, instructions = 0;
    do instructions += fresh_[end++].linear.ops.size();
    while (end < fresh_.size() && instructions + fresh_[end].linear.ops.size() <= kModuleInstructions);
    std::vector<size_t> members(indices_.begin() + static_cast<int64_t>(first),
                                indices_.begin() + static_cast<int64_t>(end));
    say({{"step", Step::Emit}, {"members", members}});
    std::vector<CompiledKernel*> kernels;
    for (size_t i = first; i < end; ++i) kernels.push_back(&fresh_[i]);
    Result<std::string> object = emitTogether(kernels, options_);
    if (object)
      objects_.push_back(std::move(*object));
    else
      fail(members, object.error());
    return end;
  }

  void fail(const std::vector<size_t>& members, const Error& error) {
    const auto outcome = error->diag == Diag::TooLarge ? Outcome::TooLarge
                         : error->diag == Diag::Io     ? Outcome::Untried
                                                       : Outcome::CompileFailed;
    say({{"failed", members}, {"outcome", outcome}, {"reason", error->message}});
  }

  void say(const Json& json) { output_.write(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"); }

  const CompiledKernel& kernel_;
  std::span<const std::vector<OptOp>> lists_;
  const CompileOptions& options_;
  int variablesAt_;
  const KnownCode& known_;
  const ChildOutput& output_;
  std::map<std::string, std::string> functions_;  // by hash of their code
  std::vector<CompiledKernel> fresh_;
  std::vector<size_t> indices_;  // of those
  std::vector<std::string> objects_;
};

/// What the parent knows of all of them.
class Compiling {
 public:
  Compiling(const CompiledKernel& kernel, std::span<const std::vector<OptOp>> lists, const CompileOptions& options,
            const CompileLimits& limits, const KnownCode& known, std::string prefix)
      : kernel_(kernel), lists_(lists), options_(options), limits_(limits), known_(known), prefix_(std::move(prefix)),
        all_(lists.size()) {}

  std::vector<CompiledCandidate> run() {
    const auto jobs = static_cast<size_t>(std::max(options_.jobs, 1));
    std::vector<Part> parts(std::clamp<size_t>(lists_.size() / kLeastOfProcess, 1, jobs));
    for (size_t i = 0; i < lists_.size(); ++i) parts[i % parts.size()].push_back(i);
    compile(parts);
    return std::move(all_);
  }

 private:
  using Part = std::vector<size_t>;

  /// Each in a process of its own, at once.
  void compile(const std::vector<Part>& parts) {
    std::vector<ChildWork> works;
    for (const Part& part : parts) {
      const std::string library = prefix_ + std::to_string(libraries_++) + ".so";
      works.emplace_back([this, &part, library](const ChildOutput& output) {
        Batch(kernel_, lists_, options_, limits_.variablesAt, known_, output).run(part, library);
      });
    }
    const std::vector<ChildEnd> ends = runInChildren({limits_.seconds, limits_.moreBytes}, works);
    for (size_t i = 0; i < parts.size(); ++i) settle(parts[i], ends[i]);
  }

  /// What became of a part; what it still owes is compiled again, without the candidate that ended it.
  void settle(Part members, const ChildEnd& end) {
    const bool isWhole = end.wasForked && !end.timedOut && end.signal == 0 && end.exitCode == 0;
    if (!end.wasForked) return leave(members, kNoProcess);
    std::vector<size_t> blamed = read(end);
    if (blamed.empty() && isWhole) return;
    const auto isUntried = [&](size_t i) { return all_[i].verdict.outcome == Outcome::Untried; };
    if (const auto found = std::ranges::find_if(blamed, isUntried); found != blamed.end())
      return leave(members, std::string(all_[*found].verdict.reason));
    if (blamed.empty()) blamed = members;  // it did not even begin
    if (blamed.size() == 1) {
      if (all_[blamed[0]].verdict.outcome == Outcome::Timed)
        all_[blamed[0]].verdict = {Outcome::CompileFailed, howItEnded(end, limits_)};
      std::erase(members, blamed[0]);
      if (!members.empty()) compile({members});
      return;
    }
    // One of them, and nobody knows which: they are compiled in two parts, and so on.
    std::erase_if(members, [&](size_t i) { return all_[i].verdict.outcome != Outcome::Timed && !isIn(i, blamed); });
    for (size_t i : members) all_[i].verdict = {};
    const auto middle = members.begin() + static_cast<int64_t>(members.size() / 2);
    for (const Part& half : {Part(members.begin(), middle), Part(middle, members.end())})
      if (!half.empty()) compile({half});
  }

  /// What keeps one of them from being tried keeps all.
  void leave(const Part& members, const std::string& reason) {
    for (size_t i : members) all_[i].verdict = {Outcome::Untried, reason};
  }

  static bool isIn(size_t i, const std::vector<size_t>& list) { return std::ranges::find(list, i) != list.end(); }

  /// Those of which one kept the others from being compiled; none where a library was made, or none is needed.
  std::vector<size_t> read(const ChildEnd& end) {
    std::vector<size_t> doing, failed;
    bool isLinked = false;
    std::string_view text = end.text;
    for (size_t at; (at = text.find('\n')) != text.npos; text.remove_prefix(at + 1)) {
      const Json json = Json::parse(text.substr(0, at), nullptr, false);
      if (json.contains("step")) {
        doing = json["members"].get<std::vector<size_t>>();
      } else if (json.contains("candidate")) {
        all_[json["candidate"].get<size_t>()] = {codeFromText(json["code"]), {}};
        doing.clear();
      } else if (json.contains("failed")) {
        doing = json["failed"].get<std::vector<size_t>>();
        for (size_t i : doing) all_[i].verdict = {static_cast<Outcome>(json["outcome"].get<int>()), json["reason"]};
        if (doing.size() > 1) failed = doing;
        doing.clear();
      } else {
        isLinked = true;
      }
    }
    if (isLinked) return failed;
    return failed.empty() ? doing : failed;
  }

  const CompiledKernel& kernel_;
  std::span<const std::vector<OptOp>> lists_;
  const CompileOptions& options_;
  const CompileLimits& limits_;
  const KnownCode& known_;
  std::string prefix_;
  std::vector<CompiledCandidate> all_;
  size_t libraries_ = 0;
};

}  // namespace

CompileOptions candidateOptions(CompileOptions options) {
  options.cache = nullptr, options.tuning = nullptr, options.failure = nullptr;
  options.keepSource = options.keepForms = false;
  return options;
}

std::vector<CompiledCandidate> compileCandidates(const CompiledKernel& kernel,
                                                 std::span<const std::vector<OptOp>> lists,
                                                 const CompileOptions& options, const CompileLimits& limits,
                                                 const KnownCode& known, const std::string& prefix) {
  CompileOptions limited = options;
  limited.mostInstructions = limits.mostInstructions;
  return Compiling(kernel, lists, limited, limits, known, prefix).run();
}

}  // namespace svod
