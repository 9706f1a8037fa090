// The code that chooses a processor says of every feature, and of sets of them, what the runtime says of this machine.
#include "embed/processor_code.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "support/cpu_features.h"
#include "toolchain/clang.h"
#include "toolchain/linker.h"
#include "toolchain/shared_library.h"

using namespace svod;

namespace {

#if defined(__x86_64__)
#define X86(name, ...) name,
#elif defined(__aarch64__)
#define ARM(name, ...) name,
#elif defined(__arm__)
#define ARM32(name, ...) name,
#elif defined(__riscv)
#define RISCV(name, ...) name,
#endif
const std::vector<std::string> kFeatures = {
#include "support/cpu_features.def"
};

using Processors = std::vector<Processor>;

/// The choices of all of them in one file, each under names of its own.
std::string fileOf(const std::vector<Processors>& choices, Arch arch) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i) {
    for (const char* name : {"read", "leaf", "saved", "choose", kProcessorFunction})
      text += std::string("#undef ") + name + "\n#define " + name + " " + name + "_" + std::to_string(i) + "\n";
    text += processorCode(choices[i], arch);
  }
  return text;
}

/// What each says on this machine.
std::vector<size_t> chosen(const std::vector<Processors>& choices) {
  const CpuTarget any = makeCpuTarget("", "").value();
  const Result<std::string> object = compileC({"choices.c", fileOf(choices, any.arch)}, any, OptLevel::O1);
  INFO((object ? "" : toText(object.error())));
  REQUIRE(object.has_value());
  Linker linker("/tmp");
  const SharedLibrary library(linker.linkShared(std::vector{*object}).value());
  std::vector<size_t> answers;
  for (size_t i = 0; i < choices.size(); ++i) {
    auto* const ask = library.function<int32_t()>((std::string(kProcessorFunction) + "_" + std::to_string(i)).c_str());
    REQUIRE(ask != nullptr);
    answers.push_back(static_cast<size_t>(ask()));
    CHECK(static_cast<size_t>(ask()) == answers.back());  // it remembers
  }
  return answers;
}

}  // namespace

TEST_CASE("Each feature of the table is there where the runtime finds it") {
  REQUIRE_FALSE(kFeatures.empty());
  const std::vector<std::string_view> present = hostCpuFeatures();
  std::vector<Processors> choices;
  for (const std::string& feature : kFeatures) choices.push_back({{"one", {feature}}});
  choices.push_back({{"one", {"no-such-feature"}}});
  const std::vector<size_t> answers = chosen(choices);
  for (size_t i = 0; i < kFeatures.size(); ++i) {
    INFO(kFeatures[i]);
    CHECK((answers[i] == 0) == (std::ranges::find(present, kFeatures[i]) != present.end()));
  }
  CHECK(answers.back() == 1);
}

TEST_CASE("Of several processors the code takes the one that the runtime takes") {
  const std::vector<std::string_view> present = hostCpuFeatures();
  std::mt19937 random(1);
  std::vector<Processors> choices(20);
  for (Processors& processors : choices)
    for (size_t count = 1 + random() % 6; processors.size() < count;) {
      Processor& made = processors.emplace_back();
      for (const std::string& feature : kFeatures) {
        const bool isHere = std::ranges::find(present, feature) != present.end();
        if (random() % (isHere ? 2 : 40) == 0) made.features.push_back(feature);
      }
    }
  const std::vector<size_t> answers = chosen(choices);
  for (size_t i = 0; i < choices.size(); ++i) {
    std::vector<std::vector<std::string>> missing;
    for (const Processor& processor : choices[i]) missing.push_back(missingCpuFeatures(processor.features, present));
    CHECK(answers[i] == bestOf(choices[i], missing).value_or(choices[i].size()));
  }
}
