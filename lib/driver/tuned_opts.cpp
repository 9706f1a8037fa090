#include "driver/tuned_opts.h"

#include <cmath>

#include "data/sha256.h"
#include "driver/compiler_id.h"
#include "facts/patterns.h"
#include "ir/text.h"
#include "opts/replay.h"

namespace svod {

namespace {

std::string nameOf(const CpuTarget& cpu) { return cpu.triple + " " + cpu.name; }
std::string nameOf(const GpuTarget& gpu) { return gpu.name; }

std::string whyOf(const Winner& winner) {
  const auto percent = std::llround(100 * winner.ratio);
  return "the tuning log has it at " + std::to_string(percent) + " % of the time of -O1" +
         (winner.isHint ? ", with code of another compiler" : "");
}

}  // namespace

std::string tuningHash(const CompiledKernel& kernel) {
  std::string text = "svod tuning kernel 1\n";
  for (int slot : kernel.inPlace) text += "overwrites " + std::to_string(slot) + "\n";
  for (uint32_t slot : kernel.constants) text += "constant " + std::to_string(slot) + "\n";
  return sha256Hex(text + toUopText(kernel.ast)).substr(0, 32);
}

std::string tuningTarget(const CompileOptions& options) {
  const std::string machine = std::visit([](const auto& m) { return nameOf(m); }, options.machine);
  return std::string(options.target->name) + " " + machine + " " + std::string(toText(options.numerics));
}

std::string tuningCompiler() { return sha256Hex(compilerId()).substr(0, 16); }

std::optional<Choice> tunedChoice(Graph& graph, UOp sink, std::span<const Winner> winners, const Caps& caps) {
  for (const Winner& winner : winners) {
    const Result<std::vector<OptOp>> opts = parseOpts(winner.opts);
    if (!opts) continue;
    const Result<UOp> applied = applyOpts(graph, sink, *opts, caps);
    if (!applied || !checkEffects(*applied, *opts)) continue;
    Choice choice{patternOf(sink), {}, {}};
    for (const OptOp& opt : *opts) choice.opts.push_back({opt, "as in the tuning log"});
    choice.why = whyOf(winner);
    return choice;
  }
  return std::nullopt;
}

}  // namespace svod
