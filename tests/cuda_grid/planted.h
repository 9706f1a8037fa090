// Kernels that a graph becomes for CUDA: their text, what they compute on the emulated grid, and what is wrong with the
// text where a synchronisation is left out of it.
#pragma once
#include <catch2/catch.hpp>
#include <regex>
#include <sstream>

#include "common/model_text.h"
#include "common/random_graph.h"
#include "cuda_grid/on_grid.h"
#include "interp/error_bounds.h"

namespace svod {

inline RunOptions gridRun(const std::string& opts, const std::string& arch = "sm_80") {
  RunOptions options = onGrid(1, Numerics::Contract, 5, arch);
  options.opts = opts;
  return options;
}

/// With the text of each kernel.
inline std::unique_ptr<Compilation> compiledForGrid(Model& model, const std::string& opts,
                                                    const std::string& arch = "sm_80") {
  CompileOptions wanted = compileOptions(gridRun(opts, arch));
  wanted.keepSource = true;
  auto compiled = compile(model, wanted);
  if (!compiled) FAIL(toText(compiled.error()));
  return std::move(*compiled);
}

/// Random data, in every mode of delays, against the interpreter.
inline void checkOnGrid(Model& model, const std::string& opts, const std::string& arch = "sm_80", uint64_t seed = 3) {
  RandomOptions moderate;
  moderate.contract = true;
  const ModelBindings bindings = randomBindings(model, seed, moderate);
  const auto expected = interpretWithBounds(model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  const auto actual = runPlan(model, bindings, gridRun(opts, arch));
  if (!actual) FAIL(toText(actual.error()));
  for (size_t i = 0; i < model.ports.size(); ++i)
    if (model.ports[i].kind == PortKind::Output)
      CHECK(differenceBeyond((*actual)[i], expected->values[i], expected->bounds[i]) == "");
}

/// What is wrong with a text in place of the kernel's, "" where nothing is found. Its arguments are zeros.
inline std::string faultOf(const KernelDesc& kernel, const std::string& text, Delay delay) {
  auto code = HostKernel::load(text, kernel.symbol, *compileOptions({}).linker);
  if (!code) return toText(code.error());
  std::vector<std::vector<std::max_align_t>> memory;
  std::vector<void*> buffers;
  std::vector<uint64_t> bytes;
  for (const KernelArg& arg : kernel.args) {
    buffers.push_back(memory.emplace_back(arg.bytes / sizeof(std::max_align_t) + 1).data());
    bytes.push_back(arg.bytes);
  }
  std::array<int64_t, 3> groups{};
  for (size_t i = 0; i < 3; ++i) groups[i] = *kernel.grid->groups[i].constant();
  EmulatedGrid grid({delay, 5});
  code->use(grid.calls());
  return grid.run(gridLaunch(kernel, *code, groups, buffers, bytes, nullptr, fixedMaps(kernel)));
}

/// A text without one of its statements, and which one that is.
struct Mutant {
  std::string text, without;
};

/// Texts with one barrier, one wait for copies, one end of a group of them, or one step of an mbarrier left out.
inline std::vector<Mutant> withoutOneSync(const std::string& text) {
  static const std::regex sync(
      R"(svod_(barrier\(\)|cp_wait\(\d+\)|cp_commit\(\)|fence_async\(\)|wgmma_(fence|commit|wait)\([^)]*\)|)"
      R"(mbar_(init|expect|wait)\([^)]*\));)");
  std::vector<Mutant> all;
  for (std::sregex_iterator at(text.begin(), text.end(), sync), end; at != end; ++at) {
    const auto first = static_cast<size_t>(at->position());
    const auto line = std::count(text.begin(), text.begin() + at->position(), '\n') + 1;
    all.push_back({std::string(text).replace(first, static_cast<size_t>(at->length()), ";"),
                   at->str() + " of line " + std::to_string(line)});
  }
  return all;
}

/// Texts in which copies are started one step too early: before the meeting that says that all threads have left their
/// stage, which comes behind them.
inline std::vector<Mutant> withCopiesTooEarly(const std::string& text) {
  static const std::regex copies("svod_(bulk_load|cp_async)"),
      uses("svod_(barrier|mbar_wait|cp_wait|ldmatrix|wgmma|shared_load)|\\}|for \\(");
  std::vector<std::string> lines;
  std::istringstream from(text);
  for (std::string line; std::getline(from, line);) lines.push_back(line);
  const auto says = [&](size_t line, const std::regex& what) { return std::regex_search(lines[line], what); };
  std::vector<Mutant> all;
  for (size_t meeting = 0; meeting < lines.size(); ++meeting) {
    if (lines[meeting].find("svod_barrier();") == std::string::npos) continue;
    size_t end = meeting + 1;
    bool hasCopies = false;
    for (; end < lines.size() && !says(end, uses); ++end) hasCopies = hasCopies || says(end, copies);
    if (!hasCopies) continue;
    std::vector<std::string> changed = lines;
    std::rotate(changed.begin() + static_cast<long>(meeting), changed.begin() + static_cast<long>(meeting) + 1,
                changed.begin() + static_cast<long>(end));
    std::string joined;
    for (const std::string& line : changed) joined += line + "\n";
    all.push_back({joined, "its place: the meeting of line " + std::to_string(meeting + 1)});
  }
  return all;
}

/// The kernels of a graph have no fault, and one in every mode without one of their synchronisations. How many those
/// are. Copies one step too early are a fault in some mode: the last ones may stay under way.
inline int checkPlanted(Model& model, const std::string& opts, const std::string& arch = "sm_80") {
  int planted = 0;
  const auto compiled = compiledForGrid(model, opts, arch);
  for (const CompiledKernel& kernel : compiled->kernels) {
    INFO(kernel.source);
    const auto isFaulty = [&](const std::string& text) {
      return [&](Delay delay) { return faultOf(kernel.desc, text, delay) != ""; };
    };
    CHECK(std::ranges::none_of(kDelays, isFaulty(kernel.source)));
    for (const auto& [text, without] : withoutOneSync(kernel.source)) {
      ++planted;
      INFO("without " << without);
      for (Delay delay : kDelays) CHECK(isFaulty(text)(delay));
    }
    for (const auto& [text, without] : withCopiesTooEarly(kernel.source)) {
      ++planted;
      INFO("without " << without);
      CHECK(std::ranges::any_of(kDelays, isFaulty(text)));
    }
  }
  return planted;
}

}  // namespace svod
