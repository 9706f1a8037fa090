// Parts, joins, turns and choices of tensors whose sizes are free.
#pragma once
#include "common/free_rows.h"

namespace svod {

class FreeMoves : protected FreeRows {
 protected:
  using FreeRows::FreeRows;

  static FreeDim plus(const FreeDim& a, const FreeDim& b) {
    return {a.text + " + " + b.text, a.least + b.least, a.greatest + b.greatest};
  }

  void part() {
    FreeValue x = box(anyType());
    std::vector<std::string> entries;
    FreeDims dims;
    for (const FreeDim& d : x.dims) {
      const int64_t cut = d.least > 0 ? draw_.between(0, std::min<int64_t>(d.least, 4)) : 0;
      const FreeDim rest{d.text + " - " + number(cut), d.least - cut, d.greatest - cut};
      const int64_t kind = draw_.below(d.least > 0 ? 8 : 4);
      if (kind == 0) entries.push_back(number(cut) + ":"), dims.push_back(rest);
      if (kind == 1 || kind == 3) entries.push_back(":"), dims.push_back(d);
      if (kind == 2)
        entries.push_back("::2"), dims.push_back({"(" + d.text + " + 1)//2", (d.least + 1) / 2, (d.greatest + 1) / 2});
      if (kind == 4)
        entries.push_back("-" + number(std::max<int64_t>(cut, 1)) + ":"),
            dims.push_back(fixed(std::max<int64_t>(cut, 1)));
      if (kind == 5) entries.push_back(cut > 0 ? ":-" + number(cut) : ":"), dims.push_back(rest);
      if (kind == 6) entries.push_back("-1");
      if (kind == 7) entries.push_back("::-1"), dims.push_back(d);
    }
    add(let(x.dtype, dims, x.name + listed(entries)));
  }

  void joined() {
    FreeValue x = newBox(anyType());
    const auto axis = static_cast<size_t>(axisOf(x));
    const int64_t others = x.mostElements() / std::max<int64_t>(x.dims[axis].greatest, 1);
    std::vector<std::string> names{x.name};
    FreeDims dims = x.dims;
    for (int64_t i = draw_.between(1, 2); i > 0; --i) {
      FreeDims own = x.dims;
      if (draw_.chance(70)) own[axis] = dim(0, std::max<int64_t>(std::min<int64_t>(kMostElements / others, 100), 1));
      names.push_back(input(x.dtype, own).name);
      dims[axis] = plus(dims[axis], own[axis]);
    }
    std::string text;
    for (const std::string& name : names) text += name + ", ";
    add(let(x.dtype, dims, "concat(" + text + "axis=" + number(static_cast<int64_t>(axis)) + ")"));
  }

  /// Two axes as one, and one as two.
  void reshaped() {
    FreeValue x = draw_.chance(50) ? rows() : newBox(anyType());
    if (x.dims.size() == 1) {
      const FreeDim columns = fixed({2, 4, 8});
      FreeValue wide = newFlat(x.dtype, columns);
      FreeDims dims{dim(0, 40), columns};
      dims[0] = {wide.dims[0].text.substr(2), wide.dims[0].least / columns.greatest,
                 wide.dims[0].greatest / columns.greatest};
      return add(let(x.dtype, dims, "reshape(" + wide.name + ", shape=" + listed(dims) + ")"));
    }
    const auto at = static_cast<size_t>(draw_.below(static_cast<int64_t>(x.dims.size()) - 1));
    FreeDims dims = x.dims;
    dims[at] = times(dims[at], dims[at + 1]);
    dims.erase(dims.begin() + static_cast<int64_t>(at) + 1);
    FreeValue y = let(x.dtype, dims, "reshape(" + x.name + ", shape=" + listed(dims) + ")");
    if (draw_.chance(50) && y.isReal()) y = like(y, y.name + " * 2 + 1");
    if (draw_.chance(40)) y = let(y.dtype, x.dims, "reshape(" + y.name + ", shape=" + listed(x.dims) + ")");
    add(y);
  }

  void turned() {
    FreeValue x = box(anyType());
    if (x.dims.size() == 1) return add(like(x, "flip(" + x.name + ", axes=[0])"));
    std::vector<size_t> order;
    for (size_t i = 0; i < x.dims.size(); ++i)
      order.insert(order.begin() + draw_.below(static_cast<int64_t>(i) + 1), i);
    FreeDims dims;
    std::vector<std::string> words;
    for (size_t i : order) dims.push_back(x.dims[i]), words.push_back(std::to_string(i));
    std::string text = "permute(" + x.name + ", order=" + listed(words) + ")";
    if (draw_.chance(50)) text = "contiguous(" + text + ")";
    add(let(x.dtype, dims, text));
  }

  void padded() {
    FreeValue x = box(word({"f32", "f32", "f16", "i32", "u8"}), 3, 3);
    std::vector<std::string> before, after;
    FreeDims dims = x.dims;
    for (FreeDim& d : dims) {
      const int64_t b = draw_.between(0, 2), a = draw_.between(0, 2);
      before.push_back(number(b)), after.push_back(number(a));
      d = {d.text + " + " + number(a + b), d.least + a + b, d.greatest + a + b};
    }
    add(let(x.dtype, dims,
            "pad(" + x.name + ", before=" + listed(before) + ", after=" + listed(after) +
                ", mode=" + word({"constant", "constant", "edge", "reflect", "wrap"}) + ")"));
  }

  void rolled() {
    FreeValue x = box(anyType(), 3, 1);
    if (draw_.chance(50))
      return add(like(
          x, "roll(" + x.name + ", shifts=[" + number(draw_.between(-5, 5)) + "], axes=[" + number(axisOf(x)) + "])"));
    std::vector<std::string> counts;
    FreeDims dims = x.dims;
    for (FreeDim& d : dims) {
      const int64_t times = draw_.chance(30) && x.mostElements() < kMostElements / 4 ? 2 : 1;
      counts.push_back(number(times));
      if (times > 1) d = {"2*(" + d.text + ")", 2 * d.least, 2 * d.greatest};
    }
    add(let(x.dtype, dims, "repeat(" + x.name + ", counts=" + listed(counts) + ")"));
  }

  // -- by positions

  void gathered() {
    FreeValue x = box(anyType(), 3, 1);
    const auto axis = static_cast<size_t>(axisOf(x));
    const int64_t others = x.mostElements() / std::max<int64_t>(x.dims[axis].greatest, 1);
    FreeValue p =
        positions({dim(0, std::max<int64_t>(std::min<int64_t>(kMostElements / others, 60), 1))}, x.dims[axis]);
    FreeDims dims = x.dims;
    dims[axis] = p.dims[0];
    add(let(x.dtype, dims, "gather(" + x.name + ", " + p.name + ", axis=" + number(static_cast<int64_t>(axis)) + ")"));
  }

  void embedded() {
    const FreeDim rows = draw_.chance(50) ? fixed({7, 40}) : dim(1, 60), columns = fixed({3, 8, 16, 24});
    const std::string dtype = word({"f32", "f16"});
    FreeValue table = rows.isFree() ? input(dtype, {rows, columns}) : weightOrInput(dtype, {rows, columns});
    FreeDims dims{dim(0, 5), dim(0, 60)};
    FreeValue ids = positions(dims, rows);
    dims.push_back(columns);
    add(let(dtype, dims, "embedding(" + table.name + ", " + ids.name + ")"));
  }

  void scattered() {
    const std::string dtype = word({"f32", "f32", "i32", "f16", "i64"});
    const FreeDim n = dim(1, 60), m = dim(0, 40), c = draw_.chance(50) ? fixed({1, 3, 8}) : dim(1, 20);
    FreeValue x = input(dtype, {n, c}), updates = input(dtype, {m, c});
    const std::string mode = ", mode=" + word({"set", "add", "min", "max"});
    if (draw_.chance(50)) {
      FreeValue p = positions({m, c}, n);
      return add(like(x, "scatter_elements(" + x.name + ", " + p.name + ", " + updates.name + ", axis=0" + mode + ")"));
    }
    FreeValue p = positions({m, fixed(1)}, n);
    add(like(x, "scatter_nd(" + x.name + ", " + p.name + ", " + updates.name + mode + ")"));
  }

  void chosen() {
    FreeValue x = box(anyType());
    if (x.dims.size() >= 2 && draw_.chance(40))
      return add(like(x, word({"triu(", "tril("}) + x.name + ", k=" + number(draw_.between(-2, 2)) + ")"));
    FreeValue other = input(x.dtype, x.dims), which = input("bool", x.dims);
    add(like(x, "where(" + which.name + ", " + x.name + ", " + other.name + ")"));
  }

  void oneHot() {
    FreeValue ids = input(word({"i32", "i64"}), {dim(0, 40)});
    const FreeDim depth = dim(1, 40);
    add(let("f32", {ids.dims[0], depth}, "one_hot(" + ids.name + ", depth=" + depth.text + ")"));
  }

 private:
  /// A vector that is this number times a free size long.
  FreeValue newFlat(const std::string& dtype, const FreeDim& columns) {
    FreeDim d = freeDim(0, 60);
    const FreeDim all{columns.text + "*" + d.text, columns.greatest * d.least, columns.greatest * d.greatest};
    return input(dtype, {FreeDim{columns.text + "*(" + d.text + ")", all.least, all.greatest}});
  }

  /// Integers, most of them below a size.
  FreeValue positions(const FreeDims& dims, const FreeDim& size) {
    FreeValue ids = input(word({"i32", "i64"}), dims);
    if (draw_.chance(30)) return ids;
    return like(ids, "floormod(" + ids.name + ", index(of=max(1, " + size.text + ")))");
  }
};

}  // namespace svod
