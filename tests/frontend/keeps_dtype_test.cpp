// Ops that move, choose or order elements give back the dtype they got, of every dtype, and the elements that the same
// op gives of numbers which hold them all.
#include <catch2/catch.hpp>
#include <set>

#include "common/model_text.h"
#include "frontend/graph_op.h"
#include "interp/interp.h"

using namespace svod;

namespace {

// Calls on X [4, 6], on I, positions in i32 [4, 2] below 4, and on C, a bool [4, 6].
constexpr const char* kCalls[] = {
    "reshape(X, shape=[6, 4])",
    "flatten(X)",
    "squeeze(unsqueeze(X, axes=0))",
    "unsqueeze(X, axes=1)",
    "expand(unsqueeze(X, axes=0), shape=[3, 4, 6])",
    "permute(X, order=[1, 0])",
    "transpose(X)",
    "pad(X, before=[1, 0], after=[0, 2])",
    "pad(X, before=[1, 1], after=[1, 2], mode=reflect)",
    "pad(X, before=[1, 1], after=[1, 2], mode=edge)",
    "pad(X, before=[1, 1], after=[1, 2], mode=wrap)",
    "pad(X, before=[1, 0], after=[0, 2], value=1)",
    "shrink(X, offset=[1, 2], size=[2, 3])",
    "slice(X, starts=[1, 5], ends=[3, 0], steps=[1, -2])",
    "at(X, positions=[1, -2])",
    "flip(X, axes=[0, 1])",
    "stride(X, steps=[1, -2])",
    "roll(X, shifts=[1, -2], axes=[0, 1])",
    "repeat(X, counts=[2, 3])",
    "concat(X, flip(X, axes=0), axis=1)",
    "stack(X, flip(X, axes=0))",
    "split(X, parts=2)",
    "reduce_max(X, axes=1)",
    "reduce_min(X)",
    "fold(X, with=max, axes=0)",
    "fold(X, with=min)",
    "max(X, flip(X, axes=0))",
    "min(X, flip(X, axes=1))",
    "where(C, X, flip(X, axes=0))",
    "gather(X, I)",
    "gather_elements(X, I, axis=1)",
    "gather_nd(X, I)",
    "scatter_elements(X, I, slice(flip(X, axes=0), starts=[0, 0], ends=[4, 2]), axis=1)",
    "scatter_elements(X, I, slice(flip(X, axes=0), starts=[0, 0], ends=[4, 2]), axis=0, mode=max)",
    "scatter_nd(X, I, reduce_max(X, axes=1))",
    "gather_at(X, I, 1)",
    "scatter_at(X, 1, 2, reduce_max(X))",
    "embedding(X, I)",
    "triu(X, k=1)",
    "tril(X)",
    "cummax(X, axis=1)",
    "cummin(X, axis=0, reverse=true)",
    "sort(X)",
    "sort(X, axis=0, descending=true)",
    "sort(repeat(X, counts=[1, 50]))",
    "sort(repeat(X, counts=[1, 50]), descending=true)",
    "topk(X, k=3)",
    "topk(X, k=2, largest=false, axis=0)",
    "contiguous(X)",
    "max_pool(unsqueeze(X, axes=[0, 1]), kernel=[2, 2], padding=1)",
    "global_max_pool(unsqueeze(X, axes=[0, 1]))",
    "resize(unsqueeze(X, axes=[0, 1]), size=[3, 9])",
    "pixel_shuffle(unsqueeze(X, axes=-1), factor=1)",
    "pixel_unshuffle(unsqueeze(X, axes=0), factor=2)"};

// Of the themes below: ops with results of another kind, or that compute.
constexpr std::string_view kOthers[] = {"one_hot", "argsort", "cumsum", "cumprod"};

// Numbers that hold every value of a dtype, in the same order.
DType widerThan(DType d) { return isFloat(d) ? DType::F64 : d == DType::U64 ? DType::U64 : DType::I64; }

std::string with(std::string call, std::string_view x) {
  for (size_t at = call.find('X'); at != std::string::npos; at = call.find('X', at + x.size())) call.replace(at, 1, x);
  return call;
}

bool hasTwoResults(std::string_view call) {
  return call.starts_with("split(") || call.starts_with("sort(") || call.starts_with("topk(");
}

}  // namespace

TEST_CASE("ops that move, choose or order elements keep their dtype and their values") {
  for (DType d : allDTypes()) {
    if (d == DType::Void || d == DType::Index) continue;
    const std::string narrow(toText(d)), wide(toText(widerThan(d)));
    std::string text = "input X: " + narrow + "[4, 6]\ninput I: i32[4, 2]\ninput C: bool[4, 6]\n" +
                       "W = cast(X, dtype=" + wide + ")\n";
    int number = 0;
    for (const char* call : kCalls) {
      const std::string n = std::to_string(number++);
      for (const auto& [name, x] : {std::pair{"a", "X"}, {"b", "W"}})
        text += name + n + (hasTwoResults(call) ? ", _" : "") + " = " + with(call, x) + "\n";
      text += "output y" + n + " = a" + n + "\noutput z" + n + " = cast(b" + n + ", dtype=" + narrow + ")\n";
    }
    Model model = modelOf(text);
    HostTensor x = HostTensor::zeros(d, {4, 6}), i = HostTensor::zeros(DType::I32, {4, 2});
    HostTensor c = HostTensor::zeros(DType::Bool, {4, 6});
    for (int64_t k = 0; k < 24; ++k) {
      x.set(k, Scalar::fromBits(d, static_cast<uint64_t>(k * 7 % 23) << std::max(0, info(d).bits - 5)));
      c.set(k, Scalar::ofInt(DType::Bool, k % 3 == 0));
      if (k < 8) i.set(k, Scalar::ofInt(DType::I32, k * 3 % 4));
    }
    ModelBindings bindings;
    bindings.ports = {x, i, c};
    auto results = interpret(model, bindings);
    if (!results) FAIL(toText(results.error()));
    for (size_t k = 0; k < std::size(kCalls); ++k) {
      const HostTensor &kept = (*results)[3 + 2 * k], &wanted = (*results)[4 + 2 * k];
      INFO(toText(d) << ": " << kCalls[k]);
      CHECK(toText(kept.dtype) == toText(d));
      CHECK(sameValues(kept, wanted, true));
    }
  }
}

TEST_CASE("no op that keeps its dtype is missing") {
  std::string all;
  for (const char* call : kCalls) all += std::string(" ") + call;
  for (const GraphOp& op : allGraphOps()) {
    if (op.theme != "Movement" && op.theme != "Indexing" && op.theme != "Sorting") continue;
    if (std::ranges::count(kOthers, op.name)) continue;
    INFO(op.name);
    CHECK(all.find(" " + std::string(op.name) + "(") != std::string::npos);
  }
}
