// Products of matrices with free rows, terms, columns and batches: layers, attention, bytes.
#pragma once
#include "common/free_values.h"

namespace svod {

class FreeProducts : protected FreeValues {
 protected:
  using FreeValues::FreeValues;

  static FreeDim times(const FreeDim& a, const FreeDim& b) {
    if (!a.isFree() && !b.isFree()) return fixed(a.greatest * b.greatest);
    return {"(" + a.text + ")*(" + b.text + ")", a.least * b.least, a.greatest * b.greatest};
  }

  /// Real rows of a fixed length: known ones, or an input.
  FreeValue rows() {
    auto fits = [](const FreeValue& v) {
      return v.isReal() && v.dims.size() >= 2 && !v.dims.back().isFree() && v.dims.back().greatest <= 72 &&
             v.dims.back().greatest > 0;
    };
    if (draw_.chance(55))
      if (std::optional<FreeValue> v = known(fits)) return *v;
    const FreeDim columns = fixed({1, 3, 8, 16, 24, 24, 32, 40, 64, 72});
    FreeDims dims;
    int64_t most = kMostElements / columns.greatest;
    for (int64_t i = draw_.between(1, 3); i > 0; --i) {
      dims.push_back(i > 1 ? dim(0, std::min<int64_t>(most, 12)) : dim(0, std::min<int64_t>(most, 520)));
      most /= std::max<int64_t>(dims.back().greatest, 1);
      if (most < 2) break;
    }
    if (draw_.chance(40)) std::swap(dims.front(), dims.back());
    dims.push_back(columns);
    return input(realType(), dims);
  }

  FreeValue activated(const FreeValue& x) {
    switch (draw_.below(9)) {
      case 0: return like(x, "relu(" + x.name + ")");
      case 1: return like(x, "gelu(" + x.name + ")");
      case 2: return like(x, "gelu(" + x.name + ", approximate=tanh)");
      case 3: return like(x, "silu(" + x.name + ")");
      case 4: return like(x, "tanh(" + x.name + ")");
      case 5: return like(x, "sigmoid(" + x.name + ")");
      case 6: return like(x, "clip(" + x.name + ", min=-1, max=1.5)");
      default: return x;
    }
  }

  static FreeDims with(FreeDims dims, size_t axis, const FreeDim& d) {
    dims[axis] = d;
    return dims;
  }

  /// x times a matrix of this many columns, in one of the ways to write it.
  FreeValue linear(const FreeValue& x, const FreeDim& columns) {
    const FreeDim& terms = x.dims.back();
    const FreeDims dims = with(x.dims, x.dims.size() - 1, columns);
    if (draw_.chance(30)) {
      FreeValue w = weightOrInput(x.dtype, {columns, terms});
      if (draw_.chance(40)) return let(x.dtype, dims, "linear(" + x.name + ", " + w.name + ")");
      FreeValue bias = weightOrInput(x.dtype, {columns});
      return let(x.dtype, dims, "linear(" + x.name + ", " + w.name + ", " + bias.name + ")");
    }
    FreeValue w = weightOrInput(x.dtype, {terms, columns});
    FreeValue y = let(x.dtype, dims, x.name + " @ " + w.name);
    if (draw_.chance(50)) return y;
    FreeValue bias = weightOrInput(x.dtype, {columns});
    return like(y, y.name + " + " + bias.name);
  }

  void layer() {
    FreeValue x = rows();
    const bool staysWide = draw_.chance(30);
    FreeValue y = activated(linear(x, staysWide ? x.dims.back() : fixed({1, 3, 8, 16, 17, 24, 32, 48, 64})));
    if (staysWide) y = like(y, y.name + " + " + x.name);
    add(y);
  }

  void feedForward() {
    FreeValue x = rows();
    FreeValue scale = weight(x.dtype, {x.dims.back()});
    FreeValue normal = like(x, word({"layer_norm(", "rms_norm("}) + x.name + ", " + scale.name + ")");
    FreeValue inner = activated(linear(normal, fixed({16, 32, 48})));
    FreeValue y = linear(inner, x.dims.back());
    add(like(y, y.name + " + " + x.name));
  }

  /// Both factors from the run; terms, columns and batches free or not.
  void freeProduct() {
    const std::string dtype = realType();
    const FreeDim m = dim(0, 130), k = dim(0, 72), n = dim(0, std::max<int64_t>(1, kMostProducts / 130 / 73));
    FreeDims batch;
    if (draw_.chance(50) && m.greatest * k.greatest * n.greatest < kMostProducts / 4) batch.push_back(dim(0, 4));
    auto factor = [&](const FreeDim& a, const FreeDim& b, bool isShared) {
      FreeDims dims = isShared ? FreeDims{} : batch;
      const bool isTurned = draw_.chance(35);
      dims.push_back(isTurned ? b : a), dims.push_back(isTurned ? a : b);
      FreeValue x = input(dtype, dims);
      return isTurned ? "transpose(" + x.name + ")" : x.name;
    };
    const std::string a = factor(m, k, false), b = factor(k, n, draw_.chance(30));
    FreeDims dims = batch;
    dims.push_back(m), dims.push_back(n);
    FreeValue y = activated(let(dtype, dims, a + " @ " + b));
    add(y);
  }

  /// x[m, k] times a vector, or a vector times it.
  void vectorProduct() {
    const FreeDim m = dim(0, 130), k = dim(0, 90);
    const std::string dtype = realType();
    FreeValue x = input(dtype, {m, k});
    if (draw_.chance(50)) return add(let(dtype, {m}, x.name + " @ " + weightOrInput(dtype, {k}, 0).name));
    add(let(dtype, {k}, weightOrInput(dtype, {m}, 0).name + " @ " + x.name));
  }

  void bytes() {
    const FreeDim k = fixed({4, 8, 15, 16, 32, 40, 64}), n = fixed({3, 8, 16, 24, 33});
    const std::string left = word({"i8", "u8"}), right = word({"i8", "i8", "u8"});
    FreeDims dims;
    if (draw_.chance(40)) dims.push_back(dim(0, 4));
    dims.push_back(dim(0, 60)), dims.push_back(k);
    FreeValue x = input(left, dims), w = weightOrInput(right, {k, n});
    const std::string zero = draw_.chance(50) ? " - " + number(draw_.between(1, 9)) : "";
    dims.back() = n;
    FreeValue y = let("i32", dims, "(cast(" + x.name + ", dtype=i32)" + zero + ") @ cast(" + w.name + ", dtype=i32)");
    if (draw_.chance(30)) return add(y);
    FreeValue scale = weightOrInput("f32", {n});
    y = let("f32", dims, "cast(" + y.name + ", dtype=f32) * " + scale.name);
    add(y);
  }

  // -- attention

  void attention() {
    const int64_t heads = oneOf<int64_t>({1, 2, 3}), depth = oneOf<int64_t>({4, 8, 16, 20});
    const FreeDim b = dim(0, 3), s = dim(1, 40), h = fixed(heads), d = fixed(depth);
    const std::string dtype = word({"f32", "f32", "f16", "bf16"});
    const bool isOne = draw_.chance(60);
    const FreeDim t = isOne ? s : dim(1, 40);
    FreeValue q = headsOf(input(dtype, {b, s, times(h, d)}), b, s, h, d),
              k = headsOf(input(dtype, {b, t, times(h, d)}), b, t, h, d), v = k;
    if (draw_.chance(70)) v = headsOf(input(dtype, {b, t, times(h, d)}), b, t, h, d);
    FreeDim all = t;
    if (draw_.chance(25)) {
      const FreeDim past = dim(0, 20);
      all = {past.text + " + " + t.text, past.least + t.least, past.greatest + t.greatest};
      FreeValue before = input(dtype, {b, h, past, d});
      k = let(dtype, {b, h, all, d}, "concat(" + before.name + ", " + k.name + ", axis=2)");
      v = let(dtype, {b, h, all, d}, "concat(" + before.name + ", " + v.name + ", axis=2)");
    }
    FreeValue y = draw_.chance(60) ? attended(q, k, v, all) : attendedByHand(q, k, v, all);
    if (draw_.chance(60))
      y = let(dtype, {b, s, times(h, d)},
              "reshape(permute(" + y.name + ", order=[0, 2, 1, 3]), shape=" + listed({b, s, times(h, d)}) + ")");
    add(y);
  }

 private:
  FreeValue headsOf(const FreeValue& x, const FreeDim& b, const FreeDim& s, const FreeDim& h, const FreeDim& d) {
    FreeValue y = x;
    if (draw_.chance(30)) y = linear(x, x.dims.back());
    return let(x.dtype, {b, h, s, d},
               "permute(reshape(" + y.name + ", shape=" + listed({b, s, h, d}) + "), order=[0, 2, 1, 3])");
  }

  FreeValue attended(const FreeValue& q, const FreeValue& k, const FreeValue& v, const FreeDim& t) {
    std::string more;
    if (draw_.chance(30)) {
      const FreeDims dims = draw_.chance(50) ? FreeDims{q.dims[2], t} : FreeDims{q.dims[0], fixed(1), q.dims[2], t};
      more = ", " + input(word({"bool", q.dtype}), dims).name;
    } else if (draw_.chance(50)) {
      more = ", causal=true";
      if (t.text != q.dims[2].text && draw_.chance(50))
        more += ", offset=max(0, " + t.text + " - " + q.dims[2].text + ")";
    }
    return like(q, "attention(" + q.name + ", " + k.name + ", " + v.name + more + ")");
  }

  FreeValue attendedByHand(const FreeValue& q, const FreeValue& k, const FreeValue& v, const FreeDim& t) {
    FreeValue scores = let(q.dtype, with(q.dims, 3, t), "(" + q.name + " @ transpose(" + k.name + ")) * 0.25");
    if (draw_.chance(30))
      scores = like(scores, scores.name + " + " + input(q.dtype, {q.dims[0], fixed(1), fixed(1), t}).name);
    FreeValue p = like(scores, "softmax(" + scores.name + ")");
    return like(q, p.name + " @ " + v.name);
  }
};

}  // namespace svod
