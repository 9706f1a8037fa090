// Contiguous parts of buffers are used where they lie.
#include "schedule/views.h"

#include <catch2/catch.hpp>

#include "common/model_text.h"
#include "schedule/checked.h"

using namespace svod;

namespace {

struct View {
  std::string base;
  int64_t offset;
  bool operator==(const View&) const = default;
};

std::vector<View> viewsOf(const std::string& text) {
  Model model = modelOf(text);
  const Schedule schedule = checked(model);
  std::vector<View> views;
  for (const ScheduleBuffer& b : schedule.buffers)
    if (b.viewOf >= 0) views.push_back({schedule.buffers[static_cast<size_t>(b.viewOf)].name, b.viewOffset});
  return views;
}

}  // namespace

TEST_CASE("a contiguous part of an input or a kept value is a view") {
  CHECK(viewsOf("input x: f32[6, 4]\nt = contiguous(x[2:4])\noutput y = t + 1\n") == std::vector<View>{{"x", 8}});
  CHECK(viewsOf("input x: f32[6, 4]\nt = contiguous(x[3, 1:3])\noutput y = t + 1\n") == std::vector<View>{{"x", 13}});
  CHECK(viewsOf("input x: f32[6, 4]\nt = contiguous(x * 2)\nu = contiguous(reshape(t[1:5], shape=[8, 2]))\n"
                "output y = u + 1\n") == std::vector<View>{{"t", 4}});
  // A part of a part lies in the same buffer.
  CHECK(
      viewsOf(
          "input x: f32[6, 4]\nt = contiguous(x[1:5])\nu = contiguous(t[1:3])\noutput y = u + 1\noutput z = t * 2\n") ==
      std::vector<View>{{"x", 4}, {"x", 8}});
}

TEST_CASE("what is no contiguous part, or changes afterwards, is copied") {
  CHECK(viewsOf("input x: f32[6, 4]\nt = contiguous(x[:, 1:3])\noutput y = t + 1\n").empty());
  CHECK(viewsOf("input x: f32[6, 4]\nt = contiguous(x[::2])\noutput y = t + 1\n").empty());
  CHECK(viewsOf("input x: f32[6, 4]\nt = contiguous(pad(x, before=[1, 0], after=[0, 0]))\noutput y = t + 1\n").empty());
  CHECK(viewsOf("input x: f32[6, 4]\nstate s: f32[6, 4]\nt = contiguous(s[2:4])\nassign s = s + x\noutput y = t + 1\n")
            .empty());
  CHECK(viewsOf("input x: f32[6, 4]\noutput y = x[2:4]\n").empty());  // the memory of an output is the caller's
  CHECK(
      viewsOf("weight w: f32[4] = [1, 2, 3, 4]\ninput x: f32[2]\nt = contiguous(w[1:3])\noutput y = t + x\n").empty());
}

TEST_CASE("nothing takes the place of a buffer that has views") {
  // z may lie on t but for p, which is read after z was computed.
  const std::string text =
      "input x: f32[8]\nt = contiguous(x * 2)\np = contiguous(t[0:4])\nz = contiguous(t + 1)\n"
      "output y = sum(z) + p\n";
  Model model = modelOf(text);
  const Schedule schedule = checked(model);
  CHECK(viewsOf(text) == std::vector<View>{{"t", 0}});
  for (const ScheduleItem& item : schedule.items)
    if (item.overwrites >= 0) CHECK(item.args[static_cast<size_t>(item.overwrites)] != schedule.buffers.back().viewOf);
}
