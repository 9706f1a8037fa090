#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ir/graph.h"
#include "plan/sample.h"
#include "report/loops.h"
#include "report/render.h"
#include "report/report.h"

using namespace svod;
using nlohmann::json;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// y[i] = x[i] * 2 over a vector loop in a threaded loop.
LinearKernel sampleKernel(Graph& g) {
  UOp x = g.make(Op::Param, DType::F32, {g.index(64)}, SlotArg{0}),
      y = g.make(Op::Param, DType::F32, {g.index(64)}, SlotArg{1});
  UOp r = g.range(g.index(8), 0, AxisType::Thread);
  UOp at = g.make(Op::Ramp, DType::Index, {g.alu(Op::Mul, {r, g.index(8)})}, SlotArg{8});
  UOp value = g.alu(Op::Mul, {g.load(g.indexInto(x, std::vector{at})), g.constant(Scalar::ofFloat(DType::F32, 2))});
  UOp store = g.make(Op::Store, DType::Void, {g.indexInto(y, std::vector{at}), value});
  UOp end = g.make(Op::End, DType::Void, {store, r});
  LinearKernel kernel;
  kernel.name = "k_add";
  kernel.ops = {x, y, r, at, value, store, end};
  return kernel;
}

}  // namespace

TEST_CASE("cells show units to people and numbers to machines") {
  CHECK(bytesCell(0).text() == "0 B");
  CHECK(bytesCell(1023).text() == "1023 B");
  CHECK(bytesCell(1536).text() == "1.50 KiB");
  CHECK(countCell(2'500'000).text() == "2.50 M");
  CHECK(Cell(Cell::Numbers{1, 2}).text() == "1 2");
  CHECK(Cell(true).text() == "yes");
}

TEST_CASE("tables align numbers to the right and cut only the last column") {
  Table table{"t", {{"n", "number", true}, {"w", "word"}}, {{7, "alpha beta gamma delta"}, {12345678, "b"}}};
  CHECK(toText(table, {false, 24}) == "  number  word\n       7  alpha beta ...\n12345678  b\n");
  CHECK(json::parse(toJson(table)) == json::parse(R"([{"n":7,"w":"alpha beta gamma delta"},{"n":12345678,"w":"b"}])"));
}

TEST_CASE("a plan in short names its ports, kernels and memory") {
  const Plan plan = samplePlan();
  const std::string text = toText(describe({&plan, nullptr, {}, {}}, {}));
  for (const char* part : {"input   x", "f32[n]", "upcast(0,4)", "lower bound", "longest chain", "batch size"})
    CHECK(contains(text, part));
  CHECK(!contains(text, "after steps"));
}

TEST_CASE("a plan in full lists buffers and steps with their edges") {
  const Plan plan = samplePlan();
  const json all = json::parse(toJson(describe({&plan, nullptr, {}, {}}, ReportOptions::all())));
  CHECK(all["name"] == "sample \"quoted\"");
  CHECK(all["memory"]["peakBytes"] == 512);
  CHECK(all["memory"]["buffers"].size() == plan.buffers.size());
  CHECK(all["memory"]["buffers"][2]["first"] == 0);
  CHECK(all["memory"]["buffers"][5]["place"] == "view of b2");
  CHECK(all["memory"]["inPlace"] == 1);
  CHECK(all["memory"]["buffers"][6]["over"] == 2);
  std::string kinds;
  for (const json& step : all["steps"]["steps"]) kinds += step["kind"].get<std::string>() + " ";
  CHECK(kinds == "launch copy host loop launch launch copy ");
  CHECK(all["steps"]["steps"][5]["deps"] == json::array({4}));
  CHECK(all["steps"]["longestChain"] == 2);
  CHECK(all["kernels"]["details"][0]["args"][1]["mode"] == "write");
  CHECK(all["equalSizes"] == json::parse(R"([{"text":"rows of \"x\"","a":"n","b":"`batch size`*2"}])"));
  CHECK(all["expectations"] == json::parse(R"([{"text":"what is \"given\"","values":2,"buffer":7}])"));
  CHECK(contains(toText(describe({&plan, nullptr, {}, {}}, {})), "what is \"given\""));
}

TEST_CASE("a plan with a grid shows its images, its arenas, and how its kernels are launched") {
  const Plan plan = sampleGridPlan();
  const json all = json::parse(toJson(describe({&plan, nullptr, {}, {}}, ReportOptions::all())));
  CHECK(all["files"][2]["kind"] == "image for gpu arch_9, driver 12");
  CHECK(all["files"][3]["kind"] == "image for gpu arch_8");
  CHECK(all["devices"][2] == json::parse(R"({"name":"far","kind":"gpu","arenaBytes":192,"sharedBytes":64})"));
  CHECK(all["memory"]["buffers"][9]["place"] == "arena of far, shared with host");
  CHECK(all["memory"]["buffers"][10]["place"] == "arena of far");
  const json& kernel = all["kernels"]["details"][1];
  CHECK(kernel["groups"] == "ceildiv(n,4) x 2 x 1");
  CHECK(kernel["threads"] == "4 x 2 x 1");
  CHECK(kernel["sharedBytes"] == 256);
  CHECK(kernel["cluster.x"] == 2);
  CHECK(!kernel.contains("tiles"));
  CHECK(kernel["images"][0] ==
        json::parse(R"({"path":"kernels.bin","arch":"arch_9","registers":40,"sharedBytes":128})"));
  CHECK(kernel["tensorMaps"][0] == json::parse(R"({"arg":0,"offset":0,"dtype":"f32","dims":"4 x n","strides":"16",)"
                                               R"("box":"4 x 2","step":"1 x 1","swizzleBytes":32})"));
  CHECK(all["kernels"]["kernels"][1]["tiles"] == 8);
}

TEST_CASE("kernels show their class, the reasons for their opts, and times") {
  const Plan plan = samplePlan();
  KernelInsight insight{"gemm",        "rows times columns",    "loop-nests", {{"upcast(0,4)", "because of registers"}},
                        "0 n0 loop 8", "0 n0 loop 2, upcast 4", 2000,         "compute",
                        1000};
  ReportOptions options;
  options.kernels = true;
  auto described = [&] {
    return describe({&plan, nullptr, {{plan.kernels[0].name, nullptr, {}, insight}}, {}}, options);
  };
  const json predicted = json::parse(toJson(described()));
  const json& details = predicted["kernels"]["details"][0];
  CHECK(details["class"] == "gemm");
  CHECK(details["strategy"] == "loop-nests");
  CHECK(details["scheduled"] == "0 n0 loop 8");
  CHECK(details["optimized"] == "0 n0 loop 2, upcast 4");
  CHECK(details["predictedNs"] == 2000);
  CHECK(details["limit"] == "compute");
  CHECK(details["rooflineShare"] == 0.5);
  CHECK(details["choices"][0]["opt"] == "upcast(0,4)");
  CHECK(details["choices"][0]["why"] == "because of registers");
  CHECK(!details.contains("measuredNs"));
  CHECK(predicted["kernels"]["kernels"][0]["class"] == "gemm");
  for (const char* part : {"gemm: rows times columns", "2.00 us", "50 %", "because of registers"})
    CHECK(contains(toText(described()), part));

  insight.measuredNs = 4000, insight.measuredRooflineNs = 600;
  const json measured = json::parse(toJson(described()));
  CHECK(measured["kernels"]["details"][0]["measuredNs"] == 4000);
  CHECK(measured["kernels"]["details"][0]["rooflineShare"] == 0.15);

  insight = {};
  insight.measuredNs = 4000;  // a plan of which nothing else is known
  CHECK(contains(toText(described()), "4.00 us"));
  CHECK(!contains(toText(described()), "roofline"));
}

TEST_CASE("the page draws kernels beneath the roofline") {
  const Plan plan = samplePlan();
  KernelInsight insight;
  insight.predictedNs = 1250, insight.rooflineNs = 1000;
  const std::string roof = "<line class=\"most\"", gap = "<line class=\"lack\"";
  auto page = [&] {
    const Subject subject{&plan, nullptr, {{plan.kernels[0].name, nullptr, {}, insight}}, {}};
    return toHtml(describe(subject, ReportOptions::all()));
  };
  auto drop = [&] {  // from the roof down to the point, in pixels
    const std::string text = page();
    auto number = [&](const char* name) { return std::stod(text.substr(text.find(name, text.find(gap)) + 4)); };
    return number("y2=\"") - number("y1=\"");
  };
  CHECK(contains(page(), plan.kernels[0].name + ": 80 % of the roofline, predicted 1.25 us"));
  CHECK(contains(page(), roof));
  const double predicted = drop();
  CHECK(predicted > 0);
  insight.measuredNs = 2500, insight.measuredRooflineNs = 1000;
  CHECK(contains(page(), "40 % of the roofline, measured 2.50 us"));
  CHECK(drop() == Approx(predicted * std::log(0.4) / std::log(0.8)).epsilon(0.01));
  insight = {};
  CHECK(!contains(page(), roof));
}

TEST_CASE("loops of a kernel as text") {
  Graph g;
  const LinearKernel kernel = sampleKernel(g);
  CHECK(loopsText(kernel) == "for r0 in 0..8 thread\n  param1[r0*8 .. +8] = mul(param0[r0*8 .. +8], 2.0)\n");
}

TEST_CASE("the page is one file and escapes names") {
  Plan plan = samplePlan();
  plan.name = "<script>";
  Graph g;
  const LinearKernel kernel = sampleKernel(g);
  const std::string page = toHtml(describe({&plan, nullptr, {{"k_add", &kernel, "a < b"}}, {}}, ReportOptions::all()));
  CHECK(contains(page, "&lt;script&gt;"));
  CHECK(!contains(page, "<script>"));
  CHECK(contains(page, "a &lt; b"));
  CHECK(contains(page, "<rect"));
  CHECK(!contains(page, "http"));
}

TEST_CASE("a plan of machine code says where its source can be seen") {
  const Plan plan = samplePlan();
  ReportOptions options;
  options.source = true;
  CHECK(contains(toText(describe({&plan, nullptr, {}, {}}, options)), "svodc inspect GRAPH --source"));
  CHECK(!contains(toText(describe({&plan, nullptr, {}, "void k_add() {\n}\n"}, options)), "svodc inspect GRAPH"));
}

TEST_CASE("source of a kernel is found in the plan's C file") {
  const Plan plan = samplePlan();
  const std::string source = "void k_add(int);\nvoid other(int) {\n}\nvoid k_add(int a) {\n  if (a) {\n  }\n}\n";
  ReportOptions options;
  options.source = true;
  const json all = json::parse(toJson(describe({&plan, nullptr, {}, source}, options)));
  CHECK(all["kernels"]["details"][0]["source"] == "void k_add(int a) {\n  if (a) {\n  }\n}\n");
}
