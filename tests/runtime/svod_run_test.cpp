// The command line: files in, files out, messages and exit codes.
#include <sys/stat.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "data/atomic_write.h"
#include "data/npy.h"
#include "data/safetensors.h"
#include "runtime/harness.h"

using namespace svod;

namespace {

struct Result3 {
  int code = 0;
  std::string out, err;
};

/// y/1 = 2 * (x + w), for n up to 6, and the count output c = 3 as i32.
struct Fixture {
  TempFolder folder;
  std::string plan = folder / "p";

  Fixture() {
    PlanBuilder b;
    const Expr n = Expr::variable(b.variable("length", 1, 6));
    const BufferId x = b.input("x", 6, n), w = b.constant("w", {10, 20, 30, 40, 50, 60});
    const BufferId t = b.arena("t", 6), y = b.output("y/1", 6, n), s = b.state("count", 4),
                   c = b.output("c", 4, Expr(4));
    b.launch("k_add", {x, w, t}, {R, R, W}, {n});
    b.launch("k_double", {t, y}, {R, W}, {n});
    b.launch("k_add_value", {s}, {RW}, {Expr(4), Expr(1)});
    b.step(Copy{c, s, Expr(16)});
    b.write(plan);
    array("x.npy", {1, 2, 3});
  }
  void array(const std::string& name, std::vector<float> values) {
    const std::vector<uint64_t> shape = {values.size()};
    REQUIRE(writeNpy(folder / name, ElementType::F32, shape, std::as_bytes(std::span(values))));
  }
  std::vector<float> read(const std::string& name) {
    auto array = readNpy(folder / name);
    REQUIRE(array);
    const auto* values = reinterpret_cast<const float*>(array->data.data());
    return {values, values + array->data.size() / 4};
  }
  Result3 run(const std::string& arguments, const std::string& redirections = "") {
    const std::string command = "cd '" + folder.path() + "' && '" + std::filesystem::absolute(SVOD_BIN_DIR).string() +
                                "/svod-run' " + arguments + " >out.txt 2>err.txt </dev/null " + redirections;
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, readText(folder / "out.txt"), readText(folder / "err.txt")};
  }
  void refuses(const std::string& arguments, int code, const std::string& text) {
    const Result3 result = run(arguments);
    INFO(arguments << "\n" << result.err);
    CHECK(result.code == code);
    CHECK(result.err.rfind("error: ", 0) == 0);
    CHECK(result.err.find(text) != std::string::npos);
  }
};

}  // namespace

TEST_CASE("svod-run: outputs to a directory, to named files and to standard output") {
  Fixture f;
  Result3 result = f.run("p --input x=x.npy --output-dir out/deep");
  CHECK(result.code == 0);
  CHECK(result.out == "");
  CHECK(result.err == "");
  CHECK(f.read("out/deep/y_1.npy") == std::vector<float>{22, 44, 66});
  CHECK(f.read("out/deep/c.npy") == std::vector<float>{1, 1, 1, 1});
  CHECK(f.run("p --input x=x.npy --output y/1=o.npy --threads 1").code == 0);
  CHECK(f.read("o.npy") == std::vector<float>{22, 44, 66});
  result = f.run("p --input x=x.npy --output y/1=- --profile");
  CHECK(result.code == 0);
  CHECK(result.err.find("k_double") != std::string::npos);
  writeText(f.folder / "std.npy", result.out);
  CHECK(f.read("std.npy") == std::vector<float>{22, 44, 66});
  CHECK(f.run("p --repeat 3 -i x=- -o c=c.npy", "<x.npy").code == 0);
  CHECK(f.read("c.npy") == std::vector<float>{7, 7, 7, 7});
}

TEST_CASE("svod-run: an input is a part of a file") {
  Fixture f;
  const auto gives = [&](const std::string& input, const std::vector<float>& expected, const std::string& from = "") {
    const Result3 result = f.run("p -i 'x=" + input + "' -o y/1=o.npy", from);
    INFO(input << "\n" << result.err);
    CHECK(result.code == 0);
    CHECK(f.read("o.npy") == expected);
  };
  f.array("many.npy", {7, 8, 9, 1, 2, 3, 4, 5});
  gives("many.npy[3:6]", {22, 44, 66});
  gives("many.npy[:2]", {34, 56});
  gives("many.npy[5:]", {26, 48, 70});
  gives("x.npy[:]", {22, 44, 66});
  gives("-[3:4]", {22}, "<many.npy");
  f.refuses("p -i 'x=many.npy[3:9]'", 1, "the first axis has 8 entries");
  f.refuses("p -i 'x=many.npy[4:3]'", 1, "the first axis has 8 entries");
  f.refuses("p -i 'x=many.npy[9:]'", 1, "the first axis has 8 entries");
  f.refuses("p -i 'x=many.npy[:99999999999999999999]'", 74, "cannot open 'many.npy[:99999999999999999999]'");
  f.refuses("p -i 'x=many.npy[-2:]'", 74, "with whole numbers from 0 on");
  f.refuses("p -i 'x=-[0:2]' -i 'y=-[2:4]'", 2, "--input has - twice");
  f.refuses("p -i 'x=many.npy[:]'", 1, "must be from 1 to 6");
  const std::vector<float> held = {5, 6, 1, 2, 3, 8};
  const std::vector<std::byte> code(3, std::byte{1});
  const std::span<const std::byte> bytes = std::as_bytes(std::span(held));
  const NewSafetensors file = layOutSafetensors({{"a b", ElementType::F32, {6}, bytes},
                                                 {"odd", ElementType::U8, {3}, code},
                                                 {"none", ElementType::F32, {}, bytes.first(4)}});
  REQUIRE(writeChunksAtomic(f.folder / "w.safetensors", file.chunks(), Flush::Sometime));
  gives("w.safetensors:a b", {30, 52, 62, 84, 106, 136});
  gives("w.safetensors:a b[2:5]", {22, 44, 66});
  f.refuses("p -i x=w.safetensors", 1, "does not say which tensor");
  f.refuses("p -i x=w.safetensors:ab", 1, "'w.safetensors' has no tensor 'ab'");
  f.refuses("p -i x=w.safetensors:odd", 1, "has dtype u8, the plan wants f32");
  f.refuses("p -i 'x=w.safetensors:none[:]'", 1, "the array has no axis");
  f.refuses("p -i x=other.safetensors:a", 74, "other.safetensors");
  f.refuses("p -i x=x.npy.safetensors:a", 74, "x.npy.safetensors");
}

TEST_CASE("svod-run: states go to a file and come back, and a file of something else changes nothing") {
  Fixture f;
  const std::string run = "p -i x=x.npy -o c=c.npy";
  CHECK(f.run(run + " --save-state s.safetensors").code == 0);
  CHECK(f.read("c.npy") == std::vector<float>{1, 1, 1, 1});
  for (float next : {3.0F, 7.0F, 15.0F}) {
    CHECK(f.run(run + " --load-state s.safetensors --save-state s.safetensors").code == 0);
    CHECK(f.read("c.npy") == std::vector<float>(4, next));
  }
  const std::string saved = readText(f.folder / "s.safetensors");
  auto spoiled = [&](const std::string& from, const std::string& to) {
    std::string text = saved;
    REQUIRE(text.find(from) != std::string::npos);
    writeText(f.folder / "bad.safetensors", text.replace(text.find(from), from.size(), to));
  };
  const std::string load = "p -i x=x.npy --save-state s.safetensors --load-state ";
  f.refuses(load + "absent.safetensors", 74, "absent.safetensors");
  spoiled("\"count\"", "\"other\"");
  f.refuses(load + "bad.safetensors", 1, "the plan has no state 'other'");
  spoiled("\"F32\"", "\"I32\"");
  f.refuses(load + "bad.safetensors", 1, "the state 'count' is I32[4], the plan has f32[4]");
  spoiled("svod.plan", "svod.plam");
  f.refuses(load + "bad.safetensors", 1, "holds no states of a plan");
  CHECK(readText(f.folder / "s.safetensors") == saved);
}

TEST_CASE("svod-run: a readable summary, a profile, JSON and a trace") {
  Fixture f;
  Result3 result = f.run("p --input x=x.npy --profile --repeat 2");
  CHECK(result.code == 0);
  CHECK(result.out.find("y/1  f32 (3,)  min 22  max 66  mean 44\n  [22, 44, 66]\n") != std::string::npos);
  CHECK(result.out.find("2 runs: min") != std::string::npos);
  CHECK(result.out.find("GFLOP/s       best     median       mean\n") != std::string::npos);
  CHECK(f.run("p --input x=x.npy --profile").out.find("median") == std::string::npos);
  const auto repeated = nlohmann::json::parse(f.run("p --input x=x.npy --json --repeat 3").out);
  CHECK(repeated["profile"].size() == 4);
  for (const auto& row : repeated["profile"]) {
    CHECK(row["run"]["bestNs"] > 0);
    CHECK(row["run"]["bestNs"] <= row["run"]["medianNs"]);
    CHECK(row["run"]["meanNs"].get<double>() * 3 == Approx(row["busyNs"].get<double>()));
    CHECK(row["run"]["medianNs"].get<double>() + 2 * row["run"]["bestNs"].get<double>() <= row["busyNs"].get<double>());
  }
  CHECK(result.out.find("k_double") != std::string::npos);
  CHECK(result.out.find("GFLOP/s") != std::string::npos);
  result = f.run("p --input x=x.npy --json --trace t.json --output-dir o --threads 2");
  REQUIRE(result.code == 0);
  const auto json = nlohmann::json::parse(result.out);
  CHECK(json["variables"]["length"] == 3);
  CHECK(json["outputs"][0]["max"] == 66);
  CHECK(json["outputs"][0]["file"] == "o/y_1.npy");
  CHECK(json["profile"].size() == 4);
  CHECK(json["memory"]["arenaBytes"] == 64);
  const auto trace = nlohmann::json::parse(readText(f.folder / "t.json"));
  int events = 0;
  for (const auto& event : trace["traceEvents"]) events += event["ph"] == "X";
  CHECK(events == 4);
  CHECK(f.run("--help").code == 0);
  CHECK(f.run("--version").out.rfind("svod-run ", 0) == 0);
}

TEST_CASE("svod-run: --random runs a plan without files, with values that the seed alone decides") {
  Fixture f;
  Result3 result = f.run("p --random");
  CHECK(result.code == 0);
  CHECK(result.out.rfind("inputs drawn from seed 0, length=1\ny/1  f32 (1,)", 0) == 0);
  CHECK(f.run("p --random").out == result.out);
  CHECK(f.run("p --random --seed 1").out != result.out);
  CHECK(f.run("p --random --var length=5").out.find("y/1  f32 (5,)") != std::string::npos);
  CHECK(f.run("p --random --input x=x.npy").out.find("[22, 44, 66]") != std::string::npos);
  f.refuses("p --random --var length=7", 1, "outside its bounds 1 to 6");
  f.refuses("p", 1, "or --random to run with inputs that are drawn");
}

TEST_CASE("svod-run: --random draws finite elements of every type") {
  const std::vector<std::string> types = {"bool",       "i2",     "i4",         "i64",   "u4",     "u16",
                                          "f16",        "bf16",   "f32",        "f64",   "f4e2m1", "f8e4m3",
                                          "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0"};
  Fixture f;
  for (const std::string& name : types) {
    INFO(name);
    const ElementType type = *elementTypeFromName(name);
    PlanBuilder b;
    const BufferId x = b.input("x", 64, Expr(64), type), y = b.output("y", 64, Expr(64), type);
    b.step(Copy{y, x, Expr(static_cast<int64_t>(memoryBytes(type, 64)))});
    b.write(f.folder / name);
    const auto json = nlohmann::json::parse(f.run(name + " --random --json").out);
    const auto& output = json["outputs"][0];
    CHECK(output["nan"] == 0);
    CHECK(output["inf"] == 0);
    CHECK(output["max"] <= (isFloat(type) || info(type).bits < 4 ? 1 : 7));
    CHECK(output["max"] > 0);
    CHECK(output["min"] >= -1);
    CHECK((output["min"] < 0) == (isFloat(type) && name != "f8e8m0"));
  }
}

TEST_CASE("svod-run: the time between kernels is a row, and rows go by values and layers") {
  Fixture f;
  for (const char* threads : {"1", "2"}) {
    const auto json = nlohmann::json::parse(f.run("p --random --json --repeat 5 -t " + std::string(threads)).out);
    const auto& gap = json["betweenKernels"];
    CHECK(gap["calls"] == 5);
    CHECK(gap["busyNs"] > 0);
    CHECK(gap["busyNs"].get<double>() <= json["seconds"]["max"].get<double>() * 5e9);
  }
  Result3 result = f.run("p --random --profile");
  CHECK(result.out.find("\n(between kernels)          1 ") != std::string::npos);
  CHECK(result.out.find("\ntotal                      4 ") != std::string::npos);
  PlanBuilder b;
  const BufferId x = b.input("x", 3, Expr(3)), h = b.arena("/block.0/h/Relu_output_0", 3), g = b.arena("/block.0/g", 3),
                 y = b.output("y", 3, Expr(3));
  b.launch("k_double", {x, h}, {R, W}, {Expr(3)});
  b.launch("k_double", {h, g}, {R, W}, {Expr(3)});
  b.launch("k_double", {g, y}, {R, W}, {Expr(3)});
  b.write(f.folder / "named");
  const auto names = [&](const std::string& by) {
    const Result3 shown = f.run("named --random --json --profile-by " + by);
    INFO(shown.err);
    std::set<std::string> found;
    const auto json = nlohmann::json::parse(shown.out);
    for (const auto& row : json["profile"]) found.insert(row["name"]);
    return found;
  };
  CHECK(names("kernel").size() == 1);
  CHECK(names("value") == std::set<std::string>{"/block.0/h/Relu_output_0", "/block.0/g", "y"});
  CHECK(names("layer") == std::set<std::string>{"/block.0/h", "/block.0", "y"});
  CHECK(f.run("named --random --profile-by layer").out.find("\nlayer  ") != std::string::npos);
  f.refuses("named --random --profile-by node", 2, "a profile has no rows by 'node'");
}

TEST_CASE("svod-run: intermediates are shown or written, and unknown ones are an error with near names") {
  Fixture f;
  Result3 result = f.run("p --input x=x.npy --output-dir o --dump t");
  CHECK(result.code == 0);
  CHECK(result.out.find("intermediate t  f32 (6,)") != std::string::npos);
  CHECK(result.out.find("[11, 22, 33, ") != std::string::npos);
  CHECK(f.run("p --input x=x.npy --output-dir o --dump t=t.npy").out.empty());
  const std::vector<float> t = f.read("t.npy");
  REQUIRE(t.size() == 6);
  CHECK(std::vector<float>(t.begin(), t.begin() + 3) == std::vector<float>{11, 22, 33});
  const auto json = nlohmann::json::parse(f.run("p --input x=x.npy --json --dump t=t.npy").out);
  CHECK(json["intermediates"][0]["name"] == "t");
  CHECK(json["intermediates"][0]["file"] == "t.npy");
  f.refuses("p --input x=x.npy --dump tt", 1, "the plan has no intermediate 'tt'");
  f.refuses("p --input x=x.npy --dump tt", 1, "did you mean 't'?");
  PlanBuilder b;
  const BufferId x = b.input("x", 3, Expr(3)), y = b.output("y", 3, Expr(3)), s = b.arena("y", 3), t2 = b.arena("y", 3);
  b.launch("k_double", {x, s}, {R, W}, {Expr(3)});
  b.launch("k_double", {s, t2}, {R, W}, {Expr(3)});
  b.launch("k_double", {t2, y}, {R, W}, {Expr(3)});
  b.write(f.folder / "shared");
  f.refuses("shared --input x=x.npy --dump y", 1, "2 share the name: y#2, y#3");
  CHECK(f.run("shared --input x=x.npy --output-dir o --dump y#3=t.npy").code == 0);
  CHECK(f.read("t.npy") == std::vector<float>{4, 8, 12});
  f.refuses("p --input x=x.npy --dump weights", 1, "svodc inspect PLAN --memory lists them");
  f.refuses("p --input x=x.npy --dump t --dump t=a.npy", 2, "names 't' twice");
  f.refuses("p --input x=x.npy --dump t=-", 2, "names no file");
  f.refuses("p --input x=x.npy --dump t=o.npy --output c=o.npy", 2, "o.npy");
}

TEST_CASE("svod-run: comparison with reference arrays") {
  Fixture f;
  REQUIRE(f.run("p --input x=x.npy --output-dir ref").code == 0);
  CHECK(f.run("p --input x=x.npy --output-dir o --reference ref").out ==
        "output   elements  abs error  rel error\n"
        "y/1             3          0          0\n"
        "c               4          0          0\n");
  f.array("ref/y_1.npy", {22, 44.001F, 60});
  f.refuses("p --input x=x.npy --reference ref", 4, "at [2]: got 66, reference 60; 1 of 3 elements differ");
  CHECK(f.run("p --input x=x.npy --output-dir o --reference ref").out ==
        "output   elements  abs error  rel error     differ\n"
        "y/1             3          6        0.1          1\n"
        "c               4          0          0          0\n");
  f.refuses("p --input x=x.npy --reference ref --rtol 0 --atol 0", 4, "at [1]: got 44, reference 44.001");
  Result3 result = f.run("p --input x=x.npy --output-dir o --reference ref --atol 7");
  CHECK(result.code == 0);
  CHECK(result.out.find("y/1             3          6        0.1\n") != std::string::npos);
  result = f.run("p --input x=x.npy --json --reference ref --atol 7");
  CHECK(nlohmann::json::parse(result.out)["outputs"][0]["reference"]["absoluteError"] == 6);
  result = f.run("p --input x=x.npy --json --reference ref");
  CHECK(result.code == 4);
  CHECK(nlohmann::json::parse(result.out)["outputs"][0]["reference"]["differing"] == 1);
  CHECK(nlohmann::json::parse(result.out)["outputs"][0]["reference"]["agrees"] == false);
  CHECK(nlohmann::json::parse(result.out)["outputs"][1]["reference"]["agrees"] == true);
  f.array("ref/y_1.npy", {22, 44});
  f.refuses("p --input x=x.npy --reference ref", 4, "f32 (3), the reference 'ref/y_1.npy' is f32 (2)");
  CHECK(f.run("p --input x=x.npy --output-dir o --reference ref").out ==
        "output   elements  abs error  rel error\n"
        "y/1             -          -          -\n"
        "c               4          0          0\n");
  f.refuses("p --input x=x.npy --reference nowhere", 74, "nowhere/y_1.npy");
}

TEST_CASE("svod-run: wrong use is exit 2, wrong input exit 1, with a suggestion") {
  Fixture f;
  f.refuses("", 2, "needs PLAN");
  f.refuses("p --inputs x=x.npy", 2, "--inputs");
  f.refuses("p --input x.npy", 2, "not NAME=FILE");
  f.refuses("p --input x=x.npy --input x=x.npy", 2, "names 'x' twice");
  f.refuses("p --var length=three", 2, "not a whole number");
  f.refuses("p --repeat 0 --input x=x.npy", 2, "--repeat");
  f.refuses("p --output-dir a --output c=b", 2, "cannot be used together");
  f.refuses("p --input x=x.npy --output y/2=o.npy", 1, "did you mean 'y/1'?");
  f.refuses("p --input input=x.npy", 1, "the inputs are x");
  f.refuses("p --input x=x.npy --var lenght=3", 1, "did you mean 'length'?");
  f.refuses("p --input x=x.npy --var length=4", 1, "has two values: it is set to 4, axis 0 of input 'x' makes it 3");
  f.refuses("p", 1, "there is no file for input 'x', f32[length]");
  f.refuses("p --var length=3", 1, "add --input x=FILE.npy");
  f.array("long.npy", {1, 2, 3, 4, 5, 6, 7});
  f.refuses("p --input x=long.npy", 1, "must be from 1 to 6");
  REQUIRE(writeNpy(f.folder / "i.npy", ElementType::I32, std::vector<uint64_t>{1}, std::as_bytes(std::span("abc"))));
  f.refuses("p --input x=i.npy", 1, "has dtype i32, the plan wants f32");
  CHECK(f.run("p --input x=i.npy").err.find("note: it was read from 'i.npy'") != std::string::npos);
  writeText(f.folder / "cut.npy", readText(f.folder / "x.npy").substr(0, 130));
  f.refuses("p --input x=cut.npy", 1, "the file has 2");
}

TEST_CASE("svod-run: files that cannot be read or written are exit 74 and leave nothing") {
  Fixture f;
  f.refuses("p --input x=none.npy", 74, "cannot open 'none.npy'");
  f.refuses("nowhere --input x=x.npy", 74, "nowhere/plan.json");
  f.refuses("p --input x=x.npy --output c=/dev/full", 74, "No space left");
  f.refuses("p --input x=x.npy --output c=none/c.npy", 74, "none/c.npy");
  f.refuses("p --input x=x.npy --output-dir x.npy", 74, "x.npy");
  CHECK(f.run("p --input x=x.npy --output c=-", ">/dev/full").code == 74);
  CHECK(entriesIn(f.folder.path()) == 4);  // the plan, x.npy and what the shell wrote
}

TEST_CASE("svod-run: damaged plans are exit 5") {
  Fixture f;
  std::string json = readText(f.plan + "/plan.json");
  writeText(f.plan + "/plan.json", json + " ");
  f.refuses("p --input x=x.npy", 5, "was changed after it was written");
  writeText(f.plan + "/plan.json", json);
  std::string weights = readText(f.plan + "/weights.bin");
  weights[3] ^= 1;
  writeText(f.plan + "/weights.bin", weights);
  f.refuses("p --input x=x.npy", 5, "weights.bin");
  f.refuses("p --input x=x.npy --verify-weights", 5, "weights.bin");
  CHECK(f.run("p --input x=x.npy --no-verify-weights").code == 0);
}
