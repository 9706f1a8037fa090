// Slices whose bounds are variables, against Python's rule written down here once more.
#include <catch2/catch.hpp>

#include "e2e/graph_text.h"

using namespace svod;

namespace {

/// A bound of a slice, in a graph file and as a number.
struct Bound {
  const char* text;
  int64_t (*value)(int64_t n);
  bool isConst = false;
};

int64_t constant(int64_t v) { return v; }
template <int64_t V>
int64_t is(int64_t) {
  return constant(V);
}

/// n lies in [0, 9].
const Bound kBounds[] = {{"", nullptr, true},
                         {"2", is<2>, true},
                         {"7", is<7>, true},
                         {"-2", is<-2>, true},
                         {"-7", is<-7>, true},
                         {"n", [](int64_t n) { return n; }},
                         {"-n", [](int64_t n) { return -n; }},
                         {"-n - 1", [](int64_t n) { return -n - 1; }},
                         {"n - 3", [](int64_t n) { return n - 3; }},
                         {"4 - n", [](int64_t n) { return 4 - n; }},
                         {"n//2 - 5", [](int64_t n) { return n / 2 - 5; }}};

/// x[start:end:step] of 10, 11, .. with `size` elements. Bounds of variables may lie behind the tensor, which has 0
/// there.
std::vector<int64_t> sliced(int64_t size, const Bound& start, const Bound& end, int64_t step, int64_t n) {
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto resolved = [&](const Bound& b, int64_t missing) {
    if (b.value == nullptr) return missing;
    const int64_t v = b.value(n);
    if (v < 0) return std::max(size + v, low);
    return b.isConst || step < 0 ? std::min(v, high) : v;
  };
  const int64_t from = resolved(start, step > 0 ? 0 : size - 1), to = resolved(end, step > 0 ? size : -1);
  std::vector<int64_t> all;
  for (int64_t i = from; step > 0 ? i < to : i > to; i += step) all.push_back(i >= 0 && i < size ? 10 + i : 0);
  return all;
}

std::vector<int64_t> valuesOf(const HostTensor& t) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < t.numel(); ++i) all.push_back(t.at(i).asInt());
  return all;
}

struct Case {
  const Bound *start, *end;
  int64_t step;
};

std::string textOf(const Case& c, size_t number) {
  return "output y" + std::to_string(number) + " = x[" + c.start->text + ":" + c.end->text + ":" +
         std::to_string(c.step) + "]\n";
}

/// Every case is an output of one graph, with x of the size `dim`, which is `size`.
void check(const std::vector<Case>& cases, const std::string& dim, int64_t size, int64_t n, bool hasPlan) {
  std::string text = "var n in [0, 9]\nvar k in [0, 6]\ninput x: i32[" + dim + "]\ninput z: i8[n, k]\n";
  for (size_t i = 0; i < cases.size(); ++i) text += textOf(cases[i], i);
  Model model = modelOf(text);
  ModelBindings bindings;
  bindings.variables = {{"n", n}, {"k", size}};
  bindings.ports.resize(model.ports.size());
  HostTensor x = HostTensor::zeros(DType::I32, {size});
  for (int64_t i = 0; i < size; ++i) x.set(i, Scalar::ofInt(DType::I32, 10 + i));
  bindings.ports[0] = x, bindings.ports[1] = HostTensor::zeros(DType::I8, {n, size});
  std::vector<Result<std::vector<HostTensor>>> results{interpret(model, bindings)};
  for (int level : {0, 1})
    if (hasPlan) {
      RunOptions options;
      options.optLevel = level;
      results.push_back(runPlan(model, bindings, options));
    }
  for (size_t r = 0; r < results.size(); ++r) {
    if (!results[r]) FAIL(toText(results[r].error()));
    for (size_t p = 0; p < model.ports.size(); ++p) {
      if (model.ports[p].kind != PortKind::Output) continue;
      const auto number = static_cast<size_t>(std::stoi(model.ports[p].name.substr(1)));
      const Case& c = cases[number];
      INFO((r == 0 ? "interpreter: " : "plan: ") << textOf(c, number) << "n = " << n << ", size = " << size);
      CHECK(valuesOf((*results[r])[p]) == sliced(size, *c.start, *c.end, c.step, n));
    }
  }
}

}  // namespace

TEST_CASE("slices with bounds of variables take what Python takes") {
  std::vector<Case> all;
  for (const Bound& start : kBounds)
    for (const Bound& end : kBounds)
      for (int64_t step : {1, 2, -1, -3})
        if (!start.isConst || !end.isConst) all.push_back({&start, &end, step});
  for (int64_t n = 0; n <= 9; ++n) {
    check(all, "5", 5, n, false);
    check(all, "k", n % 7, n, false);
  }
  std::vector<Case> some;
  for (size_t i = 0; i < all.size(); i += 7) some.push_back(all[i]);
  for (int64_t n : {0, 2, 9}) check(some, "5", 5, n, true), check(some, "k", n % 7, n, true);
}
