// What names of states and temporaries stand for: random programs, against an evaluation that knows nothing of graphs.
#include <catch2/catch.hpp>

#include <array>
#include <map>

#include "e2e/graph_text.h"

using namespace svod;

namespace {

using Value = std::array<int32_t, 2>;
using Values = std::map<std::string, Value>;

int32_t wrapped(int64_t v) { return static_cast<int32_t>(static_cast<uint32_t>(v)); }

/// A program that is written down as text and carried out at once. Bodies of loops are written once, and carried out
/// as often as they run.
class Program {
 public:
  explicit Program(uint64_t seed) : draw_(seed) {
    for (const char* state : {"a", "b"}) statements_.push_back({Kind::None, state}), targets_.push_back(state);
    header_ =
        "def exchange(p, q) {\n  t = p\n  assign p = q\n  assign q = t\n  return t, q - p\n}\n"
        "state a: i32[2] = [1, 2]\nstate b: i32[2] = [5, 7]\n";
    statements_.clear();
    readable_ = targets_;
    statements_ = body(static_cast<int>(draw_.between(3, 12)), 0);
  }

  std::string text() const {
    std::string out = header_;
    write(statements_, "", out);
    for (const std::string& name : readable_)
      if (name != "a" && name != "b") out += "output " + name + "\n";
    return out;
  }
  void run(Values& values) const { run(statements_, values); }

 private:
  enum class Kind : uint8_t { None, Name, Sum, Part, Temp, Assign, AssignPart, Exchange, Loop };
  struct Statement {
    Kind kind;
    std::string to, x = "", y = "";
    int64_t number = 0;
    bool isUnrolled = false;
    std::vector<Statement> body = {};
  };

  std::vector<Statement> body(int count, int depth) {
    std::vector<Statement> all;
    for (int i = 0; i < count; ++i) all.push_back(statement(depth));
    return all;
  }

  Statement statement(int depth) {
    Statement s{static_cast<Kind>(draw_.between(1, depth < 2 ? 8 : 7)), ""};
    s.x = draw_.of(readable_), s.y = draw_.of(readable_), s.number = draw_.between(0, 3);
    if (s.kind == Kind::Loop) {
      s.to = "i" + std::to_string(names_++), s.isUnrolled = draw_.chance(50);
      const std::vector<std::string> readable = readable_, targets = targets_;
      s.body = body(static_cast<int>(draw_.between(1, 4)), depth + 1);
      readable_ = readable, targets_ = targets;
    } else if (s.kind == Kind::Assign || s.kind == Kind::AssignPart) {
      s.to = draw_.of(targets_);
    } else if (s.kind == Kind::Exchange) {
      s.to = "v" + std::to_string(names_++), s.x = draw_.of(targets_), s.y = draw_.of(targets_);
      readable_.push_back(s.to), readable_.push_back(s.to + "d");
    } else {
      s.to = "v" + std::to_string(names_++);
      readable_.push_back(s.to);
      if (s.kind == Kind::Temp) targets_.push_back(s.to);
    }
    return s;
  }

  static void write(const std::vector<Statement>& all, const std::string& indent, std::string& out) {
    for (const Statement& s : all) {
      out += indent;
      switch (s.kind) {
        case Kind::None: break;
        case Kind::Name: out += s.to + " = " + s.x; break;
        case Kind::Sum: out += s.to + " = " + s.x + " + " + s.y + " * 3"; break;
        case Kind::Part: out += s.to + " = concat(" + s.x + "[1:2], " + s.y + "[0:1], axis=0)"; break;
        case Kind::Temp: out += "temp " + s.to + " = " + s.x; break;
        case Kind::Assign: out += "assign " + s.to + " = " + s.x + " - " + s.y + " + 1"; break;
        case Kind::AssignPart: out += "assign " + s.to + "[0:1] = " + s.x + "[1:2]"; break;
        case Kind::Exchange: out += s.to + ", " + s.to + "d = exchange(" + s.x + ", " + s.y + ")"; break;
        case Kind::Loop:
          out += "loop " + s.to + " < " + std::to_string(s.number) + (s.isUnrolled ? ", unroll=true {\n" : " {\n");
          write(s.body, indent + "  ", out);
          out += indent + "}";
          break;
      }
      out += "\n";
    }
  }

  static void run(const std::vector<Statement>& all, Values& values) {
    for (const Statement& s : all) {
      const Value x = values[s.x], y = values[s.y];
      switch (s.kind) {
        case Kind::None: break;
        case Kind::Name:
        case Kind::Temp: values[s.to] = x; break;
        case Kind::Sum:
          for (size_t i = 0; i < 2; ++i) values[s.to][i] = wrapped(int64_t{x[i]} + int64_t{y[i]} * 3);
          break;
        case Kind::Part: values[s.to] = {x[1], y[0]}; break;
        case Kind::Assign:
          for (size_t i = 0; i < 2; ++i) values[s.to][i] = wrapped(int64_t{x[i]} - y[i] + 1);
          break;
        case Kind::AssignPart: values[s.to][0] = x[1]; break;
        case Kind::Exchange:
          values[s.x] = y, values[s.y] = s.x == s.y ? y : x;
          values[s.to] = x;
          for (size_t i = 0; i < 2; ++i) values[s.to + "d"][i] = wrapped(int64_t{values[s.y][i]} - values[s.x][i]);
          break;
        case Kind::Loop:
          for (int64_t i = 0; i < s.number; ++i) run(s.body, values);
          break;
      }
    }
  }

  Draw draw_;
  int names_ = 0;
  std::string header_;
  std::vector<std::string> readable_, targets_;
  std::vector<Statement> statements_;
};

Value valueOf(const HostTensor& t) {
  return {static_cast<int32_t>(t.at(0).asInt()), static_cast<int32_t>(t.at(1).asInt())};
}

void checkProgram(const Program& program, int level) {
  const std::string text = program.text();
  INFO(text << "-O" << level);
  Values values{{"a", {1, 2}}, {"b", {5, 7}}};
  for (int run = 0; run < 2; ++run) program.run(values);
  Model model = modelOf(text);
  RunOptions options;
  options.optLevel = level, options.execute.runs = 2;
  Result<std::vector<HostTensor>> plan = runPlan(model, ModelBindings{}, options);
  if (!plan) FAIL(toText(plan.error()));
  Result<std::vector<HostTensor>> first = interpret(model, ModelBindings{});
  if (!first) FAIL(toText(first.error()));
  Values once{{"a", {1, 2}}, {"b", {5, 7}}};
  program.run(once);
  for (size_t i = 0; i < model.ports.size(); ++i) {
    if (!isResult(model.ports[i])) continue;
    INFO(model.ports[i].name);
    CHECK(valueOf((*first)[i]) == once.at(model.ports[i].name));
    CHECK(valueOf((*plan)[i]) == values.at(model.ports[i].name));
  }
}

}  // namespace

TEST_CASE("a name keeps the value that a state or temporary had where it was given") {
  for (uint64_t seed = 0; seed < 150; ++seed) checkProgram(Program(seed), seed % 2 == 0 ? 0 : 1);
}

TEST_CASE("a state is copied only where a later store would be seen") {
  const auto items = [](const std::string& body) {
    Model model = modelOf("state a: i32[9] = 1\nstate b: i32[9] = 2\n" + body);
    auto schedule = makeSchedule(model, {});
    if (!schedule) FAIL(toText(schedule.error()));
    return schedule->items.size();
  };
  CHECK(items("t = a\noutput y = t + b\nassign a = b\n") == 2);
  CHECK(items("t = a\nassign b = t + 1\nassign a = b\n") == 2);
  CHECK(items("t = a\nassign a = t + 1\n") == 1);
  CHECK(items("t = a\nassign a = b\nassign b = t\n") == 3);
}
