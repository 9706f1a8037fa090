#include "driver/tuned_opts.h"

#include <cmath>
#include <cstdio>

#include "choose/choose.h"
#include "data/sha256.h"
#include "driver/compiler_id.h"
#include "facts/instructions.h"
#include "facts/patterns.h"
#include "ir/text.h"
#include "opts/replay.h"

namespace svod {

namespace {

constexpr size_t kMostOpts = 256;  // a search makes 40 at most

std::string countText(double count) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", count);
  return text;
}

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

Result<std::vector<OptOp>> applicable(Graph& graph, UOp sink, const Winner& winner, const Caps& caps, size_t most) {
  SVOD_TRY(std::vector<OptOp> opts, parseOpts(winner.opts));
  if (opts.size() > kMostOpts)
    return fail(Diag::TooLarge,
                "it has " + std::to_string(opts.size()) + " opts, and may have " + std::to_string(kMostOpts));
  SVOD_TRY(const UOp applied, applyOpts(graph, sink, opts, caps));
  SVOD_CHECK(checkEffects(applied, opts));
  const auto expected = [](UOp kernel) { return instructionsOf(KernelFacts(kernel)); };
  const double bound = 2 * static_cast<double>(most), count = expected(applied);  // the estimate may be too high
  if (count > bound) {
    const Result<UOp> usual = applyOpts(graph, sink, optsOf(choose(graph, sink, caps)), caps);
    if (!usual || count > expected(*usual))
      return fail(Diag::TooLarge, "it comes to about " + countText(count) + " instructions, and may come to " +
                                      countText(bound) + ": --most-instructions");
  }
  return opts;
}

std::optional<Choice> tunedChoice(Graph& graph, UOp sink, std::span<const Winner> winners, const Caps& caps,
                                  size_t most, std::vector<std::string>& passed) {
  for (const Winner& winner : winners) {
    const Result<std::vector<OptOp>> opts = applicable(graph, sink, winner, caps, most);
    if (!opts) {
      passed.push_back(opts.error()->message);
      continue;
    }
    Choice choice{patternOf(sink), {}, {}};
    for (const OptOp& opt : *opts) choice.opts.push_back({opt, "as in the tuning log"});
    choice.why = whyOf(winner);
    return choice;
  }
  return std::nullopt;
}

}  // namespace svod
