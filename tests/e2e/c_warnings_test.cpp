// Files of C with whole plans of random graphs: gcc and clang have nothing to say of them.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/random_graph.h"
#include "common/temp_folder.h"
#include "e2e/harness.h"
#include "e2e/seeds.h"
#include "embed/c_file.h"
#include "target/c/print_c.h"

using namespace svod;

namespace {

constexpr const char* kCompilers[] = {
    "gcc -std=c11 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wmaybe-uninitialized",
    "gcc -std=c11 -O3 -march=x86-64-v3 -Wall -Wextra -Wmaybe-uninitialized",
    "clang -std=c11 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wtautological-compare",
};

bool isThere(const std::string& command) {
  const std::string program = command.substr(0, command.find(' '));
  return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}

RandomOptions optionsOf(uint64_t seed) {
  RandomOptions drawn;
  drawn.transcendentals = seed % 2 == 0;
  drawn.edges = seed % 3 == 0;
  drawn.loops = seed % 4 == 0;
  drawn.composites = seed % 5 == 0;
  drawn.steps = static_cast<int>(4 + seed % 20);
  return drawn;
}

/// The file as `svodc --emit c` writes it; empty where a plan cannot be built into a program.
Result<std::string> fileOf(uint64_t seed) {
  Model model = randomModel(seed, optionsOf(seed));
  RunOptions how;
  how.target = "c", how.cpu = seed % 2 == 0 ? "" : "x86-64-v3";
  how.optLevel = seed % 7 != 0;
  how.numerics = static_cast<Numerics>(seed % 3);
  CompileOptions options = compileOptions(how);
  SVOD_TRY(options.tools, options.target->open({{{"cc", "none"}}, {}, {}, "/tmp"}));
  SVOD_TRY(const auto compiled, compile(model, options));
  Result<Interface> made = interfaceOf(compiled->plan, {"graph", {}});
  if (!made) return std::string();
  made->tag = "0123456789abcdef";
  EmbedParts parts{{}, freestandingHead, {}};
  for (const PlanFile& file : compiled->files)
    if (file.kind == FileKind::Weights) parts.weights = file.chunks;
  for (const CompiledKernel& k : compiled->kernels) parts.kernels.push_back(k.code);
  return fileText(compiled->plan, *made, parts);
}

std::string warningsOf(uint64_t seed) {
  const Result<std::string> text = fileOf(seed);
  if (!text) return toText(text.error());
  TempFolder folder;
  const std::string file = folder / "graph.c", said = folder / "said";
  std::ofstream(file) << *text;
  for (const std::string command : kCompilers) {
    if (!isThere(command)) continue;
    const int status = std::system((command + " -Werror -c -o /dev/null " + file + " 2> " + said).c_str());
    std::stringstream words;
    words << std::ifstream(said).rdbuf();
    if (status != 0 || !words.str().empty()) return command + "\n" + words.str();
  }
  return "";
}

}  // namespace

TEST_CASE("compilers have nothing to say of files of C", "[random]") { forSeeds(20, {200}, warningsOf); }
