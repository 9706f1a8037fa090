// Resize of free sizes to sizes that keep the aspect of the image, and of a part of it.
#include <catch2/catch.hpp>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

struct Resizing {
  std::string mode, coordinates, policy;
  bool antialias = false;
  std::vector<int64_t> sizes;  // else `scales` of a region
  std::vector<float> region, scales;
};

OnnxMaker made(const Resizing& r, const OnnxMaker::Names& dims) {
  OnnxMaker m(19);
  m.input("x", dims).output("y");
  const auto rank = static_cast<int64_t>(dims.size());
  if (!r.sizes.empty()) m.ints("sizes", {rank}, r.sizes);
  if (!r.scales.empty()) m.floats("scales", {rank}, r.scales);
  if (!r.region.empty()) m.floats("roi", {2 * rank}, r.region);
  OnnxMaker::Names inputs = {"x", r.region.empty() ? "" : "roi", r.scales.empty() ? "" : "scales"};
  if (!r.sizes.empty()) inputs.push_back("sizes");
  proto::NodeProto& node = m.node("Resize", inputs, {"y"});
  addAttribute(node, "mode", r.mode), addAttribute(node, "coordinate_transformation_mode", r.coordinates);
  if (!r.policy.empty()) addAttribute(node, "keep_aspect_ratio_policy", r.policy);
  addAttribute(node, "antialias", int64_t{r.antialias}), addAttribute(node, "extrapolation_value", -1.0F);
  return m;
}

HostTensor resized(const Resizing& r, int64_t h, int64_t w) {
  return run(made(r, {"h", "w"}).import(), {{"h", h}, {"w", w}});
}

void checkLikeFixed(const Resizing& r, int64_t h, int64_t w) {
  INFO(r.mode << " " << r.coordinates << " " << r.policy << " of " << h << ", " << w);
  const HostTensor have = resized(r, h, w);
  const HostTensor want = run(made(r, {std::to_string(h), std::to_string(w)}).import());
  REQUIRE(have.dims == want.dims);
  for (int64_t i = 0; i < want.numel(); ++i) CHECK(have.at(i).asFloat() == Approx(want.at(i).asFloat()).margin(1e-4));
}

void checkIs(const Resizing& r, int64_t h, int64_t w, std::vector<int64_t> dims, const std::vector<double>& want) {
  INFO(r.coordinates << " " << r.policy);
  const HostTensor have = resized(r, h, w);
  REQUIRE(have.dims == dims);
  for (int64_t i = 0; i < have.numel(); ++i)
    CHECK(have.at(i).asFloat() == Approx(want[static_cast<size_t>(i)]).margin(1e-5));
}

}  // namespace

TEST_CASE("a free image keeps its aspect as one of a fixed size does") {
  for (std::string mode : {"nearest", "linear", "cubic"})
    for (const char* coordinates :
         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"})
      for (const char* policy : {"not_larger", "not_smaller"})
        for (const bool antialias : {false, true}) {
          if (antialias && mode == "nearest") continue;
          const Resizing r{mode, coordinates, policy, antialias, {5, 2}, {}, {}};
          for (const auto& [h, w] : {std::pair<int64_t, int64_t>{1, 1}, {2, 7}, {7, 5}, {13, 1}, {1, 13}})
            checkLikeFixed(r, h, w);
        }
}

TEST_CASE("the sizes and the scale of an aspect are those of the definition") {
  // Values of the reference evaluator of ONNX.
  checkIs({"linear", "half_pixel", "not_larger", false, {2, 3}, {}, {}}, 3, 2, {2, 1}, {0.75, 3.75});
  checkIs({"linear", "half_pixel_symmetric", "not_larger", false, {2, 1}, {}, {}}, 5, 2, {2, 1}, {2, 7});
  checkIs({"linear", "align_corners", "not_smaller", false, {2, 1}, {}, {}}, 5, 2, {3, 1}, {0, 16.0 / 3, 8});
  checkIs({"linear", "asymmetric", "not_smaller", false, {2, 3}, {}, {}}, 3, 2, {5, 3},
          {0, 2.0 / 3, 1, 4.0 / 3, 2, 7.0 / 3, 8.0 / 3, 10.0 / 3, 11.0 / 3, 4, 14.0 / 3, 5, 4, 14.0 / 3, 5});
}

TEST_CASE("half an element is rounded up where floats of the scale would round it down") {
  const Resizing r{"nearest", "asymmetric", "not_larger", false, {3, 99}, {}, {}};
  CHECK(resized(r, 22, 55).dims == std::vector<int64_t>{3, 8});
  CHECK(run(made(r, {"22", "55"}).import()).dims == std::vector<int64_t>{3, 8});
}

TEST_CASE("a part of a free image is resized, and where the image ends the value for outside stands") {
  const Resizing r{"linear", "tf_crop_and_resize", "", false, {}, {0, 0.25F, 1, 1.5F}, {1, 1.5F}};
  checkIs(r, 3, 4, {3, 6}, {0.75, 1.5, 2.25, 3, -1, -1, 4.75, 5.5, 6.25, 7, -1, -1, 8.75, 9.5, 10.25, 11, -1, -1});
  for (const bool antialias : {false, true})
    for (const auto& [h, w] : {std::pair<int64_t, int64_t>{1, 2}, {2, 7}, {13, 5}}) {
      checkLikeFixed({"cubic", "tf_crop_and_resize", "", antialias, {}, {0.75F, -0.5F, 0.25F, 1}, {0.6F, 2}}, h, w);
      checkLikeFixed({"linear", "tf_crop_and_resize", "", antialias, {3, 4}, {0.25F, 0, 0.75F, 1.5F}, {}}, h, w);
    }
}
