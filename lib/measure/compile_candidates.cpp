#include "measure/compile_candidates.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "data/sha256.h"
#include "measure/child.h"
#include "toolchain/temp_dir.h"

namespace svod {

namespace {

using Json = nlohmann::json;

/// Between the least and the greatest value of a variable.
int64_t middleOf(const VarArg& variable) { return variable.min + (variable.max - variable.min) / 2; }

Json described(const CompiledKernel& kernel, const std::string& library) {
  std::vector<int64_t> values;
  for (UOp v : kernel.linear.variables) values.push_back(middleOf(v.argAs<VarArg>()));
  Json args = Json::array();
  for (const KernelArg& arg : kernel.desc.args)
    args.push_back({static_cast<int>(arg.dtype), static_cast<int>(arg.mode), arg.bytes});
  return {{"library", library},
          {"hash", sha256Hex(kernel.code)},
          {"args", args},
          {"values", values},
          {"layouts", toText(kernel.layouts)},
          {"tiles", kernel.desc.tiles.tryEvaluate(values).value_or(0)},
          {"scratch", kernel.desc.scratchBytes}};
}

CandidateCode codeOf(const Json& json) {
  CandidateCode code;
  code.library = json["library"], code.hash = json["hash"];
  for (const Json& arg : json["args"])
    code.args.push_back({static_cast<ElementType>(arg[0].get<int>()), static_cast<Mode>(arg[1].get<int>()), arg[2]});
  code.values = json["values"].get<std::vector<int64_t>>();
  code.layouts = layoutsFromText(json["layouts"]).value_or(std::vector<ConstantLayout>());
  code.tiles = json["tiles"], code.scratchBytes = json["scratch"];
  return code;
}

Json failed(const Error& error) {
  const bool isLarge = error->diag == Diag::TooLarge;
  return {{"outcome", static_cast<int>(isLarge ? Outcome::TooLarge : Outcome::CompileFailed)},
          {"reason", error->message}};
}

Json compileOne(const CompiledKernel& kernel, const std::vector<OptOp>& opts, const CompileOptions& options,
                const std::string& library) {
  CompiledKernel copy = copyOf(kernel, kCandidateName);
  if (Status compiled = compileWith(copy, opts, options); !compiled) return failed(compiled.error());
  const Result<std::string> linked = options.linker->linkShared({&copy.code, 1});
  if (!linked) return failed(linked.error());
  if (Status written = writeWholeFile(library, *linked); !written) return failed(written.error());
  return described(copy, library);
}

std::string howItEnded(const ChildEnd& end, const CompileLimits& limits) {
  if (!end.wasForked) return "the system grants no process";
  if (end.timedOut) return "the compiler took more than " + std::to_string(static_cast<int>(limits.seconds)) + " s";
  if (end.signal != 0) return std::string("the compiler ended by a signal: ") + strsignal(end.signal);
  return "the compiler ran out of memory";
}

/// The candidates that the child got to; the last of them may be one that it did not end.
size_t readResults(const ChildEnd& end, const CompileLimits& limits, std::span<CompiledCandidate> all) {
  size_t begun = 0;
  std::string_view text = end.text;
  for (size_t at; (at = text.find('\n')) != text.npos; text.remove_prefix(at + 1)) {
    const Json json = Json::parse(text.substr(0, at), nullptr, false);
    if (json.is_number()) {
      all[begun++].verdict = {Outcome::CompileFailed, howItEnded(end, limits)};
    } else if (json.contains("outcome")) {
      all[begun - 1].verdict = {static_cast<Outcome>(json["outcome"].get<int>()), json["reason"]};
    } else {
      all[begun - 1] = {codeOf(json), {}};
    }
  }
  return begun;
}

}  // namespace

std::vector<CompiledCandidate> compileCandidates(const CompiledKernel& kernel,
                                                 std::span<const std::vector<OptOp>> lists,
                                                 const CompileOptions& options, const CompileLimits& limits,
                                                 const std::string& prefix) {
  std::vector<CompiledCandidate> all(lists.size());
  for (size_t done = 0; done < lists.size();) {
    const ChildEnd end = runInChild({limits.seconds, limits.moreBytes}, [&](const ChildOutput& output) {
      for (size_t i = done; i < lists.size(); ++i) {
        output.write(std::to_string(i) + "\n");
        const std::string library = prefix + std::to_string(i) + ".so";
        output.write(
            compileOne(kernel, lists[i], options, library).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
      }
    });
    const size_t begun = readResults(end, limits, std::span(all).subspan(done));
    for (size_t i = done + begun; begun == 0 && i < lists.size(); ++i)
      all[i].verdict = {Outcome::CompileFailed, howItEnded(end, limits)};
    done = begun == 0 ? lists.size() : done + begun;
  }
  return all;
}

}  // namespace svod
