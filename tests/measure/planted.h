// Candidates with something planted, and what runs them.
#pragma once
#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>

#include "common/temp_folder.h"
#include "measure/run_candidate.h"
#include "measure/test_data.h"

namespace svod {

inline constexpr size_t kElements = 1000;

/// y = 2 x, with something planted.
inline CandidateCode built(const TempFolder& folder, const std::string& name, const std::string& body) {
  const std::string source = folder / (name + ".c"), library = folder / (name + ".so");
  writeText(source,
            "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
            "#include <time.h>\n"
            "void candidate(void* const* b, const int64_t* v, int64_t begin, int64_t end, void* scratch) {\n"
            "float* y = b[0]; const float* x = b[1]; (void)v; (void)begin; (void)end; (void)scratch;\n"
            "for (int i = 0; i < 1000; ++i) y[i] = 2 * x[i];\n" +
                body + "\n}\n");
  REQUIRE(std::system(("cc -O1 -w -shared -fPIC -o " + library + " " + source).c_str()) == 0);
  CandidateCode code;
  code.library = library, code.function = "candidate";
  code.args = {{ElementType::F32, Mode::Write, 4 * kElements}, {ElementType::F32, Mode::Read, 4 * kElements}};
  code.scratchBytes = 128;
  return code;
}

inline KernelData data() {
  KernelData all;
  all.types = {ElementType::F32, ElementType::F32};
  all.operands.assign(2, std::vector<std::byte>(4 * kElements));
  fillWithData(all.operands[1], ElementType::F32, 1);
  return all;
}

struct Bench {
  TempFolder folder;
  KernelData all = data();
  RunLimits limits{2, 256 << 20};
  Runner runner{all, limits};
  int planted = 0;

  Bench() {
    const TrialResult reference = runReference(built(folder, "reference", ""), all, limits);
    REQUIRE(reference.outcome == Outcome::Timed);
  }
  TrialResult time(const CandidateCode& code, double stopAbove = 0) { return runner.time(code, stopAbove); }
  /// Libraries have different names: a process loads one of a name once.
  TrialResult of(const std::string& body) { return time(built(folder, "planted" + std::to_string(planted++), body)); }
};

}  // namespace svod
