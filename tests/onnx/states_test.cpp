// Inputs that become states: step by step the same as the model that is given its past and gives it back.
#include <catch2/catch.hpp>
#include <map>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

constexpr int64_t kHeads = 2, kSize = 3;

/// y = softmax(q present^T), where present is the past with k behind it, or what `tail` makes of that.
OnnxMaker decoder(const std::string& tail) {
  OnnxMaker m;
  m.input("q", {"1", "2", "s", "3"}).input("k", {"1", "2", "s", "3"}).input("past.0.key", {"1", "2", "p", "3"});
  m.output("y").output("present.0.key");
  const std::string joined = tail.empty() ? "present.0.key" : "joined";
  m.floats("nothing", {1, 2, 0, 3}, {});  // exporters put the past behind nothing
  addAttribute(m.node("Concat", {"nothing", "past.0.key"}, {"past"}), "axis", int64_t{2});
  addAttribute(m.node("Concat", {"past", "k"}, {joined}), "axis", int64_t{2});
  addAttribute(m.node("Transpose", {joined}, {"t"}), "perm", std::vector<int64_t>{0, 1, 3, 2});
  m.node("MatMul", {"q", "t"}, {"scores"});
  m.node("Softmax", {"scores"}, {"y"});
  if (tail == "Slice") {  // a window: the oldest goes
    m.ints("one", {1}, {1}).ints("end", {1}, {INT64_MAX}).ints("two", {1}, {2});
    m.node("Slice", {joined, "one", "end", "two"}, {"present.0.key"});
  } else if (!tail.empty()) {
    m.node(tail, {joined}, {"present.0.key"});
  }
  return m;
}

LoadOptions options(bool hasState) {
  LoadOptions o;
  o.variables = {parseVariableOption("p=0:9").value(), parseVariableOption("s=1:3").value()};
  if (hasState) o.states = {parseStateOption("past.*.key=present.*.key").value()};
  return o;
}

struct Stepper {
  Model model;
  HostTensor kept;  // the past, or the state

  HostTensor step(int64_t p, int64_t s, int64_t seed, bool isState) {
    ModelBindings bindings;
    bindings.variables = {{"p", p}, {"s", s}};
    size_t y = 0, next = 0;
    for (size_t i = 0; i < model.ports.size(); ++i) {
      const ModelPort& port = model.ports[i];
      bindings.ports.emplace_back();
      if (port.name == "y") y = i;
      if (port.name == (isState ? "past.0.key" : "present.0.key")) next = i;
      if (port.name == "past.0.key") bindings.ports.back() = kept;
      if (port.name != "q" && port.name != "k") continue;
      HostTensor& x = bindings.ports.back() = HostTensor::zeros(DType::F32, {1, kHeads, s, kSize});
      for (int64_t k = 0; k < x.numel(); ++k) {
        const int64_t mixed = k * 7 + seed * 5 + port.name[0];
        x.set(k, Scalar::of(DType::F32, static_cast<double>(mixed % 11) / 4));
      }
    }
    Result<std::vector<HostTensor>> ports = interpret(model, bindings);
    if (!ports) UNSCOPED_INFO(toText(ports.error()));
    REQUIRE(ports);
    kept = (*ports)[next];
    return (*ports)[y];
  }
};

Stepper stepper(const OnnxMaker& m, bool hasState) {
  OnnxImport import = m.import(options(hasState));
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  return {*std::move(import.model), hasState ? HostTensor() : HostTensor::zeros(DType::F32, {1, kHeads, 0, kSize})};
}

/// Elements that are stored in the state.
int64_t storedElements(const Model& model) {
  int64_t count = 0;
  for (UOp u : toposort(model.sink)) {
    if (u.op() != Op::Store) continue;
    UOp target = u.src(0);
    while (target.op() != Op::Buffer) target = target.src(0);
    const ModelPort& port = model.ports[target.argAs<SlotArg>().slot];
    if (port.kind == PortKind::State) count += u.src(1).maxNumel();
  }
  return count;
}

}  // namespace

TEST_CASE("a past that is a state gives in every step what the past as an input gives") {
  for (const char* tail : {"", "Identity", "Neg", "Slice"}) {
    INFO("present is " << tail);
    const OnnxMaker m = decoder(tail);
    Stepper plain = stepper(m, false), kept = stepper(m, true);
    const std::string_view word = tail;
    int64_t p = 0;
    for (int64_t s : {1, 3, 1, 2, 1, 1}) {
      INFO("past " << p << ", new " << s);
      CHECK(plain.step(p, s, p, false) == kept.step(p, s, p, true));
      p += word == "Slice" ? s - 1 : s;
    }
  }
}

TEST_CASE("what is new is stored behind the past, and nothing else is") {
  const int64_t fresh = kHeads * 3 * kSize;  // s is at most 3
  CHECK(storedElements(stepper(decoder(""), true).model) == fresh);
  CHECK(storedElements(stepper(decoder("Identity"), true).model) == fresh);
  CHECK(storedElements(stepper(decoder("Neg"), true).model) == kHeads * 12 * kSize);
}

TEST_CASE("a state is as large as the bounds let it become, and the output is gone") {
  Stepper s = stepper(decoder(""), true);
  for (const ModelPort& p : s.model.ports) {
    CHECK(p.name != "present.0.key");
    if (p.name == "past.0.key") CHECK(p.kind == PortKind::State);
  }
  LoadOptions least = options(true);
  least.variables.erase(least.variables.begin());
  OnnxImport import = decoder("").import(least);
  REQUIRE(import.model);
  for (UOp v : import.model->variables)
    if (v.argAs<VarArg>().name == "p") CHECK(v.argAs<VarArg>().min == 0);
}

TEST_CASE("states that no model has") {
  auto message = [](const std::string& state) {
    LoadOptions o = options(false);
    o.states = {parseStateOption(state).value()};
    OnnxImport import = decoder("").import(o);
    REQUIRE_FALSE(import.errors.empty());
    return import.errors[0]->message + " / " + import.errors[0]->help;
  };
  CHECK(message("lost=y").find("no input has such a name") != std::string::npos);
  CHECK(message("q=lost").find("no output 'lost'") != std::string::npos);
  CHECK(message("*.value=present.*").find("no input has such a name") != std::string::npos);
  CHECK(parseStateOption("past.*=present").error()->diag == Diag::Usage);
  CHECK(parseStateOption("past").error()->diag == Diag::Usage);
  OnnxMaker m = decoder("");
  m.node("Shape", {"q"}, {"sizes"});
  m.output("sizes", 7);
  LoadOptions o = options(false);
  o.states = {parseStateOption("q=sizes").value()};
  OnnxImport import = m.import(o);
  REQUIRE_FALSE(import.errors.empty());
  CHECK(import.errors[0]->message.find("other types or numbers of axes") != std::string::npos);
}

namespace {

constexpr int kInt32 = 6;

/// Four heads that share two pairs of keys and values, behind a past.
OnnxMaker grouped() {
  OnnxMaker m;
  auto& domain = *m.model.add_opset_import();
  domain.set_domain("com.microsoft");
  domain.set_version(1);
  m.input("q", {"1", "s", "32"}).input("k", {"1", "s", "16"}).input("v", {"1", "s", "16"});
  m.input("past.0.key", {"1", "2", "p", "8"}).input("past.0.value", {"1", "2", "p", "8"});
  m.input("last", {"1"}, kInt32).input("total", {"1"}, kInt32);
  std::vector<float> cosine, sine;
  for (int i = 0; i < 64; ++i) {
    cosine.push_back(1.0f / static_cast<float>(1 + i));
    sine.push_back(static_cast<float>(i) / 64);
  }
  m.floats("cosine", {16, 4}, cosine).floats("sine", {16, 4}, sine);
  proto::NodeProto& node =
      m.node("GroupQueryAttention", {"q", "k", "v", "past.0.key", "past.0.value", "last", "total", "cosine", "sine"},
             {"y", "present.0.key", "present.0.value"});
  node.set_domain("com.microsoft");
  addAttribute(node, "num_heads", int64_t{4});
  addAttribute(node, "kv_num_heads", int64_t{2});
  addAttribute(node, "do_rotary", int64_t{1});
  m.output("y").output("present.0.key").output("present.0.value");
  return m;
}

/// Runs steps; what is kept between them are states, or outputs that are inputs again.
struct GroupedSteps {
  Model model;
  std::map<std::string, HostTensor> kept;
  int64_t past = 0;

  explicit GroupedSteps(bool hasState) {
    LoadOptions o = options(false);
    if (hasState) o.states = {parseStateOption("past.0.*=present.0.*").value()};
    OnnxImport import = grouped().import(o);
    for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
    REQUIRE(import.model);
    model = *std::move(import.model);
    for (const char* name : {"past.0.key", "past.0.value"})
      kept[name] = hasState ? HostTensor() : HostTensor::zeros(DType::F32, {1, 2, 0, 8});
  }

  HostTensor valueOf(const std::string& name, int64_t s) const {
    if (kept.contains(name)) return kept.at(name);
    if (name == "last") return HostTensor::of(DType::I32, {1}, {static_cast<double>(past + s - 1)});
    if (name == "total") return HostTensor::of(DType::I32, {1}, {static_cast<double>(past + s)});
    HostTensor x = HostTensor::zeros(DType::F32, {1, s, name == "q" ? 32 : 16});
    for (int64_t i = 0; i < x.numel(); ++i)
      x.set(i, Scalar::of(DType::F32, static_cast<double>((i * 7 + past * 5 + name[0]) % 13) / 8 - 0.5));
    return x;
  }

  HostTensor step(int64_t s) {
    ModelBindings bindings;
    bindings.variables = {{"p", past}, {"s", s}};
    for (const ModelPort& port : model.ports) {
      const bool isBound = port.kind == PortKind::Input || port.kind == PortKind::State;
      bindings.ports.push_back(isBound ? valueOf(port.name, s) : HostTensor());
    }
    Result<std::vector<HostTensor>> ports = interpret(model, bindings);
    if (!ports) UNSCOPED_INFO(toText(ports.error()));
    REQUIRE(ports);
    HostTensor y;
    for (size_t i = 0; i < model.ports.size(); ++i) {
      const std::string& name = model.ports[i].name;
      if (name == "y") y = (*ports)[i];
      if (model.ports[i].kind == PortKind::State) kept[name] = (*ports)[i];
      if (name.starts_with("present")) kept["past" + name.substr(7)] = (*ports)[i];
    }
    past += s;
    return y;
  }
};

}  // namespace

TEST_CASE("attention of groups with its past in states gives in every step what it gives with a past as inputs") {
  GroupedSteps plain(false), kept(true);
  const int64_t fresh = 2 * 2 * 3 * 8;  // keys and values of two heads for at most 3 positions
  CHECK(storedElements(kept.model) == fresh);
  for (int64_t s : {2, 1, 3, 1, 1}) {
    INFO("past " << plain.past << ", new " << s);
    CHECK(plain.step(s) == kept.step(s));
  }
}
