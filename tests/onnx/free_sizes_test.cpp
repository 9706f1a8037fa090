// A plan for free sizes computes what one for fixed sizes does, also where free sizes are 1; or it says why not.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "e2e/seeds.h"
#include "random_model.h"

using namespace svod;

namespace {

// A result whose sizes only a run knows: the part that there is.
HostTensor part(const std::map<std::string, HostTensor>& outputs, const std::string& name) {
  const HostTensor& all = outputs.at(name);
  const auto length = outputs.find(name + ".length");
  if (length == outputs.end()) return all;
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < length->second.numel(); ++i) dims.push_back(length->second.at(i).asInt());
  HostTensor some = HostTensor::zeros(all.dtype, dims);
  for (int64_t i = 0; i < some.numel(); ++i) {
    int64_t from = 0, rest = i, step = 1;
    for (size_t axis = dims.size(); axis-- > 0; rest /= dims[axis], step *= all.dims[axis])
      from += rest % dims[axis] * step;
    some.set(i, all.at(from));
  }
  return some;
}

std::string dimsText(const std::vector<int64_t>& dims) {
  std::string text;
  for (int64_t d : dims) text += (text.empty() ? "[" : ", ") + std::to_string(d);
  return (text.empty() ? "[" : text) + "]";
}

bool areNear(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= 1e-4 * (1 + std::fabs(a) + std::fabs(b));
}

std::string difference(const HostTensor& have, const HostTensor& want) {
  if (have.numel() == 0 && want.numel() == 0) return "";
  if (have.dims != want.dims) return "has dims " + dimsText(have.dims) + ", not " + dimsText(want.dims);
  for (int64_t i = 0; i < want.numel(); ++i)
    if (!areNear(have.at(i).asFloat(), want.at(i).asFloat()))
      return "has " + toText(have.at(i)) + " at " + std::to_string(i) + ", not " + toText(want.at(i));
  return "";
}

struct Counts {
  int runs = 0, refusedRuns = 0, models = 0, refusedModels = 0;
};

void tell(const std::string& what, const Error& error) {
  if (std::getenv("SVOD_SHOW_REFUSED") != nullptr) WARN(what << ": " << toText(error));
}

// What is wrong at these sizes.
std::string wrongAt(const RandomModel& random, const OnnxImport& free, const NamedSizes& sizes, Counts& counts) {
  std::string at;
  for (const auto& [name, size] : sizes) at += " " + name + "=" + std::to_string(size);
  const OnnxImport fixed = random.maker.import(random.fixedTo(sizes));
  auto have = outputsAt(free, random, sizes);
  // Where the fixed model is beyond the importer, nothing says what is right. A size that is computed to be 0 copies no
  // dim in Reshape, but in the fixed model nothing tells it from a 0 that is listed (docs/onnx.md).
  auto isOpen = [](const Error& e) {
    return e->diag != Diag::ShapeMismatch || e->message.find("has a dim of x to copy") != std::string::npos;
  };
  if (!fixed.errors.empty() && isOpen(fixed.errors.front())) return "";
  if (!fixed.errors.empty())
    return have ? "runs with" + at + ", where it is not valid: " + toText(fixed.errors.front()) : "";
  const auto want = outputsAt(fixed, random, sizes);
  if (!want) return have ? "runs with" + at + ", where it is not valid: " + toText(want.error()) : "";
  ++counts.runs;
  if (!have) {
    ++counts.refusedRuns;
    tell("with" + at, have.error());
    return "";
  }
  for (const auto& [name, value] : *want) {
    if (name.ends_with(".length")) continue;
    const std::string wrong = difference(part(*have, name), part(*want, name));
    if (!wrong.empty()) return name + " " + wrong + " with" + at;
  }
  return "";
}

std::string wrongWith(uint64_t seed, Counts& counts) {
  const RandomModel random(seed);
  const OnnxImport free = random.maker.import();
  ++counts.models;
  if (!free.errors.empty()) {
    ++counts.refusedModels;
    tell("seed " + std::to_string(seed), free.errors.front());
    return "";
  }
  std::mt19937_64 sizes(seed);
  std::vector<NamedSizes> tried{RandomModel::usualSizes(), {{"n", 1}, {"m", 1}, {"k", 1}}};
  for (int i = 0; i < 4; ++i) {
    NamedSizes some;
    for (const char* name : {"n", "m", "k"}) some[name] = std::array{1, 2, 3, 5, 1}[sizes() % 5];
    tried.push_back(some);
  }
  for (const NamedSizes& some : tried)
    if (std::string wrong = wrongAt(random, free, some, counts); !wrong.empty()) return wrong;
  return "";
}

}  // namespace

TEST_CASE("random models with free sizes are right at every size, or say why not") {
  Counts counts;
  forSeeds(400, {}, [&](uint64_t seed) { return wrongWith(seed, counts); });
  UNSCOPED_INFO(counts.refusedModels << " of " << counts.models << " models refused, " << counts.refusedRuns << " of "
                                     << counts.runs << " runs");
  if (std::getenv("SVOD_SHOW_REFUSED") != nullptr)
    WARN(counts.refusedModels << " of " << counts.models << " models refused, " << counts.refusedRuns << " of "
                              << counts.runs << " runs");
  CHECK(counts.refusedModels * 5 <= counts.models);
  CHECK(counts.refusedRuns * 3 <= counts.runs);
}
