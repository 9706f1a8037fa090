// What is folded, normalized, scanned and sorted along free axes or beside them.
#pragma once
#include "common/free_windows.h"

namespace svod {

class FreeRows : protected FreeWindows {
 protected:
  using FreeWindows::FreeWindows;

  static bool isBox(const FreeValue& v) { return !v.dims.empty() && v.mostElements() <= kMostElements; }

  /// One to three axes, any of them free.
  FreeValue box(const std::string& dtype, size_t mostAxes = 3, int64_t least = 0) {
    auto fits = [&](const FreeValue& v) {
      return isBox(v) && v.dtype == dtype && v.dims.size() <= mostAxes &&
             std::ranges::all_of(v.dims, [&](const FreeDim& d) { return d.least >= least; });
    };
    if (draw_.chance(45))
      if (std::optional<FreeValue> v = known(fits)) return *v;
    return newBox(dtype, mostAxes, least);
  }
  FreeValue newBox(const std::string& dtype, size_t mostAxes = 3, int64_t least = 0) {
    FreeDims dims;
    int64_t most = kMostElements;
    for (auto i = static_cast<int64_t>(mostAxes) > 1 ? draw_.between(1, static_cast<int64_t>(mostAxes)) : 1; i > 0;
         --i) {
      const int64_t own = i == 1 ? std::min<int64_t>(most, 520) : std::min<int64_t>(most, 40);
      dims.push_back(own > least && draw_.chance(65) ? freeDim(least, own) : fixed({1, 2, 3, 5, 8, 16, 17, 24}));
      most = std::max<int64_t>(most / std::max<int64_t>(dims.back().greatest, 1), 1);
    }
    if (draw_.chance(50)) std::swap(dims.front(), dims.back());
    return input(dtype, dims);
  }

  int64_t axisOf(const FreeValue& x) { return draw_.below(static_cast<int64_t>(x.dims.size())); }

  void normalized() {
    FreeValue x = draw_.chance(50) ? rows() : box(realType());
    const std::string axis = ", axis=" + number(axisOf(x));
    switch (draw_.below(7)) {
      case 0: return add(like(x, "softmax(" + x.name + axis + ")"));
      case 1: return add(like(x, "log_softmax(" + x.name + axis + ")"));
      case 2: return add(like(x, "layer_norm(" + x.name + axis + ")"));
      case 3: return add(like(x, "rms_norm(" + x.name + axis + ")"));
      case 4: return add(like(x, "normalize(" + x.name + axis + ", p=" + number(draw_.between(1, 2)) + ")"));
      case 5: {
        FreeValue p = picture();
        return add(like(p, "instance_norm(" + p.name + ")"));
      }
      default: return add(like(x, x.name + " - mean(" + x.name + ", axes" + axis.substr(6) + ", keepdims=true)"));
    }
  }

  void folded() {
    FreeValue x = box(anyType());
    const std::string op = oneOf<std::string>(
        {"sum", "sum", "sum", "mean", "reduce_max", "reduce_min", "any", "all", "var", "std", "prod", "logsumexp"});
    const bool isReal = op == "mean" || op == "var" || op == "std" || op == "logsumexp";
    if (isReal && !x.isReal()) x = cast(x, "f32");
    if (op == "prod")
      x = like(x, "clip(cast(" + x.name + ", dtype=" + (x.dtype == "bool" ? "i32" : x.dtype) + "), min=-1, max=1)"),
      x.dtype = x.dtype == "bool" ? "i32" : x.dtype;
    std::vector<std::string> axes;
    FreeDims dims;
    const bool keeps = draw_.chance(30);
    for (size_t i = 0; i < x.dims.size(); ++i) {
      const bool isFolded = draw_.chance(50) || (axes.empty() && i + 1 == x.dims.size());
      if (isFolded) axes.push_back(number(static_cast<int64_t>(i)));
      if (!isFolded || keeps) dims.push_back(isFolded ? fixed(1) : x.dims[i]);
    }
    const std::string dtype = op == "any" || op == "all"           ? "bool"
                              : (op == "sum" && x.dtype == "bool") ? "i32"
                                                                   : x.dtype;
    add(let(dtype, dims, op + "(" + x.name + ", axes=" + listed(axes) + (keeps ? ", keepdims=true)" : ")")));
  }

  void best() {
    FreeValue x = newBox(anyType(), 3, 1);
    if (x.dtype == "bool") x = cast(x, "u8");
    const int64_t axis = axisOf(x);
    FreeDims dims = x.dims;
    dims.erase(dims.begin() + axis);
    add(let(
        "i64", dims,
        word({"argmax(", "argmin("}) + x.name + ", axis=" + number(axis) + (draw_.chance(30) ? ", last=true)" : ")")));
  }

  void scanned() {
    FreeValue x = newBox(word({"f32", "f32", "f16", "i32", "i64", "u8", "f64"}));
    const std::string op = word({"cumsum", "cumsum", "cummax", "cummin", "cumprod"});
    if (op == "cumprod" && x.isReal()) x = like(x, "clip(" + x.name + ", min=-1, max=1)");
    add(like(x, op + "(" + x.name + ", axis=" + number(axisOf(x)) + (draw_.chance(30) ? ", exclusive=true" : "") +
                    (draw_.chance(30) ? ", reverse=true)" : ")")));
  }

  void sorted() {
    const int64_t length = 65;
    FreeDims dims{dim(1, length)};
    if (draw_.chance(60)) dims.insert(draw_.chance(50) ? dims.begin() : dims.end(), dim(0, 9));
    FreeValue x = input(word({"f32", "f32", "f16", "i32", "u8", "i64"}), dims);
    size_t axis = static_cast<size_t>(axisOf(x));
    if (x.dims[axis].least == 0) axis = x.dims.size() - 1 - axis;
    const std::string at = "axis=" + number(static_cast<int64_t>(axis));
    const std::string values = "v" + number(count_++), places = "v" + number(count_++);
    const std::string names = values + ", " + places + " = ";
    if (draw_.chance(50)) {
      body_ += names + "sort(" + x.name + ", " + at + (draw_.chance(50) ? ", descending=true)\n" : ")\n");
    } else {
      const int64_t k = draw_.between(1, std::max<int64_t>(x.dims[axis].least, 1));
      const FreeDim count =
          draw_.chance(40) ? FreeDim{"min(3, " + x.dims[axis].text + ")", std::min<int64_t>(3, x.dims[axis].least), 3}
                           : fixed(k);
      body_ += names + "topk(" + x.name + ", k=" + count.text + ", " + at +
               (draw_.chance(30) ? ", largest=false)\n" : ")\n");
      x.dims[axis] = count;
    }
    add({values, x.dtype, x.dims});
    add({places, "i64", x.dims});
  }

  /// Rows of which lengths of the run say how much counts.
  void masked() {
    const FreeDim b = dim(1, 9), s = dim(1, 130);
    FreeValue lengths = input("i32", {b}), x = input(word({"f32", "f16"}), {b, s, fixed({1, 5, 8, 16})});
    FreeValue mask = let("bool", {b, s, fixed(1)},
                         "lt(reshape(iota(size=" + s.text + "), shape=" + listed({fixed(1), s, fixed(1)}) +
                             "), reshape(" + lengths.name + ", shape=" + listed({b, fixed(1), fixed(1)}) + "))");
    FreeValue y = like(x, "where(" + mask.name + ", " + x.name + ", 0)");
    if (draw_.chance(50)) return add(let(x.dtype, {b, x.dims[2]}, "sum(" + y.name + ", axes=1)"));
    add(y);
  }

  void elementwise() {
    FreeValue x = box(realType());
    for (int64_t i = draw_.between(1, 3); i > 0; --i) {
      const std::string& n = x.name;
      switch (draw_.below(8)) {
        case 0: x = like(x, n + " * " + n); break;
        case 1: x = like(x, "sqrt(abs(" + n + "))"); break;
        case 2: x = like(x, "exp(clip(" + n + ", min=-4, max=3))"); break;
        case 3: x = like(x, n + " * 0.5 - 1"); break;
        case 4: x = like(x, n + " / (abs(" + n + ") + 1)"); break;
        case 5: {
          FreeDims dims = x.dims;
          for (FreeDim& d : dims)
            if (draw_.chance(40)) d = fixed(1);
          x = like(x, n + word({" + ", " * ", " - "}) + input(x.dtype, dims).name);
          break;
        }
        default: x = activated(x);
      }
    }
    add(x);
  }
};

}  // namespace svod
