// The C++ interface: shapes, dtypes, labels, ports and the first error.
#include <algorithm>
#include <catch2/catch.hpp>

#include "frontend/graph_op.h"
#include "ir/verify.h"

using namespace svod;

namespace {

// "f32[2, 3]" of an op's first result, or the code of its error.
std::string typeOf(GraphBuilder& b, std::string_view op, std::initializer_list<Tensor> operands,
                   const Attributes& a = {}) {
  Tensor t = b.op(op, operands, a);
  if (auto error = b.takeError()) return std::string(info((*error)->diag).code);
  return describe(t);
}

}  // namespace

TEST_CASE("operands broadcast and promote") {
  GraphBuilder b;
  Dim n = b.variable("n", 1, 8);
  Tensor x = b.input("x", DType::F32, {n, b.dim(1), b.dim(4)});
  Tensor y = b.input("y", DType::I8, {b.dim(3), b.dim(1)});
  CHECK(describe(x + y) == "f32[n, 3, 4]");
  CHECK(describe(y * 2) == "i8[3, 1]");
  CHECK(describe(y * 2.5) == "f32[3, 1]");
  CHECK(describe(y / 2) == "f32[3, 1]");
  CHECK(describe(lt(x, y)) == "bool[n, 3, 4]");
  CHECK(describe(where(lt(y, 0), x, 1)) == "f32[n, 3, 4]");
  CHECK(describe(sqrt(y)) == "f32[3, 1]");
  CHECK(describe(floor(y)) == "i8[3, 1]");
  CHECK_FALSE(b.failed());
  Tensor half = b.input("h", DType::F16, {b.dim(1)}), brain = b.input("g", DType::BF16, {b.dim(1)});
  CHECK((half + brain).dtype() == DType::F32);
  CHECK((half + 1.0).dtype() == DType::F16);
  CHECK((half + cast(y, DType::I64)).dtype() == DType::F16);
}

TEST_CASE("dims that are equal as polynomials are one") {
  GraphBuilder b;
  Dim n = b.variable("n", 1, 8), m = b.variable("m", 1, 8);
  CHECK((n + m) * 2 == m * 2 + n * 2);
  CHECK((n + 1) * (n - 1) == n * n - 1);
  CHECK(floordiv(n * m * 6, m * 2) == n * 3);
  CHECK(floordiv(n + 1, 2) != n);
  CHECK(n - n == b.dim(0));
  CHECK(describe((n - 3) * 2 + m) == "n*2 + m - 6");
  CHECK(larger(n, b.dim(0)) == n);
  CHECK(smaller(n, b.dim(8)) == n);
}

TEST_CASE("the first error stays, and null tensors say nothing") {
  GraphBuilder b;
  Tensor x = b.input("x", DType::F32, b.dims({2, 3}));
  Tensor broken = x + b.input("y", DType::F32, b.dims({2, 2}));
  CHECK_FALSE(broken);
  Tensor more = exp(reshape(broken * 2.0, b.dims({4})));
  CHECK_FALSE(more);
  b.output("z", more);
  Result<Model> model = std::move(b).finish();
  REQUIRE_FALSE(model.has_value());
  CHECK(model.error()->diag == Diag::ShapeMismatch);
  CHECK(model.error()->message.find("f32[2, 3] and f32[2, 2]") != std::string::npos);
}

TEST_CASE("shape rules of composites") {
  GraphBuilder b;
  Dim n = b.variable("n", 1, 16);
  Tensor image = b.input("image", DType::F16, {n, b.dim(6), b.dim(32), b.dim(30)});
  Tensor w = b.input("w", DType::F16, b.dims({8, 3, 3, 5}));
  Tensor wt = b.input("wt", DType::F16, b.dims({6, 4, 2, 2}));
  CHECK(typeOf(b, "conv2d", {image, w}, {{"groups", 2}, {"padding", 1}}) == "f16[n, 8, 32, 28]");
  CHECK(typeOf(b, "conv2d", {image, w}, {{"groups", 2}, {"stride", AttributeValue::List{2, 3}}}) == "f16[n, 8, 15, 9]");
  CHECK(typeOf(b, "conv2d", {image, w}) == "shape-mismatch");
  CHECK(typeOf(b, "conv_transpose2d", {image, wt}, {{"stride", 2}}) == "f16[n, 4, 64, 60]");
  CHECK(typeOf(b, "max_pool", {image}, {{"kernel", AttributeValue::List{3, 4}}, {"ceil", true}}) == "f16[n, 6, 11, 8]");
  CHECK(typeOf(b, "max_pool", {image}, {{"kernel", AttributeValue::List{3, 4}}}) == "f16[n, 6, 10, 7]");
  CHECK(typeOf(b, "avg_pool", {image}, {{"kernel", AttributeValue::List{2}}}) == "f16[n, 6, 32, 15]");
  CHECK(typeOf(b, "softmax", {image}, {{"axis", 1}}) == "f16[n, 6, 32, 30]");
  CHECK(typeOf(b, "softmax", {image}, {{"axis", 4}}) == "bad-attribute");
  CHECK(typeOf(b, "mean", {image}, {{"axes", AttributeValue::List{0, -1}}}) == "f16[6, 32]");
  CHECK(typeOf(b, "sum", {b.input("flags", DType::Bool, b.dims({4}))}) == "i32");
  CHECK(typeOf(b, "argmax", {image}, {{"axis", 0}, {"keepdims", true}}) == "i64[1, 6, 32, 30]");
  CHECK(typeOf(b, "topk", {image}, {{"k", 5}}) == "f16[n, 6, 32, 5]");
  CHECK(typeOf(b, "topk", {image}, {{"k", 31}}) == "shape-mismatch");
  CHECK(typeOf(b, "resize", {image}, {{"scale", 2}}) == "f16[n, 6, 64, 60]");
  CHECK(typeOf(b, "flatten", {image}) == "f16[n, 5760]");
  CHECK(typeOf(b, "reshape", {image}, {{"shape", AttributeValue::List{-1, 30}}}) == "f16[n*192, 30]");
  CHECK(typeOf(b, "one_hot", {b.input("ids", DType::I32, {n})}, {{"depth", 10}}) == "f32[n, 10]");
  CHECK(typeOf(b, "embedding", {w, b.op("size", {image}, {{"axis", 0}})}) == "f16[3, 3, 5]");
  CHECK(typeOf(b, "cumsum", {image}, {{"axis", 0}}) == "f16[n, 6, 32, 30]");
  CHECK(typeOf(b, "pixel_shuffle", {image}, {{"factor", 2}}) == "shape-mismatch");
}

TEST_CASE("transposed convolutions multiply no zeros between elements") {
  // Positions of the result, padding included, in whole strides, times the taps that meet each: those of one stride are
  // all taps of the kernel. Kernels of 3 x 5 have phases of two and of one, of three and of two taps.
  for (const auto& [taps, blocks] : {std::pair{4 * 4, 9 * 7}, std::pair{3 * 5, 8 * 7}}) {
    GraphBuilder b;
    const int64_t height = taps == 16 ? 4 : 3;
    Tensor x = b.input("x", DType::F32, b.dims({1, 3, 8, 6}));
    Tensor w = b.input("w", DType::F32, b.dims({3, 5, height, taps / height}));
    b.output("y", b.op("conv_transpose2d", {x, w}, {{"stride", 2}, {"padding", 1}}));
    Result<Model> model = std::move(b).finish();
    REQUIRE(model);
    int64_t products = 0;
    for (UOp n : toposort(model->sink))
      if (n.op() == Op::Reduce) products += n.src(0).maxNumel();
    CHECK(products == 3 * 5 * taps * blocks);
  }
}

TEST_CASE("shape rules of products") {
  GraphBuilder b;
  auto input = [&, i = 0](std::initializer_list<int64_t> dims) mutable {
    return b.input("x" + std::to_string(i++), DType::F32, b.dims(dims));
  };
  CHECK(typeOf(b, "matmul", {input({2, 3}), input({3, 4})}) == "f32[2, 4]");
  CHECK(typeOf(b, "matmul", {input({3}), input({3})}) == "f32");
  CHECK(typeOf(b, "matmul", {input({3}), input({5, 3, 4})}) == "f32[5, 4]");
  CHECK(typeOf(b, "matmul", {input({5, 2, 3}), input({3})}) == "f32[5, 2]");
  CHECK(typeOf(b, "matmul", {input({5, 1, 2, 3}), input({6, 3, 4})}) == "f32[5, 6, 2, 4]");
  CHECK(typeOf(b, "matmul", {input({5, 2, 3}), input({6, 3, 4})}) == "shape-mismatch");
  CHECK(typeOf(b, "matmul", {input({2, 3}), input({2, 3})}) == "shape-mismatch");
  CHECK(typeOf(b, "linear", {input({7, 3}), input({4, 3}), input({4})}) == "f32[7, 4]");
  CHECK(typeOf(b, "attention", {input({2, 8, 5, 16}), input({2, 2, 9, 16}), input({2, 2, 9, 4})}) == "f32[2, 8, 5, 4]");
  CHECK(typeOf(b, "attention", {input({2, 8, 5, 16}), input({2, 3, 9, 16}), input({2, 3, 9, 4})}) == "shape-mismatch");
}

TEST_CASE("states are read after their assignments") {
  GraphBuilder b;
  Tensor s = b.state("s", DType::F32, b.dims({4}));
  Tensor before = s + 1.0;
  b.assign(s, before);
  CHECK(before.node().src(0).op() == Op::Buffer);
  CHECK(s.node().op() == Op::After);
  b.assign(narrow(s, 0, b.dim(1), b.dim(2)), b.literal(0.0));
  REQUIRE(s.node().srcCount() == 2);  // the last store, whose target holds the content before it
  CHECK(s.node().src(1).src(0).src(0).op() == Op::After);
  b.output("now", s);
  Result<Model> model = std::move(b).finish();
  REQUIRE(model.has_value());
  CHECK(model->sink.srcCount() == 3);
  CHECK(model->sink.src(1).src(0).op() == Op::Shrink);
  CHECK(verify(model->sink, Stage::Tensor).has_value());
}

TEST_CASE("a model has its ports in order and labels for its values") {
  GraphBuilder b;
  float values[] = {1, 2};
  auto data = std::make_shared<std::vector<float>>(values, values + 2);
  Tensor w = b.weight("w", DType::F32, b.dims({2}), {reinterpret_cast<std::byte*>(data->data()), 8, data});
  Tensor x = b.input("x", DType::F32, b.dims({2}));
  Tensor y = x * w;
  b.label(y, "product");
  b.label(y, "again");
  b.output("y", y);
  Result<Model> model = std::move(b).finish();
  REQUIRE(model.has_value());
  REQUIRE(model->ports.size() == 3);
  CHECK(model->ports[0].kind == PortKind::Weight);
  CHECK(model->ports[0].data.data == reinterpret_cast<std::byte*>(data->data()));
  CHECK(model->ports[1].name == "x");
  CHECK(model->ports[2].kind == PortKind::Output);
  CHECK(model->labels.at(model->sink.src(0).src(1).id()) == "product");
}

TEST_CASE("data must fit its declaration") {
  GraphBuilder b;
  std::byte bytes[8] = {};
  CHECK_FALSE(b.weight("w", DType::F32, b.dims({3}), {bytes, 8, nullptr}));
  CHECK((*b.takeError())->diag == Diag::BadWeights);
  CHECK_FALSE(b.input("x", DType::Index, {}));
  CHECK((*b.takeError())->diag == Diag::UnknownDType);
}

TEST_CASE("the op table is consistent") {
  for (const GraphOp& op : allGraphOps()) {
    INFO(op.name);
    CHECK(findGraphOp(op.name) == &op);
    CHECK_FALSE(op.what.empty());
    CHECK_FALSE(op.theme.empty());
    CHECK(op.minOperands <= op.maxOperands);
    CHECK(op.operands.empty() == (op.maxOperands == 0));
    for (const AttributeSpec& spec : attributeSpecs(op)) {
      INFO(spec.name);
      CHECK_FALSE(spec.name.empty());
      CHECK((spec.required || !spec.defaultText.empty()));
      if (!spec.choices.empty()) CHECK(std::ranges::find(spec.choices, spec.defaultText) != spec.choices.end());
    }
  }
  CHECK(findGraphOp("+")->name == "add");
  CHECK(findGraphOp("-", 1)->name == "neg");
  CHECK(findGraphOp("//")->name == "floordiv");
  CHECK(findGraphOp("nothing") == nullptr);
}
