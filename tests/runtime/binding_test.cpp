// What the caller can get wrong, and the message that says so.
#include <algorithm>

#include "runtime/harness.h"

using namespace svod;

namespace {

/// a[n], b[n], c[m*2], out[n] with n 1..8 and m 1..4, k fixed to 3; no shape gives i, 1..2.
struct Fixture {
  TempFolder folder;
  InstanceHandle instance;
  std::vector<float> a = std::vector<float>(3), b = std::vector<float>(3), c = std::vector<float>(4),
                     out = std::vector<float>(3);

  Fixture() {
    PlanBuilder builder;
    const Expr n = Expr::variable(builder.variable("n", 1, 8)), m = Expr::variable(builder.variable("m", 1, 4));
    builder.variable("k", 3, 3, VariableKind::Fixed);
    builder.variable("i", 1, 2);
    builder.input("a", 8, n);
    builder.input("b", 8, n);
    builder.input("c", 8, m * 2);
    builder.output("out", 8, n);
    builder.write(folder / "p");
    instance = makeInstance(loadPlan(folder / "p"));
    bindIn(instance, 0, a);
    bindIn(instance, 1, b);
    bindIn(instance, 2, c);
    bindOut(instance, 0, out);
    REQUIRE(svod_set_variable(instance.get(), 1, 2, nullptr) == 0);
    REQUIRE(svod_set_variable(instance.get(), 3, 2, nullptr) == 0);
  }
  svod_error error() { return executeError(instance); }
  svod_error bindError(size_t index, const char* dtype, std::vector<uint64_t> shape) {
    svod_error error = {};
    CHECK(svod_bind_input(instance.get(), index, dtype, shape.data(), shape.size(), a.data(), &error) == 1);
    return error;
  }
};

bool says(const svod_error& error, const std::string& text) {
  INFO(error.message << " / " << error.help);
  const bool found = std::string(error.message).find(text) != std::string::npos ||
                     std::string(error.help).find(text) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("everything in place runs") {
  Fixture f;
  execute(f.instance);
}

TEST_CASE("two inputs that disagree about a variable are both named") {
  Fixture f;
  bindIn(f.instance, 1, std::vector<float>(5));
  const svod_error error = f.error();
  CHECK(error.exit_code == 1);
  CHECK(std::string(error.code) == "bind-mismatch");
  CHECK(says(error, "axis 0 of input 'a' makes it 3, axis 0 of input 'b' makes it 5"));
  bindIn(f.instance, 1, f.b);
  execute(f.instance);
}

TEST_CASE("a set variable and an input that disagree are both named") {
  Fixture f;
  REQUIRE(svod_set_variable(f.instance.get(), 0, 4, nullptr) == 0);
  CHECK(says(f.error(), "it is set to 4, axis 0 of input 'a' makes it 3"));
  svod_clear_variable(f.instance.get(), 0);
  execute(f.instance);
}

TEST_CASE("a run that is refused has changed nothing") {
  TempFolder folder;
  PlanBuilder b;
  const Expr n = Expr::variable(b.variable("n", 1, 4));
  const BufferId x = b.input("x", 8, n), y = b.output("y", 8, n), s = b.state("s", 8);
  b.launch("k_double", {x, y}, {R, W}, {n});
  b.launch("k_accumulate", {x, s}, {R, RW}, {n});
  b.write(folder / "p");
  const InstanceHandle instance = makeInstance(loadPlan(folder / "p"));
  std::vector<float> in(5, 1), out(5, -1);
  bindIn(instance, 0, in);
  bindOut(instance, 0, out);
  CHECK(says(executeError(instance), "'n' must be from 1 to 4, but axis 0 of input 'x' makes it 5"));
  CHECK(out == std::vector<float>(5, -1));
  const auto* state = static_cast<const float*>(svod_state_data(instance.get(), 0));
  CHECK(std::all_of(state, state + 8, [](float value) { return value == 0; }));
  in.resize(3);
  bindIn(instance, 0, in);
  execute(instance);
  CHECK(out == std::vector<float>{2, 2, 2, -1, -1});
  CHECK(state[2] == 1);
}

TEST_CASE("variables: bounds, fixed values, missing values") {
  Fixture f;
  svod_error error = {};
  CHECK(svod_set_variable(f.instance.get(), 0, 9, &error) == 1);
  CHECK(says(error, "'n' is 9, outside its bounds 1 to 8"));
  CHECK(svod_set_variable(f.instance.get(), 2, 4, &error) == 1);
  CHECK(says(error, "fixed to 3"));
  CHECK(svod_set_variable(f.instance.get(), 2, 3, &error) == 0);
  CHECK(svod_set_variable(f.instance.get(), 4, 3, &error) == 1);
  CHECK(says(error, "no variable 4"));
  svod_clear_variable(f.instance.get(), 3);
  error = f.error();
  CHECK(std::string(error.code) == "missing-input");
  CHECK(says(error, "'i' has no value"));
  CHECK(says(error, "from 1 to 2"));
  REQUIRE(svod_set_variable(f.instance.get(), 3, 1, nullptr) == 0);
  REQUIRE(svod_set_variable(f.instance.get(), 1, 3, nullptr) == 0);
  CHECK(says(f.error(), "input 'c': axis 0 has length 4, but m*2 = 6"));
  REQUIRE(svod_set_variable(f.instance.get(), 1, 2, nullptr) == 0);
  for (size_t input : {0u, 1u}) bindIn(f.instance, input, std::vector<float>(9));
  CHECK(says(f.error(), "'n' must be from 1 to 8, but axis 0 of input 'a' makes it 9"));
}

TEST_CASE("inputs: dtype, rank, dimension, index") {
  Fixture f;
  CHECK(says(f.bindError(0, "i32", {3}), "has dtype i32, the plan wants f32"));
  CHECK(says(f.bindError(0, "f32", {3, 1}), "rank 2, the plan wants rank 1"));
  CHECK(says(f.bindError(0, "f32", {3, 1}), "declared as f32 (n)"));
  CHECK(says(f.bindError(7, "f32", {3}), "no input 7"));
  CHECK(says(f.bindError(0, "f32", {UINT64_MAX}), "too large"));
  execute(f.instance);  // a refused binding leaves the old one
}

TEST_CASE("memory: missing, too small, null, not aligned, overlapping") {
  Fixture f;
  CHECK(svod_bind_output(f.instance.get(), 0, f.out.data(), 8, nullptr) == 0);
  CHECK(says(f.error(), "output 'out' needs 12 bytes, the memory bound to it has 8"));
  CHECK(svod_bind_output(f.instance.get(), 0, nullptr, 12, nullptr) == 0);
  CHECK(says(f.error(), "null pointer"));
  CHECK(svod_bind_output(f.instance.get(), 0, reinterpret_cast<char*>(f.out.data()) + 1, 100, nullptr) == 0);
  CHECK(says(f.error(), "not aligned for f32"));
  CHECK(svod_bind_output(f.instance.get(), 0, f.a.data() + 2, 100, nullptr) == 0);
  CHECK(says(f.error(), "overlapping memory"));
  bindOut(f.instance, 0, f.out);
  bindIn(f.instance, 1, f.a);  // two inputs may share
  execute(f.instance);
  const InstanceHandle fresh = makeInstance(loadPlan(f.folder / "p"));
  REQUIRE(svod_set_variable(fresh.get(), 0, 2, nullptr) == 0);
  REQUIRE(svod_set_variable(fresh.get(), 1, 2, nullptr) == 0);
  REQUIRE(svod_set_variable(fresh.get(), 3, 1, nullptr) == 0);
  CHECK(says(executeError(fresh), "input 'a' is not bound"));
}

namespace {

/// Variables, inputs of one dim each, and an output f32[value]: what the runtime solves from the lengths of the inputs.
struct Solved {
  TempFolder folder;
  InstanceHandle instance;
  std::vector<std::vector<float>> inputs;

  Solved(std::vector<std::string> names, const std::vector<std::string>& dims) {
    PlanBuilder builder;
    for (const std::string& name : names) builder.variable(name, 1, 64);
    for (size_t i = 0; i < dims.size(); i++) builder.input("x" + std::to_string(i), 4096, *parseExpr(dims[i], names));
    builder.write(folder / "p");
    instance = makeInstance(loadPlan(folder / "p"));
    inputs.resize(dims.size());
  }
  void bind(std::vector<size_t> lengths) {
    for (size_t i = 0; i < lengths.size(); i++) {
      inputs[i].assign(lengths[i], 0);
      bindIn(instance, i, inputs[i]);
    }
  }
  int64_t value(size_t variable) {
    int64_t value = -1;
    svod_error error = {};
    if (svod_get_variable(instance.get(), variable, &value, &error) != 0) FAIL(error.message);
    return value;
  }
};

}  // namespace

TEST_CASE("dims that are expressions give their one unknown variable") {
  Solved multiple({"k"}, {"8*k"});
  multiple.bind({40});
  CHECK(multiple.value(0) == 5);
  multiple.bind({13});
  CHECK(says(executeError(multiple.instance), "axis 0 has length 13, but it is 8*k and must be a multiple of 8"));
  multiple.bind({520});
  CHECK(says(executeError(multiple.instance), "'k' must be from 1 to 64, but axis 0 of input 'x0' makes it 65"));

  Solved offset({"k"}, {"4*k+3"});
  offset.bind({11});
  CHECK(offset.value(0) == 2);
  offset.bind({12});
  CHECK(says(executeError(offset.instance), "must be 3 more than a multiple of 4"));

  // One after the other, in whatever order they stand.
  Solved chain({"a", "b", "c"}, {"a+b+c", "2*b+c", "20-b"});
  chain.bind({12, 11, 16});
  CHECK(chain.value(1) == 4);
  CHECK(chain.value(2) == 3);
  CHECK(chain.value(0) == 5);

  // Two unknowns in one dim: one of them must be given.
  Solved open({"a", "b"}, {"a+b"});
  open.bind({9});
  CHECK(says(executeError(open.instance), "variable 'a' has no value"));
  REQUIRE(svod_set_variable(open.instance.get(), 1, 4, nullptr) == 0);
  CHECK(open.value(0) == 5);
}

TEST_CASE("bounds of copies and tiles are checked before the first kernel starts") {
  TempFolder folder;
  PlanBuilder b;
  const VariableId n = b.variable("n", 0, 8);
  const BufferId s = b.state("s", 4), x = b.constant("x", {1, 1, 1, 1});
  b.launch("k_accumulate", {x, s}, {R, RW}, {Expr(4)});
  b.step(Copy{s, x, Expr::variable(n) * 4});
  b.write(folder / "p");
  const InstanceHandle instance = makeInstance(loadPlan(folder / "p"));
  REQUIRE(svod_set_variable(instance.get(), 0, 5, nullptr) == 0);
  CHECK(says(executeError(instance), "would copy 20 bytes from 'x' to 's'"));
  CHECK(static_cast<float*>(svod_state_data(instance.get(), 0))[0] == 0);
}
