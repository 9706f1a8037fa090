// Convolutions, pools and pictures of free sizes.
#pragma once
#include "common/free_products.h"

namespace svod {

class FreeWindows : protected FreeProducts {
 protected:
  using FreeProducts::FreeProducts;

  /// How windows go along one axis, and what is left of it.
  struct Window {
    int64_t taps, stride, dilation, before, after;
    int64_t reach() const { return (taps - 1) * dilation + 1; }
    FreeDim of(const FreeDim& d) const {
      auto count = [&](int64_t n) { return (n + before + after - reach()) / stride + 1; };
      return {"(" + d.text + " + " + std::to_string(before + after - reach()) + ")//" + std::to_string(stride) + " + 1",
              count(d.least), count(d.greatest)};
    }
    int64_t least() const { return std::max<int64_t>(reach() - before - after, 1); }
  };

  Window window() {
    const int64_t taps = oneOf<int64_t>({1, 2, 3, 3, 3, 4, 5}), dilation = draw_.chance(20) ? 2 : 1;
    const int64_t room = (taps - 1) * dilation;
    const int64_t before = draw_.chance(60) ? room / 2 : draw_.between(0, room);
    return {taps, oneOf<int64_t>({1, 1, 1, 2, 2, 3}), dilation, before,
            draw_.chance(70) ? before : draw_.between(0, room)};
  }

  FreeDim picked(const Window& w, int64_t most) { return dim(w.least(), std::max(most, w.least() + 1)); }

  void convolution() {
    const int axes = draw_.chance(35) ? 1 : 2;
    std::vector<Window> windows;
    for (int i = 0; i < axes; ++i) windows.push_back(window());
    const int64_t groups = oneOf<int64_t>({1, 1, 1, 2, 4}), perGroup = oneOf<int64_t>({1, 2, 3, 4, 8}),
                  filters = groups * oneOf<int64_t>({1, 2, 3, 8, 16});
    FreeDims dims{dim(0, 3), fixed(groups * perGroup)};
    int64_t most = 900 / std::max<int64_t>(dims[0].greatest, 1);
    if (axes == 1) most = std::min<int64_t>(most, 130);
    for (const Window& w : windows) dims.push_back(picked(w, axes == 1 ? most : std::min<int64_t>(most / 20, 34)));
    const std::string dtype = word({"f32", "f32", "f32", "f16", "f64", "bf16"});
    FreeValue x = input(dtype, dims);
    FreeDims taps{fixed(filters), fixed(perGroup)};
    for (const Window& w : windows) taps.push_back(fixed(w.taps));
    FreeValue w = weightOrInput(dtype, taps, 75);
    std::string operands = x.name + ", " + w.name;
    if (draw_.chance(50)) operands += ", " + weight(dtype, {fixed(filters)}).name;
    dims[1] = fixed(filters);
    for (size_t i = 0; i < windows.size(); ++i) dims[i + 2] = windows[i].of(dims[i + 2]);
    FreeValue y = let(dtype, dims,
                      "conv" + number(axes) + "d(" + operands + attributes(windows, true) +
                          (groups > 1 ? ", groups=" + number(groups) : "") + ")");
    y = activated(y);
    if (draw_.chance(25)) y = normed(y, filters);
    add(y);
  }

  void pool() {
    FreeValue x = picture();
    const size_t axes = x.dims.size() - 2;
    std::vector<Window> windows;
    for (size_t i = 0; i < axes; ++i) {
      Window w = window();
      while (w.least() > x.dims[i + 2].least || w.before * 2 > w.taps || w.after * 2 > w.taps)
        w = {1 + draw_.below(2), 1, 1, 0, 0};
      if (w.least() > x.dims[i + 2].least) w = {1, 1, 1, 0, 0};
      windows.push_back(w);
    }
    std::vector<std::string> taps;
    for (const Window& w : windows) taps.push_back(number(w.taps));
    FreeDims dims = x.dims;
    for (size_t i = 0; i < axes; ++i) dims[i + 2] = windows[i].of(dims[i + 2]);
    const std::string op = word({"max_pool", "avg_pool", "sum_pool"});
    add(let(x.dtype, dims, op + "(" + x.name + ", kernel=" + listed(taps) + attributes(windows, true) + ")"));
  }

  void resized() {
    FreeValue x = picture();
    FreeDims dims = x.dims;
    std::vector<std::string> sizes;
    for (size_t i = 2; i < dims.size(); ++i) {
      dims[i] = dims[i].least == 0 ? dims[i] : dim(1, 24);
      sizes.push_back(dims[i].text);
    }
    add(let(x.dtype, dims,
            "resize(" + x.name + ", size=" + listed(sizes) + ", mode=" + word({"nearest", "linear"}) +
                ", coordinates=" + word({"half_pixel", "asymmetric", "align_corners"}) + ")"));
  }

  void globalPool() {
    FreeValue x = picture();
    FreeDims dims = x.dims;
    for (size_t i = 2; i < dims.size(); ++i) dims[i] = fixed(1);
    add(let(x.dtype, dims, word({"global_avg_pool(", "global_max_pool("}) + x.name + ")"));
  }

  void transposed() {
    const FreeDim l = dim(1, 40);
    const int64_t stride = oneOf<int64_t>({1, 2, 3}), taps = oneOf<int64_t>({1, 2, 3, 4});
    FreeValue x = input(word({"f32", "f16"}), {dim(0, 3), fixed({2, 3, 8}), l});
    FreeValue w = weightOrInput(x.dtype, {x.dims[1], fixed(4), fixed(taps)});
    FreeDims dims = x.dims;
    dims[1] = fixed(4);
    dims[2] = {"(" + l.text + " - 1)*" + number(stride) + " + " + number(taps), (l.least - 1) * stride + taps,
               (l.greatest - 1) * stride + taps};
    add(let(x.dtype, dims, "conv_transpose1d(" + x.name + ", " + w.name + ", stride=" + number(stride) + ")"));
  }

  /// [samples, channels, height, width], or without height.
  FreeValue picture() {
    auto fits = [](const FreeValue& v) {
      return v.isReal() && (v.dims.size() == 3 || v.dims.size() == 4) && v.mostElements() <= kMostElements &&
             std::ranges::all_of(v.dims, [](const FreeDim& d) { return d.least > 0; });
    };
    if (draw_.chance(50))
      if (std::optional<FreeValue> v = known(fits)) return *v;
    FreeDims dims{dim(1, 3), fixed({1, 3, 8}), dim(1, 24)};
    if (draw_.chance(70)) dims.push_back(dim(1, 20));
    return input(realType(), dims);
  }

 private:
  static std::string attributes(const std::vector<Window>& windows, bool hasDilation) {
    std::vector<std::string> strides, paddings, dilations;
    for (const Window& w : windows)
      strides.push_back(std::to_string(w.stride)), dilations.push_back(std::to_string(w.dilation));
    for (const Window& w : windows) paddings.push_back(std::to_string(w.before));
    for (const Window& w : windows) paddings.push_back(std::to_string(w.after));
    return ", stride=" + listed(strides) + ", padding=" + listed(paddings) +
           (hasDilation ? ", dilation=" + listed(dilations) : "");
  }

  FreeValue normed(const FreeValue& y, int64_t channels) {
    const FreeDims one{fixed(channels)};
    if (draw_.chance(50)) return like(y, "instance_norm(" + y.name + ")");
    FreeValue scale = weight(y.dtype, one), bias = weight(y.dtype, one), mean = weight(y.dtype, one);
    FreeValue var = like(weight(y.dtype, one), "abs(" + scale.name + ") + 0.5");
    return like(
        y, "batch_norm(" + y.name + ", " + scale.name + ", " + bias.name + ", " + mean.name + ", " + var.name + ")");
  }
};

}  // namespace svod
