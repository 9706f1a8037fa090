#include <algorithm>
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

TEST_CASE("tables align numbers to the right, and their last column goes on in further lines") {
  Table table{"t", {{"n", "number", true}, {"w", "word"}}, {{7, "alpha beta gamma delta"}, {12345678, "b"}}};
  CHECK(toText(table, {false, 30}) ==
        "  number\n      word\n       7\n      alpha beta gamma delta\n12345678\n      b\n");
  CHECK(json::parse(toJson(table)) == json::parse(R"([{"n":7,"w":"alpha beta gamma delta"},{"n":12345678,"w":"b"}])"));
}

TEST_CASE("rows of tables fit into a line: texts go beneath, and names lose their middle") {
  const Table table{"t",
                    {{"name", "name"}, {"count", "count", true}, {"why", "why"}},
                    {{"a_kernel_with_a_long_name_1f3c9a2b", 7, "a reason of several words, which needs two lines"}}};
  CHECK(toText(table, {false, 90}) ==
        "name                                count  why\n"
        "a_kernel_with_a_long_name_1f3c9a2b      7  a reason of several words, which needs two\n"
        "                                           lines\n");
  CHECK(toText(table, {false, 50}) ==
        "name                                count\n"
        "      why\n"
        "a_kernel_with_a_long_name_1f3c9a2b      7\n"
        "      a reason of several words, which needs two\n"
        "      lines\n");
  for (size_t width : {40, 50, 60, 80, 100}) {
    const std::string text = toText(table, {false, static_cast<int>(width)});
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      CHECK(std::ranges::count_if(line, [](unsigned char c) { return (c & 0xC0) != 0x80; }) <=
            static_cast<std::ptrdiff_t>(std::max<size_t>(width, 46)));
      at = end + 1;
    }
  }
}

TEST_CASE("a plan in short names its ports, kernels and memory") {
  const Plan plan = samplePlan();
  const std::string text = toText(describe({&plan, nullptr, {}, {}}, {}));
  for (const char* part : {"input   x", "f32[n]", "upcast(0,4)", "lower bound", "longest chain", "batch size"})
    CHECK(contains(text, part));
  CHECK(!contains(text, "after steps"));
}

TEST_CASE("decisions with a choice come first, and a line that is none is shown as it is") {
  Plan plan = samplePlan();
  plan.decisions = {"no decision", "layout:w=rows | rows 5 | it has one", "keep:a.add=keep | keep 2, fuse 9 | cheaper"};
  const std::string text = toText(Document{"plan", {decisionsOf(plan)}});
  INFO(text);
  CHECK(text.find("keep:a.add") < text.find("layout:w"));
  CHECK(text.find("layout:w") < text.find("no decision"));
  CHECK(contains(text, "no decision"));
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
  CHECK(all["expectations"] ==
        json::parse(R"([{"text":"what is \"given\"","kind":"supported","values":2,"buffer":7}])"));
  CHECK(contains(toText(describe({&plan, nullptr, {}, {}}, {})), "what is \"given\""));
}

TEST_CASE("a plan with a grid shows its images, its arenas, and how its kernels are launched") {
  const Plan plan = sampleGridPlan(), other = sampleArchPlan();
  const json all = json::parse(toJson(describe({&plan, nullptr, {}, {}}, ReportOptions::all())));
  CHECK(all["files"].size() == 2);
  CHECK(all["architectures"][0] ==
        json::parse(R"({"arch":"gpu:arch_9","runsOn":"-","images":1,"bytes":300,"driver":12,)"
                    R"("launches":0})"));
  const json several = json::parse(toJson(describe({&other, nullptr, {}, {}}, ReportOptions::all())));
  CHECK(several["architectures"][1]["launches"] == 1);
  CHECK(several["processors"].size() == 2);
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
  CHECK(all["kernels"]["kernels"][1]["tiles"] == 2);  // at the least n, as the plan names no likely one
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
    return toHtml(pageOf(subject));
  };
  auto drop = [&] {  // from the roof down to the point, in pixels
    const std::string text = page();
    auto number = [&](const char* name) { return std::stod(text.substr(text.find(name, text.find(gap)) + 4)); };
    return number("y2=\"") - number("y1=\"");
  };
  CHECK(contains(page(), plan.kernels[0].name + ": 80 % of the roofline, predicted 1.25 us"));
  CHECK(contains(page(), roof));
  // The axis ends a little beyond the roof and the point.
  auto expected = [](double share) { return 420 * -std::log10(share) / (-std::log10(share) + 0.24); };
  CHECK(drop() == Approx(expected(0.8)).epsilon(0.01));
  insight.measuredNs = 2500, insight.measuredRooflineNs = 1000;
  CHECK(contains(page(), "40 % of the roofline, measured 2.50 us"));
  CHECK(drop() == Approx(expected(0.4)).epsilon(0.01));
  insight = {};
  CHECK(!contains(page(), roof));
}

namespace {

/// Of `name`, in the first flow of a page.
const Flow& flowIn(const Section& section) { return std::get<Flow>(section.blocks.at(0)); }

std::string textOf(const Flow& flow) {
  auto place = [&](int group) {
    std::string text;
    for (int g = group; g >= 0; g = flow.groups[static_cast<size_t>(g)].parent)
      text = flow.groups[static_cast<size_t>(g)].name + "/" + text;
    return text;
  };
  std::string text;
  for (const Flow::Node& n : flow.nodes) text += place(n.group) + n.name + "\n";
  for (const Flow::Edge& e : flow.edges) text += std::to_string(e.from) + ">" + std::to_string(e.to) + " ";
  return text;
}

/// Steps that each copy one buffer into the next, named so, from an input on.
Plan chainOf(const std::vector<std::string>& names) {
  Plan plan;
  for (size_t i = 0; i < names.size(); ++i) {
    BufferDesc buffer;
    buffer.name = names[i], buffer.shape = {4}, buffer.bytes = 16, buffer.offset = 64 * i;
    buffer.place = i == 0 ? Place::Input : Place::Arena;
    plan.buffers.push_back(buffer);
    if (i > 0) plan.steps.push_back({{}, Copy{static_cast<BufferId>(i), static_cast<BufferId>(i - 1), 16}});
  }
  plan.inputs = {{names[0], 0, {4}}};
  return plan;
}

}  // namespace

TEST_CASE("the data flow is grouped by the layers that names tell of") {
  const Plan plan = chainOf({"x", "net.0.a.conv", "net.0.b", "net/1/conv", "net/1/conv", "head..out."});
  const std::string text = textOf(flowIn(flowOf({&plan, nullptr, {}, {}})));
  CHECK(text ==
        "x\nnet/0/a.conv\nnet/0/b\nnet/1/conv\nnet/1/conv\nhead.out\n"
        "0>1 1>2 2>3 3>4 4>5 ");
}

TEST_CASE("a group of very many is cut by their order, and what is open at first stays little") {
  std::vector<std::string> names = {"x"};
  for (int i = 1; i < 3000; ++i) names.push_back(i % 2 == 0 ? "v" + std::to_string(i) : "net." + std::to_string(i));
  const Plan plan = chainOf(names);
  const Section section = flowOf({&plan, nullptr, {}, {}});
  const Flow& flow = flowIn(section);
  std::vector<size_t> children(flow.groups.size() + 1);
  size_t seen = 0;
  auto isSeen = [&](int group) {
    for (; group >= 0; group = flow.groups[static_cast<size_t>(group)].parent)
      if (!flow.groups[static_cast<size_t>(group)].isOpen) return false;
    return true;
  };
  for (const Flow::Node& n : flow.nodes) ++children[static_cast<size_t>(n.group + 1)], seen += isSeen(n.group);
  for (const Flow::Group& g : flow.groups) ++children[static_cast<size_t>(g.parent + 1)], seen += isSeen(g.parent);
  CHECK(*std::ranges::max_element(children) <= 45);
  CHECK(seen <= 75);
}

TEST_CASE("a data flow has ports, the parts of a value, and what a loop hands to its next iteration") {
  const Plan plan = samplePlan();
  const Section section = flowOf({&plan, nullptr, {}, {}});
  const Flow& flow = flowIn(section);
  size_t inputs = 0, loops = 0, outputs = 0;
  for (const Flow::Node& n : flow.nodes)
    inputs += n.kind == Flow::Kind::Input, loops += n.kind == Flow::Kind::Loop, outputs += n.kind == Flow::Kind::Output;
  CHECK(inputs == plan.inputs.size());
  CHECK(outputs == plan.outputs.size());
  CHECK(loops == 1);
  for (const Flow::Edge& e : flow.edges) CHECK((e.from < flow.nodes.size() && e.to < flow.nodes.size()));
}

TEST_CASE("kernels have totals of a run, in which loops repeat them") {
  const Plan plan = samplePlan();
  ReportOptions options;
  options.kernels = true;
  const json all = json::parse(toJson(describe({&plan, nullptr, {}, {}}, options)));
  int64_t launches = 0, flops = 0;
  for (const json& k : all["kernels"]["kernels"]) {
    launches += k["launches"].get<int64_t>();
    flops += k["launches"].get<int64_t>() * k["flops"].get<int64_t>();
  }
  CHECK(all["kernels"]["kernelsTotals"]["launches"] == launches);
  CHECK(all["kernels"]["kernelsTotals"]["flops"] == flops);
}

TEST_CASE("a time line shows one step after the other, or what was traced") {
  const Plan plan = samplePlan();
  Subject subject{&plan, nullptr, {}, {}};
  CHECK(timeLineOf(subject).blocks.empty());
  KernelInsight insight;
  insight.predictedNs = 500;
  subject.kernels = {{plan.kernels[0].name, nullptr, {}, insight}};
  const Section predicted = timeLineOf(subject);
  const Chart& chart = std::get<Chart>(predicted.blocks.at(0));
  CHECK(!chart.boxes.empty());
  for (size_t i = 1; i < chart.boxes.size(); ++i) CHECK(chart.boxes[i].x0 >= chart.boxes[i - 1].x1);
  subject.events = {{0, 0, 0, 10}, {0, 0, 10, 20}, {0, 1, 0, 15}, {1, 0, 30, 40}};
  const Section traced = timeLineOf(subject);
  const Chart& threads = std::get<Chart>(traced.blocks.at(0));
  CHECK(threads.rows.size() == 2);
  CHECK(threads.boxes.size() == 3);
  CHECK(threads.width == 40);
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
  plan.buffers[2].name = "</script>";
  plan.inputs[0].name = "\"><!-- \u2028 &";
  const std::string page = toHtml(pageOf({&plan, nullptr, {{"k_add", &kernel, "a < b"}}, {}}));
  CHECK(contains(page, "&lt;script&gt;"));
  CHECK(page.find("<script>") == page.rfind("<script>"));  // the page's own
  CHECK(page.find("</script>", page.find("</script>") + 1) == page.rfind("</script>"));
  CHECK(contains(page, R"(&quot;&gt;&lt;!-- )"));
  CHECK(contains(page, R"("name":"\")"
                       "\\u003e\\u003c!--"));
  CHECK(contains(page, "a &lt; b"));
  CHECK(contains(page, "<rect"));
  CHECK(!contains(page, "http:"));
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
