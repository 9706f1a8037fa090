// Ops of ONNX models that are functions of the application: imported, compiled, called through svod/runtime.h.
#include <catch2/catch.hpp>

#include "e2e/graph_text.h"
#include "e2e/harness.h"
#include "onnx/onnx_maker.h"

using namespace svod;

namespace {

constexpr int kFloat = 1, kInt64 = 7;

/// x[n, 4] -> acme:Mix(x, table) with attributes -> Relu -> y.
OnnxMaker mixed() {
  OnnxMaker m;
  auto& domain = *m.model.add_opset_import();
  domain.set_domain("acme");
  domain.set_version(3);
  m.input("x", {"n", "4"}, kFloat).floats("table", {2}, {0.5f, -2.f});
  proto::NodeProto& node = m.node("Mix", {"x", "table"}, {"mixed", "counts"});
  node.set_domain("acme");
  addAttribute(node, "weight", 2.5f);
  addAttribute(node, "axes", std::vector<int64_t>{1, 0, 3});
  addAttribute(node, "mode", std::string("up"));
  m.node("Relu", {"mixed"}, {"y"});
  m.output("y", kFloat);
  return m;
}

void declare(OnnxMaker& m, const std::string& name, int type, const std::vector<std::string>& dims) {
  auto& tensor = *m.model.mutable_graph()->add_value_info();
  tensor.set_name(name);
  tensor.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  for (const std::string& d : dims) {
    auto& dim = *tensor.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
    if (d.find_first_not_of("0123456789") == d.npos)
      dim.set_dim_value(std::stoll(d));
    else
      dim.set_dim_param(d);
  }
}

LoadOptions requested(std::optional<DType> dtype = {}) {
  LoadOptions options;
  options.hostOps.push_back({"acme", "Mix", dtype});
  return options;
}

/// x * table[0] + weight + the sum of axes + the letters of mode, which says that all operands come, in order.
Result<HostTensor> mix(std::span<const HostTensor> in, DType dtype, std::span<const int64_t> dims) {
  if (in.size() != 5) return fail(Diag::Unsupported, std::to_string(in.size()) + " operands");
  const HostTensor &x = in[0], &table = in[1], &axes = in[2], &mode = in[3], &weight = in[4];
  double more = weight.at(0).asFloat();
  for (int64_t i = 0; i < axes.numel(); ++i) more += static_cast<double>(axes.at(i).asInt());
  for (int64_t i = 0; i < mode.numel(); ++i) more -= static_cast<double>(mode.at(i).asInt()) / 64;
  HostTensor out = HostTensor::zeros(dtype, {dims.begin(), dims.end()});
  for (int64_t i = 0; i < out.numel(); ++i)
    out.set(i, Scalar::of(dtype, x.at(i % x.numel()).asFloat() * table.at(0).asFloat() + more));
  return out;
}

Result<HostTensor> count(std::span<const HostTensor> in, DType dtype, std::span<const int64_t> dims) {
  HostTensor out = HostTensor::zeros(dtype, {dims.begin(), dims.end()});
  for (int64_t i = 0; i < out.numel(); ++i) out.set(i, Scalar::ofInt(dtype, in[0].numel() + i));
  return out;
}

// The input and the outputs, in order.
std::vector<HostTensor> checked(OnnxImport import, int64_t n) {
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  ModelBindings bindings = bindingsOf(*import.model, n);
  bindings.functions["acme:Mix"] = mix;
  bindings.functions["acme:Mix:1"] = count;
  auto expected = interpret(*import.model, bindings);
  if (!expected) FAIL(toText(expected.error()));
  for (const char* target : testTargets()) {
    RunOptions options;
    options.target = target;
    auto actual = runPlan(*import.model, bindings, options);
    if (!actual) FAIL(toText(actual.error()));
    checkEqual(*import.model, *expected, *actual);
  }
  std::vector<HostTensor> shown;
  for (size_t i = 0; i < import.model->ports.size(); ++i) {
    const PortKind kind = import.model->ports[i].kind;
    if (kind == PortKind::Input) shown.push_back(bindings.ports[i]);
    if (kind == PortKind::Output) shown.push_back((*expected)[i]);
  }
  return shown;
}

std::string errorOf(const OnnxImport& import) { return import.errors.empty() ? "" : toText(import.errors[0]); }

}  // namespace

TEST_CASE("an op is a function of the application by request: it gets inputs, then attributes by their names") {
  OnnxMaker m = mixed();
  declare(m, "mixed", kFloat, {"n", "4"});
  for (int64_t n : {1, 3}) {
    const std::vector<HostTensor> ports = checked(m.import(requested()), n);
    // 2.5 + (1 + 0 + 3) - ('u' + 'p') / 64
    CHECK(ports[1].dims == std::vector<int64_t>{n, 4});
    const double want = ports[0].at(0).asFloat() * 0.5 + 6.5 - (117 + 112) / 64.0;
    CHECK(ports[1].at(0).asFloat() == Approx(std::max(want, 0.0)));
  }
}

TEST_CASE("every output that is used is a call of its own") {
  OnnxMaker m = mixed();
  declare(m, "mixed", kFloat, {"n", "4"});
  declare(m, "counts", kInt64, {"3"});
  m.output("counts", kInt64);
  const std::vector<HostTensor> ports = checked(m.import(requested()), 2);
  CHECK(ports[2] == HostTensor::of(DType::I64, {3}, {8, 9, 10}));
}

TEST_CASE("dtype and shape come from options where the model does not say them") {
  LoadOptions options = requested(DType::F32);
  options.shapes.push_back(*parseShapeOption("mixed=2*nx4"));
  CHECK(checked(mixed().import(options), 3)[1].dims == std::vector<int64_t>{6, 4});
  OnnxMaker m = mixed();
  declare(m, "mixed", kFloat, {"unk__7", "4"});
  CHECK(checked(m.import(options), 3)[1].dims == std::vector<int64_t>{6, 4});
}

namespace {

/// acme:Mix of `value` and the constants it wants, as a node of a function or a graph attribute.
void addMix(google::protobuf::RepeatedPtrField<proto::NodeProto>& nodes, const std::string& value,
            const std::string& result) {
  addNode(nodes, "Mix", {value, "table"}, {result});
  proto::NodeProto& node = *nodes.rbegin();
  node.set_domain("acme");
  addAttribute(node, "weight", 2.5f);
  addAttribute(node, "axes", std::vector<int64_t>{1, 0, 3});
  addAttribute(node, "mode", std::string("up"));
}

OnnxMaker withTable(const std::vector<std::string>& dims) {
  OnnxMaker m;
  auto& domain = *m.model.add_opset_import();
  domain.set_domain("acme");
  domain.set_version(3);
  m.input("x", dims, kFloat).floats("table", {2}, {0.5f, -2.f}).output("y", kFloat);
  return m;
}

void declareIn(google::protobuf::RepeatedPtrField<proto::ValueInfoProto>& list, const std::string& name) {
  proto::ValueInfoProto& value = *list.Add();
  value.set_name(name);
  value.mutable_type()->mutable_tensor_type()->set_elem_type(kFloat);
  value.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(4);
}

constexpr double kMore = 6.5 - (117 + 112) / 64.0;

}  // namespace

TEST_CASE("a host function is called in every step of a loop, laid out or of the plan") {
  for (int64_t steps : {3, 40}) {
    OnnxMaker m = withTable({"4"});
    m.ints("steps", {}, {steps});
    proto::NodeProto& loop = m.node("Loop", {"steps", "", "x"}, {"y"});
    proto::GraphProto& body = addGraph(loop, "body", {"i", "goes", "v"}, {"goes.now", "mixed"});
    addNode(*body.mutable_node(), "Identity", {"goes"}, {"goes.now"});
    addMix(*body.mutable_node(), "v", "mixed");
    declareIn(*body.mutable_value_info(), "mixed");
    const std::vector<HostTensor> ports = checked(m.import(requested()), 1);
    double want = ports[0].at(0).asFloat();
    for (int64_t i = 0; i < steps; ++i) want = want * 0.5 + kMore;
    CHECK(ports[1].at(0).asFloat() == Approx(want));
  }
}

TEST_CASE("a host function stands in a branch and in a function of the model") {
  OnnxMaker m = withTable({"4"});
  m.input("which", {}, 9);
  proto::NodeProto& choice = m.node("If", {"which"}, {"chosen"});
  proto::GraphProto& then = addGraph(choice, "then_branch", {}, {"a"});
  addMix(*then.mutable_node(), "x", "a");
  declareIn(*then.mutable_value_info(), "a");
  proto::GraphProto& otherwise = addGraph(choice, "else_branch", {}, {"b"});
  addNode(*otherwise.mutable_node(), "Neg", {"x"}, {"b"});
  proto::FunctionProto& f = *m.model.add_functions();
  f.set_name("twice");
  f.set_domain("local");
  *f.add_input() = "v", *f.add_input() = "table", *f.add_output() = "w";
  addMix(*f.mutable_node(), "v", "once");
  addMix(*f.mutable_node(), "once", "w");
  declareIn(*f.mutable_value_info(), "once");
  declareIn(*f.mutable_value_info(), "w");
  proto::NodeProto& call = m.node("twice", {"chosen", "table"}, {"y"});
  call.set_domain("local");
  auto& domain = *m.model.add_opset_import();
  domain.set_domain("local");
  domain.set_version(1);
  const std::vector<HostTensor> ports = checked(m.import(requested()), 1);
  const double x = ports[0].at(0).asFloat();
  const double chosen = ports[1].at(0).asInt() != 0 ? x * 0.5 + kMore : -x;
  CHECK(ports[2].at(0).asFloat() == Approx((chosen * 0.5 + kMore) * 0.5 + kMore));
}

TEST_CASE("the shape of a value in a loop may be an option") {
  OnnxMaker m = withTable({"4"});
  m.ints("steps", {}, {2});
  proto::NodeProto& loop = m.node("Loop", {"steps", "", "x"}, {"y"});
  proto::GraphProto& body = addGraph(loop, "body", {"i", "goes", "v"}, {"goes.now", "mixed"});
  addNode(*body.mutable_node(), "Identity", {"goes"}, {"goes.now"});
  addMix(*body.mutable_node(), "v", "mixed");
  CHECK_THAT(errorOf(m.import(requested(DType::F32))), Catch::Matchers::Contains("--shape mixed=nx8"));
  LoadOptions options = requested(DType::F32);
  options.shapes.push_back(*parseShapeOption("mixed=4"));
  CHECK(checked(m.import(options), 1)[1].dims == std::vector<int64_t>{4});
}

TEST_CASE("what nobody says of a host function is an error that names the flag") {
  CHECK_THAT(errorOf(mixed().import()), Catch::Matchers::Contains("--host-op acme:Mix makes it a function"));
  CHECK_THAT(errorOf(mixed().import(requested())), Catch::Matchers::Contains("--host-op acme:Mix=f32"));
  CHECK_THAT(errorOf(mixed().import(requested(DType::F32))), Catch::Matchers::Contains("--shape mixed=nx8"));
  OnnxMaker m = mixed();
  declare(m, "mixed", kFloat, {"unk__7", "4"});
  CHECK_THAT(errorOf(m.import(requested())), Catch::Matchers::Contains("of what shape 'mixed' is"));
}

TEST_CASE("the option names an op and may name a dtype") {
  CHECK(parseHostOpOption("com.acme:Scale")->domain == "com.acme");
  CHECK(parseHostOpOption("com.acme:Scale=i8")->dtype == DType::I8);
  for (const char* bad : {"Scale", ":Scale", "acme:", "acme:Scale=", "acme:Scale=f33"}) CHECK(!parseHostOpOption(bad));
}
