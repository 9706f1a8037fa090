// Models that are wrong: what is said about them.
#include <catch2/catch.hpp>
#include <functional>

#include "common/temp_folder.h"
#include "data/npy.h"
#include "onnx/problem_list.h"
#include "onnx_maker.h"

using namespace svod;

namespace {

OnnxMaker good() {
  OnnxMaker m;
  m.input("x", {"2", "3"}).output("y");
  m.node("Relu", {"x"}, {"y"}).set_name("first");
  return m;
}

constexpr int kBool = 9, kInt64 = 7;

void addStft(OnnxMaker& m, int64_t step, int64_t length) {
  m.input("signal", {"1", "16", "1"}).ints("step", {}, {step}).ints("length", {}, {length});
  m.node("STFT", {"signal", "step", "", "length"}, {"z"});
}

struct BadModel {
  const char* text;  // part of the message
  Diag diag;
  std::function<void(OnnxMaker&)> spoil;
};

const BadModel kBadModels[] = {
    {"is not supported", Diag::Unsupported,
     [](OnnxMaker& m) { m.model.mutable_graph()->mutable_node(0)->set_op_type("Rellu"); }},
    {"byte 0xff is not UTF-8: it is byte 2 of the name of an input", Diag::Syntax,
     [](OnnxMaker& m) { m.model.mutable_graph()->mutable_input(0)->set_name("a\xff"); }},
    {"of the name of an output of a node", Diag::Syntax,
     [](OnnxMaker& m) { m.model.mutable_graph()->mutable_node(0)->set_output(0, "\xc3("); }},
    {"of the name of a dim", Diag::Syntax,
     [](OnnxMaker& m) {
       auto* type = m.model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
       type->mutable_shape()->mutable_dim(0)->set_dim_param("\xed\xa0\x80");
     }},
    {"opset 99", Diag::Unsupported, [](OnnxMaker& m) { m.model.mutable_opset_import(0)->set_version(99); }},
    {"opset 0", Diag::Syntax, [](OnnxMaker& m) { m.model.mutable_opset_import(0)->set_version(0); }},
    {"no version of the domain", Diag::Syntax, [](OnnxMaker& m) { m.model.clear_opset_import(); }},
    {"got 2 inputs", Diag::Arity, [](OnnxMaker& m) { m.model.mutable_graph()->mutable_node(0)->add_input("x"); }},
    {"got 0 inputs", Diag::Arity, [](OnnxMaker& m) { m.model.mutable_graph()->mutable_node(0)->clear_input(); }},
    {"the attribute 'depth' is not supported", Diag::Unsupported,
     [](OnnxMaker& m) { addAttribute(*m.model.mutable_graph()->mutable_node(0), "depth", int64_t{1}); }},
    {"is a float", Diag::BadAttribute,
     [](OnnxMaker& m) { addAttribute(m.node("Flatten", {"x"}, {"z"}), "axis", 1.5f); }},
    {"is missing", Diag::BadAttribute, [](OnnxMaker& m) { m.node("Concat", {"x", "x"}, {"z"}); }},
    {"no node, input or initializer makes 'q'", Diag::UnknownName,
     [](OnnxMaker& m) { m.model.mutable_graph()->mutable_node(0)->set_input(0, "q"); }},
    {"in a circle: 'z' needs 'y', 'y' needs 'z'", Diag::Cycle,
     [](OnnxMaker& m) {
       m.model.mutable_graph()->mutable_node(0)->set_input(0, "z");
       m.node("Neg", {"y"}, {"z"});
     }},
    {"in a circle: 'y' needs 'y'", Diag::Cycle,
     [](OnnxMaker& m) { m.model.mutable_graph()->mutable_node(0)->set_input(0, "y"); }},
    {"in a circle: 'z' needs 'z'", Diag::Cycle,
     [](OnnxMaker& m) {
       m.input("c", {}, kBool);
       proto::NodeProto& node = m.node("If", {"c"}, {"z"});
       for (const char* branch : {"then_branch", "else_branch"})
         addNode(*addGraph(node, branch, {}, {"t"}).mutable_node(), "Neg", {"z"}, {"t"});
     }},
    {"made twice", Diag::DuplicateName, [](OnnxMaker& m) { m.node("Neg", {"x"}, {"y"}); }},
    {"no node makes the output", Diag::UnknownName, [](OnnxMaker& m) { m.output("lost"); }},
    {"declared as int64", Diag::Syntax,
     [](OnnxMaker& m) {
       m.model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(7);
     }},
    {"frame_step is at least 1, not 0", Diag::ShapeMismatch, [](OnnxMaker& m) { addStft(m, 0, 4); }},
    {"frame_step is at least 1, not -2", Diag::ShapeMismatch, [](OnnxMaker& m) { addStft(m, -2, 4); }},
    {"frames have 1 to 2^20 elements, not 0", Diag::ShapeMismatch, [](OnnxMaker& m) { addStft(m, 2, 0); }},
    {"the graph 'empty' has no outputs", Diag::Syntax,
     [](OnnxMaker& m) {
       m.input("c", {}, kBool);
       proto::NodeProto& node = m.node("If", {"c"}, {"z"});
       for (const char* branch : {"then_branch", "else_branch"}) addGraph(node, branch, {}, {}).set_name("empty");
     }},
    {"every branch has as many outputs as the node", Diag::ShapeMismatch,
     [](OnnxMaker& m) {
       m.input("c", {}, kBool);
       proto::NodeProto& node = m.node("If", {"c"}, {"z", "more"});
       for (const char* branch : {"then_branch", "else_branch"}) addGraph(node, branch, {}, {"x"});
     }},
    {"the tensor 'w' has its data in another file: cannot open", Diag::Io,
     [](OnnxMaker& m) {
       m.floats("w", {2}, {});
       proto::TensorProto& w = *m.model.mutable_graph()->mutable_initializer(0);
       w.set_data_location(1);
       w.add_external_data()->set_key("location");
       w.mutable_external_data(0)->set_value("absent.bin");
       m.node("Neg", {"w"}, {"z"});
     }},
    {"element type 77", Diag::UnknownDType, [](OnnxMaker& m) { m.input("z", {"3"}, 77); }},
    {"element type string", Diag::Unsupported, [](OnnxMaker& m) { m.input("z", {"3"}, 8); }},
    {"has no shape", Diag::Unsupported,
     [](OnnxMaker& m) {
       m.input("z", {}).model.mutable_graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->clear_shape();
     }},
    {"is a sequence", Diag::Unsupported,
     [](OnnxMaker& m) {
       m.input("z", {}).model.mutable_graph()->mutable_input(1)->mutable_type()->mutable_sequence_type();
     }},
    {"the input 'z': the size", Diag::TooLarge, [](OnnxMaker& m) { m.input("z", {"4611686018427387904", "2"}); }},
    {"40 dims", Diag::TooLarge, [](OnnxMaker& m) { m.input("z", OnnxMaker::Names(40, "1")); }},
    {"needs 8 bytes of data, got 4", Diag::Syntax,
     [](OnnxMaker& m) {
       m.floats("w", {2}, {1});
       m.node("Add", {"w", "w"}, {"z"});
     }},
    {"has the dim -1", Diag::Syntax,
     [](OnnxMaker& m) {
       m.floats("w", {-1}, {1});
       m.node("Neg", {"w"}, {"z"});
     }},
    {"does not fit an address space", Diag::TooLarge,
     [](OnnxMaker& m) {
       m.floats("w", {int64_t{1} << 40, int64_t{1} << 40}, {});
       m.node("Neg", {"w"}, {"z"});
     }},
    {"do not broadcast", Diag::ShapeMismatch,
     [](OnnxMaker& m) {
       m.input("z", {"4"});
       m.node("Add", {"x", "z"}, {"s"});
     }},
    {"must be known when the model is compiled, but depends on 's'", Diag::Unsupported,
     [](OnnxMaker& m) {
       m.input("s", {"2"}, 7);
       m.node("Reshape", {"x", "s"}, {"z"});
     }},
    {"out of range", Diag::BadAttribute,
     [](OnnxMaker& m) { addAttribute(m.node("Gather", {"x", "x"}, {"z"}), "axis", int64_t{2}); }},
    {"the output 'extra' (number 1) is not supported", Diag::Unsupported,
     [](OnnxMaker& m) {
       m.model.mutable_graph()->mutable_node(0)->add_output("extra");
       m.output("extra");
     }},
};

}  // namespace

TEST_CASE("a good model has no errors") { CHECK(good().import().errors.empty()); }

TEST_CASE("every mistake is named") {
  for (const BadModel& bad : kBadModels) {
    INFO(bad.text);
    OnnxMaker m = good();
    bad.spoil(m);
    OnnxImport import = m.import();
    CHECK_FALSE(import.model);
    REQUIRE(!import.errors.empty());
    INFO(toText(import.errors[0]));
    CHECK(import.errors[0]->message.find(bad.text) != std::string::npos);
    CHECK(import.errors[0]->diag == bad.diag);
    CHECK(import.errors[0]->loc.file == "test.onnx");
    CHECK(import.errors.size() <= 2);
  }
}

TEST_CASE("messages name node, op, opset and tensors") {
  OnnxMaker m = good();
  m.model.mutable_graph()->mutable_node(0)->set_op_type("Rellu");
  CHECK(toText(m.import().errors.at(0)) ==
        "test.onnx: error: Rellu (opset 17), node 'first': the op is not supported [unsupported]\n"
        "  note: inputs 'x', outputs 'y'\n"
        "  help: did you mean 'Relu'?");
}

TEST_CASE("all problems are found in one go, dependents and repetitions are not repeated") {
  OnnxMaker m;
  m.input("x", {"2"}).output("y");
  m.node("Nonesuch", {"x"}, {"a"});
  m.node("Relu", {"a"}, {"b"});
  m.node("Concat", {"x", "x"}, {"c"});
  m.node("Nonesuch", {"x"}, {"d"});
  m.node("Nonesuch", {"b"}, {"e"});
  m.node("Add", {"b", "c"}, {"y"});
  std::vector<Error> errors = m.import().errors;
  REQUIRE(errors.size() == 2);
  CHECK(errors[0]->diag == Diag::Unsupported);
  CHECK(errors[0]->notes.back() == "the same in 2 more nodes");
  CHECK(errors[1]->diag == Diag::BadAttribute);
}

TEST_CASE("what an attempt repeats is not counted once the attempt is given up") {
  ProblemList problems("m.onnx");
  REQUIRE_FALSE(problems.isRepeated("Nonesuch"));
  problems.add(Error(Diag::Unsupported, "the op is not supported"));
  REQUIRE(problems.isRepeated("Nonesuch"));
  ProblemList::Mark before = problems.mark();
  REQUIRE(problems.isRepeated("Nonesuch"));
  CHECK(problems.errors()[0]->notes == std::vector<std::string>{"the same in 2 more nodes"});
  problems.rewind(std::move(before));
  CHECK(problems.errors()[0]->notes == std::vector<std::string>{"the same in 1 more node"});
  CHECK(problems.count() == 2);
}

TEST_CASE("an output that is not supported is no error where nobody uses it") {
  OnnxMaker m = good();
  m.model.mutable_graph()->mutable_node(0)->add_output("extra");
  CHECK(m.import().errors.empty());
}

// Every help stands in the first error of the model.
TEST_CASE("helps say what to type") {
  struct Row {
    const char* help;
    std::function<void(OnnxMaker&)> spoil;
    LoadOptions options;
  };
  TempFolder folder;
  const std::string file = folder / "two.npy";
  const float two[] = {1, 2};
  REQUIRE(writeNpy(file, ElementType::F32, std::vector<uint64_t>{2}, std::as_bytes(std::span(two))));
  auto reshaped = [](OnnxMaker& m) {
    m.input("the shape", {"2"}, kInt64);
    m.node("Reshape", {"x", "the shape"}, {"z"});
  };
  const Row rows[] = {
      {"--const 'the shape=FILE.npy'", reshaped, {}},
      {"save an array of i64[2] for it", reshaped, {{}, {}, {{"the shape", "FILE"}}}},
      {"the inputs are 'x'", [](OnnxMaker& m) { m.floats("w", {2}, {1, 2}); }, {{}, {}, {{"w", "FILE"}}}},
      {"--shape z=1x3x224x224",
       [](OnnxMaker& m) {
         m.input("z", {});
         m.model.mutable_graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->clear_shape();
       },
       {}},
      {"only the first output is",
       [](OnnxMaker& m) {
         m.model.mutable_graph()->mutable_node(0)->add_output("b");
         m.output("b");
       },
       {}},
  };
  for (const Row& row : rows) {
    INFO(row.help);
    OnnxMaker m = good();
    row.spoil(m);
    LoadOptions options = row.options;
    for (auto& [name, path] : options.constants) path = file;
    OnnxImport import = m.import(options);
    REQUIRE(import.errors.size() == 1);
    INFO(toText(import.errors[0]));
    CHECK(import.errors[0]->help.find(row.help) != std::string::npos);
  }
}

TEST_CASE("a free dim of -1 takes the size that --shape gives") {
  OnnxMaker m = good();
  m.input("z", {"-1", "3"});
  m.node("Add", {"x", "z"}, {"sum"});
  CHECK(m.import({{}, {{"z", {SizeForm::number(2), SizeForm::number(3)}}}, {}}).errors.empty());
  const Error error = m.import({{}, {{"z", {SizeForm::number(2), SizeForm::number(4)}}}, {}}).errors.at(0);
  CHECK(error->message.find("axis 1 of input 'z' is 3, not 4") != std::string::npos);
}

TEST_CASE("notes about free dims quote names, and do not stand beside errors") {
  OnnxMaker m;
  m.input("x", {"batch size", "3"}).output("y");
  proto::NodeProto& node = m.node("Relu", {"x"}, {"y"});
  const std::vector<Error> notes = m.import().notes;
  REQUIRE(notes.size() == 1);
  CHECK(notes[0]->help ==
        "other bounds: --var 'batch size=LO:HI'; one size: --var 'batch size=SIZE', or --shape x=SIZEx3");
  node.set_op_type("Rellu");
  CHECK(m.import().notes.empty());
}

TEST_CASE("an If of values with an error says nothing of its own") {
  OnnxMaker m;
  m.input("x", {"2"}).input("c", {}, kBool).output("y");
  m.node("Nonesuch", {"x"}, {"a"});
  proto::NodeProto& node = m.node("If", {"c"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) addGraph(node, branch, {}, {"a"});
  const std::vector<Error> errors = m.import().errors;
  REQUIRE(errors.size() == 1);
  CHECK(errors[0]->message.find("Nonesuch") == 0);
}
