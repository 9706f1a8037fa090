#include "ir/model_text.h"

#include <catch2/catch.hpp>

using namespace svod;

namespace {

constexpr const char* kGraph =
    "%0 = buffer 4 {1} : f32[4]\n"
    "%1 = buffer 4 {0} : f32[4]\n"
    "%2 = buffer 4 {3} : f32[4]\n"
    "%3 = add %1, %2 : f32[4]\n"
    "%4 = store %0, %3\n"
    "%5 = store %2, %1\n"
    "%6 = sink %4, %5\n";

std::string messageOf(const Result<Model>& model) { return model ? "" : model.error()->message; }

}  // namespace

TEST_CASE("ports that no line names are what the graph does with them") {
  const Result<Model> model = parseModel(kGraph);
  REQUIRE(model);
  REQUIRE(model->ports.size() == 4);
  CHECK(model->ports[0].kind == PortKind::Input);
  CHECK(model->ports[1].kind == PortKind::Output);
  CHECK(model->ports[2].kind == PortKind::Input);  // not in the graph
  CHECK(model->ports[3].kind == PortKind::State);  // stored to, and read
  CHECK(model->ports[3].name == "p3");
}

TEST_CASE("a model reads back as it was printed, whatever its ports are called") {
  Result<Model> model = parseModel(kGraph);
  REQUIRE(model);
  const char* names[] = {"x", "", "with \"quotes\" and \\", "two\nlines; \xc3\xa4"};
  for (size_t i = 0; i < 4; ++i) model->ports[i].name = names[i];
  model->ports[0].kind = PortKind::Weight;
  model->ports[1].kind = model->ports[3].kind = PortKind::Expectation;
  model->ports[3].expectation = ExpectationKind::Supported;
  const std::string text = toText(*model, model->sink);
  const Result<Model> again = parseModel(text);
  REQUIRE(again);
  CHECK(toText(*again, again->sink) == text);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(again->ports[i].name == names[i]);
    CHECK(again->ports[i].kind == model->ports[i].kind);
    CHECK(again->ports[i].expectation == model->ports[i].expectation);
  }
}

TEST_CASE("a line about a port that says something else is an error at its place") {
  for (const char* line :
       {"; port x input \"x\"", "; port 0 inputs \"x\"", "; port 0 input x", "; port 0 input", "; port 0 input \"\\",
        "; port 0 input \"\\xg1\"", "; port 0 expectation:often \"x\"", "; port 99999999999 input \"x\""}) {
    const Result<Model> model = parseModel(std::string(kGraph) + line + "\n");
    INFO(line);
    CHECK(messageOf(model).find("describes no port") != std::string::npos);
    if (!model) CHECK(model.error()->loc.line == 8);
  }
  CHECK(parseModel(std::string("; port 9 input \"gone\"\n") + kGraph));  // nothing in the graph is there
}
