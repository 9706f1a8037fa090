// Loops of free trip counts, recurrent cells, and states of which a run writes a part.
#pragma once
#include "common/free_moves.h"

namespace svod {

class FreeSteps : protected FreeMoves {
 protected:
  using FreeMoves::FreeMoves;

  /// A cell over a sequence: the rows of all steps, and the last one.
  void recurrent() {
    const FreeDim s = dim(0, 33), b = dim(1, 4), h = fixed({1, 3, 4, 8, 16});
    const int64_t kind = draw_.below(3);
    const FreeDim gates = fixed(h.greatest * (kind == 0 ? 1 : kind == 1 ? 3 : 4));
    FreeValue x = input("f32", {s, b, fixed({2, 5, 8})});
    FreeValue all = let("f32", {s, b, gates}, x.name + " @ " + weightOrInput("f32", {x.dims[2], gates}).name);
    FreeValue u = weightOrInput("f32", {h, gates});
    FreeValue state = temp("f32", {b, h}, "0"), cell = kind == 2 ? temp("f32", {b, h}, "0") : state;
    FreeValue rows = temp("f32", {s, b, h}, "0");
    const std::string t = openLoop(s.text);
    if (kind == 0)
      line("assign " + state.name + " = tanh(" + all.name + "[" + t + "] + " + state.name + " @ " + u.name + ")");
    if (kind == 1) gru(all, u, state, h, t);
    if (kind == 2) lstm(all, u, state, cell, h, t);
    line("assign " + rows.name + "[" + t + ":" + t + "+1] = reshape(" + state.name +
         ", shape=" + listed({fixed(1), b, h}) + ")");
    closeLoop();
    add(state), add(rows);
  }

  /// A filter whose every sample depends on the one before.
  void filtered() {
    const FreeDim n = dim(0, 200);
    FreeValue x = input(word({"f32", "f64"}), {n}), y = temp(x.dtype, {n}, "0");
    FreeValue z = temp(x.dtype, {}, "0"), z2 = temp(x.dtype, {}, "0");
    const std::string t = openLoop(n.text), out = "o" + t;
    line(out + " = 0.25 * " + x.name + "[" + t + "] + " + z.name);
    line("assign " + z.name + " = 0.5 * " + x.name + "[" + t + "] - 0.25 * " + out + " + " + z2.name);
    line("assign " + z2.name + " = 0.125 * " + x.name + "[" + t + "] + 0.5 * " + out);
    line("assign " + y.name + "[" + t + ":" + t + "+1] = reshape(" + out + ", shape=[1])");
    closeLoop();
    add(y), add(z);
  }

  /// Whole numbers, until there are enough of them.
  void counted() {
    const FreeDim n = dim(0, 40), m = dim(1, 40);
    FreeValue x = input("i32", {m}), sum = temp("i32", {m}, "0"), count = temp("i32", {}, "0");
    const std::string t =
        openLoop(n.text, draw_.chance(60) ? " while lt(" + count.name + ", " + number(draw_.between(0, 30)) + ")" : "");
    line("assign " + sum.name + " = " + sum.name + " + " + x.name + " * cast(" + t + ", dtype=i32)");
    if (draw_.chance(50)) {
      line("if gt(sum(" + x.name + "), " + t + ") {");
      line("  assign " + count.name + " = " + count.name + " + 2");
      line("}");
    }
    line("assign " + count.name + " = " + count.name + " + 1");
    closeLoop();
    add(sum), add(count);
  }

  /// Some rows of a state, behind those of earlier runs.
  void cached() {
    const int64_t room = oneOf<int64_t>({8, 17, 32});
    const FreeDim p = freeDim(0, room), s = dim(0, room / 2), c = fixed({1, 4, 8});
    if (p.least + s.least > room) return;  // never inside
    const std::string dtype = word({"f32", "f16", "i32"});
    FreeValue cache{"s" + std::to_string(count_++), dtype, {fixed(room), c}};
    line("state " + cache.name + ": " + dtype + listed(cache.dims) + (draw_.chance(50) ? " = 1" : ""));
    FreeValue x = input(dtype, {s, c});
    if (draw_.chance(50)) add(like(cache, cache.name + " * 2"));
    line("assign " + cache.name + "[" + p.text + ":" + p.text + " + " + s.text + "] = " + x.name);
    const FreeDim q = dim(1, 9);
    if (dtype == "i32") return add(like(cache, cache.name + " + 1"));
    FreeValue query = input(dtype, {q, c});
    FreeValue scores = let(dtype, {q, cache.dims[0]}, query.name + " @ transpose(" + cache.name + ")");
    FreeValue weights = like(scores, "softmax(" + scores.name + ")");
    add(let(dtype, {q, c}, weights.name + " @ " + cache.name));
  }

  /// A branch on a size of the run.
  void branched() {
    const FreeDim n = freeDim(0, 60);
    FreeValue x = input("f32", {n, fixed(4)}), y = temp("f32", {fixed(4)}, "1");
    line("if gt(index(of=" + n.text + "), " + number(draw_.between(0, 20)) + ") {");
    line("  assign " + y.name + " = sum(" + x.name + ", axes=0)");
    line(draw_.chance(50) ? "}" : "} else {\n  assign " + y.name + " = " + y.name + " + 1\n}");
    add(like(y, y.name + " * 2"));
  }

 private:
  void line(const std::string& text) { body_ += indent_ + text + "\n"; }

  FreeValue temp(const std::string& dtype, FreeDims dims, const std::string& value) {
    FreeValue v{"t" + std::to_string(count_++), dtype, std::move(dims)};
    line("temp " + v.name + ": " + dtype + (v.dims.empty() ? "" : listed(v.dims)) + " = " + value);
    return v;
  }

  std::string openLoop(const std::string& count, const std::string& condition = "") {
    const std::string counter = "i" + std::to_string(count_++);
    line("loop " + counter + " < " + count + condition + " {");
    indent_ += "  ";
    return counter;
  }
  void closeLoop() {
    indent_.resize(indent_.size() - 2);
    line("}");
  }

  void gru(const FreeValue& all, const FreeValue& u, const FreeValue& state, const FreeDim& h, const std::string& t) {
    const std::string a = "a" + t, b = "b" + t, one = h.text, two = number(2 * h.greatest),
                      three = number(3 * h.greatest);
    line(a + " = " + all.name + "[" + t + "]");
    line(b + " = " + state.name + " @ " + u.name);
    auto gate = [&](const std::string& from, const std::string& to) {
      return "sigmoid(" + a + "[:, " + from + ":" + to + "] + " + b + "[:, " + from + ":" + to + "])";
    };
    line("z" + t + " = " + gate("0", one));
    line("r" + t + " = " + gate(one, two));
    line("c" + t + " = tanh(" + a + "[:, " + two + ":" + three + "] + r" + t + " * " + b + "[:, " + two + ":" + three +
         "])");
    line("assign " + state.name + " = z" + t + " * " + state.name + " + (1 - z" + t + ") * c" + t);
  }

  void lstm(const FreeValue& all, const FreeValue& u, const FreeValue& state, const FreeValue& cell, const FreeDim& h,
            const std::string& t) {
    line("g" + t + " = " + all.name + "[" + t + "] + " + state.name + " @ " + u.name);
    auto gate = [&](int64_t i) {
      return "g" + t + "[:, " + number(i * h.greatest) + ":" + number((i + 1) * h.greatest) + "]";
    };
    line("assign " + cell.name + " = sigmoid(" + gate(0) + ") * " + cell.name + " + sigmoid(" + gate(1) + ") * tanh(" +
         gate(2) + ")");
    line("assign " + state.name + " = sigmoid(" + gate(3) + ") * tanh(" + cell.name + ")");
  }
};

}  // namespace svod
