// Graphs written as files build the same graph again.
#include "frontend/model_writer.h"

#include <filesystem>

#include "common/same_model.h"
#include "common/temp_folder.h"
#include "frontend/model_reader.h"

using namespace svod;

namespace {

constexpr const char* kWeights = "graph.safetensors";

// The text of the model that `build` makes; it builds the same model.
template <class Build>
std::string written(GraphBuilder& b, BuildLog& log, Build build) {
  b.recordTo(&log);
  build(b);
  if (auto error = b.takeError()) FAIL(toText(*error));
  Result<WrittenModel> w = writeModel(b, log, kWeights);
  if (!w) FAIL(toText(w.error()));
  std::string text = writeGraphText(w->file);
  INFO(text);
  Result<Model> want = std::move(b).finish();
  REQUIRE(want);
  TempFolder folder;
  Result<Model> got = readBack(*w, folder.path(), kWeights);
  if (!got) FAIL(toText(got.error()));
  checkSameModel(*want, *got);
  checkText(*w);
  return text;
}

template <class Build>
std::string written(Build build) {
  GraphBuilder b;
  BuildLog log;
  return written(b, log, build);
}

std::string rewritten(const GraphFile& file) {
  BuildLog log;
  const LoadOptions none;
  ModelReader reader(file, none);
  return written(reader.builder(), log, [&](GraphBuilder&) {
    reader.read();
    for (const Error& e : reader.errors()) FAIL(toText(e));
  });
}

std::string rewritten(const std::string& text) {
  Result<GraphFile> file = parseGraph(text, "test.svod");
  if (!file) FAIL(toText(file.error()));
  return rewritten(*file);
}

}  // namespace

TEST_CASE("graph files of the repository are written as they are built") {
  size_t count = 0;
  for (const char* folder : {"tests/frontend/values", "tests/e2e/ops", "examples/graphs"})
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".svod") continue;
      INFO(entry.path());
      Result<GraphFile> file = readGraphFile(entry.path().string());
      REQUIRE(file);
      rewritten(*file);
      ++count;
    }
  CHECK(count > 25);
}

TEST_CASE("calls are written in the words they were made with") {
  CHECK(rewritten("svod 1\nvar n in [1, 8]\ninput x: f32[n, 4, 9, 9]\nweight w: f32[2, 4, 3, 3] = 0.5\n"
                  "y = conv2d(x, w, stride=[2, 2], padding=[1, 1, 1, 1], dilation=1) * 2 + 1\n"
                  "output z = softmax(relu(y), axis=1)\n") ==
        "svod 1\nvar n in [1, 8]\ninput x: f32[n, 4, 9, 9]\nweight w: f32[2, 4, 3, 3] = \"graph.safetensors:w\"\n"
        "y = conv2d(x, w, stride=2, padding=1) * 2 + 1\noutput z = softmax(relu(y), axis=1)\n");
}

TEST_CASE("what no call made is written as primitives") {
  std::string text = written([](GraphBuilder& b) {
    Dim n = b.variable("n", 1, 16);
    Tensor x = b.input("x", DType::F32, {n, b.dim(4)});
    Tensor h = b.input("h", DType::F16, {b.dim(4)});
    Tensor fill = b.input("fill", DType::F32, {});
    Tensor i = b.iota(n);
    Tensor row = cast(unsqueeze(i, -1) * 4 + b.iota(b.dim(4)), DType::I64);
    b.output("a", gather(x, std::vector<Tensor>{floormod(row, 3), b.constant(Scalar::ofInt(DType::I32, 1))}));
    b.output("b", scatter(Op::Add, x, std::vector<Tensor>{row, row}, x * 2));
    b.output("c", reduce(Op::Add, h, {}, false));
    b.output("d", pad(x, {b.dim(1), b.dim(0)}, {n, b.dim(2)}, fill));
    b.output("e", b.full({n}, b.constant(Scalar::ofFloat(DType::BF16, 0.1))));
    b.output("f", cast(b.value(n * 2 - 1), DType::I64));
    b.output("g", b.value(n) * b.value(n));
    b.output("h", expand(fill, {n, b.dim(4)}) * h);
    b.output("i", maximum(x, 0, true));
    b.output("j", b.constant(Scalar::ofFloat(DType::F64, -0.0)));
    b.output("k", flip(permute(x, {1, 0}), {{1}}));
    b.output("l", bitcast(where(lt(x, 0.1), x, -INFINITY), DType::I32));
  });
  CHECK(text.find("gather_at(x, ") != std::string::npos);
  CHECK(text.find("output c = fold(h)\n") != std::string::npos);
  CHECK(text.find("output d = pad(x, fill, before=[1, 0], after=[n, 2])\n") != std::string::npos);
  CHECK(text.find("output e = full(0.1, shape=[n], dtype=bf16)\n") != std::string::npos);
  CHECK(text.find("output f = cast(index(of=n * 2 - 1), dtype=i64)\n") != std::string::npos);
  CHECK(text.find("output j = cast(-0.0, dtype=f64)\n") != std::string::npos);
}

TEST_CASE("loops, branches, temporaries and states are statements") {
  rewritten(R"(svod 1
var n in [0, 20]
input x: f32[20, 8]
input flag: bool
weight u: f32[8, 8] = [[1, 0, 0, 0, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0, 0, 0], [0, 0, 3, 0, 0, 0, 0, 0],
  [0, 0, 0, 4, 0, 0, 0, 0], [0, 0, 0, 0, 5, 0, 0, 0], [0, 0, 0, 0, 0, 6, 0, 0], [0, 0, 0, 0, 0, 0, 7, 0],
  [0, 0, 0, 0, 0, 0, 0, 8]]
state calls: i32 = 3
state old: f32[8]
temp h: f32[8] = 0
temp rows: f32[20, 8] = 0
before = old + 1
loop t < n while any(lt(h * 2, 3)) {
  scaled = matmul(x, u)
  assign h = tanh(reshape(slice(x, starts=[t], ends=[t + 1]), shape=[8]) + matmul(h, u) + before)
  if gt(sum(h), 4) {
    assign slice(rows, starts=[t], ends=[t + 1]) = reshape(h, shape=[1, 8])
  } else {
    loop k < 2, unroll=true {
      assign h = h + cast(k, dtype=f32)
    }
  }
}
assign old = h
if flag {
  assign calls = calls + 1
}
again = old + 1
output h
output rows
output before
output again
output calls
)");
}

TEST_CASE("a value that is built in a body and used behind it stands before the body") {
  std::string text = written([](GraphBuilder& b) {
    Tensor x = b.input("x", DType::F32, {b.dim(4)}), y, s = b.temporary(x);
    b.loop("i", b.dim(3), [&](Dim i) {
      y = exp(x * 2);
      b.assign(s, s + y * cast(b.value(i), DType::F32));
    });
    b.output("s", s);
    b.output("y", y);
  });
  CHECK(text.find("exp(") < text.find("loop "));
}

TEST_CASE("what is read after a later assignment is held") {
  std::string text = written([](GraphBuilder& b) {
    Tensor x = b.input("x", DType::F32, {b.dim(4)});
    Tensor a = b.temporary(x), c = b.temporary(x * 2), first = b.held(a);
    b.loop("i", b.dim(3), [&](Dim) {
      Tensor p = b.held(a), q = b.held(c);
      b.assign(a, q + first);
      b.assign(c, p);
    });
    b.output("a", a);
    b.output("c", c);
    b.output("first", first + 1);
  });
  CHECK(text.find("_1 = held(a)\n") != std::string::npos);
}

TEST_CASE("what was tried and taken back leaves nothing behind") {
  std::string text = written([](GraphBuilder& b) {
    Tensor x = b.input("x", DType::F32, {b.dim(4)});
    auto steps = [&] {
      Tensor s = b.temporary(x);
      b.loop("step", b.dim(3), [&](Dim) { b.assign(s, s * 2 + exp(x)); });
      return s;
    };
    GraphBuilder::Mark before = b.mark();
    steps();
    b.rewind(std::move(before));
    b.output("y", steps());
  });
  CHECK(text ==
        "svod 1\ninput x: f32[4]\n_1 = exp(x)\ntemp y: f32[4] = x\nloop step < 3 {\n  assign y = y * 2.0 + _1\n}\n"
        "output y\n");
}

TEST_CASE("weights with few elements stand in the text, the others in the file; unread ones nowhere") {
  std::vector<float> numbers(17);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.1f * static_cast<float>(i);
  std::string text = written([&](GraphBuilder& b) {
    auto data = [&](size_t count) {
      return ConstData{reinterpret_cast<const std::byte*>(numbers.data()), count * sizeof(float), nullptr};
    };
    b.weight("unread", DType::F32, {b.dim(4)}, data(4));
    Tensor a = b.weight("a", DType::F32, {b.dim(2), b.dim(2)}, data(4));
    Tensor w = b.weight("odd name/1", DType::F32, {b.dim(17)}, data(17));
    Tensor none = b.weight("none", DType::I64, {b.dim(0), b.dim(3)}, {});
    b.output("y", a + 1);
    b.output("z", w + 1);
    b.output("n", none + 1);
  });
  CHECK(text.find("weight a: f32[2, 2] = [[0.0, 0.1], [0.2, 0.3]]\n") != std::string::npos);
  CHECK(text.find("weight `odd name/1`: f32[17] = \"graph.safetensors:odd name/1\"\n") != std::string::npos);
  CHECK(text.find("unread") == std::string::npos);
}

TEST_CASE("names that only the writer gave label nothing") {
  Result<GraphFile> file = parseGraph("svod 1\ninput x: f32[4]\n_1 = x + 1\ny = exp(_1)\noutput y\n", "test.svod");
  REQUIRE(file);
  Result<Model> model = buildModel(*file);
  REQUIRE(model);
  for (const auto& [id, name] : model->labels) CHECK(name != "_1");
}

TEST_CASE("long statements are broken inside of brackets") {
  std::string text = "svod 1\ninput x: f32[1]\ny = concat(";
  for (int i = 0; i < 40; ++i) text += (i == 0 ? "x" : ", x");
  Result<GraphFile> file = parseGraph(text + ", axis=0)\noutput y\n", "test.svod");
  REQUIRE(file);
  std::string printed = writeGraphText(*file);
  for (size_t begin = 0, end; begin < printed.size(); begin = end + 1) {
    end = printed.find('\n', begin);
    CHECK(end - begin <= 120);
  }
  Result<GraphFile> again = parseGraph(printed, "test.svod");
  REQUIRE(again);
  CHECK(writeGraphText(*again) == printed);
}
