// Attention in its forms: one kernel that works on blocks of rows. All memory lies between pages that fault.
#include <catch2/catch.hpp>

#include "e2e/graph_text.h"

using namespace svod;

namespace {

struct Shape {
  int heads, queries, keys, head, value;
};
constexpr Shape kShapes[] = {{1, 16, 16, 8, 8},   {2, 37, 41, 16, 24}, {1, 64, 64, 64, 64}, {2, 48, 100, 32, 16},
                             {1, 100, 33, 20, 7}, {3, 17, 5, 64, 64},  {1, 16, 300, 9, 3},  {1, 70, 70, 128, 128},
                             {2, 5, 40, 16, 16},  {17, 1, 40, 16, 16}};

std::string dims(const std::string& type, std::initializer_list<int> sizes) {
  std::string text;
  for (int n : sizes) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return type + "[" + text + "]";
}

std::string operands(const Shape& s, const std::string& type = "f32") {
  return "input q: " + dims(type, {s.heads, s.queries, s.head}) +
         "\ninput k: " + dims(type, {s.heads, s.keys, s.head}) +
         "\ninput v: " + dims(type, {s.heads, s.keys, s.value}) + "\n";
}

constexpr Shape kOdd{2, 33, 40, 16, 24};

}  // namespace

TEST_CASE("attention over many shapes, optimized and not") {
  for (const Shape& s : kShapes)
    for (int level : {0, 1}) {
      RunOptions options;
      options.optLevel = level;
      checkBetweenGuards(operands(s) + "output y = attention(q, k, v)\n", 1, options);
    }
}

TEST_CASE("attention with masks, other dtypes, layouts and scales") {
  for (const char* type : {"f16", "bf16", "f64"})
    checkBetweenGuards(operands(kOdd, type) + "output y = attention(q, k, v)\n", 1);
  const std::string f32 = operands(kOdd);
  for (const char* graph : {
           "output y = attention(q, k, v, causal=true)\n",
           "input m: f32[33, 40]\noutput y = attention(q, k, v, m)\n",
           "input m: bool[2, 33, 40]\noutput y = attention(q, k, v, m)\n",
           "w = softmax(matmul(q, permute(k, order=[0, 2, 1])) * 0.3)\noutput kept = w\noutput y = matmul(w, v)\n",
           "s = matmul(q, permute(k, order=[0, 2, 1]))\ne = exp(s * 0.1)\n"
           "output y = matmul(e / sum(e, axes=[-1], keepdims=true), v) + 1\n",
           "s = matmul(q, permute(k, order=[0, 2, 1]))\noutput y = matmul(tanh(s) * sigmoid(s), v)\n",
       })
    checkBetweenGuards(f32 + graph, 1);
  checkBetweenGuards(
      "input q: f32[1, 4, 33, 16]\ninput k: f32[1, 2, 20, 16]\ninput v: f32[1, 2, 20, 8]\n"
      "output y = attention(q, k, v)\n",
      1);
  checkBetweenGuards(
      "input q: f32[2, 16, 33]\ninput k: f32[2, 16, 20]\ninput v: f32[2, 24, 20]\n"
      "w = softmax(matmul(permute(q, order=[0, 2, 1]), k))\n"
      "output y = matmul(w, permute(v, order=[0, 2, 1]))\n",
      1);
}

TEST_CASE("masks of many keys, block by block") {
  const std::string f32 = operands({2, 50, 150, 16, 24});
  const std::string scores = "s = matmul(q, permute(k, order=[0, 2, 1]))\n";
  for (const char* graph : {"input m: f32[50, 150]\noutput y = attention(q, k, v, m)\n",
                            "input m: bool[2, 50, 150]\noutput y = attention(q, k, v, m)\n"})
    checkBetweenGuards(f32 + graph, 1);
  checkBetweenGuards(f32 + "input m: bool[50, 150]\ninput p: u8[2, 1, 150]\n" + scores +
                         "t = where(cast(p, dtype=bool), where(m, s, -100), -100)\noutput y = matmul(softmax(t), v)\n",
                     1);
}

TEST_CASE("attention over symbolic numbers of queries and keys") {
  const std::string var = "var n in [0, 70]\n";
  for (int64_t n : {0, 1, 15, 16, 17, 49, 70}) {
    checkBetweenGuards(var +
                           "input q: f32[2, n, 8]\ninput k: f32[2, 20, 8]\ninput v: f32[2, 20, 12]\n"
                           "output y = attention(q, k, v)\n",
                       n);
    checkBetweenGuards(var +
                           "input q: f32[2, 20, 8]\ninput k: f32[2, n + 1, 8]\ninput v: f32[2, n + 1, 12]\n"
                           "output y = attention(q, k, v, causal=true)\n",
                       n);
  }
}
