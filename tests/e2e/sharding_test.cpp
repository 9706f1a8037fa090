// Values split over devices, by slice, copy and concat: what they compute there equals one device, also where parts are
// of unequal sizes or empty.
#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <set>

#include "e2e/graph_text.h"

using namespace svod;

namespace {

const std::vector<std::string> kNames = {"a", "b", "c"};

/// Text of a part, by the number of the device and its name.
using Part = std::function<std::string(size_t, const std::string&)>;

std::string lines(size_t devices, const Part& part) {
  std::string out;
  for (size_t i = 0; i < devices; ++i) out += part(i, kNames[i]) + "\n";
  return out;
}

/// "p0, p1, .." for `prefix` p, with `separator` between them.
std::string parts(size_t devices, const std::string& prefix, const std::string& separator) {
  std::string out;
  for (size_t i = 0; i < devices; ++i) out += (i ? separator : "") + prefix + std::to_string(i);
  return out;
}

/// Part `i` of `count` of an axis, on its device: parts of sizes that differ by one where it cannot be cut evenly.
std::string shard(const std::string& of, int axis, const std::string& extent, size_t i, size_t count) {
  const auto cut = [&](size_t k) { return "(" + extent + ")*" + std::to_string(k) + "//" + std::to_string(count); };
  return "copy(slice(" + of + ", starts=[" + cut(i) + "], ends=[" + cut(i + 1) + "], axes=[" + std::to_string(axis) +
         "]), device=" + kNames[i] + ")";
}

/// Every part there is on `device`, summed up there.
std::string reduced(size_t devices, const std::string& prefix, const std::string& device) {
  std::string out;
  for (size_t i = 0; i < devices; ++i)
    out += (i ? " + copy(" : "copy(") + prefix + std::to_string(i) + ", device=" + device + ")";
  return out;
}

Model modelOn(const std::string& text, size_t devices) {
  LoadOptions options;
  options.devices.assign(kNames.begin(), kNames.begin() + static_cast<std::ptrdiff_t>(devices));
  return modelOf(text, options);
}

/// Whether launches happen on each of the devices besides the host.
bool isSpread(const Plan& plan) {
  std::vector<bool> isUsed(plan.devices.size(), false);
  for (const Step& step : plan.steps)
    if (const auto* launch = std::get_if<Launch>(&step.action))
      for (BufferId id : launch->buffers)
        if (const auto device = deviceOf(plan, id)) isUsed[*device] = true;
  return std::count(isUsed.begin() + 1, isUsed.end(), false) == 0;
}

/// `sharded`, on devices, computes what the interpreter says of `whole`, port by port.
void checkSharded(const std::string& whole, const std::string& sharded, size_t devices, int64_t n) {
  INFO(sharded << "n = " << n << ", " << devices << " devices");
  Model one = modelOf(whole), many = modelOn(sharded, devices);
  const ModelBindings bindings = bindingsOf(one, n);
  auto expected = interpret(one, bindings);
  if (!expected) FAIL(toText(expected.error()));
  REQUIRE(one.ports.size() == many.ports.size());
  RunOptions options;
  options.execute.deviceSeed = static_cast<uint32_t>(n);
  for (size_t threads : {1u, 3u}) {
    options.execute.threads = threads;
    auto actual = runPlan(many, bindings, options);
    if (!actual) FAIL(toText(actual.error()));
    checkEqual(one, *expected, *actual);
  }
  auto compiled = compile(many, compileOptions(options));
  REQUIRE(compiled);
  CHECK(isSpread((*compiled)->plan));
}

void checkAll(const std::string& head, const std::string& whole, const std::function<std::string(size_t)>& sharded) {
  for (size_t devices : {2u, 3u})
    for (int64_t n : {0, 1, 2, 7}) checkSharded(head + whole, head + sharded(devices), devices, n);
}

const std::string kProduct = "var n in [0, 9]\ninput x: f32[n, 10]\ninput w: f32[10, 7]\n";

}  // namespace

TEST_CASE("a product whose rows are on several devices, with a replicated operand, equals one device") {
  checkAll(kProduct, "output y = x @ w\n", [](size_t d) {
    return lines(d,
                 [&](size_t i, auto& at) {
                   return "y" + std::to_string(i) + " = " + shard("x", 0, "n", i, d) + " @ copy(w, device=" + at + ")";
                 }) +
           "output y = concat(" + parts(d, "y", ", ") + ", axis=0)\n";
  });
}

TEST_CASE("a product whose columns are on several devices, gathered on the host, equals one device") {
  checkAll(kProduct, "output y = x @ w\n", [](size_t d) {
    return lines(d,
                 [&](size_t i, auto& at) {
                   return "h" + std::to_string(i) + " = copy(x, device=" + at + ") @ " + shard("w", 1, "7", i, d) +
                          "\ny" + std::to_string(i) + " = copy(h" + std::to_string(i) + ", device=cpu)";
                 }) +
           "output y = concat(" + parts(d, "y", ", ") + ", axis=1)\n";
  });
}

TEST_CASE("a product whose terms are on several devices, its parts reduced on one of them, equals one device") {
  checkAll(kProduct, "output y = relu(x @ w)\n", [](size_t d) {
    return lines(d,
                 [&](size_t i, auto&) {
                   return "p" + std::to_string(i) + " = " + shard("x", 1, "10", i, d) + " @ " +
                          shard("w", 0, "10", i, d);
                 }) +
           "output y = relu(" + reduced(d, "p", "a") + ")\n";
  });
}

TEST_CASE("a sum over parts on several devices is the same on all of them") {
  const std::string head = "var n in [0, 9]\ninput x: i32[n, 5]\n";
  for (size_t d : {2u, 3u})
    for (int64_t n : {0, 1, 2, 7}) {
      std::string whole = "s = sum(x, axes=[0])\n",
                  sharded = lines(d, [&](size_t i, auto&) {
                    return "p" + std::to_string(i) + " = sum(" + shard("x", 0, "n", i, d) + ", axes=[0])";
                  });
      for (size_t i = 0; i < d; ++i) {
        const std::string number = std::to_string(i);
        whole += "output y" + number + " = s * " + std::to_string(i + 1) + "\n";
        sharded += "r" + number + " = " + reduced(d, "p", kNames[i]) + "\noutput y" + number + " = r" + number + " * " +
                   std::to_string(i + 1) + "\n";
      }
      checkSharded(head + whole, head + sharded, d, n);
    }
}

namespace {

/// "a, b" for two devices.
std::string namesOf(size_t devices) {
  std::string out;
  for (size_t i = 0; i < devices; ++i) out += (i ? ", " : "") + kNames[i];
  return out;
}

/// `p0, p1 = OP, devices="a, b")` for OP such as "shard(x, axis=1".
std::string asParts(size_t devices, const std::string& prefix, const std::string& op) {
  return parts(devices, prefix, ", ") + " = " + op + ", devices=\"" + namesOf(devices) + "\")\n";
}

/// One line for each device, in which # is its number.
std::string onEach(size_t devices, const std::string& line) {
  return lines(devices, [&](size_t i, auto&) {
    std::string out;
    for (char c : line) out += c == '#' ? std::to_string(i) : std::string(1, c);
    return out;
  });
}

std::string joined(size_t devices, const std::string& prefix, int axis) {
  return "output y = unshard(" + parts(devices, prefix, ", ") + ", axis=" + std::to_string(axis) + ")\n";
}

/// What is computed on one device, and the same in parts, for a number of devices.
struct Sharded {
  const char* name;
  std::string head, whole;
  std::string (*parts)(size_t devices);
};

const std::string kTwo = "var n in [0, 9]\ninput x: f32[n, 6]\ninput z: f32[n, 6]\n";

const Sharded kSharded[] = {
    {"elementwise, both operands cut alike", kTwo, "output y = relu(x - z) * 2\n",
     [](size_t d) {
       return asParts(d, "x", "shard(x") + asParts(d, "z", "shard(z") + onEach(d, "r# = relu(x# - z#) * 2") +
              joined(d, "r", 0);
     }},
    {"a sum along the axis that is cut", kTwo, "output y = sum(x, axes=[1])\n",
     [](size_t d) {
       return asParts(d, "x", "shard(x, axis=1") + onEach(d, "s# = sum(x#, axes=[1])") +
              asParts(d, "r", "all_reduce(" + parts(d, "s", ", ")) + "output y = copy(r0, device=cpu)\n";
     }},
    {"a sum along another axis", kTwo, "output y = sum(x, axes=[1])\n",
     [](size_t d) { return asParts(d, "x", "shard(x") + onEach(d, "s# = sum(x#, axes=[1])") + joined(d, "s", 0); }},
    {"a maximum along the axis that is cut", "input x: f32[5, 6]\nvar n in [0, 9]\n",
     "output y = fold(x, with=max, axes=[1])\n",
     [](size_t d) {
       return asParts(d, "x", "shard(x, axis=1") + onEach(d, "s# = fold(x#, with=max, axes=[1])") +
              asParts(d, "r", "all_reduce(" + parts(d, "s", ", ") + ", op=max") + "output y = copy(r" +
              std::to_string(d - 1) + ", device=cpu)\n";
     }},
    {"a product with rows and a copy of the weights everywhere", kProduct, "output y = x @ w\n",
     [](size_t d) {
       return asParts(d, "x", "shard(x") + asParts(d, "w", "replicate(w") + onEach(d, "p# = x# @ w#") +
              joined(d, "p", 0);
     }},
    {"a product with columns", kProduct, "output y = x @ w\n",
     [](size_t d) {
       return asParts(d, "x", "replicate(x") + asParts(d, "w", "shard(w, axis=1") + onEach(d, "p# = x# @ w#") +
              joined(d, "p", 1);
     }},
    {"a product with terms", kProduct, "output y = tanh(x @ w)\n",
     [](size_t d) {
       return asParts(d, "x", "shard(x, axis=1") + asParts(d, "w", "shard(w") + onEach(d, "p# = x# @ w#") +
              asParts(d, "r", "all_reduce(" + parts(d, "p", ", ")) + "output y = copy(tanh(r1), device=cpu)\n";
     }},
    {"two layers, columns then terms, as tensor parallel networks have them", kProduct + "input v: f32[7, 4]\n",
     "output y = relu(x @ w) @ v\n",
     [](size_t d) {
       return asParts(d, "x", "replicate(x") + asParts(d, "w", "shard(w, axis=1") + asParts(d, "v", "shard(v") +
              onEach(d, "p# = relu(x# @ w#) @ v#") + asParts(d, "r", "all_reduce(" + parts(d, "p", ", ")) +
              "output y = copy(r0, device=cpu)\n";
     }},
    {"parts permuted", kTwo, "output y = transpose(x) + transpose(z)\n",
     [](size_t d) {
       return asParts(d, "x", "shard(x") + asParts(d, "z", "shard(z") +
              onEach(d, "t# = transpose(x#) + transpose(z#)") + joined(d, "t", 1);
     }},
    {"parts reshaped and cut along the axis that stays whole", kTwo,
     "output y = reshape(x, shape=[n, 2, 3])[:, :, 1:3] * 2\n",
     [](size_t d) {
       return asParts(d, "x", "shard(x, axis=1") +
              asParts(d, "w", "replicate(unshard(" + parts(d, "x", ", ") + ", axis=1)") +
              onEach(d, "r# = reshape(w#, shape=[n, 2, 3])[:, :, 1:3]") + asParts(d, "s", "shard(r0, axis=2") +
              onEach(d, "u# = s# * 2") + joined(d, "u", 2);
     }},
    {"a softmax over the axis that is cut", "input x: f32[5, 7]\nvar n in [0, 9]\n", "output y = softmax(x, axis=1)\n",
     [](size_t d) {
       return asParts(d, "x", "shard(x, axis=1") + onEach(d, "m# = fold(x#, with=max, axes=[1], keepdims=true)") +
              asParts(d, "g", "all_reduce(" + parts(d, "m", ", ") + ", op=max") + onEach(d, "e# = exp(x# - g#)") +
              onEach(d, "s# = sum(e#, axes=[1], keepdims=true)") +
              asParts(d, "t", "all_reduce(" + parts(d, "s", ", ")) + onEach(d, "r# = e# / t#") + joined(d, "r", 1);
     }},
};

}  // namespace

TEST_CASE("sharded values, reduced and joined by the ops for them, equal one device") {
  for (const Sharded& row : kSharded) {
    INFO(row.name);
    checkAll(row.head, row.whole, row.parts);
  }
}

TEST_CASE("parts that do not fit the devices are errors") {
  const auto says = [](const std::string& line) {
    auto file = parseGraph("svod 1\ninput x: f32[4, 6]\ninput z: f32[4, 5]\n" + line, "test");
    REQUIRE(file);
    LoadOptions options;
    options.devices = {"a", "b"};
    Result<Model> model = buildModel(*file, options);
    REQUIRE(!model);
    return model.error()->message;
  };
  CHECK_THAT(says("p, q = shard(x, devices=\"a, mars\")\noutput y = p\n"), Catch::Contains("no device 'mars'"));
  CHECK_THAT(says("p, q = all_reduce(x, x, devices=\"a\")\noutput y = p\n"), Catch::Contains("2 parts for 1 devices"));
  CHECK_THAT(says("p, q = all_reduce(x, z, devices=\"a, b\")\noutput y = p\n"), Catch::Contains("must be equal"));
  CHECK_THAT(says("output y = unshard(x, z)\n"), Catch::Contains("all dims but axis 0 must be equal"));
}

TEST_CASE("all devices get the same bits of what is reduced") {
  Model model = modelOn("input x: f32[9, 5]\n" + asParts(3, "x", "shard(x") + onEach(3, "p# = sum(exp(x#), axes=[0])") +
                            asParts(3, "r", "all_reduce(" + parts(3, "p", ", ")) +
                            "output u = copy(r0, device=cpu)\noutput v = copy(r1, device=cpu)\n"
                            "output w = copy(r2, device=cpu)\n",
                        3);
  RunOptions options;
  options.execute.deviceSeed = 5;
  auto results = runPlan(model, bindingsOf(model, 0), options);
  if (!results) FAIL(toText(results.error()));
  const size_t last = results->size() - 1;
  CHECK((*results)[last].data == (*results)[last - 1].data);
  CHECK((*results)[last].data == (*results)[last - 2].data);
}

TEST_CASE("equal parts share one kernel, whatever device they are on") {
  const std::string text = lines(3, [](size_t i, auto&) {
    return "y" + std::to_string(i) + " = tanh(sum(" + shard("x", 0, "9", i, 3) + ", axes=[1]))";
  });
  Model model = modelOn("input x: f32[9, 5]\n" + text + "output y = concat(y0, y1, y2, axis=0)\n", 3);
  auto compiled = compile(model, compileOptions({}));
  REQUIRE(compiled);
  const Plan& plan = (*compiled)->plan;
  std::map<KernelId, std::set<DeviceId>> devicesOf;
  for (const Step& step : plan.steps)
    if (const auto* launch = std::get_if<Launch>(&step.action))
      devicesOf[launch->kernel].insert(deviceOf(plan, launch->buffers[0]).value_or(0));
  CHECK(std::ranges::any_of(devicesOf, [](const auto& entry) { return entry.second.size() == 3; }));
}

TEST_CASE(
    "a device that fails or is lost at any piece of a compiled plan is named with its step, and the next run works") {
  Model model = modelOn(
      "var n in [1, 9]\ninput x: f32[n, 10]\nw = cast(iota(size=10), dtype=f32)\nh = copy(x, device=a) * w\n"
      "s = copy(sum(exp(h), axes=[1]), device=b)\noutput y = copy(s * 2, device=a) + sum(h, axes=[1])\n",
      2);
  const ModelBindings bindings = bindingsOf(model, 5);
  auto expected = interpret(model, bindings);
  REQUIRE(expected);
  RunOptions options;
  options.execute.deviceSeed = 3;
  auto compiled = compile(model, compileOptions(options));
  REQUIRE(compiled);
  const PlanImage image = planImage(**compiled);
  for (size_t threads : {1u, 3u})
    for (bool isLost : {false, true}) {
      uint64_t pieces = 0;
      for (;; ++pieces) {
        ExecuteOptions execute = options.execute;
        execute.threads = threads, execute.failAfter = pieces, execute.isLost = isLost;
        auto actual = executePlan(image, model, bindings, execute);
        if (!actual && actual.error()->message == kNothingFailed) break;
        if (!actual) FAIL(toText(actual.error()));
        checkEqual(model, *expected, *actual);
      }
      CHECK(pieces >= 4);
    }
}
