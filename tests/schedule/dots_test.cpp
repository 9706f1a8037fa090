// What matrix products read where the processor multiplies bf16.
#include <catch2/catch.hpp>

#include "common/model_text.h"
#include "schedule/schedule.h"

using namespace svod;

namespace {

size_t kernelsOf(const std::string& text, bool bf16Dots) {
  Model model = modelOf(text);
  auto schedule = makeSchedule(model, {Numerics::Fast, {.bf16Dots = bf16Dots}});
  if (!schedule) FAIL(toText(schedule.error()));
  return schedule->items.size();
}

}  // namespace

TEST_CASE("operands stay bf16 where dot products take them") {
  const std::string operands = "input a: bf16[64, 256]\ninput b: bf16[256, 96]\n";
  CHECK(kernelsOf(operands + "output c = matmul(a, b)\n", false) == 3);
  CHECK(kernelsOf(operands + "output c = matmul(a, b)\n", true) == 1);
  const std::string rows = "input a: bf16[4, 64, 256]\ninput b: bf16[4, 96, 256]\n";
  CHECK(kernelsOf(rows + "output c = matmul(a, transpose(b))\n", true) == 1);
  // What is computed is kept as bf16, not as f32.
  CHECK(kernelsOf(operands + "output c = matmul(relu(a), b)\n", true) == 2);
}

TEST_CASE("operands that no dot product takes are widened once") {
  const std::string columns = "input a: bf16[256, 64]\ninput b: bf16[256, 96]\noutput c = matmul(transpose(a), b)\n";
  CHECK(kernelsOf(columns, true) == 3);  // neighbours of a belong to different rows
  CHECK(kernelsOf("input a: f32[64, 256]\ninput b: bf16[256, 96]\noutput c = matmul(a, b)\n", true) == 2);
  for (const char* text : {"input q: bf16[2, 64, 32]\ninput k: bf16[2, 80, 32]\ninput v: bf16[2, 80, 32]\n"
                           "output y = matmul(softmax(matmul(q, transpose(k))), v)\n",
                           "input x: bf16[1, 16, 20, 20]\ninput w: bf16[32, 16, 3, 3]\noutput y = conv2d(x, w)\n"}) {
    INFO(text);
    CHECK(kernelsOf(text, true) == kernelsOf(text, false));
  }
}

TEST_CASE("Blocks of bytes are scaled and added up where they are multiplied") {
  const std::string blocks =
      "input x: i8[9, 1, 4, 2, 4]\ninput w: u8[40, 4, 1, 4]\ninput scale: f32[40, 4]\n"
      "shift = reshape(cast(iota(size=2) * 4, dtype=u8), shape=[2, 1])\n"
      "d = sum(cast(x, dtype=i32) * cast(and(shr(w, shift), 15), dtype=i32), axes=[3, 4])\n";
  CHECK(kernelsOf(blocks + "output y = sum(cast(d, dtype=f32) * scale, axes=[2])\n", false) == 1);
  // Two readers would compute the products twice.
  CHECK(kernelsOf(blocks + "output y = sum(cast(d, dtype=f32) * scale, axes=[2])\noutput d\n", false) == 2);
  // Filters serve all pixels of a pool, so the product keeps its tile.
  CHECK(kernelsOf("input x: i8[64, 49]\ninput w: i8[96, 64]\nd = matmul(cast(w, dtype=i32), cast(x, dtype=i32))\n"
                  "output y = sum(relu(d), axes=[1])\n",
                  false) == 2);
  // Rows that several results read are products of their own.
  CHECK(kernelsOf("input x: i8[9, 64]\ninput w: i8[64, 32]\ninput v: f32[32, 16]\n"
                  "d = matmul(cast(x, dtype=i32), cast(w, dtype=i32))\noutput y = matmul(cast(d, dtype=f32), v)\n",
                  false) > 1);
}
