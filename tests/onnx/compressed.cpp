#include "compressed.h"

#include <cmath>

#include "ir/verify.h"

namespace svod {

namespace {

using Masks = std::vector<std::vector<int>>;
const Masks kMasks = {
    {0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}, {0, 1, 0, 1, 1, 0}, {0, 0, 0, 0, 0, 1}, {1, 0, 1, 1, 0, 1}};

double valueAt(int64_t row, int64_t column) {
  return std::round(16 * std::sin(static_cast<double>(7 * row + 3 * column + 1))) / 8;
}

struct Input {
  std::string name;
  int mask;  // 0: v, w, at. 1: u. -1: whole
};
const std::vector<Input> kInputs = {{"v", 0}, {"w", 0}, {"at", 0}, {"u", 1}, {"six", -1}};

std::vector<int64_t> rowsOf(const Input& input, const std::vector<int>& first, const std::vector<int>& second) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < kRows; ++i)
    if (input.mask < 0 || (input.mask == 0 ? first : second)[static_cast<size_t>(i)] != 0) rows.push_back(i);
  return rows;
}

OnnxMaker compressed(const Nodes& nodes, int opset) {
  OnnxMaker m(opset);
  for (const char* mask : {"m0", "m1"}) m.input(mask, {std::to_string(kRows)}, kBool);
  for (const Input& i : kInputs) {
    OnnxMaker::Names dims = i.name == "at" ? OnnxMaker::Names{"6"} : OnnxMaker::Names{"6", "3"};
    m.input(i.mask < 0 ? i.name : "all." + i.name, dims, i.name == "at" ? kInt64 : 1);
    if (i.mask < 0) continue;
    addAttribute(m.node("Compress", {"all." + i.name, i.mask == 0 ? "m0" : "m1"}, {i.name}), "axis", int64_t{0});
  }
  nodes(m);
  return m;
}

}  // namespace

HostTensor inputValue(const std::string& name, DType dtype, std::vector<int64_t> rows) {
  bool isVector = name == "at" || name == "m0" || name == "m1";
  auto count = static_cast<int64_t>(rows.size());
  HostTensor t = HostTensor::zeros(dtype, isVector ? std::vector{count} : std::vector{count, kColumns});
  int64_t shift = name == "w" ? 50 : name == "u" ? 90 : 0;
  for (int64_t i = 0; i < t.numel(); ++i) {
    int64_t row = rows[static_cast<size_t>(isVector ? i : i / kColumns)];
    double value = isVector ? static_cast<double>((row * 5 + 2) % kRows) : valueAt(row + shift, i % kColumns);
    t.set(i, Scalar::of(dtype, value));
  }
  return t;
}

std::optional<Run> computed(const OnnxImport& import, const std::function<HostTensor(const ModelPort&)>& give,
                            VariableValues variables) {
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  Status isLegal = verify(import.model->sink, Stage::Tensor);
  if (!isLegal) UNSCOPED_INFO(toText(isLegal.error()));
  REQUIRE(isLegal);
  ModelBindings bindings;
  bindings.variables = std::move(variables);
  for (const ModelPort& port : import.model->ports) {
    bindings.ports.emplace_back();
    if (port.kind == PortKind::Input) bindings.ports.back() = give(port);
  }
  Result<std::vector<HostTensor>> ports = interpret(*import.model, bindings);
  if (!ports) UNSCOPED_INFO(toText(ports.error()));
  if (!ports) return std::nullopt;
  HostTensor y, length;
  for (size_t i = 0; i < ports->size(); ++i) {
    if (import.model->ports[i].name == "y") y = (*ports)[i];
    if (import.model->ports[i].name == "y.length") length = (*ports)[i];
  }
  Run run{y.dims, {}};
  if (length.dtype != DType::Void)
    for (size_t i = 0; i < run.dims.size(); ++i) run.dims[i] = length.at(static_cast<int64_t>(i)).asInt();
  std::vector<int64_t> at(run.dims.size());
  for (int64_t n = numelOf(run.dims); n-- > 0;) {
    int64_t flat = 0;
    for (size_t i = 0; i < at.size(); ++i) flat = flat * y.dims[i] + at[i];
    Scalar s = y.at(flat);
    run.values.push_back(isFloat(s.dtype()) ? s.asFloat() : static_cast<double>(s.asInt()));
    for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == run.dims[axis];) at[axis] = 0;
  }
  return run;
}

void checkLengths(const std::string& what, const Nodes& nodes, int type, bool takesNone, int opset) {
  INFO(what);
  OnnxMaker m = compressed([&](OnnxMaker& made) { nodes(made), made.output("y", type); }, opset);
  OnnxImport import = m.import();
  for (size_t k = takesNone ? 0 : 1; k < kMasks.size(); ++k) {
    const std::vector<int>&first = kMasks[k], &second = kMasks[(k * 2 + 1) % kMasks.size()];
    INFO("mask " << k);
    std::optional<Run> got = computed(import, [&](const ModelPort& port) {
      if (port.name == "m0" || port.name == "m1") {
        HostTensor t = HostTensor::zeros(DType::Bool, {kRows});
        for (int64_t i = 0; i < kRows; ++i)
          t.set(i, Scalar::ofInt(DType::Bool, (port.name == "m0" ? first : second)[static_cast<size_t>(i)]));
        return t;
      }
      std::string name = port.name.starts_with("all.") ? port.name.substr(4) : port.name;
      return inputValue(name, port.buffer.dtype(), rowsOf({name, -1}, first, second));
    });
    OnnxMaker exact(opset);
    for (const Input& i : kInputs) {
      std::string rows = std::to_string(rowsOf(i, first, second).size());
      bool isVector = i.name == "at";
      exact.input(i.name, isVector ? OnnxMaker::Names{rows} : OnnxMaker::Names{rows, "3"}, isVector ? kInt64 : 1);
    }
    nodes(exact);
    exact.output("y", type);
    std::optional<Run> want = computed(exact.import(), [&](const ModelPort& port) {
      auto input = std::ranges::find(kInputs, port.name, &Input::name);
      return inputValue(port.name, port.buffer.dtype(), rowsOf(*input, first, second));
    });
    REQUIRE(want);
    REQUIRE(got);
    REQUIRE(got->dims == want->dims);
    for (size_t i = 0; i < want->values.size(); ++i) {
      double a = got->values[i], b = want->values[i];
      INFO("element " << i);
      CHECK((std::abs(a - b) <= 1e-5 * (1 + std::abs(b)) || a == b || (std::isnan(a) && std::isnan(b))));
    }
  }
  Result<WrittenModel> written = m.convert();
  INFO((written ? "" : toText(written.error())));
  CHECK(written);
}

}  // namespace svod
