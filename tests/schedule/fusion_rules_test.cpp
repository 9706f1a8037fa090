// The table of what fusion decides by: every rule with a reason decides about some value.
#include <catch2/catch.hpp>
#include <set>

#include "common/model_text.h"
#include "schedule/fuse_rules.h"
#include "schedule/schedule.h"

using namespace svod;

namespace {

struct RuleCase {
  const char* reason;
  const char* graph;
  Numerics numerics = Numerics::Contract;
  bool narrowProducts = false;
  GraphGpu gpu = {};
};
constexpr GraphGpu kGpu = {67584, 3350, 29652, 308340, 256, 8};

constexpr const char* kAttention =
    "input q: f32[8, 512, 64]\ninput k: f32[8, 512, 64]\ninput v: f32[8, 512, 64]\noutput y = attention(q, k, v)";

constexpr const char* kBlocks =
    "input x: i8[9, 1, 4, 8]\ninput w: u8[40, 4, 8]\ninput scale: f32[40, 4]\n"
    "d = sum(cast(x, dtype=i32) * cast(and(w, 15), dtype=i32), axes=[3])\n"
    "output y = sum(cast(d, dtype=f32) * scale, axes=[2])";

#define SVOD_LEVEL(next, a)                                                                          \
  next " = " a " * " a " + sin(" a ") * cos(" a ") + tan(" a ") + exp(" a ") + sqrt(" a ") + log(" a \
       ")"                                                                                           \
       " + sigmoid(" a ") + tanh(" a ") + erf(" a ") + atan(" a ")\n"
constexpr const char* kLongChain =
    "input x: f32[64]\n" SVOD_LEVEL("a", "x") SVOD_LEVEL("b", "a") SVOD_LEVEL("c", "b") SVOD_LEVEL("output y", "c");
#undef SVOD_LEVEL

const RuleCase kCases[] = {
    {"its kernel would be too large", kLongChain},
    {"no element of it is computed twice", "input x: f32[4, 64]\noutput y = softmax(x)"},
    {"reductions of its kernel sweep over its rows", kAttention},
    {"products with tiles of their own take less time than its rows in one kernel", kAttention, Numerics::Contract,
     true, kGpu},
    {"its kernel reads values of other devices",
     "input x: f32[8, 10]\ninput w: f32[10, 7]\noutput y = copy(x, device=a) @ copy(w, device=a) + "
     "copy(x, device=b) @ copy(w, device=b)"},
    {"runs choose by it what they leave out",
     "input x: f32[64, 64]\ninput u: f32[64, 64]\noutput y = where(eq(sum(x), 3), x @ u, x)"},
    {"one side of the choice that its kernel makes needs it",
     "input d: bool\ninput x: f32[64, 64]\ninput u: f32[64, 64]\noutput y = where(d, x @ u, x)"},
    {"its kernel computes another product",
     "input x: f32[64, 64]\ninput u: f32[64, 64]\ninput w: f32[64, 64]\noutput y = silu(matmul(x, u)) * matmul(x, w)"},
    {"it would be computed more than once", "input x: f32[64, 64]\noutput y = matmul(matmul(x, x), x)"},
    {"it stays with its sum",
     "input q: f32[2, 9, 16]\ninput k: f32[2, 9, 16]\ninput v: f32[2, 9, 16]\noutput y = relu(attention(q, k, v))"},
    {"its sum would be computed more than once",
     "input q: f32[2, 9, 16]\ninput k: f32[2, 9, 16]\ninput v: f32[2, 9, 16]\ninput r: f32[2, 9, 16]\n"
     "output y = layer_norm(attention(q, k, v) + r)"},
    {"the sum it is scaled for reads each element once", kBlocks},
    {"loads take elements out of bytes", kBlocks},
    {"dot products take bytes",
     "input a: u8[64, 64]\ninput b: i8[64, 64]\ninput z: u8[64, 1]\n"
     "output y = matmul(cast(a, dtype=i32) - cast(z, dtype=i32), cast(b, dtype=i32))"},
    {"dot products take bf16",
     "input a: bf16[64, 64]\ninput b: bf16[64, 64]\noutput y = matmul(cast(a, dtype=f32), cast(b, dtype=f32))",
     Numerics::Fast},
    {"tensor cores take it before it is widened",
     "input a: f16[512, 512]\ninput b: f16[512, 512]\noutput y = matmul(cast(a, dtype=f32), cast(b, dtype=f32))",
     Numerics::Contract, true},
    {"reductions sweep over it again", kAttention},
    {"each element is computed once", "input x: f32[64]\noutput y = exp(x * 2)"},
    {"its kernel computes it again a few times, from operands in cache",
     "input x: f32[64, 64]\noutput y = layer_norm(x * 2)"},
    {"computing it where it is read costs less",
     "input x: f32[64, 64]\na = x * 2\noutput y = sum(a, axes=0)\noutput z = sum(exp(a), axes=1)"},
    {"computing it again costs more", "input a: f32[512, 512]\ninput b: f32[512, 512]\noutput y = matmul(exp(a), b)"},
};

std::set<std::string> reasonsIn(const RuleCase& c) {
  LoadOptions options;
  options.devices = {"a", "b"};
  Model model = modelOf(std::string(c.graph) + "\n", options);
  const GraphMachine machine{
      .narrowProducts = c.narrowProducts, .bf16Dots = c.numerics == Numerics::Fast, .gpu = c.gpu};
  auto schedule = makeSchedule(model, {c.numerics, machine, {}, {}});
  REQUIRE(schedule);
  std::set<std::string> reasons;
  for (const Decision& d : schedule->decisions)
    if (d.name.starts_with("keep:")) reasons.insert(d.reason);
  return reasons;
}

}  // namespace

TEST_CASE("each rule of fusion decides about a value, and says why") {
  std::set<std::string, std::less<>> shown;
  for (const RuleCase& c : kCases) {
    const std::set<std::string> reasons = reasonsIn(c);
    INFO(c.reason << ", in\n" << c.graph);
    for (const std::string& r : reasons) UNSCOPED_INFO("there is: " << r);
    CHECK(reasons.contains(c.reason));
    shown.emplace(c.reason);
  }
  for (const FusionRule& rule : fusionRules()) {
    const bool isLast = rule.reason == "it is read in too many ways";  // more than four, each of them cheap
    INFO(rule.reason);
    CHECK((rule.reason.empty() || isLast || shown.contains(rule.reason)));
  }
}
