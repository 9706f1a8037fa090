// One thread: loading, describing, binding, running.
#include <cstring>

#include "runtime/harness.h"

using namespace svod;

namespace {

/// y[n] = 2 * (x[n] + w[n]) with n from 0 to 16.
PlanBuilder addAndDouble() {
  PlanBuilder b;
  const Expr n = Expr::variable(b.variable("n", 0, 16));
  std::vector<float> weights(16);
  for (size_t i = 0; i < 16; i++) weights[i] = static_cast<float>(100 * i);
  const BufferId x = b.input("x", 16, n), w = b.constant("w", weights), t = b.arena("t", 16), y = b.output("y", 16, n);
  b.launch("k_add", {x, w, t}, {R, R, W}, {n});
  b.launch("k_double", {t, y}, {R, W}, {n});
  return b;
}

}  // namespace

TEST_CASE("a plan runs, for every length and every content, from one instance") {
  TempFolder folder;
  addAndDouble().write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  const InstanceHandle instance = makeInstance(plan);
  for (size_t n : {16u, 3u, 0u, 1u}) {
    std::vector<float> x(n), y(n, -1);
    for (size_t i = 0; i < n; i++) x[i] = static_cast<float>(i + n);
    bindIn(instance, 0, x);
    bindOut(instance, 0, y);
    execute(instance);
    for (size_t i = 0; i < n; i++) CHECK(y[i] == static_cast<float>(202 * i + 2 * n));
    int64_t value = -1;
    REQUIRE(svod_get_variable(instance.get(), 0, &value, nullptr) == 0);
    CHECK(value == static_cast<int64_t>(n));
  }
}

TEST_CASE("a plan describes itself before anything is allocated") {
  TempFolder folder;
  addAndDouble().write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  svod_plan_info info = {};
  svod_plan_get_info(plan.get(), &info);
  CHECK(std::string(info.name) == "test");
  CHECK(info.inputs == 1);
  CHECK(info.variables == 1);
  CHECK(info.kernels == 2);
  CHECK(info.arena_bytes == 64);
  CHECK(info.constant_bytes == 64);
  CHECK(svod_plan_instance_bytes(plan.get(), 1) >= 64);
  CHECK(svod_plan_instance_bytes(plan.get(), 1) < 4096);
  svod_tensor tensor = {};
  REQUIRE(svod_plan_tensor(plan.get(), SVOD_INPUT, svod_plan_find(plan.get(), SVOD_INPUT, "x"), &tensor) == 0);
  CHECK(std::string(tensor.dtype) == "f32");
  CHECK(tensor.rank == 1);
  CHECK(tensor.max_shape[0] == 16);
  CHECK(std::string(tensor.shape_texts[0]) == "n");
  CHECK(tensor.max_bytes == 64);
  svod_variable variable = {};
  REQUIRE(svod_plan_variable(plan.get(), 0, &variable) == 0);
  CHECK(std::string(variable.name) == "n");
  CHECK(variable.min == 0);
  CHECK(variable.max == 16);
  CHECK(svod_plan_find(plan.get(), SVOD_OUTPUT, "x") == SVOD_NONE);
  CHECK(svod_plan_find(plan.get(), SVOD_VARIABLE, "n") == 0);
  CHECK(svod_plan_tensor(plan.get(), SVOD_OUTPUT, 1, &tensor) != 0);
  CHECK(svod_plan_tensor(plan.get(), SVOD_VARIABLE, 0, &tensor) != 0);
  CHECK(svod_plan_variable(plan.get(), 1, &variable) != 0);
}

TEST_CASE("outputs are counted and found, by name and by position") {
  TempFolder folder;
  PlanBuilder b;
  const Expr n = Expr::variable(b.variable("n", 0, 16));
  const BufferId x = b.input("x", 16, n), first = b.output("first", 16, n), second = b.output("second", 16, n);
  b.launch("k_double", {x, first}, {R, W}, {n});
  b.launch("k_add", {x, first, second}, {R, R, W}, {n});
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  svod_plan_info info = {};
  svod_plan_get_info(plan.get(), &info);
  CHECK(info.outputs == 2);
  CHECK(svod_plan_find(plan.get(), SVOD_OUTPUT, "first") == 0);
  CHECK(svod_plan_find(plan.get(), SVOD_OUTPUT, "second") == 1);
  CHECK(svod_plan_find(plan.get(), SVOD_OUTPUT, "third") == SVOD_NONE);
  svod_tensor tensor = {};
  REQUIRE(svod_plan_tensor(plan.get(), SVOD_OUTPUT, 1, &tensor) == 0);
  CHECK(std::string(tensor.name) == "second");
  CHECK(svod_plan_tensor(plan.get(), SVOD_OUTPUT, 2, &tensor) != 0);
}

TEST_CASE("the index of no name is refused wherever an index is taken") {
  TempFolder folder;
  PlanBuilder b;
  const Expr n = Expr::variable(b.variable("n", 1, 16));
  b.launch("k_double", {b.input("x", 16, n), b.output("y", 16, n)}, {R, W}, {n});
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  svod_instance* instance = nullptr;
  REQUIRE(svod_instance_create(plan.get(), nullptr, &instance, nullptr) == 0);
  svod_error error;
  const uint64_t shape[] = {4};
  float data[4] = {};
  int64_t value = 0;
  const auto isRefused = [&](int code) { return code == 1 && std::string(error.code) == "unknown-port"; };
  CHECK(isRefused(svod_bind_input(instance, SVOD_NONE, "f32", shape, 1, data, &error)));
  CHECK(isRefused(svod_bind_output(instance, SVOD_NONE, data, sizeof data, &error)));
  CHECK(isRefused(svod_set_variable(instance, SVOD_NONE, 4, &error)));
  CHECK(isRefused(svod_get_variable(instance, SVOD_NONE, &value, &error)));
  for (const svod_kind kind : {SVOD_INPUT, SVOD_OUTPUT, SVOD_STATE})
    CHECK(isRefused(svod_get_shape(instance, kind, SVOD_NONE, nullptr, nullptr, &error)));
  svod_tensor tensor;
  svod_variable variable;
  svod_profile_record record;
  svod_trace_event event;
  CHECK(svod_plan_tensor(plan.get(), SVOD_INPUT, SVOD_NONE, &tensor) == 1);
  CHECK(svod_plan_variable(plan.get(), SVOD_NONE, &variable) == 1);
  CHECK(svod_plan_host_function(plan.get(), SVOD_NONE) == nullptr);
  CHECK(svod_state_data(instance, SVOD_NONE) == nullptr);
  CHECK(svod_profile_get(instance, SVOD_NONE, &record) == 1);
  CHECK(svod_trace_get(instance, SVOD_NONE, &event) == 1);
  svod_clear_variable(instance, SVOD_NONE);
  svod_instance_free(instance);
}

TEST_CASE("a variable has a name and both bounds") {
  TempFolder folder;
  PlanBuilder b;
  const Expr rows = Expr::variable(b.variable("rows", 3, 16));
  const BufferId x = b.input("x", 16, rows), y = b.output("y", 16, rows);
  b.launch("k_double", {x, y}, {R, W}, {rows});
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  svod_variable variable = {};
  REQUIRE(svod_plan_variable(plan.get(), 0, &variable) == 0);
  CHECK(std::string(variable.name) == "rows");
  CHECK(variable.min == 3);
  CHECK(variable.max == 16);
}

TEST_CASE("a plan loads from memory, and an instance outlives its plan handle") {
  TempFolder folder;
  addAndDouble().write(folder / "p");
  const std::string json = readText(folder / "p/plan.json"), code = readText(folder / "p/kernels.so");
  const std::string weights = "x" + readText(folder / "p/weights.bin");  // not aligned: copied
  const svod_file files[] = {{"plan.json", json.data(), json.size()},
                             {"kernels.so", code.data(), code.size()},
                             {"weights.bin", weights.data() + 1, weights.size() - 1}};
  svod_plan* raw = nullptr;
  svod_error error = {};
  const svod_load_options options = {1, nullptr};
  REQUIRE(svod_plan_load_memory(files, 3, &options, &raw, &error) == 0);
  PlanHandle plan(raw);
  const InstanceHandle instance = makeInstance(plan);
  plan.reset();
  std::vector<float> x = {1, 2}, y(2);
  bindIn(instance, 0, x);
  bindOut(instance, 0, y);
  execute(instance);
  CHECK(y == std::vector<float>{2, 204});
  CHECK(svod_plan_load_memory(files, 2, nullptr, &raw, &error) == 5);
  CHECK(svod_plan_load_memory(files + 1, 2, nullptr, &raw, &error) == 5);
}

namespace {

// The kernels with another factor in place of k_double's.
std::string kernelsTimes(const std::string& factor) {
  std::string source = kKernelSource;
  return compiled(source.replace(source.find("2 * x[i]"), 1, factor));
}

float doubled(const PlanHandle& plan) {
  const InstanceHandle instance = makeInstance(plan);
  std::vector<float> x = {1}, y(1);
  bindIn(instance, 0, x);
  bindOut(instance, 0, y);
  execute(instance);
  return y[0];
}

// The plan reads the weights where they lie.
PlanHandle loadMemory(const std::string& json, const std::string& code, const std::string& weights) {
  const svod_file files[] = {{"plan.json", json.data(), json.size()},
                             {"kernels.so", code.data(), code.size()},
                             {"weights.bin", weights.data(), weights.size()}};
  svod_plan* plan = nullptr;
  svod_error error = {};
  if (svod_plan_load_memory(files, 3, nullptr, &plan, &error) != 0) FAIL(error.message);
  return PlanHandle(plan);
}

}  // namespace

TEST_CASE("a plan that was compiled again is loaded beside the old one") {
  TempFolder folder;
  std::vector<PlanHandle> plans, inMemory;
  const std::string weights = [&] {
    addAndDouble().write(folder / "w");
    return readText(folder / "w/weights.bin");
  }();
  for (const char* factor : {"2", "3", "5"}) {
    PlanBuilder b = addAndDouble();
    addHazardEdges(b.plan, StorageView::Placed);
    b.write(folder / "p", kernelsTimes(factor));
    plans.push_back(loadPlan(folder / "p"));
    plans.push_back(loadPlan(folder / "p"));
    inMemory.push_back(loadMemory(readText(folder / "p/plan.json"), readText(folder / "p/kernels.so"), weights));
  }
  for (size_t i = 0; i < 3; ++i) {
    const float expected = std::vector<float>{2, 3, 5}[i];
    CHECK(doubled(plans[2 * i]) == expected);
    CHECK(doubled(plans[2 * i + 1]) == expected);
    CHECK(doubled(inMemory[i]) == expected);
  }
}

TEST_CASE("ports are found by name, wherever they stand") {
  TempFolder folder;
  PlanBuilder b;
  const BufferId p = b.input("p", 4, Expr(4)), q = b.input("q", 4, Expr(4));
  b.step(Copy{b.output("fromQ", 4, Expr(4)), q, Expr(16)});
  b.step(Copy{b.output("fromP", 4, Expr(4)), p, Expr(16)});
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  const InstanceHandle instance = makeInstance(plan);
  const std::vector<float> ones = {1, 2, 3, 4}, tens = {10, 20, 30, 40};
  std::vector<float> fromP(4), fromQ(4);
  const auto input = [&](const char* name) { return svod_plan_find(plan.get(), SVOD_INPUT, name); };
  const auto output = [&](const char* name) { return svod_plan_find(plan.get(), SVOD_OUTPUT, name); };
  bindIn(instance, input("q"), tens);
  bindOut(instance, output("fromP"), fromP);
  bindIn(instance, input("p"), ones);
  bindOut(instance, output("fromQ"), fromQ);
  execute(instance);
  CHECK(fromP == ones);
  CHECK(fromQ == tens);
  CHECK(output("p") == SVOD_NONE);
}

TEST_CASE("shapes are known before outputs are bound") {
  TempFolder folder;
  PlanBuilder b;
  const VariableId n = b.variable("n", 1, 8);
  const Expr twice = Expr::variable(n) * 2;
  b.input("x", 8, Expr::variable(n));
  b.output("y", 16, twice);
  b.write(folder / "p");
  const InstanceHandle instance = makeInstance(loadPlan(folder / "p"));
  uint64_t shape = 0, bytes = 0;
  svod_error error = {};
  CHECK(svod_get_shape(instance.get(), SVOD_OUTPUT, 0, &shape, &bytes, &error) == 1);
  CHECK(std::string(error.message).find("'n' has no value") != std::string::npos);
  REQUIRE(svod_set_variable(instance.get(), 0, 5, &error) == 0);
  REQUIRE(svod_get_shape(instance.get(), SVOD_OUTPUT, 0, &shape, &bytes, &error) == 0);
  CHECK(shape == 10);
  CHECK(bytes == 40);
  svod_clear_variable(instance.get(), 0);
  bindIn(instance, 0, std::vector<float>(3));
  REQUIRE(svod_get_shape(instance.get(), SVOD_OUTPUT, 0, &shape, nullptr, &error) == 0);
  CHECK(shape == 6);
}

TEST_CASE("copies, views, scratch and one-tile kernels") {
  TempFolder folder;
  PlanBuilder b;
  const Expr n = Expr::variable(b.variable("n", 8, 8));
  const BufferId x = b.input("x", 8, n), t = b.arena("t", 8), half = b.view("half", t, 16, 4);
  const BufferId y = b.output("y", 8, n), z = b.output("z", 4, Expr(4)), xHalf = b.view("xHalf", x, 16, 4);
  const BufferId u = b.output("u", 4, Expr(4));
  b.launch("k_reverse", {x, t}, {R, W}, {n}, Expr(1), 32);
  b.step(Copy{y, t, n * 4});
  b.launch("k_double", {half, z}, {R, W}, {Expr(4)});
  b.step(Copy{u, xHalf, Expr(16)});
  b.write(folder / "p");
  const InstanceHandle instance = makeInstance(loadPlan(folder / "p"));
  std::vector<float> in = {0, 1, 2, 3, 4, 5, 6, 7}, out(8), doubled(4), upper(4);
  bindIn(instance, 0, in);
  bindOut(instance, 0, out);
  bindOut(instance, 1, doubled);
  bindOut(instance, 2, upper);
  execute(instance);
  CHECK(out == std::vector<float>{7, 6, 5, 4, 3, 2, 1, 0});
  CHECK(doubled == std::vector<float>{6, 4, 2, 0});
  CHECK(upper == std::vector<float>{4, 5, 6, 7});
}

TEST_CASE("states live in the instance: first contents, kept between runs, reset") {
  TempFolder folder;
  PlanBuilder b;
  const BufferId x = b.input("x", 4, Expr(4)), y = b.output("y", 4, Expr(4));
  b.constant("init", {10, 20, 30, 40});
  const BufferId s = b.state("s", 4, ConstantId{0}), z = b.state("z", 4);
  b.launch("k_accumulate", {x, s}, {R, RW}, {Expr(4)});
  b.launch("k_accumulate", {s, z}, {R, RW}, {Expr(4)});
  b.step(Copy{y, z, Expr(16)});
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  const InstanceHandle one = makeInstance(plan), two = makeInstance(plan);
  std::vector<float> x1 = {1, 1, 1, 1}, y1(4), y2(4);
  for (const InstanceHandle* instance : {&one, &two}) bindIn(*instance, 0, x1);
  bindOut(one, 0, y1);
  bindOut(two, 0, y2);
  execute(one);
  CHECK(y1 == std::vector<float>{11, 21, 31, 41});
  execute(one);
  CHECK(y1 == std::vector<float>{23, 43, 63, 83});
  execute(two);
  CHECK(y2 == std::vector<float>{11, 21, 31, 41});
  CHECK(static_cast<float*>(svod_state_data(one.get(), 0))[0] == 12);
  CHECK(svod_state_data(one.get(), 2) == nullptr);
  svod_reset_states(one.get());
  execute(one);
  CHECK(y1 == std::vector<float>{11, 21, 31, 41});
}

TEST_CASE("loops: values follow the loop variable, nested and with trips from variables") {
  TempFolder folder;
  PlanBuilder b;
  const VariableId n = b.variable("n", 0, 10), i = b.variable("i", 0, 9, VariableKind::Loop),
                   j = b.variable("j", 0, 9, VariableKind::Loop);
  const BufferId s = b.arena("s", 4), y = b.output("y", 4, Expr(4)), x = b.input("x", 4, Expr(4));
  b.step(Copy{s, x, Expr(16)});
  b.step(Loop{i, Expr::variable(n), 3});
  b.launch("k_add_value", {s}, {RW}, {Expr(4), Expr::variable(i)});
  b.step(Loop{j, Expr::variable(i), 1});
  b.launch("k_add_value", {s}, {RW}, {Expr(4), Expr::variable(i) * 10 + Expr::variable(j)});
  b.step(Copy{y, s, Expr(16)});
  b.write(folder / "p");
  const InstanceHandle instance = makeInstance(loadPlan(folder / "p"));
  std::vector<float> in = {1, 2, 3, 4}, out(4);
  bindIn(instance, 0, in);
  bindOut(instance, 0, out);
  for (int64_t trips : {0, 1, 4}) {
    REQUIRE(svod_set_variable(instance.get(), 0, trips, nullptr) == 0);
    std::vector<float> expected = in;
    for (int64_t a = 0; a < trips; a++) {
      for (float& value : expected) value = value * 2 + static_cast<float>(a);
      for (int64_t c = 0; c < a; c++)
        for (float& value : expected) value = value * 2 + static_cast<float>(a * 10 + c);
    }
    for (uint64_t seed : {0u, 5u}) {
      execute(instance, seed);
      CHECK(out == expected);
    }
  }
}

TEST_CASE("host functions get tensors and values; their failure ends the run") {
  TempFolder folder;
  PlanBuilder b;
  const Expr n = Expr::variable(b.variable("n", 1, 8));
  const BufferId x = b.input("x", 8, n), y = b.output("y", 8, n);
  b.step(HostCall{"negate", {{y, W, {n}}, {x, R, {n, 1}}}, {n * 2}});
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  CHECK(std::string(svod_plan_host_function(plan.get(), 0)) == "negate");
  CHECK(svod_plan_host_function(plan.get(), 1) == nullptr);
  svod_instance* none = nullptr;
  svod_error error = {};
  CHECK(svod_instance_create(plan.get(), nullptr, &none, &error) == 1);
  CHECK(std::string(error.message).find("'negate'") != std::string::npos);
  int result = 0;
  const auto negate = [](void* user, const svod_host_call* call) {
    const svod_host_argument &to = call->arguments[0], &from = call->arguments[1];
    if (call->argument_count != 2 || std::string(call->function) != "negate") return 99;
    if (to.bytes != 12 || to.rank != 1 || to.shape[0] != 3 || to.written == 0) return 98;
    if (from.bytes != 12 || from.rank != 2 || from.shape[0] != 3 || from.shape[1] != 1 || from.written != 0) return 97;
    if (std::string(to.dtype) != "f32" || to.element_bytes != 4 || std::string(from.name) != "x") return 96;
    if (call->value_count != 1 || call->values[0] != 6) return 95;
    for (size_t i = 0; i < 3; i++) static_cast<float*>(to.data)[i] = -static_cast<const float*>(from.data)[i];
    return *static_cast<int*>(user);
  };
  const svod_host_entry entries[] = {{"other", negate, nullptr}, {"negate", negate, &result}};
  svod_instance_options options = {};
  options.functions = entries;
  options.function_count = 2;
  const InstanceHandle instance = makeInstance(plan, options);
  std::vector<float> in = {1, 2, 3}, out(3);
  bindIn(instance, 0, in);
  bindOut(instance, 0, out);
  execute(instance);
  CHECK(out == std::vector<float>{-1, -2, -3});
  result = 7;
  error = executeError(instance);
  CHECK(error.exit_code == 6);
  CHECK(std::string(error.message) == "host function 'negate' failed with 7");
  result = 0;
  execute(instance);
}

TEST_CASE("errors of host functions are told apart") {
  TempFolder folder;
  PlanBuilder b;
  const BufferId x = b.input("x", 8, Expr(8)), t = b.arena("t", 8), y = b.output("y", 8, Expr(8));
  b.step(HostCall{"first", {{t, W, {8}}, {x, R, {8}}}, {}});
  b.step(HostCall{"second", {{y, W, {8}}, {t, R, {8}}}, {}});
  b.write(folder / "p");
  const PlanHandle plan = loadPlan(folder / "p");
  int results[2] = {0, 0};
  const auto answer = [](void* user, const svod_host_call*) { return *static_cast<int*>(user); };
  const svod_host_entry entries[] = {{"first", answer, &results[0]}, {"second", answer, &results[1]}};
  svod_instance_options options = {};
  options.functions = entries;
  options.function_count = 1;
  svod_instance* none = nullptr;
  svod_error error = {};
  CHECK(svod_instance_create(plan.get(), &options, &none, &error) == 1);  // one that is missing
  CHECK(std::string(error.code) == "missing-input");
  CHECK(std::string(error.message).find("'second'") != std::string::npos);
  options.function_count = 2;
  const InstanceHandle instance = makeInstance(plan, options);
  std::vector<float> in(8), out(8);
  bindIn(instance, 0, in);
  bindOut(instance, 0, out);
  for (int failing : {0, 1})
    for (int number : {1, -7}) {
      results[0] = results[1] = 0;
      results[failing] = number;
      error = executeError(instance);
      CHECK(std::string(error.code) == "device-failure");
      CHECK(error.message ==
            "host function '" + std::string(entries[failing].name) + "' failed with " + std::to_string(number));
    }
  results[0] = results[1] = 0;
  execute(instance);
}

TEST_CASE("an empty plan runs") {
  TempFolder folder;
  PlanBuilder b;
  b.write(folder / "p");
  execute(makeInstance(loadPlan(folder / "p")));
  execute(makeInstance(loadPlan(folder / "p")), 3);
}
