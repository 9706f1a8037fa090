// Graphs that are long chains, on a small stack: nothing in the compiler or interpreter recurses along them.
#include <pthread.h>

#include <catch2/catch.hpp>
#include <functional>

#include "common/sanitizers.h"
#include "e2e/harness.h"
#include "frontend/frontend.h"
#include "ir/text.h"
#include "ir/verify.h"

using namespace svod;

namespace {

// A sanitizer's frames are several times as large.
constexpr size_t kStack = kAddressSanitizer || kThreadSanitizer ? 4 << 20 : 512 << 10;

void onSmallStack(const std::function<void()>& body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, kStack) == 0);
  pthread_t thread;
  auto run = [](void* f) -> void* {
    (*static_cast<const std::function<void()>*>(f))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&body)) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

/// `count` lines; `#` is the number of the line, `@` that of the line before.
std::string chain(const std::string& head, const std::string& line, const std::string& tail, size_t count) {
  auto filled = [](std::string text, size_t i) {
    for (char mark : {'#', '@'})
      for (size_t at; (at = text.find(mark)) != std::string::npos;)
        text.replace(at, 1, std::to_string(mark == '#' ? i : i - 1));
    return text;
  };
  std::string text = "svod 1\n" + head;
  for (size_t i = 1; i <= count; ++i) text += filled(line, i) + "\n";
  return text + filled(tail, count + 1);
}

/// Everything but the code generators of others, in a state that Catch can look at from another thread.
std::string problem(const std::string& text, bool compiles) {
  Result<GraphFile> file = parseGraph(text, "chain.svod");
  if (!file) return toText(file.error());
  Result<Model> model = buildModel(*file, {});
  if (!model) return toText(model.error());
  if (Status ok = verify(model->sink, Stage::Tensor); !ok) return toText(ok.error());
  Graph copy;
  Result<UOp> read = parseUop(copy, toUopText(model->sink));
  if (!read) return toText(read.error());
  if (read->hash() != model->sink.hash()) return "the text is another graph";
  ModelBindings bindings;
  for (const ModelPort& port : model->ports) {
    std::vector<int64_t> dims;
    for (UOp d : port.buffer.shape()) dims.push_back(d.bounds().max);
    bindings.ports.push_back(port.kind == PortKind::Input ? HostTensor::zeros(port.buffer.dtype(), dims)
                                                          : HostTensor());
  }
  for (UOp v : model->variables) bindings.variables[std::string(v.argAs<VarArg>().name)] = v.argAs<VarArg>().max;
  if (auto values = interpret(*model, bindings); !values) return toText(values.error());
  if (!compiles) {
    auto schedule = makeSchedule(*model, {});
    return schedule ? "" : toText(schedule.error());
  }
  RunOptions options;
  options.target = "c";
  CompileOptions c = compileOptions(options);
  c.tools = *c.target->open({{{"cc", "none"}}});
  auto compilation = compile(*model, c);
  return compilation ? "" : toText(compilation.error());
}

void check(const std::string& text, bool compiles = false) {
  std::string found = "not run";
  onSmallStack([&] { found = problem(text, compiles); });
  CHECK(found == "");
}

}  // namespace

TEST_CASE("chains of elementwise ops") {
  check(chain("input x0: f32[3]\n", "x# = x@ * 0.5 + 1", "output y = x@\n", 20000));
  check(chain("input x0: f32[3]\n", "x# = where(gt(x@, 0), x@, -x@)", "output y = x@\n", 10000));
  check(chain("input x0: f32[3]\n", "x# = exp(x@)", "output y = x@\n", 1000), true);
}

TEST_CASE("chains of movement") {
  check(chain("input x0: f32[4, 6]\n", "x# = transpose(reshape(x@, shape=[6, 4]))", "output y = x@\n", 5000));
  check(chain("input x0: f32[4, 4]\n", "x# = flip(transpose(x@), axes=[0])", "output y = x@\n", 3000), true);
  check(chain("state x0: f32[4, 6]\n", "x# = transpose(reshape(x@, shape=[6, 4]))", "assign x@ = 1\n", 30));
}

TEST_CASE("chains of reductions") {
  check(chain("input x0: f32[4, 6]\n", "x# = x@ - sum(x@, axes=1, keepdims=true)", "output y = x@\n", 10000));
  check(chain("input x0: f32[4, 4]\n", "x# = matmul(x@, x@)", "output y = x@\n", 500), true);
}

TEST_CASE("chains of numbers and sizes") {
  check(chain("x0 = arange(stop=8)\n", "x# = x@ * 3 + 1", "output y = x@\n", 20000));
  check(chain("var n in [8, 64]\ninput x0: f32[n]\n", "x# = slice(x@, starts=[0], ends=[(size(x@, axis=0) + 7) // 2])",
              "output y = x@\n", 30));
}

TEST_CASE("chains of assignments and loops") {
  check(chain("state s: f32[3]\n", "assign s = s * 0.5 + #", "output y = s\n", 300));
  check(chain("state s: f32[3]\n", "loop i < 2 {\n  assign s = s + #\n}", "output y = s\n", 150));
}
