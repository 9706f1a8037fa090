// Operands that decide a shape, from a run and as constants: the model that declares its result computes the
// same, bit for bit or within rounding, and refuses other shapes.
#include <catch2/catch.hpp>

#include <cmath>

#include "onnx_maker.h"
#include "onnx_run.h"

using namespace svod;

namespace {

constexpr int kFloat = 1, kInt64 = 7;

struct Given {
  std::string name;
  int type;
  std::vector<double> values;
  bool isScalar = false;
};

/// A node with operands that are constants or come from the run; an operand without values is omitted.
struct Case {
  std::string op;
  int opset;
  std::vector<int64_t> x;  // none: the node has no x
  std::vector<Given> operands;
  std::vector<int64_t> y;
  std::vector<std::pair<std::string, std::string>> words;
  std::vector<std::pair<std::string, int64_t>> flags;
};

OnnxImport made(const Case& c, bool isConstant) {
  OnnxMaker m(c.opset);
  OnnxMaker::Names inputs;
  if (!c.x.empty()) {
    OnnxMaker::Names dims;
    for (int64_t d : c.x) dims.push_back(std::to_string(d));
    m.input("x", dims), inputs.push_back("x");
  }
  for (const Given& g : c.operands) {
    inputs.push_back(g.values.empty() ? "" : g.name);
    if (g.values.empty()) continue;
    auto count = static_cast<int64_t>(g.values.size());
    std::vector<int64_t> dims = g.isScalar ? std::vector<int64_t>() : std::vector{count};
    if (!isConstant) {
      m.input(g.name, g.isScalar ? OnnxMaker::Names() : OnnxMaker::Names{std::to_string(count)}, g.type);
    } else if (g.type == kFloat) {
      m.floats(g.name, dims, {g.values.begin(), g.values.end()});
    } else {
      m.ints(g.name, dims, {g.values.begin(), g.values.end()});
    }
  }
  m.shapedOutput("y", c.y);
  proto::NodeProto& node = m.node(c.op, inputs, {"y"});
  for (const auto& [name, value] : c.words) addAttribute(node, name, value);
  for (const auto& [name, value] : c.flags) addAttribute(node, name, value);
  return m.import();
}

Result<HostTensor> computed(const OnnxImport& import, const Case& c) {
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  ModelBindings bindings;
  size_t output = 0;
  for (const ModelPort& port : import.model->ports) {
    bindings.ports.emplace_back();
    if (port.kind == PortKind::Output) output = bindings.ports.size() - 1;
    if (port.kind != PortKind::Input) continue;
    std::vector<int64_t> dims;
    for (UOp d : port.buffer.shape()) dims.push_back(d.constInt());
    HostTensor& t = bindings.ports.back() = HostTensor::zeros(port.buffer.dtype(), dims);
    auto given = std::ranges::find(c.operands, port.name, &Given::name);
    for (int64_t i = 0; i < t.numel(); ++i)
      t.set(i, Scalar::of(t.dtype, given == c.operands.end() ? std::sin(static_cast<double>(i * i + 1))
                                                             : given->values[static_cast<size_t>(i)]));
  }
  Result<std::vector<HostTensor>> ports = interpret(*import.model, bindings);
  if (!ports) return fail(ports.error());
  return (*ports)[output];
}

void check(const Case& c) {
  INFO(c.op << (c.words.empty() ? "" : " " + c.words.back().second));
  Result<HostTensor> want = computed(made(c, true), c), got = computed(made(c, false), c);
  REQUIRE(want);
  INFO((got ? "" : toText(got.error())));
  REQUIRE(got);
  REQUIRE(got->dims == want->dims);
  for (int64_t i = 0; i < got->numel(); ++i)
    CHECK(std::abs(got->at(i).asFloat() - want->at(i).asFloat()) <= 2e-5 * (1 + std::abs(want->at(i).asFloat())));
}

void checkRefused(Case c, size_t operand, std::vector<double> values) {
  OnnxImport import = made(c, false);
  c.operands[operand].values = std::move(values);
  Result<HostTensor> got = computed(import, c);
  REQUIRE(!got);
  CHECK(got.error()->diag == Diag::InputMismatch);
}

}  // namespace

TEST_CASE("Resize by scales, sizes and regions of the run") {
  const std::vector<std::string> coordinates = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                                                "align_corners", "asymmetric",           "tf_crop_and_resize"};
  struct Scaled {
    double scale;
    int64_t size;
  };
  for (std::string mode : {"nearest", "linear", "cubic"})
    for (const std::string& where : coordinates)
      for (Scaled s : {Scaled{0.6, 4}, {1, 7}, {1.75, 12}, {0.15, 1}})
        for (int64_t flags = 0; flags < (mode == "nearest" ? 1 : 4); ++flags) {
          Given region{"r", kFloat, {}};
          bool isCrop = where == "tf_crop_and_resize";
          if (isCrop) region.values = {0, 0, 1, 1};
          Case c{"Resize", 19, {3, 7}, {region, {"s", kFloat, {1, s.scale}}}, {3, s.size}, {}, {}};
          c.words = {{"mode", mode}, {"coordinate_transformation_mode", where}};
          c.flags = {{"antialias", flags & 1}, {"exclude_outside", flags >> 1}};
          check(c);
          checkRefused(c, 1, {1, 2.5});
          c.operands = {region, {"", kFloat, {}}, {"s", kInt64, {3, static_cast<double>(s.size)}}};
          if (isCrop) c.operands[0].values = {0, 0.25, 1, 1.5};
          check(c);
          checkRefused(c, 2, {3, 30});
        }
  for (std::string policy : {"not_larger", "not_smaller"}) {
    Case c{"Resize", 18, {4, 6}, {{"", kFloat, {}}, {"", kFloat, {}}, {"s", kInt64, {7, 8}}}, {}, {}, {}};
    c.y = policy == "not_larger" ? std::vector<int64_t>{5, 8} : std::vector<int64_t>{7, 11};
    c.words = {{"keep_aspect_ratio_policy", policy}};
    check(c);
    checkRefused(c, 2, {9, 14});
  }
}

TEST_CASE("transforms along an axis and of a length of the run") {
  Case dft{"DFT", 20, {2, 5, 5, 1}, {{"n", kInt64, {7}, true}, {"a", kInt64, {2}, true}}, {2, 5, 7, 2}, {}, {}};
  check(dft);
  checkRefused(dft, 0, {6});
  checkRefused(dft, 1, {1});
  for (double axis : {1, 2, -2, -3}) {
    Case c{"DFT",        20, {2, 5, 5, 2},    {{"", kInt64, {}}, {"a", kInt64, {axis}, true}},
           {2, 5, 5, 2}, {}, {{"inverse", 1}}};
    check(c);
  }
  for (double length : {6, 7})
    check({"DFT", 17, {2, 5, 1}, {{"n", kInt64, {length}, true}}, {2, 4, 2}, {}, {{"onesided", 1}}});
  for (double length : {6, 7})
    for (double step : {3, 4}) {
      Case c{"STFT",
             17,
             {1, 16, 1},
             {{"s", kInt64, {step}, true}, {"", kFloat, {}}, {"n", kInt64, {length}, true}},
             {1,
              length == 7 && step == 4 ? 3
              : step == 3              ? 4
                                       : 3,
              4, 2},
             {},
             {}};
      check(c);
      checkRefused(c, 0, {1});
      checkRefused(c, 2, {9});
    }
}

TEST_CASE("windows, grids and images of sizes of the run") {
  for (std::string op : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    Case c{op, 17, {}, {{"n", kInt64, {9}, true}}, {9}, {}, {}};
    check(c);
    checkRefused(c, 0, {10});
  }
  Case grid{"AffineGrid", 20, {2, 2, 3}, {{"s", kInt64, {2, 7, 4, 5}}}, {2, 4, 5, 2}, {}, {}};
  check(grid);
  checkRefused(grid, 0, {2, 7, 5, 4});
  for (const std::vector<double>& block : {std::vector<double>{1, 5}, {5, 1}}) {
    Case c{"Col2Im", 18, {1, 10, 5}, {{"i", kInt64, {5, 5}}, {"b", kInt64, block}}, {1, 2, 5, 5}, {}, {}};
    check(c);
    checkRefused(c, 0, {25, 1});
    checkRefused(c, 1, {2, 2});
  }
}

TEST_CASE("files of pictures that a plan does not decode are named") {
  OnnxMaker m(20);
  m.input("x", {"16"}, 2).shapedOutput("y", {1, 1, 3}, 2);
  m.node("ImageDecoder", {"x"}, {"y"});
  const OnnxImport import = m.import();
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  auto failure = [&](const std::vector<int>& begin) {
    ModelBindings bindings;
    for (const ModelPort& p : import.model->ports) {
      bindings.ports.push_back(p.kind == PortKind::Input ? HostTensor::zeros(DType::U8, {16}) : HostTensor());
      for (size_t i = 0; p.kind == PortKind::Input && i < begin.size(); ++i)
        bindings.ports.back().set(static_cast<int64_t>(i), Scalar::ofInt(DType::U8, begin[i]));
    }
    const auto ports = interpret(*import.model, bindings);
    return ports ? std::string("decoded") : std::string(info(ports.error()->diag).code) + ": " + ports.error()->message;
  };
  CHECK(failure({'P', '6', '\n', '1', ' ', '1', '\n', '2', '5', '5', '\n', 7, 8, 9}) == "decoded");
  auto names = [&](const std::vector<int>& begin, const std::string& what) {
    const std::string text = failure(begin);
    INFO(text);
    CHECK(text.find(what) != std::string::npos);
  };
  names({0xff, 0xd8, 0xff, 0xe0}, "unsupported: ImageDecoder: the picture is JPEG");
  names({0x89, 'P', 'N', 'G'}, "unsupported: ImageDecoder: the picture is PNG");
  names({'R', 'I', 'F', 'F', 1, 2, 3, 4, 'W', 'E', 'B', 'P'}, "unsupported: ImageDecoder: the picture is WebP");
  names({0, 0, 0, 12, 'j', 'P'}, "unsupported: ImageDecoder: the picture is JPEG 2000");
  names({'P', '4', '\n'}, "unsupported: ImageDecoder: the data is no BMP");
  names({'P', '6', '\n', '1', ' ', '1', '\n', '2', '5', '5', '\n', 7, 8}, "decoded");  // the padding is the last byte
  names({'P', '6', '\n', '1', ' ', '2', '\n', '2', '5', '5', '\n', 7}, "declared dims");
}
