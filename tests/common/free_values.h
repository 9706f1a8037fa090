// Names, sizes and text of a random graph file with free sizes.
#pragma once
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/random_graph.h"

namespace svod {

/// A size as the file says it, and between which numbers it lies.
struct FreeDim {
  std::string text;
  int64_t least = 0, greatest = 0;
  bool isFree() const { return least != greatest; }
};

struct FreeValue {
  std::string name, dtype;
  std::vector<FreeDim> dims;

  int64_t mostElements() const {
    int64_t all = 1;
    for (const FreeDim& d : dims) all *= std::max<int64_t>(d.greatest, 1);
    return all;
  }
  bool isReal() const { return dtype[0] == 'f' || dtype[0] == 'b' ? dtype != "bool" : false; }
};

using FreeDims = std::vector<FreeDim>;

/// "[a, b]".
inline std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return "[" + text + "]";
}
inline std::string listed(const FreeDims& dims) {
  std::vector<std::string> items;
  for (const FreeDim& d : dims) items.push_back(d.text);
  return listed(items);
}

class FreeValues {
 protected:
  static constexpr int64_t kMostElements = 12000, kMostProducts = 400000;

  explicit FreeValues(uint64_t seed) : draw_(seed) {}

  template <class T>
  T oneOf(std::vector<T> items) {
    return draw_.of(items);
  }
  std::string word(std::vector<std::string> words) { return draw_.of(words); }
  std::string number(int64_t n) { return std::to_string(n); }

  static FreeDim fixed(int64_t size) { return {std::to_string(size), size, size}; }
  FreeDim fixed(std::vector<int64_t> sizes) { return fixed(draw_.of(sizes)); }

  /// A size between these numbers that only a run knows: a variable, or what is made of one.
  FreeDim freeDim(int64_t least, int64_t most) {
    std::vector<FreeDim> known;
    for (const FreeDim& v : variables_)
      if (v.least >= least && v.greatest <= most) known.push_back(v);
    if (!known.empty() && (draw_.chance(60) || variables_.size() >= 4)) return formOf(draw_.of(known), least, most);
    return formOf(newVariable(least, most), least, most);
  }
  /// The same, now and then a number.
  FreeDim dim(int64_t least, int64_t most) {
    if (draw_.chance(80)) return freeDim(least, most);
    return fixed(draw_.between(std::max<int64_t>(least, 1), std::max<int64_t>(std::min<int64_t>(most, 40), 1)));
  }

  /// Adds `expr` under a new name.
  FreeValue let(const std::string& dtype, FreeDims dims, const std::string& expr) {
    FreeValue v{"v" + std::to_string(count_++), dtype, std::move(dims)};
    body_ += indent_ + v.name + " = " + expr + "\n";
    return v;
  }
  FreeValue like(const FreeValue& x, const std::string& expr) { return let(x.dtype, x.dims, expr); }

  FreeValue input(const std::string& dtype, FreeDims dims) {
    FreeValue v{"x" + std::to_string(count_++), dtype, std::move(dims)};
    head_ += "input " + v.name + ": " + dtype + listed(v.dims) + "\n";
    return v;
  }

  /// Constants of these sizes, which are ones until somebody gives them other elements.
  FreeValue weight(const std::string& dtype, FreeDims dims) {
    for (FreeDim& d : dims)
      if (d.least == d.greatest) d = fixed(d.least);
    FreeValue v{"w" + std::to_string(count_++), dtype, std::move(dims)};
    head_ += "weight " + v.name + ": " + dtype + listed(v.dims) + " = ones\n";
    return v;
  }
  FreeValue weightOrInput(const std::string& dtype, FreeDims dims, int weightPercent = 65) {
    return draw_.chance(weightPercent) ? weight(dtype, std::move(dims)) : input(dtype, std::move(dims));
  }

  /// A dtype to compute reals in.
  std::string realType() { return word({"f32", "f32", "f32", "f32", "f32", "f16", "bf16", "f64"}); }
  std::string anyType() {
    return word({"f32", "f32", "f32", "f16", "bf16", "f64", "i8", "u8", "i16", "i32", "i64", "u32", "bool"});
  }

  FreeValue cast(const FreeValue& x, const std::string& dtype) {
    return x.dtype == dtype ? x : let(dtype, x.dims, "cast(" + x.name + ", dtype=" + dtype + ")");
  }

  void add(FreeValue v) { pool_.push_back(std::move(v)); }

  template <class Fits>
  std::optional<FreeValue> known(Fits fits) {
    std::vector<FreeValue> all;
    for (const FreeValue& v : pool_)
      if (fits(v)) all.push_back(v);
    if (all.empty()) return std::nullopt;
    return draw_.of(all);
  }

  std::string text() const {
    std::string outputs;
    std::set<std::string> named;  // a piece may add what it found
    for (const FreeValue& v : pool_)
      if (named.insert(v.name).second) outputs += "output " + v.name + "\n";
    return variableText_ + head_ + body_ + outputs;
  }

  Draw draw_;
  std::vector<FreeDim> variables_;
  std::vector<FreeValue> pool_;  // what becomes an output, and is computed with
  std::string body_, indent_;
  int count_ = 0;

 private:
  FreeDim newVariable(int64_t least, int64_t most) {
    FreeDim v{"n" + std::to_string(variables_.size()), std::max(least, oneOf<int64_t>({0, 1, 1, 1, 1, 1, 2, 3, 5})), 0};
    v.least = std::min(v.least, most);
    std::vector<int64_t> ends{most};
    for (int64_t end : {2, 4, 7, 8, 9, 16, 17, 31, 33, 40, 48, 64, 65, 100, 130, 200, 333, 512})
      if (end > v.least && end <= most) ends.push_back(end);
    v.greatest = draw_.chance(4) ? v.least : draw_.of(ends);
    const int64_t any = draw_.between(v.least, v.greatest);
    const int64_t likely = oneOf<int64_t>({v.least, v.greatest, any, any});
    variableText_ += "var " + v.text + " in [" + number(v.least) + ", " + number(v.greatest) + "]" +
                     (draw_.chance(50) ? " ~ " + number(likely) : "") + "\n";
    variables_.push_back(v);
    return v;
  }

  FreeDim formOf(const FreeDim& v, int64_t least, int64_t most) {
    if (draw_.chance(70)) return v;
    const FreeDim forms[] = {{"8*" + v.text, 8 * v.least, 8 * v.greatest},
                             {"2*" + v.text, 2 * v.least, 2 * v.greatest},
                             {v.text + " + 1", v.least + 1, v.greatest + 1},
                             {v.text + " - 1", v.least - 1, v.greatest - 1},
                             {v.text + "//2", v.least / 2, v.greatest / 2},
                             {"(" + v.text + " + 1)//2", (v.least + 1) / 2, (v.greatest + 1) / 2}};
    const FreeDim& form = draw_.of(forms);
    return form.least >= least && form.greatest <= most ? form : v;
  }

  std::string variableText_, head_;
};

}  // namespace svod
