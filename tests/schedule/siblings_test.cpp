// Which kernels become one because they read the same memory.
#include "schedule/siblings.h"

#include <catch2/catch.hpp>
#include <map>

#include "common/model_text.h"
#include "schedule/checked.h"

using namespace svod;

namespace {

Schedule scheduled(const std::string& text) {
  Model model = modelOf(text);
  return checked(model);
}

size_t launches(const std::string& text) { return scheduled(text).items.size(); }

}  // namespace

TEST_CASE("results over one input are one kernel") {
  CHECK(launches("input a: f32[9, 4]\ninput b: f32[9, 4]\noutput x = a + b\noutput y = a * b\noutput z = exp(a)\n") ==
        1);
  Model symbolic = modelOf("var n in [1, 9]\ninput a: f32[n, 4]\noutput x = a + 1\noutput y = a * 2\n");
  CHECK(makeSchedule(symbolic, {})->items.size() == 1);
}

TEST_CASE("reductions of one input are one kernel") {
  CHECK(launches("input a: f32[9, 4]\noutput x = sum(a, axes=1)\noutput y = reduce_max(a, axes=1)\n") == 1);
  CHECK(launches("input a: f32[9, 4]\noutput x = sum(a, axes=1)\noutput y = reduce_max(a, axes=0)\n") == 2);
  // Both sweep over a, but each over another operand as well.
  CHECK(launches("input a: f32[9, 4]\ninput b: f32[4, 9]\ninput c: f32[4, 9]\n"
                 "output x = matmul(a, b)\noutput y = matmul(a, c)\n") == 2);
}

TEST_CASE("a reduction that uses another one of the same rows is computed with it") {
  CHECK(launches("input a: f32[9, 40]\nm = reduce_max(a, axes=1, keepdims=true)\noutput m\n"
                 "output s = sum(exp(a - m), axes=1)\n") == 1);
  // Of all rows, of the next row, of rounded elements.
  CHECK(launches("input a: f32[9, 40]\nm = reduce_max(a)\noutput m\noutput s = sum(a - m, axes=1)\n") == 2);
  CHECK(launches("input a: f32[9, 40]\nm = reduce_max(a, axes=1, keepdims=true)\noutput m\n"
                 "output s = sum(a - flip(m, axes=[0]), axes=1)\n") == 2);
  CHECK(launches("input a: f16[9, 40]\nm = reduce_max(a, axes=1, keepdims=true)\noutput m\n"
                 "output s = sum(a - m, axes=1)\n") == 2);
}

TEST_CASE("what is computed of a result where it is written is a result of the same kernel") {
  // An element of the first one selects what the second one reads.
  const std::string selects = "input x: f32[64]\ninput i: i32[8, 4]\nat = contiguous(floormod(i * i, 64))\noutput at\n";
  CHECK(launches(selects + "output y = gather_at(x, at)\n") == 1);
  CHECK(launches(selects + "output y = gather_at(x, flip(at, axes=[0]))\n") == 2);
}

TEST_CASE("what is computed of sums has lanes in a kernel of its own") {
  CHECK(launches(
            "input a: f32[9, 40]\ninput h: f32[9]\ns = contiguous(sum(a, axes=1))\noutput s\noutput y = h - s * h\n") ==
        2);
}

TEST_CASE("the first few of a sort are one kernel behind that of the keys") {
  CHECK(launches("input x: f32[4, 40]\nv, i = topk(x, k=8)\noutput v\noutput i\n") == 2);
}

TEST_CASE("a short loop over results of reductions is computed with these") {
  const std::string reduced =
      "input a: f32[9, 40]\nm = reduce_max(a, axes=1)\ns = sum(a, axes=1)\noutput m\noutput s\n";
  CHECK(launches(reduced + "output y = stack(m, s, m * s, axis=1)\n") == 1);
  CHECK(launches(reduced + "input c: f32[1, 17]\noutput y = reshape(m, shape=[9, 1]) + c\n") == 2);
  CHECK(launches(reduced + "output y = exp(stack(m, s, axis=1))\n") == 2);  // lanes are worth a kernel
  CHECK(launches(reduced + "input b: f32[9, 3, 5]\noutput y = reshape(m, shape=[9, 1]) + sum(b, axes=2)\n") == 2);
}

TEST_CASE("one kernel of two has an id for each of its loops") {
  const Schedule schedule = scheduled(
      "input x: f32[8, 8]\ninput i: i32\np = floormod(expand(reshape(i, shape=[1, 1]), shape=[6, 6]), 8)\n"
      "g = gather_at(x, p, p)\nq = prod(shrink(g, offset=[0, 3], size=[4, 3]))\nb = sum(g)\n"
      "output y = max(contiguous(q), b)\noutput z = -b\n");
  size_t loops = 0;
  for (const ScheduleItem& item : schedule.items) {
    std::map<uint32_t, UOp> known;
    for (UOp n : toposort(schedule.kernels[static_cast<size_t>(item.kernel)].sink))
      if (n.op() == Op::Range) CHECK(known.emplace(n.argAs<AxisArg>().id, n).first->second == n);
    loops = std::max(loops, known.size());
  }
  CHECK(loops == 4);  // 4 x 3 of the product and 6 x 6 of the sum are in one kernel
}

TEST_CASE("kernels stay apart that share too little or cannot move") {
  // Other elements, other extents, nothing but a row.
  CHECK(launches("input a: f32[9, 9]\noutput x = a + 1\noutput y = transpose(a, axis0=0, axis1=1) * 2\n") == 2);
  CHECK(launches("input a: f32[9, 4]\noutput x = a + 1\noutput y = slice(a, starts=[0, 0], ends=[8, 4]) * 2\n") == 2);
  CHECK(launches("input a: f32[9, 4]\ninput b: f32[9, 4]\ninput r: f32[4]\noutput x = a + r\noutput y = b + r\n") == 2);
  // The second result is of the new content of the state.
  const char* text =
      "input a: f32[9, 4]\nstate s: f32[9, 4] = 0\noutput x = a + s\nassign s = a * 2\noutput y = a - s\n";
  Schedule s = scheduled(text);
  for (const ScheduleItem& item : s.items)
    for (size_t slot = 0; slot < item.args.size(); ++slot) CHECK(!(item.reads[slot] && item.writes[slot]));
  CHECK(s.items.size() > 1);
}

TEST_CASE("kernels of different bodies stay apart") {
  const char* text = "input a: f32[4]\nstate s: f32[4] = 0\nloop i < 3 {\n  assign s = s + a\n}\noutput x = a * 2\n";
  CHECK(launches(text) >= 3);
}

TEST_CASE("no more than a few results are one kernel") {
  std::string text = "input a: f32[9, 4]\n";
  for (int i = 0; i < 10; ++i) text += "output y" + std::to_string(i) + " = a + " + std::to_string(i + 1) + "\n";
  Schedule s = scheduled(text);
  CHECK(s.items.size() == 3);
  CHECK(s.kernels.size() == s.items.size());
}
